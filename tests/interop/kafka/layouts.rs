//! What each format means.

use std::collections::BTreeMap;

use shardflow::interop::kafka::{Import, import};
use shardflow::pb;

use super::samples::*;
use crate::support::*;

/// `shard role from>to` of every flight.
fn flights(snapshot: &pb::Snapshot) -> Vec<String> {
    let flight = |f: &pb::InFlight| format!("{} {:?} {}>{}", f.shard, f.role(), f.from, f.to);
    snapshot.in_flight.iter().map(flight).collect()
}

fn factors(snapshot: &pb::Snapshot) -> Vec<(&str, u32)> {
    let streams = snapshot.streams.iter();
    streams
        .map(|s| (s.id.as_str(), s.replication_factor))
        .collect()
}

#[test]
fn describe_of_old_versions() {
    let imported = layout(OLD);
    let snapshot = snapshot(&imported);
    assert_eq!(
        shards(snapshot),
        [
            "billing-0 1 2",
            "billing-1 2 3",
            "billing-2* 2 3",
            "web-logs-0 3 1,2",
        ]
    );
    assert_eq!(factors(snapshot), [("billing", 2), ("web-logs", 3)]);
    assert_eq!(brokers(snapshot), ["1  Active", "2  Active", "3  Active"]);
    let warnings = &imported.warnings;
    assert_warns(warnings, "marked for deletion and left out: old-reports");
    assert_warns(warnings, "1 partition without a leader: web-logs-1");
    assert_warns(warnings, "2 partitions under-replicated");
    assert_warns(warnings, "1 partition not led by the preferred leader");
    assert_warns(warnings, "no racks are known");
    assert_warns(warnings, "1 partition pinned, as Kafka would refuse");
    assert_warns(warnings, "1 partition left out: without a leader");
    assert_eq!(warnings.len(), 7, "{warnings:#?}");
}

#[test]
fn describe_with_spaces_for_tabs() {
    let imported = layout(SPACES);
    let snapshot = snapshot(&imported);
    assert_eq!(
        shards(snapshot),
        ["carts-0 1 2,3", "carts-1* 3 1,2", "prices.eu-west-0 2 3"]
    );
    assert_eq!(factors(snapshot), [("carts", 3), ("prices.eu-west", 2)]);
    assert_eq!(snapshot.shards[2].number, Some(0));
    assert_eq!(snapshot.shards[2].stream, "prices.eu-west");
    assert_warns(
        &imported.warnings,
        "1 partition under-replicated; Kafka won't elect",
    );
    assert_eq!(imported.warnings.len(), 3, "{:#?}", imported.warnings);
}

#[test]
fn white_space_means_nothing() {
    for text in [OLD, NEW, DEMO] {
        let spaced = text.replace('\t', "    ").replace('\n', "\r\n");
        assert_eq!(layout(&spaced), layout(text));
        assert_eq!(layout(&format!("\u{feff}{text}")), layout(text));
    }
}

#[test]
fn a_reassignment_under_way_becomes_flights_or_a_pin() {
    let imported = layout(NEW);
    let snapshot = snapshot(&imported);
    assert_eq!(
        shards(snapshot),
        [
            "moving-0 1 2",
            "moving-1 1 2",
            "moving-2 1 2",
            "moving-3 1 2",
            "moving-4 1 2",
            "moving-5 1 2",
            "moving-6* 1 2,3",
            "moving-8* 3 2,1",
            "moving-9* 1 4,5,2,3",
        ]
    );
    assert_eq!(
        flights(snapshot),
        [
            "moving-1 Follower 2>3",
            "moving-2 Leader 1>3",
            "moving-3 Leader 1>2",
            "moving-3 Follower 2>3",
            "moving-4 Leader 1>3",
            "moving-4 Follower 2>4",
            "moving-5 Follower >3",
        ]
    );
    // Each flight ends where Kafka's reassignment does: the replicas listed, less those being removed.
    assert_eq!(
        landed(snapshot)[..6],
        [
            "moving-0 1 2",
            "moving-1 1 3",
            "moving-2 3 2",
            "moving-3 2 3",
            "moving-4 3 4",
            "moving-5 1 2,3"
        ]
    );
    assert_eq!(factors(snapshot), [("moving", 2), ("quiet", 3)]);
    let warnings = &imported.warnings;
    assert_warns(
        warnings,
        "5 partitions under reassignment, counted as finished",
    );
    assert_warns(warnings, "3 partitions whose reassignment can't be told");
    assert_warns(warnings, "2 partitions left out: without a leader");
    assert_warns(
        warnings,
        "topic moving: 2 partitions with another number of replicas",
    );
}

#[test]
fn a_live_follower_out_of_sync_pins_its_partition_where_only_leaders_move() {
    let text = "Topic: t Partition: 0 Leader: 1 Replicas: 1,2 Isr: 1\n\
                Topic: t Partition: 1 Leader: 1 Replicas: 1,2 Isr: 1,2\n\
                Topic: t Partition: 2 Leader: 1 Replicas: 1,2,3 Isr: 1,3\n\
                Topic: t Partition: 3 Leader: 1 Replicas: 1,3,4 Isr: 1,3\n";
    let brokers = r#"[{"id":1},{"id":2},{"id":3}]"#;
    let imported = import(with_brokers(text, brokers)).unwrap();
    assert_eq!(
        shards(snapshot(&imported)),
        ["t-0* 1 2", "t-1 1 2", "t-2* 1 2,3", "t-3 1 3,4"]
    );
    assert_warns(
        &imported.warnings,
        "2 partitions pinned, as Kafka would refuse to elect a live follower that is out of sync (1 of them with \
         another follower in sync, which a snapshot can't tell from it); import again once they have caught up: t-0, t-2",
    );
    let mut both = with_brokers(text, brokers);
    both.roles = pb::Roles::LeadersAndFollowers;
    let listed = shards(snapshot(&import(both).unwrap()));
    assert!(
        listed.iter().all(|shard| !shard.contains('*')),
        "{listed:?}"
    );
}

#[test]
fn without_a_leader_a_partition_is_listed_only_where_every_live_replica_may_lead() {
    let text = "Topic: t Partition: 0 Leader: none Replicas: 1,2 Isr: Elr: 2 LastKnownElr: 1\n\
                Topic: t Partition: 1 Leader: none Replicas: 1,2 Isr: Elr: 1,2\n\
                Topic: t Partition: 2 Leader: none Replicas: 1,4 Isr: 1\n\
                Topic: t Partition: 3 Leader: none Replicas: 1,2,3 Isr: 1 Adding Replicas: 3 Elr: 2\n";
    let imported = import(with_brokers(text, r#"[{"id":1},{"id":2},{"id":3}]"#)).unwrap();
    assert_eq!(
        shards(snapshot(&imported)),
        ["t-1 - 1,2", "t-2 - 1,4", "t-3 - 1,2"]
    );
    let warnings = &imported.warnings;
    assert_warns(warnings, "1 partition left out: without a leader");
    assert_warns(warnings, "once it is up: t-0");
    assert_warns(warnings, "1 partition under reassignment without a leader");
}

#[test]
fn a_leader_that_only_leaves_is_pinned() {
    let text = "Topic: a Partition: 0 Leader: 1 Replicas: 2,3,1 Isr: 1,2,3 Removing Replicas: 1";
    let imported = layout(text);
    assert_eq!(shards(snapshot(&imported)), ["a-0* 1 2,3"]);
}

#[test]
fn a_growing_factor_is_the_one_moved_to() {
    let text = "Topic: a PartitionCount: 2 ReplicationFactor: 1 Configs:\n\
                Topic: a Partition: 0 Leader: 1 Replicas: 1,2 Isr: 1 Adding Replicas: 2 Removing Replicas:\n\
                Topic: a Partition: 1 Leader: 2 Replicas: 2,1 Isr: 2 Adding Replicas: 1 Removing Replicas:\n";
    let imported = layout(text);
    assert_eq!(factors(snapshot(&imported)), [("a", 2)]);
    assert_eq!(
        flights(snapshot(&imported)),
        ["a-0 Follower >2", "a-1 Follower >1"]
    );
}

#[test]
fn every_import_is_a_valid_request() {
    for text in [
        OLD,
        SPACES,
        NEW,
        REASSIGNMENT,
        GENERATE,
        EXECUTE,
        KCAT,
        DEMO,
    ] {
        let imported = layout(text);
        assert_eq!(rejection(snapshot(&imported)), None);
        let policy = imported.request.policy.as_ref().unwrap();
        assert_eq!(policy.roles(), pb::Roles::LeadershipOnly);
    }
    let mut broken = snapshot(&layout(OLD)).clone();
    broken.shards[0].leader = "77".to_owned();
    assert!(rejection(&broken).is_some());
}

#[test]
fn partitions_without_a_topic_line_take_the_usual_factor() {
    let text = "Topic: a Partition: 0 Leader: 1 Replicas: 1,2\n\
                Topic: a Partition: 1 Leader: 1 Replicas: 1,2,3\n\
                Topic: a Partition: 2 Leader: 3 Replicas: 3,2,1\n";
    let imported = layout(text);
    assert_eq!(factors(snapshot(&imported)), [("a", 3)]);
    assert_warns(
        &imported.warnings,
        "topic a: 1 partition with another number",
    );
}

#[test]
fn unknown_columns_are_named_and_ignored() {
    let text = "Topic: a Partition: 0 Leader: 1 Replicas: 1 Isr: 1 Mood: good LastKnownElr: N/A";
    let imported = layout(text);
    assert_eq!(shards(snapshot(&imported)), ["a-0 1 "]);
    assert_warns(&imported.warnings, "columns not known and ignored: Mood");
}

#[test]
fn configs_may_hold_anything() {
    let text = "Topic: a PartitionCount: 1 ReplicationFactor: 1 Configs: note=see Partition: 7, Topic: b\n\
                Topic: a Partition: 0 Leader: 1 Replicas: 1 Isr: 1\n";
    assert_eq!(shards(snapshot(&layout(text))), ["a-0 1 "]);
}

#[test]
fn strange_sync_states_are_warnings() {
    let text = "Topic: a Partition: 0 Leader: 1 Replicas: 1,2 Isr: 2,3";
    let warnings = layout(text).warnings;
    assert_warns(&warnings, "1 partition under-replicated");
    assert_warns(
        &warnings,
        "1 partition with a leader that isn't among the replicas in sync: a-0",
    );
    assert_warns(
        &warnings,
        "1 partition with brokers in sync that aren't replicas",
    );
}

#[test]
fn reassignment_json_is_led_by_the_first_replica() {
    let imported = layout(REASSIGNMENT);
    let snapshot = snapshot(&imported);
    assert_eq!(
        shards(snapshot),
        ["carts-0 2 1,3", "carts-1 3 2,1", "prices.eu-west-0 1 3"]
    );
    assert_eq!(factors(snapshot), [("carts", 3), ("prices.eu-west", 2)]);
    assert_warns(&imported.warnings, "led by its first replica");
}

#[test]
fn of_generate_the_current_part_counts() {
    let imported = layout(GENERATE);
    assert_eq!(shards(snapshot(&imported)), ["carts-0 1 2", "carts-1 2 3"]);
    let imported = layout(EXECUTE);
    assert_eq!(shards(snapshot(&imported)), ["carts-0 1 2"]);
    assert_warns(
        &imported.warnings,
        "from before a reassignment that was then started",
    );
}

#[test]
fn kcat_serves_as_layout_and_as_broker_list() {
    let imported = layout(KCAT);
    let listed = snapshot(&imported);
    assert_eq!(
        shards(listed),
        ["audit-0 - 4", "carts-0 1 2,3", "carts-1 3 1,4"]
    );
    assert_eq!(
        brokers(listed),
        ["1  Active", "2  Active", "3  Active", "4  Down"]
    );
    assert_warns(&imported.warnings, "taken to be down: 4");
    assert_warns(
        &imported.warnings,
        "audit-0 (\"Broker: Leader not available\")",
    );

    let imported = import(with_brokers(SPACES, KCAT)).unwrap();
    assert_eq!(
        brokers(snapshot(&imported)),
        ["1  Active", "2  Active", "3  Active"]
    );

    let racks = r#"[{"id":1,"rack":"a"},{"id":4,"rack":"b"}]"#;
    let imported = import(with_brokers(KCAT, racks)).unwrap();
    assert_eq!(
        brokers(snapshot(&imported)),
        ["1 a Active", "2  Down", "3  Down", "4 b Active"]
    );
}

#[test]
fn the_broker_file_gives_racks_states_and_caps() {
    for text in [BROKERS.to_owned(), format!("{{\"brokers\":{BROKERS}}}")] {
        let mut described = with_brokers(NEW, &text);
        described.roles = pb::Roles::LeadersAndFollowers;
        described.cluster_id = "eu";
        let imported = import(described).unwrap();
        let snapshot = snapshot(&imported);
        assert_eq!(
            brokers(snapshot),
            [
                "1 a Active",
                "2 b Draining",
                "3 c Down",
                "4  Down",
                "5  Down",
                "6  Down"
            ]
        );
        assert_eq!(snapshot.brokers[0].share, Some(2));
        assert_eq!(snapshot.brokers[0].tags["disk"], "ssd");
        assert_eq!(snapshot.brokers[1].max_leaders, Some(40));
        assert_eq!(snapshot.brokers[2].max_replicas, Some(120));
        assert_eq!(snapshot.cluster_id, "eu");
        let policy = imported.request.policy.as_ref().unwrap();
        assert_eq!(policy.roles(), pb::Roles::LeadersAndFollowers);
        assert_warns(&imported.warnings, "taken to be down: 4, 5, 6");
    }
}

#[test]
fn log_dirs_give_the_largest_settled_size() {
    let mut described = Import::new(SPACES);
    described.log_dirs = Some(LOG_DIRS);
    let imported = import(described).unwrap();
    let listed = snapshot(&imported).shards.iter();
    let sizes: Vec<i64> = listed.map(|s| s.size_bytes).collect();
    assert_eq!(sizes, [1_048_576, 95_000, 5_497_558_138_880]);
    assert_warns(&imported.warnings, "broker 1, directory \"/data/kafka-b\"");
    assert_warns(
        &imported.warnings,
        "1 partition in log-dirs that the layout doesn't list: __consumer_offsets-49",
    );

    let mut bare = Import::new(OLD);
    bare.log_dirs = Some("note\n{\"version\":1,\"brokers\":[]}");
    let warnings = import(bare).unwrap().warnings;
    assert_warns(&warnings, "5 partitions without a size in log-dirs");
    assert_warns(&warnings, "log-dirs, line 1: ignored `note`");
}

#[test]
fn the_demo_is_lopsided_by_topic_and_even_in_all() {
    let imported = import(with_brokers(DEMO, DEMO_BROKERS)).unwrap();
    assert_eq!(imported.warnings, Vec::<String>::new());
    let snapshot = snapshot(&imported);
    assert_eq!(snapshot.streams.len(), 8);
    assert_eq!(snapshot.shards.len(), 200);
    assert!(snapshot.streams.iter().all(|s| s.replication_factor == 3));
    let listed = snapshot.brokers.iter();
    let zones: BTreeMap<&str, &str> = listed.map(|b| (b.id.as_str(), b.zone.as_str())).collect();
    let mut led: BTreeMap<&str, i64> = BTreeMap::new();
    let mut led_of: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    for shard in &snapshot.shards {
        *led.entry(&shard.leader).or_default() += 1;
        *led_of.entry((&shard.stream, &shard.leader)).or_default() += 1;
        let replicas = shard.followers.iter().chain([&shard.leader]);
        let mut racks: Vec<&str> = replicas.map(|b| zones[b.as_str()]).collect();
        racks.sort_unstable();
        racks.dedup();
        assert_eq!(racks.len(), 3, "{}", shard.id);
    }
    assert_eq!(led.len(), 9);
    assert_eq!(
        (led.values().min(), led.values().max()),
        (Some(&22), Some(&23))
    );
    assert_eq!(led_of.get(&("orders", "6")), Some(&15));
    assert_eq!(led_of.get(&("payments", "5")), None);
    let draining = brokers(snapshot)
        .into_iter()
        .filter(|broker| broker.ends_with("Draining"));
    assert_eq!(draining.collect::<Vec<_>>(), ["9 eu-west-1c Draining"]);
    assert_eq!(rejection(snapshot), None);
}
