//! Price feedback: a rank block by block, where only few arcs couple the blocks.
//!
//! **Problem.** Without the bounds of its *shared* arcs a network falls apart into blocks: streams, where the counts of
//! brokers and zones are shared. Solved at once, most pivots of the simplex carry flow through shared arcs that are
//! full, from block to block, and change nothing.
//!
//! **Method.** The shared arcs lose their bounds and get prices instead. Blocks are solved one after another, each
//! seeing `price + step · overload` of what the others leave, where the overload of an arc is how far its flow is
//! outside its bounds; after each sweep `price += step · overload / 2`. Updating after all blocks at once would
//! oscillate, one after another settles within a few sweeps (an incremental method of multipliers; Bertsekas, Constrained
//! Optimization and Lagrange Multiplier Methods, 1982, chapter 2). Then the bounds are back, what is still outside them
//! lies on artificial arcs, and the simplex goes on from this tree. Its optimum is exact whatever the prices were.
//!
//! **Fast because** a shared arc without bounds never leaves the tree, so its price shifts the potentials of all that
//! hang by it, which is one number where its tail is an anchor; and tree paths between two shared arcs stay within one
//! block.
//!
//! **Complexity.** A sweep prices each arc at least once, and shifts up to blocks · shared prices.

use super::{FAR, MinimizeError, Simplex};
use crate::budget::Budget;
use crate::network::{ArcId, RankCost};

/// What a method of multipliers needs to know.
#[derive(Clone, Debug)]
pub struct Feedback<'a> {
    /// Arcs without convex cost that couple the blocks, with their first prices.
    pub shared: &'a [(ArcId, i64)],
    /// How often all blocks are solved.
    pub sweeps: usize,
    /// Price of one unit outside the bounds.
    pub step: i64,
}

/// A shared arc while it has no bounds.
struct Shared {
    arc: usize,
    low: i64,
    high: i64,
    /// Without the overload.
    price: i64,
    /// Its unit cost now.
    unit: i64,
    /// Unit cost by the rank.
    own: i64,
}

impl Shared {
    fn overload(&self, flow: i64) -> i64 {
        flow - flow.clamp(self.low, self.high)
    }
}

impl Simplex {
    /// Brings flow and tree near the optimum of a rank. [`Simplex::minimize`] of the same rank must follow: until then
    /// the flow may be out of balance.
    ///
    /// Shared arcs that are not in the tree keep their bounds. Prices may be anything; they are bounded here by what
    /// the rank's potentials can reach.
    ///
    /// # Errors
    /// As [`Simplex::minimize`]. After all but a fault of the cost the next rank starts from the flow reached.
    pub fn approach(
        &mut self,
        rank: &RankCost,
        feedback: &Feedback<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<(), MinimizeError> {
        let reach = self.load(rank)?;
        let mut shared = self.relax(feedback.shared, reach);
        self.reset_candidates();
        self.begin(0);
        let outcome = self.sweeps(&mut shared, feedback, reach, budget);
        self.store();
        for of in &shared {
            self.set_domain(of.arc, of.low, of.high);
        }
        outcome
    }

    /// Takes the bounds of shared arcs away and puts their prices on them.
    fn relax(&mut self, shared: &[(ArcId, i64)], reach: i64) -> Vec<Shared> {
        let mut relaxed = Vec::with_capacity(shared.len());
        for &(id, price) in shared {
            let arc = self.arc(id);
            if !self.is_in_tree(arc) || self.slopes.is_bent(arc) {
                continue;
            }
            let (own, price) = (self.slopes.unit[arc], price.clamp(-reach, reach));
            relaxed.push(Shared {
                arc,
                low: self.arcs.low[arc],
                high: self.arcs.high[arc],
                price,
                unit: own + price,
                own,
            });
            self.slopes.unit[arc] = own + price;
            self.arcs.low[arc] = -FAR;
            self.arcs.high[arc] = FAR;
        }
        relaxed
    }

    fn sweeps(
        &mut self,
        shared: &mut [Shared],
        feedback: &Feedback<'_>,
        reach: i64,
        budget: &mut Budget<'_>,
    ) -> Result<(), MinimizeError> {
        let step = feedback.step; let half = std::env::var("HALF").ok().and_then(|s| s.parse().ok()).unwrap_or(2i64);
        for _ in 0..feedback.sweeps {
            let mut seen = 0;
            for block in 0..self.prices.block_count() {
                if self.stats.pivots - seen > shared.len() as u64 / 8 {
                    seen = self.stats.pivots;
                    budget.spend(shared.len() as u64).map_err(MinimizeError::Stopped)?;
                    for of in shared.iter_mut() {
                        let overload = of.overload(self.live_flow(of.arc));
                        let price = of.price.saturating_add(step.saturating_mul(overload) / of.high.max(1));
                        self.charge(of, price.clamp(-reach, reach));
                    }
                }
                while let Some(entering) = self.find_in(block, budget)? {
                    self.step(entering, budget)?;
                }
            }
            let total: i64 = shared.iter().map(|of| of.overload(self.live_flow(of.arc)).abs()).sum();
            eprintln!("sweep overload {total} {:?}", self.stats);
            for of in shared.iter_mut() {
                let overload = of.overload(self.live_flow(of.arc));
                let price = of.price.saturating_add(step.saturating_mul(overload) / of.high.max(1) / half);
                of.price = price.clamp(-reach, reach);
            }
        }
        Ok(())
    }

    /// Sets the price of a shared arc.
    fn charge(&mut self, of: &mut Shared, price: i64) {
        let unit = of.own + price;
        if unit == of.unit {
            return;
        }
        let by = of.unit - unit;
        of.unit = unit;
        self.slopes.unit[of.arc] = unit;
        let (tail, head) = (self.arcs.tail[of.arc] as usize, self.arcs.head[of.arc] as usize);
        if self.is_above(of.arc, tail) {
            self.anchors.lift(&self.tree, tail, by);
        } else if self.is_above(of.arc, head) {
            self.anchors.lift(&self.tree, head, -by);
        }
    }

    /// Flow of an arc while pivots go on.
    fn live_flow(&self, arc: usize) -> i64 {
        let ends = [self.arcs.tail[arc] as usize, self.arcs.head[arc] as usize];
        match ends.into_iter().find(|&node| self.is_above(arc, node)) {
            Some(node) => self.tree_flow(node),
            None => self.arcs.flow[arc],
        }
    }

    /// Whether a node hangs by an arc.
    fn is_above(&self, arc: usize, node: usize) -> bool {
        self.tree.places[node].arc as usize == arc
    }

    fn arc(&self, id: ArcId) -> usize {
        self.tree.root() + id.index()
    }
}
