//! An integer program in plain numbers, and HiGHS on it.
//!
//! Every column is at least zero and every coefficient is whole, so that a sum is zero where it can be no less.

use good_lp::solvers::highs::{HighsParallelType, highs};
use good_lp::solvers::{Solution as _, SolutionStatus};
use good_lp::{Expression, ProblemVariables, ResolutionError, SolverModel, Variable, variable};

/// A column, by its place.
pub(crate) type Column = usize;
/// Columns with their coefficients.
pub(crate) type Terms = Vec<(Column, i64)>;

/// HiGHS may stop where no whole number is left between its bound and its best point.
const GAP_BELOW_ONE: f32 = 0.9;

/// Why there is no optimum.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    /// The time is up.
    Time,
    /// There is no point.
    NoPoint,
    /// HiGHS says something else.
    Highs(String),
}

/// Rows and columns.
#[derive(Clone, Default)]
pub(crate) struct Program {
    columns: Vec<Definition>,
    rows: Vec<(Terms, Sense, i64)>,
}

#[derive(Clone, Copy)]
struct Definition {
    upper: i64,
    is_whole: bool,
}

#[derive(Clone, Copy)]
enum Sense {
    Equal,
    AtMost,
}

impl Program {
    /// A column of 0 or 1.
    pub(crate) fn choice(&mut self) -> Column {
        self.column(1, true)
    }

    /// A column that is whole where the choices are, by the rows or by its price.
    pub(crate) fn amount(&mut self, upper: i64) -> Column {
        self.column(upper, false)
    }

    fn column(&mut self, upper: i64, is_whole: bool) -> Column {
        self.columns.push(Definition { upper, is_whole });
        self.columns.len() - 1
    }

    /// The most that a column may be.
    pub(crate) fn upper(&self, column: Column) -> i64 {
        self.columns[column].upper
    }

    /// `terms = value`.
    pub(crate) fn equal(&mut self, terms: Terms, value: i64) {
        self.rows.push((terms, Sense::Equal, value));
    }

    /// `terms ≤ value`.
    pub(crate) fn at_most(&mut self, terms: Terms, value: i64) {
        self.rows.push((terms, Sense::AtMost, value));
    }

    /// `terms ≥ value`.
    pub(crate) fn at_least(&mut self, terms: Terms, value: i64) {
        let negated = terms.into_iter().map(|(column, by)| (column, -by));
        self.rows.push((negated.collect(), Sense::AtMost, -value));
    }

    /// A point with the least value of the objective. HiGHS gets no start: it gives one back as optimal now and then.
    ///
    /// # Errors
    /// None was found in the time given.
    pub(crate) fn minimise(
        &self,
        objective: &[(Column, i64)],
        seconds: f64,
    ) -> Result<Vec<f64>, Failure> {
        let mut variables = ProblemVariables::new();
        let columns: Vec<Variable> = (self.columns.iter())
            .map(|column| {
                let definition = variable().min(0).max(column.upper as f64);
                variables.add(match column.is_whole {
                    true => definition.integer(),
                    false => definition,
                })
            })
            .collect();
        let sum = |terms: &[(Column, i64)]| {
            let mut sum = Expression::with_capacity(terms.len());
            for &(column, by) in terms {
                sum.add_mul(by as f64, columns[column]);
            }
            sum
        };
        let mut model = (variables.minimise(sum(objective)).using(highs))
            .set_parallel(HighsParallelType::Off)
            .set_threads(1)
            .set_time_limit(seconds)
            .set_mip_rel_gap(0.0)
            .and_then(|model| model.set_mip_abs_gap(GAP_BELOW_ONE))
            .map_err(|error| Failure::Highs(error.to_string()))?;
        for (terms, sense, value) in &self.rows {
            model.add_constraint(match sense {
                Sense::Equal => sum(terms).eq(*value as f64),
                Sense::AtMost => sum(terms).leq(*value as f64),
            });
        }
        let solution = model.solve().map_err(|error| match error {
            ResolutionError::Other("NoSolutionFound") => Failure::Time,
            ResolutionError::Infeasible => Failure::NoPoint,
            error => Failure::Highs(error.to_string()),
        })?;
        match solution.status() {
            SolutionStatus::TimeLimit => Err(Failure::Time),
            _ => Ok(columns.iter().map(|&c| solution.value(c)).collect()),
        }
    }
}
