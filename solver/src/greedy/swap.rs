//! Swaps of followers after KIP-925: counts stay, costs fall.
//!
//! From a given plan, for every broker, each of its followers, and every other broker, the first follower there is taken
//! that lowers the rank `weighted` by changing places with it, until a whole pass finds none. A swap is feasible when
//! both shards may enter and neither is held there already, when it breaks no hard rule and when no higher rank gets
//! worse: neither shard loses zones or gains breaches by itself, and the spread of streams, the bytes above watermarks and
//! those above the balance don't rise. Leaders and all counts of brokers and zones stay as they are.
//!
//! # Invariant
//! Every swap lowers `weighted`, so the passes end.
//!
//! # Complexity
//! A pass looks at O(followers · brokers) moves of one follower. The partners on a broker are looked at only where the most
//! that any of them could gain would pay for the move: `least` holds a bound of that for each pair of brokers.
//!
//! # What it can't do
//! What takes three shards to change places at once: see the test of it.
//!
//! Source: KIP-925, standby tasks, the policy that puts balance over cost.

use super::tally::{Caps, LOOKUP, Pace, Tally};
use crate::budget::{Budget, Stop};
use crate::cost::{Rank, shard_cost};
use crate::snapshot::{Assignment, BrokerId, Dimension, Problem, ShardId, StreamId, balance_caps};

/// Improves a plan; both are indexed by [`ShardId`].
///
/// The work limit doesn't govern it: the budget's interrupt is polled, no work is spent.
///
/// # Errors
/// The reason, where the interrupt asks to stop; there is no partial plan.
pub fn plan(
    problem: &Problem,
    start: &[Assignment],
    budget: &mut Budget<'_>,
) -> Result<Vec<Assignment>, Stop> {
    let mut pace = Pace::new(budget);
    let mut tally = Tally::new(problem, &mut pace)?;
    for (id, planned) in problem.shard_ids().zip(start) {
        pace.step(LOOKUP)?;
        if !tally.is_pinned(id) {
            tally.assume(id, planned);
        }
    }
    if tally.keeps_replicas() {
        return Ok(tally.finish());
    }
    let mut swapper = Swapper::new(tally, &mut pace)?;
    while swapper.pass(&mut pace)? {}
    Ok(swapper.tally.finish())
}

/// A follower's shard and broker.
type Standby = (ShardId, BrokerId);

struct Swapper<'p> {
    tally: Tally<'p>,
    /// Followers that may move, by broker.
    standbys: Vec<Vec<ShardId>>,
    /// Replicas by stream and broker, a row a stream; empty where their spread doesn't count.
    by_stream: Vec<u32>,
    /// By broker, the bytes above which the balance costs; empty where it doesn't.
    balance: Vec<Option<i64>>,
    /// By broker and destination: no follower's move adds less to `weighted`. `None` until it is asked for.
    least: Vec<Option<i64>>,
}

impl<'p> Swapper<'p> {
    fn new(tally: Tally<'p>, pace: &mut Pace<'_, '_>) -> Result<Self, Stop> {
        let problem = tally.problem;
        let brokers = problem.brokers.len();
        let mut standbys = vec![Vec::new(); brokers];
        let mut by_stream = match problem.policy.stream_replicas {
            Some(_) => vec![0; problem.streams.len() * brokers],
            None => Vec::new(),
        };
        for id in problem.shard_ids() {
            pace.step(LOOKUP)?;
            let row = problem.shard(id).stream.index() * brokers;
            for b in tally.of(id).replicas() {
                if let Some(count) = by_stream.get_mut(row + b.index()) {
                    *count += 1;
                }
            }
            for &b in &tally.of(id).followers {
                if !tally.is_pinned(id) && problem.is_active(b) {
                    standbys[b.index()].push(id);
                }
            }
        }
        let is_balanced = (problem.policy.balance).is_some_and(|b| b.dimension == Dimension::Bytes);
        Ok(Swapper {
            tally,
            standbys,
            by_stream,
            balance: if is_balanced {
                balance_caps(problem)
            } else {
                Vec::new()
            },
            least: vec![None; brokers * brokers],
        })
    }

    /// Tries every follower once. Returns whether any changed places.
    fn pass(&mut self, pace: &mut Pace<'_, '_>) -> Result<bool, Stop> {
        let mut has_swapped = false;
        for from in self.tally.problem.broker_ids() {
            for at in 0..self.standbys[from.index()].len() {
                has_swapped |= self.swap_at(from, at, pace)?;
            }
        }
        Ok(has_swapped)
    }

    /// Swaps the follower at a place in the list of `from` with the first that lowers the cost. Returns whether one did.
    fn swap_at(
        &mut self,
        from: BrokerId,
        at: usize,
        pace: &mut Pace<'_, '_>,
    ) -> Result<bool, Stop> {
        let shard = self.standbys[from.index()][at];
        for to in self.tally.problem.broker_ids().filter(|&to| to != from) {
            pace.step(LOOKUP)?;
            let Some(cost) = self.cost(shard, from, to) else {
                continue;
            };
            if self.least(to, from, pace)?.saturating_add(cost) >= 0 {
                continue;
            }
            if let Some(partner) = self.partner((shard, from), to, cost, pace)? {
                let other = std::mem::replace(&mut self.standbys[to.index()][partner], shard);
                self.standbys[from.index()][at] = other;
                self.exchange((shard, from), (other, to), pace)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The place in the list of `to` of the first follower that may change places and pays for it.
    fn partner(
        &self,
        one: Standby,
        to: BrokerId,
        cost: i64,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Option<usize>, Stop> {
        for (at, &shard) in self.standbys[to.index()].iter().enumerate() {
            pace.step(LOOKUP)?;
            let other = (shard, to);
            if self.keeps_ranks(one, other)
                && let Some(back) = self.cost(shard, to, one.1)
                && cost + back < 0
                && self.is_allowed(one, other)
            {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// What `weighted` gains when a follower moves; `None` where its shard may not, or would lose zones or break a rule.
    fn cost(&self, shard: ShardId, from: BrokerId, to: BrokerId) -> Option<i64> {
        let (tally, problem) = (&self.tally, self.tally.problem);
        if !tally.may_enter(problem.shard(shard).stream, to)
            || tally.of(shard).holds(to)
            || !tally.zone_rule_allows(shard, to, Some(from), Caps::InForce)
        {
            return None;
        }
        let mut moved = tally.of(shard).clone();
        let before = shard_cost(problem, shard, &moved);
        for b in moved.followers.iter_mut().filter(|b| **b == from) {
            *b = to;
        }
        let after = shard_cost(problem, shard, &moved);
        let is_kept = [Rank::Breaches, Rank::ZonesLost]
            .iter()
            .all(|&rank| after[rank] <= before[rank]);
        is_kept.then(|| after[Rank::Weighted] - before[Rank::Weighted])
    }

    /// No more than what any follower's move from `from` to `to` adds.
    fn least(
        &mut self,
        from: BrokerId,
        to: BrokerId,
        pace: &mut Pace<'_, '_>,
    ) -> Result<i64, Stop> {
        let at = self.pair(from, to);
        if let Some(least) = self.least[at] {
            return Ok(least);
        }
        let mut least = i64::MAX;
        for &shard in &self.standbys[from.index()] {
            pace.step(LOOKUP)?;
            least = least.min(self.cost(shard, from, to).unwrap_or(i64::MAX));
        }
        self.least[at] = Some(least);
        Ok(least)
    }
    fn pair(&self, from: BrokerId, to: BrokerId) -> usize {
        from.index() * self.standbys.len() + to.index()
    }

    /// Whether the hard rules that look at both let two followers change places.
    fn is_allowed(&self, one: Standby, other: Standby) -> bool {
        self.tally.exchange_fits(one.0, other.0, other.1)
            && self.tally.exchange_fits(other.0, one.0, one.1)
            && self.tally.may_exchange(one, other)
    }

    /// Whether the ranks above `weighted` that several shards enter get no worse when two followers change places.
    fn keeps_ranks(&self, one: Standby, other: Standby) -> bool {
        self.stream_spread(one, other) <= 0 && self.keeps_bytes(one, other)
    }

    /// What rank 10 gains.
    fn stream_spread(&self, (one, a): Standby, (other, b): Standby) -> i64 {
        let problem = self.tally.problem;
        let [s, t] = [one, other].map(|shard| problem.shard(shard).stream);
        if s == t || self.by_stream.is_empty() {
            return 0;
        }
        let change = |stream: StreamId, broker: BrokerId, by: i64| {
            let cell = stream.index() * self.standbys.len() + broker.index();
            let count = i64::from(self.by_stream[cell]);
            let band = problem.stream_replica_band(stream, broker);
            band.map_or(0, |band| band.squared(count + by) - band.squared(count))
        };
        change(s, a, -1) + change(s, b, 1) + change(t, b, -1) + change(t, a, 1)
    }

    /// Whether the bytes above the watermarks don't rise, nor those above the balance.
    fn keeps_bytes(&self, (one, a): Standby, (other, b): Standby) -> bool {
        let problem = self.tally.problem;
        let [first, second] = [one, other].map(|shard| problem.shard(shard).size_bytes);
        let more = second - first;
        if more == 0 {
            return true;
        }
        let above = |cap: &dyn Fn(BrokerId) -> Option<i64>, broker, by: i64| {
            let bytes = self.tally.bytes(broker);
            cap(broker).map_or(0, |cap| (bytes + by - cap).max(0) - (bytes - cap).max(0))
        };
        let disk = |broker| problem.disk_room(broker);
        let balance = |broker: BrokerId| self.balance.get(broker.index()).copied().flatten();
        let rises =
            |cap: &dyn Fn(BrokerId) -> Option<i64>| above(cap, a, more) + above(cap, b, -more) > 0;
        !rises(&disk) && !rises(&balance)
    }

    /// Lets two followers change places, and lowers the bounds by what their shards' moves add now.
    fn exchange(
        &mut self,
        one: Standby,
        other: Standby,
        pace: &mut Pace<'_, '_>,
    ) -> Result<(), Stop> {
        let brokers = self.standbys.len();
        for ((shard, from), to) in [(one, other.1), (other, one.1)] {
            self.tally.relocate(shard, from, to);
            if !self.by_stream.is_empty() {
                let row = self.tally.problem.shard(shard).stream.index() * brokers;
                self.by_stream[row + from.index()] -= 1;
                self.by_stream[row + to.index()] += 1;
            }
        }
        for shard in [one.0, other.0] {
            for from in self.tally.of(shard).followers.clone() {
                for to in self.tally.problem.broker_ids() {
                    pace.step(LOOKUP)?;
                    let at = self.pair(from, to);
                    if let (Some(least), Some(cost)) = (self.least[at], self.cost(shard, from, to))
                    {
                        self.least[at] = Some(least.min(cost));
                    }
                }
            }
        }
        Ok(())
    }
}
