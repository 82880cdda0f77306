//! The layout as planned so far, its counts and loads, and what the hard rules leave room for.

mod limits;

use crate::budget::{Budget, Stop};
use crate::snapshot::{
    Assignment, BrokerId, Counts, Limits, Problem, Roles, ShardId, StreamId, ZoneId,
};
use limits::{Allowance, Limited, allowance, limited};

/// Units of work, of a few nanoseconds each, between two polls of the interrupt: well under a millisecond.
const POLL_EVERY: u64 = 1 << 16;

/// Units for touching a shard that is in no cache.
pub(super) const LOOKUP: usize = 32;

/// Polls the interrupt at an even pace, without spending the work limit.
pub(super) struct Pace<'a, 'b> {
    budget: &'a mut Budget<'b>,
    left: u64,
}

impl<'a, 'b> Pace<'a, 'b> {
    pub(super) fn new(budget: &'a mut Budget<'b>) -> Self {
        Pace { budget, left: 0 }
    }
    /// Counts work, and polls when enough has come together.
    #[inline]
    pub(super) fn step(&mut self, units: usize) -> Result<(), Stop> {
        let units = units as u64;
        if units < self.left {
            self.left -= units;
            return Ok(());
        }
        self.left = POLL_EVERY;
        self.budget.poll()
    }
}

/// Which caps a replica or leader has to fit under.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Caps {
    /// As configured: fitting adds no breach. Optional moves keep to these.
    Configured,
    /// In force, the larger of the cap and what the present layout has: the hard rule.
    InForce,
}

/// Where a shard is led in the present layout.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is new or lost: placing it is free.
    Nowhere,
    /// By this broker, live or not, if any.
    At(Option<BrokerId>),
}

/// The layout as planned so far.
///
/// Invariants: `placement` holds live replicas only, followers in canonical order; `counts`, `loads` and `by_stream` are
/// those of `placement`, pinned shards included; nothing exceeds the cap in force.
pub(super) struct Tally<'p> {
    pub(super) problem: &'p Problem,
    pub(super) placement: Vec<Assignment>,
    pub(super) counts: Counts,
    configured: Counts,
    /// Where bytes or rates matter.
    loads: Option<Limited>,
    /// Where the policy limits changes.
    allowance: Option<Allowance>,
    /// Leaders by stream and broker, a row a stream.
    by_stream: Vec<u32>,
    is_pinned: Vec<bool>,
    /// By broker: is `ACTIVE`.
    is_active: Vec<bool>,
    /// By stream: open to every broker. With it, most looks at a shard touch no table of its stream.
    is_open: Vec<bool>,
    /// By shard.
    origin: Vec<Origin>,
    /// By stream: its row is the one that was last found to be level.
    is_level: Vec<bool>,
}

impl<'p> Tally<'p> {
    pub(super) fn new(problem: &'p Problem, pace: &mut Pace<'_, '_>) -> Result<Self, Stop> {
        let brokers = problem.brokers.len();
        let mut by_stream = vec![0; problem.streams.len() * brokers];
        let mut placement = Vec::with_capacity(problem.shards.len());
        let mut origin = Vec::with_capacity(problem.shards.len());
        for shard in &problem.shards {
            pace.step(LOOKUP + shard.present.followers.len())?;
            let leader = problem.live_leader(shard);
            if let Some(b) = leader {
                by_stream[shard.stream.index() * brokers + b.index()] += 1;
            }
            origin.push(if problem.is_free_to_place(shard) {
                Origin::Nowhere
            } else {
                Origin::At(shard.present.leader)
            });
            let followers = &shard.present.followers;
            placement.push(Assignment {
                leader,
                followers: followers
                    .iter()
                    .copied()
                    .filter(|&b| problem.is_live(b))
                    .collect(),
            });
        }
        Ok(Tally {
            problem,
            placement,
            counts: problem.limits.present.clone(),
            configured: configured(problem),
            loads: limited(problem),
            allowance: allowance(problem, pace)?,
            by_stream,
            is_pinned: problem.shards.iter().map(|s| s.is_pinned).collect(),
            is_active: (problem.broker_ids())
                .map(|b| problem.is_active(b))
                .collect(),
            is_open: (problem.streams.iter())
                .map(|s| s.open.iter().all(|&open| open))
                .collect(),
            origin,
            is_level: vec![false; problem.streams.len()],
        })
    }

    /// The shard's replicas as planned.
    #[inline]
    pub(super) fn of(&self, shard: ShardId) -> &Assignment {
        &self.placement[shard.index()]
    }
    /// The stream's leaders on every broker.
    #[inline]
    pub(super) fn stream_row(&self, stream: StreamId) -> &[u32] {
        let brokers = self.problem.brokers.len();
        &self.by_stream[stream.index() * brokers..][..brokers]
    }
    /// Where the shard is led in the present layout.
    #[inline]
    pub(super) fn origin(&self, shard: ShardId) -> Origin {
        self.origin[shard.index()]
    }
    /// Whether a new replica of the stream may be put there, caps aside.
    #[inline]
    pub(super) fn may_enter(&self, stream: StreamId, broker: BrokerId) -> bool {
        self.is_active[broker.index()]
            && (self.is_open[stream.index()] || self.problem.may_enter(stream, broker))
    }
    /// By broker: open to the stream; `None` where every broker is.
    pub(super) fn closed_to_some(&self, stream: StreamId) -> Option<&[bool]> {
        (!self.is_open[stream.index()]).then(|| &self.problem.stream(stream).open[..])
    }
    /// Whether the shard keeps its replicas and their roles.
    #[inline]
    pub(super) fn is_pinned(&self, shard: ShardId) -> bool {
        self.is_pinned[shard.index()]
    }
    /// Whether the stream was found level as its row is now.
    #[inline]
    pub(super) fn is_level(&self, stream: StreamId) -> bool {
        self.is_level[stream.index()]
    }
    /// Notes that the stream is level as its row is now.
    pub(super) fn set_level(&mut self, stream: StreamId) {
        self.is_level[stream.index()] = true;
    }
    /// Leaders of the stream on the broker.
    #[inline]
    pub(super) fn stream_leaders(&self, stream: StreamId, broker: BrokerId) -> i64 {
        i64::from(self.by_stream[stream.index() * self.problem.brokers.len() + broker.index()])
    }
    /// Whether the shard's replicas stay where they are.
    pub(super) fn keeps_replicas(&self) -> bool {
        self.problem.policy.roles == Roles::LeadershipOnly
    }
    /// Followers that the shard lacks.
    pub(super) fn followers_missing(&self, shard: ShardId) -> usize {
        (self.factor(shard) - 1).saturating_sub(self.of(shard).followers.len())
    }
    /// Replicas that the shard should have.
    pub(super) fn factor(&self, shard: ShardId) -> usize {
        let stream = self.problem.shard(shard).stream;
        self.problem.replication_factor(stream) as usize
    }
    /// Live replicas of the shard in the zone of `broker`, the one on `leaving` aside.
    pub(super) fn beside(
        &self,
        shard: ShardId,
        broker: BrokerId,
        leaving: Option<BrokerId>,
    ) -> usize {
        let zone = self.problem.zone_of(broker);
        let stays = |&b: &BrokerId| Some(b) != leaving && self.problem.zone_of(b) == zone;
        self.of(shard).replicas().filter(stays).count()
    }
    /// Whether the shard spans fewer zones once its replica on `from` has gone to `to`.
    pub(super) fn lowers_zones(&self, shard: ShardId, from: BrokerId, to: BrokerId) -> bool {
        self.problem.zone_of(from) != self.problem.zone_of(to)
            && self.beside(shard, from, Some(from)) == 0
            && self.beside(shard, to, Some(from)) > 0
    }

    /// Whether the zone of `from` keeps the leaders that it should have when one goes to `to`.
    #[inline]
    pub(super) fn keeps_minimum(&self, from: BrokerId, to: BrokerId) -> bool {
        let (old, new) = (self.problem.zone_of(from), self.problem.zone_of(to));
        let wanted = i64::from(self.problem.zones[old.index()].min_leaders);
        old == new || self.counts.zone_leaders[old.index()] > wanted
    }

    /// Whether one more leader fits on `to` when it takes over from the shard's leader, if there is one.
    #[inline]
    pub(super) fn leader_fits(&self, shard: ShardId, to: BrokerId, caps: Caps) -> bool {
        let leader = self.of(shard).leader;
        self.lead_fits(leader.map(|b| self.problem.zone_of(b)), to, caps)
            && self.rate_fits(shard, to, caps)
    }
    /// Whether one more leader fits on `to` when it takes over from one in the zone `from`, if there is one, its rate
    /// aside.
    #[inline]
    pub(super) fn lead_fits(&self, from: Option<ZoneId>, to: BrokerId, caps: Caps) -> bool {
        let limit = self.limit(caps);
        if self.counts.leaders[to.index()] >= limit.leaders[to.index()] {
            return false;
        }
        let zone = self.problem.zone_of(to);
        self.counts.zone_leaders[zone.index()] < limit.zone_leaders[zone.index()]
            || from == Some(zone)
    }
    /// Whether a replica of the shard may be added on `to` while the one on `leaving` goes.
    #[inline]
    pub(super) fn replica_fits(
        &self,
        shard: ShardId,
        to: BrokerId,
        leaving: Option<BrokerId>,
        caps: Caps,
    ) -> bool {
        self.may_enter(self.problem.shard(shard).stream, to)
            && !self.of(shard).holds(to)
            && self.new_replica_fits(shard, to, leaving, caps)
    }
    /// The same where `to` may be entered and holds no replica.
    #[inline]
    pub(super) fn new_replica_fits(
        &self,
        shard: ShardId,
        to: BrokerId,
        leaving: Option<BrokerId>,
        caps: Caps,
    ) -> bool {
        self.bytes_short(shard, to, caps) <= 0 && self.slot_fits(shard, to, leaving, caps)
    }
    /// The same, bytes aside.
    #[inline]
    pub(super) fn slot_fits(
        &self,
        shard: ShardId,
        to: BrokerId,
        leaving: Option<BrokerId>,
        caps: Caps,
    ) -> bool {
        let limit = self.limit(caps);
        if self.counts.replicas[to.index()] >= limit.replicas[to.index()] {
            return false;
        }
        let zone = self.problem.zone_of(to);
        let stays_in_zone = leaving.map(|b| self.problem.zone_of(b)) == Some(zone);
        (stays_in_zone
            || self.counts.zone_replicas[zone.index()] < limit.zone_replicas[zone.index()])
            && self.zone_rule_allows(shard, to, leaving, caps)
    }
    /// `max_replicas_per_zone`; in force, a zone may keep as many as the shard has there now.
    pub(super) fn zone_rule_allows(
        &self,
        shard: ShardId,
        to: BrokerId,
        leaving: Option<BrokerId>,
        caps: Caps,
    ) -> bool {
        let Some(limit) = self.problem.policy.max_replicas_per_zone else {
            return true;
        };
        let there = self.beside(shard, to, leaving);
        if there < limit as usize {
            return true;
        }
        let zone = self.problem.zone_of(to);
        let present = &self.problem.shard(shard).present;
        let same_zone = |&b: &BrokerId| self.problem.zone_of(b) == zone;
        caps == Caps::InForce && there < self.problem.live(present).filter(same_zone).count()
    }
    fn limit(&self, caps: Caps) -> &Counts {
        match caps {
            Caps::Configured => &self.configured,
            Caps::InForce => &self.problem.limits.in_force,
        }
    }

    /// Adds a follower.
    pub(super) fn enter(&mut self, shard: ShardId, broker: BrokerId) {
        self.edit(shard, |tally| {
            let followers = &mut tally.placement[shard.index()].followers;
            if let Err(at) = followers.binary_search(&broker) {
                followers.insert(at, broker);
                tally.count_replica(shard, broker, 1);
            }
        });
    }
    /// Removes a follower.
    pub(super) fn leave(&mut self, shard: ShardId, broker: BrokerId) {
        self.edit(shard, |tally| {
            let followers = &mut tally.placement[shard.index()].followers;
            if let Ok(at) = followers.binary_search(&broker) {
                followers.remove(at);
                tally.count_replica(shard, broker, -1);
            }
        });
    }
    /// Lets a follower lead; the leader so far, if any, becomes a follower.
    pub(super) fn promote(&mut self, shard: ShardId, broker: BrokerId) {
        self.edit(shard, |tally| tally.hand_lead(shard, broker));
    }
    fn hand_lead(&mut self, shard: ShardId, broker: BrokerId) {
        let assignment = &mut self.placement[shard.index()];
        let Ok(at) = assignment.followers.binary_search(&broker) else {
            debug_assert!(false, "only a follower is promoted");
            return;
        };
        assignment.followers.remove(at);
        let old = assignment.leader.replace(broker);
        if let Some(old) = old {
            if let Err(at) = assignment.followers.binary_search(&old) {
                assignment.followers.insert(at, old);
            }
            self.count_leader(shard, old, -1);
        }
        self.count_leader(shard, broker, 1);
    }
    /// Takes over the live replicas of another plan of the shard.
    pub(super) fn assume(&mut self, shard: ShardId, plan: &Assignment) {
        let problem = self.problem;
        for b in problem.live(plan) {
            if !self.of(shard).holds(b) {
                self.enter(shard, b);
            }
        }
        if let Some(leader) = plan.leader
            && self.of(shard).leader != Some(leader)
        {
            self.promote(shard, leader);
        }
        for b in self.of(shard).followers.clone() {
            if !plan.holds(b) {
                self.leave(shard, b);
            }
        }
    }
    /// Moves the replica on `from` to `to`, which holds none, with its role.
    pub(super) fn relocate(&mut self, shard: ShardId, from: BrokerId, to: BrokerId) {
        self.enter(shard, to);
        if self.of(shard).leader == Some(from) {
            self.promote(shard, to);
        }
        self.leave(shard, from);
    }
    fn count_replica(&mut self, shard: ShardId, broker: BrokerId, by: i64) {
        self.counts.replicas[broker.index()] += by;
        self.counts.zone_replicas[self.problem.zone_of(broker).index()] += by;
        if let Some(loads) = &mut self.loads {
            loads.now.bytes[broker.index()] += by * self.problem.shard(shard).size_bytes;
        }
    }
    fn count_leader(&mut self, shard: ShardId, broker: BrokerId, by: i64) {
        self.counts.leaders[broker.index()] += by;
        self.counts.zone_leaders[self.problem.zone_of(broker).index()] += by;
        if let Some(loads) = &mut self.loads {
            loads.now.rates[broker.index()] += by * self.problem.shard(shard).rate;
        }
        let stream = self.problem.shard(shard).stream.index();
        self.is_level[stream] = false;
        let cell = &mut self.by_stream[stream * self.problem.brokers.len() + broker.index()];
        *cell = cell.wrapping_add_signed(by as i32);
    }

    /// The plan: replicas on `DOWN` brokers that nothing replaces are listed again.
    pub(super) fn finish(mut self) -> Vec<Assignment> {
        let problem = self.problem;
        if problem.broker_ids().all(|b| problem.is_live(b)) {
            return self.placement;
        }
        for id in problem.shard_ids() {
            let shard = problem.shard(id);
            let keeps_all = shard.is_pinned || self.keeps_replicas();
            let listed = self.of(id).replicas().count();
            let room = if keeps_all {
                usize::MAX
            } else {
                self.factor(id).saturating_sub(listed)
            };
            let mut dead: Vec<BrokerId> = shard
                .present
                .replicas()
                .filter(|&b| !problem.is_live(b))
                .collect();
            dead.sort_unstable();
            dead.truncate(room);
            let followers = &mut self.placement[id.index()].followers;
            followers.extend(dead);
            followers.sort_unstable();
        }
        self.placement
    }
}

/// The caps as configured, in the shape of counts.
fn configured(problem: &Problem) -> Counts {
    let or_none = |cap: Option<u32>| cap.map_or(Limits::NONE, i64::from);
    Counts {
        leaders: problem
            .brokers
            .iter()
            .map(|b| or_none(b.max_leaders))
            .collect(),
        replicas: problem
            .brokers
            .iter()
            .map(|b| or_none(b.max_replicas))
            .collect(),
        zone_leaders: problem
            .zones
            .iter()
            .map(|z| or_none(z.max_leaders))
            .collect(),
        zone_replicas: problem
            .zones
            .iter()
            .map(|z| or_none(z.max_replicas))
            .collect(),
    }
}
