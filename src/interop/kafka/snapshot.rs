//! From a layout to a snapshot.

use std::collections::{BTreeMap, BTreeSet};

use super::brokers::Listed;
use super::elections::Elections;
use super::layout::{Layout, Partition, Topic, partitions};
use super::measured::Measured;
use crate::interop::{Report, few};
use crate::pb;

/// Puts the parts together. The parts have no findings left.
pub(super) fn assemble(
    cluster_id: &str,
    roles: pb::Roles,
    layout: &Layout,
    listed: Option<Listed>,
    measured: &Measured,
    report: &mut Report,
) -> pb::Snapshot {
    let mut snapshot = pb::Snapshot {
        cluster_id: cluster_id.to_owned(),
        brokers: brokers(layout, listed, report),
        ..pb::Snapshot::default()
    };
    let mut pinned = Vec::new();
    let mut leaderless = Vec::new();
    let mut elections = Elections::new(&snapshot.brokers, roles);
    for (name, topic) in &layout.topics {
        if topic.partitions.is_empty() {
            continue;
        }
        snapshot.streams.push(pb::Stream {
            id: name.clone(),
            replication_factor: factor(name, topic, report),
            ..pb::Stream::default()
        });
        for (number, partition) in &topic.partitions {
            let id = format!("{name}-{number}");
            if !elections.admits(&id, partition) {
                continue;
            }
            let (mut shard, flights) = match placement(partition) {
                Placement::Listed(replicas, flights) => (shard(partition, &replicas), flights),
                Placement::Pinned => {
                    pinned.push(id.clone());
                    let mut shard = shard(partition, &partition.replicas);
                    shard.pinned = true;
                    (shard, Vec::new())
                }
            };
            if partition.leader.is_none() && is_moving(partition) {
                leaderless.push(id.clone());
            }
            shard.pinned |= flights.is_empty() && elections.must_pin(&id, partition);
            shard.id.clone_from(&id);
            shard.stream.clone_from(name);
            shard.number = u32::try_from(*number).ok();
            snapshot.shards.push(shard);
            snapshot
                .in_flight
                .extend(flights.into_iter().map(|flight| pb::InFlight {
                    shard: id.clone(),
                    ..flight
                }));
        }
    }
    elections.warn(report);
    warn_of_moves(&snapshot, &pinned, &leaderless, report);
    measured.join(layout, &mut snapshot, report);
    snapshot
}

/// The brokers of the list, and those that only the layout names: DOWN where there is a list.
fn brokers(layout: &Layout, listed: Option<Listed>, report: &mut Report) -> Vec<pb::Broker> {
    let partitions = layout.topics.values().flat_map(|t| t.partitions.values());
    let seen: BTreeSet<i32> = partitions
        .flat_map(|p| p.replicas.iter().copied())
        .collect();
    let has_list = listed.is_some();
    let mut brokers = listed.unwrap_or_default();
    let unlisted: Vec<i32> = seen
        .into_iter()
        .filter(|id| !brokers.contains_key(id))
        .collect();
    let state = if has_list {
        pb::BrokerState::Down
    } else {
        pb::BrokerState::Active
    };
    if has_list && !unlisted.is_empty() {
        let ids: Vec<String> = unlisted.iter().map(i32::to_string).collect();
        report.warn(format!(
            "not in the list of brokers, and taken to be down: {}",
            few(&ids)
        ));
    }
    if brokers.values().all(|broker| broker.zone.is_empty()) {
        report.warn(
            "no racks are known, so each broker counts as its own zone; a broker file gives racks and states",
        );
    }
    brokers.extend(unlisted.into_iter().map(|id| {
        let broker = pb::Broker {
            id: id.to_string(),
            state: state.into(),
            ..pb::Broker::default()
        };
        (id, broker)
    }));
    brokers.into_values().collect()
}

/// The replicas that a partition of the topic should have. The topic's own line tells, unless a reassignment is
/// under way, which may be changing it (the tool prints the first partition's former count): then, and without
/// such a line, it is the count that most partitions have or are moving to, the larger of equals.
fn factor(name: &str, topic: &Topic, report: &mut Report) -> u32 {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for partition in topic.partitions.values() {
        *counts.entry(partition.target().len()).or_default() += 1;
    }
    let usual = counts
        .iter()
        .max_by_key(|(replicas, times)| (**times, **replicas));
    let usual = usual.map_or(1, |(replicas, _)| {
        u32::try_from(*replicas).unwrap_or(u32::MAX)
    });
    let printed = topic.header.as_ref().map(|h| h.replication_factor);
    let factor = match printed {
        Some(printed) if printed > 0 && !topic.partitions.values().any(is_moving) => printed,
        _ => usual,
    };
    let odd = topic
        .partitions
        .values()
        .filter(|p| p.target().len() != factor as usize)
        .count();
    if odd > 0 {
        report.warn(format!(
            "topic {name}: {} with another number of replicas than its factor of {factor}",
            partitions(odd)
        ));
    }
    factor
}

fn is_moving(partition: &Partition) -> bool {
    !partition.adding.is_empty() || !partition.removing.is_empty()
}

/// How a partition appears in the snapshot.
enum Placement {
    /// With these replicas, and these flights (without a shard yet).
    Listed(Vec<i32>, Vec<pb::InFlight>),
    /// With all its replicas, staying where they are.
    Pinned,
}

/// Says a reassignment under way in flights, where one per role can.
///
/// A leader that stays keeps leading, with at most one follower that comes, in place of at most one that goes. A
/// leader that goes is followed by the first replica of the target, as Kafka elects it. Where that one is new, its
/// flight replaces the leader, and one more follower may move. Where it is a follower now, a flight onto it would
/// swap the roles, so it hands its place as follower to the one replica that comes.
fn placement(partition: &Partition) -> Placement {
    let present = partition.present();
    let target = partition.target();
    let Some(leader) = partition.leader.filter(|_| is_moving(partition)) else {
        return Placement::Listed(present, Vec::new());
    };
    let heir = target
        .first()
        .copied()
        .filter(|_| !target.contains(&leader));
    let mut after = present.clone();
    let mut flights = Vec::new();
    let mut handed_on = None;
    if let Some(heir) = heir {
        flights.push(flight(pb::Role::Leader, Some(leader), heir));
        after.retain(|broker| *broker != leader);
        if after.contains(&heir) {
            handed_on = Some(heir);
        } else {
            after.push(heir);
        }
    }
    let coming = missing(&target, &after);
    let going = missing(&after, &target);
    match (coming.as_slice(), going.as_slice(), handed_on) {
        ([], [], None) => {}
        ([to], [], _) => flights.push(flight(pb::Role::Follower, handed_on, *to)),
        ([to], [from], None) => flights.push(flight(pb::Role::Follower, Some(*from), *to)),
        _ => return Placement::Pinned,
    }
    Placement::Listed(present, flights)
}

/// Those of `of` that `list` lacks.
fn missing(of: &[i32], list: &[i32]) -> Vec<i32> {
    of.iter().filter(|b| !list.contains(b)).copied().collect()
}

fn flight(role: pb::Role, from: Option<i32>, to: i32) -> pb::InFlight {
    pb::InFlight {
        role: role.into(),
        from: from.map(|broker| broker.to_string()).unwrap_or_default(),
        to: to.to_string(),
        ..pb::InFlight::default()
    }
}

/// A shard with these replicas; without id and stream yet.
fn shard(partition: &Partition, replicas: &[i32]) -> pb::Shard {
    let leader = partition.leader;
    pb::Shard {
        leader: leader.map(|broker| broker.to_string()).unwrap_or_default(),
        followers: replicas
            .iter()
            .filter(|broker| leader != Some(**broker))
            .map(i32::to_string)
            .collect(),
        ..pb::Shard::default()
    }
}

fn warn_of_moves(
    snapshot: &pb::Snapshot,
    pinned: &[String],
    leaderless: &[String],
    report: &mut Report,
) {
    let moving: BTreeSet<&str> = snapshot
        .in_flight
        .iter()
        .map(|f| f.shard.as_str())
        .collect();
    if !moving.is_empty() {
        let names: Vec<String> = moving.iter().map(|id| (*id).to_owned()).collect();
        report.warn(format!(
            "{} under reassignment, counted as finished and left alone: {}",
            partitions(names.len()),
            few(&names)
        ));
    }
    if !pinned.is_empty() {
        report.warn(format!(
            "{} whose reassignment can't be told as one move per role, pinned with all replicas listed: {}",
            partitions(pinned.len()),
            few(pinned)
        ));
    }
    if !leaderless.is_empty() {
        report.warn(format!(
            "{} under reassignment without a leader, listed with the replicas from before: {}",
            partitions(leaderless.len()),
            few(leaderless)
        ));
    }
}
