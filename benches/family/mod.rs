//! The placement families: clusters of four sizes, out of balance in the way of real ones, each a function of its
//! seed alone.
//!
//! Brokers go round the zones; some attract more leaders than others, the newest hold nothing. Streams have Zipf
//! sizes; a third of them crowd a few favourite brokers. The traffic of each shard is free in the zones where its
//! data lies, one to three of them by stream. Every replication factor is 1; both leader spreads are on, and each
//! zone may lead one in a hundred more than its even share. A plan without breaches, level in every stream and on
//! every broker, always exists: counts by stream, broker and zone can all be rounded up or down from their even
//! shares together.

pub(crate) mod perturb;

use crate::random::{Random, exp};
use shardflow_solver::input::{
    BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput, TrafficSourceInput,
    WeightsInput, ZoneLimitInput,
};

/// How large a cluster is.
pub(crate) struct Size {
    pub(crate) name: &'static str,
    pub(crate) shards: usize,
    pub(crate) brokers: usize,
    pub(crate) zones: usize,
    pub(crate) streams: usize,
}

/// The sizes that are measured.
pub(crate) const SIZES: [Size; 4] = [
    Size {
        name: "S1",
        shards: 1_004,
        brokers: 10,
        zones: 3,
        streams: 20,
    },
    Size {
        name: "S2",
        shards: 10_019,
        brokers: 50,
        zones: 3,
        streams: 200,
    },
    Size {
        name: "S3",
        shards: 100_037,
        brokers: 100,
        zones: 6,
        streams: 2_000,
    },
    Size {
        name: "S4",
        shards: 1_000_370,
        brokers: 1_000,
        zones: 6,
        streams: 20_000,
    },
];

/// Brokers in a hundred that hold nothing yet, at least one.
const NEW_PERCENT: usize = 4;
/// Shards in a hundred that nobody leads yet.
const UNASSIGNED_PERCENT: usize = 3;
/// Leaders in a hundred, of a stream that crowds, on its favourite brokers.
const CROWD_PERCENT: usize = 80;
/// How far a zone's limit lies above its even share, in a hundred.
const ZONE_SLACK_PERCENT: usize = 1;
/// Streams in a hundred whose data lies in distinct zones.
const ZONE_AWARE_PERCENT: usize = 70;

/// The cluster of a size and what to optimise it for.
pub(crate) fn make(size: &Size, seed: u64) -> (SnapshotInput, PolicyInput) {
    let mut random = Random::new(seed);
    let attraction = attraction(size, &mut random);
    let mut snapshot = SnapshotInput {
        cluster_id: size.name.to_owned(),
        brokers: (0..size.brokers).map(|b| broker(size, b)).collect(),
        ..SnapshotInput::default()
    };
    for (s, shards) in zipf(size.shards, size.streams).into_iter().enumerate() {
        let stream = Stream::new(size, attraction.len(), &mut random);
        snapshot.streams.push(StreamInput {
            id: format!("s{s:05}"),
            replication_factor: 1,
            ..StreamInput::default()
        });
        for number in 0..shards {
            let leader = stream.leader(&attraction, &mut random);
            snapshot.shards.push(ShardInput {
                id: format!("s{s:05}-{number}"),
                stream: format!("s{s:05}"),
                number: Some(number as u32),
                leader: leader.map_or_else(String::new, broker_id),
                sources: vec![stream.source(size, &mut random)],
                ..ShardInput::default()
            });
        }
    }
    (snapshot, policy(size))
}

fn policy(size: &Size) -> PolicyInput {
    let limit = |z: usize| {
        let brokers = (z..size.brokers).step_by(size.zones).count();
        let most = size.shards * brokers * (100 + ZONE_SLACK_PERCENT);
        ZoneLimitInput {
            zone: zone_id(z),
            max_leaders: Some(most.div_ceil(100 * size.brokers) as u32),
            ..ZoneLimitInput::default()
        }
    };
    PolicyInput {
        weights: WeightsInput {
            traffic: Some(10),
            overlap: Some(200),
            ..WeightsInput::default()
        },
        zone_limits: (0..size.zones).map(limit).collect(),
        ..PolicyInput::default()
    }
}

fn broker_id(b: usize) -> String {
    format!("b{b:04}")
}

fn zone_id(z: usize) -> String {
    format!("z{z}")
}

fn broker(size: &Size, b: usize) -> BrokerInput {
    BrokerInput {
        id: broker_id(b),
        zone: zone_id(b % size.zones),
        ..BrokerInput::default()
    }
}

/// Σ of the weights of the brokers up to each one, the new brokers left out.
fn attraction(size: &Size, random: &mut Random) -> Vec<f64> {
    let new = (size.brokers * NEW_PERCENT).div_ceil(100);
    let mut sum = 0.0;
    (new..size.brokers)
        .map(|_| {
            sum += random.lognormal(0.5);
            sum
        })
        .collect()
}

/// Sizes in proportion to 1, 1/2, 1/3 … above one each, with the given sum.
fn zipf(total: usize, parts: usize) -> Vec<usize> {
    let harmonic: f64 = (1..=parts).map(|k| 1.0 / k as f64).sum();
    let spare = total - parts;
    let (mut sum, mut given) = (0.0, 0);
    (1..=parts)
        .map(|k| {
            sum += 1.0 / k as f64;
            // The last sum is the whole of `harmonic`, added in the same order.
            let upto = (spare as f64 * (sum / harmonic)).round() as usize;
            let part = 1 + upto - given;
            given = upto;
            part
        })
        .collect()
}

/// What the shards of a stream have in common.
struct Stream {
    /// Brokers it crowds; none where it follows the brokers' attraction.
    favourites: Vec<usize>,
    data_zones: usize,
    is_zone_aware: bool,
    traffic: f64,
}

impl Stream {
    fn new(size: &Size, holders: usize, random: &mut Random) -> Self {
        let mut favourites = Vec::new();
        if random.below(3) == 0 {
            let few = 2 + random.below(3);
            favourites = (0..few).map(|_| random.below(holders)).collect();
        }
        let replicas = match random.below(100) {
            0..20 => 1,
            20..50 => 2,
            _ => 3,
        };
        Stream {
            favourites,
            data_zones: replicas.min(size.zones),
            is_zone_aware: random.chance(ZONE_AWARE_PERCENT),
            traffic: exp(2.5) * random.lognormal(1.0),
        }
    }

    fn leader(&self, attraction: &[f64], random: &mut Random) -> Option<usize> {
        if random.chance(UNASSIGNED_PERCENT) {
            return None;
        }
        if !self.favourites.is_empty() && random.chance(CROWD_PERCENT) {
            return Some(self.favourites[random.below(self.favourites.len())]);
        }
        let at = random.unit() * attraction.last()?;
        Some(attraction.partition_point(|&sum| sum <= at))
    }

    /// Traffic of one shard, free in the zones of its data.
    fn source(&self, size: &Size, random: &mut Random) -> TrafficSourceInput {
        let mut zones: Vec<usize> = Vec::with_capacity(self.data_zones);
        while zones.len() < self.data_zones {
            let zone = random.below(size.brokers) % size.zones;
            if !self.is_zone_aware || !zones.contains(&zone) {
                zones.push(zone);
            }
        }
        zones.sort_unstable();
        zones.dedup();
        let traffic = self.traffic * random.lognormal(1.0);
        TrafficSourceInput {
            zones: zones.into_iter().map(zone_id).collect(),
            weight: traffic.round().clamp(1.0, 100_000.0) as i64,
        }
    }
}
