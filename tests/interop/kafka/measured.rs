//! Sizes, rates and limits from log-dirs and Cruise Control.

use shardflow::interop::Imported;
use shardflow::interop::kafka::{Import, Rate, import};
use shardflow::pb;

use super::samples::*;
use crate::support::*;

fn loaded() -> Import<'static> {
    let mut described = Import::new(SPACES);
    described.partition_load = Some(PARTITION_LOAD);
    described
}

fn weights(imported: &Imported) -> Vec<(i64, i64)> {
    let shards = snapshot(imported).shards.iter();
    shards.map(|shard| (shard.size_bytes, shard.rate)).collect()
}

fn limits(imported: &Imported) -> Vec<(Option<i64>, i64, Option<i64>)> {
    let limit = |b: &pb::Broker| (b.disk_bytes, b.disk_used_bytes, b.rate_capacity);
    snapshot(imported).brokers.iter().map(limit).collect()
}

#[test]
fn partition_load_gives_sizes_and_rates_in_bytes() {
    let imported = import(loaded()).unwrap();
    assert_eq!(weights(&imported), [(1_572_864, 2_097_664), (0, 0), (0, 0)]);
    let warnings = &imported.warnings;
    assert_warns(
        warnings,
        "1 partition without a record in partition-load, taken as empty and without traffic: carts-1",
    );
    assert_warns(
        warnings,
        "in partition-load that the layout doesn't list: gone-4",
    );
    assert_warns(
        warnings,
        "1 partition led by another broker than when partition-load was made: prices.eu-west-0",
    );
    let mut described = loaded();
    described.rate = Rate::NetworkIn;
    let imported = import(described).unwrap();
    assert_eq!(weights(&imported), [(1_572_864, 524_544), (0, 0), (0, 1)]);
}

#[test]
fn log_dirs_go_before_partition_load() {
    let mut described = loaded();
    described.log_dirs = Some(
        r#"{"brokers":[{"broker":1,"logDirs":[{"logDir":"/d","error":null,"partitions":[
            {"partition":"carts-0","size":1048576,"offsetLag":0,"isFuture":false}]}]}]}"#,
    );
    let imported = import(described).unwrap();
    assert_eq!(weights(&imported), [(1_048_576, 2_097_664), (0, 0), (0, 0)]);
    assert_warns(
        &imported.warnings,
        "1 partition without a size in log-dirs or partition-load, taken as empty: carts-1",
    );
    assert_warns(&imported.warnings, "taken as without traffic: carts-1");
}

#[test]
fn capacity_limits_disks_and_with_rates_the_network() {
    let mut described = Import::new(SPACES);
    described.capacity = Some(CAPACITY);
    let many = Some(104_857_600_000);
    let more = Some(524_288_524_288);
    let imported = import(described).unwrap();
    assert_eq!(
        limits(&imported),
        [(many, 0, None), (more, 0, None), (many, 0, None)]
    );
    described.partition_load = Some(PARTITION_LOAD);
    let imported = import(described).unwrap();
    let capacities = |imported: &Imported| -> Vec<Option<i64>> {
        let brokers = snapshot(imported).brokers.iter();
        brokers.map(|broker| broker.rate_capacity).collect()
    };
    assert_eq!(
        capacities(&imported),
        [Some(20_480_000), Some(61_440_000), Some(20_480_000)]
    );
    described.rate = Rate::NetworkIn;
    let imported = import(described).unwrap();
    assert_eq!(
        capacities(&imported),
        [Some(10_240_000), Some(51_200_000), Some(10_240_000)]
    );
}

#[test]
fn what_a_person_wrote_goes_before_capacity() {
    let brokers =
        r#"[{"id":1,"disk_bytes":7,"disk_used_bytes":3,"rate_capacity":5},{"id":2},{"id":3}]"#;
    let capacity = CAPACITY.replace("\"-1\"", "3");
    let mut described = with_brokers(SPACES, brokers);
    described.capacity = Some(&capacity);
    described.partition_load = Some(PARTITION_LOAD);
    let imported = import(described).unwrap();
    let listed = limits(&imported);
    assert_eq!(listed[0], (Some(7), 3, Some(5)));
    assert_eq!(listed[2], (Some(104_857_600_000), 0, Some(20_480_000)));
    assert_warns(
        &imported.warnings,
        "1 broker neither in capacity nor covered by its broker -1, so without limits: 1",
    );
}

#[test]
fn partitions_that_the_snapshot_lacks_use_up_limited_disks() {
    let mut described = Import::new(SPACES);
    described.log_dirs = Some(LOG_DIRS);
    let used = |described| -> Vec<i64> {
        let imported = import(described).unwrap();
        limits(&imported).iter().map(|limit| limit.1).collect()
    };
    assert_eq!(used(described), [0, 0, 0], "no disk is limited");
    described.capacity = Some(CAPACITY);
    assert_eq!(used(described), [0, 0, 4096], "__consumer_offsets-49");
}

#[test]
fn findings_of_cruise_control() {
    let load = |text: &'static str| {
        let mut described = Import::new(SPACES);
        described.partition_load = Some(text);
        import(described)
    };
    let record =
        r#"{"records":[{"topic":"a","partition":0,"leader":1,"disk":1,"networkOutbound":2}]}"#;
    assert!(load(record).is_ok(), "the other direction isn't read");
    let cases = [
        (
            r#"{"errorMessage":"not yet"}"#,
            "$",
            r#"{"errorMessage":"not yet"}"#,
            "`records`",
        ),
        (r#"{"records":{}}"#, "$.records", "{}", "an array"),
        (
            r#"{"records":[{"topic":"a","partition":0,"leader":1,"disk":-1,"networkOutbound":2}]}"#,
            "$.records[0].disk",
            "-1",
            "a number from 0 to 8796093022207",
        ),
        (
            r#"{"records":[{"topic":"a","partition":0,"leader":1,"disk":1,"networkOutbound":1e300}]}"#,
            "$.records[0].networkOutbound",
            "1e+300",
            "a number from 0",
        ),
        (
            r#"{"records":[{"topic":"a","partition":0,"leader":1,"disk":1,"networkOutbound":2,"disk":1}]}"#,
            "line 1",
            r#"{"records":[{"topic":"a","partition":0,"leader":1,"disk":1,"networkOutbound":2,"disk":1}]}"#,
            "an object has the key `disk` twice",
        ),
    ];
    for (text, place, found, rule) in cases {
        assert_finding(load(text), &format!("partition-load, {place}"), found, rule);
    }
    let twice = "{\"records\":[{\"topic\":\"a\",\"partition\":0,\"leader\":1,\"disk\":1,\"networkOutbound\":2},\
                 {\"topic\":\"a\",\"partition\":0,\"leader\":1,\"disk\":1,\"networkOutbound\":2}]}";
    let findings = load(twice).unwrap_err().findings;
    assert_eq!(findings[0].place, "partition-load, $.records[1]");
    let capacity = |text: &'static str| {
        let mut described = Import::new(SPACES);
        described.capacity = Some(text);
        import(described)
    };
    let cases = [
        (r#"[]"#, "$", "[]", "`brokerCapacities`"),
        (
            r#"{"brokerCapacities":[{"brokerId":"x","capacity":{"DISK":"1","NW_OUT":"1"}}]}"#,
            "$.brokerCapacities[0].brokerId",
            "\"x\"",
            "a whole number",
        ),
        (
            r#"{"brokerCapacities":[{"brokerId":"1","capacity":{"DISK":"1 TB","NW_OUT":"1"}}]}"#,
            "$.brokerCapacities[0].capacity.DISK",
            "\"1 TB\"",
            "a number from 0",
        ),
        (
            r#"{"brokerCapacities":[{"brokerId":"1","capacity":{"DISK":{"/a":"8e12","/b":"8e12"},"NW_OUT":"1"}}]}"#,
            "$.brokerCapacities[0].capacity.DISK",
            r#"{"/a":"8e12","/b":"8e12"}"#,
            "less than 2^63 bytes",
        ),
        (
            r#"{"brokerCapacities":[{"brokerId":"1","capacity":{"DISK":"1","NW_IN":"1"}}]}"#,
            "$.brokerCapacities[0].capacity",
            r#"{"DISK":"1","NW_IN":"1"}"#,
            "`NW_OUT`",
        ),
        (
            r#"{"brokerCapacities":[{"brokerId":-1,"capacity":{"DISK":1,"NW_OUT":1}},{"brokerId":"-1","capacity":{"DISK":1,"NW_OUT":1}}]}"#,
            "$.brokerCapacities[1]",
            r#"{"brokerId":"-1","capacity":{"DISK":1,"NW_OUT":1}}"#,
            "one capacity",
        ),
    ];
    for (text, place, found, rule) in cases {
        assert_finding(capacity(text), &format!("capacity, {place}"), found, rule);
    }
}
