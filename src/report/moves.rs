//! Moves: how many of which kind and why, and the first steps in order.

use std::collections::BTreeMap;

use super::ids::Ids;
use super::table::{Cell, Screen, Side, Table, Tone, bytes, counted, grouped, shown};
use super::words::{kind, plain, reason};
use crate::pb;

/// Most moves listed.
const MOVES_MAX: usize = 12;
/// Most columns of text that an id takes.
const ID_WIDTH: usize = 32;

/// Appends the moves.
pub(super) fn write(plan: &pb::Plan, screen: Screen, out: &mut String) {
    out.push('\n');
    if plan.moves.is_empty() {
        out.push_str("No moves: the layout stays as it is.\n");
        return;
    }
    let steps = plan.moves.iter().filter(|m| m.blocked.is_empty());
    let steps = steps
        .map(|m| m.step)
        .collect::<std::collections::BTreeSet<_>>();
    let copied: i128 = plan.moves.iter().map(|m| i128::from(m.bytes)).sum();
    let mut title = format!(
        "{} in {}",
        counted(plan.moves.len(), "move", "moves"),
        counted(steps.len(), "step", "steps")
    );
    if copied > 0 {
        title.push_str(&format!(", {} to copy", bytes(copied)));
    }
    out.push_str(&screen.paint(Tone::Strong, &title));
    out.push('\n');
    for line in summary(&plan.moves) {
        out.push_str(&format!("  {line}\n"));
    }
    out.push('\n');
    list(&plan.moves, copied > 0, screen, out);
    let more = plan.moves.len().saturating_sub(MOVES_MAX);
    if more > 0 {
        out.push_str(&format!(
            "… and {} (--output FILE writes them all)\n",
            counted(more, "more move", "more moves")
        ));
    }
    blocked(&plan.moves, screen, out);
}

/// One line per kind of move: `13 copies: 12 spread, 1 drain`.
fn summary(moves: &[pb::Move]) -> Vec<String> {
    let mut by_kind: BTreeMap<i32, BTreeMap<i32, (usize, &pb::Move)>> = BTreeMap::new();
    for step in moves {
        let of_kind = by_kind.entry(step.kind).or_default();
        of_kind.entry(step.reason).or_insert((0, step)).0 += 1;
    }
    let lines = by_kind.values().map(|reasons| {
        let total: usize = reasons.values().map(|(count, _)| count).sum();
        let of_kind = reasons.values().next();
        let kind = of_kind.map_or(pb::MoveKind::Unspecified, |(_, step)| step.kind());
        let reasons = reasons
            .values()
            .map(|(count, step)| format!("{} {}", grouped(*count as i128), reason(step)));
        let reasons: Vec<String> = reasons.collect();
        format!("{}: {}", named(kind, total), reasons.join(", "))
    });
    lines.collect()
}

fn named(kind: pb::MoveKind, count: usize) -> String {
    match kind {
        pb::MoveKind::Unspecified => counted(count, "move", "moves"),
        pb::MoveKind::Add => counted(count, "new replica", "new replicas"),
        pb::MoveKind::Copy => counted(count, "copy", "copies"),
        pb::MoveKind::Promotion => counted(count, "promotion", "promotions"),
        pb::MoveKind::Remove => counted(count, "removal", "removals"),
    }
}

fn list(moves: &[pb::Move], with_bytes: bool, screen: Screen, out: &mut String) {
    let mut table = Table::new(vec![
        Side::Right,
        Side::Left,
        Side::Left,
        Side::Left,
        Side::Left,
        Side::Left,
        Side::Right,
        Side::Left,
    ]);
    let bytes_head = if with_bytes { "bytes" } else { "" };
    let heads = [
        "step",
        "shard",
        "role",
        "from → to",
        "kind",
        "reason",
        bytes_head,
    ];
    table.row(heads.map(Cell::strong).to_vec());
    let listed = || moves.iter().take(MOVES_MAX);
    let shards = Ids::new(listed().map(|step| step.shard.as_str()), ID_WIDTH);
    let ends = listed().flat_map(|step| [step.from.as_str(), step.to.as_str()]);
    let brokers = Ids::new(ends, ID_WIDTH);
    let end = |broker: &str| match broker {
        "" => "–".to_owned(),
        _ => brokers.of(broker),
    };
    for step in listed() {
        let remark = match (step.blocked.is_empty(), step.detour) {
            (false, _) => Cell::new("blocked", Tone::Bad),
            (true, true) => Cell::strong("detour"),
            (true, false) => Cell::plain(""),
        };
        let size = if step.bytes > 0 {
            bytes(step.bytes.into())
        } else {
            String::new()
        };
        table.row(vec![
            Cell::plain(grouped(step.step)),
            Cell::plain(shards.of(&step.shard)),
            Cell::plain(plain(step.role().as_str_name(), "ROLE_")),
            Cell::plain(format!("{} → {}", end(&step.from), end(&step.to))),
            Cell::plain(kind(step)),
            Cell::plain(reason(step)),
            Cell::dim(size),
            remark,
        ]);
    }
    table.render(screen, out);
}

/// Shards whose moves no order makes legal, with the cause.
fn blocked(moves: &[pb::Move], screen: Screen, out: &mut String) {
    let blocked = moves.iter().filter(|m| !m.blocked.is_empty());
    let mut blocked: Vec<&pb::Move> = blocked.collect();
    blocked.dedup_by(|next, one| next.shard == one.shard);
    for step in blocked.iter().take(MOVES_MAX) {
        let line = format!("blocked: {}: {}", shown(&step.shard), shown(&step.blocked));
        out.push_str(&screen.paint(Tone::Bad, &line));
        out.push('\n');
    }
    let more = blocked.len().saturating_sub(MOVES_MAX);
    if more > 0 {
        out.push_str(&format!("… and {more} more shards that are blocked\n"));
    }
}
