//! Leaders by stream and broker, before and after: rows are streams, columns brokers with zone and state.
//!
//! What fits is shown whole. Else rows and columns that don't change go first, then those beyond the room.
//! Complexity: O(rows shown · brokers).

use std::collections::BTreeSet;

use super::counts::{Change, Count, Counts};
use super::ids::Ids;
use super::table::{Cell, GAP, Screen, Side, Table, counted, grouped, width};
use super::words::plain;
use crate::pb;

/// Most streams shown.
const ROWS_MAX: usize = 20;
/// Most columns of text that an id takes.
const ID_WIDTH: usize = 24;

/// A row of numbers: its name, and a change per broker.
struct Row {
    name: String,
    counts: Vec<Change>,
}

/// Appends the matrix.
pub(super) fn write(snapshot: &pb::Snapshot, counts: &Counts, screen: Screen, out: &mut String) {
    let streams = snapshot.streams.len();
    let brokers = snapshot.brokers.len();
    if streams == 0 || brokers == 0 {
        return;
    }
    let (listed, hidden) = streams_listed(streams, &counts.changed_streams());
    let names = listed.iter().map(|&s| snapshot.streams[s].id.as_str());
    let names = Ids::new(names, ID_WIDTH);
    let mut rows: Vec<Row> = listed
        .iter()
        .map(|&s| Row {
            name: names.of(&snapshot.streams[s].id),
            counts: (0..brokers).map(|b| counts.cell(s, b).leaders).collect(),
        })
        .collect();
    let of_streams = rows.len();
    rows.extend(total_rows(&counts.totals(brokers), streams));
    let heads = heads(snapshot);
    let columns = columns(&heads, counts, &rows, screen.width);
    out.push('\n');
    if columns.is_empty() {
        out.push_str(&format!(
            "The counts of {} on {} stay as they are.\n",
            counted(streams, "stream", "streams"),
            counted(brokers, "broker", "brokers")
        ));
        return;
    }
    let mut table = Table::new(
        std::iter::once(Side::Left)
            .chain(columns.iter().map(|_| Side::Right))
            .collect(),
    );
    for line in headings(&heads, &columns) {
        table.row(line);
    }
    for (i, row) in rows.iter().enumerate() {
        let is_total = i >= of_streams;
        let name = if is_total {
            Cell::strong(row.name.clone())
        } else {
            Cell::plain(row.name.clone())
        };
        let cells = columns.iter().map(|&b| cell(row.counts[b]));
        table.row(std::iter::once(name).chain(cells).collect());
    }
    table.render(screen, out);
    let mut notes = hidden;
    if columns.len() < brokers {
        notes.push(format!(
            "{} not shown",
            counted(brokers - columns.len(), "broker", "brokers")
        ));
    }
    if !notes.is_empty() {
        out.push_str(&format!("… and {}\n", notes.join(", ")));
    }
    if columns.len() < brokers {
        let [low, high] = counts.total_ends(snapshot);
        out.push_str(&format!(
            "Leaders of an active broker: {} to {} now, {} to {} in the plan\n",
            grouped(low.before),
            grouped(high.before),
            grouped(low.after),
            grouped(high.after)
        ));
    }
}

/// Positions of the streams to show, and what to say of the others.
fn streams_listed(streams: usize, changed: &BTreeSet<usize>) -> (Vec<usize>, Vec<String>) {
    if streams <= ROWS_MAX {
        return ((0..streams).collect(), Vec::new());
    }
    let listed: Vec<usize> = changed.iter().copied().take(ROWS_MAX).collect();
    let more = changed.len() - listed.len();
    let still = streams - changed.len();
    let mut hidden = Vec::new();
    if more > 0 {
        hidden.push(format!(
            "{} that change",
            counted(more, "more stream", "more streams")
        ));
    }
    if still > 0 {
        hidden.push(format!("{} unchanged", counted(still, "stream", "streams")));
    }
    (listed, hidden)
}

/// Leaders of all streams where there are several, and replicas where there are followers.
fn total_rows(totals: &[Count], streams: usize) -> Vec<Row> {
    let row = |name: &str, of: fn(&Count) -> Change| Row {
        name: name.to_owned(),
        counts: totals.iter().map(of).collect(),
    };
    let mut rows = Vec::new();
    if streams > 1 {
        rows.push(row("all leaders", |count| count.leaders));
    }
    if totals.iter().any(|count| count.leaders != count.replicas) {
        rows.push(row("all replicas", |count| count.replicas));
    }
    rows
}

/// Positions of the brokers to show: all, if they fit; else those that change, as far as they fit but at least one.
/// Brokers that are draining or down are what the plan is about, so they get their room first.
fn columns(heads: &[Head], counts: &Counts, rows: &[Row], room: usize) -> Vec<usize> {
    let first = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0);
    let first = first.max(width("stream"));
    let width_of = |b: usize| {
        let head = heads[b].iter().map(Cell::width);
        let cells = rows.iter().map(|row| cell(row.counts[b]).width());
        GAP + head.chain(cells).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width_of).collect();
    if first + widths.iter().sum::<usize>() <= room {
        return (0..widths.len()).collect();
    }
    let mut taken = first;
    let mut columns = Vec::new();
    let mut wanted: Vec<usize> = counts.changed_brokers().into_iter().collect();
    wanted.sort_by_key(|&b| heads[b][2].text.is_empty());
    for b in wanted {
        taken += widths[b];
        if taken > room && !columns.is_empty() {
            break;
        }
        columns.push(b);
    }
    columns.sort_unstable();
    columns
}

/// Id, zone and state of a broker.
type Head = [Cell; 3];

fn heads(snapshot: &pb::Snapshot) -> Vec<Head> {
    let brokers = || snapshot.brokers.iter();
    let ids = Ids::new(brokers().map(|broker| broker.id.as_str()), ID_WIDTH);
    let zones = Ids::new(brokers().map(|broker| broker.zone.as_str()), ID_WIDTH);
    let head = |broker: &pb::Broker| {
        let state = match broker.state() {
            pb::BrokerState::Unspecified | pb::BrokerState::Active => String::new(),
            state => plain(state.as_str_name(), "BROKER_STATE_"),
        };
        [
            Cell::strong(ids.of(&broker.id)),
            Cell::dim(zones.of(&broker.zone)),
            Cell::strong(state),
        ]
    };
    brokers().map(head).collect()
}

/// Lines of ids, zones and states; zones and states only where there are any.
fn headings(heads: &[Head], columns: &[usize]) -> Vec<Vec<Cell>> {
    let heads: Vec<&Head> = columns.iter().map(|&b| &heads[b]).collect();
    let names = [
        Cell::strong("stream"),
        Cell::dim("zone"),
        Cell::dim("state"),
    ];
    let lines = names.into_iter().enumerate().filter_map(|(i, name)| {
        let line = heads.iter().map(|head| head[i].clone());
        let is_wanted = i == 0 || heads.iter().any(|head| !head[i].text.is_empty());
        is_wanted.then(|| std::iter::once(name).chain(line).collect())
    });
    lines.collect()
}

/// `10→4`, or the one number; a dot for nothing.
fn cell(change: Change) -> Cell {
    if change.changes() {
        Cell::strong(format!(
            "{}→{}",
            grouped(change.before),
            grouped(change.after)
        ))
    } else if change.before == 0 {
        Cell::dim("·")
    } else {
        Cell::plain(grouped(change.before))
    }
}
