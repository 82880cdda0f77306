//! Answers of the simplex, and what must hold of them.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::network::{ArcId, Network, NodeId};
use shardflow_solver::simplex::{ScratchError, Simplex};
use shardflow_solver::verify::flow::{bound, check_optimal};

use crate::generator::Case;

pub(crate) struct Answer {
    pub(crate) flow: Vec<i64>,
    pub(crate) potentials: Vec<Vec<i64>>,
    pub(crate) pivots: u64,
}

fn finish(case: &Case, mut simplex: Simplex, budget: &mut Budget<'_>) -> Answer {
    let mut potentials = Vec::new();
    for rank in &case.ranks {
        simplex.minimize(rank, budget).unwrap();
        potentials.push(simplex.potentials().to_vec());
        simplex.restrict();
    }
    Answer {
        flow: simplex.flow().to_vec(),
        potentials,
        pivots: simplex.stats().pivots,
    }
}

pub(crate) fn from_scratch(case: &Case) -> Result<Answer, ScratchError> {
    let mut budget = Budget::new(None, &never);
    let simplex = Simplex::from_scratch(&case.network, &mut budget)?;
    Ok(finish(case, simplex, &mut budget))
}

pub(crate) fn from_flow(case: &Case, flow: Vec<i64>, hint: &[Option<ArcId>]) -> Answer {
    let mut budget = Budget::new(None, &never);
    let simplex = Simplex::from_flow(&case.network, flow, hint).unwrap();
    finish(case, simplex, &mut budget)
}

pub(crate) fn assert_proved(case: &Case, answer: &Answer, seed: u64) {
    let faults = check_optimal(&case.network, &case.ranks, &answer.flow, &answer.potentials);
    assert_eq!(faults, [], "seed {seed}");
    let first = bound(&case.network, &case.ranks[0], &answer.potentials[0]);
    assert_eq!(
        first,
        Some(case.ranks[0].total(&answer.flow)),
        "seed {seed}"
    );
}

/// What can leave the cut must fall short of its supply by the deficit.
pub(crate) fn assert_cut(network: &Network, cut: &[NodeId], deficit: i64) {
    let mut short: i64 = cut.iter().map(|&node| network.supply(node)).sum();
    for arc in network.arcs() {
        let is_in = |node: NodeId| cut.contains(&node);
        match (is_in(network.tail(arc)), is_in(network.head(arc))) {
            (true, false) => short -= network.upper(arc),
            (false, true) => short += network.lower(arc),
            _ => {}
        }
    }
    assert_eq!(short, deficit);
    assert!(deficit > 0);
}
