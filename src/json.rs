//! Files: the protobuf JSON mapping of the messages people keep, read and written through their descriptors.
//!
//! Reading accepts field names in lowerCamelCase or as the proto files write them, 64-bit integers as numbers or
//! strings, enums by name or number. A field that no message has is a fault: a policy whose misspelt rule is silently
//! ignored would be worse than none. So is a field given twice, in one spelling or both, of which a reader could only
//! guess which one is meant. All faults of a text are listed, each with its line, column and path (`check`).
//!
//! Writing uses the names of the proto files, 64-bit integers as strings (the mapping's own form: a reader that
//! keeps numbers as doubles loses nothing), fields in the order of the proto files and the keys of maps sorted, so
//! that equal messages give equal bytes. Complexity: linear in the text.

mod check;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, Value};
use serde::de::IgnoredAny;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::pb;

/// Descriptors of every message. The bytes come out of this crate's own build, so that decoding them can't fail.
static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(pb::DESCRIPTORS).expect("descriptors of this build"));

/// A message that people keep in files.
pub trait Document: Message + Default {
    /// Full name of the message in the proto files.
    const NAME: &'static str;
}

macro_rules! documents {
    ($($name:ident),*) => {
        $(impl Document for pb::$name {
            const NAME: &'static str = concat!("shardflow.v1.", stringify!($name));
        })*
    };
}

documents!(
    OptimizeRequest,
    OptimizeResponse,
    CompareRequest,
    CompareResponse,
    Plan,
    ShardExplanation
);

/// One thing that is wrong with a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong there, behind the path of the field where there is one.
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.reason)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let said = error.to_string();
        let position = format!(" at line {line} column {column}");
        let reason = said.strip_suffix(&position).unwrap_or(&said).to_owned();
        Fault {
            line,
            column,
            reason,
        }
    }
}

/// Why a text is not the message asked for: at least one fault, in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", listed(.0))]
pub struct Malformed(pub Vec<Fault>);

fn listed(faults: &[Fault]) -> String {
    let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
    lines.join("\n")
}

impl From<serde_json::Error> for Malformed {
    fn from(error: serde_json::Error) -> Self {
        Malformed(vec![error.into()])
    }
}

/// Whether fields that hold their default are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Defaults {
    /// They are left out: for requests, whose readers know the defaults.
    Skip,
    /// Zeros, empty strings and empty lists are written: for answers, where a rank of 0 is news.
    Write,
}

/// Reads one message.
///
/// # Errors
/// The text is not JSON (the first place where it isn't), or holds fields that the message lacks, fields given twice
/// or values that their fields can't take (all of them).
pub fn from_json<M: Document>(text: &str) -> Result<M, Malformed> {
    let descriptor = POOL
        .get_message_by_name(M::NAME)
        .expect("documents! names messages of the pool");
    serde_json::from_str::<IgnoredAny>(text)?;
    let faults = check::faults(text, &descriptor);
    if !faults.is_empty() {
        return Err(Malformed(faults));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let message = DynamicMessage::deserialize(descriptor, &mut deserializer)?;
    deserializer.end()?;
    message.transcode_to::<M>().map_err(|error| {
        Malformed(vec![Fault {
            line: 1,
            column: 1,
            reason: error.to_string(),
        }])
    })
}

/// The names of the fields that a text holds at the top, to tell which message it is.
///
/// # Errors
/// The text is not a JSON object.
pub fn top_fields(text: &str) -> Result<Vec<String>, Malformed> {
    let fields: BTreeMap<String, IgnoredAny> = serde_json::from_str(text)?;
    Ok(fields.into_keys().collect())
}

/// Writes one message, indented and with a newline at the end.
///
/// # Errors
/// A duration beyond what the mapping can write.
pub fn to_json<M: Document>(message: &M, defaults: Defaults) -> Result<String, serde_json::Error> {
    let descriptor = POOL
        .get_message_by_name(M::NAME)
        .expect("documents! names messages of the pool");
    let mut dynamic = DynamicMessage::new(descriptor);
    dynamic
        .transcode_from(message)
        .map_err(serde::ser::Error::custom)?;
    let mut text = serde_json::to_string_pretty(&Fields {
        message: &dynamic,
        defaults,
    })?;
    text.push('\n');
    Ok(text)
}

/// The fields of a message, in the order of its descriptor.
struct Fields<'a> {
    message: &'a DynamicMessage,
    defaults: Defaults,
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use prost_reflect::ReflectMessage;
        let descriptor = self.message.descriptor();
        if descriptor.full_name().starts_with("google.protobuf.") {
            return self.message.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        for field in descriptor.fields() {
            let is_wanted = self.defaults == Defaults::Write && !field.supports_presence();
            if !is_wanted && !self.message.has_field(&field) {
                continue;
            }
            let value: Cow<'_, Value> = self.message.get_field(&field);
            map.serialize_entry(
                field.name(),
                &FieldValue {
                    value: &value,
                    field: &field,
                    defaults: self.defaults,
                },
            )?;
        }
        map.end()
    }
}

/// One value, or the values of a list or map.
struct FieldValue<'a> {
    value: &'a Value,
    field: &'a FieldDescriptor,
    defaults: Defaults,
}

impl<'a> FieldValue<'a> {
    fn item(&self, value: &'a Value) -> FieldValue<'a> {
        FieldValue { value, ..*self }
    }
}

impl Serialize for FieldValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::I32(value) => serializer.serialize_i32(*value),
            Value::U32(value) => serializer.serialize_u32(*value),
            Value::I64(value) => serializer.collect_str(value),
            Value::U64(value) => serializer.collect_str(value),
            Value::F32(value) => float(f64::from(*value), serializer),
            Value::F64(value) => float(*value, serializer),
            Value::String(value) => serializer.serialize_str(value),
            Value::Bytes(_) => Err(serde::ser::Error::custom("no document holds bytes")),
            Value::EnumNumber(number) => self.name_of(*number, serializer),
            Value::Message(message) => Fields {
                message,
                defaults: self.defaults,
            }
            .serialize(serializer),
            Value::List(values) => {
                let mut list = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    list.serialize_element(&self.item(value))?;
                }
                list.end()
            }
            Value::Map(values) => {
                let sorted: BTreeMap<&MapKey, &Value> = values.iter().collect();
                let mut map = serializer.serialize_map(Some(sorted.len()))?;
                for (key, value) in sorted {
                    let key = key.as_str().ok_or_else(|| {
                        serde::ser::Error::custom("every map of a document has strings for keys")
                    })?;
                    map.serialize_entry(key, &self.item(value))?;
                }
                map.end()
            }
        }
    }
}

impl FieldValue<'_> {
    /// An enum's name; its number where a newer peer sent one that this build does not know.
    fn name_of<S: Serializer>(&self, number: i32, serializer: S) -> Result<S::Ok, S::Error> {
        let Kind::Enum(kind) = self.field.kind() else {
            return serializer.serialize_i32(number);
        };
        match kind.get_value(number) {
            Some(value) => serializer.serialize_str(value.name()),
            None => serializer.serialize_i32(number),
        }
    }
}

/// A float; those that JSON has no number for go by the names that the mapping gives them.
fn float<S: Serializer>(value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_nan() {
        serializer.serialize_str("NaN")
    } else if value.is_infinite() {
        serializer.serialize_str(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        serializer.serialize_f64(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_and_both_forms_of_integers_are_read() {
        let camel = r#"{"requestId":"r","snapshot":{"shards":[{"id":"s","sizeBytes":"9007199254740993"}]}}"#;
        let snake = r#"{"request_id":"r","snapshot":{"shards":[{"id":"s","size_bytes":9007199254740993}]}}"#;
        let camel: pb::OptimizeRequest = from_json(camel).unwrap();
        assert_eq!(camel, from_json(snake).unwrap());
        assert_eq!(
            camel.snapshot.unwrap().shards[0].size_bytes,
            9_007_199_254_740_993
        );
    }

    fn faults(text: &str) -> Vec<String> {
        let refused = from_json::<pb::OptimizeRequest>(text).unwrap_err();
        refused.0.iter().map(Fault::to_string).collect()
    }

    #[test]
    fn every_fault_is_listed_with_its_place_and_path() {
        let text = r#"{
  "snapshot": {
    "brokers": [{"id": "é", "share": -1, "state": "ACTIVE"}, 7, null],
    "shards": {}
  },
  "options": {"timeBudget": "1ms", "work_limit": 1.5},
  "policy": {"max_move": 3, "max_moves": "many", "required_tags": {"a": 1}}
}"#;
        assert_eq!(
            faults(text),
            [
                "3:38: snapshot.brokers[0].share: -1: must be a whole number from 0 to 4294967295",
                "3:51: snapshot.brokers[0].state: \"ACTIVE\": must be one of BROKER_STATE_UNSPECIFIED, \
                 BROKER_STATE_ACTIVE, BROKER_STATE_DRAINING, BROKER_STATE_DOWN",
                "3:62: snapshot.brokers[1]: 7: must be an object",
                "3:65: snapshot.brokers[2]: null: must be an object",
                "4:15: snapshot.shards: {}: must be a list",
                "6:29: options.time_budget: \"1ms\": must be seconds such as \"0.2s\"",
                "6:50: options.work_limit: 1.5: must be a whole number from 0 to 18446744073709551615",
                "7:14: policy.max_move: no such field",
                "7:42: policy.max_moves: \"many\": must be a whole number from 0 to 4294967295",
                "7:73: policy.required_tags.a: 1: must be a text",
            ]
        );
    }

    #[test]
    fn a_field_given_twice_is_a_fault_in_one_spelling_or_both() {
        for text in [
            r#"{"snapshot":{"brokers":[{"id":"a"}]},"snapshot":{"brokers":[]}}"#,
            r#"{"snapshot":{},"snapshot":null}"#,
            r#"{"snapshot":{},"snap\u0073hot":{}}"#,
        ] {
            let said = faults(text);
            assert_eq!(said.len(), 1, "{said:?}");
            let rule = "snapshot: given twice, first in line 1, column 2";
            assert!(said[0].ends_with(rule), "{said:?}");
        }
        assert_eq!(
            faults(r#"{"snapshot":{"clusterId":"a","cluster_id":"b"}}"#),
            [
                "1:30: snapshot.cluster_id: given twice, first in line 1, column 14 \
                 (clusterId and cluster_id are one field)"
            ]
        );
        assert_eq!(
            faults(r#"{"policy":{"required_tags":{"a":"1","a":"1"}}}"#),
            ["1:37: policy.required_tags.a: given twice, first in line 1, column 29"]
        );
        let both = r#"{"baseline":{"options":{},"external":{}}}"#;
        let both = from_json::<pb::CompareRequest>(both).unwrap_err();
        assert_eq!(
            both.to_string(),
            "1:27: baseline.external: excludes options, given in line 1, column 14"
        );
    }

    #[test]
    fn whatever_the_mapping_allows_passes_the_check() {
        let text = r#" {"snapshot":{"brokers":[{"id":"a\"\u00e9","share":"3","state":2,"zone":null,"tags":{"x":"y"}}],
            "shards":[{"id":"s","sizeBytes":1e3,"number":2.0,"pinned":true}],"inFlight":[]},
            "policy":{"thetas":{"shard":"NaN","index":-1.5e-3,"disk":2}},"options":{"timeBudget":"0.200s"}} "#;
        let read: pb::OptimizeRequest = from_json(text).unwrap();
        let snapshot = read.snapshot.unwrap();
        assert_eq!(snapshot.brokers[0].share, Some(3));
        assert_eq!(snapshot.shards[0].size_bytes, 1000);
        assert_eq!(
            read.options.unwrap().time_budget.unwrap().nanos,
            200_000_000
        );
    }

    #[test]
    fn nesting_of_any_depth_is_a_fault_like_others() {
        let text = format!(
            "{{\"snapshot\":{}{}}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        let said = faults(&text);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].ends_with("must be an object") && said[0].len() < 200,
            "{said:?}"
        );
    }

    #[test]
    fn text_after_the_message_is_refused() {
        assert_eq!(faults("{}\n{}"), ["2:1: trailing characters"]);
    }

    #[test]
    fn what_is_written_reads_back_and_maps_are_sorted() {
        let tags: std::collections::HashMap<String, String> = (0..40)
            .map(|i| (format!("k{i:02}"), format!("v{i}")))
            .collect();
        let request = pb::OptimizeRequest {
            snapshot: Some(pb::Snapshot {
                brokers: vec![pb::Broker {
                    id: "b".into(),
                    tags,
                    share: Some(0),
                    ..Default::default()
                }],
                ..Default::default()
            }),
            policy: Some(pb::Policy {
                thetas: Some(pb::Thetas {
                    shard: Some(f64::INFINITY),
                    ..Default::default()
                }),
                ..Default::default()
            }),
            options: Some(pb::Options {
                planner: pb::Planner::Mip.into(),
                time_budget: Some(prost_types::Duration {
                    seconds: 1,
                    nanos: 500_000_000,
                }),
                work_limit: Some(u64::MAX),
                ..Default::default()
            }),
            ..Default::default()
        };
        for defaults in [Defaults::Skip, Defaults::Write] {
            let text = to_json(&request, defaults).unwrap();
            assert_eq!(
                from_json::<pb::OptimizeRequest>(&text).unwrap(),
                request,
                "{text}"
            );
            let keys: Vec<&str> = text.split("\"k").skip(1).map(|rest| &rest[..2]).collect();
            assert!(keys.is_sorted() && keys.len() == 40, "{text}");
        }
    }

    #[test]
    fn answers_write_zeros_and_leave_out_what_is_absent() {
        let response = pb::OptimizeResponse {
            plan: Some(pb::Plan {
                after: Some(pb::Cost::default()),
                ..Default::default()
            }),
            report: Some(pb::SolveReport {
                ranks: vec![pb::RankBound {
                    rank: "copies".into(),
                    ..Default::default()
                }],
                ..Default::default()
            }),
        };
        let text = to_json(&response, Defaults::Write).unwrap();
        assert!(text.contains("\"copies\": \"0\""), "{text}");
        assert!(text.contains("\"moves\": []"), "{text}");
        assert!(!text.contains("\"bound\""), "{text}");
        assert!(!text.contains("\"gap\""), "{text}");
        let short = to_json(&response, Defaults::Skip).unwrap();
        assert!(!short.contains("moves"), "{short}");
    }
}
