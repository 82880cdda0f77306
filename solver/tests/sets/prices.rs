//! Random prices of replicas.

use shardflow_solver::certificate::{RankPrices, SlotPrice};
use shardflow_solver::cost::{Cost, Rank};
use shardflow_solver::snapshot::{BrokerId, Problem, StreamId};

use crate::rng::Rng;

/// Prices of replicas in a few ranks; those of leaders are zero.
pub(crate) fn random(problem: &Problem, rng: &mut Rng) -> Vec<RankPrices> {
    let mut ranks: Vec<Rank> = Rank::ALL.into_iter().collect();
    ranks.retain(|_| rng.one_in(4));
    ranks
        .into_iter()
        .map(|rank| {
            let reach = [1, 3, 20][rng.below(3)];
            let mut price = |one_in: usize| match rng.one_in(one_in) {
                true => rng.between(-reach, reach),
                false => 0,
            };
            let broker_replicas = problem.brokers.iter().map(|_| price(2)).collect();
            let zone_replicas = problem.zones.iter().map(|_| price(2)).collect();
            let mut replica_slots = Vec::new();
            for stream in (0..problem.streams.len()).map(StreamId::at) {
                for broker in problem.broker_ids() {
                    let price = price(2);
                    if price != 0 {
                        replica_slots.push(SlotPrice {
                            stream,
                            broker,
                            price,
                        });
                    }
                }
            }
            RankPrices {
                rank,
                slots: Vec::new(),
                replica_slots,
                brokers: vec![0; problem.brokers.len()],
                zones: vec![0; problem.zones.len()],
                broker_replicas,
                zone_replicas,
            }
        })
        .collect()
}

/// Price of one more replica of a stream on a broker.
pub(crate) fn of(ranks: &[RankPrices], stream: StreamId, broker: BrokerId) -> Cost {
    let mut cost = Cost::default();
    for of in ranks {
        let mut slots = of.replica_slots.iter();
        let slot = slots.find(|slot| (slot.stream, slot.broker) == (stream, broker));
        cost[of.rank] = slot.map_or(of.broker_replicas[broker.index()], |slot| slot.price);
    }
    cost
}

/// The sum of two vectors.
pub(crate) fn sum(a: Cost, b: Cost) -> Cost {
    let mut sum = a;
    for (sum, b) in sum.0.iter_mut().zip(b.0) {
        *sum += b;
    }
    sum
}
