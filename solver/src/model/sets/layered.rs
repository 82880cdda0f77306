//! A network above the layers, once it is built: ways to the sink, and prices of its counts.

use super::layers::{CountNodes, Counted, Hub, HubId};
use crate::certificate::{RankPrices, SlotPrice};
use crate::cost::{Cost, Rank};
use crate::network::{ArcId, Network, NodeId, RankCost};
use crate::snapshot::{BrokerId, Problem, StreamId};

/// A network above the layers, and what its nodes stand for.
pub struct Layered<'p> {
    pub(super) problem: &'p Problem,
    pub(super) counted: Counted,
    /// The network.
    pub network: Network,
    /// The ranks that cost anything, the most important first.
    pub ranks: Vec<Rank>,
    /// Beside `ranks`; unit costs are one per arc.
    pub costs: Vec<RankCost>,
    /// Per node of the layers an arc towards the sink, the one that leaves a count; none for other nodes.
    pub way: Vec<Option<ArcId>>,
    /// By [`HubId`].
    pub hubs: Vec<Hub>,
    /// The first arc of each stream, in ascending order.
    pub arcs_begin: Vec<ArcId>,
    pub(super) nodes: CountNodes,
}

impl Layered<'_> {
    /// The hub.
    pub fn hub(&self, id: HubId) -> &Hub {
        &self.hubs[id.0 as usize]
    }

    /// Node of a slot: its own, or its broker's.
    pub fn slot(&self, s: StreamId, b: BrokerId) -> NodeId {
        let at = (self.nodes.slots).binary_search_by_key(&(s, b), |slot| (slot.0, slot.1));
        at.map_or(self.nodes.brokers[b.index()], |at| self.nodes.slots[at].2)
    }

    /// The nodes that most others hang by in the course of a solve.
    pub fn anchors(&self) -> Vec<NodeId> {
        [&self.nodes.brokers[..], &self.nodes.zones].concat()
    }

    /// Where the rank is the spread within streams, the arcs of the brokers that the spread over the cluster levels, each
    /// with the flow from which on one more costs.
    pub fn levels(&self, rank: Rank) -> Vec<(ArcId, i64)> {
        let cluster = self.counted.cluster_rank();
        let at = self.ranks.iter().position(|&of| of == cluster);
        let Some(at) = at.filter(|_| rank == self.counted.stream_rank()) else {
            return Vec::new();
        };
        let of_brokers = self.costs[at].convex.iter();
        of_brokers
            .map(|&(arc, function)| (arc, function.free().high))
            .collect()
    }

    /// What a unit on an arc costs, where that is the same for each.
    pub fn cost_of(&self, arc: ArcId) -> Cost {
        let mut cost = Cost::default();
        for (&rank, of_rank) in self.ranks.iter().zip(&self.costs) {
            cost[rank] = of_rank.unit_cost(arc);
        }
        cost
    }

    /// Sends a unit from a node of the layers, or a head of an arc to them, to the sink.
    pub fn ship(&self, mut node: NodeId, flow: &mut [i64]) {
        while let Some(arc) = self.way[node.index()] {
            flow[arc.index()] += 1;
            node = self.network.head(arc);
        }
    }

    /// Sends a unit from a hub by the seat of a broker to the sink. False where the hub has no such seat.
    pub fn ship_by_seat(&self, hub: HubId, b: BrokerId, flow: &mut [i64]) -> bool {
        let seats = &self.hub(hub).seats;
        let Ok(at) = seats.binary_search_by_key(&b, |seat| seat.0) else {
            return false;
        };
        let arc = seats[at].1;
        flow[arc.index()] += 1;
        self.ship(self.network.head(arc), flow);
        true
    }

    /// Prices of the first ranks from their potentials: what a further unit costs from a node to the sink. Those of the
    /// counts that do not flow here are zero or empty.
    ///
    /// Complexity: O(ranks · (slots + brokers + zones)).
    pub fn prices(&self, potentials: &[Vec<i64>]) -> Vec<RankPrices> {
        let ranks = self.ranks.iter().zip(potentials);
        ranks
            .map(|(&rank, potential)| self.rank_prices(rank, potential))
            .collect()
    }

    fn rank_prices(&self, rank: Rank, potential: &[i64]) -> RankPrices {
        let sink = potential[self.nodes.sink.index()];
        let price = |node: &NodeId| sink - potential[node.index()];
        let brokers: Vec<i64> = self.nodes.brokers.iter().map(price).collect();
        let zones: Vec<i64> = self.nodes.zones.iter().map(price).collect();
        let slots = self.nodes.slots.iter();
        let slots = slots.map(|(stream, broker, node)| SlotPrice {
            stream: *stream,
            broker: *broker,
            price: price(node),
        });
        let slots = slots.filter(|slot| slot.price != brokers[slot.broker.index()]);
        let slots: Vec<SlotPrice> = slots.collect();
        let none = RankPrices {
            rank,
            slots: Vec::new(),
            replica_slots: Vec::new(),
            brokers: vec![0; brokers.len()],
            zones: vec![0; zones.len()],
            broker_replicas: Vec::new(),
            zone_replicas: Vec::new(),
        };
        match self.counted {
            Counted::Leaders => RankPrices {
                slots,
                brokers,
                zones,
                ..none
            },
            Counted::Replicas => RankPrices {
                replica_slots: slots,
                broker_replicas: brokers,
                zone_replicas: zones,
                ..none
            },
        }
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        self.problem
    }
}
