//! Leaders and followers of tiny problems together: the optimum by trying everything, and problems with every rule.
//!
//! A test target includes this file by path, next to `support/rng.rs` under the name `rng`. What is legal for a shard and
//! for counts is the verifier's word; bytes, rates and `max_moves` are derived here from the snapshot as well.

#![allow(dead_code)] // each test target uses its part

pub(crate) mod random;

use shardflow_solver::cost::{Cost, evaluate};
use shardflow_solver::model::current;
use shardflow_solver::snapshot::{Assignment, BrokerId, BrokerState, Problem, Roles, ShardId};
use shardflow_solver::verify::placement::check;

/// The best there is.
pub(crate) struct Optimum {
    pub(crate) cost: Cost,
    /// One of the placements that cost that.
    pub(crate) placement: Vec<Assignment>,
}

/// Tries every placement; `None` where there are more than `most` of them.
pub(crate) fn optimum(problem: &Problem, most: usize) -> Option<Optimum> {
    let all: Vec<ShardId> = problem.shard_ids().collect();
    optimum_of(problem, &current::placement(problem), &all, most)
}

/// The same where only the shards of `free` may differ from `start`, which is legal.
pub(crate) fn optimum_of(
    problem: &Problem,
    start: &[Assignment],
    free: &[ShardId],
    most: usize,
) -> Option<Optimum> {
    assert_eq!(faults(problem, start), Vec::<String>::new());
    let mut plan = start.to_vec();
    let options: Vec<Vec<Assignment>> = problem
        .shard_ids()
        .map(|id| match free.contains(&id) {
            true => options(problem, id, &mut plan),
            false => vec![start[id.index()].clone()],
        })
        .collect();
    let mut counts = options.iter();
    let plans = counts.try_fold(1, |all: usize, some| all.checked_mul(some.len()))?;
    if plans > most {
        return None;
    }
    let mut best = Optimum {
        cost: evaluate(problem, start).0,
        placement: start.to_vec(),
    };
    let mut digits = vec![0; options.len()];
    loop {
        for (shard, &digit) in digits.iter().enumerate() {
            plan[shard].clone_from(&options[shard][digit]);
        }
        let cost = evaluate(problem, &plan).0;
        if cost < best.cost && faults(problem, &plan).is_empty() {
            best = Optimum {
                cost,
                placement: plan.clone(),
            };
        }
        let Some(next) = (0..digits.len()).find(|&at| digits[at] + 1 < options[at].len()) else {
            return Some(best);
        };
        digits[..next].fill(0);
        digits[next] += 1;
    }
}

/// Every broken rule of a placement.
pub(crate) fn faults(problem: &Problem, placement: &[Assignment]) -> Vec<String> {
    let mut faults: Vec<String> = (check(problem, placement).faults.iter())
        .map(ToString::to_string)
        .collect();
    faults.extend(load_faults(problem, placement));
    faults.extend(move_faults(problem, placement));
    faults
}

fn is_live(problem: &Problem, broker: BrokerId) -> bool {
    problem.brokers[broker.index()].state != BrokerState::Down
}

/// Everything that the rules of the shard itself allow, tried in the place of its assignment in `plan`.
fn options(problem: &Problem, id: ShardId, plan: &mut [Assignment]) -> Vec<Assignment> {
    let present = plan[id.index()].clone();
    let mut options = candidates(problem, id);
    options.push(present.clone());
    options.sort_by(|a, b| (a.leader, &a.followers).cmp(&(b.leader, &b.followers)));
    options.dedup();
    options.retain(|option| {
        plan[id.index()].clone_from(option);
        let faults = check(problem, plan).faults;
        faults.iter().all(|fault| fault.shard != Some(id))
    });
    plan[id.index()] = present;
    options
}

/// Every set of replicas with every leader in it or none, and what stays listed on lost brokers.
fn candidates(problem: &Problem, id: ShardId) -> Vec<Assignment> {
    let shard = problem.shard(id);
    let mut lost: Vec<BrokerId> = shard.present.replicas().collect();
    lost.retain(|&b| !is_live(problem, b));
    lost.sort_unstable();
    let live: Vec<BrokerId> = (problem.broker_ids())
        .filter(|&b| is_live(problem, b))
        .collect();
    let factor = problem.stream(shard.stream).replication_factor as usize;
    let keeps_all = shard.is_pinned || problem.policy.roles == Roles::LeadershipOnly;
    let most = shard.present.replicas().count().max(factor);
    let mut all = Vec::new();
    for set in 0_u32..1 << live.len() {
        let there = live.iter().enumerate();
        let there = there.filter(|(at, _)| set & (1 << at) != 0);
        let there: Vec<BrokerId> = there.map(|(_, &b)| b).collect();
        if there.len() > most {
            continue;
        }
        let room = if keeps_all {
            lost.len()
        } else {
            factor.saturating_sub(there.len())
        };
        let listed = &lost[..room.min(lost.len())];
        for leader in there.iter().map(|&b| Some(b)).chain([None]) {
            let replicas = there.iter().chain(listed).copied();
            let mut followers: Vec<BrokerId> = replicas.filter(|&b| Some(b) != leader).collect();
            followers.sort_unstable();
            all.push(Assignment { leader, followers });
        }
    }
    all
}

/// Bytes and rates of each broker.
fn loads(problem: &Problem, placement: &[&Assignment]) -> Vec<(i128, i128)> {
    let mut loads = vec![(0, 0); problem.brokers.len()];
    for (shard, assignment) in problem.shards.iter().zip(placement) {
        for b in assignment.replicas().filter(|&b| is_live(problem, b)) {
            loads[b.index()].0 += i128::from(shard.size_bytes);
            if assignment.leader == Some(b) {
                loads[b.index()].1 += i128::from(shard.rate);
            }
        }
    }
    loads
}

fn load_faults(problem: &Problem, placement: &[Assignment]) -> Vec<String> {
    let present: Vec<&Assignment> = problem.shards.iter().map(|s| &s.present).collect();
    let now = loads(problem, &present);
    let then = loads(problem, &placement.iter().collect::<Vec<_>>());
    let mut faults = Vec::new();
    for (at, broker) in problem.brokers.iter().enumerate() {
        let percent = i128::from(problem.policy.disk_watermark_percent);
        let room = broker
            .disk_bytes
            .map(|size| i128::from(size) * percent / 100 - i128::from(broker.disk_used_bytes));
        if room.is_some_and(|room| then[at].0 > room.max(now[at].0)) {
            faults.push(format!("too many bytes on {}", broker.id));
        }
        let rate = broker.rate_capacity.map(i128::from);
        if rate.is_some_and(|rate| then[at].1 > rate.max(now[at].1)) {
            faults.push(format!("too high a rate on {}", broker.id));
        }
    }
    faults
}

/// Changes to shards that have nothing wrong with them, against `max_moves`.
fn move_faults(problem: &Problem, placement: &[Assignment]) -> Option<String> {
    let most = problem.policy.max_moves?;
    let mut changes = 0;
    for (shard, then) in problem.shards.iter().zip(placement) {
        let (now, stream) = (&shard.present, problem.stream(shard.stream));
        let is_wanted = |b: BrokerId| {
            problem.brokers[b.index()].state == BrokerState::Active && stream.open[b.index()]
        };
        let in_zone = |b: BrokerId| {
            let zone = problem.brokers[b.index()].zone;
            let there = now
                .replicas()
                .filter(|&other| problem.brokers[other.index()].zone == zone);
            there.count()
        };
        let per_zone = problem.policy.max_replicas_per_zone;
        let is_settled = now.leader.is_some()
            && now.replicas().count() == stream.replication_factor as usize
            && now.replicas().all(is_wanted)
            && now
                .replicas()
                .all(|b| per_zone.is_none_or(|most| in_zone(b) <= most as usize));
        if is_settled {
            changes += then.replicas().filter(|&b| !now.holds(b)).count();
            changes += usize::from(then.leader.is_some_and(|b| now.followers.contains(&b)));
        }
    }
    (changes > most as usize).then(|| format!("{changes} changes where {most} are allowed"))
}
