//! The cut that proves a network infeasible, from the flow at the end.

use super::Engine;
use crate::linear::LinearError;
use crate::linear::number::Number;
use crate::network::{ArcId, Network};

impl<N: Number> Engine<N> {
    /// What the nodes whose supply still goes to the root reach along room: the smallest violated cut.
    pub(super) fn infeasible(&self, network: &Network, flow: &[i64]) -> LinearError {
        let mut is_reached = vec![false; network.node_count()];
        let mut queue = Vec::new();
        let mut deficit = 0;
        for (node, &name) in self.name.iter().enumerate() {
            let place = self.tree.place(node as u32);
            let artificial = (place.arc as usize).checked_sub(self.arcs.len());
            let undelivered: i64 = place.room_down.into();
            if artificial.is_some_and(|index| !self.is_demand[index]) && undelivered > 0 {
                deficit += undelivered;
                is_reached[name as usize] = true;
                queue.push(name);
            }
        }
        let ways = Ways::new(network, flow);
        while let Some(node) = queue.pop() {
            for &to in ways.from(node) {
                if !std::mem::replace(&mut is_reached[to as usize], true) {
                    queue.push(to);
                }
            }
        }
        let cut = network.nodes();
        let cut = cut.filter(|node| is_reached[node.index()]).collect();
        LinearError::Infeasible { cut, deficit }
    }
}

/// Where flow can still go from each node, as compressed rows.
struct Ways {
    begin: Vec<usize>,
    to: Vec<u32>,
}

impl Ways {
    fn new(network: &Network, flow: &[i64]) -> Self {
        let ways = |arc: ArcId| {
            let (tail, head) = (network.tail(arc), network.head(arc));
            let up = (flow[arc.index()] < network.upper(arc)).then_some((tail, head));
            let down = (flow[arc.index()] > network.lower(arc)).then_some((head, tail));
            up.into_iter().chain(down)
        };
        let mut begin = vec![0; network.node_count() + 1];
        for (from, _) in network.arcs().flat_map(ways) {
            begin[from.index() + 1] += 1;
        }
        for node in 1..begin.len() {
            begin[node] += begin[node - 1];
        }
        let mut next = begin.clone();
        let mut to = vec![0; begin[begin.len() - 1]];
        for (from, head) in network.arcs().flat_map(ways) {
            to[next[from.index()]] = head.0;
            next[from.index()] += 1;
        }
        Ways { begin, to }
    }

    fn from(&self, node: u32) -> &[u32] {
        &self.to[self.begin[node as usize]..self.begin[node as usize + 1]]
    }
}
