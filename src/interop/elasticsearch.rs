//! Elasticsearch and OpenSearch: listings of their cat APIs become a request, a plan becomes commands for
//! `_cluster/reroute`.
//!
//! | in | from |
//! | --- | --- |
//! | copies, sizes | `_cat/shards?format=json&bytes=b` |
//! | zones, tags | `_cat/nodeattrs?format=json`, or a small JSON file, which also has states and caps |
//! | disks | `_cat/allocation?format=json&bytes=b` |
//!
//! An index becomes a stream, shard 3 of index `orders` the shard `orders/3`, the name of a node its id; the primary
//! leads, replicas follow. An index has as many replicas as are listed of it, assigned or not.
//!
//! # What a listing means
//! A relocation is a move in flight; so is a replica that starts on a node. Where flights can't say what is going on (two
//! replicas under way, or a primary that starts), the shard is pinned with every copy it has, at both ends. A shard
//! whose primary isn't assigned has no leader. A size is the largest among a shard's copies.
//!
//! A disk is full by what belongs to no shard of the listing, `disk.used` less the copies listed on it, and by the
//! shards. Less no more than `disk.indices`: of a copy on its way the target holds only a part yet.
//!
//! # Which nodes there are
//! A node file lists them. `_cat/nodeattrs` lists nodes that have attributes, whatever their roles; `_cat/allocation`
//! lists data nodes. With both, the nodes are those of `_cat/allocation` and any other that holds a copy. A node that
//! only the listing of shards names, where there is a list of nodes, is `DOWN`.
//!
//! # Primaries
//! A primary does little more than a replica, and no command makes a replica the primary. So the policy of the request
//! has no spread of leaders, and a promotion costs as much as a copy: plans leave primaries where they are unless they
//! move.
//!
//! # Failure
//! Whatever isn't understood is a finding with its JSON path or line. Time and memory are linear in the text, but for
//! sorting.

mod allocation;
mod cat;
mod copies;
mod export;
mod nodes;
mod notes;
mod reroute;
mod shards;
mod snapshot;

pub use crate::interop::{ExportError, ImportError, Imported};
pub use export::{Export, Limits, export};

use crate::interop::Report;
use crate::pb;

/// What to import.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Import<'a> {
    /// `_cat/shards?format=json&bytes=b`.
    pub shards: &'a str,
    /// A node file, or `_cat/nodeattrs?format=json`; absent: the nodes of the other listings, without zones.
    pub nodes: Option<&'a str>,
    /// `_cat/allocation?format=json&bytes=b`; absent: no disks.
    pub allocation: Option<&'a str>,
    /// Attributes that name a node's zone: the first that it has.
    pub zone_attributes: &'a [String],
    /// Name of the cluster.
    pub cluster_id: &'a str,
}

impl<'a> Import<'a> {
    /// An import of shards alone.
    pub fn new(shards: &'a str) -> Self {
        Self {
            shards,
            nodes: None,
            allocation: None,
            zone_attributes: &[],
            cluster_id: "",
        }
    }
}

/// Builds a request from what the cat APIs list.
///
/// ```
/// use shardflow::interop::elasticsearch::{Import, import};
///
/// let shards = r#"[{"index":"orders","shard":"0","prirep":"p","state":"STARTED","store":"230","node":"es-1"}]"#;
/// let snapshot = import(Import::new(shards))?.request.snapshot.unwrap_or_default();
/// assert_eq!(snapshot.shards[0].id, "orders/0");
/// assert_eq!(snapshot.shards[0].leader, "es-1");
/// # Ok::<(), shardflow::interop::elasticsearch::ImportError>(())
/// ```
///
/// # Errors
/// Everything that isn't understood or contradicts itself, in all documents at once.
pub fn import(import: Import<'_>) -> Result<Imported, ImportError> {
    let mut report = Report::default();
    let indices = shards::parse(import.shards, &mut report);
    let listed = import.nodes;
    let listed = listed.map(|text| nodes::parse(text, import.zone_attributes, &mut report));
    let disks = import.allocation;
    let disks = disks.map(|text| allocation::parse(text, &mut report));
    report.refuse()?;
    let brokers = nodes::brokers(&indices, listed, disks.as_ref(), &mut report);
    report.refuse()?;
    let snapshot = snapshot::assemble(import.cluster_id, &indices, brokers, &mut report);
    Ok(report.imported(snapshot, Some(policy())))
}

/// What suits a cluster whose primaries can't be chosen.
fn policy() -> pb::Policy {
    let off = pb::Spread {
        mode: pb::SpreadMode::Off.into(),
        ..pb::Spread::default()
    };
    pb::Policy {
        stream_leaders: Some(off),
        cluster_leaders: Some(off),
        weights: Some(pb::Weights {
            promotion: Some(1),
            ..pb::Weights::default()
        }),
        ..pb::Policy::default()
    }
}
