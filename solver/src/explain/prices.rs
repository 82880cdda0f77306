//! What one more unit of a rule would save.
//!
//! **Promise.** Let a certificate prove a plan optimal. The bound is a sum of terms, one for each count (see
//! `verify::bound`), and a rule enters the term of its own count alone. The price of a rule is by how much that term falls
//! when the rule is wider by one: a maximum or ceiling higher, a minimum or floor lower. At the same prices of the
//! certificate the bound under the wider rule is the old bound less the price; no plan is below it. So **one more
//! unit saves at most the price**, in the lexicographic order of the ranks: at most so much in the first rank that has
//! a price, and in later ranks at most so much where it saves all of that. It may save less, also nothing, where
//! several rules hold a plan together or an optimum has other prices as well.
//!
//! Complexity: O(shards · replicas + streams · brokers · ranks · log shards).

use super::multipliers::{Multipliers, Vector, least, less, plus};
use crate::certificate::Certificate;
use crate::cost::{RANKS, Rank};
use crate::cut::Place;
use crate::model::leaders;
use crate::network::Convex;
use crate::snapshot::{Band, BrokerId, Counts, Problem, Roles, StreamId, ZoneId};

/// A rule that may be wider by one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PricedRule {
    /// `max_leaders` of a broker or zone.
    MaxLeaders(Place),
    /// `max_replicas` of a broker or zone.
    MaxReplicas(Place),
    /// `min_leaders` of a zone.
    MinLeaders(ZoneId),
    /// The fewest leaders of all streams that cost a broker no spread.
    ClusterFloor(BrokerId),
    /// The most.
    ClusterCeiling(BrokerId),
    /// The fewest leaders of a stream that cost a broker no spread.
    StreamFloor(StreamId, BrokerId),
    /// The most.
    StreamCeiling(StreamId, BrokerId),
}

/// A rule and what one more unit of it saves at most.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RulePrice {
    /// The rule.
    pub rule: PricedRule,
    /// By rank, lexicographically above zero; later ranks may be negative.
    pub saves: [i64; RANKS],
}

/// The prices of all rules that have one; of each stream the dearest floor and the dearest ceiling.
///
/// `certificate` has the problem's shape and proves a plan optimal. Nothing where leaders don't decide everything.
pub fn prices(problem: &Problem, certificate: &Certificate) -> Vec<RulePrice> {
    if !leaders::applies(problem) {
        return Vec::new();
    }
    let mut pricing = Pricing {
        problem,
        multipliers: Multipliers::new(problem, certificate),
        fixed: Counts::zero(problem.brokers.len(), problem.zones.len()),
        room: vec![0; problem.brokers.len()],
        prices: Vec::new(),
    };
    let streams: Vec<RulePrice> = (0..problem.streams.len())
        .flat_map(|s| pricing.stream(StreamId::at(s)))
        .collect();
    for b in problem.broker_ids() {
        pricing.broker(b);
    }
    for z in (0..problem.zones.len()).map(ZoneId::at) {
        pricing.zone(z);
    }
    let mut prices = pricing.prices;
    prices.extend(streams);
    prices
}

struct Pricing<'a> {
    problem: &'a Problem,
    multipliers: Multipliers<'a>,
    /// Leaders and replicas that are there whatever the plan.
    fixed: Counts,
    /// By broker, free shards that may be led there.
    room: Vec<i64>,
    prices: Vec<RulePrice>,
}

/// A broker or zone: its rules, and what is there.
#[derive(Clone)]
struct Counted {
    max_leaders: Option<i64>,
    max_replicas: Option<i64>,
    now: (i64, i64),
    fixed: (i64, i64),
    room: i64,
    /// Costs of its leaders beside the caps.
    own: Vec<(Rank, Convex)>,
    of_leader: Vector,
    of_replica: Vector,
}

impl Counted {
    /// What its leaders and replicas cost at least, as in the verifier's bound.
    fn term(&self, roles: Roles) -> Vector {
        let mut high = self.fixed.0 + self.room;
        let mut parts = self.own.clone();
        let above = |cap: i64| (Rank::Breaches, Convex::Excess(cap));
        if let Some(cap) = self.max_leaders {
            high = high.min(cap.max(self.now.0));
            parts.push(above(cap));
        }
        let is_apart = self.of_replica != [0; RANKS];
        let mut replicas_high = self.fixed.1 + self.room;
        let mut replica_parts = Vec::new();
        let mut total: Vector = [0; RANKS];
        match (self.max_replicas, roles) {
            (None, _) => {}
            (Some(cap), Roles::LeadershipOnly) => {
                total[Rank::Breaches as usize] = i128::from((self.fixed.1 - cap).max(0));
            }
            (Some(cap), Roles::LeadersAndFollowers) => {
                let others = self.fixed.1 - self.fixed.0;
                replicas_high = replicas_high.min(cap.max(self.now.1));
                high = high.min(replicas_high - others);
                match is_apart {
                    true => replica_parts.push(above(cap)),
                    false => parts.push(above(cap - others)),
                }
            }
        }
        let leaders = least(self.fixed.0, high, &self.of_leader, &parts);
        total = plus(&total, &leaders);
        if is_apart {
            let replicas = least(
                self.fixed.1,
                replicas_high,
                &self.of_replica,
                &replica_parts,
            );
            total = plus(&total, &replicas);
        }
        total
    }

    /// The same counts where a rule is wider.
    fn wider(&self, change: impl Fn(&mut Self)) -> Self {
        let mut wider = self.clone();
        change(&mut wider);
        wider
    }
}

impl Pricing<'_> {
    fn add(&mut self, rule: PricedRule, now: &Counted, wider: Counted) {
        let roles = self.problem.policy.roles;
        let saves = less(&now.term(roles), &wider.term(roles));
        self.prices.extend(price(rule, &saves));
    }

    /// Counts the shards of a stream, and prices its floors and ceilings.
    fn stream(&mut self, s: StreamId) -> Vec<RulePrice> {
        let problem = self.problem;
        let copies = problem.policy.roles == Roles::LeadersAndFollowers;
        let mut pinned = vec![0_i64; problem.brokers.len()];
        let mut held = vec![0_i64; problem.brokers.len()];
        let mut free = 0;
        for at in problem.stream(s).shards.clone() {
            let shard = &problem.shards[at as usize];
            if shard.is_pinned {
                self.fixed.add(&problem.brokers, &shard.present, 1);
                if let Some(b) = problem.live_leader(shard) {
                    pinned[b.index()] += 1;
                }
                continue;
            }
            free += 1;
            for b in problem.live(&shard.present) {
                held[b.index()] += 1;
                if !copies {
                    self.fixed.replicas[b.index()] += 1;
                    self.fixed.zone_replicas[problem.zone_of(b).index()] += 1;
                }
            }
        }
        let mut dearest: [Option<RulePrice>; 2] = [None, None];
        for b in problem.broker_ids() {
            let at = b.index();
            let room = match copies && problem.may_enter(s, b) {
                true => free,
                false => held[at],
            };
            self.room[at] += room;
            let Some(band) = problem.stream_leader_band(s, b) else {
                continue;
            };
            let counts = (pinned[at], pinned[at] + room);
            for (kept, found) in dearest.iter_mut().zip(self.band(s, b, band, counts)) {
                let is_dearer =
                    |one: &RulePrice| kept.as_ref().is_none_or(|kept| one.saves > kept.saves);
                if let Some(found) = found.filter(is_dearer) {
                    *kept = Some(found);
                }
            }
        }
        dearest.into_iter().flatten().collect()
    }

    /// The prices of floor and ceiling of a stream on a broker, which leads from `low` to `high` shards of it.
    fn band(
        &self,
        s: StreamId,
        b: BrokerId,
        band: Band,
        (low, high): (i64, i64),
    ) -> [Option<RulePrice>; 2] {
        let multiplier = self.multipliers.slot_alone(s, b);
        if multiplier.is_none() && low <= band.high && high >= band.low {
            return [None, None];
        }
        let multiplier = multiplier.unwrap_or([0; RANKS]);
        let term = |band: Band| {
            let part = (Rank::StreamLeaderSpread, squares(band));
            least(low, high, &multiplier, &[part])
        };
        let now = term(band);
        let [floor, ceiling] = wider_bands(band).map(|band| less(&now, &term(band)));
        [
            price(PricedRule::StreamFloor(s, b), &floor),
            price(PricedRule::StreamCeiling(s, b), &ceiling),
        ]
    }

    fn broker(&mut self, b: BrokerId) {
        let problem = self.problem;
        let (at, broker) = (b.index(), problem.broker(b));
        let present = &problem.limits.present;
        let band = problem.cluster_leader_band(b);
        let spread = |band: Band| (Rank::ClusterLeaderSpread, squares(band));
        let replica = less(
            &self.multipliers.broker_replica(b),
            &self.multipliers.zone_replica(broker.zone),
        );
        let leader = less(
            &self.multipliers.broker(b),
            &self.multipliers.zone(broker.zone),
        );
        let now = Counted {
            max_leaders: broker.max_leaders.map(i64::from),
            max_replicas: broker.max_replicas.map(i64::from),
            now: (present.leaders[at], present.replicas[at]),
            fixed: (self.fixed.leaders[at], self.fixed.replicas[at]),
            room: self.room[at],
            own: band.map(spread).into_iter().collect(),
            of_leader: less(&leader, &replica),
            of_replica: replica,
        };
        self.caps(Place::Broker(b), &now);
        if let Some(band) = band {
            let rules = [PricedRule::ClusterFloor(b), PricedRule::ClusterCeiling(b)];
            for (rule, band) in rules.into_iter().zip(wider_bands(band)) {
                let wider = now.wider(|counted| counted.own = vec![spread(band)]);
                self.add(rule, &now, wider);
            }
        }
    }

    fn zone(&mut self, z: ZoneId) {
        let problem = self.problem;
        let (at, zone) = (z.index(), &problem.zones[z.index()]);
        let present = &problem.limits.present;
        let in_zone = problem.broker_ids().filter(|&b| problem.zone_of(b) == z);
        let minimum = |least: i64| vec![(Rank::ZoneMinimumShortfall, Convex::Shortfall(least))];
        let replica = self.multipliers.zone_replica(z);
        let least = i64::from(zone.min_leaders);
        let now = Counted {
            max_leaders: zone.max_leaders.map(i64::from),
            max_replicas: zone.max_replicas.map(i64::from),
            now: (present.zone_leaders[at], present.zone_replicas[at]),
            fixed: (self.fixed.zone_leaders[at], self.fixed.zone_replicas[at]),
            room: in_zone.map(|b| self.room[b.index()]).sum(),
            own: minimum(least),
            of_leader: less(&self.multipliers.zone(z), &replica),
            of_replica: replica,
        };
        self.caps(Place::Zone(z), &now);
        if least > 0 {
            let wider = now.wider(|counted| counted.own = minimum(least - 1));
            self.add(PricedRule::MinLeaders(z), &now, wider);
        }
    }

    /// The prices of the two maxima.
    fn caps(&mut self, place: Place, now: &Counted) {
        if now.max_leaders.is_some() {
            let wider =
                now.wider(|counted| counted.max_leaders = now.max_leaders.map(|cap| cap + 1));
            self.add(PricedRule::MaxLeaders(place), now, wider);
        }
        if now.max_replicas.is_some() {
            let cap = now.max_replicas.map(|cap| cap + 1);
            let wider = now.wider(|counted| counted.max_replicas = cap);
            self.add(PricedRule::MaxReplicas(place), now, wider);
        }
    }
}

fn squares(band: Band) -> Convex {
    Convex::Squares {
        low: band.low,
        high: band.high,
    }
}

/// The band with its floor one lower, and with its ceiling one higher.
fn wider_bands(band: Band) -> [Band; 2] {
    let (low, high) = (band.low - 1, band.high + 1);
    [Band { low, ..band }, Band { high, ..band }]
}

/// A price that is worth telling.
fn price(rule: PricedRule, saves: &Vector) -> Option<RulePrice> {
    let clamp = |value: i128| value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    (*saves > [0; RANKS]).then(|| RulePrice {
        rule,
        saves: saves.map(clamp),
    })
}
