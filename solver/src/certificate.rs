//! Prices that prove a bound.
//!
//! The prices of a leader placement are its Lagrange multipliers: `slots` for one more leader of a stream on a
//! broker, `brokers` for one more leader on a broker, `zones` for one more in a zone, each measured as the cost of
//! a further unit from there to the sink. Where replicas are counted apart from leaders (followers are decided, or a shard
//! without a leader may keep a replica), `broker_replicas` is for one more replica of any role on a broker,
//! `zone_replicas` for one more in a zone, and `replica_slots` for one more of a stream on a broker. Each price holds those
//! of the counts that it adds to: a leader is a replica too.
//!
//! ```text
//! zone_replicas   =                                                            replicas of the zone
//! broker_replicas =                                   replicas of the broker + replicas of the zone
//! zones           =              leaders of the zone                         + replicas of the zone
//! brokers = leaders of the broker + leaders of the zone + replicas of the broker + replicas of the zone
//! replica_slots = replicas of the stream on the broker + broker_replicas
//! slots   = leaders of the stream on the broker + brokers + (replica_slots − broker_replicas)
//! ```
//!
//! Any integers give a valid lower bound (see `verify`); the potentials of an optimal basis give a tight one. Each rank
//! has its own prices, and bounds are compared lexicographically.

use crate::cost::Rank;
use crate::snapshot::{BrokerId, StreamId};

/// The price of one more leader, or replica, of a stream on a broker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotPrice {
    /// The stream.
    pub stream: StreamId,
    /// The broker.
    pub broker: BrokerId,
    /// The price.
    pub price: i64,
}

/// Prices of one rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankPrices {
    /// The rank.
    pub rank: Rank,
    /// By stream and broker, in ascending order, each pair at most once. One that is missing costs what its broker
    /// does in `brokers`, and what `replica_slots` adds to `broker_replicas`: the stream's leaders there have no
    /// multiplier of their own.
    pub slots: Vec<SlotPrice>,
    /// For a replica of any role, likewise. One that is missing costs what its broker does in `broker_replicas`.
    pub replica_slots: Vec<SlotPrice>,
    /// By broker.
    pub brokers: Vec<i64>,
    /// By zone.
    pub zones: Vec<i64>,
    /// By broker, for a replica of any role; empty for zeros.
    pub broker_replicas: Vec<i64>,
    /// By zone, likewise.
    pub zone_replicas: Vec<i64>,
}

/// Prices by rank, the most important first; a rank that is missing has all prices zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Certificate {
    /// At most one entry a rank, in the order of the ranks.
    pub ranks: Vec<RankPrices>,
}
