//! Why a plan falls short: cuts of the leader network, and the changes of rules that lift them.
//!
//! A cut says of a set of shards, or of zones, that more is asked of it than the rules around it let through:
//! `demand − capacity = need`. What is asked, and of what, depends on the rank:
//!
//! | rank | demand | capacity |
//! | --- | --- | --- |
//! | `unplaced_leaders` | the free shards of the cut | room below the caps **in force** of the limits that surround them |
//! | `breaches` | the free shards of the cut | room below the limits **as configured**; a broker that a shard has to leave has none; and the shards that go without a leader |
//! | `zone_minimum_shortfall` | `min_leaders` of the zones of the cut, less pinned leaders | the free shards that may be led there, less those without a leader, and the room of limits that keep all others out |
//!
//! Every broker that may lead a shard of the cut is behind one of its limits, or, for zone minima, every shard that may
//! be led in one of its zones is in the cut or behind a limit. So at least `need` shards stay without a leader, are
//! above a limit, or are missing in the zones. `verify::cut` checks all of this against the snapshot.

use crate::cost::Rank;
use crate::snapshot::{BrokerId, ShardId, StreamId, ZoneId};

/// A broker or a zone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// A broker.
    Broker(BrokerId),
    /// A zone.
    Zone(ZoneId),
}

/// The rule that limits a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LimitRule {
    /// `max_leaders`.
    MaxLeaders,
    /// `max_replicas`, where each replica that is free to move leads.
    MaxReplicas,
    /// The broker is `DRAINING` or no longer allowed: shards that it holds may stay, at the price of breaches.
    Closed,
}

/// A limit that the shards of a cut run into.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CutLimit {
    /// Where it holds.
    pub place: Place,
    /// What it is.
    pub rule: LimitRule,
    /// Leaders of shards that are not pinned for which it has room.
    pub room: i64,
}

/// More asked than let through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// The rank that is above 0 for it.
    pub rank: Rank,
    /// Free shards of the cut, in canonical order.
    pub shards: Vec<ShardId>,
    /// Zones whose minima are asked for; none in the other ranks.
    pub zones: Vec<ZoneId>,
    /// The limits around it, in order.
    pub limits: Vec<CutLimit>,
    /// Shards that go without a leader by `unplaced_leaders`, as far as they count here.
    pub unplaced: i64,
    /// What is asked.
    pub demand: i64,
    /// What is let through.
    pub capacity: i64,
}

impl Cut {
    /// How much is asked in vain.
    pub fn need(&self) -> i64 {
        self.demand - self.capacity
    }
}

/// A change of one rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Change {
    /// `max_leaders` of a place becomes `to`.
    MaxLeaders {
        /// The broker or zone.
        place: Place,
        /// The new maximum.
        to: u32,
    },
    /// `max_replicas` of a place becomes `to`.
    MaxReplicas {
        /// The broker or zone.
        place: Place,
        /// The new maximum.
        to: u32,
    },
    /// `min_leaders` of a zone becomes `to`.
    MinLeaders {
        /// The zone.
        zone: ZoneId,
        /// The new minimum.
        to: u32,
    },
    /// The stream may be held by one broker more.
    Open {
        /// The stream.
        stream: StreamId,
        /// The broker.
        broker: BrokerId,
    },
}

/// Changes of rules, and what they are worth: the best plan under them is lower by `lifts` in the rank of the cut, and
/// no higher in the ranks before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remedy {
    /// All of them are needed.
    pub changes: Vec<Change>,
    /// By how much the rank falls.
    pub lifts: i64,
}

/// A cut and what would lift it, the remedy that lifts most first, the smaller first of equals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// Why.
    pub cut: Cut,
    /// What to do about it.
    pub remedies: Vec<Remedy>,
}
