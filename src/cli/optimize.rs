//! `optimize`: one request, planned here or by a server.

use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use super::files::{self, Source};
use super::planning_args::{Budgets, PlannerName, Presets};
use super::{Answered, remote, screen};
use crate::json::{Defaults, to_json};
use crate::pb;
use crate::planning::{self, Control};
use crate::report;

#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// An OptimizeRequest as JSON; - is standard input
    file: PathBuf,
    /// Write the response as JSON instead of a table; - is standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Who plans, in place of what the file says
    #[arg(long, value_enum)]
    planner: Option<PlannerName>,
    #[command(flatten)]
    presets: Presets,
    #[command(flatten)]
    budgets: Budgets,
    /// Put the prices that prove the answer into the response
    #[arg(long)]
    certificate: bool,
    /// Ask a running server, such as 127.0.0.1:50051, instead of planning here
    #[arg(long, value_name = "ADDRESS")]
    server: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Answered, Failure> {
    let source = Source::read(&arguments.file)?;
    let mut request: pb::OptimizeRequest = source.message()?;
    arguments.presets.apply(&mut request.policy);
    let options = request.options.get_or_insert_default();
    arguments.budgets.apply(options);
    if let Some(planner) = arguments.planner {
        options.set_planner(planner.into());
    }
    options.include_certificate |= arguments.certificate;
    let response = match &arguments.server {
        Some(server) => remote::optimize(server, &source.name, request.clone())?,
        None => planning::optimize(&request, &Control::default())
            .map_err(|refusal| Failure::refused(&source.name, refusal, str::to_owned))?,
    };
    match &arguments.output {
        Some(output) => files::write(output, &to_json(&response, Defaults::Write)?)?,
        None => files::print(&report::optimize(&request, &response, screen::of_stdout()))?,
    }
    Ok(Answered::Well)
}
