//! `_cat/shards?format=json&bytes=b`: a row for every copy, assigned or not.

use std::collections::BTreeMap;

use super::cat;
use super::copies::{Copies, ShardCopy, State};
use crate::interop::Report;
use crate::interop::json::Node;

/// Name of the listing in findings.
const DOCUMENT: &str = "shards";

/// Most characters of an index's name, in bytes.
const INDEX_BYTES_MAX: usize = 255;

/// Copies by index and number.
pub(super) type Indices = BTreeMap<String, BTreeMap<u32, Copies>>;

/// Reads the listing.
pub(super) fn parse(text: &str, report: &mut Report) -> Indices {
    let mut indices = Indices::new();
    let before = report.findings.len();
    cat::rows(DOCUMENT, text, report, |row, report| {
        read(row, &mut indices, report);
    });
    if report.findings.len() > before {
        return indices;
    }
    if indices.is_empty() {
        report.find(DOCUMENT, "", "a listing has at least one shard");
    }
    for (index, shards) in &indices {
        for (number, copies) in shards.iter().filter(|(_, copies)| copies.primary.is_none()) {
            let name = format!("{index}/{number}");
            report.find(&copies.place, &name, "a shard has a row for its primary");
        }
    }
    indices
}

fn read(row: &Node<'_, '_>, indices: &mut Indices, report: &mut Report) {
    let index = row.required("index", report);
    let index = index.and_then(|index| name(&index, report));
    let number = row.required("shard", report);
    let number = number.and_then(|number| number.digits(u32::MAX.into(), report));
    let role = row.required("prirep", report);
    let is_primary = role.and_then(|role| is_primary(&role, report));
    let state = row.required("state", report);
    let state = state.and_then(|state| state_of(row, &state, report));
    let before = report.findings.len();
    let size = cat::bytes(row, "store", report);
    let (Some(index), Some(number), Some(is_primary), Some(state)) =
        (index, number, is_primary, state)
    else {
        return;
    };
    let Ok(number) = u32::try_from(number) else {
        return;
    };
    if report.findings.len() == before {
        let shards = indices.entry(index.to_owned()).or_default();
        let copies = shards.entry(number).or_default();
        add(row, copies, is_primary, ShardCopy { state, size }, report);
    }
}

fn add(
    row: &Node<'_, '_>,
    copies: &mut Copies,
    is_primary: bool,
    copy: ShardCopy,
    report: &mut Report,
) {
    if copies.place.is_empty() {
        copies.place = row.place();
    }
    for node in copy.state.ends() {
        if !copies.nodes.insert(node.to_owned()) {
            let first = &copies.place;
            let rule = format!("copies of a shard are on different nodes; see also {first}");
            return row.find(report, rule);
        }
    }
    if !is_primary {
        copies.replicas.push(copy);
    } else if copies.primary.replace(copy).is_some() {
        let rule = format!("a shard has one primary; see also {}", copies.place);
        row.find(report, rule);
    }
}

fn name<'v>(index: &Node<'v, '_>, report: &mut Report) -> Option<&'v str> {
    let name = index.text(report)?;
    if !is_index(name) {
        index.find(
            report,
            "the name of an index has at most 255 bytes, and neither blanks nor any of \\ / * ? \" < > | , #",
        );
        return None;
    }
    Some(name)
}

/// Whether the name may be that of an index.
pub(super) fn is_index(name: &str) -> bool {
    let is_legal = |c: char| !c.is_whitespace() && !c.is_control() && !r#"\/*?"<>|,#"#.contains(c);
    !name.is_empty() && name.len() <= INDEX_BYTES_MAX && name.chars().all(is_legal)
}

fn is_primary(role: &Node<'_, '_>, report: &mut Report) -> Option<bool> {
    match role.value.as_str() {
        Some("p") => Some(true),
        Some("r") => Some(false),
        _ => {
            role.find(
                report,
                "a copy is a primary, `p`, or a replica, `r`; copies that can't become primary are not supported",
            );
            None
        }
    }
}

fn state_of(row: &Node<'_, '_>, state: &Node<'_, '_>, report: &mut Report) -> Option<State> {
    let name = state.value.as_str().unwrap_or_default();
    if name == "UNASSIGNED" {
        return Some(State::Unassigned);
    }
    if !["INITIALIZING", "STARTED", "RELOCATING"].contains(&name) {
        state.find(
            report,
            "a state is UNASSIGNED, INITIALIZING, STARTED or RELOCATING",
        );
        return None;
    }
    let node = row.required("node", report)?;
    let text = node.text(report)?;
    match name {
        "INITIALIZING" => Some(State::Initializing(text.to_owned())),
        "STARTED" => Some(State::Started(text.to_owned())),
        _ => {
            let relocating = relocation(text);
            if relocating.is_none() {
                node.find(
                    report,
                    "the node of a relocating copy reads `NODE -> IP ID NODE`",
                );
            }
            relocating
        }
    }
}

/// Both ends of `NODE -> IP ID NODE`; old versions leave out the id. Names of nodes may hold blanks.
fn relocation(text: &str) -> Option<State> {
    let (from, target) = text.split_once(" -> ")?;
    let mut words = target.trim_start().splitn(3, ' ');
    let (_ip, second, third) = (words.next()?, words.next()?, words.next());
    let to = third.unwrap_or(second).trim();
    let is_whole = !from.is_empty() && !to.is_empty();
    is_whole.then(|| State::Relocating {
        from: from.to_owned(),
        to: to.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_relocation() {
        let cases = [
            ("a -> 10.0.0.1 W7Ah b", Some(("a", "b"))),
            (
                "node one -> ::1 W7Ah node two",
                Some(("node one", "node two")),
            ),
            ("a -> 10.0.0.1 b", Some(("a", "b"))),
            ("a -> 10.0.0.1", None),
            ("a -> ", None),
            (" -> 10.0.0.1 W7Ah b", None),
            ("a", None),
        ];
        for (text, ends) in cases {
            let state = relocation(text);
            let state = state.as_ref();
            let read = state.and_then(|state| Some((state.node()?, state.target()?)));
            assert_eq!(read, ends, "{text}");
        }
    }
}
