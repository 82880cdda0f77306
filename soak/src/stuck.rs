//! A problem that HiGHS doesn't finish in a minute, with 200 ms for each of a hundred solves in a row: how late they stop,
//! and whether memory and threads are back where they were.

use std::fmt;
use std::time::{Duration, Instant};

use shardflow_solver::input::{
    BalanceInput, BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput,
};
use shardflow_solver::snapshot::Dimension;

use crate::cases::Case;
use crate::deadlines::{LATE_MAX, PER_MILLE, millis, percentile, solve};
use crate::rng::Rng;
use crate::sets::joint;
use crate::{usage, wire};

const TIME: Duration = Duration::from_millis(200);

/// How long HiGHS may take for a rank and not finish.
const STUCK_SECONDS: f64 = 60.0;

/// How long threads that were left behind in HiGHS may take to end: its own limit, and half as much for a busy machine.
const SETTLE: Duration = Duration::from_secs(90);

/// How often to look whether they have.
const LOOK: Duration = Duration::from_millis(100);

/// Memory that allocators may keep.
const KEPT_MAX: u64 = 64 << 20;

/// Solves before the first look, so that everything that is made once is there.
const WARM_UP: usize = 5;

/// What was measured.
pub struct Measured {
    late: Vec<Duration>,
    /// Threads before and after.
    threads: [u64; 2],
    /// Bytes in memory before and after.
    memory: [u64; 2],
    /// Until they were back.
    settled: Duration,
}

/// Bytes of any size to keep exactly level on brokers: a partition of numbers, for which bounds say nothing.
fn case() -> Case {
    let mut rng = Rng::new(1);
    let broker = |b: usize| BrokerInput {
        id: format!("b{b}"),
        zone: format!("z{}", b % 3),
        ..BrokerInput::default()
    };
    let shard = |k: usize| ShardInput {
        id: format!("p{k:02}"),
        stream: "s".to_owned(),
        size_bytes: rng.between(100_000, 1_000_000) as i64,
        ..ShardInput::default()
    };
    let snapshot = SnapshotInput {
        cluster_id: "stuck".to_owned(),
        brokers: (0..6).map(broker).collect(),
        streams: vec![StreamInput {
            id: "s".to_owned(),
            replication_factor: 2,
            ..StreamInput::default()
        }],
        shards: (0..40).map(shard).collect(),
        ..SnapshotInput::default()
    };
    let policy = PolicyInput {
        balance: Some(BalanceInput {
            dimension: Dimension::Bytes,
            tolerance_percent: 0,
        }),
        ..PolicyInput::default()
    };
    Case { snapshot, policy }
}

/// Solves `count` times.
///
/// # Errors
/// HiGHS finishes, a request is refused, or an answer is not labelled as it must be.
pub fn measure(
    count: usize,
    mut progress: impl FnMut(&dyn fmt::Display),
) -> Result<Measured, String> {
    let case = case();
    if joint::optimum(&case.problem(), STUCK_SECONDS)?.is_some() {
        return Err("HiGHS finishes: the problem is too easy".to_owned());
    }
    let mut request = wire::request(&case.snapshot, &case.policy);
    for _ in 0..WARM_UP {
        solve(&mut request, TIME, false)?;
    }
    settle(0);
    let (threads, memory) = (usage::threads(), usage::memory_bytes());
    let mut late = Vec::with_capacity(count);
    for _ in 0..count {
        let solved = solve(&mut request, TIME, false)?;
        progress(&format_args!(
            "{:.1} ms late, {}, {} threads, {} MiB",
            millis(solved.late),
            solved.engine,
            usage::threads(),
            usage::memory_bytes() >> 20
        ));
        late.push(solved.late);
    }
    let settled = settle(threads);
    late.sort_unstable();
    Ok(Measured {
        late,
        threads: [threads, usage::threads()],
        memory: [memory, usage::memory_bytes()],
        settled,
    })
}

/// Waits until there are at most so many threads, or no fewer for a while where none are known; how long that took.
fn settle(threads: u64) -> Duration {
    let started = Instant::now();
    while usage::threads() > threads.max(1) && started.elapsed() < SETTLE {
        std::thread::sleep(LOOK);
    }
    started.elapsed()
}

impl Measured {
    /// Whether solves stopped in time and nothing is left behind.
    pub fn is_good(&self) -> bool {
        percentile(&self.late, PER_MILLE) <= LATE_MAX
            && self.threads[1] <= self.threads[0]
            && self.memory[1] <= self.memory[0] + KEPT_MAX
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let late = |per_mille| millis(percentile(&self.late, per_mille));
        write!(
            f,
            "{} solves of 200 ms: 50 % at most {:.1} ms late, 99 % {:.1}, 99.9 % {:.1}; threads {} before, {} after; \
             memory {} MiB before, {} after; settled in {:.1} s",
            self.late.len(),
            late(500),
            late(990),
            late(PER_MILLE),
            self.threads[0],
            self.threads[1],
            self.memory[0] >> 20,
            self.memory[1] >> 20,
            self.settled.as_secs_f64()
        )
    }
}
