//! The two input files of a weight-function allocator: nodes with their disks, shards with their collections.
//!
//! A collection becomes a stream, shard `shard1` of collection `logs` the shard `logs/shard1`, new and without replicas
//! yet. Sizes and disks are in one unit, taken for bytes; a node's used disk belongs to no shard of the files. Nodes
//! have no zones. The number of a shard is that at the end of its id, where the shards of the collection differ in it.
//!
//! Names of fields vary, so each has several, and case, `_` and `-` don't matter; a field with none of the known names is
//! a finding, as is everything else that isn't understood. Time and memory are linear in the text, but for sorting.

use std::collections::{BTreeMap, BTreeSet};

use super::json::{self, Node};
use super::{ImportError, Imported, Report};
use crate::pb;

/// Names of the documents in findings.
const NODES: &str = "nodes";
const SHARDS: &str = "shards";

/// A field under any of its names, in lower case and without separators.
struct Field {
    names: &'static [&'static str],
}

const NODE_ID: Field = Field {
    names: &["id", "nodeid", "node"],
};
const TOTAL: Field = Field {
    names: &[
        "totalspace",
        "total",
        "totaldisk",
        "totaldiskspace",
        "disktotal",
        "totalbytes",
    ],
};
const USED: Field = Field {
    names: &[
        "usedspace",
        "used",
        "useddisk",
        "useddiskspace",
        "diskused",
        "usedbytes",
    ],
};
const SHARD_ID: Field = Field {
    names: &["shard", "shardid", "id"],
};
const COLLECTION: Field = Field {
    names: &["collection", "collectionid", "index", "indexid"],
};
const SIZE: Field = Field {
    names: &["size", "shardsize", "sizebytes", "sizeinbytes", "bytes"],
};

/// What to import.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Import<'a> {
    /// Nodes: id, total and used disk.
    pub nodes: &'a str,
    /// Shards: id, collection and size.
    pub shards: &'a str,
    /// Replicas that a shard is to have, the leader among them; from 1.
    pub replicas: u32,
    /// Name of the cluster.
    pub cluster_id: &'a str,
}

impl<'a> Import<'a> {
    /// An import of shards with one replica each.
    pub fn new(nodes: &'a str, shards: &'a str) -> Self {
        Self {
            nodes,
            shards,
            replicas: 1,
            cluster_id: "",
        }
    }
}

/// Builds a request from the two files.
///
/// ```
/// use shardflow::interop::weight_function::{Import, import};
///
/// let nodes = r#"[{"id": "a", "total_space": 1000, "used_space": 20}]"#;
/// let shards = r#"[{"collection": "logs", "shard": "shard1", "size": 30}]"#;
/// let snapshot = import(Import::new(nodes, shards))?.request.snapshot.unwrap_or_default();
/// assert_eq!(snapshot.brokers[0].disk_used_bytes, 20);
/// assert_eq!(snapshot.shards[0].id, "logs/shard1");
/// # Ok::<(), shardflow::interop::ImportError>(())
/// ```
///
/// # Errors
/// Everything that isn't understood or contradicts itself, in both files at once.
pub fn import(import: Import<'_>) -> Result<Imported, ImportError> {
    let mut report = Report::default();
    let brokers = nodes(import.nodes, &mut report);
    let collections = shards(import.shards, &mut report);
    report.refuse()?;
    let stream = |id: &String| pb::Stream {
        id: id.clone(),
        replication_factor: import.replicas.max(1),
        ..pb::Stream::default()
    };
    let snapshot = pb::Snapshot {
        cluster_id: import.cluster_id.to_owned(),
        brokers: brokers.into_values().collect(),
        streams: collections.keys().map(stream).collect(),
        shards: collections.into_values().flat_map(numbered).collect(),
        ..pb::Snapshot::default()
    };
    Ok(report.imported(snapshot, None))
}

/// Reads an array of objects, alone or as the one member of an object that is named after the document.
fn rows(
    document: &'static str,
    text: &str,
    report: &mut Report,
    mut read: impl FnMut(&Node<'_, '_>, &mut Report),
) {
    let Some(value) = json::whole(document, text, report) else {
        return;
    };
    let root = Node::root(document, &value);
    let member;
    let list = if value.is_object() {
        root.only(&[document], report);
        match root.required(document, report) {
            Some(listed) => member = listed,
            None => return,
        }
        &member
    } else {
        &root
    };
    for row in list.items(report) {
        read(&row, report);
    }
    if list.value.as_array().is_some_and(Vec::is_empty) {
        list.find(report, "at least one is listed");
    }
}

impl Field {
    fn is(&self, key: &str) -> bool {
        let letters = key.chars().filter(|c| !matches!(c, '_' | '-'));
        let plain: String = letters.map(|c| c.to_ascii_lowercase()).collect();
        self.names.contains(&plain.as_str())
    }
}

/// The members of a row that are the fields, in the fields' order. Notes members that are none, and fields that are
/// missing or there under two names.
fn fields<'v, 'p, const N: usize>(
    row: &'p Node<'v, 'p>,
    fields: [&Field; N],
    report: &mut Report,
) -> Option<[Node<'v, 'p>; N]> {
    let before = report.findings.len();
    let mut found: [Option<Node<'v, 'p>>; N] = [None; N];
    for (key, member) in row.members(report) {
        match fields.iter().position(|field| field.is(key)) {
            None => {
                let known = fields.map(|field| field.names[0]).join(", ");
                member.find(report, format!("unknown field; known here: {known}"));
            }
            Some(at) if found[at].is_some() => {
                member.find(report, "a field is there once, under one of its names");
            }
            Some(at) => found[at] = Some(member),
        }
    }
    if report.findings.len() > before {
        return None;
    }
    for (field, _) in fields
        .iter()
        .zip(found)
        .filter(|(_, found)| found.is_none())
    {
        let rule = format!("an object with `{}` is expected here", field.names[0]);
        row.find(report, rule);
    }
    let members: Vec<Node<'v, 'p>> = found.into_iter().flatten().collect();
    members.try_into().ok()
}

fn nodes(text: &str, report: &mut Report) -> BTreeMap<String, pb::Broker> {
    let mut brokers = BTreeMap::new();
    rows(NODES, text, report, |row, report| {
        let Some([id, total, used]) = fields(row, [&NODE_ID, &TOTAL, &USED], report) else {
            return;
        };
        let (total, used) = (
            total.digits(i64::MAX, report),
            used.digits(i64::MAX, report),
        );
        let Some(id) = id.name(report) else {
            return;
        };
        let broker = pb::Broker {
            id: id.clone(),
            disk_bytes: total,
            disk_used_bytes: used.unwrap_or(0),
            ..pb::Broker::default()
        };
        if brokers.insert(id, broker).is_some() {
            row.find(report, "a node is listed once");
        }
    });
    brokers
}

/// Shards by collection.
fn shards(text: &str, report: &mut Report) -> BTreeMap<String, Vec<pb::Shard>> {
    let mut collections: BTreeMap<String, Vec<pb::Shard>> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    rows(SHARDS, text, report, |row, report| {
        let Some([id, collection, size]) = fields(row, [&SHARD_ID, &COLLECTION, &SIZE], report)
        else {
            return;
        };
        let size = size.digits(i64::MAX, report);
        let (id, collection) = (id.name(report), collection.name(report));
        let (Some(id), Some(collection)) = (id, collection) else {
            return;
        };
        let shard = pb::Shard {
            id: format!("{collection}/{id}"),
            stream: collection.clone(),
            number: trailing(&id),
            size_bytes: size.unwrap_or(0),
            ..pb::Shard::default()
        };
        if !ids.insert(shard.id.clone()) {
            row.find(
                report,
                "a shard of a collection is listed once; its replicas are not listed",
            );
        }
        collections.entry(collection).or_default().push(shard);
    });
    collections
}

/// The number at the end of an id.
fn trailing(id: &str) -> Option<u32> {
    let digits = id.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    id[digits..].parse().ok()
}

/// The shards of a collection, without numbers where two would share one or one has none.
fn numbered(mut shards: Vec<pb::Shard>) -> Vec<pb::Shard> {
    let numbers: BTreeSet<u32> = shards.iter().filter_map(|shard| shard.number).collect();
    if numbers.len() < shards.len() {
        for shard in &mut shards {
            shard.number = None;
        }
    }
    shards
}
