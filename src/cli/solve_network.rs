//! `solve-network`: the bare solver on a DIMACS file.

mod answer;
mod memory;
mod work;

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use super::failure::{Failure, Lines};
use super::planning_args::time;
use super::{Answered, files};
use work::{End, Job, Stats};

/// Statuses of networks without a printed flow.
const STATUS_INFEASIBLE: u8 = 3;
const STATUS_UNBALANCED: u8 = 4;
const STATUS_UNBOUNDED: u8 = 5;
const STATUS_RANGE: u8 = 6;
const STATUS_STOPPED: u8 = 7;

/// How long after the budget an answer may still come from work that notices the end of it by itself.
const GRACE: Duration = Duration::from_millis(40);

const AFTER_HELP: &str = "\
Output: `s COST`, then `f TAIL HEAD FLOW` for every arc with flow in the order of the file, then with --potentials
`p NODE POTENTIAL`. Costs are exact, up to 128 bits. For every arc, unit cost + potential of its tail - potential of its
head is at least 0 where its flow may rise and at most 0 where it may fall; this was checked before anything is printed.
Without an optimum nothing is printed to standard output, and standard error says why.

Exit status:
  0  optimal
  1  anything else, such as a file that can't be read
  2  the arguments or the file are wrong: every finding, with its line
  3  infeasible: the nodes of a cut that supply more than can leave them
  4  unbalanced supplies: by how much, and how much can be delivered at most
  5  unbounded: a cycle of uncapacitated arcs that costs less than 0
  6  out of range: the line or the limit
  7  stopped by the time budget";

/// Who solves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Engine {
    /// Whichever of the next two the numbers of the network speak for
    Auto,
    /// The network simplex, in integers
    Simplex,
    /// Cost scaling, in integers; the simplex where numbers are too large for it or no flow is feasible
    CostScaling,
    /// HiGHS's simplex, for comparison: numbers up to 2^53, names no cut and no cycle
    #[cfg(feature = "highs")]
    Highs,
}

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// A minimum-cost flow problem in DIMACS form, plain or gzip; - is standard input
    file: PathBuf,
    /// Write the answer there; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Print a line for every arc, those without flow too, so that parallel arcs can be told apart
    #[arg(long)]
    all: bool,
    /// Print the potentials that prove the answer optimal
    #[arg(long)]
    potentials: bool,
    /// Who solves
    #[arg(long, value_enum, default_value = "auto")]
    engine: Engine,
    /// Print sizes, seconds, counters and peak memory to standard error
    #[arg(long)]
    stats: bool,
    /// Most time for reading, solving and checking, such as 200ms, 2s or 1m
    #[arg(long, value_name = "TIME", value_parser = time)]
    time_budget: Option<prost_types::Duration>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Answered, Failure> {
    let started = Instant::now();
    let budget = match arguments.time_budget.map(Duration::try_from).transpose() {
        Ok(budget) => budget,
        Err(error) => return Err(Failure::Usage(format!("--time-budget: {error}"))),
    };
    let job = Job {
        file: arguments.file.clone(),
        engine: arguments.engine,
        // A budget beyond what the clock counts never ends.
        deadline: budget.and_then(|budget| started.checked_add(budget)),
    };
    let (stats, end) = finished(job);
    if arguments.stats {
        files::complain(&stats.to_string());
    }
    let name = files::name(&arguments.file);
    match end? {
        End::Optimal(solved) => {
            let text = answer::optimal(&solved, arguments.all, arguments.potentials);
            files::write(&arguments.output, &text)?;
            Ok(Answered::Well)
        }
        End::Wrong(findings) if findings.is_range_only => {
            let lines = findings_text(&findings);
            Ok(said(
                STATUS_RANGE,
                &format!("{name} is out of range:{lines}"),
            ))
        }
        End::Wrong(findings) => Err(Failure::Invalid {
            file: name,
            lines: findings_text(&findings),
        }),
        End::Infeasible(cut) => Ok(said(STATUS_INFEASIBLE, &answer::infeasible(cut.as_ref()))),
        End::Unbalanced(surplus, delivery) => {
            let text = answer::unbalanced(surplus, &delivery);
            Ok(said(STATUS_UNBALANCED, &text))
        }
        End::Unbounded(cycle) => Ok(said(STATUS_UNBOUNDED, &answer::unbounded(cycle.as_ref()))),
        End::Range(text) => Ok(said(STATUS_RANGE, &format!("out of range: {text}"))),
        End::Stopped => Ok(said(
            STATUS_STOPPED,
            "stopped by the time budget, without an answer",
        )),
    }
}

fn said(status: u8, text: &str) -> Answered {
    files::complain(text);
    Answered::Unsolved(status)
}

fn findings_text(findings: &crate::interop::dimacs::Findings) -> Lines {
    let untold = findings.count - findings.first.len() as u64;
    let told = findings.first.iter().map(ToString::to_string);
    let more = (untold > 0).then(|| format!("and {untold} more"));
    Lines::new(told.chain(more))
}

/// Does the job on a thread of its own. What doesn't end by itself shortly after the deadline (an input that stalls, an
/// engine that looks at no clock) is left behind, and ends with the process.
fn finished(job: Job) -> (Stats, Result<End, Failure>) {
    let deadline = job.deadline;
    let (tell, told) = mpsc::channel();
    let spawned = thread::Builder::new()
        .name("solve-network".to_owned())
        .spawn(move || {
            // Nobody listens any more once the deadline has passed.
            let _ = tell.send(work::run(&job));
        });
    if let Err(error) = spawned {
        let text = format!("can't start a thread: {error}");
        return (Stats::default(), Err(Failure::Other(text)));
    }
    let answer = match deadline {
        None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(deadline) => {
            let left = (deadline + GRACE).saturating_duration_since(Instant::now());
            told.recv_timeout(left)
        }
    };
    answer.unwrap_or_else(|error| {
        let end = match error {
            RecvTimeoutError::Timeout => Ok(End::Stopped),
            RecvTimeoutError::Disconnected => Err(Failure::Other(
                "the solver has failed; this is a bug".to_owned(),
            )),
        };
        (Stats::default(), end)
    })
}
