//! `explain`: why one shard is led where it is, and what every other broker would cost.

use std::path::PathBuf;

use clap::Args;

use super::failure::{Failure, Lines};
use super::files::{self, Source};
use super::planning_args::{Budgets, PlannerName};
use super::{Answered, screen};
use crate::json::{Defaults, to_json};
use crate::pb;
use crate::planning::{self, Control, Unexplained};
use crate::report;

/// Brokers listed beside the chosen one.
const BROKERS_LISTED: usize = 20;

#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// An OptimizeRequest as JSON; - is standard input
    file: PathBuf,
    /// Id of the shard
    shard: String,
    /// Explain the plan of this OptimizeResponse instead of planning; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["planner", "time_budget", "work_limit"])]
    plan: Option<PathBuf>,
    /// List all brokers, not just the 20 that come first
    #[arg(long)]
    all: bool,
    /// Write the explanation as JSON instead of a table; - is standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Who plans, in place of what the file says
    #[arg(long, value_enum)]
    planner: Option<PlannerName>,
    #[command(flatten)]
    budgets: Budgets,
}

pub(super) fn run(arguments: &Arguments) -> Result<Answered, Failure> {
    let mut paths = vec![arguments.file.as_path()];
    paths.extend(arguments.plan.as_deref());
    files::only_one_dash(&paths)?;
    let source = Source::read(&arguments.file)?;
    let mut request: pb::OptimizeRequest = source.message()?;
    let options = request.options.get_or_insert_default();
    arguments.budgets.apply(options);
    if let Some(planner) = arguments.planner {
        options.set_planner(planner.into());
    }
    let plan = arguments.plan.as_deref().map(Source::read).transpose()?;
    let response: Option<pb::OptimizeResponse> = plan.as_ref().map(Source::message).transpose()?;
    let told = planning::explain(
        &request,
        &arguments.shard,
        response.as_ref(),
        &Control::default(),
    )
    .map_err(|error| match error {
        Unexplained::Refused(refusal) => Failure::refused(&source.name, refusal, str::to_owned),
        Unexplained::UnknownShard { .. } => Failure::Usage(error.to_string()),
        Unexplained::Faulty(faults) => Failure::Invalid {
            file: plan.map_or_else(|| source.name.clone(), |plan| plan.name),
            lines: Lines::new(faults),
        },
    })?;
    match &arguments.output {
        Some(output) => files::write(output, &to_json(&told, Defaults::Write)?)?,
        None => {
            let most = if arguments.all {
                usize::MAX
            } else {
                BROKERS_LISTED
            };
            files::print(&report::explain(&told, most, screen::of_stdout()))?;
        }
    }
    Ok(Answered::Well)
}
