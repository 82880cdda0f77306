//! Placement to flow, flow to placement, potentials to prices.

use super::build::led_by;
use super::{Choice, LeaderNetwork};
use crate::budget::Stop;
use crate::certificate::{Certificate, RankPrices};
use crate::cost::Rank;
use crate::model::{current, seating};
use crate::network::NodeId;
use crate::snapshot::{Assignment, BrokerId, ShardId, StreamId};

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
        let problem = self.problem;
        let mut flow = vec![0; self.network.arc_count()];
        for (k, &id) in self.shards.ids.iter().enumerate() {
            let leader = placement[id.index()].leader;
            let shard = problem.shard(id);
            let wanted = match leader {
                None => Choice::Leaderless,
                Some(b) if shard.present.holds(b) => Choice::Holder(b),
                Some(b) => Choice::Zone(problem.zone_of(b)),
            };
            if let Some((arc, _)) = self.shards.choices(k).find(|offer| offer.1 == wanted) {
                flow[arc.index()] = 1;
            }
            let Some(b) = leader else { continue };
            let at = self.slot(shard.stream, b);
            let hub = self.layers.hub_arcs[at].filter(|_| matches!(wanted, Choice::Zone(_)));
            let zone = problem.zone_of(b).index();
            let counts = [
                self.layers.broker_arcs[b.index()],
                self.layers.zone_arcs[zone],
            ];
            for arc in (hub.into_iter())
                .chain(self.layers.slot_arcs[at])
                .chain(counts)
            {
                flow[arc.index()] += 1;
            }
        }
        flow
    }

    /// The placement of a flow. Pinned shards stay as they are in `start`.
    pub(super) fn placement_of(&self, flow: &[i64], start: &[Assignment]) -> Vec<Assignment> {
        let problem = self.problem;
        let mut placement = start.to_vec();
        // Shards that enter each hub, by stream × zone.
        let mut entering: Vec<Vec<ShardId>> = vec![Vec::new(); self.layers.hubs.len()];
        for (k, &id) in self.shards.ids.iter().enumerate() {
            let chosen = self
                .shards
                .choices(k)
                .find(|(arc, _)| flow[arc.index()] == 1);
            let shard = problem.shard(id);
            match chosen.map(|(_, choice)| choice) {
                Some(Choice::Holder(b)) => placement[id.index()] = led_by(problem, shard, b),
                Some(Choice::Zone(z)) => {
                    let hub = shard.stream.index() * problem.zones.len() + z.index();
                    entering[hub].push(id);
                }
                Some(Choice::Leaderless) | None => {
                    placement[id.index()] = current::leaderless(problem, id);
                }
            }
        }
        for (hub, shards) in entering.iter().enumerate().filter(|(_, s)| !s.is_empty()) {
            let stream = StreamId::at(hub / problem.zones.len());
            let zone = hub % problem.zones.len();
            let mut seats: Vec<(BrokerId, i64)> = problem
                .broker_ids()
                .filter(|&b| problem.zone_of(b).index() == zone)
                .filter_map(|b| {
                    let arc = self.layers.hub_arcs[self.slot(stream, b)]?;
                    Some((b, flow[arc.index()])).filter(|seat| seat.1 > 0)
                })
                .collect();
            let seated = seating::seat(problem, shards, &mut seats);
            for (&id, b) in shards.iter().zip(seated) {
                placement[id.index()] = led_by(problem, problem.shard(id), b);
            }
        }
        placement
    }

    /// Prices from the potentials of the first ranks: what a further unit costs from a node to the sink.
    pub(super) fn certificate_of(&self, potentials: &[Vec<i64>]) -> Certificate {
        let ranks = (self.ranks.iter().zip(potentials))
            .map(|(&rank, potential)| self.prices(rank, potential))
            .collect();
        Certificate { ranks }
    }

    fn prices(&self, rank: Rank, potential: &[i64]) -> RankPrices {
        let _problem = self.problem;
        let sink = potential[self.layers.sink.index()];
        let price = |node: &NodeId| sink - potential[node.index()];
        let brokers: Vec<i64> = self.layers.broker_nodes.iter().map(price).collect();
        // Where no free shard can go there is no slot, and a first leader would cost what the stream's spread says.
        let mut absent = vec![0; self.layers.slots.len()];
        if rank == Rank::StreamLeaderSpread {
            absent = self.first_leader_cost();
        }
        let slots = (self.layers.slots.iter().zip(absent).enumerate())
            .map(|(at, (slot, absent))| match slot {
                Some(node) => price(node),
                None => brokers[at % brokers.len()] + absent,
            })
            .collect();
        RankPrices {
            rank,
            slots,
            brokers,
            zones: self.layers.zone_nodes.iter().map(price).collect(),
        }
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
            *count = problem.stream_leader_band(s, b).map_or(0, |band| {
                band.distance(*count + 1).pow(2) - band.distance(*count).pow(2)
            });
        }
        pinned
    }

    fn slot(&self, s: StreamId, b: BrokerId) -> usize {
        s.index() * self.problem.brokers.len() + b.index()
    }
}
