//! GRIDGRAPH (Resende, Veiga 1991): a grid whose arcs run to the right and down, between a source on its left and a
//! sink on its right that exchange as much as the grid can carry.

use super::maxflow;
use crate::network::{Bare, Builder};
use crate::random::Random;
use shardflow_solver::network::NetworkError;

/// Capacities and costs lie in 1…MOST.
const MOST: usize = 10_000;

/// A grid of so many columns and rows.
pub(crate) fn make(columns: usize, rows: usize, random: &mut Random) -> Result<Bare, NetworkError> {
    let at = |column: usize, row: usize| column * rows + row;
    let (source, sink) = (columns * rows, columns * rows + 1);
    let mut pairs: Vec<(usize, usize)> = (0..rows).map(|row| (source, at(0, row))).collect();
    for column in 0..columns {
        for row in 0..rows {
            if column + 1 < columns {
                pairs.push((at(column, row), at(column + 1, row)));
            }
            if row + 1 < rows {
                pairs.push((at(column, row), at(column, row + 1)));
            }
        }
    }
    pairs.extend((0..rows).map(|row| (at(columns - 1, row), sink)));
    let arcs: Vec<(usize, usize, i64)> = pairs
        .into_iter()
        .map(|(tail, head)| (tail, head, random.one_to(MOST)))
        .collect();
    let most = maxflow::value(sink + 1, &arcs, source, sink);
    let mut builder = Builder::default();
    let nodes = builder.nodes(sink + 1);
    builder.supply(nodes[source], most);
    builder.supply(nodes[sink], -most);
    for (tail, head, capacity) in arcs {
        let cost = random.one_to(MOST);
        builder.arc(nodes[tail], nodes[head], (0, capacity), cost);
    }
    builder.finish()
}
