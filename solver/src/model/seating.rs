//! Seats the shards that flow through a hub on brokers.
//!
//! The flow says how many shards of a stream enter a zone and how many each of its brokers takes, not which goes
//! where: to the objective all seats of a hub are alike. Each shard, in canonical order, takes the free seat of the
//! highest rendezvous score that is not a broker which holds it. Where only such seats are left, it swaps with a
//! shard seated before. At an optimum a seating without conflict exists: else some shard would sit where it already
//! is, which the network offers more cheaply without the hub. Short of the optimum a conflict may stay, and the
//! shard simply keeps its broker: the counts are the same and the cost is lower.
//!
//! The shards that go elsewhere take a zone each in the same way before, of which only those count that hold none of
//! the shard's replicas.
//!
//! Complexity: O(shards · seats) per hub.

use crate::snapshot::ShardId;

/// Seats `shards` on `seats`, each with a number of places that add up to the shards.
///
/// Of the seats with a place left a shard takes the one that `score` puts highest among those it doesn't hold.
pub(super) fn seat<S: Copy + Ord, K: Ord>(
    shards: &[ShardId],
    seats: &mut [(S, i64)],
    holds: impl Fn(ShardId, S) -> bool,
    score: impl Fn(ShardId, S) -> K,
) -> Vec<S> {
    let mut seated: Vec<S> = Vec::with_capacity(shards.len());
    let mut conflicts = Vec::new();
    for (at, &id) in shards.iter().enumerate() {
        let free = seats
            .iter()
            .enumerate()
            .filter(|(_, (_, left))| *left > 0)
            .max_by_key(|(_, (s, _))| (!holds(id, *s), score(id, *s), std::cmp::Reverse(*s)))
            .map(|(seat, _)| seat);
        let Some(seat) = free else { break };
        seats[seat].1 -= 1;
        seated.push(seats[seat].0);
        if holds(id, seats[seat].0) {
            conflicts.push(at);
        }
    }
    for at in conflicts {
        let own = seated[at];
        let partner = (0..seated.len())
            .find(|&other| !holds(shards[at], seated[other]) && !holds(shards[other], own));
        if let Some(other) = partner {
            seated.swap(at, other);
        }
    }
    seated
}
