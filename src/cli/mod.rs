//! The command line: arguments, files and exit statuses around the planning core.
//!
//! | status | means |
//! | --- | --- |
//! | 0 | answered |
//! | 2 | the input or the arguments are wrong; every finding is on standard error, with its path in the file |
//! | 1 | anything else: a file that can't be read or written, a server out of reach, a plan with faults |
//! | 3 to 7 | `solve-network` only: why a network has no optimum that could be printed |
//!
//! Standard output carries the answer and nothing else.

mod compare;
mod explain;
mod export;
mod failure;
mod files;
mod import;
mod optimize;
mod planning_args;
mod remote;
mod screen;
mod serve;
mod solve_network;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Status of a plan that has faults.
const STATUS_FAULTY: u8 = 1;

/// Places the shards of a cluster: the least costly layout, proven, and the moves to it
#[derive(Parser, Debug)]
#[command(name = "shardflow", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Answer requests over gRPC
    Serve(serve::Arguments),
    /// Plan one request
    Optimize(optimize::Arguments),
    /// Plan one snapshot twice, side by side
    Compare(compare::Arguments),
    /// Check a plan against its request
    Verify(verify::Arguments),
    /// Solve a minimum-cost flow problem in DIMACS form
    SolveNetwork(solve_network::Arguments),
    /// Why a shard is led where it is, and what another broker would cost
    Explain(explain::Arguments),
    /// Make a request of what other tools print
    #[command(subcommand)]
    Import(import::Format),
    /// Make files for other tools of a plan
    #[command(subcommand)]
    Export(export::Format),
}

/// What a command that answered has to say about it.
enum Answered {
    /// Nothing but the answer.
    Well,
    /// The plan that was to be checked has faults.
    Faulty,
    /// A network has no optimum that could be printed; the reason is told, and has this status.
    Unsolved(u8),
}

/// Runs the command that the arguments name, the first of which is the program's own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.command,
        // Help and version come this way too: clap knows their stream and status.
        Err(said) => {
            let _ = said.print();
            return u8::try_from(said.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let answered = match command {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Optimize(arguments) => optimize::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::SolveNetwork(arguments) => solve_network::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Import(format) => import::run(&format),
        Command::Export(format) => export::run(&format),
    };
    match answered {
        Ok(Answered::Well) => ExitCode::SUCCESS,
        Ok(Answered::Faulty) => ExitCode::from(STATUS_FAULTY),
        Ok(Answered::Unsolved(status)) => ExitCode::from(status),
        Err(failure) => {
            if !matches!(failure, Failure::Closed) {
                files::complain(&format!("error: {failure}"));
            }
            ExitCode::from(failure.status())
        }
    }
}
