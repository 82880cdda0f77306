//! Which arc enters: block search over the arcs that may still move.
//!
//! Each arc keeps the price of one unit more and of one unit less at its present flow, with [`CLOSED`] where its
//! domain ends, so that one formula serves lines, convex arcs, bounds and the tree alike.
//!
//! Blocks are small, √arcs / [`BLOCK_PART`], and a block that gave an arc is searched again, up to [`STAYS_MAX`] times
//! in a row: what a pivot spoils is mostly near by where arcs are numbered by stream. Measured against blocks of √arcs
//! left at once, this halves the time of placement networks and of transportation networks.

use super::{MinimizeError, Simplex};
use crate::budget::Budget;

/// Price of a way that is closed: above every |potential difference| + |slope|, and added to one still in `i64`.
const CLOSED: i64 = 1 << 62;

/// Least block of arcs priced together.
const BLOCK_MIN: usize = 16;

/// Blocks are this part of the square root of the number of candidates.
const BLOCK_PART: usize = 8;

/// How often in a row a block is searched again. More of it doubles the pivots of transportation networks.
const STAYS_MAX: u32 = 4;

#[derive(Clone, Debug)]
pub(super) struct Prices {
    /// Price of one unit more.
    right: Vec<i64>,
    /// What one unit less saves.
    left: Vec<i64>,
    /// Arcs whose domain holds more than one flow, in order.
    pub(super) candidates: Vec<u32>,
    /// Where the next block begins.
    next: usize,
    block: usize,
    /// How often in a row the next block was searched already.
    stays: u32,
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
            right: vec![CLOSED; arcs],
            left: vec![-CLOSED; arcs],
            candidates,
            next: 0,
            block: BLOCK_MIN,
            stays: 0,
        };
        prices.rewind();
        prices
    }

    /// Starts over with the first block.
    pub(super) fn rewind(&mut self) {
        self.next = 0;
        self.stays = 0;
        self.block = (self.candidates.len().isqrt() / BLOCK_PART).max(BLOCK_MIN);
    }

    /// Keeps the candidates that `keep` wants.
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.candidates.retain(|&arc| keep(arc));
        self.rewind();
    }

    /// Takes an arc out of the search: it is in the tree.
    #[inline]
    pub(super) fn hide(&mut self, arc: usize) {
        self.right[arc] = CLOSED;
        self.left[arc] = -CLOSED;
    }
}

impl Simplex<'_> {
    /// Sets the prices of an arc outside the tree from its flow.
    #[inline]
    pub(super) fn reprice(&mut self, arc: usize) {
        let flow = self.arcs.flow[arc];
        self.prices.right[arc] = if flow < self.arcs.high[arc] {
            self.slopes.right(arc, flow)
        } else {
            CLOSED
        };
        self.prices.left[arc] = if flow > self.arcs.low[arc] {
            self.slopes.left(arc, flow)
        } else {
            -CLOSED
        };
    }

    /// Left and right reduced cost of an arc outside the tree; none where its domain ends.
    pub(super) fn reduced_costs(&self, arc: usize) -> (Option<i64>, Option<i64>) {
        let difference = self.anchors.potential(self.arcs.tail[arc] as usize)
            - self.anchors.potential(self.arcs.head[arc] as usize);
        let open = |price: i64| (price.abs() != CLOSED).then_some(price + difference);
        (open(self.prices.left[arc]), open(self.prices.right[arc]))
    }

    /// The arc of the largest violation in the first block, from where the last search ended, that has one. Ties go
    /// to the arc met first. None once a whole round finds none.
    pub(super) fn find_entering(
        &mut self,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Entering>, MinimizeError> {
        let count = self.prices.candidates.len();
        let mut left = count;
        while left > 0 {
            let begin = self.prices.next;
            let end = count.min(begin + self.prices.block.min(left));
            let (violation, arc) = self.worst(begin, end);
            let priced = end - begin;
            left -= priced;
            self.stats.arcs_priced += priced as u64;
            budget
                .spend(priced as u64)
                .map_err(MinimizeError::Stopped)?;
            if violation > 0 && self.prices.stays < STAYS_MAX {
                self.prices.stays += 1;
            } else {
                self.prices.stays = 0;
                self.prices.next = if end == count { 0 } else { end };
            }
            if violation > 0 {
                return Ok(Some(self.entering(arc as usize, violation)));
            }
        }
        Ok(None)
    }

    /// Largest violation among some candidates, and its arc.
    #[inline]
    fn worst(&self, begin: usize, end: usize) -> (i64, u32) {
        let mut worst = (0, 0);
        for &candidate in &self.prices.candidates[begin..end] {
            let arc = candidate as usize;
            let difference = self.anchors.potential(self.arcs.tail[arc] as usize)
                - self.anchors.potential(self.arcs.head[arc] as usize);
            let rising = -(self.prices.right[arc] + difference);
            let falling = self.prices.left[arc] + difference;
            let violation = rising.max(falling);
            if violation > worst.0 {
                worst = (violation, candidate);
            }
        }
        worst
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
