//! From input to problem: every finding at once, or a [`Problem`] that its users can rely on.
//!
//! Checks run over the input in the caller's order and only collect; nothing is built before all of them have
//! passed, so that a caller mends a request once. Complexity: O(input · log input), O(input) where shards come stream by
//! stream in the order of their numbers. The caller's interrupt is polled every [`crate::budget::ITEMS`] shards; only the sort of
//! one stream's shards is not cut short.

mod assemble;
mod flights;
mod policy;
mod ranges;
mod snapshot;

use std::fmt;

use crate::budget::{Pace, Stop, never};
use crate::input::{PolicyInput, SnapshotInput};
use crate::snapshot::Problem;

/// One thing that is wrong with an input.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    /// Where, such as `snapshot.shards[3].leader`, with positions in the caller's order.
    pub path: String,
    /// The value given.
    pub value: String,
    /// The rule it breaks, in words.
    pub rule: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.is_empty() {
            write!(f, "{}: {}", self.path, self.rule)
        } else {
            write!(f, "{}: {}: {}", self.path, self.value, self.rule)
        }
    }
}

/// Why an input gives no problem.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rejection {
    /// Everything that is wrong.
    pub invalid: Vec<Finding>,
}

/// Why there is no problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// The input is wrong.
    Rejected(Rejection),
    /// The interrupt asked to stop before that was known.
    Stopped(Stop),
}

impl From<Stop> for BuildError {
    fn from(reason: Stop) -> Self {
        BuildError::Stopped(reason)
    }
}

/// Findings as they are made.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, path: impl Into<String>, value: impl fmt::Display, rule: impl Into<String>) {
        self.0.push(Finding {
            path: path.into(),
            value: value.to_string(),
            rule: rule.into(),
        });
    }

    /// A number that must not be negative.
    fn not_negative(&mut self, path: impl FnOnce() -> String, value: i64) {
        if value < 0 {
            self.add(path(), value, "must not be negative");
        }
    }
}

/// Checks a snapshot and policy and puts them in canonical order.
///
/// # Errors
/// Everything that is wrong.
pub fn build(snapshot: &SnapshotInput, policy: &PolicyInput) -> Result<Problem, Rejection> {
    match build_within(snapshot, policy, &never) {
        Ok(problem) => Ok(problem),
        Err(BuildError::Rejected(rejection)) => Err(rejection),
        // It never asks.
        Err(BuildError::Stopped(_)) => Err(Rejection::default()),
    }
}

/// The same, until `interrupt` answers with a reason to stop.
///
/// # Errors
/// As for [`build`], and the interrupt's reason; which findings there would have been stays unknown then.
pub fn build_within(
    snapshot: &SnapshotInput,
    policy: &PolicyInput,
    interrupt: &dyn Fn() -> Option<Stop>,
) -> Result<Problem, BuildError> {
    let mut pace = Pace::new(interrupt);
    let mut findings = Findings::default();
    let resolved = snapshot::resolve(snapshot, &mut findings, &mut pace)?;
    let landed = flights::apply(snapshot, &resolved, &mut findings);
    let weights = policy::check(policy, &mut findings);
    ranges::check(snapshot, &resolved, &weights, &mut findings, &mut pace)?;
    if !findings.0.is_empty() {
        return Err(BuildError::Rejected(Rejection {
            invalid: findings.0,
        }));
    }
    let problem = assemble::problem(snapshot, policy, weights, &resolved, &landed, &mut pace)?;
    Ok(problem)
}
