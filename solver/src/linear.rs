//! Min-cost flow of one linear cost.

mod number;
mod problem;
mod scaling;
mod simplex;

use crate::budget::{Budget, Stop};
use crate::network::{ArcId, CostError, Network, NodeId};
use problem::Problem;
use thiserror::Error;

/// Which engine solves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Method {
    /// The one that the shape of the network speaks for.
    #[default]
    Auto,
    /// Primal network simplex.
    Simplex,
    /// Cost scaling.
    CostScaling,
}

/// Counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Pivots of the simplex.
    pub pivots: u64,
    /// Pivots that changed no flow.
    pub degenerate_pivots: u64,
    /// Arcs priced.
    pub arcs_priced: u64,
    /// Nodes touched.
    pub nodes_touched: u64,
    /// Phases of cost scaling.
    pub phases: u64,
    /// Relabels.
    pub relabels: u64,
    /// Global updates.
    pub updates: u64,
}

/// An optimal flow with its proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Optimum {
    /// Flow per arc.
    pub flow: Vec<i64>,
    /// Potential per node.
    pub potentials: Vec<i64>,
    /// Counters.
    pub stats: Stats,
}

/// Why there is no optimum.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LinearError {
    /// No flow is feasible.
    #[error("the nodes of a cut supply {deficit} more than can leave them")]
    Infeasible {
        /// Cut.
        cut: Vec<NodeId>,
        /// Deficit.
        deficit: i64,
    },
    /// Unbounded.
    #[error("a cycle of {} uncapacitated arcs has negative cost", .cycle.len())]
    Unbounded {
        /// The arcs.
        cycle: Vec<ArcId>,
    },
    /// The budget.
    #[error("stopped: {reason:?}")]
    Stopped {
        /// Why.
        reason: Stop,
        /// A feasible flow, where one was reached.
        flow: Option<Vec<i64>>,
    },
    /// Costs out of range.
    #[error(transparent)]
    Cost(#[from] CostError),
}

/// Solves.
pub fn solve(
    network: &Network,
    unit_cost: &[i64],
    method: Method,
    budget: &mut Budget<'_>,
) -> Result<Optimum, LinearError> {
    let problem = Problem::new(network, unit_cost)?;
    if method == Method::CostScaling
        && let Some(optimum) = scaling::solve(&problem, budget)?
    {
        return Ok(optimum);
    }
    simplex::solve(&problem, budget)
}
