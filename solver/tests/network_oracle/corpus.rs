//! The pitfalls of known solvers, by the number of their case.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::network::{
    CostError, Network, NetworkBuilder, NetworkError, NodeId, RankCost,
};
use shardflow_solver::simplex::{MinimizeError, ScratchError, Simplex};
use shardflow_solver::verify::flow::check_optimal;

use crate::answers::from_scratch;
use crate::generator::Case;

type Arc = (usize, usize, i64, i64);

/// A case of the corpus: supplies, arcs (tail, head, capacity, unit cost).
fn corpus(supplies: &[i64], arcs: &[Arc]) -> Result<Case, NetworkError> {
    let mut builder = NetworkBuilder::default();
    for &supply in supplies {
        builder.add_node(supply);
    }
    for &(tail, head, upper, _) in arcs {
        builder.add_arc(NodeId::at(tail), NodeId::at(head), 0, upper);
    }
    Ok(Case {
        network: builder.build()?,
        ranks: vec![RankCost::linear(arcs.iter().map(|arc| arc.3).collect())],
    })
}

fn assert_optimum(supplies: &[i64], arcs: &[Arc], cost: i128, flow: Option<&[i64]>) {
    let case = corpus(supplies, arcs).unwrap();
    let answer = from_scratch(&case).unwrap();
    assert_eq!(case.ranks[0].total(&answer.flow), cost);
    let faults = check_optimal(&case.network, &case.ranks, &answer.flow, &answer.potentials);
    assert_eq!(faults, []);
    if let Some(flow) = flow {
        assert_eq!(answer.flow, flow);
    }
}

fn assert_infeasible(supplies: &[i64], arcs: &[Arc], cut: &[u32], deficit: i64) {
    let case = corpus(supplies, arcs).unwrap();
    let cut = cut.iter().map(|&node| NodeId(node)).collect();
    let expected = ScratchError::Infeasible { cut, deficit };
    assert_eq!(from_scratch(&case).err(), Some(expected));
}

#[test]
fn corpus_optima() {
    // F07: an arc of capacity 0 that is also the cheapest.
    let arcs = [(0, 1, 0, 1), (0, 1, 2, 5), (0, 1, 9, 7)];
    assert_optimum(&[3, -3], &arcs, 17, Some(&[0, 2, 1]));
    // F09: many small supplies through one uncapacitated trunk.
    let free = Network::UNCAPACITATED;
    let mut supplies = vec![10; 10];
    supplies.extend([-10; 10]);
    supplies.extend([0, 0]);
    let mut arcs: Vec<Arc> = (0..10).map(|h| (h, 20, free, 1)).collect();
    arcs.push((20, 21, free, 1));
    arcs.extend((10..20).map(|k| (21, k, free, 1)));
    assert_optimum(&supplies, &arcs, 300, None);
    // F11: supplies past 2^31.
    let (many, cap) = (3_000_000_000, 2_000_000_000);
    assert_optimum(
        &[many, -many],
        &[(0, 1, cap, 3), (0, 1, cap, 4)],
        10_000_000_000,
        None,
    );
    // F18: a difference of 1 beside 10^15.
    let dear = 1_000_000_000_000_000;
    let arcs = [
        (0, 1, 1000, dear + 1),
        (0, 1, 600, dear),
        (0, 1, 400, dear + 2),
    ];
    let cost = 1_000_000_000_000_000_400;
    assert_optimum(&[1000, -1000], &arcs, cost, Some(&[400, 600, 0]));
}

#[test]
fn corpus_refusals() {
    // F01: less demand than supply.
    let unbalanced = corpus(&[2, -1], &[(0, 1, 1, 0)]).err();
    assert_eq!(unbalanced, Some(NetworkError::Unbalanced { surplus: 1 }));
    // F03: unit costs that fit while potentials and totals would not.
    let case = corpus(&[4, -4], &[(0, 1, 4, 1 << 62)]).unwrap();
    let mut budget = Budget::new(None, &never);
    let mut simplex = Simplex::from_scratch(&case.network, &mut budget).unwrap();
    let range = MinimizeError::Cost(CostError::CostRange { sum: 1 << 63 });
    assert_eq!(simplex.minimize(&case.ranks[0], &mut budget), Err(range));
    // F05: the sink is out of reach.
    let arcs = [(0, 2, 20, 1), (0, 3, 20, 1), (2, 1, 20, 1)];
    assert_infeasible(&[0, 0, 0, -13, 13], &arcs, &[4], 13);
    // F14: three units, two places.
    let arcs = [
        (0, 3, 1, 1),
        (1, 3, 1, 1),
        (2, 4, 1, 1),
        (0, 4, 1, 4),
        (3, 5, 1, 0),
        (4, 5, 1, 0),
    ];
    assert_infeasible(&[1, 1, 1, 0, 0, -3], &arcs, &[0, 1, 2, 3, 4], 1);
    // F16: half of the supply finds no room.
    assert_infeasible(&[2, -2], &[(0, 1, 1, 1)], &[0], 1);
}
