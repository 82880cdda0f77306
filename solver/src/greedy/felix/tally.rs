//! The layout as planned so far, its counts, and what the hard rules leave room for.

use crate::budget::{Budget, Stop};
use crate::snapshot::{
    Assignment, Band, BrokerId, Counts, Limits, Problem, Roles, ShardId, StreamId, ZoneId,
};

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
/// Invariants: `placement` holds live replicas only, followers in canonical order; `counts` and `by_stream` are
/// the counts of `placement`, pinned shards included; no count exceeds the cap in force.
pub(super) struct Tally<'p> {
    pub(super) problem: &'p Problem,
    pub(super) placement: Vec<Assignment>,
    pub(super) counts: Counts,
    configured: Counts,
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

    /// Whether one more leader fits on `to` when it takes over from the shard's leader, if there is one.
    #[inline]
    pub(super) fn leader_fits(&self, shard: ShardId, to: BrokerId, caps: Caps) -> bool {
        let leader = self.of(shard).leader;
        self.lead_fits(leader.map(|b| self.problem.zone_of(b)), to, caps)
    }
    /// Whether one more leader fits on `to` when it takes over from one in the zone `from`, if there is one.
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
    fn zone_rule_allows(
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
        let followers = &mut self.placement[shard.index()].followers;
        if let Err(at) = followers.binary_search(&broker) {
            followers.insert(at, broker);
            self.count_replica(broker, 1);
        }
    }
    /// Removes a follower.
    pub(super) fn leave(&mut self, shard: ShardId, broker: BrokerId) {
        let followers = &mut self.placement[shard.index()].followers;
        if let Ok(at) = followers.binary_search(&broker) {
            followers.remove(at);
            self.count_replica(broker, -1);
        }
    }
    /// Lets a follower lead; the leader so far, if any, becomes a follower.
    pub(super) fn promote(&mut self, shard: ShardId, broker: BrokerId) {
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
    fn count_replica(&mut self, broker: BrokerId, by: i64) {
        self.counts.replicas[broker.index()] += by;
        self.counts.zone_replicas[self.problem.zone_of(broker).index()] += by;
    }
    fn count_leader(&mut self, shard: ShardId, broker: BrokerId, by: i64) {
        self.counts.leaders[broker.index()] += by;
        self.counts.zone_leaders[self.problem.zone_of(broker).index()] += by;
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

/// Floors and ceilings of one stream at a time, and of the cluster. Brokers of one share have the same.
///
/// A spread that the policy switches off is no goal of rebalancing, but placement prefers level counts all the
/// same: then the bands here have no slack.
pub(super) struct Bands {
    /// By broker, for the cluster.
    pub(super) cluster: Vec<Band>,
    /// Brokers that a replica of the stream may enter.
    pub(super) eligible: Vec<BrokerId>,
    /// By broker: which of `shares` it has.
    class: Vec<u32>,
    shares: Vec<u32>,
    /// By class, for the stream; meaningful for eligible brokers.
    stream: Vec<Band>,
    slack: u32,
    of: Option<StreamId>,
}

const NOTHING_WANTED: Band = Band { low: 0, high: 0 };

impl Bands {
    /// Bands with the policy's slack, or none.
    pub(super) fn new(problem: &Problem, with_slack: bool) -> Self {
        let slack = |spread: Option<crate::snapshot::Spread>| {
            spread.map_or(0, |s| s.slack * u32::from(with_slack))
        };
        let mut shares: Vec<u32> = problem.brokers.iter().map(|b| b.share).collect();
        shares.sort_unstable();
        shares.dedup();
        let class = |share: u32| shares.partition_point(|&s| s < share) as u32;
        let class: Vec<u32> = problem.brokers.iter().map(|b| class(b.share)).collect();
        let total = (problem.shards.len() as i64, problem.share_total);
        let cluster = bands(&shares, total, slack(problem.policy.cluster_leaders));
        Bands {
            cluster: class.iter().map(|&c| cluster[c as usize]).collect(),
            eligible: Vec::new(),
            stream: vec![NOTHING_WANTED; shares.len()],
            class,
            shares,
            slack: slack(problem.policy.stream_leaders),
            of: None,
        }
    }
    /// Turns to a stream. O(shares) where it is another than before, O(brokers) where other brokers may hold it.
    pub(super) fn turn_to(&mut self, problem: &Problem, stream: StreamId) {
        if self.of == Some(stream) {
            return;
        }
        let s = problem.stream(stream);
        let last = self.of.replace(stream);
        if last.is_none_or(|last| problem.stream(last).open != s.open) {
            let ids = problem.broker_ids();
            self.eligible.clear();
            self.eligible
                .extend(ids.filter(|&b| problem.may_enter(stream, b)));
        }
        self.stream = bands(&self.shares, (s.shard_count(), s.share_total), self.slack);
    }
    /// The stream's band of an eligible broker.
    #[inline]
    pub(super) fn of_stream(&self, broker: BrokerId) -> Band {
        self.stream[self.class[broker.index()] as usize]
    }
    /// The stream's band of all brokers, where it is one.
    pub(super) fn common(&self) -> Option<Band> {
        match self.stream[..] {
            [band] => Some(band),
            _ => None,
        }
    }
}

/// The band of each share for so many things over so many shares.
fn bands(shares: &[u32], (count, share_total): (i64, u64), slack: u32) -> Vec<Band> {
    let band = |&share: &u32| match share_total {
        0 => NOTHING_WANTED,
        _ => Band::new(count, share, share_total, slack),
    };
    shares.iter().map(band).collect()
}
