//! `import elasticsearch`.

use std::path::PathBuf;

use clap::Args;

use super::super::Answered;
use super::super::failure::Failure;
use super::super::files::Source;
use super::{Common, finish, read, text};
use crate::interop::elasticsearch::{Import, import};

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Output of _cat/shards?format=json&bytes=b; - is standard input
    shards: PathBuf,
    /// Nodes with zones, states and caps: a small JSON file, or _cat/nodeattrs?format=json
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    /// Disks: _cat/allocation?format=json&bytes=b
    #[arg(long, value_name = "FILE")]
    allocation: Option<PathBuf>,
    /// Attributes of _cat/nodeattrs that name the zone: the first that a node has
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "zone"
    )]
    zone_attribute: Vec<String>,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(arguments: &Arguments) -> Result<Answered, Failure> {
    let [shards, nodes, allocation] = read([
        Some(&arguments.shards),
        arguments.nodes.as_deref(),
        arguments.allocation.as_deref(),
    ])?;
    let imported = import(Import {
        shards: text(&shards),
        nodes: nodes.as_ref().map(Source::text),
        allocation: allocation.as_ref().map(Source::text),
        zone_attributes: &arguments.zone_attribute,
        cluster_id: &arguments.common.cluster,
    });
    finish(&arguments.shards, imported, &arguments.common)
}
