//! A plan as commands for `_cluster/reroute`.
//!
//! | move of the plan | command |
//! | --- | --- |
//! | copy, of either role | `move`, which keeps the role of what it moves |
//! | missing replica | `allocate_replica` |
//! | surplus replica | `cancel`, which refuses a primary |
//! | promotion | none: the plan's copies are brought about, the primary stays another one of them, and is named |
//! | shard without a live copy | none: every command that places its primary loses data; the shard is named |
//!
//! So every shard has its copies where the plan has them in the end, but for those that a warning names.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::notes::notes;
use super::reroute::{Command, bodies};
use super::shards::is_index;
use crate::interop::{ExportError, Report, count, few};
use crate::pb;

/// How much goes into one body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most copies of a body that come to a node, and most that leave it: `move` doesn't heed the cluster's own limit.
    pub per_node: usize,
}

impl Default for Limits {
    /// The cluster's own `node_concurrent_recoveries`.
    fn default() -> Self {
        Limits { per_node: 2 }
    }
}

/// What a cluster is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Bodies for `POST _cluster/reroute`, one a line, in their order.
    pub reroute: String,
    /// What to do with them.
    pub notes: Vec<String>,
    /// What of the plan isn't in them, and why.
    pub warnings: Vec<String>,
}

/// Turns a plan into commands.
///
/// # Errors
/// Where plan and request don't belong together, or name what the cluster can't: everything found, with its path.
pub fn export(
    request: &pb::OptimizeRequest,
    response: &pb::OptimizeResponse,
    limits: Limits,
) -> Result<Export, ExportError> {
    let mut report = Report::default();
    let default = pb::Snapshot::default();
    let snapshot = request.snapshot.as_ref().unwrap_or(&default);
    let mut exporter = Exporter::new(snapshot);
    let steps = match response.plan.as_ref() {
        Some(plan) => exporter.steps(plan, &mut report),
        None => {
            report.find("plan", "", "the response has a plan");
            Vec::new()
        }
    };
    if !report.findings.is_empty() {
        return Err(ExportError {
            findings: report.findings,
        });
    }
    exporter.warn(&mut report);
    let zones = limited_zones(request, snapshot);
    let bodies = bodies(&steps, |node| zones.get(node).copied(), limits.per_node);
    let line = |body| {
        // Of integers and text, which always have a JSON form.
        serde_json::to_string(body).unwrap_or_default() + "\n"
    };
    Ok(Export {
        reroute: bodies.iter().map(line).collect(),
        notes: notes(&steps, bodies.len(), !snapshot.in_flight.is_empty()),
        warnings: report.warnings,
    })
}

/// The zone of each node, where the policy limits that zone.
fn limited_zones<'a>(
    request: &'a pb::OptimizeRequest,
    snapshot: &'a pb::Snapshot,
) -> HashMap<&'a str, &'a str> {
    let limits = request.policy.iter().flat_map(|policy| &policy.zone_limits);
    let limited: HashSet<&str> = limits.map(|limit| limit.zone.as_str()).collect();
    let zone = |broker: &'a pb::Broker| match broker.zone.as_str() {
        "" => broker.id.as_str(),
        zone => zone,
    };
    let brokers = snapshot.brokers.iter();
    let zones = brokers.map(|broker| (broker.id.as_str(), zone(broker)));
    zones.filter(|(_, zone)| limited.contains(zone)).collect()
}

/// Where a shard's primary is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Primary<'a> {
    On(&'a str),
    /// On one of the live replicas, which the cluster chooses: the node of the last one is down.
    Elected,
    /// Nowhere: no copy is live.
    Lost,
}

/// A shard that moves.
struct Track<'a> {
    index: &'a str,
    number: u32,
    primary: Primary<'a>,
    /// Node that leads it in the plan.
    planned: &'a str,
}

/// Shards that are not, or not quite, as the plan has them.
#[derive(Default)]
struct Left {
    blocked: BTreeSet<String>,
    lost: BTreeSet<String>,
    kept: BTreeSet<String>,
}

/// The snapshot, indexed, and what has become of its shards.
struct Exporter<'a> {
    shards: HashMap<&'a str, (usize, &'a pb::Shard)>,
    brokers: HashMap<&'a str, pb::BrokerState>,
    generation: &'a str,
    tracks: HashMap<&'a str, Track<'a>>,
    left: Left,
}

impl<'a> Exporter<'a> {
    fn new(snapshot: &'a pb::Snapshot) -> Self {
        let shards = snapshot.shards.iter().enumerate();
        let brokers = snapshot.brokers.iter();
        Self {
            shards: shards.map(|(i, s)| (s.id.as_str(), (i, s))).collect(),
            brokers: brokers.map(|b| (b.id.as_str(), b.state())).collect(),
            generation: &snapshot.generation,
            tracks: HashMap::new(),
            left: Left::default(),
        }
    }

    /// The commands of each step.
    fn steps(&mut self, plan: &'a pb::Plan, report: &mut Report) -> Vec<Vec<Command<'a>>> {
        if plan.generation != self.generation {
            let rule = format!(
                "the plan is one of this snapshot, generation `{}`",
                self.generation
            );
            report.find("plan.generation", &plan.generation, rule);
        }
        let mut steps: Vec<Vec<Command<'_>>> = Vec::new();
        let mut last = None;
        for (index, step) in plan.moves.iter().enumerate() {
            let path = format!("plan.moves[{index}]");
            if last.is_some_and(|last| step.step < last) {
                let rule = "the moves of a plan are in the order of their steps";
                report.find(format!("{path}.step"), &step.step.to_string(), rule);
            }
            if last != Some(step.step) {
                steps.push(Vec::new());
            }
            last = Some(step.step);
            let command = self.command(&path, step, report);
            if let (Some(command), Some(commands)) = (command, steps.last_mut()) {
                commands.push(command);
            }
        }
        steps.retain(|commands| !commands.is_empty());
        steps
    }

    /// The command of a move, where it has one.
    fn command(
        &mut self,
        path: &str,
        step: &'a pb::Move,
        report: &mut Report,
    ) -> Option<Command<'a>> {
        let ends = self.ends(path, step, report);
        let id = step.shard.as_str();
        self.track(path, id, report)?;
        let track = self.tracks.get_mut(id)?;
        let (from, to) = ends?;
        if track.primary == Primary::Lost {
            self.left.lost.insert(id.to_owned());
            return None;
        }
        if !step.blocked.is_empty() {
            self.left.blocked.insert(id.to_owned());
            return None;
        }
        if step.role() == pb::Role::Leader {
            track.planned = to;
        }
        let (index, shard) = (track.index, track.number);
        match step.kind() {
            pb::MoveKind::Copy => {
                if track.primary == Primary::On(from) {
                    track.primary = Primary::On(to);
                }
                Some(Command::Move {
                    index,
                    shard,
                    from_node: from,
                    to_node: to,
                })
            }
            pb::MoveKind::Add => Some(Command::AllocateReplica {
                index,
                shard,
                node: to,
            }),
            pb::MoveKind::Remove => {
                let is_replica = matches!(track.primary, Primary::On(node) if node != from);
                if !is_replica {
                    self.left.kept.insert(format!("{id} on {from}"));
                    return None;
                }
                let node = from;
                Some(Command::Cancel { index, shard, node })
            }
            pb::MoveKind::Promotion | pb::MoveKind::Unspecified => None,
        }
    }

    /// Both ends of a move, as far as its kind has them.
    fn ends(
        &self,
        path: &str,
        step: &'a pb::Move,
        report: &mut Report,
    ) -> Option<(&'a str, &'a str)> {
        let before = report.findings.len();
        let (has_from, has_to) = match step.kind() {
            pb::MoveKind::Add | pb::MoveKind::Promotion => (false, true),
            pb::MoveKind::Copy => (true, true),
            pb::MoveKind::Remove => (true, false),
            pb::MoveKind::Unspecified => {
                let rule = "a move is an add, a copy, a promotion or a remove";
                report.find(format!("{path}.kind"), &step.kind.to_string(), rule);
                return None;
            }
        };
        let (from, to) = (step.from.as_str(), step.to.as_str());
        for (name, node, is_needed) in [("from", from, has_from), ("to", to, has_to)] {
            if is_needed && !self.brokers.contains_key(node) {
                let rule = "the snapshot lists the broker";
                report.find(format!("{path}.{name}"), node, rule);
            }
        }
        (report.findings.len() == before).then_some((from, to))
    }

    /// Begins to follow a shard, unless it is followed already.
    fn track(&mut self, path: &str, id: &'a str, report: &mut Report) -> Option<()> {
        if self.tracks.contains_key(id) {
            return Some(());
        }
        let Some(&(position, shard)) = self.shards.get(id) else {
            report.find(format!("{path}.shard"), id, "the snapshot lists the shard");
            return None;
        };
        let Some((index, number)) = key(shard) else {
            report.find(
                format!("snapshot.shards[{position}]"),
                id,
                "a shard is one of an index: its stream is the index, and its number, or else its id behind the last `/`, \
                 the shard's",
            );
            return None;
        };
        let track = Track {
            index,
            number,
            primary: self.primary(shard),
            planned: &shard.leader,
        };
        self.tracks.insert(id, track);
        Some(())
    }

    fn primary(&self, shard: &'a pb::Shard) -> Primary<'a> {
        let is_live = |node: &str| {
            let state = self.brokers.get(node);
            state.is_some_and(|state| *state != pb::BrokerState::Down)
        };
        if is_live(&shard.leader) {
            Primary::On(&shard.leader)
        } else if shard.followers.iter().any(|node| is_live(node)) {
            Primary::Elected
        } else {
            Primary::Lost
        }
    }

    /// Names what isn't, or may not be, as the plan has it.
    fn warn(&self, report: &mut Report) {
        let mut other = BTreeSet::new();
        let mut elected = BTreeSet::new();
        for (id, track) in &self.tracks {
            match track.primary {
                Primary::On(node) if node != track.planned => {
                    other.insert(format!("{id} on {node}, not {}", track.planned));
                }
                Primary::Elected => {
                    elected.insert((*id).to_owned());
                }
                _ => {}
            }
        }
        let mut warn = |names: &BTreeSet<String>, head: &str, tail: &str| {
            if !names.is_empty() {
                let names: Vec<String> = names.iter().cloned().collect();
                let shards = count(names.len(), "shard");
                report.warn(format!("{head}{shards}{tail}: {}", few(&names)));
            }
        };
        let left = &self.left;
        warn(
            &left.lost,
            "left out ",
            " without a live copy: allocate_empty_primary and allocate_stale_primary lose data, so they are never written; \
             ask _cluster/allocation/explain",
        );
        warn(&left.blocked, "left out ", " whose moves are blocked");
        warn(
            &left.kept,
            "left out the removal of a surplus copy of ",
            ", as it is or may be the primary",
        );
        warn(
            &other,
            "",
            " whose primary stays another copy than in the plan, as no command makes a replica the primary without taking \
             the primary down",
        );
        warn(
            &elected,
            "",
            " whose primary the cluster elects by itself, maybe another copy than in the plan",
        );
    }
}

/// Index and number of a shard: its stream and number; without a number, its id split at the last `/`.
fn key(shard: &pb::Shard) -> Option<(&str, u32)> {
    let key = match shard.number {
        Some(number) => (shard.stream.as_str(), number),
        None => {
            let (index, number) = shard.id.rsplit_once('/')?;
            (index, number.parse().ok()?)
        }
    };
    is_index(key.0).then_some(key)
}
