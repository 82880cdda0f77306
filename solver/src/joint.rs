//! Leaders and followers together, and loads: what no single network flow decides.
//!
//! **Method.** From a legal start:
//! 1. *Flow*: the exact leader network where leaders decide everything, else priced composite flows
//!    ([`crate::model::sets`]). Bytes, rates, balance and `max_moves` are left out: where what it finds keeps to them, it
//!    is as good as if they had been in it, and its prices bound the problem with them too.
//! 2. *Polish*: local search under every rule (`polish`), also from a flow's placement that breaks some.
//! 3. *MIP*: the whole problem where it is small, else neighbourhoods of a few shards (`neighbours`).
//! 4. *Fixed point*: the answer is planned again, and what is found is taken while it is strictly better. By the triangle
//!    inequality of copies and promotions it is then better from the first layout too.
//!
//! It ends where prices or the MIP prove the placement. What is found is legal and never worse than the start, whenever it
//! is stopped. Complexity: see the parts; each step is polled.

mod neighbours;
mod options;
mod oversized;
mod polish;
mod state;
#[cfg(test)]
mod tests;

pub use oversized::oversized;

use crate::budget::{Budget, Interrupt, Pace, Phase, Stop};
use crate::certificate::Certificate;
use crate::cost::{Cost, RANKS, evaluate_within};
use crate::greedy::{felix, swap};
use crate::hint::PriceHint;
use crate::mip::{self, Effort};
use crate::model::current;
use crate::model::leaders::{self, LeaderError};
use crate::model::sets::{self, SetError};
use crate::snapshot::{Assignment, Problem};
use crate::verify;

/// Columns up to which the whole problem is given to the MIP solver.
const WHOLE_COLUMNS_MAX: usize = 3_000;

/// Nodes of the MIP solver's search for the whole problem, a rank.
const WHOLE_NODES_MAX: u32 = 500;

/// Who found a placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finder {
    /// It is the start.
    Start,
    /// Flows and local search.
    Flow,
    /// The MIP solver.
    Mip,
}

/// What to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Method {
    /// Whether flows come first.
    pub uses_flow: bool,
    /// Whether the MIP solver comes after them.
    pub uses_mip: bool,
}

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// By shard.
    pub placement: Vec<Assignment>,
    /// Who found it.
    pub finder: Finder,
    /// Prices of the flows.
    pub certificate: Option<Certificate>,
    /// By rank what the MIP solver says no plan as good in the ranks before is below.
    pub bounds: [Option<i64>; RANKS],
    /// Why it ended early.
    pub stop: Option<Stop>,
    /// What engines refused.
    pub faults: Vec<String>,
}

/// Improves a legal placement as far as the method and the budget go. `interrupt` is what the budget polls: what was found
/// when it stops the search is judged until it stops the plan too.
pub fn solve(
    problem: &Problem,
    start: &[Assignment],
    hint: &PriceHint,
    method: Method,
    interrupt: &dyn Interrupt,
    budget: &mut Budget<'_>,
) -> Found {
    let mut search = Search::new(problem, start, method, interrupt);
    let outcome = search
        .run(hint, budget)
        .and_then(|()| search.settle(hint, budget));
    search.found.stop = search.found.stop.or(outcome.err());
    search.found
}

struct Search<'p> {
    problem: &'p Problem,
    method: Method,
    interrupt: &'p dyn Interrupt,
    /// What `found.placement` costs.
    cost: Option<Cost>,
    is_proven: bool,
    found: Found,
}

impl<'p> Search<'p> {
    fn new(
        problem: &'p Problem,
        start: &[Assignment],
        method: Method,
        interrupt: &'p dyn Interrupt,
    ) -> Self {
        Search {
            problem,
            method,
            interrupt,
            cost: None,
            is_proven: false,
            found: Found {
                placement: start.to_vec(),
                finder: Finder::Start,
                certificate: None,
                bounds: [None; RANKS],
                stop: None,
                faults: Vec::new(),
            },
        }
    }

    /// One pass of the method.
    fn run(&mut self, hint: &PriceHint, budget: &mut Budget<'_>) -> Result<(), Stop> {
        if self.method.uses_flow
            && let Some(placement) = self.flow(hint, budget)?
        {
            match self.is_legal(&placement)? {
                true => self.offer(placement, Finder::Flow)?,
                false => self.polish(placement, budget)?,
            }
        }
        if let Some(stop) = self.found.stop {
            return Err(stop);
        }
        if self.prove(budget)? {
            return Ok(());
        }
        self.polish(self.found.placement.clone(), budget)?;
        if self.method.uses_mip && !self.prove(budget)? {
            self.mip(budget)?;
        }
        Ok(())
    }

    /// The placement of the flows, which may break rules that they don't see; keeps the prices that prove most.
    fn flow(
        &mut self,
        hint: &PriceHint,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Vec<Assignment>>, Stop> {
        let start = &self.found.placement;
        let (placement, certificate, stop) = match flows(self.problem, start, hint, budget)? {
            Ok(flows) => flows,
            Err(fault) => {
                self.found.faults.push(fault);
                return Ok(None);
            }
        };
        self.found.stop = stop;
        self.found.certificate = Some(certificate);
        Ok(Some(placement))
    }

    /// Takes a legal placement where it is strictly better.
    fn offer(&mut self, placement: Vec<Assignment>, finder: Finder) -> Result<(), Stop> {
        let cost = self.cost_of(&placement)?;
        if cost < self.cost()? {
            self.found.placement = placement;
            self.found.finder = finder;
            self.cost = Some(cost);
        }
        Ok(())
    }

    fn cost_of(&self, placement: &[Assignment]) -> Result<Cost, Stop> {
        let poll = || self.interrupt.stop(Phase::Plan);
        let pace = &mut Pace::new(&poll);
        Ok(evaluate_within(self.problem, |at| &placement[at], pace)?.0)
    }

    /// What the best placement costs.
    fn cost(&mut self) -> Result<Cost, Stop> {
        match self.cost {
            Some(cost) => Ok(cost),
            None => {
                let cost = self.cost_of(&self.found.placement)?;
                self.cost = Some(cost);
                Ok(cost)
            }
        }
    }

    fn is_legal(&self, placement: &[Assignment]) -> Result<bool, Stop> {
        let poll = || self.interrupt.stop(Phase::Plan);
        let pace = &mut Pace::new(&poll);
        let checked = verify::placement::check_within(self.problem, placement, pace)?;
        Ok(checked.faults.is_empty())
    }

    /// Whether the prices at hand prove the best placement.
    fn prove(&mut self, budget: &Budget<'_>) -> Result<bool, Stop> {
        let cost = self.cost()?;
        let Some(certificate) = &self.found.certificate else {
            return Ok(false);
        };
        let bound =
            verify::bound::largest_within(self.problem, certificate, &cost, &mut budget.pace())?;
        let proven = bound.map(|bound| verify::bound::proven(&cost, &bound));
        let is_met = |proven: [Option<i64>; RANKS]| proven == cost.0.map(Some);
        self.is_proven = matches!(proven, Some(Ok(proven)) if is_met(proven));
        Ok(self.is_proven)
    }

    /// Local search from a placement, which counts if it ends in a legal one.
    fn polish(&mut self, from: Vec<Assignment>, budget: &mut Budget<'_>) -> Result<(), Stop> {
        let (placement, stop) = polish::polish(self.problem, from, budget);
        if self.is_legal(&placement)? {
            self.offer(placement, Finder::Flow)?;
        }
        stop.map_or(Ok(()), Err)
    }

    fn mip(&mut self, budget: &mut Budget<'_>) -> Result<(), Stop> {
        let start = &self.found.placement;
        let seconds_max = self.interrupt.seconds_left();
        if mip::size(self.problem, None).columns > WHOLE_COLUMNS_MAX {
            let (better, stop) = neighbours::improve(self.problem, start, seconds_max, budget);
            self.offer(better, Finder::Mip)?;
            return stop.map_or(Ok(()), Err);
        }
        let effort = Effort {
            nodes_max: Some(WHOLE_NODES_MAX),
            seconds_max,
        };
        let outcome = mip::solve(self.problem, start, None, effort, budget)?;
        self.found.bounds = outcome.bounds;
        self.is_proven = outcome.status == mip::Status::Optimal;
        // It may have been stopped before it was held against the rules.
        if outcome.stop.is_none() || self.is_legal(&outcome.placement)? {
            self.offer(outcome.placement, Finder::Mip)?;
        }
        outcome.stop.map_or(Ok(()), Err)
    }

    /// Plans the answer again while that finds something strictly better.
    fn settle(&mut self, hint: &PriceHint, budget: &mut Budget<'_>) -> Result<(), Stop> {
        while !self.is_proven && self.problem.policy.max_moves.is_none() {
            let pace = &mut budget.pace();
            let next = self.problem.after_within(&self.found.placement, pace)?;
            let start = best_start(&next, budget)?;
            let mut again = Search::new(&next, &start, self.method, self.interrupt);
            again.run(hint, budget)?;
            let placement = again.found.placement;
            let cost = self.cost_of(&placement)?;
            if cost >= self.cost()? || !self.is_legal(&placement)? {
                return Ok(());
            }
            self.offer(placement, again.found.finder)?;
        }
        Ok(())
    }
}

/// A placement, prices that prove a bound, and why there is no better one.
type Flows = (Vec<Assignment>, Certificate, Option<Stop>);

/// What the flows that suit a problem find, or what is wrong with them.
fn flows(
    problem: &Problem,
    start: &[Assignment],
    hint: &PriceHint,
    budget: &mut Budget<'_>,
) -> Result<Result<Flows, String>, Stop> {
    if leaders::applies(problem) {
        return match leaders::solve(problem, start, hint, budget) {
            Ok(found) => Ok(Ok((found.placement, found.certificate, found.stop))),
            Err(LeaderError::Stopped(stop)) => Err(stop),
            Err(LeaderError::Refused(fault)) => Ok(Err(fault)),
        };
    }
    match sets::staged(problem, &[start], budget) {
        Ok(staged) => Ok(Ok((staged.placement, staged.certificate, staged.stop))),
        Err(SetError::Stopped(stop)) => Err(stop),
        Err(error) => Ok(Err(error.to_string())),
    }
}

/// The best of the present layout, the tiers' plan, and exchanges from there.
fn best_start(problem: &Problem, budget: &mut Budget<'_>) -> Result<Vec<Assignment>, Stop> {
    let present = current::placement_within(problem, &mut budget.pace())?;
    let tiers = felix::plan(problem, budget)?;
    let cost = |placement: &[Assignment]| {
        evaluate_within(problem, |at| &placement[at], &mut budget.pace())
    };
    let better = match cost(&tiers)?.0 < cost(&present)?.0 {
        true => tiers,
        false => present,
    };
    swap::plan(problem, &better, budget)
}
