//! Brokers that can take a leader, the one that pays least first.

use std::collections::VecDeque;

use super::pressure::Pressure;
use crate::snapshot::BrokerId;

/// What taking costs, and the broker.
pub(super) type Receiver = (Pressure, BrokerId);

/// Receivers in ascending order, the lower id first where they are equal. A look takes nothing out, so givers that
/// nobody may take from pass over the same receivers at the price of a scan.
#[derive(Default)]
pub(super) struct Receivers {
    ascending: VecDeque<Receiver>,
    /// Buffer.
    dearer: Vec<Receiver>,
}

impl Receivers {
    /// Forgets all and takes up these, of which those that cost the goal `least` come in order.
    pub(super) fn refill(&mut self, receivers: impl Iterator<Item = Receiver>, least: (i64, i64)) {
        self.ascending.clear();
        self.dearer.clear();
        for receiver in receivers {
            if (receiver.0.0, receiver.0.1) == least {
                self.ascending.push_back(receiver);
            } else {
                self.dearer.push(receiver);
            }
        }
        self.dearer.sort();
        self.ascending.extend(self.dearer.drain(..));
    }
    /// The receiver at a place in the order.
    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<Receiver> {
        self.ascending.get(at).copied()
    }
    /// What the first pays.
    pub(super) fn least(&self) -> Option<i64> {
        self.ascending.front().map(|first| first.0.0)
    }
    /// Adds one.
    pub(super) fn add(&mut self, receiver: Receiver) {
        let at = self.ascending.partition_point(|other| *other < receiver);
        self.ascending.insert(at, receiver);
    }
    /// Takes out the one at a place in the order.
    pub(super) fn take(&mut self, at: usize) {
        self.ascending.remove(at);
    }
}

/// Active brokers in the order in which all leaders together would have them take one more: that of receivers which
/// are equal for a stream.
pub(super) struct ByTotal {
    order: Vec<BrokerId>,
    /// By broker: what one more costs the cluster's spread, and how far the total lies above the band.
    costs: Vec<(i64, i64)>,
    /// Not yet at their place again.
    changed: Vec<BrokerId>,
}

impl ByTotal {
    /// The active brokers, `costs` being by broker.
    pub(super) fn new(active: Vec<BrokerId>, costs: Vec<(i64, i64)>) -> Self {
        let mut by_total = ByTotal {
            order: Vec::with_capacity(active.len()),
            costs,
            changed: active,
        };
        by_total.settle();
        by_total
    }
    /// What one more costs the cluster's spread, and how far the total lies above the band.
    #[inline]
    pub(super) fn cost(&self, broker: BrokerId) -> (i64, i64) {
        self.costs[broker.index()]
    }
    /// The brokers as of the last time that they were settled.
    pub(super) fn order(&self) -> &[BrokerId] {
        &self.order
    }
    /// Notes what one more costs now.
    pub(super) fn change(&mut self, broker: BrokerId, cost: (i64, i64)) {
        self.costs[broker.index()] = cost;
        self.changed.push(broker);
    }
    /// Puts what has changed at its place. O(brokers + changes · log changes).
    pub(super) fn settle(&mut self) {
        if self.changed.is_empty() {
            return;
        }
        let costs = &self.costs;
        let key = |b: BrokerId| (costs[b.index()], b);
        self.changed.sort_unstable_by_key(|&b| key(b));
        self.changed.dedup();
        let mut is_changed = vec![false; costs.len()];
        self.changed
            .iter()
            .for_each(|b| is_changed[b.index()] = true);
        self.order.retain(|b| !is_changed[b.index()]);
        // Merged from the back, so that nothing is overwritten that is still to be read.
        let mut left = self.order.len();
        self.order.extend_from_slice(&self.changed);
        let mut end = self.order.len();
        while let Some(&b) = self.changed.last() {
            end -= 1;
            if left > 0 && key(self.order[left - 1]) > key(b) {
                left -= 1;
                self.order[end] = self.order[left];
            } else {
                self.order[end] = b;
                self.changed.pop();
            }
        }
    }
}
