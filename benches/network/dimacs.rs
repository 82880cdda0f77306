//! Writes a network as a DIMACS minimum cost flow file.

use super::Bare;
use shardflow_solver::network::Network;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes the file. Nodes count from 1, in the order of the network, and arcs keep theirs. An arc without an upper
/// bound has capacity −1, which LEMON reads as none.
pub(crate) fn write(bare: &Bare, about: &str, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let network = &bare.network;
    let (nodes, arcs) = (network.node_count(), network.arc_count());
    writeln!(file, "c {about}")?;
    writeln!(file, "p min {nodes} {arcs}")?;
    for node in network.nodes().filter(|&node| network.supply(node) != 0) {
        writeln!(file, "n {} {}", node.index() + 1, network.supply(node))?;
    }
    for arc in network.arcs() {
        let (tail, head) = (network.tail(arc).index() + 1, network.head(arc).index() + 1);
        let low = network.lower(arc);
        let high = match network.upper(arc) {
            Network::UNCAPACITATED => -1,
            high => high,
        };
        let cost = bare.cost.unit_cost(arc);
        writeln!(file, "a {tail} {head} {low} {high} {cost}")?;
    }
    file.flush()
}
