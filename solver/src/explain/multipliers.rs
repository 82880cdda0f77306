//! The prices of a certificate as vectors, and lexicographic minima at such prices.

use crate::certificate::{Certificate, RankPrices, SlotPrice};
use crate::cost::{RANKS, Rank};
use crate::network::Convex;
use crate::snapshot::{BrokerId, Problem, Roles, StreamId, ZoneId};

/// One value per rank; arrays compare lexicographically, as the objective does.
pub(super) type Vector = [i128; RANKS];

/// `a − b`, rank by rank.
pub(super) fn less(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|rank| a[rank] - b[rank])
}

/// `a + b`, rank by rank.
pub(super) fn plus(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|rank| a[rank] + b[rank])
}

/// The prices of a certificate of the problem's shape, absent ones zero.
pub(super) struct Multipliers<'a> {
    certificate: &'a Certificate,
    /// Replicas have prices of their own only where the plan decides them.
    decides_replicas: bool,
}

impl<'a> Multipliers<'a> {
    pub(super) fn new(problem: &Problem, certificate: &'a Certificate) -> Self {
        Multipliers {
            certificate,
            decides_replicas: problem.policy.roles == Roles::LeadersAndFollowers,
        }
    }

    fn collected(&self, price: impl Fn(&RankPrices) -> i64) -> Vector {
        let mut vector = [0; RANKS];
        for prices in &self.certificate.ranks {
            vector[prices.rank as usize] = i128::from(price(prices));
        }
        vector
    }

    /// Of one more leader of the stream on the broker, from there to the end. The one place that knows how a
    /// certificate keeps them: those that are missing are their brokers'.
    pub(super) fn slot(&self, s: StreamId, b: BrokerId) -> Vector {
        self.collected(|prices| {
            let key = |slot: &SlotPrice| (slot.stream, slot.broker);
            match prices.slots.binary_search_by_key(&(s, b), key) {
                Ok(at) => prices.slots[at].price,
                Err(_) => prices.brokers[b.index()],
            }
        })
    }

    /// What the price of a slot is above that of its broker; `None` where that is nothing in any rank.
    pub(super) fn slot_alone(&self, s: StreamId, b: BrokerId) -> Option<Vector> {
        let (slot, broker) = (self.slot(s, b), self.broker(b));
        (slot != broker).then(|| less(&slot, &broker))
    }

    /// Of one more leader of the broker.
    pub(super) fn broker(&self, b: BrokerId) -> Vector {
        self.collected(|prices| prices.brokers[b.index()])
    }

    /// Of one more leader of the zone.
    pub(super) fn zone(&self, z: ZoneId) -> Vector {
        self.collected(|prices| prices.zones[z.index()])
    }

    /// Of one more replica of the broker.
    pub(super) fn broker_replica(&self, b: BrokerId) -> Vector {
        self.replica(|prices| prices.broker_replicas.get(b.index()))
    }

    /// Of one more replica of the zone.
    pub(super) fn zone_replica(&self, z: ZoneId) -> Vector {
        self.replica(|prices| prices.zone_replicas.get(z.index()))
    }

    fn replica(&self, price: impl Fn(&RankPrices) -> Option<&i64>) -> Vector {
        match self.decides_replicas {
            true => self.collected(|prices| price(prices).copied().unwrap_or(0)),
            false => [0; RANKS],
        }
    }
}

/// The lexicographic minimum of Σ parts − price · (x − low) over low ≤ x ≤ high.
///
/// Each rank is convex, so its minimisers are an interval; ranks narrow it one after another.
pub(super) fn least(low: i64, high: i64, price: &Vector, parts: &[(Rank, Convex)]) -> Vector {
    let mut value = [0; RANKS];
    let (mut from, mut to) = (low, high.max(low));
    for rank in 0..RANKS {
        let own = || parts.iter().filter(|part| part.0 as usize == rank);
        if own().next().is_none() && price[rank] == 0 {
            continue;
        }
        let slope = |x: i64| {
            let rise: i128 = own().map(|part| i128::from(part.1.right_slope(x))).sum();
            rise - price[rank]
        };
        let first = first_where(from, to, |x| slope(x) >= 0);
        to = first_where(first, to, |x| slope(x) > 0);
        from = first;
        let cost: i128 = own().map(|part| part.1.value(from)).sum();
        value[rank] = cost - price[rank] * (i128::from(from) - i128::from(low));
    }
    value
}

/// The first x from `low` to below `high` for which a monotone condition holds, or `high`.
fn first_where(mut low: i64, mut high: i64, holds: impl Fn(i64) -> bool) -> i64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
