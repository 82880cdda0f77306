//! The cheapest followers of a shard whose leader is given.
//!
//! **Elements.** The n-th follower in a zone costs what the n-th cheapest broker there costs by itself, and what
//! `same_rack` and `max_replicas_per_zone` charge for the n-th: a sequence that rises. A follower that is missing is an
//! element too. So with zones to span left aside the cheapest set is that of the cheapest elements: an element comes
//! after those of its zone that are before it.
//!
//! **Zones to span.** Each zone but the leader's has a first element, and w of them are wanted. Of the sets with at least d
//! firsts the cheapest has the d cheapest firsts and of all other elements the cheapest. If it has more firsts, it is
//! the cheapest also for these numbers, so the next d to try is one more than it has, up to w. What it pays for zones is
//! then known.

use super::choices::Best;
use super::parcels::sum;
use crate::cost::{Cost, Rank};
use crate::snapshot::{BrokerId, ZoneId};
use smallvec::SmallVec;

/// One more follower.
#[derive(Clone, Copy)]
pub(super) struct Element {
    pub(super) cost: Cost,
    /// Whether those that are preferred come before it where costs are equal.
    pub(super) is_plain: bool,
    pub(super) zone: ZoneId,
    pub(super) broker: BrokerId,
}

impl Element {
    /// Elements are taken by this, the least first.
    pub(super) fn key(&self) -> (&Cost, bool) {
        (&self.cost, self.is_plain)
    }
}

/// Elements of one zone.
pub(super) type Elements = SmallVec<[Element; 4]>;

/// The elements that followers are taken from.
pub(super) struct Pool<'a> {
    /// The first elements of zones, in order, for a shard led from elsewhere, and all further ones of these zones.
    pub(super) firsts: &'a [Element],
    pub(super) further: &'a [Element],
    /// The leader's zone, whose elements are `own` instead of those.
    pub(super) led: Option<ZoneId>,
    pub(super) own: Elements,
    /// Elements to take.
    pub(super) units: usize,
    /// So many of them may be missing followers.
    pub(super) may_miss: usize,
    pub(super) zones_wanted: usize,
}

impl Pool<'_> {
    /// The cheapest followers and what they cost; none where there are too few.
    pub(super) fn best(&self) -> Option<Best> {
        let mut best: Option<Best> = None;
        let mut forced = 0;
        while forced <= self.zones_wanted.min(self.units) {
            let Some((mut taken, firsts)) = self.take(forced) else {
                break;
            };
            let short = self.zones_wanted.saturating_sub(firsts);
            taken.cost[Rank::ZonesLost] = taken.cost[Rank::ZonesLost].saturating_add(short as i64);
            if best.as_ref().is_none_or(|best| taken.cost < best.cost) {
                best = Some(taken);
            }
            forced = firsts + 1;
        }
        best
    }

    /// The cheapest elements with at least so many firsts, and how many firsts they are.
    fn take(&self, forced: usize) -> Option<(Best, usize)> {
        let elsewhere = |of: &&Element| Some(of.zone) != self.led;
        let mut firsts = self.firsts.iter().filter(elsewhere).peekable();
        let mut further = self.further.iter().filter(elsewhere).peekable();
        let mut own = self.own.iter().peekable();
        let mut taken = Best {
            cost: Cost::default(),
            followers: SmallVec::new(),
        };
        let (mut taken_firsts, mut missing) = (0, 0);
        let mut absent = Cost::default();
        absent[Rank::UnplacedFollowers] = 1;
        for unit in 0..self.units {
            let first = firsts.peek().map(|of| of.key());
            let own_key = own.peek().map(|of| of.key());
            let further_key = further.peek().map(|of| of.key());
            let absent_key = (missing < self.may_miss).then_some((&absent, true));
            // Of equals a first comes before further ones of its zone.
            let keys = [first, own_key, further_key, absent_key];
            let cheapest = match unit < forced {
                true => first.map(|_| 0),
                false => (0..keys.len())
                    .filter(|&at| keys[at].is_some())
                    .min_by_key(|&at| keys[at]),
            };
            let element = match cheapest? {
                0 => {
                    taken_firsts += 1;
                    firsts.next()
                }
                1 => own.next(),
                2 => further.next(),
                _ => None,
            };
            match element {
                Some(element) => {
                    taken.cost = sum(&taken.cost, &element.cost);
                    taken.followers.push(element.broker);
                }
                None => {
                    taken.cost = sum(&taken.cost, &absent);
                    missing += 1;
                }
            }
        }
        Some((taken, taken_firsts))
    }
}
