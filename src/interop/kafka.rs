//! Apache Kafka: its tools' output becomes a request, a plan becomes files for its tools.
//!
//! | in | from |
//! | --- | --- |
//! | layout | `kafka-topics --describe`, a reassignment JSON, `kafka-reassign-partitions --generate`, `kcat -L -J` |
//! | sizes | `kafka-log-dirs --describe` |
//! | rates, and sizes that log-dirs lacks | Cruise Control's `partition_load?json=true` |
//! | disks and network of brokers | Cruise Control's `capacity.json` |
//! | racks, states, caps | a small JSON file, or `kcat -L -J` |
//!
//! A topic becomes a stream, partition 3 of topic `orders` the shard `orders-3`, a broker's number its id.
//!
//! # What a layout means
//! The leader is the broker that leads, which needn't be the first replica; where a format doesn't tell (the
//! reassignment JSON), the first replica stands for it. A reassignment under way becomes moves in flight where one
//! flight per role can say it: the shard then lists the replicas it had before, and the flights say where they go.
//! Where it can't (two followers on their way at once, or one that only leaves), the shard is pinned with every
//! replica it has, the surplus too. Topics marked for deletion are left out.
//!
//! # Replicas out of sync
//! Kafka elects a replica only if it is in sync (`Isr`, or `Elr` where no leader is left). A snapshot has no such notion:
//! any live replica may be given the lead. So a request that only moves leadership pins a partition with a live
//! follower out of sync, whichever of its other followers could lead. A partition without a leader, where a live
//! replica may have lost data, is left out of every request: a pin would not keep the plan from electing one, and
//! Kafka elects by itself as soon as it can. What a plan says of such a broker's load lacks that partition.
//!
//! # Rates
//! Of a partition's load only what its leader alone carries moves with the lead: what consumers fetch. So the rate of a
//! shard is the leader's outbound traffic unless the inbound is asked for, in bytes a second, and a broker's rate
//! capacity that of its network in the same direction. Traffic between replicas is in neither.
//!
//! # Failure
//! Text that isn't understood is a finding with its line or JSON path; only what is plainly a shell prompt or the
//! noise of the Java tools is passed over. A truncated paste is noticed by the partition count in the topic's line.
//! Time and memory are linear in the text, but for sorting.

mod brokers;
mod capacity;
mod describe;
mod elections;
mod export;
mod formats;
mod kcat;
mod layout;
mod log_dirs;
mod measured;
mod measures;
mod partition_load;
mod reassignment;
mod snapshot;

pub use crate::interop::{ExportError, ImportError, Imported};
pub use export::{Export, export};

use crate::interop::Report;
use crate::pb;
use measured::Measured;

/// Traffic that counts as the rate of a partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rate {
    /// What is read from its leader.
    #[default]
    NetworkOut,
    /// What is written to it.
    NetworkIn,
}

/// What to import.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Import<'a> {
    /// Text that tells where replicas are; its format is recognised.
    pub layout: &'a str,
    /// Output of `kafka-log-dirs --describe`; absent: no sizes.
    pub log_dirs: Option<&'a str>,
    /// Cruise Control's `partition_load?json=true`; absent: no rates.
    pub partition_load: Option<&'a str>,
    /// Cruise Control's `capacity.json`; absent: no limits but those of `brokers`.
    pub capacity: Option<&'a str>,
    /// Traffic that counts as the rate.
    pub rate: Rate,
    /// Brokers with their racks and states; absent: what the layout tells.
    pub brokers: Option<&'a str>,
    /// Roles that the request decides.
    pub roles: pb::Roles,
    /// Name of the cluster.
    pub cluster_id: &'a str,
}

impl<'a> Import<'a> {
    /// An import of a layout alone, for a request that only moves leadership.
    pub fn new(layout: &'a str) -> Self {
        Self {
            layout,
            log_dirs: None,
            partition_load: None,
            capacity: None,
            rate: Rate::default(),
            brokers: None,
            roles: pb::Roles::LeadershipOnly,
            cluster_id: "",
        }
    }
}

/// Builds a request from what Kafka's tools print.
///
/// ```
/// use shardflow::interop::kafka::{Import, import};
///
/// let layout = "Topic: t\tPartition: 0\tLeader: 2\tReplicas: 1,2\tIsr: 1,2";
/// let snapshot = import(Import::new(layout))?.request.snapshot.unwrap_or_default();
/// assert_eq!(snapshot.shards[0].id, "t-0");
/// assert_eq!(snapshot.shards[0].leader, "2");
/// # Ok::<(), shardflow::interop::kafka::ImportError>(())
/// ```
///
/// # Errors
/// Everything that isn't understood or contradicts itself, in all documents at once.
pub fn import(import: Import<'_>) -> Result<Imported, ImportError> {
    let mut report = Report::default();
    let mut layout = formats::read(import.layout, &mut report);
    let listed = match import.brokers {
        Some(text) => Some(brokers::parse(text, &mut report)),
        None => layout.brokers.take(),
    };
    let measured = measured(&import, &mut report);
    report.refuse()?;
    let snapshot = snapshot::assemble(
        import.cluster_id,
        import.roles,
        &layout,
        listed,
        &measured,
        &mut report,
    );
    let policy = pb::Policy {
        roles: import.roles.into(),
        ..pb::Policy::default()
    };
    Ok(report.imported(snapshot, Some(policy)))
}

fn measured(import: &Import<'_>, report: &mut Report) -> Measured {
    let log_dirs = import.log_dirs.map(|text| log_dirs::parse(text, report));
    let loads = import.partition_load;
    let loads = loads.map(|text| partition_load::parse(text, import.rate, report));
    let capacities = import.capacity;
    let capacities = capacities.map(|text| capacity::parse(text, import.rate, report));
    Measured {
        log_dirs,
        loads,
        capacities,
    }
}
