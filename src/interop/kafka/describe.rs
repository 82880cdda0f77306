//! `kafka-topics --describe`.
//!
//! Lines of `Key: value` fields. Tabs separate them, but pastes turn tabs into any number of spaces and old versions
//! leave out the space after the colon, so a field begins wherever a word, or one of the two-word keys, ends in a
//! colon after white space. `Configs` runs to the end of the line, as its values may hold anything.

use std::collections::BTreeSet;

use super::layout::{DOCUMENT, Header, Layout, Partition};
use crate::interop::Report;
use crate::interop::noise::is_noise;

/// Keys of two words.
const TWO_WORDS: [&str; 2] = ["Adding Replicas:", "Removing Replicas:"];

/// Keys that are read or may be ignored.
const KNOWN: [&str; 17] = [
    "Topic",
    "TopicId",
    "PartitionCount",
    "ReplicationFactor",
    "Configs",
    "Partition",
    "Leader",
    "Replicas",
    "Isr",
    "Adding Replicas",
    "Removing Replicas",
    "Elr",
    "LastKnownElr",
    "MarkedForDeletion",
    "Offline",
    "Observers",
    "LiveObservers",
];

/// Fields of one line.
struct Line<'a> {
    number: usize,
    text: &'a str,
    fields: Vec<(&'a str, &'a str)>,
}

/// Reads what `kafka-topics --describe` printed.
pub(super) fn parse(text: &str, report: &mut Report) -> Layout {
    let mut layout = Layout::default();
    if !text.lines().any(is_data) {
        note_other(text, report);
        return layout;
    }
    let mut unknown = BTreeSet::new();
    for (index, text) in text.lines().enumerate() {
        let line = Line::read(index + 1, text);
        if is_data(text) {
            line.check(&mut unknown, report);
            if line.has("Partition") {
                read_partition(&line, &mut layout, report);
            } else {
                read_header(&line, &mut layout, report);
            }
        } else if !is_noise(text) {
            report.find(
                line.place(),
                text,
                "a line of `kafka-topics --describe` begins with `Topic:`",
            );
        }
    }
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.into_iter().collect();
        report.warn(format!(
            "columns not known and ignored: {}",
            names.join(", ")
        ));
    }
    check_counts(&layout, report);
    layout
}

fn is_data(line: &str) -> bool {
    line.trim_start().starts_with("Topic:")
}

/// Notes that a text is something else altogether, by its first line that isn't noise.
fn note_other(text: &str, report: &mut Report) {
    let mut lines = text.lines().enumerate();
    if let Some((index, line)) = lines.find(|(_, line)| !is_noise(line)) {
        report.find(
            format!("{DOCUMENT}, line {}", index + 1),
            line,
            "a layout is the output of `kafka-topics --describe`, a reassignment JSON, the output of \
             `kafka-reassign-partitions --generate`, or of `kcat -L -J`",
        );
    }
}

/// Notes topics with fewer or more partitions than their header says: a paste that was cut off.
fn check_counts(layout: &Layout, report: &mut Report) {
    for (name, topic) in &layout.topics {
        let Some(header) = &topic.header else {
            continue;
        };
        let listed = topic.partitions.len() + topic.unnumbered;
        if listed != header.partitions {
            report.find(
                format!("{DOCUMENT}, line {}", header.line),
                &format!("PartitionCount: {}", header.partitions),
                format!("all partitions of a topic are listed; of {name} there are {listed}"),
            );
        }
    }
}

impl<'a> Line<'a> {
    fn read(number: usize, text: &'a str) -> Self {
        let mut fields = Vec::new();
        let mut open: Option<(&str, usize)> = None;
        let mut at_word = true;
        let mut skip_to = 0;
        for (at, c) in text.char_indices() {
            if at < skip_to {
                continue;
            }
            if let Some(key) = at_word.then(|| key_at(&text[at..])).flatten() {
                if let Some((key, start)) = open {
                    fields.push((key, text[start..at].trim()));
                }
                skip_to = at + key.len() + 1;
                open = Some((key, skip_to));
                at_word = false;
                if key == "Configs" {
                    break;
                }
                continue;
            }
            at_word = c.is_whitespace();
        }
        if let Some((key, start)) = open {
            fields.extend(last_fields(key, &text[start..]));
        }
        Self {
            number,
            text,
            fields,
        }
    }

    fn place(&self) -> String {
        format!("{DOCUMENT}, line {}", self.number)
    }

    fn has(&self, key: &str) -> bool {
        self.fields.iter().any(|(name, _)| *name == key)
    }

    /// Value of a field that has to be there.
    fn required(&self, key: &str, report: &mut Report) -> Option<&'a str> {
        let value = self.optional(key);
        if value.is_none() {
            report.find(
                self.place(),
                self.text,
                format!("this line needs a value for `{key}:`"),
            );
        }
        value
    }

    /// Value of a field, where it is there and not empty.
    fn optional(&self, key: &str) -> Option<&'a str> {
        let field = self.fields.iter().find(|(name, _)| *name == key);
        field.map(|(_, value)| *value).filter(|v| !v.is_empty())
    }

    /// Notes fields that occur twice, and remembers unknown ones.
    fn check(&self, unknown: &mut BTreeSet<&'a str>, report: &mut Report) {
        for (index, (key, _)) in self.fields.iter().enumerate() {
            if self.fields[..index].iter().any(|(first, _)| first == key) {
                report.find(
                    self.place(),
                    self.text,
                    format!("a line has one `{key}:` only"),
                );
            }
            if !KNOWN.contains(key) {
                unknown.insert(key);
            }
        }
    }

    /// A list of brokers, empty where the field is.
    fn brokers(&self, key: &str, report: &mut Report) -> Vec<i32> {
        let Some(list) = self.optional(key) else {
            return Vec::new();
        };
        list.split(',')
            .filter_map(|item| self.broker(key, item.trim(), report))
            .collect()
    }

    /// The brokers of `Elr:`; there are none where it says in words that the cluster has no such list.
    fn eligible(&self) -> Vec<i32> {
        let list = self.optional("Elr").unwrap_or_default();
        let brokers = list.split(',').map(|item| item.trim().parse());
        brokers.filter_map(Result::ok).collect()
    }

    fn broker(&self, key: &str, text: &str, report: &mut Report) -> Option<i32> {
        let broker = text.parse().ok().filter(|broker| *broker >= 0);
        if broker.is_none() {
            report.find(
                self.place(),
                text,
                format!("`{key}:` names brokers by number, from 0"),
            );
        }
        broker
    }

    fn number<T: std::str::FromStr>(&self, key: &str, report: &mut Report) -> Option<T> {
        let text = self.required(key, report)?;
        let number = text.parse().ok();
        if number.is_none() {
            report.find(
                self.place(),
                text,
                format!("`{key}:` is a whole number from 0"),
            );
        }
        number
    }
}

/// The key that starts here: a word, or one of [`TWO_WORDS`], with a colon after it.
fn key_at(text: &str) -> Option<&str> {
    if let Some(key) = TWO_WORDS.iter().find(|key| text.starts_with(**key)) {
        return text.get(..key.len() - 1);
    }
    let end = text.find(|c: char| !c.is_ascii_alphabetic())?;
    (end > 0 && text[end..].starts_with(':')).then(|| &text[..end])
}

/// The last field of a line; `Configs` may have `MarkedForDeletion` behind it.
fn last_fields<'a>(key: &'a str, value: &'a str) -> Vec<(&'a str, &'a str)> {
    let value = value.trim();
    let mark = "MarkedForDeletion";
    if key != "Configs" {
        return vec![(key, value)];
    }
    let marked = value
        .strip_suffix("true")
        .and_then(|rest| rest.trim_end().strip_suffix(':'))
        .and_then(|rest| rest.strip_suffix(mark))
        .filter(|rest| rest.is_empty() || rest.ends_with(char::is_whitespace));
    match marked {
        Some(configs) => vec![(key, configs.trim()), (mark, "true")],
        None => vec![(key, value)],
    }
}

fn read_header(line: &Line<'_>, layout: &mut Layout, report: &mut Report) {
    let topic = line.required("Topic", report);
    let count = line.number("PartitionCount", report);
    let factor = line.number::<u32>("ReplicationFactor", report);
    let (Some(topic), Some(partitions), Some(replication_factor)) = (topic, count, factor) else {
        return;
    };
    let entry = layout.topics.entry(topic.to_owned()).or_default();
    if let Some(first) = &entry.header {
        return report.find(
            line.place(),
            topic,
            format!("a topic is described once; see also line {}", first.line),
        );
    }
    entry.is_marked_for_deletion |= line.optional("MarkedForDeletion") == Some("true");
    entry.header = Some(Header {
        line: line.number,
        partitions,
        replication_factor,
    });
}

fn read_partition(line: &Line<'_>, layout: &mut Layout, report: &mut Report) {
    let before = report.findings.len();
    let topic = line.required("Topic", report);
    let number = line.number::<i32>("Partition", report);
    if let Some(number) = number.filter(|number| *number < 0) {
        report.find(
            line.place(),
            &number.to_string(),
            "`Partition:` is a whole number from 0",
        );
    }
    let leader = match line.required("Leader", report) {
        None | Some("none" | "-1") => None,
        Some(text) => line.broker("Leader", text, report),
    };
    let _ = line.required("Replicas", report);
    let partition = Partition {
        place: line.place(),
        leader,
        replicas: line.brokers("Replicas", report),
        in_sync: line.has("Isr").then(|| line.brokers("Isr", report)),
        eligible: line.eligible(),
        adding: line.brokers("Adding Replicas", report),
        removing: line.brokers("Removing Replicas", report),
    };
    let Some(topic) = topic else {
        return;
    };
    // Lines with findings count towards what the header announces, so that one fault is one finding.
    let Some(number) = number else {
        layout
            .topics
            .entry(topic.to_owned())
            .or_default()
            .unnumbered += 1;
        return;
    };
    if report.findings.len() == before {
        layout.add(topic, number, partition, report);
    }
    let known = layout.topics.entry(topic.to_owned()).or_default();
    known.partitions.entry(number).or_default();
    known.is_marked_for_deletion |= line.optional("MarkedForDeletion") == Some("true");
}
