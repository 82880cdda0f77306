//! From listings to a snapshot.

use std::collections::BTreeMap;

use super::copies::{Copies, State};
use super::shards::Indices;
use crate::interop::{Report, count, few};
use crate::pb;

/// Puts the parts together. The parts have no findings left.
pub(super) fn assemble(
    cluster_id: &str,
    indices: &Indices,
    brokers: Vec<pb::Broker>,
    report: &mut Report,
) -> pb::Snapshot {
    let mut snapshot = pb::Snapshot {
        cluster_id: cluster_id.to_owned(),
        brokers,
        ..pb::Snapshot::default()
    };
    let mut noted = Noted::default();
    for (index, shards) in indices {
        snapshot.streams.push(pb::Stream {
            id: index.clone(),
            replication_factor: factor(index, shards, report),
            ..pb::Stream::default()
        });
        for (number, copies) in shards {
            let id = format!("{index}/{number}");
            let (mut shard, flights) = copies.seated();
            noted.note(&id, copies, &shard, &flights);
            shard.id.clone_from(&id);
            shard.stream.clone_from(index);
            shard.number = Some(*number);
            snapshot.shards.push(shard);
            let flights = flights.into_iter().map(|flight| pb::InFlight {
                shard: id.clone(),
                ..flight
            });
            snapshot.in_flight.extend(flights);
        }
    }
    noted.warn(report);
    snapshot
}

/// The copies that a shard of the index should have: as many as the shard with most rows has.
fn factor(index: &str, shards: &BTreeMap<u32, Copies>, report: &mut Report) -> u32 {
    let counts = || shards.values().map(|copies| copies.all().count());
    let most = counts().max().unwrap_or(1);
    let odd = counts().filter(|count| *count < most).count();
    if odd > 0 {
        report.warn(format!(
            "index {index}: {} with fewer rows than the {most} of others; the listing is not whole, or from while it changed",
            count(odd, "shard")
        ));
    }
    u32::try_from(most).unwrap_or(u32::MAX)
}

/// Shards to warn of.
#[derive(Default)]
struct Noted {
    moving: Vec<String>,
    pinned: Vec<String>,
    leaderless: Vec<String>,
    sizeless: Vec<String>,
}

impl Noted {
    fn note(&mut self, id: &str, copies: &Copies, shard: &pb::Shard, flights: &[pb::InFlight]) {
        let note = |list: &mut Vec<String>, applies: bool| {
            if applies {
                list.push(id.to_owned());
            }
        };
        let is_assigned = !copies.nodes.is_empty();
        let primary = copies.primary.as_ref().map(|copy| &copy.state);
        let is_leaderless = matches!(primary, Some(State::Unassigned));
        note(&mut self.moving, !flights.is_empty());
        note(&mut self.pinned, shard.pinned);
        note(&mut self.leaderless, is_leaderless);
        note(&mut self.sizeless, is_assigned && copies.size().is_none());
    }

    fn warn(&self, report: &mut Report) {
        let mut warn = |names: &[String], what: &str| {
            if !names.is_empty() {
                report.warn(format!(
                    "{} {what}: {}",
                    count(names.len(), "shard"),
                    few(names)
                ));
            }
        };
        warn(
            &self.moving,
            "with a copy under way, counted as arrived and left alone",
        );
        warn(
            &self.pinned,
            "with a starting primary or several replicas under way, pinned with every copy listed",
        );
        warn(
            &self.leaderless,
            "without a primary; a plan gives it a node, but no command places a primary without losing data: see \
             _cluster/allocation/explain",
        );
        warn(&self.sizeless, "without a size (`store`), taken as empty");
    }
}
