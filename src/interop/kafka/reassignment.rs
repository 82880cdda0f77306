//! Reassignment JSON, alone or in the output of `kafka-reassign-partitions`.

use super::layout::{DOCUMENT, Layout, Partition};
use crate::interop::Report;
use crate::interop::json::{self, Node, Pasted};
use crate::interop::noise::is_noise;

/// Heads the present layout.
const CURRENT: &str = "Current partition replica assignment";
/// Heads what `--generate` proposes.
const PROPOSED: &str = "Proposed partition reassignment configuration";
/// Follows the present layout where a reassignment was started.
const EXECUTED: &str = "Save this to use as the --reassignment-json-file option during rollback";

/// What `kafka-reassign-partitions` printed, cut at its headings.
pub(super) struct Sections<'a> {
    /// Lines above the first heading.
    before: Vec<(usize, &'a str)>,
    /// Each heading's line, text, and what is below it.
    headed: Vec<(usize, &'static str, &'a str)>,
}

/// Cuts the output of `kafka-reassign-partitions` at its headings; `None` where it has none.
pub(super) fn sections(text: &str) -> Option<Sections<'_>> {
    let mut before = Vec::new();
    let mut heads: Vec<(usize, &'static str, usize, usize)> = Vec::new();
    let mut offset = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let trimmed = line.trim();
        let end = offset + line.len();
        match [CURRENT, PROPOSED].into_iter().find(|h| trimmed == *h) {
            Some(heading) => heads.push((index + 1, heading, offset, end)),
            None if heads.is_empty() => before.push((index + 1, line)),
            None => {}
        }
        offset = end;
    }
    if heads.is_empty() {
        return None;
    }
    let ends = heads.iter().skip(1).map(|head| head.2).chain([text.len()]);
    let headed = heads
        .iter()
        .zip(ends)
        .map(|(&(line, heading, _, start), end)| (line, heading, &text[start..end]))
        .collect();
    Some(Sections { before, headed })
}

/// Reads the present layout out of the output of `--generate` or `--execute`.
pub(super) fn parse_sections(sections: &Sections<'_>, report: &mut Report) -> Layout {
    for (line, found) in sections.before.iter().filter(|(_, line)| !is_noise(line)) {
        report.find(
            format!("{DOCUMENT}, line {line}"),
            found,
            format!("nothing is expected above `{CURRENT}`"),
        );
    }
    let mut current = sections.headed.iter().filter(|head| head.1 == CURRENT);
    let Some((line, _, text)) = current.next() else {
        report.find(
            DOCUMENT,
            PROPOSED,
            format!("a proposal isn't a layout; the part below `{CURRENT}` is needed"),
        );
        return Layout::default();
    };
    for (line, heading, _) in current {
        report.find(
            format!("{DOCUMENT}, line {line}"),
            heading,
            "the present layout is listed once",
        );
    }
    let Some(Pasted { value, prose }) = json::paste(DOCUMENT, text, line + 1, report) else {
        return Layout::default();
    };
    if prose.iter().any(|(_, line)| line == EXECUTED) {
        report.warn(
            "the layout is from before a reassignment that was then started; describe the topics again once it has ended",
        );
    } else {
        for (line, found) in &prose {
            report.find(
                format!("{DOCUMENT}, line {line}"),
                found,
                "one JSON object is expected below a heading",
            );
        }
    }
    parse(&Node::root(DOCUMENT, &value), report)
}

/// Reads a reassignment JSON.
pub(super) fn parse(root: &Node<'_, '_>, report: &mut Report) -> Layout {
    let mut layout = Layout::default();
    root.only(&["version", "partitions"], report);
    if let Some(version) = root.optional("version").filter(|v| v.value != 1) {
        version.find(report, "the version is 1");
    }
    if let Some(partitions) = root.required("partitions", report) {
        for entry in partitions.items(report) {
            read_entry(&entry, &mut layout, report);
        }
    }
    if report.findings.is_empty() {
        report.warn(
            "a reassignment JSON doesn't name leaders: each partition is taken to be led by its first replica, and all \
             replicas to be in sync",
        );
    }
    layout
}

fn read_entry(entry: &Node<'_, '_>, layout: &mut Layout, report: &mut Report) {
    entry.only(&["topic", "partition", "replicas", "log_dirs"], report);
    let topic = entry
        .required("topic", report)
        .and_then(|node| node.text(report));
    let number = entry
        .required("partition", report)
        .and_then(|node| node.broker_or_partition(report));
    let Some(listed) = entry.required("replicas", report) else {
        return;
    };
    let before = report.findings.len();
    let replicas: Vec<i32> = listed
        .items(report)
        .filter_map(|node| node.broker_or_partition(report))
        .collect();
    if let (Some(topic), Some(number), true) = (topic, number, report.findings.len() == before) {
        let partition = Partition {
            place: entry.place(),
            leader: replicas.first().copied(),
            replicas,
            ..Partition::default()
        };
        layout.add(topic, number, partition, report);
    }
}
