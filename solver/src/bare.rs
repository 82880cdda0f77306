//! A network with unit costs alone, solved whole: a flow with its proof, or the reason why there is none.
//!
//! **Proofs.** Each outcome carries what shows it without the engine, in one pass over the arcs. *Optimal*: potentials
//! ([`check`]). *Infeasible*: a [`Cut`], a set of nodes that supply more than its arcs can carry out. *Unbounded*: a
//! cycle of uncapacitated arcs of negative total cost. What fails its own proof is an error.
//!
//! **Ranges.** Unit costs whose potentials could leave `i64` ([`RankCost::check`]) are divided by their greatest common
//! divisor, which changes no optimum; where they then fit, the answer is exact, and [`Solution::cost_unit`] is the
//! divisor. Otherwise they are refused, and so are convex costs.
//!
//! **Complexity.** That of [`linear`]; O(nodes + arcs) more for the proofs.

use crate::budget::{Budget, Stop};
use crate::linear::{self, LinearError, Method, Optimum, Stats};
use crate::network::{ArcId, CostError, Network, NetworkBuilder, NetworkError, NodeId, RankCost};
use crate::verify::flow::{FlowFault, check_optimal};
use std::borrow::Cow;
use thiserror::Error;

/// What holds of a network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A flow of least cost.
    Optimal(Solution),
    /// No flow keeps all supplies and bounds; with the cut that proves it, where the engine gives one.
    Infeasible(Option<Cut>),
    /// There are flows of any cost, however low; with a cycle of uncapacitated arcs, in order, that costs less than 0,
    /// where the engine gives one.
    Unbounded(Option<Vec<ArcId>>),
}

/// A flow of least cost and its proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution {
    /// Flow per arc.
    pub flow: Vec<i64>,
    /// Potential per node, in units of [`Solution::cost_unit`].
    pub potentials: Vec<i64>,
    /// What all unit costs were divided by; 1 unless they were too large as they stand.
    pub cost_unit: i128,
}

/// Nodes whose supply can't leave them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// The nodes, ascending.
    pub nodes: Vec<NodeId>,
    /// Their supplies, summed.
    pub supply: i128,
    /// What their arcs to other nodes can carry at most.
    pub room: i128,
    /// What arcs from other nodes must bring at least.
    pub forced: i128,
}

impl Cut {
    /// The cut around some nodes; `None` where it proves nothing: the arcs can carry what is supplied and forced in.
    ///
    /// Complexity: O(nodes + arcs).
    pub fn new(network: &Network, nodes: Vec<NodeId>) -> Option<Self> {
        let mut is_inside = vec![false; network.node_count()];
        let mut supply = 0;
        for &node in &nodes {
            is_inside[node.index()] = true;
            supply += i128::from(network.supply(node));
        }
        let (mut room, mut forced) = (0, 0);
        for arc in network.arcs() {
            let (tail, head) = (network.tail(arc).index(), network.head(arc).index());
            match (is_inside[tail], is_inside[head]) {
                (true, false) if network.upper(arc) == Network::UNCAPACITATED => return None,
                (true, false) => room += i128::from(network.upper(arc)),
                (false, true) => forced += i128::from(network.lower(arc)),
                _ => {}
            }
        }
        let cut = Cut {
            nodes,
            supply,
            room,
            forced,
        };
        (cut.deficit() > 0).then_some(cut)
    }

    /// How much is left over at least, in any flow within the bounds.
    pub fn deficit(&self) -> i128 {
        self.supply + self.forced - self.room
    }
}

/// Why there is no outcome.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SolveError {
    /// The budget stopped the solve.
    #[error("stopped: {0:?}")]
    Stopped(Stop),
    /// The costs do not fit the network.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// Numbers beyond what the engine can tell apart.
    #[error("{0}")]
    Range(String),
    /// The engine failed, or its answer does not pass its check.
    #[error("{0}")]
    Engine(String),
}

/// Solves by [`Method::Auto`], and checks the answer.
///
/// ```
/// use shardflow_solver::bare::{self, Outcome};
/// use shardflow_solver::budget::{Budget, never};
/// use shardflow_solver::network::{NetworkBuilder, RankCost};
/// let mut builder = NetworkBuilder::default();
/// let (s, t) = (builder.add_node(3), builder.add_node(-3));
/// for upper in [0, 2, 9] {
///     builder.add_arc(s, t, 0, upper);
/// }
/// let (network, cost) = (builder.build()?, RankCost::linear(vec![1, 5, 7]));
/// let outcome = bare::solve(&network, &cost, &mut Budget::new(None, &never));
/// let Ok(Outcome::Optimal(solution)) = outcome else { panic!() };
/// assert_eq!(bare::total(&cost, &solution.flow), Some(17));
/// # Ok::<(), shardflow_solver::network::NetworkError>(())
/// ```
///
/// # Errors
/// See [`SolveError`].
pub fn solve(
    network: &Network,
    cost: &RankCost,
    budget: &mut Budget<'_>,
) -> Result<Outcome, SolveError> {
    proven(
        network,
        cost,
        outcome(network, cost, Method::Auto, budget).0?,
    )
}

/// Solves, and leaves the check of an optimum to [`proven`]. The counters are there in any case, as far as the solve
/// came.
///
/// # Errors
/// See [`SolveError`].
pub fn outcome(
    network: &Network,
    cost: &RankCost,
    method: Method,
    budget: &mut Budget<'_>,
) -> (Result<Outcome, SolveError>, Stats) {
    let unit_cost = match unit_costs(network, cost) {
        Ok(unit_cost) => unit_cost,
        Err(error) => return (Err(error), Stats::default()),
    };
    let (solved, stats) = linear::solve(network, &unit_cost, method, budget);
    let Err(LinearError::Cost(error @ CostError::CostRange { .. })) = solved else {
        return (claimed(network, &unit_cost, solved, 1), stats);
    };
    let magnitudes = unit_cost.iter().map(|unit| unit.unsigned_abs());
    let divisor = i128::from(magnitudes.fold(0, greatest_common_divisor));
    let Some(scaled) = divided(&unit_cost, divisor) else {
        return (Err(error.into()), stats);
    };
    let (solved, stats) = linear::solve(network, &scaled, method, budget);
    (claimed(network, &scaled, solved, divisor), stats)
}

/// What a result of [`linear::solve`] claims; a cut and a cycle prove themselves here.
fn claimed(
    network: &Network,
    unit_cost: &[i64],
    solved: Result<Optimum, LinearError>,
    cost_unit: i128,
) -> Result<Outcome, SolveError> {
    match solved {
        Ok(Optimum { flow, potentials }) => Ok(Outcome::Optimal(Solution {
            flow,
            potentials,
            cost_unit,
        })),
        Err(LinearError::Infeasible { cut, .. }) => {
            let cut = Cut::new(network, cut).ok_or_else(|| unproven("infeasible", "its cut"))?;
            Ok(Outcome::Infeasible(Some(cut)))
        }
        Err(LinearError::Unbounded { cycle }) if is_negative_cycle(network, unit_cost, &cycle) => {
            Ok(Outcome::Unbounded(Some(cycle)))
        }
        Err(LinearError::Unbounded { .. }) => Err(unproven("unbounded", "its cycle")),
        Err(LinearError::Stopped(stop)) => Err(SolveError::Stopped(stop)),
        Err(LinearError::Cost(error)) => Err(error.into()),
    }
}

/// Whether arcs without an upper bound lead around a cycle, in order, and cost less than 0 together.
fn is_negative_cycle(network: &Network, unit_cost: &[i64], cycle: &[ArcId]) -> bool {
    let mut cost = 0;
    let mut at = cycle.last().map(|&arc| network.head(arc));
    for &arc in cycle {
        if at != Some(network.tail(arc)) || network.upper(arc) != Network::UNCAPACITATED {
            return false;
        }
        at = Some(network.head(arc));
        cost += i128::from(unit_cost[arc.index()]);
    }
    cost < 0
}

/// The outcome itself, once an optimum has passed [`check`].
///
/// # Errors
/// [`SolveError::Engine`] with the first fault.
pub fn proven(network: &Network, cost: &RankCost, outcome: Outcome) -> Result<Outcome, SolveError> {
    if let Outcome::Optimal(solution) = &outcome
        && let Some(fault) = check(network, cost, solution).first()
    {
        return Err(unproven("optimal", &fault.to_string()));
    }
    Ok(outcome)
}

fn unproven(claim: &str, by: &str) -> SolveError {
    SolveError::Engine(format!(
        "the engine's answer, {claim}, fails its check: {by}"
    ))
}

/// All faults of a solution, by the verifier alone. O(nodes + arcs).
pub fn check(network: &Network, cost: &RankCost, solution: &Solution) -> Vec<FlowFault> {
    let scaled = match solution.cost_unit {
        1 => Cow::Borrowed(cost),
        _ if !cost.convex.is_empty() => return vec![FlowFault::CostShape { rank: 0 }],
        divisor => match divided(&cost.unit, divisor) {
            Some(scaled) => Cow::Owned(RankCost::linear(scaled)),
            None => return vec![FlowFault::CostShape { rank: 0 }],
        },
    };
    check_optimal(
        network,
        std::slice::from_ref(&*scaled),
        &solution.flow,
        std::slice::from_ref(&solution.potentials),
    )
}

/// Cost of a flow by its unit costs, exact; `None` where it leaves `i128`.
pub fn total(cost: &RankCost, flow: &[i64]) -> Option<i128> {
    let mut arcs = cost.unit.iter().zip(flow);
    arcs.try_fold(0i128, |sum, (&unit, &flow)| {
        sum.checked_add(i128::from(unit) * i128::from(flow))
    })
}

/// The unit cost of every arc.
fn unit_costs<'a>(network: &Network, cost: &'a RankCost) -> Result<Cow<'a, [i64]>, SolveError> {
    if let Some((arc, _)) = cost.convex.first() {
        let text = format!("the cost of arc {} is no line", arc.0);
        return Err(SolveError::Range(text));
    }
    match cost.unit.as_slice() {
        [] => Ok(Cow::Owned(vec![0; network.arc_count()])),
        unit => Ok(Cow::Borrowed(unit)),
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Unit costs by a common divisor; `None` where it isn't one.
fn divided(unit_cost: &[i64], divisor: i128) -> Option<Vec<i64>> {
    if divisor < 1 {
        return None;
    }
    let units = unit_cost.iter().map(|&unit| {
        let unit = i128::from(unit);
        (unit % divisor == 0).then(|| i64::try_from(unit / divisor).ok())?
    });
    units.collect()
}

/// How much of unbalanced supplies finds its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// All supply.
    pub supplied: i128,
    /// All demand.
    pub demanded: i128,
    /// The most that can go from supply to demand; `None` where the lower bounds can't be kept.
    pub delivered: Option<i128>,
}

/// How much can be delivered where supplies sum to `surplus` instead of 0: one more node takes what is left over and
/// gives what is missing, and as little as can be is left over. Costs play no part.
///
/// # Errors
/// [`SolveError::Range`] where the network with that node is out of range, [`SolveError::Stopped`].
pub fn deliverable(
    mut builder: NetworkBuilder,
    surplus: i128,
    budget: &mut Budget<'_>,
) -> Result<Delivery, SolveError> {
    let range = |error: NetworkError| SolveError::Range(error.to_string());
    let balance = i64::try_from(-surplus)
        .map_err(|_| SolveError::Range(format!("supplies sum to {surplus}")))?;
    let slack = builder.add_node(balance);
    let network = builder.build().map_err(range)?;
    let (mut supplied, mut demanded) = (0, 0);
    let (mut relaxed, mut unit) = (NetworkBuilder::default(), Vec::new());
    for node in network.nodes() {
        relaxed.add_node(network.supply(node));
    }
    for arc in network.arcs() {
        let (tail, head) = (network.tail(arc), network.head(arc));
        relaxed.add_arc(tail, head, network.lower(arc), network.upper(arc));
    }
    unit.resize(network.arc_count(), 0);
    for node in network.nodes().filter(|&node| node != slack) {
        let supply = network.supply(node);
        if supply > 0 {
            supplied += i128::from(supply);
            relaxed.add_arc(node, slack, 0, supply);
            unit.push(1);
        } else if supply < 0 {
            demanded -= i128::from(supply);
            relaxed.add_arc(slack, node, 0, -supply);
            unit.push(0);
        }
    }
    let (network, cost) = (relaxed.build().map_err(range)?, RankCost::linear(unit));
    let delivered = match solve(&network, &cost, budget)? {
        Outcome::Optimal(solution) => {
            let left_over = total(&cost, &solution.flow);
            left_over.map(|left_over| supplied - left_over)
        }
        Outcome::Infeasible(_) | Outcome::Unbounded(_) => None,
    };
    Ok(Delivery {
        supplied,
        demanded,
        delivered,
    })
}

#[cfg(test)]
mod tests;
