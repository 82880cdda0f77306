//! What partitions weigh and brokers carry: joined to a snapshot from `kafka-log-dirs` and Cruise Control.
//!
//! A size is that of log-dirs where it has the partition: bytes, at the time of asking. Cruise Control's, a mean of past
//! windows, stands in where log-dirs has none. Rates are Cruise Control's. What a person wrote of a broker's disk or rate
//! goes before `capacity.json`. On a broker whose disk is limited, partitions of log-dirs that the snapshot lacks count as
//! bytes that belong to no shard.

use std::collections::{BTreeMap, BTreeSet};

use super::capacity::{self, Capacities};
use super::layout::{Layout, partitions};
use super::log_dirs::{self, LogDirs};
use super::partition_load::{self, Loads};
use crate::interop::{Report, count, few};
use crate::pb;

/// Topic and number of a partition.
pub(super) type Key = (String, i32);

/// What is known beside the layout.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) log_dirs: Option<LogDirs>,
    pub(super) loads: Option<Loads>,
    pub(super) capacities: Option<Capacities>,
}

impl Measured {
    /// Adds to the snapshot what is known of its shards and brokers, and warns of what is not.
    pub(super) fn join(&self, layout: &Layout, snapshot: &mut pb::Snapshot, report: &mut Report) {
        for shard in &mut snapshot.shards {
            let key = key(shard);
            shard.size_bytes = self.size(&key).unwrap_or(0);
            let load = self.loads.as_ref().and_then(|loads| loads.get(&key));
            shard.rate = load.map_or(0, |load| load.rate);
        }
        self.add_capacities(snapshot, report);
        self.add_foreign(snapshot);
        self.warn(layout, report);
    }

    fn size(&self, key: &Key) -> Option<i64> {
        let measured = self.log_dirs.as_ref().and_then(|dirs| dirs.sizes.get(key));
        let load = self.loads.as_ref().and_then(|loads| loads.get(key));
        measured.copied().or(load.map(|load| load.size))
    }

    fn add_capacities(&self, snapshot: &mut pb::Snapshot, report: &mut Report) {
        let Some(capacities) = &self.capacities else {
            return;
        };
        let mut unnamed = Vec::new();
        for broker in &mut snapshot.brokers {
            let number = broker.id.parse().ok();
            let Some(capacity) = number.and_then(|number| capacities.of(number)) else {
                unnamed.push(broker.id.clone());
                continue;
            };
            broker.disk_bytes = broker.disk_bytes.or(Some(capacity.disk));
            if self.loads.is_some() {
                broker.rate_capacity = broker.rate_capacity.or(Some(capacity.network));
            }
        }
        if !unnamed.is_empty() {
            report.warn(format!(
                "{} neither in {} nor covered by its broker -1, so without limits: {}",
                count(unnamed.len(), "broker"),
                capacity::DOCUMENT,
                few(&unnamed)
            ));
        }
    }

    /// Counts what limited disks hold beside the snapshot, unless a person said how much that is.
    fn add_foreign(&self, snapshot: &mut pb::Snapshot) {
        let Some(dirs) = &self.log_dirs else {
            return;
        };
        let listed: BTreeSet<Key> = snapshot.shards.iter().map(key).collect();
        let mut foreign: BTreeMap<String, i64> = BTreeMap::new();
        for (broker, key, size) in &dirs.held {
            if !listed.contains(key) {
                let bytes = foreign.entry(broker.to_string()).or_default();
                *bytes = bytes.saturating_add(*size);
            }
        }
        for broker in &mut snapshot.brokers {
            if broker.disk_bytes.is_some() && broker.disk_used_bytes == 0 {
                broker.disk_used_bytes = foreign.get(&broker.id).copied().unwrap_or(0);
            }
        }
    }

    fn warn(&self, layout: &Layout, report: &mut Report) {
        let topics = layout.topics.iter();
        let listed: BTreeMap<Key, Option<i32>> = topics
            .flat_map(|(name, topic)| {
                let partitions = topic.partitions.iter();
                partitions.map(|(number, p)| ((name.clone(), *number), p.leader))
            })
            .collect();
        let without = |holds: &dyn Fn(&Key) -> bool| -> Vec<String> {
            listed.keys().filter(|key| !holds(key)).map(name).collect()
        };
        if let Some(dirs) = &self.log_dirs {
            let sources = match &self.loads {
                Some(_) => "log-dirs or partition-load",
                None => log_dirs::DOCUMENT,
            };
            let empty = without(&|key| self.size(key).is_some());
            warn_of(
                &empty,
                &format!("without a size in {sources}, taken as empty"),
                report,
            );
            warn_of_strangers(dirs.sizes.keys(), &listed, log_dirs::DOCUMENT, report);
        }
        if let Some(loads) = &self.loads {
            let idle = without(&|key| loads.contains_key(key));
            let document = partition_load::DOCUMENT;
            let taken = match &self.log_dirs {
                Some(_) => "without traffic",
                None => "empty and without traffic",
            };
            warn_of(
                &idle,
                &format!("without a record in {document}, taken as {taken}"),
                report,
            );
            warn_of_strangers(loads.keys(), &listed, document, report);
            let is_moved = |(key, led): (&Key, &Option<i32>)| {
                let load = loads.get(key);
                let is_led_anew =
                    load.is_some_and(|load| led.is_some_and(|led| led != load.leader));
                is_led_anew.then(|| name(key))
            };
            let moved: Vec<String> = listed.iter().filter_map(is_moved).collect();
            let what = format!("led by another broker than when {document} was made");
            warn_of(&moved, &what, report);
        }
    }
}

/// The partition of a shard, which has a number that Kafka gave.
fn key(shard: &pb::Shard) -> Key {
    let number = shard.number.and_then(|number| i32::try_from(number).ok());
    (shard.stream.clone(), number.unwrap_or(-1))
}

fn name((topic, number): &Key) -> String {
    format!("{topic}-{number}")
}

fn warn_of(names: &[String], what: &str, report: &mut Report) {
    if !names.is_empty() {
        report.warn(format!(
            "{} {what}: {}",
            partitions(names.len()),
            few(names)
        ));
    }
}

fn warn_of_strangers<'k>(
    keys: impl Iterator<Item = &'k Key>,
    listed: &BTreeMap<Key, Option<i32>>,
    document: &str,
    report: &mut Report,
) {
    let strange: Vec<String> = keys
        .filter(|key| !listed.contains_key(*key))
        .map(name)
        .collect();
    let what = format!("in {document} that the layout doesn't list");
    warn_of(&strange, &what, report);
}
