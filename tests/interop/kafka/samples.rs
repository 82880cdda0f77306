//! What Kafka's tools and Cruise Control print.

use shardflow::interop::Imported;
use shardflow::interop::kafka::{Import, import};

pub(crate) const OLD: &str = include_str!("../../../testdata/kafka/describe-2.x.txt");
pub(crate) const SPACES: &str = include_str!("../../../testdata/kafka/describe-3.x-spaces.txt");
pub(crate) const NEW: &str = include_str!("../../../testdata/kafka/describe-4.x.txt");
pub(crate) const REASSIGNMENT: &str = include_str!("../../../testdata/kafka/reassignment.json");
pub(crate) const GENERATE: &str = include_str!("../../../testdata/kafka/generate.txt");
pub(crate) const EXECUTE: &str = include_str!("../../../testdata/kafka/execute.txt");
pub(crate) const LOG_DIRS: &str = include_str!("../../../testdata/kafka/log-dirs.txt");
pub(crate) const KCAT: &str = include_str!("../../../testdata/kafka/kcat.json");
pub(crate) const BROKERS: &str = include_str!("../../../testdata/kafka/brokers.json");
pub(crate) const DEMO: &str = include_str!("../../../testdata/kafka/demo-describe.txt");
pub(crate) const DEMO_BROKERS: &str = include_str!("../../../testdata/kafka/demo-brokers.json");

/// An empty list, as exports write it.
pub(crate) const NOTHING: &str = "{\"version\":1,\"partitions\":[]}\n";

pub(crate) fn layout(text: &str) -> Imported {
    import(Import::new(text)).unwrap()
}

pub(crate) fn with_brokers<'a>(layout: &'a str, brokers: &'a str) -> Import<'a> {
    let mut described = Import::new(layout);
    described.brokers = Some(brokers);
    described
}

pub(crate) const PARTITION_LOAD: &str = include_str!("../../../testdata/kafka/partition-load.json");
pub(crate) const CAPACITY: &str = include_str!("../../../testdata/kafka/capacity.json");
