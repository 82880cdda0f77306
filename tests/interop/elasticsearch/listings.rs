//! What listings become.

use shardflow::interop::elasticsearch::{Import, import};
use shardflow::pb;

use super::samples::*;
use crate::support::*;

fn flights(snapshot: &pb::Snapshot) -> Vec<String> {
    let flight = |f: &pb::InFlight| format!("{} {:?} {}->{}", f.shard, f.role(), f.from, f.to);
    snapshot.in_flight.iter().map(flight).collect()
}

fn streams(snapshot: &pb::Snapshot) -> Vec<(&str, u32)> {
    let streams = snapshot.streams.iter();
    streams
        .map(|s| (s.id.as_str(), s.replication_factor))
        .collect()
}

fn disks(snapshot: &pb::Snapshot) -> Vec<(&str, Option<i64>, i64)> {
    let brokers = snapshot.brokers.iter();
    brokers
        .map(|b| (b.id.as_str(), b.disk_bytes, b.disk_used_bytes))
        .collect()
}

#[test]
fn every_state_of_a_copy() {
    let imported = listed(SHARDS);
    let snapshot = snapshot(&imported);
    assert_eq!(
        streams(snapshot),
        [
            (".tasks", 1),
            ("audit", 3),
            ("logs-2026.11", 2),
            ("orders", 2)
        ]
    );
    assert_eq!(
        shards(snapshot),
        [
            ".tasks/0 - ",
            "audit/0* es-1 es-2,es-3,es-4",
            "logs-2026.11/0 es-3 ",
            "logs-2026.11/1 es-1 ",
            "logs-2026.11/2 es-2 es-1",
            "orders/0 es-1 es-2",
            "orders/1 es-2 es-3",
        ]
    );
    assert_eq!(
        flights(snapshot),
        [
            "logs-2026.11/1 Follower ->es-2",
            "logs-2026.11/2 Follower es-1->es-4",
            "orders/1 Leader es-2->es-4",
        ]
    );
    assert_eq!(
        landed(snapshot),
        [
            ".tasks/0 - ",
            "audit/0 es-1 es-2,es-3,es-4",
            "logs-2026.11/0 es-3 ",
            "logs-2026.11/1 es-1 es-2",
            "logs-2026.11/2 es-2 es-4",
            "orders/0 es-1 es-2",
            "orders/1 es-4 es-3",
        ]
    );
    let sizes: Vec<i64> = snapshot.shards.iter().map(|s| s.size_bytes).collect();
    let largest = 5_368_710_000;
    assert_eq!(
        sizes,
        [
            0,
            70_000,
            1_000_000,
            2_000_000,
            3_000_000,
            largest,
            5_000_000_000
        ]
    );
    assert_eq!(snapshot.shards[4].number, Some(2));
    let warnings = &imported.warnings;
    assert_warns(warnings, "3 shards with a copy under way");
    assert_warns(warnings, "pinned with every copy listed: audit/0");
    assert_warns(warnings, "1 shard without a primary");
    assert_warns(warnings, "no zones are known");
    let nodes: Vec<&str> = snapshot.brokers.iter().map(|b| b.id.as_str()).collect();
    assert_eq!(nodes, ["es-1", "es-2", "es-3", "es-4"]);
    assert_eq!(rejection(snapshot), None);
}

#[test]
fn a_starting_primary_is_pinned() {
    let text = rows(&[
        row(0, "p", "INITIALIZING", "a"),
        row(0, "r", "UNASSIGNED", ""),
    ]);
    let imported = listed(&text);
    assert_eq!(shards(snapshot(&imported)), ["i/0* a "]);
    assert_warns(&imported.warnings, "with a starting primary");
}

#[test]
fn primary_and_replica_may_both_be_under_way() {
    let text = rows(&[
        row(0, "p", "RELOCATING", "a -> ::1 x c"),
        row(0, "r", "RELOCATING", "b -> ::1 x d"),
    ]);
    let imported = listed(&text);
    assert_eq!(landed(snapshot(&imported)), ["i/0 c d"]);
}

#[test]
fn the_policy_leaves_primaries_alone() {
    let policy = listed(STEADY).request.policy.unwrap();
    let mode = |spread: Option<pb::Spread>| spread.unwrap_or_default().mode();
    assert_eq!(mode(policy.stream_leaders), pb::SpreadMode::Off);
    assert_eq!(mode(policy.cluster_leaders), pb::SpreadMode::Off);
    assert_eq!(mode(policy.stream_replicas), pb::SpreadMode::Unspecified);
    assert_eq!(policy.roles(), pb::Roles::Unspecified);
    assert_eq!(
        policy.weights.and_then(|weights| weights.promotion),
        Some(1)
    );
}

#[test]
fn attributes_give_zones_and_tags() {
    let imported = import(with_nodes(SHARDS, NODEATTRS)).unwrap();
    let listed = snapshot(&imported);
    assert_eq!(
        brokers(listed),
        [
            "es-1 a Active",
            "es-2 b Active",
            "es-3 c Active",
            "es-4 a Active",
            "es-master-1 a Active"
        ]
    );
    assert_eq!(listed.brokers[0].tags["disk"], "ssd");
    assert_eq!(listed.brokers[0].tags["zone"], "a");
    assert_warns(
        &imported.warnings,
        "1 node without a copy, taken for data nodes (--allocation tells): es-master-1",
    );
    let named = ["none".to_owned(), "rack_id".to_owned()];
    let mut described = with_nodes(SHARDS, NODEATTRS);
    described.zone_attributes = &named;
    let error = import(described).unwrap_err();
    assert_eq!(
        error.to_string(),
        "nodes, attribute none or rack_id: either every node that isn't down has a zone, or none has; these have none; \
         found `es-master-1`"
    );
    described.allocation = Some(ALLOCATION);
    let imported = import(described).unwrap();
    let zones: Vec<&str> = snapshot(&imported)
        .brokers
        .iter()
        .map(|b| b.zone.as_str())
        .collect();
    assert_eq!(zones, ["r1", "r2", "r3", "r1"]);
    assert_warns(
        &imported.warnings,
        "1 node left out, as allocation doesn't list them: es-master-1",
    );
}

#[test]
fn without_the_attribute_every_node_is_its_own_zone() {
    let named = ["availability_zone".to_owned()];
    let mut described = with_nodes(SHARDS, NODEATTRS);
    described.zone_attributes = &named;
    let imported = import(described).unwrap();
    assert_warns(
        &imported.warnings,
        "no node has the attribute availability_zone; there are: disk, rack_id, zone",
    );
    assert_warns(&imported.warnings, "no zones are known");
}

#[test]
fn a_node_that_no_list_has_is_down() {
    let imported = import(with_nodes(SHARDS, NODES)).unwrap();
    let snapshot = snapshot(&imported);
    assert_eq!(
        brokers(snapshot),
        [
            "es-1 a Draining",
            "es-2 b Active",
            "es-3 c Active",
            "es-4  Down"
        ]
    );
    assert_eq!(snapshot.brokers[0].tags["tier"], "hot");
    assert_eq!(snapshot.brokers[1].share, Some(2));
    assert_eq!(snapshot.brokers[2].max_replicas, Some(40));
    assert_warns(&imported.warnings, "taken to be down");
    assert_warns(&imported.warnings, "es-4");
    assert_eq!(rejection(snapshot), None);
    let array = &NODES["{\"nodes\":".len()..NODES.trim_end().len() - 1];
    let again = import(with_nodes(SHARDS, array)).unwrap();
    assert_eq!(again, imported, "an array alone");
    let mut lost = NODEATTRS.replace("\"es-4\"", "\"es-5\"");
    lost = lost.replace("es-master-1", "es-6");
    let imported = import(with_nodes(SHARDS, &lost)).unwrap();
    assert_eq!(brokers(self::snapshot(&imported))[3], "es-4  Down");
}

#[test]
fn disks_hold_what_belongs_to_no_shard_and_the_shards() {
    let mut described = with_nodes(SHARDS, NODEATTRS);
    described.allocation = Some(ALLOCATION);
    let imported = import(described).unwrap();
    let total = Some(100_000_000_000);
    // es-1 holds 5 373 779 120 bytes of the listing. es-2 is the target of a replica of unknown size: what is listed is
    // less than what indices take. es-4 has received half of what comes.
    assert_eq!(
        disks(snapshot(&imported)),
        [
            ("es-1", total, 8_000_000_000 - 5_373_779_120),
            ("es-2", total, 12_000_000_000 - 10_371_780_000),
            ("es-3", total, 6_000_000_000 - 5_001_000_000),
            ("es-4", Some(200_000_000_000), 3_500_000_000 - 2_500_000_000),
        ]
    );
}

#[test]
fn of_a_listing_of_some_indices_the_others_use_up_the_disk() {
    let one = rows(&[row(0, "p", "STARTED", "es-1")]);
    let mut described = Import::new(&one);
    described.allocation = Some(ALLOCATION);
    let imported = import(described).unwrap();
    assert_eq!(disks(snapshot(&imported))[0].2, 8_000_000_000 - 5);
    let bare = r#"[{"node":"es-1","disk.total":"100","disk.used":"3"}]"#;
    described.allocation = Some(bare);
    let imported = import(described).unwrap();
    assert_eq!(disks(snapshot(&imported)), [("es-1", Some(100), 0)]);
}

#[test]
fn a_disk_in_the_node_file_goes_before_allocation() {
    let mut described = with_nodes(SHARDS, NODES);
    described.allocation = Some(ALLOCATION);
    let imported = import(described).unwrap();
    let disks = disks(snapshot(&imported));
    assert_eq!(disks[1], ("es-2", Some(50_000_000_000), 1000));
    let down = ("es-4", Some(200_000_000_000), 1_000_000_000);
    assert_eq!(disks[3], down, "a lost node keeps what is known of it");
    let more = ALLOCATION.replace("\"es-3\"", "\"es-9\"");
    described.allocation = Some(&more);
    let warnings = import(described).unwrap().warnings;
    assert_warns(
        &warnings,
        "1 node whose disk allocation doesn't tell, so without a limit: es-3",
    );
    assert_warns(
        &warnings,
        "1 node of allocation that the list of nodes lacks, left out: es-9",
    );
}

#[test]
fn data_nodes_without_attributes_come_from_allocation() {
    let attributes = r#"[{"node":"es-1","attr":"rack","value":"x"}]"#;
    let mut described = with_nodes(SHARDS, attributes);
    described.allocation = Some(ALLOCATION);
    let imported = import(described).unwrap();
    assert_eq!(
        brokers(snapshot(&imported)),
        [
            "es-1  Active",
            "es-2  Active",
            "es-3  Active",
            "es-4  Active"
        ]
    );
}

#[test]
fn pastes_marks_numbers_and_old_relocations() {
    let text = "\u{feff}GET _cat/shards?format=json&bytes=b\n[{\"index\":\"i\",\"shard\":3,\"prirep\":\"p\",\"state\":\
                \"RELOCATING\",\"store\":17,\"node\":\"node one -> 10.0.0.1 two\"}]\n$ ";
    let imported = listed(text);
    let snapshot = snapshot(&imported);
    assert_eq!(shards(snapshot), ["i/3 node one "]);
    assert_eq!(flights(snapshot), ["i/3 Leader node one->two"]);
    assert_eq!(snapshot.shards[0].size_bytes, 17);
}

#[test]
fn what_is_guessed_is_said() {
    let text = rows(&[
        row(0, "p", "STARTED", "a").replace("\"5\"", "null"),
        row(0, "r", "STARTED", "b").replace(",\"store\":\"5\"", ""),
        row(1, "p", "STARTED", "a"),
    ]);
    let imported = listed(&text);
    assert_eq!(streams(snapshot(&imported)), [("i", 2)]);
    assert_warns(
        &imported.warnings,
        "index i: 1 shard with fewer rows than the 2 of others",
    );
    assert_warns(
        &imported.warnings,
        "1 shard without a size (`store`), taken as empty: i/0",
    );
}
