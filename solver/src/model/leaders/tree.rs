//! A first tree at guessed prices of the counts.
//!
//! A node may hang by any arc with room towards the sink; the nearer the potentials that this leads to are to an
//! optimum's, the fewer pivots are left. Slots hang by their brokers, hubs by the exit whose broker is priced lowest, and
//! shards by the dearest choice that they use, since that is what they would have to lose. (By their cheapest choice
//! they would be nearer still, but then the flow that they have lies outside the tree, and each of them is a pivot: that
//! took half as many again.)
//!
//! Complexity: O(arcs).

use super::build::POLL_SHARDS;
use super::{LeaderError, LeaderNetwork};
use crate::budget::Budget;
use crate::network::{ArcId, NodeId};
use crate::snapshot::StreamId;

/// What a unit costs from each node to the sink, and the arc it takes first; none where there is no way yet.
struct Ways {
    by_node: Vec<Option<(i64, ArcId)>>,
}

impl Ways {
    /// Offers a node a way over `arc`, which costs `cost` itself, to `head`; the first of the cheapest is kept.
    fn offer(&mut self, node: NodeId, arc: ArcId, cost: i64, head: NodeId) {
        let Some((price, _)) = self.by_node[head.index()] else {
            return;
        };
        let price = price.saturating_add(cost);
        let known = &mut self.by_node[node.index()];
        if known.is_none_or(|(known, _)| price < known) {
            *known = Some((price, arc));
        }
    }
}

impl LeaderNetwork<'_> {
    /// An arc to hang each node by, at a price for each arc of a count, those of zones first.
    ///
    /// # Errors
    /// A stop.
    pub(super) fn first_tree(
        &self,
        flow: &[i64],
        prices: &[(ArcId, i64)],
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Option<ArcId>>, LeaderError> {
        let mut ways = Ways {
            by_node: vec![None; self.network.node_count()],
        };
        let sink = self.layers.sink.index();
        ways.by_node[sink] = Some((0, ArcId(0)));
        for &(arc, price) in prices {
            let (node, head) = (self.network.tail(arc), self.network.head(arc));
            ways.offer(node, arc, price, head);
        }
        for s in (0..self.problem.streams.len()).map(StreamId::at) {
            budget.poll()?;
            self.offer_exits(s, flow, &mut ways);
        }
        for (at, group) in self.groups.list.iter().enumerate() {
            if at % POLL_SHARDS == 0 {
                budget.poll()?;
            }
            let used = (self.groups.choices(group)).filter(|&(arc, _)| flow[arc.index()] > 0);
            let cost = |arc| self.costs.first().map_or(0, |cost| cost.unit_cost(arc));
            let dearest = used.max_by_key(|&(arc, _)| cost(arc));
            ways.by_node[group.node.index()] = dearest.map(|(arc, _)| (0, arc));
        }
        ways.by_node[sink] = None;
        let ways = ways.by_node.iter().zip(&self.way);
        Ok((ways.map(|(way, first)| way.map(|way| way.1).or(*first))).collect())
    }

    fn offer_exits(&self, s: StreamId, flow: &[i64], ways: &mut Ways) {
        let network = &self.network;
        let exits = self.layers.exits(s);
        let has_room = |arc: ArcId| flow[arc.index()] < network.upper(arc);
        for exit in exits.iter().filter(|exit| has_room(exit.out)) {
            ways.offer(network.tail(exit.out), exit.out, 0, network.head(exit.out));
        }
        for exit in exits {
            if let (Some(slot), Some(arc)) = (exit.slot, exit.hub_arc) {
                ways.offer(network.tail(arc), arc, 0, slot);
            }
        }
        let row = s.index() * self.problem.zones.len();
        let elsewhere = &self.layers.elsewhere_arcs[row..row + self.problem.zones.len()];
        for &arc in elsewhere.iter().flatten() {
            ways.offer(network.tail(arc), arc, 0, network.head(arc));
        }
    }
}
