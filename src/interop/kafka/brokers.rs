//! The broker file: racks, states, caps. Or `kcat -L -J`, which lists the brokers that are up.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::interop::json::{self, Node};
use crate::interop::{Report, brokers};
use crate::pb;

/// Brokers by number.
pub(super) type Listed = BTreeMap<i32, pb::Broker>;

/// Name of the broker file in findings.
const DOCUMENT: &str = "brokers";

/// Who wrote the list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A person: unknown fields are mistakes.
    File,
    /// `kcat`: unknown fields are news.
    Kcat,
}

/// Reads a broker file: an array of brokers, or an object with `brokers`.
pub(super) fn parse(text: &str, report: &mut Report) -> Listed {
    let Some(value) = json::whole(DOCUMENT, text, report) else {
        return Listed::new();
    };
    let root = Node::root(DOCUMENT, &value);
    let before = report.findings.len();
    let listed = if value.is_array() {
        read(&root, Source::File, report)
    } else {
        let is_kcat = ["originating_broker", "topics"]
            .iter()
            .any(|key| root.optional(key).is_some());
        let source = if is_kcat { Source::Kcat } else { Source::File };
        if source == Source::File {
            root.only(&["brokers"], report);
        }
        match root.required("brokers", report) {
            Some(brokers) => read(&brokers, source, report),
            None => Listed::new(),
        }
    };
    if report.findings.len() == before && listed.is_empty() {
        root.find(report, "a broker file lists at least one broker");
    }
    listed
}

/// Reads an array of brokers.
pub(super) fn read(list: &Node<'_, '_>, source: Source, report: &mut Report) -> Listed {
    let mut listed = Listed::new();
    for node in list.items(report) {
        if source == Source::File {
            node.only(&brokers::FIELDS, report);
        }
        let Some(id) = node
            .required("id", report)
            .and_then(|id| number(&id, report))
        else {
            continue;
        };
        let broker = brokers::read(&node, id.to_string(), report);
        if listed.insert(id, broker).is_some() {
            node.find(report, format!("broker {id} is listed once"));
        }
    }
    brokers::check_zones(list.place(), ["broker", "rack"], listed.values(), report);
    listed
}

/// The number of a broker, as a number or as text.
fn number(id: &Node<'_, '_>, report: &mut Report) -> Option<i32> {
    let Value::String(text) = id.value else {
        return id.broker_or_partition(report);
    };
    let number = text.parse().ok().filter(|number| *number >= 0);
    if number.is_none() {
        id.find(report, "brokers of Kafka have a whole number from 0 as id");
    }
    number
}
