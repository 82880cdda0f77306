//! Clock, machine and commit: what a row of a benchmark needs besides the work.

use std::process::Command;
use std::time::{Duration, Instant};

/// Runs that count, after one that doesn't.
pub(crate) const RUNS: usize = 5;

/// Median time of `work`, and what its last run gave. `prepare` makes each run's input, and neither it nor the drop of
/// a result is timed.
pub(crate) fn median<P, T>(
    mut prepare: impl FnMut() -> P,
    mut work: impl FnMut(P) -> Result<T, String>,
) -> Result<(Duration, T), String> {
    let mut result = work(prepare())?;
    let mut times = [Duration::ZERO; RUNS];
    for time in &mut times {
        let input = prepare();
        let begin = Instant::now();
        let run = work(input)?;
        *time = begin.elapsed();
        result = run;
    }
    times.sort_unstable();
    Ok((times[RUNS / 2], result))
}

/// Cores that this process may use and, where the system tells, the model of the processor.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = (info.lines())
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown processor", |rest| {
            rest.trim_start_matches([' ', '\t', ':'])
        });
    format!("{cores} cores, {model}")
}

/// The commit that is checked out, and whether files differ from it.
pub(crate) fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        (output.status.success()).then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".to_owned();
    };
    match git(&["status", "--porcelain"]) {
        Some(changes) if changes.is_empty() => commit,
        _ => format!("{commit} with changes"),
    }
}
