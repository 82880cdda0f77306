//! `_cat/allocation?format=json&bytes=b`: the disks of the data nodes.

use std::collections::BTreeMap;

use super::cat;
use crate::interop::Report;
use crate::interop::json::Node;

/// Name of the listing in findings.
pub(super) const DOCUMENT: &str = "allocation";

/// The row that counts copies without a node.
const UNASSIGNED: &str = "UNASSIGNED";

/// Bytes of a node's disks; absent where the node didn't tell.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) total: Option<i64>,
    /// In use, by whatever.
    pub(super) used: Option<i64>,
    /// In use by indices.
    pub(super) indices: Option<i64>,
}

/// Disks by the name of the node.
pub(super) type Disks = BTreeMap<String, Disk>;

/// Reads the listing.
pub(super) fn parse(text: &str, report: &mut Report) -> Disks {
    let mut disks = Disks::new();
    cat::rows(DOCUMENT, text, report, |row, report| {
        read(row, &mut disks, report);
    });
    disks
}

fn read(row: &Node<'_, '_>, disks: &mut Disks, report: &mut Report) {
    let node = row.required("node", report);
    let node = node.and_then(|node| node.text(report));
    let disk = Disk {
        total: cat::bytes(row, "disk.total", report),
        used: cat::bytes(row, "disk.used", report),
        indices: cat::bytes(row, "disk.indices", report),
    };
    let is_counted = |node: &&str| *node != UNASSIGNED || disk.total.is_some();
    let Some(node) = node.filter(is_counted) else {
        return;
    };
    if disks.insert(node.to_owned(), disk).is_some() {
        row.find(
            report,
            "a node is listed once: nodes of one name can't be told apart",
        );
    }
}

impl Disk {
    /// Bytes that belong to no shard of the listing, where its copies on the node take `listed`.
    pub(super) fn foreign(&self, listed: i64) -> i64 {
        let shards = self.indices.map_or(listed, |indices| indices.min(listed));
        self.used.unwrap_or(0).saturating_sub(shards).max(0)
    }
}
