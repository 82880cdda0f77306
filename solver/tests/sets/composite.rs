//! The composite flow against every placement, where counts of replicas have prices at most.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::certificate::{Certificate, RankPrices};
use shardflow_solver::cost::{Cost, evaluate};
use shardflow_solver::model::sets::{composite, is_decoupled};
use shardflow_solver::snapshot::{Assignment, Limits, Problem};
use shardflow_solver::verify::bound::bound;
use shardflow_solver::verify::placement::check;

use crate::cases::{Named, generate, start};
use crate::enumerate::{all_options, least_of};
use crate::prices;
use crate::rng::Rng;

/// The problem of a seed without costs and caps of replicas' counts.
fn decoupled(seed: u64) -> Problem {
    let mut problem = generate(seed);
    problem.policy.stream_replicas = None;
    problem.policy.cluster_replicas = None;
    problem
        .brokers
        .iter_mut()
        .for_each(|b| b.max_replicas = None);
    problem.zones.iter_mut().for_each(|z| z.max_replicas = None);
    problem.limits.in_force.replicas.fill(Limits::NONE);
    problem.limits.in_force.zone_replicas.fill(Limits::NONE);
    assert!(is_decoupled(&problem));
    problem
}

/// Cost with the prices of all replicas that are decided.
fn cost(problem: &Problem, prices: &[RankPrices], placement: &[Assignment]) -> Cost {
    let mut cost = evaluate(problem, placement).0;
    for (shard, assignment) in problem.shards.iter().zip(placement) {
        for b in problem.live(assignment).filter(|_| !shard.is_pinned) {
            cost = prices::sum(cost, prices::of(prices, shard.stream, b));
        }
    }
    cost
}

/// Solves a case; whether it was small enough to compare, and whether anything moved.
fn compare(seed: u64, is_priced: bool) -> Option<bool> {
    let _named = Named(seed);
    let problem = decoupled(seed);
    let mut rng = Rng::new(seed ^ 0xc057);
    let prices = match is_priced {
        true => prices::random(&problem, &mut rng),
        false => Vec::new(),
    };
    let start = start(&problem, seed);
    let options = |id| all_options(&problem, id);
    let cost = |placement: &[Assignment]| cost(&problem, &prices, placement);
    let optimum = least_of(5_000, &problem, &start, options, |_| false, cost)?;
    let mut budget = Budget::new(None, &never);
    let solution = composite(&problem, &prices, &start, &start, &mut budget);
    let solution = solution.expect("validated problems are built");
    assert_eq!(solution.stop, None);
    assert_eq!(check(&problem, &solution.placement).faults, []);
    assert_eq!(cost(&solution.placement), optimum);
    if !is_priced {
        let ranks = solution.prices;
        let bound =
            bound(&problem, &Certificate { ranks }).expect("the prices have the right shape");
        assert_eq!(bound.0, optimum.0.map(i128::from));
    }
    Some(solution.placement != start)
}

#[test]
fn decoupled_problems_match_every_placement() {
    let outcomes: Vec<bool> = (0..3_000).filter_map(|seed| compare(seed, false)).collect();
    let moved = outcomes.iter().filter(|&&moved| moved).count();
    assert!(outcomes.len() > 1_500, "only {} are small", outcomes.len());
    assert!(moved > 500, "only {moved} move anything");
}

#[test]
fn prices_of_replicas_are_part_of_what_is_least() {
    let outcomes: Vec<bool> = (0..3_000).filter_map(|seed| compare(seed, true)).collect();
    let moved = outcomes.iter().filter(|&&moved| moved).count();
    assert!(outcomes.len() > 1_500, "only {} are small", outcomes.len());
    assert!(moved > 500, "only {moved} move anything");
}
