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
    let faults = planning::verify(&request, &response)
        .map_err(|refusal| Failure::refused(&source.name, refusal, str::to_owned))?;
    if faults.is_empty() {
        files::print(&format!("{}: no faults\n", plan.name))?;
        return Ok(Answered::Well);
    }
    let mut text = String::new();
    for fault in &faults {
        text.push_str(&escaped(fault));
        text.push('\n');
    }
    files::print(&text)?;
    Ok(Answered::Faulty)
}
