//! Followers from a start that breaks caps on replicas.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::cost::evaluate;
use shardflow_solver::model::sets::choices::Choices;
use shardflow_solver::model::sets::followers;
use shardflow_solver::snapshot::{Assignment, Problem};
use shardflow_solver::verify::placement::check;

use crate::cases::{Named, generate, start};
use crate::enumerate::with_lost;

/// The placement with what each shard by itself wants most for its leader.
fn greedy(problem: &Problem, placement: &[Assignment]) -> Vec<Assignment> {
    let mut choices = Choices::new(problem, &[]).expect("no prices");
    let mut greedy = placement.to_vec();
    for id in problem.shard_ids() {
        let (shard, now) = (problem.shard(id), &placement[id.index()]);
        if shard.is_pinned {
            continue;
        }
        choices.open_stream(shard.stream);
        choices.open_shard(id, now);
        let best = match now.leader {
            Some(leader) => choices.led(leader),
            None => choices.leaderless(),
        };
        let best = best.expect("the leader of an admissible placement has followers");
        greedy[id.index()] = with_lost(problem, id, now.leader, &best.followers);
    }
    greedy
}

#[test]
fn caps_that_a_start_breaks_are_kept_in_the_end() {
    let mut broken = 0;
    for seed in 0..4_000 {
        let _named = Named(seed);
        let problem = generate(seed);
        let start = start(&problem, seed);
        let greedy = greedy(&problem, &start);
        if check(&problem, &greedy).faults.is_empty() {
            continue;
        }
        broken += 1;
        let solve = |start: &[Assignment]| {
            let solution = followers(&problem, start, &mut Budget::new(None, &never));
            solution.expect("the leaders have followers").placement
        };
        let (from_start, from_greedy) = (solve(&start), solve(&greedy));
        assert_eq!(check(&problem, &from_greedy).faults, []);
        let cost = |placement: &[Assignment]| evaluate(&problem, placement).0;
        assert_eq!(cost(&from_greedy), cost(&from_start));
    }
    assert!(broken > 50, "only {broken} break a cap");
}
