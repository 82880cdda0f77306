//! `verify`: an independent check of a plan against its request.

use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use super::files::{self, Source};
use super::{Answered, STATUS_FAULTY};
use crate::pb;
use crate::planning;
use crate::report::escaped;

#[derive(Args, Debug)]
#[command(after_help = format!("Status {STATUS_FAULTY} where the plan has faults."))]
pub(super) struct Arguments {
    /// The OptimizeRequest as JSON; - is standard input
    file: PathBuf,
    /// The OptimizeResponse as JSON; - is standard input
    plan: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<Answered, Failure> {
    files::only_one_dash(&[&arguments.file, &arguments.plan])?;
    let source = Source::read(&arguments.file)?;
    let request: pb::OptimizeRequest = source.message()?;
    let plan = Source::read(&arguments.plan)?;
    let response: pb::OptimizeResponse = plan.message()?;
    let checked = planning::verify(&request, &response)
        .map_err(|refusal| Failure::refused(&source.name, refusal, str::to_owned))?;
    if checked.faults.is_empty() {
        let result = result(&response, checked.is_proof_checked);
        files::print(&format!("{}: {result}\n", plan.name))?;
        return Ok(Answered::Well);
    }
    let mut text = String::new();
    for fault in &checked.faults {
        text.push_str(&escaped(fault));
        text.push('\n');
    }
    files::print(&text)?;
    Ok(Answered::Faulty)
}

/// What is known of a response without faults; what was not checked is said.
fn result(response: &pb::OptimizeResponse, is_proof_checked: bool) -> String {
    let report = response.report.as_ref();
    let is_optimal = report.is_some_and(|report| report.outcome() == pb::Outcome::Optimal);
    let is_certified = report.is_some_and(|report| report.certificate.is_some());
    if !is_proof_checked {
        let what = if is_optimal { "optimality" } else { "bounds" };
        let is_solvers = |rank: &pb::RankBound| rank.proof() == pb::Proof::SolverBound;
        let why = match report.is_some_and(|report| report.ranks.iter().any(is_solvers)) {
            true => "the word of the MIP solver",
            false => "no certificate (plan with --certificate)",
        };
        return format!(
            "the plan is legal and its costs and moves are right; {what} not checked: {why}"
        );
    }
    let proof = match (is_optimal, is_certified) {
        (true, true) => "optimality proven by its certificate",
        (true, false) => "optimality proven, which needs no certificate here",
        (false, true) => "not proven optimal, its bounds proven by its certificate",
        (false, false) => "not proven optimal",
    };
    format!("no faults; {proof}")
}
