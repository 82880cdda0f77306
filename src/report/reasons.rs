//! What falls short and would lift it, and what the rules cost.

use super::ids::{Ids, clipped};
use super::table::{Screen, Tone, grouped, shown};
use super::{ID_WIDTH, LINES_MAX, words};
use crate::pb;

/// Suggestions listed of each shortfall.
const SUGGESTIONS_MAX: usize = 3;

/// Whether an explanation is about shards that lack replicas.
pub(super) fn is_of_shards(explanation: &pb::Explanation) -> bool {
    use pb::UnplacedReason::{None, Unspecified};
    !matches!(explanation.reason(), None | Unspecified)
}

/// Ranks above 0 that the rules are to blame for.
pub(super) fn shortfalls(report: &pb::SolveReport, screen: Screen, out: &mut String) {
    let others = report.explanations.iter().filter(|e| !is_of_shards(e));
    let mut rank = "";
    for explanation in others {
        if explanation.rank != rank {
            rank = &explanation.rank;
            out.push('\n');
            out.push_str(&screen.paint(Tone::Bad, &format!("{} above 0", words::rank(rank))));
            out.push('\n');
        }
        out.push_str(&format!("  {}\n", shown(&explanation.text)));
        suggestions(explanation, out);
    }
}

/// What would lift a shortfall.
pub(super) fn suggestions(explanation: &pb::Explanation, out: &mut String) {
    for suggestion in explanation.suggestions.iter().take(SUGGESTIONS_MAX) {
        out.push_str(&format!("    → {}\n", shown(&suggestion.text)));
    }
}

/// Rules whose next unit would save something, the dearest first: each by the first rank it saves in.
pub(super) fn prices(report: &pb::SolveReport, screen: Screen, out: &mut String) {
    let of_rule =
        |price: &&pb::Price| !matches!(price.rule(), pb::Rule::None | pb::Rule::Unspecified);
    // The ranks of one rule are next to each other, the first one first.
    let mut first: Vec<&pb::Price> = report.prices.iter().filter(of_rule).collect();
    first.dedup_by_key(|price| (price.rule, &price.broker, &price.zone, &price.stream));
    if first.is_empty() {
        return;
    }
    let importance = |price: &pb::Price| {
        let names = report.ranks.iter().map(|rank| &rank.rank);
        names.take_while(|name| **name != price.rank).count()
    };
    first.sort_by_cached_key(|price| (importance(price), std::cmp::Reverse(price.value)));
    out.push('\n');
    out.push_str(&screen.paint(Tone::Strong, "one more unit of a rule saves up to"));
    out.push('\n');
    let listed = || first.iter().take(LINES_MAX);
    let ids = Ids::new(listed().map(|price| price.broker.as_str()), ID_WIDTH);
    for price in listed() {
        let (value, rank) = (grouped(price.value), words::rank(&price.rank));
        let rule = in_words(price, &ids);
        out.push_str(&format!("  {value} {rank}: {rule}\n"));
    }
    if first.len() > LINES_MAX {
        out.push_str(&format!(
            "  … and {} more (--output FILE writes them all)\n",
            first.len() - LINES_MAX
        ));
    }
}

fn in_words(price: &pb::Price, ids: &Ids<'_>) -> String {
    let broker = ids.of(&price.broker);
    let place = match price.zone.as_str() {
        "" => format!("broker {broker}"),
        zone => format!("zone {}", clipped(zone, ID_WIDTH)),
    };
    let stream = clipped(&price.stream, ID_WIDTH);
    match price.rule() {
        pb::Rule::MaxLeaders => format!("max_leaders of {place}, one higher"),
        pb::Rule::MaxReplicas => format!("max_replicas of {place}, one higher"),
        pb::Rule::MinLeaders => format!("min_leaders of {place}, one lower"),
        pb::Rule::StreamFloor => format!("floor of stream {stream} on {place}, one lower"),
        pb::Rule::StreamCeiling => format!("ceiling of stream {stream} on {place}, one higher"),
        pb::Rule::ClusterFloor => format!("floor of all leaders on {place}, one lower"),
        pb::Rule::ClusterCeiling => format!("ceiling of all leaders on {place}, one higher"),
        rule => words::plain(rule.as_str_name(), "RULE_"),
    }
}
