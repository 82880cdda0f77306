//! The residual network: two half arcs an arc, by tail.

use crate::linear::problem::Problem;

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
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        let network = problem.network;
        let mut begin = vec![0u32; network.node_count() + 1];
        for arc in problem.movable_arcs() {
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
        places(problem, &begin, |arc, forward, backward| {
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
        });
        Residual { halves, begin }
    }

    /// The half arcs out of a node.
    #[inline]
    pub(super) fn row(&self, node: usize) -> std::ops::Range<usize> {
        self.begin[node] as usize..self.begin[node + 1] as usize
    }

    /// What each movable arc carries above its lower bound, in order.
    pub(super) fn backward_rooms(&self, problem: &Problem<'_>) -> Vec<i32> {
        let mut rooms = Vec::with_capacity(problem.movable);
        places(problem, &self.begin, |_, _, backward| {
            rooms.push(self.halves[backward].room);
        });
        rooms
    }
}

/// Calls `visit` for each movable arc in order, with the places of its half arcs.
fn places(
    problem: &Problem<'_>,
    begin: &[u32],
    mut visit: impl FnMut(crate::network::ArcId, usize, usize),
) {
    let network = problem.network;
    let mut next = begin.to_vec();
    for arc in problem.movable_arcs() {
        let mut place = |node: usize| {
            next[node] += 1;
            next[node] as usize - 1
        };
        let forward = place(network.tail(arc).index());
        let backward = place(network.head(arc).index());
        visit(arc, forward, backward);
    }
}

/// Flow per arc of the network, from the flow at rest and what the movable arcs carry above it.
pub(super) fn flow(problem: &Problem<'_>, resting: Vec<i64>, rooms: &[i32]) -> Vec<i64> {
    let mut flow = resting;
    for (arc, &room) in problem.movable_arcs().zip(rooms) {
        flow[arc.index()] += i64::from(room);
    }
    flow
}
