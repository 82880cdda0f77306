//! The prices of a certificate, rank by rank in rows, of one stream at a time.
//!
//! A *row* has one entry for each rank in which a choice can have a cost or a price, the most important first, so that
//! rows compare as the objective does; entries beyond those ranks are zero. Slots that a certificate doesn't list follow
//! from their broker: the tables of slots are those of brokers, changed where the stream at hand has prices of its own
//! and restored afterwards.
//!
//! **Sizes.** With F the largest replication factor, prices beyond ±2⁵⁹/F are taken for that, and so are costs of one
//! replica or of one more beside others. Any integers are prices, and a lower cost only lowers the bound; an increment
//! that is capped still grows with the count. A slot's price is a sum of at most three, so the sums of one shard, of at
//! most F replicas, and the differences of prices stay within `i64`.

use super::super::placement::{Excess, LOAD_RANKS, Own};
use crate::certificate::{Certificate, SlotPrice};
use crate::cost::{RANKS, Rank};
use crate::snapshot::{BrokerId, Problem, Roles, StreamId, ZoneId};

/// Values by rank, for the ranks of [`Prices::ranks`]; zero beyond them.
pub(super) type Row = [i64; RANKS];

/// Largest size of a price, or of a cost of one replica, times the largest replication factor.
const SIZE_MAX: i64 = 1 << 59;

/// Rows by broker or zone.
struct Table {
    width: usize,
    values: Vec<i64>,
}

impl Table {
    fn zero(rows: usize, width: usize) -> Self {
        Table {
            width,
            values: vec![0; rows * width],
        }
    }
    #[inline]
    fn row(&self, at: usize) -> &[i64] {
        &self.values[at * self.width..][..self.width]
    }
    #[inline]
    fn value(&self, at: usize, rank: usize) -> i64 {
        self.values[at * self.width + rank]
    }
    fn set(&mut self, at: usize, rank: usize, price: i64) {
        self.values[at * self.width + rank] = price;
    }
    fn restore(&mut self, at: usize, from: &Table) {
        let row = at * self.width..(at + 1) * self.width;
        self.values[row].copy_from_slice(from.row(at));
    }
}

/// The prices of a certificate, absent ones zero.
pub(super) struct Prices<'a> {
    ranks: Vec<Rank>,
    /// For each rank of [`Own::RANKS`] its place in a row.
    own_at: [usize; Own::RANKS.len()],
    /// For each of [`LOAD_RANKS`] its place in a row, where loads are limited.
    loads_at: Option<[usize; LOAD_RANKS.len()]>,
    size_max: i64,
    brokers: Table,
    zones: Table,
    broker_replicas: Table,
    zone_replicas: Table,
    /// Of the stream at hand.
    slots: Table,
    replica_slots: Table,
    /// The brokers on which it has prices of its own.
    changed: Vec<BrokerId>,
    is_changed: Vec<bool>,
    /// By place in a row, the slots of the streams to come: for leaders, and for replicas.
    listed: Vec<[&'a [SlotPrice]; 2]>,
}

impl<'a> Prices<'a> {
    /// The prices of a certificate of the right shape. Those of replicas are passed over where replicas stay.
    pub(super) fn new(problem: &Problem, certificate: &'a Certificate, excess: &Excess) -> Self {
        let has_loads = excess.is_any();
        let priced: Vec<Rank> = certificate.ranks.iter().map(|entry| entry.rank).collect();
        let is_used = |rank: &Rank| {
            let is_load = has_loads && LOAD_RANKS.contains(rank);
            Own::RANKS.contains(rank) || is_load || priced.contains(rank)
        };
        let ranks: Vec<Rank> = Rank::ALL.into_iter().filter(is_used).collect();
        let place = |rank: Rank| ranks.partition_point(|&r| r < rank);
        let (brokers, zones, width) = (problem.brokers.len(), problem.zones.len(), ranks.len());
        let with_shards = problem.streams.iter().filter(|s| !s.shards.is_empty());
        let factor = with_shards.map(|s| s.replication_factor).max();
        let mut prices = Prices {
            own_at: Own::RANKS.map(place),
            loads_at: has_loads.then(|| LOAD_RANKS.map(place)),
            size_max: SIZE_MAX / i64::from(factor.unwrap_or(1)),
            brokers: Table::zero(brokers, width),
            zones: Table::zero(zones, width),
            broker_replicas: Table::zero(brokers, width),
            zone_replicas: Table::zero(zones, width),
            slots: Table::zero(0, width),
            replica_slots: Table::zero(0, width),
            changed: Vec::new(),
            is_changed: vec![false; brokers],
            listed: vec![[&[], &[]]; width],
            ranks: ranks.clone(),
        };
        let most = prices.size_max;
        let fill = |table: &mut Table, rank: usize, prices: &[i64]| {
            for (at, &price) in prices.iter().enumerate() {
                table.set(at, rank, price.clamp(-most, most));
            }
        };
        for entry in &certificate.ranks {
            let at = place(entry.rank);
            prices.listed[at][0] = &entry.slots;
            fill(&mut prices.brokers, at, &entry.brokers);
            fill(&mut prices.zones, at, &entry.zones);
            if problem.policy.roles == Roles::LeadersAndFollowers {
                prices.listed[at][1] = &entry.replica_slots;
                fill(&mut prices.broker_replicas, at, &entry.broker_replicas);
                fill(&mut prices.zone_replicas, at, &entry.zone_replicas);
            }
        }
        prices.slots.values.clone_from(&prices.brokers.values);
        let replicas = &prices.broker_replicas.values;
        prices.replica_slots.values.clone_from(replicas);
        prices
    }

    /// Turns to the next stream; O(slots listed for it and the one before).
    pub(super) fn turn_to(&mut self, stream: StreamId) {
        for b in std::mem::take(&mut self.changed) {
            self.slots.restore(b.index(), &self.brokers);
            self.replica_slots.restore(b.index(), &self.broker_replicas);
            self.is_changed[b.index()] = false;
        }
        for at in 0..self.listed.len() {
            let [leaders, replicas] = self.listed[at].map(|listed| {
                let own = listed.iter().take_while(|slot| slot.stream == stream);
                listed.split_at(own.count())
            });
            self.listed[at] = [leaders.1, replicas.1];
            for slot in replicas.0 {
                let b = self.note(slot.broker);
                let price = slot.price.clamp(-self.size_max, self.size_max);
                let alone = price - self.broker_replicas.value(b, at);
                self.replica_slots.set(b, at, price);
                self.slots.set(b, at, self.brokers.value(b, at) + alone);
            }
            for slot in leaders.0 {
                let b = self.note(slot.broker);
                let price = slot.price.clamp(-self.size_max, self.size_max);
                self.slots.set(b, at, price);
            }
        }
    }

    fn note(&mut self, broker: BrokerId) -> usize {
        let b = broker.index();
        if !std::mem::replace(&mut self.is_changed[b], true) {
            self.changed.push(broker);
        }
        b
    }

    /// The ranks of a row, the most important first.
    pub(super) fn ranks(&self) -> &[Rank] {
        &self.ranks
    }
    /// The brokers on which the stream at hand has prices of its own.
    pub(super) fn changed(&self) -> &[BrokerId] {
        &self.changed
    }
    /// Whether it has one there.
    #[inline]
    pub(super) fn is_changed(&self, broker: BrokerId) -> bool {
        self.is_changed[broker.index()]
    }
    /// Price of leading a shard of the stream on the broker.
    #[inline]
    pub(super) fn of_slot(&self, broker: BrokerId) -> &[i64] {
        self.slots.row(broker.index())
    }
    /// Price of a replica that does not lead.
    #[inline]
    pub(super) fn of_replica_slot(&self, broker: BrokerId) -> &[i64] {
        self.replica_slots.row(broker.index())
    }
    /// Prices on a broker of a leader, and of a replica, of a stream that has none of its own there.
    pub(super) fn of_broker(&self, broker: BrokerId) -> [&[i64]; 2] {
        let b = broker.index();
        [self.brokers.row(b), self.broker_replicas.row(b)]
    }
    /// The multipliers of the stream's leaders and of its replicas on the broker.
    pub(super) fn of_slot_alone(&self, broker: BrokerId) -> [Row; 2] {
        let b = broker.index();
        let replicas = less(self.replica_slots.row(b), self.broker_replicas.row(b));
        let leaders = less(self.slots.row(b), self.brokers.row(b));
        [less(&leaders, &replicas), replicas]
    }
    /// The multipliers of a broker's leaders and of its replicas.
    pub(super) fn of_broker_alone(&self, broker: BrokerId, zone: ZoneId) -> [Row; 2] {
        let (b, z) = (broker.index(), zone.index());
        let replicas = less(self.broker_replicas.row(b), self.zone_replicas.row(z));
        let leaders = less(self.brokers.row(b), self.zones.row(z));
        [less(&leaders, &replicas), replicas]
    }
    /// The multipliers of a zone's leaders and of its replicas.
    pub(super) fn of_zone_alone(&self, zone: usize) -> [Row; 2] {
        let replicas = less(self.zone_replicas.row(zone), &[0; RANKS]);
        [less(self.zones.row(zone), &replicas), replicas]
    }

    /// Adds what a replica puts above the caps of its broker, where there are any; `excess` tells how much.
    #[inline]
    pub(super) fn add_loads(&self, row: &mut Row, excess: impl FnOnce() -> [i128; 3]) {
        if let Some(places) = self.loads_at {
            for (at, value) in places.into_iter().zip(excess()) {
                row[at] += value.min(i128::from(self.size_max)) as i64;
            }
        }
    }

    /// What a choice costs by itself and what it adds, together with a price.
    #[inline]
    pub(super) fn sum(&self, own: &Own, price: &[i64]) -> Row {
        let mut sum = [0; RANKS];
        sum[..price.len()].copy_from_slice(price);
        for (&at, value) in self.own_at.iter().zip(own.values()) {
            sum[at] += value.min(i128::from(self.size_max)) as i64;
        }
        sum
    }
}

/// The difference of two rows: of prices or of differences of prices, at most four in all, which stay within `i64`.
fn less(a: &[i64], b: &[i64]) -> Row {
    let mut difference = [0; RANKS];
    for (into, (a, b)) in difference.iter_mut().zip(a.iter().zip(b)) {
        *into = a - b;
    }
    difference
}

/// The sum of two rows.
#[inline]
pub(super) fn plus(a: &Row, b: &Row) -> Row {
    std::array::from_fn(|at| a[at] + b[at])
}
