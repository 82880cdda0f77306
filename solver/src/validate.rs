//! From input to problem: every finding at once, or a [`Problem`] that its users can rely on.

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

/// Why an input gives no problem.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rejection {
    /// Everything that is wrong, in the order of the input.
    pub invalid: Vec<Finding>,
    /// Features asked for that this version does not have.
    pub unsupported: Vec<Finding>,
}

/// Checks a snapshot and policy and puts them in canonical order.
///
/// # Errors
/// Everything that is wrong, and every feature that is asked for and not built.
pub fn build(snapshot: &SnapshotInput, policy: &PolicyInput) -> Result<Problem, Rejection> {
    let _ = (snapshot, policy);
    Err(Rejection::default())
}
