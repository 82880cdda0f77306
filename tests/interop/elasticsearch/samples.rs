//! What the cat APIs list.

use shardflow::interop::Imported;
use shardflow::interop::elasticsearch::{Import, import};

pub(crate) const SHARDS: &str = include_str!("../../../testdata/elasticsearch/shards.json");
pub(crate) const STEADY: &str = include_str!("../../../testdata/elasticsearch/steady.json");
pub(crate) const NODEATTRS: &str = include_str!("../../../testdata/elasticsearch/nodeattrs.json");
pub(crate) const ALLOCATION: &str = include_str!("../../../testdata/elasticsearch/allocation.json");
pub(crate) const NODES: &str = include_str!("../../../testdata/elasticsearch/nodes.json");

pub(crate) fn listed(shards: &str) -> Imported {
    import(Import::new(shards)).unwrap()
}

pub(crate) fn with_nodes<'a>(shards: &'a str, nodes: &'a str) -> Import<'a> {
    let mut described = Import::new(shards);
    described.nodes = Some(nodes);
    described
}

/// A row of `_cat/shards`; a node that is empty isn't there.
pub(crate) fn row(shard: u32, prirep: &str, state: &str, node: &str) -> String {
    let node = match node {
        "" => "null".to_owned(),
        node => format!("\"{node}\""),
    };
    format!(
        "{{\"index\":\"i\",\"shard\":\"{shard}\",\"prirep\":\"{prirep}\",\"state\":\"{state}\",\"store\":\"5\",\"node\":{node}}}"
    )
}

pub(crate) fn rows(rows: &[String]) -> String {
    format!("[{}]", rows.join(",\n"))
}
