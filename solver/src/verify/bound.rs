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
//! Complexity: O(shards · (sources + replicas) + streams · brokers · log shards) for each rank.

mod convex;

use self::convex::{Range, Shape, minimum};
use super::placement::{Bands, Tally, Vector, Wanted, add, live_leader, live_replicas, takes};
use super::{Fault, Rule};
use crate::certificate::{Certificate, RankPrices, SlotPrice};
use crate::cost::{Cost, RANKS, Rank};
use crate::snapshot::{BrokerId, Problem, Roles, Stream, Traffic, ZoneId};

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
    if !applies(problem) || !check_shape(problem, certificate).is_empty() {
        return None;
    }
    let prices = Prices::new(problem, certificate);
    let mut sums = Sums::new(problem);
    for stream in 0..problem.streams.len() {
        sums.add_stream(problem, &prices, stream);
    }
    sums.add_brokers(problem, &prices);
    sums.add_zones(problem, &prices);
    Some(Bound(sums.total))
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

/// The prices of a certificate, absent ones zero.
struct Prices<'a> {
    slots: [&'a [SlotPrice]; RANKS],
    brokers: Vec<Vector>,
    zones: Vec<Vector>,
    broker_replicas: Vec<Vector>,
    zone_replicas: Vec<Vector>,
}

impl<'a> Prices<'a> {
    fn new(problem: &Problem, certificate: &'a Certificate) -> Self {
        let (brokers, zones) = (problem.brokers.len(), problem.zones.len());
        let mut prices = Prices {
            slots: [&[]; RANKS],
            brokers: vec![[0; RANKS]; brokers],
            zones: vec![[0; RANKS]; zones],
            broker_replicas: vec![[0; RANKS]; brokers],
            zone_replicas: vec![[0; RANKS]; zones],
        };
        for entry in &certificate.ranks {
            let rank = entry.rank as usize;
            let fill = |into: &mut [Vector], from: &[i64]| {
                for (into, &price) in into.iter_mut().zip(from) {
                    into[rank] = i128::from(price);
                }
            };
            prices.slots[rank] = &entry.slots;
            fill(&mut prices.brokers, &entry.brokers);
            fill(&mut prices.zones, &entry.zones);
            if problem.policy.roles == Roles::LeadersAndFollowers {
                fill(&mut prices.broker_replicas, &entry.broker_replicas);
                fill(&mut prices.zone_replicas, &entry.zone_replicas);
            }
        }
        prices
    }
    /// The multipliers of a broker's leaders and of its replicas.
    fn of_broker(&self, b: usize, zone: usize) -> [Vector; 2] {
        let replicas = less(&self.broker_replicas[b], &self.zone_replicas[zone]);
        let leaders = less(&self.brokers[b], &self.zones[zone]);
        [less(&leaders, &replicas), replicas]
    }
    /// The multipliers of a zone's leaders and of its replicas.
    fn of_zone(&self, zone: usize) -> [Vector; 2] {
        let replicas = self.zone_replicas[zone];
        [less(&self.zones[zone], &replicas), replicas]
    }
    /// Price of each slot of a stream, by broker.
    fn of_stream(&self, stream: usize) -> Vec<Vector> {
        let mut slots = self.brokers.clone();
        for (rank, prices) in self.slots.iter().enumerate() {
            let from = prices.partition_point(|slot| slot.stream.index() < stream);
            let of_stream = prices[from..].iter();
            for slot in of_stream.take_while(|slot| slot.stream.index() == stream) {
                slots[slot.broker.index()][rank] = i128::from(slot.price);
            }
        }
        slots
    }
}

/// The bound as it adds up, and the counts that the terms of brokers and zones need.
struct Sums {
    total: Vector,
    /// What pinned shards use, and, where only leadership is decided, the live replicas of all shards.
    fixed: Tally,
    /// Free shards that may be led from the broker, added up over streams.
    broker_room: Vec<i64>,
    /// The present counts, from which the caps in force follow.
    present: Tally,
}

impl Sums {
    fn new(problem: &Problem) -> Self {
        let mut total: Vector = [0; RANKS];
        total[Rank::ZoneMinimumShortfall as usize] = i128::from(problem.policy.absent_zone_minimum);
        Sums {
            total,
            fixed: Tally::empty(problem),
            broker_room: vec![0; problem.brokers.len()],
            present: Tally::present(problem),
        }
    }

    /// The shards of a stream and its slots.
    fn add_stream(&mut self, problem: &Problem, prices: &Prices<'_>, at: usize) {
        let stream = &problem.streams[at];
        let slots = prices.of_stream(at);
        let hubs = Hubs::new(problem, stream, &slots);
        let kept = Hubs::new(problem, stream, &prices.broker_replicas);
        let mut pinned = vec![0; problem.brokers.len()];
        let mut room = vec![0; problem.brokers.len()];
        let mut free = 0;
        for shard in &problem.shards[stream.shards.start as usize..stream.shards.end as usize] {
            let live = live_replicas(problem, &shard.present);
            if shard.is_pinned {
                let leader = live_leader(problem, &shard.present);
                let own = Wanted::new(problem, shard).own(leader, &live).0;
                add(&mut self.total, &own);
                self.fixed.add(problem, &shard.present, 1);
                if let Some(leader) = leader {
                    pinned[leader.index()] += 1;
                }
                continue;
            }
            free += 1;
            for &holder in &live {
                room[holder.index()] += 1;
                if problem.policy.roles == Roles::LeadershipOnly {
                    self.fixed.replicas[holder.index()] += 1;
                    self.fixed.zone_replicas[problem.brokers[holder.index()].zone.index()] += 1;
                }
            }
            let wanted = Wanted::new(problem, shard);
            let led = cheapest_lead(&wanted, &live, &slots, &hubs);
            let mut best = led;
            if live_leader(problem, &shard.present).is_none() {
                let unled = cheapest_unled(&wanted, &live, &prices.broker_replicas, &kept);
                best = Some(led.map_or(unled, |led| led.min(unled)));
            }
            add(&mut self.total, &best.unwrap_or([0; RANKS]));
        }
        let bands = Bands::stream(problem, stream);
        for (b, broker) in problem.brokers.iter().enumerate() {
            let takes = takes(problem, stream, BrokerId::at(b));
            let room = if takes && hubs.are_open {
                free
            } else {
                room[b]
            };
            self.broker_room[b] += room;
            let level = bands.leaders(broker).filter(|_| takes);
            let part = level.map(|level| (Rank::StreamLeaderSpread, Shape::Outside(level)));
            let range = Range {
                low: pinned[b],
                high: pinned[b] + room,
            };
            let price = less(&slots[b], &prices.brokers[b]);
            add(&mut self.total, &minimum(range, &price, part.as_slice()));
        }
    }

    fn add_brokers(&mut self, problem: &Problem, prices: &Prices<'_>) {
        let bands = Bands::cluster(problem);
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
            let multipliers = prices.of_broker(b, broker.zone.index());
            self.add_counts(problem, &counts, own.as_slice(), &multipliers);
        }
    }

    fn add_zones(&mut self, problem: &Problem, prices: &Prices<'_>) {
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
            let minimum_leaders = Shape::Below(i128::from(zone.min_leaders));
            let own = [(Rank::ZoneMinimumShortfall, minimum_leaders)];
            self.add_counts(problem, &counts, &own, &prices.of_zone(z));
        }
    }

    /// The terms of the leaders and replicas of a broker or zone; `own` are the costs of its leaders beside the caps.
    ///
    /// Where replicas move with their leaders, each leader is a replica more: no more leaders than replicas fit, and
    /// where the replicas have no multiplier, their excess follows the leaders. Where replicas stay, it is a constant.
    fn add_counts(
        &mut self,
        problem: &Problem,
        counts: &Counts,
        own: &[(Rank, Shape)],
        [of_leader, of_replica]: &[Vector; 2],
    ) {
        let mut high = counts.leaders + counts.room;
        let mut parts = own.to_vec();
        let above = |cap: i64| (Rank::Breaches, Shape::Above(i128::from(cap)));
        if let Some(cap) = counts.max_leaders.map(i64::from) {
            high = high.min(cap.max(counts.leaders_now));
            parts.push(above(cap));
        }
        let is_apart = *of_replica != [0; RANKS];
        let mut replicas_high = counts.replicas + counts.room;
        let mut replica_parts = Vec::new();
        if let Some(cap) = counts.max_replicas.map(i64::from) {
            if problem.policy.roles == Roles::LeadershipOnly {
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
        add(
            &mut self.total,
            &minimum(Range { low, high }, of_leader, &parts),
        );
        if is_apart {
            let range = Range {
                low: counts.replicas,
                high: replicas_high,
            };
            add(&mut self.total, &minimum(range, of_replica, &replica_parts));
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

fn less(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|rank| a[rank] - b[rank])
}

/// For each zone the broker with the lowest price among those that take new replicas of a stream.
struct Hubs {
    /// Whether replicas may be placed anew at all.
    are_open: bool,
    by_zone: Vec<Option<BrokerId>>,
    /// The zones that have one, the cheapest first.
    cheapest_first: Vec<(ZoneId, BrokerId)>,
}

impl Hubs {
    fn new(problem: &Problem, stream: &Stream, prices: &[Vector]) -> Self {
        let are_open = problem.policy.roles == Roles::LeadersAndFollowers;
        let mut cheapest: Vec<Option<BrokerId>> = vec![None; problem.zones.len()];
        if are_open {
            for (b, price) in prices.iter().enumerate() {
                let id = BrokerId::at(b);
                let best = &mut cheapest[problem.brokers[b].zone.index()];
                if takes(problem, stream, id)
                    && best.is_none_or(|best| *price < prices[best.index()])
                {
                    *best = Some(id);
                }
            }
        }
        let mut cheapest_first: Vec<(ZoneId, BrokerId)> = (cheapest.iter().enumerate())
            .filter_map(|(z, best)| Some((ZoneId::at(z), (*best)?)))
            .collect();
        cheapest_first.sort_by_key(|(_, b)| prices[b.index()]);
        Hubs {
            are_open,
            by_zone: cheapest,
            cheapest_first,
        }
    }

    /// The brokers that can be the cheapest newcomer of a shard whose replica serves this traffic: in each zone that
    /// a source lists, and in one of all the others, where a newcomer costs the same.
    fn newcomers<'a>(&'a self, traffic: &'a Traffic) -> impl Iterator<Item = BrokerId> + 'a {
        let is_listed = |zone: ZoneId| traffic.reached.iter().any(|entry| entry.0 == zone);
        let listed = traffic
            .reached
            .iter()
            .filter_map(|entry| self.by_zone[entry.0.index()]);
        let elsewhere = self
            .cheapest_first
            .iter()
            .find(|(zone, _)| !is_listed(*zone));
        listed.chain(elsewhere.map(|(_, b)| *b))
    }
}

/// The lexicographic minimum of own cost and slot price over the brokers that may lead a free shard.
///
/// Of the brokers that take a new replica only the cheapest of each zone has to be tried, beside the present
/// holders. Let b be another one of that zone which holds no replica. The price of the cheapest is no larger; and its
/// own cost is no larger, because it is the same when it holds none either, while a holder saves the copy (ranks
/// 13 and 14; a promotion is no dearer than a copy) and never has more leader changes. The same argument lets one zone
/// stand for all that no source lists.
fn cheapest_lead(
    wanted: &Wanted<'_>,
    live: &[BrokerId],
    slots: &[Vector],
    hubs: &Hubs,
) -> Option<Vector> {
    let newcomers = hubs.newcomers(wanted.leader_traffic());
    let led = live.iter().copied().chain(newcomers).map(|b| {
        let own = match hubs.are_open {
            true => wanted.own(Some(b), &[b]),
            false => wanted.own(Some(b), live),
        };
        let mut cost = own.0;
        add(&mut cost, &slots[b.index()]);
        cost
    });
    led.min()
}

/// The lexicographic minimum of own cost and price of a free shard that nobody leads. Where replicas are decided and
/// there is one, it stays or another broker takes it over; the cheapest of each zone stands for the others, as above.
fn cheapest_unled(
    wanted: &Wanted<'_>,
    live: &[BrokerId],
    replicas: &[Vector],
    hubs: &Hubs,
) -> Vector {
    if live.is_empty() || !hubs.are_open {
        return wanted.own(None, live).0;
    }
    let newcomers = hubs.newcomers(wanted.follower_traffic());
    let kept = live.iter().copied().chain(newcomers).map(|b| {
        let mut cost = wanted.own(None, &[b]).0;
        add(&mut cost, &replicas[b.index()]);
        cost
    });
    kept.min().unwrap_or([0; RANKS])
}
