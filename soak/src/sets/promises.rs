//! What an answer promises whatever its engine, on one case: legal to the last step, a function of the request, a fixed
//! point, never worse than what is at hand, and the rest of the way after each part of it.

use shardflow_solver::budget::never;
use shardflow_solver::cost::{Cost, evaluate};
use shardflow_solver::model::current;
use shardflow_solver::snapshot::Problem;
use shardflow_solver::strategy::{self, Answer, Outcome, Planner, SolveOptions};
use shardflow_solver::verify::{moves, placement};

use crate::cases::{self, Case};
use crate::layouts::{after_steps, length, paid, with_layout};
use crate::rng::Rng;

/// The answer of a planner without a budget.
///
/// # Errors
/// There is none.
pub(crate) fn solve(problem: &Problem, planner: Planner) -> Result<Answer, String> {
    let options = SolveOptions {
        planner,
        ..SolveOptions::default()
    };
    strategy::solve(problem, &options, &never).map_err(|stop| format!("stopped: {stop:?}"))
}

/// Checks the placement, its cost, and every step that leads there.
///
/// # Errors
/// The first fault.
pub(crate) fn check_legal(problem: &Problem, answer: &Answer) -> Result<(), String> {
    let plan = &answer.plan;
    let checked = placement::check(problem, &plan.placement);
    if let Some(fault) = checked.faults.first() {
        return Err(format!("the placement: {fault}"));
    }
    if let Some(fault) = moves::check(problem, plan).first() {
        return Err(format!("the moves: {fault}"));
    }
    let measured = evaluate(problem, &plan.placement);
    if measured != plan.after || checked.cost != measured.0 || checked.terms != measured.1 {
        return Err(format!(
            "the plan says that it costs {:?}, the objective {measured:?}, the verifier {:?}",
            plan.after, checked.cost
        ));
    }
    Ok(())
}

/// Checks all promises of the answer to a case.
///
/// # Errors
/// The first that is broken.
pub(super) fn check(
    case: &Case,
    problem: &Problem,
    answer: &Answer,
    seed: u64,
) -> Result<(), String> {
    let mut rng = Rng::new(seed);
    check_legal(problem, answer)?;
    check_function(case, problem, answer, &mut rng)?;
    check_monotone(problem, answer)?;
    if problem.policy.max_moves.is_none() && answer.report.fallback.is_none() {
        check_fixed_point(case, problem, answer)?;
        if answer.report.outcome == Outcome::Optimal {
            check_prefix(case, problem, answer, &mut rng)?;
        }
    }
    Ok(())
}

fn check_function(
    case: &Case,
    problem: &Problem,
    answer: &Answer,
    rng: &mut Rng,
) -> Result<(), String> {
    let again = solve(problem, Planner::Auto)?;
    if again != *answer {
        return Err("the same request has another answer".to_owned());
    }
    let shuffled = solve(&cases::shuffled(case, rng).problem(), Planner::Auto)?;
    match shuffled == *answer {
        true => Ok(()),
        false => Err("another order of the input has another answer".to_owned()),
    }
}

fn check_monotone(problem: &Problem, answer: &Answer) -> Result<(), String> {
    let value = answer.plan.after.0;
    let not_worse = |who: &str, other: Cost| match value <= other {
        true => Ok(()),
        false => Err(format!("{value:?} is worse than {who}, {other:?}")),
    };
    let now = evaluate(problem, &current::placement(problem)).0;
    not_worse("the present layout", now)?;
    if problem.policy.max_moves.is_none() {
        let tiers = solve(problem, Planner::GreedyTiers)?;
        not_worse("the tiers", tiers.plan.after.0)?;
    }
    let swaps = solve(problem, Planner::Swap)?;
    not_worse("the swaps", swaps.plan.after.0)
}

fn check_fixed_point(case: &Case, problem: &Problem, answer: &Answer) -> Result<(), String> {
    let next = with_layout(case, problem, &answer.plan.placement).problem();
    let again = solve(&next, Planner::Auto)?;
    if again.plan.moves.is_empty() {
        return Ok(());
    }
    let stays = evaluate(&next, &current::placement(&next)).0;
    Err(format!(
        "planned again, it moves from {stays:?} to {:?}: {:?}",
        again.plan.after.0, again.plan.moves
    ))
}

/// After a part of the steps the rest is left, in every rank and in moves. Detours are paid for beside the objective, and
/// a shard that is in fewer zones for now has less to keep.
fn check_prefix(
    case: &Case,
    problem: &Problem,
    answer: &Answer,
    rng: &mut Rng,
) -> Result<(), String> {
    let plan = &answer.plan;
    let layouts = after_steps(problem, plan);
    let steps = layouts.len() - 1;
    if steps == 0 {
        return Ok(());
    }
    let step = rng.between(1, steps);
    let is_odd = plan
        .moves
        .iter()
        .any(|one| one.step as usize <= step && (one.detour || one.blocked.is_some()));
    let next = with_layout(case, problem, &layouts[step]).problem();
    let wanted = |p: &Problem| -> Vec<u32> { p.shards.iter().map(|s| p.zones_wanted(s)).collect() };
    if is_odd || wanted(&next) != wanted(problem) {
        return Ok(());
    }
    let rest = solve(&next, Planner::Auto)?;
    let (total, paid) = (plan.after.0, paid(problem, &layouts[step]));
    let left = Cost(std::array::from_fn(|rank| total.0[rank] - paid.0[rank]));
    let found = rest.plan.after.0;
    if found != left {
        return Err(format!(
            "after step {step}, {left:?} is left, and {found:?} is found"
        ));
    }
    let (way, found) = (length(problem, plan, step), length(&next, &rest.plan, 0));
    match found <= way {
        true => Ok(()),
        false => Err(format!(
            "after step {step}, {way} moves are left, and {found} are made"
        )),
    }
}
