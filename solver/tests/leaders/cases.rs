//! Random problems: `LEADERSHIP_ONLY` with factors up to 4, or both roles with every factor 1; whole replica sets where
//! asked for.

use std::collections::BTreeMap;

use shardflow_solver::budget::never;
use shardflow_solver::input::{
    BrokerInput, InFlightInput, PolicyInput, ShardInput, SnapshotInput, SpreadInput, StreamInput,
    TrafficSourceInput, WeightsInput, ZoneLimitInput,
};
use shardflow_solver::snapshot::{Broker, BrokerState, Problem, Role, Roles, Shard};
use shardflow_solver::strategy::{self, Answer, SolveOptions};
use shardflow_solver::validate;

use crate::rng::Rng;

/// An input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) snapshot: SnapshotInput,
    pub(crate) policy: PolicyInput,
}

impl Case {
    pub(crate) fn problem(&self) -> Problem {
        validate::build(&self.snapshot, &self.policy)
            .unwrap_or_else(|rejection| panic!("{rejection:?}\n{self:#?}"))
    }
}

/// Another order of everything that is a set.
pub(crate) fn shuffled(case: &Case, rng: &mut Rng) -> Case {
    let mut case = case.clone();
    let snapshot = &mut case.snapshot;
    rng.shuffle(&mut snapshot.brokers);
    rng.shuffle(&mut snapshot.streams);
    rng.shuffle(&mut snapshot.shards);
    rng.shuffle(&mut snapshot.in_flight);
    for stream in &mut snapshot.streams {
        rng.shuffle(&mut stream.allowed_brokers);
    }
    for shard in &mut snapshot.shards {
        rng.shuffle(&mut shard.followers);
        rng.shuffle(&mut shard.sources);
        rng.shuffle(&mut shard.follower_sources);
        for source in shard.sources.iter_mut().chain(&mut shard.follower_sources) {
            rng.shuffle(&mut source.zones);
        }
    }
    rng.shuffle(&mut case.policy.zone_limits);
    case
}

/// The answer without a budget.
pub(crate) fn solve(problem: &Problem) -> Answer {
    solve_within(problem, None)
}

/// The answer under a work limit. There is nothing to say about it where the network sees every count.
pub(crate) fn solve_within(problem: &Problem, work_limit: Option<u64>) -> Answer {
    solve_with(
        problem,
        &SolveOptions {
            work_limit,
            ..SolveOptions::default()
        },
    )
}

pub(crate) fn solve_with(problem: &Problem, options: &SolveOptions) -> Answer {
    let answer = strategy::solve(problem, options, &never).expect("leader problems are built");
    if !counts_cross(problem) {
        assert_eq!(answer.report.warnings, problem.warnings);
    }
    answer
}

/// Whether some shard without a live leader keeps a follower while it is led by nobody, and a zone of several live
/// brokers limits both its leaders and the replicas of a broker: the one case in which the network is no exact model.
pub(crate) fn counts_cross(problem: &Problem) -> bool {
    let is_orphan = |s: &Shard| problem.live_leader(s).is_none() && !problem.is_free_to_place(s);
    let crosses = |z: usize| {
        let zone = &problem.zones[z];
        let live: Vec<&Broker> = (problem.brokers.iter())
            .filter(|b| b.zone.index() == z && b.state != BrokerState::Down)
            .collect();
        (zone.max_leaders.is_some() || zone.min_leaders > 0)
            && live.len() > 1
            && live.iter().any(|b| b.max_replicas.is_some())
    };
    problem.policy.roles == Roles::LeadersAndFollowers
        && problem.shards.iter().any(is_orphan)
        && (0..problem.zones.len()).any(crosses)
}

/// Most of each thing.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) brokers: usize,
    pub(crate) streams: usize,
    pub(crate) shards: usize,
    pub(crate) zones: usize,
}

pub(crate) const TINY: Size = Size {
    brokers: 4,
    streams: 3,
    shards: 5,
    zones: 3,
};

pub(crate) const MEDIUM: Size = Size {
    brokers: 12,
    streams: 6,
    shards: 40,
    zones: 4,
};

/// The case of a seed. It is always valid.
pub(crate) fn generate(seed: u64, size: Size) -> Case {
    let mut maker = Maker::new(seed, size);
    let snapshot = maker.snapshot();
    let policy = maker.policy();
    Case { snapshot, policy }
}

/// Both roles (leadership only now and then), with factors up to 4 and most replicas in place.
#[allow(dead_code)] // for the soak, which includes this file
pub(crate) fn generate_sets(seed: u64, size: Size, is_capped: bool) -> Case {
    let mut maker = Maker::new(seed, size);
    maker.is_capped = is_capped;
    maker.factor_max = 4;
    if maker.rng.chance(80) {
        maker.roles = Roles::LeadersAndFollowers;
    }
    let snapshot = maker.snapshot();
    let policy = maker.policy();
    Case { snapshot, policy }
}

/// Both roles, most shards without a leader but with followers, and caps that leave little room.
pub(crate) fn generate_orphans(seed: u64, size: Size) -> Case {
    let mut maker = Maker {
        roles: Roles::LeadersAndFollowers,
        is_capped: true,
        ..Maker::new(seed, size)
    };
    let mut snapshot = maker.snapshot();
    let mut policy = maker.policy();
    snapshot.in_flight.clear();
    let rng = &mut maker.rng;
    for broker in &mut snapshot.brokers {
        broker.max_leaders = rng.chance(60).then(|| rng.between(0, 1) as u32);
        broker.max_replicas = rng.chance(50).then(|| rng.between(0, 2) as u32);
    }
    let brokers: Vec<String> = snapshot.brokers.iter().map(|b| b.id.clone()).collect();
    for shard in &mut snapshot.shards {
        if rng.chance(70) {
            let mut holders = brokers.clone();
            rng.shuffle(&mut holders);
            holders.truncate(*rng.pick(&[1, 1, 1, 2, 3]));
            shard.leader.clear();
            shard.followers = holders;
        }
    }
    for limit in &mut policy.zone_limits {
        if rng.chance(50) {
            limit.min_leaders = None;
            limit.max_leaders = rng.chance(20).then(|| rng.between(0, 2) as u32);
            limit.max_replicas = rng.chance(80).then(|| rng.between(0, 3) as u32);
        }
    }
    Case { snapshot, policy }
}

struct Maker {
    rng: Rng,
    size: Size,
    roles: Roles,
    /// Where both roles are decided.
    factor_max: usize,
    has_zones: bool,
    has_tags: bool,
    is_capped: bool,
    /// Names that sources and limits may use.
    zones: Vec<String>,
}

impl Maker {
    fn new(seed: u64, size: Size) -> Self {
        let mut rng = Rng::new(seed);
        Maker {
            roles: *rng.pick(&[Roles::LeadershipOnly, Roles::LeadersAndFollowers]),
            has_zones: rng.chance(70),
            has_tags: rng.chance(25),
            is_capped: rng.chance(60),
            factor_max: 1,
            rng,
            size,
            zones: Vec::new(),
        }
    }

    fn snapshot(&mut self) -> SnapshotInput {
        let zone_count = self.rng.between(1, self.size.zones);
        let broker_count = self.rng.between(1, self.size.brokers);
        let brokers: Vec<BrokerInput> = (0..broker_count)
            .map(|i| self.broker(i, zone_count))
            .collect();
        self.zones = match self.has_zones {
            true => (0..zone_count).map(|z| format!("z{z}")).collect(),
            false => brokers.iter().map(|b| b.id.clone()).collect(),
        };
        self.zones.push("nowhere".to_owned());
        let stream_count = self.rng.between(1, self.size.streams);
        let mut streams: Vec<StreamInput> = (0..stream_count)
            .map(|i| self.stream(i, &brokers))
            .collect();
        let shard_count = self.rng.between(0, self.size.shards);
        let shards: Vec<ShardInput> = (0..shard_count)
            .map(|i| self.shard(i, &streams, &brokers))
            .collect();
        for stream in &mut streams {
            if shards.iter().all(|shard| shard.stream != stream.id) {
                stream.replication_factor = self.rng.between(0, 4) as u32;
            }
        }
        let in_flight = self.flights(&shards, &brokers);
        let mut snapshot = SnapshotInput {
            cluster_id: "c".to_owned(),
            generation: "g".to_owned(),
            brokers,
            streams,
            shards,
            in_flight,
        };
        self.rng.shuffle(&mut snapshot.brokers);
        self.rng.shuffle(&mut snapshot.streams);
        self.rng.shuffle(&mut snapshot.shards);
        snapshot
    }

    fn broker(&mut self, i: usize, zone_count: usize) -> BrokerInput {
        let state = match self.rng.below(100) {
            0..15 => BrokerState::Draining,
            15..27 => BrokerState::Down,
            _ => BrokerState::Active,
        };
        let is_down = state == BrokerState::Down;
        let is_named = if is_down {
            self.rng.chance(50)
        } else {
            self.has_zones
        };
        let mut tags = BTreeMap::new();
        if self.has_tags {
            tags.insert(
                "disk".to_owned(),
                self.rng.pick(&["ssd", "hdd"]).to_string(),
            );
        }
        let most = self.size.shards / self.size.brokers + 1;
        BrokerInput {
            id: format!("b{i}"),
            zone: match is_named {
                true => format!("z{}", self.rng.below(zone_count)),
                false => String::new(),
            },
            state,
            tags,
            share: self.rng.chance(40).then(|| self.rng.between(0, 3) as u32),
            max_leaders: self.cap(30, most),
            max_replicas: self.cap(25, 2 * most),
            ..BrokerInput::default()
        }
    }

    fn cap(&mut self, percent: usize, most: usize) -> Option<u32> {
        let is_set = self.is_capped && self.rng.chance(percent);
        is_set.then(|| self.rng.between(0, most) as u32)
    }

    fn stream(&mut self, i: usize, brokers: &[BrokerInput]) -> StreamInput {
        let factor = match self.roles {
            Roles::LeadershipOnly => self.rng.between(0, 4),
            Roles::LeadersAndFollowers => self.rng.between(0, self.factor_max),
        };
        let mut allowed = Vec::new();
        if self.rng.chance(15) {
            allowed = brokers.iter().map(|b| b.id.clone()).collect();
            allowed.retain(|_| self.rng.chance(60));
            allowed.push("ghost".to_owned());
        }
        StreamInput {
            id: format!("s{i}"),
            replication_factor: factor as u32,
            required_tags: self.tags(30),
            allowed_brokers: allowed,
        }
    }

    fn tags(&mut self, percent: usize) -> BTreeMap<String, String> {
        let is_set = self.has_tags && self.rng.chance(percent);
        let value = self.rng.pick(&["ssd", "hdd"]).to_string();
        is_set
            .then(|| ("disk".to_owned(), value))
            .into_iter()
            .collect()
    }

    fn shard(&mut self, i: usize, streams: &[StreamInput], brokers: &[BrokerInput]) -> ShardInput {
        let stream = self.rng.pick(streams);
        let mut holders: Vec<&str> = brokers.iter().map(|b| b.id.as_str()).collect();
        self.rng.shuffle(&mut holders);
        let leader = match self.rng.chance(80) {
            true => holders.pop().unwrap_or_default(),
            false => "",
        };
        let followers = match self.roles {
            Roles::LeadershipOnly => self
                .rng
                .between(0, stream.replication_factor.max(1) as usize),
            Roles::LeadersAndFollowers if self.factor_max == 1 => {
                *self.rng.pick(&[0, 0, 0, 0, 1, 2])
            }
            Roles::LeadersAndFollowers => {
                let full = (stream.replication_factor as usize).saturating_sub(1);
                match self.rng.below(10) {
                    0 => full + 1,
                    1 | 2 => self.rng.between(0, full),
                    _ => full,
                }
            }
        };
        holders.truncate(followers);
        ShardInput {
            id: format!("p{i}"),
            stream: stream.id.clone(),
            number: self.rng.chance(80).then_some(i as u32),
            leader: leader.to_owned(),
            followers: holders.into_iter().map(str::to_owned).collect(),
            size_bytes: *self.rng.pick(&[0, 1, 1 << 30, 5 << 30]),
            rate: self.rng.between(0, 9) as i64,
            pinned: self.rng.chance(8),
            sources: self.sources(),
            follower_sources: self.sources(),
        }
    }

    fn sources(&mut self) -> Vec<TrafficSourceInput> {
        let count = *self.rng.pick(&[0, 1, 1, 2]);
        (0..count)
            .map(|_| {
                let mut zones = self.zones.clone();
                zones.retain(|_| self.rng.chance(40));
                TrafficSourceInput {
                    zones,
                    weight: self.rng.between(0, 5) as i64,
                }
            })
            .collect()
    }

    /// Moves of either role, lapsed ones among them.
    fn flights(&mut self, shards: &[ShardInput], brokers: &[BrokerInput]) -> Vec<InFlightInput> {
        let mut flights = Vec::new();
        for shard in shards {
            let leader_to = self.leader_flight(shard, brokers, &mut flights);
            if !self.rng.chance(6) {
                continue;
            }
            let to = &self.rng.pick(brokers).id;
            let leads = leader_to.as_ref().unwrap_or(&shard.leader);
            let mut from = String::new();
            if !shard.followers.is_empty() && self.rng.chance(70) {
                from = self.rng.pick(&shard.followers).clone();
            }
            if to != leads && *to != from && (*to != shard.leader || leader_to.is_some()) {
                flights.push(InFlightInput {
                    shard: shard.id.clone(),
                    role: Role::Follower,
                    from,
                    to: to.clone(),
                });
            }
        }
        flights
    }

    /// May add the flight of a leader; where it will lead, unless the flight lapses.
    fn leader_flight(
        &mut self,
        shard: &ShardInput,
        brokers: &[BrokerInput],
        flights: &mut Vec<InFlightInput>,
    ) -> Option<String> {
        let to = self.rng.pick(brokers);
        if !self.rng.chance(8) || to.id == shard.leader {
            return None;
        }
        flights.push(InFlightInput {
            shard: shard.id.clone(),
            role: Role::Leader,
            from: shard.leader.clone(),
            to: to.id.clone(),
        });
        let is_down = |id: &str| {
            brokers
                .iter()
                .any(|b| b.id == id && b.state == BrokerState::Down)
        };
        let lapses = shard.leader.is_empty() || is_down(&shard.leader) || is_down(&to.id);
        (!lapses).then(|| to.id.clone())
    }

    fn policy(&mut self) -> PolicyInput {
        let overlap = self.rng.chance(60).then(|| self.rng.between(0, 20) as i64);
        let promotion = self.rng.between(0, overlap.unwrap_or(1) as usize) as i64;
        let mut weight = |most: usize| {
            self.rng
                .chance(60)
                .then(|| self.rng.between(0, most) as i64)
        };
        let weights = WeightsInput {
            traffic: weight(12),
            overlap_per_gib: weight(3),
            same_rack: weight(10),
            same_rack_as_leader: weight(10),
            overlap,
            promotion: self.rng.chance(60).then_some(promotion),
        };
        PolicyInput {
            weights,
            roles: self.roles,
            stream_leaders: self.spread(),
            cluster_leaders: self.spread(),
            stream_replicas: self.spread(),
            cluster_replicas: self.spread(),
            zone_limits: self.zone_limits(),
            min_zones: *self.rng.pick(&[0, 0, 1, 2, 3]),
            allow_zone_loss: self.rng.chance(30),
            max_replicas_per_zone: *self.rng.pick(&[None, None, Some(1), Some(2)]),
            required_tags: self.tags(15),
            ..PolicyInput::default()
        }
    }

    fn spread(&mut self) -> SpreadInput {
        SpreadInput {
            is_off: self.rng.chance(30),
            slack: *self.rng.pick(&[0, 0, 0, 1, 2]),
        }
    }

    fn zone_limits(&mut self) -> Vec<ZoneLimitInput> {
        let most = self.size.shards / self.size.zones + 1;
        let mut limits = Vec::new();
        for zone in self.zones.clone() {
            if !self.is_capped || !self.rng.chance(35) {
                continue;
            }
            let least = self
                .rng
                .chance(50)
                .then(|| self.rng.between(0, most) as u32);
            let mut above = |percent: usize, most: usize| {
                let cap = self.rng.between(0, most) as u32;
                self.rng
                    .chance(percent)
                    .then(|| cap.max(least.unwrap_or(0)))
            };
            limits.push(ZoneLimitInput {
                zone,
                min_leaders: least,
                max_leaders: above(50, most),
                max_replicas: above(40, 2 * most),
            });
        }
        limits
    }
}
