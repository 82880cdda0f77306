//! Which items may be asked to make room: for every resource those that leave it, and those that enter one whose last
//! count is above its cap; for breaches those whose own breaches fall, and those whose own rise. Doubly linked, so that
//! an item is put in and taken out in O(effects).

use super::{Effect, NIL, Room, list_of};

impl Room {
    /// Items of a list that may be asked, in order.
    pub(super) fn linked(&self, list: u32) -> impl Iterator<Item = u32> {
        let mut at = self.ends[list as usize].0;
        std::iter::from_fn(move || {
            let effect = self.effects.get(at as usize)?;
            at = effect.next;
            Some(effect.item)
        })
    }

    /// Puts an item into its lists, at the front or the back, or takes it out.
    pub(super) fn set_linked(&mut self, item: u32, is_linked: bool, in_front: bool) {
        if self.items[item as usize].is_linked == is_linked {
            return;
        }
        self.items[item as usize].is_linked = is_linked;
        for at in self.items[item as usize].effects.clone() {
            let e = self.effects[at as usize];
            if e.delta > 0 && !self.ends_above(e.resource) && e.resource != self.breaches() {
                continue;
            }
            let list = list_of(e.resource, e.delta < 0);
            match (is_linked, in_front) {
                (false, _) => self.unlink(list, at),
                (true, true) => {
                    let first = self.ends[list as usize].0;
                    self.insert(list, at, NIL, first);
                }
                (true, false) => {
                    let last = self.ends[list as usize].1;
                    self.insert(list, at, last, NIL);
                }
            }
        }
    }

    fn insert(&mut self, list: u32, at: u32, prev: u32, next: u32) {
        self.effects[at as usize].prev = prev;
        self.effects[at as usize].next = next;
        self.tie(list, prev, at);
        self.tie(list, at, next);
    }

    fn unlink(&mut self, list: u32, at: u32) {
        let Effect { prev, next, .. } = self.effects[at as usize];
        self.tie(list, prev, next);
    }

    /// Makes `next` follow `prev`; [`NIL`] stands for the end of the list.
    fn tie(&mut self, list: u32, prev: u32, next: u32) {
        match self.effects.get_mut(prev as usize) {
            Some(effect) => effect.next = next,
            None => self.ends[list as usize].0 = next,
        }
        match self.effects.get_mut(next as usize) {
            Some(effect) => effect.prev = prev,
            None => self.ends[list as usize].1 = prev,
        }
    }
}
