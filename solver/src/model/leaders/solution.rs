//! Placement to flow, flow to placement, potentials to prices.

use super::build::{kept_at, led_by};
use super::counts::Nesting;
use super::{Choice, LeaderNetwork, is_orphan};
use crate::budget::Stop;
use crate::certificate::{Certificate, RankPrices, SlotPrice};
use crate::cost::Rank;
use crate::model::{current, seating};
use crate::network::{ArcId, NodeId};
use crate::snapshot::{Assignment, BrokerId, ShardId, StreamId, ZoneId};

/// What the engine found.
pub struct Solution {
    /// By shard.
    pub placement: Vec<Assignment>,
    /// Prices of the ranks that were begun.
    pub certificate: Certificate,
    /// Why the engine stopped short of the optimum.
    pub stop: Option<Stop>,
}

impl LeaderNetwork<'_> {
    /// The flow of an admissible placement.
    pub(super) fn flow_of(&self, placement: &[Assignment]) -> Vec<i64> {
        let mut flow = vec![0; self.network.arc_count()];
        for (k, &id) in self.shards.ids.iter().enumerate() {
            let wanted = self.choice_of(id, &placement[id.index()]);
            let Some((arc, _)) = self.shards.choices(k).find(|offer| offer.1 == wanted) else {
                continue;
            };
            flow[arc.index()] = 1;
            let hub_arc = self.seat_of(id, wanted, &placement[id.index()]);
            let mut node = self.network.head(arc);
            if let Some(arc) = hub_arc {
                flow[arc.index()] += 1;
                node = self.network.head(arc);
            }
            while let Some(arc) = self.hint[node.index()] {
                flow[arc.index()] += 1;
                node = self.network.head(arc);
            }
        }
        flow
    }

    /// What a free shard has chosen in a placement.
    fn choice_of(&self, id: ShardId, assignment: &Assignment) -> Choice {
        let problem = self.problem;
        let shard = problem.shard(id);
        if let Some(b) = assignment.leader {
            return match shard.present.holds(b) {
                true => Choice::Holder(b),
                false => Choice::Zone(problem.zone_of(b)),
            };
        }
        match problem.live(assignment).next() {
            Some(b) if is_orphan(problem, shard) => match shard.present.holds(b) {
                true => Choice::Kept(b),
                false => Choice::KeptIn(problem.zone_of(b)),
            },
            _ => Choice::Leaderless,
        }
    }

    /// The arc from the chosen hub, if any, to where the placement has the replica.
    fn seat_of(&self, id: ShardId, choice: Choice, assignment: &Assignment) -> Option<ArcId> {
        let arcs = match choice {
            Choice::Zone(_) => &self.layers.hub_arcs,
            Choice::KeptIn(_) => &self.layers.kept.as_ref()?.hub_arcs,
            Choice::Holder(_) | Choice::Kept(_) | Choice::Leaderless => return None,
        };
        let b = self.problem.live(assignment).next()?;
        arcs[self.slot(self.problem.shard(id).stream, b)]
    }

    /// The placement of a flow. Pinned shards stay as they are in `start`.
    pub(super) fn placement_of(&self, flow: &[i64], start: &[Assignment]) -> Vec<Assignment> {
        let problem = self.problem;
        let mut placement = start.to_vec();
        // Shards that enter each hub, by stream × zone.
        let mut leading: Vec<Vec<ShardId>> = vec![Vec::new(); self.layers.hubs.len()];
        let mut keeping = leading.clone();
        for (k, &id) in self.shards.ids.iter().enumerate() {
            let chosen = self
                .shards
                .choices(k)
                .find(|(arc, _)| flow[arc.index()] == 1);
            let shard = problem.shard(id);
            let hub = |z: ZoneId| shard.stream.index() * problem.zones.len() + z.index();
            match chosen.map(|(_, choice)| choice) {
                Some(Choice::Holder(b)) => placement[id.index()] = led_by(problem, shard, b),
                Some(Choice::Zone(z)) => leading[hub(z)].push(id),
                Some(Choice::Kept(b)) => placement[id.index()] = kept_at(b),
                Some(Choice::KeptIn(z)) => keeping[hub(z)].push(id),
                Some(Choice::Leaderless) | None => {
                    placement[id.index()] = current::leaderless(problem, id);
                }
            }
        }
        for (id, b) in self.seated(&leading, &self.layers.hub_arcs, flow) {
            placement[id.index()] = led_by(problem, problem.shard(id), b);
        }
        if let Some(kept) = &self.layers.kept {
            for (id, b) in self.seated(&keeping, &kept.hub_arcs, flow) {
                placement[id.index()] = kept_at(b);
            }
        }
        placement
    }

    /// Seats the shards that enter each hub on the brokers that its arcs lead to.
    fn seated(
        &self,
        entering: &[Vec<ShardId>],
        hub_arcs: &[Option<ArcId>],
        flow: &[i64],
    ) -> Vec<(ShardId, BrokerId)> {
        let problem = self.problem;
        let mut all = Vec::new();
        for (hub, shards) in entering.iter().enumerate().filter(|(_, s)| !s.is_empty()) {
            let stream = StreamId::at(hub / problem.zones.len());
            let zone = hub % problem.zones.len();
            let mut seats: Vec<(BrokerId, i64)> = problem
                .broker_ids()
                .filter(|&b| problem.zone_of(b).index() == zone)
                .filter_map(|b| {
                    let arc = hub_arcs[self.slot(stream, b)]?;
                    Some((b, flow[arc.index()])).filter(|seat| seat.1 > 0)
                })
                .collect();
            let seated = seating::seat(problem, shards, &mut seats);
            all.extend(shards.iter().copied().zip(seated));
        }
        all
    }

    /// Prices from the potentials of the first ranks: what a further unit costs from a node to the sink.
    pub(super) fn certificate_of(&self, potentials: &[Vec<i64>]) -> Certificate {
        let ranks = (self.ranks.iter().zip(potentials))
            .map(|(&rank, potential)| self.prices(rank, potential))
            .collect();
        Certificate { ranks }
    }

    fn prices(&self, rank: Rank, potential: &[i64]) -> RankPrices {
        let sink = potential[self.layers.sink.index()];
        let price = |node: &NodeId| sink - potential[node.index()];
        let brokers: Vec<i64> = self.layers.broker_nodes.iter().map(price).collect();
        // Where no free shard can go there is no slot, and a first leader would cost what the stream's spread says.
        let absent = (rank == Rank::StreamLeaderSpread).then(|| self.first_leader_cost());
        let slots = (self.layers.slots.iter().enumerate())
            .filter_map(|(at, slot)| {
                let (stream, broker) = (at / brokers.len(), at % brokers.len());
                let price = match slot {
                    Some(node) => price(node),
                    None => brokers[broker] + absent.as_ref().map_or(0, |cost| cost[at]),
                };
                let slot = SlotPrice {
                    stream: StreamId::at(stream),
                    broker: BrokerId::at(broker),
                    price,
                };
                (price != brokers[broker]).then_some(slot)
            })
            .collect();
        let mut prices = RankPrices {
            rank,
            slots,
            brokers,
            zones: self.layers.zone_nodes.iter().map(price).collect(),
            broker_replicas: Vec::new(),
            zone_replicas: Vec::new(),
        };
        if let Some(kept) = &self.layers.kept {
            prices.zone_replicas = kept.zone_nodes.iter().map(price).collect();
            // Where leaders have another way, a node that no flow leaves may be priced too low.
            prices.broker_replicas = (self.problem.brokers.iter().zip(&kept.broker_nodes))
                .map(|(broker, node)| match kept.nestings[broker.zone.index()] {
                    nesting if nesting.splits_brokers() => price(node),
                    _ => price(node).max(prices.zone_replicas[broker.zone.index()]),
                })
                .collect();
            for (z, nesting) in kept.nestings.iter().enumerate() {
                // The way from leaders of the zone leads through replicas of the broker, which are not the zone's.
                if let Nesting::OneBroker(b) = nesting {
                    prices.zones[z] -= prices.broker_replicas[b.index()] - prices.zone_replicas[z];
                }
            }
        }
        prices
    }

    /// By stream × broker, what the stream's spread would grow by with one leader more than the pinned ones.
    fn first_leader_cost(&self) -> Vec<i64> {
        let problem = self.problem;
        let mut pinned = vec![0; self.layers.slots.len()];
        for shard in problem.shards.iter().filter(|shard| shard.is_pinned) {
            if let Some(b) = problem.live_leader(shard) {
                pinned[self.slot(shard.stream, b)] += 1;
            }
        }
        let columns = problem.brokers.len();
        for (at, count) in pinned.iter_mut().enumerate() {
            let (s, b) = (StreamId::at(at / columns), BrokerId::at(at % columns));
            *count = problem
                .stream_leader_band(s, b)
                .map_or(0, |band| band.squared(*count + 1) - band.squared(*count));
        }
        pinned
    }

    fn slot(&self, s: StreamId, b: BrokerId) -> usize {
        s.index() * self.problem.brokers.len() + b.index()
    }
}
