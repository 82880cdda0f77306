//! The bare weighted problem of a family as a plain network, for engines that know no ranks: spreads and zone limits
//! are hard bounds, unit costs are the `weighted` rank. Its optimum is that rank of the best plan wherever that plan
//! costs nothing in the ranks before, as the best plans of the families do.

use shardflow_solver::network::{Network, NetworkBuilder, NetworkError, NodeId, RankCost};
use shardflow_solver::snapshot::{Band, Problem, StreamId, ZoneId};

/// A network and its unit costs.
pub(crate) struct Bare {
    pub(crate) network: Network,
    pub(crate) cost: RankCost,
}

struct Builder {
    network: NetworkBuilder,
    costs: Vec<i64>,
}

impl Builder {
    fn arc(&mut self, tail: NodeId, head: NodeId, bounds: (i64, i64), unit_cost: i64) {
        self.network.add_arc(tail, head, bounds.0, bounds.1);
        self.costs.push(unit_cost);
    }
}

/// The hub network: a shard reaches the broker that leads it, and through the hub of its stream in a zone, at the
/// cost of a copy, every broker there.
///
/// A shard may come back to its own broker by way of the hub. That costs a copy more than staying, so no optimum does.
pub(crate) fn hub(problem: &Problem) -> Result<Bare, NetworkError> {
    let mut builder = Builder {
        network: NetworkBuilder::default(),
        costs: Vec::new(),
    };
    let sink = builder.network.add_node(-(problem.shards.len() as i64));
    let zones = nodes(&mut builder, problem.zones.len());
    let brokers = nodes(&mut builder, problem.brokers.len());
    for (zone, &node) in problem.zones.iter().zip(&zones) {
        let max = zone.max_leaders.map_or(i64::MAX, i64::from);
        let bounds = (i64::from(zone.min_leaders), max);
        builder.arc(node, sink, bounds, 0);
    }
    for (b, &node) in problem.broker_ids().zip(&brokers) {
        let head = zones[problem.zone_of(b).index()];
        let bounds = hard(problem.cluster_leader_band(b));
        builder.arc(node, head, bounds, 0);
    }
    for s in 0..problem.streams.len() {
        add_stream(problem, s, &brokers, &mut builder);
    }
    Ok(Bare {
        network: builder.network.build()?,
        cost: RankCost::linear(builder.costs),
    })
}

fn add_stream(problem: &Problem, s: usize, brokers: &[NodeId], builder: &mut Builder) {
    let slots = nodes(builder, problem.brokers.len());
    let hubs = nodes(builder, problem.zones.len());
    let stream = &problem.streams[s];
    for shard in &problem.shards[stream.shards.start as usize..stream.shards.end as usize] {
        let node = builder.network.add_node(1);
        let traffic = |z| problem.policy.weights.traffic * shard.leader_traffic.cross(z);
        if let Some(b) = problem.live_leader(shard) {
            let stay = traffic(problem.zone_of(b));
            builder.arc(node, slots[b.index()], (0, 1), stay);
        }
        let copy = if problem.is_free_to_place(shard) {
            0
        } else {
            problem.copy_cost(shard)
        };
        for (z, &hub) in hubs.iter().enumerate() {
            builder.arc(node, hub, (0, 1), traffic(ZoneId::at(z)) + copy);
        }
    }
    let id = StreamId::at(s);
    for (b, &slot) in problem.broker_ids().zip(&slots) {
        let hub = hubs[problem.zone_of(b).index()];
        let any = (0, Network::UNCAPACITATED);
        builder.arc(hub, slot, any, 0);
        let bounds = hard(problem.stream_leader_band(id, b));
        builder.arc(slot, brokers[b.index()], bounds, 0);
    }
}

fn nodes(builder: &mut Builder, count: usize) -> Vec<NodeId> {
    (0..count).map(|_| builder.network.add_node(0)).collect()
}

/// A spread's band as bounds.
fn hard(band: Option<Band>) -> (i64, i64) {
    band.map_or((0, Network::UNCAPACITATED), |band| {
        (band.low.max(0), band.high)
    })
}
