//! Shards that are alike to the rules, and the rules as they are or might be.

use std::collections::HashMap;

use crate::cut::{Change, Place};
use crate::snapshot::{BrokerId, Counts, Problem, Roles, ShardId, StreamId};

/// The limits of brokers and zones, and which stream may be held by a broker more: those of the problem, then changed.
#[derive(Clone)]
pub(super) struct Rules {
    pub(super) broker_leaders: Vec<Option<u32>>,
    pub(super) broker_replicas: Vec<Option<u32>>,
    pub(super) zone_leaders: Vec<Option<u32>>,
    pub(super) zone_replicas: Vec<Option<u32>>,
    pub(super) min_leaders: Vec<u32>,
    pub(super) opened: Vec<(StreamId, BrokerId)>,
}

impl Rules {
    pub(super) fn of(problem: &Problem) -> Self {
        let brokers = || problem.brokers.iter();
        let zones = || problem.zones.iter();
        Rules {
            broker_leaders: brokers().map(|b| b.max_leaders).collect(),
            broker_replicas: brokers().map(|b| b.max_replicas).collect(),
            zone_leaders: zones().map(|z| z.max_leaders).collect(),
            zone_replicas: zones().map(|z| z.max_replicas).collect(),
            min_leaders: zones().map(|z| z.min_leaders).collect(),
            opened: Vec::new(),
        }
    }

    pub(super) fn with(&self, changes: &[Change]) -> Self {
        let mut rules = self.clone();
        for change in changes {
            match *change {
                Change::MaxLeaders { place, to } => *rules.leaders_mut(place) = Some(to),
                Change::MaxReplicas { place, to } => *rules.replicas_mut(place) = Some(to),
                Change::MinLeaders { zone, to } => rules.min_leaders[zone.index()] = to,
                Change::Open { stream, broker } => rules.opened.push((stream, broker)),
            }
        }
        rules
    }

    /// `max_leaders` of a place.
    pub(super) fn leaders(&self, place: Place) -> Option<u32> {
        match place {
            Place::Broker(b) => self.broker_leaders[b.index()],
            Place::Zone(z) => self.zone_leaders[z.index()],
        }
    }

    /// `max_replicas` of a place.
    pub(super) fn replicas(&self, place: Place) -> Option<u32> {
        match place {
            Place::Broker(b) => self.broker_replicas[b.index()],
            Place::Zone(z) => self.zone_replicas[z.index()],
        }
    }

    fn leaders_mut(&mut self, place: Place) -> &mut Option<u32> {
        match place {
            Place::Broker(b) => &mut self.broker_leaders[b.index()],
            Place::Zone(z) => &mut self.zone_leaders[z.index()],
        }
    }

    fn replicas_mut(&mut self, place: Place) -> &mut Option<u32> {
        match place {
            Place::Broker(b) => &mut self.broker_replicas[b.index()],
            Place::Zone(z) => &mut self.zone_replicas[z.index()],
        }
    }

    /// Whether a new replica of the stream may be put on the broker, caps aside.
    fn may_enter(&self, problem: &Problem, stream: StreamId, broker: BrokerId) -> bool {
        problem.may_enter(stream, broker)
            || problem.is_active(broker) && self.opened.contains(&(stream, broker))
    }
}

/// Free shards that are alike.
pub(super) struct Group {
    pub(super) shards: Vec<ShardId>,
    /// Brokers that hold a live replica, in order.
    pub(super) holders: Vec<BrokerId>,
    /// Of these, the ones that it should leave.
    pub(super) unwanted: Vec<BrokerId>,
    /// Position in [`Groups::classes`]; `None` where nothing is copied.
    pub(super) class: Option<usize>,
    /// Has no live leader now.
    pub(super) may_go_unled: bool,
    /// Lacks one follower more when it is led.
    pub(super) misses_leader_as_follower: bool,
}

/// The free shards by kind.
pub(super) struct Groups {
    pub(super) list: Vec<Group>,
    /// By class the brokers that may be entered.
    pub(super) classes: Vec<Vec<BrokerId>>,
    /// Leaders and replicas of pinned shards.
    pub(super) pinned: Counts,
}

/// What a group has in common.
#[derive(PartialEq, Eq, Hash)]
struct Kind {
    class: usize,
    holders: Vec<BrokerId>,
    may_go_unled: bool,
}

impl Groups {
    pub(super) fn of(problem: &Problem, rules: &Rules) -> Self {
        let mut classes: HashMap<(Vec<BrokerId>, u32), usize> = HashMap::new();
        let mut opens = Vec::new();
        let class_of: Vec<usize> = (0..problem.streams.len())
            .map(|s| {
                let id = StreamId::at(s);
                let takes = |&b: &BrokerId| rules.may_enter(problem, id, b);
                let open: Vec<BrokerId> = problem.broker_ids().filter(takes).collect();
                let factor = problem.replication_factor(id);
                let fresh = classes.len();
                let class = *classes.entry((open.clone(), factor)).or_insert(fresh);
                if class == fresh {
                    opens.push(open);
                }
                class
            })
            .collect();
        let mut groups = Groups {
            list: Vec::new(),
            classes: opens,
            pinned: Counts::zero(problem.brokers.len(), problem.zones.len()),
        };
        let mut known: HashMap<Kind, usize> = HashMap::new();
        for id in problem.shard_ids() {
            let shard = problem.shard(id);
            if shard.is_pinned {
                groups.pinned.add(&problem.brokers, &shard.present, 1);
                continue;
            }
            let mut holders: Vec<BrokerId> = problem.live(&shard.present).collect();
            holders.sort_unstable();
            let kind = Kind {
                class: class_of[shard.stream.index()],
                holders,
                may_go_unled: problem.live_leader(shard).is_none(),
            };
            let at = match known.get(&kind) {
                Some(&at) => at,
                None => {
                    let group = groups.group(problem, &kind, shard.stream);
                    groups.list.push(group);
                    known.insert(kind, groups.list.len() - 1);
                    groups.list.len() - 1
                }
            };
            groups.list[at].shards.push(id);
        }
        groups
    }

    fn group(&self, problem: &Problem, kind: &Kind, stream: StreamId) -> Group {
        let open = &self.classes[kind.class];
        let is_unwanted = |b: &BrokerId| open.binary_search(b).is_err();
        let copies = problem.policy.roles == Roles::LeadersAndFollowers;
        let factor = problem.replication_factor(stream) as usize;
        Group {
            shards: Vec::new(),
            holders: kind.holders.clone(),
            unwanted: kind.holders.iter().copied().filter(is_unwanted).collect(),
            class: copies.then_some(kind.class),
            may_go_unled: kind.may_go_unled,
            misses_leader_as_follower: !copies && kind.holders.len() < factor,
        }
    }
}
