//! Builds the network of a leader problem.

use super::absent;
use super::counts::KeptLayers;
use super::offers::{self, Offer, Offers};
use super::{Exit, Groups, Layers, LeaderError, LeaderNetwork, is_orphan};
use crate::budget::Budget;
use crate::cost::{RANKS, Rank};
use crate::network::{ArcId, Convex, Network, NetworkBuilder, NodeId, RankCost, Segment};
use crate::snapshot::{Assignment, Band, Counts, Problem, Roles, ShardId, StreamId};

/// Shards between two looks at the interrupt.
pub(super) const POLL_SHARDS: usize = 512;

impl<'p> LeaderNetwork<'p> {
    /// The network in which the first `held` ranks cost nothing and all others what they cost.
    pub(super) fn build(
        problem: &'p Problem,
        held: usize,
        start: &'p [Assignment],
        budget: &mut Budget<'_>,
    ) -> Result<Self, LeaderError> {
        let mut builder = Builder::new(problem, held, start);
        builder.add_counts();
        builder.layers.arcs_begin.push(ArcId::at(builder.arc_count));
        for s in 0..problem.streams.len() {
            builder.add_stream(StreamId::at(s), budget)?;
        }
        builder.finish()
    }
}

/// A network as it grows: first the sink, zones and brokers (see `counts`), then stream by stream slots, hubs, shards
/// and exits, so that what a pivot touches lies together.
pub(super) struct Builder<'p> {
    pub(super) problem: &'p Problem,
    start: &'p [Assignment],
    /// Ranks below this one are held at zero.
    held: usize,
    /// Whether exits are left out; see `absent`.
    is_lazy: bool,
    network: NetworkBuilder,
    pub(super) way: Vec<Option<ArcId>>,
    arc_count: usize,
    /// By rank, unit costs of the arcs up to the last one that costs something.
    units: Vec<Vec<i64>>,
    /// By rank, in the order of the arcs.
    convex: Vec<Vec<(ArcId, Convex)>>,
    pub(super) layers: Layers,
    groups: Groups,
    /// Leaders and replicas of pinned shards.
    pub(super) pinned: Counts,
    /// By broker, the slot of the stream that is being added.
    slots: Vec<Option<NodeId>>,
    offers: Offers<'p>,
}

impl<'p> Builder<'p> {
    fn new(problem: &'p Problem, held: usize, start: &'p [Assignment]) -> Self {
        let (brokers, zones) = (problem.brokers.len(), problem.zones.len());
        let streams = problem.streams.len();
        let mut pinned = Counts::zero(brokers, zones);
        let (mut free, mut has_orphans) = (0, false);
        for shard in &problem.shards {
            if shard.is_pinned {
                pinned.add(&problem.brokers, &shard.present, 1);
            } else {
                free += 1;
                has_orphans |= is_orphan(problem, shard);
            }
        }
        let mut network = NetworkBuilder::with_capacity(
            free + streams * (zones + 1) + brokers + zones + 1,
            4 * free + streams * (brokers + zones),
        );
        let sink = network.add_node(-(free as i64));
        Builder {
            problem,
            start,
            held,
            is_lazy: held == Rank::Weighted as usize,
            network,
            way: vec![None],
            arc_count: 0,
            units: vec![Vec::new(); RANKS],
            convex: vec![Vec::new(); RANKS],
            layers: Layers {
                exits: Vec::new(),
                exits_begin: vec![0],
                arcs_begin: Vec::with_capacity(streams + 1),
                hubs: vec![None; streams * zones],
                elsewhere_arcs: vec![None; streams * zones],
                broker_nodes: Vec::with_capacity(brokers),
                zone_nodes: Vec::with_capacity(zones),
                kept: has_orphans.then(|| KeptLayers::of(problem)),
                sink,
            },
            groups: Groups::default(),
            pinned,
            slots: vec![None; brokers],
            offers: Offers::new(problem, held),
        }
    }

    pub(super) fn node(&mut self, supply: i64) -> NodeId {
        self.way.push(None);
        self.network.add_node(supply)
    }

    pub(super) fn arc(&mut self, tail: NodeId, head: NodeId, upper: i64) -> ArcId {
        self.arc_count += 1;
        self.network.add_arc(tail, head, 0, upper)
    }

    /// An arc with convex costs: bounds where their rank is held, else entries of it.
    pub(super) fn bent_arc(
        &mut self,
        tail: NodeId,
        head: NodeId,
        upper: i64,
        functions: &[(Rank, Option<Convex>)],
    ) -> ArcId {
        let arc = ArcId::at(self.arc_count);
        let mut bounds = Segment {
            low: 0,
            high: upper,
        };
        for &(rank, function) in functions {
            let Some(function) = function else { continue };
            if (rank as usize) < self.held {
                let free = function.free();
                bounds = bounds.within(free.low, free.high);
            } else {
                self.convex[rank as usize].push((arc, function));
            }
        }
        self.arc_count += 1;
        self.network.add_arc(tail, head, bounds.low, bounds.high)
    }

    fn add_stream(&mut self, s: StreamId, budget: &mut Budget<'_>) -> Result<(), LeaderError> {
        let problem = self.problem;
        let range = problem.stream(s).shards.clone();
        let is_free = |&id: &ShardId| !problem.shard(id).is_pinned;
        let free: Vec<ShardId> = range.clone().map(ShardId).filter(is_free).collect();
        if free.is_empty() {
            self.layers.close_stream(self.arc_count);
            return Ok(());
        }
        for &id in &free {
            for b in problem.live(&problem.shard(id).present) {
                if self.slots[b.index()].is_none() {
                    self.slots[b.index()] = Some(self.node(0));
                }
            }
        }
        let mut elsewhere = None;
        if problem.policy.roles == Roles::LeadersAndFollowers {
            elsewhere = self.add_hubs(s);
        }
        if (free.iter()).any(|&id| is_orphan(problem, problem.shard(id))) {
            self.add_kept_hubs(s);
        }
        let ends = offers::Ends {
            slots: &self.slots,
            hubs: self.layers.hubs_of(problem, s),
            elsewhere,
            kept: self.layers.kept.as_ref(),
            sink: self.layers.sink,
        };
        self.offers.clear();
        for (k, &id) in free.iter().enumerate() {
            if k % POLL_SHARDS == 0 {
                budget.poll()?;
            }
            self.offers.add(id, &ends);
        }
        self.add_groups(&free);
        self.add_exits(s, free.len() as i64, elsewhere);
        self.slots.fill(None);
        Ok(())
    }

    /// A hub for each zone with a broker that may hold the stream, and where there are several, a node for all zones
    /// that cost a shard the same.
    fn add_hubs(&mut self, s: StreamId) -> Option<NodeId> {
        let problem = self.problem;
        let (row, zones) = (s.index() * problem.zones.len(), problem.zones.len());
        let mut count = 0;
        for b in problem.broker_ids().filter(|&b| problem.may_enter(s, b)) {
            let at = row + problem.zone_of(b).index();
            if self.layers.hubs[at].is_none() {
                self.layers.hubs[at] = Some(self.node(0));
                count += 1;
            }
        }
        let elsewhere = (count > 1).then(|| self.node(0))?;
        for at in row..row + zones {
            if let Some(hub) = self.layers.hubs[at] {
                let arc = self.arc(elsewhere, hub, Network::UNCAPACITATED);
                self.layers.elsewhere_arcs[at] = Some(arc);
            }
        }
        Some(elsewhere)
    }

    /// A hub for the orphans' replicas in each zone with a broker that may hold the stream.
    fn add_kept_hubs(&mut self, s: StreamId) {
        let Some(mut kept) = self.layers.kept.take() else {
            return;
        };
        let problem = self.problem;
        for b in problem.broker_ids().filter(|&b| problem.may_enter(s, b)) {
            let hub_at = s.index() * problem.zones.len() + problem.zone_of(b).index();
            let hub = kept.hubs[hub_at].unwrap_or_else(|| self.node(0));
            kept.hubs[hub_at] = Some(hub);
            let arc = self.arc(hub, kept.broker_nodes[b.index()], Network::UNCAPACITATED);
            kept.hub_arcs[s.index() * problem.brokers.len() + b.index()] = Some(arc);
            self.way[hub.index()].get_or_insert(arc);
        }
        self.layers.kept = Some(kept);
    }

    /// Shards with their choices, those that are alike as one node. What all choices cost alike is left out.
    fn add_groups(&mut self, free: &[ShardId]) {
        let order = self.offers.groups(free.len());
        let mut rest = &order[..];
        while let Some(&first) = rest.first() {
            let is_alike = |&&k: &&u32| self.offers.is_alike(first, k);
            let (group, others) = rest.split_at(rest.iter().take_while(is_alike).count());
            rest = others;
            let node = self.node(group.len() as i64);
            let first_arc = ArcId::at(self.arc_count);
            let members = group.iter().map(|&k| free[k as usize]);
            let offers = self.offers.take(first);
            for &Offer { head, own, .. } in &offers {
                let arc = self.arc(node, head, Network::UNCAPACITATED);
                for (rank, units) in offers::OWN.into_iter().zip(own) {
                    if units != 0 {
                        let row = &mut self.units[rank as usize];
                        row.resize(arc.index(), 0);
                        row.push(units);
                    }
                }
            }
            let choices = offers.iter().map(|offer| offer.choice);
            self.groups.push(node, first_arc, members, choices);
        }
    }

    /// Arcs from hubs to slots, and from slots or hubs to brokers, with the stream's spread. They come behind the
    /// shards' arcs, as pricing goes.
    fn add_exits(&mut self, s: StreamId, shards: i64, elsewhere: Option<NodeId>) {
        let problem = self.problem;
        let mut pinned_leaders = vec![0i64; problem.brokers.len()];
        let mut is_used = vec![!self.is_lazy; problem.brokers.len()];
        for id in problem.stream(s).shards.clone().map(ShardId) {
            let shard = problem.shard(id);
            if let Some(b) = problem.live_leader(shard).filter(|_| shard.is_pinned) {
                pinned_leaders[b.index()] += 1;
                is_used.fill(true);
            } else if let Some(b) = self.start[id.index()].leader {
                is_used[b.index()] = true;
            }
        }
        // A hub's first exit that the start leaves free.
        let mut has_way = vec![!self.is_lazy; problem.zones.len()];
        let copies = problem.policy.roles == Roles::LeadersAndFollowers;
        for b in problem.broker_ids() {
            let slot = self.slots[b.index()];
            let hub_at = s.index() * problem.zones.len() + problem.zone_of(b).index();
            let hub = self.layers.hubs[hub_at].filter(|_| copies && problem.may_enter(s, b));
            let Some(tail) = slot.or(hub) else { continue };
            if slot.is_none() && !is_used[b.index()] && !absent::is_needed(problem, s, b) {
                let has_way = &mut has_way[problem.zone_of(b).index()];
                if *has_way {
                    continue;
                }
                *has_way = true;
            }
            let band = problem.stream_leader_band(s, b);
            let spread = squares(band, pinned_leaders[b.index()]);
            let head = self.layers.broker_nodes[b.index()];
            // One more than can flow, so that the arc has room in every flow and may be in the first tree.
            let spread = [(Rank::StreamLeaderSpread, spread)];
            let out = self.bent_arc(tail, head, shards + 1, &spread);
            let hub_arc = match (slot, hub) {
                (Some(slot), Some(hub)) => Some(self.arc(hub, slot, Network::UNCAPACITATED)),
                (None, _) => Some(out),
                (Some(_), None) => None,
            };
            if let Some(slot) = slot {
                self.way[slot.index()] = Some(out);
            }
            if let (Some(hub), Some(arc)) = (hub, hub_arc) {
                self.way[hub.index()].get_or_insert(arc);
            }
            self.layers.exits.push(Exit {
                broker: b,
                slot,
                hub_arc,
                out,
            });
        }
        if let Some(elsewhere) = elsewhere {
            let row = s.index() * problem.zones.len();
            let arcs = &self.layers.elsewhere_arcs[row..row + problem.zones.len()];
            self.way[elsewhere.index()] = arcs.iter().copied().flatten().next();
        }
        self.layers.close_stream(self.arc_count);
    }

    fn finish(self) -> Result<LeaderNetwork<'p>, LeaderError> {
        let network =
            (self.network.build()).map_err(|error| LeaderError::Refused(error.to_string()))?;
        let (mut ranks, mut costs) = (Vec::new(), Vec::new());
        for (rank, (mut unit, convex)) in
            (Rank::ALL.into_iter()).zip(self.units.into_iter().zip(self.convex))
        {
            if unit.is_empty() && convex.is_empty() {
                continue;
            }
            unit.resize(self.arc_count, 0);
            ranks.push(rank);
            costs.push(RankCost { unit, convex });
        }
        Ok(LeaderNetwork {
            problem: self.problem,
            network,
            is_lazy: self.is_lazy,
            ranks,
            costs,
            way: self.way,
            layers: self.layers,
            groups: self.groups,
        })
    }
}

impl Layers {
    /// Ends the exits and arcs of a stream, with so many arcs by then.
    fn close_stream(&mut self, arcs: usize) {
        self.arcs_begin.push(ArcId::at(arcs));
        self.exits_begin.push(self.exits.len() as u32);
    }

    /// Takes exits in that came later.
    pub(super) fn admit(&mut self, mut added: Vec<(StreamId, Exit)>) {
        added.sort_unstable_by_key(|&(s, exit)| (s, exit.broker));
        let mut added = added.into_iter().peekable();
        let old = std::mem::take(&mut self.exits);
        self.exits.reserve(old.len() + added.len());
        let begins = std::mem::take(&mut self.exits_begin);
        self.exits_begin.push(0);
        for (s, range) in begins.windows(2).enumerate() {
            for &exit in &old[range[0] as usize..range[1] as usize] {
                let is_before =
                    |next: &(StreamId, Exit)| next.0.index() == s && next.1.broker < exit.broker;
                while let Some((_, late)) = added.next_if(is_before) {
                    self.exits.push(late);
                }
                self.exits.push(exit);
            }
            while let Some((_, late)) = added.next_if(|next| next.0.index() == s) {
                self.exits.push(late);
            }
            self.exits_begin.push(self.exits.len() as u32);
        }
    }

    pub(super) fn hubs_of(&self, problem: &Problem, s: StreamId) -> &[Option<NodeId>] {
        let zones = problem.zones.len();
        &self.hubs[s.index() * zones..(s.index() + 1) * zones]
    }
}

pub(super) fn squares(band: Option<Band>, taken: i64) -> Option<Convex> {
    band.map(|band| Convex::Squares {
        low: band.low - taken,
        high: band.high - taken,
    })
}
