//! A lower bound on the objective from prices alone.
//!
//! **Problem.** Every free (not pinned) shard i chooses a broker that leads it, or none. The cost of a plan is
//! Σ own(i, choice), plus convex costs of counts: f of the leaders of a stream on a broker (rank 8), g of the leaders of
//! a broker (ranks 3 and 9), h of the leaders of a zone (ranks 3 and 7). Counts include what pinned shards use.
//!
//! **Bound.** For any integer prices P of one more leader in a slot (stream, broker), on a broker and in a zone, the
//! price terms below cancel when every count is what the choices make it. Letting choices and counts free of each
//! other can therefore only lower
//!
//! ```text
//! constants + Σ_i   min over choices      ( own(i, b) + P(s, b) )
//!           + Σ_s,b min over x in range   ( f(x) − (P(s, b) − P(b)) · (x − pinned) )
//!           + Σ_b   min over x in range   ( g(x) − (P(b) − P(zone)) · (x − pinned) )
//!           + Σ_z   min over x in range   ( h(x) − P(z) · (x − pinned) )
//! ```
//!
//! Costs and prices are vectors, one component per rank, and every minimum is lexicographic. The lexicographic order
//! is total and kept by addition, so the sum of the minima is a lower bound on the objective in that order.
//! Prices of an optimal basis make it tight; then it proves every rank of the plan.
//!
//! **Where it applies.** Where only leadership is decided, and where every stream that has shards has replication
//! factor 1. In the second case a shard without a leader may keep one live replica as a follower; the capacity which
//! that takes is left out, which only lowers the bound.
//!
//! Complexity: O(shards · (zones + replicas) + streams · brokers · log shards) for each rank.

mod convex;

use self::convex::{Range, Shape, minimum};
use super::placement::{Bands, Tally, Vector, Wanted, add, live_leader, live_replicas, takes};
use super::{Fault, Rule};
use crate::certificate::Certificate;
use crate::cost::{Cost, RANKS, Rank};
use crate::snapshot::{BrokerId, Problem, Roles, Shard, Stream};

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
    let slots = problem.streams.len() * brokers;
    for prices in &certificate.ranks {
        let parts = [
            ("slots", prices.slots.len(), slots),
            ("brokers", prices.brokers.len(), brokers),
            ("zones", prices.zones.len(), zones),
        ];
        for (part, has, wants) in parts.into_iter().filter(|(_, has, wants)| has != wants) {
            let rank = prices.rank.name();
            find(format!(
                "the certificate has {has} prices of {rank} for {wants} {part}"
            ));
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

/// The prices of a certificate, absent ranks zero.
struct Prices<'a> {
    slots: [Option<&'a [i64]>; RANKS],
    brokers: Vec<Vector>,
    zones: Vec<Vector>,
    broker_count: usize,
}

impl<'a> Prices<'a> {
    fn new(problem: &Problem, certificate: &'a Certificate) -> Self {
        let mut prices = Prices {
            slots: [None; RANKS],
            brokers: vec![[0; RANKS]; problem.brokers.len()],
            zones: vec![[0; RANKS]; problem.zones.len()],
            broker_count: problem.brokers.len(),
        };
        for entry in &certificate.ranks {
            let rank = entry.rank as usize;
            prices.slots[rank] = Some(&entry.slots);
            for (into, &price) in prices.brokers.iter_mut().zip(&entry.brokers) {
                into[rank] = i128::from(price);
            }
            for (into, &price) in prices.zones.iter_mut().zip(&entry.zones) {
                into[rank] = i128::from(price);
            }
        }
        prices
    }
    /// Price of each slot of a stream, by broker.
    fn of_stream(&self, stream: usize) -> Vec<Vector> {
        let row = stream * self.broker_count..(stream + 1) * self.broker_count;
        let mut slots = vec![[0; RANKS]; self.broker_count];
        for (rank, prices) in self.slots.iter().enumerate() {
            if let Some(prices) = prices {
                for (into, &price) in slots.iter_mut().zip(&prices[row.clone()]) {
                    into[rank] = i128::from(price);
                }
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
            add(
                &mut self.total,
                &cheapest_choice(problem, shard, &live, &slots, &hubs),
            );
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
            let caps = Caps {
                leaders: broker.max_leaders,
                replicas: broker.max_replicas,
                leaders_now: self.present.leaders[b],
                replicas_now: self.present.replicas[b],
            };
            let (leaders, replicas) = (self.fixed.leaders[b], self.fixed.replicas[b]);
            let (range, mut parts) =
                self.counts(problem, caps, leaders, replicas, self.broker_room[b]);
            if let Some(level) = bands.leaders(broker) {
                parts.push((Rank::ClusterLeaderSpread, Shape::Outside(level)));
            }
            let price = less(&prices.brokers[b], &prices.zones[broker.zone.index()]);
            add(&mut self.total, &minimum(range, &price, &parts));
        }
    }

    fn add_zones(&mut self, problem: &Problem, prices: &Prices<'_>) {
        let mut room = vec![0; problem.zones.len()];
        for (b, broker) in problem.brokers.iter().enumerate() {
            room[broker.zone.index()] += self.broker_room[b];
        }
        for (z, zone) in problem.zones.iter().enumerate() {
            let caps = Caps {
                leaders: zone.max_leaders,
                replicas: zone.max_replicas,
                leaders_now: self.present.zone_leaders[z],
                replicas_now: self.present.zone_replicas[z],
            };
            let (leaders, replicas) = (self.fixed.zone_leaders[z], self.fixed.zone_replicas[z]);
            let (range, mut parts) = self.counts(problem, caps, leaders, replicas, room[z]);
            let minimum_leaders = Shape::Below(i128::from(zone.min_leaders));
            parts.push((Rank::ZoneMinimumShortfall, minimum_leaders));
            add(&mut self.total, &minimum(range, &prices.zones[z], &parts));
        }
    }

    /// Leaders that a broker or zone may have, and what those above its caps cost. Where replicas move with their
    /// leaders, each leader is a replica more; where they stay, their excess is a constant.
    fn counts(
        &mut self,
        problem: &Problem,
        caps: Caps,
        leaders: i64,
        replicas: i64,
        room: i64,
    ) -> (Range, Vec<(Rank, Shape)>) {
        let mut high = leaders + room;
        let mut parts = Vec::with_capacity(4);
        if let Some(cap) = caps.leaders.map(i64::from) {
            high = high.min(cap.max(caps.leaders_now));
            parts.push((Rank::Breaches, Shape::Above(i128::from(cap))));
        }
        if let Some(cap) = caps.replicas.map(i64::from) {
            if problem.policy.roles == Roles::LeadershipOnly {
                self.total[Rank::Breaches as usize] += i128::from((replicas - cap).max(0));
            } else {
                let others = replicas - leaders;
                high = high.min(cap.max(caps.replicas_now) - others);
                parts.push((Rank::Breaches, Shape::Above(i128::from(cap - others))));
            }
        }
        (Range { low: leaders, high }, parts)
    }
}

/// Caps of a broker or zone, and its present counts.
#[derive(Clone, Copy)]
struct Caps {
    leaders: Option<u32>,
    replicas: Option<u32>,
    leaders_now: i64,
    replicas_now: i64,
}

fn less(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|rank| a[rank] - b[rank])
}

/// For each zone the broker with the cheapest slot among those that take new replicas of a stream.
struct Hubs {
    /// Whether replicas may be placed anew at all.
    are_open: bool,
    cheapest: Vec<BrokerId>,
}

impl Hubs {
    fn new(problem: &Problem, stream: &Stream, slots: &[Vector]) -> Self {
        let are_open = problem.policy.roles == Roles::LeadersAndFollowers;
        let mut cheapest: Vec<Option<BrokerId>> = vec![None; problem.zones.len()];
        if are_open {
            for (b, slot) in slots.iter().enumerate() {
                let id = BrokerId::at(b);
                let best = &mut cheapest[problem.brokers[b].zone.index()];
                if takes(problem, stream, id) && best.is_none_or(|best| *slot < slots[best.index()])
                {
                    *best = Some(id);
                }
            }
        }
        Hubs {
            are_open,
            cheapest: cheapest.into_iter().flatten().collect(),
        }
    }
}

/// The lexicographic minimum of own cost and slot price over everything that a free shard may choose.
///
/// Of the brokers that take a new replica only the cheapest of each zone has to be tried, beside the present
/// holders. Let b be another one of that zone which holds no replica. The price of the cheapest is no larger; and its
/// own cost is no larger, because it is the same when it holds none either, while a holder saves the copy (ranks
/// 13 and 14; a promotion is no dearer than a copy) and never has more leader changes.
fn cheapest_choice(
    problem: &Problem,
    shard: &Shard,
    live: &[BrokerId],
    slots: &[Vector],
    hubs: &Hubs,
) -> Vector {
    let wanted = Wanted::new(problem, shard);
    let newcomers = hubs.cheapest.iter();
    let brokers = || live.iter().chain(newcomers.clone()).copied();
    let led = brokers().map(|b| {
        let own = match hubs.are_open {
            true => wanted.own(Some(b), &[b]),
            false => wanted.own(Some(b), live),
        };
        let mut cost = own.0;
        add(&mut cost, &slots[b.index()]);
        cost
    });
    let mut best = led.min();
    if live_leader(problem, &shard.present).is_none() {
        let mut offer = |replicas: &[BrokerId]| {
            let cost = wanted.own(None, replicas).0;
            best = Some(best.map_or(cost, |best| best.min(cost)));
        };
        if hubs.are_open && !live.is_empty() {
            brokers().for_each(|b| offer(&[b]));
        } else {
            offer(live);
        }
    }
    best.unwrap_or([0; RANKS])
}
