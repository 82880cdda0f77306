//! What a valid input becomes: zones, canonical order, open brokers, defaults, warnings.

use shardflow_solver::input::{BrokerInput, PolicyInput, SnapshotInput, ZoneLimitInput};
use shardflow_solver::snapshot::{BrokerState, Problem, Roles, StreamId};

use crate::{accepted, replicas, shard, snapshot, source, stream};

fn zone_names(problem: &Problem) -> Vec<&str> {
    problem
        .broker_ids()
        .map(|b| problem.zones[problem.zone_of(b).index()].name.as_str())
        .collect()
}

fn with_zones(zones: [&str; 4]) -> SnapshotInput {
    let mut snapshot = snapshot();
    for (broker, zone) in snapshot.brokers.iter_mut().zip(zones) {
        broker.zone = zone.to_owned();
    }
    snapshot
}

#[test]
fn where_nobody_names_a_zone_each_broker_is_its_own() {
    let problem = accepted(&snapshot(), &PolicyInput::default());
    assert_eq!(zone_names(&problem), ["a", "b", "c", "d"]);
}

#[test]
fn down_brokers_need_no_zone() {
    let mut snapshot = with_zones(["y", "x", "", "x"]);
    snapshot.brokers[2].state = BrokerState::Down;
    let problem = accepted(&snapshot, &PolicyInput::default());
    assert_eq!(zone_names(&problem), ["y", "x", "", "x"]);
}

#[test]
fn a_zone_that_only_down_brokers_name_decides_nothing() {
    let mut snapshot = with_zones(["", "", "z", ""]);
    snapshot.brokers[2].state = BrokerState::Down;
    let problem = accepted(&snapshot, &PolicyInput::default());
    assert_eq!(zone_names(&problem), ["a", "b", "c", "d"]);
    for broker in &mut snapshot.brokers {
        broker.state = BrokerState::Down;
    }
    let problem = accepted(&snapshot, &PolicyInput::default());
    assert_eq!(zone_names(&problem), ["", "", "z", ""]);
}

#[test]
fn everything_is_sorted() {
    let mut input = SnapshotInput::default();
    for id in ["b10", "b2", "b1"] {
        input.brokers.push(BrokerInput {
            id: id.to_owned(),
            ..BrokerInput::default()
        });
    }
    input.streams = vec![stream("t", 1), stream("u", 1), stream("s", 1)];
    let numbered = |id: &str, stream: &str, number| {
        let mut shard = shard(id, stream, "b2", &["b10", "b1"]);
        shard.number = number;
        shard
    };
    input.shards = vec![
        numbered("a", "t", None),
        numbered("b", "s", Some(10)),
        numbered("d", "s", Some(9)),
        numbered("c", "s", None),
        numbered("B", "s", None),
    ];
    let problem = accepted(&input, &PolicyInput::default());
    let ids: Vec<&str> = problem.brokers.iter().map(|b| b.id.as_str()).collect();
    assert_eq!(ids, ["b1", "b10", "b2"]);
    let streams: Vec<_> = problem
        .streams
        .iter()
        .map(|s| (&*s.id, s.shards.clone()))
        .collect();
    assert_eq!(streams, [("s", 0..4), ("t", 4..5), ("u", 5..5)]);
    let ids: Vec<&str> = problem.shards.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids, ["B", "c", "d", "b", "a"]);
    let (leader, followers) = replicas(&problem, &problem.shards[0].present);
    assert_eq!(leader.as_deref(), Some("b2"));
    assert_eq!(followers, ["b1", "b10"]);
}

#[test]
fn shares_default_to_one_and_zero_wants_nothing() {
    let mut snapshot = snapshot();
    snapshot.brokers[0].share = Some(0);
    snapshot.brokers[1].share = Some(3);
    snapshot.brokers[2].state = BrokerState::Draining;
    let problem = accepted(&snapshot, &PolicyInput::default());
    let shares: Vec<u32> = problem.brokers.iter().map(|b| b.share).collect();
    assert_eq!(shares, [0, 3, 1, 1]);
    assert_eq!(problem.share_total, 4);
    assert_eq!(problem.streams[0].share_total, 4);
}

#[test]
fn a_factor_of_zero_is_one() {
    let mut snapshot = snapshot();
    snapshot.streams[0].replication_factor = 0;
    let problem = accepted(&snapshot, &PolicyInput::default());
    assert_eq!(problem.streams[0].replication_factor, 1);
    assert_eq!(problem.replicas_wanted, 1);
}

#[test]
fn tags_and_allowed_brokers_open_a_stream() {
    let (mut snapshot, mut policy) = (snapshot(), PolicyInput::default());
    let tag = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    for (broker, disk) in snapshot
        .brokers
        .iter_mut()
        .zip(["ssd", "hdd", "ssd", "ssd"])
    {
        broker.tags.extend([tag("disk", disk), tag("team", "red")]);
    }
    snapshot.brokers[3].tags.remove("team");
    policy
        .required_tags
        .extend([tag("disk", "ssd"), tag("team", "red")]);
    // The stream's own tag replaces the policy's of the same key; the other one still holds.
    snapshot.streams[1]
        .required_tags
        .extend([tag("disk", "hdd")]);
    let problem = accepted(&snapshot, &policy);
    assert_eq!(problem.streams[0].open, [true, false, true, false]);
    assert_eq!(problem.streams[1].open, [false, true, false, false]);
    snapshot.streams[0].allowed_brokers = vec!["c".to_owned(), "b".to_owned(), "c".to_owned()];
    snapshot.brokers[2].state = BrokerState::Down;
    let problem = accepted(&snapshot, &policy);
    assert_eq!(problem.streams[0].open, [false, false, true, false]);
    assert_eq!(problem.streams[0].share_total, 0);
    assert!(!problem.may_enter(
        StreamId(0),
        problem.broker_ids().nth(2).expect("four brokers")
    ));
    assert_eq!(problem.warnings, Vec::<String>::new());
}

#[test]
fn an_allowed_broker_that_is_not_listed_is_a_warning() {
    let mut snapshot = snapshot();
    snapshot.streams[0].allowed_brokers = vec!["x".to_owned(), "a".to_owned(), "x".to_owned()];
    let problem = accepted(&snapshot, &PolicyInput::default());
    let expected = "stream \"s\": allowed broker \"x\" is not in the snapshot";
    assert_eq!(problem.warnings, [expected]);
    assert_eq!(problem.streams[0].open, [true, false, false, false]);
}

#[test]
fn a_limit_on_a_zone_without_brokers_is_a_warning_and_a_shortfall() {
    let limit = |zone: &str, least| ZoneLimitInput {
        zone: zone.to_owned(),
        min_leaders: least,
        ..ZoneLimitInput::default()
    };
    let policy = PolicyInput {
        zone_limits: vec![
            limit("y", Some(2)),
            limit("a", Some(1)),
            limit("x", Some(3)),
            limit("w", None),
        ],
        ..PolicyInput::default()
    };
    let problem = accepted(&snapshot(), &policy);
    let expected =
        ["w", "x", "y"].map(|z| format!("policy.zone_limits: no broker is in zone {z:?}"));
    assert_eq!(problem.warnings, expected);
    assert_eq!(problem.policy.absent_zone_minimum, 5);
    assert_eq!(problem.zones[0].min_leaders, 1);
}

#[test]
fn traffic_crosses_into_zones_that_a_source_does_not_list() {
    let mut snapshot = snapshot();
    snapshot.shards[0].sources = vec![
        source(&["a", "a", "b"], 5),
        source(&["nowhere"], 7),
        source(&[], 1),
    ];
    let problem = accepted(&snapshot, &PolicyInput::default());
    let shard = &problem.shards[0];
    let cross: Vec<i64> = problem
        .broker_ids()
        .map(|b| shard.leader_traffic.cross(problem.zone_of(b)))
        .collect();
    assert_eq!(cross, [8, 8, 13, 13]);
    assert_eq!(
        shard
            .follower_traffic
            .cross(problem.zone_of(problem.broker_ids().next().expect("a broker"))),
        0
    );
}

#[test]
fn weights_take_the_documented_defaults() {
    let weights = accepted(&snapshot(), &PolicyInput::default())
        .policy
        .weights;
    assert_eq!(
        (weights.traffic, weights.overlap, weights.overlap_per_gib),
        (10, 1, 0)
    );
    assert_eq!(
        (
            weights.promotion,
            weights.same_rack,
            weights.same_rack_as_leader
        ),
        (0, 10, 0)
    );
}

#[test]
fn replica_spreads_are_off_where_replicas_are_not_decided() {
    let mut snapshot = snapshot();
    let mut policy = PolicyInput::default();
    let spreads = |snapshot: &SnapshotInput, policy: &PolicyInput| {
        let policy = accepted(snapshot, policy).policy;
        let leaders = policy.stream_leaders.is_some() && policy.cluster_leaders.is_some();
        assert_eq!(
            policy.stream_replicas.is_some(),
            policy.cluster_replicas.is_some()
        );
        (leaders, policy.stream_replicas.is_some())
    };
    assert_eq!(spreads(&snapshot, &policy), (true, true));
    policy.roles = Roles::LeadershipOnly;
    assert_eq!(spreads(&snapshot, &policy), (true, false));
    policy.roles = Roles::LeadersAndFollowers;
    // Only streams that have shards count.
    snapshot.streams[0].replication_factor = 1;
    snapshot.streams[1].replication_factor = 3;
    assert_eq!(spreads(&snapshot, &policy), (true, false));
}

#[test]
fn caps_in_force_leave_room_for_what_is_there() {
    let mut snapshot = snapshot();
    snapshot.shards.push(shard("q", "t", "a", &[]));
    snapshot.brokers[0].max_leaders = Some(1);
    snapshot.brokers[0].max_replicas = Some(5);
    snapshot.brokers[1].max_leaders = Some(0);
    snapshot.brokers[2].state = BrokerState::Down;
    snapshot.shards.push(shard("r", "t", "c", &[]));
    let problem = accepted(&snapshot, &PolicyInput::default());
    let limits = &problem.limits;
    assert_eq!(limits.present.leaders, [2, 0, 0, 0]);
    assert_eq!(limits.present.replicas, [2, 1, 0, 0]);
    assert_eq!(limits.in_force.leaders, [2, 0, i64::MAX, i64::MAX]);
    assert_eq!(limits.in_force.replicas, [5, i64::MAX, i64::MAX, i64::MAX]);
}
