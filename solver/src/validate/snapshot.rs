//! Resolves the ids of a snapshot to positions in its lists and checks each item by itself.

use std::ops::RangeInclusive;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::Findings;
use crate::budget::{Pace, Stop};
use crate::input::{BrokerInput, ShardInput, SnapshotInput, TrafficSourceInput};
use crate::snapshot::BrokerState;

/// Zones of the brokers, by the caller's positions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Zoning {
    /// Live brokers name their zones.
    Named,
    /// Nobody does: each broker is its own zone.
    PerBroker,
}

/// A snapshot whose ids are resolved; every position is the caller's.
pub(super) struct Resolved<'a> {
    pub(super) brokers: HashMap<&'a str, usize>,
    pub(super) shards: HashMap<&'a str, usize>,
    pub(super) zoning: Zoning,
    /// By shard.
    pub(super) layouts: Vec<Layout>,
}

/// Replicas of one shard as listed. Unknown brokers are left out: there is a finding for each.
#[derive(Clone, Default)]
pub(super) struct Layout {
    pub(super) stream: Option<usize>,
    pub(super) leader: Option<usize>,
    pub(super) followers: Vec<usize>,
}

pub(super) fn resolve<'a>(
    snapshot: &'a SnapshotInput,
    findings: &mut Findings,
    pace: &mut Pace<'_>,
) -> Result<Resolved<'a>, Stop> {
    let brokers = unique(
        "snapshot.brokers",
        snapshot.brokers.iter().map(|b| b.id.as_str()),
        findings,
        pace,
    )?;
    for (i, broker) in snapshot.brokers.iter().enumerate() {
        check_broker(i, broker, findings);
    }
    let zoning = zoning(&snapshot.brokers, findings);
    let streams = unique(
        "snapshot.streams",
        snapshot.streams.iter().map(|s| s.id.as_str()),
        findings,
        pace,
    )?;
    for (i, stream) in snapshot.streams.iter().enumerate() {
        let allowed = stream.allowed_brokers.iter().enumerate();
        for (j, _) in allowed.filter(|(_, id)| id.is_empty()) {
            findings.add(
                format!("snapshot.streams[{i}].allowed_brokers[{j}]"),
                "",
                "must name a broker",
            );
        }
    }
    let shards = unique(
        "snapshot.shards",
        snapshot.shards.iter().map(|s| s.id.as_str()),
        findings,
        pace,
    )?;
    let mut layouts = Vec::with_capacity(snapshot.shards.len());
    let mut names = Names {
        brokers: &brokers,
        streams: &streams,
        last: None,
    };
    let mut numbers = Numbers::new(streams.len());
    for (i, shard) in snapshot.shards.iter().enumerate() {
        pace.step(1)?;
        let layout = check_shard(i, shard, &mut names, findings);
        if let (Some(stream), Some(number)) = (layout.stream, shard.number)
            && !numbers.insert(stream, number)
        {
            findings.add(
                format!("snapshot.shards[{i}].number"),
                number,
                format!(
                    "is the number of another shard of stream {:?}",
                    shard.stream
                ),
            );
        }
        layouts.push(layout);
    }
    Ok(Resolved {
        brokers,
        shards,
        zoning,
        layouts,
    })
}

/// Positions of brokers and streams by id.
struct Names<'a> {
    brokers: &'a HashMap<&'a str, usize>,
    streams: &'a HashMap<&'a str, usize>,
    /// The stream asked for last: the shards of one mostly come together.
    last: Option<(&'a str, usize)>,
}

impl<'a> Names<'a> {
    fn stream(&mut self, id: &'a str) -> Option<usize> {
        if let Some((_, at)) = self.last.filter(|last| last.0 == id) {
            return Some(at);
        }
        self.last = self.streams.get(id).map(|&at| (id, at));
        self.last.map(|last| last.1)
    }
}

/// The numbers of each stream's shards so far.
struct Numbers {
    /// By stream, numbers without a gap: those that each continued the one before, as they mostly all do.
    runs: Vec<Option<RangeInclusive<u32>>>,
    /// All others.
    others: HashSet<(usize, u32)>,
}

impl Numbers {
    fn new(streams: usize) -> Self {
        Numbers {
            runs: vec![None; streams],
            others: HashSet::new(),
        }
    }

    /// Adds a number; false where the stream has it already.
    fn insert(&mut self, stream: usize, number: u32) -> bool {
        let Some(run) = &mut self.runs[stream] else {
            self.runs[stream] = Some(number..=number);
            return true;
        };
        if run.contains(&number) {
            return false;
        }
        let entry = (stream, number);
        if run.end().checked_add(1) == Some(number) && !self.others.contains(&entry) {
            *run = *run.start()..=number;
            return true;
        }
        self.others.insert(entry)
    }
}

/// Position by id; empty and repeated ids are findings.
fn unique<'a>(
    list: &str,
    ids: impl ExactSizeIterator<Item = &'a str>,
    findings: &mut Findings,
    pace: &mut Pace<'_>,
) -> Result<HashMap<&'a str, usize>, Stop> {
    let mut positions = HashMap::with_capacity(ids.len());
    for (i, id) in ids.enumerate() {
        pace.step(1)?;
        if id.is_empty() {
            findings.add(format!("{list}[{i}].id"), "", "must not be empty");
            continue;
        }
        let first = *positions.entry(id).or_insert(i);
        if first != i {
            findings.add(
                format!("{list}[{i}].id"),
                id,
                format!("is already the id of {list}[{first}]"),
            );
        }
    }
    Ok(positions)
}

fn check_broker(i: usize, broker: &BrokerInput, findings: &mut Findings) {
    findings.not_negative(
        || format!("snapshot.brokers[{i}].disk_used_bytes"),
        broker.disk_used_bytes,
    );
    if let Some(bytes) = broker.disk_bytes {
        findings.not_negative(|| format!("snapshot.brokers[{i}].disk_bytes"), bytes);
    }
    if let Some(rate) = broker.rate_capacity {
        findings.not_negative(|| format!("snapshot.brokers[{i}].rate_capacity"), rate);
    }
}

fn zoning(brokers: &[BrokerInput], findings: &mut Findings) -> Zoning {
    let counted = |b: &&BrokerInput| b.state != BrokerState::Down;
    let named = |b: &BrokerInput| !b.zone.is_empty();
    let any_live = brokers.iter().any(|b| counted(&b));
    let any_named = brokers
        .iter()
        .filter(|b| !any_live || counted(b))
        .any(named);
    if !any_named {
        return Zoning::PerBroker;
    }
    for (i, b) in brokers.iter().enumerate() {
        if counted(&b) && !named(b) {
            findings.add(
                format!("snapshot.brokers[{i}].zone"),
                "",
                format!("broker {:?} names no zone, but others do", b.id),
            );
        }
    }
    Zoning::Named
}

fn check_shard<'a>(
    i: usize,
    shard: &'a ShardInput,
    names: &mut Names<'a>,
    findings: &mut Findings,
) -> Layout {
    let stream = names.stream(&shard.stream);
    let brokers = names.brokers;
    if stream.is_none() {
        findings.add(
            format!("snapshot.shards[{i}].stream"),
            &shard.stream,
            "is not the id of a stream in snapshot.streams",
        );
    }
    let unlisted = "is not the id of a broker in snapshot.brokers (list lost brokers as DOWN)";
    let leader = brokers.get(shard.leader.as_str()).copied();
    if leader.is_none() && !shard.leader.is_empty() {
        findings.add(
            format!("snapshot.shards[{i}].leader"),
            &shard.leader,
            unlisted,
        );
    }
    let mut followers = Vec::with_capacity(shard.followers.len());
    for (j, id) in shard.followers.iter().enumerate() {
        let path = || format!("snapshot.shards[{i}].followers[{j}]");
        match brokers.get(id.as_str()) {
            None => findings.add(path(), id, unlisted),
            Some(&b) if leader == Some(b) => findings.add(path(), id, "is the leader as well"),
            Some(b) if followers.contains(b) => findings.add(path(), id, "is listed twice"),
            Some(&b) => followers.push(b),
        }
    }
    findings.not_negative(
        || format!("snapshot.shards[{i}].size_bytes"),
        shard.size_bytes,
    );
    findings.not_negative(|| format!("snapshot.shards[{i}].rate"), shard.rate);
    check_sources(i, "sources", &shard.sources, findings);
    check_sources(i, "follower_sources", &shard.follower_sources, findings);
    Layout {
        stream,
        leader,
        followers,
    }
}

fn check_sources(i: usize, field: &str, sources: &[TrafficSourceInput], findings: &mut Findings) {
    for (j, source) in sources.iter().enumerate() {
        findings.not_negative(
            || format!("snapshot.shards[{i}].{field}[{j}].weight"),
            source.weight,
        );
        for (k, zone) in source.zones.iter().enumerate() {
            if zone.is_empty() {
                findings.add(
                    format!("snapshot.shards[{i}].{field}[{j}].zones[{k}]"),
                    "",
                    "must name a zone",
                );
            }
        }
    }
}
