//! Placement to flow, flow to placement, potentials to prices.

use super::build::POLL_SHARDS;
use super::counts::Nesting;
use super::offers::{kept_at, led_by};
use super::{Choice, Exit, Group, LeaderError, LeaderNetwork, is_orphan};
use crate::budget::{Budget, Stop};
use crate::certificate::{Certificate, RankPrices, SlotPrice};
use crate::cost::Rank;
use crate::greedy::rendezvous;
use crate::model::{current, seating};
use crate::network::{ArcId, NodeId, RankCost};
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
    /// The flow of an admissible placement that costs nothing in the ranks held.
    ///
    /// # Errors
    /// A stop.
    pub(super) fn flow_of(
        &self,
        placement: &[Assignment],
        budget: &mut Budget<'_>,
    ) -> Result<Vec<i64>, LeaderError> {
        let mut flow = vec![0; self.network.arc_count()];
        for (at, group) in self.groups.list.iter().enumerate() {
            if at % POLL_SHARDS == 0 {
                budget.poll()?;
            }
            for &id in self.groups.members(group) {
                self.route(group, id, &placement[id.index()], &mut flow);
            }
        }
        Ok(flow)
    }

    /// Adds the unit of one shard to a flow.
    fn route(&self, group: &Group, id: ShardId, assignment: &Assignment, flow: &mut [i64]) {
        let shard = self.problem.shard(id);
        let stream = shard.stream;
        let wanted = self.choice_of(id, assignment);
        let is_wanted = |choice| match (wanted, choice) {
            (Choice::Zone(_), Choice::Elsewhere) => true,
            (wanted, choice) => wanted == choice,
        };
        // The zone's own arc, where it has one, comes before the one to elsewhere.
        let choice = (self.groups.choices(group)).find(|&(_, choice)| is_wanted(choice));
        let Some((arc, choice)) = choice else { return };
        let mut use_arc = |arc: ArcId| {
            flow[arc.index()] += 1;
            self.network.head(arc)
        };
        let mut node = use_arc(arc);
        let zones = self.problem.zones.len();
        if let (Choice::Elsewhere, Choice::Zone(z)) = (choice, wanted)
            && let Some(arc) = self.layers.elsewhere_arcs[stream.index() * zones + z.index()]
        {
            node = use_arc(arc);
        }
        let seat = self.problem.live(assignment).next();
        let hub_arc = match (wanted, seat) {
            (Choice::Zone(_), Some(b)) => self.layers.exit(stream, b).and_then(|e| e.hub_arc),
            (Choice::KeptIn(_), Some(b)) => self.kept_arc(stream, b),
            _ => None,
        };
        if let Some(arc) = hub_arc {
            node = use_arc(arc);
        }
        while let Some(arc) = self.way[node.index()] {
            node = use_arc(arc);
        }
    }

    fn kept_arc(&self, s: StreamId, b: BrokerId) -> Option<ArcId> {
        let at = s.index() * self.problem.brokers.len() + b.index();
        self.layers.kept.as_ref()?.hub_arcs[at]
    }

    /// What a free shard has chosen in a placement; a zone's own choice also where it only has elsewhere.
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

    /// The placement of a flow. Pinned shards stay as they are in `start`.
    pub(super) fn placement_of(&self, flow: &[i64], start: &[Assignment]) -> Vec<Assignment> {
        let problem = self.problem;
        let zones = problem.zones.len();
        let mut placement = start.to_vec();
        // Shards that enter each hub, by stream × zone, and those that go elsewhere.
        let mut leading: Vec<Vec<ShardId>> = vec![Vec::new(); self.layers.hubs.len()];
        let mut keeping: Vec<Vec<ShardId>> = match self.layers.kept {
            Some(_) => leading.clone(),
            None => Vec::new(),
        };
        let mut elsewhere: Vec<ShardId> = Vec::new();
        for group in &self.groups.list {
            let mut members = self.groups.members(group).iter();
            for (arc, choice) in self.groups.choices(group) {
                for &id in members.by_ref().take(flow[arc.index()] as usize) {
                    let shard = problem.shard(id);
                    let row = shard.stream.index() * zones;
                    let decided = match choice {
                        Choice::Holder(b) => led_by(problem, shard, b),
                        Choice::Kept(b) => kept_at(b),
                        Choice::Leaderless => current::leaderless(problem, id),
                        Choice::Zone(z) => {
                            leading[row + z.index()].push(id);
                            continue;
                        }
                        Choice::KeptIn(z) => {
                            keeping[row + z.index()].push(id);
                            continue;
                        }
                        Choice::Elsewhere => {
                            elsewhere.push(id);
                            continue;
                        }
                    };
                    placement[id.index()] = decided;
                }
            }
        }
        self.deal(elsewhere, flow, &mut leading);
        for shards in leading.iter_mut().chain(&mut keeping) {
            shards.sort_unstable();
        }
        let seat = |s: StreamId, z: usize| {
            let is_there = move |exit: &&Exit| problem.zone_of(exit.broker).index() == z;
            let exits = self.layers.exits(s).iter().filter(is_there);
            exits
                .filter_map(|exit| Some((exit.broker, flow[exit.hub_arc?.index()])))
                .collect()
        };
        for (id, b) in self.seated(&leading, seat) {
            placement[id.index()] = led_by(problem, problem.shard(id), b);
        }
        let seat = |s: StreamId, z: usize| {
            let is_there = |&b: &BrokerId| problem.zone_of(b).index() == z;
            let brokers = problem.broker_ids().filter(is_there);
            brokers
                .filter_map(|b| Some((b, flow[self.kept_arc(s, b)?.index()])))
                .collect()
        };
        for (id, b) in self.seated(&keeping, seat) {
            placement[id.index()] = kept_at(b);
        }
        placement
    }

    /// Deals the shards that go elsewhere to the zones that the flow leads to.
    fn deal(&self, mut shards: Vec<ShardId>, flow: &[i64], leading: &mut [Vec<ShardId>]) {
        shards.sort_unstable();
        let problem = self.problem;
        let zones = problem.zones.len();
        // Where the shard would cost less than the flow says.
        let is_cheaper = |id: ShardId, hub: usize| {
            let (shard, z) = (problem.shard(id), hub % zones);
            let mut live = problem.live(&shard.present);
            let mut listed = shard.leader_traffic.reached.iter();
            live.any(|b| problem.zone_of(b).index() == z) || listed.any(|e| e.0.index() == z)
        };
        for of_stream in shards.chunk_by(|&a, &b| self.stream(a) == self.stream(b)) {
            let row = self.stream(of_stream[0]).index() * zones;
            let mut seats: Vec<(usize, i64)> = (row..row + zones)
                .filter_map(|at| Some((at, flow[self.layers.elsewhere_arcs[at]?.index()])))
                .filter(|seat| seat.1 > 0)
                .collect();
            let seated = seating::seat(of_stream, &mut seats, is_cheaper, |_, _| ());
            for (&id, hub) in of_stream.iter().zip(seated) {
                leading[hub].push(id);
            }
        }
    }

    fn stream(&self, id: ShardId) -> StreamId {
        self.problem.shard(id).stream
    }

    /// Seats the shards that enter each hub on the brokers that the flow leads to, by stream and zone.
    fn seated(
        &self,
        entering: &[Vec<ShardId>],
        seats: impl Fn(StreamId, usize) -> Vec<(BrokerId, i64)>,
    ) -> Vec<(ShardId, BrokerId)> {
        let problem = self.problem;
        let zones = problem.zones.len();
        let mut all = Vec::new();
        for (hub, shards) in entering.iter().enumerate().filter(|(_, s)| !s.is_empty()) {
            let mut seats = seats(StreamId::at(hub / zones), hub % zones);
            seats.retain(|seat| seat.1 > 0);
            let holds = |id: ShardId, b| problem.shard(id).present.holds(b);
            let score =
                |id: ShardId, b| rendezvous::score(&problem.shard(id).id, &problem.broker(b).id);
            let seated = seating::seat(shards, &mut seats, holds, score);
            all.extend(shards.iter().copied().zip(seated));
        }
        all
    }

    /// Prices from the potentials of the first ranks: what a further unit costs from a node to the sink.
    pub(super) fn certificate_of(&self, flow: &[i64], potentials: &[Vec<i64>]) -> Certificate {
        let ranks = (self.ranks.iter().zip(&self.costs).zip(potentials))
            .map(|((&rank, cost), potential)| self.prices(rank, cost, flow, potential))
            .collect();
        Certificate { ranks }
    }

    /// Prices of the slots that differ from those of their brokers.
    ///
    /// Where the hub leads straight to the broker there is no node of the slot. Its price is that of the hub where
    /// flow takes the way, or a held rank closes it, so that any multiplier of the count is right. Else the count gets
    /// the largest multiplier with which it stays at zero: what the first leader would cost.
    fn slot_prices(
        &self,
        cost: &RankCost,
        flow: &[i64],
        price: impl Fn(NodeId) -> i64,
    ) -> Vec<SlotPrice> {
        let mut prices = Vec::new();
        let mut bends = cost.convex.iter().peekable();
        for s in 0..self.problem.streams.len() {
            let stream = StreamId::at(s);
            for exit in self.layers.exits(stream) {
                let of_broker = price(self.layers.broker_nodes[exit.broker.index()]);
                while bends.next_if(|bend| bend.0 < exit.out).is_some() {}
                let own = match exit.slot {
                    Some(slot) => price(slot),
                    None if flow[exit.out.index()] > 0 || self.network.upper(exit.out) == 0 => {
                        price(self.network.tail(exit.out))
                    }
                    None => {
                        let bend = bends.peek().filter(|bend| bend.0 == exit.out);
                        of_broker + bend.map_or(0, |bend| bend.1.right_slope(0))
                    }
                };
                if own != of_broker {
                    prices.push(SlotPrice {
                        stream,
                        broker: exit.broker,
                        price: own,
                    });
                }
            }
        }
        prices
    }

    fn prices(&self, rank: Rank, cost: &RankCost, flow: &[i64], potential: &[i64]) -> RankPrices {
        let sink = potential[self.layers.sink.index()];
        let price = |node: &NodeId| sink - potential[node.index()];
        let brokers: Vec<i64> = self.layers.broker_nodes.iter().map(price).collect();
        let slots = self.slot_prices(cost, flow, |node| price(&node));
        let mut prices = RankPrices {
            rank,
            slots,
            brokers,
            zones: self.layers.zone_nodes.iter().map(price).collect(),
            broker_replicas: Vec::new(),
            zone_replicas: Vec::new(),
            replica_slots: Vec::new(),
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
}
