//! What the simplex says of a case, from scratch and from flows of every sort, and what must hold of it.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::network::{ArcId, Network, NodeId, RankCost};
use shardflow_solver::simplex::{MinimizeError, ScratchError, Simplex};
use shardflow_solver::verify::flow::{bound, check_flow, check_optimal};

use super::{Case, equal, generate};
use crate::rng::Rng;
use crate::ssp::{self, Outcome};

/// How far the ranks got.
struct Solved {
    flow: Vec<i64>,
    potentials: Vec<Vec<i64>>,
    /// The first rank that is without end.
    endless: Option<usize>,
}

fn minimize(mut simplex: Simplex, ranks: &[RankCost]) -> Result<Solved, String> {
    let mut budget = Budget::new(None, &never);
    let mut potentials = Vec::new();
    let mut endless = None;
    for (at, rank) in ranks.iter().enumerate() {
        match simplex.minimize(rank, &mut budget) {
            Ok(()) => simplex.restrict(),
            Err(MinimizeError::Unbounded { .. }) => {
                endless = Some(at);
                break;
            }
            Err(error) => return Err(format!("rank {at}: {error}")),
        }
        potentials.push(simplex.potentials().to_vec());
    }
    Ok(Solved {
        flow: simplex.flow().to_vec(),
        potentials,
        endless,
    })
}

/// Solves without a flow to begin with, and compares.
pub(super) fn from_scratch(case: &Case, expected: &Outcome) -> Result<(), String> {
    let mut budget = Budget::new(None, &never);
    let simplex = match Simplex::from_scratch(&case.network, &mut budget) {
        Ok(simplex) => simplex,
        Err(ScratchError::Infeasible { cut, deficit }) => {
            check_cut(&case.network, &cut, deficit)?;
            return match *expected {
                Outcome::Infeasible { deficit: other } if other == i128::from(deficit) => Ok(()),
                _ => Err(format!(
                    "the simplex: infeasible by {deficit}; expected {expected:?}"
                )),
            };
        }
        Err(error) => return Err(format!("the simplex: {error}")),
    };
    let solved = minimize(simplex, &case.ranks)?;
    match (expected, solved.endless) {
        (Outcome::Optimal { totals, .. }, None) => proved(case, &solved, totals),
        (Outcome::Unbounded { rank }, Some(endless)) if *rank == endless => {
            legal(&case.network, &solved.flow)
        }
        _ => Err(format!(
            "the simplex: endless rank {:?}; expected {expected:?}",
            solved.endless
        )),
    }
}

fn legal(network: &Network, flow: &[i64]) -> Result<(), String> {
    match check_flow(network, flow).first() {
        None => Ok(()),
        Some(fault) => Err(format!("the flow: {fault}")),
    }
}

fn totals(ranks: &[RankCost], flow: &[i64]) -> Vec<i128> {
    ranks.iter().map(|rank| rank.total(flow)).collect()
}

/// The costs are those expected, and the checker agrees.
fn proved(case: &Case, solved: &Solved, expected: &[i128]) -> Result<(), String> {
    equal("the simplex", &totals(&case.ranks, &solved.flow), expected)?;
    let faults = check_optimal(&case.network, &case.ranks, &solved.flow, &solved.potentials);
    if let Some(fault) = faults.first() {
        return Err(format!("the checker: {fault}"));
    }
    let (Some(rank), Some(potential)) = (case.ranks.first(), solved.potentials.first()) else {
        return Ok(());
    };
    match bound(&case.network, rank, potential) {
        Some(bound) if bound == expected[0] => Ok(()),
        bound => Err(format!("the bound is {bound:?}, the value {}", expected[0])),
    }
}

/// What can leave the cut must fall short of its supply by the deficit.
fn check_cut(network: &Network, cut: &[NodeId], deficit: i64) -> Result<(), String> {
    let is_in = |node: NodeId| cut.contains(&node);
    let mut short: i128 = cut.iter().map(|&v| i128::from(network.supply(v))).sum();
    for arc in network.arcs() {
        match (is_in(network.tail(arc)), is_in(network.head(arc))) {
            (true, false) => short -= i128::from(network.upper(arc)),
            (false, true) => short += i128::from(network.lower(arc)),
            _ => {}
        }
    }
    if short == i128::from(deficit) && deficit > 0 {
        return Ok(());
    }
    Err(format!(
        "cut {cut:?} falls short by {short}, deficit {deficit}"
    ))
}

/// Where a rank is without end, the ones before it are at their optimum.
pub(super) fn is_optimal_before(case: &Case, rank: usize) -> Result<(), String> {
    let before = Case {
        kind: case.kind,
        network: case.network.clone(),
        ranks: case.ranks[..rank].to_vec(),
    };
    from_scratch(&before, &ssp::solve(&before.network, &before.ranks))
}

/// Solves from the optima of other costs, with and without a hint of a tree, and compares.
pub(super) fn from_flows(case: &Case, expected: &[i128], rng: &mut Rng) -> Result<(), String> {
    let network = &case.network;
    let other = [generate::other_costs(network, rng)];
    let Outcome::Optimal { flow, .. } = ssp::solve(network, &other) else {
        return Err("other costs find no optimum".to_owned());
    };
    let mut start = Vec::with_capacity(flow.len());
    for x in flow {
        start.push(i64::try_from(x).map_err(|_| format!("a flow of {x}"))?);
    }
    legal(network, &start)?;
    let arcs = network.arc_count();
    let mut hint = || (arcs > 0 && rng.chance(75)).then(|| ArcId::at(rng.below(arcs)));
    let hints: Vec<Option<ArcId>> = network.nodes().map(|_| hint()).collect();
    for hint in [&hints[..], &[]] {
        let simplex = Simplex::from_flow(network, start.clone(), hint)
            .map_err(|error| format!("a start from a flow: {error}"))?;
        let solved = minimize(simplex, &case.ranks)?;
        proved(case, &solved, expected)?;
    }
    Ok(())
}
