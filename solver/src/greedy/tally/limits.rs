//! Bytes, rates and `max_moves`: the hard rules that count more than heads.

use super::{Caps, LOOKUP, Pace, Tally};
use crate::budget::Stop;
use crate::snapshot::{Broker, BrokerId, Limits, Loads, Problem, ShardId};

/// Bytes and rates of the layout, and their caps as configured.
pub(super) struct Limited {
    pub(super) now: Loads,
    configured: Loads,
    /// Some broker has a cap; else they are balanced and nothing more.
    has_caps: bool,
}

/// What `max_moves` leaves.
pub(super) struct Allowance {
    /// By shard.
    is_settled: Vec<bool>,
    /// Changes of settled shards that may still be made. Below zero only in the middle of a move.
    left: i64,
}

/// Bytes and rates of the present layout and their caps as configured, where they matter.
pub(super) fn limited(problem: &Problem) -> Option<Limited> {
    if !problem.has_loads() {
        return None;
    }
    let has_caps = |b: &Broker| b.disk_bytes.is_some() || b.rate_capacity.is_some();
    let room = |b| problem.disk_room(b).unwrap_or(Limits::NONE);
    let capacity = |b: &Broker| b.rate_capacity.unwrap_or(Limits::NONE);
    Some(Limited {
        now: problem.limits.present_loads.clone(),
        configured: Loads {
            bytes: problem.broker_ids().map(room).collect(),
            rates: problem.brokers.iter().map(capacity).collect(),
        },
        has_caps: problem.brokers.iter().any(has_caps),
    })
}

pub(super) fn allowance(
    problem: &Problem,
    pace: &mut Pace<'_, '_>,
) -> Result<Option<Allowance>, Stop> {
    let Some(most) = problem.policy.max_moves else {
        return Ok(None);
    };
    let mut is_settled = Vec::with_capacity(problem.shards.len());
    for shard in &problem.shards {
        pace.step(LOOKUP)?;
        is_settled.push(problem.is_settled(shard));
    }
    let left = i64::from(most);
    Ok(Some(Allowance { is_settled, left }))
}

impl Tally<'_> {
    /// Whether the shard's rate fits on `to`, which doesn't lead it.
    #[inline]
    pub(in crate::greedy) fn rate_fits(&self, shard: ShardId, to: BrokerId, caps: Caps) -> bool {
        self.loads.as_ref().is_none_or(|loads| {
            let cap = self.load_limit(loads, caps).rates[to.index()];
            let rate = self.problem.shard(shard).rate;
            loads.now.rates[to.index()].saturating_add(rate) <= cap
        })
    }
    /// How many bytes too many there would be on `to` with a new replica of the shard; at most zero where it fits.
    #[inline]
    pub(in crate::greedy) fn bytes_short(&self, shard: ShardId, to: BrokerId, caps: Caps) -> i64 {
        self.loads.as_ref().map_or(0, |loads| {
            let cap = self.load_limit(loads, caps).bytes[to.index()];
            let size = self.problem.shard(shard).size_bytes;
            (loads.now.bytes[to.index()].saturating_add(size)).saturating_sub(cap)
        })
    }
    /// Whether a replica of the shard that comes to `to` while `leaving` goes from there passes the bytes in force.
    pub(in crate::greedy) fn exchange_fits(
        &self,
        shard: ShardId,
        leaving: ShardId,
        to: BrokerId,
    ) -> bool {
        let gone = self.problem.shard(leaving).size_bytes;
        self.bytes_short(shard, to, Caps::InForce) <= gone
    }
    /// Whether some broker limits bytes or rates.
    pub(in crate::greedy) fn limits_loads(&self) -> bool {
        self.loads.as_ref().is_some_and(|loads| loads.has_caps)
    }
    /// Bytes of the replicas on a broker; zero where loads don't matter.
    pub(in crate::greedy) fn bytes(&self, broker: BrokerId) -> i64 {
        let loads = self.loads.as_ref();
        loads.map_or(0, |loads| loads.now.bytes[broker.index()])
    }
    fn load_limit<'l>(&'l self, loads: &'l Limited, caps: Caps) -> &'l Loads {
        match caps {
            Caps::Configured => &loads.configured,
            Caps::InForce => &self.problem.limits.loads_in_force,
        }
    }
    /// Whether `max_moves` allows the replica on `from` to go to `to` with its role; where `to` holds one already, only the
    /// lead goes.
    #[inline]
    pub(in crate::greedy) fn may_change(
        &self,
        shard: ShardId,
        from: BrokerId,
        to: BrokerId,
    ) -> bool {
        self.allowance.as_ref().is_none_or(|allowance| {
            !allowance.is_settled[shard.index()]
                || self.changes_of(shard, from, to) <= allowance.left
        })
    }
    /// Whether `max_moves` allows two shards to exchange their replicas on these brokers.
    pub(in crate::greedy) fn may_exchange(
        &self,
        one: (ShardId, BrokerId),
        other: (ShardId, BrokerId),
    ) -> bool {
        self.allowance.as_ref().is_none_or(|allowance| {
            let changes = |shard: ShardId, from, to| match allowance.is_settled[shard.index()] {
                true => self.changes_of(shard, from, to),
                false => 0,
            };
            changes(one.0, one.1, other.1) + changes(other.0, other.1, one.1) <= allowance.left
        })
    }
    /// What `max_moves` would count more of the shard.
    fn changes_of(&self, shard: ShardId, from: BrokerId, to: BrokerId) -> i64 {
        let present = &self.problem.shard(shard).present;
        let planned = self.of(shard);
        let is_led = planned.leader == Some(from);
        let promoted = |b: BrokerId| i64::from(is_led && present.followers.contains(&b));
        let copied = |b: BrokerId| i64::from(!planned.holds(to) && !present.holds(b));
        promoted(to) + copied(to) - promoted(from) - copied(from)
    }
    /// Edits one shard, and takes what `max_moves` counts of it from the allowance.
    pub(super) fn edit(&mut self, shard: ShardId, edit: impl FnOnce(&mut Self)) {
        let before = self.changes(shard);
        edit(self);
        let more = self.changes(shard) - before;
        if let Some(allowance) = &mut self.allowance {
            allowance.left -= more;
        }
    }
    /// What `max_moves` counts of a shard, zero where nothing is limited.
    fn changes(&self, shard: ShardId) -> i64 {
        match &self.allowance {
            Some(allowance) if allowance.is_settled[shard.index()] => {
                let planned = self.of(shard);
                self.problem.changes(self.problem.shard(shard), planned)
            }
            _ => 0,
        }
    }
}
