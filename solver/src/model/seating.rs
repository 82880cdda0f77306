//! Seats the shards that flow through a hub on brokers.
//!
//! The flow says how many shards of a stream enter a zone and how many each of its brokers takes, not which goes
//! where: to the objective all seats of a hub are alike. Each shard, in canonical order, takes the free seat of the
//! highest rendezvous score that is not a broker which holds it. Where only such seats are left, it swaps with a
//! shard seated before. At an optimum a seating without conflict exists: else some shard would sit where it already
//! is, which the network offers more cheaply without the hub. Short of the optimum a conflict may stay, and the
//! shard simply keeps its broker: the counts are the same and the cost is lower.
//!
//! Complexity: O(shards · brokers) per hub.

use crate::greedy::rendezvous;
use crate::snapshot::{BrokerId, Problem, ShardId};

/// Seats `shards` on `seats`, a list of brokers with a number of seats each that add up to the shards.
pub(super) fn seat(
    problem: &Problem,
    shards: &[ShardId],
    seats: &mut [(BrokerId, i64)],
) -> Vec<BrokerId> {
    let mut seated: Vec<BrokerId> = Vec::with_capacity(shards.len());
    let mut conflicts = Vec::new();
    let holds = |id: ShardId, b: BrokerId| problem.shard(id).present.holds(b);
    for (at, &id) in shards.iter().enumerate() {
        let free = seats
            .iter()
            .enumerate()
            .filter(|(_, (_, left))| *left > 0)
            .max_by_key(|(_, (b, _))| {
                let score = rendezvous::score(&problem.shard(id).id, &problem.broker(*b).id);
                (!holds(id, *b), score, std::cmp::Reverse(*b))
            })
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
