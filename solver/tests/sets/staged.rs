//! The stages against every placement of tiny problems.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::cost::{Cost, evaluate};
use shardflow_solver::model::current;
use shardflow_solver::model::sets::staged;
use shardflow_solver::snapshot::{Assignment, Problem};
use shardflow_solver::verify::placement::check;

use crate::calm;
use crate::cases::{Named, generate, start};
use crate::enumerate::{all_options, least_of};

/// Solves a problem; whether it reached the optimum of all placements, where there are few enough.
fn compare(problem: &Problem, starts: &[&[Assignment]]) -> Option<bool> {
    let options = |id| all_options(problem, id);
    let cost = |placement: &[Assignment]| evaluate(problem, placement).0;
    let optimum: Cost = least_of(10_000, problem, starts[0], options, |_| false, cost)?;
    let mut budget = Budget::new(None, &never);
    let solution = staged(problem, starts, &mut budget).expect("validated problems are built");
    assert_eq!(solution.stop, None);
    assert_eq!(check(problem, &solution.placement).faults, []);
    assert_eq!(cost(&solution.placement), solution.cost);
    assert!(solution.cost >= optimum, "better than every placement");
    for start in starts {
        assert!(solution.cost <= cost(start));
    }
    Some(solution.cost == optimum)
}

fn share(outcomes: impl Iterator<Item = bool>) -> (usize, usize) {
    outcomes.fold((0, 0), |(reached, all), outcome| {
        (reached + usize::from(outcome), all + 1)
    })
}

#[test]
fn most_random_problems_reach_the_joint_optimum() {
    let (reached, all) = share((200_000..202_000).filter_map(|seed| {
        let _named = Named(seed);
        let problem = generate(seed);
        let (now, other) = (current::placement(&problem), start(&problem, seed));
        compare(&problem, &[&now, &other])
    }));
    println!("{reached} of {all}");
    assert!(
        all > 1_000 && reached * 100 >= all * 90,
        "{reached} of {all}"
    );
}

#[test]
fn most_calm_clusters_reach_the_joint_optimum() {
    let (reached, all) = share((0..400).filter_map(|seed| {
        let _named = Named(seed);
        let problem = calm::generate(seed);
        compare(&problem, &[&current::placement(&problem)])
    }));
    println!("{reached} of {all}");
    assert!(all > 200 && reached * 100 >= all * 90, "{reached} of {all}");
}
