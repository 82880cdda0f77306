//! Random networks of every kind, and how to build them.

use shardflow_solver::network::{Network, NetworkBuilder, NodeId};

use crate::rng::Rng;

pub(crate) struct Case {
    pub(crate) network: Network,
    pub(crate) unit_cost: Vec<i64>,
}

/// Sizes and magnitudes of a family.
pub(crate) struct Size {
    pub(crate) nodes: i64,
    pub(crate) arcs: i64,
    pub(crate) span: i64,
    pub(crate) cost_low: i64,
    pub(crate) cost_high: i64,
    /// One arc in so many has no upper bound; zero for none.
    pub(crate) uncapacitated: usize,
}

/// Lower bounds, parallel arcs, loops, arcs of no room. Supplies come from a hidden flow; one case in six moves some
/// of it, and may then be infeasible.
pub(crate) fn random_case(rng: &mut Rng, size: &Size) -> Case {
    let nodes = rng.between(1, size.nodes);
    let arcs = rng.between(0, size.arcs);
    let mut builder = NetworkBuilder::default();
    let ids: Vec<NodeId> = (0..nodes).map(|_| builder.add_node(0)).collect();
    let mut unit_cost = Vec::new();
    for _ in 0..arcs {
        let tail = ids[rng.below(ids.len())];
        let head = ids[rng.below(ids.len())];
        let lower = if rng.one_in(3) {
            rng.between(-size.span, size.span)
        } else {
            0
        };
        let upper = lower + rng.between(0, size.span);
        let flow = rng.between(lower, upper);
        let is_free = size.uncapacitated > 0 && rng.one_in(size.uncapacitated);
        let upper = if is_free {
            Network::UNCAPACITATED
        } else {
            upper
        };
        builder.add_arc(tail, head, lower, upper);
        builder.add_supply(tail, flow);
        builder.add_supply(head, -flow);
        unit_cost.push(rng.between(size.cost_low, size.cost_high));
    }
    if rng.one_in(6) {
        let moved = rng.between(1, size.span.max(1));
        builder.add_supply(ids[0], moved);
        builder.add_supply(ids[ids.len() - 1], -moved);
    }
    let network = builder.build().unwrap();
    Case { network, unit_cost }
}
