//! Lists of brokers as people write them, in the fields that every kind of cluster has.

use std::collections::HashMap;

use super::Report;
use super::json::Node;
use crate::pb;

/// Fields of a broker.
pub(super) const FIELDS: [&str; 12] = [
    "id",
    "name",
    "zone",
    "rack",
    "state",
    "share",
    "max_leaders",
    "max_replicas",
    "disk_bytes",
    "disk_used_bytes",
    "rate_capacity",
    "tags",
];

/// Reads a broker, but for its id.
pub(super) fn read(node: &Node<'_, '_>, id: String, report: &mut Report) -> pb::Broker {
    let mut number = |key, max| node.optional(key)?.number(max, report);
    let mut count = |key| u32::try_from(number(key, u32::MAX.into())?).ok();
    let (share, max_leaders, max_replicas) =
        (count("share"), count("max_leaders"), count("max_replicas"));
    pb::Broker {
        id,
        share,
        max_leaders,
        max_replicas,
        disk_bytes: number("disk_bytes", i64::MAX),
        disk_used_bytes: number("disk_used_bytes", i64::MAX).unwrap_or(0),
        rate_capacity: number("rate_capacity", i64::MAX),
        zone: zone(node, report),
        state: state(node, report).into(),
        tags: tags(node, report),
    }
}

/// The zone, which a file may call rack.
fn zone(node: &Node<'_, '_>, report: &mut Report) -> String {
    let named = match (node.optional("zone"), node.optional("rack")) {
        (Some(_), Some(_)) => {
            node.find(report, "`zone` and `rack` are one and the same; give one");
            None
        }
        (zone, rack) => zone.or(rack),
    };
    let named = named.and_then(|zone| zone.text(report));
    named.unwrap_or_default().to_owned()
}

fn state(node: &Node<'_, '_>, report: &mut Report) -> pb::BrokerState {
    let Some(state) = node.optional("state") else {
        return pb::BrokerState::Active;
    };
    match state.value.as_str().map(str::to_ascii_lowercase).as_deref() {
        Some("active") => pb::BrokerState::Active,
        Some("draining") => pb::BrokerState::Draining,
        Some("down") => pb::BrokerState::Down,
        _ => {
            state.find(report, "a state is active, draining or down");
            pb::BrokerState::Active
        }
    }
}

fn tags(node: &Node<'_, '_>, report: &mut Report) -> HashMap<String, String> {
    let Some(tags) = node.optional("tags") else {
        return HashMap::new();
    };
    let mut read = HashMap::new();
    for (key, value) in tags.members(report) {
        match value.value.as_str() {
            Some(text) => {
                read.insert(key.to_owned(), text.to_owned());
            }
            None => value.find(report, "the value of a tag is text"),
        }
    }
    read
}

/// Notes live brokers without a zone where others have one: the zones of a cluster are all known, or none is.
/// `broker` and `zone` are what the cluster's own documents call the two.
pub(super) fn check_zones<'b>(
    place: String,
    [broker, zone]: [&str; 2],
    brokers: impl Iterator<Item = &'b pb::Broker>,
    report: &mut Report,
) {
    let (with, without): (Vec<_>, Vec<_>) = brokers
        .filter(|broker| broker.state() != pb::BrokerState::Down)
        .partition(|broker| !broker.zone.is_empty());
    if with.is_empty() || without.is_empty() {
        return;
    }
    let ids: Vec<&str> = without.iter().map(|broker| broker.id.as_str()).collect();
    report.find(
        place,
        &ids.join(", "),
        format!("either every {broker} that isn't down has a {zone}, or none has; these have none"),
    );
}
