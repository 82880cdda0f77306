//! Names of the wire's enums and ranks as a person reads them.

use std::time::Duration;

use crate::pb;

/// The ranks' names and values, the most important first.
pub(super) fn ranks(cost: &pb::Cost) -> [(&'static str, i64); 15] {
    [
        ("unplaced_leaders", cost.unplaced_leaders),
        ("unplaced_followers", cost.unplaced_followers),
        ("breaches", cost.breaches),
        ("disk_excess", cost.disk_excess),
        ("rate_excess", cost.rate_excess),
        ("zones_lost", cost.zones_lost),
        ("zone_minimum_shortfall", cost.zone_minimum_shortfall),
        ("stream_leader_spread", cost.stream_leader_spread),
        ("cluster_leader_spread", cost.cluster_leader_spread),
        ("stream_replica_spread", cost.stream_replica_spread),
        ("cluster_replica_spread", cost.cluster_replica_spread),
        ("balance_excess", cost.balance_excess),
        ("weighted", cost.weighted),
        ("copies", cost.copies),
        ("leader_changes", cost.leader_changes),
    ]
}

/// The terms of `weighted`.
pub(super) fn terms(cost: &pb::Cost) -> [(&'static str, i64); 5] {
    [
        ("traffic", cost.traffic),
        ("overlap", cost.overlap),
        ("promotion", cost.promotion),
        ("same_rack", cost.same_rack),
        ("same_rack_as_leader", cost.same_rack_as_leader),
    ]
}

/// Name of an enum's value without its prefix, in small letters with blanks.
pub(super) fn plain(name: &str, prefix: &str) -> String {
    let name = name.strip_prefix(prefix).unwrap_or(name);
    name.to_lowercase().replace('_', " ")
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

/// The gap in percent; `none` where every rank is proven or nothing bounds the first that is not.
pub(super) fn gap(report: &pb::SolveReport) -> String {
    match report.gap {
        Some(gap) => format!("{:.2} %", gap * 100.0),
        None => "none".to_owned(),
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
