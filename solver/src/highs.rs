//! A second engine for a network with unit costs: HiGHS's simplex, a variable per arc, a row per node, on one thread.
//!
//! HiGHS computes in floating point, so its word is never passed on. Flows and duals are rounded (a basic solution of a
//! network is integral) and held against the network in integers; what fails is [`SolveError::Engine`], no answer.
//!
//! **What it can't.** Numbers beyond 2⁵³ are refused, since a float doesn't hold them. Costs of very different size may
//! end in an answer that fails its check. It names neither a cut nor a cycle. Its time limit is looked at rarely, not
//! at all while a model is built, and an answer that is cut short is none.
//!
//! **Complexity.** Exponential in the worst case; in practice 20 to 30 times as long as [`bare::solve`](crate::bare::solve).
//! About 500 bytes an arc.

use crate::bare::{Outcome, Solution, SolveError, proven};
use crate::budget::Stop;
use crate::network::{Network, RankCost};
use good_lp::constraint::ConstraintReference;
use good_lp::solvers::highs::{
    HighsParallelType, HighsPresolveType, HighsProblem, HighsSolution, HighsSolverType, highs,
};
use good_lp::solvers::{DualValues, SolutionStatus, SolutionWithDual};
use good_lp::{
    Expression, ProblemVariables, ResolutionError, Solution as _, SolverModel, Variable, variable,
};

/// Largest magnitude up to which each whole number is a float.
pub const EXACT_MAX: i64 = 1 << 53;

/// Most arcs: HiGHS counts entries of the matrix, two an arc, in 32 bits.
const ARCS_MAX: usize = 1 << 29;

/// Presolve's search for dependent equations, as a bit of `presolve_rule_off`. In a network only one row depends on
/// the others, and the search for it takes HiGHS 20 times as long as all the rest.
const DEPENDENT_EQUATIONS: i32 = 1 << 10;

/// Whether HiGHS simplifies the model first. Either is the faster one at some size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presolve {
    /// Not at all.
    Off,
    /// But for its search for dependent equations.
    On,
}

/// What HiGHS says, rounded but not checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Flow per arc and potential per node.
    Optimal {
        /// Flow per arc.
        flow: Vec<i64>,
        /// Potential per node.
        potentials: Vec<i64>,
    },
    /// No flow is feasible, or the cost has no end.
    NoOptimum,
}

/// A network in HiGHS's terms, ready to be solved.
pub struct Model {
    arcs: Vec<Variable>,
    rows: Vec<ConstraintReference>,
    problem: HighsProblem,
    has_time_limit: bool,
}

impl Model {
    /// Puts the network into HiGHS's terms.
    ///
    /// # Errors
    /// [`SolveError::Range`] for a number beyond [`EXACT_MAX`], convex costs or too many arcs.
    pub fn new(network: &Network, cost: &RankCost, presolve: Presolve) -> Result<Self, SolveError> {
        check_range(network, cost)?;
        let mut variables = ProblemVariables::new();
        let mut arcs = Vec::with_capacity(network.arc_count());
        let mut leaves = vec![Expression::default(); network.node_count()];
        let mut objective = Expression::with_capacity(network.arc_count());
        for arc in network.arcs() {
            let mut flow = variable().min(network.lower(arc) as f64);
            if network.upper(arc) != Network::UNCAPACITATED {
                flow = flow.max(network.upper(arc) as f64);
            }
            let flow = variables.add(flow);
            leaves[network.tail(arc).index()].add_mul(1, flow);
            leaves[network.head(arc).index()].add_mul(-1, flow);
            objective.add_mul(cost.unit_cost(arc) as f64, flow);
            arcs.push(flow);
        }
        let mut problem = (variables.minimise(objective).using(highs))
            .set_solver(HighsSolverType::Simplex)
            .set_parallel(HighsParallelType::Off)
            .set_threads(1);
        problem = match presolve {
            Presolve::Off => problem.set_presolve(HighsPresolveType::Off),
            Presolve::On => problem.set_option("presolve_rule_off", DEPENDENT_EQUATIONS),
        };
        let mut rows = Vec::with_capacity(network.node_count());
        for (node, leaves) in network.nodes().zip(leaves) {
            rows.push(problem.add_constraint(leaves.eq(network.supply(node) as f64)));
        }
        Ok(Model {
            arcs,
            rows,
            problem,
            has_time_limit: false,
        })
    }

    /// Asks HiGHS to stop after so many seconds of solving.
    #[must_use]
    pub fn with_time_limit(self, seconds: f64) -> Self {
        Model {
            problem: self.problem.set_time_limit(seconds),
            has_time_limit: true,
            ..self
        }
    }

    /// What HiGHS says.
    ///
    /// # Errors
    /// [`SolveError::Stopped`] at the time limit, [`SolveError::Engine`] where HiGHS fails.
    pub fn solve(self) -> Result<Claim, SolveError> {
        let Model { arcs, rows, .. } = &self;
        let (arcs, rows, has_time_limit) = (arcs.clone(), rows.clone(), self.has_time_limit);
        match self.problem.solve() {
            Ok(solution) if matches!(solution.status(), SolutionStatus::Optimal) => {
                Ok(rounded(solution, &arcs, &rows))
            }
            Err(ResolutionError::Infeasible | ResolutionError::Unbounded) => Ok(Claim::NoOptimum),
            Ok(_) | Err(ResolutionError::Other("NoSolutionFound")) if has_time_limit => {
                Err(SolveError::Stopped(Stop::TimeBudget))
            }
            Ok(_) => Err(SolveError::Engine("HiGHS stopped early".to_owned())),
            Err(error) => Err(SolveError::Engine(format!("HiGHS: {error}"))),
        }
    }
}

/// Solves with HiGHS, and checks the answer. `seconds_max` bounds each of up to two runs, as far as HiGHS keeps to it.
///
/// ```
/// use shardflow_solver::bare::Outcome;
/// use shardflow_solver::highs;
/// use shardflow_solver::network::{NetworkBuilder, RankCost};
/// let mut builder = NetworkBuilder::default();
/// let (s, t) = (builder.add_node(1), builder.add_node(-1));
/// builder.add_arc(s, t, 0, 1);
/// let outcome = highs::solve(&builder.build()?, &RankCost::linear(vec![4]), None);
/// assert!(matches!(outcome, Ok(Outcome::Optimal(solution)) if solution.flow == [1]));
/// # Ok::<(), shardflow_solver::network::NetworkError>(())
/// ```
///
/// # Errors
/// See [`SolveError`] and the module.
pub fn solve(
    network: &Network,
    cost: &RankCost,
    seconds_max: Option<f64>,
) -> Result<Outcome, SolveError> {
    proven(network, cost, outcome(network, cost, seconds_max)?)
}

/// Solves with HiGHS, and leaves the check of an optimum to [`proven`]. There is neither cut nor cycle.
///
/// # Errors
/// See [`SolveError`] and the module.
pub fn outcome(
    network: &Network,
    cost: &RankCost,
    seconds_max: Option<f64>,
) -> Result<Outcome, SolveError> {
    let claim = |cost: &RankCost| {
        if network.arc_count() == 0 {
            return Ok(without_arcs(network));
        }
        let model = Model::new(network, cost, Presolve::Off)?;
        match seconds_max {
            Some(seconds) => model.with_time_limit(seconds).solve(),
            None => model.solve(),
        }
    };
    match claim(cost)? {
        Claim::Optimal { flow, potentials } => Ok(Outcome::Optimal(Solution {
            flow,
            potentials,
            cost_unit: 1,
        })),
        // HiGHS may leave open which of the two it is. Without costs nothing is unbounded.
        Claim::NoOptimum => match claim(&RankCost::default())? {
            Claim::NoOptimum => Ok(Outcome::Infeasible(None)),
            Claim::Optimal { .. } => Ok(Outcome::Unbounded(None)),
        },
    }
}

/// HiGHS calls a model without variables empty, and says no more.
fn without_arcs(network: &Network) -> Claim {
    if network.nodes().any(|node| network.supply(node) != 0) {
        return Claim::NoOptimum;
    }
    Claim::Optimal {
        flow: Vec::new(),
        potentials: vec![0; network.node_count()],
    }
}

fn rounded(mut solution: HighsSolution, arcs: &[Variable], rows: &[ConstraintReference]) -> Claim {
    let flow = arcs.iter().map(|&arc| solution.value(arc).round() as i64);
    let flow = flow.collect();
    let duals = solution.compute_dual();
    // HiGHS has `reduced_cost = unit_cost − dual[tail] + dual[head]`.
    let potential = |row: &ConstraintReference| -duals.dual(row.clone()).round() as i64;
    Claim::Optimal {
        flow,
        potentials: rows.iter().map(potential).collect(),
    }
}

fn check_range(network: &Network, cost: &RankCost) -> Result<(), SolveError> {
    let range = |text: String| Err(SolveError::Range(text));
    if !cost.convex.is_empty() {
        return range("HiGHS takes no convex costs".to_owned());
    }
    if network.arc_count() > ARCS_MAX {
        return range(format!("HiGHS takes at most {ARCS_MAX} arcs"));
    }
    let is_exact = |value: i64| value.unsigned_abs() <= EXACT_MAX.unsigned_abs();
    for node in network.nodes() {
        let supply = network.supply(node);
        if !is_exact(supply) {
            return range(format!(
                "supply {supply} of node {} is beyond 2^53, up to which HiGHS is exact",
                node.0
            ));
        }
    }
    for arc in network.arcs() {
        let upper = match network.upper(arc) {
            Network::UNCAPACITATED => 0,
            upper => upper,
        };
        let (lower, unit_cost) = (network.lower(arc), cost.unit_cost(arc));
        for (name, value) in [
            ("lower bound", lower),
            ("upper bound", upper),
            ("unit cost", unit_cost),
        ] {
            if !is_exact(value) {
                return range(format!(
                    "{name} {value} of arc {} is beyond 2^53, up to which HiGHS is exact",
                    arc.0
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
