//! Checks that a cut explains what it says it does.
//!
//! The check is weak duality, from the snapshot alone: every broker that may lead a shard of the cut lies behind one of
//! its limits (for zone minima: every shard that may be led in one of the zones is in the cut or kept out by a limit), the
//! room of each limit is that of the rule it names, and demand less capacity is above zero. Then at least that many
//! units of the rank are in every plan as good in the ranks before, whoever found the cut.
//!
//! Two things are taken from the ranks before, and only bounded here: how many shards go without a leader at all
//! (`unplaced`), and how far flow above a configured limit stays there while zones lack leaders.
//!
//! Complexity: O(shards · replicas + streams · brokers).

use std::collections::BTreeSet;

use super::placement::{Tally, has_replicas, live_leader, live_replicas, takes};
use super::{Fault, Rule};
use crate::budget::unstopped;
use crate::cost::{Cost, Rank};
use crate::cut::{Cut, CutLimit, LimitRule, Place};
use crate::snapshot::{Broker, BrokerId, Problem, Roles, Shard, ZoneId};

/// Everything that is wrong with a cut that explains a plan of this cost.
pub fn check(problem: &Problem, value: &Cost, cut: &Cut) -> Vec<Fault> {
    let mut checker = Checker::new(problem, value, cut);
    if checker.are_known() {
        checker.limits();
        match cut.rank {
            Rank::UnplacedLeaders | Rank::Breaches => checker.crowd(),
            Rank::ZoneMinimumShortfall => checker.minima(),
            _ => checker.find(format!("no cut explains {}", cut.rank.name())),
        }
        checker.sums();
    }
    checker.faults
}

struct Checker<'a> {
    problem: &'a Problem,
    value: &'a Cost,
    cut: &'a Cut,
    places: BTreeSet<(Place, bool)>,
    pinned: Tally,
    present: Tally,
    faults: Vec<Fault>,
}

impl<'a> Checker<'a> {
    fn new(problem: &'a Problem, value: &'a Cost, cut: &'a Cut) -> Self {
        let mut pinned = Tally::empty(problem);
        for shard in problem.shards.iter().filter(|shard| shard.is_pinned) {
            pinned.add(problem, &shard.present, 1);
        }
        let place = |limit: &CutLimit| (limit.place, limit.rule == LimitRule::Closed);
        Checker {
            problem,
            value,
            cut,
            places: cut.limits.iter().map(place).collect(),
            pinned,
            present: unstopped(|pace| Tally::present(problem, pace)),
            faults: Vec::new(),
        }
    }

    fn find(&mut self, what: String) {
        self.faults.push(Fault::of_answer(Rule::Cut, what));
    }

    /// Whether all that the cut names is there, free, and named once.
    fn are_known(&mut self) -> bool {
        let (problem, cut) = (self.problem, self.cut);
        let is_free = |at: usize| problem.shards.get(at).is_some_and(|shard| !shard.is_pinned);
        let is_there = |limit: &CutLimit| match limit.place {
            Place::Broker(b) => b.index() < problem.brokers.len(),
            Place::Zone(z) => z.index() < problem.zones.len(),
        };
        let are_known = cut.shards.iter().all(|id| is_free(id.index()))
            && cut.zones.iter().all(|z| z.index() < problem.zones.len())
            && cut.limits.iter().all(is_there);
        let are_once = cut.shards.is_sorted_by(|a, b| a < b)
            && cut.zones.is_sorted_by(|a, b| a < b)
            && self.places.len() == cut.limits.len();
        if !(are_known && are_once) {
            self.find("a cut names what is not there, is pinned, or is named twice".to_owned());
        }
        are_known && are_once
    }

    /// The room of each limit is that of its rule.
    fn limits(&mut self) {
        for limit in &self.cut.limits {
            let (low, high) = match limit.rule {
                LimitRule::Closed if self.cut.rank == Rank::Breaches => (0, 0),
                LimitRule::Closed if self.cut.rank == Rank::ZoneMinimumShortfall => {
                    (0, self.problem.shards.len() as i64)
                }
                rule => match (self.room(limit.place, rule), self.cut.rank) {
                    (None, _) => (1, 0),
                    (Some((_, in_force)), Rank::UnplacedLeaders) => (in_force, in_force),
                    (Some((configured, _)), Rank::Breaches) => (configured, configured),
                    (Some(both), _) => both,
                },
            };
            if limit.room < low || limit.room > high {
                let (rule, room) = (limit.rule, limit.room);
                self.find(format!("a cut has a limit {rule:?} with room for {room}"));
            }
        }
    }

    /// What a rule leaves for shards that are not pinned: as configured, and in force.
    fn room(&self, place: Place, rule: LimitRule) -> Option<(i64, i64)> {
        let [pinned, present] = [&self.pinned, &self.present].map(|tally| match place {
            Place::Broker(b) => tally.of_broker(b),
            Place::Zone(z) => tally.of_zone(z),
        });
        let caps = match place {
            Place::Broker(b) => {
                let broker = &self.problem.brokers[b.index()];
                (broker.max_leaders, broker.max_replicas)
            }
            Place::Zone(z) => {
                let zone = &self.problem.zones[z.index()];
                (zone.max_leaders, zone.max_replicas)
            }
        };
        let decides_replicas = self.problem.policy.roles == Roles::LeadersAndFollowers;
        let (cap, now, taken) = match rule {
            LimitRule::MaxLeaders => (caps.0?, present.0, pinned.0),
            LimitRule::MaxReplicas if decides_replicas => (caps.1?, present.1, pinned.1),
            LimitRule::MaxReplicas | LimitRule::Closed => return None,
        };
        let cap = i64::from(cap);
        Some(((cap - taken).max(0), (cap.max(now) - taken).max(0)))
    }

    /// Whether all that is led on a broker passes a limit of the cut.
    fn is_limited(&self, at: usize, broker: &Broker) -> bool {
        let places = [Place::Broker(BrokerId::at(at)), Place::Zone(broker.zone)];
        places
            .iter()
            .any(|&place| self.places.contains(&(place, false)))
    }

    /// Whether the shard may be led on a holder only at the price of a breach, which the cut counts.
    fn is_closed(&self, shard: &Shard, holder: BrokerId) -> bool {
        let stream = &self.problem.streams[shard.stream.index()];
        self.places.contains(&(Place::Broker(holder), true)) && !takes(self.problem, stream, holder)
    }

    /// By stream, whether some broker that takes new replicas of it, and of which `is_meant`, is not limited.
    fn leaks(&self, is_meant: impl Fn(&Broker) -> bool) -> Vec<bool> {
        let problem = self.problem;
        let open: Vec<BrokerId> = (problem.brokers.iter().enumerate())
            .filter(|&(at, broker)| is_meant(broker) && !self.is_limited(at, broker))
            .map(|(at, _)| BrokerId::at(at))
            .collect();
        let streams = problem.streams.iter();
        let leaks = streams.map(|stream| {
            problem.policy.roles == Roles::LeadersAndFollowers
                && open.iter().any(|&b| takes(problem, stream, b))
        });
        leaks.collect()
    }

    /// No shard of the cut gets past its limits.
    fn crowd(&mut self) {
        let problem = self.problem;
        let leaks = self.leaks(|_| true);
        let mut may_go_unled = false;
        for id in &self.cut.shards {
            let shard = &problem.shards[id.index()];
            let held = live_replicas(problem, &shard.present);
            let gets_out = |b: &BrokerId| {
                !self.is_limited(b.index(), &problem.brokers[b.index()])
                    && !self.is_closed(shard, *b)
            };
            may_go_unled |= live_leader(problem, &shard.present).is_none();
            if leaks[shard.stream.index()] || held.iter().any(gets_out) {
                self.find(format!(
                    "shard {:?} gets past the limits of its cut",
                    shard.id
                ));
                return;
            }
        }
        let cut = self.cut;
        let has_unplaced = cut.rank == Rank::Breaches && may_go_unled;
        if cut.unplaced > 0 && !has_unplaced {
            self.find("a cut counts shards without a leader that it has not".to_owned());
        }
        self.demand(cut.shards.len() as i64, cut.unplaced);
    }

    /// No leader gets into the zones of the cut but by it.
    fn minima(&mut self) {
        let problem = self.problem;
        let is_asked = |zone: &ZoneId| self.cut.zones.binary_search(zone).is_ok();
        let leaks = self.leaks(|broker| is_asked(&broker.zone));
        let mut inside = self.cut.shards.iter().peekable();
        for (at, shard) in problem.shards.iter().enumerate() {
            if inside.next_if(|id| id.index() == at).is_some() || shard.is_pinned {
                continue;
            }
            let gets_in = |b: &BrokerId| {
                let broker = &problem.brokers[b.index()];
                has_replicas(broker)
                    && is_asked(&broker.zone)
                    && !self.is_limited(b.index(), broker)
                    && !self.is_closed(shard, *b)
            };
            let held = live_replicas(problem, &shard.present);
            let is_unled = live_leader(problem, &shard.present).is_none();
            let hides = self.cut.unplaced > 0 && is_unled;
            if hides || leaks[shard.stream.index()] || held.iter().any(gets_in) {
                self.find(format!(
                    "shard {:?} is not in the cut of its zones",
                    shard.id
                ));
                return;
            }
        }
        let zones = self.cut.zones.iter().map(|z| z.index());
        let minima =
            zones.map(|z| i64::from(problem.zones[z].min_leaders) - self.pinned.zone_leaders[z]);
        let count = self.cut.shards.len() as i64;
        self.demand(minima.sum(), count - self.cut.unplaced);
    }

    /// Demand and capacity are what shards, zones and limits make them.
    fn demand(&mut self, demand: i64, besides: i64) {
        let room: i64 = self.cut.limits.iter().map(|limit| limit.room).sum();
        let is = (demand, room + besides);
        let says = (self.cut.demand, self.cut.capacity);
        if is != says {
            self.find(format!(
                "a cut asks {says:?} (demand, capacity), which is {is:?}"
            ));
        }
    }

    /// It asks in vain, and for no more than the plan is short of.
    fn sums(&mut self) {
        let (need, value) = (self.cut.need(), self.value[self.cut.rank]);
        if need <= 0 || need > value {
            let rank = self.cut.rank.name();
            self.find(format!("a cut explains {need} of {rank}, which is {value}"));
        }
        let unled = self.value[Rank::UnplacedLeaders];
        if self.cut.unplaced < 0 || self.cut.unplaced > unled {
            let says = self.cut.unplaced;
            self.find(format!(
                "a cut counts {says} shards without a leader of {unled}"
            ));
        }
    }
}
