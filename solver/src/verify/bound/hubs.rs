//! The cheapest brokers for a newcomer, zone by zone.
//!
//! In a zone the newcomer of least price is the one to try. Brokers are
//! sorted by their own price once; a stream walks them together with the few on which it has a price of its own, and
//! only as far as its shards ask: until the zones that their sources list and one more are found. Complexity: O(brokers ·
//! log brokers) once; O(changed · log changed + brokers passed) a stream, and O(sources · zones found) a shard.

use super::super::placement::takes;
use crate::snapshot::{BrokerId, BrokerState, Problem, Stream, Traffic, ZoneId};

/// Where new replicas of the stream at hand would go.
pub(super) struct Hubs<'p> {
    problem: &'p Problem,
    /// The stream at hand.
    stream: Option<&'p Stream>,
    /// `ACTIVE` brokers, the cheapest first.
    order: Vec<BrokerId>,
    /// Those passed.
    passed: usize,
    /// Brokers with a price of the stream's own that take its replicas, the cheapest last; those passed are gone.
    changed: Vec<BrokerId>,
    /// By broker: the stream has a price of its own there.
    is_changed: Vec<bool>,
    restore: Vec<BrokerId>,
    /// The cheapest broker of each zone found, the cheapest first.
    found: Vec<(ZoneId, BrokerId)>,
    /// By zone: its place in `found`.
    place: Vec<Option<u32>>,
}

impl<'p> Hubs<'p> {
    /// Brokers by their own prices.
    pub(super) fn new<'r>(problem: &'p Problem, price: impl Fn(BrokerId) -> &'r [i64]) -> Self {
        let is_active = |b: &BrokerId| problem.brokers[b.index()].state == BrokerState::Active;
        let all = (0..problem.brokers.len()).map(BrokerId::at);
        let mut order: Vec<BrokerId> = all.filter(is_active).collect();
        order.sort_by(|&a, &b| price(a).cmp(price(b)));
        Hubs {
            problem,
            stream: None,
            order,
            passed: 0,
            changed: Vec::new(),
            is_changed: vec![false; problem.brokers.len()],
            restore: Vec::new(),
            found: Vec::new(),
            place: vec![None; problem.zones.len()],
        }
    }

    /// Turns to a stream, which has prices of its own on the `changed` brokers.
    pub(super) fn turn_to<'r>(
        &mut self,
        stream: &'p Stream,
        changed: &[BrokerId],
        price: impl Fn(BrokerId) -> &'r [i64],
    ) {
        for (zone, _) in self.found.drain(..) {
            self.place[zone.index()] = None;
        }
        for b in self.restore.drain(..) {
            self.is_changed[b.index()] = false;
        }
        self.stream = Some(stream);
        self.passed = 0;
        self.restore.extend_from_slice(changed);
        changed
            .iter()
            .for_each(|b| self.is_changed[b.index()] = true);
        self.changed.clear();
        let taking = changed.iter().filter(|&&b| takes(self.problem, stream, b));
        self.changed.extend(taking);
        self.changed.sort_by(|&a, &b| price(b).cmp(price(a)));
    }

    /// Calls `offer` with the brokers that can be the cheapest newcomer of a shard whose replica serves this traffic: in
    /// each zone that a source lists, and in one of all the others, where a newcomer costs the same.
    pub(super) fn each<'r>(
        &mut self,
        traffic: &Traffic,
        price: impl Fn(BrokerId) -> &'r [i64],
        mut offer: impl FnMut(BrokerId),
    ) {
        for (zone, _) in &traffic.reached {
            while self.place[zone.index()].is_none() && self.find(&price) {}
            if let Some(at) = self.place[zone.index()] {
                offer(self.found[at as usize].1);
            }
        }
        let is_listed = |zone: ZoneId| traffic.reached.iter().any(|entry| entry.0 == zone);
        let mut at = 0;
        while at < self.found.len() || self.find(&price) {
            let (zone, broker) = self.found[at];
            if !is_listed(zone) {
                offer(broker);
                return;
            }
            at += 1;
        }
    }

    /// Walks on to the cheapest broker of the next zone; false where there is none.
    fn find<'r>(&mut self, price: &impl Fn(BrokerId) -> &'r [i64]) -> bool {
        let Some(stream) = self.stream else {
            return false;
        };
        loop {
            let rest = &self.order[self.passed..];
            let is_candidate = |b: &BrokerId| stream.open[b.index()] && !self.is_changed[b.index()];
            let skipped = rest.iter().take_while(|b| !is_candidate(b)).count();
            self.passed += skipped;
            let (plain, own) = (rest.get(skipped).copied(), self.changed.last().copied());
            let broker = match (plain, own) {
                (Some(plain), Some(own)) if price(own) < price(plain) => own,
                (Some(plain), _) => plain,
                (None, Some(own)) => own,
                (None, None) => return false,
            };
            if Some(broker) == plain {
                self.passed += 1;
            } else {
                self.changed.pop();
            }
            let zone = self.problem.brokers[broker.index()].zone;
            if self.place[zone.index()].is_none() {
                self.place[zone.index()] = Some(self.found.len() as u32);
                self.found.push((zone, broker));
                return true;
            }
        }
    }
}
