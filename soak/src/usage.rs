//! What this process has used and uses, as Linux tells it; zero where it doesn't.

use std::fs;
use std::time::Duration;

/// Length of a tick of the processor times in `/proc`, as on every Linux that Rust runs on.
const TICK: Duration = Duration::from_millis(10);

/// Processor time of all threads, ended ones included, in user mode and in the kernel.
pub(crate) fn cpu() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may hold blanks.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks = ticks.filter_map(|field| field.parse::<u32>().ok());
    TICK * ticks.sum::<u32>()
}

/// Bytes in memory.
pub(crate) fn memory_bytes() -> u64 {
    status("VmRSS:") << 10
}

/// Threads alive.
pub(crate) fn threads() -> u64 {
    status("Threads:")
}

fn status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_and_a_page_are_seen() {
        assert!(threads() >= 1);
        assert!(memory_bytes() >= 4096);
        let before = cpu();
        let started = std::time::Instant::now();
        while cpu() == before {
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "no time is used"
            );
        }
    }
}
