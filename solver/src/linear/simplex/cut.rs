//! The cut that proves a network infeasible, from the flow at the end.

use super::Engine;
use crate::budget::{Budget, Stop};
use crate::linear::LinearError;
use crate::linear::number::Number;
use crate::linear::problem::Problem;
use crate::network::{ArcId, Network};

impl<N: Number> Engine<N> {
    /// What the nodes whose supply still goes to the root reach along room: the smallest violated cut.
    ///
    /// # Errors
    /// A stop.
    pub(super) fn infeasible(
        &self,
        problem: &Problem<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<LinearError, Stop> {
        let network = problem.network;
        let mut is_reached = vec![false; network.node_count()];
        let mut stack = Vec::new();
        let mut deficit = 0;
        for (node, &name) in (0..).zip(&self.name) {
            let undelivered = self.artificial_supply(node).unwrap_or(0);
            if undelivered > 0 {
                deficit += undelivered;
                is_reached[name as usize] = true;
                stack.push(name);
            }
        }
        let ways = Ways::new(network, &self.flow(problem), budget)?;
        while let Some(node) = stack.pop() {
            budget.spend(ways.from(node).len() as u64)?;
            for &to in ways.from(node) {
                if !std::mem::replace(&mut is_reached[to as usize], true) {
                    stack.push(to);
                }
            }
        }
        let cut = network.nodes();
        let cut = cut.filter(|node| is_reached[node.index()]).collect();
        Ok(LinearError::Infeasible { cut, deficit })
    }
}

/// Where flow can still go from each node, as compressed rows.
struct Ways {
    begin: Vec<usize>,
    to: Vec<u32>,
}

impl Ways {
    fn new(network: &Network, flow: &[i64], budget: &mut Budget<'_>) -> Result<Self, Stop> {
        let ways = |arc: ArcId| {
            let (tail, head) = (network.tail(arc), network.head(arc));
            let up = (flow[arc.index()] < network.upper(arc)).then_some((tail, head));
            let down = (flow[arc.index()] > network.lower(arc)).then_some((head, tail));
            up.into_iter().chain(down)
        };
        let mut begin = vec![0; network.node_count() + 1];
        for arc in network.arcs() {
            budget.spend(1)?;
            for (from, _) in ways(arc) {
                begin[from.index() + 1] += 1;
            }
        }
        for node in 1..begin.len() {
            begin[node] += begin[node - 1];
        }
        let mut next = begin.clone();
        let mut to = vec![0; begin[begin.len() - 1]];
        for arc in network.arcs() {
            budget.spend(1)?;
            for (from, head) in ways(arc) {
                to[next[from.index()]] = head.0;
                next[from.index()] += 1;
            }
        }
        Ok(Ways { begin, to })
    }

    fn from(&self, node: u32) -> &[u32] {
        &self.to[self.begin[node as usize]..self.begin[node as usize + 1]]
    }
}
