//! Whole replica sets under every rule: answers against the joint optimum of a second formulation, an integer program
//! over whole choices, and what every answer promises.
//!
//! An answer may miss the optimum, seldom; how often is what a run measures. It may not beat it, no bound may lie above
//! it, and what is labelled optimal must equal it.

mod choices;
pub(crate) mod facts;
mod generate;
pub(crate) mod joint;
pub(crate) mod program;
pub(crate) mod promises;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use shardflow_solver::cost::{Cost, Rank};
use shardflow_solver::snapshot::Problem;
use shardflow_solver::strategy::{Answer, Fallback, Outcome, Planner};

use crate::run;
use crate::wire;
pub use generate::Kind;

/// How long HiGHS may take for one rank.
const REFERENCE_SECONDS: f64 = 60.0;

/// Of a hundred answers, how many must equal the optimum in every rank.
const EQUAL_PERCENT: usize = 95;

/// An answer beside the optimum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// The same in every rank, and the report proves it.
    Proven,
    /// The same in every rank.
    Equal,
    /// Worse, first in this rank.
    Worse(Rank),
    /// HiGHS did not get so far.
    Undecided,
}

/// What a case showed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Seen {
    /// How hard it is meant to be.
    pub kind: Kind,
    /// How good the answer is.
    pub verdict: Verdict,
    /// The verifier refused what an engine offered.
    pub is_refused: bool,
}

/// Compares the answer to the case of a seed. The promises are those of [`Planner::Auto`]; of others only the plan is
/// checked.
///
/// # Errors
/// What is wrong, and the request.
pub fn check(seed: u64, planner: Planner) -> Result<Seen, String> {
    let case = generate::case(seed);
    let problem = case.problem();
    let checked = promises::solve(&problem, planner).and_then(|answer| {
        match planner {
            Planner::Auto => promises::check(&case, &problem, &answer, seed)?,
            _ => promises::check_legal(&problem, &answer)?,
        }
        Ok(Seen {
            kind: Kind::of(seed),
            verdict: compare(&problem, &answer)?,
            is_refused: answer.report.fallback == Some(Fallback::Verifier),
        })
    });
    checked.map_err(|fault| format!("{fault}\n{}", describe(seed)))
}

/// The request of a seed.
pub fn describe(seed: u64) -> String {
    let case = generate::case(seed);
    wire::json(&wire::request(&case.snapshot, &case.policy))
}

fn compare(problem: &Problem, answer: &Answer) -> Result<Verdict, String> {
    let Some(optimum) = joint::optimum(problem, REFERENCE_SECONDS)? else {
        return Ok(Verdict::Undecided);
    };
    let (value, least) = (answer.plan.after.0, optimum.cost);
    if value < least {
        let placement = &answer.plan.placement;
        return Err(format!(
            "{value:?} beats the reference, {least:?}, with {placement:?}"
        ));
    }
    check_bounds(answer, &least)?;
    let is_optimal = answer.report.outcome == Outcome::Optimal;
    match first_difference(&value, &least) {
        None if is_optimal => Ok(Verdict::Proven),
        None => Ok(Verdict::Equal),
        Some(_) if is_optimal => Err(format!(
            "{value:?} is called optimal, and {:?} costs {least:?}",
            optimum.placement
        )),
        Some(rank) => Ok(Verdict::Worse(rank)),
    }
}

fn first_difference(value: &Cost, least: &Cost) -> Option<Rank> {
    Rank::ALL
        .into_iter()
        .find(|&rank| value[rank] != least[rank])
}

/// In each rank whose predecessors are optimal, the bound says what no plan can go below.
fn check_bounds(answer: &Answer, least: &Cost) -> Result<(), String> {
    for entry in &answer.report.ranks {
        let (rank, least) = (entry.rank, least[entry.rank]);
        if let Some(bound) = entry.bound.filter(|&bound| bound > least) {
            let name = rank.name();
            return Err(format!("{name}: the bound is {bound}, the optimum {least}"));
        }
        if entry.value != least {
            break;
        }
    }
    Ok(())
}

/// What a run showed.
#[derive(Default)]
pub struct Measured {
    by_kind: BTreeMap<Kind, BTreeMap<Verdict, usize>>,
    refused: usize,
    /// Seeds of answers that are not the best.
    worse: Vec<(u64, Rank)>,
    /// Seeds and what is wrong with them.
    pub faults: Vec<(u64, String)>,
}

/// Compares as many cases, telling `progress` each time how many are done.
pub fn measure(seed: u64, count: u64, planner: Planner, mut progress: impl FnMut(u64)) -> Measured {
    let mut measured = Measured::default();
    for place in 0..count {
        let seed = run::case_seed(seed, place);
        match run::caught(|| check(seed, planner), || describe(seed)) {
            Ok(seen) => measured.add(seed, &seen),
            Err(fault) => measured.faults.push((seed, fault)),
        }
        progress(place + 1);
    }
    measured
}

impl Measured {
    fn add(&mut self, seed: u64, seen: &Seen) {
        let of_kind = self.by_kind.entry(seen.kind).or_default();
        *of_kind.entry(seen.verdict).or_default() += 1;
        self.refused += usize::from(seen.is_refused);
        if let Verdict::Worse(rank) = seen.verdict {
            self.worse.push((seed, rank));
        }
    }

    /// Whether nothing is wrong and the answers are the best as often as they must be.
    pub fn is_good(&self) -> bool {
        let all = Row::of(self.by_kind.values());
        self.faults.is_empty() && 100 * all.equal() >= EQUAL_PERCENT * all.decided()
    }
}

/// Verdicts of a kind, counted.
#[derive(Default)]
struct Row {
    proven: usize,
    unproven: usize,
    worse: usize,
    undecided: usize,
}

impl Row {
    fn of<'a>(counts: impl Iterator<Item = &'a BTreeMap<Verdict, usize>>) -> Row {
        let mut row = Row::default();
        for (verdict, count) in counts.flatten() {
            *match verdict {
                Verdict::Proven => &mut row.proven,
                Verdict::Equal => &mut row.unproven,
                Verdict::Worse(_) => &mut row.worse,
                Verdict::Undecided => &mut row.undecided,
            } += count;
        }
        row
    }

    fn equal(&self) -> usize {
        self.proven + self.unproven
    }

    fn decided(&self) -> usize {
        self.equal() + self.worse
    }

    fn write(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |count: usize| 100.0 * count as f64 / self.decided().max(1) as f64;
        writeln!(
            f,
            "{name:<12} {:>6} {:>7.2} % {:>7.2} % {:>6} {:>9}",
            self.decided(),
            percent(self.equal()),
            percent(self.proven),
            self.worse,
            self.undecided
        )
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "               cases     equal    proven  worse undecided"
        )?;
        for (kind, counts) in &self.by_kind {
            Row::of([counts].into_iter()).write(&kind.to_string(), f)?;
        }
        Row::of(self.by_kind.values()).write("all", f)?;
        for (seed, rank) in &self.worse {
            writeln!(f, "worse in {}: soak case sets {seed}", rank.name())?;
        }
        for (seed, fault) in &self.faults {
            let what = fault.lines().next().unwrap_or_default();
            writeln!(f, "fault: {what}\nagain with: soak case sets {seed}")?;
        }
        write!(
            f,
            "{} faults; in {} cases the verifier refused a plan of an engine",
            self.faults.len(),
            self.refused
        )
    }
}
