//! Room on disks: smaller replicas are moved out of the way of one that fits nowhere.
//!
//! Of the brokers on which nothing but bytes keeps the newcomer out, those that lack least are tried, and of the replicas
//! there the smallest that makes enough room by itself, else the largest that is smaller than the newcomer and then
//! further ones. Each goes to the broker with most room that the rules allow, with its role. A broker that can't be
//! cleared in a few moves is left as it was.
//!
//! # Complexity
//! O(shards) once a round, then O([`BROKERS_MAX`] · [`EVICTED_MAX`] · [`TRIED_MAX`] · brokers) for a newcomer, of which
//! [`FAILED_MAX`] may fail in a round.

use super::bands::Bands;
use crate::budget::Stop;
use crate::greedy::tally::{Caps, LOOKUP, Pace, Tally};
use crate::snapshot::{BrokerId, Role, ShardId};

/// Brokers that one newcomer tries to clear.
const BROKERS_MAX: usize = 8;
/// Replicas moved away for one newcomer.
const EVICTED_MAX: usize = 4;
/// Replicas looked at for each that is moved away.
const TRIED_MAX: usize = 64;
/// Newcomers for which no room was found before a round gives up: a cluster that is full stays full.
const FAILED_MAX: usize = 64;

/// One round's search for room.
#[derive(Default)]
pub(super) struct Room {
    /// By broker, the replicas that may move, ascending by size and id; made when first needed. What has left since is
    /// still listed, what has come is not.
    held: Option<Vec<Vec<(i64, ShardId)>>>,
    failed: usize,
}

impl Room {
    /// Makes room for one more replica of the shard that bytes alone keep out. Returns whether it did.
    pub(super) fn make(
        &mut self,
        tally: &mut Tally<'_>,
        bands: &mut Bands,
        shard: ShardId,
        role: Role,
        pace: &mut Pace<'_, '_>,
    ) -> Result<bool, Stop> {
        let size = tally.problem.shard(shard).size_bytes;
        let is_full = tally.of(shard).replicas().count() >= tally.factor(shard);
        if !tally.limits_loads() || size == 0 || is_full || self.failed >= FAILED_MAX {
            return Ok(false);
        }
        bands.turn_to(tally.problem, tally.problem.shard(shard).stream);
        let lacking = |b: BrokerId| {
            let short = tally.bytes_short(shard, b, Caps::Configured);
            let is_open = short > 0
                && !tally.of(shard).holds(b)
                && tally.slot_fits(shard, b, None, Caps::Configured)
                && (role == Role::Follower || tally.leader_fits(shard, b, Caps::Configured));
            is_open.then_some((short, b))
        };
        let brokers = bands.eligible.iter().copied();
        let mut lacking: Vec<(i64, BrokerId)> = brokers.filter_map(lacking).collect();
        lacking.sort_unstable();
        lacking.truncate(BROKERS_MAX);
        for (_, b) in lacking {
            if self.clear(tally, shard, b, pace)? {
                return Ok(true);
            }
        }
        self.failed += 1;
        Ok(false)
    }

    /// Moves replicas off the broker until the newcomer fits, or none.
    fn clear(
        &mut self,
        tally: &mut Tally<'_>,
        newcomer: ShardId,
        from: BrokerId,
        pace: &mut Pace<'_, '_>,
    ) -> Result<bool, Stop> {
        let held = match &self.held {
            Some(held) => held,
            None => self.held.insert(held(tally, pace)?),
        };
        let mut moved = Vec::new();
        loop {
            let short = tally.bytes_short(newcomer, from, Caps::Configured);
            if short <= 0 {
                return Ok(true);
            }
            let eviction = match moved.len() {
                EVICTED_MAX => None,
                _ => eviction(tally, &held[from.index()], newcomer, from, short, pace)?,
            };
            let Some((shard, to)) = eviction else { break };
            tally.relocate(shard, from, to);
            moved.push((shard, to));
        }
        for (shard, to) in moved.into_iter().rev() {
            tally.relocate(shard, to, from);
        }
        Ok(false)
    }
}

/// By broker, the replicas that may move, ascending by size and id.
fn held(tally: &Tally<'_>, pace: &mut Pace<'_, '_>) -> Result<Vec<Vec<(i64, ShardId)>>, Stop> {
    let mut held = vec![Vec::new(); tally.problem.brokers.len()];
    for id in tally.problem.shard_ids() {
        pace.step(LOOKUP)?;
        let size = tally.problem.shard(id).size_bytes;
        if size > 0 && !tally.is_pinned(id) {
            for b in tally.of(id).replicas() {
                held[b.index()].push((size, id));
            }
        }
    }
    for replicas in &mut held {
        pace.step(LOOKUP + replicas.len())?;
        replicas.sort_unstable();
    }
    Ok(held)
}

/// The replica to move away next, and where it goes.
fn eviction(
    tally: &Tally<'_>,
    held: &[(i64, ShardId)],
    newcomer: ShardId,
    from: BrokerId,
    short: i64,
    pace: &mut Pace<'_, '_>,
) -> Result<Option<(ShardId, BrokerId)>, Stop> {
    let size = tally.problem.shard(newcomer).size_bytes;
    let enough = held.partition_point(|replica| replica.0 < short);
    let smaller = held.partition_point(|replica| replica.0 < size).max(enough);
    let by_preference = held[enough..smaller]
        .iter()
        .chain(held[..enough].iter().rev());
    for &(_, shard) in by_preference.take(TRIED_MAX) {
        pace.step(LOOKUP + 4 * tally.problem.brokers.len())?;
        if shard != newcomer
            && tally.of(shard).holds(from)
            && let Some(to) = refuge(tally, shard, from)
        {
            return Ok(Some((shard, to)));
        }
    }
    Ok(None)
}

/// The broker with most room to which the rules let the replica on `from` go.
fn refuge(tally: &Tally<'_>, shard: ShardId, from: BrokerId) -> Option<BrokerId> {
    let is_led = tally.of(shard).leader == Some(from);
    let problem = tally.problem;
    let admits = |b: &BrokerId| {
        tally.replica_fits(shard, *b, Some(from), Caps::Configured)
            && !tally.lowers_zones(shard, from, *b)
            && tally.may_change(shard, from, *b)
            && (!is_led
                || tally.leader_fits(shard, *b, Caps::Configured) && tally.keeps_minimum(from, *b))
    };
    let after = |&b: &BrokerId| (tally.bytes_short(shard, b, Caps::Configured), b);
    problem.broker_ids().filter(admits).min_by_key(after)
}
