//! `import weight-function`.

use std::path::PathBuf;

use clap::Args;

use super::super::Answered;
use super::super::failure::Failure;
use super::{Common, finish, read, text};
use crate::interop::weight_function::{Import, import};

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Nodes: id, total_space, used_space; - is standard input
    nodes: PathBuf,
    /// Shards: shard, collection, size; - is standard input
    shards: PathBuf,
    /// Replicas of each shard, the leader among them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    replicas: u32,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(arguments: &Arguments) -> Result<Answered, Failure> {
    let [nodes, shards] = read([Some(&arguments.nodes), Some(&arguments.shards)])?;
    let imported = import(Import {
        nodes: text(&nodes),
        shards: text(&shards),
        replicas: arguments.replicas,
        cluster_id: &arguments.common.cluster,
    });
    finish(&arguments.shards, imported, &arguments.common)
}
