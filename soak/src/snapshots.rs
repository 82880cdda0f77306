//! Random snapshots: whole plans against successive shortest paths on an explicit network, in all ranks.

mod dense;

use shardflow_solver::cost::{Cost, Rank, evaluate};
use shardflow_solver::snapshot::Problem;
use shardflow_solver::strategy::Outcome;
use shardflow_solver::verify::{moves, placement};

use crate::cases::{self, Case, Size, TINY};
use crate::rng::Rng;
use crate::wire;

/// What comparing one snapshot showed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Seen {
    /// The optimum in all ranks, and the report proves it.
    Proven,
    /// Counts cross, so that no network is exact (`cases::counts_cross`): checked, but not compared.
    Crossing,
}

/// Somewhat larger than tiny.
const SMALL: Size = Size {
    brokers: 8,
    streams: 4,
    shards: 16,
    zones: 4,
};

/// The case of a seed: half of them tiny, an eighth with many shards that have followers and no leader.
fn case(seed: u64) -> Case {
    let mut rng = Rng::new(!seed);
    let size = if rng.chance(50) { TINY } else { SMALL };
    match rng.below(8) {
        0 => cases::generate_orphans(seed, size),
        _ => cases::generate(seed, size),
    }
}

/// Compares the case of a seed.
///
/// # Errors
/// The first mismatch in words, and the request.
pub fn check(seed: u64) -> Result<Seen, String> {
    let case = case(seed);
    compare(&case).map_err(|fault| format!("{fault}\n{}", describe(seed)))
}

/// The request of a seed.
pub fn describe(seed: u64) -> String {
    let case = case(seed);
    wire::json(&wire::request(&case.snapshot, &case.policy))
}

fn compare(case: &Case) -> Result<Seen, String> {
    let problem = case.problem();
    let answer = cases::solve(&problem);
    let value = answer.plan.after.0;
    let checked = placement::check(&problem, &answer.plan.placement);
    if let Some(fault) = checked.faults.first() {
        return Err(format!("the placement: {fault}"));
    }
    if let Some(fault) = moves::check(&problem, &answer.plan).first() {
        return Err(format!("the moves: {fault}"));
    }
    same(
        "the objective",
        &evaluate(&problem, &answer.plan.placement).0,
        &value,
    )?;
    same("the verifier", &checked.cost, &value)?;
    if cases::counts_cross(&problem) {
        return Ok(Seen::Crossing);
    }
    same("successive shortest paths", &optimum(&problem)?, &value)?;
    if answer.report.outcome != Outcome::Optimal {
        return Err(format!("not proven: {:?}", answer.report));
    }
    Ok(Seen::Proven)
}

/// The least cost in all ranks.
fn optimum(problem: &Problem) -> Result<Cost, String> {
    dense::Dense::new(problem).optimum()
}

fn same(who: &str, found: &Cost, answered: &Cost) -> Result<(), String> {
    match Rank::ALL
        .iter()
        .find(|&&rank| found[rank] != answered[rank])
    {
        None => Ok(()),
        Some(&rank) => Err(format!(
            "{}: {} by {who}, {} in the answer",
            rank.name(),
            found[rank],
            answered[rank]
        )),
    }
}
