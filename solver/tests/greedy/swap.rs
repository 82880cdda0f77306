//! Swaps of followers: what they gain, what they leave alone, and what they can't do.

use shardflow_solver::cost::{Cost, Rank, evaluate};
use shardflow_solver::input::{PolicyInput, SnapshotInput, TrafficSourceInput, WeightsInput};
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem};
use shardflow_solver::strategy::{Engine, Planner, SolveOptions, solve};
use shardflow_solver::validate::build;

use crate::clusters::{cluster, plan, problem_of, shard, stream, swapped};
use crate::measures::counts;
use crate::random::{loaded_case, random_case};
use crate::rng::Rng;

/// Only traffic costs.
fn traffic_alone() -> PolicyInput {
    PolicyInput {
        weights: WeightsInput {
            overlap: Some(0),
            same_rack: Some(0),
            ..WeightsInput::default()
        },
        ..PolicyInput::default()
    }
}

/// As many brokers as shards, each in a zone of its own; by shard, where it leads, has its follower, and that reads from.
fn reading<const N: usize>(shards: [[usize; 3]; N]) -> SnapshotInput {
    let mut snapshot = cluster(N);
    snapshot.streams.push(stream("s", 2));
    for (n, [leader, follower, reads]) in shards.into_iter().enumerate() {
        let mut shard = shard("s", n, &format!("b{leader}"), &[&format!("b{follower}")]);
        shard.follower_sources = vec![TrafficSourceInput {
            zones: vec![format!("z{reads}")],
            weight: 1,
        }];
        snapshot.shards.push(shard);
    }
    snapshot
}

/// The least cost of any choice of one follower for each of three shards, leaders fixed.
fn least(problem: &Problem) -> Cost {
    let ids: Vec<BrokerId> = problem.broker_ids().collect();
    let mut best = None;
    for choice in 0..ids.len().pow(3) {
        let place = |(n, shard): (usize, &shardflow_solver::snapshot::Shard)| Assignment {
            leader: shard.present.leader,
            followers: vec![ids[choice / ids.len().pow(n as u32) % ids.len()]],
        };
        let placement: Vec<Assignment> = problem.shards.iter().enumerate().map(place).collect();
        if placement.iter().all(|a| a.leader != Some(a.followers[0])) {
            let cost = evaluate(problem, &placement).0;
            best = Some(best.map_or(cost, |best: Cost| best.min(cost)));
        }
    }
    best.expect("some choice is legal")
}

#[test]
fn three_followers_that_would_have_to_rotate_stay_where_they_are() {
    // Wherever two of them change places, one would come to its own leader.
    let snapshot = reading([[2, 1, 0], [0, 2, 1], [1, 0, 2]]);
    let problem = problem_of(&snapshot, &traffic_alone());
    let options = SolveOptions {
        planner: Planner::Swap,
        ..SolveOptions::default()
    };
    let answer = solve(&problem, &options, &|| None).expect("it is built");
    assert_eq!(answer.report.engine, Engine::Swap);
    let after = answer.plan.after.0;
    assert_eq!(after[Rank::Weighted], 30);
    let least = least(&problem);
    assert_eq!(least[Rank::Weighted], 0);
    let above = Rank::Weighted as usize;
    assert_eq!(
        after.0[..above],
        least.0[..above],
        "counts are level either way"
    );
}

#[test]
fn two_followers_change_places_where_that_saves_traffic() {
    let snapshot = reading([[2, 1, 0], [3, 0, 1], [0, 2, 2], [1, 3, 3]]);
    let problem = problem_of(&snapshot, &traffic_alone());
    let start = plan(&problem);
    assert_eq!(evaluate(&problem, &start).0[Rank::Weighted], 20);
    let result = swapped(&problem, &start);
    assert_eq!(evaluate(&problem, &result).0[Rank::Weighted], 0);
}

#[test]
fn random_swaps_keep_the_rules_the_counts_and_every_higher_rank() {
    const ABOVE: usize = Rank::Weighted as usize;
    let mut gained = 0;
    for seed in 0..3_000 {
        for (mut snapshot, policy) in [random_case(seed), loaded_case(seed)] {
            let mut random = Rng::new(seed);
            for shard in &mut snapshot.shards {
                shard.follower_sources = vec![TrafficSourceInput {
                    zones: vec![format!("z{}", random.below(4))],
                    weight: random.between(0, 50),
                }];
            }
            let Ok(problem) = build(&snapshot, &policy) else {
                continue;
            };
            let start = plan(&problem);
            let result = swapped(&problem, &start);
            assert_eq!(
                counts(&problem, &start),
                counts(&problem, &result),
                "seed {seed}"
            );
            let before = evaluate(&problem, &start).0;
            let after = evaluate(&problem, &result).0;
            let is_kept = (0..ABOVE).all(|rank| after.0[rank] <= before.0[rank]);
            assert!(is_kept, "seed {seed}: {after:?} after {before:?}");
            assert!(
                after[Rank::Weighted] <= before[Rank::Weighted],
                "seed {seed}"
            );
            gained += usize::from(after[Rank::Weighted] < before[Rank::Weighted]);
            assert_eq!(
                swapped(&problem, &result),
                result,
                "seed {seed}: no pass finds more"
            );
        }
    }
    assert!(gained > 300, "only {gained} cases gained anything");
}
