//! Views of snapshots that compare well, and text that is nearly sound.

use std::collections::BTreeMap;

use proptest::prelude::*;
use shardflow::interop::{ImportError, Imported};
use shardflow::pb;
use shardflow_solver::input::{
    BrokerInput, InFlightInput, PolicyInput, ShardInput, SnapshotInput, StreamInput,
};
use shardflow_solver::snapshot::{BrokerState, Role, Roles};
use shardflow_solver::validate::{self, Rejection};

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

/// The solver has nothing against a snapshot, but that its bytes don't fit 64 bits, which it says best itself.
pub(crate) fn assert_validates(snapshot: &pb::Snapshot) {
    let rejection = rejection(snapshot);
    let findings = rejection.iter().flat_map(|rejection| &rejection.invalid);
    let others: Vec<_> = findings
        .filter(|finding| !finding.rule.starts_with("brings the "))
        .collect();
    assert!(others.is_empty(), "{others:?} in {snapshot:?}");
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

/// Pieces that a format is made of, and what breaks them.
pub(crate) fn piece(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop_oneof![
        8 => proptest::sample::select(pieces).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}

/// A sample with a few short spans replaced by pieces.
pub(crate) fn mutated(
    samples: &'static [&'static str],
    pieces: &'static [&'static str],
) -> impl Strategy<Value = String> {
    let cut = (any::<proptest::sample::Index>(), 0_usize..24, piece(pieces));
    let cuts = proptest::collection::vec(cut, 1..4);
    (proptest::sample::select(samples), cuts).prop_map(|(sample, cuts)| {
        let mut chars: Vec<char> = sample.chars().collect();
        for (at, length, piece) in cuts {
            let at = at.index(chars.len() + 1);
            let end = (at + length).min(chars.len());
            chars.splice(at..end, piece.chars());
        }
        chars.into_iter().collect()
    })
}

/// Cases without files of failures: what fails is written down as a test.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
