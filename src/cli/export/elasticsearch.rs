//! `export elasticsearch`.

use std::path::PathBuf;

use clap::Args;

use super::super::Answered;
use super::super::failure::Failure;
use super::super::files;
use super::{Planned, remark};
use crate::interop::elasticsearch::{Limits, export};

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    planned: Planned,
    /// Most copies of one body that come to a node, and most that leave it
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    per_node: u32,
    /// Write the bodies here, one a line, instead of to standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Answered, Failure> {
    let limits = Limits {
        per_node: arguments.per_node as usize,
    };
    let planned = &arguments.planned;
    let export = planned.export(|request, response| export(request, response, limits))?;
    match &arguments.output {
        Some(output) => files::write(output, &export.reroute)?,
        None => files::print(&export.reroute)?,
    }
    remark(&export.warnings, &export.notes);
    Ok(Answered::Well)
}
