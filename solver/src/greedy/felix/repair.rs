//! What has to be done: leaders for shards without one, surplus, missing followers, drains, broken rules.

use std::cmp::Reverse;

use super::bands::Bands;
use super::place;
use super::room::Room;
use crate::budget::Stop;
use crate::greedy::tally::{LOOKUP, Pace, Tally};
use crate::snapshot::{BrokerId, Role, ShardId};

/// The shards that something has to be done about, in canonical order; where bytes or rates are limited, the largest
/// first, since small ones still fit into what large ones leave.
pub(super) struct Repair {
    pending: Vec<ShardId>,
}

impl Repair {
    pub(super) fn new(tally: &Tally<'_>, pace: &mut Pace<'_, '_>) -> Result<Self, Stop> {
        let mut pending = Vec::new();
        for id in tally.problem.shard_ids() {
            pace.step(LOOKUP)?;
            if !tally.problem.shard(id).is_pinned && is_amiss(tally, id) {
                pending.push(id);
            }
        }
        if tally.limits_loads() {
            pending.sort_by_key(|&id| {
                let shard = tally.problem.shard(id);
                Reverse((shard.size_bytes, shard.rate))
            });
        }
        Ok(Repair { pending })
    }

    /// Does what can be done now, the more important first, each walk in the order of the shards. Returns whether
    /// anything was done.
    ///
    /// Every deed lowers (leaderless shards, missing followers, surplus, unwanted replicas and leads, replicas above
    /// `max_replicas_per_zone`), compared in this order, so repeating it comes to an end.
    pub(super) fn run(
        &mut self,
        tally: &mut Tally<'_>,
        bands: &mut Bands,
        pace: &mut Pace<'_, '_>,
    ) -> Result<bool, Stop> {
        let brokers = tally.problem.brokers.len();
        let mut has_changed = false;
        let mut room = Room::default();
        for walk in WALKS {
            if tally.keeps_replicas() && !walk.is_for_leadership_only {
                continue;
            }
            for &id in &self.pending {
                pace.step(LOOKUP)?;
                while (walk.is_due)(tally, id) {
                    pace.step(4 * brokers)?;
                    if !(walk.attempt)(tally, bands, id) {
                        let has_room = match walk.room {
                            Some(role) => room.make(tally, bands, id, role, pace)?,
                            None => false,
                        };
                        if !(has_room && (walk.attempt)(tally, bands, id)) {
                            break;
                        }
                    }
                    has_changed = true;
                }
            }
        }
        self.pending.retain(|&id| is_amiss(tally, id));
        Ok(has_changed)
    }
}

/// One walk over the shards: which need it, and the deed.
struct Walk {
    is_for_leadership_only: bool,
    is_due: fn(&Tally<'_>, ShardId) -> bool,
    attempt: fn(&mut Tally<'_>, &mut Bands, ShardId) -> bool,
    /// What the deed adds, where others may be moved out of its way.
    room: Option<Role>,
}

/// Promotions come before new leaders, because only few brokers can take them; surplus goes early, because it makes
/// room.
const WALKS: [Walk; 6] = [
    Walk {
        is_for_leadership_only: true,
        is_due: is_leaderless,
        attempt: place::failover,
        room: None,
    },
    Walk {
        is_for_leadership_only: false,
        is_due: has_surplus,
        attempt: drop_one,
        room: None,
    },
    Walk {
        is_for_leadership_only: false,
        is_due: is_leaderless,
        attempt: place::leader,
        room: Some(Role::Leader),
    },
    Walk {
        is_for_leadership_only: false,
        is_due: |tally, id| tally.followers_missing(id) > 0,
        attempt: |tally, bands, id| place::follower(tally, bands, id, None),
        room: Some(Role::Follower),
    },
    Walk {
        is_for_leadership_only: true,
        is_due: is_led_unwanted,
        attempt: |tally, bands, id| {
            let may_copy = !tally.keeps_replicas();
            place::drain_leader(tally, bands, id, may_copy)
        },
        room: None,
    },
    Walk {
        is_for_leadership_only: false,
        is_due: has_misplaced_follower,
        attempt: replace_follower,
        room: None,
    },
];

fn is_amiss(tally: &Tally<'_>, id: ShardId) -> bool {
    is_leaderless(tally, id)
        || is_led_unwanted(tally, id)
        || !tally.keeps_replicas()
            && (has_surplus(tally, id)
                || tally.followers_missing(id) > 0
                || has_misplaced_follower(tally, id))
}

fn is_leaderless(tally: &Tally<'_>, id: ShardId) -> bool {
    tally.of(id).leader.is_none()
}

fn is_led_unwanted(tally: &Tally<'_>, id: ShardId) -> bool {
    let stream = tally.problem.shard(id).stream;
    tally
        .of(id)
        .leader
        .is_some_and(|b| tally.problem.is_unwanted(stream, b))
}

fn has_surplus(tally: &Tally<'_>, id: ShardId) -> bool {
    tally.of(id).replicas().count() > tally.factor(id)
}

/// Drops the replica that the shard can best do without; the leader's own where a follower can lead in its place.
fn drop_one(tally: &mut Tally<'_>, bands: &mut Bands, id: ShardId) -> bool {
    if is_led_unwanted(tally, id) {
        place::drain_leader(tally, bands, id, false);
    }
    let Some(gone) = place::least_wanted(tally, id) else {
        return false;
    };
    tally.leave(id, gone);
    true
}

fn has_misplaced_follower(tally: &Tally<'_>, id: ShardId) -> bool {
    let followers = &tally.of(id).followers;
    followers.iter().any(|&b| is_misplaced(tally, id, b))
}

/// Whether a follower there is unwanted or above the zone rule.
fn is_misplaced(tally: &Tally<'_>, id: ShardId, broker: BrokerId) -> bool {
    let limit = tally.problem.policy.max_replicas_per_zone;
    tally
        .problem
        .is_unwanted(tally.problem.shard(id).stream, broker)
        || limit.is_some_and(|limit| tally.beside(id, broker, None) > limit as usize)
}

/// Replaces one follower on an unwanted broker, else one above the zone rule.
fn replace_follower(tally: &mut Tally<'_>, bands: &mut Bands, id: ShardId) -> bool {
    let stream = tally.problem.shard(id).stream;
    let followers = tally.of(id).followers.clone();
    let (unwanted, wanted): (Vec<BrokerId>, Vec<BrokerId>) = followers
        .into_iter()
        .filter(|&b| is_misplaced(tally, id, b))
        .partition(|&b| tally.problem.is_unwanted(stream, b));
    unwanted
        .into_iter()
        .chain(wanted)
        .any(|b| place::follower(tally, bands, id, Some(b)))
}
