//! Rank after rank: which are proven at sight, which are one run of HiGHS, and what a run proves.

use std::sync::Arc;

use crate::budget::{Budget, Stop};
use crate::cost::{Cost, RANKS, Rank};

use super::build::Model;
use super::program::{Program, Row, Terms, sum};
use super::worker::{self, Claim, Failure, Job};
use super::{Effort, Status};

/// Furthest that ranks which are minimised as one may reach: a bound within a millionth of a millionth of that is exact.
const MERGED_MAX: i128 = 1 << 24;

/// Work charged per entry of the matrix for each run.
const WORK_PER_ENTRY: u64 = 64;

/// Solutions in a row that hold only up to HiGHS's tolerance: each is ruled out, and HiGHS is asked again.
const REFUSED_MAX: usize = 8;

/// A solution: the value of every column, and its cost.
#[derive(Clone)]
pub(super) struct Best {
    pub(super) values: Vec<i64>,
    pub(super) cost: Cost,
}

/// What a search found.
pub(super) struct Found {
    pub(super) best: Best,
    pub(super) bounds: [Option<i64>; RANKS],
    pub(super) stop: Option<Stop>,
    is_busy: bool,
}

impl Found {
    pub(super) fn status(&self) -> Status {
        let is_proven = |rank: Rank| self.bounds[rank as usize] == Some(self.best.cost[rank]);
        match Rank::ALL.into_iter().all(is_proven) {
            true => Status::Optimal,
            false if self.is_busy => Status::Busy,
            false => Status::Feasible,
        }
    }
}

/// Minimises the ranks in order, from a legal solution.
pub(super) fn minimise(
    model: &Model,
    start: Best,
    effort: Effort,
    budget: &mut Budget<'_>,
) -> Found {
    let program = Arc::clone(&model.program);
    let constants =
        Rank::ALL.map(|rank| i128::from(start.cost[rank]) - sum(program.goal(rank), &start.values));
    let search = Search {
        program,
        constants,
        reaches: model.reaches,
        effort,
        frozen: Vec::new(),
        is_proving: true,
        found: Found {
            best: start,
            bounds: [None; RANKS],
            stop: None,
            is_busy: false,
        },
    };
    search.run(budget)
}

struct Search {
    program: Arc<Program>,
    /// By rank, what a solution costs beyond its goal.
    constants: [i128; RANKS],
    /// By rank, how much two solutions may differ at most.
    reaches: [i128; RANKS],
    effort: Effort,
    /// Keeps the ranks done at their values, and rules out what HiGHS takes for legal.
    frozen: Vec<Row>,
    /// All ranks until now are proven.
    is_proving: bool,
    found: Found,
}

impl Search {
    fn run(mut self, budget: &mut Budget<'_>) -> Found {
        let mut at = 0;
        while at < RANKS {
            let rank = Rank::ALL[at];
            if self.found.best.cost[rank] <= self.floor(rank) {
                if self.is_proving {
                    self.found.bounds[at] = Some(self.found.best.cost[rank]);
                }
                self.freeze(rank);
                at += 1;
                continue;
            }
            let group = self.group(at);
            if let Err(failure) = self.improve(&group, budget) {
                self.found.is_busy = matches!(failure, Failure::Busy);
                self.found.stop = Some(match failure {
                    Failure::Stopped(reason) => reason,
                    // Which runs linger is decided by clocks.
                    Failure::Busy => Stop::TimeBudget,
                });
                break;
            }
            group.ranks.iter().for_each(|&rank| self.freeze(rank));
            at += group.ranks.len();
        }
        self.found
    }

    /// No solution costs less in the rank.
    fn floor(&self, rank: Rank) -> i64 {
        let widths = self.program.widths();
        let least = |&(column, by): &(super::program::Column, i64)| {
            i128::from(by.min(0)) * i128::from(widths[column.index()])
        };
        let sum: i128 = self.program.goal(rank).iter().map(least).sum();
        match self.program.decisions() {
            0 => self.found.best.cost[rank],
            _ => (self.constants[rank as usize] + sum).max(0) as i64,
        }
    }

    /// Keeps the rank at its value. One that nothing enters keeps it anyway.
    fn freeze(&mut self, rank: Rank) {
        let goal = self.program.goal(rank);
        if !goal.is_empty() {
            let most = sum(goal, &self.found.best.values);
            let row = Row::at_most(goal.clone(), most as i64); // within i64: it is a cost less a constant
            self.frozen.push(row);
        }
    }

    /// The ranks that are minimised as one with the one at `first`.
    fn group(&self, first: usize) -> Group {
        let mut group = Group {
            ranks: vec![Rank::ALL[first]],
            factors: vec![1],
            reach: self.reaches[first],
        };
        for &rank in &Rank::ALL[first + 1..] {
            let Some(wider) = group.with(rank, self.reaches[rank as usize]) else {
                break;
            };
            group = wider;
        }
        group
    }

    /// Runs HiGHS on a group, takes over what is better, and notes what is proven.
    fn improve(&mut self, group: &Group, budget: &mut Budget<'_>) -> Result<(), Failure> {
        let goal = group.goal(&self.program);
        let mut claim = self.run_once(&goal, budget)?;
        for _ in 0..REFUSED_MAX {
            let refused = claim
                .decisions
                .as_ref()
                .filter(|decisions| !self.adopt(decisions));
            let Some(decisions) = refused else { break };
            let covers = self.program.covers(decisions);
            match covers.is_empty() {
                true => self.frozen.push(Row::other_than(decisions)),
                false => self.frozen.extend(covers),
            }
            claim = self.run_once(&goal, budget)?;
        }
        self.note(group, &claim);
        match claim.is_out_of_time {
            true => Err(Failure::Stopped(Stop::TimeBudget)),
            false => Ok(()),
        }
    }

    fn run_once(&self, goal: &Terms, budget: &mut Budget<'_>) -> Result<Claim, Failure> {
        let entries = self.program.entries() as u64;
        budget
            .spend(entries * WORK_PER_ENTRY)
            .map_err(Failure::Stopped)?;
        let job = Job {
            program: Arc::clone(&self.program),
            frozen: self.frozen.clone(),
            goal: goal.clone(),
            start: self.found.best.values.clone(),
            effort: self.effort,
        };
        worker::run(job, budget)
    }

    /// Whether a solution is legal and as good as the best one in the ranks done; then it is taken over if it is better.
    fn adopt(&mut self, decisions: &[i64]) -> bool {
        let Some(values) = self.program.completed(decisions) else {
            return false;
        };
        if !self.frozen.iter().all(|row| row.holds(&values)) {
            return false;
        }
        let cost = self.cost(&values);
        if cost < self.found.best.cost {
            self.found.best = Best { values, cost };
        }
        true
    }

    fn cost(&self, values: &[i64]) -> Cost {
        let value = |rank: Rank| {
            let goal = sum(self.program.goal(rank), values);
            (self.constants[rank as usize] + goal) as i64 // what costs can be was checked with the snapshot
        };
        Cost(Rank::ALL.map(value))
    }

    /// Notes the bound of a run.
    fn note(&mut self, group: &Group, claim: &Claim) {
        if !self.is_proving {
            return;
        }
        let best = &self.found.best.cost;
        let constant: i128 = (group.ranks.iter().zip(&group.factors))
            .map(|(&rank, factor)| self.constants[rank as usize] * factor)
            .sum();
        let bound = claim.bound.map(|bound| i128::from(bound) + constant);
        let value = group.value(best);
        if bound == Some(value) {
            for &rank in &group.ranks {
                self.found.bounds[rank as usize] = Some(best[rank]);
            }
            return;
        }
        self.is_proving = false;
        let first = group.ranks[0];
        // A bound above a value that is reached is none.
        let bound = bound.filter(|&bound| bound < value).map_or(0, |bound| {
            let others =
                (group.ranks[1..].iter().zip(&group.factors[1..])).map(|(&rank, factor)| {
                    (i128::from(best[rank]) + self.reaches[rank as usize]) * factor
                });
            let rest = bound - others.sum::<i128>();
            let factor = group.factors[0];
            (rest.div_euclid(factor) + i128::from(rest.rem_euclid(factor) > 0)).max(0) as i64
        });
        let bound = bound.max(self.floor(first)).min(best[first]);
        self.found.bounds[first as usize] = Some(bound);
    }
}

/// Ranks minimised as one: a unit of each outweighs all that those after it can differ by.
struct Group {
    ranks: Vec<Rank>,
    factors: Vec<i128>,
    /// How much the sum may differ.
    reach: i128,
}

impl Group {
    /// With one rank more, of that reach; `None` where the sum would reach too far.
    fn with(&self, rank: Rank, reach: i128) -> Option<Self> {
        let factor = reach.checked_add(1)?;
        let wider = self.reach.checked_mul(factor)?.checked_add(reach)?;
        let fits = wider
            <= std::env::var("MERGE")
                .ok()
                .map_or(MERGED_MAX, |m| m.parse().unwrap());
        fits.then(|| Group {
            ranks: self.ranks.iter().copied().chain([rank]).collect(),
            factors: self
                .factors
                .iter()
                .map(|own| own * factor)
                .chain([1])
                .collect(),
            reach: wider,
        })
    }

    fn value(&self, cost: &Cost) -> i128 {
        let ranks = self.ranks.iter().zip(&self.factors);
        ranks
            .map(|(&rank, factor)| i128::from(cost[rank]) * factor)
            .sum()
    }

    /// What is minimised. Factors above one stay below [`MERGED_MAX`] times what a rank may differ by.
    fn goal(&self, program: &Program) -> Terms {
        let mut goal = Terms::new();
        for (&rank, &factor) in self.ranks.iter().zip(&self.factors) {
            let terms = program.goal(rank).iter();
            goal.extend(terms.map(|&(column, by)| (column, by * factor as i64)));
        }
        goal.sort_unstable();
        goal.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        goal
    }
}
