//! A small cluster that changes: its request, the edits, and what a plan makes of it.

use std::collections::BTreeSet;

use shardflow::pb;

use crate::rng::Rng;

/// A request without options, and what is needed to go on naming things.
pub(super) struct Cluster {
    pub(super) request: pb::OptimizeRequest,
    is_led_only: bool,
    /// Names given so far.
    named: usize,
}

const ZONES: usize = 3;

impl Cluster {
    /// Two to seven brokers, up to 24 shards. Caps on the replicas of a broker and limits on the leaders of a zone
    /// never come together: with shards that lost their leader, no network is exact then.
    pub(super) fn new(rng: &mut Rng) -> Self {
        let mut cluster = Cluster {
            request: pb::OptimizeRequest::default(),
            is_led_only: rng.chance(40),
            named: 0,
        };
        cluster.request.snapshot = Some(pb::Snapshot::default());
        cluster.request.policy = Some(cluster.policy(rng));
        for _ in 0..rng.between(2, 6) {
            cluster.add_broker(rng);
        }
        for _ in 0..rng.between(1, 4) {
            cluster.add_stream(rng);
        }
        cluster
    }

    pub(super) fn brokers(&self) -> impl Iterator<Item = &pb::Broker> {
        self.request.snapshot.iter().flat_map(|s| &s.brokers)
    }

    fn snapshot(&mut self) -> &mut pb::Snapshot {
        self.request.snapshot.get_or_insert_default()
    }

    fn name(&mut self, prefix: &str) -> String {
        self.named += 1;
        format!("{prefix}{}", self.named)
    }

    fn policy(&self, rng: &mut Rng) -> pb::Policy {
        let mut spread = || {
            let mode = match rng.chance(25) {
                true => pb::SpreadMode::Off,
                false => pb::SpreadMode::Level,
            };
            Some(pb::Spread {
                mode: mode.into(),
                slack: *rng.pick(&[0, 0, 0, 1]),
            })
        };
        let roles = match self.is_led_only {
            true => pb::Roles::LeadershipOnly,
            false => pb::Roles::LeadersAndFollowers,
        };
        pb::Policy {
            roles: roles.into(),
            stream_leaders: spread(),
            cluster_leaders: spread(),
            weights: Some(weights(rng)),
            zone_limits: zone_limits(rng),
            ..pb::Policy::default()
        }
    }

    fn add_broker(&mut self, rng: &mut Rng) {
        let caps_replicas = (self.request.policy.iter()).all(|p| p.zone_limits.is_empty());
        let mut cap = |percent, low| rng.chance(percent).then(|| rng.between(low, 9) as u32);
        let broker = pb::Broker {
            max_leaders: cap(20, 2),
            max_replicas: cap(20, 4).filter(|_| caps_replicas),
            share: rng.chance(20).then(|| rng.between(0, 3) as u32),
            zone: format!("z{}", rng.below(ZONES)),
            id: self.name("b"),
            ..pb::Broker::default()
        };
        self.snapshot().brokers.push(broker);
    }

    fn add_stream(&mut self, rng: &mut Rng) {
        let stream = pb::Stream {
            id: self.name("s"),
            replication_factor: if self.is_led_only {
                rng.between(1, 3) as u32
            } else {
                1
            },
            ..pb::Stream::default()
        };
        let (id, factor) = (stream.id.clone(), stream.replication_factor);
        self.snapshot().streams.push(stream);
        for _ in 0..rng.between(1, 6) {
            self.add_shard(&id, factor, rng);
        }
    }

    /// A new shard, or one that some brokers hold already.
    fn add_shard(&mut self, stream: &str, factor: u32, rng: &mut Rng) {
        let mut holders: Vec<String> = self.brokers().map(|b| b.id.clone()).collect();
        rng.shuffle(&mut holders);
        holders.truncate(factor as usize);
        if !self.is_led_only && rng.chance(30) {
            holders.clear();
        }
        let mut holders = holders.into_iter();
        let shard = pb::Shard {
            id: self.name("p"),
            stream: stream.to_owned(),
            leader: holders.next().unwrap_or_default(),
            followers: holders.collect(),
            size_bytes: *rng.pick(&[0, 1 << 20, 3 << 30]),
            pinned: rng.chance(3),
            sources: sources(rng),
            ..pb::Shard::default()
        };
        self.snapshot().shards.push(shard);
    }

    /// The cluster as planned.
    pub(super) fn apply(&mut self, plan: &pb::Plan) {
        for shard in &mut self.snapshot().shards {
            let planned = plan.assignments.iter().find(|a| a.shard == shard.id);
            if let Some(planned) = planned {
                shard.leader.clone_from(&planned.leader);
                shard.followers.clone_from(&planned.followers);
            }
        }
    }

    /// One change of the sort that happens to clusters.
    pub(super) fn edit(&mut self, rng: &mut Rng) {
        match rng.below(11) {
            0..=2 => self.redraw_traffic(rng),
            3 => self.add_broker(rng),
            4 => self.set_state(pb::BrokerState::Draining, rng),
            5 => self.set_state(pb::BrokerState::Down, rng),
            6 => self.set_state(pb::BrokerState::Active, rng),
            7 => self.remove_broker(rng),
            8 => self.add_stream(rng),
            9 => self.drop_stream(rng),
            _ => self.add_shards(rng),
        }
    }

    fn redraw_traffic(&mut self, rng: &mut Rng) {
        if rng.chance(20) {
            self.request.policy.get_or_insert_default().weights = Some(weights(rng));
        }
        for shard in &mut self.snapshot().shards {
            if rng.chance(20) {
                shard.sources = sources(rng);
            }
        }
    }

    fn set_state(&mut self, state: pb::BrokerState, rng: &mut Rng) {
        let brokers = &mut self.snapshot().brokers;
        let at = rng.below(brokers.len());
        brokers[at].set_state(state);
    }

    /// A broker is taken out of the cluster with what it holds.
    fn remove_broker(&mut self, rng: &mut Rng) {
        let snapshot = self.snapshot();
        if snapshot.brokers.len() < 3 {
            return;
        }
        let gone = snapshot
            .brokers
            .remove(rng.below(snapshot.brokers.len()))
            .id;
        for shard in &mut snapshot.shards {
            if shard.leader == gone {
                shard.leader.clear();
            }
            shard.followers.retain(|follower| *follower != gone);
        }
    }

    fn drop_stream(&mut self, rng: &mut Rng) {
        let snapshot = self.snapshot();
        if snapshot.streams.len() < 2 {
            return;
        }
        let gone = snapshot
            .streams
            .remove(rng.below(snapshot.streams.len()))
            .id;
        snapshot.shards.retain(|shard| shard.stream != gone);
    }

    fn add_shards(&mut self, rng: &mut Rng) {
        let streams = &self.snapshot().streams;
        let stream = rng.pick(streams).clone();
        for _ in 0..rng.between(1, 4) {
            self.add_shard(&stream.id, stream.replication_factor, rng);
        }
    }
}

fn weights(rng: &mut Rng) -> pb::Weights {
    let overlap = rng.between(0, 30) as i64;
    pb::Weights {
        traffic: Some(rng.between(0, 12) as i64),
        overlap: Some(overlap),
        overlap_per_gib: Some(rng.between(0, 3) as i64),
        promotion: Some(rng.between(0, overlap as usize) as i64),
        ..pb::Weights::default()
    }
}

fn zone_limits(rng: &mut Rng) -> Vec<pb::ZoneLimit> {
    if rng.chance(50) {
        return Vec::new();
    }
    let limit = |z: usize| {
        let least = rng.below(4) as u32;
        pb::ZoneLimit {
            zone: format!("z{z}"),
            min_leaders: Some(least),
            max_leaders: rng.chance(60).then(|| least + rng.between(2, 8) as u32),
            max_replicas: rng.chance(20).then(|| rng.between(6, 20) as u32),
        }
    };
    (0..ZONES).map(limit).collect()
}

fn sources(rng: &mut Rng) -> Vec<pb::TrafficSource> {
    let count = rng.below(3);
    let source = |_| {
        let zones: BTreeSet<usize> = (0..rng.between(1, 2)).map(|_| rng.below(ZONES)).collect();
        pb::TrafficSource {
            zones: zones.into_iter().map(|z| format!("z{z}")).collect(),
            weight: rng.between(0, 40) as i64,
        }
    };
    (0..count).map(source).collect()
}
