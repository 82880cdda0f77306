//! GOTO, grid on a torus (Goldberg, Kharitonov 1993): many ways that cost nearly the same, which is hard for a simplex.
//!
//! A torus that is long in x and short in y. From each node arcs lead a few steps along x, at any cost and the less
//! able the farther they go, and one or two along y, nearly free. The torus is cut open at x = 0: arcs that would cross
//! the cut end in the sink and begin again in the source, which supplies what all of them can carry. A path through
//! all nodes, able to carry everything at a middling cost, makes that feasible. Arcs between random nodes fill up.

use crate::network::{Bare, Builder};
use crate::random::Random;
use shardflow_solver::network::{NetworkError, NodeId};

/// Arcs per node.
const DEGREE: usize = 8;
const CAPACITY_MAX: usize = 16_384;
const COST_MAX: usize = 4_096;
/// Largest cost along y.
const CHEAP_MAX: usize = 8;
/// Largest step along x.
const X_STEPS: usize = 4;
/// Largest step along y.
const Y_STEPS: usize = 2;
/// Capacities along x fall to this root of the largest one per step.
const CAPACITY_ROOT: f64 = 6.0;

/// A torus of about so many nodes.
pub(crate) fn make(nodes: usize, random: &mut Random) -> Result<Bare, NetworkError> {
    let torus = Torus::new(nodes);
    let mut builder = Builder::default();
    let nodes = builder.nodes(torus.columns * torus.rows);
    let (source, sink) = (nodes[0], nodes[nodes.len() - 1]);
    let mut supply = 0;
    let mut arcs = Vec::with_capacity(DEGREE * nodes.len());
    for y in 0..torus.rows {
        for x in 0..torus.columns {
            supply += torus.add_x(x, y, &nodes, &mut arcs, random);
            torus.add_y(x, y, &nodes, &mut arcs, random);
        }
    }
    while arcs.len() + nodes.len() - 1 < DEGREE * nodes.len() {
        let (tail, head) = (random.below(nodes.len() - 1), random.below(nodes.len() - 1));
        if tail != head {
            let capacity = torus.capacity(X_STEPS, random);
            arcs.push((nodes[tail], nodes[head], capacity, cheap(random)));
        }
    }
    for pair in nodes.windows(2) {
        arcs.push((pair[0], pair[1], supply, (COST_MAX / torus.rows) as i64));
    }
    builder.supply(source, supply);
    builder.supply(sink, -supply);
    for (tail, head, capacity, cost) in arcs {
        builder.arc(tail, head, (0, capacity), cost);
    }
    builder.finish()
}

type Arc = (NodeId, NodeId, i64, i64);

struct Torus {
    columns: usize,
    rows: usize,
    /// By steps along x less one, what a capacity is divided by.
    decay: [f64; X_STEPS],
}

impl Torus {
    fn new(nodes: usize) -> Self {
        let rows = (1..).find(|y| y * y * y > nodes).map_or(1, |y| y - 1);
        let alpha = (CAPACITY_MAX as f64).powf(1.0 / CAPACITY_ROOT);
        let mut decay = [1.0; X_STEPS];
        for step in 1..X_STEPS {
            decay[step] = decay[step - 1] * alpha;
        }
        Torus {
            columns: nodes / rows,
            rows,
            decay,
        }
    }

    fn capacity(&self, steps: usize, random: &mut Random) -> i64 {
        let full = random.one_to(CAPACITY_MAX) as f64;
        (full / self.decay[steps - 1]).ceil() as i64
    }

    /// Nodes along y lie together.
    fn at(&self, x: usize, y: usize) -> usize {
        x * self.rows + y
    }

    /// Arcs along x; returns what they supply.
    fn add_x(
        &self,
        x: usize,
        y: usize,
        nodes: &[NodeId],
        arcs: &mut Vec<Arc>,
        random: &mut Random,
    ) -> i64 {
        let (source, sink) = (nodes[0], nodes[nodes.len() - 1]);
        let tail = nodes[self.at(x, y)];
        let mut supply = 0;
        for steps in 1..=X_STEPS {
            let head = nodes[self.at((x + steps) % self.columns, y)];
            let capacity = self.capacity(steps, random);
            let cost = random.below(COST_MAX) as i64;
            if x + steps < self.columns {
                arcs.push((tail, head, capacity, cost));
                continue;
            }
            if tail != sink {
                arcs.push((tail, sink, capacity, cost));
                supply += capacity;
            }
            if head != source {
                arcs.push((source, head, capacity, cost));
            }
        }
        supply
    }

    fn add_y(
        &self,
        x: usize,
        y: usize,
        nodes: &[NodeId],
        arcs: &mut Vec<Arc>,
        random: &mut Random,
    ) {
        let tail = nodes[self.at(x, y)];
        for steps in 1..=Y_STEPS {
            let head = nodes[self.at(x, (y + steps) % self.rows)];
            arcs.push((tail, head, random.one_to(CAPACITY_MAX), cheap(random)));
        }
    }
}

fn cheap(random: &mut Random) -> i64 {
    random.below(CHEAP_MAX) as i64
}
