//! The soak itself: cases one after another on one core, counted by kind, up to the first mismatch.
//!
//! A case is its kind of check and its seed, on every machine. Of a hundred cases, seventy are networks and thirty are
//! snapshots; each thousand brings a sequence of edits. The case seeds of one run follow each other from
//! `seed · 2³²` on, so that runs of different seeds share none.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use shardflow_solver::strategy::Planner;

use crate::{networks, sets, snapshots, warm};

/// HiGHS takes a thousand times as long as the rest of a case.
const HIGHS_EVERY: u64 = 200;
/// Edits of one sequence.
pub const EDITS: usize = 20;
/// How often a run says how far it is.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// What a case checks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, clap::ValueEnum)]
pub enum Check {
    /// The simplex against successive shortest paths, on a network.
    Network,
    /// A whole plan against successive shortest paths, on a snapshot.
    Snapshot,
    /// Plans with and without price hints, over a sequence of edits.
    Edits,
    /// A plan for whole replica sets against an integer program, and what it promises.
    Sets,
}

/// One case that went wrong.
pub struct Mismatch {
    /// What it checks.
    pub check: Check,
    /// Its seed.
    pub seed: u64,
    /// What is wrong, and the input.
    pub fault: String,
}

/// Cases by what they are about and what they showed.
pub type Counts = BTreeMap<String, u64>;

/// Checks one case.
///
/// # Errors
/// What is wrong, and the input. A panic of the solver is a fault like others.
pub fn case(check: Check, seed: u64) -> Result<String, String> {
    let checked = || match check {
        Check::Network => {
            let seen = networks::check(seed, seed.is_multiple_of(HIGHS_EVERY))?;
            Ok(format!("network, {}: {seen:?}", networks::kind(seed)))
        }
        Check::Snapshot => Ok(format!("snapshot: {:?}", snapshots::check(seed)?)),
        Check::Edits => {
            warm::check(seed, EDITS).map(|_| "edits: the same, warm and cold".to_owned())
        }
        Check::Sets => {
            let seen = sets::check(seed, Planner::Auto)?;
            Ok(format!("sets, {}: {:?}", seen.kind, seen.verdict))
        }
    };
    caught(checked, || match check {
        Check::Network => networks::describe(seed),
        Check::Snapshot => snapshots::describe(seed),
        Check::Edits => String::new(),
        Check::Sets => sets::describe(seed),
    })
}

/// A check whose panic is a fault like others, with the input.
pub(crate) fn caught<T>(
    check: impl FnOnce() -> Result<T, String>,
    describe: impl FnOnce() -> String,
) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        Err(format!(
            "panic: {}\n{}",
            text.unwrap_or("no text"),
            describe()
        ))
    })
}

/// The seed of the case at a place in a run: runs of different seeds share none.
pub(crate) fn case_seed(seed: u64, place: u64) -> u64 {
    (seed << 32).wrapping_add(place)
}

/// The kind of the case at a place in a run.
fn check_at(place: u64) -> Check {
    match place % 1000 {
        999 => Check::Edits,
        place if place % 10 < 7 => Check::Network,
        _ => Check::Snapshot,
    }
}

/// Checks `count` cases, all of one kind where `only` names one, telling `progress` now and then how many are done.
///
/// # Errors
/// The first mismatch.
pub fn run(
    seed: u64,
    count: u64,
    only: Option<Check>,
    mut progress: impl FnMut(u64),
) -> Result<Counts, Mismatch> {
    let mut counts = Counts::new();
    let mut told = Instant::now();
    for place in 0..count {
        let check = only.unwrap_or_else(|| check_at(place));
        let seed = case_seed(seed, place);
        match case(check, seed) {
            Ok(seen) => *counts.entry(seen).or_default() += 1,
            Err(fault) => return Err(Mismatch { check, seed, fault }),
        }
        if told.elapsed() >= PROGRESS_EVERY {
            told = Instant::now();
            progress(place + 1);
        }
    }
    Ok(counts)
}
