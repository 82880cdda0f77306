//! `export kafka`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::super::Answered;
use super::super::failure::Failure;
use super::super::files;
use super::{Planned, remark};
use crate::interop::kafka::export;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    planned: Planned,
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
pub(super) fn run(arguments: &Arguments) -> Result<Answered, Failure> {
    check_outputs(arguments)?;
    let export = arguments.planned.export(export)?;
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
    remark(&export.warnings, &export.notes);
    Ok(Answered::Well)
}

/// Two outputs in one file would leave only the last.
fn check_outputs(arguments: &Arguments) -> Result<(), Failure> {
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
