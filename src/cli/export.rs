//! `export`: a plan as files for other tools.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::Answered;
use super::failure::{Failure, Lines, Place};
use super::files::{self, Source};
use crate::interop::{self, kafka};
use crate::pb;
use crate::planning;
use crate::report::escaped;

#[derive(Subcommand, Debug)]
pub(super) enum Format {
    /// For kafka-reassign-partitions and kafka-leader-election
    Kafka(Kafka),
}

#[derive(Args, Debug)]
pub(super) struct Kafka {
    /// The OptimizeRequest as JSON; - is standard input
    file: PathBuf,
    /// The OptimizeResponse as JSON, or its plan alone, which must be that of the request; - is standard input
    plan: PathBuf,
    /// Write the reassignment here instead of to standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write here what undoes the reassignment
    #[arg(long, value_name = "FILE")]
    rollback: Option<PathBuf>,
    /// Write here the leader election that follows the reassignment
    #[arg(long, value_name = "FILE")]
    election: Option<PathBuf>,
}

/// The way back is written before the way there, so that no reassignment exists without it.
pub(super) fn run(format: &Format) -> Result<Answered, Failure> {
    let Format::Kafka(arguments) = format;
    files::only_one_dash(&[&arguments.file, &arguments.plan])?;
    check_outputs(arguments)?;
    let source = Source::read(&arguments.file)?;
    let request: pb::OptimizeRequest = source.message()?;
    let plan = Source::read(&arguments.plan)?;
    let (response, prefix) = plan.plan()?;
    let files = Files {
        request: &source.name,
        plan: &plan.name,
        prefix,
    };
    let export = kafka::export(&request, &response).map_err(|error| files.blame(error.findings))?;
    files.check(&request, &response)?;
    if let Some(rollback) = &arguments.rollback {
        files::write(rollback, &export.rollback)?;
    }
    if let Some(election) = &arguments.election {
        files::write(election, &export.election)?;
    }
    match &arguments.output {
        Some(output) => files::write(output, &export.reassignment)?,
        None => files::print(&export.reassignment)?,
    }
    for warning in &export.warnings {
        files::complain(&format!("warning: {}", escaped(warning)));
    }
    for note in &export.notes {
        files::complain(&format!("note: {}", escaped(note)));
    }
    Ok(Answered::Well)
}

/// The files that an export is made of.
struct Files<'a> {
    request: &'a str,
    plan: &'a str,
    /// Path in the file of the plan where its own fields begin.
    prefix: &'static str,
}

impl Files<'_> {
    /// What is wrong, in the file that it is about: paths of the snapshot are in the request.
    fn blame(&self, findings: Vec<interop::Finding>) -> Failure {
        let placed = findings.into_iter().map(|finding| {
            let is_asked = finding.place.starts_with("snapshot");
            let file = (!is_asked).then(|| self.plan.to_owned());
            let path = self.inner(&finding.place).to_owned();
            let text = interop::Finding {
                place: path.clone(),
                ..finding
            };
            (Place { file, path }, text.to_string())
        });
        Failure::invalid(self.request, placed.collect())
    }

    /// Refuses a plan that is not one of the request, or that is wrong: what was not planned is not carried out.
    fn check(
        &self,
        request: &pb::OptimizeRequest,
        response: &pb::OptimizeResponse,
    ) -> Result<(), Failure> {
        let refused = |refusal| Failure::refused(self.request, refusal, str::to_owned);
        let plan = response.plan.as_ref().filter(|_| response.report.is_none());
        let faults = match plan {
            Some(plan) => planning::verify_plan(request, plan).map_err(refused)?,
            None => {
                let checked = planning::verify(request, response).map_err(refused)?;
                checked.faults
            }
        };
        if faults.is_empty() {
            return Ok(());
        }
        let lines = Lines::new(faults.iter().map(|fault| self.inner(fault)));
        let file = self.plan.to_owned();
        Err(Failure::Invalid { file, lines })
    }

    /// A text that may begin with the path of a part of the plan, as the file has it.
    fn inner<'t>(&self, text: &'t str) -> &'t str {
        let is_alone = self.prefix.is_empty();
        let inner = text.strip_prefix("plan.").filter(|_| is_alone);
        inner.unwrap_or(text)
    }
}

/// Two outputs in one file would leave only the last.
fn check_outputs(arguments: &Kafka) -> Result<(), Failure> {
    let outputs = [&arguments.output, &arguments.rollback, &arguments.election];
    let outputs: Vec<&Path> = outputs
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    for (i, output) in outputs.iter().enumerate() {
        if outputs[..i].contains(output) {
            let text = format!("{}: named for two outputs", output.display());
            return Err(Failure::Usage(text));
        }
    }
    Ok(())
}
