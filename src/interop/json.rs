//! Reading JSON with a finding, and its path, for everything that isn't as expected.
//!
//! Whole numbers may come as numbers or as text, where the format says so; an object that has a key twice is refused,
//! as neither of the two is a safe guess.

mod once;

use serde_json::Value;

use super::Report;
use super::noise::is_noise;
use once::Once;

/// A value with the way to it.
#[derive(Clone, Copy)]
pub(super) struct Node<'v, 'p> {
    pub(super) value: &'v Value,
    step: Step<'v, 'p>,
}

#[derive(Clone, Copy)]
enum Step<'v, 'p> {
    Root(&'static str),
    Key(&'p Node<'v, 'p>, &'v str),
    Index(&'p Node<'v, 'p>, usize),
}

impl<'v, 'p> Node<'v, 'p> {
    /// The root of a document.
    pub(super) fn root(document: &'static str, value: &'v Value) -> Self {
        Self {
            value,
            step: Step::Root(document),
        }
    }

    /// Where the value is, such as `layout, $.partitions[3].topic`.
    pub(super) fn place(&self) -> String {
        match self.step {
            Step::Root(document) => format!("{document}, $"),
            Step::Key(up, key) => format!("{}.{key}", up.place()),
            Step::Index(up, index) => format!("{}[{index}]", up.place()),
        }
    }

    /// The path of the value alone, such as `$.partitions[3].topic`.
    pub(super) fn path(&self) -> String {
        match self.step {
            Step::Root(_) => "$".to_owned(),
            Step::Key(up, key) => format!("{}.{key}", up.path()),
            Step::Index(up, index) => format!("{}[{index}]", up.path()),
        }
    }

    /// Notes that the value breaks a rule.
    pub(super) fn find(&self, report: &mut Report, rule: impl Into<String>) {
        report.find(self.place(), &self.value.to_string(), rule);
    }

    /// A member that is there and not null.
    pub(super) fn optional(&'p self, key: &str) -> Option<Node<'v, 'p>> {
        let (key, value) = self.value.as_object()?.get_key_value(key)?;
        (!value.is_null()).then_some(Node {
            value,
            step: Step::Key(self, key),
        })
    }

    /// A member that has to be there.
    pub(super) fn required(&'p self, key: &str, report: &mut Report) -> Option<Node<'v, 'p>> {
        let member = self.optional(key);
        if member.is_none() {
            self.find(report, format!("an object with `{key}` is expected here"));
        }
        member
    }

    /// The elements of an array; none where it isn't one.
    pub(super) fn items(
        &'p self,
        report: &mut Report,
    ) -> impl Iterator<Item = Node<'v, 'p>> + use<'v, 'p> {
        let items = self.value.as_array();
        if items.is_none() {
            self.find(report, "an array is expected here");
        }
        let items = items.map_or(&[][..], Vec::as_slice);
        items.iter().enumerate().map(|(index, value)| Node {
            value,
            step: Step::Index(self, index),
        })
    }

    /// Notes every member that isn't `known`.
    pub(super) fn only(&'p self, known: &[&str], report: &mut Report) {
        for (_, member) in self.members(report).filter(|(key, _)| !known.contains(key)) {
            member.find(
                report,
                format!("unknown field; known here: {}", known.join(", ")),
            );
        }
    }

    /// Text that isn't empty.
    pub(super) fn text(&self, report: &mut Report) -> Option<&'v str> {
        let text = self.value.as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            self.find(report, "text that isn't empty is expected here");
        }
        text
    }

    /// A whole number in `0..=max`.
    pub(super) fn number(&self, max: i64, report: &mut Report) -> Option<i64> {
        let number = self
            .value
            .as_i64()
            .filter(|number| (0..=max).contains(number));
        if number.is_none() {
            self.find(
                report,
                format!("a whole number from 0 to {max} is expected here"),
            );
        }
        number
    }

    /// A whole number in `0..=max`, or its digits as text.
    pub(super) fn digits(&self, max: i64, report: &mut Report) -> Option<i64> {
        let Some(text) = self.value.as_str() else {
            return self.number(max, report);
        };
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|n| is_plain && *n <= max);
        if number.is_none() {
            self.find(
                report,
                format!("a whole number from 0 to {max} is expected here"),
            );
        }
        number
    }

    /// A name: text that isn't empty, or a whole number from 0.
    pub(super) fn name(&self, report: &mut Report) -> Option<String> {
        match self.value.as_u64() {
            Some(number) => Some(number.to_string()),
            None => self.text(report).map(str::to_owned),
        }
    }

    /// The members of an object; none where it isn't one.
    pub(super) fn members(
        &'p self,
        report: &mut Report,
    ) -> impl Iterator<Item = (&'v str, Node<'v, 'p>)> + use<'v, 'p> {
        let members = self.value.as_object();
        if members.is_none() {
            self.find(report, "an object is expected here");
        }
        members.into_iter().flatten().map(|(key, value)| {
            let step = Step::Key(self, key);
            (key.as_str(), Node { value, step })
        })
    }

    /// The number of a broker or a partition.
    pub(super) fn broker_or_partition(&self, report: &mut Report) -> Option<i32> {
        let number = self.number(i32::MAX.into(), report)?;
        i32::try_from(number).ok()
    }
}

/// The JSON value in a paste, and what else is there.
pub(super) struct Pasted {
    /// The first JSON value.
    pub(super) value: Value,
    /// Lines outside of it that aren't noise: number and text.
    pub(super) prose: Vec<(usize, String)>,
}

/// Takes the first JSON value out of a paste whose first line is `first_line` of the document. Notes where there
/// is none, or a broken one.
pub(super) fn paste(
    document: &'static str,
    text: &str,
    first_line: usize,
    report: &mut Report,
) -> Option<Pasted> {
    let text = text.trim_start_matches('\u{feff}');
    let mut prose = Vec::new();
    let mut line_number = first_line;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        if opens_json(line) {
            break;
        }
        if !is_noise(line) {
            prose.push((line_number, line.trim().to_owned()));
        }
        line_number += 1;
        offset += line.len();
    }
    let rest = &text[offset..];
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Once>();
    let value = match values.next() {
        Some(Ok(Once(value))) => value,
        Some(Err(error)) => {
            let line = rest
                .lines()
                .nth(error.line().saturating_sub(1))
                .unwrap_or_default();
            let at = line_number + error.line().saturating_sub(1);
            report.find(
                format!("{document}, line {at}"),
                line,
                format!("broken JSON: {}", without_position(&error)),
            );
            return None;
        }
        None => {
            let found = prose.first().map_or("", |(_, line)| line.as_str());
            report.find(document, found, "a JSON object is expected here");
            return None;
        }
    };
    let end = values.byte_offset();
    line_number += rest[..end].matches('\n').count();
    for line in rest[end..].split('\n') {
        if !is_noise(line) {
            prose.push((line_number, line.trim().to_owned()));
        }
        line_number += 1;
    }
    Some(Pasted { value, prose })
}

/// The one JSON value that a document consists of. Notes whatever else is there.
pub(super) fn whole(document: &'static str, text: &str, report: &mut Report) -> Option<Value> {
    let Pasted { value, prose } = paste(document, text, 1, report)?;
    for (line, found) in &prose {
        report.find(
            format!("{document}, line {line}"),
            found,
            "one JSON array or object is expected, and nothing else",
        );
    }
    Some(value)
}

/// serde_json's words with the column, as its line counts from where the JSON starts.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let (line, column) = (error.line(), error.column());
    let position = format!(" at line {line} column {column}");
    let words = text.strip_suffix(&position).unwrap_or(&text);
    format!("{words}, at column {column}")
}

/// Whether a line is where a JSON object or an array of objects begins.
pub(super) fn opens_json(line: &str) -> bool {
    let line = line.trim();
    match line.strip_prefix('[') {
        Some(rest) => {
            let rest = rest.trim_start();
            rest.is_empty() || rest.starts_with(['{', ']'])
        }
        None => line.starts_with('{'),
    }
}
