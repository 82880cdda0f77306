//! What holds between any two pivots.

use super::*;
use crate::budget::never;
use crate::network::{Convex, NetworkBuilder, NodeId};

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> i64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(11);
        ((self.0 >> 33) % n) as i64
    }
}

/// A connected network with bent arcs, a feasible flow of it, and two ranks.
fn case(seed: u64) -> (Network, Vec<i64>, [RankCost; 2]) {
    let mut rng = Rng(seed);
    let mut builder = NetworkBuilder::default();
    let nodes: Vec<NodeId> = (0..12).map(|_| builder.add_node(0)).collect();
    let mut flow = Vec::new();
    let mut ranks = [RankCost::default(), RankCost::default()];
    for _ in 0..40 {
        let (tail, head) = (nodes[rng.below(12) as usize], nodes[rng.below(12) as usize]);
        let amount = rng.below(4);
        let arc = builder.add_arc(tail, head, 0, 3);
        builder.add_supply(tail, amount);
        builder.add_supply(head, -amount);
        flow.push(amount);
        ranks[0].unit.push(rng.below(5) - 2);
        ranks[1].unit.push(rng.below(9) - 4);
        let low = rng.below(4);
        let high = low + rng.below(2);
        ranks[rng.below(2) as usize]
            .convex
            .push((arc, Convex::Squares { low, high }));
    }
    (builder.build().unwrap(), flow, ranks)
}

fn assert_invariants(simplex: &Simplex) {
    let tree = &simplex.tree;
    let root = tree.root();
    let mut seen = 0;
    let mut next = tree.next_below(root, root);
    while let Some(node) = next {
        assert!(!simplex.anchors.is_leaf(node));
        assert_hangs(simplex, node);
        seen += 1;
        next = tree.next_below(node, root);
    }
    for leaf in tree.below_root().filter(|&v| simplex.anchors.is_leaf(v)) {
        assert!(tree.places[leaf].is_source);
        assert_hangs(simplex, leaf);
        seen += 1;
    }
    assert_eq!(seen, root);
}

fn assert_hangs(simplex: &Simplex, node: usize) {
    let place = &simplex.tree.places[node];
    let (arc, parent) = (place.arc as usize, place.parent as usize);
    assert!(place.room_up > 0 && place.room_down >= 0);
    let anchors = &simplex.anchors;
    assert_eq!(anchors.depth(node), anchors.depth(parent) + 1);
    let flow = simplex.tree_flow(node);
    let (tail, head) = (
        simplex.arcs.tail[arc] as usize,
        simplex.arcs.head[arc] as usize,
    );
    let (run, slope) = if tail == node {
        let slopes = &simplex.slopes;
        (slopes.run_right(arc, flow), slopes.right(arc, flow))
    } else {
        let slopes = &simplex.slopes;
        (slopes.run_left(arc, flow), slopes.left(arc, flow))
    };
    assert!(run.low <= place.run_low);
    assert!(run.high >= place.run_low + place.room_up + place.room_down);
    assert_eq!(slope + anchors.potential(tail), anchors.potential(head));
    assert!(arc >= simplex.tree.root() || flow == 0);
}

#[test]
fn every_tree_is_strongly_feasible_and_no_tree_repeats_without_progress() {
    let mut pivots = 0;
    for seed in 0..400 {
        let (network, flow, ranks) = case(seed);
        let mut simplex = Simplex::from_flow(&network, flow, &[]).unwrap();
        let mut budget = Budget::new(None, &never);
        for rank in &ranks {
            simplex.slopes.load(rank);
            simplex.begin(0, &mut budget).unwrap();
            assert_invariants(&simplex);
            let nodes = 0..network.node_count();
            while let Some(entering) = simplex.find_entering(&mut budget).unwrap() {
                let sum = |simplex: &Simplex| -> i64 {
                    nodes.clone().map(|v| simplex.anchors.potential(v)).sum()
                };
                let before = (simplex.value, -sum(&simplex));
                simplex.pivot(entering).unwrap();
                assert!((simplex.value, -sum(&simplex)) < before, "seed {seed}");
                assert_invariants(&simplex);
                pivots += 1;
            }
            simplex.store();
            simplex.is_minimal = true;
            simplex.restrict();
        }
    }
    assert!(pivots > 5000, "{pivots}");
}

#[test]
fn the_value_follows_the_cost() {
    for seed in 0..100 {
        let (network, flow, ranks) = case(seed);
        let start = ranks[0].total(&flow);
        let mut simplex = Simplex::from_flow(&network, flow, &[]).unwrap();
        let mut budget = Budget::new(None, &never);
        simplex.minimize(&ranks[0], &mut budget).unwrap();
        assert_eq!(start + simplex.value, ranks[0].total(simplex.flow()));
    }
}

/// Costs and prices at the ends of their range, arcs that lose their bounds and get them back: the optimum is the same.
#[test]
fn prices_change_the_way_alone() {
    let mut relaxed_arcs = 0;
    for seed in 0..300 {
        let (network, flow, ranks) = case(seed);
        let scale = if seed % 2 == 0 { 1 } else { 1 << 52 };
        let scaled = |rank: &RankCost| rank.unit.iter().map(|unit| unit * scale).collect();
        let cost = RankCost::linear(scaled(&ranks[0]));
        let mut budget = Budget::new(None, &never);
        let mut cold = Simplex::from_flow(&network, flow.clone(), &[]).unwrap();
        cold.minimize(&cost, &mut budget).unwrap();
        let optimum = cost.total(cold.flow());
        // A tree that is not the optimum's.
        let mut simplex = Simplex::from_flow(&network, flow, &[]).unwrap();
        let other = RankCost::linear(scaled(&ranks[1]));
        simplex.minimize(&other, &mut budget).unwrap();
        let mut rng = Rng(seed);
        let mut price = || [i64::MAX, i64::MIN, scale, -3 * scale][rng.below(4) as usize];
        let shared: Vec<_> = network
            .arcs()
            .step_by(4)
            .map(|arc| (arc, price()))
            .collect();
        let mut relaxed = simplex.relax(&cost, &shared, &mut budget).unwrap();
        relaxed_arcs += relaxed.shared.len();
        for surcharge in [0, i64::MAX, i64::MIN] {
            relaxed.reprice(|_, overload| surcharge.saturating_mul(overload.signum()));
            // Without bounds a cycle may have no end; then the flow stays what it was.
            if let Err(error) = relaxed.solve(0, &mut budget) {
                assert!(matches!(error, MinimizeError::Unbounded { .. }), "{error}");
            }
        }
        relaxed.close();
        simplex.minimize(&cost, &mut budget).unwrap();
        assert_eq!(cost.total(simplex.flow()), optimum, "seed {seed}");
    }
    assert!(relaxed_arcs > 300, "{relaxed_arcs}");
}
