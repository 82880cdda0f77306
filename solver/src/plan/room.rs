//! Which items fit, and in which order they make room for each other.
//!
//! An *item* is a set of changes that happen together. A *resource* is a count with a cap: leaders and replicas per
//! broker and per zone. A step is legal when for every resource, with `last` its count in the plan,
//!
//! * `count_after <= max(cap, count_before)`: no step adds a breach;
//! * `count_after >= last` where `last > cap`: what is to arrive there could not come later;
//!
//! and when the same holds for breaches in all, see `breach`.
//!
//! **Invariant.** `last <= max(cap, count)` for every resource at every time (at the start because caps in force bind the
//! plan; where a plan from elsewhere breaks one, `last` is taken for the cap). So all items that remain are legal
//! together, and whenever something is in the way of a set of items, a remaining item outside the set takes it out of the
//! way: leaves a resource that is full, or enters one that would fall below `last`. Nothing but the difference between
//! the layouts is ever needed.
//!
//! **Method.** An item that doesn't fit a count asks for one that makes room, preferably one that fits by itself; that
//! one may ask in turn. The items asking form a path on which no two give up the same resource, so it is no longer than
//! twice the number of resources. Where the path meets itself, the items from there on are one closed group: it is
//! completed by further items while it is not legal, trimmed of what it doesn't need, and done in one step. An item that
//! fits all counts but not the breaches doesn't ask: it goes in a pair with another one that sets them right, or else is
//! the start of a group.
//!
//! Complexity: every turn of the loop commits an item or puts one on the path, items leave the path by being committed
//! (or by being trimmed, at most a few dozen a group), and each looks at a bounded number of others: O(items · effects).

mod breach;
mod group;
mod lists;

use std::ops::Range;

use crate::budget::{Pace, Stop};
use crate::snapshot::{Counts, Limits, Problem};
use breach::Balance;

/// Stands for "none" in the links below.
pub(super) const NIL: u32 = u32::MAX;
/// How many candidates are looked at when one is wanted that fits by itself.
const PROBE: usize = 8;
/// For how many of them a partner is looked for.
const PAIR_TRIES: usize = 2;

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

/// How an item can help that makes room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Help {
    /// It fits by itself.
    Alone(u32),
    /// It fits but for breaches, which the other one sets right.
    Pair(u32, u32),
    /// Only as part of something larger.
    Join(u32),
}

/// Change of one resource by one item, linked with the others of its list.
#[derive(Clone, Copy, Debug)]
struct Effect {
    resource: u32,
    delta: i32,
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
    /// Stands for breaches: a resource without a cap whose lists are those whose own breaches fall or rise.
    breaches: u32,
    brokers: u32,
    zones: u32,
}

/// Items that ask for room, each for the one before it.
struct Path {
    items: Vec<u32>,
    /// By list: the deepest position of an item in it.
    deepest: Vec<u32>,
    /// What `deepest` held before, with the number of entries before each position.
    saved: Vec<(u32, u32)>,
    marks: Vec<u32>,
}

/// Items that become one step.
struct Group {
    items: Vec<u32>,
    /// By resource.
    delta: Vec<i64>,
    /// Resources to look at again.
    pending: Vec<u32>,
}

/// Items that leave a resource, and those that enter one whose last count is above its cap.
fn list_of(resource: u32, leaves: bool) -> u32 {
    2 * resource + u32::from(!leaves)
}

impl Room {
    /// The present layout, `last` being the counts of the plan.
    pub(super) fn new(problem: &Problem, last: &Counts) -> Self {
        let present = &problem.limits.present;
        let cap = |cap: Option<u32>| cap.map_or(Limits::NONE, i64::from);
        let (brokers, zones) = (&problem.brokers, &problem.zones);
        let mut caps: Vec<i64> = Vec::with_capacity(2 * (brokers.len() + zones.len()));
        caps.extend(brokers.iter().map(|b| cap(b.max_leaders)));
        caps.extend(brokers.iter().map(|b| cap(b.max_replicas)));
        caps.extend(zones.iter().map(|z| cap(z.max_leaders)));
        caps.extend(zones.iter().map(|z| cap(z.max_replicas)));
        let flat = |counts: &Counts| {
            [
                &counts.leaders[..],
                &counts.replicas,
                &counts.zone_leaders,
                &counts.zone_replicas,
            ]
            .concat()
        };
        let (mut count, mut last) = (flat(present), flat(last));
        for (r, cap) in caps.iter_mut().enumerate() {
            if last[r] > count[r].max(*cap) {
                *cap = last[r];
            }
        }
        let breaches = caps.len() as u32;
        let above = |r: usize, count: i64| (count - caps[r]).max(0);
        let over: Vec<u32> = (0..breaches)
            .filter(|&r| above(r as usize, count[r as usize]) > above(r as usize, last[r as usize]))
            .collect();
        let excess = (0..caps.len()).map(|r| above(r, count[r]) - above(r, last[r]));
        let balance = Balance::new(excess.sum(), over);
        caps.push(Limits::NONE);
        count.push(0);
        last.push(0);
        let resources = caps.len();
        Room {
            cap: caps,
            count,
            last,
            items: Vec::new(),
            effects: Vec::new(),
            ends: vec![(NIL, NIL); 2 * resources],
            path: Path {
                items: Vec::new(),
                deepest: vec![NIL; 2 * resources],
                saved: Vec::new(),
                marks: Vec::new(),
            },
            group: Group {
                items: Vec::new(),
                delta: vec![0; resources],
                pending: Vec::new(),
            },
            balance,
            breaches,
            brokers: brokers.len() as u32,
            zones: zones.len() as u32,
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

    /// Adds an item that changes each resource by so much (each at most once) and the shard's own breaches by `own`,
    /// `after` another one or [`NIL`].
    pub(super) fn add(&mut self, changes: &[(u32, i32)], own: i64, after: u32) -> u32 {
        let item = self.items.len() as u32;
        let start = self.effects.len() as u32;
        let cap = &self.cap;
        let is_capped =
            |change: &&(u32, i32)| change.1 != 0 && cap[change.0 as usize] != Limits::NONE;
        let breaches = (own != 0).then_some((self.breaches, own.signum() as i32));
        let effects = changes.iter().filter(is_capped).copied().chain(breaches);
        self.effects.extend(effects.map(|(resource, delta)| Effect {
            resource,
            delta,
            item,
            prev: NIL,
            next: NIL,
        }));
        self.balance.expect(own);
        self.items.push(Item {
            effects: start..self.effects.len() as u32,
            own,
            after,
            is_done: false,
            is_linked: false,
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

    pub(super) fn is_done(&self, item: u32) -> bool {
        self.items[item as usize].is_done
    }

    /// Whether one more leader fits on a broker and in its zone.
    pub(super) fn has_leader_room(&self, broker: u32, zone: u32) -> bool {
        [self.leaders(broker), self.zone_leaders(zone)]
            .iter()
            .all(|&r| self.lacks(r, 1).is_none())
    }

    /// Commits an item if it fits by itself.
    pub(super) fn try_alone(&mut self, item: u32) -> bool {
        let fits = self.need(item).is_none();
        if fits {
            self.commit(item);
        }
        fits
    }

    /// Commits an item, making room for it first where needed. `step` is given the items of each step before the next.
    ///
    /// # Errors
    /// The interrupt's reason; nothing can be placed any more then.
    pub(super) fn place(
        &mut self,
        item: u32,
        pace: &mut Pace<'_>,
        step: &mut dyn FnMut(&[u32]),
    ) -> Result<(), Stop> {
        while !self.is_done(item) {
            pace.step(1)?;
            if self.path.items.is_empty() {
                self.push(item);
            }
            let Some(&top) = self.path.items.last() else {
                return Ok(());
            };
            if self.is_done(top) {
                self.pop();
                continue;
            }
            let need = self.need(top);
            if let Some(help) = self.ready(top, need) {
                self.go(help, step);
            } else if let Some(need @ (Need::Fall | Need::Rise)) = need {
                let at = self.met_for_breaches(need);
                self.close(at, step);
            } else if let Some(at) = need.and_then(|need| self.met(need)) {
                self.close(at, step);
            } else if let Some(next) = need.and_then(|need| self.first(need)) {
                self.push(next);
            } else {
                debug_assert!(false, "nothing is left that makes room");
                self.go(Help::Alone(top), step);
            }
        }
        while !self.path.items.is_empty() {
            self.pop();
        }
        Ok(())
    }

    fn effects_of(&self, item: u32) -> impl Iterator<Item = &Effect> {
        let range = &self.items[item as usize].effects;
        self.effects[range.start as usize..range.end as usize].iter()
    }

    /// The list whose items would make a change of the resource legal; `None` where it is.
    fn lacks(&self, resource: u32, delta: i64) -> Option<u32> {
        self.lacks_at(resource, self.count[resource as usize], delta)
    }

    /// The same where the count is another.
    fn lacks_at(&self, resource: u32, count: i64, delta: i64) -> Option<u32> {
        let r = resource as usize;
        let after = count + delta;
        if delta > 0 && after > self.cap[r] {
            Some(list_of(resource, true))
        } else if delta < 0 && self.last[r] > self.cap[r] && after < self.last[r] {
            Some(list_of(resource, false))
        } else {
            None
        }
    }

    fn need(&self, item: u32) -> Option<Need> {
        let after = self.items[item as usize].after;
        if after != NIL && !self.is_done(after) {
            return Some(Need::Item(after));
        }
        self.effects_of(item)
            .find_map(|e| self.lacks(e.resource, i64::from(e.delta)))
            .map(Need::Of)
            .or_else(|| self.balance.lacks(self.breaches_of(item)))
    }

    /// What can be done at once for an item with this need: itself, or what meets the need, by itself or as a pair.
    fn ready(&self, item: u32, need: Option<Need>) -> Option<Help> {
        let mut pair = None;
        let mut tries = 0..PAIR_TRIES;
        let mut look = |other: u32, asker: u32| match self.need(other) {
            None => Some(Help::Alone(other)),
            Some(need @ (Need::Fall | Need::Rise)) if pair.is_none() && tries.next().is_some() => {
                pair = self.pair(other, need, asker);
                None
            }
            Some(_) => None,
        };
        let alone = match need {
            None | Some(Need::Fall | Need::Rise) => {
                let asker = self.path.items.iter().rev().nth(1);
                look(item, asker.map_or(NIL, |&asker| asker))
            }
            Some(Need::Item(other)) => look(other, item),
            Some(Need::Of(list)) => (self.linked(list).take(PROBE)).find_map(|i| look(i, item)),
        };
        alone.or(pair)
    }

    /// Does what helps at once; an item that can only join something larger is left.
    fn go(&mut self, help: Help, step: &mut dyn FnMut(&[u32])) {
        match help {
            Help::Alone(item) => {
                self.commit(item);
                step(&[item]);
            }
            Help::Pair(item, partner) => {
                self.commit(item);
                self.commit(partner);
                step(&[item, partner]);
            }
            Help::Join(_) => {}
        }
    }

    fn first(&self, need: Need) -> Option<u32> {
        match need {
            Need::Item(item) => Some(item),
            Need::Of(list) => self.linked(list).next(),
            Need::Fall | Need::Rise => None,
        }
    }

    /// The deepest position on the path that meets the need.
    fn met(&mut self, need: Need) -> Option<usize> {
        let at = self.met_at(need)?;
        if !self.is_done(self.path.items[at]) {
            return Some(at);
        }
        let items = self.path.items.clone();
        while !self.path.items.is_empty() {
            self.pop();
        }
        for item in items {
            if !self.is_done(item) {
                self.push(item);
            }
        }
        self.met_at(need)
    }

    fn met_at(&self, need: Need) -> Option<usize> {
        match need {
            Need::Item(item) => self.path.items.iter().rposition(|&i| i == item),
            Need::Of(list) => {
                let at = self.path.deepest[list as usize];
                (at != NIL).then_some(at as usize)
            }
            Need::Fall | Need::Rise => None,
        }
    }

    fn push(&mut self, item: u32) {
        let position = self.path.items.len() as u32;
        self.path.items.push(item);
        self.path.marks.push(self.path.saved.len() as u32);
        let range = self.items[item as usize].effects.clone();
        for e in &self.effects[range.start as usize..range.end as usize] {
            let list = list_of(e.resource, e.delta < 0);
            let deepest = &mut self.path.deepest[list as usize];
            self.path.saved.push((list, *deepest));
            *deepest = position;
        }
    }

    fn pop(&mut self) {
        self.path.items.pop();
        let mark = self.path.marks.pop().unwrap_or(0) as usize;
        while self.path.saved.len() > mark {
            if let Some((list, deepest)) = self.path.saved.pop() {
                self.path.deepest[list as usize] = deepest;
            }
        }
    }

    fn commit(&mut self, item: u32) {
        self.set_linked(item, false, false);
        self.items[item as usize].is_done = true;
        self.balance.commit(self.breaches_of(item));
        for at in self.items[item as usize].effects.clone() {
            let Effect {
                resource, delta, ..
            } = self.effects[at as usize];
            let r = resource as usize;
            self.balance.group -= self.excess_change(resource, self.group.delta[r]);
            self.count[r] += i64::from(delta);
            self.balance.group += self.excess_change(resource, self.group.delta[r]);
        }
    }
}
