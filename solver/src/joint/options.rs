//! What may become of one shard: every legal replica set that differs from the one it has in one place.

use smallvec::SmallVec;

use crate::model::current;
use crate::snapshot::{Assignment, BrokerId, Problem, Roles, Shard, ShardId, ZoneId};

/// Brokers that a replica may be moved to, by the role that it has there.
#[derive(Clone, Debug, Default)]
pub(super) struct Entrants {
    pub(super) leaders: Vec<BrokerId>,
    pub(super) followers: Vec<BrokerId>,
}

/// The replicas of one shard as they are in some placement.
pub(super) struct Options<'a> {
    problem: &'a Problem,
    id: ShardId,
    shard: &'a Shard,
    leader: Option<BrokerId>,
    /// Live ones.
    followers: SmallVec<[BrokerId; 8]>,
}

impl<'a> Options<'a> {
    /// `None` of a pinned shard, which stays as it is.
    pub(super) fn of(problem: &'a Problem, id: ShardId, now: &Assignment) -> Option<Self> {
        let shard = problem.shard(id);
        let live = |&b: &BrokerId| problem.is_live(b);
        (!shard.is_pinned).then(|| Options {
            problem,
            id,
            shard,
            leader: now.leader.filter(live),
            followers: now.followers.iter().copied().filter(live).collect(),
        })
    }

    /// Calls `offer` with each legal assignment that differs in one place: another leader among the replicas, one replica
    /// on an entrant (with or without a change of the lead), or one replica more there. Entrants come from
    /// [`Options::entrants`]; caps on counts and loads are the caller's. O(replicas · entrants) of them.
    pub(super) fn each(&self, entrants: &Entrants, mut offer: impl FnMut(Assignment)) {
        for &f in &self.followers {
            offer(self.led_by(f));
        }
        for &b in &entrants.leaders {
            match self.leader {
                Some(leader) => self.moved(leader, b).into_iter().for_each(&mut offer),
                None => self.with(b).into_iter().for_each(&mut offer),
            }
        }
        for &b in &entrants.followers {
            for &f in &self.followers {
                self.moved(f, b).into_iter().for_each(&mut offer);
                self.moved_from_lead(f, b).into_iter().for_each(&mut offer);
            }
            if self.leader.is_some() {
                self.with(b).into_iter().for_each(&mut offer);
            }
        }
    }

    /// All brokers that hold no replica and may: those that hold one in the snapshot, and newcomers by zone.
    pub(super) fn entrants(&self) -> (Vec<BrokerId>, Vec<(ZoneId, BrokerId)>) {
        let (mut returning, mut newcomers) = (Vec::new(), Vec::new());
        if self.problem.policy.roles == Roles::LeadershipOnly {
            return (returning, newcomers);
        }
        for b in self.problem.broker_ids() {
            let is_here = self.leader == Some(b) || self.followers.contains(&b);
            if is_here || !self.may_hold(b) {
                continue;
            }
            match self.shard.present.holds(b) {
                true => returning.push(b),
                false => newcomers.push((self.problem.zone_of(b), b)),
            }
        }
        (returning, newcomers)
    }

    /// The shard with its replica on `from` on `to` instead, in the same role; with the two roles exchanged where
    /// `to` holds the other. `None` where that is against the rules.
    pub(super) fn relocated(&self, from: BrokerId, to: BrokerId) -> Option<Assignment> {
        if self.followers.contains(&to) {
            return (self.leader == Some(from)).then(|| self.led_by(to));
        }
        let is_free = self.problem.policy.roles == Roles::LeadersAndFollowers
            && self.may_hold(to)
            && self.leader != Some(to);
        is_free.then(|| self.moved(from, to)).flatten()
    }

    /// Whether a replica may be there: it is now, or a new one may come.
    fn may_hold(&self, b: BrokerId) -> bool {
        let (problem, shard) = (self.problem, self.shard);
        problem.may_enter(shard.stream, b) || (problem.is_live(b) && shard.present.holds(b))
    }

    /// One of the followers leads, and the leader follows.
    fn led_by(&self, follower: BrokerId) -> Assignment {
        if self.problem.policy.roles == Roles::LeadershipOnly {
            return current::with_leader(self.shard, follower);
        }
        let followers = self.followers.iter().copied().filter(|&b| b != follower);
        self.assignment(
            Some(follower),
            self.leader.into_iter().chain(followers).collect(),
        )
    }

    /// One replica on another broker, in the same role.
    fn moved(&self, from: BrokerId, to: BrokerId) -> Option<Assignment> {
        if !self.has_room_in_zone(to, Some(from)) {
            return None;
        }
        let at = |b: BrokerId| if b == from { to } else { b };
        let followers = self.followers.iter().map(|&b| at(b)).collect();
        Some(self.assignment(self.leader.map(at), followers))
    }

    /// The leader's place goes to a newcomer that follows, and the follower `next` leads.
    fn moved_from_lead(&self, next: BrokerId, to: BrokerId) -> Option<Assignment> {
        let leader = self.leader.filter(|&leader| leader != next)?;
        if !self.has_room_in_zone(to, Some(leader)) {
            return None;
        }
        let at = |b: BrokerId| if b == next { to } else { b };
        let followers = self.followers.iter().map(|&b| at(b)).collect();
        Some(self.assignment(Some(next), followers))
    }

    /// One replica more, which leads where nobody does.
    fn with(&self, b: BrokerId) -> Option<Assignment> {
        let factor = self.problem.replication_factor(self.shard.stream) as usize;
        let replicas = self.followers.len() + usize::from(self.leader.is_some());
        if replicas >= factor || !self.has_room_in_zone(b, None) {
            return None;
        }
        let mut followers = self.followers.to_vec();
        if self.leader.is_some() {
            followers.push(b);
        }
        Some(self.assignment(Some(self.leader.unwrap_or(b)), followers))
    }

    /// Whether a replica more in the broker's zone, less the one on `from`, keeps `max_replicas_per_zone` in force.
    fn has_room_in_zone(&self, b: BrokerId, from: Option<BrokerId>) -> bool {
        let problem = self.problem;
        let Some(most) = problem.policy.max_replicas_per_zone else {
            return true;
        };
        let z: ZoneId = problem.zone_of(b);
        let is_there = |&h: &BrokerId| problem.zone_of(h) == z;
        let held = self.leader.iter().chain(&self.followers);
        let after = 1 + held.filter(|&h| Some(*h) != from && is_there(h)).count();
        let now = problem.live(&self.shard.present).filter(is_there).count();
        after <= now.max(most as usize)
    }

    fn assignment(&self, leader: Option<BrokerId>, mut followers: Vec<BrokerId>) -> Assignment {
        followers.sort_unstable();
        current::with_lost(self.problem, self.id, leader, followers)
    }
}
