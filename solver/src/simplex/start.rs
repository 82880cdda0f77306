//! The first tree: from a feasible flow, or from scratch with a search for one.

use super::anchors::Anchors;
use super::basis::{NONE, Tree};
use super::pricing::Prices;
use super::slopes::Slopes;
use super::{Arcs, FAR, MinimizeError, Simplex, Stats, poll_at};
use crate::budget::{Budget, Stop, never};
use crate::network::{ArcId, MAGNITUDE_MAX, Network, NodeId};
use thiserror::Error;

/// A feasible flow to start from, and what is known beside it.
pub struct Start<'a> {
    /// By arc.
    pub flow: Vec<i64>,
    /// Empty, or per node an arc to hang it by: one of its arcs with room for flow from the node to the other end. Hints
    /// without room, of other nodes, or that close a cycle are passed over (the node hangs from the artificial root);
    /// they change the way, never the optimum.
    pub hint: &'a [Option<ArcId>],
    /// Nodes that many others hang by in the course of a solve, each once; without them nodes of high degree are taken
    /// for such. Without effect on what is found.
    pub anchors: Option<&'a [NodeId]>,
}

/// Why a flow cannot be started from.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum StartError {
    /// The budget stopped the start.
    #[error("stopped: {0:?}")]
    Stopped(Stop),
    /// A flow that is not one value per arc.
    #[error("{given} flow values for {arcs} arcs")]
    FlowLength {
        /// Values given.
        given: usize,
        /// Arcs of the network.
        arcs: usize,
    },
    /// A hint that is neither empty nor one entry per node.
    #[error("{given} hints for {nodes} nodes")]
    HintLength {
        /// Entries given.
        given: usize,
        /// Nodes of the network.
        nodes: usize,
    },
    /// A flow outside the bounds of its arc.
    #[error("flow {flow} of arc {} is outside its bounds", .arc.0)]
    Bounds {
        /// The arc.
        arc: ArcId,
        /// Its flow.
        flow: i64,
    },
    /// A node whose supply is not what leaves it less what arrives.
    #[error("node {} is off its supply by {excess}", .node.0)]
    Conservation {
        /// The node.
        node: NodeId,
        /// Supply, less what leaves, plus what arrives.
        excess: i128,
    },
    /// A flow too large to add up safely.
    #[error("absolute flow sums to {sum}, above {MAGNITUDE_MAX}")]
    FlowRange {
        /// Σ |flow|.
        sum: i128,
    },
}

/// Why the search for a feasible flow ended without one.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ScratchError {
    /// The budget stopped the search.
    #[error("stopped: {0:?}")]
    Stopped(Stop),
    /// No flow is feasible.
    #[error("the nodes of a cut supply {deficit} more than can leave them")]
    Infeasible {
        /// The nodes of the smallest violated cut: all their arcs outward are full, all inward at their least.
        cut: Vec<NodeId>,
        /// Supply of the cut, less what can leave it, plus what must enter it; the least total that any flow
        /// within the bounds leaves undelivered.
        deficit: i64,
    },
}

impl From<Stop> for StartError {
    fn from(stop: Stop) -> Self {
        StartError::Stopped(stop)
    }
}

impl From<Stop> for ScratchError {
    fn from(stop: Stop) -> Self {
        ScratchError::Stopped(stop)
    }
}

impl Simplex {
    /// Starts from a feasible flow; `hint` as in [`Start`].
    ///
    /// # Errors
    /// Wrong lengths, or a flow that is not feasible.
    ///
    /// Complexity: O(nodes + arcs).
    pub fn from_flow(
        network: &Network,
        flow: Vec<i64>,
        hint: &[Option<ArcId>],
    ) -> Result<Self, StartError> {
        let anchors = None;
        let start = Start {
            flow,
            hint,
            anchors,
        };
        Simplex::start(network, start, &mut Budget::new(None, &never))
    }

    /// Starts from a feasible flow, with what else is known.
    ///
    /// # Errors
    /// Wrong lengths, a flow that is not feasible, or a spent budget.
    ///
    /// Complexity: O(nodes + arcs).
    pub fn start(
        network: &Network,
        start: Start<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Self, StartError> {
        let Start {
            flow,
            hint,
            anchors,
        } = start;
        let (nodes, arcs) = (network.node_count(), network.arc_count());
        if !hint.is_empty() && hint.len() != nodes {
            let given = hint.len();
            return Err(StartError::HintLength { given, nodes });
        }
        if flow.len() != arcs {
            let given = flow.len();
            return Err(StartError::FlowLength { given, arcs });
        }
        let mut sum = 0;
        for (arc, &flow) in network.arcs().zip(&flow) {
            poll_at(arc.index(), budget)?;
            sum += i128::from(flow).abs();
            if flow < network.lower(arc) || flow > network.upper(arc) {
                return Err(StartError::Bounds { arc, flow });
            }
        }
        if sum > i128::from(MAGNITUDE_MAX) {
            return Err(StartError::FlowRange { sum });
        }
        let excess = excesses(network, &flow, budget)?;
        if let Some(node) = excess.iter().position(|&e| e != 0) {
            return Err(StartError::Conservation {
                node: NodeId::at(node),
                excess: i128::from(excess[node]),
            });
        }
        let mut simplex = Simplex::on_root(network, flow, &excess, anchors, budget)?;
        simplex.hang(hint, budget)?;
        Ok(simplex)
    }

    /// Finds a feasible flow, with cost one on artificial arcs and the same pivots as any rank.
    ///
    /// # Errors
    /// A spent budget, or the proof that no flow is feasible.
    pub fn from_scratch(network: &Network, budget: &mut Budget<'_>) -> Result<Self, ScratchError> {
        let flow: Vec<i64> = network.arcs().map(|arc| network.lower(arc)).collect();
        let excess = excesses(network, &flow, budget)?;
        let mut simplex = Simplex::on_root(network, flow, &excess, None, budget)?;
        simplex.hang(&[], budget)?;
        let missing: i128 = excess.iter().map(|&e| i128::from(e).abs()).sum();
        if missing == 0 {
            return Ok(simplex);
        }
        simplex.slopes.load_artificial();
        simplex.begin(missing, budget)?;
        match simplex.run(0, budget) {
            Ok(()) => {}
            Err(MinimizeError::Stopped(stop)) => return Err(ScratchError::Stopped(stop)),
            Err(error) => unreachable!("costs of 0 and 1 have a least total: {error}"),
        }
        if simplex.value > 0 {
            return Err(simplex.infeasible(network));
        }
        simplex.is_minimal = false;
        Ok(simplex)
    }

    /// The engine without a tree: artificial arcs carry the excess of each node.
    fn on_root(
        network: &Network,
        flow: Vec<i64>,
        excess: &[i64],
        anchors: Option<&[NodeId]>,
        budget: &mut Budget<'_>,
    ) -> Result<Self, Stop> {
        let (nodes, arcs) = (network.node_count(), network.arc_count());
        let root = nodes as u32;
        let mut all = Arcs::with_capacity(nodes + arcs);
        for (node, &excess) in excess.iter().enumerate() {
            let node = node as u32;
            let (tail, head) = if excess >= 0 {
                (node, root)
            } else {
                (root, node)
            };
            all.push(tail, head, excess.abs(), (0, FAR));
        }
        let mut tree = Tree::with_nodes(nodes);
        for (node, &excess) in tree.places.iter_mut().zip(excess) {
            node.is_source = excess >= 0;
        }
        for (arc, flow) in network.arcs().zip(flow) {
            poll_at(arc.index(), budget)?;
            let (tail, head) = (network.tail(arc).0, network.head(arc).0);
            let upper = match network.upper(arc) {
                Network::UNCAPACITATED => FAR,
                upper => upper,
            };
            all.push(tail, head, flow, (network.lower(arc), upper));
            tree.places[head as usize].is_source = false;
        }
        let anchors = match anchors {
            Some(named) => {
                for node in named {
                    tree.places[node.index()].is_source = false;
                }
                Anchors::at(nodes, named.iter().map(|node| node.index()))
            }
            None => Anchors::by_degree(&all.tail[nodes..], &all.head[nodes..], &tree),
        };
        Ok(Simplex {
            arcs: all,
            anchors,
            tree,
            slopes: Slopes::zero(nodes, arcs),
            prices: Prices::new(nodes + arcs),
            value: 0,
            is_minimal: false,
            stats: Stats::default(),
        })
    }

    /// Hangs every node by its hint where that is sound, else from the root.
    fn hang(&mut self, hint: &[Option<ArcId>], budget: &mut Budget<'_>) -> Result<(), Stop> {
        let nodes = self.tree.root();
        let root = nodes as u32;
        let mut parent: Vec<(u32, u32)> = (0..nodes)
            .map(|node| {
                let hinted = hint.get(node).copied().flatten();
                hinted
                    .and_then(|arc| self.way_up(node as u32, arc.index()))
                    .unwrap_or((root, node as u32))
            })
            .collect();
        // `seen` holds the walk that reached a node; meeting one's own walk again is a cycle.
        let mut seen = vec![NONE; nodes];
        for start in 0..nodes {
            poll_at(start, budget)?;
            let mut node = start;
            while node != nodes && seen[node] == NONE {
                seen[node] = start as u32;
                node = parent[node].0 as usize;
            }
            if node != nodes && seen[node] == start as u32 {
                parent[node] = (root, node as u32);
            }
        }
        for (node, &(parent, arc)) in parent.iter().enumerate() {
            poll_at(node, budget)?;
            self.tree.hang_new(node, parent, arc);
        }
        self.anchors.attach_all(&self.tree);
        for node in 0..nodes {
            poll_at(node, budget)?;
            self.unlist(node);
        }
        Ok(())
    }

    /// The other end of an arc of the node that has room for flow away from the node.
    fn way_up(&self, node: u32, arc: usize) -> Option<(u32, u32)> {
        let arc = self.tree.root() + arc;
        if arc >= self.arcs.tail.len() {
            return None;
        }
        let (tail, head) = (self.arcs.tail[arc], self.arcs.head[arc]);
        let flow = self.arcs.flow[arc];
        let is_out = tail == node && flow < self.arcs.high[arc];
        let is_in = head == node && flow > self.arcs.low[arc];
        if tail == head || !(is_out || is_in) {
            return None;
        }
        Some((if is_out { head } else { tail }, arc as u32))
    }

    /// The smallest cut that proves the network infeasible: what the nodes left with supply still reach.
    fn infeasible(&self, network: &Network) -> ScratchError {
        let mut queue: Vec<usize> = Vec::new();
        let mut is_reached = vec![false; network.node_count()];
        let mut deficit = 0;
        for node in network.nodes() {
            let arc = node.index();
            if self.arcs.tail[arc] == node.0 && self.arcs.flow[arc] > 0 {
                deficit += self.arcs.flow[arc];
                is_reached[node.index()] = true;
                queue.push(node.index());
            }
        }
        let residual = ResidualArcs::new(network, self.flow());
        while let Some(node) = queue.pop() {
            for &to in residual.from(node) {
                if !std::mem::replace(&mut is_reached[to as usize], true) {
                    queue.push(to as usize);
                }
            }
        }
        let cut = network.nodes();
        let cut = cut.filter(|node| is_reached[node.index()]).collect();
        ScratchError::Infeasible { cut, deficit }
    }
}

impl Arcs {
    fn with_capacity(arcs: usize) -> Self {
        Arcs {
            tail: Vec::with_capacity(arcs),
            head: Vec::with_capacity(arcs),
            flow: Vec::with_capacity(arcs),
            low: Vec::with_capacity(arcs),
            high: Vec::with_capacity(arcs),
        }
    }

    pub(super) fn push(&mut self, tail: u32, head: u32, flow: i64, (low, high): (i64, i64)) {
        self.tail.push(tail);
        self.head.push(head);
        self.flow.push(flow);
        self.low.push(low);
        self.high.push(high);
    }
}

impl Arcs {
    /// Artificial arcs without flow for `count` nodes more than `before`; the root moves up, and so do all other arcs.
    pub(super) fn insert_artificial(&mut self, before: usize, count: usize) {
        let (root, new_root) = (before as u32, (before + count) as u32);
        for end in self.tail.iter_mut().chain(&mut self.head) {
            if *end == root {
                *end = new_root;
            }
        }
        self.tail.splice(before..before, root..new_root);
        let all = |value| std::iter::repeat_n(value, count);
        self.head
            .splice(before..before, std::iter::repeat_n(new_root, count));
        self.flow.splice(before..before, all(0));
        self.low.splice(before..before, all(0));
        self.high.splice(before..before, all(FAR));
    }
}

/// Supply, less what leaves, plus what arrives, per node. In range by the ranges of networks and flows.
fn excesses(network: &Network, flow: &[i64], budget: &mut Budget<'_>) -> Result<Vec<i64>, Stop> {
    let mut excess: Vec<i64> = network.nodes().map(|node| network.supply(node)).collect();
    for (arc, &flow) in network.arcs().zip(flow) {
        poll_at(arc.index(), budget)?;
        excess[network.tail(arc).index()] -= flow;
        excess[network.head(arc).index()] += flow;
    }
    Ok(excess)
}

/// Where flow can still go from each node, as compressed rows.
struct ResidualArcs {
    begin: Vec<u32>,
    to: Vec<u32>,
}

impl ResidualArcs {
    fn new(network: &Network, flow: &[i64]) -> Self {
        let ways = |arc: ArcId| {
            let (tail, head) = (network.tail(arc), network.head(arc));
            let up = (flow[arc.index()] < network.upper(arc)).then_some((tail, head));
            let down = (flow[arc.index()] > network.lower(arc)).then_some((head, tail));
            up.into_iter().chain(down)
        };
        let mut begin = vec![0u32; network.node_count() + 1];
        for (from, _) in network.arcs().flat_map(ways) {
            begin[from.index() + 1] += 1;
        }
        for node in 1..begin.len() {
            begin[node] += begin[node - 1];
        }
        let mut next = begin.clone();
        let mut to = vec![0; begin[begin.len() - 1] as usize];
        for (from, head) in network.arcs().flat_map(ways) {
            to[next[from.index()] as usize] = head.0;
            next[from.index()] += 1;
        }
        ResidualArcs { begin, to }
    }

    fn from(&self, node: usize) -> &[u32] {
        &self.to[self.begin[node] as usize..self.begin[node + 1] as usize]
    }
}
