//! Random clusters and legal targets.

use std::collections::BTreeSet;

use shardflow_solver::input::{ShardInput, StreamInput, ZoneLimitInput};
use shardflow_solver::snapshot::{Assignment, BrokerId, BrokerState, Counts, Problem, Roles};
use shardflow_solver::verify;

use super::{Cluster, Live};

use BrokerState::{Active, Down, Draining};

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// A random cluster: caps near what is there, all states, every way in which a layout can be incomplete.
pub(crate) fn random_cluster(random: &mut Random) -> Cluster {
    let brokers = 2 + random.below(6);
    let zones = 1 + random.below(3);
    let mut cluster = Cluster::default();
    for b in 0..brokers {
        let state = match random.below(10) {
            0 => Down,
            1 | 2 => Draining,
            _ => Active,
        };
        let zone = format!("z{}", random.below(zones));
        cluster = cluster.broker(&format!("b{b}"), &zone, state, 0, 0);
    }
    for s in 0..1 + random.below(3) {
        cluster.snapshot.streams.push(StreamInput {
            id: format!("s{s}"),
            replication_factor: 1 + random.below(3) as u32,
            ..Default::default()
        });
    }
    for i in 0..1 + random.below(14) {
        let stream = random.below(cluster.snapshot.streams.len());
        let factor = cluster.snapshot.streams[stream].replication_factor as usize;
        let mut ids: Vec<String> = (0..brokers).map(|b| format!("b{b}")).collect();
        random.shuffle(&mut ids);
        let replicas = match random.below(8) {
            0 => random.below(factor + 1),
            1 => factor + 1,
            _ => factor,
        };
        ids.truncate(replicas.min(brokers));
        let leader = if ids.is_empty() || random.chance(8) {
            String::new()
        } else {
            ids.remove(0)
        };
        cluster.snapshot.shards.push(ShardInput {
            id: format!("p{i:02}"),
            stream: format!("s{stream}"),
            leader,
            followers: ids,
            size_bytes: 1 + i as i64,
            ..Default::default()
        });
    }
    random_caps(random, &mut cluster);
    cluster
}

fn random_caps(random: &mut Random, cluster: &mut Cluster) {
    let present = cluster.problem().limits.present;
    let near = |random: &mut Random, count: i64| (count - 1).max(0) as u32 + random.below(3) as u32;
    for b in 0..cluster.snapshot.brokers.len() {
        if random.chance(60) {
            cluster.snapshot.brokers[b].max_leaders = Some(near(random, present.leaders[b]));
        }
        if random.chance(60) {
            cluster.snapshot.brokers[b].max_replicas = Some(near(random, present.replicas[b]));
        }
    }
    for (z, zone) in cluster.problem().zones.iter().enumerate() {
        if random.chance(30) {
            cluster.policy.zone_limits.push(ZoneLimitInput {
                zone: zone.name.clone(),
                min_leaders: Some(0),
                max_leaders: random
                    .chance(60)
                    .then(|| near(random, present.zone_leaders[z])),
                max_replicas: random
                    .chance(60)
                    .then(|| near(random, present.zone_replicas[z])),
            });
        }
    }
    if random.chance(20) {
        cluster.policy.min_zones = 2;
    }
}

/// A random legal target: from the present layout without its surplus, steps that caps in force allow, among them
/// exchanges between shards, which full brokers allow too.
pub(crate) fn random_target(random: &mut Random, problem: &Problem) -> Vec<Assignment> {
    let mut target: Vec<Assignment> = problem
        .shards
        .iter()
        .map(|shard| {
            let live = Live::of(problem, &shard.present).assignment();
            let room = problem.replication_factor(shard.stream) as usize;
            let followers = room.saturating_sub(usize::from(live.leader.is_some()));
            Assignment {
                leader: live.leader,
                followers: live.followers.into_iter().take(followers).collect(),
            }
        })
        .collect();
    let mut counts = Counts::zero(problem.brokers.len(), problem.zones.len());
    for assignment in &target {
        counts.add(&problem.brokers, assignment, 1);
    }
    for _ in 0..8 * target.len() {
        let mut changed: Vec<(usize, Assignment)> = Vec::new();
        let (i, j) = (random.below(target.len()), random.below(target.len()));
        let (b, c) = (
            BrokerId::at(random.below(problem.brokers.len())),
            BrokerId::at(random.below(problem.brokers.len())),
        );
        if random.chance(50) && i != j {
            changed.push((i, exchanged(&target[i], b, c)));
            changed.push((j, exchanged(&target[j], c, b)));
        } else {
            changed.push((i, altered(random, problem, i, &target[i], b, c)));
        }
        if !changed.iter().all(|(i, a)| is_admissible(problem, *i, a)) {
            continue;
        }
        let mut after = counts.clone();
        for (i, assignment) in &changed {
            after.add(&problem.brokers, &target[*i], -1);
            after.add(&problem.brokers, assignment, 1);
        }
        if fits(&after, &problem.limits.in_force) {
            counts = after;
            for (i, assignment) in changed {
                target[i] = assignment;
            }
        }
    }
    target
}

fn exchanged(of: &Assignment, from: BrokerId, to: BrokerId) -> Assignment {
    let swap = |b: BrokerId| if b == from { to } else { b };
    let mut followers: Vec<BrokerId> = of.followers.iter().map(|&b| swap(b)).collect();
    followers.sort_unstable();
    Assignment {
        leader: of.leader.map(swap),
        followers,
    }
}

/// A replica moved, the lead handed over, or what is missing placed.
fn altered(
    random: &mut Random,
    problem: &Problem,
    i: usize,
    of: &Assignment,
    b: BrokerId,
    c: BrokerId,
) -> Assignment {
    let factor = problem.replication_factor(problem.shards[i].stream) as usize;
    let mut followers = of.followers.clone();
    let mut leader = of.leader;
    match random.below(3) {
        0 => return exchanged(of, b, c),
        1 if followers.contains(&b) => {
            followers.retain(|&f| f != b);
            followers.extend(leader.replace(b));
        }
        _ if leader.is_none() && followers.len() < factor => leader = Some(b),
        _ if followers.len() + 1 < factor => followers.push(b),
        _ => {}
    }
    followers.sort_unstable();
    Assignment { leader, followers }
}

fn is_admissible(problem: &Problem, i: usize, assignment: &Assignment) -> bool {
    let shard = &problem.shards[i];
    let replicas: BTreeSet<BrokerId> = assignment.replicas().collect();
    replicas.len() == assignment.replicas().count()
        && replicas.iter().all(|&b| {
            let is_held = shard.present.holds(b) && problem.is_live(b);
            is_held || problem.may_enter(shard.stream, b)
        })
}

fn fits(counts: &Counts, caps: &Counts) -> bool {
    let within = |a: &[i64], b: &[i64]| a.iter().zip(b).all(|(count, cap)| count <= cap);
    within(&counts.leaders, &caps.leaders)
        && within(&counts.replicas, &caps.replicas)
        && within(&counts.zone_leaders, &caps.zone_leaders)
        && within(&counts.zone_replicas, &caps.zone_replicas)
}

/// The same with brokers that drain or are closed to some streams under most replicas, and rules of zones.
pub(crate) fn unwanted_cluster(random: &mut Random) -> Cluster {
    let mut cluster = random_cluster(random);
    let ids: Vec<String> = (cluster.snapshot.brokers.iter())
        .map(|b| b.id.clone())
        .collect();
    for broker in &mut cluster.snapshot.brokers {
        if random.chance(30) && broker.state == Active {
            broker.state = Draining;
        }
        if random.chance(40) {
            broker.max_leaders = None;
            broker.max_replicas = None;
        }
    }
    for stream in &mut cluster.snapshot.streams {
        if random.chance(40) {
            let open = ids.iter().filter(|_| random.chance(60));
            stream.allowed_brokers = open.cloned().collect();
        }
    }
    if random.chance(40) {
        cluster.policy.max_replicas_per_zone = Some(1);
    }
    if random.chance(25) {
        cluster.policy.roles = Roles::LeadershipOnly;
    }
    cluster
}

/// The same with factors up to 4, and rules of zones.
pub(crate) fn whole_cluster(random: &mut Random) -> Cluster {
    let mut cluster = match random.below(2) {
        0 => random_cluster(random),
        _ => unwanted_cluster(random),
    };
    for stream in &mut cluster.snapshot.streams {
        stream.replication_factor = 1 + random.below(4) as u32;
    }
    cluster
}

/// The same with sizes, rates, disks near what is on them, and capacities near what is led.
pub(crate) fn loaded_cluster(random: &mut Random) -> Cluster {
    let mut cluster = whole_cluster(random);
    cluster.policy.disk_watermark_percent = Some(100);
    if random.chance(50) {
        for broker in &mut cluster.snapshot.brokers {
            (broker.max_leaders, broker.max_replicas) = (None, None);
        }
        cluster.policy.zone_limits.clear();
    }
    for shard in &mut cluster.snapshot.shards {
        shard.size_bytes = 1 + random.below(9) as i64;
        shard.rate = random.below(6) as i64;
    }
    let present = cluster.problem().limits.present_loads;
    let near = |random: &mut Random, load: i64| match random.below(8) {
        0 => (load - 1).max(1),
        _ => load.max(1) + random.below(6) as i64,
    };
    for (b, broker) in cluster.snapshot.brokers.iter_mut().enumerate() {
        if random.chance(85) {
            broker.disk_bytes = Some(near(random, present.bytes[b]));
            broker.disk_used_bytes = random.below(2) as i64;
        }
        if random.chance(30) {
            broker.rate_capacity = Some(near(random, present.rates[b]));
        }
    }
    cluster
}

/// A random target that the verifier of placements finds legal.
pub(crate) fn legal_target(random: &mut Random, problem: &Problem) -> Vec<Assignment> {
    let mut live: Vec<Assignment> = (problem.shards.iter())
        .map(|shard| Live::of(problem, &shard.present).assignment())
        .collect();
    for (assignment, shard) in live.iter_mut().zip(&problem.shards) {
        if problem.policy.roles == Roles::LeadersAndFollowers && !shard.is_pinned {
            let room = problem.replication_factor(shard.stream) as usize;
            let room = room.saturating_sub(usize::from(assignment.leader.is_some()));
            assignment.followers.truncate(room);
        }
    }
    let mut target = listed(problem, &live);
    for _ in 0..12 * live.len() {
        let (i, j) = (random.below(live.len()), random.below(live.len()));
        let held = |random: &mut Random, at: usize| {
            let held: Vec<BrokerId> = live[at].replicas().collect();
            let any = BrokerId::at(random.below(problem.brokers.len()));
            held.get(random.below(held.len() + 1))
                .copied()
                .unwrap_or(any)
        };
        let (b, c) = (held(random, i), held(random, j));
        let mut next = live.clone();
        if random.chance(50) && i != j {
            next[i] = exchanged(&live[i], b, c);
            next[j] = exchanged(&live[j], c, b);
        } else {
            next[i] = altered(random, problem, i, &live[i], b, c);
        }
        let whole = listed(problem, &next);
        if verify::placement::check(problem, &whole).faults.is_empty() {
            (live, target) = (next, whole);
        }
    }
    target
}

/// With the replicas on `DOWN` brokers that stay listed.
fn listed(problem: &Problem, live: &[Assignment]) -> Vec<Assignment> {
    let whole = live.iter().zip(&problem.shards).map(|(live, shard)| {
        let is_down = |b: &BrokerId| !problem.is_live(*b);
        let mut lost: Vec<BrokerId> = shard.present.replicas().filter(is_down).collect();
        lost.sort_unstable();
        let factor = problem.replication_factor(shard.stream) as usize;
        let room = match problem.policy.roles {
            Roles::LeadershipOnly => lost.len(),
            Roles::LeadersAndFollowers => factor.saturating_sub(live.replicas().count()),
        };
        let mut whole = live.clone();
        whole.followers.extend(lost.into_iter().take(room));
        whole.followers.sort_unstable();
        whole
    });
    whole.collect()
}
