//! `make soak`: random cases against a second algorithm, until the first mismatch; and how late solves stop.

use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};
use shardflow_soak::calm::{self, Event, Shape};
use shardflow_soak::run::{self, Check, Mismatch};
use shardflow_soak::{deadlines, disk, hot, sets, stuck};
use shardflow_solver::strategy::Planner;

/// How many cases of replica sets a run is silent for.
const PROGRESS_EVERY: u64 = 20;

#[derive(Parser)]
#[command(name = "soak", about = "Compares the solver with a second algorithm")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Many cases; exit status 1 and the case at the first mismatch.
    Run {
        /// How many.
        #[arg(long, default_value_t = 10_000)]
        count: u64,
        /// Of the whole run.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// One kind of check instead of the mixture.
        #[arg(long)]
        only: Option<Check>,
    },
    /// Whole replica sets against an integer program; exit status 1 where something is wrong, or fewer than 95 of 100
    /// answers are the best.
    Sets {
        /// How many.
        #[arg(long, default_value_t = 300)]
        count: u64,
        /// Of the whole run.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The greedy tiers instead of the engine that fits; of them, only the plan is checked.
        #[arg(long)]
        tiers: bool,
    },
    /// Large healthy clusters after one event; exit status 1 where a solve takes more than a minute of processor time, or
    /// the weighted cost isn't proven to be within 1 % of the optimum.
    Calm {
        /// Shards, 50 a stream.
        #[arg(long, default_value_t = 10_000)]
        shards: usize,
        /// Brokers before the event.
        #[arg(long, default_value_t = 50)]
        brokers: usize,
        /// Zones.
        #[arg(long, default_value_t = 3)]
        zones: usize,
        /// Replicas of each shard, at most as many as zones.
        #[arg(long, default_value_t = 3)]
        factor: usize,
        /// One event instead of each.
        #[arg(long)]
        event: Option<Event>,
        /// Of traffic, sizes and the broker that something happens to.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Disks nearly full; exit status 1 where a replica is unplaced though HiGHS finds room for all, or a disk overflows.
    Disk {
        /// Of sizes and the broker that something happens to.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Streams with one hot shard; exit status 1 where rates are less level than they can be, or nothing says why.
    Hot {
        /// How many.
        #[arg(long, default_value_t = 100)]
        count: u64,
        /// Of the whole run.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Solves of 200 ms on a problem that HiGHS takes more than a minute for; exit status 1 where they stop late, or leave
    /// threads or memory behind.
    Stuck {
        /// How many.
        #[arg(long, default_value_t = 100)]
        count: usize,
    },
    /// How late solves stop; exit status 1 where one in a thousand is more than 50 ms late.
    Deadlines {
        /// How many.
        #[arg(long, default_value_t = 1_000)]
        count: usize,
        /// Of clusters and budgets.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Sizes instead of all: tiny, S1, S2, S3, 300k, S4, sets-small, sets, loads-small, loads.
        sizes: Vec<String>,
    },
    /// One case again, by the seed that a run printed.
    Case {
        /// What it checks.
        check: Check,
        /// Its seed.
        seed: u64,
    },
}

/// A large snapshot is millions of small strings. With the allocator of glibc a large allocation now and then stopped to
/// tidy up what they had left, and a solve ended 260 ms after its budget.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Run { count, seed, only } => soak(seed, count, only),
        Command::Sets { count, seed, tiers } => sets(seed, count, tiers),
        Command::Calm {
            shards,
            brokers,
            zones,
            factor,
            event,
            seed,
        } => calm(
            Shape {
                shards,
                brokers,
                zones,
                factor,
            },
            event,
            seed,
        ),
        Command::Disk { seed } => told(
            disk::measure(seed, |solve| println!("{solve}")),
            disk::Measured::is_good,
        ),
        Command::Hot { count, seed } => {
            told(hot::measure(seed, count, |_| {}), hot::Measured::is_good)
        }
        Command::Stuck { count } => told(
            stuck::measure(count, |solve| eprintln!("{solve}")),
            stuck::Measured::is_good,
        ),
        Command::Deadlines { count, seed, sizes } => {
            let measured = deadlines::measure(seed, count, &sizes, |solve| eprintln!("{solve}"));
            told(measured, deadlines::Measured::is_in_time)
        }
        Command::Case { check, seed } => match run::case(check, seed) {
            Ok(seen) => {
                println!("{seen}");
                ExitCode::SUCCESS
            }
            Err(fault) => mismatch(&Mismatch { check, seed, fault }),
        },
    }
}

fn soak(seed: u64, count: u64, only: Option<Check>) -> ExitCode {
    let started = Instant::now();
    let progress = |done: u64| {
        let seconds = started.elapsed().as_secs();
        eprintln!("{done} of {count} cases, {seconds} s");
    };
    match run::run(seed, count, only, progress) {
        Err(found) => mismatch(&found),
        Ok(counts) => {
            for (what, count) in &counts {
                println!("{count:>9}  {what}");
            }
            let seconds = started.elapsed().as_secs_f64();
            let rate = count as f64 / seconds;
            println!("{count} cases, seed {seed}: no mismatch; {seconds:.1} s, {rate:.0} a second");
            ExitCode::SUCCESS
        }
    }
}

fn sets(seed: u64, count: u64, tiers: bool) -> ExitCode {
    let planner = match tiers {
        true => Planner::GreedyTiers,
        false => Planner::Auto,
    };
    let started = Instant::now();
    let measured = sets::measure(seed, count, planner, |done| {
        if done.is_multiple_of(PROGRESS_EVERY) {
            let seconds = started.elapsed().as_secs();
            eprintln!("{done} of {count} cases, {seconds} s");
        }
    });
    println!("{measured}");
    exit_code(measured.is_good())
}

fn exit_code(is_good: bool) -> ExitCode {
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn calm(shape: Shape, event: Option<Event>, seed: u64) -> ExitCode {
    let mut is_good = true;
    for event in event.map_or(vec![Event::Drain, Event::Join, Event::Dead], |event| {
        vec![event]
    }) {
        is_good &=
            told(calm::measure(shape, event, seed), calm::Measured::is_good) == ExitCode::SUCCESS;
    }
    exit_code(is_good)
}

/// Prints what was measured, or what is wrong.
fn told<T: std::fmt::Display>(
    measured: Result<T, String>,
    is_good: impl Fn(&T) -> bool,
) -> ExitCode {
    match measured {
        Ok(measured) => {
            println!("{measured}");
            exit_code(is_good(&measured))
        }
        Err(fault) => {
            println!("{fault}");
            ExitCode::FAILURE
        }
    }
}

fn mismatch(found: &Mismatch) -> ExitCode {
    let Mismatch { check, seed, fault } = found;
    println!("{fault}");
    let check = format!("{check:?}").to_lowercase();
    let what = fault.lines().next().unwrap_or_default();
    println!("mismatch: {what}\nagain with: soak case {check} {seed}");
    ExitCode::FAILURE
}
