//! Degenerate bases, unbounded arcs, starts that are no flow; the same answer twice.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::network::{ArcId, Network, NodeId, RankCost};
use shardflow_solver::simplex::{MinimizeError, Simplex, StartError};
use shardflow_solver::verify::flow::{check_flow, check_optimal};

use crate::answers::{assert_proved, from_flow, from_scratch};
use crate::generator::{Case, SMALL, Size, assignment, random_case, with_upper};
use crate::oracle::feasible_flow;
use crate::rng::Rng;

#[test]
fn degenerate_assignments_end() {
    let n = 40;
    let mut rng = Rng::new(4);
    let mut cases = vec![
        (assignment(n, |_, _| 7), Some(7 * 40)),
        (assignment(n, |i, j| i64::from(i != j)), Some(0)),
        (
            assignment(n, |i, j| (i + 1) * (j + 1)),
            Some((1..=40).map(|k| k * (41 - k)).sum()),
        ),
        (assignment(n, |i, j| (i - j).abs() % 2), Some(0)),
    ];
    for _ in 0..20 {
        cases.push((assignment(n, |_, _| rng.between(0, 1)), None));
    }
    for (seed, (case, expected)) in (0..).zip(&cases) {
        let answer = from_scratch(case).unwrap();
        assert_proved(case, &answer, seed);
        if let Some(expected) = expected {
            assert_eq!(case.ranks[0].total(&answer.flow), *expected);
        }
        let shifted = (0..n * n)
            .map(|a| i64::from((a / n + 1) % n == a % n))
            .collect();
        let again = from_flow(case, shifted, &[]);
        assert_proved(case, &again, seed);
        assert!(answer.pivots < 20_000 && again.pivots < 20_000);
    }
}

#[test]
fn the_same_input_gives_the_same_answer() {
    let size = Size {
        nodes: 30,
        arcs: 200,
        span: 9,
        cost: 9,
    };
    for seed in 0..30 {
        let case = random_case(&mut Rng::new(5_000_000 + seed), &size);
        let (Ok(one), Ok(two)) = (from_scratch(&case), from_scratch(&case)) else {
            continue;
        };
        assert_eq!(one.flow, two.flow);
        assert_eq!(one.potentials, two.potentials);
        assert_eq!(one.pivots, two.pivots);
    }
}

/// Whether uncapacitated arcs close a cycle of negative cost.
fn is_unbounded(network: &Network, unit: &[i64]) -> bool {
    let mut distance = vec![0; network.node_count()];
    for _ in 0..=network.node_count() {
        let mut has_changed = false;
        for arc in network.arcs() {
            let reached = distance[network.tail(arc).index()] + unit[arc.index()];
            let head = network.head(arc).index();
            if network.upper(arc) == Network::UNCAPACITATED && reached < distance[head] {
                distance[head] = reached;
                has_changed = true;
            }
        }
        if !has_changed {
            return false;
        }
    }
    true
}

#[test]
fn uncapacitated_arcs_are_unbounded_only_on_negative_cycles() {
    let (mut unbounded, mut optimal) = (0, 0);
    for seed in 0..1000 {
        let mut rng = Rng::new(6_000_000 + seed);
        let bounded = random_case(&mut rng, &SMALL);
        if feasible_flow(&bounded.network).is_err() {
            continue;
        }
        let mut network = bounded.network;
        for arc in network.arcs() {
            if rng.one_in(3) {
                network = with_upper(&network, arc, Network::UNCAPACITATED);
            }
        }
        let unit: Vec<i64> = network.arcs().map(|_| rng.between(-2, 6)).collect();
        let is_unbounded = is_unbounded(&network, &unit);
        let case = Case {
            network,
            ranks: vec![RankCost::linear(unit)],
        };
        let mut budget = Budget::new(None, &never);
        let mut simplex = Simplex::from_scratch(&case.network, &mut budget).unwrap();
        let outcome = simplex.minimize(&case.ranks[0], &mut budget);
        assert_eq!(check_flow(&case.network, simplex.flow()), []);
        if is_unbounded {
            assert!(
                matches!(outcome, Err(MinimizeError::Unbounded { .. })),
                "seed {seed}"
            );
            unbounded += 1;
        } else {
            assert_eq!(outcome, Ok(()), "seed {seed}");
            let potentials = [simplex.potentials().to_vec()];
            let faults = check_optimal(&case.network, &case.ranks, simplex.flow(), &potentials);
            assert_eq!(faults, [], "seed {seed}");
            optimal += 1;
        }
    }
    assert!(unbounded > 100 && optimal > 300, "{unbounded} {optimal}");
}

#[test]
fn a_start_that_is_no_flow_is_refused() {
    let case = assignment(2, |_, _| 0);
    let start = |flow: &[i64], hint: &[Option<ArcId>]| {
        Simplex::from_flow(&case.network, flow.to_vec(), hint).err()
    };
    assert_eq!(start(&[1, 0, 0, 1], &[]), None);
    assert_eq!(
        start(&[1], &[]),
        Some(StartError::FlowLength { given: 1, arcs: 4 })
    );
    let short = Some(StartError::HintLength { given: 1, nodes: 4 });
    assert_eq!(start(&[1, 0, 0, 1], &[None]), short);
    let (arc, flow) = (ArcId(2), 2);
    assert_eq!(
        start(&[1, 0, 2, 1], &[]),
        Some(StartError::Bounds { arc, flow })
    );
    let (node, excess) = (NodeId(1), 1);
    assert_eq!(
        start(&[1, 0, 0, 0], &[]),
        Some(StartError::Conservation { node, excess })
    );
}
