//! Wishes to network, flow to sets.
//!
//! Hubs forget which shard is where, so the network is a relaxation: a shard may come back through the hub to a broker
//! that it is on. The flow is turned into seats (`seats`); the shards that find none get arcs of their own instead of the
//! hub's, and the search goes on from its tree until all are seated. Then the flow is the optimum of all arcs, since
//! it is one of a relaxation.

use super::layers::HubId;
use super::parcels::{End, ParcelZone, SetNetwork, part};
use super::search::{Edits, NewArc, Search};
use super::seats;
use super::wishes::Wishes;
use super::{SetError, Solution};
use crate::budget::Budget;
use crate::cost::Cost;
use crate::greedy::rendezvous::Seed;
use crate::network::{ArcId, NodeId};
use crate::snapshot::{Assignment, BrokerId, Problem};

/// Ships what is wished for, at the least cost.
///
/// # Errors
/// A stop before the search, or what the network refused.
pub(super) fn ship(
    problem: &Problem,
    wishes: &impl Wishes,
    budget: &mut Budget<'_>,
) -> Result<Solution, SetError> {
    let mut network = SetNetwork::build(problem, wishes, budget)?;
    let flow = network.start_flow(wishes, budget)?;
    let tree = network.first_tree(&flow, budget)?;
    let mut search = Search::new(&network.layered, flow, &tree, budget)?;
    loop {
        let found = search.run(&network.layered, budget)?;
        let mut solution = Solution {
            placement: wishes.start().to_vec(),
            prices: network.layered.prices(&found.potentials),
            stop: found.stop,
        };
        if !found.is_feasible {
            return Ok(solution);
        }
        match network.seated(wishes, &found.flow) {
            Ok(sets) => {
                network.assemble(wishes, sets, &mut solution.placement);
                return Ok(solution);
            }
            Err(_) if found.stop.is_some() => return Ok(solution),
            Err(stuck) => {
                let edits = network.open_seats(wishes, stuck);
                search.edit(&mut network.layered, edits)?;
            }
        }
    }
}

/// By parcel, the brokers of its units.
type Sets = Vec<Vec<BrokerId>>;

/// A shard in a hub: its parcel and where in `zones` the hub's zone is.
#[derive(Clone, Copy)]
struct Guest {
    parcel: u32,
    zone: u32,
    units: i64,
}

impl SetNetwork<'_> {
    /// The brokers of each parcel.
    ///
    /// # Errors
    /// The zones, by their positions, whose hub holds a shard that can't be seated.
    fn seated(&self, wishes: &impl Wishes, flow: &[i64]) -> Result<Sets, Vec<Guest>> {
        let mut sets: Sets = vec![Vec::new(); self.parcels.len()];
        let mut guests: Vec<Vec<Guest>> = vec![Vec::new(); self.layered.hubs.len()];
        for (at, parcel) in self.parcels.iter().enumerate() {
            for zone in parcel.zones.clone() {
                let mut of_hub: Option<(HubId, i64)> = None;
                for &(arc, end) in part(&self.ends, &self.zones[zone as usize].ends) {
                    match (end, flow[arc.index()]) {
                        (_, 0) => {}
                        (End::Broker(b), _) => sets[at].push(b),
                        (End::Hub(hub), units) => {
                            of_hub.get_or_insert((hub, 0)).1 += units;
                        }
                    }
                }
                if let Some((hub, units)) = of_hub {
                    let parcel = at as u32;
                    guests[hub.0 as usize].push(Guest {
                        parcel,
                        zone,
                        units,
                    });
                }
            }
        }
        let mut stuck = Vec::new();
        for (hub, guests) in guests.iter().enumerate().filter(|of| !of.1.is_empty()) {
            match self.seat_hub(wishes, HubId(hub as u32), guests, flow, &sets) {
                Ok(seated) => {
                    for (guest, b) in seated {
                        sets[guest.parcel as usize].push(b);
                    }
                }
                Err(mut of_hub) => stuck.append(&mut of_hub),
            }
        }
        match stuck.is_empty() {
            true => Ok(sets),
            false => Err(stuck),
        }
    }

    fn seat_hub(
        &self,
        wishes: &impl Wishes,
        hub: HubId,
        guests: &[Guest],
        flow: &[i64],
        sets: &Sets,
    ) -> Result<Vec<(Guest, BrokerId)>, Vec<Guest>> {
        let problem = wishes.problem();
        let seats = self.layered.hub(hub).seats.iter();
        let seats = seats.map(|&(b, arc)| (b, flow[arc.index()]));
        let (seats, places): (Vec<BrokerId>, Vec<i64>) = seats.filter(|seat| seat.1 > 0).unzip();
        let shard = |guest: usize| self.parcels[guests[guest].parcel as usize].shard;
        let is_open = |guest: usize, seat: usize| {
            let b = seats[seat];
            wishes.leader(shard(guest)) != Some(b)
                && !sets[guests[guest].parcel as usize].contains(&b)
        };
        let score = |guest: usize, seat: usize| {
            Seed::of(&problem.shard(shard(guest)).id).score(&problem.broker(seats[seat]).id)
        };
        let units: Vec<i64> = guests.iter().map(|guest| guest.units).collect();
        match seats::seat(&units, &places, is_open, score) {
            Err(stuck) => Err(stuck.into_iter().map(|at| guests[at]).collect()),
            Ok(seated) => {
                let of_guest = guests.iter().zip(seated);
                Ok(of_guest
                    .flat_map(|(&guest, at)| at.into_iter().map(move |at| (guest, at)))
                    .map(|(guest, at)| (guest, seats[at as usize]))
                    .collect())
            }
        }
    }

    /// Arcs to each open broker of a zone instead of those to the hub.
    fn open_seats(&mut self, wishes: &impl Wishes, stuck: Vec<Guest>) -> Edits {
        let mut edits = Edits::default();
        for guest in stuck {
            let shard = self.parcels[guest.parcel as usize].shard;
            let zone = &self.zones[guest.zone as usize];
            let own: Vec<(ArcId, End)> = part(&self.ends, &zone.ends).copied().collect();
            let is_hub = |end: &&(ArcId, End)| matches!(end.1, End::Hub(_));
            let to_hub: Vec<ArcId> = own.iter().filter(is_hub).map(|end| end.0).collect();
            let Some(&(_, End::Hub(hub))) = own.iter().find(is_hub) else {
                continue;
            };
            let (tail, cost) = match (zone.node, &to_hub[..]) {
                (Some(node), &[arc]) => (node, self.layered.cost_of(arc)),
                _ => (self.add_node(&to_hub, &mut edits), Cost::default()),
            };
            let begin = self.ends.len() as u32;
            let kept = own.iter().filter(|end| !is_hub(end));
            self.ends.extend(kept);
            let hub = self.layered.hub(hub);
            for &(b, _) in &hub.seats {
                if !SetNetwork::is_barred(wishes.problem(), wishes, shard, b) {
                    let head = self.layered.slot(hub.stream, b);
                    let arc = self.next_arc(&edits);
                    self.ends.push((arc, End::Broker(b)));
                    edits.arcs.push(NewArc {
                        tail,
                        head,
                        upper: 1,
                        cost,
                    });
                }
            }
            edits.closed.extend(to_hub);
            self.zones[guest.zone as usize] = ParcelZone {
                zone: hub.zone,
                node: Some(tail),
                steps: 0..0,
                ends: begin..self.ends.len() as u32,
            };
        }
        edits
    }

    /// A new node into which the arcs lead that led to the hub.
    fn add_node(&self, to_hub: &[ArcId], edits: &mut Edits) -> NodeId {
        let node = NodeId::at(self.layered.network.node_count() + edits.nodes);
        edits.nodes += 1;
        for &arc in to_hub {
            edits.arcs.push(NewArc {
                tail: self.layered.network.tail(arc),
                head: node,
                upper: self.layered.network.upper(arc),
                cost: self.layered.cost_of(arc),
            });
        }
        node
    }

    fn next_arc(&self, edits: &Edits) -> ArcId {
        ArcId::at(self.layered.network.arc_count() + edits.arcs.len())
    }

    fn assemble(&self, wishes: &impl Wishes, sets: Sets, placement: &mut [Assignment]) {
        for (parcel, mut brokers) in self.parcels.iter().zip(sets) {
            brokers.sort_unstable();
            placement[parcel.shard.index()] = wishes.assemble(parcel.shard, brokers);
        }
    }
}
