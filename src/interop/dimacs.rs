//! DIMACS min-cost flow: problem files in and out.
//!
//! A file is lines of text, `\n` or `\r\n`, fields apart by blanks:
//!
//! | line | means |
//! | --- | --- |
//! | `c …` | a comment; empty lines are passed over as well |
//! | `p min NODES ARCS` | the sizes, once, before nodes and arcs; nodes are 1 to NODES |
//! | `n NODE SUPPLY` | a node's supply, negative for a demand; 0 where a node has no such line; at most one a node |
//! | `a TAIL HEAD LOWER CAPACITY COST` | an arc; parallel arcs and arcs from a node to itself are legal |
//!
//! All numbers are whole and fit 64 bits with sign. As LEMON reads it, a negative capacity stands for an arc without
//! one; lower bounds and costs may be negative. What begins with the magic bytes of gzip is unpacked on the way.
//!
//! **Limits.** The `p` line is held against [`Limits`] before anything is allocated by it, and no more room is
//! reserved at once than the bytes at hand can fill. Σ |supply| and Σ |bound| may be at most
//! [`MAGNITUDE_MAX`](shardflow_solver::network::MAGNITUDE_MAX) each; the finding names the line where a sum passes it.
//!
//! **Failure.** Everything wrong is found in one pass, the first [`FINDINGS_MAX`] with line and excerpt, the others
//! counted. No file makes the reader panic. Time is linear in the bytes; memory is the network's, plus a bit a node and
//! [`BLOCK`] bytes. The interrupt is polled every block.

mod fields;
mod lines;
mod parser;
#[cfg(test)]
mod tests;
mod writer;

pub use lines::BLOCK;
pub use writer::{WriteError, write};

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use shardflow_solver::budget::{Budget, Stop};
use shardflow_solver::network::{NetworkBuilder, RankCost};

use crate::interop::Finding;
use lines::{Block, Blocks};
use parser::Parser;

/// Most findings that are told; the others are counted.
pub const FINDINGS_MAX: usize = 20;

/// First bytes of gzip (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Fewest bytes of a line with an arc, `a 1 2 0 1 1` and its end.
const ARC_BYTES_MIN: u64 = 12;

/// Arcs for which room is reserved where the size of the input isn't known.
const ARCS_AT_FIRST: usize = 1 << 16;

/// Sizes above which a file is refused by its `p` line.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most nodes. A file may name many in a few bytes, and an engine takes about 100 bytes for each.
    pub nodes: usize,
    /// Most arcs.
    pub arcs: usize,
}

impl Default for Limits {
    /// 2²⁷ nodes and 2²⁹ arcs: more than fits in 64 GB of memory.
    fn default() -> Self {
        Limits {
            nodes: 1 << 27,
            arcs: 1 << 29,
        }
    }
}

/// What a file says.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Nodes and arcs in the order of the file: node 1 is id 0. Only unbalanced supplies can keep it from being built.
    pub builder: NetworkBuilder,
    /// Unit cost per arc.
    pub cost: RankCost,
    /// Sum of all supplies.
    pub surplus: i128,
    /// The line of the first arc whose cost is furthest from 0, and that cost; `None` without arcs.
    pub costliest: Option<(u64, i64)>,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system could not read it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The interrupt asked to stop.
    #[error("stopped: {0:?}")]
    Stopped(Stop),
    /// The text is wrong.
    #[error("{}", crate::interop::list(&.0.first))]
    Wrong(Findings),
}

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Findings {
    /// The first [`FINDINGS_MAX`], in the order of the file.
    pub first: Vec<Finding>,
    /// How many there are in all.
    pub count: u64,
    /// Whether the file is well formed, and only its numbers or sizes are beyond what can be solved.
    pub is_range_only: bool,
}

/// Reads a problem. `bytes` is the size of the input where it is known; it only saves reserving in steps.
///
/// ```
/// use shardflow::interop::dimacs::{Limits, read};
/// use shardflow_solver::budget::{Budget, never};
///
/// let text = "p min 2 1\nn 1 3\nn 2 -3\na 1 2 0 -1 5\n";
/// let instance = read(text.as_bytes(), None, &Limits::default(), &mut Budget::new(None, &never))?;
/// assert_eq!((instance.cost.unit, instance.surplus), (vec![5], 0));
/// # Ok::<(), shardflow::interop::dimacs::ReadError>(())
/// ```
///
/// # Errors
/// See [`ReadError`]. Gzip data that is damaged or cut off is a finding.
pub fn read(
    mut input: impl Read,
    bytes: Option<u64>,
    limits: &Limits,
    budget: &mut Budget<'_>,
) -> Result<Instance, ReadError> {
    let mut magic = [0; GZIP.len()];
    let mut known = 0;
    while known < magic.len() {
        match input.read(&mut magic[known..]) {
            Ok(0) => break,
            Ok(count) => known += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    let whole = magic[..known].chain(input);
    let reserve = |arcs: u64| usize::try_from(arcs).unwrap_or(usize::MAX);
    if magic == GZIP {
        let parser = Parser::new(limits, ARCS_AT_FIRST);
        return parse(MultiGzDecoder::new(whole), true, parser, budget);
    }
    let at_first = bytes.map_or(ARCS_AT_FIRST, |bytes| reserve(bytes / ARC_BYTES_MIN));
    parse(whole, false, Parser::new(limits, at_first), budget)
}

fn parse(
    input: impl Read,
    is_gzip: bool,
    mut parser: Parser,
    budget: &mut Budget<'_>,
) -> Result<Instance, ReadError> {
    let mut blocks = Blocks::new(input);
    loop {
        budget.poll().map_err(ReadError::Stopped)?;
        match blocks.next() {
            Ok(Some(Block::Lines(lines))) => parser.lines(lines),
            Ok(Some(Block::TooLong(begin))) => parser.long_line(begin),
            Ok(None) => return parser.finish().map_err(ReadError::Wrong),
            Err(error) if is_gzip && is_of_data(&error) => {
                return Err(ReadError::Wrong(parser.damaged(&error)));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether what was read is at fault, not the reading.
fn is_of_data(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}
