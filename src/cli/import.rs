//! `import`: requests from what other tools print.

mod elasticsearch;
mod kafka;
mod weight_function;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::Answered;
use super::failure::{Failure, Lines};
use super::files::{self, Source};
use crate::interop::{ImportError, Imported};
use crate::json::{Defaults, to_json};
use crate::report::escaped;

#[derive(Subcommand, Debug)]
pub(super) enum Format {
    /// kafka-topics --describe, a reassignment JSON, kafka-reassign-partitions --generate, or kcat -L -J
    Kafka(kafka::Arguments),
    /// _cat/shards of Elasticsearch or OpenSearch, as JSON with bytes=b
    Elasticsearch(elasticsearch::Arguments),
    /// The nodes and shards of a weight-function allocator
    WeightFunction(weight_function::Arguments),
}

/// What every import has.
#[derive(Args, Debug)]
struct Common {
    /// Name of the cluster
    #[arg(long, value_name = "NAME", default_value = "")]
    cluster: String,
    /// Write the request here instead of to standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(format: &Format) -> Result<Answered, Failure> {
    match format {
        Format::Kafka(arguments) => kafka::run(arguments),
        Format::Elasticsearch(arguments) => elasticsearch::run(arguments),
        Format::WeightFunction(arguments) => weight_function::run(arguments),
    }
}

/// Reads files, of which at most one is standard input.
fn read<const N: usize>(paths: [Option<&Path>; N]) -> Result<[Option<Source>; N], Failure> {
    let named: Vec<&Path> = paths.iter().flatten().copied().collect();
    files::only_one_dash(&named)?;
    let mut sources = [const { None }; N];
    for (source, path) in sources.iter_mut().zip(paths) {
        *source = path.map(Source::read).transpose()?;
    }
    Ok(sources)
}

/// The text of a file, empty where none was named.
fn text(source: &Option<Source>) -> &str {
    source.as_ref().map_or("", Source::text)
}

/// Writes what was imported; findings are those of `file` and what goes with it.
fn finish(
    file: &Path,
    imported: Result<Imported, ImportError>,
    common: &Common,
) -> Result<Answered, Failure> {
    let imported = imported.map_err(|error| Failure::Invalid {
        file: files::name(file),
        lines: Lines::new(error.findings),
    })?;
    for warning in &imported.warnings {
        files::complain(&format!("warning: {}", escaped(warning)));
    }
    let text = to_json(&imported.request, Defaults::Skip)?;
    match &common.output {
        Some(output) => files::write(output, &text)?,
        None => files::print(&text)?,
    }
    Ok(Answered::Well)
}
