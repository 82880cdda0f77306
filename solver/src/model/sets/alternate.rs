//! Leaders and followers in stages.
//!
//! **Method.** Leaders and followers together are not one flow. (1) The set flow of all replicas gives prices of replicas
//! and sets. (2) The composite flow finds leaders at these prices. (3) Followers for them. (4) Leaders among their
//! replicas and followers for them in turn, while that is strictly better. (5) The prices of the followers' flow lead back
//! to (2), twice at most. (6) Where the best is not proven then, some rounds more at prices averaged over the rounds:
//! those of one round alone send all shards to where few were the round before. Each stage is the exact optimum of what it decides, and the best placement that was seen is
//! kept, so the result is no worse than any start. Prices of each composite flow prove a bound; where the best meets it,
//! the stages end.
//!
//! Where counts of replicas are of no account, the composite flow alone is the joint optimum.

use super::composite::{composite, is_decoupled};
use super::followers::followers;
use super::prices::averaged;
use super::promotions::promotions;
use super::union::union;
use super::{SetError, Solution, is_decided};
use crate::budget::{Budget, Stop};
use crate::certificate::{Certificate, RankPrices};
use crate::cost::{Cost, evaluate_within};
use crate::snapshot::{Assignment, Counts, Limits, Problem};
use crate::verify::bound::{Bound, bound_within};

/// Composite flows after the first, each at the prices of the followers before.
const REPRICED_MAX: usize = 2;

/// Composite flows after these, at prices averaged over all rounds.
const AVERAGED_MAX: i64 = 6;

/// What the stages come to.
pub struct Staged {
    /// By shard.
    pub placement: Vec<Assignment>,
    /// Prices of leaders and replicas that prove the best bound of those that were found; none where none were.
    pub certificate: Certificate,
    /// Why the stages ended early.
    pub stop: Option<Stop>,
}

/// Improves admissible placements, of which there is one at least; the result costs no more than any of them.
///
/// Ranks 4, 5 and 12, and `max_moves`, are not looked at by any stage, but placements are compared in all ranks: a
/// result other than a start may break the rules on bytes, rates and moves.
///
/// # Errors
/// Where a network is refused.
///
/// Complexity: that of a set flow, nine composite flows with followers for each, and the alternation of followers and promotions,
/// each round of which is strictly better than the one before.
pub fn staged(
    problem: &Problem,
    starts: &[&[Assignment]],
    budget: &mut Budget<'_>,
) -> Result<Staged, SetError> {
    let mut stages = Stages {
        problem,
        best: None,
        bound: None,
    };
    let stop = match stages.run(starts, budget) {
        Ok(()) => None,
        Err(SetError::Stopped(stop)) => Some(stop),
        Err(error) => return Err(error),
    };
    let placement = match stages.best {
        Some((_, placement)) => placement,
        None => starts.first().map_or_else(Vec::new, |start| start.to_vec()),
    };
    Ok(Staged {
        placement,
        certificate: stages.bound.map_or_else(Certificate::default, |of| of.1),
        stop,
    })
}

struct Stages<'p> {
    problem: &'p Problem,
    best: Option<(Cost, Vec<Assignment>)>,
    bound: Option<(Bound, Certificate)>,
}

impl Stages<'_> {
    fn run(&mut self, starts: &[&[Assignment]], budget: &mut Budget<'_>) -> Result<(), SetError> {
        let problem = self.problem;
        for start in starts {
            self.consider(start, budget)?;
        }
        if !is_decided(problem) || starts.is_empty() {
            return Ok(());
        }
        if is_decoupled(problem) {
            let led = self.lead(&[], &self.best(), budget)?;
            self.consider(&led.placement, budget)?;
            return ended(led.stop);
        }
        let sets = union(problem, &self.best(), budget)?;
        ended(sets.stop)?;
        let (first, mut prefer) = (sets.prices, sets.placement);
        let mut prices = first.clone();
        for _ in 0..=REPRICED_MAX {
            let led = self.lead(&prices, &prefer, budget)?;
            ended(led.stop)?;
            let Some(following) = self.follow(&led.placement, budget)? else {
                break;
            };
            let is_better = self.consider(&following.placement, budget)?;
            prices = self.alternate(following, budget)?;
            if self.is_proven() {
                return Ok(());
            }
            if !is_better {
                break;
            }
            prefer = self.best();
        }
        self.average(&first, prices, budget)?;
        if let Some(following) = self.follow(&self.best(), budget)? {
            self.alternate(following, budget)?;
        }
        Ok(())
    }

    /// Rounds at the average of the prices so far: of the set flow, of the followers after it, and of each round here.
    fn average(
        &mut self,
        first: &[RankPrices],
        followers: Vec<RankPrices>,
        budget: &mut Budget<'_>,
    ) -> Result<(), SetError> {
        let mut prices = averaged(first, 1, &followers, 1);
        for round in 2..2 + AVERAGED_MAX {
            let led = self.lead(&prices, &self.best(), budget)?;
            ended(led.stop)?;
            let Some(following) = self.follow(&led.placement, budget)? else {
                break;
            };
            self.consider(&following.placement, budget)?;
            if self.is_proven() {
                break;
            }
            prices = averaged(&prices, round, &following.prices, 1);
        }
        Ok(())
    }

    /// Keeps a placement that is strictly better than the best. Returns whether it is.
    fn consider(
        &mut self,
        placement: &[Assignment],
        budget: &Budget<'_>,
    ) -> Result<bool, SetError> {
        let cost = self.cost_of(placement, budget)?;
        let is_better = self.best.as_ref().is_none_or(|best| cost < best.0);
        if is_better {
            self.best = Some((cost, placement.to_vec()));
        }
        Ok(is_better)
    }

    fn cost_of(&self, placement: &[Assignment], budget: &Budget<'_>) -> Result<Cost, SetError> {
        let of = |at: usize| &placement[at];
        Ok(evaluate_within(self.problem, of, &mut budget.pace())?.0)
    }

    fn best(&self) -> Vec<Assignment> {
        let best = self.best.as_ref();
        best.map_or_else(Vec::new, |best| best.1.clone())
    }

    /// Whether some prices prove that nothing costs less than the best.
    fn is_proven(&self) -> bool {
        match (&self.best, &self.bound) {
            (Some((cost, _)), Some((bound, _))) => cost.0.map(i128::from) == bound.0,
            _ => false,
        }
    }

    /// Leaders at prices of replicas, and what their prices prove.
    fn lead(
        &mut self,
        prices: &[RankPrices],
        prefer: &[Assignment],
        budget: &mut Budget<'_>,
    ) -> Result<Solution, SetError> {
        let mut led = composite(self.problem, prices, prefer, &self.best(), budget)?;
        let ranks = std::mem::take(&mut led.prices);
        let certificate = Certificate { ranks };
        let bound = bound_within(self.problem, &certificate, &mut budget.pace())?;
        let known = self.bound.as_ref().map(|of| of.0);
        if let Some(bound) = bound.filter(|bound| known.is_none_or(|known| known < *bound)) {
            self.bound = Some((bound, certificate));
        }
        Ok(led)
    }

    /// The best followers for the leaders of a placement; none where none keep the caps.
    fn follow(
        &self,
        placement: &[Assignment],
        budget: &mut Budget<'_>,
    ) -> Result<Option<Solution>, SetError> {
        match followers(self.problem, placement, budget) {
            Ok(solution) if keeps_caps(self.problem, &solution.placement) => Ok(Some(solution)),
            Ok(solution) => ended(solution.stop).map(|()| None),
            Err(SetError::Infeasible) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Leaders and followers in turn while that is strictly better, from the best followers of some leaders. Returns prices
    /// of replicas with the last followers.
    fn alternate(
        &mut self,
        mut following: Solution,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<RankPrices>, SetError> {
        loop {
            self.consider(&following.placement, budget)?;
            ended(following.stop)?;
            let cost = self.cost_of(&following.placement, budget)?;
            let led = promotions(self.problem, &following.placement, budget)?;
            if self.cost_of(&led.placement, budget)? >= cost {
                return ended(led.stop).map(|()| following.prices);
            }
            self.consider(&led.placement, budget)?;
            ended(led.stop)?;
            match self.follow(&led.placement, budget)? {
                Some(next) => following = next,
                None => return Ok(following.prices),
            }
        }
    }
}

/// A stop as an error.
fn ended(stop: Option<Stop>) -> Result<(), SetError> {
    stop.map_or(Ok(()), |stop| Err(SetError::Stopped(stop)))
}

/// Whether a placement keeps the caps on replicas in force.
fn keeps_caps(problem: &Problem, placement: &[Assignment]) -> bool {
    let mut counts = Counts::zero(problem.brokers.len(), problem.zones.len());
    for assignment in placement {
        counts.add(&problem.brokers, assignment, 1);
    }
    let in_force = &problem.limits.in_force;
    let caps = in_force.replicas.iter().chain(&in_force.zone_replicas);
    let counts = counts.replicas.iter().chain(&counts.zone_replicas);
    caps.zip(counts)
        .all(|(&cap, &count)| cap == Limits::NONE || count <= cap)
}
