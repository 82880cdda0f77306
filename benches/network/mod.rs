//! The bare weighted problem of a family as a plain network, for engines that know no ranks: spreads and zone limits
//! are hard bounds, unit costs are the `weighted` rank. Its optimum is that rank of the best plan wherever that plan
//! costs nothing in the ranks before, as the best plans of the families do.
//!
//! ```text
//! shard ──> slot (stream, broker)     dense: every broker; else the one that leads it now
//! shard ──> hub (stream, zone)        hub, compact: a copy to some broker of the zone
//! shard ──> elsewhere (stream)        compact: the same, where all zones but the cheaper ones cost alike
//! elsewhere ──> hub                   compact: every zone
//! hub ──> slot, or ──> broker         compact has no slot where no shard of the stream lives
//! slot ──> broker ──> zone ──> sink   floors, ceilings and limits
//! ```
//!
//! All three have the same optimum. A flow of one is a placement, and a placement a flow of the other at the same cost,
//! but for detours: a hub leads a shard back to its own broker as well, at the price of a copy, and "elsewhere" leads
//! to zones that are cheaper directly. No optimum takes one. A stream's floor and ceiling on a broker without a slot
//! are the bounds of the one arc by which the stream's shards come in.

pub(crate) mod dimacs;

use shardflow_solver::network::{Network, NetworkBuilder, NetworkError, NodeId, RankCost};
use shardflow_solver::snapshot::{Band, BrokerId, Problem, Shard, StreamId, ZoneId};

/// A network and its unit costs.
pub(crate) struct Bare {
    pub(crate) network: Network,
    pub(crate) cost: RankCost,
}

/// How a snapshot becomes a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// An arc for every shard and broker.
    Dense,
    /// Copies go by way of a hub for each stream and zone.
    Hub,
    /// Fewer slots and fewer arcs.
    Compact,
}

impl Form {
    /// All of them, the largest first.
    pub(crate) const ALL: [Form; 3] = [Form::Dense, Form::Hub, Form::Compact];

    /// As it is called in tables and file names.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::Dense => "dense",
            Form::Hub => "hub",
            Form::Compact => "compact",
        }
    }
}

/// Collects a network with its costs.
#[derive(Default)]
pub(crate) struct Builder {
    network: NetworkBuilder,
    costs: Vec<i64>,
}

impl Builder {
    /// Adds a node.
    pub(crate) fn node(&mut self, supply: i64) -> NodeId {
        self.network.add_node(supply)
    }

    /// Adds nodes without a supply.
    pub(crate) fn nodes(&mut self, count: usize) -> Vec<NodeId> {
        (0..count).map(|_| self.node(0)).collect()
    }

    /// Changes a node's supply.
    pub(crate) fn supply(&mut self, node: NodeId, amount: i64) {
        self.network.add_supply(node, amount);
    }

    /// Adds an arc with its least and largest flow.
    pub(crate) fn arc(
        &mut self,
        tail: NodeId,
        head: NodeId,
        (low, high): (i64, i64),
        unit_cost: i64,
    ) {
        self.network.add_arc(tail, head, low, high);
        self.costs.push(unit_cost);
    }

    /// The network, checked.
    pub(crate) fn finish(self) -> Result<Bare, NetworkError> {
        Ok(Bare {
            network: self.network.build()?,
            cost: RankCost::linear(self.costs),
        })
    }
}

/// The network of a problem in which each shard has one replica at most and nothing is pinned.
pub(crate) fn of(problem: &Problem, form: Form) -> Result<Bare, NetworkError> {
    let mut builder = Builder::default();
    let all = problem.shards.len() as i64;
    let sink = builder.node(-all);
    let zones = builder.nodes(problem.zones.len());
    let brokers = builder.nodes(problem.brokers.len());
    for (zone, &node) in problem.zones.iter().zip(&zones) {
        let max = zone.max_leaders.map_or(all, i64::from);
        builder.arc(node, sink, (i64::from(zone.min_leaders), max), 0);
    }
    for (b, &node) in problem.broker_ids().zip(&brokers) {
        let head = zones[problem.zone_of(b).index()];
        builder.arc(node, head, hard(problem.cluster_leader_band(b), all), 0);
    }
    for id in (0..problem.streams.len()).map(StreamId::at) {
        StreamPart::new(problem, id, form, &brokers, &mut builder).add(&mut builder);
    }
    builder.finish()
}

/// The part of the network that belongs to one stream.
struct StreamPart<'a> {
    problem: &'a Problem,
    id: StreamId,
    form: Form,
    brokers: &'a [NodeId],
    shards: &'a [Shard],
    /// By broker.
    slots: Vec<Option<NodeId>>,
    /// By zone; none in the dense form.
    hubs: Vec<NodeId>,
    elsewhere: Option<NodeId>,
}

impl<'a> StreamPart<'a> {
    fn new(
        problem: &'a Problem,
        id: StreamId,
        form: Form,
        brokers: &'a [NodeId],
        builder: &mut Builder,
    ) -> Self {
        let range = &problem.stream(id).shards;
        let shards = &problem.shards[range.start as usize..range.end as usize];
        let mut is_home = vec![form != Form::Compact; brokers.len()];
        for b in shards.iter().filter_map(|shard| problem.live_leader(shard)) {
            is_home[b.index()] = true;
        }
        let slots = is_home.iter().map(|&is| is.then(|| builder.node(0)));
        let slots = slots.collect();
        let hubs = match form {
            Form::Dense => Vec::new(),
            Form::Hub | Form::Compact => builder.nodes(problem.zones.len()),
        };
        StreamPart {
            problem,
            id,
            form,
            brokers,
            shards,
            slots,
            hubs,
            elsewhere: (form == Form::Compact).then(|| builder.node(0)),
        }
    }

    fn add(&self, builder: &mut Builder) {
        for shard in self.shards {
            let node = builder.node(1);
            match self.form {
                Form::Dense => self.add_dense(shard, node, builder),
                Form::Hub | Form::Compact => self.add_shard(shard, node, builder),
            }
        }
        let any = (0, self.shards.len() as i64);
        for &hub in self.elsewhere.iter().flat_map(|_| &self.hubs) {
            if let Some(elsewhere) = self.elsewhere {
                builder.arc(elsewhere, hub, any, 0);
            }
        }
        for (b, &broker) in self.problem.broker_ids().zip(self.brokers) {
            let bounds = hard(self.problem.stream_leader_band(self.id, b), any.1);
            let hub = self.hubs.get(self.problem.zone_of(b).index());
            match (self.slots[b.index()], hub) {
                (Some(slot), hub) => {
                    if let Some(&hub) = hub.filter(|_| self.problem.may_enter(self.id, b)) {
                        builder.arc(hub, slot, any, 0);
                    }
                    builder.arc(slot, broker, bounds, 0);
                }
                (None, Some(&hub)) if self.problem.may_enter(self.id, b) => {
                    builder.arc(hub, broker, bounds, 0);
                }
                (None, _) => {}
            }
        }
    }

    /// What a shard costs in a zone it comes to, and, where it stays, in that of its leader.
    fn traffic(&self, shard: &Shard, zone: ZoneId) -> i64 {
        self.problem.policy.weights.traffic * shard.leader_traffic.cross(zone)
    }

    fn copy(&self, shard: &Shard) -> i64 {
        if self.problem.is_free_to_place(shard) {
            0
        } else {
            self.problem.copy_cost(shard)
        }
    }

    fn stay(&self, shard: &Shard, node: NodeId, builder: &mut Builder) -> Option<BrokerId> {
        let b = self.problem.live_leader(shard)?;
        let slot = self.slots[b.index()]?;
        let cost = self.traffic(shard, self.problem.zone_of(b));
        builder.arc(node, slot, (0, 1), cost);
        Some(b)
    }

    fn add_dense(&self, shard: &Shard, node: NodeId, builder: &mut Builder) {
        let home = self.stay(shard, node, builder);
        for b in self.problem.broker_ids().filter(|&b| Some(b) != home) {
            if let Some(slot) = self.slots[b.index()]
                && self.problem.may_enter(self.id, b)
            {
                let cost = self.traffic(shard, self.problem.zone_of(b)) + self.copy(shard);
                builder.arc(node, slot, (0, 1), cost);
            }
        }
    }

    fn add_shard(&self, shard: &Shard, node: NodeId, builder: &mut Builder) {
        self.stay(shard, node, builder);
        let copy = self.copy(shard);
        let costs = (0..self.hubs.len()).map(|z| self.traffic(shard, ZoneId::at(z)) + copy);
        let costs: Vec<i64> = costs.collect();
        let most = costs.iter().copied().max();
        for (&hub, &cost) in self.hubs.iter().zip(&costs) {
            if self.elsewhere.is_none() || Some(cost) < most {
                builder.arc(node, hub, (0, 1), cost);
            }
        }
        if let (Some(elsewhere), Some(most)) = (self.elsewhere, most) {
            builder.arc(node, elsewhere, (0, 1), most);
        }
    }
}

/// A spread's band as bounds; without one, up to `all`.
fn hard(band: Option<Band>, all: i64) -> (i64, i64) {
    band.map_or((0, all), |band| (band.low.max(0), band.high))
}
