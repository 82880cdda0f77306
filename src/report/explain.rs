//! Why one shard is led where it is, broker by broker.

use super::ids::{Ids, clipped};
use super::table::{Cell, Screen, Side, Table, Tone, counted, grouped, shown};
use super::{ID_WIDTH, words};
use crate::pb;

/// Amounts of one vector that a cell names.
const AMOUNTS_MAX: usize = 2;

/// The explanation, with at most so many brokers beside the chosen one.
pub fn explain(told: &pb::ShardExplanation, most: usize, screen: Screen) -> String {
    let mut out = String::new();
    let head = format!("Shard {}", clipped(&told.shard, ID_WIDTH));
    out.push_str(&screen.paint(Tone::Strong, &head));
    out.push_str(&format!(
        " of stream {}: {}\n",
        clipped(&told.stream, ID_WIDTH),
        shown(&told.text)
    ));
    let (chosen, others): (Vec<_>, Vec<_>) =
        (told.choices.iter()).partition(|choice| choice.verdict() == pb::Verdict::Chosen);
    let listed: Vec<&pb::BrokerChoice> = chosen
        .into_iter()
        .chain(others.iter().copied().take(most))
        .collect();
    let ids = Ids::new(listed.iter().map(|choice| choice.broker.as_str()), ID_WIDTH);
    let zones = Ids::new(listed.iter().map(|choice| choice.zone.as_str()), ID_WIDTH);
    let has_proof = listed.iter().any(|choice| choice.proven);
    let mut table = Table::new(vec![Side::Left; 5]);
    let at_least = if has_proof { "at least" } else { "" };
    let heads = ["leader", "zone", at_least, "if it moves alone", "rule"];
    table.row(heads.map(Cell::strong).to_vec());
    for choice in listed {
        let name = ids.of(&choice.broker);
        let zone = Cell::plain(zones.of(&choice.zone));
        let rule = Cell::dim(shown(&choice.rule));
        let cells = match choice.verdict() {
            pb::Verdict::Chosen => {
                vec![
                    Cell::new(name, Tone::Good),
                    zone,
                    Cell::plain("in the plan"),
                ]
            }
            pb::Verdict::Forbidden | pb::Verdict::Unspecified => {
                let blank = || Cell::plain("");
                vec![Cell::dim(name), zone, Cell::dim("never"), blank(), rule]
            }
            pb::Verdict::Open | pb::Verdict::Full => vec![
                Cell::plain(name),
                zone,
                Cell::plain(if choice.proven {
                    amounts(&choice.at_least)
                } else {
                    String::new()
                }),
                Cell::plain(amounts(&choice.alone)),
                rule,
            ],
        };
        table.row(cells);
    }
    out.push('\n');
    table.render(screen, &mut out);
    if others.len() > most {
        let rest = counted(others.len() - most, "broker more", "brokers more");
        out.push_str(&format!("… and {rest} (--all lists them)\n"));
    }
    if has_proof {
        let note = "\"at least\" is proven for every plan that leads the shard there, however the others move.";
        out.push_str(&screen.paint(Tone::Dim, note));
        out.push('\n');
    }
    out
}

/// The first ranks of a change.
fn amounts(amounts: &[pb::RankAmount]) -> String {
    if amounts.is_empty() {
        return "the same".to_owned();
    }
    let first = amounts.iter().take(AMOUNTS_MAX).map(|amount| {
        let sign = if amount.value > 0 { "+" } else { "" };
        format!(
            "{sign}{} {}",
            grouped(amount.value),
            words::rank(&amount.rank)
        )
    });
    let mut text = first.collect::<Vec<_>>().join(", ");
    if amounts.len() > AMOUNTS_MAX {
        text.push_str(", …");
    }
    text
}
