//! Puts a checked input in canonical order. Nothing is found any more; only the interrupt can end it early.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use smallvec::SmallVec;

use super::flights::Landed;
use super::snapshot::{Layout, Resolved, Zoning};
use crate::budget::{Pace, Stop};
use crate::input::{PolicyInput, SnapshotInput, SpreadInput, TrafficSourceInput};
use crate::snapshot::{
    Assignment, Balance, Broker, BrokerId, BrokerState, Limits, Policy, Problem, Roles, Shard,
    Spread, Stream, StreamId, Traffic, Weights, Zone, ZoneId,
};

/// Share of a disk that may be filled where the policy doesn't say, in percent.
const WATERMARK_PERCENT: u32 = 90;

pub(super) fn problem(
    snapshot: &SnapshotInput,
    policy: &PolicyInput,
    weights: Weights,
    resolved: &Resolved<'_>,
    landed: &BTreeMap<usize, Landed>,
    pace: &mut Pace<'_>,
) -> Result<Problem, Stop> {
    let mut warnings = Vec::new();
    let (zones, zone_ids, absent_zone_minimum) = zones(snapshot, policy, resolved, &mut warnings);
    let broker_order = order(snapshot.brokers.len(), |i| &snapshot.brokers[i].id);
    let broker_ids = inverse(&broker_order);
    let brokers: Vec<Broker> = broker_order
        .iter()
        .map(|&i| {
            let b = &snapshot.brokers[i];
            Broker {
                id: b.id.clone(),
                zone: zone_ids[zone_name(snapshot, resolved, i)],
                state: b.state,
                share: b.share.unwrap_or(1),
                max_leaders: b.max_leaders,
                max_replicas: b.max_replicas,
                disk_bytes: b.disk_bytes,
                disk_used_bytes: b.disk_used_bytes,
                rate_capacity: b.rate_capacity,
            }
        })
        .collect();
    let context = Context {
        snapshot,
        resolved,
        zone_ids: &zone_ids,
        brokers: &brokers,
        broker_order: &broker_order,
        broker_ids: &broker_ids,
    };
    let stream_order = order(snapshot.streams.len(), |i| &snapshot.streams[i].id);
    let stream_ids = inverse(&stream_order);
    let mut streams: Vec<Stream> = stream_order
        .iter()
        .map(|&i| context.stream(i, policy, &mut warnings))
        .collect();
    let starts = context.starts(&stream_ids, pace)?;
    for (stream, bounds) in streams.iter_mut().zip(starts.windows(2)) {
        stream.shards = bounds[0]..bounds[1];
    }
    let shards = context.shards(landed, &stream_ids, starts, pace)?;
    let mut problem = Problem {
        cluster_id: snapshot.cluster_id.clone(),
        generation: snapshot.generation.clone(),
        share_total: active_share(&brokers, |_| true),
        replicas_wanted: streams
            .iter()
            .map(|s| s.shard_count() * i64::from(s.replication_factor))
            .sum(),
        policy: domain_policy(policy, weights, &streams, absent_zone_minimum),
        brokers,
        zones,
        streams,
        shards,
        limits: Limits::none(),
        warnings,
    };
    problem.limits = Limits::of(&problem, pace)?;
    Ok(problem)
}

/// Positions in the order of their keys.
fn order<'a, K: Ord + ?Sized + 'a>(count: usize, key: impl Fn(usize) -> &'a K) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| key(a).cmp(key(b)));
    order
}

/// Rank of each position in an order.
fn inverse(order: &[usize]) -> Vec<u32> {
    let mut ranks = vec![0; order.len()];
    for (rank, &i) in order.iter().enumerate() {
        ranks[i] = rank as u32;
    }
    ranks
}

fn zone_name<'a>(snapshot: &'a SnapshotInput, resolved: &Resolved<'_>, i: usize) -> &'a str {
    let broker = &snapshot.brokers[i];
    match resolved.zoning {
        Zoning::Named => &broker.zone,
        Zoning::PerBroker => &broker.id,
    }
}

/// The zones in canonical order with their limits, their ids by name, and the minima asked of zones without brokers.
fn zones<'a>(
    snapshot: &'a SnapshotInput,
    policy: &PolicyInput,
    resolved: &Resolved<'_>,
    warnings: &mut Vec<String>,
) -> (Vec<Zone>, HashMap<&'a str, ZoneId>, i64) {
    let names: BTreeSet<&str> = (0..snapshot.brokers.len())
        .map(|i| zone_name(snapshot, resolved, i))
        .collect();
    let ids: HashMap<&str, ZoneId> = names
        .iter()
        .enumerate()
        .map(|(z, &name)| (name, ZoneId::at(z)))
        .collect();
    let mut zones: Vec<Zone> = names
        .iter()
        .map(|name| Zone {
            name: (*name).to_owned(),
            min_leaders: 0,
            max_leaders: None,
            max_replicas: None,
        })
        .collect();
    let mut absent_minimum = 0;
    for limit in &policy.zone_limits {
        let minimum = limit.min_leaders.unwrap_or(0);
        let Some(id) = ids.get(limit.zone.as_str()) else {
            absent_minimum += i64::from(minimum);
            warnings.push(format!(
                "policy.zone_limits: no broker is in zone {:?}",
                limit.zone
            ));
            continue;
        };
        let zone = &mut zones[id.index()];
        zone.min_leaders = minimum;
        zone.max_leaders = limit.max_leaders;
        zone.max_replicas = limit.max_replicas;
    }
    warnings.sort();
    (zones, ids, absent_minimum)
}

struct Context<'a> {
    snapshot: &'a SnapshotInput,
    resolved: &'a Resolved<'a>,
    zone_ids: &'a HashMap<&'a str, ZoneId>,
    brokers: &'a [Broker],
    broker_order: &'a [usize],
    broker_ids: &'a [u32],
}

impl Context<'_> {
    /// A stream, its range of shards still empty.
    fn stream(&self, position: usize, policy: &PolicyInput, warnings: &mut Vec<String>) -> Stream {
        let input = &self.snapshot.streams[position];
        let mut required: BTreeMap<&str, &str> = BTreeMap::new();
        for (key, value) in policy.required_tags.iter().chain(&input.required_tags) {
            required.insert(key, value);
        }
        let mut allowed = vec![input.allowed_brokers.is_empty(); self.brokers.len()];
        let names: BTreeSet<&str> = input.allowed_brokers.iter().map(String::as_str).collect();
        for name in names {
            match self.resolved.brokers.get(name) {
                Some(&i) => allowed[self.broker_ids[i] as usize] = true,
                None => warnings.push(format!(
                    "stream {:?}: allowed broker {name:?} is not in the snapshot",
                    input.id
                )),
            }
        }
        let carries = |i: usize| {
            let tags = &self.snapshot.brokers[i].tags;
            required
                .iter()
                .all(|(&key, &value)| tags.get(key).is_some_and(|tag| tag == value))
        };
        let open: Vec<bool> = (self.broker_order.iter().zip(&allowed))
            .map(|(&i, &allowed)| allowed && carries(i))
            .collect();
        Stream {
            id: input.id.clone(),
            position,
            replication_factor: input.replication_factor.max(1),
            shards: 0..0,
            share_total: active_share(self.brokers, |b| open[b]),
            open,
        }
    }

    /// Where the shards of each stream begin in canonical order, and where the last one's end.
    fn starts(&self, stream_ids: &[u32], pace: &mut Pace<'_>) -> Result<Vec<u32>, Stop> {
        let mut starts = vec![0; stream_ids.len() + 1];
        for layout in &self.resolved.layouts {
            pace.step(1)?;
            if let Some(stream) = layout.stream {
                starts[stream_ids[stream] as usize + 1] += 1;
            }
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        Ok(starts)
    }

    /// Shards in canonical order: dealt out to their streams, which are sorted one by one.
    fn shards(
        &self,
        landed: &BTreeMap<usize, Landed>,
        stream_ids: &[u32],
        starts: Vec<u32>,
        pace: &mut Pace<'_>,
    ) -> Result<Vec<Shard>, Stop> {
        let (inputs, layouts) = (&self.snapshot.shards, &self.resolved.layouts);
        let mut order = vec![0_u32; starts.last().map_or(0, |&end| end as usize)];
        let mut next = starts.clone();
        for (i, layout) in layouts.iter().enumerate() {
            pace.step(1)?;
            let Some(stream) = layout.stream else {
                continue;
            };
            let place = &mut next[stream_ids[stream] as usize];
            order[*place as usize] = i as u32;
            *place += 1;
        }
        let key = |i: &u32| {
            let input = &inputs[*i as usize];
            (input.number, input.id.as_str())
        };
        let mut shards = Vec::with_capacity(order.len());
        let mut reached = Vec::new();
        for (s, bounds) in starts.windows(2).enumerate() {
            let of_stream = &mut order[bounds[0] as usize..bounds[1] as usize];
            if !of_stream.is_sorted_by_key(key) {
                of_stream.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
            }
            for &mut i in of_stream {
                pace.step(1)?;
                let i = i as usize;
                let layout = (&layouts[i], landed.get(&i));
                shards.push(self.shard(i, StreamId::at(s), layout, &mut reached));
            }
        }
        Ok(shards)
    }

    fn shard(
        &self,
        position: usize,
        stream: StreamId,
        (listed, landed): (&Layout, Option<&Landed>),
        reached: &mut Vec<(ZoneId, i64)>,
    ) -> Shard {
        let input = &self.snapshot.shards[position];
        let present = match landed {
            Some(landed) => self.assignment(landed.leader, &landed.followers),
            None => self.assignment(listed.leader, &listed.followers),
        };
        let is_live = |b: BrokerId| self.brokers[b.index()].state != BrokerState::Down;
        let is_led = present.leader.is_some_and(is_live);
        let is_held = landed.is_some_and(|landed| landed.is_held);
        Shard {
            id: input.id.clone(),
            stream,
            number: input.number,
            size_bytes: input.size_bytes,
            rate: input.rate,
            is_pinned: (input.pinned || is_held) && is_led,
            leader_traffic: self.traffic(&input.sources, reached),
            follower_traffic: self.traffic(&input.follower_sources, reached),
            present,
        }
    }

    fn assignment(&self, leader: Option<usize>, followers: &[usize]) -> Assignment {
        let id = |i: usize| BrokerId(self.broker_ids[i]);
        let mut followers: Vec<BrokerId> = followers.iter().map(|&i| id(i)).collect();
        followers.sort_unstable();
        Assignment {
            leader: leader.map(id),
            followers,
        }
    }

    /// What the sources come to, zone by zone; `reached` is a buffer.
    fn traffic(&self, sources: &[TrafficSourceInput], reached: &mut Vec<(ZoneId, i64)>) -> Traffic {
        reached.clear();
        let mut total = 0;
        for source in sources {
            total += source.weight;
            let ids = source.zones.iter();
            let ids = ids.filter_map(|name| self.zone_ids.get(name.as_str()).copied());
            let mut zones: SmallVec<[ZoneId; 8]> = ids.collect();
            zones.sort_unstable();
            zones.dedup();
            reached.extend(zones.into_iter().map(|zone| (zone, source.weight)));
        }
        if sources.len() > 1 {
            reached.sort_unstable_by_key(|entry| entry.0);
            // The first of a zone takes up the others.
            reached.dedup_by(|next, first| {
                let is_same = next.0 == first.0;
                first.1 += if is_same { next.1 } else { 0 };
                is_same
            });
        }
        Traffic {
            total,
            reached: reached.as_slice().to_vec(),
        }
    }
}

fn active_share(brokers: &[Broker], open: impl Fn(usize) -> bool) -> u64 {
    (brokers.iter().enumerate())
        .filter(|(b, broker)| broker.state == BrokerState::Active && open(*b))
        .map(|(_, broker)| u64::from(broker.share))
        .sum()
}

fn domain_policy(
    policy: &PolicyInput,
    weights: Weights,
    streams: &[Stream],
    absent_zone_minimum: i64,
) -> Policy {
    let spread = |input: &SpreadInput| (!input.is_off).then_some(Spread { slack: input.slack });
    let followers_are_wanted =
        (streams.iter()).any(|s| s.shard_count() > 0 && s.replication_factor > 1);
    let replicas_count = policy.roles == Roles::LeadersAndFollowers && followers_are_wanted;
    let replica_spread = |input: &SpreadInput| spread(input).filter(|_| replicas_count);
    Policy {
        weights,
        roles: policy.roles,
        stream_leaders: spread(&policy.stream_leaders),
        cluster_leaders: spread(&policy.cluster_leaders),
        stream_replicas: replica_spread(&policy.stream_replicas),
        cluster_replicas: replica_spread(&policy.cluster_replicas),
        min_zones: policy.min_zones,
        allow_zone_loss: policy.allow_zone_loss,
        max_replicas_per_zone: policy.max_replicas_per_zone,
        disk_watermark_percent: policy.disk_watermark_percent.unwrap_or(WATERMARK_PERCENT),
        max_moves: policy.max_moves,
        balance: policy.balance.map(|balance| Balance {
            dimension: balance.dimension,
            tolerance_percent: balance.tolerance_percent,
        }),
        thetas: policy.thetas,
        absent_zone_minimum,
    }
}
