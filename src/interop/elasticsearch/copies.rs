//! The copies of one shard, and how a snapshot tells what they are at.

use crate::pb;

/// A copy of a shard.
#[derive(Debug)]
pub(super) struct Copy {
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
    pub(super) primary: Option<Copy>,
    pub(super) replicas: Vec<Copy>,
}

impl Copies {
    /// Primary and replicas.
    pub(super) fn all(&self) -> impl Iterator<Item = &Copy> {
        self.primary.iter().chain(&self.replicas)
    }

    /// Nodes that have a copy or are to have one.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &str> {
        self.all()
            .flat_map(|copy| copy.state.node().into_iter().chain(copy.state.target()))
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
            let others = self.nodes().filter(|node| *node != leader);
            shard.followers = others.map(str::to_owned).collect();
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
