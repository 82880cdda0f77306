//! Weight function: what is unassigned goes, replica by replica, to the broker of the smallest weight.
//!
//! `weight = θ0 · (replicas on the broker) + θ1 · (replicas of this stream on it) + θ2 · (part of its disk in use)`, as they
//! are before the newcomer. Leaders come first, then followers, each one stream after the other; of a stream's followers
//! every shard gets one before any gets a further one. A shard whose live replicas lack a leader is led by the one of
//! them on the broker of the smallest weight. Equal weights: see `Turn`; then the lower id.
//!
//! Nothing that is placed moves. Surplus goes, from unwanted brokers first and then from those of the largest weight.
//! Every addition keeps to all caps as configured, so no disk is filled beyond the watermark.
//!
//! # Arithmetic
//! The thetas are turned into integers, 2^52 for the largest, and the part of a disk is cut to 30 binary digits; all
//! else is exact. So weights are equal on every machine or on none. A theta below 2^-53 of the largest counts as none.
//!
//! # Complexity
//! O(shards · replicas + (missing replicas + streams) · brokers).
//!
//! Source: the design of an Elasticsearch-style shard allocator; `docs/decisions/0010-weight-function.md` tells how its open
//! points are read.

use std::cmp::Reverse;

use super::tally::{Caps, LOOKUP, Pace, Tally};
use crate::budget::{Budget, Stop};
use crate::snapshot::{Assignment, BrokerId, Problem, ShardId, StreamId};

/// The thetas of shard, index and disk where the policy gives none. A disk is never worth a replica: its part in use is
/// below θ0 + θ1.
pub const DEFAULT_THETAS: [f64; 3] = [0.45, 0.55, 1.0];

/// Binary digits of a disk's part in use.
const DISK_DIGITS: u32 = 30;

/// Plans; the result is indexed by [`ShardId`].
///
/// The work limit doesn't govern it: the budget's interrupt is polled, no work is spent.
///
/// # Errors
/// The reason, where the interrupt asks to stop; there is no partial plan.
pub fn plan(problem: &Problem, budget: &mut Budget<'_>) -> Result<Vec<Assignment>, Stop> {
    let mut pace = Pace::new(budget);
    let mut allocator = Allocator {
        tally: Tally::new(problem, &mut pace)?,
        thetas: integers(problem.policy.thetas),
        of_stream: vec![OfStream::default(); problem.brokers.len()],
    };
    for step in [Allocator::drop_surplus, Allocator::lead, Allocator::follow] {
        for stream in (0..problem.streams.len()).map(StreamId::at) {
            allocator.turn_to(stream, &mut pace)?;
            step(&mut allocator, stream, &mut pace)?;
        }
    }
    Ok(allocator.tally.finish())
}

/// The thetas in units of which the largest has 2^52.
fn integers(given: [Option<f64>; 3]) -> [i128; 3] {
    let mut thetas = DEFAULT_THETAS;
    for (theta, given) in thetas.iter_mut().zip(given) {
        *theta = given.unwrap_or(*theta);
    }
    let largest = thetas.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return [0; 3];
    }
    // The quotient is at most 1, so the product is whole in no more than 53 binary digits.
    thetas.map(|theta| (theta / largest * (1_u64 << 52) as f64).round() as i128)
}

/// What a broker has of the stream at hand.
#[derive(Clone, Copy, Default)]
struct OfStream {
    replicas: i64,
    /// Place in the stream of the last shard led there.
    highest: Option<u32>,
}

/// How long a broker waits for its turn, where weights are equal: the shards of a stream go round, so that the one after
/// the shard at hand leads on the broker next to take a replica of it. First the broker whose highest lead comes
/// soonest after the shard, then the one without any, then the lowest before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    After(u32),
    Without,
    Before(u32),
}

struct Allocator<'p> {
    tally: Tally<'p>,
    thetas: [i128; 3],
    /// By broker.
    of_stream: Vec<OfStream>,
}

impl Allocator<'_> {
    fn turn_to(&mut self, stream: StreamId, pace: &mut Pace<'_, '_>) -> Result<(), Stop> {
        pace.step(self.of_stream.len())?;
        self.of_stream.fill(OfStream::default());
        let shards = self.tally.problem.stream(stream).shards.clone();
        for (place, shard) in (0..).zip(shards.map(ShardId)) {
            pace.step(LOOKUP)?;
            let planned = self.tally.of(shard);
            for b in planned.replicas() {
                self.of_stream[b.index()].replicas += 1;
            }
            if let Some(leader) = planned.leader {
                self.of_stream[leader.index()].highest = Some(place);
            }
        }
        Ok(())
    }

    /// The shards of the stream that may change, with their places in it.
    fn shards(&self, stream: StreamId) -> Vec<(u32, ShardId)> {
        let shards = self.tally.problem.stream(stream).shards.clone();
        let placed = (0..).zip(shards.map(ShardId));
        placed
            .filter(|&(_, shard)| !self.tally.is_pinned(shard))
            .collect()
    }

    /// Drops what the stream's shards have above the replication factor.
    fn drop_surplus(&mut self, stream: StreamId, pace: &mut Pace<'_, '_>) -> Result<(), Stop> {
        if self.tally.keeps_replicas() {
            return Ok(());
        }
        for (_, shard) in self.shards(stream) {
            pace.step(LOOKUP)?;
            while self.tally.of(shard).replicas().count() > self.tally.factor(shard) {
                let followers = self.tally.of(shard).followers.iter().copied();
                let wish = |b: &BrokerId| {
                    let is_wanted = !self.tally.problem.is_unwanted(stream, *b);
                    (is_wanted, Reverse((self.weight(*b), *b)))
                };
                let Some(gone) = followers.min_by_key(wish) else {
                    break;
                };
                self.tally.leave(shard, gone);
                self.of_stream[gone.index()].replicas -= 1;
            }
        }
        Ok(())
    }

    /// Gives leaders to the stream's shards that have none.
    fn lead(&mut self, stream: StreamId, pace: &mut Pace<'_, '_>) -> Result<(), Stop> {
        for (place, shard) in self.shards(stream) {
            pace.step(LOOKUP)?;
            let planned = self.tally.of(shard);
            if planned.leader.is_some() {
                continue;
            }
            pace.step(4 * self.of_stream.len())?;
            let fits = |b: &BrokerId| self.tally.leader_fits(shard, *b, Caps::Configured);
            let holders = planned.followers.iter().copied().filter(fits);
            let to = match self.lightest(holders, place) {
                None if self.tally.of(shard).followers.len() < self.tally.factor(shard) => {
                    let newcomers = self.open_to(shard).filter(fits);
                    self.lightest(newcomers, place)
                }
                holder => holder,
            };
            let Some(to) = to else { continue };
            self.enter(shard, to);
            self.tally.promote(shard, to);
            let highest = &mut self.of_stream[to.index()].highest;
            *highest = (*highest).max(Some(place));
        }
        Ok(())
    }

    /// Gives followers to the stream's shards that lack some, round after round.
    fn follow(&mut self, stream: StreamId, pace: &mut Pace<'_, '_>) -> Result<(), Stop> {
        let mut lacking = self.shards(stream);
        while !lacking.is_empty() {
            let mut further = Vec::new();
            for (place, shard) in lacking {
                pace.step(LOOKUP)?;
                let is_led = self.tally.of(shard).leader.is_some();
                if !is_led || self.tally.followers_missing(shard) == 0 {
                    continue;
                }
                pace.step(4 * self.of_stream.len())?;
                if let Some(to) = self.lightest(self.open_to(shard), place) {
                    self.enter(shard, to);
                    further.push((place, shard));
                }
            }
            lacking = further;
        }
        Ok(())
    }

    /// Adds a replica, unless there is one.
    fn enter(&mut self, shard: ShardId, broker: BrokerId) {
        if !self.tally.of(shard).holds(broker) {
            self.tally.enter(shard, broker);
            self.of_stream[broker.index()].replicas += 1;
        }
    }

    /// The brokers that a further replica of the shard fits on.
    fn open_to(&self, shard: ShardId) -> impl Iterator<Item = BrokerId> + '_ {
        let fits = move |b: &BrokerId| {
            !self.tally.keeps_replicas()
                && self.tally.replica_fits(shard, *b, None, Caps::Configured)
        };
        self.tally.problem.broker_ids().filter(fits)
    }

    /// The broker of the smallest weight for the shard at a place of the stream.
    fn lightest(&self, brokers: impl Iterator<Item = BrokerId>, place: u32) -> Option<BrokerId> {
        let turn = |b: BrokerId| match self.of_stream[b.index()].highest {
            Some(highest) if highest > place => Turn::After(highest),
            Some(highest) => Turn::Before(highest),
            None => Turn::Without,
        };
        brokers.min_by_key(|&b| (self.weight(b), turn(b), b))
    }

    /// At most 2^(52 + 33 + 30), for each of the three terms.
    fn weight(&self, broker: BrokerId) -> i128 {
        let [shard, index, disk] = self.thetas;
        let replicas = i128::from(self.tally.counts.replicas[broker.index()]);
        let of_stream = i128::from(self.of_stream[broker.index()].replicas);
        ((shard * replicas + index * of_stream) << DISK_DIGITS) + disk * self.disk_use(broker)
    }

    /// The part of the disk in use, at most twice the disk; zero where it has no size.
    fn disk_use(&self, broker: BrokerId) -> i128 {
        let b = self.tally.problem.broker(broker);
        let Some(size) = b.disk_bytes else { return 0 };
        let used = i128::from(b.disk_used_bytes) + i128::from(self.tally.bytes(broker));
        ((used << DISK_DIGITS) / i128::from(size.max(1))).min(2 << DISK_DIGITS)
    }
}
