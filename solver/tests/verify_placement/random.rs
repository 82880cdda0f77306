//! Small random problems, and all their legal plans.

use shardflow_solver::input::{
    BalanceInput, BrokerInput, PolicyInput, ShardInput, SnapshotInput, SpreadInput, StreamInput,
    TrafficSourceInput, WeightsInput, ZoneLimitInput,
};
use shardflow_solver::snapshot::{
    Assignment, BrokerId, BrokerState, Dimension, Problem, Roles, ShardId,
};
use shardflow_solver::validate;
use shardflow_solver::verify::{Rule, placement};

use crate::rng::Rng;

/// What the problems are drawn with.
pub(crate) struct Random(Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(Rng::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }
    /// From 0 to `most`, both included.
    pub(crate) fn up_to(&mut self, most: u32) -> u32 {
        self.0.below(most as usize + 1) as u32
    }
    pub(crate) fn percent(&mut self, percent: u32) -> bool {
        self.up_to(99) < percent
    }
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0.between(low, high)
    }
    fn maybe(&mut self, percent: u32, most: u32) -> Option<u32> {
        self.percent(percent).then(|| self.up_to(most))
    }
}

/// What to draw.
#[derive(Clone, Copy)]
pub(crate) struct Family {
    pub(crate) brokers: u32,
    pub(crate) zones: u32,
    pub(crate) shards: u32,
    /// Largest replication factor.
    pub(crate) factor: u32,
    pub(crate) roles: Roles,
    /// No shard's choice costs more for what another one does: no spread, cap or limit.
    pub(crate) is_uncoupled: bool,
    /// Most shards have no leader, and half the brokers may have none.
    pub(crate) is_leaderless: bool,
    /// Shards have rates, brokers disks and capacities, the policy a balance and a bound on moves.
    pub(crate) has_loads: bool,
}

fn sources(random: &mut Random) -> Vec<TrafficSourceInput> {
    let one = |random: &mut Random| TrafficSourceInput {
        zones: (0..2)
            .filter(|_| random.percent(50))
            .map(|z| format!("z{z}"))
            .collect(),
        weight: random.between(0, 3),
    };
    (0..random.up_to(2)).map(|_| one(random)).collect()
}

fn broker(random: &mut Random, at: u32, zones: u32) -> BrokerInput {
    let state = match random.up_to(9) {
        0 | 1 => BrokerState::Draining,
        2 => BrokerState::Down,
        _ => BrokerState::Active,
    };
    BrokerInput {
        id: format!("b{at}"),
        zone: format!("z{}", random.up_to(zones - 1)),
        state,
        tags: [(
            "disk".to_owned(),
            if random.percent(85) { "ssd" } else { "hdd" }.to_owned(),
        )]
        .into(),
        share: random.maybe(30, 2),
        max_leaders: random.maybe(25, 3),
        max_replicas: random.maybe(25, 4),
        ..BrokerInput::default()
    }
}

fn shard(random: &mut Random, at: u32, streams: u32, brokers: u32, led: u32) -> ShardInput {
    let mut order: Vec<u32> = (0..brokers).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.up_to(i as u32) as usize);
    }
    let mut held = order.into_iter().map(|b| format!("b{b}"));
    let leader = if random.percent(led) {
        held.next()
    } else {
        None
    };
    let followers = random.up_to(2).min(random.up_to(brokers)) as usize;
    ShardInput {
        id: format!("shard{at}"),
        stream: format!("s{}", random.up_to(streams - 1)),
        leader: leader.unwrap_or_default(),
        followers: held.take(followers).collect(),
        size_bytes: random.between(0, 3) << 29,
        pinned: random.percent(15),
        sources: sources(random),
        follower_sources: sources(random),
        ..ShardInput::default()
    }
}

fn policy(random: &mut Random, roles: Roles) -> PolicyInput {
    let overlap = random.between(0, 3);
    let spread = |random: &mut Random| SpreadInput {
        is_off: random.percent(25),
        slack: u32::from(random.percent(20)),
    };
    let mut limits = Vec::new();
    for zone in 0..2 + random.up_to(1) {
        if random.percent(40) {
            let min = random.maybe(50, 2);
            limits.push(ZoneLimitInput {
                zone: format!("z{zone}"),
                min_leaders: min,
                max_leaders: random.maybe(40, 3).map(|m| m.max(min.unwrap_or(0))),
                max_replicas: random.maybe(40, 4).map(|m| m.max(min.unwrap_or(0))),
            });
        }
    }
    PolicyInput {
        weights: WeightsInput {
            traffic: Some(random.between(0, 3)),
            overlap: Some(overlap),
            overlap_per_gib: Some(random.between(0, 1)),
            promotion: Some(random.between(0, overlap)),
            same_rack: Some(random.between(0, 3)),
            same_rack_as_leader: Some(random.between(0, 2)),
        },
        roles,
        stream_leaders: spread(random),
        cluster_leaders: spread(random),
        stream_replicas: spread(random),
        cluster_replicas: spread(random),
        zone_limits: limits,
        min_zones: random.up_to(2),
        allow_zone_loss: random.percent(40),
        max_replicas_per_zone: random.maybe(30, 1).map(|m| m + 1),
        required_tags: if random.percent(30) {
            [("disk".to_owned(), "ssd".to_owned())].into()
        } else {
            Default::default()
        },
        ..PolicyInput::default()
    }
}

/// Few and small numbers, so that rules on them bind.
fn draw_loads(random: &mut Random, snapshot: &mut SnapshotInput, policy: &mut PolicyInput) {
    for shard in &mut snapshot.shards {
        shard.rate = random.between(0, 4);
    }
    for broker in &mut snapshot.brokers {
        broker.disk_bytes = random.percent(60).then(|| random.between(0, 5 << 30));
        broker.disk_used_bytes = random.between(0, 1 << 29);
        broker.rate_capacity = random.percent(50).then(|| random.between(0, 8));
    }
    let balances = [Dimension::Rate, Dimension::Bytes];
    policy.balance = random.percent(60).then(|| BalanceInput {
        dimension: balances[random.up_to(1) as usize],
        tolerance_percent: random.up_to(60),
    });
    policy.disk_watermark_percent = random.maybe(50, 99).map(|percent| percent + 1);
    policy.max_moves = random.maybe(30, 3);
}

fn uncouple(snapshot: &mut SnapshotInput, policy: &mut PolicyInput) {
    for broker in &mut snapshot.brokers {
        (broker.max_leaders, broker.max_replicas) = (None, None);
    }
    policy.zone_limits.clear();
    for spread in [
        &mut policy.stream_leaders,
        &mut policy.cluster_leaders,
        &mut policy.stream_replicas,
        &mut policy.cluster_replicas,
    ] {
        spread.is_off = true;
    }
}

/// A random problem of the family; every draw is valid.
pub(crate) fn problem(random: &mut Random, family: Family) -> Problem {
    let brokers = 1 + random.up_to(family.brokers - 1);
    let streams = 1 + random.up_to(1);
    let led = if family.is_leaderless { 20 } else { 75 };
    let mut all: Vec<BrokerInput> = (0..brokers)
        .map(|at| broker(random, at, family.zones))
        .collect();
    for broker in all.iter_mut().filter(|_| family.is_leaderless) {
        if random.percent(50) {
            broker.max_leaders = Some(0);
        }
    }
    let mut snapshot = SnapshotInput {
        brokers: all,
        streams: (0..streams)
            .map(|at| StreamInput {
                id: format!("s{at}"),
                replication_factor: 1 + random.up_to(family.factor - 1),
                allowed_brokers: if random.percent(20) {
                    vec!["b0".to_owned()]
                } else {
                    Vec::new()
                },
                ..StreamInput::default()
            })
            .collect(),
        shards: (0..random.up_to(family.shards))
            .map(|at| shard(random, at, streams, brokers, led))
            .collect(),
        ..SnapshotInput::default()
    };
    let mut policy = policy(random, family.roles);
    if family.is_uncoupled {
        uncouple(&mut snapshot, &mut policy);
    }
    if family.has_loads {
        draw_loads(random, &mut snapshot, &mut policy);
    }
    match validate::build(&snapshot, &policy) {
        Ok(problem) => problem,
        Err(rejection) => panic!("the generator drew an invalid input: {rejection:?}"),
    }
}

/// Every way to list distinct brokers, with and without a leader.
pub(crate) fn all_assignments(brokers: usize) -> Vec<Assignment> {
    let mut all = Vec::new();
    for set in 0..1u32 << brokers {
        let members: Vec<BrokerId> = (0..brokers)
            .filter(|b| set & (1 << b) != 0)
            .map(BrokerId::at)
            .collect();
        let leaders = members.iter().map(|&b| Some(b)).chain([None]);
        all.extend(leaders.map(|leader| {
            Assignment {
                leader,
                followers: members
                    .iter()
                    .copied()
                    .filter(|&b| leader != Some(b))
                    .collect(),
            }
        }));
    }
    all
}

/// The assignments of each shard that break no rule of its own; caps of brokers and zones aside.
pub(crate) fn legal_assignments(problem: &Problem) -> Vec<Vec<Assignment>> {
    let all = all_assignments(problem.brokers.len());
    let present: Vec<Assignment> = problem.shards.iter().map(|s| s.present.clone()).collect();
    let is_legal = |at: usize, assignment: &Assignment| {
        let mut placement = present.clone();
        placement[at] = assignment.clone();
        let faults = placement::check(problem, &placement).faults;
        faults.iter().all(|f| f.shard != Some(ShardId::at(at)))
    };
    (0..problem.shards.len())
        .map(|at| all.iter().filter(|a| is_legal(at, a)).cloned().collect())
        .collect()
}

/// Calls `visit` with every combination of one assignment per shard.
pub(crate) fn for_each_placement(
    options: &[Vec<Assignment>],
    mut visit: impl FnMut(&[Assignment]),
) {
    let mut choice = vec![0; options.len()];
    if options.iter().any(Vec::is_empty) {
        return;
    }
    let mut placement: Vec<Assignment> = options.iter().map(|o| o[0].clone()).collect();
    loop {
        visit(&placement);
        let Some(next) = (0..options.len()).find(|&at| choice[at] + 1 < options[at].len()) else {
            return;
        };
        for at in 0..next {
            choice[at] = 0;
            placement[at] = options[at][0].clone();
        }
        choice[next] += 1;
        placement[next] = options[next][choice[next]].clone();
    }
}

/// The rules that are broken, in order, without repetition.
pub(crate) fn rules(faults: &[shardflow_solver::verify::Fault]) -> Vec<Rule> {
    let mut rules: Vec<Rule> = faults.iter().map(|f| f.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}
