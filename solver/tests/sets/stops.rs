//! Solves that a work limit cuts short: admissible, and no worse than the start.

use shardflow_solver::budget::{Budget, Stop, never};
use shardflow_solver::cost::evaluate;
use shardflow_solver::model::sets::{SetError, followers};
use shardflow_solver::verify::placement::check;

use crate::cases::{Named, generate, start};

#[test]
fn a_stopped_solve_is_admissible_and_no_worse_than_its_start() {
    let (mut stopped, mut better) = (0, 0);
    for seed in 0..300 {
        let _named = Named(seed);
        let problem = generate(seed);
        let start = start(&problem, seed);
        let before = evaluate(&problem, &start).0;
        for limit in [0, 10, 40, 100, 200, 400, 800] {
            let mut budget = Budget::new(Some(limit), &never);
            let solution = match followers(&problem, &start, &mut budget) {
                Ok(solution) => solution,
                Err(error) => {
                    assert_eq!(error, SetError::Stopped(Stop::WorkLimit));
                    continue;
                }
            };
            assert_eq!(check(&problem, &solution.placement).faults, []);
            let after = evaluate(&problem, &solution.placement).0;
            assert!(after <= before);
            stopped += usize::from(solution.stop.is_some());
            better += usize::from(solution.stop.is_some() && after < before);
        }
    }
    assert!(
        stopped > 300 && better > 30,
        "{stopped} stopped, {better} better"
    );
}
