//! `import kafka`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::super::Answered;
use super::super::failure::Failure;
use super::super::files::Source;
use super::{Common, finish, read, text};
use crate::interop::kafka::{Import, Rate, import};
use crate::pb;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Where the replicas are; the format is recognised; - is standard input
    layout: PathBuf,
    /// Brokers with racks, states and caps: a small JSON file, or kcat -L -J
    #[arg(long, value_name = "FILE")]
    brokers: Option<PathBuf>,
    /// Sizes: the output of kafka-log-dirs --describe
    #[arg(long, value_name = "FILE")]
    log_dirs: Option<PathBuf>,
    /// Rates, and sizes that --log-dirs lacks: Cruise Control's partition_load?json=true
    #[arg(long, value_name = "FILE")]
    partition_load: Option<PathBuf>,
    /// Disks of brokers, and with --partition-load their rate capacities: Cruise Control's capacity.json
    #[arg(long, value_name = "FILE")]
    capacity: Option<PathBuf>,
    /// Traffic of a partition's leader that counts as its rate
    #[arg(long, value_enum, default_value_t = RateName::NetworkOut, requires = "partition_load")]
    rate: RateName,
    /// Roles that the request decides
    #[arg(long, value_enum, default_value_t = RolesName::LeadershipOnly)]
    roles: RolesName,
    #[command(flatten)]
    common: Common,
}

/// Roles that a request decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum RolesName {
    /// Which live replica leads; nothing is copied
    LeadershipOnly,
    /// Where every replica is and which one leads
    LeadersAndFollowers,
}

/// Traffic that counts as a rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum RateName {
    /// What is read from it
    NetworkOut,
    /// What is written to it
    NetworkIn,
}

impl From<RolesName> for pb::Roles {
    fn from(name: RolesName) -> Self {
        match name {
            RolesName::LeadershipOnly => pb::Roles::LeadershipOnly,
            RolesName::LeadersAndFollowers => pb::Roles::LeadersAndFollowers,
        }
    }
}

impl From<RateName> for Rate {
    fn from(name: RateName) -> Self {
        match name {
            RateName::NetworkOut => Rate::NetworkOut,
            RateName::NetworkIn => Rate::NetworkIn,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Answered, Failure> {
    let [layout, brokers, log_dirs, partition_load, capacity] = read([
        Some(&arguments.layout),
        arguments.brokers.as_deref(),
        arguments.log_dirs.as_deref(),
        arguments.partition_load.as_deref(),
        arguments.capacity.as_deref(),
    ])?;
    let imported = import(Import {
        layout: text(&layout),
        log_dirs: log_dirs.as_ref().map(Source::text),
        partition_load: partition_load.as_ref().map(Source::text),
        capacity: capacity.as_ref().map(Source::text),
        rate: arguments.rate.into(),
        brokers: brokers.as_ref().map(Source::text),
        roles: arguments.roles.into(),
        cluster_id: &arguments.common.cluster,
    });
    finish(&arguments.layout, imported, &arguments.common)
}
