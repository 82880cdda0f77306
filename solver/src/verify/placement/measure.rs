//! What a placement costs, derived from the snapshot alone.
//!
//! A cost is a sum of two kinds of terms: the *own* cost of each shard, which depends on its replicas only, and
//! the cost of counts over many shards (leaders and live replicas of a broker, a zone, or a stream on a broker).
//! All sums are `i128`: no input that fits memory can make them wrap.

use smallvec::SmallVec;

use crate::budget::{Pace, Stop};
use crate::cost::{RANKS, Rank};
use crate::snapshot::{
    Assignment, Broker, BrokerId, BrokerState, Problem, Roles, Shard, Spread, Stream, Traffic,
    ZoneId,
};

/// One value per rank, the most important first; arrays compare lexicographically, as the objective does.
pub(in crate::verify) type Vector = [i128; RANKS];

/// Replicas of one shard, which seldom has more than a few.
pub(in crate::verify) type Replicas = SmallVec<[BrokerId; 8]>;

/// Whether the broker still has its replicas.
pub(in crate::verify) fn has_replicas(broker: &Broker) -> bool {
    broker.state != BrokerState::Down
}

/// Whether the broker takes new replicas of the stream, caps aside.
pub(in crate::verify) fn takes(problem: &Problem, stream: &Stream, broker: BrokerId) -> bool {
    problem.brokers[broker.index()].state == BrokerState::Active && stream.open[broker.index()]
}

/// Live replicas of an assignment, the leader first.
pub(in crate::verify) fn live_replicas(problem: &Problem, assignment: &Assignment) -> Replicas {
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
    /// Adds the parts of another shard.
    pub(in crate::verify) fn add(&mut self, other: &Parts) {
        self.traffic += other.traffic;
        self.overlap += other.overlap;
        self.promotion += other.promotion;
        self.same_rack += other.same_rack;
        self.same_rack_as_leader += other.same_rack_as_leader;
    }

    fn sum(&self) -> i128 {
        self.traffic + self.overlap + self.promotion + self.same_rack + self.same_rack_as_leader
    }
}

/// Own cost of one shard: the ranks that a shard by itself can have a cost in. Each is small but for `weighted`, whose
/// total over all shards the snapshot's validation keeps within `i64`; that one is an `i128` all the same, so that
/// nothing here depends on it.
#[derive(Clone, Copy)]
pub(in crate::verify) struct Own {
    unplaced_leaders: i64,
    unplaced_followers: i64,
    breaches: i64,
    zones_lost: i64,
    weighted: i128,
    copies: i64,
    leader_changes: i64,
}

impl Own {
    /// The ranks it has, in order.
    pub(in crate::verify) const RANKS: [Rank; 7] = [
        Rank::UnplacedLeaders,
        Rank::UnplacedFollowers,
        Rank::Breaches,
        Rank::ZonesLost,
        Rank::Weighted,
        Rank::Copies,
        Rank::LeaderChanges,
    ];

    /// Nothing in any rank.
    const NOTHING: Own = Own {
        unplaced_leaders: 0,
        unplaced_followers: 0,
        breaches: 0,
        zones_lost: 0,
        weighted: 0,
        copies: 0,
        leader_changes: 0,
    };

    /// Its values in the order of [`Own::RANKS`].
    pub(in crate::verify) fn values(&self) -> [i128; 7] {
        [
            i128::from(self.unplaced_leaders),
            i128::from(self.unplaced_followers),
            i128::from(self.breaches),
            i128::from(self.zones_lost),
            self.weighted,
            i128::from(self.copies),
            i128::from(self.leader_changes),
        ]
    }

    /// Adds it to a total.
    pub(in crate::verify) fn add_to(&self, total: &mut Vector) {
        for (rank, value) in Self::RANKS.into_iter().zip(self.values()) {
            total[rank as usize] += value;
        }
    }

    /// Breaches of rank 3.
    pub(in crate::verify) fn breaches(&self) -> i64 {
        self.breaches
    }
}

/// The replicas that a shard has before one more follower comes to a zone.
pub(in crate::verify) struct Beside {
    /// Those in that zone.
    pub(in crate::verify) in_zone: usize,
    /// One of them leads.
    pub(in crate::verify) is_leader_there: bool,
    /// Zones that they span.
    pub(in crate::verify) zones: usize,
    /// Those that do not lead.
    pub(in crate::verify) followers: usize,
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
        let zone = |b: &BrokerId| problem.brokers[b.index()].zone;
        let is_first = |at: &usize| now[..*at].iter().all(|b| zone(b) != zone(&now[*at]));
        let kept = match problem.policy.allow_zone_loss {
            true => 0,
            false => (0..now.len()).filter(is_first).count(),
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

    /// The shard.
    pub(in crate::verify) fn shard(&self) -> &'a Shard {
        self.shard
    }

    /// The shard's stream.
    pub(in crate::verify) fn stream(&self) -> &'a Stream {
        self.stream
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
    ) -> (Own, Parts) {
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
            crowding += i64::from(per_zone.is_some_and(|most| earlier >= most as usize));
            if !takes(self.problem, self.stream, broker) {
                unwanted += 1 + i64::from(is_leader);
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
        parts.overlap = self.copy_price * i128::from(copies);
        parts.promotion = i128::from(weights.promotion) * i128::from(self.is_promotion(leader));

        let followers = live.len() - usize::from(leader.is_some());
        let followers_wanted = self.stream.replication_factor as usize - 1;
        let is_free = !self.shard.is_pinned;
        let lost = self.zones.saturating_sub(spanned) as i64;
        let own = Own {
            unplaced_leaders: i64::from(leader.is_none()),
            unplaced_followers: followers_wanted.saturating_sub(followers) as i64,
            breaches: if is_free { unwanted + crowding } else { 0 },
            zones_lost: if is_free { lost } else { 0 },
            weighted: parts.sum(),
            copies,
            leader_changes: self.leader_changes(leader),
        };
        (own, parts)
    }

    /// What one more follower costs by itself, wherever the shard's other replicas are.
    pub(in crate::verify) fn follower(&self, broker: BrokerId) -> Own {
        let is_copy = self.is_held && !self.held(broker);
        let crossing = crossing(&self.shard.follower_traffic, self.zone(broker));
        let traffic = i128::from(self.problem.policy.weights.traffic) * crossing;
        Own {
            breaches: i64::from(!takes(self.problem, self.stream, broker)),
            weighted: traffic + if is_copy { self.copy_price } else { 0 },
            copies: i64::from(is_copy),
            ..Own::NOTHING
        }
    }

    /// What one more follower costs beside the replicas that the shard has already; with [`Wanted::follower`] and the cost
    /// of what is there, it makes up [`Wanted::own`] of a shard that is not pinned.
    pub(in crate::verify) fn beside(&self, there: &Beside) -> Own {
        let weights = &self.problem.policy.weights;
        let per_zone = self.problem.policy.max_replicas_per_zone;
        let with_leader = match there.is_leader_there {
            true => i128::from(weights.same_rack_as_leader),
            false => 0,
        };
        let is_wanted_zone = there.in_zone == 0 && there.zones < self.zones;
        Own {
            unplaced_followers: -i64::from(there.followers + 1 < self.factor()),
            breaches: i64::from(per_zone.is_some_and(|most| there.in_zone >= most as usize)),
            zones_lost: -i64::from(is_wanted_zone),
            weighted: i128::from(weights.same_rack) * there.in_zone as i128 + with_leader,
            ..Own::NOTHING
        }
    }

    /// Replicas that the shard should have.
    pub(in crate::verify) fn factor(&self) -> usize {
        self.stream.replication_factor as usize
    }

    /// The lead passes from a live leader to a broker that holds a follower.
    fn is_promotion(&self, leader: Option<BrokerId>) -> bool {
        self.has_live_leader
            && leader.is_some_and(|l| {
                self.shard.present.leader != Some(l) && self.shard.present.followers.contains(&l)
            })
    }

    fn leader_changes(&self, leader: Option<BrokerId>) -> i64 {
        let Some(leader) = leader else { return 0 };
        let renamed = self.shard.present.leader.is_some_and(|l| l != leader);
        let fails_over_and_moves = self.is_held && !self.has_live_leader && !self.held(leader);
        i64::from(renamed) + i64::from(fails_over_and_moves)
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
    pub(in crate::verify) fn present(problem: &Problem, pace: &mut Pace<'_>) -> Result<Self, Stop> {
        let mut tally = Self::empty(problem);
        for shard in &problem.shards {
            pace.step(1)?;
            tally.add(problem, &shard.present, 1);
        }
        Ok(tally)
    }
    /// Adds the live replicas of an assignment `times` times.
    pub(in crate::verify) fn add(
        &mut self,
        problem: &Problem,
        assignment: &Assignment,
        times: i64,
    ) {
        let live = live_replicas(problem, assignment);
        self.add_live(problem, live_leader(problem, assignment), &live, times);
    }
    /// The same for replicas that are known to be live.
    #[inline]
    pub(in crate::verify) fn add_live(
        &mut self,
        problem: &Problem,
        leader: Option<BrokerId>,
        live: &[BrokerId],
        times: i64,
    ) {
        for replica in live {
            self.replicas[replica.index()] += times;
            self.zone_replicas[problem.brokers[replica.index()].zone.index()] += times;
        }
        if let Some(leader) = leader {
            self.leaders[leader.index()] += times;
            self.zone_leaders[problem.brokers[leader.index()].zone.index()] += times;
        }
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
}

/// `max(0, count − cap)`.
pub(in crate::verify) fn above(count: i64, cap: Option<u32>) -> i128 {
    cap.map_or(0, |cap| (i128::from(count) - i128::from(cap)).max(0))
}

/// Cost of the counts of brokers and zones: ranks 3, 7, 9 and 11.
pub(in crate::verify) fn count_cost(problem: &Problem, tally: &Tally) -> Vector {
    let mut cost: Vector = [0; RANKS];
    let mut bands = Bands::cluster(problem);
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

/// Leaders and live replicas of the stream at hand, by broker.
pub(super) struct StreamTally {
    leaders: Vec<i64>,
    replicas: Vec<i64>,
    /// Brokers that hold a replica.
    touched: Vec<BrokerId>,
    shares: Shares,
}

impl StreamTally {
    pub(super) fn new(problem: &Problem) -> Self {
        StreamTally {
            leaders: vec![0; problem.brokers.len()],
            replicas: vec![0; problem.brokers.len()],
            touched: Vec::new(),
            shares: Shares::new(problem),
        }
    }

    /// Counts one shard.
    pub(super) fn add(&mut self, leader: Option<BrokerId>, live: &[BrokerId]) {
        for &replica in live {
            let count = &mut self.replicas[replica.index()];
            if *count == 0 {
                self.touched.push(replica);
            }
            *count += 1;
        }
        if let Some(leader) = leader {
            self.leaders[leader.index()] += 1;
        }
    }

    /// Adds the cost of the counts on each broker, ranks 8 and 10, and starts again from nothing. Where no broker has to
    /// hold any, the others cost nothing.
    ///
    /// Complexity: O(brokers that hold any), or O(brokers).
    pub(super) fn settle(&mut self, problem: &Problem, stream: &Stream, total: &mut Vector) {
        let mut bands = Bands::stream(problem, stream, &self.shares);
        let is_level_empty = bands.are_level_empty(self.shares.largest);
        let mut add = |at: usize| {
            let broker = &problem.brokers[at];
            if broker.state != BrokerState::Active || !stream.open[at] {
                return;
            }
            if let Some(band) = bands.leaders(broker) {
                total[Rank::StreamLeaderSpread as usize] += band.squared(self.leaders[at]);
            }
            if let Some(band) = bands.replicas(broker) {
                total[Rank::StreamReplicaSpread as usize] += band.squared(self.replicas[at]);
            }
        };
        if is_level_empty {
            self.touched.iter().for_each(|b| add(b.index()));
        } else {
            (0..problem.brokers.len()).for_each(&mut add);
        }
        for b in self.touched.drain(..) {
            self.leaders[b.index()] = 0;
            self.replicas[b.index()] = 0;
        }
    }
}

/// Shares of the `ACTIVE` brokers.
pub(in crate::verify) struct Shares {
    total: i128,
    largest: u32,
}

impl Shares {
    pub(in crate::verify) fn new(problem: &Problem) -> Self {
        let active = problem.brokers.iter();
        let active = active.filter(|b| b.state == BrokerState::Active);
        let shares = active.map(|b| b.share);
        Shares {
            total: shares.clone().map(i128::from).sum(),
            largest: shares.max().unwrap_or(0),
        }
    }

    /// Those of the brokers that may hold the stream.
    fn of_stream(&self, problem: &Problem, stream: &Stream) -> i128 {
        if stream.open.iter().all(|&open| open) {
            return self.total;
        }
        let brokers = problem.brokers.iter().zip(&stream.open);
        let open = brokers.filter(|(broker, open)| **open && broker.state == BrokerState::Active);
        i128::from(open.map(|(broker, _)| u64::from(broker.share)).sum::<u64>())
    }
}

/// Counts that cost nothing; outside, the cost is the distance squared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::verify) struct Level {
    pub(in crate::verify) low: i64,
    pub(in crate::verify) high: i64,
}

impl Level {
    /// Distance outside, squared. Counts of things in memory and slacks of 32 bits are far from the ends of `i64`; their
    /// squares may not be.
    #[inline]
    pub(in crate::verify) fn squared(self, count: i64) -> i128 {
        let distance = (self.low - count).max(count - self.high).max(0);
        match distance {
            0 => 0,
            _ => i128::from(distance) * i128::from(distance),
        }
    }
}

/// What each broker's level counts follow from: how many things there are, and whose shares divide them.
pub(in crate::verify) struct Bands {
    leaders: Option<Divided>,
    replicas: Option<Divided>,
    share_total: i128,
}

/// Things divided by shares.
struct Divided {
    count: i128,
    spread: Spread,
    /// The share asked for last and its level: most brokers have the same.
    last: Option<(u32, Level)>,
}

impl Divided {
    fn new(count: i128, spread: Spread) -> Self {
        Divided {
            count,
            spread,
            last: None,
        }
    }

    /// The level of a share of a total that is not zero. A share's part is no more than the whole count, which counts
    /// replicas of shards in memory and so is within `i64`.
    #[inline]
    fn level(&mut self, share: u32, total: i128) -> Level {
        if let Some((_, level)) = self.last.filter(|last| last.0 == share) {
            return level;
        }
        let parts = self.count * i128::from(share);
        let floor = parts / total;
        let ceiling = floor + i128::from(parts % total != 0);
        let level = Level {
            low: (floor - i128::from(self.spread.slack)) as i64,
            high: (ceiling + i128::from(self.spread.slack)) as i64,
        };
        self.last = Some((share, level));
        level
    }
}

impl Bands {
    /// Levels of one stream; they apply to the `ACTIVE` brokers that may hold it.
    pub(in crate::verify) fn stream(problem: &Problem, stream: &Stream, shares: &Shares) -> Self {
        let shards = i128::from(stream.shards.end) - i128::from(stream.shards.start);
        let policy = &problem.policy;
        Bands {
            leaders: (policy.stream_leaders).map(|spread| Divided::new(shards, spread)),
            replicas: policy
                .stream_replicas
                .filter(|_| replicas_are_levelled(problem))
                .map(|spread| {
                    let wanted = shards * i128::from(stream.replication_factor);
                    Divided::new(wanted, spread)
                }),
            share_total: shares.of_stream(problem, stream),
        }
    }
    /// Levels of the cluster; they apply to the `ACTIVE` brokers.
    pub(in crate::verify) fn cluster(problem: &Problem) -> Self {
        let policy = &problem.policy;
        let factor =
            |shard: &Shard| i128::from(problem.streams[shard.stream.index()].replication_factor);
        Bands {
            leaders: policy
                .cluster_leaders
                .map(|spread| Divided::new(problem.shards.len() as i128, spread)),
            replicas: policy
                .cluster_replicas
                .filter(|_| replicas_are_levelled(problem))
                .map(|spread| Divided::new(problem.shards.iter().map(factor).sum(), spread)),
            share_total: Shares::new(problem).total,
        }
    }
    /// Whether a broker is level with nothing, its share being no more than `largest`.
    fn are_level_empty(&mut self, largest: u32) -> bool {
        let total = self.share_total;
        let mut kinds = [&mut self.leaders, &mut self.replicas]
            .into_iter()
            .flatten();
        total == 0 || kinds.all(|divided| divided.level(largest, total).low <= 0)
    }
    /// The broker's level count of leaders.
    #[inline]
    pub(in crate::verify) fn leaders(&mut self, broker: &Broker) -> Option<Level> {
        level(&mut self.leaders, self.share_total, broker)
    }
    /// The broker's level count of replicas.
    #[inline]
    pub(in crate::verify) fn replicas(&mut self, broker: &Broker) -> Option<Level> {
        level(&mut self.replicas, self.share_total, broker)
    }
}

#[inline]
fn level(divided: &mut Option<Divided>, share_total: i128, broker: &Broker) -> Option<Level> {
    if share_total == 0 || broker.state != BrokerState::Active {
        return None;
    }
    Some(divided.as_mut()?.level(broker.share, share_total))
}

/// Replicas are levelled where the plan decides them and some shard has followers.
fn replicas_are_levelled(problem: &Problem) -> bool {
    problem.policy.roles == Roles::LeadersAndFollowers
        && problem
            .streams
            .iter()
            .any(|s| !s.shards.is_empty() && s.replication_factor > 1)
}
