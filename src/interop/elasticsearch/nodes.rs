//! The nodes: a file that people write, or `_cat/nodeattrs`; and what the other listings add to them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::allocation::{self, Disks};
use super::shards::Indices;
use crate::interop::json::{self, Node};
use crate::interop::{Report, brokers, count, few};
use crate::pb;

/// Name of the list in findings.
const DOCUMENT: &str = "nodes";

/// Attribute that names the zone unless others are asked for.
const ZONE: &str = "zone";

/// Nodes by name.
type Brokers = BTreeMap<String, pb::Broker>;

/// A list of nodes.
pub(super) struct Nodes {
    brokers: Brokers,
    source: Source,
}

/// Who wrote it.
enum Source {
    /// A person: it says which nodes there are.
    File,
    /// `_cat/nodeattrs`: nodes of any role, but only those with an attribute.
    Attributes {
        /// Attributes that were to name the zone.
        zones: Vec<String>,
    },
}

/// Reads a list of nodes: `_cat/nodeattrs`, or an array of nodes, alone or as `nodes` of an object.
pub(super) fn parse(text: &str, zone_attributes: &[String], report: &mut Report) -> Nodes {
    let mut nodes = Nodes {
        brokers: Brokers::new(),
        source: Source::File,
    };
    let Some(value) = json::whole(DOCUMENT, text, report) else {
        return nodes;
    };
    let root = Node::root(DOCUMENT, &value);
    let before = report.findings.len();
    let rows = value.as_array().map_or(&[][..], Vec::as_slice);
    if rows.iter().any(|row| row.get("attr").is_some()) {
        let mut zones = zone_attributes.to_vec();
        if zones.is_empty() {
            zones.push(ZONE.to_owned());
        }
        nodes.brokers = read_attributes(&root, &zones, report);
        nodes.source = Source::Attributes { zones };
    } else if value.is_array() {
        nodes.brokers = read_file(&root, report);
    } else {
        root.only(&["nodes"], report);
        if let Some(listed) = root.required("nodes", report) {
            nodes.brokers = read_file(&listed, report);
        }
    }
    if report.findings.len() == before && nodes.brokers.is_empty() {
        root.find(report, "a list of nodes has at least one");
    }
    nodes
}

fn read_file(list: &Node<'_, '_>, report: &mut Report) -> Brokers {
    let mut listed = Brokers::new();
    for node in list.items(report) {
        node.only(&brokers::FIELDS, report);
        let id = node.required("id", report);
        let Some(id) = id.and_then(|id| id.text(report)) else {
            continue;
        };
        let broker = brokers::read(&node, id.to_owned(), report);
        if listed.insert(id.to_owned(), broker).is_some() {
            node.find(report, format!("node {id} is listed once"));
        }
    }
    listed
}

/// Reads `_cat/nodeattrs`, a row for every attribute of every node: all of them become tags.
fn read_attributes(root: &Node<'_, '_>, zones: &[String], report: &mut Report) -> Brokers {
    let mut listed = Brokers::new();
    for row in root.items(report) {
        let text = |key| row.optional(key)?.value.as_str();
        let (Some(node), Some(attribute), Some(value)) =
            (text("node"), text("attr"), text("value"))
        else {
            row.find(
                report,
                "a row has a `node`, an `attr` and a `value`, each of them text",
            );
            continue;
        };
        let broker = listed
            .entry(node.to_owned())
            .or_insert_with(|| active(node));
        let earlier = broker.tags.insert(attribute.to_owned(), value.to_owned());
        if earlier.is_some() {
            row.find(
                report,
                "a node has an attribute once: nodes of one name can't be told apart",
            );
        }
    }
    for broker in listed.values_mut() {
        let mut named = zones.iter().filter_map(|zone| broker.tags.get(zone));
        let zone = named.find(|zone| !zone.is_empty()).cloned();
        broker.zone = zone.unwrap_or_default();
        broker
            .tags
            .retain(|key, value| !key.is_empty() && !value.is_empty());
    }
    listed
}

/// The nodes that there are, with their disks.
pub(super) fn brokers(
    indices: &Indices,
    listed: Option<Nodes>,
    disks: Option<&Disks>,
    report: &mut Report,
) -> Vec<pb::Broker> {
    let held = held(indices);
    let has_list = listed.is_some();
    let mut brokers = match listed {
        None => {
            let known = disks.into_iter().flat_map(BTreeMap::keys);
            known.map(|node| (node.clone(), active(node))).collect()
        }
        Some(Nodes { brokers, source }) => match source {
            Source::File => {
                check_zones(DOCUMENT.to_owned(), &brokers, report);
                brokers
            }
            Source::Attributes { zones } => {
                let data = data_nodes(brokers, &held, disks, report);
                let zones = zones.join(" or ");
                check_zones(format!("{DOCUMENT}, attribute {zones}"), &data, report);
                warn_of_attributes(&zones, &data, report);
                data
            }
        },
    };
    if brokers.values().all(|broker| broker.zone.is_empty()) {
        report.warn(
            "no zones are known, so each node counts as its own zone; --nodes gives zones, --zone-attribute the \
             attribute that names them",
        );
    }
    add_unlisted(&mut brokers, &held, has_list, report);
    if let Some(disks) = disks {
        add_disks(&mut brokers, &held, disks, report);
    }
    brokers.into_values().collect()
}

/// Bytes of the copies listed on each node, at both ends of a relocation.
fn held(indices: &Indices) -> BTreeMap<&str, i64> {
    let mut held: BTreeMap<&str, i64> = BTreeMap::new();
    for copies in indices.values().flat_map(BTreeMap::values) {
        for copy in copies.all() {
            for node in copy.state.ends() {
                let bytes = held.entry(node).or_default();
                *bytes = bytes.saturating_add(copy.size.unwrap_or(0));
            }
        }
    }
    held
}

fn active(node: &str) -> pb::Broker {
    pb::Broker {
        id: node.to_owned(),
        state: pb::BrokerState::Active.into(),
        ..pb::Broker::default()
    }
}

/// Of the nodes with attributes those that hold data; `_cat/allocation` tells, and has those without attributes.
fn data_nodes(
    mut nodes: Brokers,
    held: &BTreeMap<&str, i64>,
    disks: Option<&Disks>,
    report: &mut Report,
) -> Brokers {
    // In order, as the nodes are.
    let idle = |nodes: &Brokers, is_known: &dyn Fn(&str) -> bool| -> Vec<String> {
        let names = nodes
            .keys()
            .filter(|node| !held.contains_key(node.as_str()));
        names.filter(|node| !is_known(node)).cloned().collect()
    };
    let Some(disks) = disks else {
        let idle = idle(&nodes, &|_| false);
        if !idle.is_empty() {
            report.warn(format!(
                "{} without a copy, taken for data nodes (--allocation tells): {}",
                count(idle.len(), "node"),
                few(&idle)
            ));
        }
        return nodes;
    };
    let others = idle(&nodes, &|node| disks.contains_key(node));
    nodes.retain(|node, _| others.binary_search(node).is_err());
    if !others.is_empty() {
        report.warn(format!(
            "{} left out, as {} doesn't list them: {}",
            count(others.len(), "node"),
            allocation::DOCUMENT,
            few(&others)
        ));
    }
    for node in disks.keys() {
        if let Entry::Vacant(vacant) = nodes.entry(node.clone()) {
            vacant.insert(active(node));
        }
    }
    nodes
}

/// Notes live nodes without a zone where others have one.
fn check_zones(place: String, nodes: &Brokers, report: &mut Report) {
    brokers::check_zones(place, ["node", "zone"], nodes.values(), report);
}

/// Warns where no node has the attribute that names the zone.
fn warn_of_attributes(zones: &str, nodes: &Brokers, report: &mut Report) {
    if nodes.values().all(|broker| broker.zone.is_empty()) {
        let attributes: BTreeSet<&String> = nodes.values().flat_map(|b| b.tags.keys()).collect();
        let attributes: Vec<String> = attributes.into_iter().cloned().collect();
        report.warn(format!(
            "no node has the attribute {zones}; there are: {}",
            few(&attributes)
        ));
    }
}

/// Adds the nodes that only the listing of shards names: lost ones, where there is a list.
fn add_unlisted(
    brokers: &mut Brokers,
    held: &BTreeMap<&str, i64>,
    has_list: bool,
    report: &mut Report,
) {
    let nodes = held.keys().filter(|node| !brokers.contains_key(**node));
    let unlisted: Vec<String> = nodes.map(|node| (*node).to_owned()).collect();
    if has_list && !unlisted.is_empty() {
        report.warn(format!(
            "not in the list of nodes, and taken to be down (_cat/nodeattrs lacks nodes without attributes): {}",
            few(&unlisted)
        ));
    }
    for node in unlisted {
        let mut broker = active(&node);
        if has_list {
            broker.state = pb::BrokerState::Down.into();
        }
        brokers.insert(node, broker);
    }
}

/// Adds disks, where a person gave none.
fn add_disks(
    brokers: &mut Brokers,
    held: &BTreeMap<&str, i64>,
    disks: &Disks,
    report: &mut Report,
) {
    let mut unknown = Vec::new();
    for broker in brokers.values_mut() {
        let disk = disks.get(&broker.id);
        let total = disk.and_then(|disk| Some((disk, disk.total?)));
        let is_live = broker.state() != pb::BrokerState::Down;
        match total {
            _ if broker.disk_bytes.is_some() => {}
            Some((disk, total)) => {
                let listed = held.get(broker.id.as_str()).copied().unwrap_or(0);
                broker.disk_bytes = Some(total);
                broker.disk_used_bytes = disk.foreign(listed);
            }
            None if is_live => unknown.push(broker.id.clone()),
            None => {}
        }
    }
    if !unknown.is_empty() {
        report.warn(format!(
            "{} whose disk {} doesn't tell, so without a limit: {}",
            count(unknown.len(), "node"),
            allocation::DOCUMENT,
            few(&unknown)
        ));
    }
    let strange: Vec<String> = disks
        .keys()
        .filter(|node| !brokers.contains_key(*node))
        .cloned()
        .collect();
    if !strange.is_empty() {
        report.warn(format!(
            "{} of {} that the list of nodes lacks, left out: {}",
            count(strange.len(), "node"),
            allocation::DOCUMENT,
            few(&strange)
        ));
    }
}
