//! The bound as it adds up: shards, and the terms of counts.

use super::convex::{Range, Shape, add_minimum};
use super::prices::{Prices, Row};
use super::sets::Sets;
use crate::budget::{Pace, Stop};
use crate::cost::{RANKS, Rank};
use crate::snapshot::{BrokerId, BrokerState, Problem, Roles, Shard, Stream};
use crate::verify::placement::{
    Bands, Excess, Level, Loads, Replicas, Shares, Tally, Vector, Wanted, add_load_cost,
    live_leader, live_replicas,
};

/// The bound so far, and the counts that the terms of brokers and zones need.
pub(super) struct Sums<'p> {
    problem: &'p Problem,
    total: Vector,
    /// What pinned shards use, and, where only leadership is decided, the live replicas of all shards.
    fixed: Tally,
    fixed_loads: Loads,
    excess: &'p Excess,
    /// The present counts, from which the caps in force follow.
    present: Tally,
    shares: Shares,
    /// Free shards that may have a replica on the broker, added up over streams.
    broker_room: Vec<i64>,
    sets: Sets<'p>,
    of_stream: OfStream,
}

/// Counts of the stream at hand, by broker.
struct OfStream {
    /// Leaders and live replicas of pinned shards.
    pinned: Vec<(i64, i64)>,
    /// Live replicas of free shards.
    held: Vec<i64>,
    /// Free shards.
    free: i64,
}

impl OfStream {
    fn clear(&mut self) {
        self.pinned.fill((0, 0));
        self.held.fill(0);
        self.free = 0;
    }
}

impl<'p> Sums<'p> {
    /// Before any stream.
    pub(super) fn new(problem: &'p Problem, excess: &'p Excess, prices: &Prices<'_>) -> Self {
        let mut total: Vector = [0; RANKS];
        total[Rank::ZoneMinimumShortfall as usize] = i128::from(problem.policy.absent_zone_minimum);
        let brokers = problem.brokers.len();
        Sums {
            problem,
            total,
            fixed: Tally::empty(problem),
            fixed_loads: Loads::empty(problem),
            excess,
            present: Tally::empty(problem),
            shares: Shares::new(problem),
            broker_room: vec![0; brokers],
            sets: Sets::new(problem, prices),
            of_stream: OfStream {
                pinned: vec![(0, 0); brokers],
                held: vec![0; brokers],
                free: 0,
            },
        }
    }

    fn decides_replicas(&self) -> bool {
        self.problem.policy.roles == Roles::LeadersAndFollowers
    }

    /// Adds the shards of a stream and its slots; the prices have turned to it before.
    pub(super) fn add_stream(
        &mut self,
        stream: &Stream,
        prices: &Prices<'_>,
        pace: &mut Pace<'_>,
    ) -> Result<(), Stop> {
        let problem = self.problem;
        if self.decides_replicas() {
            self.sets.turn_to(stream, prices);
        }
        self.of_stream.clear();
        for shard in &problem.shards[stream.shards.start as usize..stream.shards.end as usize] {
            pace.step(1)?;
            self.add_shard(shard, prices, pace)?;
        }
        self.add_slots(stream, prices);
        Ok(())
    }

    fn add_shard(
        &mut self,
        shard: &Shard,
        prices: &Prices<'_>,
        pace: &mut Pace<'_>,
    ) -> Result<(), Stop> {
        let problem = self.problem;
        let live = live_replicas(problem, &shard.present);
        let leader = live_leader(problem, &shard.present);
        self.present.add_live(problem, leader, &live, 1);
        let wanted = Wanted::new(problem, shard);
        if shard.is_pinned {
            wanted.own(leader, &live).0.add_to(&mut self.total);
            self.fixed.add_live(problem, leader, &live, 1);
            self.fixed_loads.add_live(shard, leader, &live, 1);
            for &holder in &live {
                self.of_stream.pinned[holder.index()].1 += 1;
            }
            if let Some(leader) = leader {
                self.of_stream.pinned[leader.index()].0 += 1;
            }
            return Ok(());
        }
        self.of_stream.free += 1;
        for &holder in &live {
            self.of_stream.held[holder.index()] += 1;
        }
        let best = if self.decides_replicas() {
            let is_led = leader.is_some();
            let costs = (prices, self.excess);
            self.sets.cheapest(&wanted, &live, is_led, costs, pace)?
        } else {
            self.fixed.add_live(problem, None, &live, 1);
            self.fixed_loads.add_live(shard, None, &live, 1);
            cheapest_role(&wanted, &live, leader.is_some(), (prices, self.excess))
        };
        for (&rank, value) in prices.ranks().iter().zip(best.into_iter().flatten()) {
            self.total[rank as usize] += i128::from(value);
        }
        Ok(())
    }

    /// The terms of the stream's leaders and replicas on each broker.
    fn add_slots(&mut self, stream: &Stream, prices: &Prices<'_>) {
        let mut bands = Bands::stream(self.problem, stream, &self.shares);
        let decides_replicas = self.decides_replicas();
        for (b, broker) in self.problem.brokers.iter().enumerate() {
            let takes = broker.state == BrokerState::Active && stream.open[b];
            let room = match takes && decides_replicas {
                true => self.of_stream.free,
                false => self.of_stream.held[b],
            };
            self.broker_room[b] += room;
            let (leaders, replicas) = self.of_stream.pinned[b];
            let level = |level: Option<Level>| level.filter(|_| takes);
            let slots = [
                (
                    Rank::StreamLeaderSpread,
                    leaders,
                    level(bands.leaders(broker)),
                ),
                (
                    Rank::StreamReplicaSpread,
                    replicas,
                    level(bands.replicas(broker)),
                ),
            ];
            let id = BrokerId::at(b);
            let alone = prices.is_changed(id).then(|| prices.of_slot_alone(id));
            for (role, (rank, low, level)) in slots.into_iter().enumerate() {
                let range = Range {
                    low,
                    high: low + room,
                };
                let price = alone.as_ref().map(|alone| &alone[role]);
                self.add_slot(rank, range, level, price, prices.ranks());
            }
        }
    }

    /// The term of one slot. Without a multiplier the best count is the nearest to the band.
    fn add_slot(
        &mut self,
        rank: Rank,
        range: Range,
        level: Option<Level>,
        price: Option<&Row>,
        ranks: &[Rank],
    ) {
        if let Some(price) = price {
            let part = level.map(|level| (rank, Shape::Outside(level)));
            add_minimum(range, ranks, price, part.as_slice(), &mut self.total);
        } else if let Some(level) = level {
            let nearest = level.low.max(range.low).min(range.high);
            self.total[rank as usize] += level.squared(nearest);
        }
    }

    /// The bound, once all streams are added.
    pub(super) fn finish(mut self, prices: &Prices<'_>) -> Vector {
        self.add_brokers(prices);
        self.add_zones(prices);
        add_load_cost(self.problem, &self.fixed_loads, &mut self.total);
        self.total
    }

    fn add_brokers(&mut self, prices: &Prices<'_>) {
        let problem = self.problem;
        let mut bands = Bands::cluster(problem);
        for (b, broker) in problem.brokers.iter().enumerate() {
            let outside =
                |rank, level: Option<Level>| level.map(|level| (rank, Shape::Outside(level)));
            let leaders = outside(Rank::ClusterLeaderSpread, bands.leaders(broker));
            let replicas = outside(Rank::ClusterReplicaSpread, bands.replicas(broker));
            let counts = Counts {
                max_leaders: broker.max_leaders,
                max_replicas: broker.max_replicas,
                leaders_now: self.present.leaders[b],
                replicas_now: self.present.replicas[b],
                leaders: self.fixed.leaders[b],
                replicas: self.fixed.replicas[b],
                room: self.broker_room[b],
                of_leaders: leaders.as_slice(),
                of_replicas: replicas.as_slice(),
            };
            let multipliers = prices.of_broker_alone(BrokerId::at(b), broker.zone);
            self.add_counts(&counts, prices.ranks(), &multipliers);
        }
    }

    fn add_zones(&mut self, prices: &Prices<'_>) {
        let problem = self.problem;
        let mut room = vec![0; problem.zones.len()];
        for (b, broker) in problem.brokers.iter().enumerate() {
            room[broker.zone.index()] += self.broker_room[b];
        }
        for (z, zone) in problem.zones.iter().enumerate() {
            let minimum = Shape::Below(i64::from(zone.min_leaders));
            let counts = Counts {
                max_leaders: zone.max_leaders,
                max_replicas: zone.max_replicas,
                leaders_now: self.present.zone_leaders[z],
                replicas_now: self.present.zone_replicas[z],
                leaders: self.fixed.zone_leaders[z],
                replicas: self.fixed.zone_replicas[z],
                room: room[z],
                of_leaders: &[(Rank::ZoneMinimumShortfall, minimum)],
                of_replicas: &[],
            };
            self.add_counts(&counts, prices.ranks(), &prices.of_zone_alone(z));
        }
    }

    /// The terms of the leaders and replicas of a broker or zone.
    ///
    /// Where replicas move with their leaders, each leader is a replica more: no more leaders than replicas fit, and
    /// where the replicas have no multiplier, their breaches follow the leaders. Where replicas stay, these are a constant.
    fn add_counts(
        &mut self,
        counts: &Counts<'_>,
        ranks: &[Rank],
        [of_leader, of_replica]: &[Row; 2],
    ) {
        let above = |cap: i64| (Rank::Breaches, Shape::Above(cap));
        let mut high = counts.leaders + counts.room;
        let mut parts = counts.of_leaders.to_vec();
        if let Some(cap) = counts.max_leaders.map(i64::from) {
            high = high.min(cap.max(counts.leaders_now));
            parts.push(above(cap));
        }
        let has_multiplier = of_replica.iter().any(|&price| price != 0);
        let mut replicas_high = counts.replicas + counts.room;
        let mut replica_parts = counts.of_replicas.to_vec();
        if let Some(cap) = counts.max_replicas.map(i64::from) {
            if self.decides_replicas() {
                let others = counts.replicas - counts.leaders;
                replicas_high = replicas_high.min(cap.max(counts.replicas_now));
                high = high.min(replicas_high - others);
                match has_multiplier {
                    true => replica_parts.push(above(cap)),
                    false => parts.push(above(cap - others)),
                }
            } else {
                let excess = (counts.replicas - cap).max(0);
                self.total[Rank::Breaches as usize] += i128::from(excess);
            }
        }
        let range = |low, high| Range { low, high };
        let leaders = range(counts.leaders, high);
        add_minimum(leaders, ranks, of_leader, &parts, &mut self.total);
        let replicas = range(counts.replicas, replicas_high);
        add_minimum(replicas, ranks, of_replica, &replica_parts, &mut self.total);
    }
}

/// What a broker or zone has and may have.
struct Counts<'a> {
    max_leaders: Option<u32>,
    max_replicas: Option<u32>,
    leaders_now: i64,
    replicas_now: i64,
    /// Whatever the plan.
    leaders: i64,
    /// Whatever the plan.
    replicas: i64,
    /// Free shards that may come.
    room: i64,
    /// Costs of its leaders beside the cap.
    of_leaders: &'a [(Rank, Shape)],
    /// Costs of its replicas beside the cap.
    of_replicas: &'a [(Rank, Shape)],
}

/// The least own cost and price of a free shard where only leadership is decided: one of its live replicas leads, or
/// none, where none leads now. `None` where it has no choice.
fn cheapest_role(
    wanted: &Wanted<'_>,
    live: &Replicas,
    is_led: bool,
    (prices, excess): (&Prices<'_>, &Excess),
) -> Option<Row> {
    let led = live.iter().map(|&b| {
        let own = wanted.own(Some(b), live).0;
        let mut sum = prices.sum(&own, prices.of_slot(b));
        prices.add_loads(&mut sum, || excess.of(wanted.shard(), Some(b), true));
        sum
    });
    let unled = (!is_led).then(|| prices.sum(&wanted.own(None, live).0, &[]));
    led.chain(unled).min()
}
