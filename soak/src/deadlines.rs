//! How late solves stop: mixed sizes, budgets of 1 to 1,000 ms, by a time budget or by a cancellation.
//!
//! What counts is the work that the response reports as `elapsed`: reading the request, validating, solving, planning
//! and verifying, without the encoding. A solve that ends before its time is not late.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use shardflow::pb;
use shardflow::planning::{self, Control};
use shardflow_solver::input::{BalanceInput, PolicyInput, SnapshotInput};
use shardflow_solver::snapshot::Dimension;
use tokio_util::sync::CancellationToken;

use crate::calm::{self, Event, Shape};
use crate::cases::Case;
use crate::family::{self, Size};
use crate::rng::Rng;
use crate::wire;

/// The most that work may go on past its time, in 999 of 1,000 solves.
pub const LATE_MAX: Duration = Duration::from_millis(50);
/// 99.9 %.
pub(crate) const PER_MILLE: usize = 999;

/// A size, what is decided, and how many solves of a hundred are of it.
struct Sort {
    size: Size,
    decides: Decides,
    percent: usize,
}

/// What a cluster leaves to decide.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decides {
    /// Every factor is 1.
    Leaders,
    /// Three replicas of each shard.
    Sets,
    /// The same, with disks, rate capacities and a balance of bytes.
    Loads,
}

const fn sort(
    name: &'static str,
    decides: Decides,
    percent: usize,
    [shards, brokers, zones, streams]: [usize; 4],
) -> Sort {
    let size = Size {
        name,
        shards,
        brokers,
        zones,
        streams,
    };
    Sort {
        size,
        decides,
        percent,
    }
}

/// Those of the benchmarks (see `benches/family`), with one that is tiny and one in between; then whole replica sets.
const SORTS: [Sort; 10] = [
    sort("tiny", Decides::Leaders, 15, [20, 5, 3, 3]),
    sort("S1", Decides::Leaders, 15, [1_004, 10, 3, 20]),
    sort("S2", Decides::Leaders, 15, [10_019, 50, 3, 200]),
    sort("S3", Decides::Leaders, 15, [100_037, 100, 6, 2_000]),
    sort("300k", Decides::Leaders, 5, [300_111, 300, 6, 6_000]),
    sort("S4", Decides::Leaders, 5, [1_000_370, 1_000, 6, 20_000]),
    sort("sets-small", Decides::Sets, 10, [40, 6, 3, 4]),
    sort("sets", Decides::Sets, 10, [10_000, 50, 3, 200]),
    sort("loads-small", Decides::Loads, 5, [40, 6, 3, 4]),
    sort("loads", Decides::Loads, 5, [2_000, 20, 4, 40]),
];

/// The cluster of a sort and what to optimise it for.
fn cluster(sort: &Sort, seed: u64) -> (SnapshotInput, PolicyInput) {
    if sort.decides == Decides::Leaders {
        return family::make(&sort.size, seed);
    }
    let shape = Shape {
        shards: sort.size.shards,
        brokers: sort.size.brokers,
        zones: sort.size.zones,
        factor: 3,
    };
    let Case {
        mut snapshot,
        mut policy,
    } = calm::after(calm::healthy(shape, seed), shape, Event::Drain, seed);
    if sort.decides == Decides::Loads {
        add_loads(&mut snapshot, &mut policy);
    }
    (snapshot, policy)
}

/// A quarter more room than a level cluster needs.
fn add_loads(snapshot: &mut SnapshotInput, policy: &mut PolicyInput) {
    let brokers = snapshot.brokers.len() as i64;
    let bytes: i64 = snapshot.shards.iter().map(|shard| shard.size_bytes).sum();
    let rates: i64 = snapshot.shards.iter().map(|shard| shard.rate).sum();
    for broker in &mut snapshot.brokers {
        broker.disk_bytes = Some(3 * bytes / brokers * 5 / 4);
        broker.rate_capacity = Some(rates / brokers * 5 / 4);
    }
    policy.balance = Some(BalanceInput {
        dimension: Dimension::Bytes,
        tolerance_percent: 1,
    });
}

/// How one solve went.
pub(crate) struct Solve {
    /// How long it worked on past its time.
    pub(crate) late: Duration,
    /// Whose plan was the answer, or that not even the request was checked.
    pub(crate) engine: String,
}

/// What was measured.
#[derive(Default)]
pub struct Measured {
    by_size: BTreeMap<usize, Vec<Solve>>,
    /// How many a cancellation ended, or would have.
    cancelled: usize,
}

/// Solves `count` times, telling `progress` each time how it went. The sizes named, or all.
///
/// # Errors
/// A refused request, or an answer without time whose label doesn't say so.
pub fn measure(
    seed: u64,
    count: usize,
    names: &[String],
    mut progress: impl FnMut(&dyn fmt::Display),
) -> Result<Measured, String> {
    let is_wanted = |sort: &&Sort| names.is_empty() || names.iter().any(|n| n == sort.size.name);
    let mut rng = Rng::new(seed);
    let mut measured = Measured::default();
    for (at, sort) in SORTS.iter().enumerate().filter(|(_, sort)| is_wanted(sort)) {
        let (snapshot, policy) = cluster(sort, seed);
        let mut request = wire::request(&snapshot, &policy);
        drop((snapshot, policy));
        let solves = (count * sort.percent).div_ceil(100);
        for _ in 0..solves {
            let is_cancelled = rng.chance(25);
            let time = budget(&mut rng);
            let solve = solve(&mut request, time, is_cancelled)?;
            measured.cancelled += usize::from(is_cancelled);
            let late = millis(solve.late);
            let name = sort.size.name;
            progress(&format_args!(
                "{name}: {} ms, {late:.1} ms late, {}{}",
                time.as_millis(),
                solve.engine,
                if is_cancelled { ", cancelled" } else { "" }
            ));
            measured.by_size.entry(at).or_default().push(solve);
        }
    }
    Ok(measured)
}

/// From 1 to 1,000 ms, as often below 30 ms as above.
fn budget(rng: &mut Rng) -> Duration {
    let decade = 10u64.pow(rng.below(3) as u32);
    Duration::from_millis(decade * rng.between(1, 10) as u64)
}

/// Solves within a time budget, or until a cancellation after that time.
pub(crate) fn solve(
    request: &mut pb::OptimizeRequest,
    time: Duration,
    is_cancelled: bool,
) -> Result<Solve, String> {
    let token = CancellationToken::new();
    // A thread that sleeps wakes when it gets its turn: what counts is when it did cancel.
    let cancelled_at = Arc::new(OnceLock::new());
    let mut options = pb::Options::default();
    if is_cancelled {
        let (token, cancelled_at) = (token.clone(), Arc::clone(&cancelled_at));
        std::thread::spawn(move || {
            std::thread::sleep(time);
            cancelled_at.get_or_init(Instant::now);
            token.cancel();
        });
    } else {
        options.time_budget = prost_types::Duration::try_from(time).ok();
    }
    request.options = Some(options);
    let started = Instant::now();
    let response = planning::optimize(request, &Control::new(token));
    let response = response.map_err(|refusal| refusal.to_string())?;
    let (Some(report), Some(plan)) = (&response.report, &response.plan) else {
        return Err("no plan or no report".to_owned());
    };
    let elapsed = report.elapsed.and_then(|e| Duration::try_from(e).ok());
    let elapsed = elapsed.ok_or("no time in the report")?;
    let is_labelled = report.fallback() != pb::FallbackReason::None && !report.reproducible;
    if report.engine() == pb::Engine::Current && !(plan.moves.is_empty() && is_labelled) {
        return Err(format!(
            "the present layout without a reason: {:?}",
            report.fallback()
        ));
    }
    let engine = match report.unchecked {
        true => "Unchecked".to_owned(),
        false => format!("{:?}", report.engine()),
    };
    let ended = started + elapsed;
    let late = match is_cancelled {
        true => (cancelled_at.get()).map(|&at| ended.saturating_duration_since(at)),
        false => Some(elapsed.saturating_sub(time)),
    };
    Ok(Solve {
        late: late.unwrap_or_default(),
        engine,
    })
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

impl Measured {
    /// Whether 999 of 1,000 solves are at most [`LATE_MAX`] late.
    pub fn is_in_time(&self) -> bool {
        let late = sorted(self.by_size.values().flatten());
        percentile(&late, PER_MILLE) <= LATE_MAX
    }
}

fn sorted<'a>(solves: impl Iterator<Item = &'a Solve>) -> Vec<Duration> {
    let mut late: Vec<Duration> = solves.map(|solve| solve.late).collect();
    late.sort_unstable();
    late
}

/// The value that so many of a thousand are at or below.
pub(crate) fn percentile(sorted: &[Duration], per_mille: usize) -> Duration {
    let at = (sorted.len() * per_mille).div_ceil(1000).max(1) - 1;
    sorted.get(at).copied().unwrap_or_default()
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "ms late      solves       50%       90%       99%     99.9%      100%"
        )?;
        for (&at, solves) in &self.by_size {
            row(f, SORTS[at].size.name, &solves.iter().collect::<Vec<_>>())?;
        }
        row(
            f,
            "all",
            &self.by_size.values().flatten().collect::<Vec<_>>(),
        )?;
        write!(f, "{} of them cancelled", self.cancelled)
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, solves: &[&Solve]) -> fmt::Result {
    let late = sorted(solves.iter().copied());
    let mut engines: BTreeMap<&str, usize> = BTreeMap::new();
    for solve in solves {
        *engines.entry(&solve.engine).or_default() += 1;
    }
    write!(f, "{name:<11} {:>7}", solves.len())?;
    for per_mille in [500, 900, 990, PER_MILLE, 1000] {
        write!(f, " {:>9.1}", millis(percentile(&late, per_mille)))?;
    }
    writeln!(f, "  {engines:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late(millis: impl Iterator<Item = u64>) -> Measured {
        let solve = |late| Solve {
            late: Duration::from_millis(late),
            engine: String::new(),
        };
        Measured {
            by_size: BTreeMap::from([(0, millis.map(solve).collect())]),
            cancelled: 0,
        }
    }

    #[test]
    fn one_in_a_thousand_may_be_late() {
        assert!(late(std::iter::repeat_n(50, 999).chain([900])).is_in_time());
        assert!(!late(std::iter::repeat_n(50, 998).chain([51, 900])).is_in_time());
        assert!(!late([0, 51].into_iter()).is_in_time());
        assert!(late(std::iter::empty()).is_in_time());
    }

    #[test]
    fn percentiles_are_values_that_occur() {
        let sorted: Vec<Duration> = (1..=10).map(Duration::from_millis).collect();
        assert_eq!(percentile(&sorted, 500), Duration::from_millis(5));
        assert_eq!(percentile(&sorted, 501), Duration::from_millis(6));
        assert_eq!(percentile(&sorted, 1000), Duration::from_millis(10));
    }

    #[test]
    fn a_small_cluster_is_solved_and_labelled() {
        let measured = measure(1, 10, &["tiny".to_owned()], |_| {}).unwrap();
        assert_eq!(measured.by_size[&0].len(), 2);
    }
}
