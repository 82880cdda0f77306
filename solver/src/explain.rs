//! Why a plan falls short, what its rules cost, and what another broker would cost a shard.
//!
//! * [`reasons`]: minimum cuts for shards without a leader, breaches and zone minima, with the smallest changes of rules
//!   that lift them ([`crate::cut`] says what a cut is).
//! * [`prices`]: what one more unit of each rule would save, from the certificate of an optimal plan.
//! * [`choices`]: for one shard and every broker, what leading it there would cost, or the rule that forbids it.
//!
//! All three are functions of the problem, a placement and a certificate; none of them plans.

pub mod choices;
mod contest;
mod grouping;
mod multipliers;
pub mod prices;
mod reach;
mod remedies;

use crate::budget::{self, Budget};
use crate::cost::{Cost, Rank, shard_cost};
use crate::cut::{Cut, Reason};
use crate::model::{current, leaders};
use crate::snapshot::{Counts, Problem, Roles};
use crate::verify;
use contest::Contest;
use grouping::{Groups, Rules};

/// The ranks that cuts explain.
pub const RANKS_EXPLAINED: [Rank; 3] = [
    Rank::UnplacedLeaders,
    Rank::Breaches,
    Rank::ZoneMinimumShortfall,
];

/// Most work that one explanation may take, in units of [`Budget`]: about a second.
const WORK_MAX: u64 = 100_000_000;

/// The cuts behind whatever of `value`, the cost of a plan, is above 0 in [`RANKS_EXPLAINED`], by rank.
///
/// Where shards that live in the same places and may go to the same brokers are one node, the leader network has few
/// nodes; it is solved in the ranks that decide these three, and what the unplaced, the excess and the missing units can
/// reach in it is closed in by the cut. Cuts that overlap are one, unless they are of different rules.
///
/// Each cut has passed [`verify::cut::check`]; one that fails would be left out.
///
/// None are given where followers are decided as well, or where shards without a leader keep replicas: there leaders
/// alone are no network. Cuts are about the best plan; a plan that was cut short may fall shorter.
///
/// Complexity: O(shards · replicas) where anything is short, then the simplex on as many nodes as there are kinds of
/// shards and brokers, once for the cuts and up to a few hundred times for their remedies. Deterministic; what takes
/// more than a fixed amount of work is left out.
pub fn reasons(problem: &Problem, value: &Cost) -> Vec<Reason> {
    let is_short = |rank: &Rank| value[*rank] > 0;
    if !RANKS_EXPLAINED.iter().any(is_short) || !applies(problem) {
        return Vec::new();
    }
    let mut budget = Budget::new(Some(WORK_MAX), &budget::never);
    let rules = Rules::of(problem);
    let groups = Groups::of(problem, &rules);
    let Some(contest) = Contest::solve(problem, &groups, &rules, &mut budget) else {
        return Vec::new();
    };
    let mut reasons = Vec::new();
    for rank in RANKS_EXPLAINED.into_iter().filter(is_short) {
        let cuts = contest.cuts(problem, rank, &groups, &rules);
        let is_right = |cut: &Cut| verify::cut::check(problem, value, cut).is_empty();
        for cut in cuts.into_iter().filter(is_right) {
            let remedies = remedies::of(problem, &cut, &rules, &groups, &contest, &mut budget);
            reasons.push(Reason { cut, remedies });
        }
    }
    reasons
}

/// Breaches that are there wherever free shards are led: what pinned shards take above caps, and, where nothing is
/// copied, replicas that should be elsewhere. 0 where followers are decided as well.
///
/// Complexity: O(shards · replicas).
pub fn fixed_breaches(problem: &Problem) -> i64 {
    if !leaders::applies(problem) {
        return 0;
    }
    let stays = problem.policy.roles == Roles::LeadershipOnly;
    let mut counts = Counts::zero(problem.brokers.len(), problem.zones.len());
    let mut fixed = 0;
    for id in problem.shard_ids() {
        let shard = problem.shard(id);
        if shard.is_pinned {
            counts.add(&problem.brokers, &shard.present, 1);
        } else if stays {
            let unled = current::leaderless(problem, id);
            counts.add(&problem.brokers, &unled, 1);
            fixed += shard_cost(problem, id, &unled)[Rank::Breaches];
        }
    }
    let above = |count: i64, cap: Option<u32>| cap.map_or(0, |cap| (count - i64::from(cap)).max(0));
    for (b, broker) in problem.brokers.iter().enumerate() {
        fixed += above(counts.leaders[b], broker.max_leaders);
        fixed += above(counts.replicas[b], broker.max_replicas);
    }
    for (z, zone) in problem.zones.iter().enumerate() {
        fixed += above(counts.zone_leaders[z], zone.max_leaders);
        fixed += above(counts.zone_replicas[z], zone.max_replicas);
    }
    fixed
}

/// Whether leaders alone are a network whose cuts explain a plan.
fn applies(problem: &Problem) -> bool {
    let mut shards = problem.shards.iter();
    leaders::applies(problem) && !shards.any(|shard| leaders::is_orphan(problem, shard))
}
