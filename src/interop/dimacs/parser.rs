//! Lines become nodes, arcs and costs; what is wrong becomes findings.

use std::io;

use shardflow_solver::network::{MAGNITUDE_MAX, Network, NetworkBuilder, NodeId, RankCost};

use super::fields::{Fault, Fields};
use super::lines::BLOCK;
use super::{FINDINGS_MAX, Findings, Instance, Limits};
use crate::interop::{Finding, excerpt};

/// What the `p` line promises.
struct Promise {
    nodes: usize,
    arcs: usize,
    line: u64,
    /// Whether it is within the limits, so that nodes exist and arcs may be kept.
    is_kept: bool,
}

/// Reads lines in order.
pub(super) struct Parser {
    limits: Limits,
    /// Arcs for which room may be reserved at once.
    reserve: usize,
    line: u64,
    promise: Option<Promise>,
    builder: NetworkBuilder,
    costs: Vec<i64>,
    /// A bit per node: whether it has its `n` line.
    has_supply: Vec<u64>,
    /// Arc lines so far.
    arcs: u64,
    surplus: i128,
    supplies: Magnitude,
    bounds: Magnitude,
    costliest: Option<(u64, i64)>,
    first: Vec<Finding>,
    count: u64,
    is_range_only: bool,
}

/// A running Σ |value|.
struct Magnitude {
    sum: i128,
    name: &'static str,
}

/// A rule that a line breaks, in words, and whether it is one of range.
struct Broken {
    rule: String,
    is_range: bool,
}

fn malformed(rule: impl Into<String>) -> Broken {
    Broken {
        rule: rule.into(),
        is_range: false,
    }
}

fn beyond(rule: impl Into<String>) -> Broken {
    Broken {
        rule: rule.into(),
        is_range: true,
    }
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Missing(name) => malformed(format!("{name} is missing")),
            Fault::NotWhole(name) => malformed(format!("{name} is not a whole number")),
            Fault::TooLarge(name) => beyond(format!("{name} does not fit 64 bits")),
            Fault::Trailing => malformed("more fields than the line should have"),
        }
    }
}

impl Parser {
    /// `reserve` is the number of arcs for which room may be reserved before they are seen.
    pub(super) fn new(limits: &Limits, reserve: usize) -> Self {
        Parser {
            limits: *limits,
            reserve,
            line: 0,
            promise: None,
            builder: NetworkBuilder::default(),
            costs: Vec::new(),
            has_supply: Vec::new(),
            arcs: 0,
            surplus: 0,
            supplies: Magnitude {
                sum: 0,
                name: "supplies",
            },
            bounds: Magnitude {
                sum: 0,
                name: "finite bounds",
            },
            costliest: None,
            first: Vec::new(),
            count: 0,
            is_range_only: true,
        }
    }

    /// Reads whole lines.
    pub(super) fn lines(&mut self, mut lines: &[u8]) {
        while !lines.is_empty() {
            let end = memchr::memchr(b'\n', lines).unwrap_or(lines.len());
            self.line += 1;
            let line = &lines[..end];
            if let Err(broken) = self.read(line) {
                self.find(line, broken);
            }
            lines = lines.get(end + 1..).unwrap_or_default();
        }
    }

    /// A line that is too long, by its beginning.
    pub(super) fn long_line(&mut self, begin: &[u8]) {
        self.line += 1;
        if Fields::new(begin).word().first() != Some(&b'c') {
            self.find(
                begin,
                malformed(format!("a line of more than {BLOCK} bytes")),
            );
        }
    }

    /// The instance, where nothing is wrong.
    pub(super) fn finish(mut self) -> Result<Instance, Findings> {
        match &self.promise {
            None => self.find_at("the file", malformed("has no `p min NODES ARCS` line")),
            Some(promise) if promise.is_kept && promise.arcs as u64 != self.arcs => {
                let (place, promised) = (format!("line {}", promise.line), promise.arcs);
                let rule = format!("promises {promised} arcs, but the file has {}", self.arcs);
                self.find_at(&place, malformed(rule));
            }
            Some(_) => {}
        }
        if self.count > 0 {
            return Err(self.findings());
        }
        Ok(Instance {
            builder: self.builder,
            cost: RankCost::linear(self.costs),
            surplus: self.surplus,
            costliest: self.costliest,
        })
    }

    /// What is wrong where the input broke off.
    pub(super) fn damaged(mut self, error: &io::Error) -> Findings {
        let place = format!("after line {}", self.line);
        self.find_at(
            &place,
            malformed(format!("the gzip data is damaged or cut off: {error}")),
        );
        self.findings()
    }

    fn findings(self) -> Findings {
        Findings {
            first: self.first,
            count: self.count,
            is_range_only: self.is_range_only,
        }
    }

    #[cold]
    fn find(&mut self, line: &[u8], broken: Broken) {
        let place = format!("line {}", self.line);
        if self.note(&broken) {
            let found = String::from_utf8_lossy(&line[..line.len().min(1024)]);
            self.first.push(Finding {
                place,
                found: excerpt(&found),
                rule: broken.rule,
            });
        }
    }

    fn find_at(&mut self, place: &str, broken: Broken) {
        if self.note(&broken) {
            self.first.push(Finding {
                place: place.to_owned(),
                found: String::new(),
                rule: broken.rule,
            });
        }
    }

    /// Counts a finding. Whether it is one of those told.
    fn note(&mut self, broken: &Broken) -> bool {
        self.count += 1;
        self.is_range_only &= broken.is_range;
        self.first.len() < FINDINGS_MAX
    }

    #[inline]
    fn read(&mut self, line: &[u8]) -> Result<(), Broken> {
        let mut fields = Fields::new(line);
        match fields.word() {
            b"a" => self.arc(fields),
            b"n" => self.supply(fields),
            b"p" => self.promise(fields),
            [] | [b'c', ..] => Ok(()),
            _ => Err(malformed("a line begins with c, p, n or a")),
        }
    }

    fn promise(&mut self, mut fields: Fields<'_>) -> Result<(), Broken> {
        if self.promise.is_some() {
            return Err(malformed("a second p line"));
        }
        let kind = fields.word();
        let (nodes, arcs) = (fields.number("NODES"), fields.number("ARCS"));
        let line = self.line;
        // A promise that can't be read still keeps the lines that follow from being called early.
        self.promise = Some(Promise {
            nodes: 0,
            arcs: 0,
            line,
            is_kept: false,
        });
        if kind != b"min" {
            return Err(malformed("the problem is not `min` (minimum-cost flow)"));
        }
        let (nodes, arcs) = (size("NODES", nodes?)?, size("ARCS", arcs?)?);
        fields.end()?;
        for (name, given, most) in [
            ("nodes", nodes, self.limits.nodes),
            ("arcs", arcs, self.limits.arcs),
        ] {
            if given > most {
                return Err(beyond(format!("promises more than {most} {name}")));
            }
        }
        self.promise = Some(Promise {
            nodes,
            arcs,
            line,
            is_kept: true,
        });
        let at_first = arcs.min(self.reserve);
        self.builder = NetworkBuilder::with_capacity(nodes, at_first);
        self.costs.reserve_exact(at_first);
        for _ in 0..nodes {
            self.builder.add_node(0);
        }
        self.has_supply = vec![0; nodes.div_ceil(64)];
        Ok(())
    }

    /// The promise, where lines can be held against it; none where the `p` line itself was wrong.
    #[inline]
    fn promised(&self) -> Result<Option<&Promise>, Broken> {
        match &self.promise {
            None => Err(malformed("comes before the p line")),
            Some(promise) => Ok(promise.is_kept.then_some(promise)),
        }
    }

    fn supply(&mut self, mut fields: Fields<'_>) -> Result<(), Broken> {
        let Some(nodes) = self.promised()?.map(|promise| promise.nodes) else {
            return Ok(());
        };
        let node = known("NODE", fields.number("NODE")?, nodes)?;
        let supply = fields.number("SUPPLY")?;
        fields.end()?;
        let (word, bit) = (node.index() / 64, 1 << (node.index() % 64));
        if self.has_supply[word] & bit != 0 {
            return Err(malformed("a second n line of the node"));
        }
        self.has_supply[word] |= bit;
        self.builder.add_supply(node, supply);
        self.surplus += i128::from(supply);
        self.supplies.add(supply)
    }

    #[inline]
    fn arc(&mut self, mut fields: Fields<'_>) -> Result<(), Broken> {
        self.arcs += 1;
        let Some((nodes, arcs)) = self
            .promised()?
            .map(|promise| (promise.nodes, promise.arcs))
        else {
            return Ok(());
        };
        let tail = known("TAIL", fields.number("TAIL")?, nodes)?;
        let head = known("HEAD", fields.number("HEAD")?, nodes)?;
        let lower = fields.number("LOWER")?;
        let capacity = fields.number("CAPACITY")?;
        let cost = fields.number("COST")?;
        fields.end()?;
        // The surplus arcs are told once, at the end.
        if self.arcs > arcs as u64 {
            return Ok(());
        }
        let is_capacitated = capacity >= 0;
        if is_capacitated && lower > capacity {
            return Err(malformed("LOWER is above CAPACITY"));
        }
        self.bounds.add(lower)?;
        self.bounds.add(if is_capacitated { capacity } else { 0 })?;
        let upper = if is_capacitated {
            capacity
        } else {
            Network::UNCAPACITATED
        };
        self.builder.add_arc(tail, head, lower, upper);
        self.costs.push(cost);
        if self
            .costliest
            .is_none_or(|(_, most)| cost.unsigned_abs() > most.unsigned_abs())
        {
            self.costliest = Some((self.line, cost));
        }
        Ok(())
    }
}

impl Magnitude {
    /// Adds |value|; only the value with which the sum leaves its range is at fault.
    #[inline]
    fn add(&mut self, value: i64) -> Result<(), Broken> {
        let before = self.sum;
        self.sum += i128::from(value).abs();
        let most = i128::from(MAGNITUDE_MAX);
        if self.sum > most && before <= most {
            let name = self.name;
            return Err(beyond(format!(
                "with this line the absolute {name} sum to more than {most}"
            )));
        }
        Ok(())
    }
}

fn size(name: &'static str, value: i64) -> Result<usize, Broken> {
    if value < 0 {
        return Err(malformed(format!("{name} is negative")));
    }
    usize::try_from(value).map_err(|_| Fault::TooLarge(name).into())
}

/// The node of a number.
#[inline]
fn known(name: &'static str, number: i64, nodes: usize) -> Result<NodeId, Broken> {
    match usize::try_from(number) {
        Ok(node @ 1..) if node <= nodes => Ok(NodeId::at(node - 1)),
        _ => Err(malformed(format!("{name} is not one of 1 to {nodes}"))),
    }
}
