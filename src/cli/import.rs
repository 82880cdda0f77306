//! `import`: requests from what other tools print.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::Answered;
use super::failure::{Failure, Lines};
use super::files::{self, Source};
use crate::interop::kafka::{self, Import};
use crate::json::{Defaults, to_json};
use crate::pb;
use crate::report::escaped;

#[derive(Subcommand, Debug)]
pub(super) enum Format {
    /// kafka-topics --describe, a reassignment JSON, kafka-reassign-partitions --generate, or kcat -L -J
    Kafka(Kafka),
}

#[derive(Args, Debug)]
pub(super) struct Kafka {
    /// Where the replicas are; the format is recognised; - is standard input
    layout: PathBuf,
    /// Brokers with racks, states and caps: a small JSON file, or kcat -L -J
    #[arg(long, value_name = "FILE")]
    brokers: Option<PathBuf>,
    /// Sizes: the output of kafka-log-dirs --describe
    #[arg(long, value_name = "FILE")]
    log_dirs: Option<PathBuf>,
    /// Roles that the request decides
    #[arg(long, value_enum, default_value_t = RolesName::LeadershipOnly)]
    roles: RolesName,
    /// Name of the cluster
    #[arg(long, value_name = "NAME", default_value = "")]
    cluster: String,
    /// Write the request here instead of to standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Roles that a request decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum RolesName {
    /// Which live replica leads; nothing is copied
    LeadershipOnly,
    /// Where every replica is and which one leads
    LeadersAndFollowers,
}

impl From<RolesName> for pb::Roles {
    fn from(name: RolesName) -> Self {
        match name {
            RolesName::LeadershipOnly => pb::Roles::LeadershipOnly,
            RolesName::LeadersAndFollowers => pb::Roles::LeadersAndFollowers,
        }
    }
}

pub(super) fn run(format: &Format) -> Result<Answered, Failure> {
    let Format::Kafka(arguments) = format;
    let optional = [arguments.brokers.as_deref(), arguments.log_dirs.as_deref()];
    let mut paths: Vec<&Path> = vec![&arguments.layout];
    paths.extend(optional.iter().flatten());
    files::only_one_dash(&paths)?;
    let layout = Source::read(&arguments.layout)?;
    let [brokers, log_dirs] = optional.map(|path| path.map(Source::read).transpose());
    let (brokers, log_dirs) = (brokers?, log_dirs?);
    let imported = kafka::import(Import {
        layout: layout.text(),
        log_dirs: log_dirs.as_ref().map(Source::text),
        brokers: brokers.as_ref().map(Source::text),
        roles: arguments.roles.into(),
        cluster_id: &arguments.cluster,
    })
    .map_err(|error| Failure::Invalid {
        file: layout.name.clone(),
        lines: Lines::new(error.findings),
    })?;
    for warning in &imported.warnings {
        files::complain(&format!("warning: {}", escaped(warning)));
    }
    let text = to_json(&imported.request, Defaults::Skip)?;
    match &arguments.output {
        Some(output) => files::write(output, &text)?,
        None => files::print(&text)?,
    }
    Ok(Answered::Well)
}
