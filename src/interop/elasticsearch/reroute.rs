//! Commands of `_cluster/reroute`, and which of them go together.
//!
//! A body carries out its commands at once: copies start, and what they leave is freed only when they have ended. So a
//! body takes further steps of a plan only while that makes no difference: no command comes to a node (or to a zone that
//! has a limit) that another one of the body leaves, no shard is in two steps, and no node is at an end of more copies
//! than the limit. Within these bounds every count in a body is at most what it is somewhere on the way of the plan,
//! whose every step is safe. A step stays whole, but where a shard's copy comes to a node that another of its
//! copies only just leaves: no two copies of a shard can be on a node. Complexity: linear in the commands.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

/// One command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Command<'a> {
    /// Relocates a copy, whatever its role.
    Move {
        index: &'a str,
        shard: u32,
        from_node: &'a str,
        to_node: &'a str,
    },
    /// Starts a replica that has no node.
    AllocateReplica {
        index: &'a str,
        shard: u32,
        node: &'a str,
    },
    /// Takes a replica away.
    Cancel {
        index: &'a str,
        shard: u32,
        node: &'a str,
    },
}

/// What one call is sent.
#[derive(Default, Serialize)]
pub(super) struct Body<'a> {
    pub(super) commands: Vec<Command<'a>>,
}

impl<'a> Command<'a> {
    fn shard(&self) -> (&'a str, u32) {
        match *self {
            Command::Move { index, shard, .. }
            | Command::AllocateReplica { index, shard, .. }
            | Command::Cancel { index, shard, .. } => (index, shard),
        }
    }

    /// Node that a copy comes to.
    fn to(&self) -> Option<&'a str> {
        match *self {
            Command::Move { to_node: node, .. } | Command::AllocateReplica { node, .. } => {
                Some(node)
            }
            Command::Cancel { .. } => None,
        }
    }

    /// Node that a copy leaves.
    fn from(&self) -> Option<&'a str> {
        match *self {
            Command::Move {
                from_node: node, ..
            }
            | Command::Cancel { node, .. } => Some(node),
            Command::AllocateReplica { .. } => None,
        }
    }

    /// Nodes at the ends of a copy, and whether it comes to them.
    fn ends(&self) -> impl Iterator<Item = (&'a str, bool)> {
        let read = self.from().filter(|_| self.to().is_some());
        let written = self.to().map(|node| (node, true));
        written.into_iter().chain(read.map(|node| (node, false)))
    }
}

/// Bodies in the order of the steps. `limited` is the zone of a node where that zone has a limit, and `per_node` the
/// most copies of a body that come to a node, or leave it.
pub(super) fn bodies<'a>(
    steps: &[Vec<Command<'a>>],
    limited: impl Fn(&str) -> Option<&'a str>,
    per_node: usize,
) -> Vec<Body<'a>> {
    let mut bodies = Vec::new();
    let mut open = Open::default();
    for part in steps.iter().flat_map(|step| parts(step)) {
        if !open.admits(part, &limited, per_node) {
            bodies.push(std::mem::take(&mut open).body);
        }
        open.add(part, &limited);
    }
    if !open.body.commands.is_empty() {
        bodies.push(open.body);
    }
    bodies
}

/// A step, cut where a copy comes to a node that one of the same shard leaves in it, or leaves one that it comes to.
fn parts<'s, 'a>(step: &'s [Command<'a>]) -> Vec<&'s [Command<'a>]> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut ends: HashSet<((&str, u32), &str)> = HashSet::new();
    for (at, command) in step.iter().enumerate() {
        let own = || {
            let nodes = command.from().into_iter().chain(command.to());
            nodes.map(|node| (command.shard(), node))
        };
        if own().any(|end| ends.contains(&end)) {
            parts.push(&step[start..at]);
            start = at;
            ends.clear();
        }
        ends.extend(own());
    }
    if start < step.len() {
        parts.push(&step[start..]);
    }
    parts
}

/// A body that may take more.
#[derive(Default)]
struct Open<'a> {
    body: Body<'a>,
    shards: HashSet<(&'a str, u32)>,
    /// Nodes that copies leave, and zones with a limit.
    left: HashSet<&'a str>,
    zones_left: HashSet<&'a str>,
    /// Copies that come to a node, or are read from it.
    copies: HashMap<(&'a str, bool), usize>,
}

impl<'a> Open<'a> {
    fn admits(
        &self,
        part: &[Command<'a>],
        limited: impl Fn(&str) -> Option<&'a str>,
        per_node: usize,
    ) -> bool {
        let mut copies: HashMap<(&str, bool), usize> = HashMap::new();
        for end in part.iter().flat_map(Command::ends) {
            *copies.entry(end).or_default() += 1;
        }
        let is_within = |(end, more): (&(&'a str, bool), &usize)| {
            self.copies.get(end).copied().unwrap_or(0) + more <= per_node
        };
        let is_free = |command: &Command<'a>| {
            let is_left = command.to().is_some_and(|node| self.left.contains(node));
            let zone = crossed(command, &limited).1;
            let is_zone_left = zone.is_some_and(|zone| self.zones_left.contains(zone));
            !self.shards.contains(&command.shard()) && !is_left && !is_zone_left
        };
        self.body.commands.is_empty() || part.iter().all(is_free) && copies.iter().all(is_within)
    }

    fn add(&mut self, part: &[Command<'a>], limited: impl Fn(&str) -> Option<&'a str>) {
        for command in part {
            self.shards.insert(command.shard());
            self.left.extend(command.from());
            self.zones_left.extend(crossed(command, &limited).0);
            for end in command.ends() {
                *self.copies.entry(end).or_default() += 1;
            }
            self.body.commands.push(*command);
        }
    }
}

/// Zones with a limit that a command leaves and comes to; none for a move within one.
fn crossed<'a>(
    command: &Command<'a>,
    limited: impl Fn(&str) -> Option<&'a str>,
) -> (Option<&'a str>, Option<&'a str>) {
    let zones = (
        command.from().and_then(&limited),
        command.to().and_then(&limited),
    );
    if zones.0 == zones.1 {
        (None, None)
    } else {
        zones
    }
}
