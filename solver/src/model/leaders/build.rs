//! Builds the network of a leader problem.

use super::counts::KeptLayers;
use super::{Choice, FreeShards, Layers, LeaderError, LeaderNetwork, is_orphan};
use crate::budget::Budget;
use crate::cost::{Cost, RANKS, Rank, shard_cost};
use crate::model::current;
use crate::network::{ArcId, Convex, Network, NetworkBuilder, NodeId, RankCost};
use crate::snapshot::{
    Assignment, Band, BrokerId, Counts, Problem, Roles, Shard, ShardId, StreamId, ZoneId,
};

/// Shards between two looks at the interrupt.
const POLL_SHARDS: usize = 512;

impl<'p> LeaderNetwork<'p> {
    pub(super) fn build(
        problem: &'p Problem,
        budget: &mut Budget<'_>,
    ) -> Result<Self, LeaderError> {
        let mut builder = Builder::new(problem);
        builder.add_counts();
        for s in 0..problem.streams.len() {
            builder.add_stream(StreamId::at(s), budget)?;
        }
        builder.finish()
    }
}

/// A network as it grows: first the sink, zones and brokers (see `counts`), then stream by stream slots, hubs and
/// shards, so that what a pivot touches lies together.
pub(super) struct Builder<'p> {
    pub(super) problem: &'p Problem,
    network: NetworkBuilder,
    pub(super) hint: Vec<Option<ArcId>>,
    arc_count: usize,
    /// By rank, unit costs of the arcs up to the last one that costs something.
    units: Vec<Vec<i64>>,
    /// By rank, in the order of the arcs.
    convex: Vec<Vec<(ArcId, Convex)>>,
    pub(super) layers: Layers,
    shards: FreeShards,
    /// Leaders and replicas of pinned shards.
    pub(super) pinned: Counts,
}

impl<'p> Builder<'p> {
    fn new(problem: &'p Problem) -> Self {
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
            free + streams * (brokers + zones) + brokers + zones + 1,
            free * (zones + 1) + 2 * streams * brokers + brokers + zones,
        );
        let sink = network.add_node(-(free as i64));
        Builder {
            problem,
            network,
            hint: vec![None],
            arc_count: 0,
            units: vec![Vec::new(); RANKS],
            convex: vec![Vec::new(); RANKS],
            layers: Layers {
                slots: vec![None; streams * brokers],
                hubs: vec![None; streams * zones],
                hub_arcs: vec![None; streams * brokers],
                broker_nodes: Vec::with_capacity(brokers),
                zone_nodes: Vec::with_capacity(zones),
                kept: has_orphans.then(|| KeptLayers::of(problem)),
                sink,
            },
            shards: FreeShards {
                begin: vec![0],
                ..FreeShards::default()
            },
            pinned,
        }
    }

    pub(super) fn node(&mut self, supply: i64) -> NodeId {
        self.hint.push(None);
        self.network.add_node(supply)
    }

    pub(super) fn arc(&mut self, tail: NodeId, head: NodeId, upper: i64) -> ArcId {
        self.arc_count += 1;
        self.network.add_arc(tail, head, 0, upper)
    }

    pub(super) fn convex(&mut self, rank: Rank, arc: ArcId, function: Option<Convex>) {
        if let Some(function) = function {
            self.convex[rank as usize].push((arc, function));
        }
    }

    fn add_stream(&mut self, s: StreamId, budget: &mut Budget<'_>) -> Result<(), LeaderError> {
        let problem = self.problem;
        let range = problem.stream(s).shards.clone();
        let free: Vec<ShardId> = range
            .clone()
            .map(ShardId)
            .filter(|&id| !problem.shard(id).is_pinned)
            .collect();
        if free.is_empty() {
            return Ok(());
        }
        let mut pinned_leaders = vec![0i64; problem.brokers.len()];
        for id in range.map(ShardId).filter(|&id| problem.shard(id).is_pinned) {
            if let Some(b) = problem.live_leader(problem.shard(id)) {
                pinned_leaders[b.index()] += 1;
            }
        }
        let copies = problem.policy.roles == Roles::LeadersAndFollowers;
        for id in &free {
            for b in problem.live(&problem.shard(*id).present) {
                self.add_slot(s, b);
            }
        }
        if copies {
            for b in problem.broker_ids().filter(|&b| problem.may_enter(s, b)) {
                self.add_slot(s, b);
            }
            self.add_hubs(s);
        }
        if (free.iter()).any(|&id| is_orphan(problem, problem.shard(id))) {
            self.add_kept_hubs(s);
        }
        let newcomers = copies.then(|| Representatives::of(problem, s));
        for (k, &id) in free.iter().enumerate() {
            if k % POLL_SHARDS == 0 {
                budget.poll().map_err(LeaderError::Stopped)?;
            }
            self.add_shard(id, newcomers.as_ref());
        }
        self.add_slot_arcs(s, free.len() as i64, &pinned_leaders);
        Ok(())
    }

    fn slot_index(&self, s: StreamId, b: BrokerId) -> usize {
        s.index() * self.problem.brokers.len() + b.index()
    }

    fn add_slot(&mut self, s: StreamId, b: BrokerId) {
        let at = self.slot_index(s, b);
        if self.layers.slots[at].is_none() {
            self.layers.slots[at] = Some(self.node(0));
        }
    }

    /// A hub for each zone with a broker that may hold the stream.
    fn add_hubs(&mut self, s: StreamId) {
        let problem = self.problem;
        for b in problem.broker_ids().filter(|&b| problem.may_enter(s, b)) {
            let hub_at = s.index() * problem.zones.len() + problem.zone_of(b).index();
            let hub = match self.layers.hubs[hub_at] {
                Some(hub) => hub,
                None => self.node(0),
            };
            self.layers.hubs[hub_at] = Some(hub);
            let at = self.slot_index(s, b);
            if let Some(slot) = self.layers.slots[at] {
                let arc = self.arc(hub, slot, Network::UNCAPACITATED);
                self.layers.hub_arcs[at] = Some(arc);
                self.hint[hub.index()].get_or_insert(arc);
            }
        }
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
            kept.hub_arcs[self.slot_index(s, b)] = Some(arc);
            self.hint[hub.index()].get_or_insert(arc);
        }
        self.layers.kept = Some(kept);
    }

    /// Arcs from slots to brokers, with the stream's spread. They come behind the shards' arcs, as pricing goes.
    fn add_slot_arcs(&mut self, s: StreamId, shards: i64, pinned_leaders: &[i64]) {
        for b in self.problem.broker_ids() {
            let at = self.slot_index(s, b);
            let Some(slot) = self.layers.slots[at] else {
                continue;
            };
            // One more than can flow, so that the arc always has room and may be in the first tree.
            let arc = self.arc(slot, self.layers.broker_nodes[b.index()], shards + 1);
            let band = self.problem.stream_leader_band(s, b);
            let spread = squares(band, pinned_leaders[b.index()]);
            self.convex(Rank::StreamLeaderSpread, arc, spread);
            self.hint[slot.index()] = Some(arc);
        }
    }

    /// A shard with its choices. What all of them cost alike is left out.
    fn add_shard(&mut self, id: ShardId, zones: Option<&Representatives>) {
        let problem = self.problem;
        let shard = problem.shard(id);
        let node = self.node(1);
        let mut offers: Vec<(Choice, NodeId, Cost)> = Vec::new();
        for b in problem.live(&shard.present) {
            if let Some(slot) = self.layers.slots[self.slot_index(shard.stream, b)] {
                let cost = shard_cost(problem, id, &led_by(problem, shard, b));
                offers.push((Choice::Holder(b), slot, cost));
            }
        }
        for &(z, ref brokers) in zones.iter().flat_map(|zones| &zones.zones) {
            let hub = self.layers.hubs[shard.stream.index() * problem.zones.len() + z.index()];
            let newcomer = brokers.iter().find(|&&b| !shard.present.holds(b));
            if let (Some(hub), Some(&b)) = (hub, newcomer) {
                let cost = shard_cost(problem, id, &led_by(problem, shard, b));
                offers.push((Choice::Zone(z), hub, cost));
            }
        }
        if is_orphan(problem, shard) {
            self.offer_kept(id, zones, &mut offers);
        } else if problem.live_leader(shard).is_none() {
            let cost = shard_cost(problem, id, &current::leaderless(problem, id));
            offers.push((Choice::Leaderless, self.layers.sink, cost));
        }
        let base = cheapest(&offers);
        for (choice, head, cost) in offers {
            let arc = self.arc(node, head, Network::UNCAPACITATED);
            for rank in 0..RANKS {
                let units = cost.0[rank] - base.0[rank];
                if units != 0 {
                    self.units[rank].resize(arc.index(), 0);
                    self.units[rank].push(units);
                }
            }
            self.shards.arcs.push(arc);
            self.shards.choices.push(choice);
        }
        self.shards.ids.push(id);
        self.shards.begin.push(self.shards.arcs.len());
    }

    /// What an orphan may become without a leader: its replica stays, or another broker takes it over.
    fn offer_kept(
        &self,
        id: ShardId,
        zones: Option<&Representatives>,
        offers: &mut Vec<(Choice, NodeId, Cost)>,
    ) {
        let Some(kept) = &self.layers.kept else {
            return;
        };
        let problem = self.problem;
        let shard = problem.shard(id);
        for b in problem.live(&shard.present) {
            let cost = shard_cost(problem, id, &kept_at(b));
            offers.push((Choice::Kept(b), kept.broker_nodes[b.index()], cost));
        }
        for &(z, ref brokers) in zones.iter().flat_map(|zones| &zones.zones) {
            let hub = kept.hubs[shard.stream.index() * problem.zones.len() + z.index()];
            let newcomer = brokers.iter().find(|&&b| !shard.present.holds(b));
            if let (Some(hub), Some(&b)) = (hub, newcomer) {
                let cost = shard_cost(problem, id, &kept_at(b));
                offers.push((Choice::KeptIn(z), hub, cost));
            }
        }
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
            ranks,
            costs,
            hint: self.hint,
            layers: self.layers,
            shards: self.shards,
        })
    }
}

pub(super) fn squares(band: Option<Band>, taken: i64) -> Option<Convex> {
    band.map(|band| Convex::Squares {
        low: band.low - taken,
        high: band.high - taken,
    })
}

/// Per zone the first brokers that may hold a stream: one more than a shard has replicas, so that one of them is new
/// to it where any is.
struct Representatives {
    zones: Vec<(ZoneId, Vec<BrokerId>)>,
}

impl Representatives {
    fn of(problem: &Problem, s: StreamId) -> Self {
        let range = problem.stream(s).shards.clone();
        let replicas = |id: u32| problem.shard(ShardId(id)).present.replicas().count();
        let enough = range.map(replicas).max().unwrap_or(0) + 1;
        let mut zones: Vec<(ZoneId, Vec<BrokerId>)> = (0..problem.zones.len())
            .map(|z| (ZoneId::at(z), Vec::new()))
            .collect();
        for b in problem.broker_ids().filter(|&b| problem.may_enter(s, b)) {
            let brokers = &mut zones[problem.zone_of(b).index()].1;
            if brokers.len() < enough {
                brokers.push(b);
            }
        }
        zones.retain(|(_, brokers)| !brokers.is_empty());
        Representatives { zones }
    }
}

/// The shard led by `leader`: all other replicas as they are where they are not decided, else none.
pub(super) fn led_by(problem: &Problem, shard: &Shard, leader: BrokerId) -> Assignment {
    match problem.policy.roles {
        Roles::LeadershipOnly => current::with_leader(shard, leader),
        Roles::LeadersAndFollowers => Assignment {
            leader: Some(leader),
            followers: Vec::new(),
        },
    }
}

/// The shard without a leader, its one replica on `broker`.
pub(super) fn kept_at(broker: BrokerId) -> Assignment {
    Assignment {
        leader: None,
        followers: vec![broker],
    }
}

/// Rank by rank the least that any offer costs.
fn cheapest(offers: &[(Choice, NodeId, Cost)]) -> Cost {
    let mut base = offers.first().map_or_else(Cost::default, |offer| offer.2);
    for offer in offers {
        for rank in 0..RANKS {
            base.0[rank] = base.0[rank].min(offer.2.0[rank]);
        }
    }
    base
}
