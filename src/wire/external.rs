//! Plans made elsewhere: from the message to a placement of a problem.

use std::collections::HashMap;

use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, ShardId, StreamId, ZoneId};

use super::Findings;
use crate::pb;

/// Positions of ids in the canonical order of a problem.
pub(crate) struct Names<'a> {
    brokers: HashMap<&'a str, BrokerId>,
    zones: HashMap<&'a str, ZoneId>,
    streams: HashMap<&'a str, StreamId>,
    shards: HashMap<&'a str, ShardId>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(problem: &'a Problem) -> Self {
        fn numbered<T, I>(
            things: &[T],
            name: fn(&T) -> &str,
            at: fn(usize) -> I,
        ) -> HashMap<&str, I> {
            let numbered = things.iter().enumerate();
            numbered.map(|(i, thing)| (name(thing), at(i))).collect()
        }
        Names {
            brokers: numbered(&problem.brokers, |broker| &broker.id, BrokerId::at),
            zones: numbered(&problem.zones, |zone| &zone.name, ZoneId::at),
            streams: numbered(&problem.streams, |stream| &stream.id, StreamId::at),
            shards: numbered(&problem.shards, |shard| &shard.id, ShardId::at),
        }
    }

    pub(crate) fn broker(&self, id: &str) -> Option<BrokerId> {
        self.brokers.get(id).copied()
    }

    pub(crate) fn zone(&self, name: &str) -> Option<ZoneId> {
        self.zones.get(name).copied()
    }

    pub(crate) fn stream(&self, id: &str) -> Option<StreamId> {
        self.streams.get(id).copied()
    }

    pub(crate) fn shard(&self, id: &str) -> Option<ShardId> {
        self.shards.get(id).copied()
    }
}

/// The placement that `assignments` describe; `at` is their path. Shards that are not listed stay as they are.
///
/// Findings: shards and brokers that the snapshot does not list, shards listed twice, brokers twice in one shard.
pub(crate) fn placement(
    problem: &Problem,
    names: &Names<'_>,
    assignments: &[pb::Assignment],
    at: &str,
    findings: &mut Findings,
) -> Vec<Assignment> {
    let present = problem.shards.iter().map(|shard| shard.present.clone());
    let mut placement: Vec<Assignment> = present.collect();
    let mut listed_at: HashMap<ShardId, usize> = HashMap::with_capacity(assignments.len());
    for (position, message) in assignments.iter().enumerate() {
        let path = |field: &str| format!("{at}[{position}].{field}");
        let read = assignment(names, message, &path, findings);
        let Some(id) = names.shard(&message.shard) else {
            let rule = "must be in snapshot.shards";
            findings.add(path("shard"), &message.shard, rule);
            continue;
        };
        if let Some(first) = listed_at.insert(id, position) {
            let rule = format!("must be listed once; it is at {at}[{first}] already");
            findings.add(path("shard"), &message.shard, rule);
        }
        placement[id.index()] = read;
    }
    placement
}

fn assignment(
    names: &Names<'_>,
    message: &pb::Assignment,
    path: &dyn Fn(&str) -> String,
    findings: &mut Findings,
) -> Assignment {
    let mut broker = |id: &str, held: &Assignment, field: &dyn Fn() -> String| {
        let known = names.broker(id);
        match known {
            None => findings.add(path(&field()), id, "must be in snapshot.brokers"),
            Some(broker) if held.holds(broker) => {
                findings.add(path(&field()), id, "must hold the shard once");
                return None;
            }
            Some(_) => {}
        }
        known
    };
    let mut read = Assignment::default();
    if !message.leader.is_empty() {
        read.leader = broker(&message.leader, &read, &|| "leader".to_owned());
    }
    for (i, id) in message.followers.iter().enumerate() {
        let follower = broker(id, &read, &|| format!("followers[{i}]"));
        read.followers.extend(follower);
    }
    read.followers.sort_unstable();
    read
}
