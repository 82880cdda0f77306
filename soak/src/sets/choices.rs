//! What may become of one shard, written from the contract alone: every legal replica set under every leader, and what
//! each costs by itself. Counts over several shards are the program's.

use shardflow_solver::cost::{RANKS, Rank};
use shardflow_solver::snapshot::{
    Assignment, BrokerId, BrokerState, Problem, Roles, Shard, Stream, Traffic,
};

/// One legal outcome.
pub(super) struct Choice {
    /// As a plan lists it, replicas on `DOWN` brokers included.
    pub(super) listed: Assignment,
    /// Live replicas, the leader among them.
    pub(super) live: Vec<BrokerId>,
    /// The part of each rank that the shard has by itself.
    pub(super) own: [i64; RANKS],
    /// What `max_moves` counts of it.
    pub(super) changes: i64,
}

/// Everything that is legal for the shard. At least the present layout, less its surplus, is.
pub(super) fn of(problem: &Problem, shard: &Shard) -> Vec<Choice> {
    Chooser::new(problem, shard).choices()
}

struct Chooser<'p> {
    problem: &'p Problem,
    shard: &'p Shard,
    stream: &'p Stream,
    factor: usize,
    /// Live holders now, in order.
    now: Vec<BrokerId>,
    /// The live leader now.
    led_by: Option<BrokerId>,
}

impl<'p> Chooser<'p> {
    fn new(problem: &'p Problem, shard: &'p Shard) -> Self {
        let stream = &problem.streams[shard.stream.index()];
        let is_live = |b: &BrokerId| problem.brokers[b.index()].state != BrokerState::Down;
        let mut now: Vec<BrokerId> = shard.present.replicas().filter(is_live).collect();
        now.sort_unstable();
        Chooser {
            problem,
            shard,
            stream,
            factor: stream.replication_factor as usize,
            now,
            led_by: shard.present.leader.filter(is_live),
        }
    }

    fn choices(&self) -> Vec<Choice> {
        if self.shard.is_pinned {
            return vec![self.choice(self.led_by, self.now.clone())];
        }
        let mut choices = Vec::new();
        for live in self.sets() {
            for &leader in &live {
                choices.push(self.choice(Some(leader), live.clone()));
            }
            if self.led_by.is_none() && self.may_be_leaderless(live.len()) {
                choices.push(self.choice(None, live));
            }
        }
        choices
    }

    /// Only leadership is decided.
    fn keeps_all(&self) -> bool {
        self.shard.is_pinned || self.problem.policy.roles == Roles::LeadershipOnly
    }

    /// Live replicas that it has at least: none is given up.
    fn fewest(&self) -> usize {
        self.factor.min(self.now.len())
    }

    /// Without a leader no follower is added in the leader's place.
    fn may_be_leaderless(&self, replicas: usize) -> bool {
        self.keeps_all() || replicas <= self.fewest().max(self.factor - 1)
    }

    /// Sets of live replicas.
    fn sets(&self) -> Vec<Vec<BrokerId>> {
        if self.keeps_all() {
            return vec![self.now.clone()];
        }
        let may_hold = |b: &BrokerId| self.is_wanted(*b) || self.now.contains(b);
        let open: Vec<BrokerId> = self.problem.broker_ids().filter(may_hold).collect();
        let mut sets = vec![Vec::new()];
        for b in open {
            let with: Vec<Vec<BrokerId>> = (sets.iter())
                .filter(|set| set.len() < self.factor)
                .map(|set| set.iter().copied().chain([b]).collect())
                .collect();
            sets.extend(with);
        }
        sets.retain(|set| set.len() >= self.fewest() && self.fits_zones(set));
        sets
    }

    /// Whether a replica may come there: `ACTIVE`, and open to the stream.
    fn is_wanted(&self, b: BrokerId) -> bool {
        let state = self.problem.brokers[b.index()].state;
        state == BrokerState::Active && self.stream.open[b.index()]
    }

    /// Replicas by zone.
    fn by_zone(&self, set: &[BrokerId]) -> Vec<i64> {
        let mut counts = vec![0; self.problem.zones.len()];
        for b in set {
            counts[self.problem.brokers[b.index()].zone.index()] += 1;
        }
        counts
    }

    /// `max_replicas_per_zone` in force.
    fn fits_zones(&self, set: &[BrokerId]) -> bool {
        let Some(most) = self.problem.policy.max_replicas_per_zone else {
            return true;
        };
        let pairs = self.by_zone(set).into_iter().zip(self.by_zone(&self.now));
        pairs
            .into_iter()
            .all(|(then, now)| then <= now.max(i64::from(most)))
    }

    fn over_zone_limit(&self, set: &[BrokerId]) -> i64 {
        let most = self.problem.policy.max_replicas_per_zone;
        most.map_or(0, |most| {
            let over = |count: i64| (count - i64::from(most)).max(0);
            self.by_zone(set).into_iter().map(over).sum()
        })
    }

    fn spanned(&self, set: &[BrokerId]) -> usize {
        self.by_zone(set).iter().filter(|&&count| count > 0).count()
    }

    fn choice(&self, leader: Option<BrokerId>, live: Vec<BrokerId>) -> Choice {
        let followers = || live.iter().copied().filter(|&b| Some(b) != leader);
        let mut listed: Vec<BrokerId> = followers().collect();
        listed.extend(self.listed_down(live.len()));
        listed.sort_unstable();
        Choice {
            listed: Assignment {
                leader,
                followers: listed,
            },
            own: self.own(leader, &live),
            changes: self.changes(leader, &live),
            live,
        }
    }

    /// Replicas on `DOWN` brokers that stay listed: lowest ids first, up to the factor.
    fn listed_down(&self, live: usize) -> Vec<BrokerId> {
        let is_down = |b: &BrokerId| !self.now.contains(b);
        let mut down: Vec<BrokerId> = self.shard.present.replicas().filter(is_down).collect();
        down.sort_unstable();
        if !self.keeps_all() {
            down.truncate(self.factor.saturating_sub(live));
        }
        down
    }

    fn own(&self, leader: Option<BrokerId>, live: &[BrokerId]) -> [i64; RANKS] {
        let mut own = [0; RANKS];
        let followers = live.len() - usize::from(leader.is_some());
        own[Rank::UnplacedLeaders as usize] = i64::from(leader.is_none());
        own[Rank::UnplacedFollowers as usize] = (self.factor - 1).saturating_sub(followers) as i64;
        if !self.shard.is_pinned {
            let unwanted = |b: &&BrokerId| !self.is_wanted(**b);
            let led_unwanted = leader.iter().filter(unwanted).count();
            let breaches = live.iter().filter(unwanted).count() + led_unwanted;
            own[Rank::Breaches as usize] = breaches as i64 + self.over_zone_limit(live);
            let short = self.zones_wanted().saturating_sub(self.spanned(live));
            own[Rank::ZonesLost as usize] = short as i64;
        }
        let copies = self.copies(live);
        own[Rank::Weighted as usize] = self.weighted(leader, live, copies);
        own[Rank::Copies as usize] = copies;
        own[Rank::LeaderChanges as usize] = leader.map_or(0, |b| self.leader_changes(b));
        own
    }

    fn zones_wanted(&self) -> usize {
        let policy = &self.problem.policy;
        let now = match policy.allow_zone_loss {
            true => 0,
            false => self.spanned(&self.now),
        };
        now.max(policy.min_zones as usize).min(self.factor)
    }

    /// Replicas that come to brokers without one; placing a new or lost shard is free.
    fn copies(&self, live: &[BrokerId]) -> i64 {
        if self.now.is_empty() {
            return 0;
        }
        live.iter().filter(|b| !self.now.contains(b)).count() as i64
    }

    fn weighted(&self, leader: Option<BrokerId>, live: &[BrokerId], copies: i64) -> i64 {
        let weights = &self.problem.policy.weights;
        let zone = |b: BrokerId| self.problem.brokers[b.index()].zone;
        let cross = |traffic: &Traffic, b: BrokerId| {
            let reached = traffic.reached.iter().find(|entry| entry.0 == zone(b));
            weights.traffic * (traffic.total - reached.map_or(0, |entry| entry.1))
        };
        let gib = (self.shard.size_bytes + (1 << 30) - 1) / (1 << 30);
        let mut sum = copies * (weights.overlap + weights.overlap_per_gib * gib);
        let pairs = |count: i64| count * (count - 1) / 2;
        sum += weights.same_rack * self.by_zone(live).into_iter().map(pairs).sum::<i64>();
        for &b in live.iter().filter(|&&b| Some(b) != leader) {
            sum += cross(&self.shard.follower_traffic, b);
            if leader.is_some_and(|leader| zone(leader) == zone(b)) {
                sum += weights.same_rack_as_leader;
            }
        }
        let Some(leader) = leader else { return sum };
        if self.is_promotion(leader) && self.led_by.is_some() {
            sum += weights.promotion;
        }
        sum + cross(&self.shard.leader_traffic, leader)
    }

    /// The lead goes to a broker that holds a follower.
    fn is_promotion(&self, leader: BrokerId) -> bool {
        self.shard.present.followers.contains(&leader)
    }

    fn leader_changes(&self, leader: BrokerId) -> i64 {
        let is_renamed = self.shard.present.leader.is_some_and(|old| old != leader);
        let goes_straight =
            self.led_by.is_none() && !self.now.is_empty() && !self.now.contains(&leader);
        i64::from(is_renamed) + i64::from(goes_straight)
    }

    /// Copies and promotions of a shard that has nothing to mend.
    fn changes(&self, leader: Option<BrokerId>, live: &[BrokerId]) -> i64 {
        let is_settled = self.led_by.is_some()
            && self.shard.present.replicas().count() >= self.factor
            && self.now.len() == self.shard.present.replicas().count()
            && self.now.iter().all(|&b| self.is_wanted(b))
            && self.over_zone_limit(&self.now) == 0;
        match is_settled {
            true => self.copies(live) + i64::from(leader.is_some_and(|b| self.is_promotion(b))),
            false => 0,
        }
    }
}
