//! The cheapest replicas of one shard for each choice of its leader, at prices of replicas.
//!
//! **Problem.** Given who leads, or that nobody does, find followers that keep the rules of one shard and cost least: its
//! own cost in all ranks, and the price of each of its replicas. Vectors over the ranks, compared lexicographically.
//!
//! **Leaders.** A follower is an element of its zone (see `pool`). The zone of the leader is the only one whose elements
//! depend on who leads. So elements are found once a shard, for the zones with the cheapest firsts, one more than there
//! are followers: the leader's may be among them. A broker that the shard would enter as its leader costs the same in all
//! its zone, but for its price and where it would follow too.
//!
//! Complexity: O(brokers · log) a stream; O(zones + R²) a shard and O(R²) for each leader, R the replication factor.

use super::SetError;
use super::parcels::sum;
use super::pool::{Element, Elements, Pool};
use super::prices::ReplicaPrices;
use super::wishes::{alone, zone_limit};
use crate::certificate::RankPrices;
use crate::cost::{Cost, Rank};
use crate::snapshot::{Assignment, BrokerId, Problem, ShardId, StreamId, ZoneId};
use smallvec::SmallVec;

/// The best of a shard for one choice of its leader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Best {
    /// Own cost and prices.
    pub cost: Cost,
    /// Live followers, in ascending order.
    pub followers: SmallVec<[BrokerId; 4]>,
}

/// Finds the best, shard after shard.
pub struct Choices<'a> {
    problem: &'a Problem,
    prices: ReplicaPrices<'a>,
    /// By zone, brokers that take new replicas, whatever the stream.
    active: Vec<Vec<BrokerId>>,
    /// By zone, brokers that the open stream may enter, by price; no more than a shard can ask for.
    newcomers: Vec<Vec<BrokerId>>,
    shard: OpenShard<'a>,
}

/// The shard that is open.
struct OpenShard<'a> {
    id: ShardId,
    prefer: Option<&'a Assignment>,
    /// Live replicas that it has to keep.
    kept: usize,
    factor: usize,
    zones_wanted: usize,
    /// Own cost of a follower that it doesn't have yet, and of such a leader, without traffic.
    newcomer: Cost,
    new_leader: Cost,
    holders: SmallVec<[Holder; 4]>,
    /// Firsts of the zones where they are cheapest, in order.
    firsts: Vec<Element>,
    /// All further elements of these zones, in order.
    further: Vec<Element>,
}

/// A live replica.
struct Holder {
    broker: BrokerId,
    zone: ZoneId,
    /// As a follower, with its price.
    cost: Cost,
}

/// Where the leader is, and the broker that may not follow.
#[derive(Clone, Copy)]
struct Led {
    zone: ZoneId,
    broker: Option<BrokerId>,
}

impl<'a> Choices<'a> {
    /// For all shards of a problem whose replicas are decided, at prices of replicas: those of a certificate, of which the
    /// prices of leaders are not looked at.
    ///
    /// # Errors
    /// Prices too large to add up.
    pub fn new(problem: &'a Problem, prices: &'a [RankPrices]) -> Result<Self, SetError> {
        let mut active = vec![Vec::new(); problem.zones.len()];
        for b in problem.broker_ids().filter(|&b| problem.is_active(b)) {
            active[problem.zone_of(b).index()].push(b);
        }
        Ok(Choices {
            problem,
            prices: ReplicaPrices::new(problem, prices)?,
            newcomers: vec![Vec::new(); active.len()],
            active,
            shard: OpenShard {
                id: ShardId(0),
                prefer: None,
                kept: 0,
                factor: 1,
                zones_wanted: 0,
                newcomer: Cost::default(),
                new_leader: Cost::default(),
                holders: SmallVec::new(),
                firsts: Vec::new(),
                further: Vec::new(),
            },
        })
    }

    /// Turns to a stream.
    pub fn open_stream(&mut self, s: StreamId) {
        self.prices.open_stream(s);
        let stream = self.problem.stream(s);
        let shards = &self.problem.shards[stream.shards.start as usize..stream.shards.end as usize];
        let held = shards.iter().map(|shard| shard.present.replicas().count());
        // All holders, all followers and the leader.
        let most = held.max().unwrap_or(0) + stream.replication_factor as usize + 1;
        let prices = &self.prices;
        let key = |b: &BrokerId| (prices.of(*b), *b);
        for (newcomers, active) in self.newcomers.iter_mut().zip(&self.active) {
            newcomers.clear();
            newcomers.extend(active.iter().filter(|b| stream.open[b.index()]));
            if newcomers.len() > most {
                newcomers.select_nth_unstable_by(most, |a, b| key(a).cmp(&key(b)));
                newcomers.truncate(most);
            }
            newcomers.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        }
    }

    /// Price of one more replica of the open stream.
    pub fn price(&self, b: BrokerId) -> &Cost {
        self.prices.of(b)
    }

    /// Whether the shard doesn't hold a broker.
    pub fn is_newcomer(&self, b: BrokerId) -> bool {
        !self.problem.shard(self.shard.id).present.holds(b)
    }

    /// Brokers of a zone that the shard may enter; where there are many, at least one more than could follow it.
    pub fn newcomers(&self, z: ZoneId) -> usize {
        let newcomers = self.newcomers[z.index()].iter();
        newcomers.filter(|&&b| self.is_newcomer(b)).count()
    }

    /// Turns to a shard of the open stream. Among followers that cost the same those of `prefer` come first.
    pub fn open_shard(&mut self, id: ShardId, prefer: &'a Assignment) {
        let problem = self.problem;
        let shard = problem.shard(id);
        let holders = problem.live(&shard.present).map(|broker| Holder {
            broker,
            zone: problem.zone_of(broker),
            cost: sum(&alone(problem, id, broker, false), self.prices.of(broker)),
        });
        let holders: SmallVec<[Holder; 4]> = holders.collect();
        let factor = problem.replication_factor(shard.stream) as usize;
        self.shard.id = id;
        self.shard.prefer = Some(prefer);
        self.shard.kept = factor.min(holders.len());
        self.shard.factor = factor;
        self.shard.zones_wanted = problem.zones_wanted(shard) as usize;
        self.shard.holders = holders;
        self.open_newcomers();
        self.find_elements();
    }

    /// Own costs of new replicas, but for traffic the same everywhere.
    fn open_newcomers(&mut self) {
        let problem = self.problem;
        let present = &problem.shard(self.shard.id).present;
        let mut all = self.newcomers.iter().flatten();
        let Some(&b) = all.find(|&&b| !present.holds(b)) else {
            return;
        };
        let own = |leads: bool| {
            let mut own = alone(problem, self.shard.id, b, leads);
            own[Rank::Weighted] -= self.traffic(problem.zone_of(b), leads);
            own
        };
        (self.shard.newcomer, self.shard.new_leader) = (own(false), own(true));
    }

    fn traffic(&self, z: ZoneId, leads: bool) -> i64 {
        let shard = self.problem.shard(self.shard.id);
        let traffic = match leads {
            true => &shard.leader_traffic,
            false => &shard.follower_traffic,
        };
        self.problem.policy.weights.traffic * traffic.cross(z)
    }

    /// Elements of the zones with the cheapest firsts, for a shard led from elsewhere.
    fn find_elements(&mut self) {
        let most = self.shard.factor.max(self.shard.kept) + 1;
        let mut firsts = std::mem::take(&mut self.shard.firsts);
        firsts.clear();
        for z in (0..self.problem.zones.len()).map(ZoneId::at) {
            if let Some(first) = self.elements(z, None, 1).pop() {
                let at = firsts.partition_point(|of| of.key() <= first.key());
                if at < most {
                    firsts.truncate(most - 1);
                    firsts.insert(at, first);
                }
            }
        }
        let mut further = std::mem::take(&mut self.shard.further);
        further.clear();
        for first in &firsts {
            further.extend(self.elements(first.zone, None, most).into_iter().skip(1));
        }
        further.sort_by(|a, b| a.key().cmp(&b.key()));
        (self.shard.firsts, self.shard.further) = (firsts, further);
    }

    /// The first elements of a zone, `most` at most.
    fn elements(&self, z: ZoneId, led: Option<Led>, most: usize) -> Elements {
        let shard = &self.shard;
        let limit = zone_limit(self.problem, shard.id, z);
        let leaders = i64::from(led.is_some());
        let most = limit.map_or(most, |(most_here, _)| {
            most.min((most_here - leaders) as usize)
        });
        let mut elements = self.brokers(z, led.and_then(|led| led.broker), most);
        let weights = &self.problem.policy.weights;
        for (before, element) in (leaders..).zip(&mut elements) {
            element.cost[Rank::Breaches] +=
                i64::from(limit.is_some_and(|(_, limit)| before >= limit));
            let crowded = before * weights.same_rack + leaders * weights.same_rack_as_leader;
            element.cost[Rank::Weighted] = element.cost[Rank::Weighted].saturating_add(crowded);
        }
        elements
    }

    /// The brokers of a zone that cost least by themselves, in order.
    fn brokers(&self, z: ZoneId, except: Option<BrokerId>, most: usize) -> Elements {
        let shard = &self.shard;
        let present = &self.problem.shard(shard.id).present;
        let element = |broker: BrokerId, cost: Cost| Element {
            cost,
            is_plain: !shard.prefer.is_some_and(|set| set.holds(broker)),
            zone: z,
            broker,
        };
        let here = shard.holders.iter().filter(|holder| holder.zone == z);
        let here = here.map(|holder| element(holder.broker, holder.cost));
        let mut elements: Elements = here.filter(|of| Some(of.broker) != except).collect();
        let mut own = shard.newcomer;
        own[Rank::Weighted] = own[Rank::Weighted].saturating_add(self.traffic(z, false));
        let is_new = |b: &&BrokerId| !present.holds(**b) && Some(**b) != except;
        let newcomers = self.newcomers[z.index()].iter().filter(is_new);
        let preferred = newcomers.clone().skip(most);
        let preferred = preferred.filter(|&&b| shard.prefer.is_some_and(|set| set.holds(b)));
        for &b in newcomers.take(most).chain(preferred) {
            elements.push(element(b, sum(&own, self.prices.of(b))));
        }
        elements.sort_by(|a, b| (a.key(), a.broker).cmp(&(b.key(), b.broker)));
        elements.truncate(most);
        elements
    }

    /// The best with this leader: a broker that holds a live replica, or one that the stream may enter. None where the
    /// shard's rules leave no set.
    pub fn led(&self, leader: BrokerId) -> Option<Best> {
        let problem = self.problem;
        let zone = problem.zone_of(leader);
        let own = match problem.shard(self.shard.id).present.holds(leader) {
            true => alone(problem, self.shard.id, leader, true),
            false => self.new_leader(zone),
        };
        let led = Led {
            zone,
            broker: Some(leader),
        };
        self.best(&sum(&own, self.prices.of(leader)), Some(led))
    }

    /// The best with a leader that is new to the shard, in this zone, without the leader's price: what it costs with
    /// each that is not among the followers. None also where there is no such leader.
    pub fn led_in(&self, zone: ZoneId) -> Option<Best> {
        if self.newcomers(zone) == 0 {
            return None;
        }
        let led = Led { zone, broker: None };
        self.best(&self.new_leader(zone), Some(led))
    }

    /// The best without a leader.
    pub fn leaderless(&self) -> Option<Best> {
        let mut own = Cost::default();
        own[Rank::UnplacedLeaders] = 1;
        self.best(&own, None)
    }

    /// Own cost of a new leader in a zone.
    fn new_leader(&self, z: ZoneId) -> Cost {
        let mut own = self.shard.new_leader;
        own[Rank::Weighted] = own[Rank::Weighted].saturating_add(self.traffic(z, true));
        own
    }

    fn best(&self, leader: &Cost, led: Option<Led>) -> Option<Best> {
        let leaders = usize::from(led.is_some());
        let units = (self.shard.factor - 1).max(self.shard.kept - self.shard.kept.min(leaders));
        let own = led.map_or_else(SmallVec::new, |led| {
            self.elements(led.zone, Some(led), units)
        });
        let pool = Pool {
            firsts: &self.shard.firsts,
            further: &self.shard.further,
            led: led.map(|led| led.zone),
            own,
            units,
            may_miss: units - (self.shard.kept - self.shard.kept.min(leaders)),
            zones_wanted: self.shard.zones_wanted.saturating_sub(leaders),
        };
        let mut best = pool.best()?;
        best.cost = sum(leader, &best.cost);
        best.followers.sort_unstable();
        Some(best)
    }
}
