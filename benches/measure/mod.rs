//! Clock, machine, commit and day: what a table needs besides the work.

use rustix::time::{ClockId, clock_gettime};
use std::process::Command;
use std::time::Duration;

/// CPU time of `work` and what it gave. `prepare` makes its input, and neither it nor the drop of the result is timed.
///
/// Of all threads of the process. What else the machine does lengthens the way on the wall but not this, and on an idle
/// machine the two are the same for one thread.
pub(crate) fn time<P, T>(
    prepare: impl FnOnce() -> P,
    work: impl FnOnce(P) -> Result<T, String>,
) -> Result<(Duration, T), String> {
    let input = prepare();
    let begin = cpu_time();
    let result = work(input);
    let time = cpu_time().saturating_sub(begin);
    Ok((time, result?))
}

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    // Neither is negative: the clock begins with the process.
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
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
    let Some(commit) = output("git", &["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".to_owned();
    };
    // Records of earlier runs change nothing that is measured.
    match output("git", &["status", "--porcelain", "--", ":!benches/record"]) {
        Some(changes) if changes.is_empty() => commit,
        _ => format!("{commit}-changed"),
    }
}

/// The day in UTC, as 2026-12-31.
pub(crate) fn day() -> String {
    output("date", &["-u", "+%Y-%m-%d"]).unwrap_or_else(|| "undated".to_owned())
}

fn output(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    let text = || String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then(text)
}
