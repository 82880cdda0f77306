//! The most memory that the process has held.

/// Bytes of the largest resident set so far; `None` where the system doesn't say.
#[cfg(target_os = "linux")]
pub(super) fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    of_status(&status)
}

/// The high-water mark in the text of `/proc/PID/status`, which counts in units of 1,024 bytes.
#[cfg(target_os = "linux")]
fn of_status(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Bytes of the largest resident set so far; `None` where the system doesn't say.
#[cfg(target_os = "macos")]
pub(super) fn peak_bytes() -> Option<u64> {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    u64::try_from(usage.max_rss()).ok()
}

/// Bytes of the largest resident set so far; `None` where the system doesn't say.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) fn peak_bytes() -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_found_in_bytes() {
        let status = "Name:\tx\nVmPeak:\t    9 kB\nVmHWM:\t    5188 kB\nVmRSS:\t 1 kB\n";
        assert_eq!(of_status(status), Some(5188 * 1024));
        assert_eq!(of_status("VmHWM:\tmany kB\n"), None);
        assert!(peak_bytes() > Some(1 << 20));
    }
}
