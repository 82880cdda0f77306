//! Where a leader or a follower goes that has to go somewhere: new and failed-over shards, drains, lost replicas.

use std::cmp::{Ordering, Reverse};

use super::bands::Bands;
use crate::greedy::rendezvous::Seed;
use crate::greedy::tally::{Caps, Tally};
use crate::snapshot::{BrokerId, ShardId};

/// The first test that a broker passes; the order is the order of preference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Tier {
    FloorAndShare,
    Floor,
    CeilingAndShare,
    Ceiling,
    Share,
    Room,
    /// Above a configured cap, but not above the cap in force: the least loaded first.
    Allowed(Load),
}

impl Tier {
    fn is_under_both(self) -> bool {
        matches!(self, Tier::FloorAndShare | Tier::CeilingAndShare)
    }
}

/// Count relative to share, as if one more had come; a broker of share 0 is fuller than any other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    count: i64,
    share: u32,
}

impl Ord for Load {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.share == 0 || other.share == 0 {
            return (self.share == 0, self.count).cmp(&(other.share == 0, other.count));
        }
        let scaled = |a: &Load, b: &Load| i128::from(a.count + 1) * i128::from(b.share);
        scaled(self, other).cmp(&scaled(other, self))
    }
}
impl PartialOrd for Load {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Load {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Load {}

/// Keeps the candidate of the lowest key; equal keys go by rendezvous score, computed only where it matters.
struct Best<'t, K> {
    tally: &'t Tally<'t>,
    seed: Seed,
    top: Option<(K, Reverse<u64>, BrokerId)>,
}

impl<'t, K: Ord + Copy> Best<'t, K> {
    fn new(tally: &'t Tally<'t>, shard: ShardId) -> Self {
        Best {
            tally,
            seed: Seed::of(&tally.problem.shard(shard).id),
            top: None,
        }
    }
    /// Whether a candidate of this key can't win.
    #[inline]
    fn is_beyond(&self, key: K) -> bool {
        self.top.is_some_and(|top| top.0 < key)
    }
    #[inline]
    fn offer(&mut self, key: K, broker: BrokerId) {
        if self.is_beyond(key) {
            return;
        }
        let score = self.seed.score(&self.tally.problem.broker(broker).id);
        let entry = (key, Reverse(score), broker);
        if self.top.is_none_or(|top| entry < top) {
            self.top = Some(entry);
        }
    }
    fn broker(&self) -> Option<BrokerId> {
        self.top.map(|top| top.2)
    }
}

/// Lets a live follower of a shard without a leader lead. Returns whether one could.
pub(super) fn failover(tally: &mut Tally<'_>, bands: &mut Bands, shard: ShardId) -> bool {
    bands.turn_to(tally.problem, tally.problem.shard(shard).stream);
    let best = best_promotion(tally, bands, shard);
    if let Some(to) = best {
        tally.promote(shard, to);
    }
    best.is_some()
}

/// Gives a shard that no holder can lead a leader on another broker. Where the shard has all its replicas, the one it
/// can best do without makes way. Returns whether it did.
pub(super) fn leader(tally: &mut Tally<'_>, bands: &mut Bands, shard: ShardId) -> bool {
    bands.turn_to(tally.problem, tally.problem.shard(shard).stream);
    let leaving = (tally.of(shard).followers.len() >= tally.factor(shard))
        .then(|| least_wanted(tally, shard))
        .flatten();
    let row = tally.stream_row(tally.problem.shard(shard).stream);
    let mut best = Best::new(tally, shard);
    for &b in &bands.eligible {
        let with_room = level_tier(tally, bands, b, i64::from(row[b.index()]));
        if best.is_beyond(with_room) {
            continue;
        }
        if fits_leading(tally, shard, b, leaving, Caps::Configured) {
            best.offer(with_room, b);
        } else if fits_leading(tally, shard, b, leaving, Caps::InForce) {
            best.offer(tier(tally, bands, shard, b, false), b);
        }
    }
    let Some(to) = best.broker() else {
        return false;
    };
    tally.enter(shard, to);
    tally.promote(shard, to);
    if let Some(gone) = leaving {
        tally.leave(shard, gone);
    }
    true
}

/// The follower to promote where there is no live leader: wanted brokers first, then by tier.
fn best_promotion(tally: &Tally<'_>, bands: &Bands, shard: ShardId) -> Option<BrokerId> {
    let stream = tally.problem.shard(shard).stream;
    let mut best = Best::new(tally, shard);
    for &b in &tally.of(shard).followers {
        if let Some(tier) = promotion_tier(tally, bands, shard, b) {
            best.offer((tally.problem.is_unwanted(stream, b), tier), b);
        }
    }
    best.broker()
}

/// Moves the lead off a broker that should not have it: to a follower or, where copies are allowed, with its replica
/// to another broker, whichever is under both shares, a follower before a copy. Returns whether it did.
pub(super) fn drain_leader(
    tally: &mut Tally<'_>,
    bands: &mut Bands,
    shard: ShardId,
    may_copy: bool,
) -> bool {
    let stream = tally.problem.shard(shard).stream;
    let Some(from) = tally.of(shard).leader else {
        return false;
    };
    bands.turn_to(tally.problem, stream);
    // (zones lost, over both shares, is a copy, tier)
    let mut best = Best::new(tally, shard);
    for &b in &tally.of(shard).followers {
        if tally.problem.may_enter(stream, b) && tally.leader_fits(shard, b, Caps::Configured) {
            let tier = tier(tally, bands, shard, b, true);
            best.offer((false, !tier.is_under_both(), false, tier), b);
        }
    }
    if may_copy {
        for &b in &bands.eligible {
            if fits_leading(tally, shard, b, Some(from), Caps::Configured) {
                let tier = tier(tally, bands, shard, b, true);
                let lowers = tally.lowers_zones(shard, from, b);
                best.offer((lowers, !tier.is_under_both(), true, tier), b);
            }
        }
    }
    let Some(to) = best.broker() else {
        return false;
    };
    if tally.of(shard).holds(to) {
        tally.promote(shard, to);
    } else {
        tally.relocate(shard, from, to);
    }
    true
}

/// Adds one follower, or moves the one on `leaving`: to the least loaded broker, in a zone that the shard has no
/// replica in where there is one. Only a missing follower may go above a configured cap, up to the cap in force, and
/// only where no broker has room. Returns whether it did.
pub(super) fn follower(
    tally: &mut Tally<'_>,
    bands: &mut Bands,
    shard: ShardId,
    leaving: Option<BrokerId>,
) -> bool {
    bands.turn_to(tally.problem, tally.problem.shard(shard).stream);
    // (above a configured cap, zone doubled, load)
    let mut best = Best::new(tally, shard);
    for &b in &bands.eligible {
        let has_room = tally.replica_fits(shard, b, leaving, Caps::Configured);
        if has_room || leaving.is_none() && tally.replica_fits(shard, b, None, Caps::InForce) {
            let load = Load {
                count: tally.counts.replicas[b.index()],
                share: tally.problem.broker(b).share,
            };
            let is_doubled = tally.beside(shard, b, leaving) > 0;
            best.offer((!has_room, is_doubled, load), b);
        }
    }
    let Some(to) = best.broker() else {
        return false;
    };
    tally.enter(shard, to);
    if let Some(gone) = leaving {
        tally.leave(shard, gone);
    }
    true
}

/// The follower that the shard can best do without: on an unwanted broker, then in the zone with most of its
/// replicas, then of the lowest rendezvous score.
pub(super) fn least_wanted(tally: &Tally<'_>, shard: ShardId) -> Option<BrokerId> {
    let problem = tally.problem;
    let stream = problem.shard(shard).stream;
    let seed = Seed::of(&problem.shard(shard).id);
    tally.of(shard).followers.iter().copied().min_by_key(|&b| {
        (
            !problem.is_unwanted(stream, b),
            Reverse(tally.beside(shard, b, None)),
            seed.score(&problem.broker(b).id),
            Reverse(b),
        )
    })
}

/// Tier of a follower that would lead; `None` where its leader cap in force is full.
fn promotion_tier(
    tally: &Tally<'_>,
    bands: &Bands,
    shard: ShardId,
    broker: BrokerId,
) -> Option<Tier> {
    let has_room = tally.leader_fits(shard, broker, Caps::Configured);
    if !has_room && !tally.leader_fits(shard, broker, Caps::InForce) {
        return None;
    }
    Some(tier(tally, bands, shard, broker, has_room))
}

/// Whether an eligible broker that holds no replica may take one and lead.
#[inline]
fn fits_leading(
    tally: &Tally<'_>,
    shard: ShardId,
    to: BrokerId,
    leaving: Option<BrokerId>,
    caps: Caps,
) -> bool {
    tally.leader_fits(shard, to, caps)
        && !tally.of(shard).holds(to)
        && tally.new_replica_fits(shard, to, leaving, caps)
}

#[inline]
fn tier(
    tally: &Tally<'_>,
    bands: &Bands,
    shard: ShardId,
    broker: BrokerId,
    has_room: bool,
) -> Tier {
    let stream = tally.problem.shard(shard).stream;
    if !has_room {
        return Tier::Allowed(Load {
            count: tally.counts.leaders[broker.index()],
            share: tally.problem.broker(broker).share,
        });
    }
    if !tally.may_enter(stream, broker) {
        return Tier::Room;
    }
    level_tier(tally, bands, broker, tally.stream_leaders(stream, broker))
}

/// Tier of a broker with room that may be entered and leads so many shards of the stream.
#[inline]
fn level_tier(tally: &Tally<'_>, bands: &Bands, broker: BrokerId, of_stream: i64) -> Tier {
    let at = broker.index();
    let is_under_share = tally.counts.leaders[at] < bands.cluster[at].high;
    let band = bands.of_stream(broker);
    match (of_stream < band.low, of_stream < band.high, is_under_share) {
        (true, _, true) => Tier::FloorAndShare,
        (true, _, false) => Tier::Floor,
        (false, true, true) => Tier::CeilingAndShare,
        (false, true, false) => Tier::Ceiling,
        (false, false, true) => Tier::Share,
        (false, false, false) => Tier::Room,
    }
}
