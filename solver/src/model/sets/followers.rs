//! All followers of all shards in one flow, for given leaders.
//!
//! Exact in every rank but 4, 5 and 12: with the leaders fixed, no other followers cost less.

use super::ship::ship;
use super::wishes::{Wish, Wishes, alone};
use super::{SetError, Solution, is_decided};
use crate::budget::Budget;
use crate::cost::{Cost, Rank, evaluate};
use crate::model::current;
use crate::snapshot::{Assignment, BrokerId, Problem, ShardId};
use smallvec::SmallVec;

/// Improves the followers of an admissible placement to the optimum for its leaders, or as far as the budget goes; the
/// result is never worse than `start`. Caps on replicas may be broken there; where a stop comes before they are kept, or
/// what is found is worse, the start is what comes back.
///
/// Ranks 4, 5 and 12, and `max_moves`, are not looked at: a plan may break a disk's watermark.
///
/// # Errors
/// Where the budget stops the build of the network, the network is refused, or no followers keep the caps.
///
/// Complexity: O(shards · zones + streams · brokers) nodes and arcs; then the simplex.
pub fn followers(
    problem: &Problem,
    start: &[Assignment],
    budget: &mut Budget<'_>,
) -> Result<Solution, SetError> {
    if !is_decided(problem) {
        return Ok(Solution::of_start(start));
    }
    let mut solution = ship(problem, &Followers { problem, start }, budget)?;
    // A sweep over streams that is cut short may leave the counts worse than they were.
    let cost = |placement: &[Assignment]| evaluate(problem, placement).0;
    if solution.stop.is_some() && cost(&solution.placement) > cost(start) {
        solution.placement = start.to_vec();
    }
    Ok(solution)
}

struct Followers<'a> {
    problem: &'a Problem,
    start: &'a [Assignment],
}

impl Wishes for Followers<'_> {
    fn problem(&self) -> &Problem {
        self.problem
    }

    fn start(&self) -> &[Assignment] {
        self.start
    }

    fn leader(&self, id: ShardId) -> Option<BrokerId> {
        self.start[id.index()].leader
    }

    fn flowing(&self, assignment: &Assignment) -> SmallVec<[BrokerId; 8]> {
        assignment.followers.iter().copied().collect()
    }

    fn wish(&self, id: ShardId) -> Wish {
        let problem = self.problem;
        let shard = problem.shard(id);
        let factor = i64::from(problem.replication_factor(shard.stream));
        let kept = factor.min(problem.live(&shard.present).count() as i64);
        let led = i64::from(self.leader(id).is_some());
        // Nobody takes the leader's place, but nothing is given up either.
        let units = (factor - 1).max(kept - led);
        let may_miss = units - (kept - led).max(0);
        Wish {
            units,
            missing: [
                (may_miss, Rank::UnplacedFollowers),
                (0, Rank::UnplacedFollowers),
            ],
            zones: i64::from(problem.zones_wanted(shard)) - led,
        }
    }

    fn replica(&self, id: ShardId, b: BrokerId) -> Cost {
        alone(self.problem, id, b, false)
    }

    fn assemble(&self, id: ShardId, brokers: Vec<BrokerId>) -> Assignment {
        let leader = self.leader(id);
        current::with_lost(self.problem, id, leader, brokers)
    }
}
