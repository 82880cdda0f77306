//! Which format a layout is in.

use super::layout::{DOCUMENT, Layout};
use super::{describe, kcat, reassignment};
use crate::interop::Report;
use crate::interop::json::{self, Node};
use crate::interop::noise::is_noise;

/// Recognises the format of a layout and reads it.
pub(super) fn read(text: &str, report: &mut Report) -> Layout {
    let text = text.trim_start_matches('\u{feff}');
    let before = report.findings.len();
    let mut layout = recognise(text, report);
    layout.finish(report.findings.len() == before, report);
    layout
}

fn recognise(text: &str, report: &mut Report) -> Layout {
    if let Some(sections) = reassignment::sections(text) {
        return reassignment::parse_sections(&sections, report);
    }
    let first = text
        .lines()
        .find(|line| json::opens_json(line) || !is_noise(line));
    if !first.is_some_and(json::opens_json) {
        return describe::parse(text, report);
    }
    let Some(value) = json::whole(DOCUMENT, text, report) else {
        return Layout::default();
    };
    let root = Node::root(DOCUMENT, &value);
    let has = |key| root.optional(key).is_some();
    if has("topics") && has("brokers") {
        kcat::parse(&root, report)
    } else if has("partitions") {
        reassignment::parse(&root, report)
    } else {
        root.find(
            report,
            "a layout in JSON is a reassignment (`partitions`) or the output of `kcat -L -J` (`brokers` and `topics`)",
        );
        Layout::default()
    }
}
