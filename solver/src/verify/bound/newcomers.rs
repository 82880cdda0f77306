//! The brokers that take new replicas of the stream at hand: zone by zone, the cheapest first.
//!
//! Complexity: O(brokers · log brokers) once. A stream passes over the brokers in the order of their own prices, O(brokers);
//! those on which it has prices of its own are put in their places, O(log brokers) comparisons each.

use super::super::placement::takes;
use super::prices::Prices;
use crate::snapshot::{BrokerId, BrokerState, Problem, Stream, ZoneId};

/// Where new replicas of the stream at hand would go, in one role.
pub(super) struct Line {
    /// `ACTIVE` brokers, the cheapest first for a stream without prices of its own.
    order: Vec<BrokerId>,
    /// Of the stream at hand, by zone.
    by_zone: Vec<Vec<BrokerId>>,
    /// The zones that have any, by the price of their cheapest.
    zones: Vec<ZoneId>,
}

impl Line {
    /// Brokers by their own prices.
    pub(super) fn new<'r>(problem: &Problem, price: impl Fn(BrokerId) -> &'r [i64]) -> Self {
        let is_active = |b: &BrokerId| problem.brokers[b.index()].state == BrokerState::Active;
        let all = (0..problem.brokers.len()).map(BrokerId::at);
        let mut order: Vec<BrokerId> = all.filter(is_active).collect();
        order.sort_by(|&a, &b| price(a).cmp(price(b)));
        Line {
            order,
            by_zone: vec![Vec::new(); problem.zones.len()],
            zones: Vec::new(),
        }
    }

    /// Turns to a stream, to which the prices have turned before.
    pub(super) fn turn_to<'r>(
        &mut self,
        problem: &Problem,
        stream: &Stream,
        prices: &Prices<'_>,
        price: impl Fn(BrokerId) -> &'r [i64],
    ) {
        for zone in self.zones.drain(..) {
            self.by_zone[zone.index()].clear();
        }
        let is_plain = |b: &&BrokerId| takes(problem, stream, **b) && !prices.is_changed(**b);
        for &b in self.order.iter().filter(is_plain) {
            let zone = problem.brokers[b.index()].zone;
            let brokers = &mut self.by_zone[zone.index()];
            if brokers.is_empty() {
                self.zones.push(zone);
            }
            brokers.push(b);
        }
        let changed = prices.changed().iter();
        for &b in changed.filter(|&&b| takes(problem, stream, b)) {
            let zone = problem.brokers[b.index()].zone;
            let brokers = &mut self.by_zone[zone.index()];
            if brokers.is_empty() {
                self.zones.push(zone);
            }
            let place = brokers.partition_point(|&other| price(other) <= price(b));
            brokers.insert(place, b);
        }
        if !prices.changed().is_empty() {
            let cheapest = |zone: ZoneId| price(self.by_zone[zone.index()][0]);
            self.zones.sort_by(|&a, &b| cheapest(a).cmp(cheapest(b)));
        }
    }

    /// Those of a zone, the cheapest first.
    pub(super) fn of_zone(&self, zone: ZoneId) -> &[BrokerId] {
        &self.by_zone[zone.index()]
    }

    /// The zones that have any, by the price of their cheapest.
    pub(super) fn zones(&self) -> &[ZoneId] {
        &self.zones
    }
}
