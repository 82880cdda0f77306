//! Changes between ranks: bounds and supplies, with the tree kept.
//!
//! What a change leaves out of balance lies on artificial arcs, and the next [`Simplex::minimize`] takes it off again:
//! there each unit costs more than any way through the network. A node whose arc to its parent has no room left
//! hangs from the root, by its artificial arc: towards the root that one has room without end, and away from it as
//! much as it carries, which is something. So the tree stays strongly feasible.

use super::basis::Link;
use super::{FAR, Simplex};
use crate::network::{ArcId, Network, NodeId};

impl Simplex {
    /// Sets the bounds of an arc. A flow outside them goes to the nearer one. [`Network::UNCAPACITATED`] is none.
    ///
    /// Optimal faces of earlier ranks are forgotten for this arc: it may move between the bounds given.
    ///
    /// Complexity: O(1), and O(nodes that hang by the arc) where it loses its room.
    pub fn set_bounds(&mut self, arc: ArcId, lower: i64, upper: i64) {
        let high = if upper == Network::UNCAPACITATED {
            FAR
        } else {
            upper
        };
        self.set_domain(self.tree.root() + arc.index(), lower, high);
    }

    /// Adds to the supply of a node. Other nodes have to take it; see [`MinimizeError::Infeasible`].
    ///
    /// [`MinimizeError::Infeasible`]: super::MinimizeError::Infeasible
    pub fn add_supply(&mut self, node: NodeId, amount: i64) {
        self.add_excess(node.0, amount);
    }

    /// Adds an arc without flow, which costs nothing in the rank in force. Returns its id, the next one.
    ///
    /// Complexity: O(1) amortised.
    pub fn add_arc(&mut self, tail: NodeId, head: NodeId, upper: i64) -> ArcId {
        self.end_source(head.index());
        let arc = self.arcs.tail.len();
        self.arcs.push(tail.0, head.0, 0, (0, upper));
        self.slopes.push();
        self.prices.push();
        self.reprice(arc);
        self.network_arc(arc)
    }

    /// Adds nodes, with their supplies. Returns their ids, the next ones.
    ///
    /// A node goes by `add_supply` to a supply of zero and [`Simplex::set_bounds`] to zero for each of its arcs.
    ///
    /// Complexity: O(nodes + arcs), however many are added.
    pub fn add_nodes(&mut self, supplies: &[i64]) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        let (before, count) = (self.tree.root(), supplies.len());
        self.arcs.insert_artificial(before, count);
        self.slopes.insert_artificial(before, count);
        self.prices.insert_artificial(before, count);
        self.tree.insert_nodes(before, count);
        self.anchors.insert_nodes(before, count);
        for (node, &supply) in (before..).zip(supplies) {
            self.add_excess(node as u32, supply);
        }
        self.is_minimal = false;
        (before..before + count).map(NodeId::at)
    }

    /// Divides the arcs for pricing: a block is left once none of its arcs wants to enter. Blocks begin at these arcs,
    /// in ascending order, the first with what comes before them; arcs that are added are in the last one. At first there
    /// is one block.
    ///
    /// Complexity: O(blocks).
    pub fn set_blocks(&mut self, first_arcs: impl Iterator<Item = ArcId>) {
        let artificial = self.tree.root();
        self.prices
            .set_blocks(first_arcs.map(|arc| artificial + arc.index()));
    }

    pub(super) fn set_domain(&mut self, arc: usize, low: i64, high: i64) {
        self.is_minimal = false;
        self.arcs.low[arc] = low;
        self.arcs.high[arc] = high;
        let surplus = self.arcs.flow[arc] - self.arcs.flow[arc].clamp(low, high);
        self.arcs.flow[arc] -= surplus;
        let (tail, head) = (self.arcs.tail[arc], self.arcs.head[arc]);
        if surplus != 0 {
            self.add_excess(tail, surplus);
            self.add_excess(head, -surplus);
        }
        let flow = self.arcs.flow[arc];
        for (node, has_room) in [(tail, flow < high), (head, flow > low)] {
            if self.tree.places[node as usize].arc as usize == arc && !has_room {
                self.hang_from_root(node as usize);
            }
        }
    }

    /// Puts more on the artificial arc of a node, or takes it off, and turns the arc the way that it then needs.
    fn add_excess(&mut self, node: u32, amount: i64) {
        let (root, arc) = (self.tree.root() as u32, node as usize);
        let before = if self.arcs.tail[arc] == node {
            self.arcs.flow[arc]
        } else {
            -self.arcs.flow[arc]
        };
        let excess = before + amount;
        if excess < 0 {
            self.end_source(node as usize);
        }
        let ends = if excess >= 0 {
            (node, root)
        } else {
            (root, node)
        };
        (self.arcs.tail[arc], self.arcs.head[arc]) = ends;
        self.arcs.flow[arc] = excess.abs();
    }

    /// From now on arcs may end at this node.
    pub(super) fn end_source(&mut self, node: usize) {
        self.list(node);
        self.tree.places[node].is_source = false;
    }

    fn hang_from_root(&mut self, node: usize) {
        // An artificial arc without flow may still lead away from the root.
        self.add_excess(node as u32, 0);
        let root = self.tree.root();
        let link = Link {
            parent: root as u32,
            arc: node as u32,
            room_up: 0,
            room_down: 0,
            run_low: 0,
        };
        if self.anchors.is_leaf(node) {
            self.tree.relink(node, link);
            self.anchors.set_leaf(node, root as u32, 0);
        } else {
            self.tree.rehang(node, node, link);
            self.anchors.shift(&self.tree, node, node, 0);
        }
    }

    /// What lies on artificial arcs.
    pub(super) fn missing(&self) -> i128 {
        let artificial = &self.arcs.flow[..self.tree.root()];
        artificial.iter().map(|&flow| i128::from(flow)).sum()
    }
}
