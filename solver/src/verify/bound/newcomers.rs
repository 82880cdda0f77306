//! The brokers that take new replicas of the stream at hand: zone by zone, the cheapest first.
//!
//! Complexity: O(brokers · log brokers) once. A stream passes over the brokers in the order of their own prices; where it
//! has prices of its own the lists are sorted again, which costs little more than O(brokers), being nearly sorted.

use super::super::placement::takes;
use super::prices::Prices;
use crate::snapshot::{BrokerId, BrokerState, Problem, Stream, ZoneId};

/// Where new replicas of the stream at hand would go.
pub(super) struct Newcomers<'p> {
    problem: &'p Problem,
    /// As leaders.
    pub(super) leaders: Line,
    /// As followers.
    pub(super) followers: Line,
}

impl<'p> Newcomers<'p> {
    /// Brokers by their own prices.
    pub(super) fn new(problem: &'p Problem, prices: &Prices<'_>) -> Self {
        Newcomers {
            problem,
            leaders: Line::new(problem, |b| prices.of_broker(b)[0]),
            followers: Line::new(problem, |b| prices.of_broker(b)[1]),
        }
    }

    /// Turns to a stream, to which the prices have turned before.
    pub(super) fn turn_to(&mut self, stream: &Stream, prices: &Prices<'_>) {
        self.leaders.fill(self.problem, stream);
        self.followers.fill(self.problem, stream);
        if prices.has_changed() {
            self.leaders.sort(|b| prices.of_slot(b));
            self.followers.sort(|b| prices.of_replica_slot(b));
        }
    }
}

/// The brokers of one role.
pub(super) struct Line {
    /// `ACTIVE` brokers, the cheapest first for a stream without prices of its own.
    order: Vec<BrokerId>,
    /// Of the stream at hand, by zone.
    by_zone: Vec<Vec<BrokerId>>,
    /// The zones that have any, by the price of their cheapest.
    zones: Vec<ZoneId>,
}

impl Line {
    fn new<'r>(problem: &Problem, price: impl Fn(BrokerId) -> &'r [i64]) -> Self {
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

    fn fill(&mut self, problem: &Problem, stream: &Stream) {
        for zone in self.zones.drain(..) {
            self.by_zone[zone.index()].clear();
        }
        for &b in self.order.iter().filter(|&&b| takes(problem, stream, b)) {
            let zone = problem.brokers[b.index()].zone;
            let brokers = &mut self.by_zone[zone.index()];
            if brokers.is_empty() {
                self.zones.push(zone);
            }
            brokers.push(b);
        }
    }

    fn sort<'r>(&mut self, price: impl Fn(BrokerId) -> &'r [i64]) {
        for zone in &self.zones {
            self.by_zone[zone.index()].sort_by(|&a, &b| price(a).cmp(price(b)));
        }
        let cheapest = |zone: ZoneId| price(self.by_zone[zone.index()][0]);
        self.zones.sort_by(|&a, &b| cheapest(a).cmp(cheapest(b)));
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
