//! Which items fit, and in which order they make room for each other.
//!
//! An *item* is a set of changes that happen together. A *resource* is an amount with a cap: leaders and replicas per
//! broker and per zone, rates and bytes per broker. A step is legal when for every resource, with `last` its amount in the
//! plan,
//!
//! * `after <= max(cap, before)`: no step adds a breach;
//! * `after >= last` where `last > cap`: what is to arrive there could not come later;
//!
//! and when the same holds for breaches in all, see `breach`. Bytes are a *peak*: both ends of a running copy hold it, so
//! what leaves in a step makes no room for what arrives in it, and `before + arriving <= max(cap, before)` is their only
//! rule.
//!
//! **Invariant.** `last <= max(cap, count)` for every resource at every time (at the start because caps in force bind the
//! plan; where a plan from elsewhere breaks one, `last` is taken for the cap). So all items that remain are legal
//! together, peaks aside, and whenever something is in the way of a set of items, a remaining item outside the set takes
//! it out of the way: leaves a resource that is full, or enters one that would fall below `last`. But for peaks, nothing
//! but the difference between the layouts is ever needed.
//!
//! Complexity: see `search`; memory is O(items · effects + brokers + zones).

mod breach;
mod group;
mod lists;
mod search;

use std::ops::Range;

use crate::snapshot::{BrokerId, Counts, Limits, Loads, Problem, ZoneId};
use breach::Balance;
use search::{Group, Path};
pub(super) use search::{Placed, Wait};

/// Stands for "none" in the links below.
pub(super) const NIL: u32 = u32::MAX;

/// What is in the way of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Need {
    /// An item of this list, see [`list_of`].
    Of(u32),
    /// This item has to come first.
    Item(u32),
    /// Items that let breaches fall.
    Fall,
    /// Items that let breaches rise.
    Rise,
}

/// What is in the way of an item, for those who name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Obstacle {
    Leaders(BrokerId),
    Replicas(BrokerId),
    ZoneLeaders(ZoneId),
    ZoneReplicas(ZoneId),
    Rates(BrokerId),
    /// With the bytes that are left there.
    Bytes(BrokerId, i64),
    Breaches,
    /// Another item of its shard.
    Earlier,
}

/// Change of one resource by one item, linked with the others of its list.
#[derive(Clone, Copy, Debug)]
struct Effect {
    delta: i64,
    resource: u32,
    item: u32,
    prev: u32,
    next: u32,
}

#[derive(Clone, Debug)]
struct Item {
    effects: Range<u32>,
    /// By how much its shard's own breaches grow.
    own: i64,
    /// Item that has to come before, or [`NIL`].
    after: u32,
    is_done: bool,
    is_linked: bool,
    is_on_path: bool,
    /// Nothing makes room for it at the moment.
    is_stuck: bool,
    /// It found a deadlock that nothing led out of.
    is_denied: bool,
}

/// Counts, caps, and the items that remain.
pub(super) struct Room {
    cap: Vec<i64>,
    count: Vec<i64>,
    last: Vec<i64>,
    items: Vec<Item>,
    effects: Vec<Effect>,
    /// By list: its first and last effect.
    ends: Vec<(u32, u32)>,
    path: Path,
    group: Group,
    balance: Balance,
    /// Items that are stuck, in the order in which they were found to be.
    stuck: Vec<u32>,
    denied: Vec<u32>,
    /// By broker: bytes that are still to arrive.
    due: Vec<i64>,
    /// Whether what leaves a broker goes before what arrives there, where it can.
    spares_bytes: bool,
    brokers: u32,
    zones: u32,
}

/// Items that leave a resource, and those that enter one whose last count is above its cap.
fn list_of(resource: u32, leaves: bool) -> u32 {
    2 * resource + u32::from(!leaves)
}

/// The resource of a list.
fn resource_of(list: u32) -> u32 {
    list / 2
}

/// Counts and loads of a layout, by resource.
fn flat(counts: &Counts, loads: &Loads) -> Vec<i64> {
    [
        &counts.leaders[..],
        &counts.replicas,
        &counts.zone_leaders,
        &counts.zone_replicas,
        &loads.rates,
        &loads.bytes,
    ]
    .concat()
}

/// Caps by resource, in the same order.
fn caps(problem: &Problem) -> Vec<i64> {
    let cap = |cap: Option<u32>| cap.map_or(Limits::NONE, i64::from);
    let (brokers, zones) = (&problem.brokers, &problem.zones);
    let mut caps: Vec<i64> = Vec::with_capacity(4 * brokers.len() + 2 * zones.len() + 1);
    caps.extend(brokers.iter().map(|b| cap(b.max_leaders)));
    caps.extend(brokers.iter().map(|b| cap(b.max_replicas)));
    caps.extend(zones.iter().map(|z| cap(z.max_leaders)));
    caps.extend(zones.iter().map(|z| cap(z.max_replicas)));
    let rates = brokers.iter().map(|b| b.rate_capacity);
    caps.extend(rates.map(|cap| cap.unwrap_or(Limits::NONE)));
    let rooms = problem.broker_ids().map(|b| problem.disk_room(b));
    caps.extend(rooms.map(|room| room.unwrap_or(Limits::NONE)));
    caps
}

impl Room {
    /// The present layout, `last` being the counts and loads of the plan.
    pub(super) fn new(problem: &Problem, last: &(Counts, Loads), spares_bytes: bool) -> Self {
        let limits = &problem.limits;
        let (brokers, zones) = (problem.brokers.len() as u32, problem.zones.len() as u32);
        let mut cap = caps(problem);
        let mut count = flat(&limits.present, &limits.present_loads);
        let mut last = flat(&last.0, &last.1);
        for (r, cap) in cap.iter_mut().enumerate() {
            if last[r] > count[r].max(*cap) {
                *cap = last[r];
            }
        }
        let above = |r: usize, count: i64| (count - cap[r]).max(0);
        let counted = 2 * (brokers + zones) as usize;
        let over: Vec<u32> = (0..counted)
            .filter(|&r| above(r, count[r]) > above(r, last[r]))
            .map(|r| r as u32)
            .collect();
        let excess = (0..counted).map(|r| above(r, count[r]) - above(r, last[r]));
        let balance = Balance::new(excess.sum(), over);
        cap.push(Limits::NONE);
        count.push(0);
        last.push(0);
        let resources = cap.len();
        Room {
            cap,
            count,
            last,
            items: Vec::new(),
            effects: Vec::new(),
            ends: vec![(NIL, NIL); 2 * resources],
            path: Path::new(resources),
            group: Group::new(resources),
            balance,
            stuck: Vec::new(),
            denied: Vec::new(),
            due: vec![0; brokers as usize],
            spares_bytes,
            brokers,
            zones,
        }
    }

    /// Resource that a broker's leaders are.
    pub(super) fn leaders(&self, broker: u32) -> u32 {
        broker
    }
    /// Resource that a broker's replicas are.
    pub(super) fn replicas(&self, broker: u32) -> u32 {
        self.brokers + broker
    }
    /// Resource that a zone's leaders are.
    pub(super) fn zone_leaders(&self, zone: u32) -> u32 {
        2 * self.brokers + zone
    }
    /// Resource that a zone's replicas are.
    pub(super) fn zone_replicas(&self, zone: u32) -> u32 {
        2 * self.brokers + self.zones + zone
    }
    /// Resource that the rates of the shards led by a broker are, the first that is no count.
    pub(super) fn rates(&self, broker: u32) -> u32 {
        2 * (self.brokers + self.zones) + broker
    }
    /// Resource that a broker's bytes are.
    pub(super) fn bytes(&self, broker: u32) -> u32 {
        self.rates(self.brokers) + broker
    }
    /// Stands for breaches: a resource without a cap whose lists are those whose own breaches fall or rise.
    fn breaches(&self) -> u32 {
        self.bytes(self.brokers)
    }
    /// Whether it is an amount that both ends of a copy hold.
    fn is_peak(&self, resource: u32) -> bool {
        (self.bytes(0)..self.breaches()).contains(&resource)
    }
    /// Whether it has to end above its cap, so that what arrives there can't come later than what leaves.
    fn ends_above(&self, resource: u32) -> bool {
        let r = resource as usize;
        self.last[r] > self.cap[r] && !self.is_peak(resource)
    }
    /// The broker whose resource it is.
    pub(super) fn broker_of(&self, resource: u32) -> Option<BrokerId> {
        match self.obstacle_at(resource) {
            Obstacle::Leaders(b)
            | Obstacle::Replicas(b)
            | Obstacle::Rates(b)
            | Obstacle::Bytes(b, _) => Some(b),
            _ => None,
        }
    }

    fn obstacle_at(&self, resource: u32) -> Obstacle {
        let broker = BrokerId(resource % self.brokers.max(1));
        let zone = |first: u32| ZoneId(resource - first);
        if resource < self.replicas(0) {
            Obstacle::Leaders(broker)
        } else if resource < self.zone_leaders(0) {
            Obstacle::Replicas(broker)
        } else if resource < self.zone_replicas(0) {
            Obstacle::ZoneLeaders(zone(self.zone_leaders(0)))
        } else if resource < self.rates(0) {
            Obstacle::ZoneReplicas(zone(self.zone_replicas(0)))
        } else if resource < self.bytes(0) {
            Obstacle::Rates(BrokerId(resource - self.rates(0)))
        } else if resource < self.breaches() {
            let b = BrokerId(resource - self.bytes(0));
            Obstacle::Bytes(b, self.bytes_left(b))
        } else {
            Obstacle::Breaches
        }
    }

    /// Bytes that still fit on a broker.
    fn bytes_left(&self, broker: BrokerId) -> i64 {
        let r = self.bytes(broker.0) as usize;
        self.cap[r].saturating_sub(self.count[r]).max(0)
    }
    /// Bytes on a broker that stay free whatever of the plan is carried out.
    pub(super) fn bytes_spare(&self, broker: BrokerId) -> i64 {
        let r = self.bytes(broker.0) as usize;
        self.cap[r].saturating_sub(self.count[r].max(self.last[r]))
    }

    /// Adds an item that changes each resource by so much (each at most once) and the shard's own breaches by `own`,
    /// `after` another one or [`NIL`].
    pub(super) fn add(&mut self, changes: &[(u32, i64)], own: i64, after: u32) -> u32 {
        let item = self.items.len() as u32;
        let start = self.effects.len() as u32;
        let cap = &self.cap;
        let is_capped =
            |change: &&(u32, i64)| change.1 != 0 && cap[change.0 as usize] != Limits::NONE;
        let breaches = (own != 0).then_some((self.breaches(), own.signum()));
        let effects = changes.iter().filter(is_capped).copied().chain(breaches);
        self.effects.extend(effects.map(|(resource, delta)| Effect {
            delta,
            resource,
            item,
            prev: NIL,
            next: NIL,
        }));
        self.balance.expect(own);
        self.expect_bytes(start..self.effects.len() as u32, 1);
        self.items.push(Item {
            effects: start..self.effects.len() as u32,
            own,
            after,
            is_done: false,
            is_linked: false,
            is_on_path: false,
            is_stuck: false,
            is_denied: false,
        });
        item
    }

    /// Lets items be asked for, the first ones first. All that remain are among them.
    pub(super) fn open(&mut self, items: &[u32]) {
        self.balance.open();
        for &item in items {
            self.set_linked(item, true, false);
        }
    }

    /// Lets an item be asked for that was added since.
    pub(super) fn open_late(&mut self, item: u32) {
        self.set_linked(item, true, true);
    }

    /// Takes an item out for good; others make the same changes instead.
    pub(super) fn replace(&mut self, item: u32) {
        self.set_linked(item, false, false);
        self.items[item as usize].is_done = true;
        self.balance.expect(-self.items[item as usize].own);
        self.expect_bytes(self.items[item as usize].effects.clone(), -1);
    }

    fn expect_bytes(&mut self, effects: Range<u32>, sign: i64) {
        let first = self.bytes(0);
        for e in &self.effects[effects.start as usize..effects.end as usize] {
            if e.resource >= first
                && e.delta > 0
                && let Some(due) = self.due.get_mut((e.resource - first) as usize)
            {
                *due += sign * e.delta;
            }
        }
    }

    pub(super) fn is_done(&self, item: u32) -> bool {
        self.items[item as usize].is_done
    }

    /// Its own breaches, and the item before it.
    pub(super) fn terms_of(&self, item: u32) -> (i64, u32) {
        let item = &self.items[item as usize];
        (item.own, item.after)
    }

    /// Whether one more leader of that rate fits on a broker and in its zone.
    pub(super) fn has_leader_room(&self, broker: u32, zone: u32, rate: i64) -> bool {
        let changes = [
            (self.leaders(broker), 1),
            (self.zone_leaders(zone), 1),
            (self.rates(broker), rate),
        ];
        changes.iter().all(|&(r, by)| self.lacks(r, by).is_none())
    }

    /// Whether one more replica of that size fits on a broker.
    pub(super) fn has_replica_room(&self, broker: u32, size: i64) -> bool {
        let changes = [(self.replicas(broker), 1), (self.bytes(broker), size)];
        changes.iter().all(|&(r, by)| self.lacks(r, by).is_none())
    }

    /// Whether an item with these changes would fit by itself.
    pub(super) fn fits(&self, changes: &[(u32, i64)], own: i64, after: u32) -> bool {
        let excess = changes.iter().map(|&(r, by)| self.excess_change(r, by));
        (after == NIL || self.is_done(after))
            && changes.iter().all(|&(r, by)| self.lacks(r, by).is_none())
            && self.balance.lacks(own + excess.sum::<i64>()).is_none()
    }

    /// Commits an item if it fits by itself.
    pub(super) fn try_alone(&mut self, item: u32) -> bool {
        let fits = self.need(item).is_none();
        if fits {
            self.commit(item);
        }
        fits
    }

    /// What is in the way of an item; `None` where only items that are stuck could go with it.
    pub(super) fn obstacle(&self, item: u32) -> Option<Obstacle> {
        self.need(item).map(|need| match need {
            Need::Of(list) => self.obstacle_at(resource_of(list)),
            Need::Item(_) => Obstacle::Earlier,
            Need::Fall | Need::Rise => Obstacle::Breaches,
        })
    }

    fn effects_of(&self, item: u32) -> impl Iterator<Item = &Effect> {
        let range = &self.items[item as usize].effects;
        self.effects[range.start as usize..range.end as usize].iter()
    }

    /// What an effect adds to the amount that a step is checked for.
    fn felt(&self, effect: &Effect) -> i64 {
        match self.is_peak(effect.resource) {
            true => effect.delta.max(0),
            false => effect.delta,
        }
    }

    /// The list whose items would make a change of the resource legal; `None` where it is.
    fn lacks(&self, resource: u32, delta: i64) -> Option<u32> {
        self.lacks_at(resource, self.count[resource as usize], delta)
    }

    /// The same where the count is another.
    fn lacks_at(&self, resource: u32, count: i64, delta: i64) -> Option<u32> {
        let r = resource as usize;
        let after = count.saturating_add(delta);
        if delta > 0 && after > self.cap[r] {
            Some(list_of(resource, true))
        } else if delta < 0 && after < self.last[r] && self.ends_above(resource) {
            Some(list_of(resource, false))
        } else {
            None
        }
    }

    /// What is in the way of an item, bytes first: what waits for them can't be part of a larger step.
    fn need(&self, item: u32) -> Option<Need> {
        let after = self.items[item as usize].after;
        if after != NIL && !self.is_done(after) {
            return Some(Need::Item(after));
        }
        let peaks = self.bytes(0);
        let mut lacking = self
            .effects_of(item)
            .filter_map(|e| self.lacks(e.resource, e.delta));
        let first = lacking.next();
        let of_bytes = first
            .filter(|&list| resource_of(list) >= peaks)
            .or_else(|| lacking.find(|&list| resource_of(list) >= peaks));
        of_bytes
            .or(first)
            .map(Need::Of)
            .or_else(|| self.balance.lacks(self.breaches_of(item)))
    }

    fn commit(&mut self, item: u32) {
        self.set_linked(item, false, false);
        self.items[item as usize].is_done = true;
        self.balance.commit(self.breaches_of(item));
        self.expect_bytes(self.items[item as usize].effects.clone(), -1);
        for at in self.items[item as usize].effects.clone() {
            let Effect {
                resource, delta, ..
            } = self.effects[at as usize];
            let r = resource as usize;
            self.balance.group -= self.excess_change(resource, self.group.delta[r]);
            self.count[r] += delta;
            self.balance.group += self.excess_change(resource, self.group.delta[r]);
        }
    }
}
