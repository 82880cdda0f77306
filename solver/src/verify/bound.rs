//! A lower bound on the objective from prices alone.
//!
//! **Problem.** Every free (not pinned) shard i chooses a broker that leads it, or none. The cost of a plan is
//! Σ own(i, choice), plus convex costs of counts: f of the leaders of a stream on a broker (rank 8), g of the leaders of
//! a broker (ranks 3 and 9), h of the leaders of a zone (ranks 3 and 7), r and q of the replicas of a broker and of a
//! zone (rank 3). Counts include what pinned shards use.
//!
//! **Orphans.** Where every replication factor is 1, a replica is a leader or pinned, or the one live replica of a shard
//! without a leader: an *orphan*, which has live replicas now and no live leader. Such a shard chooses a broker for
//! that replica too: it stays at a holder or is copied to a broker that takes it.
//!
//! **Bound.** Give each count its own multiplier: any integers α(s, b), β(b), γ(z), δ(b), ε(z) for f, g, h, r, q. In a plan
//! every count is what the choices make it, so adding multiplier · (what choices add to the count − (count − pinned))
//! for all counts adds zero. Letting choices and counts free of each other can therefore only lower
//!
//! ```text
//! constants + Σ_i   min over choices      ( own(i, b) + α(s, b) + β(b) + γ(z) + δ(b) + ε(z)  led by b in z
//!                                         | own(i, b) + δ(b) + ε(z)   without a leader, its replica on b in z
//!                                         | own(i)                    without either )
//!           + Σ_s,b min over x in range   ( f(x) − α(s, b) · (x − pinned) )
//!           + Σ_b   min over x in range   ( g(x) − β(b) · (x − pinned) )  +  the same of r with δ
//!           + Σ_z   min over x in range   ( h(x) − γ(z) · (x − pinned) )  +  the same of q with ε
//! ```
//!
//! whatever the multipliers. A certificate holds sums of them (see there): `zone_replicas` ε, `broker_replicas` δ + ε,
//! `zones` γ + ε, `brokers` β + γ + δ + ε, `slots` α + β + γ + δ + ε.
//!
//! A broker whose δ is zero, and a zone whose ε is, keeps its replicas in one term with its leaders, as if no replica
//! were without a leader: r(x + others pinned) joins g(x). Replicas without a leader only raise r, so that is a bound
//! as well, and no smaller than two terms apart with δ = 0. A certificate without prices of replicas gets it everywhere.
//!
//! Costs and prices are vectors, one component per rank, and every minimum is lexicographic. The lexicographic order
//! is total and kept by addition, so the sum of the minima is a lower bound on the objective in that order.
//! Prices of an optimal basis make it tight; then it proves every rank of the plan.
//!
//! **Where it applies.** Where only leadership is decided, and where every stream that has shards has replication
//! factor 1. In the first case replicas stay, whatever the choices: their excess is a constant, and their prices are
//! passed over.
//!
//! **Sizes.** Prices beyond ±2⁶⁰ are taken for that, and own costs beyond 2⁶¹ for that: any integers are prices, and a
//! lower own cost only lowers the bound. Sums of one shard then stay within `i64`; totals are `i128`.
//!
//! **Complexity.** O(shards · (sources + replicas) + listed slots · log shards + streams · brokers): a slot that the
//! certificate doesn't list has α = 0, so that its term is a distance of two intervals; and the cheapest newcomers of a
//! stream are found by walking brokers in the order of their own prices, which is the same for all streams.

mod convex;
mod hubs;
mod prices;

use self::convex::{Range, Shape, add_minimum};
use self::hubs::Hubs;
use self::prices::{Prices, Row};
use super::placement::{
    Bands, Own, Replicas, Shares, Tally, Vector, Wanted, live_leader, live_replicas,
};
use super::{Fault, Rule};
use crate::budget::{Pace, Stop, unstopped};
use crate::certificate::{Certificate, RankPrices, SlotPrice};
use crate::cost::{Cost, RANKS, Rank};
use crate::snapshot::{BrokerId, BrokerState, Problem, Roles, Shard, Stream, StreamId};

/// No placement has a lexicographically smaller cost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bound(pub [i128; RANKS]);

/// Whether [`bound`] can say anything about the problem.
pub fn applies(problem: &Problem) -> bool {
    let has_no_followers = |s: &Stream| s.shards.is_empty() || s.replication_factor == 1;
    problem.policy.roles == Roles::LeadershipOnly || problem.streams.iter().all(has_no_followers)
}

/// What is wrong with the shape of a certificate. Its prices may be any integers.
pub fn check_shape(problem: &Problem, certificate: &Certificate) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut find = |what: String| faults.push(Fault::of_answer(Rule::CertificateShape, what));
    let (brokers, zones) = (problem.brokers.len(), problem.zones.len());
    // Prices of replicas may be absent.
    let of_replicas = |part, has, wants: usize| (part, has, if has == 0 { 0 } else { wants });
    for prices in &certificate.ranks {
        let parts = [
            ("brokers", prices.brokers.len(), brokers),
            ("zones", prices.zones.len(), zones),
            of_replicas("broker_replicas", prices.broker_replicas.len(), brokers),
            of_replicas("zone_replicas", prices.zone_replicas.len(), zones),
        ];
        for (part, has, wants) in parts.into_iter().filter(|(_, has, wants)| has != wants) {
            let rank = prices.rank.name();
            find(format!(
                "the certificate has {has} prices of {rank} for {wants} {part}"
            ));
        }
        if let Some(what) = slot_fault(problem, prices) {
            find(what);
        }
    }
    for pair in certificate
        .ranks
        .windows(2)
        .filter(|pair| pair[0].rank >= pair[1].rank)
    {
        let (first, second) = (pair[0].rank.name(), pair[1].rank.name());
        find(format!(
            "the certificate lists the prices of {second} after those of {first}"
        ));
    }
    faults
}

/// What is wrong with the list of a rank's slots: one that is out of range or out of order.
fn slot_fault(problem: &Problem, prices: &RankPrices) -> Option<String> {
    let (streams, brokers) = (problem.streams.len(), problem.brokers.len());
    let place = |slot: &SlotPrice| (slot.stream, slot.broker);
    let rank = prices.rank.name();
    let is_known =
        |slot: &&SlotPrice| slot.stream.index() < streams && slot.broker.index() < brokers;
    if let Some(slot) = prices.slots.iter().find(|slot| !is_known(slot)) {
        let (stream, broker) = (slot.stream.0, slot.broker.0);
        return Some(format!(
            "the certificate has a price of {rank} for stream {stream} on broker {broker}, of {streams} and {brokers}"
        ));
    }
    let pair = (prices.slots.windows(2)).find(|pair| place(&pair[0]) >= place(&pair[1]))?;
    let name = |slot: &SlotPrice| {
        let (stream, broker) = (problem.stream(slot.stream), problem.broker(slot.broker));
        format!("stream {:?} on broker {:?}", stream.id, broker.id)
    };
    let (first, second) = (name(&pair[0]), name(&pair[1]));
    Some(format!(
        "the certificate lists the price of {rank} for {second} after that for {first}"
    ))
}

/// The lower bound that the prices prove; `None` where [`applies`] is false or [`check_shape`] finds a fault.
pub fn bound(problem: &Problem, certificate: &Certificate) -> Option<Bound> {
    unstopped(|pace| bound_within(problem, certificate, pace))
}

/// The same, until the interrupt asks to stop.
///
/// # Errors
/// The interrupt's reason; nothing is proven then.
pub fn bound_within(
    problem: &Problem,
    certificate: &Certificate,
    pace: &mut Pace<'_>,
) -> Result<Option<Bound>, Stop> {
    if !applies(problem) || !check_shape(problem, certificate).is_empty() {
        return Ok(None);
    }
    let mut prices = Prices::new(problem, certificate);
    let mut sums = Sums::new(problem, &prices);
    for (s, stream) in problem.streams.iter().enumerate() {
        pace.step_stream(problem.brokers.len())?;
        prices.turn_to(StreamId::at(s));
        sums.add_stream(stream, &prices, pace)?;
    }
    sums.add_brokers(&prices);
    sums.add_zones(&prices);
    Ok(Some(Bound(sums.total)))
}

/// What the bound proves of a plan's value: for each rank up to the first in which they differ, that no plan as good
/// in the ranks before has less than this. The plan is optimal where all ranks are proven.
///
/// # Errors
/// The bound lies above the value, so that one of them is wrong.
pub fn proven(value: &Cost, bound: &Bound) -> Result<[Option<i64>; RANKS], Fault> {
    let mut proven = [None; RANKS];
    for rank in Rank::ALL {
        let (has, least) = (i128::from(value[rank]), bound.0[rank as usize]);
        if least > has {
            let name = rank.name();
            let what =
                format!("the certificate proves {name} at least {least}, and the plan has {has}");
            return Err(Fault::of_answer(Rule::Contradiction, what));
        }
        // No cost is negative, so a negative bound says no more than zero does; but the ranks after it are open.
        proven[rank as usize] = i64::try_from(least.max(0).min(has)).ok();
        if least < has {
            break;
        }
    }
    Ok(proven)
}

/// The bound as it adds up, and the counts that the terms of brokers and zones need.
struct Sums<'a> {
    problem: &'a Problem,
    total: Vector,
    /// What pinned shards use, and, where only leadership is decided, the live replicas of all shards.
    fixed: Tally,
    /// The present counts, from which the caps in force follow.
    present: Tally,
    shares: Shares,
    /// Free shards that may be led from the broker, added up over streams.
    broker_room: Vec<i64>,
    /// Where a new leader would go, and a replica that does not lead.
    leaders: Hubs<'a>,
    kept: Hubs<'a>,
    of_stream: OfStream,
}

/// Counts of the stream at hand, by broker.
struct OfStream {
    /// Leaders of pinned shards.
    pinned: Vec<i64>,
    /// Live replicas of free shards.
    held: Vec<i64>,
    /// Free shards.
    free: i64,
}

impl OfStream {
    fn clear(&mut self) {
        self.pinned.fill(0);
        self.held.fill(0);
        self.free = 0;
    }
}

impl<'a> Sums<'a> {
    fn new(problem: &'a Problem, prices: &Prices<'_>) -> Self {
        let mut total: Vector = [0; RANKS];
        total[Rank::ZoneMinimumShortfall as usize] = i128::from(problem.policy.absent_zone_minimum);
        let brokers = problem.brokers.len();
        Sums {
            problem,
            total,
            fixed: Tally::empty(problem),
            present: Tally::empty(problem),
            shares: Shares::new(problem),
            broker_room: vec![0; brokers],
            leaders: Hubs::new(problem, |b| prices.of_slot(b)),
            kept: Hubs::new(problem, |b| prices.of_replica(b)),
            of_stream: OfStream {
                pinned: vec![0; brokers],
                held: vec![0; brokers],
                free: 0,
            },
        }
    }

    /// The shards of a stream and its slots.
    fn add_stream(
        &mut self,
        stream: &'a Stream,
        prices: &Prices<'_>,
        pace: &mut Pace<'_>,
    ) -> Result<(), Stop> {
        let problem = self.problem;
        let changed = prices.changed();
        self.leaders.turn_to(stream, changed, |b| prices.of_slot(b));
        self.kept.turn_to(stream, &[], |b| prices.of_replica(b));
        self.of_stream.clear();
        for shard in &problem.shards[stream.shards.start as usize..stream.shards.end as usize] {
            pace.step(1)?;
            self.add_shard(shard, prices);
        }
        self.add_slots(stream, prices);
        Ok(())
    }

    fn add_shard(&mut self, shard: &Shard, prices: &Prices<'_>) {
        let problem = self.problem;
        let live = live_replicas(problem, &shard.present);
        let leader = live_leader(problem, &shard.present);
        self.present.add_live(problem, leader, &live, 1);
        let wanted = Wanted::new(problem, shard);
        if shard.is_pinned {
            wanted.own(leader, &live).0.add_to(&mut self.total);
            self.fixed.add_live(problem, leader, &live, 1);
            if let Some(leader) = leader {
                self.of_stream.pinned[leader.index()] += 1;
            }
            return;
        }
        self.of_stream.free += 1;
        for &holder in &live {
            self.of_stream.held[holder.index()] += 1;
        }
        if problem.policy.roles == Roles::LeadershipOnly {
            self.fixed.add_live(problem, None, &live, 1);
        }
        let mut best = Cheapest::new(prices);
        self.offer_leaders(&wanted, &live, &mut best);
        if leader.is_none() {
            self.offer_unled(&wanted, &live, &mut best);
        }
        best.add_to(&mut self.total);
    }

    /// The brokers that may lead a free shard: the present holders and, of those that take a new replica, the cheapest
    /// of each zone.
    ///
    /// Let b be another one of that zone which holds no replica. The price of the cheapest is no larger; and its
    /// own cost is no larger, because it is the same when it holds none either, while a holder saves the copy (ranks
    /// 13 and 14; a promotion is no dearer than a copy) and never has more leader changes. The same argument lets one
    /// zone stand for all that no source lists.
    fn offer_leaders(&mut self, wanted: &Wanted<'_>, live: &Replicas, best: &mut Cheapest<'_>) {
        let prices = best.prices;
        if self.problem.policy.roles == Roles::LeadershipOnly {
            for &b in live {
                best.offer(&wanted.own(Some(b), live).0, prices.of_slot(b));
            }
            return;
        }
        let mut offer = |b| best.offer(&wanted.own(Some(b), &[b]).0, prices.of_slot(b));
        live.iter().copied().for_each(&mut offer);
        let newcomers = &mut self.leaders;
        newcomers.each(wanted.leader_traffic(), |b| prices.of_slot(b), offer);
    }

    /// The choices of a free shard that nobody leads. Where replicas are decided and there is one, it stays or another
    /// broker takes it over; the cheapest of each zone stands for the others, as above.
    fn offer_unled(&mut self, wanted: &Wanted<'_>, live: &Replicas, best: &mut Cheapest<'_>) {
        let prices = best.prices;
        if live.is_empty() || self.problem.policy.roles == Roles::LeadershipOnly {
            best.offer(&wanted.own(None, live).0, prices.nothing());
            return;
        }
        let mut offer = |b| best.offer(&wanted.own(None, &[b]).0, prices.of_replica(b));
        live.iter().copied().for_each(&mut offer);
        let newcomers = &mut self.kept;
        newcomers.each(wanted.follower_traffic(), |b| prices.of_replica(b), offer);
    }

    /// The terms of the stream's leaders on each broker.
    fn add_slots(&mut self, stream: &Stream, prices: &Prices<'_>) {
        let mut bands = Bands::stream(self.problem, stream, &self.shares);
        let are_open = self.problem.policy.roles == Roles::LeadersAndFollowers;
        let spread = Rank::StreamLeaderSpread;
        for (b, broker) in self.problem.brokers.iter().enumerate() {
            let takes = broker.state == BrokerState::Active && stream.open[b];
            let room = match takes && are_open {
                true => self.of_stream.free,
                false => self.of_stream.held[b],
            };
            self.broker_room[b] += room;
            let low = self.of_stream.pinned[b];
            let high = low + room;
            let level = if takes { bands.leaders(broker) } else { None };
            if prices.is_changed(BrokerId::at(b)) {
                let own = level.map(|level| (spread, Shape::Outside(level)));
                let price = prices.of_slot_alone(BrokerId::at(b));
                let range = Range { low, high };
                add_minimum(
                    range,
                    prices.ranks(),
                    &price,
                    own.as_slice(),
                    &mut self.total,
                );
            } else if let Some(level) = level {
                // Without a multiplier the best count is the nearest to the band.
                let nearest = level.low.max(low).min(high);
                self.total[spread as usize] += level.squared(nearest);
            }
        }
    }

    fn add_brokers(&mut self, prices: &Prices<'_>) {
        let problem = self.problem;
        let mut bands = Bands::cluster(problem);
        for (b, broker) in problem.brokers.iter().enumerate() {
            let counts = Counts {
                max_leaders: broker.max_leaders,
                max_replicas: broker.max_replicas,
                leaders_now: self.present.leaders[b],
                replicas_now: self.present.replicas[b],
                leaders: self.fixed.leaders[b],
                replicas: self.fixed.replicas[b],
                room: self.broker_room[b],
            };
            let level = bands.leaders(broker);
            let own = level.map(|level| (Rank::ClusterLeaderSpread, Shape::Outside(level)));
            let multipliers = prices.of_broker_alone(BrokerId::at(b), broker.zone);
            self.add_counts(&counts, own.as_slice(), prices.ranks(), &multipliers);
        }
    }

    fn add_zones(&mut self, prices: &Prices<'_>) {
        let problem = self.problem;
        let mut room = vec![0; problem.zones.len()];
        for (b, broker) in problem.brokers.iter().enumerate() {
            room[broker.zone.index()] += self.broker_room[b];
        }
        for (z, zone) in problem.zones.iter().enumerate() {
            let counts = Counts {
                max_leaders: zone.max_leaders,
                max_replicas: zone.max_replicas,
                leaders_now: self.present.zone_leaders[z],
                replicas_now: self.present.zone_replicas[z],
                leaders: self.fixed.zone_leaders[z],
                replicas: self.fixed.zone_replicas[z],
                room: room[z],
            };
            let own = [(
                Rank::ZoneMinimumShortfall,
                Shape::Below(i64::from(zone.min_leaders)),
            )];
            self.add_counts(&counts, &own, prices.ranks(), &prices.of_zone_alone(z));
        }
    }

    /// The terms of the leaders and replicas of a broker or zone; `own` are the costs of its leaders beside the caps.
    ///
    /// Where replicas move with their leaders, each leader is a replica more: no more leaders than replicas fit, and
    /// where the replicas have no multiplier, their excess follows the leaders. Where replicas stay, it is a constant.
    fn add_counts(
        &mut self,
        counts: &Counts,
        own: &[(Rank, Shape)],
        ranks: &[Rank],
        [of_leader, of_replica]: &[Row; 2],
    ) {
        let mut high = counts.leaders + counts.room;
        let mut parts = own.to_vec();
        let above = |cap: i64| (Rank::Breaches, Shape::Above(cap));
        if let Some(cap) = counts.max_leaders.map(i64::from) {
            high = high.min(cap.max(counts.leaders_now));
            parts.push(above(cap));
        }
        let is_apart = of_replica.iter().any(|&price| price != 0);
        let mut replicas_high = counts.replicas + counts.room;
        let mut replica_parts = Vec::new();
        if let Some(cap) = counts.max_replicas.map(i64::from) {
            if self.problem.policy.roles == Roles::LeadershipOnly {
                let excess = (counts.replicas - cap).max(0);
                self.total[Rank::Breaches as usize] += i128::from(excess);
            } else {
                let others = counts.replicas - counts.leaders;
                replicas_high = replicas_high.min(cap.max(counts.replicas_now));
                high = high.min(replicas_high - others);
                match is_apart {
                    true => replica_parts.push(above(cap)),
                    false => parts.push(above(cap - others)),
                }
            }
        }
        let low = counts.leaders;
        add_minimum(
            Range { low, high },
            ranks,
            of_leader,
            &parts,
            &mut self.total,
        );
        if is_apart {
            let range = Range {
                low: counts.replicas,
                high: replicas_high,
            };
            add_minimum(range, ranks, of_replica, &replica_parts, &mut self.total);
        }
    }
}

/// What a broker or zone has and may have.
struct Counts {
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
}

/// The lexicographic minimum of own cost and price over the choices offered; a shard without a choice adds nothing.
struct Cheapest<'a> {
    prices: &'a Prices<'a>,
    best: Option<Row>,
}

impl<'a> Cheapest<'a> {
    fn new(prices: &'a Prices<'a>) -> Self {
        Cheapest { prices, best: None }
    }

    #[inline]
    fn offer(&mut self, own: &Own, price: &[i64]) {
        let sum = self.prices.sum(own, price);
        if self.best.is_none_or(|best| sum < best) {
            self.best = Some(sum);
        }
    }

    fn add_to(&self, total: &mut Vector) {
        let Some(best) = &self.best else { return };
        for (&rank, &value) in self.prices.ranks().iter().zip(best) {
            total[rank as usize] += i128::from(value);
        }
    }
}
