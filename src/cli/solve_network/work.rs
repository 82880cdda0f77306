//! Reading, building, solving and checking, with the time each takes.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use shardflow_solver::bare::{self, Cut, Delivery, Outcome, Solution, SolveError};
use shardflow_solver::budget::{Budget, Stop};
use shardflow_solver::linear::{self, Method};
use shardflow_solver::network::{CostError, Network, RankCost};

use super::super::failure::Failure;
use super::super::files;
use super::{Engine, memory};
use crate::interop::dimacs::{self, Findings, Instance, Limits, ReadError};

/// What is to be done.
pub(super) struct Job {
    pub(super) file: PathBuf,
    pub(super) engine: Engine,
    /// When the time budget ends.
    pub(super) deadline: Option<Instant>,
}

/// A network with its checked optimum.
pub(super) struct Solved {
    pub(super) network: Network,
    pub(super) solution: Solution,
    /// Cost of the flow.
    pub(super) total: i128,
}

/// How a job ends, where nothing fails.
pub(super) enum End {
    Optimal(Solved),
    Infeasible(Option<Cut>),
    /// The surplus, and what can be delivered or why that isn't known.
    Unbalanced(i128, Result<Delivery, SolveError>),
    Unbounded(Option<Cycle>),
    /// What is out of range.
    Range(String),
    Stopped,
    Wrong(Findings),
}

/// A cycle whose cost has no end.
pub(super) struct Cycle {
    /// Tails of its arcs, by the numbers of the file.
    pub(super) nodes: Vec<usize>,
    /// Cost of one unit around it.
    pub(super) cost: i128,
}

/// What `--stats` prints, as far as the job came.
#[derive(Default)]
pub(super) struct Stats {
    sizes: Option<(usize, usize)>,
    read: Option<Duration>,
    build: Option<Duration>,
    solve: Option<Duration>,
    check: Option<Duration>,
    counters: Option<linear::Stats>,
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((nodes, arcs)) = self.sizes {
            writeln!(f, "nodes {nodes}\narcs {arcs}")?;
        }
        for (name, time) in [
            ("read", self.read),
            ("build", self.build),
            ("solve", self.solve),
            ("check", self.check),
        ] {
            if let Some(time) = time {
                writeln!(f, "{name}_seconds {:.6}", time.as_secs_f64())?;
            }
        }
        if let Some(counters) = &self.counters {
            write_counters(counters, f)?;
        }
        match memory::peak_bytes() {
            Some(bytes) => write!(f, "peak_bytes {bytes}"),
            None => write!(f, "peak_bytes unknown"),
        }
    }
}

/// Pivots where the simplex solved, phases where cost scaling did.
fn write_counters(counters: &linear::Stats, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match counters.method {
        Method::Auto => {}
        Method::Simplex => writeln!(f, "pivots {}", counters.pivots)?,
        Method::CostScaling => writeln!(
            f,
            "phases {}\nrelabels {}\nglobal_updates {}",
            counters.phases, counters.relabels, counters.updates
        )?,
    }
    writeln!(f, "arcs_priced {}", counters.arcs_priced)
}

/// Does the job.
pub(super) fn run(job: &Job) -> (Stats, Result<End, Failure>) {
    let mut stats = Stats::default();
    let end = steps(job, &mut stats);
    (stats, end)
}

fn steps(job: &Job, stats: &mut Stats) -> Result<End, Failure> {
    let interrupt = || {
        let is_over = job
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        is_over.then_some(Stop::TimeBudget)
    };
    let mut budget = Budget::new(None, &interrupt);
    let instance = timed(&mut stats.read, || read(&job.file, &mut budget));
    let instance = match instance {
        Ok(instance) => instance,
        Err(ReadError::Wrong(findings)) => return Ok(End::Wrong(findings)),
        Err(ReadError::Stopped(_)) => return Ok(End::Stopped),
        Err(ReadError::Io(cause)) => {
            let name = files::name(&job.file);
            return Err(Failure::read(Path::new(&name), cause));
        }
    };
    let Instance {
        builder,
        cost,
        surplus,
        costliest,
    } = instance;
    if surplus != 0 {
        let delivery = bare::deliverable(builder, surplus, &mut budget);
        return Ok(match delivery {
            Err(SolveError::Stopped(_)) => End::Stopped,
            delivery => End::Unbalanced(surplus, delivery),
        });
    }
    let built = timed(&mut stats.build, || builder.build());
    let network = match built {
        Ok(network) => network,
        Err(error) => return Ok(End::Range(error.to_string())),
    };
    stats.sizes = Some((network.node_count(), network.arc_count()));
    match outcome(job, &network, &cost, &mut budget, stats) {
        Ok(outcome) => Ok(end(network, &cost, outcome)),
        Err(SolveError::Stopped(_)) => Ok(End::Stopped),
        Err(SolveError::Cost(error)) => Ok(End::Range(costly(&error, costliest))),
        Err(SolveError::Range(text)) => Ok(End::Range(text)),
        Err(SolveError::Engine(text)) => Err(Failure::Other(text)),
    }
}

fn timed<T>(time: &mut Option<Duration>, step: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = step();
    *time = Some(started.elapsed());
    done
}

fn read(path: &Path, budget: &mut Budget<'_>) -> Result<Instance, ReadError> {
    let limits = Limits::default();
    if files::is_dash(path) {
        return dimacs::read(io::stdin().lock(), None, &limits, budget);
    }
    let file = File::open(path)?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    let bytes = found.is_file().then_some(found.len());
    dimacs::read(file, bytes, &limits, budget)
}

fn outcome(
    job: &Job,
    network: &Network,
    cost: &RankCost,
    budget: &mut Budget<'_>,
    stats: &mut Stats,
) -> Result<Outcome, SolveError> {
    let method = match job.engine {
        Engine::Auto => Method::Auto,
        Engine::Simplex => Method::Simplex,
        Engine::CostScaling => Method::CostScaling,
        #[cfg(feature = "highs")]
        Engine::Highs => return by_highs(job, network, cost, stats),
    };
    let (outcome, counters) = timed(&mut stats.solve, || {
        bare::outcome(network, cost, method, budget)
    });
    stats.counters = Some(counters);
    let outcome = outcome?;
    timed(&mut stats.check, || bare::proven(network, cost, outcome))
}

#[cfg(feature = "highs")]
fn by_highs(
    job: &Job,
    network: &Network,
    cost: &RankCost,
    stats: &mut Stats,
) -> Result<Outcome, SolveError> {
    let left = job.deadline.map(|deadline| {
        let left = deadline.saturating_duration_since(Instant::now());
        left.as_secs_f64()
    });
    let outcome = timed(&mut stats.solve, || {
        shardflow_solver::highs::outcome(network, cost, left)
    })?;
    timed(&mut stats.check, || bare::proven(network, cost, outcome))
}

fn end(network: Network, cost: &RankCost, outcome: Outcome) -> End {
    match outcome {
        Outcome::Optimal(solution) => match bare::total(cost, &solution.flow) {
            Some(total) => End::Optimal(Solved {
                network,
                solution,
                total,
            }),
            None => End::Range("the cost of the optimal flow does not fit 128 bits".to_owned()),
        },
        Outcome::Infeasible(cut) => End::Infeasible(cut),
        Outcome::Unbounded(cycle) => End::Unbounded(cycle.map(|cycle| {
            Cycle {
                nodes: (cycle.iter())
                    .map(|&arc| network.tail(arc).index() + 1)
                    .collect(),
                cost: (cycle.iter())
                    .map(|&arc| i128::from(cost.unit_cost(arc)))
                    .sum(),
            }
        })),
    }
}

/// Why unit costs are out of range, with the line of the largest.
fn costly(error: &CostError, costliest: Option<(u64, i64)>) -> String {
    match costliest {
        Some((line, cost)) => {
            format!("unit costs: {error}; the largest is {cost}, first on line {line}")
        }
        None => error.to_string(),
    }
}
