//! Answers under a work limit: legal, the same every time, never worse than where the solve starts.

use shardflow_solver::budget::{Budget, Stop, never};
use shardflow_solver::cost::{Cost, evaluate};
use shardflow_solver::greedy::felix;
use shardflow_solver::model::current;
use shardflow_solver::snapshot::Problem;
use shardflow_solver::strategy::{Answer, Fallback, Outcome};
use shardflow_solver::verify;

use crate::brute::{Named, assert_bounds};
use crate::cases::{MEDIUM, TINY, counts_cross, generate, solve, solve_within};

/// The better of the present layout and, where the limit lets them end, the tiers.
fn start(problem: &Problem, limit: u64) -> Cost {
    let now = evaluate(problem, &current::placement(problem)).0;
    let tiers = felix::plan(problem, &mut Budget::new(Some(limit), &never));
    tiers.map_or(now, |tiers| now.min(evaluate(problem, &tiers).0))
}

/// Checks an answer under a limit. Returns whether the limit was hit.
fn check(problem: &Problem, limit: u64, unlimited: &Answer) -> bool {
    let answer = solve_within(problem, Some(limit));
    assert_eq!(answer, solve_within(problem, Some(limit)), "limit {limit}");
    let (plan, report) = (&answer.plan, &answer.report);
    assert!(report.is_reproducible);
    assert_eq!(
        verify::placement::check(problem, &plan.placement).faults,
        []
    );
    assert_eq!(verify::moves::check(problem, plan), []);
    assert!(plan.after.0 <= start(problem, limit), "limit {limit}");
    let is_hit = report.fallback == Some(Fallback::Budget(Stop::WorkLimit));
    if unlimited.report.outcome == Outcome::Optimal {
        assert!(plan.after.0 >= unlimited.plan.after.0);
        assert_bounds(&answer, &unlimited.plan.after.0);
        assert!(is_hit || report.outcome == Outcome::Optimal, "{report:?}");
    }
    if limit >= unlimited.report.work {
        assert_eq!(answer.plan, unlimited.plan, "limit {limit}");
    }
    is_hit
}

#[test]
fn a_work_limit_never_spoils_the_answer() {
    let mut hit = 0;
    for (first, seeds, size) in [(30_000, 600, TINY), (40_000, 60, MEDIUM)] {
        for seed in first..first + seeds {
            let _named = Named(&seed);
            let problem = generate(seed, size).problem();
            let unlimited = solve(&problem);
            let work = unlimited.report.work;
            let small = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
            let near = [work / 2, work.saturating_sub(1), work, work + 1];
            for limit in small.into_iter().filter(|&limit| limit < work).chain(near) {
                hit += usize::from(check(&problem, limit, &unlimited));
            }
        }
    }
    assert!(hit > 1_000, "only {hit} solves hit their limit");
}

#[test]
fn more_work_never_gives_a_worse_plan() {
    for seed in 50_000..50_200 {
        let _named = Named(&seed);
        let problem = generate(seed, MEDIUM).problem();
        if counts_cross(&problem) {
            continue;
        }
        let work = solve(&problem).report.work;
        let costs =
            (0..=24).map(|part| solve_within(&problem, Some(work * part / 24)).plan.after.0);
        let costs: Vec<Cost> = costs.collect();
        for (part, pair) in costs.windows(2).enumerate() {
            assert!(
                pair[1] <= pair[0],
                "{part} and {} of 24 parts of {work}",
                part + 1
            );
        }
    }
}
