//! The programme in HiGHS's terms: floats, rounded so that no solution is lost and none costs more.
//!
//! Whole numbers beyond 2⁵³ are no floats: costs are rounded down, and rows so that they let more through. Rows with large
//! numbers, such as bytes, are divided by a power of two, since HiGHS's tolerances are absolute; so are the columns that
//! bytes make large. Powers of two lose nothing.

use ::highs::HighsModelStatus;
use good_lp::solvers::highs::{HighsProblem, highs};
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, variable};

use super::program::{Column, Program, Row, Terms};
use super::worker::{Claim, Job};

/// Seconds after which a run ends that has no limit of its own.
const SECONDS_MAX: f64 = 300.0;

/// HiGHS's tolerance for rows and whole numbers, and what a bound may be wrong by.
const TOLERANCE: f64 = 1e-6;

/// Gap at which a goal in whole numbers is proven.
const GAP: f64 = 0.999;

/// Numbers up to this are left as they are.
const PLAIN_MAX: f64 = (1 << 20) as f64;

/// What larger ones are brought down to.
const SCALED_MAX: f64 = 1024.0;

/// The power of two to divide by, so that a largest number is neither lost in a tolerance nor large beside it.
fn scale(largest: f64) -> f64 {
    if largest <= PLAIN_MAX {
        return 1.0;
    }
    (largest / SCALED_MAX).log2().ceil().exp2()
}

/// The largest float that is no larger.
fn down(value: i64) -> f64 {
    let float = value as f64;
    match float as i128 > i128::from(value) {
        true => float.next_down(),
        false => float,
    }
}

/// The smallest float that is no smaller.
fn up(value: i64) -> f64 {
    -down(-value.max(-i64::MAX))
}

/// Runs HiGHS, unless nobody waits for it once the model is built.
pub(super) fn solve(job: &Job, is_left: impl Fn() -> bool) -> Claim {
    let floats = Floats::new(&job.program);
    let goal_scale = floats.scale_of(&job.goal);
    let mut variables = ProblemVariables::new();
    let columns = floats.add_columns(&job.program, &mut variables);
    let mut objective = Expression::with_capacity(job.goal.len());
    for &(column, cost) in &job.goal {
        let cost = down(cost) * floats.units[column.index()] / goal_scale;
        objective.add_mul(cost, columns[column.index()]);
    }
    let mut problem = variables.minimise(objective).using(highs);
    floats.add_rows(job, &columns, &mut problem);
    if is_left() {
        return Claim::default();
    }
    let Some(solved) = run(problem, job, &floats, goal_scale) else {
        return Claim::default();
    };
    let bound = solved.double_info_value(c"mip_dual_bound").ok();
    let is_feasible = solved.primal_solution_status() == ::highs::HighsSolutionStatus::Feasible;
    let status = solved.status();
    let is_out_of_time = status == HighsModelStatus::ReachedTimeLimit;
    let is_bounded = is_out_of_time
        || matches!(
            status,
            HighsModelStatus::Optimal | HighsModelStatus::ReachedSolutionLimit
        );
    Claim {
        decisions: is_feasible.then(|| {
            let values = solved.get_solution();
            let decisions = &values.columns()[..job.program.decisions()];
            decisions.iter().map(|value| value.round() as i64).collect()
        }),
        bound: bound
            .filter(|_| is_bounded)
            .and_then(|bound| whole(bound, goal_scale)),
        is_out_of_time,
    }
}

/// A bound in whole numbers, from one that may be wrong by the tolerance.
fn whole(bound: f64, scale: f64) -> Option<i64> {
    let bound = bound * scale;
    let tolerance = TOLERANCE * scale.max(bound.abs() * TOLERANCE).max(1.0);
    let bound = (bound - tolerance).ceil();
    (bound.is_finite() && bound.abs() < i64::MAX as f64).then_some(bound as i64)
}

fn run(
    problem: HighsProblem,
    job: &Job,
    floats: &Floats,
    goal_scale: f64,
) -> Option<::highs::SolvedModel> {
    let mut model = problem.try_into_inner().ok()?;
    model.try_set_option("threads", 1).ok()?;
    model.try_set_option("parallel", "off").ok()?;
    model.try_set_option("random_seed", 0).ok()?;
    model.try_set_option("mip_rel_gap", 0.0).ok()?;
    model.try_set_option("mip_abs_gap", GAP / goal_scale).ok()?;
    let seconds = job.effort.seconds_max.unwrap_or(SECONDS_MAX);
    model
        .try_set_option("time_limit", seconds.min(SECONDS_MAX))
        .ok()?;
    if let Some(nodes) = job.effort.nodes_max {
        model
            .try_set_option("mip_max_nodes", i32::try_from(nodes).unwrap_or(i32::MAX))
            .ok()?;
    }
    let start = job.start.iter().zip(&floats.units);
    let start: Vec<f64> = start.map(|(&value, unit)| value as f64 / unit).collect();
    model
        .try_set_solution(Some(&start), None, None, None)
        .ok()?;
    model.try_solve().ok()
}

/// Which unit each column has in HiGHS: 1, or a power of two.
struct Floats {
    units: Vec<f64>,
}

impl Floats {
    fn new(program: &Program) -> Self {
        let mut units = vec![1.0; program.widths().len()];
        for fill in program.fills().iter().filter(|fill| !fill.is_count) {
            let largest = fill.terms.iter().map(|&(_, by)| (by as f64).abs());
            let unit = scale(largest.fold(1.0, f64::max));
            let columns = fill.columns.start as usize..fill.columns.end as usize;
            units[columns].fill(unit);
        }
        Floats { units }
    }

    /// The power of two to divide terms by.
    fn scale_of(&self, terms: &[(Column, i64)]) -> f64 {
        let sizes = terms.iter();
        let sizes = sizes.map(|&(column, by)| (by as f64 * self.units[column.index()]).abs());
        scale(sizes.fold(1.0, f64::max))
    }

    fn add_columns(&self, program: &Program, to: &mut ProblemVariables) -> Vec<Variable> {
        let widths = program.widths().iter().zip(&self.units).enumerate();
        widths
            .map(|(at, (&width, unit))| {
                let column = variable().min(0.0).max(up(width) / unit);
                match at < program.decisions() {
                    true => to.add(column.integer()),
                    false => to.add(column),
                }
            })
            .collect()
    }

    fn add_rows(&self, job: &Job, columns: &[Variable], to: &mut HighsProblem) {
        for row in job.program.rows().iter().chain(&job.frozen) {
            self.add_row(row, columns, to);
        }
        for fill in job.program.fills() {
            let own = fill.columns.clone().map(|column| (Column(column), 1));
            let mut terms: Terms = own.collect();
            terms.extend(fill.terms.iter().map(|&(column, by)| (column, -by)));
            let row = match fill.is_count {
                true => Row::equal(terms, fill.constant),
                false => Row::at_least(terms, fill.constant),
            };
            self.add_row(&row, columns, to);
        }
    }

    fn add_row(&self, row: &Row, columns: &[Variable], to: &mut HighsProblem) {
        let scale = self.scale_of(&row.terms);
        let sum = |round: fn(i64) -> f64| {
            let mut sum = Expression::with_capacity(row.terms.len());
            for &(column, by) in &row.terms {
                let by = round(by) * self.units[column.index()] / scale;
                sum.add_mul(by, columns[column.index()]);
            }
            sum
        };
        match (row.least, row.most) {
            (Some(least), Some(most)) if least == most => {
                to.add_constraint(sum(down).eq(down(most) / scale));
            }
            (least, most) => {
                if let Some(most) = most {
                    to.add_constraint(sum(down).leq(up(most) / scale));
                }
                if let Some(least) = least {
                    to.add_constraint(sum(up).geq(down(least) / scale));
                }
            }
        }
    }
}
