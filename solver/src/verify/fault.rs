//! What the verifier finds, in the user's words.

use std::fmt;

use crate::snapshot::{BrokerId, Problem, ShardId, ZoneId};

/// The rule that an answer breaks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rule {
    /// One assignment per shard.
    AssignmentCount,
    /// Every broker, zone and shard named is in the snapshot.
    UnknownId,
    /// The replicas of a shard are on distinct brokers.
    ListedTwice,
    /// Followers are listed in canonical order.
    FollowerOrder,
    /// A leader is live.
    LeaderDown,
    /// A shard that has a live leader now has one in the plan.
    Leaderless,
    /// A new replica is on an `ACTIVE` broker that may hold the stream.
    NewReplica,
    /// A pinned shard stays as it is.
    Pinned,
    /// Where only leadership is decided, every replica stays where it is.
    ReplicaSet,
    /// No live replica is given up without a successor.
    GivenUp,
    /// A shard has no more live replicas than it should.
    Surplus,
    /// Lost replicas that nothing replaces stay listed, lowest ids first, up to the replication factor.
    DownListing,
    /// Leaders of a broker, at most its cap in force.
    BrokerLeaders,
    /// Replicas of a broker, at most its cap in force.
    BrokerReplicas,
    /// Bytes of a broker's replicas, those of a running copy at both its ends: at most the room below its watermark or
    /// what is there now.
    BrokerBytes,
    /// Rates of the shards that a broker leads, at most its capacity or what is there now.
    BrokerRate,
    /// Leaders of a zone, at most its cap in force.
    ZoneLeaders,
    /// Replicas of a zone, at most its cap in force.
    ZoneReplicas,
    /// Replicas of one shard in one zone, at most the policy's maximum or what is there now.
    ReplicasPerZone,
    /// Changes made to shards that need none, at most `max_moves`.
    MaxMoves,
    /// Totals fit a report.
    Overflow,
    /// A certificate has one price per slot, broker and zone, and each rank once, in order.
    CertificateShape,
    /// A cut that explains a plan asks for more than its limits let through.
    Cut,
    /// No bound lies above the value it bounds.
    Contradiction,
    /// Steps are numbered from 1, in order, without holes.
    StepNumbers,
    /// A move names the brokers that its kind needs, and no others; only copies make detours; what is blocked has a cause.
    MoveShape,
    /// A move starts from a live replica that is there.
    MoveSource,
    /// A move goes to a broker that may take the role.
    MoveTarget,
    /// All moves of a shard are in one step, but for the promotion of a failover and for a detour, which leads on.
    MoveSplit,
    /// No step adds breaches, but for a leader where there was none, or where the plan itself adds them.
    StepBreaches,
    /// The moves lead from the present layout to the placement.
    MoveEnd,
}

/// One thing that is wrong with an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The rule it breaks.
    pub rule: Rule,
    /// The shard concerned, if one is.
    pub shard: Option<ShardId>,
    /// The broker concerned, if one is.
    pub broker: Option<BrokerId>,
    /// The zone concerned, if one is.
    pub zone: Option<ZoneId>,
    /// The finding as a sentence.
    sentence: String,
}

impl Fault {
    /// A fault of the answer as a whole.
    pub(super) fn of_answer(rule: Rule, sentence: String) -> Self {
        Fault {
            rule,
            shard: None,
            broker: None,
            zone: None,
            sentence,
        }
    }
    /// A fault of one shard.
    pub(super) fn of_shard(problem: &Problem, rule: Rule, shard: ShardId, what: String) -> Self {
        Fault {
            shard: Some(shard),
            ..Self::of_answer(
                rule,
                format!("shard `{}`: {what}", problem.shards[shard.index()].id),
            )
        }
    }
    /// A fault of one broker.
    pub(super) fn of_broker(problem: &Problem, rule: Rule, broker: BrokerId, what: String) -> Self {
        let id = &problem.brokers[broker.index()].id;
        Self::of_answer(rule, format!("broker `{id}`: {what}")).at_broker(broker)
    }
    /// A fault of one zone.
    pub(super) fn of_zone(problem: &Problem, rule: Rule, zone: ZoneId, what: String) -> Self {
        let name = &problem.zones[zone.index()].name;
        Self::of_answer(rule, format!("zone `{name}`: {what}")).at_zone(zone)
    }
    /// The same, naming a broker.
    pub(super) fn at_broker(self, broker: BrokerId) -> Self {
        Fault {
            broker: Some(broker),
            ..self
        }
    }
    /// The same, naming a zone.
    pub(super) fn at_zone(self, zone: ZoneId) -> Self {
        Fault {
            zone: Some(zone),
            ..self
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}
