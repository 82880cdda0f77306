//! Brokers that can take a leader, the one that pays least first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::rebalance::Pressure;
use crate::snapshot::BrokerId;

/// What taking costs, and the broker.
pub(super) type Receiver = (Pressure, BrokerId);

/// Receivers in ascending order. They are sorted only as far as somebody has looked, and a look takes nothing out, so
/// that givers which nobody may take from pass over the same receivers at the price of a scan.
///
/// Invariant: `near` is sorted, and none of `far` comes before any of it.
#[derive(Default)]
pub(super) struct Receivers {
    near: Vec<Receiver>,
    far: BinaryHeap<Reverse<Receiver>>,
}

impl Receivers {
    /// Forgets all and takes up these.
    pub(super) fn refill(&mut self, receivers: impl Iterator<Item = Receiver>) {
        self.near.clear();
        let mut far = std::mem::take(&mut self.far).into_vec();
        far.clear();
        far.extend(receivers.map(Reverse));
        self.far = far.into();
    }
    /// The receiver at a place in the order, all before it having been looked at. Those that come from afar and are
    /// not valid any more are dropped.
    #[inline]
    pub(super) fn look(
        &mut self,
        at: usize,
        is_valid: impl Fn(&Receiver) -> bool,
    ) -> Option<Receiver> {
        while at >= self.near.len() {
            let Reverse(next) = self.far.pop()?;
            if is_valid(&next) {
                self.near.push(next);
            }
        }
        Some(self.near[at])
    }
    /// What the first pays, or more than anybody gains by giving where the first is not valid any more.
    pub(super) fn least(&self) -> Option<i64> {
        let far = || self.far.peek().map(|Reverse(first)| first);
        let first = self.near.first().or_else(far);
        first.map(|first| first.0.0)
    }
    /// Adds one.
    pub(super) fn add(&mut self, receiver: Receiver) {
        if self.near.last().is_some_and(|last| receiver < *last) {
            let at = self.near.partition_point(|other| *other < receiver);
            self.near.insert(at, receiver);
        } else {
            self.far.push(Reverse(receiver));
        }
    }
    /// Takes out the receiver at a place that was looked at.
    pub(super) fn take(&mut self, at: usize) {
        self.near.remove(at);
    }
    /// Takes out a receiver that can't take any more, if it has been looked at; else it will be dropped then.
    pub(super) fn drop(&mut self, receiver: &Receiver) {
        if let Ok(at) = self.near.binary_search(receiver) {
            self.near.remove(at);
        }
    }
}
