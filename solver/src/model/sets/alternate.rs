//! Leaders and followers in stages.
//!
//! **Method.** Leaders and followers together are not one flow. (1) The set flow of all replicas gives prices of replicas
//! and sets. (2) The composite flow finds leaders at these prices. (3) Followers for them. (4) Leaders among their
//! replicas and followers for them in turn, while that is strictly better. (5) The prices of the followers' flow lead back
//! to (2), twice at most. Each stage is the exact optimum of what it decides, and the best placement that was seen is
//! kept; so the result is no worse than any start, and none of the last two stages alone improves it.
//!
//! Where counts of replicas are of no account, the composite flow alone is the joint optimum.

use super::composite::{composite, is_decoupled};
use super::followers::followers;
use super::promotions::promotions;
use super::union::union;
use super::{SetError, Solution, is_decided};
use crate::budget::{Budget, Stop};
use crate::certificate::{Certificate, RankPrices};
use crate::cost::{Cost, evaluate};
use crate::snapshot::{Assignment, Counts, Limits, Problem};

/// Composite flows after the first.
const REPRICED_MAX: usize = 2;

/// What the stages come to.
pub struct Staged {
    /// By shard.
    pub placement: Vec<Assignment>,
    /// Its cost.
    pub cost: Cost,
    /// Prices of leaders and replicas of each composite flow that came to its end, the last one last. Each proves a bound.
    pub certificates: Vec<Certificate>,
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
/// Complexity: that of up to three set flows, three composite flows, and the alternation of followers and promotions,
/// each round of which is strictly better than the one before.
pub fn staged(
    problem: &Problem,
    starts: &[&[Assignment]],
    budget: &mut Budget<'_>,
) -> Result<Staged, SetError> {
    let mut stages = Stages {
        problem,
        best: None,
        certificates: Vec::new(),
    };
    for start in starts {
        stages.consider(start);
    }
    let stop = match stages.run(budget) {
        Ok(()) => None,
        Err(SetError::Stopped(stop)) => Some(stop),
        Err(error) => return Err(error),
    };
    let (cost, placement) = stages.best.unwrap_or_default();
    Ok(Staged {
        placement,
        cost,
        certificates: stages.certificates,
        stop,
    })
}

struct Stages<'p> {
    problem: &'p Problem,
    best: Option<(Cost, Vec<Assignment>)>,
    certificates: Vec<Certificate>,
}

impl Stages<'_> {
    /// Keeps a placement that is strictly better than the best; whether it is.
    fn consider(&mut self, placement: &[Assignment]) -> bool {
        let cost = evaluate(self.problem, placement).0;
        let is_better = self.best.as_ref().is_none_or(|best| cost < best.0);
        if is_better {
            self.best = Some((cost, placement.to_vec()));
        }
        is_better
    }

    fn best(&self) -> Vec<Assignment> {
        self.best
            .as_ref()
            .map_or_else(Vec::new, |best| best.1.clone())
    }

    fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), SetError> {
        let problem = self.problem;
        if !is_decided(problem) || self.best.is_none() {
            return Ok(());
        }
        if is_decoupled(problem) {
            let start = self.best();
            let led = self.lead(&[], &start, budget)?;
            self.consider(&led.placement);
            return ended(led.stop);
        }
        let sets = union(problem, &self.best(), budget)?;
        ended(sets.stop)?;
        let (mut prices, mut prefer) = (sets.prices, sets.placement);
        for _ in 0..=REPRICED_MAX {
            let led = self.lead(&prices, &prefer, budget)?;
            ended(led.stop)?;
            let Some(following) = self.follow(&led.placement, budget)? else {
                break;
            };
            let is_better = self.consider(&following.placement);
            prices = self.alternate(following, budget)?;
            prefer = self.best();
            if !is_better {
                break;
            }
        }
        let start = self.best();
        if let Some(following) = self.follow(&start, budget)? {
            self.alternate(following, budget)?;
        }
        Ok(())
    }

    fn lead(
        &mut self,
        prices: &[RankPrices],
        prefer: &[Assignment],
        budget: &mut Budget<'_>,
    ) -> Result<Solution, SetError> {
        let mut led = composite(self.problem, prices, prefer, &self.best(), budget)?;
        if led.stop.is_none() {
            let ranks = std::mem::take(&mut led.prices);
            self.certificates.push(Certificate { ranks });
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

    /// Leaders and followers in turn while that is strictly better, from best followers. Returns prices of replicas of the
    /// last of them.
    fn alternate(
        &mut self,
        mut following: Solution,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<RankPrices>, SetError> {
        let mut cost = evaluate(self.problem, &following.placement).0;
        loop {
            self.consider(&following.placement);
            ended(following.stop)?;
            let led = promotions(self.problem, &following.placement, budget)?;
            self.consider(&led.placement);
            ended(led.stop)?;
            let promoted = evaluate(self.problem, &led.placement).0;
            if promoted >= cost {
                return Ok(following.prices);
            }
            let Some(next) = self.follow(&led.placement, budget)? else {
                return Ok(following.prices);
            };
            following = next;
            let followed = evaluate(self.problem, &following.placement).0;
            if followed >= promoted {
                self.consider(&following.placement);
                return Ok(following.prices);
            }
            cost = followed;
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
