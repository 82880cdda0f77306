//! Primal network simplex in integers, rank after rank, for separable convex arc costs.
//!
//! **Problem.** Among the feasible flows of a [`Network`], one that is lexicographically least under a list of
//! [`RankCost`]s. Ranks are solved one after another, warm: [`Simplex::minimize`] finds an optimum of one rank over
//! the present *domain*, an interval of flows per arc; [`Simplex::restrict`] shrinks the domain to the optimal face of
//! that rank; the next rank goes on from the same tree. Costs never mix, so each rank has the whole of `i64`.
//!
//! **Basis.** A spanning tree of the nodes and an artificial root. Each node has an artificial arc into the root;
//! since all of them point that way and the root supplies nothing, they carry nothing, for ever. An arc outside the
//! tree rests at *any* flow of its domain (a start from a flow leaves arcs between bounds, convex arcs rest at
//! breakpoints). Potentials make the reduced cost of each tree arc zero. An arc outside is content when its left
//! reduced cost is ≤ 0 ≤ its right one; one that isn't enters, rising or falling.
//!
//! **Convex arcs** are never expanded. An arc in the tree works within its *run*, the longest stretch of flows of one
//! slope, as if the ends were bounds; an arc that enters works within the run it enters. Where a tree arc reaches an
//! end of its run it may leave the tree, rest at the breakpoint, and enter again into the next run.
//!
//! **Strong feasibility** (Cunningham 1976; Ahuja, Magnanti, Orlin, chapter 11). Invariant: each tree arc has
//! room, within its run, from the node below towards the root. Let the entering arc carry flow from k to l, let w be
//! the apex, where the tree paths of k and l meet, and walk the cycle from w to k, through the entering arc, and from
//! l to w. The **last** blocking arc of this walk leaves. The invariant is kept:
//! - Arcs after the leaving arc do not block, so they keep room along the walk, which leads to w.
//! - Arcs before it: if the amount pushed is positive, they have room against the walk, back to w. If it is zero, the
//!   leaving arc lies between w and k: the entering arc has room since its run is not empty, and the arcs from l to w
//!   have it by the invariant. The arcs between w and the leaving one then keep the room they had.
//! - The nodes cut off with the leaving arc hang from the entering one, in the direction the same argument gives:
//!   along the walk if the leaving arc came before it, else against it, and then the amount was positive.
//!
//! When a rank begins, a tree arc at a breakpoint of the new cost takes the run towards the root: it has room in the
//! domain, hence in that run. After `restrict` the domain of a tree arc is its run, so the room stays.
//!
//! **Termination.** A pivot with a positive amount lowers the rank's cost, an integer. In a pivot with amount zero the
//! leaving arc lies between w and k, so the subtree that moves holds k, and its potentials all change in one
//! direction by the violation (k as tail: the reduced cost was negative, the potential rises; likewise as
//! head of a falling arc). The sum of potentials strictly rises, so no tree repeats between two changes of flow.
//!
//! **Earlier ranks.** `restrict` fixes arcs of non-zero reduced cost and confines the others to runs of reduced cost
//! zero. Hence later pivots leave the value of an earlier rank alone, and its potentials, kept by the caller, certify
//! the final flow: per arc, the vector of right reduced costs is lexicographically ≥ 0, that of left ones ≤ 0.
//!
//! **Complexity.** A pivot touches the cycle, the pieces of tree on the path that is turned around, and the anchors
//! in the subtree that moves (see `anchors`: potentials in two levels); pricing looks at blocks of about √arcs.
//! O(nodes + arcs) to begin or restrict a rank. Nothing is allocated between pivots. All choices follow the order
//! of arcs and nodes: same input, same answer.
//!
//! **Memory.** 45 bytes an arc, the artificial ones included; 64 a node (`Place` 48, `Level` 16).
//!
//! **Failure.** [`MinimizeError`]: costs out of range (before anything is touched), an uncapacitated cycle of
//! negative cost, or a spent budget. After each of them the flow is feasible, no worse in the rank than before,
//! unchanged in earlier ranks, and the potentials are those of the tree.

mod anchors;
mod basis;
mod change;
mod pivot;
mod pricing;
mod relax;
mod slopes;
mod start;

pub use relax::Relaxed;
pub use start::{ScratchError, Start, StartError};

use crate::budget::{Budget, Stop};
use crate::network::{ArcId, CostError, Network, RankCost};
use anchors::Anchors;
use basis::Tree;
use pricing::{Entering, Prices};
use slopes::Slopes;
use thiserror::Error;

/// Upper bound that stands for none. A finite residual is at most 4 · 2⁵⁸ by the ranges of [`Network`]; that of an
/// uncapacitated arc is above 2⁶¹. [`is_unlimited`] tells them apart.
const FAR: i64 = 1 << 62;

/// Whether an amount on a cycle has no limit.
fn is_unlimited(amount: i64) -> bool {
    amount > 1 << 61
}

/// Nodes or arcs between two polls where a pass takes each of them once: some tens of microseconds.
const POLL_EVERY: usize = 1 << 12;

/// Polls at every so many items.
#[inline]
fn poll_at(item: usize, budget: &mut Budget<'_>) -> Result<(), Stop> {
    if item.is_multiple_of(POLL_EVERY) {
        budget.poll()?;
    }
    Ok(())
}

/// Why a rank was not minimised.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum MinimizeError {
    /// The budget stopped the solve.
    #[error("stopped: {0:?}")]
    Stopped(Stop),
    /// A cycle of uncapacitated arcs has negative cost.
    #[error("a cycle of uncapacitated arcs through arc {} has negative cost", .arc.0)]
    Unbounded {
        /// An arc on the cycle.
        arc: ArcId,
    },
    /// Changes to bounds or supplies left no feasible flow.
    #[error("{missing} units are missing or have no way, both counted")]
    Infeasible {
        /// What nodes lack and have too much, added up.
        missing: i128,
    },
    /// The rank's cost does not fit the network.
    #[error(transparent)]
    Cost(#[from] CostError),
}

impl From<Stop> for MinimizeError {
    fn from(stop: Stop) -> Self {
        MinimizeError::Stopped(stop)
    }
}

/// Counters since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Pivots.
    pub pivots: u64,
    /// Pivots that changed no flow.
    pub degenerate_pivots: u64,
    /// Arcs priced.
    pub arcs_priced: u64,
    /// Nodes touched by pivots.
    pub nodes_touched: u64,
}

/// Flow and domain of each arc: first an artificial one per node, then those of the network.
#[derive(Clone, Debug)]
struct Arcs {
    tail: Vec<u32>,
    head: Vec<u32>,
    /// Flow of arcs outside the tree; of tree arcs after [`Simplex::store`].
    flow: Vec<i64>,
    /// Domain.
    low: Vec<i64>,
    high: Vec<i64>,
}

/// The engine: a network, a feasible flow, and a strongly feasible tree. See the module for the method.
///
/// ```
/// use shardflow_solver::budget::{self, Budget};
/// use shardflow_solver::network::{NetworkBuilder, RankCost};
/// use shardflow_solver::simplex::Simplex;
/// let mut builder = NetworkBuilder::default();
/// let (s, t) = (builder.add_node(3), builder.add_node(-3));
/// for upper in [0, 2, 9] {
///     builder.add_arc(s, t, 0, upper);
/// }
/// let network = builder.build().unwrap();
/// let mut budget = Budget::new(None, &budget::never);
/// let mut simplex = Simplex::from_scratch(&network, &mut budget).unwrap();
/// simplex.minimize(&RankCost::linear(vec![1, 5, 7]), &mut budget).unwrap();
/// assert_eq!(simplex.flow(), [0, 2, 1]);
/// ```
#[derive(Clone, Debug)]
pub struct Simplex {
    arcs: Arcs,
    tree: Tree,
    anchors: Anchors,
    slopes: Slopes,
    prices: Prices,
    /// Cost of the rank, counted from the value it began with.
    value: i128,
    is_minimal: bool,
    stats: Stats,
}

impl Simplex {
    /// Minimises one rank over the present domain, warm from the present tree.
    ///
    /// A rank that costs nothing takes one pass over its unit costs.
    ///
    /// # Errors
    /// See [`MinimizeError`]; the flow stays feasible and is no worse in this rank than before.
    pub fn minimize(
        &mut self,
        rank: &RankCost,
        budget: &mut Budget<'_>,
    ) -> Result<(), MinimizeError> {
        let reach = self.load(rank)?;
        let is_feasible = self.is_feasible();
        if !is_feasible {
            self.slopes.charge_artificial(reach + 1);
        }
        self.begin(0, budget)?;
        if is_feasible && rank.is_zero() {
            self.is_minimal = true;
            return Ok(());
        }
        self.run(i128::MIN, budget)?;
        match self.missing() {
            0 => Ok(()),
            missing => {
                self.is_minimal = false;
                Err(MinimizeError::Infeasible { missing })
            }
        }
    }

    /// Goes on with the rank minimised last, after [`Simplex::add_arc`].
    ///
    /// # Errors
    /// See [`MinimizeError`].
    pub fn go_on(&mut self, budget: &mut Budget<'_>) -> Result<(), MinimizeError> {
        self.run(i128::MIN, budget)
    }

    /// Checks the cost of a rank and takes it. Returns what potentials can reach.
    fn load(&mut self, rank: &RankCost) -> Result<i64, CostError> {
        let nodes = self.tree.root();
        let arcs = &self.arcs;
        let reach = rank.check_arcs(nodes, &arcs.tail[nodes..], &arcs.head[nodes..], |arc| {
            let arc = nodes + arc.index();
            let upper = if arcs.high[arc] == FAR {
                Network::UNCAPACITATED
            } else {
                arcs.high[arc]
            };
            (arcs.low[arc], upper)
        })?;
        self.is_minimal = false;
        self.slopes.load(rank);
        Ok(reach)
    }

    /// Shrinks the domain to the optimal face of the rank minimised last: from now on no flow of another cost in
    /// that rank is reached. Without effect where the last [`Simplex::minimize`] did not end well.
    ///
    /// Complexity: O(nodes + arcs).
    pub fn restrict(&mut self) {
        if !self.is_minimal {
            return;
        }
        self.is_minimal = false;
        for node in self.tree.below_root() {
            let place = &self.tree.places[node];
            let arc = place.arc as usize;
            self.arcs.low[arc] = place.run_low;
            self.arcs.high[arc] = place.run_low + place.room_up + place.room_down;
        }
        for arc in self.tree.root()..self.arcs.flow.len() {
            if self.is_still(arc) {
                continue;
            }
            let flow = self.arcs.flow[arc];
            let (low, high) = (self.arcs.low[arc], self.arcs.high[arc]);
            let (left, right) = self.reduced_costs(arc);
            self.arcs.high[arc] = if right == Some(0) {
                self.slopes.run_right(arc, flow).within(low, high).high
            } else {
                flow
            };
            self.arcs.low[arc] = if left == Some(0) {
                self.slopes.run_left(arc, flow).within(low, high).low
            } else {
                flow
            };
        }
    }

    /// Flow per arc: feasible, and optimal in each rank minimised so far.
    pub fn flow(&self) -> &[i64] {
        &self.arcs.flow[self.tree.root()..]
    }

    /// Whether the flow keeps all bounds and supplies, also those that were changed.
    pub fn is_feasible(&self) -> bool {
        self.missing() == 0
    }

    /// Potential per node for the rank minimised last. Where that ended well, they prove the flow optimal in it.
    pub fn potentials(&self) -> Vec<i64> {
        let nodes = self.tree.below_root();
        nodes.map(|node| self.anchors.potential(node)).collect()
    }

    /// Counters since the start, the search for a feasible flow included.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Prepares tree and prices for the slopes just loaded. Needs the flow of tree arcs stored, and leaves it so.
    fn begin(&mut self, value: i128, budget: &mut Budget<'_>) -> Result<(), Stop> {
        self.value = value;
        let root = self.tree.root();
        let mut node = self.tree.next_below(root, root);
        let mut count = 0;
        while let Some(at) = node {
            poll_at(count, budget)?;
            count += 1;
            let potential = self.begin_tree_arc(at);
            self.anchors.set_potential(at, potential);
            node = self.tree.next_below(at, root);
        }
        for leaf in self.tree.below_root() {
            poll_at(leaf, budget)?;
            if self.anchors.is_leaf(leaf) {
                let potential = self.begin_tree_arc(leaf);
                let parent = self.tree.places[leaf].parent;
                let above = self.anchors.potential(parent as usize);
                self.anchors.set_leaf(leaf, parent, potential - above);
            }
        }
        for arc in 0..self.arcs.flow.len() {
            poll_at(arc, budget)?;
            self.reprice(arc);
        }
        for node in self.tree.below_root() {
            self.prices.hide(self.tree.places[node].arc as usize);
        }
        self.prices.rewind();
        Ok(())
    }

    /// Sets run and room of the tree arc above a node, whose parent is done, and returns the node's potential.
    fn begin_tree_arc(&mut self, node: usize) -> i64 {
        let place = &mut self.tree.places[node];
        let arc = place.arc as usize;
        let parent = self.anchors.potential(place.parent as usize);
        let flow = self.arcs.flow[arc];
        let (low, high) = (self.arcs.low[arc], self.arcs.high[arc]);
        let potential = if self.arcs.tail[arc] as usize == node {
            let run = self.slopes.run_right(arc, flow).within(low, high);
            place.room_up = run.high - flow;
            place.room_down = flow - run.low;
            place.run_low = run.low;
            parent - self.slopes.right(arc, flow)
        } else {
            let run = self.slopes.run_left(arc, flow).within(low, high);
            place.room_up = flow - run.low;
            place.room_down = run.high - flow;
            place.run_low = run.low;
            parent + self.slopes.left(arc, flow)
        };
        debug_assert!(place.room_up > 0, "the tree is strongly feasible");
        potential
    }

    /// Pivots until no arc wants to enter or the value is at most `floor`. Stores the flow in any case.
    fn run(&mut self, floor: i128, budget: &mut Budget<'_>) -> Result<(), MinimizeError> {
        let outcome = self.pivots(floor, budget);
        self.store();
        self.is_minimal = outcome.is_ok();
        outcome
    }

    fn pivots(&mut self, floor: i128, budget: &mut Budget<'_>) -> Result<(), MinimizeError> {
        while self.value > floor {
            let entering = self.find_entering(budget)?;
            let Some(entering) = entering else {
                return Ok(());
            };
            self.step(entering, budget)?;
        }
        Ok(())
    }

    /// One pivot, counted.
    fn step(&mut self, entering: Entering, budget: &mut Budget<'_>) -> Result<(), MinimizeError> {
        let touched = self.pivot(entering)?;
        self.stats.pivots += 1;
        self.stats.nodes_touched += touched;
        Ok(budget.spend(touched)?)
    }

    /// Writes out the flow of tree arcs, which pivots keep as room.
    fn store(&mut self) {
        for node in self.tree.below_root() {
            let arc = self.tree.places[node].arc as usize;
            self.arcs.flow[arc] = self.tree_flow(node);
        }
    }

    /// Flow of the arc above a node.
    fn tree_flow(&self, node: usize) -> i64 {
        let place = &self.tree.places[node];
        let arc = place.arc as usize;
        let above_low = if self.arcs.tail[arc] as usize == node {
            place.room_down
        } else {
            place.room_up
        };
        place.run_low + above_low
    }

    /// The network's id of an arc that is not artificial.
    fn network_arc(&self, arc: usize) -> ArcId {
        ArcId::at(arc - self.tree.root())
    }

    /// The node that hangs by an arc; none where the arc is not in the tree.
    fn node_below(&self, arc: usize) -> Option<usize> {
        let ends = [self.arcs.tail[arc], self.arcs.head[arc]].map(|end| end as usize);
        let hangs = |&node: &usize| self.tree.places[node].arc as usize == arc;
        ends.into_iter().find(hangs)
    }
}

#[cfg(test)]
mod tests;
