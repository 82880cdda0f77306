//! Breaches while items are put in order.
//!
//! Notation: B counts what rank 3 counts of the shards that change: replicas and leaders where they may not be, crowding,
//! and the excess over each cap; an item's *own* breaches are the first two. A failover's promotion is worth the leader
//! it puts on a broker that may not hold the shard, so that it counts as nothing. `spare` is by how much B has still to
//! fall: what it is now less what it is in the plan, such promotions all done.
//!
//! B is one more count, and a step is legal for it by the same two rules as for the counts of brokers and zones, with a
//! cap that is always exceeded: B doesn't grow, and doesn't fall below where it ends, for what adds a breach could not
//! come later. So `spare >= 0` stays true and all items that remain are legal together. Where the plan adds breaches on
//! balance (it pays for leaders or followers with them, or comes from elsewhere), `spare < 0` from the start: then where
//! it ends is the cap, and only `spare <= 0` stays true.
//!
//! Excess is not linear in the items, but a function of the counts, and no step that is legal for the counts makes it
//! grow. So whenever B is in the way of items that are legal for all counts, a remaining one helps: to let B fall, one
//! whose own breaches fall or that leaves a resource above its cap; to let B rise, one whose own breaches rise.

use super::search::Help;
use super::{Item, NIL, Need, Room, list_of};

/// How many candidates are looked at when one is wanted that sets breaches right.
const PROBE: usize = 32;
/// How far back on the path one is looked for.
const BACK: usize = 64;

/// What is left of the breaches to come.
pub(super) struct Balance {
    spare: i64,
    /// Whether `spare` was not negative at the start.
    is_strict: bool,
    /// Resources above what they end with and above their cap, the first ones last; some no longer are, but the last.
    over: Vec<u32>,
    /// By how much the group changes B.
    pub(super) group: i64,
}

impl Balance {
    /// With this excess still to go and those resources above their caps.
    pub(super) fn new(excess: i64, mut over: Vec<u32>) -> Self {
        over.reverse();
        Balance {
            spare: excess,
            is_strict: true,
            over,
            group: 0,
        }
    }
    /// Takes account of an item that adds so many of its own.
    pub(super) fn expect(&mut self, own: i64) {
        self.spare -= own;
    }
    /// All items are known.
    pub(super) fn open(&mut self) {
        self.is_strict = self.spare >= 0;
    }
    pub(super) fn commit(&mut self, change: i64) {
        self.spare += change;
    }
    /// What a change needs to be legal.
    pub(super) fn lacks(&self, change: i64) -> Option<Need> {
        self.lacks_at(self.spare, change)
    }
    /// The same where another change came before.
    pub(super) fn lacks_after(&self, earlier: i64, change: i64) -> Option<Need> {
        self.lacks_at(self.spare + earlier, change)
    }
    fn lacks_at(&self, spare: i64, change: i64) -> Option<Need> {
        if change > (-spare).max(0) {
            Some(Need::Fall)
        } else if self.is_strict && change < 0 && spare + change < 0 {
            Some(Need::Rise)
        } else {
            None
        }
    }
}

impl Room {
    /// Excess over the cap with this count; rates and bytes are no breaches.
    pub(super) fn excess(&self, resource: u32, count: i64) -> i64 {
        if resource >= self.rates(0) {
            return 0;
        }
        count.saturating_sub(self.cap[resource as usize]).max(0)
    }

    /// By how much the group and `delta` more change the excess of a resource.
    pub(super) fn excess_change(&self, resource: u32, delta: i64) -> i64 {
        let count = self.count[resource as usize];
        self.excess(resource, count + delta) - self.excess(resource, count)
    }

    /// By how much an item by itself changes breaches.
    pub(super) fn breaches_of(&self, item: u32) -> i64 {
        let excess = self
            .effects_of(item)
            .map(|e| self.excess_change(e.resource, e.delta));
        self.items[item as usize].own + excess.sum::<i64>()
    }

    /// By how much the group changes breaches with an item more (`sign` 1) or less (-1).
    pub(super) fn breaches_with(&self, item: u32, sign: i64) -> i64 {
        let excess = self.effects_of(item).map(|e| {
            let delta = self.group.delta[e.resource as usize];
            self.excess_change(e.resource, delta + sign * e.delta)
                - self.excess_change(e.resource, delta)
        });
        self.balance.group + sign * self.items[item as usize].own + excess.sum::<i64>()
    }

    fn is_over(&self, resource: u32) -> bool {
        let r = resource as usize;
        self.count[r] > self.cap[r].max(self.last[r])
    }

    /// Calls `look` with items that let breaches fall or rise until it answers, or enough were seen.
    fn look_for<T>(&self, need: Need, mut look: impl FnMut(u32) -> Option<T>) -> Option<T> {
        let own = list_of(self.breaches(), need == Need::Fall);
        let found = self.linked(own).take(PROBE).find_map(&mut look);
        if found.is_some() || need == Need::Rise {
            return found;
        }
        let over = self.balance.over.iter().rev().filter(|&&r| self.is_over(r));
        over.flat_map(|&r| self.linked(list_of(r, true)).take(PROBE))
            .take(PROBE)
            .find_map(look)
    }

    /// What can be done at once so that an item which is legal but for breaches gets done: a step together with another
    /// one, or that one ahead of it. `asker` is preferred.
    pub(super) fn pair(&self, item: u32, need: Need, asker: u32) -> Option<Help> {
        let help = |other: u32| {
            let both = self.together(item, other)?;
            let first = self.breaches_of(other);
            let can_follow = self.balance.lacks_after(first, both - first).is_none();
            if can_follow && self.need(other).is_none() {
                Some(Help::Alone(other))
            } else {
                Some(Help::Pair(item, other))
            }
        };
        Some(asker)
            .filter(|&asker| asker != NIL)
            .and_then(help)
            .or_else(|| self.look_for(need, help))
    }

    /// By how much two items change breaches if they are legal together, `item` waiting for none.
    fn together(&self, item: u32, other: u32) -> Option<i64> {
        let Item {
            own,
            after,
            ref effects,
            ..
        } = self.items[other as usize];
        let waits = after != NIL && after != item && !self.is_done(after);
        if other == item || waits || !self.items[other as usize].is_linked {
            return None;
        }
        let effects = &self.effects[effects.start as usize..effects.end as usize];
        let (mut breaches, mut is_legal) = (self.items[item as usize].own + own, true);
        let mut add = |resource: u32, delta: i64| {
            is_legal &= self.lacks(resource, delta).is_none();
            breaches += self.excess_change(resource, delta);
        };
        for e in self.effects_of(item) {
            let same = effects.iter().find(|f| f.resource == e.resource);
            add(e.resource, self.felt(e) + same.map_or(0, |f| self.felt(f)));
        }
        for f in effects {
            if self.effects_of(item).all(|e| e.resource != f.resource) {
                add(f.resource, self.felt(f));
            }
        }
        (is_legal && self.balance.lacks(breaches).is_none()).then_some(breaches)
    }

    /// Where on the path the group begins that sets breaches right for the item at its end: the closest that helps,
    /// else that item alone.
    pub(super) fn met_for_breaches(&mut self, need: Need) -> usize {
        while let Some(&resource) = self.balance.over.last()
            && !self.is_over(resource)
        {
            self.balance.over.pop();
        }
        let end = self.asking().len().saturating_sub(1);
        let helps = |&item: &u32| {
            !self.is_done(item)
                && match need {
                    Need::Fall => self.breaches_of(item) < 0,
                    _ => self.items[item as usize].own > 0,
                }
        };
        let mut before = self.asking()[..end].iter().rev().take(BACK);
        before.position(helps).map_or(end, |back| end - 1 - back)
    }

    /// An item that helps the group's breaches, with the least in the way of the group that it leaves.
    pub(super) fn best_for_breaches(&self, need: Need) -> Option<u32> {
        let mut best: Option<(usize, u32)> = None;
        let perfect = self.look_for(need, |item| {
            let after = self.items[item as usize].after;
            let waits = after != NIL && !self.is_done(after);
            let helps = match need {
                Need::Fall => self.breaches_with(item, 1) < self.balance.group,
                _ => self.breaches_with(item, 1) > self.balance.group,
            };
            let is_short = self.balance.lacks(self.breaches_with(item, 1)).is_some();
            let in_the_way = self.blocked_with(item)
                + usize::from(waits)
                + usize::from(is_short)
                + if helps { 0 } else { PROBE };
            if best.is_none_or(|(least, _)| in_the_way < least) {
                best = Some((in_the_way, item));
            }
            (in_the_way == 0).then_some(item)
        });
        perfect.or(best.map(|(_, item)| item))
    }
}
