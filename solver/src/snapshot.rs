//! The problem to solve: a validated snapshot and policy in canonical order.
//!
//! A [`Problem`] is built only by [`crate::validate::build`], so whoever holds one may rely on:
//!
//! * every id resolves; no replica is listed twice; every weight and size is non-negative;
//! * brokers, zones and streams are sorted by id, shards by (stream, number, id): the order in which the
//!   caller listed them can't matter, and the shards of a stream are contiguous;
//! * moves in flight are applied: [`Shard::present`] is the layout with them finished;
//! * no total that a report can hold leaves `i64`.
//!
//! Capacities are *in force* as the larger of the cap and what is there now, so the present layout is
//! always admissible and a breach never grows.

mod counts;
mod loads;

use std::fmt;
use std::ops::Range;

pub use counts::{Counts, Limits};
pub use loads::{Loads, balance_caps};
use smallvec::SmallVec;

use crate::budget::{Pace, Stop};

use crate::ids::id_type;

id_type!(
    /// A broker, by its place in the canonical order.
    BrokerId
);
id_type!(
    /// A zone, by its place in the canonical order.
    ZoneId
);
id_type!(
    /// A stream, by its place in the canonical order.
    StreamId
);
id_type!(
    /// A shard, by its place in the canonical order.
    ShardId
);

/// What a broker does with replicas.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum BrokerState {
    /// Takes and keeps replicas.
    #[default]
    Active,
    /// Keeps replicas for now, takes none.
    Draining,
    /// Has lost its replicas.
    Down,
}

/// Part that a replica plays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Role {
    /// Serves the shard.
    #[default]
    Leader,
    /// Holds a copy.
    Follower,
}

/// Which roles a plan decides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Roles {
    /// Where every replica is and which one leads.
    #[default]
    LeadersAndFollowers,
    /// Only which live replica leads; nothing is copied.
    LeadershipOnly,
}

/// What a balance keeps level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Dimension {
    /// Rates of the shards led.
    #[default]
    Rate,
    /// Bytes of all replicas.
    Bytes,
}

/// A broker.
#[derive(Clone, Debug)]
pub struct Broker {
    /// Id as listed.
    pub id: String,
    /// Its zone.
    pub zone: ZoneId,
    /// Its state.
    pub state: BrokerState,
    /// Relative size.
    pub share: u32,
    /// Most leaders, as configured.
    pub max_leaders: Option<u32>,
    /// Most replicas, as configured.
    pub max_replicas: Option<u32>,
    /// Size of its disk in bytes.
    pub disk_bytes: Option<i64>,
    /// Bytes on it that belong to no shard of the snapshot.
    pub disk_used_bytes: i64,
    /// Most rate of the shards it leads, as configured.
    pub rate_capacity: Option<i64>,
}

/// A zone and its limits.
#[derive(Clone, Debug)]
pub struct Zone {
    /// Name as listed; the broker's id where no broker names a zone.
    pub name: String,
    /// Fewest leaders wanted.
    pub min_leaders: u32,
    /// Most leaders, as configured.
    pub max_leaders: Option<u32>,
    /// Most replicas, as configured.
    pub max_replicas: Option<u32>,
}

/// A stream and the brokers that may hold it.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Id as listed.
    pub id: String,
    /// Position in the caller's list, for messages only.
    pub position: usize,
    /// Replicas a shard should have, at least 1.
    pub replication_factor: u32,
    /// Its shards, as a range of [`ShardId`] positions.
    pub shards: Range<u32>,
    /// By broker: carries the required tags and is allowed, whatever its state.
    pub open: Vec<bool>,
    /// Σ share of the `ACTIVE` open brokers.
    pub share_total: u64,
}

impl Stream {
    /// Number of its shards.
    pub fn shard_count(&self) -> i64 {
        i64::from(self.shards.end - self.shards.start)
    }
}

/// So many zones are searched one by one.
const LISTED_FEW: usize = 8;

/// Traffic cost of one replica by zone: `cross(z) = total − reached(z)`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Σ weight of all sources.
    pub total: i64,
    /// Σ weight of the sources that list the zone; sorted by zone, only zones that some source lists.
    pub reached: Vec<(ZoneId, i64)>,
}

impl Traffic {
    /// Σ weight of the sources that do not list `zone`.
    #[inline]
    pub fn cross(&self, zone: ZoneId) -> i64 {
        // Most shards list a handful of zones; a search by halves would wait for each load in turn.
        if self.reached.len() <= LISTED_FEW {
            let listed = self.reached.iter().find(|entry| entry.0 == zone);
            return self.total - listed.map_or(0, |entry| entry.1);
        }
        match self.reached.binary_search_by_key(&zone, |entry| entry.0) {
            Ok(at) => self.total - self.reached[at].1,
            Err(_) => self.total,
        }
    }
}

/// Where the replicas of one shard are.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Assignment {
    /// Broker that leads, if any.
    pub leader: Option<BrokerId>,
    /// Brokers that hold the other replicas, in canonical order, replicas on `DOWN` brokers included.
    pub followers: Vec<BrokerId>,
}

impl Assignment {
    /// Leader first, then followers.
    pub fn replicas(&self) -> impl Iterator<Item = BrokerId> + '_ {
        self.leader
            .into_iter()
            .chain(self.followers.iter().copied())
    }
    /// Whether `broker` holds a replica, in whatever state.
    pub fn holds(&self, broker: BrokerId) -> bool {
        self.leader == Some(broker) || self.followers.contains(&broker)
    }
}

/// A shard.
#[derive(Clone, Debug)]
pub struct Shard {
    /// Id as listed.
    pub id: String,
    /// Its stream.
    pub stream: StreamId,
    /// Its number in the stream.
    pub number: Option<u32>,
    /// Where its replicas are now, with moves in flight finished. The leader may be on a `DOWN` broker.
    pub present: Assignment,
    /// Size in bytes.
    pub size_bytes: i64,
    /// Rate of its leader.
    pub rate: i64,
    /// Keeps all its replicas and their roles: pinned or in flight, with a live leader.
    pub is_pinned: bool,
    /// Traffic the leader serves.
    pub leader_traffic: Traffic,
    /// Traffic each follower serves.
    pub follower_traffic: Traffic,
}

/// Prices of the `weighted` rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weights {
    /// Times traffic that crosses zones.
    pub traffic: i64,
    /// Per copy.
    pub overlap: i64,
    /// Per copy and started GiB.
    pub overlap_per_gib: i64,
    /// Per leader moved onto a follower.
    pub promotion: i64,
    /// Per pair of a shard's replicas in one zone.
    pub same_rack: i64,
    /// Per follower in its leader's zone.
    pub same_rack_as_leader: i64,
}

/// How level a count should be; `None` in the policy where a spread is off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spread {
    /// How far outside floor and ceiling costs nothing.
    pub slack: u32,
}

/// Keeps a load within its share and a tolerance (rank 12).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Balance {
    /// Which load.
    pub dimension: Dimension,
    /// How far above its share a broker may be, in percent.
    pub tolerance_percent: u32,
}

/// What to optimise for, defaults filled in. Limits of zones are on [`Zone`], tags in [`Stream::open`].
#[derive(Clone, Debug)]
pub struct Policy {
    /// Prices of the `weighted` rank.
    pub weights: Weights,
    /// Which roles are decided.
    pub roles: Roles,
    /// Rank 8.
    pub stream_leaders: Option<Spread>,
    /// Rank 9.
    pub cluster_leaders: Option<Spread>,
    /// Rank 10; already `None` where it doesn't apply (leadership only, or every factor 1).
    pub stream_replicas: Option<Spread>,
    /// Rank 11; likewise.
    pub cluster_replicas: Option<Spread>,
    /// Zones a shard should span at least.
    pub min_zones: u32,
    /// Lets a shard end in fewer zones than now.
    pub allow_zone_loss: bool,
    /// Most replicas of one shard in one zone.
    pub max_replicas_per_zone: Option<u32>,
    /// Share of a disk that may be filled, in percent.
    pub disk_watermark_percent: u32,
    /// Most changes (copies and promotions) made to settled shards.
    pub max_moves: Option<u32>,
    /// Load to keep level.
    pub balance: Option<Balance>,
    /// Weights of the weight-function planner: shard, index, disk; as given.
    pub thetas: [Option<f64>; 3],
    /// Σ `min_leaders` of limits on zones that no broker is in: a shortfall that nothing can mend.
    pub absent_zone_minimum: i64,
}

/// Counts for which a spread costs nothing; outside, the cost is the distance squared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Band {
    /// floor − slack; may be negative.
    pub low: i64,
    /// ceiling + slack.
    pub high: i64,
}

impl Band {
    /// The band of `count` things over shares of which this broker's is `share` of `share_total`, which is not zero.
    pub fn new(count: i64, share: u32, share_total: u64, slack: u32) -> Self {
        let wanted = i128::from(count) * i128::from(share);
        let total = i128::from(share_total);
        let floor = (wanted / total) as i64;
        let ceiling = ((wanted + total - 1) / total) as i64;
        Band {
            low: floor - i64::from(slack),
            high: ceiling + i64::from(slack),
        }
    }
    /// How far `count` lies outside.
    pub fn distance(self, count: i64) -> i64 {
        (self.low - count).max(count - self.high).max(0)
    }
    /// What `count` costs: its distance, squared.
    #[inline]
    pub fn squared(self, count: i64) -> i64 {
        let distance = self.distance(count);
        distance * distance
    }
}

/// A validated snapshot and policy in canonical order.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Name of the cluster.
    pub cluster_id: String,
    /// The caller's version of the snapshot.
    pub generation: String,
    /// By [`BrokerId`].
    pub brokers: Vec<Broker>,
    /// By [`ZoneId`]; every zone that a broker is in.
    pub zones: Vec<Zone>,
    /// By [`StreamId`].
    pub streams: Vec<Stream>,
    /// By [`ShardId`].
    pub shards: Vec<Shard>,
    /// What to optimise for.
    pub policy: Policy,
    /// Σ share of the `ACTIVE` brokers.
    pub share_total: u64,
    /// Replicas that all shards together should have.
    pub replicas_wanted: i64,
    /// Counts of the present layout and the limits that follow from them.
    pub limits: Limits,
    /// Things the caller should know that are not errors.
    pub warnings: Vec<String>,
}

impl Problem {
    /// The same cluster once a placement of this problem has been carried out.
    ///
    /// # Errors
    /// The interrupt's reason.
    pub fn after_within(
        &self,
        placement: &[Assignment],
        pace: &mut Pace<'_>,
    ) -> Result<Problem, Stop> {
        let mut shards = Vec::with_capacity(self.shards.len());
        for (shard, assignment) in self.shards.iter().zip(placement) {
            pace.step(1)?;
            shards.push(Shard {
                present: assignment.clone(),
                ..shard.clone()
            });
        }
        let mut next = Problem {
            cluster_id: self.cluster_id.clone(),
            generation: self.generation.clone(),
            brokers: self.brokers.clone(),
            zones: self.zones.clone(),
            streams: self.streams.clone(),
            shards,
            policy: self.policy.clone(),
            share_total: self.share_total,
            replicas_wanted: self.replicas_wanted,
            limits: Limits::none(),
            warnings: Vec::new(),
        };
        next.limits = Limits::of(&next, pace)?;
        Ok(next)
    }
    /// The broker.
    #[inline]
    pub fn broker(&self, id: BrokerId) -> &Broker {
        &self.brokers[id.index()]
    }
    /// The stream.
    #[inline]
    pub fn stream(&self, id: StreamId) -> &Stream {
        &self.streams[id.index()]
    }
    /// The shard.
    #[inline]
    pub fn shard(&self, id: ShardId) -> &Shard {
        &self.shards[id.index()]
    }
    /// Zone of a broker.
    #[inline]
    pub fn zone_of(&self, id: BrokerId) -> ZoneId {
        self.broker(id).zone
    }
    /// All brokers in canonical order.
    pub fn broker_ids(&self) -> impl Iterator<Item = BrokerId> + use<> {
        (0..self.brokers.len()).map(BrokerId::at)
    }
    /// All shards in canonical order.
    pub fn shard_ids(&self) -> impl Iterator<Item = ShardId> + use<> {
        (0..self.shards.len()).map(ShardId::at)
    }
    /// Whether a replica there is live: the broker is `ACTIVE` or `DRAINING`.
    #[inline]
    pub fn is_live(&self, id: BrokerId) -> bool {
        self.broker(id).state != BrokerState::Down
    }
    /// Whether the broker is `ACTIVE`.
    #[inline]
    pub fn is_active(&self, id: BrokerId) -> bool {
        self.broker(id).state == BrokerState::Active
    }
    /// Whether a new replica of the stream may be put there, caps aside.
    #[inline]
    pub fn may_enter(&self, stream: StreamId, broker: BrokerId) -> bool {
        self.is_active(broker) && self.stream(stream).open[broker.index()]
    }
    /// Whether a live replica of the stream there is a breach: `DRAINING`, or no longer open.
    #[inline]
    pub fn is_unwanted(&self, stream: StreamId, broker: BrokerId) -> bool {
        self.is_live(broker) && !self.may_enter(stream, broker)
    }
    /// Live replicas of an assignment, leader first.
    pub fn live<'a>(&'a self, assignment: &'a Assignment) -> impl Iterator<Item = BrokerId> + 'a {
        assignment.replicas().filter(|&b| self.is_live(b))
    }
    /// The present leader where it is live.
    pub fn live_leader(&self, shard: &Shard) -> Option<BrokerId> {
        shard.present.leader.filter(|&b| self.is_live(b))
    }
    /// No broker holds it.
    pub fn is_new(&self, shard: &Shard) -> bool {
        shard.present.replicas().next().is_none()
    }
    /// New, or held by `DOWN` brokers only: placing it is free.
    pub fn is_free_to_place(&self, shard: &Shard) -> bool {
        self.live(&shard.present).next().is_none()
    }
    /// Replicas that a shard of the stream should have.
    #[inline]
    pub fn replication_factor(&self, stream: StreamId) -> u32 {
        self.stream(stream).replication_factor
    }
    /// Price of one copy of the shard, a part of the `weighted` rank.
    pub fn copy_cost(&self, shard: &Shard) -> i64 {
        let gib = (shard.size_bytes as u64).div_ceil(1 << 30) as i64;
        self.policy.weights.overlap + self.policy.weights.overlap_per_gib * gib
    }
    /// Zones that the shard should span: the larger of `min_zones` and the zones of its live replicas now
    /// (unless their loss is allowed), capped at the replication factor.
    pub fn zones_wanted(&self, shard: &Shard) -> u32 {
        let now = if self.policy.allow_zone_loss {
            0
        } else {
            self.zones_spanned(&shard.present)
        };
        self.policy
            .min_zones
            .max(now)
            .min(self.replication_factor(shard.stream))
    }
    /// Zones of the live replicas.
    pub fn zones_spanned(&self, assignment: &Assignment) -> u32 {
        if assignment.followers.is_empty() {
            return self.live(assignment).count() as u32;
        }
        let zones = self.live(assignment).map(|b| self.zone_of(b));
        let mut zones: SmallVec<[ZoneId; 8]> = zones.collect();
        zones.sort_unstable();
        zones.dedup();
        zones.len() as u32
    }
    /// Bytes of replicas that fit below the broker's watermark: ⌊size · percent / 100⌋ less what is used by others, which
    /// may be negative. `None` where its disk has no size.
    pub fn disk_room(&self, broker: BrokerId) -> Option<i64> {
        let b = self.broker(broker);
        let percent = i128::from(self.policy.disk_watermark_percent);
        let filled = i128::from(b.disk_bytes?) * percent / 100;
        Some((filled as i64) - b.disk_used_bytes)
    }
    /// Whether bytes or rates cost or bind anything: some broker has a disk size or a rate capacity, or a load is balanced.
    pub fn has_loads(&self) -> bool {
        self.policy.balance.is_some()
            || (self.brokers.iter()).any(|b| b.disk_bytes.is_some() || b.rate_capacity.is_some())
    }
    /// Whether the shard has all its replicas (or more), all live, none on `DRAINING`, none against its stream's brokers or
    /// `max_replicas_per_zone`. `max_moves` bounds what changes such shards.
    pub fn is_settled(&self, shard: &Shard) -> bool {
        let present = &shard.present;
        let factor = self.replication_factor(shard.stream) as usize;
        self.live_leader(shard).is_some()
            && present.replicas().count() >= factor
            && present.replicas().all(|b| self.may_enter(shard.stream, b))
            && self
                .policy
                .max_replicas_per_zone
                .is_none_or(|most| self.fullest_zone(present) <= most as usize)
    }
    /// Live replicas in the zone that has most of them.
    fn fullest_zone(&self, assignment: &Assignment) -> usize {
        let zones = self.live(assignment).map(|b| self.zone_of(b));
        let mut zones: SmallVec<[ZoneId; 8]> = zones.collect();
        zones.sort_unstable();
        (zones.chunk_by(|a, b| a == b))
            .map(<[ZoneId]>::len)
            .max()
            .unwrap_or(0)
    }
    /// What `max_moves` counts of a settled shard: replicas on other brokers than now, and a lead that goes to a broker that
    /// holds a follower.
    pub fn changes(&self, shard: &Shard, assignment: &Assignment) -> i64 {
        let present = &shard.present;
        let copies = (assignment.replicas())
            .filter(|&b| !present.holds(b))
            .count() as i64;
        let promoted = assignment
            .leader
            .is_some_and(|b| present.followers.contains(&b));
        copies + i64::from(promoted)
    }
    /// Band of rank 8 for a broker; `None` where the spread is off or the broker takes no part.
    pub fn stream_leader_band(&self, stream: StreamId, broker: BrokerId) -> Option<Band> {
        let spread = self.policy.stream_leaders?;
        let s = self.stream(stream);
        self.stream_band(s, broker, s.shard_count(), spread)
            .filter(|_| self.may_enter(stream, broker))
    }
    /// Band of rank 9 for a broker; `None` where the spread is off or the broker takes no part.
    pub fn cluster_leader_band(&self, broker: BrokerId) -> Option<Band> {
        self.cluster_band(
            broker,
            self.shards.len() as i64,
            self.policy.cluster_leaders?,
        )
    }
    /// Band of rank 10 for a broker; likewise.
    pub fn stream_replica_band(&self, stream: StreamId, broker: BrokerId) -> Option<Band> {
        let spread = self.policy.stream_replicas?;
        let s = self.stream(stream);
        self.stream_band(
            s,
            broker,
            s.shard_count() * i64::from(s.replication_factor),
            spread,
        )
        .filter(|_| self.may_enter(stream, broker))
    }
    /// Band of rank 11 for a broker; likewise.
    pub fn cluster_replica_band(&self, broker: BrokerId) -> Option<Band> {
        self.cluster_band(broker, self.replicas_wanted, self.policy.cluster_replicas?)
    }
    fn stream_band(
        &self,
        s: &Stream,
        broker: BrokerId,
        count: i64,
        spread: Spread,
    ) -> Option<Band> {
        let share = self.broker(broker).share;
        (s.share_total > 0).then(|| Band::new(count, share, s.share_total, spread.slack))
    }
    fn cluster_band(&self, broker: BrokerId, count: i64, spread: Spread) -> Option<Band> {
        let b = self.broker(broker);
        (self.share_total > 0 && b.state == BrokerState::Active)
            .then(|| Band::new(count, b.share, self.share_total, spread.slack))
    }
}

impl fmt::Display for BrokerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BrokerState::Active => "ACTIVE",
            BrokerState::Draining => "DRAINING",
            BrokerState::Down => "DOWN",
        })
    }
}
