//! Which arc enters: the best of a block, block after block (Grigoriadis 1986; Kovács 2015, section 4).

use super::Arc;
use crate::budget::{Budget, Stop};
use crate::linear::number::Number;

/// Least arcs in a block: below, the pivots it saves cost less than finding them.
const BLOCK_MIN: usize = 16;

/// Where pricing goes on.
#[derive(Clone, Debug)]
pub(super) struct Pricing {
    next: usize,
    block: usize,
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
    /// Blocks of √arcs.
    pub(super) fn new(arcs: usize) -> Self {
        Pricing {
            next: 0,
            block: arcs.isqrt().max(BLOCK_MIN),
            priced: 0,
        }
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
