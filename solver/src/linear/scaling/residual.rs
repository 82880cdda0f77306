//! The residual network: two half arcs an arc, by tail.

use crate::budget::{Budget, Stop};
use crate::linear::problem::Problem;
use crate::network::ArcId;

/// A way out of a node: an arc forward, or backward.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    pub(super) to: u32,
    /// The half arc the other way.
    pub(super) mate: u32,
    pub(super) cost: i32,
    pub(super) room: i32,
}

/// Half arcs by tail, in compressed rows.
pub(super) struct Residual {
    pub(super) halves: Vec<Half>,
    /// First half arc of each node, and the end.
    pub(super) begin: Vec<u32>,
}

impl Residual {
    /// All arcs empty. The caller has checked the ranges. O(nodes + arcs).
    ///
    /// # Errors
    /// A stop.
    pub(super) fn new(problem: &Problem<'_>, budget: &mut Budget<'_>) -> Result<Self, Stop> {
        let network = problem.network;
        let mut begin = vec![0u32; network.node_count() + 1];
        for arc in problem.movable_arcs() {
            budget.spend(1)?;
            for node in [network.tail(arc), network.head(arc)] {
                begin[node.index() + 1] += 1;
            }
        }
        for node in 1..begin.len() {
            begin[node] += begin[node - 1];
        }
        let none = Half {
            to: 0,
            mate: 0,
            cost: 0,
            room: 0,
        };
        let mut halves = vec![none; 2 * problem.movable];
        for (arc, forward, backward) in places(problem, &begin) {
            budget.spend(1)?;
            let (tail, head) = (network.tail(arc), network.head(arc));
            let cost = problem.unit_cost[arc.index()] as i32;
            halves[forward] = Half {
                to: head.0,
                mate: backward as u32,
                cost,
                room: problem.room(arc).unwrap_or(0) as i32,
            };
            halves[backward] = Half {
                to: tail.0,
                mate: forward as u32,
                cost: -cost,
                room: 0,
            };
        }
        Ok(Residual { halves, begin })
    }

    /// The half arcs out of a node.
    #[inline]
    pub(super) fn row(&self, node: usize) -> std::ops::Range<usize> {
        self.begin[node] as usize..self.begin[node + 1] as usize
    }

    /// Bytes held.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.halves) + size_of_val(&*self.begin)
    }

    /// Flow per arc of the network. O(nodes + arcs).
    pub(super) fn flow(&self, problem: &Problem<'_>) -> Vec<i64> {
        let mut flow = problem.resting_flow();
        for (arc, _, backward) in places(problem, &self.begin) {
            flow[arc.index()] += i64::from(self.halves[backward].room);
        }
        flow
    }
}

/// Each arc that can move, in order, with the places of its half arcs forward and backward.
fn places(problem: &Problem<'_>, begin: &[u32]) -> impl Iterator<Item = (ArcId, usize, usize)> {
    let network = problem.network;
    let mut next = begin.to_vec();
    problem.movable_arcs().map(move |arc| {
        let mut place = |node: usize| {
            next[node] += 1;
            next[node] as usize - 1
        };
        let forward = place(network.tail(arc).index());
        let backward = place(network.head(arc).index());
        (arc, forward, backward)
    })
}
