//! A basis outlives changes to its network: warm and cold agree after each of them, in every rank.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::network::{ArcId, Network, NetworkBuilder, NodeId, RankCost};
use shardflow_solver::simplex::{MinimizeError, Simplex};
use shardflow_solver::verify::flow::check_flow;

use crate::generator::{SMALL, Size, random_case};
use crate::rng::Rng;

/// A network that changes, beside the engine that follows it.
struct Edited {
    supplies: Vec<i64>,
    /// Tail, head, lower and upper bound.
    arcs: Vec<(usize, usize, i64, i64)>,
    ranks: Vec<RankCost>,
    simplex: Simplex,
}

impl Edited {
    /// None where the network has no feasible flow.
    fn new(rng: &mut Rng, size: &Size) -> Option<Self> {
        let case = random_case(rng, size);
        let network = &case.network;
        let simplex = Simplex::from_scratch(network, &mut Budget::new(None, &never)).ok()?;
        let arcs = network.arcs().map(|arc| {
            let ends = (network.tail(arc).index(), network.head(arc).index());
            (ends.0, ends.1, network.lower(arc), network.upper(arc))
        });
        // Bends may not fit bounds that change; unit costs do.
        let count = network.arc_count();
        let unit = |rank: &RankCost| {
            (0..count)
                .map(|arc| rank.unit_cost(ArcId::at(arc)))
                .collect()
        };
        Some(Edited {
            supplies: network.nodes().map(|node| network.supply(node)).collect(),
            arcs: arcs.collect(),
            ranks: case
                .ranks
                .iter()
                .map(|rank| RankCost::linear(unit(rank)))
                .collect(),
            simplex,
        })
    }

    fn network(&self) -> Network {
        let mut builder = NetworkBuilder::default();
        let nodes: Vec<NodeId> = self.supplies.iter().map(|&s| builder.add_node(s)).collect();
        for &(tail, head, lower, upper) in &self.arcs {
            builder.add_arc(nodes[tail], nodes[head], lower, upper);
        }
        builder.build().unwrap()
    }

    /// Moves some supply from one node to another.
    fn move_supply(&mut self, from: usize, to: usize, amount: i64) {
        for (node, amount) in [(from, -amount), (to, amount)] {
            self.supplies[node] += amount;
            self.simplex.add_supply(NodeId::at(node), amount);
        }
    }

    fn set_bounds(&mut self, arc: usize, lower: i64, upper: i64) {
        (self.arcs[arc].2, self.arcs[arc].3) = (lower, upper);
        self.simplex.set_bounds(ArcId::at(arc), lower, upper);
    }

    fn add_arc(&mut self, rng: &mut Rng, tail: usize, head: usize) {
        let upper = rng.between(0, 3);
        self.arcs.push((tail, head, 0, upper));
        let arc = (self.simplex).add_arc(NodeId::at(tail), NodeId::at(head), upper);
        assert_eq!(arc.index() + 1, self.arcs.len());
        for rank in &mut self.ranks {
            rank.unit.push(rng.between(-5, 5));
        }
    }

    fn edit(&mut self, rng: &mut Rng) {
        let nodes = self.supplies.len() as i64;
        let node = |rng: &mut Rng| rng.between(0, nodes - 1) as usize;
        let (one, other) = (node(rng), node(rng));
        match rng.between(0, 5) {
            0 => {
                let amount = rng.between(-2, 2);
                self.move_supply(one, other, amount);
            }
            1 if !self.arcs.is_empty() => {
                let arc = rng.between(0, self.arcs.len() as i64 - 1) as usize;
                let lower = rng.between(-2, 2);
                let upper = lower + rng.between(0, 4);
                self.set_bounds(arc, lower, upper);
            }
            2 => self.add_arc(rng, one, other),
            3 => {
                // Nodes that join, tied to the others.
                let count = rng.between(1, 2) as usize;
                let first = self.simplex.add_nodes(&vec![0; count]);
                assert_eq!(first.len(), count);
                for _ in 0..count {
                    self.supplies.push(0);
                    let new = self.supplies.len() - 1;
                    self.add_arc(rng, new, one);
                    self.add_arc(rng, other, new);
                }
                let amount = rng.between(-1, 1);
                self.move_supply(one, nodes as usize, amount);
            }
            4 => {
                // A node that goes.
                for arc in 0..self.arcs.len() {
                    if self.arcs[arc].0 == one || self.arcs[arc].1 == one {
                        self.set_bounds(arc, 0, 0);
                    }
                }
                let supply = self.supplies[one];
                self.move_supply(one, other, supply);
            }
            _ => {
                for rank in &mut self.ranks {
                    for unit in &mut rank.unit {
                        *unit += if rng.one_in(4) { rng.between(-3, 3) } else { 0 };
                    }
                }
            }
        }
    }

    /// Puts back the bounds that restricted ranks have narrowed.
    fn release(&mut self) {
        for (arc, &(_, _, lower, upper)) in self.arcs.iter().enumerate() {
            self.simplex.set_bounds(ArcId::at(arc), lower, upper);
        }
    }

    /// Minimises all ranks, warm and cold. False where no flow is feasible, as both find.
    fn check(&mut self) -> bool {
        let network = self.network();
        let mut budget = Budget::new(None, &never);
        let cold = Simplex::from_scratch(&network, &mut budget);
        let mut cold = match cold {
            Ok(cold) => cold,
            Err(_) => {
                let warm = self.simplex.minimize(&self.ranks[0], &mut budget);
                assert!(
                    matches!(warm, Err(MinimizeError::Infeasible { .. })),
                    "{warm:?}"
                );
                return false;
            }
        };
        for rank in &self.ranks {
            self.simplex.minimize(rank, &mut budget).unwrap();
            cold.minimize(rank, &mut budget).unwrap();
            assert_eq!(rank.total(self.simplex.flow()), rank.total(cold.flow()));
            assert_eq!(check_flow(&network, self.simplex.flow()), []);
            self.simplex.restrict();
            cold.restrict();
        }
        true
    }
}

#[test]
fn a_basis_outlives_what_happens_to_its_network() {
    let large = Size {
        nodes: 20,
        arcs: 60,
        ..SMALL
    };
    let mut feasible = 0;
    for seed in 0..1_500 {
        let mut rng = Rng::new(seed);
        let size = if seed % 4 == 0 { &large } else { &SMALL };
        let Some(mut edited) = Edited::new(&mut rng, size) else {
            continue;
        };
        for _ in 0..12 {
            edited.release();
            for _ in 0..rng.between(1, 3) {
                edited.edit(&mut rng);
            }
            feasible += usize::from(edited.check());
        }
    }
    assert!(feasible > 4_000, "{feasible}");
}
