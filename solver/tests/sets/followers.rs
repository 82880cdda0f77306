//! Followers for given leaders against every other choice of them.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::cost::{Cost, evaluate};
use shardflow_solver::model::sets::followers;
use shardflow_solver::snapshot::{Assignment, Problem, ShardId};
use shardflow_solver::verify::placement::check;

use crate::cases::{Named, generate, start};
use crate::enumerate::{least, live_sets, with_lost};

/// The least cost of any admissible followers for the leaders of `start`.
fn optimum(problem: &Problem, start: &[Assignment]) -> Option<Cost> {
    let options = |id: ShardId| {
        let leader = start[id.index()].leader;
        let sets = live_sets(problem, leader).into_iter();
        sets.map(|live| with_lost(problem, id, leader, &live))
            .collect()
    };
    least(
        problem,
        start,
        options,
        |_| false,
        |placement| evaluate(problem, placement).0,
    )
}

/// Solves a case; whether it was small enough to compare, and whether anything moved.
fn compare(seed: u64) -> Option<bool> {
    let _named = Named(seed);
    let problem = generate(seed);
    let start = start(&problem, seed);
    assert_eq!(check(&problem, &start).faults, []);
    let optimum = optimum(&problem, &start)?;
    let mut budget = Budget::new(None, &never);
    let solution = followers(&problem, &start, &mut budget).expect("validated problems are built");
    assert_eq!(solution.stop, None);
    assert_eq!(check(&problem, &solution.placement).faults, []);
    for (old, new) in start.iter().zip(&solution.placement) {
        assert_eq!(old.leader, new.leader);
    }
    assert_eq!(evaluate(&problem, &solution.placement).0, optimum);
    Some(solution.placement != start)
}

#[test]
fn tiny_problems_match_every_choice_of_followers() {
    let outcomes: Vec<bool> = (0..8_000).filter_map(compare).collect();
    let moved = outcomes.iter().filter(|&&moved| moved).count();
    assert!(outcomes.len() > 6_000, "only {} are small", outcomes.len());
    assert!(moved > 2_000, "only {moved} move anything");
}
