//! The programme in HiGHS's terms: floats, rounded so that no solution is lost and none costs more.
//!
//! Whole numbers beyond 2⁵³ are no floats: costs are rounded down, and rows so that they let more through. Rows with large
//! numbers, such as bytes, are divided by a power of two, since HiGHS's tolerances are absolute; so are the columns that
//! bytes make large. Powers of two lose nothing.

use ::highs::{HighsModelStatus, HighsSolutionStatus, Model, SolvedModel, TrySetOptionError};
use good_lp::solvers::highs::{HighsProblem, highs};
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, variable};

use super::program::{Column, Program, Row, Terms};
use super::worker::{Claim, Job};

/// Most seconds of a run.
const SECONDS_MAX: f64 = 60.0;

/// HiGHS's tolerance for rows and whole numbers.
const TOLERANCE: f64 = 1e-9;

/// Smallest entry of the matrix that HiGHS keeps, the least it can be told.
const ENTRY_MIN: f64 = 1e-12;

/// What a bound may be wrong by where no row is scaled, and a millionth of what a large one may.
const BOUND_TOLERANCE: f64 = 1e-6;

/// How much a row in whole numbers may be loosened without letting another whole number through.
const LOOSE: f64 = 0.5;

/// Gap at which a goal in whole numbers is proven.
const GAP: f64 = 0.999;

/// Numbers up to this are left as they are.
const PLAIN_MAX: f64 = (1 << 20) as f64;

/// The power of two to divide by, so that a largest number is neither lost in a tolerance nor large beside it.
fn scale(largest: f64) -> f64 {
    (largest / PLAIN_MAX).log2().ceil().max(0.0).exp2()
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
    let scale = floats.scale_of(&job.goal);
    let run = |start: Option<&[f64]>| {
        let problem = floats.problem(job, scale);
        let solved = if is_left() {
            None
        } else {
            run(problem, job, scale, start)
        };
        solved.map(|solved| Answer::new(&solved, job, &floats, scale))
    };
    let start = job.start.iter().zip(&floats.units);
    let start: Vec<f64> = start.map(|(&value, unit)| value as f64 / unit).collect();
    let answer = match run(Some(&start)) {
        // Where its presolve solves the model, HiGHS 1.16 may give the start back as the solution of a better optimum.
        Some(answer) if answer.is_stale => run(None),
        answer => answer,
    };
    answer.map_or_else(Claim::default, |answer| answer.claim)
}

fn run(problem: HighsProblem, job: &Job, scale: f64, start: Option<&[f64]>) -> Option<SolvedModel> {
    let mut model = problem.try_into_inner().ok()?;
    set_options(&mut model, job, scale).ok()?;
    if start.is_some() {
        model.try_set_solution(start, None, None, None).ok()?;
    }
    model.try_solve().ok()
}

fn set_options(model: &mut Model, job: &Job, scale: f64) -> Result<(), TrySetOptionError> {
    // The same on every machine.
    model.try_set_option("threads", 1)?;
    model.try_set_option("parallel", "off")?;
    model.try_set_option("random_seed", 0)?;
    let seconds = job.effort.seconds_max.unwrap_or(SECONDS_MAX);
    model.try_set_option("time_limit", seconds.clamp(0.0, SECONDS_MAX))?;
    if let Some(nodes) = job.effort.nodes_max {
        let nodes = i32::try_from(nodes).unwrap_or(i32::MAX);
        model.try_set_option("mip_max_nodes", nodes)?;
    }
    model.try_set_option("mip_rel_gap", 0.0)?;
    model.try_set_option("mip_abs_gap", GAP / scale)?;
    // With HiGHS's own, a millionth of a replica is many bytes, and entries that bytes make small are lost.
    model.try_set_option("mip_feasibility_tolerance", TOLERANCE)?;
    model.try_set_option("small_matrix_value", ENTRY_MIN)?;
    // Looks for any solution, and there is one.
    model.try_set_option("mip_heuristic_run_feasibility_jump", false)
}

/// A claim, and whether HiGHS contradicts itself in it.
struct Answer {
    claim: Claim,
    /// The solution does not have the goal that HiGHS says it has.
    is_stale: bool,
}

impl Answer {
    fn new(solved: &SolvedModel, job: &Job, floats: &Floats, scale: f64) -> Self {
        let status = solved.status();
        let is_out_of_time = status == HighsModelStatus::ReachedTimeLimit;
        let is_bounded = is_out_of_time
            || status == HighsModelStatus::Optimal
            || status == HighsModelStatus::ReachedSolutionLimit;
        let bound = solved.double_info_value(c"mip_dual_bound").ok();
        let bound = bound.filter(|_| is_bounded);
        let mut answer = Answer {
            claim: Claim {
                decisions: None,
                bound: bound.and_then(|bound| whole(bound * scale, floats.slack(&job.goal))),
                is_out_of_time,
            },
            is_stale: false,
        };
        if solved.primal_solution_status() == HighsSolutionStatus::Feasible {
            let solution = solved.get_solution();
            let columns = solution.columns();
            let decisions = columns[..job.program.decisions()].iter();
            answer.claim.decisions = Some(decisions.map(|value| value.round() as i64).collect());
            let goal = job.goal.iter();
            let goal = goal.map(|&(column, cost)| {
                cost as f64 * floats.units[column.index()] * columns[column.index()]
            });
            let told = solved.objective_value() * scale;
            // Goals are whole numbers; large ones are told less exactly.
            let difference = (told - goal.sum::<f64>()).abs();
            answer.is_stale = difference > 0.5 + told.abs() * TOLERANCE;
        }
        answer
    }
}

/// A bound in whole numbers, from one that may be wrong by so much and by the tolerance.
fn whole(bound: f64, slack: f64) -> Option<i64> {
    let tolerance = slack + BOUND_TOLERANCE * (bound.abs() * BOUND_TOLERANCE).max(1.0);
    let bound = (bound - tolerance).ceil();
    (bound.is_finite() && bound.abs() < i64::MAX as f64).then_some(bound as i64)
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
            units[fill.places()].fill(unit);
        }
        Floats { units }
    }

    /// The power of two to divide terms by.
    fn scale_of(&self, terms: &[(Column, i64)]) -> f64 {
        let sizes = terms.iter();
        let sizes = sizes.map(|&(column, by)| (by as f64 * self.units[column.index()]).abs());
        scale(sizes.fold(1.0, f64::max))
    }

    /// What the goal may be wrong by, since rows that are scaled hold up to a tolerance.
    fn slack(&self, goal: &[(Column, i64)]) -> f64 {
        let scaled = goal
            .iter()
            .map(|&(column, cost)| (self.units[column.index()], cost));
        let scaled = scaled.filter(|&(unit, _)| unit > 1.0);
        let slacks = scaled.map(|(unit, cost)| unit * (cost as f64).abs() * TOLERANCE);
        slacks.sum()
    }

    /// The programme with the job's goal divided by `scale`.
    fn problem(&self, job: &Job, scale: f64) -> HighsProblem {
        let mut variables = ProblemVariables::new();
        let columns = self.add_columns(&job.program, &mut variables);
        let mut goal = Expression::with_capacity(job.goal.len());
        for &(column, cost) in &job.goal {
            let cost = down(cost) * self.units[column.index()] / scale;
            goal.add_mul(cost, columns[column.index()]);
        }
        let mut problem = variables.minimise(goal).using(highs);
        self.add_rows(job, &columns, &mut problem);
        problem
    }

    /// All columns are whole numbers, and HiGHS branches on counts sooner than on decisions; but for those in another unit.
    fn add_columns(&self, program: &Program, to: &mut ProblemVariables) -> Vec<Variable> {
        let columns = program.widths().iter().zip(&self.units);
        columns
            .map(|(&width, &unit)| {
                let column = variable().min(0.0).max(up(width) / unit);
                to.add(match unit == 1.0 {
                    true => column.integer(),
                    false => column,
                })
            })
            .collect()
    }

    fn add_rows(&self, job: &Job, columns: &[Variable], to: &mut HighsProblem) {
        for row in job.program.rows().iter().chain(&job.frozen) {
            self.add_row(row, LOOSE, columns, to);
        }
        for fill in job.program.fills() {
            let own = fill.columns.clone().map(|column| (Column(column), 1));
            let mut terms: Terms = own.collect();
            terms.extend(fill.terms.iter().map(|&(column, by)| (column, -by)));
            let row = match fill.is_count {
                true => Row::equal(terms, fill.constant),
                false => Row::at_least(terms, fill.constant),
            };
            self.add_row(&row, 0.0, columns, to);
        }
    }

    /// A row; if its numbers are large, so much looser.
    fn add_row(&self, row: &Row, loose: f64, columns: &[Variable], to: &mut HighsProblem) {
        let bounds = row.least.iter().chain(&row.most);
        let largest = bounds.map(|&bound| (bound as f64).abs());
        let scale = self
            .scale_of(&row.terms)
            .max(scale(largest.fold(1.0, f64::max)));
        let loose = if scale > 1.0 { loose } else { 0.0 };
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
                    to.add_constraint(sum(down).leq((up(most) + loose) / scale));
                }
                if let Some(least) = least {
                    to.add_constraint(sum(up).geq((down(least) - loose) / scale));
                }
            }
        }
    }
}
