//! Leaders and followers of some or all shards together, with every rule: an integer programme for HiGHS, through good_lp.
//!
//! **Problem.** All fifteen ranks, lexicographically, under all hard rules, bytes, rates and `max_moves` included; see
//! [`cost`](crate::cost) and [`verify::placement`]. Some shards are *free*, the others stay as
//! they are in the start and are offsets of every count.
//!
//! **Method.** One programme (`build`), minimised rank by rank (`phases`): a rank that is as low as it can be costs nothing,
//! another is a run of HiGHS with the ranks before it frozen at their values. Ranks of small reach that follow each other
//! are one run, each multiplied by more than what those after it can add up to.
//!
//! **Floats.** HiGHS computes in floating point; here its solution is rounded, completed and held against every row in whole
//! numbers, its cost is computed anew, and it counts only where it is legal and better. The bound is HiGHS's own, less a
//! tolerance; numbers that a float doesn't hold are rounded so that the programme is relaxed. A rank is proven where the
//! bound, rounded up, is its value. Where byte sums are so large that a tolerance is bytes, that may never be. A solution
//! that holds only up to HiGHS's tolerance is ruled out, and HiGHS asked again.
//!
//! **Stopping.** HiGHS can't be trusted to stop, so each run has a thread of its own. The caller polls its budget about
//! every millisecond and leaves the thread behind when asked to stop: it ends with HiGHS, which looks at its own limit of
//! seconds. At [`LINGERING_MAX`] of those no further run begins.
//!
//! **Complexity.** Exponential in the worst case. [`size`] tells what is built.

mod build;
mod phases;
mod program;
#[cfg(feature = "highs")]
mod relaxed;
mod worker;

use crate::budget::{Budget, Stop};
use crate::cost::{Cost, RANKS, evaluate_within};
use crate::snapshot::{Assignment, Problem, Roles, ShardId};
use crate::verify;

use build::Model;
use phases::Best;
pub use worker::lingering;

/// Most columns that are given to HiGHS.
pub const COLUMNS_MAX: usize = 20_000;

/// Most threads left behind in HiGHS, over all callers.
pub const LINGERING_MAX: usize = 4;

/// How much to ask of HiGHS.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Effort {
    /// Most nodes of its search in one run. A rank takes one run, seldom some more, and often none.
    pub nodes_max: Option<u32>,
    /// Most seconds of one run, up to a minute, which is also what they are where none are given. A run that ends for them
    /// depends on the clock, and so does all that follows: the outcome is stopped.
    pub seconds_max: Option<f64>,
}

/// What came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Every rank is proven.
    Optimal,
    /// The placement is legal and no worse than the start.
    Feasible,
    /// The start is not legal, or the verifier refuses what was found; the start is the answer.
    Refused,
    /// There would be more than [`COLUMNS_MAX`] columns; the start is the answer.
    TooLarge,
    /// HiGHS is not built in; the start is the answer.
    Unavailable,
    /// Too many threads linger; the placement is the best until then. That depends on clocks, so the outcome is stopped.
    Busy,
}

/// The best placement found and what is known of better ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// All shards, by [`ShardId`].
    pub placement: Vec<Assignment>,
    /// What it costs.
    pub cost: Cost,
    /// By rank: among placements of the free shards that are as good in the ranks before, none has less. `None` after the
    /// first rank in which bound and cost differ.
    pub bounds: [Option<i64>; RANKS],
    /// What came of it.
    pub status: Status,
    /// Why it ended early.
    pub stop: Option<Stop>,
    /// What was built.
    pub size: Size,
}

impl Outcome {
    fn of_start(start: &[Assignment], cost: Cost, status: Status) -> Self {
        Outcome {
            placement: start.to_vec(),
            cost,
            bounds: [None; RANKS],
            status,
            stop: None,
            size: Size::default(),
        }
    }
}

/// Columns and rows of a programme.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// Columns.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

/// How large the programme of these shards (`None`: all) is at most, as far as that can be told without building it.
///
/// Complexity: O(free shards + streams · brokers).
pub fn size(problem: &Problem, free: Option<&[ShardId]>) -> Size {
    let is_leadership = problem.policy.roles == Roles::LeadershipOnly;
    let (brokers, zones) = (problem.brokers.len(), problem.zones.len());
    let mut open: Vec<Option<usize>> = vec![None; problem.streams.len()];
    let (mut columns, mut rows, mut streams, mut shards) = (0, 0, 0, 0);
    let all;
    let free = match free {
        Some(free) => free,
        None => {
            all = problem.shard_ids().collect::<Vec<ShardId>>();
            &all
        }
    };
    for shard in free.iter().map(|&id| problem.shard(id)) {
        if shard.is_pinned {
            continue;
        }
        shards += 1;
        let held = shard.present.replicas().count();
        if is_leadership {
            columns += held;
            rows += 1;
            continue;
        }
        let stream = shard.stream;
        let entered = *open[stream.index()].get_or_insert_with(|| {
            streams += 1;
            let enters = |&b: &_| problem.may_enter(stream, b);
            problem.broker_ids().filter(enters).count()
        });
        let factor = problem.replication_factor(stream) as usize;
        let candidates = entered + held;
        let in_zones = candidates.min(factor * zones);
        columns += candidates * if factor > 1 { 2 } else { 1 } + 2 * in_zones + 1;
        rows += candidates + 2 * in_zones + zones + 5;
    }
    if is_leadership {
        streams = problem.streams.len().min(shards);
    }
    // Each count has a column for each different slope, of which there are no more than things to count.
    let counts = 2 * (brokers + zones) + 2 * streams * brokers;
    let slopes = counts.saturating_mul(4).min(counts + 8 * columns);
    Size {
        columns: columns + slopes + 3 * brokers,
        rows: rows + counts + 6 * brokers + 1,
    }
}

/// Decides the shards of `free` (`None`: all) as well as possible, the others being as in `start`, which must be legal.
/// Pinned ones stay. The answer is never worse than the start.
///
/// The budget is charged for what is built, not for what HiGHS does. A search that is stopped answers with the best
/// placement until then, held against the programme but not yet against the verifier.
///
/// # Errors
/// The reason, where it is stopped before it has judged the start.
pub fn solve(
    problem: &Problem,
    start: &[Assignment],
    free: Option<&[ShardId]>,
    effort: Effort,
    budget: &mut Budget<'_>,
) -> Result<Outcome, Stop> {
    let (cost, _) = evaluate_within(problem, |at| &start[at], &mut budget.pace())?;
    let of_start = |status| Ok(Outcome::of_start(start, cost, status));
    if size(problem, free).columns > COLUMNS_MAX {
        return of_start(Status::TooLarge);
    }
    if !cfg!(feature = "highs") {
        return of_start(Status::Unavailable);
    }
    let model = match free {
        Some(free) => Model::new(problem, start, free, budget)?,
        None => {
            let all: Vec<ShardId> = problem.shard_ids().collect();
            Model::new(problem, start, &all, budget)?
        }
    };
    let decisions = model.decisions(problem, start);
    let Some(values) = decisions.and_then(|decisions| model.program.completed(&decisions)) else {
        return of_start(Status::Refused);
    };
    let found = phases::minimise(&model, Best { values, cost }, effort, budget);
    let mut placement = start.to_vec();
    model.apply(problem, &found.best.values, &mut placement);
    let is_checked = found.stop.is_some() || placement == start;
    if !is_checked && !is_right(problem, &placement, &found.best.cost, budget)? {
        return of_start(Status::Refused);
    }
    Ok(Outcome {
        placement,
        cost: found.best.cost,
        status: found.status(),
        bounds: found.bounds,
        stop: found.stop,
        size: model.program.size(),
    })
}

/// Whether a placement costs what the programme says, and the verifier accepts it.
fn is_right(
    problem: &Problem,
    placement: &[Assignment],
    cost: &Cost,
    budget: &Budget<'_>,
) -> Result<bool, Stop> {
    let pace = &mut budget.pace();
    let (measured, _) = evaluate_within(problem, |at| &placement[at], pace)?;
    let checked = verify::placement::check_within(problem, placement, pace)?;
    Ok(measured == *cost && checked.faults.is_empty())
}
