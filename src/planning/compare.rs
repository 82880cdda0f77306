//! Two plans of one snapshot, side by side.

use std::time::{Duration, Instant};

use shardflow_solver::budget::{Interrupt, Pace, Phase, Stop};
use shardflow_solver::input::{PolicyInput, SnapshotInput};
use shardflow_solver::snapshot::{Assignment, Problem};
use shardflow_solver::strategy::{self, Answer};
use shardflow_solver::validate::{self, BuildError, Finding, Rejection};

use super::{Control, Refusal};
use crate::pb;
use crate::pb::variant::Source as SourceMessage;
use crate::wire::request::OptionsRead;
use crate::wire::{Findings, answer, external, request as read};

/// Plans one snapshot twice and lists what differs.
///
/// Two plans share the time to the deadline evenly; a variant's own time budget counts from the start of its own
/// solve, and leaves at least its present layout to compare.
///
/// # Errors
/// Everything that is wrong with the request; or the deadline or a cancellation came before both variants were checked.
pub fn compare(
    request: &pb::CompareRequest,
    control: &Control,
) -> Result<pb::CompareResponse, Refusal> {
    let mut findings = Findings::default();
    let shards = request.snapshot.as_ref().map_or(0, |s| s.shards.len());
    let clock = control.clock(Instant::now(), None, shards);
    let interrupt = || clock.stop(Phase::Current);
    let mut snapshot = SnapshotInput::default();
    let mut pace = Pace::new(&interrupt);
    let message = request.snapshot.as_ref();
    read::snapshot(message, &mut snapshot, &mut findings, &mut pace).map_err(Refusal::Stopped)?;
    let mut rejection = Rejection {
        invalid: findings.0,
    };
    let variants = [
        ("baseline", request.baseline.as_ref()),
        ("candidate", request.candidate.as_ref()),
    ];
    let mut reader = SideReader {
        message,
        snapshot: &snapshot,
        interrupt: &interrupt,
        rejection: &mut rejection,
    };
    let mut sides = Vec::new();
    for (name, variant) in variants {
        sides.push(reader.side(name, variant).map_err(Refusal::Stopped)?);
    }
    let Ok([Some(baseline), Some(candidate)]) = <[_; 2]>::try_from(sides) else {
        return Err(rejection.into());
    };
    if !rejection.invalid.is_empty() {
        return Err(rejection.into());
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
    problem: Problem,
    /// How long it took to build the problem.
    prepared: Duration,
    source: Source,
}

enum Source {
    Planned(OptionsRead),
    External(Vec<Assignment>),
}

/// A placement, and the response that tells it.
type Told = (Vec<Assignment>, pb::OptimizeResponse);

/// Reads the variants of one snapshot, and collects what is wrong with them.
struct SideReader<'a> {
    message: Option<&'a pb::Snapshot>,
    snapshot: &'a SnapshotInput,
    interrupt: &'a dyn Fn() -> Option<Stop>,
    rejection: &'a mut Rejection,
}

impl SideReader<'_> {
    /// One variant; `None` where something is wrong with it.
    fn side(
        &mut self,
        name: &'static str,
        variant: Option<&pb::Variant>,
    ) -> Result<Option<Side>, Stop> {
        let mut findings = Findings::default();
        let Some(variant) = variant else {
            findings.add(name, "", "must be given");
            self.rejection.invalid.append(&mut findings.0);
            return Ok(None);
        };
        let at = format!("{name}.policy");
        let policy = read::policy(variant.policy.as_ref(), &at, &mut findings);
        let options = match &variant.source {
            Some(SourceMessage::Options(options)) => Some(options),
            _ => None,
        };
        let at = format!("{name}.options");
        let options = read::options(options, &at, self.message, &mut findings);
        let started = Instant::now();
        let side = self.build(&policy, name)?.map(|mut problem| {
            let prepared = started.elapsed();
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
                problem,
                prepared,
                source,
            }
        });
        self.rejection.invalid.append(&mut findings.0);
        Ok(side)
    }

    /// The problem of a variant; what is wrong with the snapshot alone is listed once for both.
    fn build(&mut self, policy: &PolicyInput, name: &str) -> Result<Option<Problem>, Stop> {
        let found = match validate::build_within(self.snapshot, policy, self.interrupt) {
            Ok(problem) => return Ok(Some(problem)),
            Err(BuildError::Rejected(found)) => found,
            Err(BuildError::Stopped(reason)) => return Err(reason),
        };
        let merge = |into: &mut Vec<Finding>, from: Vec<Finding>| {
            let known = into.len();
            for finding in from.into_iter().map(|finding| within(name, finding)) {
                if finding.path.starts_with(name) || !into[..known].contains(&finding) {
                    into.push(finding);
                }
            }
        };
        merge(&mut self.rejection.invalid, found.invalid);
        Ok(None)
    }
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
                let clock = control.clock(started, options.time_budget, self.problem.shards.len());
                let clock = clock.set_aside(self.prepared).until_judged(self.prepared);
                let answer = strategy::solve(&self.problem, &options.solve, &clock);
                let answer = answer.map_err(Refusal::Stopped)?;
                Ok(self.told(answer, options, started))
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
