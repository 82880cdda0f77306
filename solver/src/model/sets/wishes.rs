//! What a shard asks of the network, and who asks: followers of given leaders, or whole sets.

use crate::cost::{Cost, Rank, shard_cost};
use crate::snapshot::{Assignment, BrokerId, Problem, ShardId, ZoneId};
use smallvec::SmallVec;

/// Decides what flows, and what comes of it.
pub(super) trait Wishes {
    /// The problem.
    fn problem(&self) -> &Problem;

    /// The placement that the flow begins with, by shard.
    fn start(&self) -> &[Assignment];

    /// The broker of the shard where none of its units may go, and which counts as one of its replicas.
    fn leader(&self, id: ShardId) -> Option<BrokerId>;

    /// Replicas of an assignment that flow, live or not.
    fn flowing(&self, assignment: &Assignment) -> SmallVec<[BrokerId; 8]>;

    /// Units of a shard that is not pinned, those that may be missing, and how many zones they should open.
    fn wish(&self, id: ShardId) -> Wish;

    /// What a replica costs by itself, whatever the others do.
    fn replica(&self, id: ShardId, b: BrokerId) -> Cost;

    /// The assignment with its units on these live brokers, in ascending order.
    fn assemble(&self, id: ShardId, brokers: Vec<BrokerId>) -> Assignment;
}

/// What a shard ships.
pub(super) struct Wish {
    /// Replicas to be placed.
    pub(super) units: i64,
    /// So many may be missing at a cost each, the cheapest first.
    pub(super) missing: [(i64, Rank); 2],
    /// So many zones should get a first replica.
    pub(super) zones: i64,
}

/// Cost of one follower, or of a leader, without what depends on other replicas.
pub(super) fn alone(problem: &Problem, id: ShardId, b: BrokerId, leads: bool) -> Cost {
    let assignment = Assignment {
        leader: leads.then_some(b),
        followers: (!leads).then_some(b).into_iter().collect(),
    };
    let mut cost = shard_cost(problem, id, &assignment);
    for rank in [
        Rank::UnplacedLeaders,
        Rank::UnplacedFollowers,
        Rank::ZonesLost,
    ] {
        cost[rank] = 0;
    }
    cost
}

/// Most live replicas of a shard that a zone may get, and how many of them are no breach; none for both where there is no
/// limit.
pub(super) fn zone_limit(problem: &Problem, id: ShardId, z: ZoneId) -> Option<(i64, i64)> {
    let limit = i64::from(problem.policy.max_replicas_per_zone?);
    let present = &problem.shard(id).present;
    let now = problem.live(present).filter(|&b| problem.zone_of(b) == z);
    Some((limit.max(now.count() as i64), limit))
}
