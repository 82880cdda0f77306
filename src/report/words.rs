//! The wire's enums, gaps and times as a person reads them.

use std::time::Duration;

use super::table::shown;
use crate::pb;

/// Name of an enum's value without its prefix, in small letters with blanks.
pub(super) fn plain(name: &str, prefix: &str) -> String {
    let name = name.strip_prefix(prefix).unwrap_or(name);
    name.to_lowercase().replace('_', " ")
}

/// A rank's name with blanks, whoever sent it.
pub(super) fn rank(name: &str) -> String {
    shown(name).replace('_', " ")
}

pub(super) fn engine(report: &pb::SolveReport) -> String {
    plain(report.engine().as_str_name(), "ENGINE_")
}

pub(super) fn outcome(report: &pb::SolveReport) -> String {
    plain(report.outcome().as_str_name(), "OUTCOME_")
}

/// What cut the search short; empty: nothing did.
pub(super) fn fallback(report: &pb::SolveReport) -> String {
    match report.fallback() {
        pb::FallbackReason::None | pb::FallbackReason::Unspecified => String::new(),
        reason => plain(reason.as_str_name(), "FALLBACK_REASON_"),
    }
}

pub(super) fn kind(step: &pb::Move) -> String {
    plain(step.kind().as_str_name(), "MOVE_KIND_")
}

pub(super) fn reason(step: &pb::Move) -> String {
    plain(step.reason().as_str_name(), "MOVE_REASON_")
}

/// The gap in percent; `none` where every rank is proven, `unknown` where nothing bounds the first that is not.
pub(super) fn gap(report: &pb::SolveReport) -> String {
    match report.gap {
        Some(gap) => format!("{:.2} %", gap * 100.0),
        None if report.outcome() == pb::Outcome::Optimal => "none".to_owned(),
        None => "unknown".to_owned(),
    }
}

/// Time in milliseconds, from ten seconds on in seconds, with one decimal.
pub(super) fn elapsed(report: &pb::SolveReport) -> String {
    let elapsed = report.elapsed.unwrap_or_default();
    let elapsed = Duration::try_from(elapsed).unwrap_or_default();
    if elapsed < Duration::from_secs(10) {
        let tenths = elapsed.as_micros() / 100;
        format!("{}.{} ms", tenths / 10, tenths % 10)
    } else {
        let tenths = elapsed.as_millis() / 100;
        format!("{}.{} s", tenths / 10, tenths % 10)
    }
}
