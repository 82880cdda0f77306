//! Small clusters by hand, their problems and their checked plans.

use std::collections::BTreeMap;

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::greedy::{felix, swap, weight};
use shardflow_solver::input::{BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput};
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem};
use shardflow_solver::validate::build;

use crate::rules::check;

pub(crate) fn broker(id: &str, zone: &str) -> BrokerInput {
    BrokerInput {
        id: id.into(),
        zone: zone.into(),
        ..BrokerInput::default()
    }
}

pub(crate) fn stream(id: &str, replication_factor: u32) -> StreamInput {
    StreamInput {
        id: id.into(),
        replication_factor,
        ..StreamInput::default()
    }
}

pub(crate) fn shard(stream: &str, number: usize, leader: &str, followers: &[&str]) -> ShardInput {
    ShardInput {
        id: format!("{stream}/{number}"),
        stream: stream.into(),
        number: Some(number as u32),
        leader: leader.into(),
        followers: followers.iter().map(|f| f.to_string()).collect(),
        ..ShardInput::default()
    }
}

/// Shards of one stream without followers: `led[b]` of them on broker `b<b>`, then `new` unassigned ones.
pub(crate) fn led(snapshot: &mut SnapshotInput, id: &str, led: &[usize], new: usize) {
    snapshot.streams.push(stream(id, 1));
    let mut number = 0;
    for (b, &count) in led.iter().enumerate() {
        for _ in 0..count {
            let leader = format!("b{b}");
            snapshot.shards.push(shard(id, number, &leader, &[]));
            number += 1;
        }
    }
    for _ in 0..new {
        snapshot.shards.push(shard(id, number, "", &[]));
        number += 1;
    }
}

/// Brokers `b0`, `b1`, … in these zones.
pub(crate) fn zoned<Z: AsRef<str>>(zones: impl IntoIterator<Item = Z>) -> SnapshotInput {
    let brokers = (0..).zip(zones);
    SnapshotInput {
        brokers: brokers
            .map(|(b, zone)| broker(&format!("b{b}"), zone.as_ref()))
            .collect(),
        ..SnapshotInput::default()
    }
}

/// Brokers `b0`, `b1`, … each in a zone of its own: `z0`, `z1`, …
pub(crate) fn cluster(count: usize) -> SnapshotInput {
    zoned((0..count).map(|z| format!("z{z}")))
}

pub(crate) fn problem_of(snapshot: &SnapshotInput, policy: &PolicyInput) -> Problem {
    build(snapshot, policy).expect("the test's own input is valid")
}

pub(crate) fn plan(problem: &Problem) -> Vec<Assignment> {
    let plan = felix::plan(problem, &mut Budget::new(None, &never)).expect("nothing interrupts");
    check(problem, &plan);
    plan
}

pub(crate) fn weighed(problem: &Problem) -> Vec<Assignment> {
    let plan = weight::plan(problem, &mut Budget::new(None, &never)).expect("nothing interrupts");
    check(problem, &plan);
    plan
}

/// Swaps from a plan on.
pub(crate) fn swapped(problem: &Problem, start: &[Assignment]) -> Vec<Assignment> {
    let mut budget = Budget::new(None, &never);
    let plan = swap::plan(problem, start, &mut budget).expect("nothing interrupts");
    check(problem, &plan);
    plan
}

pub(crate) fn solve(snapshot: &SnapshotInput) -> (Problem, Vec<Assignment>) {
    let problem = problem_of(snapshot, &PolicyInput::default());
    let plan = plan(&problem);
    (problem, plan)
}

/// The snapshot with the plan applied and no move under way; shards that were in flight stay pinned.
pub(crate) fn applied(
    snapshot: &SnapshotInput,
    problem: &Problem,
    plan: &[Assignment],
) -> SnapshotInput {
    let mut next = snapshot.clone();
    let at: BTreeMap<&str, usize> = problem
        .shards
        .iter()
        .enumerate()
        .map(|(i, s)| (s.id.as_str(), i))
        .collect();
    let name = |b: BrokerId| problem.broker(b).id.clone();
    for shard in &mut next.shards {
        let i = at[shard.id.as_str()];
        shard.leader = plan[i].leader.map(name).unwrap_or_default();
        shard.followers = plan[i].followers.iter().copied().map(name).collect();
        shard.pinned = problem.shards[i].is_pinned;
    }
    next.in_flight.clear();
    next
}
