//! Cruise Control's `partition_load?json=true`: what each partition's leader carries, as a mean over its windows.

use std::collections::BTreeMap;

use super::Rate;
use super::measured::Key;
use super::measures::{KB, MB, measure};
use crate::interop::Report;
use crate::interop::json::{self, Node};

/// Name of the document in findings.
pub(super) const DOCUMENT: &str = "partition-load";

/// What a partition carries.
#[derive(Debug)]
pub(super) struct Load {
    /// Bytes on disk.
    pub(super) size: i64,
    /// Bytes a second over the network of its leader, in the direction asked for.
    pub(super) rate: i64,
    /// Broker that led it.
    pub(super) leader: i32,
}

/// Loads by topic and number.
pub(super) type Loads = BTreeMap<Key, Load>;

/// Reads loads. A program writes them, so unknown fields are passed over.
pub(super) fn parse(text: &str, rate: Rate, report: &mut Report) -> Loads {
    let mut loads = Loads::new();
    let Some(value) = json::whole(DOCUMENT, text, report) else {
        return loads;
    };
    let root = Node::root(DOCUMENT, &value);
    let Some(records) = root.required("records", report) else {
        return loads;
    };
    for record in records.items(report) {
        let Some((key, load)) = read(&record, rate, report) else {
            continue;
        };
        if loads.insert(key, load).is_some() {
            record.find(report, "a partition has one record");
        }
    }
    loads
}

fn read(record: &Node<'_, '_>, rate: Rate, report: &mut Report) -> Option<(Key, Load)> {
    let network = match rate {
        Rate::NetworkOut => "networkOutbound",
        Rate::NetworkIn => "networkInbound",
    };
    let topic = record.required("topic", report);
    let topic = topic.and_then(|topic| topic.text(report));
    let mut number = |key| record.required(key, report)?.broker_or_partition(report);
    let (number, leader) = (number("partition"), number("leader"));
    let mut bytes = |key, unit| measure(&record.required(key, report)?, unit, report);
    let (size, rate) = (bytes("disk", MB), bytes(network, KB));
    let load = Load {
        size: size?,
        rate: rate?,
        leader: leader?,
    };
    Some(((topic?.to_owned(), number?), load))
}
