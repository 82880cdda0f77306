//! What turns one shard's present replicas into the planned ones.
//!
//! Notation: P and Q are the live replicas now and in the plan, *leaving* is P ∖ Q, *arriving* is Q ∖ P. Replicas on
//! `DOWN` brokers take no part: none of them moves, and the plan lists whichever of them it keeps.
//!
//! The lead changes by at most one move besides a failover's promotion:
//!
//! | leader now | leader in the plan | moves of the lead |
//! | --- | --- | --- |
//! | live | holds a replica now | `PROMOTION` first; the old leader is a follower from there on |
//! | live, leaving | arriving | `COPY` of the leader |
//! | live, staying | arriving | `COPY` of the leader from a replica that leaves, or `ADD`; the old leader is a follower |
//! | none live | holds a replica now | `PROMOTION` for `FAILOVER`, an item of its own |
//! | none live | arriving | as above from the holder promoted first; straight there where every holder is full |
//! | none at all | arriving | `ADD` of the leader |
//!
//! Followers that leave are paired with those that arrive, within a zone where that is possible, as `COPY`; what is
//! left over arrives as `ADD` or leaves as `REMOVE`.
//!
//! Complexity: O(replicas²) per shard, replicas being a handful.

use super::{MoveKind, MoveReason};
use crate::snapshot::{Assignment, BrokerId, BrokerState, Problem, Role, Shard, ZoneId};

/// A move that has no step yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Draft {
    pub(super) role: Role,
    pub(super) from: Option<BrokerId>,
    pub(super) to: Option<BrokerId>,
    pub(super) kind: MoveKind,
    /// `None` where nothing forces the move: counts decide when it is put in order.
    pub(super) reason: Option<MoveReason>,
    /// Goes to a broker that only lends room, or on from there.
    pub(super) is_detour: bool,
}

/// What one move takes from a live broker and gives to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Passage {
    /// The lead.
    pub(super) lead: (Option<BrokerId>, Option<BrokerId>),
    /// A replica.
    pub(super) replica: (Option<BrokerId>, Option<BrokerId>),
}

impl Draft {
    /// What the move does where `leader` leads before it.
    pub(super) fn passage(&self, problem: &Problem, leader: Option<BrokerId>) -> Passage {
        let nothing = (None, None);
        let is_live = |b: &BrokerId| problem.is_live(*b);
        Passage {
            lead: match self.role {
                Role::Leader => (leader.filter(is_live), self.to),
                Role::Follower => nothing,
            },
            replica: match self.kind {
                MoveKind::Promotion => nothing,
                _ => (self.from, self.to),
            },
        }
    }

    /// Who leads after the move where `leader` leads before it.
    pub(super) fn leader_after(&self, leader: Option<BrokerId>) -> Option<BrokerId> {
        match self.role {
            Role::Leader => self.to,
            Role::Follower => leader,
        }
    }
}

/// How a shard that has live replicas but no live leader is led again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Failover {
    /// It has a live leader, no live replica, or stays without a leader.
    None,
    /// By a replica it has.
    Onto(BrokerId),
    /// By a replica that arrives.
    Elsewhere,
}

/// Present and planned replicas of one shard; the buffers are used again for the next.
pub(super) struct Difference<'a> {
    problem: &'a Problem,
    shard: &'a Shard,
    target: &'a Assignment,
    leaving: Vec<BrokerId>,
    arriving: Vec<BrokerId>,
    /// Replicas on `DOWN` brokers that the plan no longer lists and no `ADD` accounts for yet.
    lost: usize,
    /// Spans fewer zones than it should.
    is_narrow: bool,
    out: Vec<Draft>,
}

impl<'a> Difference<'a> {
    /// Between a shard as it is and its assignment in the plan.
    pub(super) fn new(problem: &'a Problem, shard: &'a Shard, target: &'a Assignment) -> Self {
        let mut difference = Difference {
            problem,
            shard,
            target,
            leaving: Vec::new(),
            arriving: Vec::new(),
            lost: 0,
            is_narrow: false,
            out: Vec::new(),
        };
        difference.load(shard, target);
        difference
    }

    /// Takes up another shard.
    pub(super) fn load(&mut self, shard: &'a Shard, target: &'a Assignment) {
        let problem = self.problem;
        self.shard = shard;
        self.target = target;
        self.leaving.clear();
        self.arriving.clear();
        let gone = |b: &BrokerId| !target.holds(*b);
        self.leaving
            .extend(problem.live(&shard.present).filter(gone));
        self.arriving.extend(
            problem
                .live(target)
                .filter(|&b| !self.shard.present.holds(b)),
        );
        let is_down = |b: &BrokerId| !problem.is_live(*b);
        self.lost = shard
            .present
            .replicas()
            .filter(|b| is_down(b) && gone(b))
            .count();
        self.is_narrow = problem.policy.min_zones > 1
            && problem.zones_spanned(&shard.present) < problem.zones_wanted(shard);
        self.leaving.sort_unstable();
        self.arriving.sort_unstable();
    }

    /// By how many the replicas above `max_replicas_per_zone` become more.
    pub(super) fn crowding(&self) -> i64 {
        crowding(self.problem, &self.shard.present, self.target)
    }

    fn planned_leader(&self) -> Option<BrokerId> {
        self.target.leader.filter(|&b| self.problem.is_live(b))
    }

    /// How the shard is led again where it has no live leader.
    pub(super) fn failover(&self) -> Failover {
        let is_led = self.problem.live_leader(self.shard).is_some();
        match self.planned_leader() {
            Some(leader) if !is_led && !self.problem.is_free_to_place(self.shard) => {
                if self.shard.present.holds(leader) {
                    Failover::Onto(leader)
                } else {
                    Failover::Elsewhere
                }
            }
            _ => Failover::None,
        }
    }

    /// Live holders that could lead until the planned leader has arrived, the best first: one that may hold the
    /// stream, one that is about to leave (which saves a move), the lowest id.
    pub(super) fn stand_ins(&self) -> Vec<BrokerId> {
        let mut holders: Vec<BrokerId> = self.problem.live(&self.shard.present).collect();
        holders.sort_by_key(|&b| {
            (
                self.problem.is_unwanted(self.shard.stream, b),
                self.target.holds(b),
                b,
            )
        });
        holders
    }

    /// The promotion of a failover.
    pub(super) fn promotion(&self, to: BrokerId) -> Draft {
        Draft {
            role: Role::Leader,
            from: self.shard.present.leader,
            to: Some(to),
            kind: MoveKind::Promotion,
            reason: Some(MoveReason::Failover),
            is_detour: false,
        }
    }

    /// Moves from the present replicas, of which `leader` leads, to the planned ones, in an order in which they apply.
    /// To be called once after each [`Difference::load`].
    pub(super) fn moves(&mut self, leader: Option<BrokerId>) -> &[Draft] {
        self.out.clear();
        match (leader, self.planned_leader()) {
            (Some(old), Some(new)) if old != new => {
                if self.shard.present.holds(new) {
                    self.push(Role::Leader, Some(old), Some(new), MoveKind::Promotion);
                } else if take(&mut self.leaving, old) {
                    take(&mut self.arriving, new);
                    self.push(Role::Leader, Some(old), Some(new), MoveKind::Copy);
                } else {
                    self.place_leader(new, Some(old));
                }
            }
            (None, Some(new)) => self.place_leader(new, None),
            _ => {}
        }
        self.followers();
        &self.out
    }

    /// The new leader holds nothing yet, and `old`, which leads now if any broker does, keeps its replica.
    fn place_leader(&mut self, new: BrokerId, old: Option<BrokerId>) {
        take(&mut self.arriving, new);
        let handed_over = match old {
            Some(old) => self.reason_to_leave(old, Some(new), MoveKind::Promotion),
            None => Some(MoveReason::Failover),
        };
        let (from, kind, own) = match self.partner(new) {
            Some(from) => {
                let own = self.reason_to_leave(from, Some(new), MoveKind::Copy);
                (Some(from), MoveKind::Copy, own)
            }
            None => (None, MoveKind::Add, Some(self.reason_to_add())),
        };
        let is_new = self.problem.is_new(self.shard);
        let forced = handed_over.filter(|_| !is_new);
        self.out.push(Draft {
            role: Role::Leader,
            from,
            to: Some(new),
            kind,
            reason: own.into_iter().chain(forced).min(),
            is_detour: false,
        });
    }

    fn followers(&mut self) {
        let mut rest = Vec::new();
        for new in std::mem::take(&mut self.arriving) {
            let zone = self.problem.zone_of(new);
            match self.partner_in(zone) {
                Some(old) => self.push(Role::Follower, Some(old), Some(new), MoveKind::Copy),
                None => rest.push(new),
            }
        }
        for new in rest {
            match self.partner(new) {
                Some(old) => self.push(Role::Follower, Some(old), Some(new), MoveKind::Copy),
                None => self.push(Role::Follower, None, Some(new), MoveKind::Add),
            }
        }
        for old in std::mem::take(&mut self.leaving) {
            self.push(Role::Follower, Some(old), None, MoveKind::Remove);
        }
    }

    /// Takes the replica that makes way for `new`.
    fn partner(&mut self, new: BrokerId) -> Option<BrokerId> {
        let zone = self.problem.zone_of(new);
        self.partner_in(zone)
            .or_else(|| (!self.leaving.is_empty()).then(|| self.leaving.remove(0)))
    }

    fn partner_in(&mut self, zone: ZoneId) -> Option<BrokerId> {
        let at = self
            .leaving
            .iter()
            .position(|&b| self.problem.zone_of(b) == zone)?;
        Some(self.leaving.remove(at))
    }

    fn push(&mut self, role: Role, from: Option<BrokerId>, to: Option<BrokerId>, kind: MoveKind) {
        let reason = match kind {
            MoveKind::Add => Some(self.reason_to_add()),
            _ => from.and_then(|from| self.reason_to_leave(from, to, kind)),
        };
        self.out.push(Draft {
            role,
            from,
            to,
            kind,
            reason,
            is_detour: false,
        });
    }

    /// A replica without one that leaves for it: a lost one is made up for, or the shard never had so many.
    fn reason_to_add(&mut self) -> MoveReason {
        if self.problem.is_new(self.shard) {
            return MoveReason::New;
        }
        let is_lost = self.lost > 0 || self.problem.is_free_to_place(self.shard);
        self.lost = self.lost.saturating_sub(1);
        if is_lost {
            MoveReason::Failover
        } else {
            MoveReason::New
        }
    }

    fn reason_to_leave(
        &self,
        from: BrokerId,
        to: Option<BrokerId>,
        kind: MoveKind,
    ) -> Option<MoveReason> {
        if self.problem.broker(from).state == BrokerState::Draining {
            return Some(MoveReason::Drain);
        }
        let breaks_rule = self.problem.is_unwanted(self.shard.stream, from)
            || kind == MoveKind::Remove
            || (kind == MoveKind::Copy && (self.is_crowded(from, to) || self.widens(to)));
        breaks_rule.then_some(MoveReason::Rule)
    }

    /// The replica leaves a zone that holds more of the shard than `max_replicas_per_zone`, the moves so far done.
    fn is_crowded(&self, from: BrokerId, to: Option<BrokerId>) -> bool {
        let Some(limit) = self.problem.policy.max_replicas_per_zone else {
            return false;
        };
        let zone = self.problem.zone_of(from);
        let is_inside = |b: Option<BrokerId>| b.is_some_and(|b| self.problem.zone_of(b) == zone);
        if is_inside(to) {
            return false;
        }
        let there = self
            .problem
            .live(&self.shard.present)
            .filter(|&b| self.problem.zone_of(b) == zone)
            .count();
        let left = self
            .out
            .iter()
            .filter(|d| d.kind != MoveKind::Promotion && is_inside(d.from) && !is_inside(d.to))
            .count();
        there - left > limit as usize
    }

    /// The replica enters a zone that the shard lacks while it spans too few.
    fn widens(&self, to: Option<BrokerId>) -> bool {
        let Some(to) = to.filter(|_| self.is_narrow) else {
            return false;
        };
        let zone = self.problem.zone_of(to);
        self.problem
            .live(&self.shard.present)
            .all(|b| self.problem.zone_of(b) != zone)
    }
}

/// By how many more live replicas are above `max_replicas_per_zone` after than before.
pub(super) fn crowding(problem: &Problem, before: &Assignment, after: &Assignment) -> i64 {
    let Some(limit) = problem.policy.max_replicas_per_zone else {
        return 0;
    };
    let above = |assignment: &Assignment| {
        let zones = || problem.live(assignment).map(|b| problem.zone_of(b));
        let is_above = |&(at, zone): &(usize, ZoneId)| {
            zones().take(at).filter(|&z| z == zone).count() >= limit as usize
        };
        zones().enumerate().filter(is_above).count() as i64
    };
    above(after) - above(before)
}

fn take(brokers: &mut Vec<BrokerId>, broker: BrokerId) -> bool {
    match brokers.iter().position(|&b| b == broker) {
        Some(at) => {
            brokers.remove(at);
            true
        }
        None => false,
    }
}
