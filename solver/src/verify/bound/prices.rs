//! The prices of a certificate, rank by rank in rows, of one stream at a time.
//!
//! A *row* has one entry for each rank in which a choice can have a cost or a price, the most important first, so that
//! rows compare as the objective does; entries beyond those ranks are zero. Slots that a certificate doesn't list have
//! the row of their broker: the table of slots is that of brokers, changed where the stream at hand has prices of its
//! own and restored afterwards.

use super::super::placement::Own;
use crate::certificate::{Certificate, SlotPrice};
use crate::cost::{RANKS, Rank};
use crate::snapshot::{BrokerId, Problem, Roles, StreamId, ZoneId};

/// Values by rank, for the ranks of [`Prices::ranks`]; zero beyond them.
pub(super) type Row = [i64; RANKS];

/// Largest size of a price; what is beyond is taken for it.
const PRICE_MAX: i64 = 1 << 60;
/// Largest own cost of a shard in one rank; what is beyond is taken for it.
const OWN_MAX: i128 = 1 << 61;

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
    fn set(&mut self, at: usize, rank: usize, price: i64) {
        self.values[at * self.width + rank] = price.clamp(-PRICE_MAX, PRICE_MAX);
    }
    fn fill(&mut self, rank: usize, prices: &[i64]) {
        for (at, &price) in prices.iter().enumerate() {
            self.set(at, rank, price);
        }
    }
}

/// The prices of a certificate, absent ones zero.
pub(super) struct Prices<'a> {
    ranks: Vec<Rank>,
    /// For each rank of [`Own::RANKS`] its place in a row.
    own_at: [usize; Own::RANKS.len()],
    brokers: Table,
    zones: Table,
    broker_replicas: Table,
    zone_replicas: Table,
    /// Of the stream at hand.
    slots: Table,
    /// The brokers on which it has prices of its own.
    changed: Vec<BrokerId>,
    is_changed: Vec<bool>,
    /// By place in a row, the slots of the streams to come.
    listed: Vec<&'a [SlotPrice]>,
    nothing: Row,
}

impl<'a> Prices<'a> {
    /// The prices of a certificate of the right shape.
    pub(super) fn new(problem: &Problem, certificate: &'a Certificate) -> Self {
        let priced: Vec<Rank> = certificate.ranks.iter().map(|entry| entry.rank).collect();
        let is_used = |rank: &Rank| Own::RANKS.contains(rank) || priced.contains(rank);
        let ranks: Vec<Rank> = Rank::ALL.into_iter().filter(is_used).collect();
        let place = |rank: Rank| ranks.partition_point(|&r| r < rank);
        let (brokers, zones, width) = (problem.brokers.len(), problem.zones.len(), ranks.len());
        let mut prices = Prices {
            own_at: Own::RANKS.map(place),
            brokers: Table::zero(brokers, width),
            zones: Table::zero(zones, width),
            broker_replicas: Table::zero(brokers, width),
            zone_replicas: Table::zero(zones, width),
            slots: Table::zero(0, width),
            changed: Vec::new(),
            is_changed: vec![false; brokers],
            listed: vec![&[]; width],
            nothing: [0; RANKS],
            ranks: ranks.clone(),
        };
        for entry in &certificate.ranks {
            let at = place(entry.rank);
            prices.listed[at] = &entry.slots;
            prices.brokers.fill(at, &entry.brokers);
            prices.zones.fill(at, &entry.zones);
            if problem.policy.roles == Roles::LeadersAndFollowers {
                prices.broker_replicas.fill(at, &entry.broker_replicas);
                prices.zone_replicas.fill(at, &entry.zone_replicas);
            }
        }
        prices.slots.values.clone_from(&prices.brokers.values);
        prices
    }

    /// Turns to the next stream; O(slots listed for it and the one before).
    pub(super) fn turn_to(&mut self, stream: StreamId) {
        let width = self.slots.width;
        for b in self.changed.drain(..) {
            let row = b.index() * width..(b.index() + 1) * width;
            self.slots.values[row.clone()].copy_from_slice(&self.brokers.values[row]);
            self.is_changed[b.index()] = false;
        }
        for (at, listed) in self.listed.iter_mut().enumerate() {
            let own = listed
                .iter()
                .take_while(|slot| slot.stream == stream)
                .count();
            for slot in &listed[..own] {
                let b = slot.broker.index();
                if !std::mem::replace(&mut self.is_changed[b], true) {
                    self.changed.push(slot.broker);
                }
                self.slots.set(b, at, slot.price);
            }
            *listed = &listed[own..];
        }
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
    pub(super) fn of_replica(&self, broker: BrokerId) -> &[i64] {
        self.broker_replicas.row(broker.index())
    }
    /// What costs nothing.
    pub(super) fn nothing(&self) -> &[i64] {
        &self.nothing[..self.ranks.len()]
    }
    /// The multiplier of the stream's leaders on the broker.
    pub(super) fn of_slot_alone(&self, broker: BrokerId) -> Row {
        let b = broker.index();
        less(self.slots.row(b), self.brokers.row(b))
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

    /// Own cost and price of a choice.
    #[inline]
    pub(super) fn sum(&self, own: &Own, price: &[i64]) -> Row {
        let mut sum = [0; RANKS];
        sum[..price.len()].copy_from_slice(price);
        for (&at, value) in self.own_at.iter().zip(own.values()) {
            sum[at] += value.min(OWN_MAX) as i64;
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
