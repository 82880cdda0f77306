//! HiGHS left behind: answers in time, threads and memory that come back.
//!
//! A target of its own, since the threads are counted over the whole process; its tests run one after another.

#![cfg(feature = "highs")]

#[path = "joint_common/mod.rs"]
mod joint_common;
#[path = "support/rng.rs"]
mod rng;

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use shardflow_solver::budget::{Budget, Stop, never};
use shardflow_solver::cost::evaluate;
use shardflow_solver::input::{
    BalanceInput, BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput,
};
use shardflow_solver::mip::{self, Effort, LINGERING_MAX, Status};
use shardflow_solver::model::current;
use shardflow_solver::snapshot::{Dimension, Problem};
use shardflow_solver::validate;

use joint_common::faults;
use joint_common::random::{Mood, Size, problem};
use rng::Rng;

/// Until threads are back, at most.
const PATIENCE: Duration = Duration::from_secs(90);

/// Held by the test at hand.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until a condition holds.
fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        thread::park_timeout(Duration::from_millis(1));
    }
}

/// Far more than HiGHS does in a minute: sizes of all kinds to be balanced to the byte.
fn hard() -> Problem {
    let mut rng = Rng::new(1);
    let broker = |b: usize| BrokerInput {
        id: format!("b{b:02}"),
        zone: format!("z{}", b % 3),
        ..BrokerInput::default()
    };
    let shard = |i: usize| ShardInput {
        id: format!("p{i:03}"),
        stream: "s".into(),
        leader: format!("b{:02}", i % 4),
        followers: vec![format!("b{:02}", 4 + i % 3), format!("b{:02}", 7 + i % 2)],
        size_bytes: rng.between(1, 1 << 20),
        ..ShardInput::default()
    };
    let snapshot = SnapshotInput {
        brokers: (0..12).map(broker).collect(),
        streams: vec![StreamInput {
            id: "s".into(),
            replication_factor: 3,
            ..StreamInput::default()
        }],
        shards: (0..150).map(shard).collect(),
        ..SnapshotInput::default()
    };
    let policy = PolicyInput {
        balance: Some(BalanceInput {
            dimension: Dimension::Bytes,
            tolerance_percent: 0,
        }),
        ..PolicyInput::default()
    };
    validate::build(&snapshot, &policy).expect("a valid cluster")
}

/// Threads and resident pages of this process, where the system tells.
fn footprint() -> Option<(usize, usize)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let threads = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"))?;
    let memory = std::fs::read_to_string("/proc/self/statm").ok()?;
    let resident = memory.split(' ').nth(1)?;
    Some((threads.trim().parse().ok()?, resident.parse().ok()?))
}

/// Solves so many times with a stop after 20 ms; how often HiGHS was left behind, and how often there was no thread for it.
fn stop_again_and_again(problem: &Problem, times: usize) -> (usize, usize) {
    let start = current::placement(problem);
    let cost = evaluate(problem, &start).0;
    let effort = Effort {
        nodes_max: None,
        seconds_max: Some(0.5),
    };
    let (mut left, mut busy) = (0, 0);
    for _ in 0..times {
        let begin = Instant::now();
        let is_due = || begin.elapsed() >= Duration::from_millis(20);
        let interrupt = || is_due().then_some(Stop::Deadline);
        let mut budget = Budget::new(None, &interrupt);
        let outcome = mip::solve(problem, &start, None, effort, &mut budget);
        let taken = begin.elapsed();
        assert!(taken < Duration::from_millis(200), "{taken:?}");
        assert!(mip::lingering() <= LINGERING_MAX);
        // An error: the machine was too slow to judge the start.
        let Ok(outcome) = outcome else { continue };
        assert!(outcome.cost <= cost);
        match outcome.status {
            Status::Busy => {
                assert_eq!(outcome.stop, Some(Stop::TimeBudget));
                busy += 1;
            }
            Status::Feasible => {
                assert_eq!(outcome.stop, Some(Stop::Deadline));
                left += 1;
            }
            status => panic!("{status:?}"),
        }
    }
    wait_for("threads linger", || mip::lingering() == 0);
    (left, busy)
}

#[test]
fn a_hundred_stops_in_a_row_are_in_time_and_leave_nothing() {
    let _alone = alone();
    let problem = hard();
    stop_again_and_again(&problem, 2 * LINGERING_MAX);
    let before = footprint();
    let (left, busy) = stop_again_and_again(&problem, 100);
    assert!(left >= LINGERING_MAX && busy > 0, "{left}, {busy}");
    let Some((threads, pages)) = before else {
        return;
    };
    wait_for("threads stay", || {
        footprint().is_some_and(|now| now.0 <= threads)
    });
    let grown = footprint().map_or(0, |now| now.1.saturating_sub(pages));
    assert!(grown * 4096 < 64 << 20, "{grown} pages");
}

#[test]
fn stopped_at_any_poll_the_answer_is_legal_and_no_worse() {
    let _alone = alone();
    let size = Size {
        shards: 12,
        brokers: 6,
        zones: 3,
        streams: 3,
        factor: 3,
    };
    let mut stopped = 0;
    for seed in 0..12 {
        let problem = problem(seed, size, Mood::Wild);
        let start = current::placement(&problem);
        let cost = evaluate(&problem, &start).0;
        let whole = solve_until(&problem, u32::MAX).expect("nothing asks to stop");
        for poll in [0, 1, 2, 5, 10, 20] {
            if let Ok(outcome) = solve_until(&problem, poll) {
                let found = &outcome.placement;
                assert!(outcome.cost <= cost, "seed {seed}, poll {poll}");
                assert!(whole.cost <= outcome.cost, "seed {seed}, poll {poll}");
                assert_eq!(
                    outcome.cost,
                    evaluate(&problem, found).0,
                    "seed {seed}, poll {poll}"
                );
                assert_eq!(faults(&problem, found), Vec::<String>::new(), "seed {seed}");
                stopped += u32::from(outcome.stop == Some(Stop::Cancelled));
            }
            wait_for("threads linger", || mip::lingering() == 0);
        }
        assert_eq!(solve_until(&problem, u32::MAX), Ok(whole), "seed {seed}");
    }
    assert!(stopped > 20, "{stopped}");
}

/// Solves until so many polls have been answered.
fn solve_until(problem: &Problem, polls: u32) -> Result<mip::Outcome, Stop> {
    let left = Cell::new(polls);
    let interrupt = || match left.get() {
        0 => Some(Stop::Cancelled),
        polls => {
            left.set(polls - 1);
            never()
        }
    };
    let mut budget = Budget::new(None, &interrupt);
    let start = current::placement(problem);
    mip::solve(problem, &start, None, Effort::default(), &mut budget)
}
