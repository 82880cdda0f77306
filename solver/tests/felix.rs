//! The greedy tiers: the scenarios that the rule was made for, and properties over random clusters.

use std::collections::BTreeMap;

use proptest as _;
use shardflow_solver::budget::{Budget, Stop, never};
use shardflow_solver::cost::{Rank, evaluate};
use shardflow_solver::greedy::{felix, rendezvous};
use shardflow_solver::input::{
    BrokerInput, InFlightInput, PolicyInput, ShardInput, SnapshotInput, SpreadInput, StreamInput,
    TrafficSourceInput, WeightsInput, ZoneLimitInput,
};
use shardflow_solver::snapshot::{
    Assignment, BrokerId, BrokerState, Counts, Limits, Problem, Role, Roles, StreamId,
};
use shardflow_solver::validate::build;
use {good_lp as _, highs_sys as _, thiserror as _, xxhash_rust as _};

// ---------------------------------------------------------------------------------------------- building

fn broker(id: &str, zone: &str) -> BrokerInput {
    BrokerInput {
        id: id.into(),
        zone: zone.into(),
        ..BrokerInput::default()
    }
}

fn brokers(count: usize) -> Vec<BrokerInput> {
    (0..count)
        .map(|b| broker(&format!("b{b}"), &format!("z{b}")))
        .collect()
}

fn stream(id: &str, replication_factor: u32) -> StreamInput {
    StreamInput {
        id: id.into(),
        replication_factor,
        ..StreamInput::default()
    }
}

fn shard(stream: &str, number: usize, leader: &str, followers: &[&str]) -> ShardInput {
    ShardInput {
        id: format!("{stream}/{number}"),
        stream: stream.into(),
        number: Some(number as u32),
        leader: leader.into(),
        followers: followers.iter().map(|f| f.to_string()).collect(),
        ..ShardInput::default()
    }
}

/// Shards of one stream without followers: `led[b]` of them on broker `b<b>`, then `new` unassigned ones.
fn led(snapshot: &mut SnapshotInput, id: &str, led: &[usize], new: usize) {
    snapshot.streams.push(stream(id, 1));
    let mut number = 0;
    for (b, &count) in led.iter().enumerate() {
        for _ in 0..count {
            let leader = format!("b{b}");
            snapshot.shards.push(shard(id, number, &leader, &[]));
            number += 1;
        }
    }
    for _ in 0..new {
        snapshot.shards.push(shard(id, number, "", &[]));
        number += 1;
    }
}

fn cluster(count: usize) -> SnapshotInput {
    SnapshotInput {
        brokers: brokers(count),
        ..SnapshotInput::default()
    }
}

fn problem_of(snapshot: &SnapshotInput, policy: &PolicyInput) -> Problem {
    build(snapshot, policy).expect("the test's own input is valid")
}

fn plan(problem: &Problem) -> Vec<Assignment> {
    let plan = felix::plan(problem, &mut Budget::new(None, &never)).expect("nothing interrupts");
    check(problem, &plan);
    plan
}

fn solve(snapshot: &SnapshotInput) -> (Problem, Vec<Assignment>) {
    let problem = problem_of(snapshot, &PolicyInput::default());
    let plan = plan(&problem);
    (problem, plan)
}

/// The snapshot with the plan applied and no move under way; shards that were in flight stay pinned.
fn applied(snapshot: &SnapshotInput, problem: &Problem, plan: &[Assignment]) -> SnapshotInput {
    let mut next = snapshot.clone();
    let at: BTreeMap<&str, usize> = problem
        .shards
        .iter()
        .enumerate()
        .map(|(i, s)| (s.id.as_str(), i))
        .collect();
    let name = |b: BrokerId| problem.broker(b).id.clone();
    for shard in &mut next.shards {
        let i = at[shard.id.as_str()];
        shard.leader = plan[i].leader.map(name).unwrap_or_default();
        shard.followers = plan[i].followers.iter().copied().map(name).collect();
        shard.pinned = problem.shards[i].is_pinned;
    }
    next.in_flight.clear();
    next
}

// ---------------------------------------------------------------------------------------------- measuring

/// Leaders of a stream by broker.
fn leaders(problem: &Problem, plan: &[Assignment], id: &str) -> Vec<i64> {
    let mut counts = vec![0; problem.brokers.len()];
    for (i, shard) in problem.shards.iter().enumerate() {
        if problem.stream(shard.stream).id == id
            && let Some(b) = plan[i].leader
        {
            counts[b.index()] += 1;
        }
    }
    counts
}

fn totals(problem: &Problem, plan: &[Assignment]) -> Vec<i64> {
    let mut counts = Counts::zero(problem.brokers.len(), problem.zones.len());
    plan.iter().for_each(|a| counts.add(&problem.brokers, a, 1));
    counts.leaders
}

fn range(counts: &[i64]) -> i64 {
    counts.iter().max().unwrap_or(&0) - counts.iter().min().unwrap_or(&0)
}

fn moved(problem: &Problem, plan: &[Assignment]) -> usize {
    let shards = problem.shards.iter().zip(plan);
    shards.filter(|(s, a)| s.present != **a).count()
}

fn assert_level(problem: &Problem, plan: &[Assignment]) {
    for s in &problem.streams {
        let counts = leaders(problem, plan, &s.id);
        assert!(range(&counts) <= 1, "stream {}: {counts:?}", s.id);
    }
    let counts = totals(problem, plan);
    assert!(range(&counts) <= 1, "totals: {counts:?}");
}

// ---------------------------------------------------------------------------------------------- checking

/// The hard rules and the shape of a plan, straight from their definition.
fn check(problem: &Problem, plan: &[Assignment]) {
    assert_eq!(plan.len(), problem.shards.len());
    for (i, a) in plan.iter().enumerate() {
        check_shard(problem, i, a);
    }
    check_caps(problem, plan);
}

fn check_shard(problem: &Problem, i: usize, a: &Assignment) {
    let shard = &problem.shards[i];
    let id = &shard.id;
    let factor = problem.replication_factor(shard.stream) as usize;
    let now: Vec<BrokerId> = problem.live(&shard.present).collect();
    let live: Vec<BrokerId> = problem.live(a).collect();
    let mut all: Vec<BrokerId> = a.replicas().collect();
    all.sort_unstable();
    let listed = all.len();
    all.dedup();
    assert_eq!(all.len(), listed, "{id}: distinct brokers");
    assert!(
        a.followers.windows(2).all(|w| w[0] < w[1]),
        "{id}: canonical"
    );
    assert!(
        a.leader.is_none_or(|b| problem.is_live(b)),
        "{id}: led by a DOWN broker"
    );
    assert!(a.leader.is_some() || problem.live_leader(shard).is_none());
    if shard.is_pinned {
        assert_eq!(*a, shard.present, "{id}: pinned");
        return;
    }
    if problem.policy.roles == Roles::LeadershipOnly {
        let mut present: Vec<BrokerId> = shard.present.replicas().collect();
        present.sort_unstable();
        assert_eq!(all, present, "{id}: leadership only");
        return;
    }
    assert!(live.len() <= factor, "{id}: no surplus");
    assert!(live.len() >= now.len().min(factor), "{id}: data given up");
    assert!(
        listed <= factor || listed == live.len(),
        "{id}: up to the factor"
    );
    let mut dead: Vec<BrokerId> = shard
        .present
        .replicas()
        .filter(|&b| !problem.is_live(b))
        .collect();
    dead.sort_unstable();
    dead.truncate(factor - live.len());
    let listed_dead: Vec<BrokerId> = all
        .iter()
        .copied()
        .filter(|&b| !problem.is_live(b))
        .collect();
    assert_eq!(listed_dead, dead, "{id}: DOWN replicas");
    for &b in live.iter().filter(|b| !now.contains(b)) {
        assert!(problem.is_active(b), "{id}: entered {b:?}");
        assert!(
            problem.stream(shard.stream).open[b.index()],
            "{id}: closed {b:?}"
        );
    }
    if let Some(limit) = problem.policy.max_replicas_per_zone {
        for z in 0..problem.zones.len() {
            let there = |set: &[BrokerId]| {
                set.iter()
                    .filter(|&&b| problem.zone_of(b).index() == z)
                    .count()
            };
            assert!(
                there(&live) <= there(&now).max(limit as usize),
                "{id}: zone rule"
            );
        }
    }
}

fn check_caps(problem: &Problem, plan: &[Assignment]) {
    let count = |layout: &mut dyn Iterator<Item = &Assignment>| {
        let mut counts = Counts::zero(problem.brokers.len(), problem.zones.len());
        layout.for_each(|a| counts.add(&problem.brokers, a, 1));
        counts
    };
    let before = count(&mut problem.shards.iter().map(|s| &s.present));
    let after = count(&mut plan.iter());
    let fits = |cap: Option<u32>, before: i64, after: i64| {
        after <= cap.map_or(Limits::NONE, |cap| i64::from(cap).max(before))
    };
    for (b, broker) in problem.brokers.iter().enumerate() {
        assert!(fits(
            broker.max_leaders,
            before.leaders[b],
            after.leaders[b]
        ));
        assert!(fits(
            broker.max_replicas,
            before.replicas[b],
            after.replicas[b]
        ));
    }
    for (z, zone) in problem.zones.iter().enumerate() {
        assert!(fits(
            zone.max_leaders,
            before.zone_leaders[z],
            after.zone_leaders[z]
        ));
        assert!(fits(
            zone.max_replicas,
            before.zone_replicas[z],
            after.zone_replicas[z]
        ));
    }
}

// ---------------------------------------------------------------------------------------------- scenarios

fn benchmark() -> SnapshotInput {
    let mut snapshot = cluster(3);
    led(&mut snapshot, "q", &[1, 1, 10], 0);
    led(&mut snapshot, "a", &[8, 7, 1], 0);
    led(&mut snapshot, "b", &[6, 7, 4], 0);
    led(&mut snapshot, "c", &[6, 6, 4], 0);
    snapshot
}

#[test]
fn even_totals_hide_a_lopsided_stream() {
    let (problem, plan) = solve(&benchmark());
    let present: Vec<Assignment> = problem.shards.iter().map(|s| s.present.clone()).collect();
    assert_eq!(totals(&problem, &present), [21, 21, 19]);
    assert_eq!(leaders(&problem, &plan, "q"), [4, 4, 4]);
    assert_level(&problem, &plan);
    assert_eq!(moved(&problem, &plan), 13, "the optimum");
}

#[test]
fn five_streams_skewed_differently_become_level() {
    let mut snapshot = cluster(3);
    led(&mut snapshot, "a", &[9, 0, 0], 0);
    led(&mut snapshot, "b", &[0, 7, 1], 0);
    led(&mut snapshot, "c", &[2, 2, 8], 0);
    led(&mut snapshot, "d", &[5, 0, 5], 0);
    led(&mut snapshot, "e", &[1, 10, 3], 0);
    let (problem, plan) = solve(&snapshot);
    assert_level(&problem, &plan);
}

#[test]
fn a_new_stream_lands_level_beside_full_brokers_and_stays() {
    let mut snapshot = cluster(3);
    led(&mut snapshot, "old", &[6, 6, 0], 0);
    led(&mut snapshot, "new", &[], 12);
    for shard in snapshot.shards.iter_mut().filter(|s| s.stream == "old") {
        shard.pinned = true;
    }
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "new"), [4, 4, 4]);
    let mut next = applied(&snapshot, &problem, &result);
    next.shards.iter_mut().for_each(|s| s.pinned = false);
    let again = problem_of(&next, &PolicyInput::default());
    let replanned = plan(&again);
    assert_eq!(leaders(&again, &replanned, "new"), [4, 4, 4]);
    let stays = |(s, a): (&shardflow_solver::snapshot::Shard, &Assignment)| {
        again.stream(s.stream).id != "new" || s.present == *a
    };
    assert!(again.shards.iter().zip(&replanned).all(stays));
}

/// Spreads off: nothing is rebalanced, so what is seen is where the tiers put a shard.
fn placed(snapshot: &SnapshotInput, id: &str) -> Vec<i64> {
    let off = SpreadInput {
        is_off: true,
        slack: 0,
    };
    let policy = PolicyInput {
        stream_leaders: off,
        cluster_leaders: off,
        ..PolicyInput::default()
    };
    let problem = problem_of(snapshot, &policy);
    leaders(&problem, &plan(&problem), id)
}

#[test]
fn placement_follows_the_tiers() {
    // b2 alone is under the cluster share throughout.
    let mut old = cluster(3);
    led(&mut old, "old", &[9, 9, 0], 0);
    let with = |on: &[usize], new: usize| {
        let mut snapshot = old.clone();
        led(&mut snapshot, "s", on, new);
        placed(&snapshot, "s")
    };
    assert_eq!(
        with(&[], 12),
        [4, 4, 4],
        "a fresh stream, level whatever the totals"
    );
    assert_eq!(with(&[0, 1, 1], 1), [1, 1, 1], "the floor before the share");
    assert_eq!(
        with(&[1, 1, 1], 1),
        [1, 1, 2],
        "under the ceiling, the share decides"
    );
    assert_eq!(
        with(&[1, 1, 2], 1).iter().max(),
        Some(&2),
        "the ceiling before the share"
    );
    assert_eq!(
        with(&[0, 4, 4], 1),
        [1, 4, 4],
        "under the floor, above the share"
    );
    // Scores differ by shard; the tiers come before them every time.
    for n in 0..20 {
        let id = format!("t{n}");
        let mut snapshot = old.clone();
        led(&mut snapshot, &id, &[1, 1, 1], 1);
        assert_eq!(placed(&snapshot, &id), [1, 1, 2], "{id}");
        let mut fresh = old.clone();
        led(&mut fresh, &id, &[], 3);
        fresh.brokers[2].max_leaders = Some(1);
        fresh.streams[1].allowed_brokers = vec!["b0".into(), "b2".into()];
        let problem = problem_of(&fresh, &PolicyInput::default());
        let first = problem.shards.iter().position(|s| s.stream.0 == 1);
        let at = first.expect("the stream has shards");
        assert_eq!(
            plan(&problem)[at].leader,
            Some(BrokerId(2)),
            "{id}: under both"
        );
    }
    let mut capped = old.clone();
    led(&mut capped, "s", &[0, 2, 2], 2);
    capped.brokers[0].max_leaders = Some(9);
    assert_eq!(
        placed(&capped, "s"),
        [0, 2, 4],
        "a full broker takes none; then the share"
    );
}

#[test]
fn within_a_tier_the_highest_score_wins() {
    let mut snapshot = cluster(5);
    led(&mut snapshot, "s", &[], 1);
    let (problem, result) = solve(&snapshot);
    let best = problem
        .broker_ids()
        .max_by_key(|&b| rendezvous::score("s/0", &problem.broker(b).id));
    assert_eq!(result[0].leader, best);
}

#[test]
fn a_joining_broker_gets_its_share_once() {
    let mut snapshot = cluster(4);
    led(&mut snapshot, "a", &[4, 4, 4, 0], 0);
    led(&mut snapshot, "b", &[2, 2, 2, 0], 0);
    led(&mut snapshot, "c", &[3, 4, 3, 0], 0);
    let (problem, result) = solve(&snapshot);
    assert_level(&problem, &result);
    assert_eq!(
        moved(&problem, &result),
        7,
        "what b3 ends with, and no more"
    );
    let joined = BrokerId(3);
    for (s, a) in problem.shards.iter().zip(&result) {
        assert!(s.present == *a || a.leader == Some(joined), "{}", s.id);
    }
}

#[test]
fn a_draining_broker_is_left_level() {
    let mut snapshot = cluster(4);
    led(&mut snapshot, "a", &[3, 3, 3, 3], 0);
    led(&mut snapshot, "b", &[2, 2, 2, 2], 0);
    snapshot.brokers[3].state = BrokerState::Draining;
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "a"), [4, 4, 4, 0]);
    assert_eq!(totals(&problem, &result)[3], 0);
    assert_eq!(range(&totals(&problem, &result)[..3]), 1);
    assert_eq!(moved(&problem, &result), 5, "only what had to");
}

#[test]
fn a_drained_leader_prefers_its_follower() {
    let mut snapshot = cluster(4);
    snapshot.streams.push(stream("s", 2));
    snapshot.shards.push(shard("s", 0, "b3", &["b0"]));
    snapshot.brokers[3].state = BrokerState::Draining;
    let (_, result) = solve(&snapshot);
    assert_eq!(result[0].leader, Some(BrokerId(0)));
    assert!(!result[0].holds(BrokerId(3)));
    assert_eq!(result[0].followers.len(), 1);
}

#[test]
fn what_a_drain_finds_no_room_for_stays() {
    let mut snapshot = cluster(3);
    led(&mut snapshot, "s", &[2, 2, 2], 0);
    snapshot.brokers[2].state = BrokerState::Draining;
    snapshot.brokers[0].max_replicas = Some(3);
    snapshot.brokers[1].max_leaders = Some(2);
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [3, 2, 1]);
}

#[test]
fn caps_are_never_passed() {
    let mut snapshot = cluster(3);
    led(&mut snapshot, "a", &[6, 6, 0], 0);
    led(&mut snapshot, "b", &[], 6);
    snapshot.brokers[2].max_leaders = Some(3);
    let (problem, result) = solve(&snapshot);
    assert_eq!(totals(&problem, &result)[2], 3);
    assert_eq!(totals(&problem, &result).iter().sum::<i64>(), 18);
    snapshot
        .brokers
        .iter_mut()
        .for_each(|b| b.max_replicas = Some(5));
    let (problem, result) = solve(&snapshot);
    assert_eq!(
        totals(&problem, &result),
        [6, 6, 3],
        "b0 and b1 are above their caps already"
    );
    let zone_limits = vec![ZoneLimitInput {
        zone: "z2".into(),
        max_leaders: Some(1),
        ..ZoneLimitInput::default()
    }];
    let policy = PolicyInput {
        zone_limits,
        ..PolicyInput::default()
    };
    let problem = problem_of(&snapshot, &policy);
    assert_eq!(totals(&problem, &plan(&problem)), [6, 6, 1]);
}

#[test]
fn an_optional_move_never_lowers_zones() {
    // The follower is pinned to zone y by its cap on leads, so a lead that goes to b1 as a copy would end in one zone.
    let mut snapshot = SnapshotInput {
        brokers: vec![broker("b0", "x"), broker("b1", "y"), broker("b2", "y")],
        ..SnapshotInput::default()
    };
    snapshot.streams.push(stream("s", 2));
    for n in 0..6 {
        snapshot.shards.push(shard("s", n, "b0", &["b2"]));
    }
    snapshot.brokers[2].max_leaders = Some(0);
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [6, 0, 0]);
    snapshot.brokers[1].zone = "w".into();
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [3, 3, 0]);
}

#[test]
fn a_zone_keeps_its_minimum_of_leaders() {
    let mut snapshot = cluster(2);
    led(&mut snapshot, "s", &[6, 0], 0);
    let policy = PolicyInput {
        zone_limits: vec![ZoneLimitInput {
            zone: "z0".into(),
            min_leaders: Some(5),
            ..ZoneLimitInput::default()
        }],
        ..PolicyInput::default()
    };
    let problem = problem_of(&snapshot, &policy);
    assert_eq!(totals(&problem, &plan(&problem)), [5, 1]);
}

#[test]
fn five_brokers_with_factor_three() {
    let mut snapshot = SnapshotInput {
        brokers: (0..5)
            .map(|b| broker(&format!("b{b}"), &format!("z{}", b % 3)))
            .collect(),
        ..SnapshotInput::default()
    };
    for s in 0..4 {
        let id = format!("s{s}");
        snapshot.streams.push(stream(&id, 3));
        for n in 0..13 {
            snapshot.shards.push(shard(&id, n, "", &[]));
        }
    }
    let (problem, result) = solve(&snapshot);
    assert_level(&problem, &result);
    let cost = evaluate(&problem, &result).0;
    assert_eq!(cost[Rank::UnplacedFollowers], 0);
    for a in &result {
        assert_eq!(problem.zones_spanned(a), 3);
    }
    // Everything led by b0: leads move to followers, by swapping roles.
    let mut skewed = applied(&snapshot, &problem, &result);
    for s in &mut skewed.shards {
        if let Some(at) = s.followers.iter().position(|f| f == "b0") {
            s.followers[at] = std::mem::replace(&mut s.leader, "b0".into());
        }
    }
    let (problem, result) = solve(&skewed);
    assert_level(&problem, &result);
}

#[test]
fn a_promotion_counts_in_the_same_pass() {
    let mut snapshot = cluster(3);
    snapshot.streams.push(stream("s", 3));
    for n in 0..6 {
        snapshot.shards.push(shard("s", n, "b2", &["b0", "b1"]));
    }
    snapshot.brokers[2].state = BrokerState::Down;
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [3, 3, 0]);
    for a in &result {
        assert!(
            a.followers.contains(&BrokerId(2)),
            "nothing replaces it: {a:?}"
        );
    }
}

#[test]
fn full_holders_leave_the_lead_to_another_broker() {
    let mut snapshot = cluster(3);
    snapshot.streams.push(stream("s", 2));
    snapshot.shards.push(shard("s", 0, "b2", &["b0"]));
    snapshot.brokers[2].state = BrokerState::Down;
    snapshot.brokers[0].max_leaders = Some(0);
    let (problem, result) = solve(&snapshot);
    assert_eq!(result[0].leader, Some(BrokerId(1)));
    assert_eq!(result[0].followers, [BrokerId(0)]);
    let policy = PolicyInput {
        roles: Roles::LeadershipOnly,
        ..PolicyInput::default()
    };
    let only = problem_of(&snapshot, &policy);
    let kept = plan(&only);
    assert_eq!(kept[0].leader, None, "leadership only copies nothing");
    assert_eq!(problem.shards.len(), 1);
}

#[test]
fn a_failover_prefers_brokers_that_stay() {
    let mut snapshot = cluster(4);
    snapshot.streams.push(stream("s", 3));
    snapshot.shards.push(shard("s", 0, "b3", &["b0", "b1"]));
    snapshot.brokers[3].state = BrokerState::Down;
    snapshot.brokers[0].state = BrokerState::Draining;
    let (_, result) = solve(&snapshot);
    assert_eq!(result[0].leader, Some(BrokerId(1)));
    assert_eq!(
        result[0].followers,
        [BrokerId(0), BrokerId(2)],
        "b0 has no successor"
    );
}

#[test]
fn leadership_only_promotes_and_copies_nothing() {
    let mut snapshot = cluster(3);
    snapshot.streams.push(stream("s", 2));
    for n in 0..6 {
        snapshot.shards.push(shard("s", n, "b0", &["b1"]));
    }
    snapshot.shards.push(shard("s", 6, "", &[]));
    let policy = PolicyInput {
        roles: Roles::LeadershipOnly,
        ..PolicyInput::default()
    };
    let problem = problem_of(&snapshot, &policy);
    let result = plan(&problem);
    assert_eq!(leaders(&problem, &result, "s"), [3, 3, 0]);
    assert_eq!(evaluate(&problem, &result).0[Rank::Copies], 0);
}

#[test]
fn moves_in_flight_count_and_pinned_shards_stay() {
    let mut snapshot = cluster(2);
    led(&mut snapshot, "s", &[6, 0], 0);
    for n in 0..3 {
        snapshot.in_flight.push(InFlightInput {
            shard: format!("s/{n}"),
            role: Role::Leader,
            from: "b0".into(),
            to: "b1".into(),
        });
    }
    let (problem, result) = solve(&snapshot);
    assert_eq!(moved(&problem, &result), 0, "the moves under way level it");
    snapshot.in_flight.clear();
    snapshot
        .shards
        .iter_mut()
        .take(5)
        .for_each(|s| s.pinned = true);
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [5, 1]);
}

#[test]
fn tags_and_allowed_brokers_bind() {
    let mut snapshot = cluster(4);
    led(&mut snapshot, "s", &[8, 0, 0, 0], 4);
    snapshot.streams[0].allowed_brokers = vec!["b1".into(), "b2".into(), "b3".into()];
    snapshot.streams[0].required_tags = [("disk".to_string(), "ssd".to_string())].into();
    for b in [0, 1, 2] {
        snapshot.brokers[b].tags = [("disk".to_string(), "ssd".to_string())].into();
    }
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [0, 6, 6, 0]);
}

#[test]
fn shares_set_the_proportions() {
    let mut snapshot = cluster(3);
    led(&mut snapshot, "s", &[4, 4, 4], 0);
    led(&mut snapshot, "t", &[], 12);
    snapshot.brokers[0].share = Some(2);
    snapshot.brokers[2].share = Some(0);
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [8, 4, 0]);
    assert_eq!(leaders(&problem, &result, "t"), [8, 4, 0]);
}

#[test]
fn slack_widens_and_off_switches_off() {
    let mut snapshot = cluster(2);
    led(&mut snapshot, "s", &[8, 2], 0);
    let mut policy = PolicyInput::default();
    policy.stream_leaders.slack = 1;
    policy.cluster_leaders.is_off = true;
    let problem = problem_of(&snapshot, &policy);
    assert_eq!(totals(&problem, &plan(&problem)), [6, 4]);
    policy.stream_leaders.is_off = true;
    let problem = problem_of(&snapshot, &policy);
    assert_eq!(moved(&problem, &plan(&problem)), 0);
    policy.cluster_leaders.is_off = false;
    let problem = problem_of(&snapshot, &policy);
    assert_eq!(totals(&problem, &plan(&problem)), [5, 5]);
}

#[test]
fn surplus_goes_from_unwanted_brokers_and_doubled_zones() {
    let mut snapshot = SnapshotInput {
        brokers: ["x", "x", "y", "w", "v"]
            .iter()
            .enumerate()
            .map(|(b, zone)| broker(&format!("b{b}"), zone))
            .collect(),
        ..SnapshotInput::default()
    };
    snapshot.streams.push(stream("s", 3));
    snapshot
        .shards
        .push(shard("s", 0, "b0", &["b1", "b2", "b3", "b4"]));
    snapshot.brokers[3].state = BrokerState::Draining;
    let (_, result) = solve(&snapshot);
    assert_eq!(result[0].leader, Some(BrokerId(0)));
    assert_eq!(result[0].followers, [BrokerId(2), BrokerId(4)]);
}

#[test]
fn an_interrupt_stops_it() {
    let problem = problem_of(&benchmark(), &PolicyInput::default());
    let cancelled = || Some(Stop::Cancelled);
    let stopped = felix::plan(&problem, &mut Budget::new(None, &cancelled));
    assert_eq!(stopped, Err(Stop::Cancelled));
    let mut spent = Budget::new(Some(0), &never);
    assert!(
        felix::plan(&problem, &mut spent).is_ok(),
        "the work limit doesn't govern it"
    );
}

#[test]
fn scores_keep_the_ids_apart_and_are_stable() {
    assert_ne!(rendezvous::score("ab", "c"), rendezvous::score("a", "bc"));
    assert_ne!(rendezvous::score("a", "b"), rendezvous::score("b", "a"));
    assert_eq!(
        rendezvous::score("orders/0", "b1"),
        17_687_794_240_136_216_317,
        "part of the contract"
    );
}

// ---------------------------------------------------------------------------------------------- properties

/// SplitMix64: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    fn cap(&mut self, one_in: usize, below: usize) -> Option<u32> {
        self.one_in(one_in).then(|| self.below(below) as u32)
    }
}

fn random_brokers(random: &mut Random) -> Vec<BrokerInput> {
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
                broker.max_leaders = random.cap(2, 8);
                broker.max_replicas = random.cap(2, 16);
            }
            broker.share = has_shares.then(|| random.below(4) as u32);
            broker
        })
        .collect()
}

fn random_shard(random: &mut Random, stream: &StreamInput, n: usize, brokers: usize) -> ShardInput {
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

fn random_flights(random: &mut Random, snapshot: &mut SnapshotInput) {
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

fn random_spread(random: &mut Random) -> SpreadInput {
    SpreadInput {
        is_off: random.one_in(6),
        slack: if random.one_in(6) { 1 } else { 0 },
    }
}

fn random_case(seed: u64) -> (SnapshotInput, PolicyInput) {
    let mut random = Random(seed);
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
            min_leaders: random.cap(3, 4),
            max_leaders: random.cap(2, 12),
            max_replicas: random.cap(2, 24),
        });
    }
    (snapshot, policy)
}

const CASES: u64 = 6_000;

fn cases() -> impl Iterator<Item = (u64, SnapshotInput, PolicyInput, Problem)> {
    (0..CASES).filter_map(|seed| {
        let (snapshot, policy) = random_case(seed);
        let problem = build(&snapshot, &policy).ok()?;
        Some((seed, snapshot, policy, problem))
    })
}

#[test]
fn random_plans_keep_the_rules_and_replanning_moves_nothing() {
    let mut built = 0;
    for (seed, snapshot, policy, problem) in cases() {
        built += 1;
        let result = plan(&problem);
        let next = applied(&snapshot, &problem, &result);
        let again = problem_of(&next, &policy);
        let replanned = plan(&again);
        for (i, a) in replanned.iter().enumerate() {
            let id = &again.shards[i].id;
            assert_eq!(*a, again.shards[i].present, "seed {seed}: {id} moved again");
        }
    }
    assert!(built > CASES / 2, "only {built} cases are valid");
}

#[test]
fn random_plans_are_no_worse_than_the_present_layout() {
    // Ranks 10 and below are nothing that the tiers look at.
    const UP_TO: usize = Rank::ClusterLeaderSpread as usize;
    for (seed, _, _, problem) in cases() {
        let result = plan(&problem);
        let present: Vec<Assignment> = problem.shards.iter().map(|s| s.present.clone()).collect();
        let before = evaluate(&problem, &present).0.0;
        let after = evaluate(&problem, &result).0.0;
        assert!(
            after[..=UP_TO] <= before[..=UP_TO],
            "seed {seed}: {after:?} above {before:?}"
        );
    }
}

#[test]
fn input_order_plays_no_part() {
    for (seed, mut snapshot, policy, problem) in cases().step_by(4) {
        let first = plan(&problem);
        assert_eq!(first, plan(&problem), "seed {seed}: two runs");
        snapshot.brokers.reverse();
        snapshot.streams.reverse();
        snapshot.shards.reverse();
        snapshot.in_flight.reverse();
        for shard in &mut snapshot.shards {
            shard.followers.reverse();
        }
        let permuted = problem_of(&snapshot, &policy);
        assert_eq!(first, plan(&permuted), "seed {seed}: permuted");
    }
}

#[test]
fn unconstrained_clusters_end_level() {
    for seed in 0..1_000 {
        let mut random = Random(seed);
        let count = 2 + random.below(6);
        let mut snapshot = cluster(count);
        for s in 0..1 + random.below(6) {
            let mut on: Vec<usize> = (0..count).map(|_| random.below(5)).collect();
            on[random.below(count)] += random.below(20);
            let new = random.below(4);
            led(&mut snapshot, &format!("s{s}"), &on, new);
        }
        let (problem, result) = solve(&snapshot);
        for s in (0..problem.streams.len()).map(StreamId::at) {
            let counts = leaders(&problem, &result, &problem.stream(s).id);
            assert!(range(&counts) <= 1, "seed {seed}: {counts:?}");
        }
        let counts = totals(&problem, &result);
        assert!(range(&counts) <= 1, "seed {seed}: {counts:?}");
    }
}
