//! Who leads: one unit of flow a shard, over the counts of leaders.
//!
//! ```text
//! shard ──> slot        led by this broker
//! shard ──> hub         led by some other broker of the zone; a hub's seat has a cost of its own
//! shard ──> sink        without a leader
//! ```
//!
//! A hub forgets which shard is where, so the network is a relaxation: a shard may come by way of the hub to a broker to
//! which it has an arc of its own. The flow is turned into seats (`seats`); the shards that find none get arcs to all
//! other seats instead of the hub's, and the search goes on from its tree until all are seated. Then the flow is the
//! optimum of all arcs, since it is one of a relaxation.

use super::SetError;
use super::layered::Layered;
use super::layers::{Counted, HubId, LayersBuilder};
use super::parcels::{POLL_SHARDS, part, sum};
use super::search::{Edits, NewArc, Search};
use super::seats;
use crate::budget::{Budget, Stop};
use crate::certificate::RankPrices;
use crate::cost::{Cost, RANKS};
use crate::greedy::rendezvous::Seed;
use crate::network::{ArcId, Network, NodeId};
use crate::snapshot::{Assignment, BrokerId, Counts, Problem, ShardId, StreamId, ZoneId};
use std::ops::Range;

/// What leaders of the shards that are not pinned cost.
pub(super) trait Offers {
    /// Turns to a stream.
    fn open_stream(&mut self, s: StreamId);

    /// What a leader costs on a broker of the open stream that it reaches by a hub, beside the offer of the zone.
    fn seat(&self, b: BrokerId) -> Cost;

    /// Adds what a shard of the open stream may choose. A broker is offered at most once, and so is a zone.
    fn offer(&mut self, id: ShardId, offers: &mut Vec<(Choice, Cost)>);
}

/// Who leads a shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    /// This broker.
    Broker(BrokerId),
    /// One that the stream may enter in this zone, and that is not offered by itself.
    Zone(ZoneId),
    /// Nobody.
    Nobody,
}

/// A shard, and the broker that leads it, if any does.
pub(super) type Led = (ShardId, Option<BrokerId>);

/// Leaders of least cost.
pub(super) struct Leaders {
    /// The shards that are not pinned, in order.
    pub(super) of: Vec<Led>,
    /// Prices of leaders in the ranks that were begun.
    pub(super) prices: Vec<RankPrices>,
    /// Why the engine stopped short of the optimum.
    pub(super) stop: Option<Stop>,
}

/// Finds the leaders of least cost, from those of an admissible placement.
///
/// # Errors
/// A stop before the search, or what the network refused.
pub(super) fn lead(
    problem: &Problem,
    offers: &mut impl Offers,
    start: &[Assignment],
    budget: &mut Budget<'_>,
) -> Result<Leaders, SetError> {
    let mut network = LeadNetwork::build(problem, offers, budget)?;
    let flow = network.start_flow(start, budget)?;
    let hint = network.hint(&flow);
    let mut search = Search::new(&network.layered, flow, &hint, budget)?;
    loop {
        let found = search.run(&network.layered, budget)?;
        let prices = network.layered.prices(&found.potentials);
        let seated = match found.is_feasible {
            true => network.seated(&found.flow),
            false => Err(Vec::new()),
        };
        match seated {
            Ok(of) => {
                return Ok(Leaders {
                    of,
                    prices,
                    stop: found.stop,
                });
            }
            Err(_) if found.stop.is_some() => {
                let of = network.shards.iter();
                let of = of.map(|shard| (shard.id, start[shard.id.index()].leader));
                return Ok(Leaders {
                    of: of.collect(),
                    prices,
                    stop: found.stop,
                });
            }
            Err(stuck) => {
                let edits = network.open_seats(&stuck);
                search.edit(&mut network.layered, edits)?;
            }
        }
    }
}

struct LeadNetwork<'p> {
    layered: Layered<'p>,
    shards: Vec<Shard>,
    ends: Vec<(ArcId, End)>,
}

/// A shard that is not pinned.
struct Shard {
    id: ShardId,
    node: NodeId,
    ends: Range<u32>,
}

/// Where an arc that leaves a shard leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Broker(BrokerId),
    Hub(HubId, ZoneId),
    Sink,
}

/// A shard that goes by way of a hub.
#[derive(Clone, Copy)]
struct Guest {
    /// Of the shard, its place in the network's list.
    at: u32,
    /// From the shard to the hub.
    arc: ArcId,
    hub: HubId,
}

impl<'p> LeadNetwork<'p> {
    fn build(
        problem: &'p Problem,
        offers: &mut impl Offers,
        budget: &mut Budget<'_>,
    ) -> Result<Self, SetError> {
        let mut taken = Counts::zero(problem.brokers.len(), problem.zones.len());
        for shard in problem.shards.iter().filter(|shard| shard.is_pinned) {
            taken.add(&problem.brokers, &shard.present, 1);
        }
        let mut builder = Builder {
            problem,
            layers: LayersBuilder::new(problem, Counted::Leaders, &taken),
            shards: Vec::new(),
            ends: Vec::new(),
        };
        for s in (0..problem.streams.len()).map(StreamId::at) {
            builder.add_stream(s, offers, budget)?;
        }
        Ok(LeadNetwork {
            layered: builder.layers.finish()?,
            shards: builder.shards,
            ends: builder.ends,
        })
    }

    /// The flow of the leaders of a placement. Where one is not offered the flow is short, and the engine refuses it.
    fn start_flow(
        &self,
        start: &[Assignment],
        budget: &mut Budget<'_>,
    ) -> Result<Vec<i64>, SetError> {
        let problem = self.layered.problem();
        let mut flow = vec![0; self.layered.network.arc_count()];
        for (at, shard) in self.shards.iter().enumerate() {
            if at % POLL_SHARDS == 0 {
                budget.poll()?;
            }
            let leader = start[shard.id.index()].leader;
            let find = |wanted: &dyn Fn(End) -> bool| {
                part(&self.ends, &shard.ends).find(|&&(_, end)| wanted(end))
            };
            let own = find(&|end| match leader {
                Some(b) => end == End::Broker(b),
                None => end == End::Sink,
            });
            let zone = leader.map(|b| problem.zone_of(b));
            let by_hub = || find(&|end| matches!(end, End::Hub(_, z) if Some(z) == zone));
            let Some(&(arc, end)) = own.or_else(by_hub) else {
                continue;
            };
            flow[arc.index()] += 1;
            match (end, leader) {
                (End::Hub(hub, _), Some(b)) => {
                    self.layered.ship_by_seat(hub, b, &mut flow);
                }
                _ => self.layered.ship(self.layered.network.head(arc), &mut flow),
            }
        }
        Ok(flow)
    }

    /// An arc to hang each node by: shards by the one that they use.
    fn hint(&self, flow: &[i64]) -> Vec<Option<ArcId>> {
        let mut hint = self.layered.way.clone();
        for shard in &self.shards {
            let mut used = part(&self.ends, &shard.ends).filter(|end| flow[end.0.index()] > 0);
            hint[shard.node.index()] = used.next().map(|end| end.0);
        }
        hint
    }

    /// The leader of each shard.
    ///
    /// # Errors
    /// The shards that can't be seated.
    fn seated(&self, flow: &[i64]) -> Result<Vec<Led>, Vec<Guest>> {
        let mut leaders: Vec<Led> = self.shards.iter().map(|shard| (shard.id, None)).collect();
        let mut guests: Vec<Vec<Guest>> = vec![Vec::new(); self.layered.hubs.len()];
        for (at, shard) in self.shards.iter().enumerate() {
            let mut used = part(&self.ends, &shard.ends).filter(|end| flow[end.0.index()] > 0);
            match used.next() {
                Some(&(_, End::Broker(b))) => leaders[at].1 = Some(b),
                Some(&(arc, End::Hub(hub, _))) => {
                    let at = at as u32;
                    guests[hub.0 as usize].push(Guest { at, arc, hub });
                }
                Some((_, End::Sink)) | None => {}
            }
        }
        let mut stuck = Vec::new();
        for of_hub in guests.iter().filter(|of_hub| !of_hub.is_empty()) {
            match self.seat_hub(of_hub, flow) {
                Ok(seated) => {
                    for (guest, b) in of_hub.iter().zip(seated) {
                        leaders[guest.at as usize].1 = Some(b);
                    }
                }
                Err(of_hub) => stuck.extend(of_hub),
            }
        }
        match stuck.is_empty() {
            true => Ok(leaders),
            false => Err(stuck),
        }
    }

    fn seat_hub(&self, guests: &[Guest], flow: &[i64]) -> Result<Vec<BrokerId>, Vec<Guest>> {
        let problem = self.layered.problem();
        let seats = self.layered.hub(guests[0].hub).seats.iter();
        let seats = seats.map(|&(b, arc)| (b, flow[arc.index()]));
        let (seats, places): (Vec<BrokerId>, Vec<i64>) = seats.filter(|seat| seat.1 > 0).unzip();
        let is_open = |guest: usize, seat: usize| {
            let shard = &self.shards[guests[guest].at as usize];
            !self.has_own_arc(shard, seats[seat])
        };
        let score = |guest: usize, seat: usize| {
            let id = self.shards[guests[guest].at as usize].id;
            Seed::of(&problem.shard(id).id).score(&problem.broker(seats[seat]).id)
        };
        match seats::seat(&vec![1; guests.len()], &places, is_open, score) {
            Ok(seated) => Ok(seated.iter().map(|at| seats[at[0] as usize]).collect()),
            Err(stuck) => Err(stuck.into_iter().map(|at| guests[at]).collect()),
        }
    }

    fn has_own_arc(&self, shard: &Shard, b: BrokerId) -> bool {
        part(&self.ends, &shard.ends).any(|end| end.1 == End::Broker(b))
    }

    /// Arcs to all other seats of a hub instead of the one to the hub.
    fn open_seats(&mut self, stuck: &[Guest]) -> Edits {
        let mut edits = Edits::default();
        let mut next = self.layered.network.arc_count();
        for guest in stuck {
            let (at, to_hub) = (guest.at as usize, guest.arc);
            let shard = &self.shards[at];
            let node = shard.node;
            let mut ends: Vec<(ArcId, End)> = part(&self.ends, &shard.ends).copied().collect();
            ends.retain(|end| end.0 != to_hub);
            let hub = self.layered.hub(guest.hub);
            for &(b, seat) in &hub.seats {
                if self.has_own_arc(shard, b) {
                    continue;
                }
                let cost = sum(&self.layered.cost_of(to_hub), &self.layered.cost_of(seat));
                edits.arcs.push(NewArc {
                    tail: node,
                    head: self.layered.slot(hub.stream, b),
                    upper: 1,
                    cost,
                });
                ends.push((ArcId::at(next), End::Broker(b)));
                next += 1;
            }
            edits.closed.push(to_hub);
            let begin = self.ends.len() as u32;
            self.ends.append(&mut ends);
            self.shards[at].ends = begin..self.ends.len() as u32;
        }
        edits
    }
}

/// The network as it grows, stream by stream.
struct Builder<'p> {
    problem: &'p Problem,
    layers: LayersBuilder<'p>,
    shards: Vec<Shard>,
    ends: Vec<(ArcId, End)>,
}

impl Builder<'_> {
    fn add_stream(
        &mut self,
        s: StreamId,
        offers: &mut impl Offers,
        budget: &mut Budget<'_>,
    ) -> Result<(), SetError> {
        budget.poll()?;
        let problem = self.problem;
        let of_stream = problem.stream(s).shards.clone().map(ShardId);
        let is_pinned = |id: &ShardId| problem.shard(*id).is_pinned;
        let (pinned, free): (Vec<ShardId>, Vec<ShardId>) = of_stream.partition(is_pinned);
        if free.is_empty() {
            return Ok(());
        }
        let pinned = pinned.iter().map(|&id| problem.shard(id));
        let pinned = pinned.filter_map(|shard| problem.live_leader(shard));
        self.layers.open_stream(s, pinned);
        offers.open_stream(s);
        for b in problem.broker_ids().filter(|&b| problem.may_enter(s, b)) {
            self.layers.set_seat_cost(b, offers.seat(b));
        }
        let mut list = Vec::new();
        for (at, &id) in free.iter().enumerate() {
            if at % POLL_SHARDS == 0 {
                budget.poll()?;
            }
            list.clear();
            offers.offer(id, &mut list);
            take_off_base(&mut list);
            self.add_shard(id, &list);
        }
        Ok(())
    }

    fn add_shard(&mut self, id: ShardId, offers: &[(Choice, Cost)]) {
        let layers = &mut self.layers;
        let node = layers.node(1);
        let begin = self.ends.len() as u32;
        for (choice, cost) in offers {
            let (head, end) = match *choice {
                Choice::Broker(b) => (layers.slot(b), End::Broker(b)),
                Choice::Nobody => (layers.sink(), End::Sink),
                Choice::Zone(z) => match layers.hub(z) {
                    Some(hub) => (layers.hub_node(hub), End::Hub(hub, z)),
                    None => continue,
                },
            };
            let arc = layers.arc(node, head, Network::UNCAPACITATED, cost);
            self.ends.push((arc, end));
        }
        self.shards.push(Shard {
            id,
            node,
            ends: begin..self.ends.len() as u32,
        });
    }
}

/// Takes off what all offers cost alike.
fn take_off_base(offers: &mut [(Choice, Cost)]) {
    let mut base = [i64::MAX; RANKS];
    for (_, cost) in offers.iter() {
        for (base, cost) in base.iter_mut().zip(cost.0) {
            *base = (*base).min(cost);
        }
    }
    for (_, cost) in offers {
        for (cost, base) in cost.0.iter_mut().zip(base) {
            *cost = cost.saturating_sub(base);
        }
    }
}
