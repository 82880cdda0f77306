//! Samples, and views of snapshots that compare well.

use std::collections::BTreeMap;

use shardflow::interop::kafka::{Import, ImportError, Imported, import};
use shardflow::pb;
use shardflow_solver::input::{
    BrokerInput, InFlightInput, PolicyInput, ShardInput, SnapshotInput, StreamInput,
};
use shardflow_solver::snapshot::{BrokerState, Role, Roles};
use shardflow_solver::validate::{self, Rejection};

pub(crate) const OLD: &str = include_str!("../../testdata/kafka/describe-2.x.txt");
pub(crate) const SPACES: &str = include_str!("../../testdata/kafka/describe-3.x-spaces.txt");
pub(crate) const NEW: &str = include_str!("../../testdata/kafka/describe-4.x.txt");
pub(crate) const REASSIGNMENT: &str = include_str!("../../testdata/kafka/reassignment.json");
pub(crate) const GENERATE: &str = include_str!("../../testdata/kafka/generate.txt");
pub(crate) const EXECUTE: &str = include_str!("../../testdata/kafka/execute.txt");
pub(crate) const LOG_DIRS: &str = include_str!("../../testdata/kafka/log-dirs.txt");
pub(crate) const KCAT: &str = include_str!("../../testdata/kafka/kcat.json");
pub(crate) const BROKERS: &str = include_str!("../../testdata/kafka/brokers.json");
pub(crate) const DEMO: &str = include_str!("../../testdata/kafka/demo-describe.txt");
pub(crate) const DEMO_BROKERS: &str = include_str!("../../testdata/kafka/demo-brokers.json");

/// An empty list, as exports write it.
pub(crate) const NOTHING: &str = "{\"version\":1,\"partitions\":[]}\n";

pub(crate) fn layout(text: &str) -> Imported {
    import(Import::new(text)).unwrap()
}

pub(crate) fn with_brokers<'a>(layout: &'a str, brokers: &'a str) -> Import<'a> {
    let mut described = Import::new(layout);
    described.brokers = Some(brokers);
    described
}

pub(crate) fn snapshot(imported: &Imported) -> &pb::Snapshot {
    imported.request.snapshot.as_ref().unwrap()
}

/// `id leader followers` of every shard, `*` behind the id where it is pinned.
pub(crate) fn shards(snapshot: &pb::Snapshot) -> Vec<String> {
    let shard = |s: &pb::Shard| {
        let pin = if s.pinned { "*" } else { "" };
        let leader = if s.leader.is_empty() { "-" } else { &s.leader };
        format!("{}{pin} {leader} {}", s.id, s.followers.join(","))
    };
    snapshot.shards.iter().map(shard).collect()
}

/// `id zone state` of every broker.
pub(crate) fn brokers(snapshot: &pb::Snapshot) -> Vec<String> {
    let broker = |b: &pb::Broker| format!("{} {} {:?}", b.id, b.zone, b.state());
    snapshot.brokers.iter().map(broker).collect()
}

pub(crate) fn assert_warns(warnings: &[String], part: &str) {
    let is_there = warnings.iter().any(|warning| warning.contains(part));
    assert!(is_there, "no `{part}` in {warnings:#?}");
}

/// The only finding must be here, quote this, and state this rule.
pub(crate) fn assert_finding(
    result: Result<Imported, ImportError>,
    place: &str,
    found: &str,
    rule: &str,
) {
    let findings = result.unwrap_err().findings;
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0].place, place, "{findings:#?}");
    assert_eq!(findings[0].found, found, "{findings:#?}");
    assert!(findings[0].rule.contains(rule), "{findings:#?}");
}

/// A response that assigns every shard as it is, but for those given with leader and followers.
pub(crate) fn respond(
    request: &pb::OptimizeRequest,
    changed: &[(&str, &str, &[&str])],
) -> pb::OptimizeResponse {
    let mut assignments: BTreeMap<&str, pb::Assignment> = BTreeMap::new();
    for shard in &request.snapshot.as_ref().unwrap().shards {
        let assignment = pb::Assignment {
            shard: shard.id.clone(),
            leader: shard.leader.clone(),
            followers: shard.followers.clone(),
            ..pb::Assignment::default()
        };
        assignments.insert(&shard.id, assignment);
    }
    for (shard, leader, followers) in changed {
        let assignment = assignments.get_mut(shard).unwrap();
        assignment.leader = (*leader).to_owned();
        assignment.followers = followers.iter().map(|f| (*f).to_owned()).collect();
    }
    pb::OptimizeResponse {
        plan: Some(pb::Plan {
            assignments: assignments.into_values().collect(),
            ..pb::Plan::default()
        }),
        report: None,
    }
}

/// What the solver has against a snapshot.
pub(crate) fn rejection(snapshot: &pb::Snapshot) -> Option<Rejection> {
    let policy = PolicyInput {
        roles: Roles::LeadershipOnly,
        ..PolicyInput::default()
    };
    validate::build(&input(snapshot), &policy).err()
}

fn input(snapshot: &pb::Snapshot) -> SnapshotInput {
    let broker = |b: &pb::Broker| BrokerInput {
        id: b.id.clone(),
        zone: b.zone.clone(),
        state: match b.state() {
            pb::BrokerState::Draining => BrokerState::Draining,
            pb::BrokerState::Down => BrokerState::Down,
            _ => BrokerState::Active,
        },
        share: b.share,
        ..BrokerInput::default()
    };
    let stream = |s: &pb::Stream| StreamInput {
        id: s.id.clone(),
        replication_factor: s.replication_factor,
        ..StreamInput::default()
    };
    let shard = |s: &pb::Shard| ShardInput {
        id: s.id.clone(),
        stream: s.stream.clone(),
        number: s.number,
        leader: s.leader.clone(),
        followers: s.followers.clone(),
        pinned: s.pinned,
        size_bytes: s.size_bytes,
        ..ShardInput::default()
    };
    let flight = |f: &pb::InFlight| InFlightInput {
        shard: f.shard.clone(),
        role: match f.role() {
            pb::Role::Follower => Role::Follower,
            _ => Role::Leader,
        },
        from: f.from.clone(),
        to: f.to.clone(),
    };
    SnapshotInput {
        brokers: snapshot.brokers.iter().map(broker).collect(),
        streams: snapshot.streams.iter().map(stream).collect(),
        shards: snapshot.shards.iter().map(shard).collect(),
        in_flight: snapshot.in_flight.iter().map(flight).collect(),
        ..SnapshotInput::default()
    }
}

/// Where the solver takes each shard to be once its flights have landed: `id leader followers`.
pub(crate) fn landed(snapshot: &pb::Snapshot) -> Vec<String> {
    let policy = PolicyInput {
        roles: Roles::LeadershipOnly,
        ..PolicyInput::default()
    };
    let problem = validate::build(&input(snapshot), &policy).unwrap();
    let name = |id: shardflow_solver::snapshot::BrokerId| problem.brokers[id.index()].id.as_str();
    let shard = |s: &shardflow_solver::snapshot::Shard| {
        let leader = s.present.leader.map_or("-", name);
        let mut followers: Vec<&str> = s.present.followers.iter().map(|&f| name(f)).collect();
        followers.sort_unstable();
        format!("{} {leader} {}", s.id, followers.join(","))
    };
    problem.shards.iter().map(shard).collect()
}
