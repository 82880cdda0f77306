//! The objective: fifteen ranks, compared lexicographically, and what a placement costs in each.

use smallvec::SmallVec;

use crate::budget::{Pace, Stop, unstopped};
use crate::snapshot::{
    Assignment, Band, BrokerId, Counts, Loads, Problem, Shard, ShardId, Stream, StreamId, Traffic,
    ZoneId, balance_caps,
};

/// Number of ranks.
pub const RANKS: usize = 15;

/// The ranks in order of importance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // the names say it; `Cost` documents each
pub enum Rank {
    UnplacedLeaders,
    UnplacedFollowers,
    Breaches,
    DiskExcess,
    RateExcess,
    ZonesLost,
    ZoneMinimumShortfall,
    StreamLeaderSpread,
    ClusterLeaderSpread,
    StreamReplicaSpread,
    ClusterReplicaSpread,
    BalanceExcess,
    Weighted,
    Copies,
    LeaderChanges,
}

impl Rank {
    /// All ranks, the most important first.
    pub const ALL: [Rank; RANKS] = [
        Rank::UnplacedLeaders,
        Rank::UnplacedFollowers,
        Rank::Breaches,
        Rank::DiskExcess,
        Rank::RateExcess,
        Rank::ZonesLost,
        Rank::ZoneMinimumShortfall,
        Rank::StreamLeaderSpread,
        Rank::ClusterLeaderSpread,
        Rank::StreamReplicaSpread,
        Rank::ClusterReplicaSpread,
        Rank::BalanceExcess,
        Rank::Weighted,
        Rank::Copies,
        Rank::LeaderChanges,
    ];

    /// Name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Rank::UnplacedLeaders => "unplaced_leaders",
            Rank::UnplacedFollowers => "unplaced_followers",
            Rank::Breaches => "breaches",
            Rank::DiskExcess => "disk_excess",
            Rank::RateExcess => "rate_excess",
            Rank::ZonesLost => "zones_lost",
            Rank::ZoneMinimumShortfall => "zone_minimum_shortfall",
            Rank::StreamLeaderSpread => "stream_leader_spread",
            Rank::ClusterLeaderSpread => "cluster_leader_spread",
            Rank::StreamReplicaSpread => "stream_replica_spread",
            Rank::ClusterReplicaSpread => "cluster_replica_spread",
            Rank::BalanceExcess => "balance_excess",
            Rank::Weighted => "weighted",
            Rank::Copies => "copies",
            Rank::LeaderChanges => "leader_changes",
        }
    }
}

/// One value per rank, indexed by [`Rank`]; the derived order is the lexicographic order of the objective.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Cost(pub [i64; RANKS]);

impl std::ops::Index<Rank> for Cost {
    type Output = i64;
    fn index(&self, rank: Rank) -> &i64 {
        &self.0[rank as usize]
    }
}

impl std::ops::IndexMut<Rank> for Cost {
    fn index_mut(&mut self, rank: Rank) -> &mut i64 {
        &mut self.0[rank as usize]
    }
}

/// The terms of the `weighted` rank, already multiplied by their weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Terms {
    /// Traffic that crosses zones.
    pub traffic: i64,
    /// Copies, with their bytes.
    pub overlap: i64,
    /// Leaders moved onto followers.
    pub promotion: i64,
    /// Pairs of replicas in one zone.
    pub same_rack: i64,
    /// Followers in their leader's zone.
    pub same_rack_as_leader: i64,
}

impl Terms {
    /// Their sum: the `weighted` rank.
    pub fn sum(&self) -> i64 {
        self.traffic + self.overlap + self.promotion + self.same_rack + self.same_rack_as_leader
    }
}

/// A cost, and the terms of its `weighted` rank.
pub type Evaluation = (Cost, Terms);

/// Cost of a placement by rank, and the terms of `weighted`. `placement` is indexed by [`ShardId`].
///
/// Complexity: O(shards · replicas + streams + brokers), and O(brokers) for every stream that has a shard or more for
/// each.
pub fn evaluate(problem: &Problem, placement: &[Assignment]) -> Evaluation {
    unstopped(|pace| evaluate_within(problem, |at| &placement[at], pace))
}

/// The same of the placement that `of` tells shard by shard, until the interrupt asks to stop.
///
/// # Errors
/// The interrupt's reason.
pub fn evaluate_within<'a>(
    problem: &'a Problem,
    of: impl Fn(usize) -> &'a Assignment,
    pace: &mut Pace<'_>,
) -> Result<Evaluation, Stop> {
    let mut cost = Cost::default();
    let mut terms = Terms::default();
    let mut counts = Counts::zero(problem.brokers.len(), problem.zones.len());
    let mut loads = Loads::zero(problem.brokers.len());
    let has_loads = problem.has_loads();
    for (at, shard) in problem.shards.iter().enumerate() {
        pace.step(1)?;
        let assignment = of(at);
        counts.add(&problem.brokers, assignment, 1);
        if has_loads {
            loads.add(&problem.brokers, shard, assignment, 1);
        }
        add_shard(problem, shard, assignment, &mut cost, &mut terms);
    }
    add_caps(problem, &counts, &mut cost);
    if has_loads {
        add_loads(problem, &loads, &mut cost);
    }
    add_cluster_spreads(problem, &counts, &mut cost);
    add_stream_spreads(problem, of, &mut cost, pace)?;
    cost[Rank::Weighted] = terms.sum();
    Ok((cost, terms))
}

/// Cost of one shard's own choice: everything that no count over several shards enters.
/// `cost[Weighted]` is left to the caller, who has the terms.
pub fn shard_cost(problem: &Problem, shard: ShardId, assignment: &Assignment) -> Cost {
    let mut cost = Cost::default();
    let mut terms = Terms::default();
    add_shard(
        problem,
        problem.shard(shard),
        assignment,
        &mut cost,
        &mut terms,
    );
    cost[Rank::Weighted] = terms.sum();
    cost
}

fn add_shard(
    problem: &Problem,
    shard: &Shard,
    assignment: &Assignment,
    cost: &mut Cost,
    terms: &mut Terms,
) {
    let factor = i64::from(problem.replication_factor(shard.stream));
    let leader = assignment.leader.filter(|&b| problem.is_live(b));
    let mut live = 0;
    let mut unwanted = 0;
    let mut copies = 0;
    for b in problem.live(assignment) {
        live += 1;
        unwanted += i64::from(problem.is_unwanted(shard.stream, b));
        copies += i64::from(!shard.present.holds(b));
    }
    let followers = live - i64::from(leader.is_some());
    cost[Rank::UnplacedLeaders] += i64::from(leader.is_none());
    cost[Rank::UnplacedFollowers] += (factor - 1 - followers).max(0);
    if !shard.is_pinned {
        let led_unwanted = leader.is_some_and(|b| problem.is_unwanted(shard.stream, b));
        cost[Rank::Breaches] +=
            unwanted + i64::from(led_unwanted) + over_zone_limit(problem, assignment);
        let wanted = i64::from(problem.zones_wanted(shard));
        cost[Rank::ZonesLost] += (wanted - i64::from(problem.zones_spanned(assignment))).max(0);
    }
    add_weighted(
        problem,
        shard,
        assignment,
        leader.map(|b| problem.zone_of(b)),
        terms,
    );
    if !problem.is_free_to_place(shard) {
        terms.overlap += copies * problem.copy_cost(shard);
        cost[Rank::Copies] += copies;
    }
    let Some(leader) = leader else { return };
    let held = shard.present.followers.contains(&leader);
    if problem.live_leader(shard).is_some_and(|old| old != leader) && held {
        terms.promotion += problem.policy.weights.promotion;
    }
    cost[Rank::LeaderChanges] += leader_changes(problem, shard, assignment);
}

/// Rank 15 of one shard that is led: a change of the named leader, and one more where live replicas fail over
/// first and the lead then goes to a broker that held none.
fn leader_changes(problem: &Problem, shard: &Shard, assignment: &Assignment) -> i64 {
    let Some(leader) = assignment.leader else {
        return 0;
    };
    let renamed = shard.present.leader.is_some_and(|old| old != leader);
    let fails_over_first = problem.live_leader(shard).is_none()
        && !problem.is_free_to_place(shard)
        && !shard.present.holds(leader);
    i64::from(renamed) + i64::from(fails_over_first)
}

fn add_weighted(
    problem: &Problem,
    shard: &Shard,
    assignment: &Assignment,
    leader_zone: Option<ZoneId>,
    terms: &mut Terms,
) {
    let weights = &problem.policy.weights;
    let cross = |traffic: &Traffic, zone| weights.traffic * traffic.cross(zone);
    let mut zones: SmallVec<[ZoneId; 8]> = SmallVec::new();
    if let Some(zone) = leader_zone {
        terms.traffic += cross(&shard.leader_traffic, zone);
        zones.push(zone);
    }
    for &b in assignment.followers.iter().filter(|&&b| problem.is_live(b)) {
        let zone = problem.zone_of(b);
        terms.traffic += cross(&shard.follower_traffic, zone);
        terms.same_rack_as_leader +=
            weights.same_rack_as_leader * i64::from(leader_zone == Some(zone));
        let together = zones.iter().filter(|&&z| z == zone).count() as i64;
        terms.same_rack += weights.same_rack * together;
        zones.push(zone);
    }
}

/// Live replicas of one assignment above `max_replicas_per_zone`.
fn over_zone_limit(problem: &Problem, assignment: &Assignment) -> i64 {
    let Some(limit) = problem.policy.max_replicas_per_zone else {
        return 0;
    };
    let mut zones: Vec<ZoneId> = problem
        .live(assignment)
        .map(|b| problem.zone_of(b))
        .collect();
    zones.sort_unstable();
    zones
        .chunk_by(|a, b| a == b)
        .map(|same| (same.len() as i64 - i64::from(limit)).max(0))
        .sum()
}

fn add_caps(problem: &Problem, counts: &Counts, cost: &mut Cost) {
    let excess =
        |count: i64, cap: Option<u32>| cap.map_or(0, |cap| (count - i64::from(cap)).max(0));
    for (b, broker) in problem.brokers.iter().enumerate() {
        cost[Rank::Breaches] += excess(counts.leaders[b], broker.max_leaders)
            + excess(counts.replicas[b], broker.max_replicas);
    }
    cost[Rank::ZoneMinimumShortfall] += problem.policy.absent_zone_minimum;
    for (z, zone) in problem.zones.iter().enumerate() {
        cost[Rank::Breaches] += excess(counts.zone_leaders[z], zone.max_leaders)
            + excess(counts.zone_replicas[z], zone.max_replicas);
        cost[Rank::ZoneMinimumShortfall] +=
            (i64::from(zone.min_leaders) - counts.zone_leaders[z]).max(0);
    }
}

/// Ranks 4, 5 and 12.
fn add_loads(problem: &Problem, loads: &Loads, cost: &mut Cost) {
    let above = |load: i64, cap: Option<i64>| cap.map_or(0, |cap| (load - cap).max(0));
    for b in problem.broker_ids().filter(|&b| problem.is_live(b)) {
        let at = b.index();
        cost[Rank::DiskExcess] += above(loads.bytes[at], problem.disk_room(b));
        cost[Rank::RateExcess] += above(loads.rates[at], problem.broker(b).rate_capacity);
    }
    if let Some(balance) = problem.policy.balance {
        let caps = balance_caps(problem);
        let over = caps.iter().zip(loads.of(balance.dimension));
        cost[Rank::BalanceExcess] += over.map(|(&cap, &load)| above(load, cap)).sum::<i64>();
    }
}

fn squared(band: Option<Band>, count: i64) -> i64 {
    band.map_or(0, |band| band.squared(count))
}

fn add_cluster_spreads(problem: &Problem, counts: &Counts, cost: &mut Cost) {
    for b in problem.broker_ids() {
        cost[Rank::ClusterLeaderSpread] +=
            squared(problem.cluster_leader_band(b), counts.leaders[b.index()]);
        cost[Rank::ClusterReplicaSpread] +=
            squared(problem.cluster_replica_band(b), counts.replicas[b.index()]);
    }
}

fn add_stream_spreads<'a>(
    problem: &'a Problem,
    of: impl Fn(usize) -> &'a Assignment,
    cost: &mut Cost,
    pace: &mut Pace<'_>,
) -> Result<(), Stop> {
    let policy = &problem.policy;
    if policy.stream_leaders.is_none() && policy.stream_replicas.is_none() {
        return Ok(());
    }
    let share_max = problem.brokers.iter().map(|b| b.share).max().unwrap_or(0);
    let mut counts = StreamCounts::new(problem);
    for (s, stream) in problem.streams.iter().enumerate() {
        for shard in stream.shards.clone() {
            pace.step(1)?;
            counts.add(problem, of(shard as usize));
        }
        let is_empty_level = is_empty_level(problem, stream, share_max);
        let id = StreamId::at(s);
        let mut add = |b: BrokerId| {
            let (leaders, replicas) = counts.of[b.index()];
            cost[Rank::StreamLeaderSpread] += squared(problem.stream_leader_band(id, b), leaders);
            cost[Rank::StreamReplicaSpread] +=
                squared(problem.stream_replica_band(id, b), replicas);
        };
        if is_empty_level {
            counts.touched.iter().copied().for_each(&mut add);
        } else {
            pace.step_stream(problem.brokers.len())?;
            problem.broker_ids().for_each(&mut add);
        }
        counts.clear();
    }
    Ok(())
}

/// Whether a broker that holds nothing of the stream costs nothing: true of all where even the largest share's floor is
/// no more than the slack.
fn is_empty_level(problem: &Problem, stream: &Stream, share_max: u32) -> bool {
    let leaders = stream.shard_count();
    let replicas = leaders * i64::from(stream.replication_factor);
    let policy = &problem.policy;
    let levels = [
        (policy.stream_leaders, leaders),
        (policy.stream_replicas, replicas),
    ];
    stream.share_total == 0
        || levels.into_iter().all(|(spread, count)| {
            spread.is_none_or(|spread| {
                Band::new(count, share_max, stream.share_total, spread.slack).low <= 0
            })
        })
}

/// Leaders and live replicas of one stream.
struct StreamCounts {
    /// By broker.
    of: Vec<(i64, i64)>,
    /// Brokers that hold any.
    touched: Vec<BrokerId>,
}

impl StreamCounts {
    fn new(problem: &Problem) -> Self {
        StreamCounts {
            of: vec![(0, 0); problem.brokers.len()],
            touched: Vec::new(),
        }
    }

    fn add(&mut self, problem: &Problem, assignment: &Assignment) {
        for b in problem.live(assignment) {
            let replicas = &mut self.of[b.index()].1;
            if *replicas == 0 {
                self.touched.push(b);
            }
            *replicas += 1;
        }
        if let Some(b) = assignment.leader.filter(|&b| problem.is_live(b)) {
            self.of[b.index()].0 += 1;
        }
    }

    fn clear(&mut self) {
        for b in self.touched.drain(..) {
            self.of[b.index()] = (0, 0);
        }
    }
}
