//! Thousands of small networks of every kind.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::linear::{self, LinearError, Method, Optimum};
use shardflow_solver::network::{ArcId, Network, NodeId, RankCost};
use shardflow_solver::simplex::{MinimizeError, ScratchError, Simplex};
use shardflow_solver::verify::flow::check_optimal;

use crate::generator::{Case, Size, random_case};
use crate::rng::Rng;

/// What the simplex of placement says.
#[derive(PartialEq, Debug)]
enum Reference {
    Cost(i128),
    Infeasible(Vec<NodeId>, i64),
    Unbounded,
}

fn reference(case: &Case) -> Reference {
    let mut budget = Budget::new(None, &never);
    let rank = RankCost::linear(case.unit_cost.clone());
    match Simplex::from_scratch(&case.network, &mut budget) {
        Err(ScratchError::Infeasible { cut, deficit }) => Reference::Infeasible(cut, deficit),
        Err(ScratchError::Stopped(stop)) => panic!("{stop:?} without a limit"),
        Ok(mut simplex) => match simplex.minimize(&rank, &mut budget) {
            Ok(()) => Reference::Cost(rank.total(simplex.flow())),
            Err(MinimizeError::Unbounded { .. }) => Reference::Unbounded,
            Err(error) => panic!("{error}"),
        },
    }
}

pub(crate) fn solve(case: &Case, method: Method) -> Result<Optimum, LinearError> {
    let mut budget = Budget::new(None, &never);
    linear::solve(&case.network, &case.unit_cost, method, &mut budget).0
}

/// Each arc of the cycle begins where the one before ends and has no upper bound, and together they cost less than 0.
fn assert_cycle(case: &Case, cycle: &[ArcId]) {
    let mut cost = 0i128;
    let before = cycle.iter().cycle().skip(cycle.len() - 1);
    for (&arc, &before) in cycle.iter().zip(before) {
        assert_eq!(case.network.upper(arc), Network::UNCAPACITATED);
        assert_eq!(
            case.network.tail(arc),
            case.network.head(before),
            "{cycle:?}"
        );
        cost += i128::from(case.unit_cost[arc.index()]);
    }
    assert!(cost < 0, "{cycle:?} costs {cost}");
}

fn check(case: &Case, method: Method, seed: u64) -> Reference {
    match solve(case, method) {
        Ok(optimum) => {
            let rank = RankCost::linear(case.unit_cost.clone());
            let total = rank.total(&optimum.flow);
            let potentials = [optimum.potentials];
            let faults = check_optimal(&case.network, &[rank], &optimum.flow, &potentials);
            assert_eq!(faults, [], "seed {seed} {method:?}");
            Reference::Cost(total)
        }
        Err(LinearError::Infeasible { cut, deficit }) => Reference::Infeasible(cut, deficit),
        Err(LinearError::Unbounded { cycle }) => {
            assert_cycle(case, &cycle);
            Reference::Unbounded
        }
        Err(error) => panic!("seed {seed}: {error}"),
    }
}

/// Runs seeds; the least counts of optimal, infeasible and unbounded ones keep the generator honest.
fn run(size: &Size, seeds: std::ops::Range<u64>, least: [usize; 3]) {
    let mut counts = [0; 3];
    for seed in seeds {
        let case = random_case(&mut Rng::new(seed), size);
        let expected = reference(&case);
        for method in [Method::Simplex, Method::CostScaling, Method::Auto] {
            assert_eq!(
                check(&case, method, seed),
                expected,
                "seed {seed} {method:?}"
            );
        }
        counts[match expected {
            Reference::Cost(_) => 0,
            Reference::Infeasible(..) => 1,
            Reference::Unbounded => 2,
        }] += 1;
    }
    let is_enough = counts
        .iter()
        .zip(least)
        .all(|(&count, least)| count >= least);
    assert!(is_enough, "{counts:?}");
}

const SMALL: Size = Size {
    nodes: 7,
    arcs: 16,
    span: 4,
    cost_low: -6,
    cost_high: 6,
    uncapacitated: 0,
};

#[test]
fn small_networks() {
    run(&SMALL, 0..6000, [4000, 200, 0]);
}

#[test]
fn small_networks_with_uncapacitated_arcs() {
    let size = Size {
        uncapacitated: 3,
        ..SMALL
    };
    run(&size, 10_000..14_000, [1500, 50, 500]);
    let size = Size {
        cost_low: 0,
        ..size
    };
    run(&size, 20_000..22_000, [1500, 50, 0]);
}

#[test]
fn larger_networks() {
    let size = Size {
        nodes: 60,
        arcs: 300,
        span: 30,
        cost_low: -40,
        cost_high: 100,
        uncapacitated: 0,
    };
    run(&size, 30_000..30_600, [350, 10, 0]);
    let size = Size {
        cost_low: 0,
        uncapacitated: 4,
        ..size
    };
    run(&size, 40_000..40_400, [300, 5, 0]);
}

/// Costs and amounts at the edge of 32 bits, where the engines change width, and at the edge of 64.
#[test]
fn large_numbers() {
    for (cost, span) in [
        (1 << 26, 5),
        (1 << 27, 1 << 24),
        (1 << 28, 1 << 20),
        (1 << 29, 3),
        (1 << 31, 1 << 31),
        (1 << 40, 1 << 50),
        (1 << 56, 1 << 53),
    ] {
        for low in [-cost, 0] {
            let size = Size {
                nodes: 8,
                arcs: 20,
                span,
                cost_low: low,
                cost_high: cost,
                uncapacitated: 0,
            };
            run(&size, 50_000..50_250, [100, 5, 0]);
        }
    }
}

#[test]
fn the_same_problem_has_the_same_answer() {
    for seed in 0..200 {
        let case = random_case(&mut Rng::new(seed), &SMALL);
        for method in [Method::Simplex, Method::CostScaling, Method::Auto] {
            assert_eq!(solve(&case, method), solve(&case, method), "seed {seed}");
        }
    }
}
