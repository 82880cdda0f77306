//! A stop at any amount of work.

use shardflow_solver::budget::{Budget, Stop, never};
use shardflow_solver::simplex::{MinimizeError, ScratchError, Simplex};
use shardflow_solver::verify::flow::check_flow;

use crate::answers::from_scratch;
use crate::generator::{SMALL, random_case, random_hint, totals};
use crate::oracle::{cancel_cycles, feasible_flow};
use crate::rng::Rng;

#[test]
fn a_stop_anywhere_leaves_a_feasible_flow_that_never_gets_worse() {
    for seed in 0..40 {
        let mut rng = Rng::new(2_000_000 + seed);
        let case = random_case(&mut rng, &SMALL);
        let Ok(start) = feasible_flow(&case.network) else {
            continue;
        };
        let hint = random_hint(&mut rng, &case.network);
        let mut best = totals(&case.ranks, &start);
        let mut is_done = false;
        let mut limit = 0;
        while !is_done {
            let mut budget = Budget::new(Some(limit), &never);
            let mut simplex = Simplex::from_flow(&case.network, start.clone(), &hint).unwrap();
            let mut outcome = Ok(());
            for rank in &case.ranks {
                outcome = simplex.minimize(rank, &mut budget);
                if outcome.is_err() {
                    break;
                }
                simplex.restrict();
            }
            is_done = outcome.is_ok();
            if !is_done {
                assert_eq!(outcome, Err(MinimizeError::Stopped(Stop::WorkLimit)));
            }
            assert_eq!(check_flow(&case.network, simplex.flow()), [], "seed {seed}");
            let reached = totals(&case.ranks, simplex.flow());
            assert!(reached <= best, "seed {seed}, limit {limit}");
            best = reached;
            limit += 1;
        }
        let expected = totals(&case.ranks, &cancel_cycles(&case, start));
        assert_eq!(best, expected, "seed {seed}");
    }
}

#[test]
fn a_stopped_rank_is_taken_up_again_and_not_restricted_before() {
    let case = random_case(&mut Rng::new(9), &SMALL);
    let answer = from_scratch(&case).unwrap();
    let mut free = Budget::new(None, &never);
    let mut simplex = Simplex::from_scratch(&case.network, &mut free).unwrap();
    for rank in &case.ranks {
        let mut limit = 0;
        while simplex
            .minimize(rank, &mut Budget::new(Some(limit), &never))
            .is_err()
        {
            simplex.restrict();
            limit += 1;
        }
        simplex.restrict();
    }
    assert_eq!(
        totals(&case.ranks, simplex.flow()),
        totals(&case.ranks, &answer.flow)
    );
}

#[test]
fn a_stop_in_the_search_for_a_flow_is_reported() {
    let case = random_case(&mut Rng::new(9), &SMALL);
    let mut budget = Budget::new(Some(0), &never);
    let stopped = Simplex::from_scratch(&case.network, &mut budget).err();
    assert_eq!(stopped, Some(ScratchError::Stopped(Stop::WorkLimit)));
}
