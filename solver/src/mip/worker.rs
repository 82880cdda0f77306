//! A thread of its own for each run of HiGHS, and how it is left behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::budget::{Budget, Stop};

use super::program::{Program, Row, Terms};
#[cfg(feature = "highs")]
use super::relaxed;
use super::{Effort, LINGERING_MAX};

/// Between two polls of the caller's interrupt.
const POLL_EVERY: Duration = Duration::from_millis(1);

/// Threads left behind that still run.
static LINGERING: AtomicUsize = AtomicUsize::new(0);

/// How many threads are left behind in HiGHS at this moment, over all callers.
pub fn lingering() -> usize {
    LINGERING.load(Ordering::SeqCst)
}

/// One run.
pub(super) struct Job {
    pub(super) program: Arc<Program>,
    /// Rows of the ranks before.
    pub(super) frozen: Vec<Row>,
    /// What is minimised; each column once.
    pub(super) goal: Terms,
    /// A legal solution.
    pub(super) start: Vec<i64>,
    pub(super) effort: Effort,
}

/// What HiGHS says, rounded but not checked.
#[derive(Clone, Debug, Default)]
pub(super) struct Claim {
    /// Its best solution.
    pub(super) decisions: Option<Vec<i64>>,
    /// No solution's goal is less.
    pub(super) bound: Option<i64>,
    /// It ended for its limit of seconds.
    pub(super) is_out_of_time: bool,
}

/// Why a run has no claim.
pub(super) enum Failure {
    /// The caller's budget asked to stop.
    Stopped(Stop),
    /// There is no thread for it.
    Busy,
}

/// Runs HiGHS on a thread of its own, which is left behind once the budget asks to stop.
pub(super) fn run(job: Job, budget: &mut Budget<'_>) -> Result<Claim, Failure> {
    if lingering() >= LINGERING_MAX {
        return Err(Failure::Busy);
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    let is_left = Arc::new(AtomicBool::new(false));
    let end = End(Arc::clone(&is_left));
    let work = move || {
        let claim = claim(&job, || end.is_left());
        // Memory goes before the thread counts as ended. Nobody may be listening any more.
        drop(job);
        drop(sender.send(claim));
        drop(end);
    };
    let thread = thread::Builder::new().name("highs".to_owned()).spawn(work);
    if thread.is_err() {
        return Err(Failure::Busy);
    }
    loop {
        match receiver.recv_timeout(POLL_EVERY) {
            Ok(claim) => return Ok(claim),
            // The thread panicked: HiGHS's binding does that where HiGHS fails.
            Err(RecvTimeoutError::Disconnected) => return Ok(Claim::default()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(reason) = budget.poll() {
            leave(&is_left);
            return Err(Failure::Stopped(reason));
        }
    }
}

/// Counts a thread as left behind until it ends. Counted first and taken back if it has ended by now, so that the number is
/// never less than it should be.
fn leave(is_left: &AtomicBool) {
    LINGERING.fetch_add(1, Ordering::SeqCst);
    if is_left.swap(true, Ordering::SeqCst) {
        LINGERING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Notes the end of a thread, also when it panics.
struct End(Arc<AtomicBool>);

impl End {
    /// Whether the caller has left.
    fn is_left(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if self.0.swap(true, Ordering::SeqCst) {
            LINGERING.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

#[cfg(feature = "highs")]
fn claim(job: &Job, is_left: impl Fn() -> bool) -> Claim {
    relaxed::solve(job, is_left)
}

#[cfg(not(feature = "highs"))]
fn claim(_: &Job, _: impl Fn() -> bool) -> Claim {
    Claim::default()
}
