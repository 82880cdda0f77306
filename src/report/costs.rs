//! Cost by rank: now, in the plan, and how low it could go.

use std::collections::HashMap;

use super::table::{Cell, Screen, Side, Table, Tone, grouped};
use super::words::plain;
use crate::pb;
use crate::wire::cost::{ranks, terms};

/// Appends the table of the ranks that are not 0 throughout.
pub(super) fn write(response: &pb::OptimizeResponse, screen: Screen, out: &mut String) {
    let plan = response.plan.as_ref();
    let before = plan.and_then(|plan| plan.before).unwrap_or_default();
    let after = plan.and_then(|plan| plan.after).unwrap_or_default();
    let bounds: HashMap<&str, &pb::RankBound> = response
        .report
        .iter()
        .flat_map(|report| &report.ranks)
        .map(|rank| (rank.rank.as_str(), rank))
        .collect();
    let mut table = Table::new(vec![
        Side::Left,
        Side::Right,
        Side::Right,
        Side::Right,
        Side::Left,
    ]);
    table.row(
        ["cost by rank", "now", "plan", "bound", "proof"]
            .map(Cell::strong)
            .to_vec(),
    );
    let mut listed = 0;
    for ((name, old), (_, new)) in ranks(&before).into_iter().zip(ranks(&after)) {
        if old == 0 && new == 0 {
            continue;
        }
        listed += 1;
        table.row(row(name, old, new, bounds.get(name).copied()));
        if name == "weighted" {
            for ((term, old), (_, new)) in terms(&before).into_iter().zip(terms(&after)) {
                if old != 0 || new != 0 {
                    let cells = [format!("  {term}"), grouped(old), grouped(new)];
                    table.row(cells.map(Cell::dim).to_vec());
                }
            }
        }
    }
    out.push('\n');
    match listed {
        0 => out.push_str("The cost is 0 in every rank, now and in the plan.\n"),
        15 => table.render(screen, out),
        _ => {
            table.render(screen, out);
            let rest = "Ranks not listed are 0, now and in the plan.";
            out.push_str(&screen.paint(Tone::Dim, rest));
            out.push('\n');
        }
    }
}

fn row(name: &str, old: i64, new: i64, bound: Option<&pb::RankBound>) -> Vec<Cell> {
    let tone = match new.cmp(&old) {
        std::cmp::Ordering::Less => Tone::Good,
        std::cmp::Ordering::Equal => Tone::Plain,
        std::cmp::Ordering::Greater => Tone::Strong,
    };
    let limit = bound.and_then(|bound| bound.bound);
    let proof = match bound.map(pb::RankBound::proof) {
        None | Some(pb::Proof::Unspecified | pb::Proof::None) => "–".to_owned(),
        Some(proof) => plain(proof.as_str_name(), "PROOF_"),
    };
    vec![
        Cell::plain(name),
        Cell::plain(grouped(old)),
        Cell::new(grouped(new), tone),
        Cell::plain(limit.map_or("–".to_owned(), grouped)),
        Cell::plain(proof),
    ]
}
