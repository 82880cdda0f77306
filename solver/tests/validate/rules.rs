//! One test per rule.

use shardflow_solver::input::{InFlightInput, PolicyInput, ZoneLimitInput};
use shardflow_solver::snapshot::{BrokerState, Role};

use crate::{finding, finds, rejected, shard, snapshot, source, stream};

const UNLISTED: &str = "is not the id of a broker in snapshot.brokers (list lost brokers as DOWN)";
const NEGATIVE: &str = "must not be negative";

#[test]
fn ids_are_not_empty() {
    finds(
        |s, _| s.brokers[3].id.clear(),
        ["snapshot.brokers[3].id", "", "must not be empty"],
    );
    finds(
        |s, _| s.streams[1].id.clear(),
        ["snapshot.streams[1].id", "", "must not be empty"],
    );
    finds(
        |s, _| s.shards[0].id.clear(),
        ["snapshot.shards[0].id", "", "must not be empty"],
    );
}

#[test]
fn ids_are_unique() {
    finds(
        |s, _| s.brokers[3].id = "a".to_owned(),
        [
            "snapshot.brokers[3].id",
            "a",
            "is already the id of snapshot.brokers[0]",
        ],
    );
    finds(
        |s, _| s.streams[1].id = "s".to_owned(),
        [
            "snapshot.streams[1].id",
            "s",
            "is already the id of snapshot.streams[0]",
        ],
    );
    finds(
        |s, _| s.shards.push(shard("p", "t", "", &[])),
        [
            "snapshot.shards[1].id",
            "p",
            "is already the id of snapshot.shards[0]",
        ],
    );
}

#[test]
fn ids_of_brokers_streams_and_shards_are_apart() {
    let mut snapshot = snapshot();
    snapshot.streams.push(stream("a", 1));
    snapshot.shards.push(shard("a", "a", "a", &[]));
    crate::accepted(&snapshot, &PolicyInput::default());
}

#[test]
fn sizes_and_rates_of_brokers_are_not_negative() {
    finds(
        |s, _| s.brokers[1].disk_used_bytes = -1,
        ["snapshot.brokers[1].disk_used_bytes", "-1", NEGATIVE],
    );
    let mut snapshot = snapshot();
    snapshot.brokers[1].disk_bytes = Some(-2);
    snapshot.brokers[2].rate_capacity = Some(-3);
    let rejection = rejected(&snapshot, &PolicyInput::default());
    let expected = [
        finding("snapshot.brokers[1].disk_bytes", "-2", NEGATIVE),
        finding("snapshot.brokers[2].rate_capacity", "-3", NEGATIVE),
    ];
    assert_eq!(rejection.invalid, expected);
}

#[test]
fn an_allowed_broker_has_a_name() {
    finds(
        |s, _| s.streams[0].allowed_brokers = vec!["a".to_owned(), String::new()],
        [
            "snapshot.streams[0].allowed_brokers[1]",
            "",
            "must name a broker",
        ],
    );
}

#[test]
fn a_shard_is_of_a_listed_stream() {
    let rule = "is not the id of a stream in snapshot.streams";
    finds(
        |s, _| s.shards[0].stream = "x".to_owned(),
        ["snapshot.shards[0].stream", "x", rule],
    );
    finds(
        |s, _| s.shards[0].stream.clear(),
        ["snapshot.shards[0].stream", "", rule],
    );
}

#[test]
fn a_number_is_unique_in_its_stream() {
    let numbered = |id: &str, stream: &str, number| {
        let mut shard = shard(id, stream, "", &[]);
        shard.number = number;
        shard
    };
    finds(
        |s, _| s.shards = vec![numbered("p", "s", Some(7)), numbered("q", "s", Some(7))],
        [
            "snapshot.shards[1].number",
            "7",
            "is the number of another shard of stream \"s\"",
        ],
    );
    let mut snapshot = snapshot();
    snapshot.shards = vec![
        numbered("p", "s", Some(7)),
        numbered("q", "t", Some(7)),
        numbered("r", "s", None),
        numbered("u", "s", None),
    ];
    crate::accepted(&snapshot, &PolicyInput::default());
}

#[test]
fn replicas_are_on_listed_brokers() {
    finds(
        |s, _| s.shards[0].leader = "x".to_owned(),
        ["snapshot.shards[0].leader", "x", UNLISTED],
    );
    finds(
        |s, _| s.shards[0].followers.push("x".to_owned()),
        ["snapshot.shards[0].followers[1]", "x", UNLISTED],
    );
    finds(
        |s, _| s.shards[0].followers.push(String::new()),
        ["snapshot.shards[0].followers[1]", "", UNLISTED],
    );
}

#[test]
fn replicas_are_on_distinct_brokers() {
    finds(
        |s, _| s.shards[0].followers.push("a".to_owned()),
        [
            "snapshot.shards[0].followers[1]",
            "a",
            "is the leader as well",
        ],
    );
    finds(
        |s, _| s.shards[0].followers.push("b".to_owned()),
        ["snapshot.shards[0].followers[1]", "b", "is listed twice"],
    );
}

#[test]
fn sizes_and_rates_of_shards_are_not_negative() {
    finds(
        |s, _| s.shards[0].size_bytes = -1,
        ["snapshot.shards[0].size_bytes", "-1", NEGATIVE],
    );
    finds(
        |s, _| s.shards[0].rate = -5,
        ["snapshot.shards[0].rate", "-5", NEGATIVE],
    );
}

#[test]
fn sources_have_weights_and_named_zones() {
    let bad = || vec![source(&["z"], 0), source(&["z"], -4)];
    finds(
        |s, _| s.shards[0].sources = bad(),
        ["snapshot.shards[0].sources[1].weight", "-4", NEGATIVE],
    );
    finds(
        |s, _| s.shards[0].follower_sources = bad(),
        [
            "snapshot.shards[0].follower_sources[1].weight",
            "-4",
            NEGATIVE,
        ],
    );
    finds(
        |s, _| s.shards[0].sources = vec![source(&["z", ""], 1)],
        [
            "snapshot.shards[0].sources[0].zones[1]",
            "",
            "must name a zone",
        ],
    );
    finds(
        |s, _| s.shards[0].follower_sources = vec![source(&[""], 1)],
        [
            "snapshot.shards[0].follower_sources[0].zones[0]",
            "",
            "must name a zone",
        ],
    );
}

#[test]
fn a_flight_names_a_shard_and_its_brokers() {
    let flight = |shard: &str, from: &str, to: &str| InFlightInput {
        shard: shard.to_owned(),
        role: Role::Leader,
        from: from.to_owned(),
        to: to.to_owned(),
    };
    let broker = "is not the id of a broker in snapshot.brokers";
    finds(
        |s, _| s.in_flight = vec![flight("x", "a", "c")],
        [
            "snapshot.in_flight[0].shard",
            "x",
            "is not the id of a shard in snapshot.shards",
        ],
    );
    finds(
        |s, _| s.in_flight = vec![flight("p", "a", "x")],
        ["snapshot.in_flight[0].to", "x", broker],
    );
    finds(
        |s, _| s.in_flight = vec![flight("p", "a", "")],
        ["snapshot.in_flight[0].to", "", broker],
    );
    finds(
        |s, _| s.in_flight = vec![flight("p", "x", "c")],
        ["snapshot.in_flight[0].from", "x", broker],
    );
    finds(
        |s, _| s.in_flight = vec![flight("p", "a", "a")],
        ["snapshot.in_flight[0].to", "a", "is where the move starts"],
    );
}

#[test]
fn a_flight_starts_where_the_role_is() {
    let flight = |role: Role, from: &str, to: &str| InFlightInput {
        shard: "p".to_owned(),
        role,
        from: from.to_owned(),
        to: to.to_owned(),
    };
    let (leads, follows) = (
        "is not the leader of the shard",
        "is not a follower of the shard",
    );
    for (role, from, rule) in [
        (Role::Leader, "b", leads),
        (Role::Leader, "", leads),
        (Role::Follower, "a", follows),
        (Role::Follower, "d", follows),
    ] {
        finds(
            |s, _| s.in_flight = vec![flight(role, from, "c")],
            ["snapshot.in_flight[0].from", from, rule],
        );
    }
    finds(
        |s, _| s.in_flight = vec![flight(Role::Follower, "b", "a")],
        [
            "snapshot.in_flight[0].to",
            "a",
            "is the leader of the shard as well",
        ],
    );
    finds(
        |s, _| {
            s.in_flight = vec![
                flight(Role::Leader, "a", "c"),
                flight(Role::Leader, "a", "d"),
            ];
        },
        [
            "snapshot.in_flight[1].shard",
            "p",
            "has a move of the same role in snapshot.in_flight[0]",
        ],
    );
}

#[test]
fn weights_are_not_negative() {
    finds(
        |_, p| p.weights.traffic = Some(-1),
        ["policy.weights.traffic", "-1", NEGATIVE],
    );
    finds(
        |_, p| p.weights.overlap = Some(-1),
        ["policy.weights.overlap", "-1", NEGATIVE],
    );
    finds(
        |_, p| p.weights.overlap_per_gib = Some(-1),
        ["policy.weights.overlap_per_gib", "-1", NEGATIVE],
    );
    finds(
        |_, p| p.weights.promotion = Some(-1),
        ["policy.weights.promotion", "-1", NEGATIVE],
    );
    finds(
        |_, p| p.weights.same_rack = Some(-1),
        ["policy.weights.same_rack", "-1", NEGATIVE],
    );
    finds(
        |_, p| p.weights.same_rack_as_leader = Some(i64::MIN),
        [
            "policy.weights.same_rack_as_leader",
            "-9223372036854775808",
            NEGATIVE,
        ],
    );
}

#[test]
fn a_promotion_is_no_dearer_than_a_copy() {
    let rule = "must be at most overlap, which is 1";
    finds(
        |_, p| p.weights.promotion = Some(2),
        ["policy.weights.promotion", "2", rule],
    );
    let policy = &mut PolicyInput::default();
    policy.weights.promotion = Some(1);
    crate::accepted(&snapshot(), policy);
}

fn limit(zone: &str) -> ZoneLimitInput {
    ZoneLimitInput {
        zone: zone.to_owned(),
        ..ZoneLimitInput::default()
    }
}

#[test]
fn a_zone_has_one_limit_and_a_name() {
    finds(
        |_, p| p.zone_limits = vec![limit("a"), limit("")],
        ["policy.zone_limits[1].zone", "", "must name a zone"],
    );
    finds(
        |_, p| p.zone_limits = vec![limit("a"), limit("b"), limit("a")],
        [
            "policy.zone_limits[2].zone",
            "a",
            "has limits in policy.zone_limits[0] already",
        ],
    );
}

#[test]
fn a_zone_minimum_is_within_its_maxima() {
    let limits = |leaders, replicas| {
        let mut limit = limit("a");
        limit.min_leaders = Some(4);
        (limit.max_leaders, limit.max_replicas) = (leaders, replicas);
        vec![limit]
    };
    let path = "policy.zone_limits[0].min_leaders";
    finds(
        |_, p| p.zone_limits = limits(Some(3), None),
        [path, "4", "is above max_leaders, which is 3"],
    );
    finds(
        |_, p| p.zone_limits = limits(None, Some(3)),
        [path, "4", "is above max_replicas, which is 3"],
    );
    let policy = PolicyInput {
        zone_limits: limits(Some(4), Some(4)),
        ..PolicyInput::default()
    };
    crate::accepted(&snapshot(), &policy);
}

#[test]
fn max_replicas_per_zone_leaves_room_for_one() {
    finds(
        |_, p| p.max_replicas_per_zone = Some(0),
        ["policy.max_replicas_per_zone", "0", "must be at least 1"],
    );
}

#[test]
fn the_disk_watermark_is_a_percentage() {
    let (path, rule) = ("policy.disk_watermark_percent", "must be from 1 to 100");
    finds(|_, p| p.disk_watermark_percent = Some(0), [path, "0", rule]);
    finds(
        |_, p| p.disk_watermark_percent = Some(101),
        [path, "101", rule],
    );
    for percent in [1, 100] {
        let policy = PolicyInput {
            disk_watermark_percent: Some(percent),
            ..PolicyInput::default()
        };
        crate::accepted(&snapshot(), &policy);
    }
}

#[test]
fn thetas_are_finite_and_not_negative() {
    let rule = "must be finite and not negative";
    finds(
        |_, p| p.thetas[0] = Some(-0.5),
        ["policy.thetas.shard", "-0.5", rule],
    );
    finds(
        |_, p| p.thetas[1] = Some(f64::NAN),
        ["policy.thetas.index", "NaN", rule],
    );
    finds(
        |_, p| p.thetas[2] = Some(f64::INFINITY),
        ["policy.thetas.disk", "inf", rule],
    );
    let policy = PolicyInput {
        thetas: [Some(0.0), Some(0.5), Some(1e9)],
        ..PolicyInput::default()
    };
    crate::accepted(&snapshot(), &policy);
}

#[test]
fn brokers_that_name_no_zone_where_others_do_are_listed() {
    let mut snapshot = snapshot();
    snapshot.brokers[1].zone = "z".to_owned();
    snapshot.brokers[2].state = BrokerState::Down;
    let rejection = rejected(&snapshot, &PolicyInput::default());
    let rule = |id: &str| format!("broker {id:?} names no zone, but others do");
    let expected = [
        finding("snapshot.brokers[0].zone", "", &rule("a")),
        finding("snapshot.brokers[3].zone", "", &rule("d")),
    ];
    assert_eq!(rejection.invalid, expected);
}

#[test]
fn every_finding_comes_at_once() {
    let (mut snapshot, mut policy) = (snapshot(), PolicyInput::default());
    snapshot.brokers[0].disk_used_bytes = -1;
    snapshot.brokers[0].disk_bytes = Some(9);
    snapshot.shards[0].leader = "x".to_owned();
    snapshot.shards[0].rate = -2;
    snapshot.shards.push(shard("q", "u", "", &["a", "a"]));
    snapshot.in_flight.push(InFlightInput::default());
    policy.weights.traffic = Some(-3);
    policy.max_replicas_per_zone = Some(0);
    policy.max_moves = Some(4);
    let rejection = rejected(&snapshot, &policy);
    let paths: Vec<&str> = rejection.invalid.iter().map(|f| f.path.as_str()).collect();
    let expected = [
        "snapshot.brokers[0].disk_used_bytes",
        "snapshot.shards[0].leader",
        "snapshot.shards[0].rate",
        "snapshot.shards[1].stream",
        "snapshot.shards[1].followers[1]",
        "snapshot.in_flight[0].shard",
        "snapshot.in_flight[0].to",
        "policy.weights.traffic",
        "policy.max_replicas_per_zone",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn a_finding_reads_as_a_line() {
    let with = finding("snapshot.shards[3].leader", "x", "is unknown");
    assert_eq!(with.to_string(), "snapshot.shards[3].leader: x: is unknown");
    let without = finding("policy.balance", "", "is unknown");
    assert_eq!(without.to_string(), "policy.balance: is unknown");
}
