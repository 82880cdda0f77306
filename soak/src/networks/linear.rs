//! What the engines for one linear cost say of a case's first rank, and what must hold of it.

use shardflow_solver::bare::{self, Outcome};
use shardflow_solver::budget::{Budget, never};
use shardflow_solver::linear::Method;
use shardflow_solver::network::RankCost;

use super::Case;
use crate::ssp;

/// Solves the unit costs of the first rank by every engine, and compares. Convex costs are left out.
pub(super) fn by_every_engine(case: &Case) -> Result<(), String> {
    let unit = case.ranks.first().map(|rank| rank.unit.clone());
    let cost = RankCost::linear(unit.unwrap_or_default());
    let expected = ssp::solve(&case.network, std::slice::from_ref(&cost));
    for method in [Method::Simplex, Method::CostScaling, Method::Auto] {
        by(method, case, &cost, &expected).map_err(|fault| format!("{method:?}: {fault}"))?;
    }
    Ok(())
}

fn by(method: Method, case: &Case, cost: &RankCost, expected: &ssp::Outcome) -> Result<(), String> {
    let mut budget = Budget::new(None, &never);
    let outcome = bare::outcome(&case.network, cost, method, &mut budget).0;
    let outcome = outcome.and_then(|outcome| bare::proven(&case.network, cost, outcome));
    let outcome = outcome.map_err(|error| error.to_string())?;
    let is_same = match (&outcome, expected) {
        (Outcome::Optimal(solution), ssp::Outcome::Optimal { totals, .. }) => {
            bare::total(cost, &solution.flow) == totals.first().copied()
        }
        (Outcome::Infeasible(Some(cut)), ssp::Outcome::Infeasible { deficit }) => {
            cut.deficit() == *deficit
        }
        (Outcome::Unbounded(Some(_)), ssp::Outcome::Unbounded { .. }) => true,
        _ => false,
    };
    match is_same {
        true => Ok(()),
        false => Err(format!("{outcome:?}; expected {expected:?}")),
    }
}
