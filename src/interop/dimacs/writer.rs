//! A network and its unit costs as a problem file.

use std::io::{self, Write};

use shardflow_solver::network::{ArcId, Network, RankCost};

/// Why a problem was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The system could not write it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A convex cost, for which the format has no words.
    #[error("arc {} has a convex cost", .0.0)]
    Convex(ArcId),
    /// A finite upper bound below 0, which would be read as no bound.
    #[error("arc {} has upper bound {upper}, which would be read as none", .arc.0)]
    NegativeUpper {
        /// The arc.
        arc: ArcId,
        /// Its upper bound.
        upper: i64,
    },
}

/// Writes a problem that [`read`](super::read) takes back as the same nodes, arcs and costs in the same order.
///
/// Complexity: O(nodes + arcs). `out` gets many small writes: buffer it.
///
/// # Errors
/// See [`WriteError`]; part of the text may be written by then.
pub fn write(network: &Network, cost: &RankCost, out: &mut impl Write) -> Result<(), WriteError> {
    if let Some(&(arc, _)) = cost.convex.first() {
        return Err(WriteError::Convex(arc));
    }
    writeln!(
        out,
        "p min {} {}",
        network.node_count(),
        network.arc_count()
    )?;
    for node in network.nodes() {
        let supply = network.supply(node);
        if supply != 0 {
            writeln!(out, "n {} {supply}", node.index() + 1)?;
        }
    }
    for arc in network.arcs() {
        let capacity = match network.upper(arc) {
            Network::UNCAPACITATED => -1,
            upper if upper < 0 => return Err(WriteError::NegativeUpper { arc, upper }),
            upper => upper,
        };
        let (tail, head) = (network.tail(arc).index() + 1, network.head(arc).index() + 1);
        let (lower, unit_cost) = (network.lower(arc), cost.unit_cost(arc));
        writeln!(out, "a {tail} {head} {lower} {capacity} {unit_cost}")?;
    }
    Ok(())
}
