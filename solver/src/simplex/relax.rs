//! Prices for arcs that couple the rest: a rank solved block by block.
//!
//! **Problem.** Without the bounds of its *shared* arcs a network falls apart into blocks: streams, where the counts of
//! brokers and zones are shared. Solved at once, most pivots of the simplex push against shared arcs that are full,
//! and change nothing.
//!
//! **Method.** [`Simplex::relax`] takes the bounds of shared arcs away and puts prices on them; the caller solves block
//! after block and changes prices in between; [`Relaxed::close`] puts the bounds back, and what is still outside them
//! on artificial arcs. The next [`Simplex::minimize`] goes on from there, and its optimum is exact whatever the prices
//! were. (An incremental method of multipliers; Bertsekas, Constrained Optimization and Lagrange Multiplier Methods,
//! 1982, chapter 2.)
//!
//! **Fast because** a shared arc without bounds never leaves the tree, so its price shifts the potentials of all that
//! hangs by it, which is one number where that begins with an anchor; and tree paths between two shared arcs stay
//! within one block.

use super::{FAR, MinimizeError, Simplex};
use crate::budget::Budget;
use crate::network::{ArcId, NodeId, RankCost};

/// Most that a price, and what comes on top of it, may be: two of both on each way to the root leave potentials far from
/// the end of `i64`.
const PRICE_MAX: i64 = 1 << 57;

/// A simplex whose shared arcs have prices instead of bounds.
///
/// The flow is feasible but for those bounds. Until [`Relaxed::close`] it is not to be had.
pub struct Relaxed<'s> {
    simplex: &'s mut Simplex,
    pub(super) shared: Vec<Shared>,
    /// Of prices.
    limit: i64,
}

/// A shared arc while it has no bounds.
pub(super) struct Shared {
    /// In the caller's list.
    position: usize,
    arc: usize,
    low: i64,
    high: i64,
    /// Unit cost by the rank, and the first price.
    unit: i64,
    /// What is on top of that.
    surcharge: i64,
}

impl Simplex {
    /// Begins a rank without the bounds of some arcs, at first prices. Arcs that are not in the tree, or whose cost is no
    /// line, keep their bounds. Prices are kept within what potentials of the rank can reach.
    ///
    /// # Errors
    /// A cost that does not fit the network, or a spent budget.
    ///
    /// Complexity: O(nodes + arcs).
    pub fn relax(
        &mut self,
        rank: &RankCost,
        shared: &[(ArcId, i64)],
        budget: &mut Budget<'_>,
    ) -> Result<Relaxed<'_>, MinimizeError> {
        let limit = self.load(rank)?.min(PRICE_MAX);
        let mut relaxed = Vec::new();
        for (position, &(id, price)) in shared.iter().enumerate() {
            let arc = self.tree.root() + id.index();
            if self.node_below(arc).is_none() || self.slopes.is_bent(arc) {
                continue;
            }
            self.slopes.unit[arc] += price.clamp(-limit, limit);
            relaxed.push(Shared {
                position,
                arc,
                low: self.arcs.low[arc],
                high: self.arcs.high[arc],
                unit: self.slopes.unit[arc],
                surcharge: 0,
            });
            self.arcs.low[arc] = -FAR;
            self.arcs.high[arc] = FAR;
        }
        let outcome = self.begin(0, budget);
        let relaxed = Relaxed {
            simplex: self,
            shared: relaxed,
            limit,
        };
        match outcome {
            Ok(()) => Ok(relaxed),
            Err(stop) => {
                relaxed.close_unbegun();
                Err(MinimizeError::Stopped(stop))
            }
        }
    }

    /// Flow of an arc while pivots go on.
    fn live_flow(&self, arc: usize) -> i64 {
        match self.node_below(arc) {
            Some(node) => self.tree_flow(node),
            None => self.arcs.flow[arc],
        }
    }
}

impl Relaxed<'_> {
    /// Pivots until no arc of a block wants to enter.
    ///
    /// # Errors
    /// A spent budget, or an uncapacitated cycle of negative cost.
    pub fn solve(&mut self, block: usize, budget: &mut Budget<'_>) -> Result<(), MinimizeError> {
        while let Some(entering) = self.simplex.find_in(block, budget)? {
            self.simplex.step(entering, budget)?;
        }
        Ok(())
    }

    /// [`Simplex::add_arc`].
    pub fn add_arc(&mut self, tail: NodeId, head: NodeId, upper: i64) -> ArcId {
        self.simplex.add_arc(tail, head, upper)
    }

    /// A pivot, where an arc wants to enter.
    ///
    /// # Errors
    /// As [`Relaxed::solve`].
    pub fn enter(&mut self, arc: ArcId, budget: &mut Budget<'_>) -> Result<(), MinimizeError> {
        let arc = self.simplex.tree.root() + arc.index();
        match self.simplex.wanting(arc) {
            Some(entering) => self.simplex.step(entering, budget),
            None => Ok(()),
        }
    }

    /// Potential of a node.
    #[inline]
    pub fn potential(&self, node: NodeId) -> i64 {
        self.simplex.anchors.potential(node.index())
    }

    /// Count.
    pub fn count(&self) -> usize {
        self.shared.len()
    }
    /// Pivots so far.
    pub fn pivots(&self) -> u64 {
        self.simplex.stats.pivots
    }

    /// Sets what comes on top of the first price of each arc, by its bounds and by how far its flow is outside them.
    ///
    /// Complexity: O(shared arcs + anchors below those whose price changes).
    pub fn reprice(&mut self, surcharge: impl Fn((i64, i64), i64) -> i64) {
        self.charge(|of, flow| {
            let overload = flow - flow.clamp(of.low, of.high);
            surcharge((of.low, of.high), overload)
        });
    }

    /// The same, by the position of each arc in the list given to [`Simplex::relax`] and its flow.
    pub fn reprice_each(&mut self, surcharge: impl Fn(usize, i64) -> i64) {
        self.charge(|of, flow| surcharge(of.position, flow));
    }

    fn charge(&mut self, surcharge: impl Fn(&Shared, i64) -> i64) {
        let simplex = &mut *self.simplex;
        for of in &mut self.shared {
            let flow = simplex.live_flow(of.arc);
            let new = surcharge(of, flow).clamp(-self.limit, self.limit);
            let by = of.surcharge - new;
            if by == 0 {
                continue;
            }
            of.surcharge = new;
            simplex.slopes.unit[of.arc] = of.unit + new;
            if let Some(node) = simplex.node_below(of.arc) {
                let is_up = simplex.arcs.tail[of.arc] as usize == node;
                let by = if is_up { by } else { -by };
                simplex.anchors.lift(&simplex.tree, node, by);
            }
        }
    }

    /// Puts the bounds back.
    pub fn close(self) {
        self.simplex.store();
        self.close_unbegun();
    }

    /// Puts the bounds back where no arc has pivoted.
    fn close_unbegun(self) {
        for of in &self.shared {
            self.simplex.set_domain(of.arc, of.low, of.high);
        }
    }
}
