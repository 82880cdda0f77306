//! The present layout as a placement: always admissible, since caps in force leave room for what is there.

use crate::budget::{Pace, Stop, unstopped};
use crate::cost::shard_cost;
use crate::snapshot::{Assignment, BrokerId, Problem, Roles, Shard, ShardId};

/// The layout as it stands, less its surplus. A shard without a live leader stays leaderless.
pub fn placement(problem: &Problem) -> Vec<Assignment> {
    unstopped(|pace| placement_within(problem, pace))
}

/// The same, until the interrupt asks to stop.
///
/// # Errors
/// The interrupt's reason.
pub fn placement_within(problem: &Problem, pace: &mut Pace<'_>) -> Result<Vec<Assignment>, Stop> {
    let mut placement = Vec::with_capacity(problem.shards.len());
    for id in problem.shard_ids() {
        pace.step(1)?;
        let shard = problem.shard(id);
        placement.push(match problem.live_leader(shard) {
            None => leaderless(problem, id),
            Some(leader) => led(problem, shard, leader),
        });
    }
    Ok(placement)
}

/// Whether a shard keeps all replicas that it lists.
fn keeps_all(problem: &Problem, shard: &Shard) -> bool {
    shard.is_pinned || problem.policy.roles == Roles::LeadershipOnly
}

fn led(problem: &Problem, shard: &Shard, leader: BrokerId) -> Assignment {
    if keeps_all(problem, shard) {
        return with_leader(shard, leader);
    }
    let room = problem.replication_factor(shard.stream) as usize - 1;
    let live = problem.live(&shard.present).filter(|&b| b != leader);
    Assignment {
        leader: Some(leader),
        followers: listed(problem, shard, live.take(room).collect(), room),
    }
}

/// The shard with every replica where it is, led from `leader`, which holds one.
pub fn with_leader(shard: &Shard, leader: BrokerId) -> Assignment {
    let mut followers: Vec<BrokerId> = shard.present.replicas().filter(|&b| b != leader).collect();
    followers.sort_unstable();
    Assignment {
        leader: Some(leader),
        followers,
    }
}

/// The shard without a leader, its live replicas kept as followers up to the replication factor: those that cost
/// least.
pub fn leaderless(problem: &Problem, id: ShardId) -> Assignment {
    let shard = problem.shard(id);
    let mut replicas: Vec<BrokerId> = shard.present.replicas().collect();
    replicas.sort_unstable();
    if keeps_all(problem, shard) {
        return Assignment {
            leader: None,
            followers: replicas,
        };
    }
    let room = problem.replication_factor(shard.stream) as usize;
    let mut live: Vec<BrokerId> = replicas
        .into_iter()
        .filter(|&b| problem.is_live(b))
        .collect();
    if live.len() > room {
        live.sort_by_cached_key(|&b| {
            let alone = Assignment {
                leader: None,
                followers: vec![b],
            };
            (shard_cost(problem, id, &alone), b)
        });
        live.truncate(room);
    }
    Assignment {
        leader: None,
        followers: listed(problem, shard, live, room),
    }
}

/// The assignment with these live followers, and replicas on `DOWN` brokers that nothing replaces.
pub(crate) fn with_lost(
    problem: &Problem,
    id: ShardId,
    leader: Option<BrokerId>,
    followers: Vec<BrokerId>,
) -> Assignment {
    let shard = problem.shard(id);
    let room = problem.replication_factor(shard.stream) as usize - usize::from(leader.is_some());
    Assignment {
        leader,
        followers: listed(problem, shard, followers, room),
    }
}

/// Live followers and, up to `room` in all, replicas on `DOWN` brokers, lowest ids first.
fn listed(
    problem: &Problem,
    shard: &Shard,
    mut followers: Vec<BrokerId>,
    room: usize,
) -> Vec<BrokerId> {
    let mut down: Vec<BrokerId> = shard
        .present
        .replicas()
        .filter(|&b| !problem.is_live(b))
        .collect();
    down.sort_unstable();
    down.truncate(room.saturating_sub(followers.len()));
    followers.append(&mut down);
    followers.sort_unstable();
    followers
}
