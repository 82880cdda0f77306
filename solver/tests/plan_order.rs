//! The order of moves: properties over random problems and legal targets, and capacity cycles and chains by hand.

mod plan_common;

use std::collections::BTreeSet;

use plan_common::{
    Balance, Cluster, Live, assignment, breaches, brief, check, counted, is_legal, layouts,
};
use shardflow_solver::input::{ShardInput, StreamInput, ZoneLimitInput};
use shardflow_solver::plan::{self, Move, MoveKind, MoveReason, Plan};
use shardflow_solver::snapshot::{
    Assignment, BrokerId, BrokerState, Counts, Problem, Roles, ShardId,
};
use shardflow_solver::verify;

use BrokerState::{Active, Down, Draining};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// A random cluster: caps near what is there, all states, every way in which a layout can be incomplete.
fn random_cluster(random: &mut Random) -> Cluster {
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
fn random_target(random: &mut Random, problem: &Problem) -> Vec<Assignment> {
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

fn of_shards(step: &[Move]) -> Vec<Vec<Move>> {
    step.chunk_by(|a, b| a.shard == b.shard)
        .map(<[Move]>::to_vec)
        .collect()
}

/// No shard in a step of several could have gone before the others by itself, or been left out.
fn check_groups(problem: &Problem, plan: &Plan, steps: &[Vec<Move>]) -> usize {
    let mut layout: Vec<Live> = problem
        .shards
        .iter()
        .map(|s| Live::of(problem, &s.present))
        .collect();
    let goal: Vec<Live> = (plan.placement.iter())
        .map(|a| Live::of(problem, a))
        .collect();
    let goal_counts = counted(problem, &goal);
    let mut balance = Balance::new(problem, &layouts(problem, steps));
    let mut groups = 0;
    for step in steps {
        let items = of_shards(step);
        let before = counted(problem, &layout);
        let mut after = layout.clone();
        step.iter()
            .for_each(|m| after[m.shard.index()].apply(problem, m));
        let end = counted(problem, &after);
        groups += usize::from(items.len() > 1);
        for item in items.iter().filter(|_| items.len() > 1) {
            let mut alone = layout.clone();
            item.iter()
                .for_each(|m| alone[m.shard.index()].apply(problem, m));
            let between = counted(problem, &alone);
            assert!(
                !(is_legal(&before, &between)
                    && is_legal(&between, &end)
                    && balance.allows(problem, &layout, &alone)
                    && balance
                        .passed(problem, &layout, &alone)
                        .allows(problem, &alone, &after)),
                "{item:?} needn't wait for {step:?}"
            );
        }
        for left_out in items.iter().filter(|_| items.len() > 1 && items.len() < 64) {
            let mut without = layout.clone();
            for m in step.iter().filter(|m| m.shard != left_out[0].shard) {
                without[m.shard.index()].apply(problem, m);
            }
            let counts = counted(problem, &without);
            let is_spare = is_legal(&before, &counts)
                && leaves_way(&counts, &goal_counts)
                && balance.allows(problem, &layout, &without)
                && balance.leaves_way(problem, &layout, &without, &goal);
            assert!(!is_spare, "{left_out:?} isn't needed in {step:?}");
        }
        balance = balance.passed(problem, &layout, &after);
        layout = after;
    }
    groups
}

/// Whether what is still to arrive can: nothing above its cap falls below what it ends with.
fn leaves_way(now: &[(i64, Option<u32>)], goal: &[(i64, Option<u32>)]) -> bool {
    now.iter()
        .zip(goal)
        .all(|(n, g)| n.0 >= g.0 || g.1.is_none_or(|cap| g.0 <= i64::from(cap)))
}

/// A failover to a broker that held none is promoted first, unless no holder has room.
fn check_failovers(problem: &Problem, plan: &Plan) {
    let start: Vec<Live> = problem
        .shards
        .iter()
        .map(|s| Live::of(problem, &s.present))
        .collect();
    let before = counted(problem, &start);
    for (i, goal) in plan.placement.iter().enumerate() {
        let Some(leader) = goal.leader else { continue };
        let has_failed = start[i].leader.is_none() && !start[i].followers.is_empty();
        if !has_failed || start[i].followers.contains(&leader) {
            continue;
        }
        let mine: Vec<&Move> = plan
            .moves
            .iter()
            .filter(|m| m.shard == ShardId::at(i))
            .collect();
        let goes_straight = mine[0].kind != MoveKind::Promotion;
        let could_wait = start[i].followers.iter().any(|&b| {
            let mut layout = start.clone();
            layout[i].followers.remove(&b);
            layout[i].leader = Some(b);
            is_legal(&before, &counted(problem, &layout))
        });
        let is_first = mine[0].step < mine[mine.len() - 1].step;
        assert!(goes_straight || is_first);
        let others_failed = start
            .iter()
            .filter(|live| live.leader.is_none() && !live.followers.is_empty())
            .count();
        assert!(!goes_straight || !could_wait || others_failed > 1);
    }
}

#[test]
fn plans_of_random_targets_hold_what_they_promise() {
    let (mut several, mut moves) = (0, 0);
    for seed in 0..6000 {
        let mut random = Random(seed);
        let cluster = random_cluster(&mut random);
        let problem = cluster.problem();
        let target = random_target(&mut random, &problem);
        let plan = plan::make(&problem, target.clone());
        assert_eq!(plan, plan::make(&problem, target), "seed {seed}");
        let steps = check(&problem, &plan);
        let faults = verify::moves::check(&problem, &plan);
        assert!(faults.is_empty(), "seed {seed}: {faults:?}");
        several += check_groups(&problem, &plan, &steps);
        check_failovers(&problem, &plan);
        moves += plan.moves.len();
    }
    assert!(
        several > 1500 && moves > 20_000,
        "{several} groups, {moves} moves"
    );
}

/// The same with brokers that drain or are closed to some streams under most replicas, and rules of zones.
fn unwanted_cluster(random: &mut Random) -> Cluster {
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

#[test]
fn no_step_adds_a_breach_that_the_plan_does_not_need() {
    let (mut balanced, mut several) = (0, 0);
    for seed in 0..12_000 {
        let mut random = Random(1_000_000 + seed);
        let problem = unwanted_cluster(&mut random).problem();
        let target = random_target(&mut random, &problem);
        let plan = plan::make(&problem, target);
        let faults = verify::moves::check(&problem, &plan);
        assert!(faults.is_empty(), "seed {seed}: {faults:?}");
        let steps = check(&problem, &plan);
        several += check_groups(&problem, &plan, &steps);
        let layouts = layouts(&problem, &steps);
        let unwanted = layouts
            .first()
            .is_some_and(|l| breaches(&problem, l) > 0 && steps.len() > 1);
        let is_even = Balance::new(&problem, &layouts).is_even();
        balanced += usize::from(is_even && unwanted);
    }
    assert!(
        balanced > 4_000 && several > 1_000,
        "{balanced} plans add no breach, {several} groups"
    );
}

#[test]
fn a_promotion_onto_a_closed_broker_goes_with_the_one_that_pays_for_it() {
    let mut cluster = Cluster::new(2)
        .active("a", "x")
        .broker("b", "y", Active, 1, 0)
        .shard("p", "b", &["a"])
        .shard("q", "a", &["b"]);
    cluster.snapshot.streams[0].allowed_brokers = vec!["b".into()];
    cluster.policy.roles = Roles::LeadershipOnly;
    let problem = cluster.problem();
    let plan = cluster.plan(&[("a", &["b"]), ("b", &["a"])]);
    check(&problem, &plan);
    let found: Vec<String> = plan.moves.iter().map(|m| brief(&problem, m)).collect();
    assert_eq!(
        found,
        [
            "1 p Promotion Leader b>a Rule",
            "1 q Promotion Leader a>b Rule"
        ]
    );
}

#[test]
fn room_for_a_new_shard_is_made_together_with_what_pays_for_it() {
    let cluster = Cluster::new(2)
        .broker("a", "x", Draining, 0, 0)
        .broker("b", "y", Active, 2, 0)
        .shard("p", "", &[])
        .shard("q", "b", &["a"])
        .shard("r", "b", &["a"])
        .shard("s", "a", &["b"]);
    let problem = cluster.problem();
    let plan = cluster.plan(&[("", &[]), ("a", &["b"]), ("b", &["a"]), ("b", &["a"])]);
    check(&problem, &plan);
    assert!(
        plan.moves.len() == 2 && plan.moves.iter().all(|m| m.step == 1),
        "{:?}",
        plan.moves
    );
}

#[test]
fn a_plan_does_not_depend_on_the_order_of_the_input() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let cluster = random_cluster(&mut random);
        let problem = cluster.problem();
        let target = random_target(&mut random, &problem);
        let mut other = cluster.clone();
        random.shuffle(&mut other.snapshot.brokers);
        random.shuffle(&mut other.snapshot.shards);
        random.shuffle(&mut other.snapshot.streams);
        let plan = plan::make(&problem, target.clone());
        assert_eq!(plan, plan::make(&other.problem(), target), "seed {seed}");
    }
}

#[test]
fn a_target_above_a_cap_in_force_still_gets_an_order() {
    let cluster = Cluster::new(1)
        .broker("a", "x", Active, 1, 0)
        .broker("b", "y", Active, 1, 0)
        .shard("p", "a", &[])
        .shard("q", "b", &[]);
    let plan = cluster.plan(&[("a", &[]), ("a", &[])]);
    assert_eq!(plan.moves.len(), 1);
}

/// `n` brokers with one leader each and no room.
fn full_ring(n: usize) -> Cluster {
    (0..n).fold(Cluster::new(1), |cluster, b| {
        let id = format!("b{b:03}");
        cluster
            .broker(&id, &format!("z{b:03}"), Active, 1, 1)
            .shard(&format!("p{b:03}"), &id, &[])
    })
}

#[test]
fn a_cycle_of_full_brokers_is_one_step() {
    for n in [2, 3, 7, 100] {
        let cluster = full_ring(n);
        let problem = cluster.problem();
        let target = (0..n)
            .map(|b| assignment(&problem, &format!("b{:03}", (b + 1) % n), &[]))
            .collect();
        let plan = plan::make(&problem, target);
        check(&problem, &plan);
        assert_eq!(plan.moves.len(), n);
        assert!(plan.moves.iter().all(|m| m.step == 1));
    }
}

#[test]
fn separate_cycles_are_separate_steps() {
    let cluster = full_ring(6);
    let problem = cluster.problem();
    let to = [1, 2, 0, 4, 3, 5].map(|b| assignment(&problem, &format!("b00{b}"), &[]));
    let plan = plan::make(&problem, to.to_vec());
    check(&problem, &plan);
    let steps: Vec<(u32, u32)> = plan.moves.iter().map(|m| (m.step, m.shard.0)).collect();
    assert_eq!(steps, [(1, 0), (1, 1), (1, 2), (2, 3), (2, 4)]);
}

#[test]
fn a_chain_into_free_room_goes_from_its_end() {
    let cluster = full_ring(5).broker("free", "z", Active, 1, 1);
    let problem = cluster.problem();
    let target = ["b001", "b002", "b003", "b004", "free"].map(|b| assignment(&problem, b, &[]));
    let plan = plan::make(&problem, target.to_vec());
    check(&problem, &plan);
    let steps: Vec<(u32, u32)> = plan.moves.iter().map(|m| (m.step, m.shard.0)).collect();
    assert_eq!(steps, [(1, 4), (2, 3), (3, 2), (4, 1), (5, 0)]);
}

#[test]
fn what_makes_room_takes_the_reason_it_serves() {
    let cluster = Cluster::new(1)
        .broker("a", "x", Draining, 0, 0)
        .broker("b", "x", Active, 1, 1)
        .broker("c", "x", Active, 1, 1)
        .broker("d", "x", Active, 0, 0)
        .shard("p", "a", &[])
        .shard("q", "b", &[])
        .shard("r", "c", &[]);
    let problem = cluster.problem();
    let plan = cluster.plan(&[("b", &[]), ("c", &[]), ("d", &[])]);
    check(&problem, &plan);
    let found: Vec<String> = plan.moves.iter().map(|m| brief(&problem, m)).collect();
    assert_eq!(
        found,
        [
            "1 r Copy Leader c>d Drain",
            "2 q Copy Leader b>c Drain",
            "3 p Copy Leader a>b Drain"
        ]
    );
}

#[test]
fn a_broker_that_stays_above_its_cap_exchanges_in_one_step() {
    let cluster = Cluster::new(1)
        .broker("a", "x", Active, 1, 0)
        .broker("b", "x", Active, 0, 0)
        .shard("p", "a", &[])
        .shard("q", "a", &[])
        .shard("r", "b", &[]);
    let problem = cluster.problem();
    let plan = cluster.plan(&[("b", &[]), ("a", &[]), ("a", &[])]);
    check(&problem, &plan);
    assert!(plan.moves.len() == 2 && plan.moves.iter().all(|m| m.step == 1));
    assert!(plan.moves.iter().all(|m| m.reason == MoveReason::Cost));
}
