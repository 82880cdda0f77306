//! Replica sets as flow: counts in three layers, all followers for given leaders, all replicas with roles ignored.
//!
//! * [`layers`]: the counts of one kind, leaders or replicas, as the lower half of a network;
//! * [`search`]: minimises rank after rank on it, and again after arcs were added.
//!
//! Ranks 4, 5 and 12 (bytes, rates and their balance) and `max_moves` cross the layers and are not seen here.

pub mod layers;
pub mod search;

use crate::budget::Stop;

/// Why there is no solution by flow.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetError {
    /// The budget stopped the build; the start stands.
    #[error("stopped: {0:?}")]
    Stopped(Stop),
    /// The network or the start was refused. Validated problems and admissible starts never are.
    #[error("the network was refused: {0}")]
    Refused(String),
}

impl From<Stop> for SetError {
    fn from(stop: Stop) -> Self {
        SetError::Stopped(stop)
    }
}
