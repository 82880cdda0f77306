//! HiGHS's simplex through good_lp: a variable per arc, a row per node, on one thread.

use crate::network::Bare;
use good_lp::solvers::highs::{
    HighsParallelType, HighsPresolveType, HighsProblem, HighsSolverType, highs,
};
use good_lp::{Expression, ProblemVariables, Solution, SolverModel, Variable, variable};
use shardflow_solver::network::Network;

/// Ways to run it. Each is the faster one at some size.
pub(crate) const VARIANTS: [Variant; 2] = [
    Variant {
        name: "HiGHS simplex, no presolve",
        option: |problem| problem.set_presolve(HighsPresolveType::Off),
    },
    Variant {
        name: "HiGHS simplex, presolve",
        option: |problem| problem.set_option("presolve_rule_off", DEPENDENT_EQUATIONS),
    },
];

/// Presolve's search for dependent equations, as a bit of `presolve_rule_off`. In a network only one row depends on
/// the others, and the search for it takes HiGHS 20 times as long as all the rest.
const DEPENDENT_EQUATIONS: i32 = 1 << 10;

/// A way to run HiGHS.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    option: fn(HighsProblem) -> HighsProblem,
}

/// A model that is ready to be solved.
pub(crate) struct Model {
    arcs: Vec<Variable>,
    problem: HighsProblem,
}

/// Puts the network into HiGHS's terms.
pub(crate) fn prepare(bare: &Bare, variant: &Variant) -> Model {
    let network = &bare.network;
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
        objective.add_mul(bare.cost.unit_cost(arc) as f64, flow);
        arcs.push(flow);
    }
    let mut problem = (variables.minimise(objective).using(highs))
        .set_solver(HighsSolverType::Simplex)
        .set_parallel(HighsParallelType::Off)
        .set_threads(1);
    problem = (variant.option)(problem);
    for (node, leaves) in network.nodes().zip(leaves) {
        problem.add_constraint(leaves.eq(network.supply(node) as f64));
    }
    Model { arcs, problem }
}

impl Model {
    /// An optimal flow by arc. A vertex of a network's flows is integral, so rounding only takes off HiGHS's noise.
    pub(crate) fn solve(self) -> Result<Vec<i64>, String> {
        let solution = (self.problem.solve()).map_err(|error| format!("HiGHS: {error}"))?;
        let flow = |&arc: &Variable| solution.value(arc).round() as i64;
        Ok(self.arcs.iter().map(flow).collect())
    }
}
