//! A plan: where every shard goes, and the ordered moves that lead there.

use crate::cost::{Cost, Terms};
use crate::snapshot::{Assignment, BrokerId, Role, ShardId, StreamId};

/// What a move is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MoveKind {
    /// A replica of a new or lost shard, or a missing one.
    Add,
    /// A replica copied to a broker that held none, in place of the one at `from`.
    Copy,
    /// A live replica takes the lead.
    Promotion,
    /// A surplus replica is dropped.
    Remove,
}

/// Why a move is made; the forced reasons come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MoveReason {
    /// There is no live leader, or a replica was lost.
    Failover,
    /// The shard has no replica yet.
    New,
    /// The broker left is draining.
    Drain,
    /// The replica left breaks a rule.
    Rule,
    /// Counts become more level.
    Spread,
    /// The weighted cost becomes lower.
    Cost,
}

/// One move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// From 1; moves of one step belong together.
    pub step: u32,
    /// The shard.
    pub shard: ShardId,
    /// Role that moves.
    pub role: Role,
    /// Broker that gives it up.
    pub from: Option<BrokerId>,
    /// Broker that takes it; `None` for a removal.
    pub to: Option<BrokerId>,
    /// What it is.
    pub kind: MoveKind,
    /// Why.
    pub reason: MoveReason,
    /// Bytes copied.
    pub bytes: i64,
}

/// Counts of a stream on a broker that change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpreadRow {
    /// The stream.
    pub stream: StreamId,
    /// The broker.
    pub broker: BrokerId,
    /// Leaders now and in the plan.
    pub leaders: (i64, i64),
    /// Live replicas now and in the plan.
    pub replicas: (i64, i64),
}

/// What holds a shard back that lacks replicas in the plan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ShortfallReason {
    /// Caps of brokers.
    BrokerCap,
    /// Limits of zones.
    ZoneLimit,
    /// `max_replicas_per_zone`.
    ZoneRule,
    /// No active broker may hold it.
    NoBroker,
}

/// A shard that lacks its leader or followers in the plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shortfall {
    /// The shard.
    pub shard: ShardId,
    /// What holds it back.
    pub reason: ShortfallReason,
    /// The same in the user's words.
    pub detail: String,
}

/// A placement with everything that a caller needs to apply it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// By [`ShardId`].
    pub placement: Vec<Assignment>,
    /// By step.
    pub moves: Vec<Move>,
    /// Cost of the present layout.
    pub before: (Cost, Terms),
    /// Cost of the placement.
    pub after: (Cost, Terms),
    /// Counts that change, by stream and broker.
    pub spread: Vec<SpreadRow>,
    /// Shards that lack replicas, in canonical order.
    pub shortfalls: Vec<Shortfall>,
    /// Names snapshot, policy and placement.
    pub fingerprint: String,
}
