//! What one more replica of a stream costs on each broker, stream by stream.

use super::SetError;
use crate::certificate::{RankPrices, SlotPrice};
use crate::cost::{Cost, Rank};
use crate::snapshot::{BrokerId, Problem, StreamId};

/// Largest price of all replicas of a shard together: sums of them, and of own costs in range of a network, stay exact.
const PRICES_MAX: i64 = 1 << 60;

/// Prices of replicas between those of `a` and of `b`, of which the former count `weight_a` times and the latter `weight_b`
/// times: those of `weighted` and the ranks after it. The others, which flows meet exactly, are those of `a`.
///
/// Complexity: O(slots and brokers of both).
pub(super) fn averaged(
    a: &[RankPrices],
    weight_a: i64,
    b: &[RankPrices],
    weight_b: i64,
) -> Vec<RankPrices> {
    let mean = |a: i64, b: i64| {
        let sum = i128::from(a) * i128::from(weight_a) + i128::from(b) * i128::from(weight_b);
        (sum / i128::from(weight_a + weight_b)) as i64
    };
    let mut all = a.to_vec();
    for of in all.iter_mut().filter(|of| of.rank >= Rank::Weighted) {
        let Some(other) = b.iter().find(|other| other.rank == of.rank) else {
            continue;
        };
        of.replica_slots = merged(of, other, mean);
        for (a, b) in of.broker_replicas.iter_mut().zip(&other.broker_replicas) {
            *a = mean(*a, *b);
        }
        for (a, b) in of.zone_replicas.iter_mut().zip(&other.zone_replicas) {
            *a = mean(*a, *b);
        }
    }
    all
}

/// The slots that either lists, in order.
fn merged(a: &RankPrices, b: &RankPrices, mean: impl Fn(i64, i64) -> i64) -> Vec<SlotPrice> {
    let key = |slot: &SlotPrice| (slot.stream, slot.broker);
    let mut keys: Vec<_> = a
        .replica_slots
        .iter()
        .chain(&b.replica_slots)
        .map(key)
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let price = |of: &RankPrices, slot: (StreamId, BrokerId)| {
        let at = of.replica_slots.binary_search_by_key(&slot, key);
        at.map_or(of.broker_replicas[slot.1.index()], |at| {
            of.replica_slots[at].price
        })
    };
    let slot = |slot: (StreamId, BrokerId)| SlotPrice {
        stream: slot.0,
        broker: slot.1,
        price: mean(price(a, slot), price(b, slot)),
    };
    keys.into_iter().map(slot).collect()
}

/// Prices of replicas by broker, as vectors over the ranks, for the stream that is open.
pub(super) struct ReplicaPrices<'a> {
    ranks: &'a [RankPrices],
    /// By broker, whatever the stream.
    common: Vec<Cost>,
    /// By broker, for the open stream.
    open: Vec<Cost>,
    /// Brokers where the two may differ.
    touched: Vec<BrokerId>,
}

impl<'a> ReplicaPrices<'a> {
    /// The prices of a certificate, of which those of leaders are not looked at.
    ///
    /// # Errors
    /// Prices too large to add up.
    pub(super) fn new(problem: &Problem, ranks: &'a [RankPrices]) -> Result<Self, SetError> {
        let factors = problem.streams.iter().map(|s| s.replication_factor);
        let most = PRICES_MAX / (1 + i64::from(factors.max().unwrap_or(0)));
        for of in ranks {
            let slots = of.replica_slots.iter().map(|slot| slot.price);
            let mut all = slots.chain(of.broker_replicas.iter().copied());
            if let Some(price) = all.find(|price| !(-most..=most).contains(price)) {
                let rank = of.rank.name();
                let what = format!("a replica's price {price} in {rank}, beyond {most}");
                return Err(SetError::Refused(what));
            }
        }
        let mut common = vec![Cost::default(); problem.brokers.len()];
        for of in ranks {
            for (common, &price) in common.iter_mut().zip(&of.broker_replicas) {
                common[of.rank] = price;
            }
        }
        Ok(ReplicaPrices {
            ranks,
            open: common.clone(),
            common,
            touched: Vec::new(),
        })
    }

    /// Turns to a stream.
    ///
    /// Complexity: O(slots of this stream and the one before, and a search in each rank).
    pub(super) fn open_stream(&mut self, s: StreamId) {
        for b in self.touched.drain(..) {
            self.open[b.index()] = self.common[b.index()];
        }
        for of in self.ranks {
            for slot in slots_of(&of.replica_slots, s) {
                self.open[slot.broker.index()][of.rank] = slot.price;
                self.touched.push(slot.broker);
            }
        }
    }

    /// Price of one more replica of the open stream.
    pub(super) fn of(&self, b: BrokerId) -> &Cost {
        &self.open[b.index()]
    }
}

/// The part of a list in order that belongs to a stream.
fn slots_of(slots: &[SlotPrice], s: StreamId) -> &[SlotPrice] {
    let begin = slots.partition_point(|slot| slot.stream < s);
    let of_stream = &slots[begin..];
    &of_stream[..of_stream.partition_point(|slot| slot.stream == s)]
}

/// Prices of leaders without what they cost as replicas, joined with the prices of replicas: each price of a leader then
/// holds that of its replica.
///
/// Complexity: O(ranks · (slots · log slots + brokers + zones)).
pub(super) fn joined(
    problem: &Problem,
    leaders: &[RankPrices],
    replicas: &[RankPrices],
) -> Vec<RankPrices> {
    let mut ranks: Vec<_> = leaders.iter().chain(replicas).map(|of| of.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let of_rank = |all: &[RankPrices], rank| {
        let found = all.iter().find(|of| of.rank == rank);
        found.cloned().unwrap_or_else(|| none(problem, rank))
    };
    ranks
        .into_iter()
        .map(|rank| sum(of_rank(leaders, rank), of_rank(replicas, rank)))
        .collect()
}

fn none(problem: &Problem, rank: crate::cost::Rank) -> RankPrices {
    RankPrices {
        rank,
        slots: Vec::new(),
        replica_slots: Vec::new(),
        brokers: vec![0; problem.brokers.len()],
        zones: vec![0; problem.zones.len()],
        broker_replicas: Vec::new(),
        zone_replicas: Vec::new(),
    }
}

fn sum(mut leaders: RankPrices, replicas: RankPrices) -> RankPrices {
    for slot in &mut leaders.slots {
        let listed = (replicas.replica_slots)
            .binary_search_by_key(&(slot.stream, slot.broker), |of| (of.stream, of.broker));
        slot.price += match listed {
            Ok(at) => replicas.replica_slots[at].price,
            Err(_) => (replicas.broker_replicas.get(slot.broker.index()).copied()).unwrap_or(0),
        };
    }
    for (price, replica) in leaders.brokers.iter_mut().zip(&replicas.broker_replicas) {
        *price += replica;
    }
    for (price, replica) in leaders.zones.iter_mut().zip(&replicas.zone_replicas) {
        *price += replica;
    }
    RankPrices {
        replica_slots: replicas.replica_slots,
        broker_replicas: replicas.broker_replicas,
        zone_replicas: replicas.zone_replicas,
        ..leaders
    }
}
