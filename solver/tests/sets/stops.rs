//! Solves that a work limit cuts short: admissible, and no worse than the start.

use shardflow_solver::budget::{Budget, Stop, never};
use shardflow_solver::cost::evaluate;
use shardflow_solver::model::sets::{SetError, followers, promotions, staged};
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

#[test]
fn a_stopped_choice_of_leaders_is_admissible_and_no_worse_than_its_start() {
    let mut stopped = 0;
    for seed in 0..300 {
        let _named = Named(seed);
        let problem = generate(seed);
        let start = start(&problem, seed);
        let before = evaluate(&problem, &start).0;
        for limit in [0, 10, 20, 40, 80, 160] {
            let mut budget = Budget::new(Some(limit), &never);
            let solution = promotions(&problem, &start, &mut budget);
            let solution = solution.expect("a work limit lets the build end");
            assert_eq!(check(&problem, &solution.placement).faults, []);
            assert!(evaluate(&problem, &solution.placement).0 <= before);
            stopped += usize::from(solution.stop.is_some());
        }
    }
    assert!(stopped > 300, "{stopped} stopped");
}

#[test]
fn stopped_stages_end_with_the_best_so_far() {
    let (mut stopped, mut better) = (0, 0);
    for seed in 0..200 {
        let _named = Named(seed);
        let problem = generate(seed);
        let start = start(&problem, seed);
        let before = evaluate(&problem, &start).0;
        let mut last = before;
        for limit in [0, 50, 200, 400, 800, 1_600, 3_200, 6_400] {
            let mut budget = Budget::new(Some(limit), &never);
            let solution = staged(&problem, &[&start], &mut budget).expect("a stop is no error");
            assert_eq!(check(&problem, &solution.placement).faults, []);
            let after = evaluate(&problem, &solution.placement).0;
            assert!(after <= last, "more work leaves a worse plan");
            last = after;
            stopped += usize::from(solution.stop.is_some());
            better += usize::from(solution.stop.is_some() && after < before);
        }
    }
    assert!(
        stopped > 300 && better > 30,
        "{stopped} stopped, {better} better"
    );
}
