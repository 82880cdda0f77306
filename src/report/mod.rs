//! What a person reads: tables from requests and responses. Pure: messages in, text out.
//!
//! Nothing here decides anything; every number is the response's own, but for the counts of leaders that don't
//! change, which come from the snapshot.

mod compare;
mod costs;
mod counts;
mod explain;
mod ids;
mod matrix;
mod moves;
mod reasons;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub use compare::compare;
pub use explain::explain;
pub use table::Screen;

use std::collections::HashSet;

use crate::pb;
use counts::Counts;
use ids::{Ids, clipped};
use table::{Tone, counted, grouped, shown};

/// Most lines of a list of shards or warnings.
const LINES_MAX: usize = 10;
/// Most columns of text that an id takes in a sentence.
const ID_WIDTH: usize = 40;

/// A text from outside, on one line, with what a terminal would obey escaped.
pub fn escaped(text: &str) -> String {
    shown(text)
}

/// The plan of a request: leaders, cost, moves, what is missing, and where the plan comes from.
pub fn optimize(
    request: &pb::OptimizeRequest,
    response: &pb::OptimizeResponse,
    screen: Screen,
) -> String {
    let (no_snapshot, no_plan) = (pb::Snapshot::default(), pb::Plan::default());
    let snapshot = request.snapshot.as_ref().unwrap_or(&no_snapshot);
    let plan = response.plan.as_ref().unwrap_or(&no_plan);
    let mut out = String::new();
    title("Plan", snapshot, &request.request_id, screen, &mut out);
    matrix::write(snapshot, &Counts::new(snapshot, plan), screen, &mut out);
    costs::write(response, screen, &mut out);
    moves::write(plan, screen, &mut out);
    missing(response, screen, &mut out);
    if let Some(report) = &response.report {
        reasons::shortfalls(report, screen, &mut out);
        reasons::prices(report, screen, &mut out);
    }
    warnings("", response, screen, &mut out);
    footer(response, screen, &mut out);
    out
}

/// What is planned, and its size.
fn title(what: &str, snapshot: &pb::Snapshot, request_id: &str, screen: Screen, out: &mut String) {
    let mut line = what.to_owned();
    if !snapshot.cluster_id.is_empty() {
        line.push_str(&format!(" of {}", clipped(&snapshot.cluster_id, ID_WIDTH)));
    }
    if !request_id.is_empty() {
        line.push_str(&format!(" ({})", clipped(request_id, ID_WIDTH)));
    }
    out.push_str(&screen.paint(Tone::Strong, &line));
    let brokers = snapshot.brokers.iter();
    let zones: HashSet<&str> = brokers.map(|b| b.zone.as_str()).collect();
    let zones = if zones.contains("") {
        String::new()
    } else {
        format!(" in {}", counted(zones.len(), "zone", "zones"))
    };
    out.push_str(&format!(
        ": {}{zones}, {}, {}",
        counted(snapshot.brokers.len(), "broker", "brokers"),
        counted(snapshot.streams.len(), "stream", "streams"),
        counted(snapshot.shards.len(), "shard", "shards"),
    ));
    if !snapshot.generation.is_empty() {
        let generation = clipped(&snapshot.generation, ID_WIDTH);
        out.push_str(&format!(", generation {generation}"));
    }
    out.push('\n');
}

/// Shards that lack replicas in the plan, and what holds them back.
fn missing(response: &pb::OptimizeResponse, screen: Screen, out: &mut String) {
    let explanations = response
        .report
        .as_ref()
        .map_or(&[][..], |report| &report.explanations);
    let explanations: Vec<&pb::Explanation> = (explanations.iter())
        .filter(|e| reasons::is_of_shards(e))
        .collect();
    let assignments = response
        .plan
        .as_ref()
        .map_or(&[][..], |plan| &plan.assignments);
    let explained: HashSet<&str> = explanations
        .iter()
        .flat_map(|explanation| explanation.shards.iter().map(String::as_str))
        .collect();
    let others: Vec<&pb::Assignment> = assignments
        .iter()
        .filter(|a| is_short(a) && !explained.contains(a.shard.as_str()))
        .collect();
    if explanations.is_empty() && others.is_empty() {
        return;
    }
    let count = explained.len() + others.len();
    let line = counted(count, "shard lacks replicas", "shards lack replicas");
    out.push('\n');
    out.push_str(&screen.paint(Tone::Bad, &line));
    out.push('\n');
    for explanation in explanations {
        let reason = words::plain(explanation.reason().as_str_name(), "UNPLACED_REASON_");
        let text = shown(&explanation.text);
        out.push_str(&format!("  {reason}: {text}\n"));
        out.push_str(&format!("    {}\n", some_of(&explanation.shards)));
        reasons::suggestions(explanation, out);
    }
    let listed = || others.iter().take(LINES_MAX);
    let ids = Ids::new(listed().map(|a| a.shard.as_str()), ID_WIDTH);
    for assignment in listed() {
        out.push_str(&format!(
            "  {}: {}: {}\n",
            words::plain(
                assignment.unplaced_reason().as_str_name(),
                "UNPLACED_REASON_"
            ),
            ids.of(&assignment.shard),
            shown(&assignment.unplaced_detail)
        ));
    }
    if others.len() > LINES_MAX {
        out.push_str(&format!("  … and {} more\n", others.len() - LINES_MAX));
    }
}

fn is_short(assignment: &pb::Assignment) -> bool {
    use pb::UnplacedReason::{None, Unspecified};
    !matches!(assignment.unplaced_reason(), None | Unspecified)
}

/// The first ids of a list, and how many follow.
fn some_of(ids: &[String]) -> String {
    let first = || ids.iter().take(LINES_MAX).map(String::as_str);
    let short = Ids::new(first(), ID_WIDTH);
    let first: Vec<String> = first().map(|id| short.of(id)).collect();
    let mut text = first.join(", ");
    if ids.len() > LINES_MAX {
        text.push_str(&format!(" … and {} more", ids.len() - LINES_MAX));
    }
    text
}

fn warnings(whose: &str, response: &pb::OptimizeResponse, screen: Screen, out: &mut String) {
    let warnings = response
        .report
        .as_ref()
        .map_or(&[][..], |report| &report.warnings);
    if warnings.is_empty() {
        return;
    }
    out.push('\n');
    for warning in warnings.iter().take(LINES_MAX) {
        out.push_str(&screen.paint(Tone::Strong, "warning:"));
        out.push_str(&format!(" {whose}{}\n", shown(warning)));
    }
    if warnings.len() > LINES_MAX {
        out.push_str(&format!(
            "… and {} more warnings\n",
            warnings.len() - LINES_MAX
        ));
    }
}

/// Whose plan it is, how good, how it was found.
fn footer(response: &pb::OptimizeResponse, screen: Screen, out: &mut String) {
    let no_report = pb::SolveReport::default();
    let report = response.report.as_ref().unwrap_or(&no_report);
    let mut parts = vec![format!(
        "{}: {}",
        words::engine(report),
        words::outcome(report)
    )];
    let fallback = words::fallback(report);
    if !fallback.is_empty() {
        parts.push(format!("stopped by {fallback}"));
    }
    if report.gap.is_some() {
        parts.push(format!("gap {}", words::gap(report)));
    }
    let moves = response.plan.as_ref().map_or(0, |plan| plan.moves.len());
    parts.push(counted(moves, "move", "moves"));
    if !report.reproducible {
        parts.push("a clock decided".to_owned());
    }
    parts.push(format!("work {}", grouped(report.work)));
    parts.push(words::elapsed(report));
    out.push('\n');
    if let Some(plan) = response.plan.as_ref().filter(|p| !p.fingerprint.is_empty()) {
        let line = format!("fingerprint {}\n", shown(&plan.fingerprint));
        out.push_str(&line);
    }
    let tone = match report.outcome() {
        pb::Outcome::Optimal => Tone::Good,
        _ => Tone::Strong,
    };
    out.push_str(&screen.paint(tone, &parts.join(", ")));
    out.push('\n');
}
