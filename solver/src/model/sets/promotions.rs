//! Who leads, where every replica stays where a placement has it.
//!
//! Exact in every rank but 4, 5 and 12: with the sets fixed, no other leaders cost less. Costs are those of the whole
//! plan, so a leader that was put on a new broker is a copy there, whoever leads in the end.

use super::lead::{Choice, Offers, lead};
use super::{SetError, Solution, is_decided};
use crate::budget::Budget;
use crate::cost::{Cost, evaluate_within, shard_cost};
use crate::model::current;
use crate::snapshot::{Assignment, BrokerId, Problem, ShardId, StreamId};

/// Improves the leaders of an admissible placement to the optimum for its sets, or as far as the budget goes; the
/// result is never worse than `start`. The prices are those of leaders.
///
/// Ranks 4, 5 and 12, and `max_moves`, are not looked at: a plan may break a capacity for rates.
///
/// # Errors
/// Where the budget stops the build of the network, or the network is refused.
///
/// Complexity: O(shards · R + streams · brokers) arcs, R the replication factor; then the simplex.
pub fn promotions(
    problem: &Problem,
    start: &[Assignment],
    budget: &mut Budget<'_>,
) -> Result<Solution, SetError> {
    if !is_decided(problem) {
        return Ok(Solution::of_start(start));
    }
    let mut sets = Sets { problem, start };
    let leaders = lead(problem, &mut sets, start, budget)?;
    let mut placement = start.to_vec();
    for &(id, leader) in &leaders.of {
        placement[id.index()] = sets.led_by(id, leader);
    }
    if leaders.stop.is_some() {
        // A sweep over streams that is cut short may leave the counts worse than they were.
        let pace = &mut budget.pace();
        let mut cost = |of: &[Assignment]| evaluate_within(problem, |at| &of[at], pace);
        if cost(&placement)?.0 > cost(start)?.0 {
            placement = start.to_vec();
        }
    }
    Ok(Solution {
        placement,
        prices: leaders.prices,
        stop: leaders.stop,
    })
}

struct Sets<'a> {
    problem: &'a Problem,
    start: &'a [Assignment],
}

impl Sets<'_> {
    fn led_by(&self, id: ShardId, leader: Option<BrokerId>) -> Assignment {
        let live = self.problem.live(&self.start[id.index()]);
        let mut followers: Vec<BrokerId> = live.filter(|&b| Some(b) != leader).collect();
        followers.sort_unstable();
        current::with_lost(self.problem, id, leader, followers)
    }

    /// Whether the shard may go without a leader and keep its whole set.
    fn may_be_leaderless(&self, id: ShardId) -> bool {
        let problem = self.problem;
        let shard = problem.shard(id);
        let replicas = problem.live(&self.start[id.index()]).count();
        let factor = problem.replication_factor(shard.stream) as usize;
        let kept = factor.min(problem.live(&shard.present).count());
        problem.live_leader(shard).is_none() && replicas <= kept.max(factor - 1)
    }
}

impl Offers for Sets<'_> {
    fn open_stream(&mut self, _: StreamId) {}

    fn seat(&self, _: BrokerId) -> Cost {
        Cost::default()
    }

    fn offer(&mut self, id: ShardId, offers: &mut Vec<(Choice, Cost)>) {
        let problem = self.problem;
        let cost = |leader| shard_cost(problem, id, &self.led_by(id, leader));
        for b in problem.live(&self.start[id.index()]) {
            offers.push((Choice::Broker(b), cost(Some(b))));
        }
        if self.may_be_leaderless(id) {
            offers.push((Choice::Nobody, cost(None)));
        }
    }
}
