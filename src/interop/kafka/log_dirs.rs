//! `kafka-log-dirs --describe`: the one stock source of bytes.

use std::collections::BTreeMap;

use super::measured::Key;
use crate::interop::Report;
use crate::interop::json::{self, Node};

/// Name of the document in findings.
pub(super) const DOCUMENT: &str = "log-dirs";

/// What the tool says before its JSON.
const PROSE: [&str; 2] = [
    "Querying brokers for log directories information",
    "Received log directory information from brokers",
];

/// What the directories hold.
#[derive(Debug, Default)]
pub(super) struct LogDirs {
    /// Bytes of each partition: the largest among its replicas, as those catching up hold less.
    pub(super) sizes: BTreeMap<Key, i64>,
    /// Each replica's broker, partition and bytes.
    pub(super) held: Vec<(i32, Key, i64)>,
}

/// Reads sizes. Replicas being moved between directories of one broker (`isFuture`) don't count.
pub(super) fn parse(text: &str, report: &mut Report) -> LogDirs {
    let mut read = LogDirs::default();
    let Some(pasted) = json::paste(DOCUMENT, text, 1, report) else {
        return read;
    };
    for (line, found) in pasted
        .prose
        .iter()
        .filter(|(_, line)| !PROSE.iter().any(|start| line.starts_with(start)))
    {
        report.warn(format!("{DOCUMENT}, line {line}: ignored `{found}`"));
    }
    let root = Node::root(DOCUMENT, &pasted.value);
    let Some(brokers) = root.required("brokers", report) else {
        return read;
    };
    for broker in brokers.items(report) {
        let id = broker
            .required("broker", report)
            .and_then(|id| id.broker_or_partition(report));
        let (Some(id), Some(dirs)) = (id, broker.required("logDirs", report)) else {
            continue;
        };
        for dir in dirs.items(report) {
            read_dir(id, &dir, &mut read, report);
        }
    }
    read
}

fn read_dir(broker: i32, dir: &Node<'_, '_>, read: &mut LogDirs, report: &mut Report) {
    if let Some(error) = dir.optional("error") {
        let name = dir
            .optional("logDir")
            .map_or_else(|| dir.path(), |name| name.value.to_string());
        report.warn(format!(
            "{DOCUMENT}: broker {broker}, directory {name}: {}",
            error.value
        ));
    }
    let Some(partitions) = dir.required("partitions", report) else {
        return;
    };
    for entry in partitions.items(report) {
        if entry.optional("isFuture").is_some_and(|f| f.value == true) {
            continue;
        }
        let name = entry
            .required("partition", report)
            .and_then(|name| partition_of(&name, report));
        let size = entry
            .required("size", report)
            .and_then(|size| size.number(i64::MAX, report));
        if let (Some(key), Some(size)) = (name, size) {
            let largest = read.sizes.entry(key.clone()).or_insert(0);
            *largest = size.max(*largest);
            read.held.push((broker, key, size));
        }
    }
}

/// Topic and number of a name such as `orders-eu-3`.
fn partition_of(name: &Node<'_, '_>, report: &mut Report) -> Option<Key> {
    let split = name.text(report)?.rsplit_once('-');
    let key = split.and_then(|(topic, number)| {
        let number = number.parse().ok().filter(|number| *number >= 0)?;
        (!topic.is_empty()).then(|| (topic.to_owned(), number))
    });
    if key.is_none() {
        name.find(report, "a partition is named topic-number");
    }
    key
}
