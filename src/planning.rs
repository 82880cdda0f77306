//! The synchronous core that the server and the command line share: a request in, a response or a refusal out.
//!
//! The solver has no clock; the clock lives here. [`Control`] turns a deadline, a cancellation and the request's
//! own time budget into the interrupt that the solver polls. Everything else is a function of the request alone.

mod control;
mod recheck;
mod why;

use std::time::Instant;

use shardflow_solver::input::{PolicyInput, SnapshotInput};
use shardflow_solver::snapshot::{Assignment, Problem};
use shardflow_solver::strategy::{self, Answer};
use shardflow_solver::validate::{self, Finding, Rejection};

pub use control::Control;
pub use recheck::Rechecked;
pub use why::{Unexplained, explain};

use crate::pb;
use crate::pb::variant::Source as SourceMessage;
use crate::wire::request::OptionsRead;
use crate::wire::{Findings, answer, external, request as read};

/// Why a request gets no plan. Each finding names its path in the request.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The request is wrong.
    #[error("the request is not valid:{}", listed(.0))]
    Invalid(Vec<Finding>),
    /// The request asks for features that this version does not have.
    #[error("the request asks for what this version does not have:{}", listed(.0))]
    Unsupported(Vec<Finding>),
}

impl Refusal {
    /// What was found.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Refusal::Invalid(findings) | Refusal::Unsupported(findings) => findings,
        }
    }
}

fn listed(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|finding| format!("\n  {finding}"));
    lines.collect()
}

impl From<Rejection> for Refusal {
    fn from(rejection: Rejection) -> Self {
        if rejection.invalid.is_empty() {
            Refusal::Unsupported(rejection.unsupported)
        } else {
            Refusal::Invalid(rejection.invalid)
        }
    }
}

/// Plans.
///
/// # Errors
/// Everything that is wrong with the request, or else every feature it asks for that is not built.
pub fn optimize(
    request: &pb::OptimizeRequest,
    control: &Control,
) -> Result<pb::OptimizeResponse, Refusal> {
    let started = Instant::now();
    let (problem, options) = prepare(request)?;
    let interrupt = control.interrupt(started, options.time_budget, &problem);
    let answer = strategy::solve(&problem, &options.solve, &interrupt)
        .map_err(|finding| Refusal::Unsupported(vec![finding]))?;
    Ok(answer::response(
        &problem,
        &answer,
        options.listing,
        options.include_certificate,
        started.elapsed(),
    ))
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
                unsupported: Vec::new(),
            }
        }
        Some(request) => match prepare(request) {
            Err(rejection) => rejection,
            Ok((problem, options)) => {
                response.warnings.clone_from(&problem.warnings);
                Rejection {
                    invalid: Vec::new(),
                    unsupported: unbuilt(&problem, &options).into_iter().collect(),
                }
            }
        },
    };
    response.findings = rejection.invalid.into_iter().map(message).collect();
    response.unsupported = rejection.unsupported.into_iter().map(message).collect();
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
/// Everything that is wrong with the request, or else every feature it asks for that is not built.
pub fn verify(
    request: &pb::OptimizeRequest,
    response: &pb::OptimizeResponse,
) -> Result<Rechecked, Refusal> {
    let (problem, options) = prepare(request)?;
    Ok(recheck::response(&problem, options.listing, response))
}

/// Checks a plan made earlier for the same request without its report: every claim in it that is wrong, in words.
///
/// # Errors
/// Everything that is wrong with the request, or else every feature it asks for that is not built.
pub fn verify_plan(request: &pb::OptimizeRequest, plan: &pb::Plan) -> Result<Vec<String>, Refusal> {
    let (problem, options) = prepare(request)?;
    Ok(recheck::plan(&problem, options.listing, plan))
}

/// Plans one snapshot twice and lists what differs.
///
/// Two plans share the time to the deadline evenly; a variant's own time budget counts from the start of its own
/// solve.
///
/// # Errors
/// Everything that is wrong with the request, or else every feature it asks for that is not built.
pub fn compare(
    request: &pb::CompareRequest,
    control: &Control,
) -> Result<pb::CompareResponse, Refusal> {
    let mut findings = Findings::default();
    let snapshot = read::snapshot(request.snapshot.as_ref(), &mut findings);
    let mut rejection = Rejection {
        invalid: findings.0,
        unsupported: Vec::new(),
    };
    let variants = [
        ("baseline", request.baseline.as_ref()),
        ("candidate", request.candidate.as_ref()),
    ];
    let sides = variants.map(|(name, variant)| side(name, variant, &snapshot, &mut rejection));
    let [Some(baseline), Some(candidate)] = sides else {
        return Err(rejection.into());
    };
    if !(rejection.invalid.is_empty() && rejection.unsupported.is_empty()) {
        return Err(rejection.into());
    }
    let unbuilt = [&baseline, &candidate].map(Side::unbuilt);
    let unbuilt: Vec<Finding> = unbuilt.into_iter().flatten().collect();
    if !unbuilt.is_empty() {
        return Err(Refusal::Unsupported(unbuilt));
    }
    let (baseline_plan, baseline_answer) = baseline.run(&control.first_half())?;
    let (candidate_plan, candidate_answer) = candidate.run(control)?;
    Ok(pb::CompareResponse {
        differences: answer::differences(&baseline.problem, &baseline_plan, &candidate_plan),
        baseline: Some(baseline_answer),
        candidate: Some(candidate_answer),
    })
}

/// One side of a comparison, ready to run.
struct Side {
    /// `baseline` or `candidate`.
    name: &'static str,
    problem: Problem,
    source: Source,
}

enum Source {
    Planned(OptionsRead),
    External(Vec<Assignment>),
}

/// A placement, and the response that tells it.
type Told = (Vec<Assignment>, pb::OptimizeResponse);

fn side(
    name: &'static str,
    variant: Option<&pb::Variant>,
    snapshot: &SnapshotInput,
    rejection: &mut Rejection,
) -> Option<Side> {
    let mut findings = Findings::default();
    let Some(variant) = variant else {
        findings.add(name, "", "must be given");
        rejection.invalid.append(&mut findings.0);
        return None;
    };
    let policy = read::policy(
        variant.policy.as_ref(),
        &format!("{name}.policy"),
        &mut findings,
    );
    let options = match &variant.source {
        Some(SourceMessage::Options(options)) => Some(options),
        _ => None,
    };
    let options = read::options(options, &format!("{name}.options"), snapshot, &mut findings);
    let built = build(snapshot, &policy, name, rejection);
    let side = built.map(|mut problem| {
        problem.warnings.extend(options.warnings.iter().cloned());
        let source = match &variant.source {
            Some(SourceMessage::External(plan)) => {
                let at = format!("{name}.external.assignments");
                let names = external::Names::new(&problem);
                Source::External(external::placement(
                    &problem,
                    &names,
                    &plan.assignments,
                    &at,
                    &mut findings,
                ))
            }
            _ => Source::Planned(options),
        };
        Side {
            name,
            problem,
            source,
        }
    });
    rejection.invalid.append(&mut findings.0);
    side
}

/// Builds the problem of a variant; what is wrong with the snapshot alone is listed once for both.
fn build(
    snapshot: &SnapshotInput,
    policy: &PolicyInput,
    name: &str,
    rejection: &mut Rejection,
) -> Option<Problem> {
    let found = match validate::build(snapshot, policy) {
        Ok(problem) => return Some(problem),
        Err(found) => found,
    };
    let merge = |into: &mut Vec<Finding>, from: Vec<Finding>| {
        let known = into.len();
        for finding in from.into_iter().map(|finding| within(name, finding)) {
            if finding.path.starts_with(name) || !into[..known].contains(&finding) {
                into.push(finding);
            }
        }
    };
    merge(&mut rejection.invalid, found.invalid);
    merge(&mut rejection.unsupported, found.unsupported);
    None
}

/// The finding with its path as a caller of Compare wrote it: all but the snapshot is within the variant.
fn within(variant: &str, mut finding: Finding) -> Finding {
    if !finding.path.starts_with("snapshot") {
        finding.path = format!("{variant}.{}", finding.path);
    }
    finding
}

impl Side {
    /// Plans or judges.
    fn run(&self, control: &Control) -> Result<Told, Refusal> {
        let started = Instant::now();
        match &self.source {
            Source::External(placement) => {
                let answer = strategy::judge(&self.problem, placement.clone());
                Ok(self.told(answer, &OptionsRead::default(), started))
            }
            Source::Planned(options) => {
                let interrupt = control.interrupt(started, options.time_budget, &self.problem);
                let answer = strategy::solve(&self.problem, &options.solve, &interrupt)
                    .map_err(|finding| Refusal::Unsupported(vec![within(self.name, finding)]))?;
                Ok(self.told(answer, options, started))
            }
        }
    }

    /// The planner or feature asked for that is not built.
    fn unbuilt(&self) -> Option<Finding> {
        match &self.source {
            Source::External(_) => None,
            Source::Planned(options) => {
                let finding = unbuilt(&self.problem, options)?;
                Some(within(self.name, finding))
            }
        }
    }

    fn told(&self, answer: Answer, options: &OptionsRead, started: Instant) -> Told {
        let response = answer::response(
            &self.problem,
            &answer,
            options.listing,
            options.include_certificate,
            started.elapsed(),
        );
        (answer.plan.placement, response)
    }
}

/// Reads a request and builds its problem.
fn prepare(request: &pb::OptimizeRequest) -> Result<(Problem, OptionsRead), Rejection> {
    let mut findings = Findings::default();
    let snapshot = read::snapshot(request.snapshot.as_ref(), &mut findings);
    let policy = read::policy(request.policy.as_ref(), "policy", &mut findings);
    let options = read::options(
        request.options.as_ref(),
        "options",
        &snapshot,
        &mut findings,
    );
    match validate::build(&snapshot, &policy) {
        Ok(mut problem) if findings.0.is_empty() => {
            problem.warnings.extend(options.warnings.iter().cloned());
            Ok((problem, options))
        }
        Ok(problem) => Err(Rejection {
            invalid: findings.0,
            unsupported: unbuilt(&problem, &options).into_iter().collect(),
        }),
        Err(mut rejection) => {
            findings.0.append(&mut rejection.invalid);
            rejection.invalid = findings.0;
            let unbuilt = strategy::check_planner(options.solve.planner).err();
            rejection.unsupported.extend(unbuilt);
            Err(rejection)
        }
    }
}

/// The planner or feature that is not built.
fn unbuilt(problem: &Problem, options: &OptionsRead) -> Option<Finding> {
    strategy::check_supported(problem, options.solve.planner).err()
}
