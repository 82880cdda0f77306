//! Medium networks against HiGHS, rank by rank.

use good_lp::{Expression, Solution, SolverModel, constraint, default_solver, variable, variables};

use crate::answers::{assert_proved, from_scratch};
use crate::generator::{Case, Size, bounds, random_case, totals, value};
use crate::rng::Rng;

/// HiGHS on one rank: convex arcs as parallel unit arcs, earlier ranks held at their optimum.
fn highs(case: &Case) -> Vec<i128> {
    let mut held: Vec<i128> = Vec::new();
    for goal in 0..case.ranks.len() {
        let mut vars = variables!();
        let mut leaves: Vec<Expression> = vec![Expression::default(); case.network.node_count()];
        let mut costs: Vec<Expression> = vec![Expression::default(); case.ranks.len()];
        for arc in case.network.arcs() {
            let (lower, upper) = (case.network.lower(arc), case.network.upper(arc));
            let (tail, head) = (
                case.network.tail(arc).index(),
                case.network.head(arc).index(),
            );
            for (rank, cost) in case.ranks.iter().zip(&mut costs) {
                *cost += value(rank, arc, lower) as f64;
            }
            leaves[tail] += lower as f64;
            leaves[head] -= lower as f64;
            for x in lower..upper {
                let unit = vars.add(variable().min(0).max(1));
                leaves[tail] += unit;
                leaves[head] -= unit;
                for (rank, cost) in case.ranks.iter().zip(&mut costs) {
                    let slope = value(rank, arc, x + 1) - value(rank, arc, x);
                    *cost += slope as f64 * unit;
                }
            }
        }
        let mut model = vars.minimise(costs[goal].clone()).using(default_solver);
        model.set_verbose(false);
        for (node, leaves) in case.network.nodes().zip(leaves) {
            model.add_constraint(constraint!(leaves == case.network.supply(node) as f64));
        }
        for (cost, &held) in costs.iter().zip(&held) {
            model.add_constraint(constraint!(cost.clone() == held as f64));
        }
        let solution = model.solve().unwrap();
        held.push(solution.eval(&costs[goal]).round() as i128);
    }
    held
}

#[test]
fn medium_networks_equal_highs() {
    let size = Size {
        nodes: 20,
        arcs: 90,
        span: 6,
        cost: 40,
    };
    let mut compared = 0;
    for seed in 0..300 {
        let case = random_case(&mut Rng::new(1_000_000 + seed), &size);
        let Ok(answer) = from_scratch(&case) else {
            continue;
        };
        assert_proved(&case, &answer, seed);
        if bounds(&case.network).iter().all(|&(low, high)| low == high) {
            continue; // nothing to choose: HiGHS calls the model empty
        }
        assert_eq!(
            totals(&case.ranks, &answer.flow),
            highs(&case),
            "seed {seed}"
        );
        compared += 1;
    }
    assert!(compared > 200, "{compared}");
}
