//! The synchronous core that the server and the command line share: a request in, a response or a refusal out.
//!
//! The solver has no clock; the clock lives here. [`Control`] turns a deadline, a cancellation and the request's
//! own time budget into the interrupt that reading, validation and the solver poll. Everything else is a function of the
//! request alone.

mod compare;
mod control;
mod recheck;
mod why;

use std::time::Instant;

use shardflow_solver::budget::{Interrupt, Pace, Phase, Stop};
use shardflow_solver::input::SnapshotInput;
use shardflow_solver::snapshot::Problem;
use shardflow_solver::strategy::{self, Answer};
use shardflow_solver::validate::{self, BuildError, Finding, Rejection};

pub use compare::compare;
pub use control::Control;
pub use recheck::Rechecked;
pub use why::{Unexplained, explain};

use crate::pb;
use crate::wire::request::OptionsRead;
use crate::wire::{Findings, answer, request as read, unchecked};
use control::Clock;

/// Why a request gets no plan. Each finding names its path in the request.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The request is wrong.
    #[error("the request is not valid:{}", listed(.0))]
    Invalid(Vec<Finding>),
    /// The time ended before the request was checked, and there is no answer for that.
    #[error("{} before the request was checked", stopped(*.0))]
    Stopped(Stop),
}

fn stopped(reason: Stop) -> &'static str {
    match reason {
        Stop::WorkLimit => "the work limit was spent",
        Stop::TimeBudget => "the time budget ended",
        Stop::Deadline => "the deadline came",
        Stop::Cancelled => "the call was cancelled",
    }
}

impl Refusal {
    /// What was found.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Refusal::Invalid(findings) => findings,
            Refusal::Stopped(_) => &[],
        }
    }
}

fn listed(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|finding| format!("\n  {finding}"));
    lines.collect()
}

impl From<Rejection> for Refusal {
    fn from(rejection: Rejection) -> Self {
        Refusal::Invalid(rejection.invalid)
    }
}

impl From<BuildError> for Refusal {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Rejected(rejection) => rejection.into(),
            BuildError::Stopped(reason) => Refusal::Stopped(reason),
        }
    }
}

/// Plans. Where the time ends before the request is checked and its present layout judged, the answer is that layout as
/// it is listed, and says that nothing was checked.
///
/// # Errors
/// Everything that is wrong with the request.
pub fn optimize(
    request: &pb::OptimizeRequest,
    control: &Control,
) -> Result<pb::OptimizeResponse, Refusal> {
    let started = Instant::now();
    // Kept until the answer is made: to give its memory back takes nearly as long as to read it.
    let mut input = SnapshotInput::default();
    match planned(request, &mut input, control) {
        Ok((prepared, answer)) => Ok(answer::response(
            &prepared.problem,
            &answer,
            prepared.options.listing,
            prepared.options.include_certificate,
            started.elapsed(),
        )),
        Err(Refusal::Stopped(reason)) => {
            let elapsed = started.elapsed();
            let options =
                read::options(request.options.as_ref(), "", None, &mut Findings::default());
            Ok(unchecked::response(
                request,
                options.listing,
                reason,
                elapsed,
            ))
        }
        Err(refusal) => Err(refusal),
    }
}

fn planned(
    request: &pb::OptimizeRequest,
    input: &mut SnapshotInput,
    control: &Control,
) -> Result<(Prepared, Answer), Refusal> {
    let prepared = prepare(request, input, Some(control))?;
    let answer = strategy::solve(&prepared.problem, &prepared.options.solve, &prepared.clock)
        .map_err(Refusal::Stopped)?;
    Ok((prepared, answer))
}

/// Lists everything that [`optimize`] would refuse in a request, without solving it.
pub fn validate(request: &pb::ValidateRequest) -> pb::ValidateResponse {
    let mut response = pb::ValidateResponse::default();
    let rejection = match &request.request {
        None => {
            let mut findings = Findings::default();
            findings.add("request", "", "must be given");
            Rejection {
                invalid: findings.0,
            }
        }
        Some(request) => match ready(request) {
            Err(rejection) => rejection,
            Ok(Prepared { problem, .. }) => {
                response.warnings.clone_from(&problem.warnings);
                Rejection::default()
            }
        },
    };
    response.findings = rejection.invalid.into_iter().map(message).collect();
    response
}

fn message(finding: Finding) -> pb::Finding {
    pb::Finding {
        path: finding.path,
        value: finding.value,
        rule: finding.rule,
    }
}

/// Checks the answer to the same request, made earlier.
///
/// # Errors
/// Everything that is wrong with the request.
pub fn verify(
    request: &pb::OptimizeRequest,
    response: &pb::OptimizeResponse,
) -> Result<Rechecked, Refusal> {
    let Prepared {
        problem, options, ..
    } = ready(request)?;
    Ok(recheck::response(&problem, options.listing, response))
}

/// Checks a plan made earlier for the same request without its report: every claim in it that is wrong, in words.
///
/// # Errors
/// Everything that is wrong with the request.
pub fn verify_plan(request: &pb::OptimizeRequest, plan: &pb::Plan) -> Result<Vec<String>, Refusal> {
    let Prepared {
        problem, options, ..
    } = ready(request)?;
    Ok(recheck::plan(&problem, options.listing, plan))
}

/// A request that is ready to be solved.
struct Prepared {
    problem: Problem,
    options: OptionsRead,
    /// What may stop the solve.
    clock: Clock,
}

/// Reads a request into an empty `input` and builds its problem, until `control` or the request's time budget stops it;
/// nothing does where there is none.
fn prepare(
    request: &pb::OptimizeRequest,
    input: &mut SnapshotInput,
    control: Option<&Control>,
) -> Result<Prepared, BuildError> {
    let started = Instant::now();
    let (mut findings, mut in_options) = (Findings::default(), Findings::default());
    let message = request.snapshot.as_ref();
    let options = request.options.as_ref();
    let options = read::options(options, "options", message, &mut in_options);
    let clock = match control {
        Some(control) => {
            let shards = message.map_or(0, |snapshot| snapshot.shards.len());
            control.clock(started, options.time_budget, shards)
        }
        None => Control::default().clock(started, None, 0),
    };
    let interrupt = || clock.stop(Phase::Current);
    read::snapshot(message, input, &mut findings, &mut Pace::new(&interrupt))?;
    let policy = read::policy(request.policy.as_ref(), "policy", &mut findings);
    findings.0.append(&mut in_options.0);
    let rejection = match validate::build_within(input, &policy, &interrupt) {
        Ok(mut problem) if findings.0.is_empty() => {
            problem.warnings.extend(options.warnings.iter().cloned());
            return Ok(Prepared {
                clock: clock.set_aside(started.elapsed()),
                problem,
                options,
            });
        }
        Ok(_) => Rejection {
            invalid: findings.0,
        },
        Err(BuildError::Rejected(mut rejection)) => {
            findings.0.append(&mut rejection.invalid);
            rejection.invalid = findings.0;
            rejection
        }
        Err(stopped) => return Err(stopped),
    };
    Err(BuildError::Rejected(rejection))
}

/// The same for a request that is only checked, however long that takes.
fn ready(request: &pb::OptimizeRequest) -> Result<Prepared, Rejection> {
    match prepare(request, &mut SnapshotInput::default(), None) {
        Ok(prepared) => Ok(prepared),
        Err(BuildError::Rejected(rejection)) => Err(rejection),
        Err(BuildError::Stopped(reason)) => unreachable!("nothing asked to stop: {reason:?}"),
    }
}
