//! Random problems in which any rule may be on.

use shardflow_solver::input::{
    BalanceInput, BrokerInput, InFlightInput, PolicyInput, ShardInput, SnapshotInput, SpreadInput,
    StreamInput, TrafficSourceInput, ZoneLimitInput,
};
use shardflow_solver::snapshot::{BrokerState, Dimension, Problem, Role, Roles};
use shardflow_solver::validate;

use crate::rng::Rng;

/// Up to how many of each.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) shards: usize,
    pub(crate) brokers: usize,
    pub(crate) zones: usize,
    pub(crate) streams: usize,
    pub(crate) factor: usize,
}

/// Few enough to try everything.
pub(crate) const TINY: Size = Size {
    shards: 4,
    brokers: 4,
    zones: 3,
    streams: 2,
    factor: 3,
};

/// How much of a cluster is out of order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// Any rule may be on, near what is there now.
    Wild,
    /// All replicas are there; few rules.
    Calm,
}

/// A problem; the same for the same seed.
pub(crate) fn problem(seed: u64, size: Size, mood: Mood) -> Problem {
    let mut rng = Rng::new(seed);
    loop {
        let (snapshot, policy) = input(&mut rng, size, mood);
        // What can't be is left to validation: flights to brokers that hold the shard, mostly.
        if let Ok(problem) = validate::build(&snapshot, &policy) {
            return problem;
        }
    }
}

fn input(rng: &mut Rng, size: Size, mood: Mood) -> (SnapshotInput, PolicyInput) {
    let mut policy = PolicyInput::default();
    let mut snapshot = SnapshotInput {
        cluster_id: "c".into(),
        ..SnapshotInput::default()
    };
    let zones = 1 + rng.below(size.zones);
    let brokers = size.brokers - rng.below(2.min(size.brokers));
    snapshot.brokers = (0..brokers).map(|b| broker(rng, b, zones, mood)).collect();
    let streams = 1 + rng.below(size.streams);
    snapshot.streams = (0..streams)
        .map(|s| stream(rng, s, brokers, size, mood))
        .collect();
    let shards = size.shards - rng.below(size.shards.div_ceil(3));
    for i in 0..shards {
        let at = rng.below(streams);
        let shard = shard(rng, i, &snapshot.streams[at], brokers, zones, mood);
        snapshot.shards.push(shard);
    }
    weights(rng, &mut policy);
    spreads(rng, &mut policy);
    if mood == Mood::Wild {
        rules(rng, &mut policy, zones);
        caps(rng, &mut snapshot, &mut policy);
        flight(rng, &mut snapshot);
    }
    loads(rng, &mut snapshot, &mut policy, mood);
    (snapshot, policy)
}

fn broker(rng: &mut Rng, b: usize, zones: usize, mood: Mood) -> BrokerInput {
    let unsettled = if mood == Mood::Calm { 12 } else { 6 };
    BrokerInput {
        id: format!("b{b}"),
        zone: format!("z{}", rng.below(zones)),
        state: match rng.below(unsettled) {
            0 => BrokerState::Draining,
            1 => BrokerState::Down,
            _ => BrokerState::Active,
        },
        share: rng.one_in(5).then(|| rng.below(4) as u32),
        ..BrokerInput::default()
    }
}

fn stream(rng: &mut Rng, s: usize, brokers: usize, size: Size, mood: Mood) -> StreamInput {
    let mut allowed_brokers = Vec::new();
    if mood == Mood::Wild && rng.one_in(5) {
        let open = (0..brokers).filter(|_| !rng.one_in(3));
        allowed_brokers.extend(open.map(|b| format!("b{b}")));
    }
    StreamInput {
        id: format!("s{s}"),
        replication_factor: 1 + rng.below(size.factor) as u32,
        allowed_brokers,
        ..StreamInput::default()
    }
}

fn shard(
    rng: &mut Rng,
    i: usize,
    stream: &StreamInput,
    brokers: usize,
    zones: usize,
    mood: Mood,
) -> ShardInput {
    let factor = stream.replication_factor as usize;
    let held = match rng.below(8) {
        0 if mood == Mood::Wild => rng.below(factor + 1),
        1 if mood == Mood::Wild => factor + 1,
        _ => factor,
    };
    let mut ids: Vec<String> = (0..brokers).map(|b| format!("b{b}")).collect();
    for at in (1..ids.len()).rev() {
        ids.swap(at, rng.below(at + 1));
    }
    ids.truncate(held.min(brokers));
    let is_leaderless = ids.is_empty() || (mood == Mood::Wild && rng.one_in(10));
    ShardInput {
        id: format!("p{i:02}"),
        stream: stream.id.clone(),
        leader: if is_leaderless {
            String::new()
        } else {
            ids.remove(0)
        },
        followers: ids,
        size_bytes: rng.between(0, 40) << if rng.one_in(3) { 28 } else { 0 },
        rate: rng.between(0, 9),
        pinned: rng.one_in(12),
        sources: sources(rng, zones),
        follower_sources: sources(rng, zones),
        ..ShardInput::default()
    }
}

fn sources(rng: &mut Rng, zones: usize) -> Vec<TrafficSourceInput> {
    let source = |rng: &mut Rng| TrafficSourceInput {
        zones: vec![format!("z{}", rng.below(zones)), "elsewhere".into()],
        weight: rng.between(0, 5),
    };
    (0..rng.below(3)).map(|_| source(rng)).collect()
}

fn weights(rng: &mut Rng, policy: &mut PolicyInput) {
    let weights = &mut policy.weights;
    if rng.one_in(2) {
        weights.traffic = Some(rng.between(0, 4));
        weights.overlap = Some(rng.between(1, 6));
        weights.promotion = Some(rng.between(0, 1));
    }
    if rng.one_in(4) {
        weights.overlap_per_gib = Some(rng.between(0, 3));
    }
    if rng.one_in(3) {
        weights.same_rack = Some(rng.between(0, 5));
        weights.same_rack_as_leader = Some(rng.between(0, 4));
    }
}

fn spreads(rng: &mut Rng, policy: &mut PolicyInput) {
    let spread = |rng: &mut Rng| SpreadInput {
        is_off: rng.one_in(4),
        slack: u32::from(rng.one_in(5)),
    };
    policy.stream_leaders = spread(rng);
    policy.cluster_leaders = spread(rng);
    policy.stream_replicas = spread(rng);
    policy.cluster_replicas = spread(rng);
}

fn rules(rng: &mut Rng, policy: &mut PolicyInput, zones: usize) {
    if rng.one_in(6) {
        policy.roles = Roles::LeadershipOnly;
    }
    policy.min_zones = rng.below(4) as u32;
    policy.allow_zone_loss = rng.one_in(3);
    if rng.one_in(4) {
        policy.max_replicas_per_zone = Some(1 + rng.below(2) as u32);
    }
    if rng.one_in(4) {
        policy.max_moves = Some(rng.below(4) as u32);
    }
    for z in 0..zones {
        if rng.one_in(4) {
            policy.zone_limits.push(ZoneLimitInput {
                zone: format!("z{z}"),
                min_leaders: rng.one_in(2).then(|| rng.below(3) as u32),
                max_leaders: rng.one_in(2).then(|| 2 + rng.below(2) as u32),
                max_replicas: rng.one_in(2).then(|| 2 + rng.below(5) as u32),
            });
        }
    }
}

/// Caps near an even part of what there is.
fn caps(rng: &mut Rng, snapshot: &mut SnapshotInput, _: &mut PolicyInput) {
    let per_broker = snapshot.shards.len() / snapshot.brokers.len().max(1);
    for broker in &mut snapshot.brokers {
        if rng.one_in(4) {
            broker.max_leaders = Some((per_broker + rng.below(3)) as u32);
        }
        if rng.one_in(4) {
            broker.max_replicas = Some((2 * per_broker + rng.below(4)) as u32);
        }
    }
}

/// Perhaps a move under way.
fn flight(rng: &mut Rng, snapshot: &mut SnapshotInput) {
    let Some(shard) = snapshot.shards.first().filter(|_| rng.one_in(12)) else {
        return;
    };
    let to = rng.below(snapshot.brokers.len());
    snapshot.in_flight.push(InFlightInput {
        shard: shard.id.clone(),
        role: Role::Leader,
        from: shard.leader.clone(),
        to: format!("b{to}"),
    });
}

fn loads(rng: &mut Rng, snapshot: &mut SnapshotInput, policy: &mut PolicyInput, mood: Mood) {
    let brokers = snapshot.brokers.len() as i64;
    let odds = if mood == Mood::Calm { 6 } else { 3 };
    let shards = || snapshot.shards.iter();
    let bytes: i64 = shards()
        .map(|s| s.size_bytes * (1 + s.followers.len() as i64))
        .sum();
    let rates: i64 = shards().map(|s| s.rate).sum();
    if rng.one_in(odds) {
        for broker in &mut snapshot.brokers {
            let size = bytes / brokers * rng.between(6, 18) / 10;
            broker.disk_bytes = (!rng.one_in(4)).then_some(size + 1);
            broker.disk_used_bytes = rng.between(0, 3);
        }
        policy.disk_watermark_percent = rng.one_in(2).then(|| rng.between(50, 100) as u32);
    }
    if rng.one_in(odds) {
        for broker in &mut snapshot.brokers {
            let rate = rates / brokers + rng.between(0, 9);
            broker.rate_capacity = (!rng.one_in(3)).then_some(rate);
        }
    }
    if rng.one_in(odds) {
        policy.balance = Some(BalanceInput {
            dimension: match rng.one_in(2) {
                true => Dimension::Rate,
                false => Dimension::Bytes,
            },
            tolerance_percent: rng.between(0, 30) as u32,
        });
    }
}
