//! Where replicas are, in any of the formats, and what must hold in all of them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::brokers::Listed;
use crate::interop::{self, Report, few};

/// Name of the layout in findings.
pub(super) const DOCUMENT: &str = "layout";

/// Topics and their partitions.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) topics: BTreeMap<String, Topic>,
    /// Brokers, where the format lists them.
    pub(super) brokers: Option<Listed>,
}

/// One topic.
#[derive(Debug, Default)]
pub(super) struct Topic {
    /// What the topic's own line says; absent where it has none.
    pub(super) header: Option<Header>,
    pub(super) is_marked_for_deletion: bool,
    pub(super) partitions: BTreeMap<i32, Partition>,
    /// Lines of partitions whose number can't be read; they have findings.
    pub(super) unnumbered: usize,
}

/// The line that `kafka-topics` prints above a topic's partitions.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) line: usize,
    pub(super) partitions: usize,
    pub(super) replication_factor: u32,
}

/// One partition as printed.
#[derive(Debug, Default)]
pub(super) struct Partition {
    /// The line or JSON path, for findings.
    pub(super) place: String,
    pub(super) leader: Option<i32>,
    /// All replicas, in Kafka's order: the preferred leader first, those being removed last.
    pub(super) replicas: Vec<i32>,
    /// Replicas in sync; absent where the format doesn't tell.
    pub(super) in_sync: Option<Vec<i32>>,
    /// Replicas that lack nothing though they left the replicas in sync: Kafka elects them too. Mostly empty.
    pub(super) eligible: Vec<i32>,
    pub(super) adding: Vec<i32>,
    pub(super) removing: Vec<i32>,
}

impl Partition {
    /// Replicas that hold the partition's data for certain: all but those being added. A leader does so always.
    pub(super) fn present(&self) -> Vec<i32> {
        self.without(&self.adding, self.leader)
    }

    /// Whether Kafka would elect the replica for certain, as far as the format tells.
    pub(super) fn may_lead(&self, broker: i32) -> bool {
        let in_sync = self.in_sync.as_ref();
        in_sync.is_none_or(|l| l.contains(&broker)) || self.eligible.contains(&broker)
    }

    /// Replicas once the reassignment under way has ended.
    pub(super) fn target(&self) -> Vec<i32> {
        self.without(&self.removing, None)
    }

    fn without(&self, gone: &[i32], kept: Option<i32>) -> Vec<i32> {
        let stays = |broker: &&i32| !gone.contains(broker) || kept == Some(**broker);
        self.replicas.iter().filter(stays).copied().collect()
    }
}

impl Layout {
    /// Adds a partition, unless it is there already or contradicts itself.
    pub(super) fn add(
        &mut self,
        topic: &str,
        number: i32,
        partition: Partition,
        report: &mut Report,
    ) {
        if !is_topic(topic) {
            return report.find(
                &partition.place,
                topic,
                "topic names are made of letters, digits, `.`, `_` and `-`, at most 249",
            );
        }
        check(&partition, report);
        let topic_entry = self.topics.entry(topic.to_owned()).or_default();
        match topic_entry.partitions.entry(number) {
            Entry::Vacant(vacant) => {
                vacant.insert(partition);
            }
            Entry::Occupied(first) => report.find(
                &partition.place,
                &format!("{topic}-{number}"),
                format!("a partition is listed once; see also {}", first.get().place),
            ),
        }
    }
}

impl Layout {
    /// What holds for a layout read without findings: it has partitions; what an operator should know is a warning.
    pub(super) fn finish(&mut self, is_clean: bool, report: &mut Report) {
        drop_deleted(self, report);
        if is_clean && self.topics.values().all(|t| t.partitions.is_empty()) {
            report.find(DOCUMENT, "", "a layout has at least one partition");
        } else if is_clean {
            warn_of_sync(self, report);
        }
    }
}

/// Leaves out topics that are about to vanish: moving them is refused or wasted.
fn drop_deleted(layout: &mut Layout, report: &mut Report) {
    let deleted: Vec<String> = layout
        .topics
        .iter()
        .filter(|(_, topic)| topic.is_marked_for_deletion)
        .map(|(name, _)| name.clone())
        .collect();
    if deleted.is_empty() {
        return;
    }
    layout
        .topics
        .retain(|_, topic| !topic.is_marked_for_deletion);
    report.warn(format!(
        "marked for deletion and left out: {}",
        few(&deleted)
    ));
}

/// What holds in every format.
fn check(partition: &Partition, report: &mut Report) {
    let place = &partition.place;
    let replicas = &partition.replicas;
    if replicas.is_empty() {
        report.find(place, "", "a partition has at least one replica");
    }
    let mut sorted = replicas.clone();
    sorted.sort_unstable();
    for pair in sorted.windows(2).filter(|pair| pair[0] == pair[1]) {
        report.find(
            place,
            &pair[0].to_string(),
            "the replicas of a partition are on distinct brokers",
        );
    }
    if let Some(leader) = partition.leader.filter(|leader| !replicas.contains(leader)) {
        report.find(
            place,
            &leader.to_string(),
            "the leader is one of the replicas",
        );
    }
    for (list, what) in [
        (&partition.adding, "a replica being added"),
        (&partition.removing, "a replica being removed"),
    ] {
        for broker in list.iter().filter(|broker| !replicas.contains(broker)) {
            report.find(
                place,
                &broker.to_string(),
                format!("{what} is one of the replicas"),
            );
        }
    }
    if !replicas.is_empty() && partition.target().is_empty() {
        report.find(
            place,
            "",
            "a partition keeps at least one replica that isn't being removed",
        );
    }
}

/// Whether Kafka would take the name for a topic.
pub(super) fn is_topic(name: &str) -> bool {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty()
        && name.len() <= 249
        && name != "."
        && name != ".."
        && name.chars().all(is_legal)
}

/// Warns of what an operator should know before moving leaders.
fn warn_of_sync(layout: &Layout, report: &mut Report) {
    let named = |holds: &dyn Fn(&Partition) -> bool| -> Vec<String> {
        let partitions = layout.topics.iter().flat_map(|(topic, listed)| {
            listed
                .partitions
                .iter()
                .map(move |(number, partition)| (topic, number, partition))
        });
        partitions
            .filter(|(_, _, partition)| holds(partition))
            .map(|(topic, number, _)| format!("{topic}-{number}"))
            .collect()
    };
    let in_sync =
        |p: &Partition, broker: i32| p.in_sync.as_ref().is_none_or(|l| l.contains(&broker));
    let mut warn = |names: Vec<String>, what: &str| {
        if !names.is_empty() {
            report.warn(format!(
                "{} {what}: {}",
                partitions(names.len()),
                few(&names)
            ));
        }
    };
    warn(named(&|p| p.leader.is_none()), "without a leader");
    warn(
        named(&|p| p.present().iter().any(|broker| !in_sync(p, *broker))),
        "under-replicated; Kafka won't elect a replica that is out of sync",
    );
    warn(
        named(&|p| p.leader.is_some_and(|leader| !in_sync(p, leader))),
        "with a leader that isn't among the replicas in sync",
    );
    let has_strays = |p: &Partition| {
        let mut listed = p.in_sync.iter().flatten();
        listed.any(|broker| !p.replicas.contains(broker))
    };
    warn(
        named(&has_strays),
        "with brokers in sync that aren't replicas (printed while it changed)",
    );
    warn(
        named(&|p| {
            p.leader
                .is_some_and(|leader| p.replicas.first() != Some(&leader))
        }),
        "not led by the preferred leader (the first replica); with auto.leader.rebalance.enable Kafka moves them back \
         by itself",
    );
}

/// `1 partition`, `2 partitions`.
pub(super) fn partitions(count: usize) -> String {
    interop::count(count, "partition")
}
