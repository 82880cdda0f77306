//! Random clusters and policies, a few of them invalid.

use shardflow_solver::input::{
    BalanceInput, BrokerInput, InFlightInput, PolicyInput, ShardInput, SnapshotInput, SpreadInput,
    StreamInput, TrafficSourceInput, WeightsInput, ZoneLimitInput,
};
use shardflow_solver::snapshot::{BrokerState, Dimension, Role, Roles};

use crate::clusters::{broker, shard, stream};
use crate::rng::Rng;

fn cap(random: &mut Rng, one_in: usize, below: usize) -> Option<u32> {
    random.one_in(one_in).then(|| random.below(below) as u32)
}

fn random_brokers(random: &mut Rng) -> Vec<BrokerInput> {
    let count = 1 + random.below(7);
    let zones = 1 + random.below(4);
    let has_caps = random.one_in(2);
    let has_shares = random.one_in(3);
    (0..count)
        .map(|b| {
            let mut broker = broker(&format!("b{b}"), &format!("z{}", random.below(zones)));
            broker.state = match random.below(9) {
                0 => BrokerState::Draining,
                1 => BrokerState::Down,
                _ => BrokerState::Active,
            };
            if random.one_in(2) {
                broker.tags = [("disk".to_string(), "ssd".to_string())].into();
            }
            if has_caps {
                broker.max_leaders = cap(random, 2, 8);
                broker.max_replicas = cap(random, 2, 16);
            }
            broker.share = has_shares.then(|| random.below(4) as u32);
            broker
        })
        .collect()
}

fn random_shard(random: &mut Rng, stream: &StreamInput, n: usize, brokers: usize) -> ShardInput {
    let mut ids: Vec<usize> = (0..brokers).collect();
    for i in (1..ids.len()).rev() {
        ids.swap(i, random.below(i + 1));
    }
    // A skew: half of the shards prefer the first brokers.
    if random.one_in(2) {
        ids.sort_by_key(|b| b / 2);
    }
    let wanted = stream.replication_factor as usize;
    let held = match random.below(8) {
        0 => 0,
        1 => wanted + 1,
        2 => wanted.saturating_sub(1),
        _ => wanted,
    };
    let held: Vec<String> = ids.iter().take(held).map(|b| format!("b{b}")).collect();
    let mut shard = shard(&stream.id, n, "", &[]);
    let is_led = !held.is_empty() && !random.one_in(12);
    shard.followers = held[usize::from(is_led)..].to_vec();
    if is_led {
        shard.leader = held[0].clone();
    }
    shard.pinned = random.one_in(10);
    if random.one_in(2) {
        shard.sources = vec![TrafficSourceInput {
            zones: vec![format!("z{}", random.below(4))],
            weight: random.below(50) as i64,
        }];
    }
    shard
}

fn random_flights(random: &mut Rng, snapshot: &mut SnapshotInput) {
    let ids = snapshot.brokers.len();
    for s in 0..snapshot.shards.len() {
        let shard = &snapshot.shards[s];
        let to = format!("b{}", random.below(ids));
        if !random.one_in(12) || shard.leader.is_empty() || shard.leader == to {
            continue;
        }
        let is_leader = random.one_in(2) || shard.followers.contains(&to);
        snapshot.in_flight.push(InFlightInput {
            shard: shard.id.clone(),
            role: if is_leader {
                Role::Leader
            } else {
                Role::Follower
            },
            from: if is_leader {
                shard.leader.clone()
            } else {
                shard.followers.first().cloned().unwrap_or_default()
            },
            to,
        });
    }
}

fn random_spread(random: &mut Rng) -> SpreadInput {
    SpreadInput {
        is_off: random.one_in(6),
        slack: if random.one_in(6) { 1 } else { 0 },
    }
}

pub(crate) fn random_case(seed: u64) -> (SnapshotInput, PolicyInput) {
    let mut random = Rng::new(seed);
    let random = &mut random;
    let mut snapshot = SnapshotInput {
        brokers: random_brokers(random),
        ..SnapshotInput::default()
    };
    let count = snapshot.brokers.len();
    for s in 0..1 + random.below(4) {
        let mut stream = stream(&format!("s{s}"), 1 + random.below(3) as u32);
        if random.one_in(5) {
            stream.required_tags = [("disk".to_string(), "ssd".to_string())].into();
        }
        if random.one_in(5) {
            stream.allowed_brokers = (0..count)
                .filter(|b| b % 2 == 0)
                .map(|b| format!("b{b}"))
                .collect();
        }
        for n in 0..random.below(12) {
            let shard = random_shard(random, &stream, n, count);
            snapshot.shards.push(shard);
        }
        snapshot.streams.push(stream);
    }
    if random.one_in(3) {
        random_flights(random, &mut snapshot);
    }
    let mut policy = PolicyInput {
        roles: if random.one_in(5) {
            Roles::LeadershipOnly
        } else {
            Roles::LeadersAndFollowers
        },
        stream_leaders: random_spread(random),
        cluster_leaders: random_spread(random),
        max_replicas_per_zone: random.one_in(4).then(|| 1 + random.below(2) as u32),
        min_zones: random.below(3) as u32,
        allow_zone_loss: random.one_in(5),
        weights: WeightsInput::default(),
        ..PolicyInput::default()
    };
    if random.one_in(3) {
        let zone = snapshot.brokers[0].zone.clone();
        policy.zone_limits.push(ZoneLimitInput {
            zone,
            min_leaders: cap(random, 3, 4),
            max_leaders: cap(random, 2, 12),
            max_replicas: cap(random, 2, 24),
        });
    }
    (snapshot, policy)
}

/// A random case in which bytes, rates and changes are limited as well.
pub(crate) fn loaded_case(seed: u64) -> (SnapshotInput, PolicyInput) {
    let (mut snapshot, mut policy) = random_case(seed);
    let mut random = Rng::new(seed ^ 0x10ad);
    let sizes = [0, 1, 10, 100];
    for shard in &mut snapshot.shards {
        shard.size_bytes = sizes[random.below(4)] * random.between(1, 9);
        shard.rate = random.between(0, 20);
    }
    let total: i64 = snapshot.shards.iter().map(|s| s.size_bytes).sum();
    for broker in &mut snapshot.brokers {
        if !random.one_in(4) {
            broker.disk_bytes = Some(total * random.between(1, 8) / 8 + 1);
            broker.disk_used_bytes = random.between(0, 20);
        }
        if random.one_in(3) {
            broker.rate_capacity = Some(random.between(0, 200));
        }
    }
    if random.one_in(3) {
        policy.max_moves = Some(random.below(6) as u32);
    }
    if random.one_in(4) {
        policy.balance = Some(BalanceInput {
            dimension: if random.one_in(2) {
                Dimension::Rate
            } else {
                Dimension::Bytes
            },
            tolerance_percent: 10,
        });
    }
    (snapshot, policy)
}
