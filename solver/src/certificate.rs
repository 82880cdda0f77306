//! Prices that prove a bound.
//!
//! The prices of a leader placement are its Lagrange multipliers: `slots` for one more leader of a stream on a
//! broker, `brokers` for one more leader on a broker, `zones` for one more in a zone, each measured as the cost of
//! a further unit from there to the sink. Any integers give a valid lower bound (see `verify`); the potentials of
//! an optimal basis give a tight one. Each rank has its own prices, and bounds are compared lexicographically.

use crate::cost::Rank;

/// Prices of one rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankPrices {
    /// The rank.
    pub rank: Rank,
    /// Streams × brokers, row by row: `slots[stream * brokers + broker]`.
    pub slots: Vec<i64>,
    /// By broker.
    pub brokers: Vec<i64>,
    /// By zone.
    pub zones: Vec<i64>,
}

/// Prices by rank, the most important first; a rank that is missing has all prices zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Certificate {
    /// At most one entry a rank, in the order of the ranks.
    pub ranks: Vec<RankPrices>,
}
