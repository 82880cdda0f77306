//! The upper half of the network: what each shard ships, and where it may go.
//!
//! ```text
//! shard ──> zone of the shard ──> slot   where the broker holds a live replica
//! zone of the shard ──> hub              for a copy to any other broker of the zone
//! shard ──> first ──> zone of the shard  one unit a zone
//! shard ──> sink                         missing replicas
//! ```
//!
//! **Crowding.** The m-th replica of a shard in a zone (the leader counts) pays (m − 1) · `same_rack`, and 1 in rank 3
//! above `max_replicas_per_zone`. Both rise with m, so they are parallel arcs into the zone, alike ones as one.
//!
//! **Zones to open.** Where each unit of a shard should open a zone, every further unit in a zone, every unit in the
//! leader's and every missing one costs 1 in rank 6. Where only some should, the first unit of each zone but the
//! leader's comes by the node `first`, into which one arc leads that pays for what is short. A unit that opens a zone
//! by another arc would cost more in rank 13 and no less in rank 6.
//!
//! The node of a zone is left out where no replica is there, or no unit is dearer than another and all may come: then
//! arcs lead straight on.

use super::SetError;
use super::layers::{Counted, HubId, Layered, LayersBuilder};
use super::wishes::{Wish, Wishes, zone_limit};
use crate::budget::Budget;
use crate::cost::{Cost, Rank};
use crate::network::{ArcId, Convex, Network, NodeId};
use crate::snapshot::{BrokerId, Counts, Problem, ShardId, StreamId, ZoneId};
use smallvec::SmallVec;
use std::ops::Range;

/// Shards between two looks at the interrupt.
pub(super) const POLL_SHARDS: usize = 512;

/// The network, and what its upper half stands for.
pub(super) struct SetNetwork<'p> {
    pub(super) layered: Layered<'p>,
    /// In the order of the shards.
    pub(super) parcels: Vec<Parcel>,
    pub(super) zones: Vec<ParcelZone>,
    /// Arcs into the nodes of zones, the cheapest first.
    pub(super) steps: Vec<ArcId>,
    pub(super) ends: Vec<(ArcId, End)>,
    pub(super) missing: Vec<ArcId>,
}

/// What one shard ships.
pub(super) struct Parcel {
    pub(super) shard: ShardId,
    pub(super) node: NodeId,
    pub(super) units: i64,
    /// From the shard to the node `first`.
    pub(super) first: Option<ArcId>,
    pub(super) zones: Range<u32>,
    pub(super) missing: Range<u32>,
}

/// A zone that a shard may be in.
pub(super) struct ParcelZone {
    pub(super) zone: ZoneId,
    pub(super) node: Option<NodeId>,
    pub(super) steps: Range<u32>,
    pub(super) ends: Range<u32>,
}

/// Where an arc that leaves a shard, or its zone, leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// To the slot of a broker.
    Broker(BrokerId),
    /// To the hub of the zone.
    Hub(HubId),
}

pub(super) fn part<'a, T>(all: &'a [T], range: &Range<u32>) -> std::slice::Iter<'a, T> {
    all[range.start as usize..range.end as usize].iter()
}

impl<'p> SetNetwork<'p> {
    /// The network of all shards that are not pinned.
    ///
    /// # Errors
    /// A stop, or what the network refused.
    pub(super) fn build(
        problem: &'p Problem,
        wishes: &impl Wishes,
        budget: &mut Budget<'_>,
    ) -> Result<Self, SetError> {
        let mut taken = Counts::zero(problem.brokers.len(), problem.zones.len());
        for id in problem.shard_ids() {
            for b in counted(problem, wishes, id) {
                taken.replicas[b.index()] += 1;
                taken.zone_replicas[problem.zone_of(b).index()] += 1;
            }
        }
        let mut packer = Packer {
            problem,
            wishes,
            layers: LayersBuilder::new(problem, Counted::Replicas, &taken),
            open: vec![Vec::new(); problem.zones.len()],
            parcels: Vec::new(),
            zones: Vec::new(),
            steps: Vec::new(),
            ends: Vec::new(),
            missing: Vec::new(),
        };
        for s in 0..problem.streams.len() {
            packer.add_stream(StreamId::at(s), budget)?;
        }
        Ok(SetNetwork {
            layered: packer.layers.finish()?,
            parcels: packer.parcels,
            zones: packer.zones,
            steps: packer.steps,
            ends: packer.ends,
            missing: packer.missing,
        })
    }

    /// Whether a copy of the shard can't go to a broker by way of a hub: it holds one, or leads it.
    pub(super) fn is_barred(
        problem: &Problem,
        wishes: &impl Wishes,
        id: ShardId,
        b: BrokerId,
    ) -> bool {
        problem.shard(id).present.holds(b) || wishes.leader(id) == Some(b)
    }
}

/// Live replicas that count and don't flow.
fn counted(problem: &Problem, wishes: &impl Wishes, id: ShardId) -> SmallVec<[BrokerId; 4]> {
    let shard = problem.shard(id);
    match shard.is_pinned {
        true => problem.live(&shard.present).collect(),
        false => wishes.leader(id).into_iter().collect(),
    }
}

struct Packer<'a, 'p, W> {
    problem: &'p Problem,
    wishes: &'a W,
    layers: LayersBuilder<'p>,
    /// By zone, the brokers that the stream may enter.
    open: Vec<Vec<BrokerId>>,
    parcels: Vec<Parcel>,
    zones: Vec<ParcelZone>,
    steps: Vec<ArcId>,
    ends: Vec<(ArcId, End)>,
    missing: Vec<ArcId>,
}

/// A shard that is being added.
struct Sender {
    id: ShardId,
    node: NodeId,
    first: Option<NodeId>,
    units: i64,
    /// Whether each unit should open a zone.
    opens_all: bool,
    leader: Option<BrokerId>,
}

/// Units into a zone that cost the same.
struct Run {
    /// Whether they come by `first`.
    is_first: bool,
    units: i64,
    cost: Cost,
}

impl<W: Wishes> Packer<'_, '_, W> {
    fn add_stream(&mut self, s: StreamId, budget: &mut Budget<'_>) -> Result<(), SetError> {
        let (problem, wishes) = (self.problem, self.wishes);
        let shards = problem.stream(s).shards.clone().map(ShardId);
        let is_free = |&id: &ShardId| !problem.shard(id).is_pinned;
        let free: Vec<ShardId> = shards.clone().filter(is_free).collect();
        if free.is_empty() {
            return Ok(());
        }
        budget.poll()?;
        let taken = shards.flat_map(|id| counted(problem, wishes, id));
        self.layers.open_stream(s, taken);
        for z in (0..problem.zones.len()).map(ZoneId::at) {
            self.open[z.index()].clear();
            self.open[z.index()].extend(self.layers.enterable(z));
        }
        self.cap_seats(&free);
        for (at, &id) in free.iter().enumerate() {
            if at % POLL_SHARDS == 0 {
                budget.poll()?;
            }
            self.add_shard(id, wishes.wish(id));
        }
        Ok(())
    }

    /// No seat takes more than the shards that may sit there.
    fn cap_seats(&mut self, free: &[ShardId]) {
        let mut barred = vec![0; self.problem.brokers.len()];
        for &id in free {
            let present = &self.problem.shard(id).present;
            let leader = self.wishes.leader(id).filter(|&b| !present.holds(b));
            for b in present.replicas().chain(leader) {
                barred[b.index()] += 1;
            }
        }
        for b in self.open.iter().flatten() {
            let cap = free.len() as i64 - barred[b.index()];
            self.layers.set_seat_cap(*b, cap);
        }
    }

    fn add_shard(&mut self, id: ShardId, wish: Wish) {
        if wish.units == 0 {
            return;
        }
        let node = self.layers.node(wish.units);
        let opens_some = 0 < wish.zones && wish.zones < wish.units;
        let first = opens_some.then(|| {
            let first = self.layers.node(0);
            let short = [(Rank::ZonesLost, Some(Convex::Shortfall(wish.zones)))];
            (
                first,
                self.layers.bent_arc(node, first, wish.units + 1, &short),
            )
        });
        let sender = Sender {
            id,
            node,
            first: first.map(|first| first.0),
            units: wish.units,
            opens_all: wish.zones >= wish.units,
            leader: self.wishes.leader(id),
        };
        let missing_begin = self.missing.len() as u32;
        for (units, rank) in wish.missing.into_iter().filter(|missing| missing.0 > 0) {
            let mut cost = Cost::default();
            cost[rank] = 1;
            cost[Rank::ZonesLost] = i64::from(sender.opens_all);
            let arc = self.layers.arc(node, self.layers.sink(), units, &cost);
            self.missing.push(arc);
        }
        let zones_begin = self.zones.len() as u32;
        for z in (0..self.problem.zones.len()).map(ZoneId::at) {
            self.add_zone(&sender, z);
        }
        self.parcels.push(Parcel {
            shard: id,
            node,
            units: wish.units,
            first: first.map(|first| first.1),
            zones: zones_begin..self.zones.len() as u32,
            missing: missing_begin..self.missing.len() as u32,
        });
    }

    fn add_zone(&mut self, sender: &Sender, z: ZoneId) {
        let (problem, wishes, id) = (self.problem, self.wishes, sender.id);
        let present = &problem.shard(id).present;
        let is_here = |b: &BrokerId| problem.zone_of(*b) == z && sender.leader != Some(*b);
        let holders: SmallVec<[BrokerId; 4]> = problem.live(present).filter(is_here).collect();
        let is_open = |b: &&BrokerId| !SetNetwork::is_barred(problem, wishes, id, **b);
        let newcomers = self.open[z.index()].iter().filter(is_open);
        let (newcomer, places) = (newcomers.clone().next().copied(), newcomers.count() as i64);
        let runs = self.runs(sender, z, places + holders.len() as i64);
        if runs.is_empty() {
            return;
        }
        let hub = newcomer.and_then(|b| Some((self.layers.hub(z)?, wishes.replica(id, b))));
        let most: i64 = runs.iter().map(|run| run.units).sum();
        let is_plain = runs.len() == 1 && most == sender.units;
        let (steps_begin, ends_begin) = (self.steps.len() as u32, self.ends.len() as u32);
        let mut node = None;
        if holders.is_empty() {
            // Straight from the shard to the hub.
            for run in &runs {
                self.add_hub_end(tail_of(sender, run), hub, run.units, &run.cost);
            }
        } else {
            let (tail, cost) = match is_plain {
                true => (sender.node, runs[0].cost),
                false => (self.add_steps(sender, &runs), Cost::default()),
            };
            node = (!is_plain).then_some(tail);
            for b in holders {
                // Where one unit comes at most, the arc keeps room for a second, and so may be in the first tree.
                let upper = if most == 1 { 2 } else { 1 };
                let slot = self.layers.slot(b);
                let cost = sum(&cost, &wishes.replica(id, b));
                let arc = self.layers.arc(tail, slot, upper, &cost);
                self.ends.push((arc, End::Broker(b)));
            }
            let bound = if places < most {
                places
            } else {
                Network::UNCAPACITATED
            };
            self.add_hub_end(tail, hub, bound, &cost);
        }
        self.zones.push(ParcelZone {
            zone: z,
            node,
            steps: steps_begin..self.steps.len() as u32,
            ends: ends_begin..self.ends.len() as u32,
        });
    }

    /// The node of a zone, with the arcs into it.
    fn add_steps(&mut self, sender: &Sender, runs: &[Run]) -> NodeId {
        let node = self.layers.node(0);
        for run in runs {
            let arc = self
                .layers
                .arc(tail_of(sender, run), node, run.units, &run.cost);
            self.steps.push(arc);
        }
        node
    }

    /// An arc to a hub, at `cost` beside that of a copy.
    fn add_hub_end(&mut self, tail: NodeId, hub: Option<(HubId, Cost)>, upper: i64, cost: &Cost) {
        if let Some((hub, copy)) = hub {
            let head = self.layers.hub_node(hub);
            let arc = self.layers.arc(tail, head, upper, &sum(cost, &copy));
            self.ends.push((arc, End::Hub(hub)));
        }
    }

    /// What units into a zone cost, the first one first, where so many brokers may take one.
    fn runs(&self, sender: &Sender, z: ZoneId, places: i64) -> SmallVec<[Run; 4]> {
        let weights = &self.problem.policy.weights;
        let led = sender.leader.is_some_and(|b| self.problem.zone_of(b) == z);
        let led = i64::from(led);
        let limit = zone_limit(self.problem, sender.id, z);
        let most = limit.map_or(sender.units, |limit| sender.units.min(limit.0 - led));
        let mut runs: SmallVec<[Run; 4]> = SmallVec::new();
        for nth in led + 1..=led + most.min(places) {
            let mut cost = Cost::default();
            cost[Rank::Breaches] = i64::from(limit.is_some_and(|limit| nth > limit.1));
            cost[Rank::ZonesLost] = i64::from(sender.opens_all && nth > 1);
            cost[Rank::Weighted] =
                (nth - 1) * weights.same_rack + led * weights.same_rack_as_leader;
            let is_first = sender.first.is_some() && nth == 1;
            match runs.last_mut() {
                Some(run) if !run.is_first && run.cost == cost => run.units += 1,
                _ => runs.push(Run {
                    is_first,
                    units: 1,
                    cost,
                }),
            }
        }
        runs
    }
}

/// Where units of a run come from.
fn tail_of(sender: &Sender, run: &Run) -> NodeId {
    sender.first.filter(|_| run.is_first).unwrap_or(sender.node)
}

/// The sum of two vectors. Where it saturates, the network refuses it.
pub(super) fn sum(a: &Cost, b: &Cost) -> Cost {
    let mut sum = *a;
    for (sum, b) in sum.0.iter_mut().zip(b.0) {
        *sum = sum.saturating_add(b);
    }
    sum
}
