//! HiGHS on a network, rank by rank: convex arcs as parallel unit arcs, earlier ranks held at their optimum.

use good_lp::{Expression, Solution, SolverModel, constraint, default_solver, variable, variables};
use shardflow_solver::network::{ArcId, Network, RankCost};

/// The least cost by rank. Some arc must leave a choice: HiGHS has no answer to a model without variables.
///
/// # Panics
/// Where the network has no flow. Each unit of room of an arc is a variable, so bounds must be finite and close.
pub(crate) fn optimum(network: &Network, ranks: &[RankCost]) -> Vec<i128> {
    let mut held = Vec::new();
    for _ in ranks {
        let next = least(network, ranks, &held);
        held.push(next);
    }
    held
}

/// The least cost in the rank behind those that are held.
fn least(network: &Network, ranks: &[RankCost], held: &[i128]) -> i128 {
    let goal = held.len();
    let mut vars = variables!();
    let mut leaves: Vec<Expression> = vec![Expression::default(); network.node_count()];
    let mut costs: Vec<Expression> = vec![Expression::default(); goal + 1];
    for arc in network.arcs() {
        let (lower, upper) = (network.lower(arc), network.upper(arc));
        let (tail, head) = (network.tail(arc).index(), network.head(arc).index());
        for (rank, cost) in ranks.iter().zip(&mut costs) {
            *cost += value(rank, arc, lower) as f64;
        }
        leaves[tail] += lower as f64;
        leaves[head] -= lower as f64;
        for x in lower..upper {
            let unit = vars.add(variable().min(0).max(1));
            leaves[tail] += unit;
            leaves[head] -= unit;
            for (rank, cost) in ranks.iter().zip(&mut costs) {
                let slope = value(rank, arc, x + 1) - value(rank, arc, x);
                *cost += slope as f64 * unit;
            }
        }
    }
    let mut model = vars.minimise(costs[goal].clone()).using(default_solver);
    model.set_verbose(false);
    for (node, leaves) in network.nodes().zip(leaves) {
        model.add_constraint(constraint!(leaves == network.supply(node) as f64));
    }
    for (cost, &held) in costs.iter().zip(held) {
        model.add_constraint(constraint!(cost.clone() == held as f64));
    }
    let solution = model.solve().expect("the network has a flow");
    solution.eval(&costs[goal]).round() as i128
}

/// Cost of an arc at a flow.
pub(crate) fn value(rank: &RankCost, arc: ArcId, x: i64) -> i128 {
    let bend = rank.convex.iter().find(|c| c.0 == arc);
    let unit = rank.unit.get(arc.index()).copied().unwrap_or(0);
    i128::from(unit) * i128::from(x) + bend.map_or(0, |c| c.1.value(x))
}
