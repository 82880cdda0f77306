//! Which arc enters: block search.
//!
//! Each arc outside the tree has a byte that says which ways it may go, so that fixed arcs and those of the tree need no
//! branch. Arcs that leave one node lie together, so its potential is looked up once for all of them.
//!
//! **Blocks.** A block is searched in parts of [`PART`] arcs until none of its arcs wants to enter: what a pivot
//! spoils is mostly near by where arcs are numbered by stream. On placement networks of 100,000 shards this took 355 ms
//! where parts of √arcs / 8, left after five pivots, took 490, and parts of √arcs left at once three times as long.
//!
//! **Rests.** A block in which nothing wants to enter is passed over in the next rounds, in more of them each time up to
//! [`REST_MAX`], since most blocks are done long before the last one is: a third fewer arcs are priced. Only a round
//! over all blocks ends the search.
//!
//! For single linear costs of any network see [`crate::linear`].

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

/// After how many rounds a block is searched again at the latest.
const REST_MAX: u8 = 15;

#[derive(Clone, Debug)]
pub(super) struct Prices {
    /// By arc, which ways it may go; none while it is in the tree.
    ways: Vec<u8>,
    blocks: Vec<Block>,
    /// The block that is searched.
    block: usize,
    /// Where in it the search goes on.
    next: usize,
    round: Round,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Where its arcs end; they begin where those before it end.
    end: usize,
    /// Rounds passed over after the last search without a find.
    rest: u8,
    /// Rounds yet to be passed over.
    wait: u8,
    /// Whether the search that goes on has found an arc.
    has_found: bool,
}

/// One search of all blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    has_found: bool,
    has_skipped: bool,
    /// Whether no block is passed over.
    is_full: bool,
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
    /// Arcs in one block.
    pub(super) fn new(arcs: usize) -> Self {
        let mut prices = Prices {
            ways: vec![0; arcs],
            blocks: Vec::new(),
            block: 0,
            next: 0,
            round: Round::default(),
        };
        prices.set_blocks(std::iter::empty());
        prices
    }

    /// Divides the arcs at these, given in ascending order.
    pub(super) fn set_blocks(&mut self, begins: impl Iterator<Item = usize>) {
        let ends = begins.chain([self.ways.len()]);
        let block = |end| Block {
            end,
            ..Block::default()
        };
        self.blocks = ends.map(block).collect();
        self.rewind();
    }

    /// One more arc, in the last block.
    pub(super) fn push(&mut self) {
        self.ways.push(0);
        if let Some(last) = self.blocks.last_mut() {
            last.end += 1;
        }
    }

    /// Artificial arcs behind those that there are, in the first block.
    pub(super) fn insert_artificial(&mut self, before: usize, count: usize) {
        self.ways
            .splice(before..before, std::iter::repeat_n(0, count));
        for block in &mut self.blocks {
            block.end += count;
        }
        self.rewind();
    }

    /// Starts over with the first block.
    pub(super) fn rewind(&mut self) {
        self.block = 0;
        self.next = 0;
        self.round = Round::default();
        for block in &mut self.blocks {
            *block = Block {
                end: block.end,
                ..Block::default()
            };
        }
    }

    fn window(&self, block: usize) -> Range<usize> {
        let begin = match block {
            0 => 0,
            _ => self.blocks[block - 1].end,
        };
        begin..self.blocks[block].end
    }

    fn search(&mut self, block: usize) {
        self.block = block;
        self.next = self.window(block).start;
    }

    /// Whether the block is passed over in this round.
    fn skips(&mut self) -> bool {
        let block = &mut self.blocks[self.block];
        if block.wait == 0 || block.has_found || self.round.is_full {
            return false;
        }
        block.wait -= 1;
        self.round.has_skipped = true;
        true
    }

    /// Ends the search of a block without a find.
    fn rest(&mut self) {
        let block = &mut self.blocks[self.block];
        block.rest = match block.has_found {
            true => 0,
            false => (2 * block.rest + 1).min(REST_MAX),
        };
        block.wait = block.rest;
        block.has_found = false;
    }

    /// Goes on to the next block. True where that ends a round over all blocks without a find.
    fn advance(&mut self) -> bool {
        if self.block + 1 < self.blocks.len() {
            self.search(self.block + 1);
            return false;
        }
        self.search(0);
        let round = self.round;
        self.round = Round {
            is_full: !round.has_found,
            ..Round::default()
        };
        !round.has_found && !round.has_skipped
    }

    /// Takes an arc out of the search: it is in the tree.
    #[inline]
    pub(super) fn hide(&mut self, arc: usize) {
        self.ways[arc] = 0;
    }
}

impl Simplex {
    /// Notes which ways an arc outside the tree may go from its flow. Artificial arcs only fall.
    #[inline]
    pub(super) fn reprice(&mut self, arc: usize) {
        let flow = self.arcs.flow[arc];
        let mut ways = 0;
        if flow < self.arcs.high[arc] && arc >= self.tree.root() {
            ways |= RISES;
        }
        if flow > self.arcs.low[arc] {
            ways |= FALLS;
        }
        if ways != 0 && self.slopes.is_bent(arc) {
            ways |= BENT;
        }
        self.prices.ways[arc] = ways;
    }

    /// Whether an arc is in the tree, or fixed.
    #[inline]
    pub(super) fn is_still(&self, arc: usize) -> bool {
        self.prices.ways[arc] == 0
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
        while !self.prices.blocks.is_empty() {
            if !self.prices.skips() {
                let block = self.prices.block;
                let found = self.find_in(block, budget)?;
                if found.is_some() {
                    self.prices.blocks[block].has_found = true;
                    self.prices.round.has_found = true;
                    return Ok(found);
                }
                self.prices.rest();
            }
            if self.prices.advance() {
                break;
            }
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
        let window = self.prices.window(block);
        let mut left = window.len();
        while left > 0 {
            let begin = self.prices.next;
            let end = window.end.min(begin + PART.min(left));
            let (violation, arc) = self.worst(begin, end);
            let priced = end - begin;
            self.stats.arcs_priced += priced as u64;
            budget.spend(priced as u64)?;
            if violation > 0 {
                return Ok(Some(self.entering(arc, violation)));
            }
            left -= priced;
            self.prices.next = if end == window.end { window.start } else { end };
        }
        Ok(None)
    }

    /// The arc, should it want to enter.
    pub(super) fn wanting(&self, arc: usize) -> Option<Entering> {
        let (left, right) = self.reduced_costs(arc);
        let falls = left.filter(|&left| left > 0);
        let rises = right.filter(|&right| right < 0);
        let reduced_cost = falls.or(rises)?;
        Some(Entering {
            arc,
            is_rising: falls.is_none(),
            reduced_cost,
        })
    }

    /// Largest violation among some arcs, and its arc.
    #[inline]
    fn worst(&self, begin: usize, end: usize) -> (i64, usize) {
        let ends = self.arcs.tail[begin..end]
            .iter()
            .zip(&self.arcs.head[begin..end]);
        let units = self.slopes.unit[begin..end].iter();
        let ways = &self.prices.ways[begin..end];
        let mut worst = (0, 0);
        let (mut last, mut potential) = (u32::MAX, 0);
        for (at, (((&tail, &head), &unit), &ways)) in ends.zip(units).zip(ways).enumerate() {
            if tail != last {
                last = tail;
                potential = self.anchors.potential(tail as usize);
            }
            let difference = potential - self.anchors.listed_potential(head as usize);
            let violation = if ways & BENT == 0 {
                let reduced_cost = unit + difference;
                // All ones where the way is open.
                let rises = -i64::from(ways & RISES);
                let falls = -i64::from((ways & FALLS) / FALLS);
                (-reduced_cost & rises).max(reduced_cost & falls)
            } else {
                self.bent_violation(begin + at, difference, ways)
            };
            if violation > worst.0 {
                worst = (violation, begin + at);
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
