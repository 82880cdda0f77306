//! Which arc enters: block search over the arcs that may still move.
//!
//! Each arc outside the tree has a byte that says which ways it may go. Arcs that leave one node lie together, so its
//! potential is looked up once for all of them.
//!
//! Blocks are small, [`BLOCK`] arcs, and a block is left once none of its arcs wants to enter: what a pivot spoils is
//! mostly near by where arcs are numbered by stream. On placement networks of 100,000 shards this took 355 ms where
//! blocks of √arcs / 8, left after five pivots, took 490, and blocks of √arcs left at once three times as long. For
//! single linear costs of any network see [`crate::linear`].

use super::{MinimizeError, Simplex};
use crate::budget::Budget;
use std::ops::Range;

/// The flow may rise.
const RISES: u8 = 1;
/// The flow may fall.
const FALLS: u8 = 2;
/// The cost is no line.
const BENT: u8 = 4;

/// Arcs priced together.
const PART: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct Prices {
    /// By arc, which ways it may go; none while it is in the tree.
    ways: Vec<u8>,
    /// Arcs whose domain holds more than one flow, in order.
    pub(super) candidates: Vec<u32>,
    /// Where blocks of arcs begin, ascending; see [`Simplex::set_blocks`].
    pub(super) bounds: Vec<u32>,
    /// The candidates of each block; none is empty.
    blocks: Vec<Range<usize>>,
    /// The block that is searched.
    block: usize,
    /// Where in it the search goes on.
    next: usize,
}

/// An arc that wants to enter.
#[derive(Clone, Copy)]
pub(super) struct Entering {
    pub(super) arc: usize,
    /// Whether its flow rises.
    pub(super) is_rising: bool,
    /// Its reduced cost: negative when rising, positive when falling.
    pub(super) reduced_cost: i64,
}

impl Prices {
    pub(super) fn new(arcs: usize, candidates: Vec<u32>) -> Self {
        let mut prices = Prices {
            ways: vec![0; arcs],
            candidates,
            bounds: Vec::new(),
            blocks: Vec::new(),
            block: 0,
            next: 0,
        };
        prices.rewind();
        prices
    }

    /// Finds the blocks among the candidates, and searches from the first.
    pub(super) fn rewind(&mut self) {
        let ends = (self.bounds.iter())
            .map(|&arc| self.candidates.partition_point(|&candidate| candidate < arc))
            .chain([self.candidates.len()]);
        self.blocks.clear();
        let mut begin = 0;
        for end in ends.filter(|&end| end > 0) {
            if end > begin {
                self.blocks.push(begin..end);
                begin = end;
            }
        }
        self.block = 0;
        self.next = 0;
    }

    pub(super) fn block_count(&self) -> usize {
        self.blocks.len()
    }

    fn search(&mut self, block: usize) {
        self.block = block;
        self.next = self.blocks[block].start;
    }

    /// Keeps the candidates that `keep` wants.
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.candidates.retain(|&arc| keep(arc));
        self.rewind();
    }

    /// Takes an arc out of the search: it is in the tree.
    #[inline]
    pub(super) fn hide(&mut self, arc: usize) {
        self.ways[arc] = 0;
    }
}

impl Simplex {
    /// Notes which ways an arc outside the tree may go from its flow.
    #[inline]
    pub(super) fn reprice(&mut self, arc: usize) {
        let flow = self.arcs.flow[arc];
        let mut ways = 0;
        if flow < self.arcs.high[arc] {
            ways |= RISES;
        }
        if flow > self.arcs.low[arc] {
            ways |= FALLS;
        }
        if self.slopes.is_bent(arc) {
            ways |= BENT;
        }
        self.prices.ways[arc] = ways;
    }

    /// Left and right reduced cost of an arc outside the tree; none where its domain ends.
    pub(super) fn reduced_costs(&self, arc: usize) -> (Option<i64>, Option<i64>) {
        let difference = self.anchors.potential(self.arcs.tail[arc] as usize)
            - self.anchors.potential(self.arcs.head[arc] as usize);
        let flow = self.arcs.flow[arc];
        let ways = self.prices.ways[arc];
        (
            (ways & FALLS != 0).then(|| self.slopes.left(arc, flow) + difference),
            (ways & RISES != 0).then(|| self.slopes.right(arc, flow) + difference),
        )
    }

    /// An arc that wants to enter: of the block searched last, until it has none, else of those after it. None once
    /// no block has one.
    pub(super) fn find_entering(
        &mut self,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Entering>, MinimizeError> {
        let count = self.prices.blocks.len();
        for _ in 0..count {
            let found = self.find_in(self.prices.block, budget)?;
            if found.is_some() {
                return Ok(found);
            }
            self.prices.search((self.prices.block + 1) % count);
        }
        Ok(None)
    }

    /// The arc of the largest violation in the first part of a block, from where its last search ended, that has one.
    /// Ties go to the arc met first.
    pub(super) fn find_in(
        &mut self,
        block: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Entering>, MinimizeError> {
        if block != self.prices.block {
            self.prices.search(block);
        }
        let window = self.prices.blocks[block].clone();
        let mut left = window.len();
        while left > 0 {
            let begin = self.prices.next;
            let end = window.end.min(begin + PART.min(left));
            let (violation, arc) = self.worst(begin, end);
            let priced = end - begin;
            self.stats.arcs_priced += priced as u64;
            budget
                .spend(priced as u64)
                .map_err(MinimizeError::Stopped)?;
            if violation > 0 {
                return Ok(Some(self.entering(arc as usize, violation)));
            }
            left -= priced;
            self.prices.next = if end == window.end {
                window.start
            } else {
                end
            };
        }
        Ok(None)
    }

    /// Largest violation among some candidates, and its arc.
    #[inline]
    fn worst(&self, begin: usize, end: usize) -> (i64, u32) {
        let mut worst = (0, 0);
        let (mut tail, mut potential) = (u32::MAX, 0);
        for &candidate in &self.prices.candidates[begin..end] {
            let arc = candidate as usize;
            if self.arcs.tail[arc] != tail {
                tail = self.arcs.tail[arc];
                potential = self.anchors.potential(tail as usize);
            }
            let head = self.arcs.head[arc] as usize;
            let difference = potential - self.anchors.listed_potential(head);
            let ways = self.prices.ways[arc];
            let violation = if ways & BENT == 0 {
                let reduced_cost = self.slopes.unit[arc] + difference;
                let way = if reduced_cost < 0 { RISES } else { FALLS };
                if ways & way == 0 {
                    0
                } else {
                    reduced_cost.abs()
                }
            } else {
                self.bent_violation(arc, difference, ways)
            };
            if violation > worst.0 {
                worst = (violation, candidate);
            }
        }
        worst
    }

    #[inline(never)]
    fn bent_violation(&self, arc: usize, difference: i64, ways: u8) -> i64 {
        let flow = self.arcs.flow[arc];
        let mut violation = 0;
        if ways & RISES != 0 {
            violation = violation.max(-(self.slopes.right(arc, flow) + difference));
        }
        if ways & FALLS != 0 {
            violation = violation.max(self.slopes.left(arc, flow) + difference);
        }
        violation
    }

    fn entering(&self, arc: usize, violation: i64) -> Entering {
        let (left, _) = self.reduced_costs(arc);
        let is_rising = left != Some(violation);
        Entering {
            arc,
            is_rising,
            reduced_cost: if is_rising { -violation } else { violation },
        }
    }
}
