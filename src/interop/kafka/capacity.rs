//! Cruise Control's `capacity.json`: disk and network of each broker, the broker `-1` for those not named.

use std::collections::BTreeMap;

use super::Rate;
use super::measures::{KB, MB, measure};
use crate::interop::Report;
use crate::interop::json::{self, Node};

/// Name of the document in findings.
pub(super) const DOCUMENT: &str = "capacity";

/// What a broker can carry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    /// Bytes on all its disks.
    pub(super) disk: i64,
    /// Bytes a second over its network, in the direction asked for.
    pub(super) network: i64,
}

/// Capacities by broker.
#[derive(Debug, Default)]
pub(super) struct Capacities {
    named: BTreeMap<i32, Capacity>,
    default: Option<Capacity>,
}

impl Capacities {
    /// What the broker can carry, where the file tells.
    pub(super) fn of(&self, broker: i32) -> Option<Capacity> {
        self.named.get(&broker).copied().or(self.default)
    }
}

/// Reads capacities. Of CPU and remarks nothing is read.
pub(super) fn parse(text: &str, rate: Rate, report: &mut Report) -> Capacities {
    let mut capacities = Capacities::default();
    let Some(value) = json::whole(DOCUMENT, text, report) else {
        return capacities;
    };
    let root = Node::root(DOCUMENT, &value);
    let Some(listed) = root.required("brokerCapacities", report) else {
        return capacities;
    };
    for entry in listed.items(report) {
        let id = entry.required("brokerId", report);
        let id = id.and_then(|id| broker(&id, report));
        let capacity = entry.required("capacity", report);
        let capacity = capacity.and_then(|capacity| read(&capacity, rate, report));
        let (Some(id), Some(capacity)) = (id, capacity) else {
            continue;
        };
        let earlier = match id {
            Some(id) => capacities.named.insert(id, capacity),
            None => capacities.default.replace(capacity),
        };
        if earlier.is_some() {
            entry.find(report, "a broker has one capacity");
        }
    }
    capacities
}

/// The number of a broker; none for −1, which stands for all others.
fn broker(id: &Node<'_, '_>, report: &mut Report) -> Option<Option<i32>> {
    if *id.value == -1 || *id.value == "-1" {
        return Some(None);
    }
    let number = id.digits(i32::MAX.into(), report)?;
    i32::try_from(number).ok().map(Some)
}

fn read(capacity: &Node<'_, '_>, rate: Rate, report: &mut Report) -> Option<Capacity> {
    let network = match rate {
        Rate::NetworkOut => "NW_OUT",
        Rate::NetworkIn => "NW_IN",
    };
    let disk = capacity.required("DISK", report);
    let disk = disk.and_then(|disk| disks(&disk, report));
    let network = capacity.required(network, report);
    let network = network.and_then(|network| measure(&network, KB, report));
    Some(Capacity {
        disk: disk?,
        network: network?,
    })
}

/// Bytes of one disk, or of all where an object lists them by directory.
fn disks(disk: &Node<'_, '_>, report: &mut Report) -> Option<i64> {
    if !disk.value.is_object() {
        return measure(disk, MB, report);
    }
    let mut total = Some(0_i64);
    for (_, directory) in disk.members(report) {
        let bytes = measure(&directory, MB, report)?;
        total = total.and_then(|total| total.checked_add(bytes));
    }
    if total.is_none() {
        disk.find(report, "the disks of a broker have less than 2^63 bytes");
    }
    total
}
