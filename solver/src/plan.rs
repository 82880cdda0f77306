//! A plan: where every shard goes, and the ordered moves that lead there.
//!
//! # What a move does
//!
//! Moves act on the live replicas of a shard, its leader and its followers. Carried out one after the other, from the
//! live part of the present layout, they give the live part of the placement exactly:
//!
//! | kind | role | effect |
//! | --- | --- | --- |
//! | `Add` | leader | `to`, which held nothing, holds a replica and leads; a leader before becomes a follower; `from` is none |
//! | `Add` | follower | `to`, which held nothing, becomes a follower; `from` is none |
//! | `Copy` | leader | `to`, which held nothing, leads, and `from` holds nothing any more; a leader before that isn't `from` becomes a follower |
//! | `Copy` | follower | `to`, which held nothing, becomes a follower; the follower at `from` is gone |
//! | `Promotion` | leader | the follower at `to` leads; `from`, the leader so far, becomes a follower |
//! | `Remove` | follower | the follower at `from` is gone; `to` is none |
//!
//! A swap of roles is one promotion. A failover's promotion names in `from` the leader that the layout lists, which is
//! `DOWN`, or none; no other move names a broker that is `DOWN`. Replicas on `DOWN` brokers don't move: one that is made
//! up for by an `Add` leaves the list without a move, and the placement says which stay listed.
//!
//! # Steps
//!
//! No step adds a breach: neither of a cap of a broker or zone, nor on balance of all that rank 3 counts, but for what
//! the promotion of a failover adds. Only a plan that itself pays for leaders or followers with breaches elsewhere may add
//! them on the way, up to those it ends with. Rates of brokers are held like counts. The copies of a step run at the same
//! time, and both ends of each hold it while it runs: at no moment are more bytes on a broker than fit below its watermark,
//! unless none arrive. All moves of a shard are in one step, in the order given, except for the promotion of a failover,
//! which is in an earlier step, or in the same one where only the rest makes room for it, and except for a detour. Steps
//! that need each other are one step. The modules `order` and `room` say how they are found.
//!
//! # Detours and blocked moves
//!
//! Where replicas wait in a circle for each other's bytes, one of them goes by way of a broker with room: a copy to it,
//! and in a later step, with the rest of the shard's moves, a copy from it. Both are marked, and both are made.
//!
//! A move for which no order was found is listed with the cause, after all others, each shard's in a step of its own. It
//! is not to be made: it would lead on to the placement from where the others end.

mod fingerprint;
mod level;
mod mending;
mod moves;
mod order;
mod room;
mod shortfall;

pub use fingerprint::fingerprint;

use crate::budget::{Pace, Stop, unstopped};
use crate::cost::{self, Evaluation};
use crate::snapshot::{Assignment, BrokerId, Problem, Role, ShardId, StreamId};

/// The plan that leads from the present layout to a placement, which is indexed by [`ShardId`].
///
/// The placement keeps the hard rules. Where one from elsewhere breaks a cap in force, the count it ends with is taken
/// for the cap. It leaves no shard without a leader that has a live one, which no move could express.
///
/// Complexity: O(moves · log + shards · replicas + streams · brokers).
///
/// # Panics
/// Where the placement has not as many entries as there are shards, or names a broker that does not exist.
pub fn make(problem: &Problem, placement: Vec<Assignment>) -> Plan {
    unstopped(|pace| {
        let costs = Costs {
            before: Costs::of_present(problem, pace)?,
            after: cost::evaluate_within(problem, |at| &placement[at], pace)?,
        };
        make_within(problem, placement, costs, pace)
    })
}

/// The same where the costs are known, until the interrupt asks to stop.
///
/// # Errors
/// The interrupt's reason.
///
/// # Panics
/// As for [`make`].
pub fn make_within(
    problem: &Problem,
    mut placement: Vec<Assignment>,
    costs: Costs,
    pace: &mut Pace<'_>,
) -> Result<Plan, Stop> {
    for assignment in &mut placement {
        pace.step(1)?;
        assignment.followers.sort_unstable();
    }
    let (moves, spread) = order::order(problem, &placement, pace)?;
    Ok(Plan {
        moves,
        before: costs.before,
        after: costs.after,
        spread,
        shortfalls: shortfall::shortfalls(problem, &placement, pace)?,
        fingerprint: fingerprint::fingerprint_within(problem, &placement, pace)?,
        placement,
    })
}

/// What a plan changes the cost from and to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs {
    /// Cost of the present layout.
    pub before: Evaluation,
    /// Cost of the placement.
    pub after: Evaluation,
}

impl Costs {
    /// Cost of the present layout.
    ///
    /// # Errors
    /// The interrupt's reason.
    pub fn of_present(problem: &Problem, pace: &mut Pace<'_>) -> Result<Evaluation, Stop> {
        cost::evaluate_within(problem, |at| &problem.shards[at].present, pace)
    }
}

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
    /// The shard has no replica yet, or never had so many as it should.
    New,
    /// The broker left is draining.
    Drain,
    /// The replica left breaks a rule or leaves a broker or zone above its cap, watermark or capacity, or a zone or shard
    /// gets what it lacks of `min_leaders` or `min_zones`.
    Rule,
    /// Counts, or the load to balance, become more level.
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
    /// Goes to a broker that only lends room, or on from there.
    pub detour: bool,
    /// What leaves no legal order; `None` where the move is legal.
    pub blocked: Option<String>,
    /// Bytes copied; 0 where no live replica could be copied.
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
    /// Watermarks of disks.
    Disk,
    /// Capacities for rates.
    Rate,
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
    pub before: Evaluation,
    /// Cost of the placement.
    pub after: Evaluation,
    /// Counts that change, by stream and broker.
    pub spread: Vec<SpreadRow>,
    /// Shards that lack replicas, in canonical order.
    pub shortfalls: Vec<Shortfall>,
    /// Names snapshot, policy and placement.
    pub fingerprint: String,
}
