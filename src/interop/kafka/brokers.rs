//! The broker file: racks, states, caps. Or `kcat -L -J`, which lists the brokers that are up.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::json::{self, Node};
use crate::interop::Report;
use crate::pb;

/// Brokers by number.
pub(super) type Listed = BTreeMap<i32, pb::Broker>;

/// Name of the broker file in findings.
const DOCUMENT: &str = "brokers";

/// Fields of a broker.
const FIELDS: [&str; 8] = [
    "id",
    "name",
    "rack",
    "state",
    "share",
    "max_leaders",
    "max_replicas",
    "tags",
];

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
    let text = text.trim_start_matches('\u{feff}');
    let Some(pasted) = json::paste(DOCUMENT, text, 1, report) else {
        return Listed::new();
    };
    for (line, found) in &pasted.prose {
        report.find(
            format!("{DOCUMENT}, line {line}"),
            found,
            "one JSON array or object is expected, and nothing else",
        );
    }
    let root = Node::root(DOCUMENT, &pasted.value);
    let before = report.findings.len();
    let listed = if pasted.value.is_array() {
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
            node.only(&FIELDS, report);
        }
        let Some(id) = node
            .required("id", report)
            .and_then(|id| number(&id, report))
        else {
            continue;
        };
        let broker = read_broker(&node, id, report);
        if listed.insert(id, broker).is_some() {
            node.find(report, format!("broker {id} is listed once"));
        }
    }
    check_racks(list, &listed, report);
    listed
}

/// Notes live brokers without a rack where others have one: the zones of a cluster are all known, or none is.
fn check_racks(list: &Node<'_, '_>, listed: &Listed, report: &mut Report) {
    let is_live = |broker: &&pb::Broker| broker.state() != pb::BrokerState::Down;
    let (with, without): (Vec<_>, Vec<_>) = listed
        .values()
        .filter(is_live)
        .partition(|broker| !broker.zone.is_empty());
    if with.is_empty() || without.is_empty() {
        return;
    }
    let ids: Vec<&str> = without.iter().map(|broker| broker.id.as_str()).collect();
    report.find(
        list.place(),
        &ids.join(", "),
        "either every broker that isn't down has a rack, or none has; these have none",
    );
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

fn read_broker(node: &Node<'_, '_>, id: i32, report: &mut Report) -> pb::Broker {
    let mut count = |key| {
        let value = node.optional(key)?.number(u32::MAX.into(), report)?;
        u32::try_from(value).ok()
    };
    let (share, max_leaders, max_replicas) =
        (count("share"), count("max_leaders"), count("max_replicas"));
    pb::Broker {
        id: id.to_string(),
        zone: node
            .optional("rack")
            .and_then(|rack| rack.text(report))
            .unwrap_or_default()
            .to_owned(),
        state: state(node, report).into(),
        tags: tags(node, report),
        share,
        max_leaders,
        max_replicas,
        ..pb::Broker::default()
    }
}

fn state(node: &Node<'_, '_>, report: &mut Report) -> pb::BrokerState {
    let Some(state) = node.optional("state") else {
        return pb::BrokerState::Active;
    };
    match state.value.as_str().map(str::to_ascii_lowercase).as_deref() {
        Some("active") => pb::BrokerState::Active,
        Some("draining") => pb::BrokerState::Draining,
        Some("down") => pb::BrokerState::Down,
        _ => {
            state.find(report, "a state is active, draining or down");
            pb::BrokerState::Active
        }
    }
}

fn tags(node: &Node<'_, '_>, report: &mut Report) -> HashMap<String, String> {
    let Some(tags) = node.optional("tags") else {
        return HashMap::new();
    };
    let Some(object) = tags.value.as_object() else {
        tags.find(report, "tags are an object of texts");
        return HashMap::new();
    };
    let mut read = HashMap::new();
    for (key, value) in object {
        match value.as_str() {
            Some(text) => {
                read.insert(key.clone(), text.to_owned());
            }
            None => report.find(
                format!("{}.{key}", tags.place()),
                &value.to_string(),
                "the value of a tag is text",
            ),
        }
    }
    read
}
