//! All replicas of all shards in one flow, with roles ignored.
//!
//! A replica costs on each broker what a leader or a follower costs there, whichever is less; pairs in one zone, zones
//! spanned and counts of replicas as ever; leaders' counts and `same_rack_as_leader` nothing. So no plan costs less than
//! the flow in the ranks that it sees, and the sets it finds are good ones for leaders to be chosen from.

use super::ship::ship;
use super::wishes::{Wish, Wishes, alone};
use super::{SetError, Solution, is_decided};
use crate::budget::Budget;
use crate::cost::{Cost, Rank, shard_cost};
use crate::model::current;
use crate::snapshot::{Assignment, BrokerId, Problem, ShardId};
use smallvec::SmallVec;

/// The sets of least cost, from those of an admissible placement. In each the present leader leads where it is in the
/// set, else the one of least own cost: caps and limits on leaders may be broken.
///
/// # Errors
/// Where the budget stops the build of the network, or the network is refused.
///
/// Complexity: as [`super::followers`].
pub fn union(
    problem: &Problem,
    start: &[Assignment],
    budget: &mut Budget<'_>,
) -> Result<Solution, SetError> {
    if !is_decided(problem) {
        return Ok(Solution::of_start(start));
    }
    ship(problem, &Union { problem, start }, budget)
}

struct Union<'a> {
    problem: &'a Problem,
    start: &'a [Assignment],
}

impl Wishes for Union<'_> {
    fn problem(&self) -> &Problem {
        self.problem
    }

    fn start(&self) -> &[Assignment] {
        self.start
    }

    fn leader(&self, _: ShardId) -> Option<BrokerId> {
        None
    }

    fn flowing(&self, assignment: &Assignment) -> SmallVec<[BrokerId; 8]> {
        assignment.replicas().collect()
    }

    fn wish(&self, id: ShardId) -> Wish {
        let problem = self.problem;
        let shard = problem.shard(id);
        let units = i64::from(problem.replication_factor(shard.stream));
        let may_miss = (units - problem.live(&shard.present).count() as i64).max(0);
        // The last replica to be missing is the leader.
        let leaders = i64::from(may_miss == units);
        Wish {
            units,
            missing: [
                (may_miss - leaders, Rank::UnplacedFollowers),
                (leaders, Rank::UnplacedLeaders),
            ],
            zones: i64::from(problem.zones_wanted(shard)),
        }
    }

    fn replica(&self, id: ShardId, b: BrokerId) -> Cost {
        let of = |leads| alone(self.problem, id, b, leads);
        of(true).min(of(false))
    }

    fn assemble(&self, id: ShardId, brokers: Vec<BrokerId>) -> Assignment {
        let problem = self.problem;
        let leader = self.leader_of(id, &brokers);
        let others = brokers.into_iter().filter(|&b| Some(b) != leader).collect();
        current::with_lost(problem, id, leader, others)
    }
}

impl Union<'_> {
    fn leader_of(&self, id: ShardId, brokers: &[BrokerId]) -> Option<BrokerId> {
        let now = self.problem.live_leader(self.problem.shard(id));
        if let Some(b) = now.filter(|b| brokers.contains(b)) {
            return Some(b);
        }
        let led = |leader: BrokerId| Assignment {
            leader: Some(leader),
            followers: brokers.iter().copied().filter(|&b| b != leader).collect(),
        };
        let cost = |&b: &BrokerId| (shard_cost(self.problem, id, &led(b)), b);
        brokers.iter().copied().min_by_key(cost)
    }
}
