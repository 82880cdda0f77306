//! Where the tiers put a shard, and what they level.

use shardflow_solver::budget::{Budget, Stop, never};
use shardflow_solver::cost::{Rank, evaluate};
use shardflow_solver::greedy::{felix, rendezvous};
use shardflow_solver::input::{PolicyInput, SnapshotInput, SpreadInput};
use shardflow_solver::snapshot::{Assignment, BrokerId, Shard};

use crate::clusters::{applied, cluster, led, plan, problem_of, shard, solve, stream, zoned};
use crate::measures::{assert_level, leaders, moved, present, totals};

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
    assert_eq!(totals(&problem, &present(&problem)), [21, 21, 19]);
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
    let stays =
        |(s, a): (&Shard, &Assignment)| again.stream(s.stream).id != "new" || s.present == *a;
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
fn five_brokers_with_factor_three() {
    let mut snapshot = zoned(["z0", "z1", "z2", "z0", "z1"]);
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
