//! Placing an item, with what has to make room for it.
//!
//! **Method.** An item that doesn't fit asks for one that makes room, preferably one that fits by itself; that one may
//! ask in turn. The items asking form a path. Where it meets itself, the items from there on are one closed group: it is
//! completed by further items while it is not legal, trimmed of what it doesn't need, and done in one step. An item that
//! fits all counts but not the breaches doesn't ask: it goes in a pair with another one that sets them right, or else is
//! the start of a group.
//!
//! No group helps where bytes are in the way: what leaves in a step makes no room for what arrives in it. Whoever waits
//! for bytes asks all that leave the broker, and where each of them waits for the path, it is *stuck*. An item is stuck,
//! too, when all that it could ask are; until [`Room::unstick`] nobody asks it any more. What leads out of such a
//! deadlock is only a replica that goes by way of another broker, which the caller finds. First an item is looked for
//! that can go without: so many dead ends long. Then every deadlock is told, and one that nothing leads out of is denied:
//! whoever found it asks the others that leave the broker.
//!
//! Bytes that are taken too early may be missed later. Where they are *spared*, an item that fits goes only after those
//! that leave the brokers where it arrives and can go before it, as long as not all that is still to arrive fits there.
//!
//! Complexity: every turn of the loop commits an item, finds that it is stuck, or puts one on the path, and each looks at
//! a bounded number of others: O(items · effects). Without bytes no two items on the path give up the same resource, so
//! it is no longer than twice the number of resources.

use super::{Effect, NIL, Need, Room, list_of, resource_of};
use crate::budget::{Pace, Stop};

/// How many candidates are looked at when one is wanted that fits by itself.
const PROBE: usize = 8;
/// How many of those that leave a broker are looked at for one that isn't asked yet.
const PROBE_WIDELY: usize = 256;
/// For how many of them a partner is looked for.
pub(super) const PAIR_TRIES: usize = 2;
/// How many dead ends are seen before a way without detours is given up.
const DEAD_ENDS: usize = 64;

/// How an item can help that makes room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Help {
    /// It fits by itself.
    Alone(u32),
    /// It fits but for breaches, which the other one sets right.
    Pair(u32, u32),
    /// Only as part of something larger.
    Join(u32),
}

/// Items that ask for room, each for the one before it.
pub(super) struct Path {
    items: Vec<u32>,
    /// By list: the deepest position of an item in it.
    deepest: Vec<u32>,
    /// What `deepest` held before, with the number of entries before each position.
    saved: Vec<(u32, u32)>,
    marks: Vec<u32>,
}

/// Items that become one step.
pub(super) struct Group {
    pub(super) items: Vec<u32>,
    /// By resource: what the step is checked for.
    pub(super) delta: Vec<i64>,
    /// Resources to look at again.
    pub(super) pending: Vec<u32>,
}

impl Path {
    pub(super) fn new(resources: usize) -> Self {
        Path {
            items: Vec::new(),
            deepest: vec![NIL; 2 * resources],
            saved: Vec::new(),
            marks: Vec::new(),
        }
    }
}

impl Group {
    pub(super) fn new(resources: usize) -> Self {
        Group {
            items: Vec::new(),
            delta: vec![0; resources],
            pending: Vec::new(),
        }
    }
}

/// Somebody waits until an item leaves a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::plan) struct Wait {
    /// What has to leave.
    pub(in crate::plan) item: u32,
    pub(in crate::plan) resource: u32,
    /// How much too much would be there.
    pub(in crate::plan) lack: i64,
}

/// How the placing of an item went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::plan) enum Placed {
    Done,
    /// Nothing makes room for it.
    Stuck,
    /// On the way to it items all wait for each other, which the given one found. To be placed again once one of them took
    /// a detour, or the item was denied that.
    Deadlock(Vec<Wait>, u32),
}

impl Room {
    /// Commits an item, making room for it first where needed. `step` is given the items of each step before the next.
    /// Deadlocks are told where `tells` is set, else who finds one asks on.
    ///
    /// # Errors
    /// The interrupt's reason; nothing can be placed any more then.
    pub(in crate::plan) fn place(
        &mut self,
        item: u32,
        tells: bool,
        pace: &mut Pace<'_>,
        step: &mut dyn FnMut(&[u32]),
    ) -> Result<Placed, Stop> {
        let mut dead_ends = 0;
        while !self.is_settled(item) && (tells || dead_ends < DEAD_ENDS) {
            pace.step(1)?;
            if self.path.items.is_empty() {
                self.push(item);
            }
            let Some(&top) = self.path.items.last() else {
                break;
            };
            if self.is_settled(top) {
                self.pop();
                continue;
            }
            let need = self.need(top);
            if let Some(next) = self.leaves_before(top).filter(|_| need.is_none()) {
                self.push(next);
            } else if let Some(help) = self.ready(top, need) {
                self.go(help, step);
            } else if let Err(waits) = self.advance(top, need, step) {
                dead_ends += 1;
                if self.items[top as usize].is_denied {
                    self.give_up(top);
                } else if tells && !waits.is_empty() {
                    return Ok(Placed::Deadlock(waits, top));
                } else {
                    self.deny(top);
                }
            }
        }
        while !self.path.items.is_empty() {
            self.pop();
        }
        Ok(match self.is_done(item) {
            true => Placed::Done,
            false => Placed::Stuck,
        })
    }

    /// From the end of the path, `top`, one further: asks another item, or closes a group. Who waits for whom where
    /// neither can be done.
    fn advance(
        &mut self,
        top: u32,
        need: Option<Need>,
        step: &mut dyn FnMut(&[u32]),
    ) -> Result<(), Vec<Wait>> {
        let is_denied = self.items[top as usize].is_denied;
        let next = match need {
            Some(need @ (Need::Fall | Need::Rise)) if !is_denied => {
                let at = self.met_for_breaches(need);
                return self.close(at, step);
            }
            None | Some(Need::Fall | Need::Rise) => None,
            Some(need) => {
                match self.met(need).filter(|_| !is_denied) {
                    Some(at) if self.is_of_peak(need) => return Err(self.cycle(at)),
                    Some(at) => return self.close(at, step),
                    None => {}
                }
                self.not_asked(need)
            }
        };
        match next {
            Some(next) => {
                self.push(next);
                Ok(())
            }
            None => {
                let ends_full = need.is_some_and(|need| self.is_of_peak(need));
                debug_assert!(
                    ends_full || is_denied || !self.stuck.is_empty(),
                    "nothing is left that makes room"
                );
                Err(Vec::new())
            }
        }
    }

    fn is_of_peak(&self, need: Need) -> bool {
        matches!(need, Need::Of(list) if self.is_peak(resource_of(list)))
    }

    /// Done, or stuck.
    pub(super) fn is_settled(&self, item: u32) -> bool {
        let item = &self.items[item as usize];
        item.is_done || item.is_stuck
    }

    /// Nothing leads out of the deadlock that an item found.
    pub(in crate::plan) fn deny(&mut self, item: u32) {
        self.items[item as usize].is_denied = true;
        self.denied.push(item);
    }

    /// Takes an item for stuck.
    fn give_up(&mut self, item: u32) {
        self.set_linked(item, false, false);
        if !std::mem::replace(&mut self.items[item as usize].is_stuck, true) {
            self.stuck.push(item);
        }
    }

    /// How many items are stuck.
    pub(in crate::plan) fn stuck(&self) -> usize {
        self.stuck.len()
    }

    /// Takes items for stuck no longer, but for the first `kept` of them, and none for denied.
    pub(in crate::plan) fn unstick(&mut self, kept: usize) {
        for item in self.denied.drain(..) {
            self.items[item as usize].is_denied = false;
        }
        for item in self.stuck.split_off(kept) {
            self.items[item as usize].is_stuck = false;
            if !self.is_done(item) {
                self.set_linked(item, true, false);
            }
        }
    }

    /// Where bytes are spared: what should leave a broker before this item arrives there, though it fits.
    fn leaves_before(&self, item: u32) -> Option<u32> {
        if !self.spares_bytes {
            return None;
        }
        let first = self.bytes(0);
        let is_short = |r: u32| self.above(r, self.due[(r - first) as usize]) > 0;
        let arriving = self
            .effects_of(item)
            .filter(|e| e.delta > 0 && self.is_peak(e.resource) && is_short(e.resource));
        let is_free = |item: &u32| !self.items[*item as usize].is_on_path;
        let mut leaving = arriving.filter_map(|e| {
            let list = list_of(e.resource, true);
            self.linked(list).take(PROBE).find(is_free)
        });
        leaving.next()
    }

    /// Who waits for whom on the part of the path that begins there, for which its end waits.
    fn cycle(&self, at: usize) -> Vec<Wait> {
        let part = &self.path.items[at..];
        let givers = part.iter().cycle().skip(1);
        let waits = part.iter().zip(givers).filter_map(|(&asker, &item)| {
            let Some(Need::Of(list)) = self.need(asker).filter(|_| !self.is_settled(item)) else {
                return None;
            };
            let resource = resource_of(list);
            let own = self.effects_of(asker).find(|e| e.resource == resource);
            let lack = own.map_or(0, |e| self.above(resource, e.delta));
            Some(Wait {
                item,
                resource,
                lack,
            })
        });
        waits.collect()
    }

    /// By how much a change would bring a resource above its cap.
    pub(super) fn above(&self, resource: u32, delta: i64) -> i64 {
        let r = resource as usize;
        (self.count[r].saturating_add(delta)).saturating_sub(self.cap[r])
    }

    /// What can be done at once for an item with this need: itself, or what meets the need, by itself or as a pair.
    fn ready(&self, item: u32, need: Option<Need>) -> Option<Help> {
        let mut pair = None;
        let mut tries = 0..PAIR_TRIES;
        let mut look = |other: u32, asker: u32| match self.need(other) {
            None => Some(Help::Alone(other)).filter(|_| self.leaves_before(other).is_none()),
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
    pub(super) fn go(&mut self, help: Help, step: &mut dyn FnMut(&[u32])) {
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

    /// An item that meets the need and isn't on the path.
    fn not_asked(&self, need: Need) -> Option<u32> {
        let is_free = |item: &u32| {
            let item = &self.items[*item as usize];
            !item.is_stuck && !item.is_on_path
        };
        match need {
            Need::Item(item) => Some(item).filter(is_free),
            Need::Of(list) => self.linked(list).take(PROBE_WIDELY).find(is_free),
            Need::Fall | Need::Rise => None,
        }
    }

    /// The deepest position on the path that meets the need.
    fn met(&mut self, need: Need) -> Option<usize> {
        let at = self.met_at(need)?;
        if !self.is_settled(self.path.items[at]) {
            return Some(at);
        }
        let items = self.path.items.clone();
        while !self.path.items.is_empty() {
            self.pop();
        }
        for item in items {
            if !self.is_settled(item) {
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

    pub(super) fn push(&mut self, item: u32) {
        let position = self.path.items.len() as u32;
        self.items[item as usize].is_on_path = true;
        self.path.items.push(item);
        self.path.marks.push(self.path.saved.len() as u32);
        let range = self.items[item as usize].effects.clone();
        for e in &self.effects[range.start as usize..range.end as usize] {
            let Effect {
                resource, delta, ..
            } = *e;
            let list = list_of(resource, delta < 0);
            let deepest = &mut self.path.deepest[list as usize];
            self.path.saved.push((list, *deepest));
            *deepest = position;
        }
    }

    pub(super) fn pop(&mut self) {
        if let Some(item) = self.path.items.pop() {
            self.items[item as usize].is_on_path = false;
        }
        let mark = self.path.marks.pop().unwrap_or(0) as usize;
        while self.path.saved.len() > mark {
            if let Some((list, deepest)) = self.path.saved.pop() {
                self.path.deepest[list as usize] = deepest;
            }
        }
    }

    /// The items on the path.
    pub(super) fn asking(&self) -> &[u32] {
        &self.path.items
    }
}
