//! Random tiny problems without bytes, rates, balance and `max_moves`, and random admissible starts.

use std::collections::BTreeMap;

use shardflow_solver::input::{
    BrokerInput, PolicyInput, ShardInput, SnapshotInput, SpreadInput, StreamInput,
    TrafficSourceInput, WeightsInput, ZoneLimitInput,
};
use shardflow_solver::model::current;
use shardflow_solver::snapshot::{Assignment, BrokerId, BrokerState, Problem, Roles, ShardId};
use shardflow_solver::validate;
use shardflow_solver::verify::placement::check;

use crate::rng::Rng;

/// Names the case on the way out of a failed comparison.
pub(crate) struct Named(pub(crate) u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("case {}", self.0);
        }
    }
}

/// The problem of a seed. It is always valid.
pub(crate) fn generate(seed: u64) -> Problem {
    let mut random = Random(Rng::new(seed));
    let snapshot = random.snapshot();
    let policy = random.policy();
    validate::build(&snapshot, &policy)
        .unwrap_or_else(|rejection| panic!("{rejection:?}\n{snapshot:#?}\n{policy:#?}"))
}

/// The same where only leaders are decided, some zones with limits on them.
pub(crate) fn generate_led(seed: u64) -> Problem {
    let mut random = Random(Rng::new(seed));
    let snapshot = random.snapshot();
    let mut policy = random.policy();
    policy.roles = Roles::LeadershipOnly;
    for limit in &mut policy.zone_limits {
        let least = random.below(3) as u32;
        limit.max_replicas = None;
        limit.min_leaders = Some(least);
        limit.max_leaders = Some(least + random.below(2) as u32);
    }
    validate::build(&snapshot, &policy)
        .unwrap_or_else(|rejection| panic!("{rejection:?}\n{snapshot:#?}\n{policy:#?}"))
}

/// An admissible placement: the present one, with some leaders elsewhere and some shards arranged anew.
pub(crate) fn start(problem: &Problem, seed: u64) -> Vec<Assignment> {
    let mut rng = Rng::new(seed ^ 0x5eed);
    let mut placement = current::placement(problem);
    if rng.one_in(3) {
        return placement;
    }
    for id in problem.shard_ids() {
        let old = placement[id.index()].clone();
        placement[id.index()] = shuffled(problem, id, &mut rng);
        if !check(problem, &placement).faults.is_empty() {
            placement[id.index()] = old;
        }
    }
    placement
}

/// A random leader and followers, the lost ones listed.
fn shuffled(problem: &Problem, id: ShardId, rng: &mut Rng) -> Assignment {
    let shard = problem.shard(id);
    let factor = problem.replication_factor(shard.stream) as usize;
    let mut live: Vec<BrokerId> = problem
        .broker_ids()
        .filter(|&b| problem.is_live(b))
        .collect();
    for last in (1..live.len()).rev() {
        live.swap(last, rng.below(last + 1));
    }
    live.truncate(factor);
    let leader = (!rng.one_in(8)).then(|| live.pop()).flatten();
    let mut followers = live;
    let room = factor - usize::from(leader.is_some());
    let mut lost: Vec<BrokerId> = shard.present.replicas().collect();
    lost.retain(|&b| !problem.is_live(b));
    lost.sort_unstable();
    lost.truncate(room.saturating_sub(followers.len()));
    followers.append(&mut lost);
    followers.sort_unstable();
    Assignment { leader, followers }
}

struct Random(Rng);

impl Random {
    fn one_in(&mut self, n: usize) -> bool {
        self.0.one_in(n)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    fn snapshot(&mut self) -> SnapshotInput {
        let brokers = 1 + self.below(4).max(self.0.below(4));
        let zones = 1 + self.below(3);
        let has_caps = self.one_in(2);
        let has_shares = self.one_in(3);
        let brokers: Vec<BrokerInput> = (0..brokers)
            .map(|b| BrokerInput {
                id: format!("b{b}"),
                zone: format!("z{}", self.below(zones)),
                state: match self.below(9) {
                    0 => BrokerState::Draining,
                    1 => BrokerState::Down,
                    _ => BrokerState::Active,
                },
                tags: self.tags(2),
                share: has_shares.then(|| self.below(4) as u32),
                max_leaders: (has_caps && self.one_in(3)).then(|| self.below(4) as u32),
                max_replicas: (has_caps && self.one_in(2)).then(|| self.below(5) as u32),
                ..BrokerInput::default()
            })
            .collect();
        let streams: Vec<StreamInput> = (0..1 + self.below(2))
            .map(|s| StreamInput {
                id: format!("s{s}"),
                replication_factor: 1 + self.below(4) as u32,
                required_tags: self.tags(6),
                allowed_brokers: match self.one_in(6) {
                    true => vec!["b0".to_owned(), "b1".to_owned(), "b2".to_owned()],
                    false => Vec::new(),
                },
            })
            .collect();
        let shards = (0..1 + self.below(4))
            .map(|i| self.shard(i, &streams, brokers.len()))
            .collect();
        SnapshotInput {
            cluster_id: "c".to_owned(),
            brokers,
            streams,
            shards,
            ..SnapshotInput::default()
        }
    }

    fn tags(&mut self, one_in: usize) -> BTreeMap<String, String> {
        let tag = ("disk".to_owned(), "ssd".to_owned());
        self.one_in(one_in).then_some(tag).into_iter().collect()
    }

    fn shard(&mut self, i: usize, streams: &[StreamInput], brokers: usize) -> ShardInput {
        let stream = &streams[self.below(streams.len())];
        let mut holders: Vec<String> = (0..brokers).map(|b| format!("b{b}")).collect();
        for last in (1..holders.len()).rev() {
            let other = self.below(last + 1);
            holders.swap(last, other);
        }
        let wanted = stream.replication_factor as usize;
        holders.truncate(match self.below(8) {
            0 => 0,
            1 => wanted + 1,
            2 => wanted - 1,
            _ => wanted,
        });
        let is_led = !self.one_in(7);
        let leader = is_led.then(|| holders.pop()).flatten();
        ShardInput {
            id: format!("p{i}"),
            stream: stream.id.clone(),
            leader: leader.unwrap_or_default(),
            followers: holders,
            size_bytes: [0, 1, 5 << 30][self.below(3)],
            pinned: self.one_in(9),
            sources: self.sources(),
            follower_sources: self.sources(),
            ..ShardInput::default()
        }
    }

    fn sources(&mut self) -> Vec<TrafficSourceInput> {
        (0..self.below(3))
            .map(|_| TrafficSourceInput {
                zones: vec![format!("z{}", self.below(3))],
                weight: self.below(6) as i64,
            })
            .collect()
    }

    fn policy(&mut self) -> PolicyInput {
        let weights = WeightsInput {
            traffic: Some(self.below(12) as i64),
            overlap: Some(self.below(20) as i64),
            overlap_per_gib: Some(self.below(3) as i64),
            promotion: Some(0),
            same_rack: Some([0, 1, 10][self.below(3)]),
            same_rack_as_leader: Some([0, 0, 7][self.below(3)]),
        };
        let mut limited: Vec<usize> = (0..3).collect();
        limited.retain(|_| self.one_in(5));
        let zone_limits = limited.into_iter().map(|z| ZoneLimitInput {
            zone: format!("z{z}"),
            max_replicas: Some(self.below(6) as u32),
            ..ZoneLimitInput::default()
        });
        let zone_limits = zone_limits.collect();
        PolicyInput {
            weights,
            stream_leaders: self.spread(),
            cluster_leaders: self.spread(),
            stream_replicas: self.spread(),
            cluster_replicas: self.spread(),
            zone_limits,
            min_zones: [0, 0, 2, 3][self.below(4)],
            allow_zone_loss: self.one_in(3),
            max_replicas_per_zone: [None, None, Some(1), Some(2)][self.below(4)],
            required_tags: self.tags(8),
            ..PolicyInput::default()
        }
    }

    fn spread(&mut self) -> SpreadInput {
        SpreadInput {
            is_off: self.one_in(3),
            slack: [0, 0, 1][self.below(3)],
        }
    }
}
