//! The one place that words errors as gRPC statuses.
//!
//! Findings travel as `google.rpc.BadRequest`, in a trailer. Many clients read at most 8 KiB of header lists, and
//! the trailer is base64 and not alone: so the violations of one status take [`VIOLATION_BYTES`] encoded at most
//! and its message [`MESSAGE_BYTES`], each text at most [`TEXT_BYTES`]. The message says how many there are in all;
//! Validate lists all of them, in its body.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use shardflow_solver::budget::Stop;
use shardflow_solver::validate::Finding;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};

use super::pool::Failure;
use crate::planning::Refusal;
use crate::report::escaped;

/// Most bytes of encoded violations; a third more in base64.
const VIOLATION_BYTES: usize = 4096;
/// Most bytes of a path, value or rule that a caller wrote.
const TEXT_BYTES: usize = 200;
/// Bytes that a violation's two lengths and tags, and its own, take.
const VIOLATION_FRAME_BYTES: usize = 12;

/// A refusal as `INVALID_ARGUMENT`; as `DEADLINE_EXCEEDED` or `CANCELLED` where it was stopped.
pub(super) fn refused(refusal: &Refusal) -> Status {
    let findings = refusal.findings();
    match refusal {
        Refusal::Invalid(_) => {
            let violations = violations(findings);
            let message = invalid(findings, violations.len());
            let details = ErrorDetails::with_bad_request(violations);
            Status::with_error_details(Code::InvalidArgument, message, details)
        }
        Refusal::Stopped(Stop::Cancelled) => Status::cancelled(refusal.to_string()),
        Refusal::Stopped(_) => Status::deadline_exceeded(refusal.to_string()),
    }
}

/// A job without a result.
pub(super) fn failed(failure: &Failure) -> Status {
    match failure {
        Failure::Full { .. } => Status::resource_exhausted(failure.to_string()),
        Failure::Stopping => Status::unavailable(failure.to_string()),
        Failure::Panicked(words) => {
            let id = incident();
            tracing::error!(%id, panic = %words, "a solve panicked");
            Status::internal(format!("a fault in this server; its log has it under {id}"))
        }
    }
}

/// Leaves a line about a call that got no result. What the caller can mend (its request, its pace) is no fault of
/// the server's; its own faults are logged with their words where they become a status.
pub(super) fn log(status: &Status) {
    let code = name(status.code());
    let message = escaped(status.message());
    match status.code() {
        Code::Internal => {}
        Code::InvalidArgument => tracing::info!(%code, "refused: {message}"),
        _ => tracing::warn!(%code, "refused: {message}"),
    }
}

/// The name of a code as gRPC's documents write it; those that this server gives.
fn name(code: Code) -> &'static str {
    match code {
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::Unavailable => "UNAVAILABLE",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::Cancelled => "CANCELLED",
        _ => "OTHER",
    }
}

/// A name for a fault: unique in this process, and told apart from those of others by the time.
fn incident() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    format!("{:x}-{count}", since.map_or(0, |time| time.as_millis()))
}

/// As many violations, in order, as fit.
fn violations(findings: &[Finding]) -> Vec<FieldViolation> {
    let mut left = VIOLATION_BYTES;
    let mut fitting = Vec::new();
    for finding in findings {
        let field = clipped(&finding.path);
        let description = described(finding);
        let size = field.len() + description.len() + VIOLATION_FRAME_BYTES;
        match left.checked_sub(size) {
            Some(rest) => left = rest,
            None => break,
        }
        fitting.push(FieldViolation::new(field, description));
    }
    fitting
}

fn described(finding: &Finding) -> String {
    if finding.value.is_empty() {
        clipped(&finding.rule)
    } else {
        format!("{}: {}", clipped(&finding.value), clipped(&finding.rule))
    }
}

/// The text, or its beginning where it is long.
fn clipped(text: &str) -> String {
    if text.len() <= TEXT_BYTES {
        return text.to_owned();
    }
    let mut end = TEXT_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

fn invalid(findings: &[Finding], told: usize) -> String {
    let mut message = match findings.len() {
        1 => "1 finding".to_owned(),
        count if told == count => format!("{count} findings"),
        count => format!("{count} findings, {told} of them here and all of them from Validate"),
    };
    if let Some(first) = findings.first() {
        let more = if findings.len() > 1 { "; first " } else { ": " };
        let path = clipped(&first.path);
        message.push_str(&format!("{more}{path}: {}", described(first)));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(path: String, value: &str) -> Finding {
        Finding {
            path,
            value: value.to_owned(),
            rule: "must be known".to_owned(),
        }
    }

    #[test]
    fn every_finding_is_a_violation_where_they_fit() {
        let findings = vec![
            finding("snapshot.brokers[0].state".into(), "9"),
            finding("snapshot".into(), ""),
        ];
        let status = refused(&Refusal::Invalid(findings));
        assert_eq!(status.code(), Code::InvalidArgument);
        assert_eq!(
            status.message(),
            "2 findings; first snapshot.brokers[0].state: 9: must be known"
        );
        let request = status.get_details_bad_request().unwrap();
        let told: Vec<(&str, &str)> = request
            .field_violations
            .iter()
            .map(|v| (v.field.as_str(), v.description.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("snapshot.brokers[0].state", "9: must be known"),
                ("snapshot", "must be known")
            ]
        );
    }

    #[test]
    fn a_status_of_any_number_of_long_findings_stays_below_eight_kibibytes() {
        let long = "é".repeat(5000);
        for findings in [
            (0..5000)
                .map(|i| finding(format!("a[{i}].b"), "9"))
                .collect(),
            (0..50)
                .map(|i| finding(format!("{long}{i}"), &long))
                .collect(),
            (0..50)
                .map(|i| finding(format!("{}{long}", "x".repeat(i)), &long))
                .collect(),
        ] {
            let findings: Vec<Finding> = findings;
            let count = findings.len();
            let status = refused(&Refusal::Invalid(findings));
            let in_base64 = status.details().len().div_ceil(3) * 4;
            let percent_encoded = status.message().len() * 3;
            assert!(in_base64 + percent_encoded < 8 << 10);
            assert!(
                !status
                    .get_details_bad_request()
                    .unwrap()
                    .field_violations
                    .is_empty()
            );
            assert!(status.message().starts_with(&format!("{count} findings, ")));
        }
    }

    #[test]
    fn the_frame_of_a_violation_is_counted_in_full() {
        let violation = FieldViolation::new("f".repeat(200), "d".repeat(400));
        let details = ErrorDetails::with_bad_request(vec![violation]);
        let one = Status::with_error_details(Code::InvalidArgument, "", details);
        let none = ErrorDetails::with_bad_request(Vec::new());
        let none = Status::with_error_details(Code::InvalidArgument, "", none);
        let frame = one.details().len() - none.details().len() - 600;
        assert!(frame <= VIOLATION_FRAME_BYTES + 4, "{frame}");
    }

    #[test]
    fn what_was_stopped_unchecked_is_told_by_the_code_for_it() {
        let cancelled = refused(&Refusal::Stopped(Stop::Cancelled));
        assert_eq!(cancelled.code(), Code::Cancelled);
        let late = refused(&Refusal::Stopped(Stop::Deadline));
        assert_eq!(late.code(), Code::DeadlineExceeded);
        assert_eq!(
            late.message(),
            "the deadline came before the request was checked"
        );
    }

    #[test]
    fn a_panic_is_told_by_an_id_only() {
        let status = failed(&Failure::Panicked("secret".into()));
        assert_eq!(status.code(), Code::Internal);
        assert!(!status.message().contains("secret"));
        let other = failed(&Failure::Panicked("secret".into()));
        assert_ne!(status.message(), other.message());
    }
}
