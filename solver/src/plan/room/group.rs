//! Items that can only be done together.
//!
//! A group starts as the part of the path that closes on itself, or as an item that is legal but for breaches. While
//! some resource would break its rule, an item that helps joins; one that fits by itself, or in a pair, is done at once
//! instead. Where only breaches are in the way, one that sets them right joins. A legal group then drops what it is legal
//! without, and what fits by itself and leaves the rest legal becomes an earlier step. Where shards move one replica
//! each, a group is a simple cycle. Where each moves several between brokers that are all full, no small group may
//! exist: at worst all that remain are one step.
//!
//! Bytes in the way of a group are not made room for by what joins it, only by what goes before; where nothing does, or
//! where items are stuck that it needs, there is no such group.

use super::search::{Help, PAIR_TRIES, Wait};
use super::{NIL, Need, Room};

/// How many candidates are looked at when a large group grows.
const PROBE: usize = 8;
/// How many candidates are looked at before a group grows: worth some effort, for it could grow to all that remain.
const PROBE_WIDELY: usize = 256;
/// From this size on a group grows with less care, so that the effort stays linear.
const LARGE: usize = 256;
/// The largest group that is checked for items it can do without.
const TRIM: usize = 64;

impl Room {
    /// One step of the path from `at` on, completed to a legal group. Where there is none, all is as before; what leaves
    /// the broker whose bytes are in the way is what the group waits for.
    pub(super) fn close(
        &mut self,
        at: usize,
        step: &mut dyn FnMut(&[u32]),
    ) -> Result<(), Vec<Wait>> {
        let part: Vec<u32> = self.asking()[at..].to_vec();
        for &item in part.iter().rev() {
            self.pop();
            if !self.is_done(item) {
                self.join(item);
            }
        }
        if let Err(resource) = self.complete(step) {
            let waits = resource.map_or_else(Vec::new, |resource| self.leaving(resource));
            self.dissolve();
            for item in part {
                if !self.is_settled(item) {
                    self.push(item);
                }
            }
            return Err(waits);
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
        Ok(())
    }

    /// Completes the group until it is legal; the bytes in the way, if they are, where it can't be.
    fn complete(&mut self, step: &mut dyn FnMut(&[u32])) -> Result<(), Option<u32>> {
        self.fit_counts(step)?;
        while let Some(need) = self.balance.lacks(self.balance.group) {
            let next = self.best_for_breaches(need);
            debug_assert!(
                next.is_some() || self.stuck() > 0,
                "all that remain are legal together"
            );
            self.join(next.ok_or(None)?);
            self.fit_counts(step)?;
        }
        let waits_for_stuck = |&item: &u32| {
            let after = self.items[item as usize].after;
            after != NIL && self.items[after as usize].is_stuck
        };
        match self.group.items.iter().any(waits_for_stuck) {
            true => Err(None),
            false => Ok(()),
        }
    }

    /// Completes the group until it is legal for every count.
    fn fit_counts(&mut self, step: &mut dyn FnMut(&[u32])) -> Result<(), Option<u32>> {
        while let Some(r) = self.group.pending.pop() {
            while let Some(list) = self.lacks(r, self.group.delta[r as usize]) {
                let is_peak = self.is_peak(r);
                let help = self.best(list, is_peak);
                if is_peak && matches!(help, None | Some(Help::Join(_))) {
                    return Err(Some(r));
                }
                debug_assert!(
                    help.is_some() || self.stuck() > 0,
                    "all that remain are legal together"
                );
                let help = help.ok_or(None)?;
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
        Ok(())
    }

    /// Items of the group that leave a resource of which it needs more than there is.
    fn leaving(&self, resource: u32) -> Vec<Wait> {
        let lack = self.above(resource, self.group.delta[resource as usize]);
        let leaves = |&&item: &&u32| {
            let mut effects = self.effects_of(item);
            effects.any(|e| e.resource == resource && e.delta < 0)
        };
        let wait = |&item: &u32| Wait {
            item,
            resource,
            lack,
        };
        self.group.items.iter().filter(leaves).map(wait).collect()
    }

    /// Gives up the group.
    fn dissolve(&mut self) {
        self.group.pending.clear();
        while let Some(item) = self.group.items.pop() {
            self.add_to_group(item, -1);
            self.set_linked(item, true, true);
        }
    }

    /// Of some items of the list, one that fits by itself, else one that does with a partner, else one that leaves the
    /// group with the least in the way.
    fn best(&self, list: u32, is_peak: bool) -> Option<Help> {
        let is_small = self.group.items.len() < LARGE;
        let probe = if is_small && !is_peak {
            PROBE_WIDELY
        } else {
            PROBE
        };
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
                let delta = self.group.delta[e.resource as usize] + self.felt(e);
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
        for at in self.items[item as usize].effects.clone() {
            let e = &self.effects[at as usize];
            let (resource, felt) = (e.resource, self.felt(e));
            self.group.delta[resource as usize] += sign * felt;
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
            let delta = self.group.delta[e.resource as usize] - self.felt(e);
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
                let r = e.resource as usize;
                self.lacks_at(
                    e.resource,
                    self.count[r] + e.delta,
                    self.group.delta[r] - self.felt(e),
                )
                .is_none()
            })
    }
}
