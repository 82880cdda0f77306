//! The copies of one shard, and how a snapshot tells what they are at.

use std::collections::BTreeSet;

use crate::pb;

/// A copy of a shard.
#[derive(Debug)]
pub(super) struct ShardCopy {
    pub(super) state: State,
    /// Bytes, where the listing tells.
    pub(super) size: Option<i64>,
}

/// What a copy is at.
#[derive(Debug)]
pub(super) enum State {
    /// Nowhere.
    Unassigned,
    /// It starts on a node.
    Initializing(String),
    /// It serves on a node.
    Started(String),
    /// It serves on `from` until the one at `to` has started.
    Relocating { from: String, to: String },
}

impl State {
    /// Node that the copy is on, or comes to.
    pub(super) fn node(&self) -> Option<&str> {
        match self {
            State::Unassigned => None,
            State::Initializing(node) | State::Started(node) => Some(node),
            State::Relocating { from, .. } => Some(from),
        }
    }

    /// Every node that the copy is on, or comes to.
    pub(super) fn ends(&self) -> impl Iterator<Item = &str> {
        self.node().into_iter().chain(self.target())
    }

    /// Node that the copy relocates to.
    pub(super) fn target(&self) -> Option<&str> {
        match self {
            State::Relocating { to, .. } => Some(to),
            _ => None,
        }
    }

    fn is_moving(&self) -> bool {
        matches!(self, State::Initializing(_) | State::Relocating { .. })
    }
}

/// All copies of a shard.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Where the first of them is listed.
    pub(super) place: String,
    pub(super) primary: Option<ShardCopy>,
    pub(super) replicas: Vec<ShardCopy>,
    /// Nodes that have a copy or are to have one.
    pub(super) nodes: BTreeSet<String>,
}

impl Copies {
    /// Primary and replicas.
    pub(super) fn all(&self) -> impl Iterator<Item = &ShardCopy> {
        self.primary.iter().chain(&self.replicas)
    }

    /// Bytes of the largest copy.
    pub(super) fn size(&self) -> Option<i64> {
        self.all().filter_map(|copy| copy.size).max()
    }

    /// Replicas that are under way.
    fn moving(&self) -> impl Iterator<Item = &State> {
        let states = self.replicas.iter().map(|copy| &copy.state);
        states.filter(|state| state.is_moving())
    }

    /// Whether flights can't say what goes on.
    fn is_tangled(&self) -> bool {
        let primary = self.primary.as_ref().map(|copy| &copy.state);
        matches!(primary, Some(State::Initializing(_))) || self.moving().count() > 1
    }

    /// The shard, without id and stream yet, and its flights, without a shard yet.
    pub(super) fn seated(&self) -> (pb::Shard, Vec<pb::InFlight>) {
        let primary = self.primary.as_ref().map(|copy| &copy.state);
        let leader = primary.and_then(State::node).unwrap_or_default();
        let replicas = self.replicas.iter().map(|copy| &copy.state);
        let mut shard = pb::Shard {
            leader: leader.to_owned(),
            size_bytes: self.size().unwrap_or(0),
            ..pb::Shard::default()
        };
        if self.is_tangled() {
            let others = self.nodes.iter().filter(|node| *node != leader);
            shard.followers = others.cloned().collect();
            shard.pinned = true;
            return (shard, Vec::new());
        }
        // A replica that starts is its flight's to add.
        let settled = replicas.filter(|state| !matches!(state, State::Initializing(_)));
        shard.followers = settled.filter_map(State::node).map(str::to_owned).collect();
        let led = primary.filter(|state| state.is_moving());
        let led = led.map(|state| flight(pb::Role::Leader, state));
        let followed = self.moving().map(|state| flight(pb::Role::Follower, state));
        (shard, led.into_iter().chain(followed).collect())
    }
}

/// A relocation, or the start of a replica.
fn flight(role: pb::Role, state: &State) -> pb::InFlight {
    let (from, to) = match state.target() {
        Some(to) => (state.node().unwrap_or_default(), to),
        None => ("", state.node().unwrap_or_default()),
    };
    pb::InFlight {
        role: role.into(),
        from: from.to_owned(),
        to: to.to_owned(),
        ..pb::InFlight::default()
    }
}
