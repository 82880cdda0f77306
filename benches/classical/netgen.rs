//! NETGEN (Klingman, Napier, Stutz 1974): a random network around a skeleton that makes it feasible.
//!
//! √n nodes supply 1,000 each on average, and as many demand. The nodes between are dealt out to the suppliers at
//! random, and each supplier's form a chain behind it, whose arcs can carry all it supplies. From nodes of the chain
//! arcs lead to a few demanders, which share the supply. Three skeleton arcs in ten are as dear as any. All other arcs
//! are random: capacity 1…1,000, cost 1…10,000.

use crate::network::{Bare, Builder};
use crate::random::Random;
use shardflow_solver::network::{NetworkError, NodeId};

const COST_MAX: usize = 10_000;
const CAPACITY_MAX: usize = 1_000;
const SUPPLY_MEAN: usize = 1_000;
/// Skeleton arcs in a hundred that cost [`COST_MAX`].
const DEAR_PERCENT: usize = 30;

/// A network of so many nodes and arcs.
pub(crate) fn make(nodes: usize, arcs: usize, random: &mut Random) -> Result<Bare, NetworkError> {
    let ends = nodes.isqrt();
    let mut builder = Builder::default();
    let all = builder.nodes(nodes);
    let (sources, rest) = all.split_at(ends);
    let (between, sinks) = rest.split_at(nodes - 2 * ends);
    let mut chains: Vec<Vec<NodeId>> = sources.iter().map(|&source| vec![source]).collect();
    for k in random.permutation(between.len()) {
        chains[random.below(ends)].push(between[k]);
    }
    let mut placed = 0;
    let supplies = random.split(SUPPLY_MEAN * ends, ends);
    // Every demander is somebody's; each chain has a few more.
    for (k, (chain, &supply)) in chains.iter().zip(&supplies).enumerate() {
        let mut targets = vec![sinks[k]];
        targets.extend((0..1 + random.below(4)).map(|_| sinks[random.below(ends)]));
        placed += add_chain(chain, &targets, supply, &mut builder, random);
    }
    while placed < arcs {
        let tail = all[random.below(nodes - ends)];
        let head = all[ends + random.below(nodes - ends)];
        if tail != head {
            let capacity = random.one_to(CAPACITY_MAX);
            builder.arc(tail, head, (0, capacity), random.one_to(COST_MAX));
            placed += 1;
        }
    }
    builder.finish()
}

/// The skeleton of one supplier; returns the number of its arcs.
fn add_chain(
    chain: &[NodeId],
    targets: &[NodeId],
    supply: i64,
    builder: &mut Builder,
    random: &mut Random,
) -> usize {
    let link = |builder: &mut Builder, random: &mut Random, tail, head| {
        let cost = if random.chance(DEAR_PERCENT) {
            COST_MAX as i64
        } else {
            random.one_to(COST_MAX)
        };
        builder.arc(tail, head, (0, supply), cost);
    };
    builder.supply(chain[0], supply);
    for pair in chain.windows(2) {
        link(builder, random, pair[0], pair[1]);
    }
    let parts = random.split(supply as usize, targets.len());
    for (&target, part) in targets.iter().zip(parts) {
        builder.supply(target, -part);
        let from = chain[random.below(chain.len())];
        link(builder, random, from, target);
    }
    chain.len() - 1 + targets.len()
}
