//! Leaders among given replicas against every other choice of them.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::cost::{Cost, evaluate};
use shardflow_solver::model::sets::promotions;
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, ShardId};
use shardflow_solver::verify::placement::check;

use crate::cases::{Named, generate, start};
use crate::enumerate::{least, with_lost};

/// Live replicas, in order.
fn live(problem: &Problem, assignment: &Assignment) -> Vec<BrokerId> {
    let mut live: Vec<BrokerId> = problem.live(assignment).collect();
    live.sort_unstable();
    live
}

/// The least cost of any admissible leaders within the sets of `start`.
fn optimum(problem: &Problem, start: &[Assignment]) -> Option<Cost> {
    let options = |id: ShardId| {
        if problem.shard(id).is_pinned {
            return Vec::new();
        }
        let live = live(problem, &start[id.index()]);
        let leaders = live.iter().copied().map(Some).chain([None]);
        let option = |leader| {
            let mut followers = live.clone();
            followers.retain(|&b| Some(b) != leader);
            with_lost(problem, id, leader, &followers)
        };
        leaders.map(option).collect()
    };
    let cost = |placement: &[Assignment]| evaluate(problem, placement).0;
    least(problem, start, options, |_| false, cost)
}

/// Solves a case; whether it was small enough to compare, and whether anything moved.
fn compare(seed: u64) -> Option<bool> {
    let _named = Named(seed);
    let problem = generate(seed);
    let start = start(&problem, seed);
    let optimum = optimum(&problem, &start)?;
    let mut budget = Budget::new(None, &never);
    let solution = promotions(&problem, &start, &mut budget).expect("validated problems are built");
    assert_eq!(solution.stop, None);
    assert_eq!(check(&problem, &solution.placement).faults, []);
    for (old, new) in start.iter().zip(&solution.placement) {
        assert_eq!(live(&problem, old), live(&problem, new));
    }
    assert_eq!(evaluate(&problem, &solution.placement).0, optimum);
    Some(solution.placement != start)
}

#[test]
fn tiny_problems_match_every_choice_of_leaders() {
    let outcomes: Vec<bool> = (100_000..106_000).filter_map(compare).collect();
    let moved = outcomes.iter().filter(|&&moved| moved).count();
    assert!(outcomes.len() > 5_000, "only {} are small", outcomes.len());
    assert!(moved > 1_000, "only {moved} move anything");
}
