//! Felix tiers: a greedy planner that levels each stream's leaders first and all leaders second.
//!
//! # What it does
//! 1. **Repair**, see `repair`: leaders for shards without one, surplus dropped, missing followers added, draining
//!    and closed brokers left. A leader that needs a new broker takes the one of the highest rendezvous score among
//!    those that pass the first test that any passes: under the stream's floor and the cluster share; under the floor;
//!    under the ceiling and the share; under the ceiling; under the share; any with room under the caps as configured;
//!    the least loaded of those with room under the caps in force.
//! 2. **Rebalance**, see `rebalance`: one move at a time, streams first, totals when no stream's move is left.
//! 3. Again from 1 while anything changed, because moves make room for what did not fit.
//!
//! # Invariants
//! * No hard rule is broken at any time: every addition is checked against the caps in force (of counts, bytes and rates),
//!   the zone rule, tags and states; a drain against the caps as configured, so that it trades no breach for another; an optional move also
//!   against the shard's zones and the zones' minima.
//! * Pinned shards count and never move. `LEADERSHIP_ONLY` only promotes.
//! * A shard never has fewer live replicas than now, up to its replication factor.
//! * Every change lowers (what `repair` lists, ranks 8 and 9), compared lexicographically, so the planner ends; its last
//!   round tried everything and changed nothing, so planning its own plan changes nothing either.
//! * Only rebalancing and making room for another change settled shards, until `max_moves` is used up.
//! * Shards are walked in canonical order (repair: the largest first where bytes or rates are limited) and every tie is settled by score, then by id: the plan is a function of the
//!   problem.
//!
//! # Complexity
//! O(shards + streams · brokers) where little is amiss, O(brokers) for every replica that has to be placed and
//! O(log brokers) for every optional move; a table of leaders by stream and broker takes 4 bytes a cell, a shard about 100 bytes.
//!
//! # What it can't do
//! It makes room for bytes only (see `room`): a shard stays unplaced where a count's cap would have to be freed first. It
//! levels leaders and not replicas, and looks at costs only between shards that suit a move equally.

mod bands;
mod led;
mod place;
mod pressure;
mod rebalance;
mod receivers;
mod repair;
mod room;

use crate::budget::{Budget, Stop};
use crate::greedy::tally::{Pace, Tally};
use crate::snapshot::{Assignment, Problem};
use bands::Bands;
use rebalance::run as rebalance;
use repair::Repair;

/// Plans by the tiers; the result is indexed by [`crate::snapshot::ShardId`].
///
/// The work limit doesn't govern the tiers: the budget's interrupt is polled, no work is spent.
///
/// # Errors
/// The reason, where the interrupt asks to stop; there is no partial plan.
pub fn plan(problem: &Problem, budget: &mut Budget<'_>) -> Result<Vec<Assignment>, Stop> {
    let mut pace = Pace::new(budget);
    let mut tally = Tally::new(problem, &mut pace)?;
    let mut placing = Bands::new(problem, false);
    let mut levelling = Bands::new(problem, true);
    let mut repair = Repair::new(&tally, &mut pace)?;
    loop {
        let is_repaired = repair.run(&mut tally, &mut placing, &mut pace)?;
        let has_moved = rebalance(&mut tally, &mut levelling, &mut pace)?;
        if !is_repaired && !has_moved {
            return Ok(tally.finish());
        }
    }
}
