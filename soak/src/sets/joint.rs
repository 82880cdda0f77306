//! The joint problem exactly: each shard picks one of its choices, counts and loads follow, HiGHS minimises rank after
//! rank. What it finds is measured in integers by the objective itself; where that differs from the program's own sum,
//! the program is wrong.
//!
//! Squares are unit segments of rising price. Ranks that follow each other and stay small are minimised together, scaled
//! so that no sum of the later ones outweighs the earlier. A rank whose value can be no less is not minimised.

use shardflow_solver::cost::{Cost, RANKS, Rank, evaluate};
use shardflow_solver::snapshot::{Assignment, Problem, Shard};

use super::choices::{self, Choice};
use super::facts::{Counted, gcd};
use super::program::{Column, Failure, Program, Terms};

/// Ranks are minimised together while their scaled sum stays below this, which HiGHS's tolerances tell from it.
const TOGETHER_MAX: i64 = 300_000;

/// The least cost of any legal placement, and one that has it.
pub(crate) struct Optimum {
    pub(crate) cost: Cost,
    pub(crate) placement: Vec<Assignment>,
}

/// The optimum; `None` where HiGHS has not proven a rank in `seconds`.
///
/// # Errors
/// The program is wrong, or HiGHS is.
pub(crate) fn optimum(problem: &Problem, seconds: f64) -> Result<Option<Optimum>, String> {
    if problem.shards.is_empty() {
        let cost = evaluate(problem, &[]).0;
        let placement = Vec::new();
        return Ok(Some(Optimum { cost, placement }));
    }
    match Joint::new(problem).solve(seconds) {
        Ok(optimum) => Ok(Some(optimum)),
        Err(Failure::Time) => Ok(None),
        Err(Failure::NoPoint) => Err("no placement at all is legal".to_owned()),
        Err(Failure::Highs(text)) => Err(text),
    }
}

/// A rank as a sum of columns and a constant.
#[derive(Clone, Default)]
pub(super) struct Sum {
    terms: Terms,
    constant: i64,
    /// What it is at least and at most, whatever the columns are.
    least: i64,
    most: i64,
}

impl Sum {
    pub(super) fn add(&mut self, column: Column, by: i64, upper: i64) {
        self.terms.push((column, by));
        self.most += by * upper;
    }

    fn add_constant(&mut self, value: i64) {
        self.constant += value;
        self.least += value;
        self.most += value;
    }
}

pub(super) struct Joint<'p> {
    pub(super) problem: &'p Problem,
    pub(super) program: Program,
    /// By shard.
    choices: Vec<Vec<Choice>>,
    /// By shard, the column of each choice.
    picks: Vec<Vec<Column>>,
    pub(super) ranks: Vec<Sum>,
}

impl<'p> Joint<'p> {
    fn new(problem: &'p Problem) -> Self {
        let choices: Vec<Vec<Choice>> = (problem.shards.iter())
            .map(|shard| choices::of(problem, shard))
            .collect();
        let mut joint = Joint {
            problem,
            program: Program::default(),
            choices,
            picks: Vec::new(),
            ranks: vec![Sum::default(); RANKS],
        };
        let absent = problem.policy.absent_zone_minimum;
        joint.ranks[Rank::ZoneMinimumShortfall as usize].add_constant(absent);
        joint.add_choices();
        joint.add_counts(Counted::Leaders);
        joint.add_counts(Counted::Replicas);
        joint.add_loads();
        joint.add_max_moves();
        joint
    }

    fn add_choices(&mut self) {
        for choices in &self.choices {
            let picks: Vec<Column> = choices.iter().map(|_| self.program.choice()).collect();
            (self.program).equal(picks.iter().map(|&pick| (pick, 1)).collect(), 1);
            for (rank, sum) in self.ranks.iter_mut().enumerate() {
                let own = choices.iter().map(|choice| choice.own[rank]);
                sum.least += own.clone().min().unwrap_or(0);
                sum.most += own.clone().max().unwrap_or(0);
                let terms = picks.iter().copied().zip(own);
                sum.terms.extend(terms.filter(|&(_, cost)| cost != 0));
            }
            self.picks.push(picks);
        }
    }

    /// Terms that add up `of` over the choices of some shards.
    pub(super) fn sum(
        &self,
        shards: std::ops::Range<usize>,
        of: impl Fn(&Shard, &Choice) -> i64,
    ) -> Terms {
        let mut terms = Terms::new();
        for at in shards {
            let shard = &self.problem.shards[at];
            for (choice, &pick) in self.choices[at].iter().zip(&self.picks[at]) {
                let by = of(shard, choice);
                if by != 0 {
                    terms.push((pick, by));
                }
            }
        }
        terms
    }

    /// A column for a sum that is at most `upper`.
    pub(super) fn total(&mut self, mut terms: Terms, upper: i64) -> Column {
        let total = self.program.amount(upper);
        terms.push((total, -1));
        self.program.equal(terms, 0);
        total
    }

    fn solve(mut self, seconds: f64) -> Result<Optimum, Failure> {
        let mut best = None;
        let mut from = 0;
        while from < RANKS {
            let is_least = |best: &Optimum| best.cost.0[from] == self.ranks[from].least;
            let upto = match best.as_ref().is_some_and(is_least) {
                true => from + 1,
                false => {
                    let (found, upto) = self.minimise(from, seconds)?;
                    best = Some(self.measured(&found, from, upto)?);
                    upto
                }
            };
            let Some(best) = &best else { break };
            for rank in from..upto {
                let sum = &self.ranks[rank];
                let (terms, scale) = reduced(&sum.terms);
                let most = best.cost.0[rank] - sum.constant;
                self.program.at_most(terms, most.div_euclid(scale));
            }
            from = upto;
        }
        best.ok_or_else(|| Failure::Highs("no rank is minimised".to_owned()))
    }

    /// The objective of the ranks from one on that stay small together, and the rank behind them.
    fn minimise(&self, from: usize, seconds: f64) -> Result<(Vec<f64>, usize), Failure> {
        let (objective, upto) = self.objective(from);
        let found = self.program.minimise(&reduced(&objective).0, seconds)?;
        Ok((found, upto))
    }

    fn objective(&self, from: usize) -> (Terms, usize) {
        let mut upto = from + 1;
        let range = |sum: &Sum| sum.most - sum.least + 1;
        let mut together = range(&self.ranks[from]);
        while let Some(next) = self.ranks.get(upto) {
            match together.checked_mul(range(next)) {
                Some(product) if product <= TOGETHER_MAX => together = product,
                _ => break,
            }
            upto += 1;
        }
        let mut scale = 1;
        let mut objective = Terms::new();
        for sum in self.ranks[from..upto].iter().rev() {
            let scaled = |&(column, by): &(Column, i64)| (column, by * scale);
            objective.extend(sum.terms.iter().map(scaled));
            scale *= range(sum);
        }
        objective.sort_unstable_by_key(|term| term.0);
        let merged = objective.chunk_by(|a, b| a.0 == b.0);
        let merged = merged.map(|same| (same[0].0, same.iter().map(|term| term.1).sum()));
        (merged.collect(), upto)
    }

    /// The placement of a point. Its cost must be what the columns say, in the ranks that were minimised.
    fn measured(&self, point: &[f64], from: usize, upto: usize) -> Result<Optimum, Failure> {
        let mut placement = Vec::with_capacity(self.choices.len());
        for (choices, picks) in self.choices.iter().zip(&self.picks) {
            let chosen = picks.iter().position(|&pick| point[pick] > 0.5);
            let chosen =
                chosen.ok_or_else(|| Failure::Highs("a shard without choice".to_owned()))?;
            placement.push(choices[chosen].listed.clone());
        }
        let cost = evaluate(self.problem, &placement).0;
        for rank in from..upto {
            let sum = &self.ranks[rank];
            let terms = sum
                .terms
                .iter()
                .map(|&(column, by)| point[column] * by as f64);
            let said = terms.sum::<f64>() + sum.constant as f64;
            if (said - cost.0[rank] as f64).abs() > 1e-6 * (1.0 + said.abs()) + 1e-3 {
                let name = Rank::ALL[rank].name();
                let is = cost.0[rank];
                return Err(Failure::Highs(format!(
                    "{name}: the program says {said}, the objective {is} of {placement:?}"
                )));
            }
        }
        Ok(Optimum { cost, placement })
    }
}

/// Terms divided by what divides all of them, and that divisor.
fn reduced(terms: &[(Column, i64)]) -> (Terms, i64) {
    let scale = terms.iter().map(|term| term.1).fold(0, gcd).max(1);
    let divided = terms.iter().map(|&(column, by)| (column, by / scale));
    (divided.collect(), scale)
}
