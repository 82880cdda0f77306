//! `export`: a plan as files for other tools.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::Answered;
use super::failure::{Failure, Lines};
use super::files::{self, Source};
use crate::interop::kafka;
use crate::pb;
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
    /// The OptimizeResponse as JSON, or its plan alone; - is standard input
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
    let request: pb::OptimizeRequest = Source::read(&arguments.file)?.message()?;
    let plan = Source::read(&arguments.plan)?;
    let (response, _) = plan.plan()?;
    let export = kafka::export(&request, &response).map_err(|error| Failure::Invalid {
        file: plan.name,
        lines: Lines::new(error.findings),
    })?;
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
