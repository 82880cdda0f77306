//! Properties over random clusters.

use shardflow_solver::cost::{Rank, evaluate};
use shardflow_solver::input::{PolicyInput, SnapshotInput};
use shardflow_solver::snapshot::{Problem, StreamId};
use shardflow_solver::validate::build;

use crate::clusters::{applied, cluster, led, plan, problem_of, solve};
use crate::measures::{leaders, present, range, totals};
use crate::random::random_case;
use crate::rng::Rng;

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
        let before = evaluate(&problem, &present(&problem)).0.0;
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
        let mut random = Rng::new(seed);
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
