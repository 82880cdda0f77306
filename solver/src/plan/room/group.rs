//! Items that can only be done together.
//!
//! A group starts as the part of the path that closes on itself, or as an item that is legal but for breaches. While
//! some resource would break its rule, an item that helps joins; one that fits by itself, or in a pair, is done at once
//! instead. Where only breaches are in the way, one that sets them right joins. A legal group then drops what it is legal
//! without, and what fits by itself and leaves the rest legal becomes an earlier step. Where shards move one replica
//! each, a group is a simple cycle. Where each moves several between brokers that are all full, no small group may
//! exist: at worst all that remain are one step.

use super::{Help, NIL, Need, PAIR_TRIES, PROBE, Room};

/// How many candidates are looked at before a group grows: worth some effort, for it could grow to all that remain.
const PROBE_WIDELY: usize = 256;
/// From this size on a group grows with less care, so that the effort stays linear.
const LARGE: usize = 256;
/// The largest group that is checked for items it can do without.
const TRIM: usize = 64;

impl Room {
    /// One step of the path from `at` on, completed to a legal group.
    pub(super) fn close(&mut self, at: usize, step: &mut dyn FnMut(&[u32])) {
        while self.path.items.len() > at {
            if let Some(&top) = self.path.items.last() {
                self.pop();
                if !self.is_done(top) {
                    self.join(top);
                }
            }
        }
        self.fit_counts(step);
        while let Some(need) = self.balance.lacks(self.balance.group) {
            let Some(next) = self.best_for_breaches(need) else {
                debug_assert!(false, "all that remain are legal together");
                break;
            };
            self.join(next);
            self.fit_counts(step);
        }
        if self.group.items.len() <= TRIM {
            self.trim();
            self.peel(step);
        }
        let mut items = std::mem::take(&mut self.group.items);
        for &item in &items {
            self.commit(item);
            self.add_to_group(item, -1);
        }
        step(&items);
        items.clear();
        self.group.items = items;
    }

    /// Completes the group until it is legal for every count.
    fn fit_counts(&mut self, step: &mut dyn FnMut(&[u32])) {
        while let Some(r) = self.group.pending.pop() {
            while let Some(list) = self.lacks(r, self.group.delta[r as usize]) {
                let Some(help) = self.best(list) else {
                    debug_assert!(false, "all that remain are legal together");
                    break;
                };
                self.go(help, step);
                match help {
                    Help::Alone(item) => self.look_again(item),
                    Help::Pair(item, partner) => {
                        self.look_again(item);
                        self.look_again(partner);
                    }
                    Help::Join(item) => self.join(item),
                }
            }
        }
    }

    /// Of some items of the list, one that fits by itself, else one that does with a partner, else one that leaves the
    /// group with the least in the way.
    fn best(&self, list: u32) -> Option<Help> {
        let is_small = self.group.items.len() < LARGE;
        let probe = if is_small { PROBE_WIDELY } else { PROBE };
        let mut best: Option<(usize, u32)> = None;
        let mut pair = None;
        let mut tries = 0..PAIR_TRIES;
        for item in self.linked(list).take(probe) {
            match self.need(item) {
                None => return Some(Help::Alone(item)),
                Some(need @ (Need::Fall | Need::Rise))
                    if pair.is_none() && tries.next().is_some() =>
                {
                    pair = self.pair(item, need, NIL);
                }
                Some(_) => {}
            }
            let in_the_way = self.blocked_with(item);
            if best.is_none_or(|(least, _)| in_the_way < least) {
                best = Some((in_the_way, item));
            }
        }
        pair.or(best.map(|(_, item)| Help::Join(item)))
    }

    /// How many of the counts that an item changes would break their rule with it in the group.
    pub(super) fn blocked_with(&self, item: u32) -> usize {
        self.effects_of(item)
            .filter(|e| {
                let delta = self.group.delta[e.resource as usize] + i64::from(e.delta);
                self.lacks(e.resource, delta).is_some()
            })
            .count()
    }

    fn join(&mut self, item: u32) {
        if !self.items[item as usize].is_linked {
            return;
        }
        self.set_linked(item, false, false);
        self.group.items.push(item);
        self.add_to_group(item, 1);
        self.look_again(item);
        let after = self.items[item as usize].after;
        if after != NIL && !self.is_done(after) {
            self.join(after);
        }
    }

    fn add_to_group(&mut self, item: u32, sign: i64) {
        self.balance.group = self.breaches_with(item, sign);
        let range = self.items[item as usize].effects.clone();
        for e in &self.effects[range.start as usize..range.end as usize] {
            self.group.delta[e.resource as usize] += sign * i64::from(e.delta);
        }
    }

    fn look_again(&mut self, item: u32) {
        let range = self.items[item as usize].effects.clone();
        let effects = &self.effects[range.start as usize..range.end as usize];
        self.group
            .pending
            .extend(effects.iter().map(|e| e.resource));
    }

    /// Drops what the group is legal without, what joined last first, until it needs all that is left. What adds breaches
    /// that others take away stays: it could not come later by itself.
    fn trim(&mut self) {
        let mut size = usize::MAX;
        while self.group.items.len() < size {
            size = self.group.items.len();
            for at in (0..size).rev() {
                let item = self.group.items[at];
                if self.group.items.len() > 1 && self.is_spare(item) {
                    self.group.items.remove(at);
                    self.add_to_group(item, -1);
                    self.set_linked(item, true, true);
                }
            }
        }
    }

    fn is_spare(&self, item: u32) -> bool {
        let stays_legal = self.effects_of(item).all(|e| {
            let delta = self.group.delta[e.resource as usize] - i64::from(e.delta);
            self.lacks(e.resource, delta).is_none()
        });
        let mut others = self.group.items.iter().map(|&i| &self.items[i as usize]);
        let rest = self.breaches_with(item, -1);
        let is_paid_for = self.balance.lacks_after(rest, self.balance.group - rest);
        stays_legal
            && self.balance.lacks(rest).is_none()
            && is_paid_for != Some(Need::Fall)
            && others.all(|other| other.after != item)
    }

    /// Takes steps of their own out of the group: items that fit by themselves and leave a legal group.
    fn peel(&mut self, step: &mut dyn FnMut(&[u32])) {
        let mut at = 0;
        while at < self.group.items.len() && self.group.items.len() > 1 {
            let item = self.group.items[at];
            if self.need(item).is_none() && self.stays_legal_after(item) {
                self.group.items.remove(at);
                self.add_to_group(item, -1);
                self.commit(item);
                step(&[item]);
                at = 0;
            } else {
                at += 1;
            }
        }
    }

    fn stays_legal_after(&self, item: u32) -> bool {
        let own = self.breaches_of(item);
        let rest = self.balance.group - own;
        self.balance.lacks_after(own, rest).is_none()
            && self.effects_of(item).all(|e| {
                let delta = i64::from(e.delta);
                let r = e.resource as usize;
                self.lacks_at(
                    e.resource,
                    self.count[r] + delta,
                    self.group.delta[r] - delta,
                )
                .is_none()
            })
    }
}
