//! Swaps of followers after KIP-925: counts stay, costs fall.
//!
//! From a given plan, for every broker, every other and each follower on the first, that follower on the other changes
//! places with it with which `weighted` falls most, if it falls at all, until a whole pass finds none. (KIP-925 goes
//! through the followers first and the other brokers then; pair by pair, what moves cost is computed once.) A swap is feasible when
//! both shards may enter and neither is held there already, when it breaks no hard rule and when no higher rank gets
//! worse: neither shard loses zones or gains breaches by itself, and the spread of streams, the bytes above watermarks and
//! those above the balance don't rise. Leaders and all counts of brokers and zones stay as they are.
//!
//! # Invariant
//! Every swap lowers `weighted`, so the passes end.
//!
//! # Complexity
//! A pass computes the costs of O(followers · brokers) moves, of pairs of brokers alone on which something changed. For each
//! follower only those partners are looked at that gain enough.
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
    let mut since = None;
    loop {
        let before = swapper.swaps;
        if !swapper.pass(since, &mut pace)? {
            break;
        }
        since = Some(before);
    }
    Ok(swapper.tally.finish())
}

/// A follower's shard and broker.
type Standby = (ShardId, BrokerId);

/// What a follower's move to another broker adds.
struct Offer {
    /// To `weighted`.
    cost: i64,
    shard: ShardId,
    stream: StreamId,
    /// To the spread of its stream's replicas.
    spread: i64,
}

struct Swapper<'p> {
    tally: Tally<'p>,
    /// Followers that may move, by broker, in canonical order.
    standbys: Vec<Vec<ShardId>>,
    /// Replicas by stream and broker, a row a stream; empty where their spread doesn't count.
    by_stream: Vec<u32>,
    /// By broker, the bytes above which the balance costs; empty where it doesn't.
    balance: Vec<Option<i64>>,
    /// Swaps so far, and by broker, how many there were when a shard on it last took part in one.
    swaps: u64,
    changed: Vec<u64>,
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
            swaps: 0,
            changed: vec![0; brokers],
        })
    }

    /// Tries every pair of brokers on which something changed since the swap number `since`. Returns whether any
    /// followers changed places.
    fn pass(&mut self, since: Option<u64>, pace: &mut Pace<'_, '_>) -> Result<bool, Stop> {
        let before = self.swaps;
        let is_new = |changed: u64| since.is_none_or(|since| changed > since);
        for a in self.tally.problem.broker_ids() {
            for b in self.tally.problem.broker_ids().skip(a.index() + 1) {
                pace.step(1)?;
                if is_new(self.changed[a.index()]) || is_new(self.changed[b.index()]) {
                    self.swap_between(a, b, pace)?;
                }
            }
        }
        Ok(self.swaps > before)
    }

    /// Swaps followers between two brokers, for each on `a` with the one on `b` that lowers the cost most.
    fn swap_between(
        &mut self,
        a: BrokerId,
        b: BrokerId,
        pace: &mut Pace<'_, '_>,
    ) -> Result<(), Stop> {
        let there = self.offers(a, b, pace)?;
        let least = there.iter().map(|offer| offer.cost).min();
        let Some(least) = least else { return Ok(()) };
        let mut back = self.offers(b, a, pace)?;
        back.retain(|offer| offer.cost + least < 0);
        back.sort_unstable_by_key(|offer| (offer.cost, offer.shard));
        for mut offer in there {
            offer.spread = self.spread(offer.stream, a, b);
            let mut partner = None;
            for (at, other) in back.iter().enumerate() {
                pace.step(4)?;
                if offer.cost + other.cost >= 0 {
                    break;
                }
                if self.is_feasible((&offer, a), (other, b)) {
                    partner = Some(at);
                    break;
                }
            }
            if let Some(at) = partner {
                let other = back.remove(at);
                self.exchange((offer.shard, a), (other.shard, b));
                for offer in &mut back {
                    pace.step(4)?;
                    offer.spread = self.spread(offer.stream, b, a);
                }
            }
        }
        Ok(())
    }

    /// The moves from one broker to another that the shards' own rules allow, in canonical order.
    fn offers(
        &self,
        from: BrokerId,
        to: BrokerId,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Vec<Offer>, Stop> {
        let mut offers = Vec::new();
        for &shard in &self.standbys[from.index()] {
            pace.step(LOOKUP)?;
            if let Some(cost) = self.cost(shard, from, to) {
                let stream = self.tally.problem.shard(shard).stream;
                let spread = self.spread(stream, from, to);
                offers.push(Offer {
                    cost,
                    shard,
                    stream,
                    spread,
                });
            }
        }
        Ok(offers)
    }

    /// Whether two followers may change places, and no rank above `weighted` gets worse by it.
    fn is_feasible(&self, (one, a): (&Offer, BrokerId), (other, b): (&Offer, BrokerId)) -> bool {
        let is_level = one.stream == other.stream || one.spread + other.spread <= 0;
        let (one, other) = ((one.shard, a), (other.shard, b));
        is_level && self.keeps_bytes(one, other) && self.is_allowed(one, other)
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

    /// Whether the hard rules that look at both let two followers change places.
    fn is_allowed(&self, one: Standby, other: Standby) -> bool {
        self.tally.exchange_fits(one.0, other.0, other.1)
            && self.tally.exchange_fits(other.0, one.0, one.1)
            && self.tally.may_exchange(one, other)
    }

    /// What rank 10 gains when a replica of the stream moves.
    fn spread(&self, stream: StreamId, from: BrokerId, to: BrokerId) -> i64 {
        if self.by_stream.is_empty() {
            return 0;
        }
        let change = |broker: BrokerId, by: i64| {
            let cell = stream.index() * self.standbys.len() + broker.index();
            let count = i64::from(self.by_stream[cell]);
            let band = self.tally.problem.stream_replica_band(stream, broker);
            band.map_or(0, |band| band.squared(count + by) - band.squared(count))
        };
        change(from, -1) + change(to, 1)
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

    /// Lets two followers change places.
    fn exchange(&mut self, one: Standby, other: Standby) {
        self.swaps += 1;
        for ((shard, from), to) in [(one, other.1), (other, one.1)] {
            self.tally.relocate(shard, from, to);
            let row = self.tally.problem.shard(shard).stream.index() * self.standbys.len();
            if !self.by_stream.is_empty() {
                self.by_stream[row + from.index()] -= 1;
                self.by_stream[row + to.index()] += 1;
            }
            let gone = &mut self.standbys[from.index()];
            if let Ok(at) = gone.binary_search(&shard) {
                gone.remove(at);
            }
            let come = &mut self.standbys[to.index()];
            if let Err(at) = come.binary_search(&shard) {
                come.insert(at, shard);
            }
            for b in self.tally.of(shard).replicas() {
                self.changed[b.index()] = self.swaps;
            }
        }
        if self.tally.problem.policy.max_moves.is_some() {
            // What the limit leaves may have become more, everywhere.
            self.changed.fill(self.swaps);
        }
    }
}
