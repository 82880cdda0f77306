//! Stops in every phase of the work, and the engine that is chosen.

use shardflow_solver::budget::{Budget, POLL_EVERY, Stop, never};
use shardflow_solver::linear::{self, LinearError, Method, Stats};
use shardflow_solver::network::NetworkBuilder;

use crate::generator::{Case, Size, random_case};
use crate::random::solve;
use crate::rng::Rng;

const METHODS: [Method; 3] = [Method::Simplex, Method::CostScaling, Method::Auto];

fn dense() -> Case {
    let size = Size {
        nodes: 200,
        arcs: 4000,
        span: 30,
        cost_low: -40,
        cost_high: 100,
        uncapacitated: 0,
    };
    let mut cases = (0..).map(|seed| random_case(&mut Rng::new(seed), &size));
    let is_wanted =
        |case: &Case| case.network.arc_count() > 2000 && solve(case, Method::Simplex).is_ok();
    cases.find(is_wanted).unwrap()
}

/// A limit is overrun by less than what is done between two polls, and most limits below the whole work stop it.
#[test]
fn work_limits_stop_every_engine_wherever_it_is() {
    let case = dense();
    for method in METHODS {
        let expected = solve(&case, method);
        let mut stopped = 0;
        for limit in (0..).map(|step: u64| step * 977) {
            let mut budget = Budget::new(Some(limit), &never);
            let found = linear::solve(&case.network, &case.unit_cost, method, &mut budget).0;
            if found == expected {
                break;
            }
            assert_eq!(found, Err(LinearError::Stopped(Stop::WorkLimit)));
            assert!(budget.spent() <= limit + POLL_EVERY, "{method:?} {limit}");
            stopped += 1;
        }
        assert!(stopped > 20, "{method:?}: {stopped}");
    }
}

#[test]
fn an_interrupt_stops_every_engine() {
    let case = dense();
    for method in METHODS {
        let mut budget = Budget::new(None, &|| Some(Stop::Cancelled));
        let (found, stats) = linear::solve(&case.network, &case.unit_cost, method, &mut budget);
        assert_eq!(found, Err(LinearError::Stopped(Stop::Cancelled)));
        assert_eq!(stats, Stats::default());
    }
}

/// A chain that can carry everything, and two shorter ways out of each node that can't.
fn splitting_flow(nodes: usize, supply: i64) -> Case {
    let mut builder = NetworkBuilder::default();
    let ids: Vec<_> = (0..nodes).map(|_| builder.add_node(0)).collect();
    builder.add_supply(ids[0], supply);
    builder.add_supply(ids[nodes - 1], -supply);
    let mut unit_cost = Vec::new();
    for tail in 0..nodes {
        for (step, upper, cost) in [(1, 50, 9), (2, 7, 3), (3, 5, 4)] {
            if tail + step < nodes {
                builder.add_arc(ids[tail], ids[tail + step], 0, upper);
                unit_cost.push(cost);
            }
        }
    }
    Case {
        network: builder.build().unwrap(),
        unit_cost,
    }
}

#[test]
fn auto_takes_cost_scaling_for_a_large_flow_that_must_split_and_else_the_simplex() {
    let chosen = |case: &Case| {
        let mut budget = Budget::new(Some(1_000_000), &never);
        let (network, unit_cost) = (&case.network, &case.unit_cost);
        let (_, stats) = linear::solve(network, unit_cost, Method::Auto, &mut budget);
        stats.method
    };
    assert_eq!(chosen(&splitting_flow(20_000, 50)), Method::CostScaling);
    assert_eq!(chosen(&splitting_flow(19_999, 50)), Method::Simplex);
    // Every arc can carry it.
    assert_eq!(chosen(&splitting_flow(20_000, 5)), Method::Simplex);
    assert_eq!(chosen(&dense()), Method::Simplex);
}
