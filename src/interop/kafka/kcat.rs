//! `kcat -L -J`: brokers and topics in one JSON object. Written by a program, so unknown fields are passed over.

use super::brokers;
use super::layout::{Layout, Partition, partitions};
use crate::interop::json::Node;
use crate::interop::{Report, few};

/// Reads topics, and brokers as they are listed.
pub(super) fn parse(root: &Node<'_, '_>, report: &mut Report) -> Layout {
    let mut layout = Layout::default();
    let mut broken = Vec::new();
    if let Some(listed) = root.required("brokers", report) {
        layout.brokers = Some(brokers::read(&listed, brokers::Source::Kcat, report));
    }
    if let Some(topics) = root.required("topics", report) {
        for topic in topics.items(report) {
            read_topic(&topic, &mut layout, &mut broken, report);
        }
    }
    if !broken.is_empty() {
        report.warn(format!(
            "{} with an error in the metadata: {}",
            partitions(broken.len()),
            few(&broken)
        ));
    }
    layout
}

fn read_topic(
    topic: &Node<'_, '_>,
    layout: &mut Layout,
    broken: &mut Vec<String>,
    report: &mut Report,
) {
    let name = topic
        .required("topic", report)
        .and_then(|node| node.text(report));
    if let Some(error) = topic.optional("error") {
        return error.find(
            report,
            "the topic's metadata is needed, but Kafka refused it",
        );
    }
    let listed = topic.required("partitions", report);
    let (Some(name), Some(listed)) = (name, listed) else {
        return;
    };
    for entry in listed.items(report) {
        let Some(number) = entry
            .required("partition", report)
            .and_then(|node| node.broker_or_partition(report))
        else {
            continue;
        };
        if let Some(error) = entry.optional("error") {
            broken.push(format!("{name}-{number} ({})", error.value));
        }
        let before = report.findings.len();
        let partition = Partition {
            place: entry.place(),
            leader: leader(&entry, report),
            replicas: ids(&entry, "replicas", report),
            in_sync: Some(ids(&entry, "isrs", report)),
            ..Partition::default()
        };
        if report.findings.len() == before {
            layout.add(name, number, partition, report);
        }
    }
}

/// The leader; −1 stands for none.
fn leader(entry: &Node<'_, '_>, report: &mut Report) -> Option<i32> {
    let leader = entry.required("leader", report)?;
    if leader.value == -1 {
        return None;
    }
    leader.broker_or_partition(report)
}

/// Brokers of an array of `{"id": 1}`.
fn ids(entry: &Node<'_, '_>, key: &str, report: &mut Report) -> Vec<i32> {
    let Some(list) = entry.required(key, report) else {
        return Vec::new();
    };
    let mut ids = Vec::new();
    for item in list.items(report) {
        let id = item.required("id", report);
        ids.extend(id.and_then(|id| id.broker_or_partition(report)));
    }
    ids
}
