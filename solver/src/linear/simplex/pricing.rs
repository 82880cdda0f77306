//! Which arc enters: the best of a block, block after block (Grigoriadis 1986; Kovács 2015, section 4).
//!
//! **Size of a block.** A larger one costs more to look at and saves pivots. It is worth most where a pivot is dear, in
//! deep trees, and where arcs are many to a node. So a block is as many arcs as a pivot of late has touched nodes, at
//! least about √arcs · (arcs / node ÷ 4)^¼ and at most twice √arcs. All of it is counted, none of it timed. Against √arcs
//! throughout, on the families of `benches/classical`: long grids took 10 % less, dense NETGEN 8 %, wide grids 5 %.

use super::Arc;
use crate::budget::{Budget, Stop};
use crate::linear::number::Number;

/// Least arcs in a block: below, the pivots it saves cost less than finding them.
const BLOCK_MIN: usize = 16;

/// By these the least block is √arcs at 4 arcs to a node, 0.85 of it at 2 and 1.7 times it at 32.
const DENSITY_SCALE: usize = 32;
const DENSITY_DIVISOR: usize = 11;

/// Most √arcs in a block; at four, square and wide grids took longer again.
const BLOCK_MOST: usize = 2;

/// Pivots between two adaptions of the block.
pub(super) const ADAPT_EVERY: u64 = 256;

/// Where pricing goes on.
#[derive(Clone, Debug)]
pub(super) struct Pricing {
    next: usize,
    block: usize,
    block_least: usize,
    block_most: usize,
    /// Nodes touched until the last adaption.
    touched_before: u64,
    pub(super) priced: u64,
}

/// An arc that enters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entering<N> {
    pub(super) arc: usize,
    /// Negative.
    pub(super) reduced_cost: N,
}

impl Pricing {
    /// Blocks of √arcs to begin with.
    pub(super) fn new(nodes: usize, arcs: usize) -> Self {
        let block = arcs.isqrt().max(BLOCK_MIN);
        let root_of_density = (DENSITY_SCALE * arcs / nodes.max(1)).isqrt();
        let least = (arcs * root_of_density / DENSITY_DIVISOR).isqrt();
        let block_least = least.max(BLOCK_MIN);
        Pricing {
            next: 0,
            block: block.max(block_least),
            block_least,
            block_most: (BLOCK_MOST * block).max(block_least),
            touched_before: 0,
            priced: 0,
        }
    }

    /// Makes a block as many arcs as a pivot of late has touched nodes, within limits.
    pub(super) fn adapt(&mut self, nodes_touched: u64) {
        let touched = (nodes_touched - self.touched_before) / ADAPT_EVERY;
        self.touched_before = nodes_touched;
        self.block = (touched as usize).clamp(self.block_least, self.block_most);
    }

    /// The arc of least reduced cost in the next block that has a negative one; of equals the first.
    pub(super) fn find<N: Number>(
        &mut self,
        arcs: &[Arc<N>],
        potential: &[N],
        budget: &mut Budget<'_>,
    ) -> Result<Option<Entering<N>>, Stop> {
        let mut left = arcs.len();
        while left > 0 {
            let begin = self.next;
            let end = (begin + self.block).min(arcs.len());
            let mut least = N::ZERO;
            let mut at = end;
            for (arc, index) in arcs[begin..end].iter().zip(begin..) {
                let reduced_cost =
                    arc.cost + potential[arc.tail as usize] - potential[arc.head as usize];
                if reduced_cost < least {
                    least = reduced_cost;
                    at = index;
                }
            }
            let count = end - begin;
            self.priced += count as u64;
            left = left.saturating_sub(count);
            self.next = if end == arcs.len() { 0 } else { end };
            budget.spend(count as u64)?;
            if at < end {
                return Ok(Some(Entering {
                    arc: at,
                    reduced_cost: least,
                }));
            }
        }
        Ok(None)
    }
}

/// An arc, if it may enter.
pub(super) fn wanting<N: Number>(
    arcs: &[Arc<N>],
    potential: &[N],
    index: usize,
) -> Option<Entering<N>> {
    let arc = &arcs[index];
    let reduced_cost = arc.cost + potential[arc.tail as usize] - potential[arc.head as usize];
    (reduced_cost < N::ZERO).then_some(Entering {
        arc: index,
        reduced_cost,
    })
}
