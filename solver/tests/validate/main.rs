//! Validation: every rule with the path, value and words of its finding, and what a valid input becomes.
//!
//! * `rules`: one test per rule; several findings at once;
//! * `ranges`: what could leave `i64` is refused, and what is just below is solved;
//! * `landing`: moves in flight and pins;
//! * `canonical`: zones, order, tags, shares, defaults and warnings of the problem.

mod canonical;
mod landing;
mod ranges;
mod rules;
mod stops;

use shardflow_solver::input::{
    BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput, TrafficSourceInput,
};
use shardflow_solver::snapshot::{Assignment, Problem};
use shardflow_solver::validate::{self, Finding, Rejection};

/// Four brokers, a stream of factor 2, a shard led by `a` and followed by `b`, and another stream with no shard.
fn snapshot() -> SnapshotInput {
    let brokers = ["a", "b", "c", "d"].map(|id| BrokerInput {
        id: id.to_owned(),
        ..BrokerInput::default()
    });
    SnapshotInput {
        brokers: brokers.to_vec(),
        streams: vec![stream("s", 2), stream("t", 1)],
        shards: vec![shard("p", "s", "a", &["b"])],
        ..SnapshotInput::default()
    }
}

fn stream(id: &str, replication_factor: u32) -> StreamInput {
    StreamInput {
        id: id.to_owned(),
        replication_factor,
        ..StreamInput::default()
    }
}

fn shard(id: &str, stream: &str, leader: &str, followers: &[&str]) -> ShardInput {
    ShardInput {
        id: id.to_owned(),
        stream: stream.to_owned(),
        leader: leader.to_owned(),
        followers: followers.iter().map(|&b| b.to_owned()).collect(),
        ..ShardInput::default()
    }
}

fn source(zones: &[&str], weight: i64) -> TrafficSourceInput {
    TrafficSourceInput {
        zones: zones.iter().map(|&z| z.to_owned()).collect(),
        weight,
    }
}

fn accepted(snapshot: &SnapshotInput, policy: &PolicyInput) -> Problem {
    validate::build(snapshot, policy).unwrap_or_else(|rejection| panic!("{rejection:?}"))
}

fn rejected(snapshot: &SnapshotInput, policy: &PolicyInput) -> Rejection {
    validate::build(snapshot, policy).expect_err("the input is wrong")
}

fn finding(path: &str, value: &str, rule: &str) -> Finding {
    Finding {
        path: path.to_owned(),
        value: value.to_owned(),
        rule: rule.to_owned(),
    }
}

/// The change to a valid input that makes the one finding.
fn finds(change: impl FnOnce(&mut SnapshotInput, &mut PolicyInput), expected: [&str; 3]) {
    let (mut snapshot, mut policy) = (snapshot(), PolicyInput::default());
    accepted(&snapshot, &policy);
    change(&mut snapshot, &mut policy);
    let [path, value, rule] = expected;
    let rejection = rejected(&snapshot, &policy);
    assert_eq!(rejection.invalid, [finding(path, value, rule)]);
}

/// Replicas by broker id: the leader, then the followers.
fn replicas(problem: &Problem, assignment: &Assignment) -> (Option<String>, Vec<String>) {
    let name = |b: &shardflow_solver::snapshot::BrokerId| problem.broker(*b).id.clone();
    let followers = assignment.followers.iter().map(name).collect();
    (assignment.leader.as_ref().map(name), followers)
}
