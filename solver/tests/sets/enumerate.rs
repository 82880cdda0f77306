//! Every choice of one option per shard.

use shardflow_solver::cost::Cost;
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, ShardId};
use shardflow_solver::verify::Fault;
use shardflow_solver::verify::placement::check;

/// Most placements to try for one problem.
const PLACEMENTS_MAX: usize = 2_000;

/// Sets of live brokers, without `except`.
pub(crate) fn live_sets(problem: &Problem, except: Option<BrokerId>) -> Vec<Vec<BrokerId>> {
    let brokers = problem.broker_ids();
    let brokers: Vec<BrokerId> = brokers
        .filter(|&b| problem.is_live(b) && Some(b) != except)
        .collect();
    (0..1usize << brokers.len())
        .map(|chosen| {
            let is_in = |at: &usize| chosen >> at & 1 == 1;
            (0..brokers.len())
                .filter(is_in)
                .map(|at| brokers[at])
                .collect()
        })
        .collect()
}

/// Live followers with those replicas on `DOWN` brokers that stay listed.
pub(crate) fn with_lost(
    problem: &Problem,
    id: ShardId,
    leader: Option<BrokerId>,
    live: &[BrokerId],
) -> Assignment {
    let shard = problem.shard(id);
    let factor = problem.replication_factor(shard.stream) as usize;
    let mut lost: Vec<BrokerId> = shard.present.replicas().collect();
    lost.retain(|&b| !problem.is_live(b));
    lost.sort_unstable();
    lost.truncate(factor.saturating_sub(live.len() + usize::from(leader.is_some())));
    let mut followers = [live, &lost].concat();
    followers.sort_unstable();
    Assignment { leader, followers }
}

/// The least cost of the placements that break no rule but those excused; `None` where there are too many to try.
/// `options` holds what a shard may choose beside what it has in `start`.
pub(crate) fn least(
    problem: &Problem,
    start: &[Assignment],
    options: impl Fn(ShardId) -> Vec<Assignment>,
    is_excused: impl Fn(&Fault) -> bool,
    cost: impl Fn(&[Assignment]) -> Cost,
) -> Option<Cost> {
    least_of(PLACEMENTS_MAX, problem, start, options, is_excused, cost)
}

/// Every leader, or none, with every set of live followers.
pub(crate) fn all_options(problem: &Problem, id: ShardId) -> Vec<Assignment> {
    if problem.shard(id).is_pinned {
        return Vec::new();
    }
    let live = problem.broker_ids().filter(|&b| problem.is_live(b));
    let mut options = Vec::new();
    for leader in live.map(Some).chain([None]) {
        let sets = live_sets(problem, leader).into_iter();
        options.extend(sets.map(|live| with_lost(problem, id, leader, &live)));
    }
    options
}

/// The same of so many placements at most.
pub(crate) fn least_of(
    placements_max: usize,
    problem: &Problem,
    start: &[Assignment],
    options: impl Fn(ShardId) -> Vec<Assignment>,
    is_excused: impl Fn(&Fault) -> bool,
    cost: impl Fn(&[Assignment]) -> Cost,
) -> Option<Cost> {
    let mut placement = start.to_vec();
    let mut of_shards = Vec::new();
    for id in problem.shard_ids() {
        let mut some = options(id);
        some.push(start[id.index()].clone());
        some.sort_by(|a, b| (a.leader, &a.followers).cmp(&(b.leader, &b.followers)));
        some.dedup();
        some.retain(|option| {
            placement[id.index()].clone_from(option);
            let faults = check(problem, &placement).faults;
            let mut own = faults.iter().filter(|fault| fault.shard == Some(id));
            own.all(&is_excused)
        });
        placement[id.index()].clone_from(&start[id.index()]);
        of_shards.push(some);
    }
    let count = of_shards
        .iter()
        .try_fold(1, |all: usize, some| all.checked_mul(some.len()))?;
    if count > placements_max {
        return None;
    }
    let mut best = None;
    for number in 0..count {
        let mut rest = number;
        for (at, some) in of_shards.iter().enumerate() {
            placement[at].clone_from(&some[rest % some.len()]);
            rest /= some.len();
        }
        let cost = cost(&placement);
        let is_legal = || check(problem, &placement).faults.iter().all(&is_excused);
        if best.is_none_or(|best| cost < best) && is_legal() {
            best = Some(cost);
        }
    }
    best
}
