//! A placement with its counts and loads, and what a change of one shard makes of its cost.
//!
//! The objective is a sum of each shard's own cost and of convex costs of counts and loads, so a change touches the
//! counts of at most two replica sets: its price takes O(replicas²), whatever the cluster's size. On the way from
//! one legal placement to another caps may be exceeded; by how much is kept as [`Value::excess`], which outranks every
//! cost.

use smallvec::SmallVec;

use crate::budget::{Pace, Stop};
use crate::cost::{Cost, RANKS, Rank, shard_cost};
use crate::snapshot::{
    Assignment, Band, BrokerId, Counts, Dimension, Limits, Loads, Problem, Role, ShardId, Spread,
    Stream, StreamId, ZoneId, balance_caps,
};

/// What a placement is worth: less is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Value {
    /// By how much caps in force and `max_moves` are exceeded; nothing in a legal placement.
    pub(super) excess: i128,
    /// The objective.
    pub(super) cost: Cost,
}

impl Value {
    /// Of a change that changes nothing.
    pub(super) const ZERO: Value = Value {
        excess: 0,
        cost: Cost([0; RANKS]),
    };

    /// Sum of two changes, or of a value and a change.
    pub(super) fn plus(mut self, other: &Value) -> Value {
        self.excess += other.excess;
        for (sum, part) in self.cost.0.iter_mut().zip(other.cost.0) {
            *sum += part;
        }
        self
    }

    fn minus_cost(&mut self, other: &Cost) {
        for (sum, part) in self.cost.0.iter_mut().zip(other.0) {
            *sum -= part;
        }
    }
}

/// Leaders and live replicas of one stream on one broker.
type Slot = [i32; 2];

/// Bands of one stream by class of share.
#[derive(Clone, Copy, Default)]
struct Bands {
    leaders: Option<Band>,
    replicas: Option<Band>,
}

/// A placement and its counts.
pub(super) struct State<'p> {
    pub(super) problem: &'p Problem,
    pub(super) placement: Vec<Assignment>,
    pub(super) loads: Loads,
    counts: Counts,
    /// Stream × broker.
    slots: Vec<Slot>,
    /// Changes made to settled shards.
    changes: i64,
    is_settled: Vec<bool>,
    /// By broker, which share it has among the distinct ones.
    class: Vec<usize>,
    classes: usize,
    /// Stream × class.
    stream_bands: Vec<Bands>,
    /// By broker.
    cluster_bands: Vec<Bands>,
    disk_room: Vec<Option<i64>>,
    balance_caps: Vec<Option<i64>>,
}

/// What one change adds to the counts of a broker or zone.
#[derive(Clone, Copy, Default)]
struct Shift {
    leaders: i64,
    replicas: i64,
    bytes: i64,
    rate: i64,
}

impl<'p> State<'p> {
    /// The state of a placement.
    ///
    /// # Errors
    /// The interrupt's reason.
    ///
    /// Complexity: O(shards · replicas + streams · brokers), the latter some bytes each.
    pub(super) fn new(
        problem: &'p Problem,
        placement: &[Assignment],
        pace: &mut Pace<'_>,
    ) -> Result<Self, Stop> {
        let (brokers, streams) = (problem.brokers.len(), problem.streams.len());
        let mut shares: Vec<u32> = problem.brokers.iter().map(|b| b.share).collect();
        shares.sort_unstable();
        shares.dedup();
        let class_of = |b: BrokerId| {
            let share = problem.broker(b).share;
            shares.partition_point(|&s| s < share)
        };
        let class: Vec<usize> = problem.broker_ids().map(class_of).collect();
        let policy = &problem.policy;
        let stream_bands = problem.streams.iter().flat_map(|stream| {
            let leaders = stream.shard_count();
            let replicas = leaders * i64::from(stream.replication_factor);
            shares.iter().map(move |&share| Bands {
                leaders: band(policy.stream_leaders, stream, leaders, share),
                replicas: band(policy.stream_replicas, stream, replicas, share),
            })
        });
        let cluster = |b| Bands {
            leaders: problem.cluster_leader_band(b),
            replicas: problem.cluster_replica_band(b),
        };
        let caps = balance_caps(problem);
        let mut state = State {
            problem,
            loads: Loads::zero(brokers),
            counts: Counts::zero(brokers, problem.zones.len()),
            slots: vec![[0; 2]; brokers * streams],
            changes: 0,
            is_settled: (problem.shards.iter())
                .map(|shard| policy.max_moves.is_some() && problem.is_settled(shard))
                .collect(),
            class,
            classes: shares.len(),
            stream_bands: stream_bands.collect(),
            cluster_bands: problem.broker_ids().map(cluster).collect(),
            disk_room: problem.broker_ids().map(|b| problem.disk_room(b)).collect(),
            balance_caps: if caps.is_empty() {
                vec![None; brokers]
            } else {
                caps
            },
            placement: Vec::with_capacity(placement.len()),
        };
        for (at, assignment) in placement.iter().enumerate() {
            pace.step(1)?;
            state.count(ShardId::at(at), assignment, 1);
            state.placement.push(assignment.clone());
        }
        Ok(state)
    }

    /// By how much caps in force and `max_moves` are exceeded. O(brokers).
    #[cfg(test)]
    pub(super) fn excess(&self) -> i128 {
        let limits = &self.problem.limits;
        let (counts, caps) = (&self.counts, &limits.in_force);
        let (loads, load_caps) = (&self.loads, &limits.loads_in_force);
        let pairs = [
            (&counts.leaders, &caps.leaders),
            (&counts.replicas, &caps.replicas),
            (&counts.zone_leaders, &caps.zone_leaders),
            (&counts.zone_replicas, &caps.zone_replicas),
            (&loads.bytes, &load_caps.bytes),
            (&loads.rates, &load_caps.rates),
        ];
        let over = |(&count, &cap): (&i64, &i64)| i128::from(above(count, cap));
        let counted = pairs
            .into_iter()
            .flat_map(|(counts, caps)| counts.iter().zip(caps));
        let most = self
            .problem
            .policy
            .max_moves
            .map_or(Limits::NONE, i64::from);
        counted.map(over).sum::<i128>() + i128::from(above(self.changes, most))
    }

    /// Sets a shard's replicas, whatever the caps say.
    pub(super) fn set(&mut self, id: ShardId, assignment: Assignment) -> Assignment {
        let old = std::mem::replace(&mut self.placement[id.index()], assignment);
        self.count(id, &old, -1);
        let new = self.placement[id.index()].clone();
        self.count(id, &new, 1);
        old
    }

    fn count(&mut self, id: ShardId, assignment: &Assignment, by: i64) {
        let problem = self.problem;
        let shard = problem.shard(id);
        self.counts.add(&problem.brokers, assignment, by);
        self.loads.add(&problem.brokers, shard, assignment, by);
        let row = shard.stream.index() * problem.brokers.len();
        for b in problem.live(assignment) {
            self.slots[row + b.index()][1] += by as i32;
        }
        if let Some(b) = assignment.leader.filter(|&b| problem.is_live(b)) {
            self.slots[row + b.index()][0] += by as i32;
        }
        if self.is_settled[id.index()] {
            self.changes += by * problem.changes(shard, assignment);
        }
    }

    /// What it would add to the placement's value to give the shard these replicas. O(replicas²).
    pub(super) fn price(&self, id: ShardId, assignment: &Assignment) -> Value {
        let problem = self.problem;
        let old = &self.placement[id.index()];
        let mut value = Value {
            excess: 0,
            cost: shard_cost(problem, id, assignment),
        };
        value.minus_cost(&shard_cost(problem, id, old));
        let shard = problem.shard(id);
        let mut brokers: SmallVec<[(BrokerId, Shift); 8]> = SmallVec::new();
        let mut zones: SmallVec<[(ZoneId, Shift); 8]> = SmallVec::new();
        for (set, by) in [(old, -1), (assignment, 1)] {
            for b in problem.live(set) {
                let leads = set.leader == Some(b);
                let shift = Shift {
                    leaders: if leads { by } else { 0 },
                    replicas: by,
                    bytes: by * shard.size_bytes,
                    rate: if leads { by * shard.rate } else { 0 },
                };
                add(&mut brokers, b, &shift);
                add(&mut zones, problem.zone_of(b), &shift);
            }
        }
        for (b, shift) in &brokers {
            self.add_broker(shard.stream, *b, shift, &mut value);
        }
        for (z, shift) in &zones {
            self.add_zone(*z, shift, &mut value);
        }
        if self.is_settled[id.index()] {
            let by = problem.changes(shard, assignment) - problem.changes(shard, old);
            let most = problem.policy.max_moves.map_or(Limits::NONE, i64::from);
            value.excess += grown(self.changes, by, most);
        }
        value
    }

    /// What one more replica of the shard adds on a broker, apart from the shard's own cost and the zone's counts.
    pub(super) fn arrival(&self, id: ShardId, b: BrokerId, role: Role) -> Value {
        let shard = self.problem.shard(id);
        let leads = i64::from(role == Role::Leader);
        let shift = Shift {
            leaders: leads,
            replicas: 1,
            bytes: shard.size_bytes,
            rate: leads * shard.rate,
        };
        let mut value = Value::ZERO;
        self.add_broker(shard.stream, b, &shift, &mut value);
        value
    }

    fn add_broker(&self, s: StreamId, b: BrokerId, shift: &Shift, value: &mut Value) {
        let problem = self.problem;
        let (at, broker, limits) = (b.index(), problem.broker(b), &problem.limits);
        let cost = &mut value.cost;
        let nominal = |cap: Option<u32>| cap.map_or(Limits::NONE, i64::from);
        if shift.leaders != 0 {
            let count = self.counts.leaders[at];
            value.excess += grown(count, shift.leaders, limits.in_force.leaders[at]);
            cost[Rank::Breaches] += over(count, shift.leaders, nominal(broker.max_leaders));
            let bands = &self.cluster_bands[at];
            cost[Rank::ClusterLeaderSpread] += bent(bands.leaders, count, shift.leaders);
        }
        if shift.replicas != 0 {
            let count = self.counts.replicas[at];
            value.excess += grown(count, shift.replicas, limits.in_force.replicas[at]);
            cost[Rank::Breaches] += over(count, shift.replicas, nominal(broker.max_replicas));
            let bands = &self.cluster_bands[at];
            cost[Rank::ClusterReplicaSpread] += bent(bands.replicas, count, shift.replicas);
        }
        if problem.may_enter(s, b) {
            let [leaders, replicas] = self.slots[s.index() * problem.brokers.len() + at];
            let bands = &self.stream_bands[s.index() * self.classes + self.class[at]];
            cost[Rank::StreamLeaderSpread] +=
                bent(bands.leaders, i64::from(leaders), shift.leaders);
            cost[Rank::StreamReplicaSpread] +=
                bent(bands.replicas, i64::from(replicas), shift.replicas);
        }
        let none = |cap: Option<i64>| cap.unwrap_or(Limits::NONE);
        let balance = problem.policy.balance.map(|balance| balance.dimension);
        if shift.bytes != 0 {
            let load = self.loads.bytes[at];
            value.excess += grown(load, shift.bytes, limits.loads_in_force.bytes[at]);
            cost[Rank::DiskExcess] += over(load, shift.bytes, none(self.disk_room[at]));
            if balance == Some(Dimension::Bytes) {
                cost[Rank::BalanceExcess] += over(load, shift.bytes, none(self.balance_caps[at]));
            }
        }
        if shift.rate != 0 {
            let load = self.loads.rates[at];
            value.excess += grown(load, shift.rate, limits.loads_in_force.rates[at]);
            cost[Rank::RateExcess] += over(load, shift.rate, none(broker.rate_capacity));
            if balance == Some(Dimension::Rate) {
                cost[Rank::BalanceExcess] += over(load, shift.rate, none(self.balance_caps[at]));
            }
        }
    }

    fn add_zone(&self, z: ZoneId, shift: &Shift, value: &mut Value) {
        let problem = self.problem;
        let (at, zone, limits) = (z.index(), &problem.zones[z.index()], &problem.limits);
        let nominal = |cap: Option<u32>| cap.map_or(Limits::NONE, i64::from);
        if shift.leaders != 0 {
            let (count, by) = (self.counts.zone_leaders[at], shift.leaders);
            value.excess += grown(count, by, limits.in_force.zone_leaders[at]);
            value.cost[Rank::Breaches] += over(count, by, nominal(zone.max_leaders));
            let short = |count: i64| (i64::from(zone.min_leaders) - count).max(0);
            value.cost[Rank::ZoneMinimumShortfall] += short(count + by) - short(count);
        }
        if shift.replicas != 0 {
            let (count, by) = (self.counts.zone_replicas[at], shift.replicas);
            value.excess += grown(count, by, limits.in_force.zone_replicas[at]);
            value.cost[Rank::Breaches] += over(count, by, nominal(zone.max_replicas));
        }
    }

    /// By how much the broker's bytes are above its watermark, where its disk has a size; below zero where there is room.
    pub(super) fn disk_excess(&self, b: BrokerId) -> Option<i64> {
        Some(self.loads.bytes[b.index()].saturating_sub(self.disk_room[b.index()]?))
    }

    /// By how much the rates that the broker leads are above its capacity, likewise.
    pub(super) fn rate_excess(&self, b: BrokerId) -> Option<i64> {
        Some(self.loads.rates[b.index()] - self.problem.broker(b).rate_capacity?)
    }

    /// By how much the broker's balanced load is above what costs nothing, likewise.
    pub(super) fn balance_excess(&self, b: BrokerId) -> Option<i64> {
        let dimension = self.problem.policy.balance?.dimension;
        Some(self.loads.of(dimension)[b.index()] - self.balance_caps[b.index()]?)
    }

    /// Bytes that may still come to the broker; negative where there are too many.
    pub(super) fn disk_left(&self, b: BrokerId) -> i64 {
        let cap = self.problem.limits.loads_in_force.bytes[b.index()];
        cap.saturating_sub(self.loads.bytes[b.index()])
    }
}

fn band(spread: Option<Spread>, stream: &Stream, count: i64, share: u32) -> Option<Band> {
    let spread = spread.filter(|_| stream.share_total > 0)?;
    Some(Band::new(count, share, stream.share_total, spread.slack))
}

fn add<K: Copy + PartialEq>(list: &mut SmallVec<[(K, Shift); 8]>, key: K, shift: &Shift) {
    let at = list.iter().position(|entry| entry.0 == key);
    let at = at.unwrap_or_else(|| {
        list.push((key, Shift::default()));
        list.len() - 1
    });
    let sum = &mut list[at].1;
    sum.leaders += shift.leaders;
    sum.replicas += shift.replicas;
    sum.bytes += shift.bytes;
    sum.rate += shift.rate;
}

fn above(count: i64, cap: i64) -> i64 {
    count.saturating_sub(cap).max(0)
}

/// By how much more a count is above a cap when it changes.
fn over(count: i64, by: i64, cap: i64) -> i64 {
    above(count + by, cap) - above(count, cap)
}

fn grown(count: i64, by: i64, cap: i64) -> i128 {
    i128::from(over(count, by, cap))
}

fn bent(band: Option<Band>, count: i64, by: i64) -> i64 {
    band.map_or(0, |band| band.squared(count + by) - band.squared(count))
}
