//! Min-cost flow of one linear cost: the engines behind [`bare`](crate::bare).
//!
//! **Problem.** Among the feasible flows of a [`Network`], one of least Σ unit cost · flow, with potentials that prove it.
//! [`simplex`](crate::simplex) solves the same for ranks of convex costs and from any flow; these engines know one
//! line an arc and begin with nothing, and owe their speed to that: numbers of 32 bits where they suffice, arcs that are
//! kept in the direction in which they have room, nodes numbered anew along the tree.
//!
//! **Two engines.** The primal network simplex takes every problem. Cost scaling takes those whose amounts and costs
//! fit 32 bits, and leaves an infeasible one to the simplex, which finds the cut. [`Method::Auto`] chooses by the
//! numbers of the network alone: same network, same answer. It takes cost scaling where from one node to one other more
//! flows than most arcs can carry, over 20,000 nodes and more, and the simplex otherwise.
//!
//! **Outcomes.** An optimum has potentials with `reduced_cost = unit_cost + potential[tail] − potential[head]` ≥ 0 where
//! flow may rise and ≤ 0 where it may fall. An infeasible network has a cut, an unbounded one a cycle.
//!
//! **Complexity.** That of the engine; O(nodes + arcs) more to begin and to write the answer out. All work but the
//! latter counts in the budget.

#[cfg(test)]
mod memory;
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
    /// The one that the numbers of the network speak for.
    #[default]
    Auto,
    /// Primal network simplex.
    Simplex,
    /// Cost scaling; the simplex where that can't take the problem.
    CostScaling,
}

/// What an engine did. Counters of the engine that wasn't used are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Who gave the answer, or was at work when it ended; [`Method::Auto`] before any was.
    pub method: Method,
    /// Pivots of the simplex.
    pub pivots: u64,
    /// Pivots that changed no flow.
    pub degenerate_pivots: u64,
    /// Arcs whose reduced cost was looked at.
    pub arcs_priced: u64,
    /// Nodes on the cycles of pivots and in the subtrees that were shifted.
    pub nodes_touched: u64,
    /// Phases of cost scaling.
    pub phases: u64,
    /// Single nodes whose potential was lowered.
    pub relabels: u64,
    /// Times all potentials were lowered at once.
    pub updates: u64,
}

/// An optimal flow with its proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Optimum {
    /// Flow per arc.
    pub flow: Vec<i64>,
    /// Potential per node.
    pub potentials: Vec<i64>,
}

/// Why there is no optimum.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LinearError {
    /// No flow is feasible.
    #[error("the nodes of a cut supply {deficit} more than can leave them")]
    Infeasible {
        /// The smallest set of nodes, ascending, that supply most above what can leave them.
        cut: Vec<NodeId>,
        /// How much that is; no flow can do with less.
        deficit: i64,
    },
    /// Some flow is feasible, and there is none of least cost.
    #[error("a cycle of {} uncapacitated arcs has negative cost", .cycle.len())]
    Unbounded {
        /// The arcs, each from the head of the one before.
        cycle: Vec<ArcId>,
    },
    /// The budget ended first.
    #[error("stopped: {0:?}")]
    Stopped(Stop),
    /// The costs do not fit the network.
    #[error(transparent)]
    Cost(#[from] CostError),
}

impl From<Stop> for LinearError {
    fn from(stop: Stop) -> Self {
        LinearError::Stopped(stop)
    }
}

/// Solves, and says what was done as far as it came.
///
/// ```
/// use shardflow_solver::budget::{Budget, never};
/// use shardflow_solver::linear::{self, Method};
/// use shardflow_solver::network::NetworkBuilder;
/// let mut builder = NetworkBuilder::default();
/// let (s, t) = (builder.add_node(3), builder.add_node(-3));
/// builder.add_arc(s, t, 0, 2);
/// builder.add_arc(s, t, 0, 9);
/// let network = builder.build()?;
/// let mut budget = Budget::new(None, &never);
/// let (optimum, _) = linear::solve(&network, &[5, 7], Method::Auto, &mut budget);
/// assert_eq!(optimum.map(|optimum| optimum.flow), Ok(vec![2, 1]));
/// # Ok::<(), shardflow_solver::network::NetworkError>(())
/// ```
///
/// # Errors
/// See [`LinearError`].
pub fn solve(
    network: &Network,
    unit_cost: &[i64],
    method: Method,
    budget: &mut Budget<'_>,
) -> (Result<Optimum, LinearError>, Stats) {
    let mut stats = Stats::default();
    let result = Problem::new(network, unit_cost, budget)
        .and_then(|problem| by(&problem, method, budget, &mut stats));
    (result, stats)
}

fn by(
    problem: &Problem<'_>,
    method: Method,
    budget: &mut Budget<'_>,
    stats: &mut Stats,
) -> Result<Optimum, LinearError> {
    let is_scaling = match method {
        Method::Auto => scaling::is_favoured(problem, budget)?,
        Method::Simplex => false,
        Method::CostScaling => true,
    };
    if is_scaling && let Some(optimum) = scaling::solve(problem, budget, stats)? {
        return Ok(optimum);
    }
    simplex::solve(problem, budget, stats)
}
