//! What may be done: level each stream's leaders, then all leaders, one move at a time.
//!
//! A broker's count `c` of leaders costs `d(c)²`, `d` the distance from its band [floor − slack, ceiling + slack]. A
//! move from `a` to `b` is wanted when it lowers the sum, `d²_a(c_a) − d²_a(c_a − 1) > d²_b(c_b + 1) − d²_b(c_b)`.
//! With equal shares and no slack that is Felix's rule, `c_a ≥ c_b + 2`: inside the band, one leader wide, nothing is
//! wanted, and outside it the cost is convex.
//!
//! # Why it ends
//! A stream's move strictly lowers that stream's sum and touches no other stream's. A cluster move strictly lowers the
//! sum of the totals and is made only by a shard of a stream whose own sum it doesn't raise. So the pair (Σ over
//! streams, Σ of totals), ranks 8 and 9 of the objective, falls lexicographically with every move. Where a spread is
//! switched off its member of the pair plays no part and its moves are not made. Each move asserts it.
//!
//! # Complexity
//! A stream that wants no move costs a look at its row, O(brokers), and none until a leader of it moves; one that does
//! O(brokers + moves · log brokers) where few of its brokers lead more than the least, and a move at most [`CANDIDATES`]
//! shards. Where rules are in the way a giver looks at [`RECEIVERS_MAX`] receivers before it is given up for this round.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bands::Bands;
use super::led::{Led, Listed};
use super::pressure::{Pressure, cluster_pressure, cost_in, gain_out, wants_move};
use super::receivers::{ByTotal, Receivers};
use crate::budget::Stop;
use crate::greedy::tally::{Caps, LOOKUP, Origin, Pace, Tally};
use crate::snapshot::{Band, BrokerId, ShardId, StreamId};

/// Shards, admissible and not yet moved, among which the best is taken. Bounds the work of a move on brokers that
/// lead thousands.
const CANDIDATES: usize = 16;

/// Receivers that a giver tries: every one in clusters of this size.
const RECEIVERS_MAX: usize = 64;

/// What is being levelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Stream(StreamId),
    Cluster,
}

/// Levels leaders until no admissible move is wanted. Returns whether anything moved.
pub(super) fn run(
    tally: &mut Tally<'_>,
    bands: &mut Bands,
    pace: &mut Pace<'_, '_>,
) -> Result<bool, Stop> {
    let problem = tally.problem;
    let mut has_moved = false;
    let mut led = Led::new(tally);
    let mut workplace = Workplace::new(tally, bands);
    if problem.policy.stream_leaders.is_some() {
        for s in (0..problem.streams.len()).map(StreamId::at) {
            pace.step(1)?;
            if problem.stream(s).share_total == 0 || tally.is_level(s) {
                continue;
            }
            pace.step(problem.brokers.len())?;
            bands.turn_to(problem, s);
            if !wants_move(tally, bands, s) {
                tally.set_level(s);
                continue;
            }
            pace.step(4 * problem.brokers.len())?;
            led.clear();
            led.add_stream(tally, s);
            let leveller = Leveller::new(tally, bands, &mut led, Goal::Stream(s), &mut workplace);
            has_moved |= leveller.run(pace)?;
        }
    }
    if problem.policy.cluster_leaders.is_some() && problem.share_total > 0 {
        led.clear();
        for s in (0..problem.streams.len()).map(StreamId::at) {
            pace.step(1 + 4 * problem.stream(s).shards.len())?;
            led.add_stream(tally, s);
        }
        let leveller = Leveller::new(tally, bands, &mut led, Goal::Cluster, &mut workplace);
        has_moved |= leveller.run(pace)?;
    }
    Ok(has_moved)
}

/// What a [`Leveller`] works with and the next one works with again.
struct Workplace {
    givers: BinaryHeap<Giver>,
    receivers: Receivers,
    by_total: ByTotal,
    /// Buffer for the shards that suit a move equally, traffic aside, with their places in the list.
    suitable: Vec<(ShardId, usize)>,
}

impl Workplace {
    fn new(tally: &Tally<'_>, bands: &Bands) -> Self {
        let problem = tally.problem;
        let active = problem.broker_ids().filter(|&b| problem.is_active(b));
        let cost = |b| cluster_pressure(tally, bands, b, cost_in);
        Workplace {
            givers: BinaryHeap::new(),
            receivers: Receivers::default(),
            by_total: ByTotal::new(active.collect(), problem.broker_ids().map(cost).collect()),
            suitable: Vec::new(),
        }
    }
}

type Giver = (Pressure, Reverse<BrokerId>);

/// One goal's moves, from the broker that gains most by giving to the one that pays least for taking.
///
/// Every broker that can give or take has an entry of its present pressure, besides outdated ones: those of givers are
/// told by their pressure and dropped; that of a receiver which gave pays no less than it gained, and nobody gains more
/// from then on. One can't take that pays as much as the most that any gains, nor give that gains no more than the least
/// that any pays: with every move the most falls or stays and the least rises or stays, since marginal costs rise with
/// the count.
struct Leveller<'t, 'p> {
    tally: &'t mut Tally<'p>,
    bands: &'t Bands,
    led: &'t mut Led,
    goal: Goal,
    workplace: &'t mut Workplace,
}

/// What a giver finds.
enum Found {
    /// A receiver, and the place of the shard in the giver's list.
    Move(BrokerId, usize),
    /// Nobody that may take one of its shards.
    Nothing,
    /// Nobody that pays less than it gains.
    TooDear,
}

impl<'t, 'p> Leveller<'t, 'p> {
    fn new(
        tally: &'t mut Tally<'p>,
        bands: &'t Bands,
        led: &'t mut Led,
        goal: Goal,
        workplace: &'t mut Workplace,
    ) -> Self {
        let mut leveller = Leveller {
            tally,
            bands,
            led,
            goal,
            workplace,
        };
        let most = leveller.enter_givers();
        let least = leveller.enter_receivers(most);
        leveller.workplace.givers.retain(|giver| giver.0.0 > least);
        leveller
    }

    /// Enters every broker that can give. Returns the most that one gains.
    fn enter_givers(&mut self) -> i64 {
        let mut givers = std::mem::take(&mut self.workplace.givers).into_vec();
        givers.clear();
        let gives = |b: &BrokerId| !self.led.by_broker[b.index()].is_empty();
        let giver = |b: BrokerId| (self.pressure_out(b), Reverse(b));
        givers.extend(self.brokers().filter(gives).map(giver));
        let most = givers.iter().map(|giver| giver.0.0).max();
        self.workplace.givers = givers.into();
        most.unwrap_or(i64::MIN)
    }

    /// Enters every broker that pays less than `most` for taking. Returns the least that one pays.
    fn enter_receivers(&mut self, most: i64) -> i64 {
        self.workplace.by_total.settle();
        let mut receivers = std::mem::take(&mut self.workplace.receivers);
        let by_total = &self.workplace.by_total;
        let least = match self.goal {
            Goal::Cluster => {
                let receiver = |b: BrokerId| {
                    let (cost, excess) = by_total.cost(b);
                    (cost < most).then_some(((cost, excess, 0, 0), b))
                };
                let least = self.brokers().next().map(|b| by_total.cost(b));
                let least = least.unwrap_or((i64::MAX, 0));
                receivers.refill(self.brokers().filter_map(receiver), least);
                least
            }
            Goal::Stream(s) => {
                let row = self.tally.stream_row(s);
                let own = |b: BrokerId| {
                    let (band, count) = (self.bands.of_stream(b), i64::from(row[b.index()]));
                    (cost_in(band, count), count - band.high)
                };
                let receiver = |b: BrokerId| {
                    let (cost, excess) = own(b);
                    let (total, above) = by_total.cost(b);
                    (cost < most).then_some(((cost, excess, total, above), b))
                };
                let least = self.brokers().map(own).min().unwrap_or((i64::MAX, 0));
                receivers.refill(self.brokers().filter_map(receiver), least);
                least
            }
        };
        self.workplace.receivers = receivers;
        least.0
    }

    /// Those that may give and take, by total.
    fn brokers(&self) -> impl Iterator<Item = BrokerId> {
        let open = match self.goal {
            Goal::Stream(s) => self.tally.closed_to_some(s),
            Goal::Cluster => None,
        };
        let is_meant = move |b: &BrokerId| open.is_none_or(|open| open[b.index()]);
        (self.workplace.by_total.order().iter().copied()).filter(is_meant)
    }

    fn run(mut self, pace: &mut Pace<'_, '_>) -> Result<bool, Stop> {
        let mut has_moved = false;
        while let Some((pressure, Reverse(from))) = self.workplace.givers.pop() {
            pace.step(LOOKUP)?;
            if pressure != self.pressure_out(from) {
                continue;
            }
            match self.find(from, pressure.0, pace)? {
                Found::Move(to, at) => {
                    self.shift(from, to, at);
                    has_moved = true;
                }
                Found::Nothing => {}
                // The others gain no more, and nobody will pay less.
                Found::TooDear => break,
            }
        }
        Ok(has_moved)
    }

    /// The receiver that pays least among those that one of `from`'s shards may move to, and that shard's place in
    /// the list of `from`.
    fn find(&mut self, from: BrokerId, gain: i64, pace: &mut Pace<'_, '_>) -> Result<Found, Stop> {
        let zone = self.tally.problem.zone_of(from);
        let mut tried = 0;
        let mut looked_at = 0;
        while tried < RECEIVERS_MAX {
            let Some((pressure, to)) = self.workplace.receivers.get(looked_at) else {
                break;
            };
            if gain <= pressure.0 {
                break;
            }
            looked_at += 1;
            if self.led.candidates(from, to).is_empty() {
                pace.step(LOOKUP)?;
                continue;
            }
            pace.step(1)?;
            tried += 1;
            // Whether a count's cap leaves room for a further leader is the same for all shards of `from`.
            if self.tally.lead_fits(Some(zone), to, Caps::Configured)
                && let Some(at) = self.choose(from, to, pace)?
            {
                self.workplace.receivers.take(looked_at - 1);
                return Ok(Found::Move(to, at));
            }
        }
        Ok(if looked_at == 0 {
            Found::TooDear
        } else {
            Found::Nothing
        })
    }

    /// The shard that had best move: one that is nowhere yet and moves free of charge, else one that hasn't moved,
    /// else any; then one that `to` already holds a follower of, then by traffic, then in canonical order.
    fn choose(
        &mut self,
        from: BrokerId,
        to: BrokerId,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Option<usize>, Stop> {
        let shards = self.led.candidates(from, to);
        let mut best = (u8::MAX, true);
        let mut suitable = std::mem::take(&mut self.workplace.suitable);
        suitable.clear();
        let mut at = self.led.cursor[from.index()];
        let mut unmoved = 0;
        for _ in 0..shards.len() {
            if at >= shards.len() {
                at = 0;
            }
            pace.step(1)?;
            let entry = shards[at];
            let suits = self.goal != Goal::Cluster || self.suits_stream(entry.stream, from, to);
            if suits && let Some(class) = self.admits(entry, from, to) {
                pace.step(LOOKUP)?;
                unmoved += usize::from(class.0 < HAS_MOVED);
                if class < best {
                    best = class;
                    suitable.clear();
                }
                if class == best {
                    suitable.push((entry.shard, at));
                }
            }
            at += 1;
            if unmoved == CANDIDATES {
                break;
            }
        }
        self.led.cursor[from.index()] = at;
        let best = self.cheapest(&suitable, from, to);
        self.workplace.suitable = suitable;
        let Some(best) = best else {
            return Ok(None);
        };
        let entry = self.led.candidates(from, to)[best];
        if self.led.by_pair.is_none() {
            return Ok(Some(best));
        }
        let all = &self.led.by_broker[from.index()];
        Ok(all.iter().position(|listed| *listed == entry))
    }

    /// The place of the shard whose traffic costs least after the move, compared with before.
    fn cheapest(
        &self,
        suitable: &[(ShardId, usize)],
        from: BrokerId,
        to: BrokerId,
    ) -> Option<usize> {
        let problem = self.tally.problem;
        let (old, new) = (problem.zone_of(from), problem.zone_of(to));
        let traffic = |shard: ShardId| {
            let traffic = &problem.shard(shard).leader_traffic;
            traffic.cross(new) - traffic.cross(old)
        };
        let best = if old == new {
            suitable.iter().min_by_key(|&&(shard, _)| shard)
        } else {
            (suitable.iter()).min_by_key(|&&(shard, _)| (traffic(shard), shard))
        };
        best.map(|&(_, at)| at)
    }

    /// How well the shard suits the move, traffic aside, less is better; `None` where a rule forbids it.
    #[inline]
    fn admits(&self, listed: Listed, from: BrokerId, to: BrokerId) -> Option<(u8, bool)> {
        let tally = &*self.tally;
        let shard = listed.shard;
        if !tally.may_enter(listed.stream, to) {
            return None;
        }
        if !tally.may_change(shard, from, to) || !tally.rate_fits(shard, to, Caps::Configured) {
            return None;
        }
        let is_promotion = !listed.is_alone && tally.of(shard).holds(to);
        if !is_promotion
            && (tally.keeps_replicas()
                || !tally.new_replica_fits(shard, to, Some(from), Caps::Configured)
                || !listed.is_alone && tally.lowers_zones(shard, from, to))
        {
            return None;
        }
        if !tally.keeps_minimum(from, to) {
            return None;
        }
        let has_moved = match listed.origin {
            Origin::Nowhere => 0,
            Origin::At(leader) if leader == Some(from) => HAS_MOVED - 1,
            Origin::At(_) => HAS_MOVED,
        };
        Some((has_moved, !is_promotion))
    }

    /// Whether a cluster move of one leader of the stream leaves the stream no less level.
    fn suits_stream(&self, stream: StreamId, from: BrokerId, to: BrokerId) -> bool {
        let problem = self.tally.problem;
        if !(self.tally.may_enter(stream, from) && self.tally.may_enter(stream, to)) {
            return false;
        }
        let Some(spread) = problem.policy.stream_leaders else {
            return true;
        };
        let shares = [from, to].map(|b| problem.broker(b).share);
        let is_even = shares[0] == shares[1];
        let taken = self.tally.stream_leaders(stream, to);
        // `from` leads at least one, and looking up how many takes its time.
        if is_even && taken == 0 {
            return true;
        }
        let given = self.tally.stream_leaders(stream, from);
        if is_even && (taken < given || spread.slack == 0) {
            return taken < given;
        }
        let s = problem.stream(stream);
        if s.share_total == 0 {
            return true;
        }
        let band = |share| Band::new(s.shard_count(), share, s.share_total, spread.slack);
        gain_out(band(shares[0]), given) >= cost_in(band(shares[1]), taken)
    }

    /// Moves the lead of the shard at `at` in the list of `from`: roles are swapped where `to` holds a follower, else
    /// the replica moves.
    fn shift(&mut self, from: BrokerId, to: BrokerId, at: usize) {
        debug_assert!(
            self.pressure_out(from).0 > self.pressure_in(to).0,
            "each move lowers the goal's sum"
        );
        let entry = self.led.by_broker[from.index()].swap_remove(at);
        debug_assert!(
            self.goal != Goal::Cluster || self.suits_stream(entry.stream, from, to),
            "a cluster move raises no stream's sum"
        );
        let shard = entry.shard;
        let gain = self.pressure_out(from).0;
        self.led.unpair(self.tally, entry);
        if self.tally.of(shard).holds(to) {
            self.tally.promote(shard, to);
        } else {
            self.tally.relocate(shard, from, to);
        }
        self.led.by_broker[to.index()].push(entry);
        self.led.pair(self.tally, entry);
        for b in [from, to] {
            let cost = cluster_pressure(self.tally, self.bands, b, cost_in);
            self.workplace.by_total.change(b, cost);
        }
        self.enter_again(from, to, gain);
    }

    /// Enters both ends of a move that gained so much again, as far as they can give or take.
    ///
    /// To take, `from` would pay what it has just gained, and nobody will gain more; `to` can take again only while it
    /// pays less. To give, `to` would gain what it has just paid, and that is enough only where somebody pays less who was
    /// refused by the last giver.
    fn enter_again(&mut self, from: BrokerId, to: BrokerId, gain: i64) {
        if !self.led.by_broker[from.index()].is_empty() {
            let giver = (self.pressure_out(from), Reverse(from));
            self.workplace.givers.push(giver);
        }
        let giver = (self.pressure_out(to), Reverse(to));
        let least = self.workplace.receivers.least();
        if least.is_some_and(|least| giver.0.0 > least) {
            self.workplace.givers.push(giver);
        }
        let receiver = (self.pressure_in(to), to);
        if receiver.0.0 < gain {
            self.workplace.receivers.add(receiver);
        }
    }

    #[inline]
    fn pressure_out(&self, broker: BrokerId) -> Pressure {
        self.pressure(broker, gain_out)
    }
    #[inline]
    fn pressure_in(&self, broker: BrokerId) -> Pressure {
        self.pressure(broker, cost_in)
    }
    #[inline]
    fn pressure(&self, broker: BrokerId, marginal: impl Fn(Band, i64) -> i64) -> Pressure {
        let own = self.own_pressure(broker, &marginal);
        let overall =
            self.beyond_goal(|| cluster_pressure(self.tally, self.bands, broker, marginal));
        (own.0, own.1, overall.0, overall.1)
    }
    /// The cluster's part of the pressure, where the cluster isn't the goal itself.
    #[inline]
    fn beyond_goal(&self, overall: impl FnOnce() -> (i64, i64)) -> (i64, i64) {
        match self.goal {
            Goal::Stream(_) => overall(),
            Goal::Cluster => (0, 0),
        }
    }
    /// The goal's part of the pressure.
    #[inline]
    fn own_pressure(&self, broker: BrokerId, marginal: impl Fn(Band, i64) -> i64) -> (i64, i64) {
        match self.goal {
            Goal::Cluster => cluster_pressure(self.tally, self.bands, broker, marginal),
            Goal::Stream(s) => {
                let band = self.bands.of_stream(broker);
                let count = self.tally.stream_leaders(s, broker);
                (marginal(band, count), count - band.high)
            }
        }
    }
}

/// Class of shards that another move of this pass has moved already, after those that moved nowhere.
const HAS_MOVED: u8 = 2;
