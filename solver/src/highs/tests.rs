//! HiGHS against the simplex, and what it can't.

use super::*;
use crate::bare;
use crate::budget::{Budget, never};
use crate::network::{NetworkBuilder, NodeId};

type Arc = (usize, usize, i64, i64, i64);

const FREE: i64 = Network::UNCAPACITATED;

fn problem(supplies: &[i64], arcs: &[Arc]) -> (Network, RankCost) {
    let mut builder = NetworkBuilder::default();
    for &supply in supplies {
        builder.add_node(supply);
    }
    for &(tail, head, lower, upper, _) in arcs {
        builder.add_arc(NodeId::at(tail), NodeId::at(head), lower, upper);
    }
    let unit = arcs.iter().map(|arc| arc.4).collect();
    (builder.build().unwrap(), RankCost::linear(unit))
}

fn solved(supplies: &[i64], arcs: &[Arc]) -> Result<Outcome, SolveError> {
    let (network, cost) = problem(supplies, arcs);
    solve(&network, &cost, None)
}

#[test]
fn tells_infeasible_from_unbounded() {
    let cycle = (1, 1, 0, FREE, -1);
    assert_eq!(
        solved(&[0, 0], &[cycle]),
        Ok(Outcome::Unbounded(None)),
        "unbounded"
    );
    assert_eq!(
        solved(&[1, -1], &[cycle]),
        Ok(Outcome::Infeasible(None)),
        "both, and then there is no flow at all"
    );
    assert_eq!(solved(&[1, -1], &[]), Ok(Outcome::Infeasible(None)));
    assert!(matches!(solved(&[0, 0], &[]), Ok(Outcome::Optimal(_))));
}

#[test]
fn numbers_that_a_float_does_not_hold_are_refused() {
    let most = EXACT_MAX;
    assert!(matches!(
        solved(&[1, -1], &[(0, 1, 0, 1, most)]),
        Ok(Outcome::Optimal(_))
    ));
    for (supply, arc) in [
        (1, (0, 1, 0, 1, most + 1)),
        (1, (0, 1, 0, most + 1, 1)),
        (1, (0, 1, -most - 1, 1, 1)),
        (most + 1, (0, 1, 0, FREE, 1)),
    ] {
        let refused = solved(&[supply, -supply], &[arc]);
        assert!(matches!(refused, Err(SolveError::Range(_))), "{refused:?}");
    }
}

#[test]
fn a_time_limit_of_nothing_stops() {
    let arcs: Vec<Arc> = (0..900)
        .map(|i| (i / 30, 30 + i % 30, 0, 1, (i as i64 * 7919) % 101))
        .collect();
    let supplies: Vec<i64> = (0..60).map(|node| if node < 30 { 1 } else { -1 }).collect();
    let (network, cost) = problem(&supplies, &arcs);
    let stopped = solve(&network, &cost, Some(0.0));
    assert_eq!(stopped, Err(SolveError::Stopped(Stop::TimeBudget)));
    let ours = bare::solve(&network, &cost, &mut Budget::new(None, &never));
    let total = |outcome| match outcome {
        Ok(Outcome::Optimal(solution)) => bare::total(&cost, &solution.flow),
        other => panic!("{other:?}"),
    };
    assert_eq!(total(solve(&network, &cost, None)), total(ours));
}
