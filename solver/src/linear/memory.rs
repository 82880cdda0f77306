//! The working state of the engines, added up: at most 48 bytes an arc and 64 a node.

use super::Method;
use super::number::Number;
use super::problem::Problem;
use super::scaling::Scaling;
use super::simplex::Engine;
use crate::budget::{Budget, never};
use crate::network::{Network, NetworkBuilder};

const ARC_BYTES_MAX: usize = 48;
const NODE_BYTES_MAX: usize = 64;

/// Nodes on a ring, with a few arcs each.
fn network(nodes: usize, degree: usize) -> (Network, Vec<i64>) {
    let mut builder = NetworkBuilder::default();
    let ids: Vec<_> = (0..nodes).map(|_| builder.add_node(0)).collect();
    let mut unit_cost = Vec::new();
    for tail in 0..nodes {
        for step in 1..=degree {
            builder.add_arc(ids[tail], ids[(tail + step) % nodes], 0, 9);
            unit_cost.push(step as i64);
        }
    }
    (builder.build().unwrap(), unit_cost)
}

/// Bytes of a state by nodes and arcs.
fn bytes(nodes: usize, degree: usize, of: fn(&Problem<'_>) -> usize) -> usize {
    let (network, unit_cost) = network(nodes, degree);
    let problem = Problem::new(&network, &unit_cost, &mut Budget::new(None, &never)).unwrap();
    of(&problem)
}

fn assert_within(method: Method, of: fn(&Problem<'_>) -> usize, expected: [usize; 2]) {
    const NODES: usize = 10_000;
    let (few, many) = (bytes(NODES, 1, of), bytes(NODES, 3, of));
    let an_arc = (many - few).div_ceil(2 * NODES);
    let a_node = (few - an_arc * NODES).div_ceil(NODES);
    assert_eq!([an_arc, a_node], expected, "{method:?}");
    assert!(
        an_arc <= ARC_BYTES_MAX && a_node <= NODE_BYTES_MAX,
        "{method:?}"
    );
}

fn simplex_bytes<N: Number>(problem: &Problem<'_>) -> usize {
    Engine::<N>::new(problem, &mut Budget::new(None, &never))
        .unwrap()
        .bytes()
}

#[test]
fn working_state_stays_within_its_limits() {
    assert_within(Method::Simplex, simplex_bytes::<i32>, [21, 45]);
    assert_within(Method::Simplex, simplex_bytes::<i64>, [29, 61]);
    let scaling = |problem: &Problem<'_>| {
        let scaling = Scaling::new(problem, &mut Budget::new(None, &never));
        scaling.unwrap_or_else(|stop| panic!("{stop:?}")).bytes()
    };
    assert_within(Method::CostScaling, scaling, [32, 59]);
}
