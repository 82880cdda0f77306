//! Everything that is wrong with a text that is JSON, against the descriptor of its message.
//!
//! One pass over the bytes, led by the descriptor: a value is entered only where the message has a message, list or
//! map there, and skipped without recursion anywhere else, so that the depth is that of the proto files whatever the
//! text. Positions are byte offsets until the end, when one more pass turns those of faults into lines and columns.
//!
//! What passes is read by the mapping itself, whose errors have no path; this check is there to name what is wrong, so
//! it lets through what it has no rule for. Complexity: linear in the text, but for the sorting of faults.

use std::borrow::Cow;
use std::collections::HashMap;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use super::Fault;

/// Longest value that a fault quotes, in characters.
const QUOTED_MAX: usize = 40;
/// Full name of the one well-known type that the proto files use.
const DURATION: &str = "google.protobuf.Duration";

/// The faults of `text`, which is one JSON value, in its order.
pub(super) fn faults(text: &str, message: &MessageDescriptor) -> Vec<Fault> {
    let mut walk = Walk {
        text,
        at: 0,
        path: Vec::new(),
        found: Vec::new(),
    };
    walk.message(message);
    located(text, walk.found)
}

/// A fault at a byte offset; where another place belongs to it, its text goes on with that place and an ending.
struct Found {
    at: usize,
    reason: String,
    other: Option<(usize, String)>,
}

/// One step of a path.
enum Step<'t> {
    Field(Cow<'t, str>),
    Index(usize),
}

struct Walk<'t> {
    text: &'t str,
    at: usize,
    path: Vec<Step<'t>>,
    found: Vec<Found>,
}

impl<'t> Walk<'t> {
    fn next(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Steps over an opening bracket, comma or colon.
    fn step(&mut self) {
        self.next();
        self.at += 1;
    }

    /// Steps into an object or a list, or over what ends its last member: whether there is another.
    fn has_member(&mut self, end: u8) -> bool {
        let next = self.next();
        if next == b',' {
            self.at += 1;
            return true;
        }
        if next == end || next == 0 {
            self.at += 1;
            return false;
        }
        true
    }

    /// Steps over a string; its text between the quotes as written.
    fn string(&mut self) -> &'t str {
        self.step();
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        let written = self.text.get(start..self.at).unwrap_or("");
        self.at += 1;
        written
    }

    /// Steps over a value of any depth; the value as written.
    fn skip(&mut self) -> &'t str {
        self.next();
        let start = self.at;
        let mut depth = 0usize;
        loop {
            match self.next() {
                0 => break,
                b'"' => {
                    self.string();
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                b',' | b':' => self.at += 1,
                _ => self.literal(),
            }
            if depth == 0 {
                break;
            }
        }
        self.text.get(start..self.at).unwrap_or("")
    }

    /// Steps over a number, `true`, `false` or `null`.
    fn literal(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b',' | b':' | b'}' | b']');
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.path {
            match step {
                Step::Index(index) => path.push_str(&format!("[{index}]")),
                Step::Field(name) if path.is_empty() => path.push_str(name),
                Step::Field(name) => path.push_str(&format!(".{name}")),
            }
        }
        path
    }

    fn find(&mut self, at: usize, rule: &str, other: Option<(usize, String)>) {
        let path = self.path();
        let reason = if path.is_empty() {
            rule.to_owned()
        } else {
            format!("{path}: {rule}")
        };
        self.found.push(Found { at, reason, other });
    }

    /// Notes that the value which begins at `at` breaks a rule.
    fn wrong(&mut self, at: usize, written: &str, rule: &str) {
        let mut chars = written.chars();
        let mut quoted: String = chars.by_ref().take(QUOTED_MAX).collect();
        if chars.next().is_some() {
            quoted.push('…');
        }
        self.find(at, &format!("{quoted}: {rule}"), None);
    }

    /// Steps over a value and notes that it is not what belongs there.
    fn refuse(&mut self, rule: &str) {
        self.next();
        let at = self.at;
        let written = self.skip();
        self.wrong(at, written, rule);
    }

    fn message(&mut self, message: &MessageDescriptor) {
        if self.next() != b'{' {
            return self.refuse("must be an object");
        }
        self.step();
        // Few fields are given at a time: a list is searched faster than a map is built.
        let mut given: Vec<Given<'t>> = Vec::new();
        while self.has_member(b'}') {
            self.next();
            let at = self.at;
            let key = unescaped(self.string());
            self.step();
            let field = message.get_field_by_json_name(&key);
            let Some(field) = field.or_else(|| message.get_field_by_name(&key)) else {
                self.path.push(Step::Field(key));
                self.find(at, "no such field", None);
                self.path.pop();
                self.skip();
                continue;
            };
            self.path
                .push(Step::Field(Cow::Owned(field.name().to_owned())));
            let is_null = self.next() == b'n';
            self.once(at, &key, &field, is_null, &given);
            given.push(Given {
                at,
                key,
                field: field.clone(),
                is_null,
            });
            self.field(&field, is_null);
            self.path.pop();
        }
    }

    /// Notes a field given before, and one whose alternative was.
    fn once(
        &mut self,
        at: usize,
        key: &str,
        field: &FieldDescriptor,
        is_null: bool,
        given: &[Given<'t>],
    ) {
        if let Some(first) = given.iter().find(|g| g.field.number() == field.number()) {
            let ending = if first.key == key {
                String::new()
            } else {
                format!(" ({} and {key} are one field)", first.key)
            };
            return self.find(at, "given twice, first", Some((first.at, ending)));
        }
        let Some(choice) = field.containing_oneof() else {
            return;
        };
        let excludes = |g: &&Given<'t>| {
            !g.is_null && !is_null && g.field.containing_oneof().as_ref() == Some(&choice)
        };
        if let Some(first) = given.iter().find(excludes) {
            let rule = format!("excludes {}, given", first.field.name());
            self.find(at, &rule, Some((first.at, String::new())));
        }
    }

    /// The value of a field; null stands for absent.
    fn field(&mut self, field: &FieldDescriptor, is_null: bool) {
        if is_null {
            self.skip();
        } else if field.is_map() {
            self.map(field);
        } else if field.is_list() {
            self.list(field);
        } else {
            self.value(&field.kind());
        }
    }

    fn list(&mut self, field: &FieldDescriptor) {
        if self.next() != b'[' {
            return self.refuse("must be a list");
        }
        self.step();
        let kind = field.kind();
        let mut index = 0;
        while self.has_member(b']') {
            self.path.push(Step::Index(index));
            self.value(&kind);
            self.path.pop();
            index += 1;
        }
    }

    fn map(&mut self, field: &FieldDescriptor) {
        if self.next() != b'{' {
            return self.refuse("must be an object");
        }
        self.step();
        let kind = match field.kind() {
            Kind::Message(entry) => entry.map_entry_value_field().kind(),
            kind => kind,
        };
        let mut given: HashMap<Cow<'t, str>, usize> = HashMap::new();
        while self.has_member(b'}') {
            self.next();
            let at = self.at;
            let key = unescaped(self.string());
            self.step();
            self.path.push(Step::Field(key.clone()));
            match given.get(&key) {
                Some(first) => {
                    let first = *first;
                    self.find(at, "given twice, first", Some((first, String::new())));
                }
                None => {
                    given.insert(key, at);
                }
            }
            self.value(&kind);
            self.path.pop();
        }
    }

    fn value(&mut self, kind: &Kind) {
        if let Kind::Message(message) = kind
            && message.full_name() != DURATION
        {
            return self.message(message);
        }
        self.next();
        let at = self.at;
        let written = self.skip();
        if let Some(rule) = broken_rule(kind, written) {
            self.wrong(at, written, &rule);
        }
    }
}

/// A field of a message as given.
struct Given<'t> {
    at: usize,
    key: Cow<'t, str>,
    field: FieldDescriptor,
    is_null: bool,
}

fn unescaped(written: &str) -> Cow<'_, str> {
    if !written.contains('\\') {
        return Cow::Borrowed(written);
    }
    let read = serde_json::from_str(&format!("\"{written}\""));
    read.map_or(Cow::Borrowed(written), Cow::Owned)
}

/// What a value of this kind must be, where `written` is something else.
fn broken_rule(kind: &Kind, written: &str) -> Option<String> {
    let text = written.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let is_number = written.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let whole = |min: i128, max: i128| {
        let number = text.or(is_number.then_some(written)).and_then(whole_number);
        let is_legal = number.is_some_and(|number| (min..=max).contains(&number));
        (!is_legal).then(|| format!("must be a whole number from {min} to {max}"))
    };
    let unless = |is_legal: bool, rule: &str| (!is_legal).then(|| rule.to_owned());
    match kind {
        Kind::Bool => unless(matches!(written, "true" | "false"), "must be true or false"),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => whole(i32::MIN.into(), i32::MAX.into()),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => whole(i64::MIN.into(), i64::MAX.into()),
        Kind::Uint32 | Kind::Fixed32 => whole(0, u32::MAX.into()),
        Kind::Uint64 | Kind::Fixed64 => whole(0, u64::MAX.into()),
        Kind::Float | Kind::Double => {
            let is_legal = is_number || text.is_some_and(|text| text.parse::<f64>().is_ok());
            unless(is_legal, "must be a number")
        }
        Kind::String | Kind::Bytes => unless(text.is_some(), "must be a text"),
        Kind::Enum(values) => {
            let is_named = text.is_some_and(|name| values.get_value_by_name(name).is_some());
            let is_legal = is_named || whole(i32::MIN.into(), i32::MAX.into()).is_none();
            let names = || {
                values
                    .values()
                    .map(|v| v.name().to_owned())
                    .collect::<Vec<_>>()
            };
            (!is_legal).then(|| format!("must be one of {}", names().join(", ")))
        }
        Kind::Message(_) => unless(
            text.is_some_and(is_duration),
            "must be seconds such as \"0.2s\"",
        ),
    }
}

/// A whole number, also one with an exponent or a fraction of zeros.
fn whole_number(written: &str) -> Option<i128> {
    if let Ok(number) = written.parse() {
        return Some(number);
    }
    let number: f64 = written.parse().ok()?;
    // The cast saturates, so that what is beyond an i128 is beyond every range.
    (number.fract() == 0.0).then_some(number as i128)
}

/// Seconds with up to nine decimals and an `s`.
fn is_duration(text: &str) -> bool {
    let Some(number) = text.strip_suffix('s') else {
        return false;
    };
    let number = number.strip_prefix('-').unwrap_or(number);
    let (seconds, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str, most| {
        (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
    };
    digits(seconds, 12) && digits(decimals, 9)
}

/// The faults with lines and columns, in the order of the text.
fn located(text: &str, found: Vec<Found>) -> Vec<Fault> {
    let others = found.iter().filter_map(|f| f.other.as_ref());
    let mut offsets: Vec<usize> = found.iter().map(|f| f.at).collect();
    offsets.extend(others.map(|(at, _)| *at));
    offsets.sort_unstable();
    offsets.dedup();
    let mut places = HashMap::with_capacity(offsets.len());
    let (mut from, mut line, mut column) = (0, 1, 1);
    for at in offsets {
        for c in text.get(from..at).unwrap_or("").chars() {
            (line, column) = if c == '\n' {
                (line + 1, 1)
            } else {
                (line, column + 1)
            };
        }
        from = at;
        places.insert(at, (line, column));
    }
    let place = |at: usize| places.get(&at).copied().unwrap_or((1, 1));
    let mut faults: Vec<Fault> = found
        .into_iter()
        .map(|found| {
            let (line, column) = place(found.at);
            let reason = match found.other {
                None => found.reason,
                Some((at, ending)) => {
                    let (line, column) = place(at);
                    let reason = found.reason;
                    format!("{reason} in line {line}, column {column}{ending}")
                }
            };
            Fault {
                line,
                column,
                reason,
            }
        })
        .collect();
    faults.sort_by_key(|fault| (fault.line, fault.column));
    faults
}
