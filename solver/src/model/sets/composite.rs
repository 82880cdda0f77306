//! Leaders of least cost where each brings its best followers along.
//!
//! **Problem.** Counts of replicas have prices instead of costs and caps. Then each shard is by itself but for counts of
//! leaders, and the best followers for each of its leaders are found by `choices`. So one flow over the counts of leaders
//! is the exact optimum at these prices: a lower bound on the joint problem with the prices' part in counts of replicas
//! added, whatever the prices, and leaders that know of their followers.
//!
//! **Arcs.** A shard has arcs of its own to brokers that hold it, and one to each hub, at the cost of the best
//! followers where the leader's broker might be one of them. In a zone's best set a broker of the zone may follow; as
//! a leader there it costs more, and has an arc of its own where that is so. The leader's own price as a replica is part
//! of an own arc; by way of a hub the seat charges it.
//!
//! **Decoupled.** Where counts of replicas cost nothing and have no caps, prices of zero are right, and the result is the
//! joint optimum.

use super::choices::{Best, Choices};
use super::lead::{Choice, Offers, lead};
use super::parcels::{POLL_SHARDS, sum};
use super::prices::joined;
use super::{SetError, Solution, is_decided};
use crate::budget::Budget;
use crate::certificate::RankPrices;
use crate::cost::Cost;
use crate::model::current;
use crate::snapshot::{Assignment, BrokerId, Limits, Problem, ShardId, StreamId, ZoneId};

/// Whether replicas are decided and no count of them costs anything or has a cap, so that [`composite`] without prices
/// is the joint optimum in all ranks but 4, 5 and 12.
pub fn is_decoupled(problem: &Problem) -> bool {
    let in_force = &problem.limits.in_force;
    let mut caps = in_force.replicas.iter().chain(&in_force.zone_replicas);
    is_decided(problem)
        && problem.policy.stream_replicas.is_none()
        && problem.policy.cluster_replicas.is_none()
        && caps.all(|&cap| cap == Limits::NONE)
}

/// Finds leaders of least cost at prices of replicas, with the followers that each shard by itself wants most; of
/// followers that cost the same, those of `prefer`.
///
/// `start` is admissible, and its leaders are the first flow. Leaders of the result keep all caps on leaders; replicas
/// may break theirs, and [`super::followers`] is to follow. The prices are those of leaders and replicas.
///
/// Ranks 4, 5 and 12, and `max_moves`, are not looked at.
///
/// # Errors
/// Where prices are too large, the budget stops the build of the network, or the network is refused.
///
/// Complexity: O(shards · (zones + R) · R²) choices of followers, R the replication factor; then a flow of
/// O(shards · (zones + R) + streams · brokers) arcs.
pub fn composite(
    problem: &Problem,
    replica_prices: &[RankPrices],
    prefer: &[Assignment],
    start: &[Assignment],
    budget: &mut Budget<'_>,
) -> Result<Solution, SetError> {
    if !is_decided(problem) {
        return Ok(Solution::of_start(start));
    }
    let mut composite = Composite {
        problem,
        choices: Choices::new(problem, replica_prices)?,
        prefer,
    };
    let leaders = lead(problem, &mut composite, start, budget)?;
    let mut placement = start.to_vec();
    let mut open = None;
    for (at, &(id, leader)) in leaders.of.iter().enumerate() {
        if at % POLL_SHARDS == 0 {
            budget.poll()?;
        }
        let stream = problem.shard(id).stream;
        if open != Some(stream) {
            composite.choices.open_stream(stream);
            open = Some(stream);
        }
        if let Some(best) = composite.best(id, leader) {
            let followers = best.followers.to_vec();
            placement[id.index()] = current::with_lost(problem, id, leader, followers);
        }
    }
    Ok(Solution {
        placement,
        prices: joined(problem, &leaders.prices, replica_prices),
        stop: leaders.stop,
    })
}

struct Composite<'a> {
    problem: &'a Problem,
    choices: Choices<'a>,
    prefer: &'a [Assignment],
}

impl Composite<'_> {
    fn best(&mut self, id: ShardId, leader: Option<BrokerId>) -> Option<Best> {
        self.choices.open_shard(id, &self.prefer[id.index()]);
        match leader {
            Some(b) => self.choices.led(b),
            None => self.choices.leaderless(),
        }
    }

    /// Offers a zone, and its brokers that would follow and cost more as leaders.
    fn offer_zone(&self, z: ZoneId, offers: &mut Vec<(Choice, Cost)>) {
        let choices = &self.choices;
        let Some(of_zone) = choices.led_in(z) else {
            return;
        };
        let is_dearer = |b: BrokerId, led: &Best| {
            let by_hub = sum(&of_zone.cost, choices.price(b));
            (led.cost != by_hub).then_some((Choice::Broker(b), led.cost))
        };
        let followers = of_zone.followers.iter().copied();
        let new = followers.filter(|&b| choices.is_newcomer(b) && self.problem.zone_of(b) == z);
        let own = new.filter_map(|b| is_dearer(b, &choices.led(b)?));
        let before = offers.len();
        offers.extend(own);
        if choices.newcomers(z) > offers.len() - before {
            offers.push((Choice::Zone(z), of_zone.cost));
        }
    }
}

impl Offers for Composite<'_> {
    fn open_stream(&mut self, s: StreamId) {
        self.choices.open_stream(s);
    }

    fn seat(&self, b: BrokerId) -> Cost {
        *self.choices.price(b)
    }

    fn offer(&mut self, id: ShardId, offers: &mut Vec<(Choice, Cost)>) {
        let problem = self.problem;
        let shard = problem.shard(id);
        self.choices.open_shard(id, &self.prefer[id.index()]);
        for b in problem.live(&shard.present) {
            if let Some(led) = self.choices.led(b) {
                offers.push((Choice::Broker(b), led.cost));
            }
        }
        for z in (0..problem.zones.len()).map(ZoneId::at) {
            self.offer_zone(z, offers);
        }
        if problem.live_leader(shard).is_none()
            && let Some(none) = self.choices.leaderless()
        {
            offers.push((Choice::Nobody, none.cost));
        }
    }
}
