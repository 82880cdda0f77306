//! What a placement costs, derived from the snapshot alone.
//!
//! A cost is a sum of two kinds of terms: the *own* cost of each shard, which depends on its replicas only, and
//! the cost of counts over many shards (leaders and live replicas of a broker, a zone, or a stream on a broker).
//! All sums are `i128`: no input that fits memory can make them wrap.

use crate::cost::{RANKS, Rank};
use crate::snapshot::{
    Assignment, Broker, BrokerId, BrokerState, Problem, Roles, Shard, Spread, Stream, Traffic,
    ZoneId,
};

/// One value per rank, the most important first; arrays compare lexicographically, as the objective does.
pub(in crate::verify) type Vector = [i128; RANKS];

/// Adds `b` to `a`, rank by rank.
pub(in crate::verify) fn add(a: &mut Vector, b: &Vector) {
    for (into, value) in a.iter_mut().zip(b) {
        *into += value;
    }
}

/// Whether the broker still has its replicas.
pub(in crate::verify) fn has_replicas(broker: &Broker) -> bool {
    broker.state != BrokerState::Down
}

/// Whether the broker takes new replicas of the stream, caps aside.
pub(in crate::verify) fn takes(problem: &Problem, stream: &Stream, broker: BrokerId) -> bool {
    problem.brokers[broker.index()].state == BrokerState::Active && stream.open[broker.index()]
}

/// Live replicas of an assignment, the leader first.
pub(in crate::verify) fn live_replicas(
    problem: &Problem,
    assignment: &Assignment,
) -> Vec<BrokerId> {
    let all = assignment.leader.iter().chain(&assignment.followers);
    all.filter(|b| has_replicas(&problem.brokers[b.index()]))
        .copied()
        .collect()
}

/// The leader of an assignment where it is live.
pub(in crate::verify) fn live_leader(
    problem: &Problem,
    assignment: &Assignment,
) -> Option<BrokerId> {
    let leader = assignment.leader?;
    has_replicas(&problem.brokers[leader.index()]).then_some(leader)
}

/// The parts of the `weighted` rank.
#[derive(Clone, Copy, Default)]
pub(in crate::verify) struct Parts {
    pub(in crate::verify) traffic: i128,
    pub(in crate::verify) overlap: i128,
    pub(in crate::verify) promotion: i128,
    pub(in crate::verify) same_rack: i128,
    pub(in crate::verify) same_rack_as_leader: i128,
}

impl Parts {
    fn sum(&self) -> i128 {
        self.traffic + self.overlap + self.promotion + self.same_rack + self.same_rack_as_leader
    }
}

/// What is asked of one shard, worked out once for all its possible placements.
pub(in crate::verify) struct Wanted<'a> {
    problem: &'a Problem,
    shard: &'a Shard,
    stream: &'a Stream,
    /// Price of one copy in the `weighted` rank; zero where placing it is free.
    copy_price: i128,
    /// Whether a replica on another broker counts as a copy: the shard has a live replica now.
    is_held: bool,
    has_live_leader: bool,
    zones: usize,
}

impl<'a> Wanted<'a> {
    pub(in crate::verify) fn new(problem: &'a Problem, shard: &'a Shard) -> Self {
        let stream = &problem.streams[shard.stream.index()];
        let now = live_replicas(problem, &shard.present);
        let mut zones_now: Vec<ZoneId> = now
            .iter()
            .map(|b| problem.brokers[b.index()].zone)
            .collect();
        zones_now.sort_unstable();
        zones_now.dedup();
        let kept = if problem.policy.allow_zone_loss {
            0
        } else {
            zones_now.len()
        };
        let weights = &problem.policy.weights;
        const GIB: i128 = 1 << 30;
        let gib_started = (i128::from(shard.size_bytes) + GIB - 1) / GIB;
        let is_held = !now.is_empty();
        let price = i128::from(weights.overlap) + i128::from(weights.overlap_per_gib) * gib_started;
        Wanted {
            problem,
            shard,
            stream,
            copy_price: if is_held { price } else { 0 },
            is_held,
            has_live_leader: live_leader(problem, &shard.present).is_some(),
            zones: kept
                .max(problem.policy.min_zones as usize)
                .min(stream.replication_factor as usize),
        }
    }

    /// Traffic of the shard's leader.
    pub(in crate::verify) fn leader_traffic(&self) -> &'a Traffic {
        &self.shard.leader_traffic
    }

    /// Traffic of each of its followers.
    pub(in crate::verify) fn follower_traffic(&self) -> &'a Traffic {
        &self.shard.follower_traffic
    }

    fn zone(&self, broker: BrokerId) -> ZoneId {
        self.problem.brokers[broker.index()].zone
    }

    fn held(&self, broker: BrokerId) -> bool {
        self.shard.present.leader == Some(broker) || self.shard.present.followers.contains(&broker)
    }

    /// Own cost of the shard with the given live replicas, one of which leads where there is a leader.
    ///
    /// Complexity: O(replicas²), no allocation.
    pub(in crate::verify) fn own(
        &self,
        leader: Option<BrokerId>,
        live: &[BrokerId],
    ) -> (Vector, Parts) {
        let weights = &self.problem.policy.weights;
        let per_zone = self.problem.policy.max_replicas_per_zone;
        let mut parts = Parts::default();
        let (mut spanned, mut pairs, mut crowding, mut unwanted, mut copies) = (0, 0, 0, 0, 0);
        for (at, &broker) in live.iter().enumerate() {
            let zone = self.zone(broker);
            let is_leader = leader == Some(broker);
            let earlier = live[..at].iter().filter(|&&b| self.zone(b) == zone).count();
            spanned += usize::from(earlier == 0);
            pairs += earlier as i128;
            crowding += i128::from(per_zone.is_some_and(|most| earlier >= most as usize));
            if !takes(self.problem, self.stream, broker) {
                unwanted += 1 + i128::from(is_leader);
            }
            if self.is_held && !self.held(broker) {
                copies += 1;
            }
            let traffic = if is_leader {
                &self.shard.leader_traffic
            } else {
                &self.shard.follower_traffic
            };
            parts.traffic += i128::from(weights.traffic) * crossing(traffic, zone);
            if !is_leader && leader.is_some_and(|l| self.zone(l) == zone) {
                parts.same_rack_as_leader += i128::from(weights.same_rack_as_leader);
            }
        }
        parts.same_rack = i128::from(weights.same_rack) * pairs;
        parts.overlap = self.copy_price * copies;
        parts.promotion = i128::from(weights.promotion) * i128::from(self.is_promotion(leader));

        let followers = live.len() - usize::from(leader.is_some());
        let followers_wanted = self.stream.replication_factor as usize - 1;
        let mut cost: Vector = [0; RANKS];
        cost[Rank::UnplacedLeaders as usize] = i128::from(leader.is_none());
        cost[Rank::UnplacedFollowers as usize] = followers_wanted.saturating_sub(followers) as i128;
        if !self.shard.is_pinned {
            cost[Rank::Breaches as usize] = unwanted + crowding;
            cost[Rank::ZonesLost as usize] = self.zones.saturating_sub(spanned) as i128;
        }
        cost[Rank::Weighted as usize] = parts.sum();
        cost[Rank::Copies as usize] = copies;
        cost[Rank::LeaderChanges as usize] = self.leader_changes(leader);
        (cost, parts)
    }

    /// The lead passes from a live leader to a broker that holds a follower.
    fn is_promotion(&self, leader: Option<BrokerId>) -> bool {
        self.has_live_leader
            && leader.is_some_and(|l| {
                self.shard.present.leader != Some(l) && self.shard.present.followers.contains(&l)
            })
    }

    fn leader_changes(&self, leader: Option<BrokerId>) -> i128 {
        let Some(leader) = leader else { return 0 };
        let renamed = self.shard.present.leader.is_some_and(|l| l != leader);
        let fails_over_and_moves = self.is_held && !self.has_live_leader && !self.held(leader);
        i128::from(renamed) + i128::from(fails_over_and_moves)
    }
}

/// Traffic that crosses zones from a replica in `zone`.
fn crossing(traffic: &Traffic, zone: ZoneId) -> i128 {
    let reached = traffic.reached.iter().find(|entry| entry.0 == zone);
    i128::from(traffic.total) - reached.map_or(0, |entry| i128::from(entry.1))
}

/// Leaders and live replicas of brokers and zones.
#[derive(Clone)]
pub(in crate::verify) struct Tally {
    pub(in crate::verify) leaders: Vec<i64>,
    pub(in crate::verify) replicas: Vec<i64>,
    pub(in crate::verify) zone_leaders: Vec<i64>,
    pub(in crate::verify) zone_replicas: Vec<i64>,
}

impl Tally {
    /// Nothing anywhere.
    pub(in crate::verify) fn empty(problem: &Problem) -> Self {
        Tally {
            leaders: vec![0; problem.brokers.len()],
            replicas: vec![0; problem.brokers.len()],
            zone_leaders: vec![0; problem.zones.len()],
            zone_replicas: vec![0; problem.zones.len()],
        }
    }
    /// Counts of the present layout.
    pub(in crate::verify) fn present(problem: &Problem) -> Self {
        let mut tally = Self::empty(problem);
        for shard in &problem.shards {
            tally.add(problem, &shard.present, 1);
        }
        tally
    }
    /// Leaders and replicas of a broker.
    pub(in crate::verify) fn of_broker(&self, id: BrokerId) -> (i64, i64) {
        (self.leaders[id.index()], self.replicas[id.index()])
    }
    /// Leaders and replicas of a zone.
    pub(in crate::verify) fn of_zone(&self, id: ZoneId) -> (i64, i64) {
        (
            self.zone_leaders[id.index()],
            self.zone_replicas[id.index()],
        )
    }
    /// Adds the live replicas of an assignment `times` times.
    pub(in crate::verify) fn add(
        &mut self,
        problem: &Problem,
        assignment: &Assignment,
        times: i64,
    ) {
        for replica in live_replicas(problem, assignment) {
            let zone = problem.brokers[replica.index()].zone;
            self.replicas[replica.index()] += times;
            self.zone_replicas[zone.index()] += times;
            if assignment.leader == Some(replica) {
                self.leaders[replica.index()] += times;
                self.zone_leaders[zone.index()] += times;
            }
        }
    }
}

/// `max(0, count − cap)`.
pub(in crate::verify) fn above(count: i64, cap: Option<u32>) -> i128 {
    cap.map_or(0, |cap| (i128::from(count) - i128::from(cap)).max(0))
}

/// Cost of the counts of brokers and zones: ranks 3, 7, 9 and 11.
pub(in crate::verify) fn count_cost(problem: &Problem, tally: &Tally) -> Vector {
    let mut cost: Vector = [0; RANKS];
    let bands = Bands::cluster(problem);
    for (at, broker) in problem.brokers.iter().enumerate() {
        cost[Rank::Breaches as usize] += above(tally.leaders[at], broker.max_leaders)
            + above(tally.replicas[at], broker.max_replicas);
        if let Some(band) = bands.leaders(broker) {
            cost[Rank::ClusterLeaderSpread as usize] += band.squared(tally.leaders[at]);
        }
        if let Some(band) = bands.replicas(broker) {
            cost[Rank::ClusterReplicaSpread as usize] += band.squared(tally.replicas[at]);
        }
    }
    for (at, zone) in problem.zones.iter().enumerate() {
        cost[Rank::Breaches as usize] += above(tally.zone_leaders[at], zone.max_leaders)
            + above(tally.zone_replicas[at], zone.max_replicas);
        let short = i128::from(zone.min_leaders) - i128::from(tally.zone_leaders[at]);
        cost[Rank::ZoneMinimumShortfall as usize] += short.max(0);
    }
    cost[Rank::ZoneMinimumShortfall as usize] += i128::from(problem.policy.absent_zone_minimum);
    cost
}

/// Cost of the counts of one stream on each broker: ranks 8 and 10.
pub(in crate::verify) fn stream_cost(
    problem: &Problem,
    stream: &Stream,
    leaders: &[i64],
    replicas: &[i64],
) -> Vector {
    let mut cost: Vector = [0; RANKS];
    let bands = Bands::stream(problem, stream);
    for (at, broker) in problem.brokers.iter().enumerate() {
        if !takes(problem, stream, BrokerId::at(at)) {
            continue;
        }
        if let Some(band) = bands.leaders(broker) {
            cost[Rank::StreamLeaderSpread as usize] += band.squared(leaders[at]);
        }
        if let Some(band) = bands.replicas(broker) {
            cost[Rank::StreamReplicaSpread as usize] += band.squared(replicas[at]);
        }
    }
    cost
}

/// Counts that cost nothing; outside, the cost is the distance squared.
#[derive(Clone, Copy)]
pub(in crate::verify) struct Level {
    pub(in crate::verify) low: i128,
    pub(in crate::verify) high: i128,
}

impl Level {
    /// Distance outside, squared.
    pub(in crate::verify) fn squared(self, count: i64) -> i128 {
        let count = i128::from(count);
        let distance = (self.low - count).max(count - self.high).max(0);
        distance * distance
    }
}

/// What each broker's level counts follow from: how many things there are, and whose shares divide them.
pub(in crate::verify) struct Bands {
    leaders: Option<(i128, Spread)>,
    replicas: Option<(i128, Spread)>,
    share_total: i128,
}

impl Bands {
    /// Levels of one stream; they apply to the `ACTIVE` brokers that may hold it.
    pub(in crate::verify) fn stream(problem: &Problem, stream: &Stream) -> Self {
        let shards = i128::from(stream.shards.end) - i128::from(stream.shards.start);
        let shares = (0..problem.brokers.len()).map(BrokerId::at);
        let policy = &problem.policy;
        Bands {
            leaders: policy.stream_leaders.map(|spread| (shards, spread)),
            replicas: policy
                .stream_replicas
                .filter(|_| replicas_are_levelled(problem))
                .map(|spread| (shards * i128::from(stream.replication_factor), spread)),
            share_total: shares
                .filter(|&b| takes(problem, stream, b))
                .map(|b| i128::from(problem.brokers[b.index()].share))
                .sum(),
        }
    }
    /// Levels of the cluster; they apply to the `ACTIVE` brokers.
    pub(in crate::verify) fn cluster(problem: &Problem) -> Self {
        let policy = &problem.policy;
        let factor =
            |shard: &Shard| i128::from(problem.streams[shard.stream.index()].replication_factor);
        let active = problem
            .brokers
            .iter()
            .filter(|b| b.state == BrokerState::Active);
        Bands {
            leaders: policy
                .cluster_leaders
                .map(|spread| (problem.shards.len() as i128, spread)),
            replicas: policy
                .cluster_replicas
                .filter(|_| replicas_are_levelled(problem))
                .map(|spread| (problem.shards.iter().map(factor).sum(), spread)),
            share_total: active.map(|b| i128::from(b.share)).sum(),
        }
    }
    /// The broker's level count of leaders.
    pub(in crate::verify) fn leaders(&self, broker: &Broker) -> Option<Level> {
        self.level(self.leaders, broker)
    }
    fn replicas(&self, broker: &Broker) -> Option<Level> {
        self.level(self.replicas, broker)
    }
    fn level(&self, wanted: Option<(i128, Spread)>, broker: &Broker) -> Option<Level> {
        let (count, spread) = wanted?;
        if self.share_total == 0 || broker.state != BrokerState::Active {
            return None;
        }
        let parts = count * i128::from(broker.share);
        let floor = parts / self.share_total;
        let ceiling = floor + i128::from(parts % self.share_total != 0);
        Some(Level {
            low: floor - i128::from(spread.slack),
            high: ceiling + i128::from(spread.slack),
        })
    }
}

/// Replicas are levelled where the plan decides them and some shard has followers.
fn replicas_are_levelled(problem: &Problem) -> bool {
    problem.policy.roles == Roles::LeadersAndFollowers
        && problem
            .streams
            .iter()
            .any(|s| !s.shards.is_empty() && s.replication_factor > 1)
}
