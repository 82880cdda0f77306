//! A plan for Kafka's own tools.
//!
//! `reassignment` lists only partitions whose leader or replicas change. Its first replica is the leader of the plan;
//! then come the replicas that stay, in their present order, then new ones. `rollback` restores the present lists.
//! `election` lists the partitions whose leader changes: Kafka keeps a leader that is still a replica until a
//! preferred-leader election moves it.
//!
//! `kafka-reassign-partitions` refuses a whole file that names a broker which isn't up. A partition that would keep a
//! replica on a DOWN broker is therefore left out, with a warning; so is one that the plan leaves without a leader.
//! Pinned shards and those with a move in flight never appear: the first are to stay, the second are Kafka's already.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use serde::Serialize;

use super::layout::{is_topic, partitions};
use crate::interop::{ExportError, Report, few};
use crate::pb;

/// Files for Kafka's tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// For `kafka-reassign-partitions --execute --reassignment-json-file`.
    pub reassignment: String,
    /// The same partitions as they are now, the present leader first.
    pub rollback: String,
    /// For `kafka-leader-election --election-type preferred --path-to-json-file`, once the reassignment has ended.
    pub election: String,
    /// What to do with the files.
    pub notes: Vec<String>,
    /// What of the plan isn't in the files, and why.
    pub warnings: Vec<String>,
}

/// A partition as the reassignment JSON has it.
#[derive(Serialize)]
struct Reassigned<'a> {
    topic: &'a str,
    partition: i32,
    replicas: Vec<i32>,
}

/// A partition as the election JSON has it.
#[derive(Serialize)]
struct Elected<'a> {
    topic: &'a str,
    partition: i32,
}

/// A shard whose replicas or leader change.
struct Change<'a> {
    present: Vec<&'a str>,
    planned: Vec<&'a str>,
    is_led_anew: bool,
    is_copied: bool,
}

/// Topic and number of a partition.
type Key<'a> = (&'a str, i32);

/// Turns a plan into files for Kafka's tools.
///
/// # Errors
/// Where plan and request don't belong together, or name what Kafka can't: everything found, with its path.
pub fn export(
    request: &pb::OptimizeRequest,
    response: &pb::OptimizeResponse,
) -> Result<Export, ExportError> {
    let mut report = Report::default();
    let default = pb::Snapshot::default();
    let snapshot = request.snapshot.as_ref().unwrap_or(&default);
    let changes = match response.plan.as_ref() {
        Some(plan) => Exporter::new(snapshot).changes(plan, &mut report),
        None => {
            report.find("plan", "", "the response has a plan");
            BTreeMap::new()
        }
    };
    if !report.findings.is_empty() {
        return Err(ExportError {
            findings: report.findings,
        });
    }
    Ok(write(snapshot, changes, report))
}

/// The snapshot, indexed.
struct Exporter<'a> {
    shards: HashMap<&'a str, (usize, &'a pb::Shard)>,
    brokers: HashMap<&'a str, pb::BrokerState>,
    in_flight: HashSet<&'a str>,
    generation: &'a str,
}

impl<'a> Exporter<'a> {
    fn new(snapshot: &'a pb::Snapshot) -> Self {
        let shards = snapshot.shards.iter().enumerate();
        let brokers = snapshot.brokers.iter();
        let flights = snapshot.in_flight.iter();
        Self {
            shards: shards.map(|(i, s)| (s.id.as_str(), (i, s))).collect(),
            brokers: brokers.map(|b| (b.id.as_str(), b.state())).collect(),
            in_flight: flights.map(|f| f.shard.as_str()).collect(),
            generation: &snapshot.generation,
        }
    }

    /// Partitions that change, in order.
    fn changes(&self, plan: &'a pb::Plan, report: &mut Report) -> BTreeMap<Key<'a>, Change<'a>> {
        let mut changes = BTreeMap::new();
        if plan.generation != self.generation {
            report.find(
                "plan.generation",
                &plan.generation,
                format!(
                    "the plan is one of this snapshot, generation `{}`",
                    self.generation
                ),
            );
        }
        if plan.assignments.is_empty() && !plan.moves.is_empty() {
            report.find(
                "plan.assignments",
                "",
                "a plan with moves lists its assignments; ask for ASSIGNMENTS_ALL or ASSIGNMENTS_CHANGED",
            );
        }
        let mut seen = HashSet::new();
        let mut pinned = Vec::new();
        let mut leaderless = Vec::new();
        for (index, assignment) in plan.assignments.iter().enumerate() {
            let path = format!("plan.assignments[{index}]");
            if !seen.insert(assignment.shard.as_str()) {
                report.find(
                    path + ".shard",
                    &assignment.shard,
                    "a shard is assigned once",
                );
                continue;
            }
            let Some((position, shard)) = self.shards.get(assignment.shard.as_str()) else {
                report.find(
                    path + ".shard",
                    &assignment.shard,
                    "the snapshot lists the shard",
                );
                continue;
            };
            self.check_brokers(&path, assignment, report);
            let Some(change) = self.change(shard, assignment) else {
                continue;
            };
            if shard.pinned {
                pinned.push(shard.id.clone());
                continue;
            }
            if assignment.leader.is_empty() {
                leaderless.push(shard.id.clone());
                continue;
            }
            let place = format!("snapshot.shards[{position}]");
            let Some(key) = key(&place, shard, report) else {
                continue;
            };
            check_numbers(&place, &change, report);
            if changes.insert(key, change).is_some() {
                report.find(
                    place,
                    &format!("{}-{}", key.0, key.1),
                    "two shards aren't one partition",
                );
            }
        }
        left_out(&pinned, "pinned", report);
        left_out(&leaderless, "without a leader in the plan", report);
        self.drop_down(&mut changes, report);
        changes
    }

    fn check_brokers(&self, path: &str, assignment: &pb::Assignment, report: &mut Report) {
        let mut seen = HashSet::new();
        let leader = Some(&assignment.leader).filter(|leader| !leader.is_empty());
        for broker in leader.into_iter().chain(&assignment.followers) {
            if !self.brokers.contains_key(broker.as_str()) {
                report.find(path, broker, "the snapshot lists the broker");
            }
            if !seen.insert(broker) {
                report.find(
                    path,
                    broker,
                    "the replicas of a shard are on distinct brokers",
                );
            }
        }
    }

    /// What changes; `None` where nothing does, or Kafka is at it already.
    fn change(&self, shard: &'a pb::Shard, assignment: &'a pb::Assignment) -> Option<Change<'a>> {
        if self.in_flight.contains(shard.id.as_str()) {
            return None;
        }
        let is_named = |id: &&str| !id.is_empty();
        let present: Vec<&str> = std::iter::once(shard.leader.as_str())
            .filter(is_named)
            .chain(shard.followers.iter().map(String::as_str))
            .collect();
        let listed: Vec<&str> = std::iter::once(assignment.leader.as_str())
            .filter(is_named)
            .chain(assignment.followers.iter().map(String::as_str))
            .collect();
        let leader = assignment.leader.as_str();
        let stays = |broker: &&str| *broker != leader && listed.contains(broker);
        let comes = |broker: &&str| *broker != leader && !present.contains(broker);
        let planned: Vec<&str> = std::iter::once(leader)
            .chain(present.iter().copied().filter(stays))
            .chain(listed.iter().copied().filter(comes))
            .collect();
        let is_led_anew = shard.leader != assignment.leader;
        let is_copied = planned.iter().any(|b| !present.contains(b));
        let is_changed = is_led_anew || is_copied || planned.len() != present.len();
        is_changed.then_some(Change {
            present,
            planned,
            is_led_anew,
            is_copied,
        })
    }

    /// Leaves out partitions that would keep a replica on a broker that isn't up.
    fn drop_down(&self, changes: &mut BTreeMap<Key<'a>, Change<'a>>, report: &mut Report) {
        let is_down = |id: &&str| self.brokers.get(*id) == Some(&pb::BrokerState::Down);
        let mut kept_out = Vec::new();
        let mut one_way = Vec::new();
        changes.retain(|(topic, number), change| {
            let name = format!("{topic}-{number}");
            if change.planned.iter().any(is_down) {
                kept_out.push(name);
                return false;
            }
            if change.present.iter().any(is_down) {
                change.present.clear();
                one_way.push(name);
            }
            true
        });
        left_out(
            &kept_out,
            "that would keep a replica on a broker that isn't up, which kafka-reassign-partitions refuses",
            report,
        );
        if !one_way.is_empty() {
            report.warn(format!(
                "not in the rollback, as replicas are now on a broker that isn't up, {}: {}",
                partitions(one_way.len()),
                few(&one_way)
            ));
        }
    }
}

/// Warns of partitions that the plan changes and the files don't.
fn left_out(names: &[String], which: &str, report: &mut Report) {
    if !names.is_empty() {
        report.warn(format!(
            "left out {} {which}: {}",
            partitions(names.len()),
            few(names)
        ));
    }
}

/// Topic and number of a shard: its stream and number; without a number, its id split at the last `-`.
fn key<'a>(place: &str, shard: &'a pb::Shard, report: &mut Report) -> Option<Key<'a>> {
    let split = || {
        let (topic, number) = shard.id.rsplit_once('-')?;
        Some((topic, number.parse().ok()?))
    };
    let key = match shard.number {
        Some(number) => i32::try_from(number)
            .ok()
            .map(|n| (shard.stream.as_str(), n)),
        None => split(),
    };
    let key = key.filter(|(topic, number)| is_topic(topic) && *number >= 0);
    if key.is_none() {
        report.find(
            place,
            &shard.id,
            "a shard is a partition: its stream is a topic of Kafka, and its number, or else its id behind the last `-`, \
             goes up to 2147483647",
        );
    }
    key
}

/// Notes brokers of a change whose ids aren't Kafka's.
fn check_numbers(place: &str, change: &Change<'_>, report: &mut Report) {
    let ids: BTreeSet<&str> = change
        .present
        .iter()
        .chain(&change.planned)
        .copied()
        .collect();
    for id in ids.into_iter().filter(|id| broker_number(id).is_none()) {
        report.find(
            place,
            id,
            "brokers of Kafka have a whole number from 0 as id",
        );
    }
}

fn broker_number(id: &str) -> Option<i32> {
    id.parse().ok().filter(|number| *number >= 0)
}

fn write(
    snapshot: &pb::Snapshot,
    changes: BTreeMap<Key<'_>, Change<'_>>,
    report: Report,
) -> Export {
    let mut reassigned = Vec::new();
    let mut restored = Vec::new();
    let mut elected = Vec::new();
    let mut copied = 0;
    for (&(topic, partition), change) in &changes {
        let entry = |ids: &[&str]| Reassigned {
            topic,
            partition,
            replicas: ids.iter().filter_map(|id| broker_number(id)).collect(),
        };
        reassigned.push(entry(&change.planned));
        if !change.present.is_empty() {
            restored.push(entry(&change.present));
        }
        if change.is_led_anew {
            elected.push(Elected { topic, partition });
        }
        copied += usize::from(change.is_copied);
    }
    Export {
        notes: notes(snapshot, &changes, copied, elected.len()),
        reassignment: versioned("{\"version\":1,", &reassigned),
        rollback: versioned("{\"version\":1,", &restored),
        election: versioned("{", &elected),
        warnings: report.warnings,
    }
}

fn notes(
    snapshot: &pb::Snapshot,
    changes: &BTreeMap<Key<'_>, Change<'_>>,
    copied: usize,
    elected: usize,
) -> Vec<String> {
    let mut notes = Vec::new();
    if changes.is_empty() {
        notes.push("nothing changes; kafka-reassign-partitions refuses an empty list, so there is nothing to run".to_owned());
        return notes;
    }
    let count = partitions(changes.len());
    notes.push(match copied {
        0 => format!("{count} in the reassignment; it only changes the order of replicas or drops some, no data is copied"),
        _ => format!("{count} in the reassignment; data is copied for {copied}, so consider --throttle"),
    });
    if elected > 0 {
        notes.push(format!(
            "leaders of {} change, and Kafka keeps a leader that is still a replica until an election: after \
             kafka-reassign-partitions --verify says that all is complete, run kafka-leader-election --election-type \
             preferred --path-to-json-file with the election file",
            partitions(elected)
        ));
    }
    if !snapshot.in_flight.is_empty() {
        notes.push(
            "a reassignment is under way: wait for its end, or run kafka-reassign-partitions --execute with --additional"
                .to_owned(),
        );
    }
    notes
}

/// `{…"partitions":[…]}` with a partition to a line, so that two exports compare well.
fn versioned<T: Serialize>(head: &str, entries: &[T]) -> String {
    let mut text = format!("{head}\"partitions\":[");
    let mut separator = "\n";
    for entry in entries {
        // Of integers and text, which always have a JSON form.
        let json = serde_json::to_string(entry).unwrap_or_default();
        let _ = write!(text, "{separator}{json}");
        separator = ",\n";
    }
    text.push_str(if entries.is_empty() { "]}\n" } else { "\n]}\n" });
    text
}
