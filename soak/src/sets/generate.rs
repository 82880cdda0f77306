//! Clusters with whole replica sets: calm, random and adversarial ones, up to 12 shards × 6 brokers × 3 zones, which
//! between them use every rule.

use std::fmt;

use shardflow_solver::input::{
    BalanceInput, BrokerInput, PolicyInput, ShardInput, SnapshotInput, SpreadInput, StreamInput,
    TrafficSourceInput, WeightsInput,
};
use shardflow_solver::snapshot::{BrokerState, Dimension};

use crate::cases::{self, Case, Size};
use crate::rng::Rng;

const SIZE: Size = Size {
    brokers: 6,
    streams: 4,
    shards: 12,
    zones: 3,
};

/// A quarter of a GiB: bytes are multiples of it where they are not single ones.
const LARGE_UNIT: i64 = 1 << 28;

/// How hard a case is meant to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A healthy cluster with one broker drained, joined or dead.
    Calm,
    /// Any layout, any rule.
    Random,
    /// Many rules at once, and room for little.
    Adversarial,
}

impl Kind {
    /// The kind of a seed.
    pub fn of(seed: u64) -> Kind {
        match seed % 3 {
            0 => Kind::Calm,
            1 => Kind::Random,
            _ => Kind::Adversarial,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Calm => "calm",
            Kind::Random => "random",
            Kind::Adversarial => "adversarial",
        })
    }
}

/// The case of a seed. It is always valid.
pub(super) fn case(seed: u64) -> Case {
    // The generator of the replica sets draws from the seed itself.
    let mut rng = Rng::new(!seed);
    match Kind::of(seed) {
        Kind::Calm => calm(&mut rng),
        Kind::Random => {
            let mut case = cases::generate_sets(seed, SIZE, rng.chance(50));
            if rng.chance(50) {
                add_loads(&mut case, 40, &mut rng);
            }
            case
        }
        Kind::Adversarial => {
            let mut case = match rng.chance(20) {
                true => cases::generate_orphans(seed, SIZE),
                false => cases::generate_sets(seed, SIZE, true),
            };
            tighten(&mut case, &mut rng);
            if rng.chance(70) {
                add_loads(&mut case, 70, &mut rng);
            }
            case
        }
    }
}

/// Caps near the counts that a level cluster has.
fn tighten(case: &mut Case, rng: &mut Rng) {
    let snapshot = &mut case.snapshot;
    let brokers = snapshot.brokers.len();
    let shards = snapshot.shards.len();
    let factor = |id: &str| {
        let stream = snapshot.streams.iter().find(|stream| stream.id == id);
        stream.map_or(1, |stream| stream.replication_factor.max(1)) as usize
    };
    let replicas: usize = snapshot.shards.iter().map(|s| factor(&s.stream)).sum();
    for broker in &mut snapshot.brokers {
        let mut near = |percent: usize, count: usize| {
            let level = count.div_ceil(brokers);
            let cap = rng.between(level.saturating_sub(1), level + 1) as u32;
            rng.chance(percent).then_some(cap)
        };
        broker.max_leaders = near(40, shards).or(broker.max_leaders);
        broker.max_replicas = near(60, replicas).or(broker.max_replicas);
    }
    case.policy.max_replicas_per_zone = *rng.pick(&[None, Some(1), Some(1), Some(2)]);
}

/// Sizes, rates, disks, capacities, a balance and `max_moves`, each with so many chances of a hundred.
fn add_loads(case: &mut Case, percent: usize, rng: &mut Rng) {
    let balance = rng.chance(percent).then(|| BalanceInput {
        dimension: *rng.pick(&[Dimension::Rate, Dimension::Bytes]),
        tolerance_percent: *rng.pick(&[0, 5, 10, 30]),
    });
    let balances_bytes = balance.is_some_and(|b| b.dimension == Dimension::Bytes);
    let unit = match !balances_bytes && rng.chance(30) {
        true => LARGE_UNIT,
        false => 1,
    };
    let snapshot = &mut case.snapshot;
    for shard in &mut snapshot.shards {
        shard.size_bytes = unit * size(rng);
        shard.rate = size(rng);
    }
    let held: i64 = (snapshot.shards.iter())
        .map(|shard| shard.size_bytes / unit * (1 + shard.followers.len() as i64))
        .sum();
    let rates: i64 = snapshot.shards.iter().map(|shard| shard.rate).sum();
    let brokers = snapshot.brokers.len() as i64;
    let mut near = |total: i64| {
        let level = total / brokers + 1;
        level * rng.between(70, 180) as i64 / 100
    };
    for broker in &mut snapshot.brokers {
        // Watermarks are multiples of 10 percent, so that rooms are multiples of the unit.
        let (disk, capacity) = (10 * (near(held) / 7 + 1), near(rates));
        broker.disk_bytes = (disk % 3 != 0 || percent > 50).then_some(unit * disk);
        broker.disk_used_bytes = unit * (disk % 4);
        broker.rate_capacity = (capacity % 5 < 2).then_some(capacity);
    }
    case.policy.disk_watermark_percent = *rng.pick(&[None, None, Some(100), Some(70), Some(50)]);
    case.policy.balance = balance;
    let most = rng.between(0, 5) as u32;
    case.policy.max_moves = rng.chance(percent / 2).then_some(most);
}

/// Mostly alike, now and then ten times as much.
fn size(rng: &mut Rng) -> i64 {
    let scale = *rng.pick(&[1, 1, 1, 10]);
    scale * rng.between(0, 9) as i64
}

/// Replicas of each shard in as many zones as there are, leaders and replicas level; then one thing happens.
fn calm(rng: &mut Rng) -> Case {
    let zones = rng.between(1, SIZE.zones);
    let brokers = rng.between(zones.max(2), SIZE.brokers - 1);
    let mut snapshot = SnapshotInput {
        cluster_id: "c".to_owned(),
        brokers: (0..brokers).map(|b| calm_broker(b, zones)).collect(),
        ..SnapshotInput::default()
    };
    for s in 0..rng.between(1, 3) {
        let factor = rng.between(1, brokers.min(4));
        snapshot.streams.push(StreamInput {
            id: format!("s{s}"),
            replication_factor: factor as u32,
            ..StreamInput::default()
        });
        for number in 0..rng.between(1, 4) {
            // Brokers go round the zones, so neighbours are in distinct ones.
            let first = snapshot.shards.len();
            let mut holders = (first..first + factor).map(|b| format!("b{}", b % brokers));
            snapshot.shards.push(ShardInput {
                id: format!("s{s}-{number}"),
                stream: format!("s{s}"),
                number: Some(number as u32),
                leader: holders.next().unwrap_or_default(),
                followers: holders.collect(),
                size_bytes: rng.between(0, 3) as i64 * LARGE_UNIT,
                rate: rng.between(1, 9) as i64,
                sources: calm_sources(zones, rng),
                follower_sources: calm_sources(zones, rng),
                ..ShardInput::default()
            });
        }
    }
    let policy = calm_policy(rng);
    let event = rng.below(brokers);
    match rng.below(3) {
        0 => snapshot.brokers[event].state = BrokerState::Draining,
        1 => snapshot.brokers[event].state = BrokerState::Down,
        _ => snapshot.brokers.push(calm_broker(brokers, zones)),
    }
    Case { snapshot, policy }
}

fn calm_broker(b: usize, zones: usize) -> BrokerInput {
    BrokerInput {
        id: format!("b{b}"),
        zone: format!("z{}", b % zones),
        ..BrokerInput::default()
    }
}

fn calm_sources(zones: usize, rng: &mut Rng) -> Vec<TrafficSourceInput> {
    let source = TrafficSourceInput {
        zones: vec![format!("z{}", rng.below(zones))],
        weight: rng.between(0, 5) as i64,
    };
    vec![source]
}

fn calm_policy(rng: &mut Rng) -> PolicyInput {
    let mut spread = || SpreadInput {
        is_off: rng.chance(15),
        slack: *rng.pick(&[0, 0, 0, 1]),
    };
    PolicyInput {
        stream_leaders: spread(),
        cluster_leaders: spread(),
        stream_replicas: spread(),
        cluster_replicas: spread(),
        weights: WeightsInput {
            overlap: Some(rng.between(1, 20) as i64),
            overlap_per_gib: Some(rng.between(0, 2) as i64),
            promotion: Some(rng.between(0, 1) as i64),
            ..WeightsInput::default()
        },
        min_zones: rng.between(0, 3) as u32,
        ..PolicyInput::default()
    }
}
