//! Networks with costs by rank, random and by hand.

use shardflow_solver::network::{ArcId, Convex, Network, NetworkBuilder, NodeId, RankCost};

use crate::rng::Rng;

pub(crate) struct Case {
    pub(crate) network: Network,
    pub(crate) ranks: Vec<RankCost>,
}

pub(crate) struct Size {
    pub(crate) nodes: i64,
    pub(crate) arcs: i64,
    pub(crate) span: i64,
    pub(crate) cost: i64,
}

pub(crate) const SMALL: Size = Size {
    nodes: 6,
    arcs: 12,
    span: 4,
    cost: 5,
};

fn random_convex(rng: &mut Rng, low: i64, high: i64) -> Convex {
    let mut at = || rng.between(low - 1, high + 1);
    let (a, b, kind) = (at(), at(), at());
    match kind.rem_euclid(4) {
        0 => Convex::Excess(a),
        1 => Convex::TwoExcess(a, b),
        2 => Convex::Shortfall(a),
        _ => Convex::Squares {
            low: a.min(b),
            high: a.max(b),
        },
    }
}

/// Lower bounds, parallel arcs, loops, negative costs, convex arcs, one to three ranks. Supplies come from a hidden
/// flow; one case in six moves a unit of supply, and may then be infeasible.
pub(crate) fn random_case(rng: &mut Rng, size: &Size) -> Case {
    let nodes = rng.between(1, size.nodes);
    let arcs = rng.between(0, size.arcs);
    let mut builder = NetworkBuilder::default();
    let ids: Vec<NodeId> = (0..nodes).map(|_| builder.add_node(0)).collect();
    let mut bounds = Vec::new();
    for _ in 0..arcs {
        let tail = ids[rng.between(0, nodes - 1) as usize];
        let head = ids[rng.between(0, nodes - 1) as usize];
        let lower = if rng.one_in(3) { rng.between(-2, 2) } else { 0 };
        let upper = lower + rng.between(0, size.span);
        let flow = rng.between(lower, upper);
        builder.add_arc(tail, head, lower, upper);
        builder.add_supply(tail, flow);
        builder.add_supply(head, -flow);
        bounds.push((lower, upper));
    }
    if rng.one_in(6) {
        builder.add_supply(ids[0], 1);
        builder.add_supply(ids[nodes as usize - 1], -1);
    }
    let ranks = (0..rng.between(1, 3))
        .map(|_| random_rank(rng, &bounds, size.cost))
        .collect();
    Case {
        network: builder.build().unwrap(),
        ranks,
    }
}

pub(crate) fn bounds(network: &Network) -> Vec<(i64, i64)> {
    let bounds = |arc| (network.lower(arc), network.upper(arc));
    network.arcs().map(bounds).collect()
}

pub(crate) fn random_rank(rng: &mut Rng, bounds: &[(i64, i64)], cost: i64) -> RankCost {
    let mut rank = RankCost::default();
    if !rng.one_in(4) {
        rank.unit = bounds.iter().map(|_| rng.between(-cost, cost)).collect();
    }
    for (arc, &(lower, upper)) in bounds.iter().enumerate() {
        if rng.one_in(3) {
            let convex = random_convex(rng, lower, upper);
            rank.convex.push((ArcId::at(arc), convex));
        }
    }
    rank
}

pub(crate) fn totals(ranks: &[RankCost], flow: &[i64]) -> Vec<i128> {
    ranks.iter().map(|rank| rank.total(flow)).collect()
}

/// The network with one arc's upper bound changed.
pub(crate) fn with_upper(network: &Network, changed: ArcId, upper: i64) -> Network {
    let mut builder = NetworkBuilder::default();
    for node in network.nodes() {
        builder.add_node(network.supply(node));
    }
    for arc in network.arcs() {
        let upper = if arc == changed {
            upper
        } else {
            network.upper(arc)
        };
        builder.add_arc(
            network.tail(arc),
            network.head(arc),
            network.lower(arc),
            upper,
        );
    }
    builder.build().unwrap()
}

/// n shards, n brokers, one each: every basis is degenerate.
pub(crate) fn assignment(n: i64, mut cost: impl FnMut(i64, i64) -> i64) -> Case {
    let mut builder = NetworkBuilder::default();
    let shards: Vec<NodeId> = (0..n).map(|_| builder.add_node(1)).collect();
    let brokers: Vec<NodeId> = (0..n).map(|_| builder.add_node(-1)).collect();
    let mut unit = Vec::new();
    for (i, &shard) in (0..).zip(&shards) {
        for (j, &broker) in (0..).zip(&brokers) {
            builder.add_arc(shard, broker, 0, 1);
            unit.push(cost(i, j));
        }
    }
    Case {
        network: builder.build().unwrap(),
        ranks: vec![RankCost::linear(unit)],
    }
}

pub(crate) fn random_hint(rng: &mut Rng, network: &Network) -> Vec<Option<ArcId>> {
    let arcs = network.arc_count() as i64;
    let mut hint = || (arcs > 0 && !rng.one_in(4)).then(|| rng.between(0, arcs - 1));
    network
        .nodes()
        .map(|_| hint().map(|arc| ArcId::at(arc as usize)))
        .collect()
}
