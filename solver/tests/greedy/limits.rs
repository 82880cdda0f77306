//! Caps, zones, pins, moves in flight and the brokers that a stream allows.

use shardflow_solver::input::{InFlightInput, PolicyInput, ZoneLimitInput};
use shardflow_solver::snapshot::Role;

use crate::clusters::{cluster, led, plan, problem_of, shard, solve, stream, zoned};
use crate::measures::{leaders, moved, totals};

#[test]
fn caps_are_never_passed() {
    let mut snapshot = cluster(3);
    led(&mut snapshot, "a", &[6, 6, 0], 0);
    led(&mut snapshot, "b", &[], 6);
    snapshot.brokers[2].max_leaders = Some(3);
    let (problem, result) = solve(&snapshot);
    assert_eq!(totals(&problem, &result)[2], 3);
    assert_eq!(totals(&problem, &result).iter().sum::<i64>(), 18);
    snapshot
        .brokers
        .iter_mut()
        .for_each(|b| b.max_replicas = Some(5));
    let (problem, result) = solve(&snapshot);
    assert_eq!(
        totals(&problem, &result),
        [6, 6, 3],
        "b0 and b1 are above their caps already"
    );
    let zone_limits = vec![ZoneLimitInput {
        zone: "z2".into(),
        max_leaders: Some(1),
        ..ZoneLimitInput::default()
    }];
    let policy = PolicyInput {
        zone_limits,
        ..PolicyInput::default()
    };
    let problem = problem_of(&snapshot, &policy);
    assert_eq!(totals(&problem, &plan(&problem)), [6, 6, 1]);
}

#[test]
fn an_optional_move_never_lowers_zones() {
    // The follower is pinned to zone y by its cap on leads, so a lead that goes to b1 as a copy would end in one zone.
    let mut snapshot = zoned(["x", "y", "y"]);
    snapshot.streams.push(stream("s", 2));
    for n in 0..6 {
        snapshot.shards.push(shard("s", n, "b0", &["b2"]));
    }
    snapshot.brokers[2].max_leaders = Some(0);
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [6, 0, 0]);
    snapshot.brokers[1].zone = "w".into();
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [3, 3, 0]);
}

#[test]
fn a_zone_keeps_its_minimum_of_leaders() {
    let mut snapshot = cluster(2);
    led(&mut snapshot, "s", &[6, 0], 0);
    let policy = PolicyInput {
        zone_limits: vec![ZoneLimitInput {
            zone: "z0".into(),
            min_leaders: Some(5),
            ..ZoneLimitInput::default()
        }],
        ..PolicyInput::default()
    };
    let problem = problem_of(&snapshot, &policy);
    assert_eq!(totals(&problem, &plan(&problem)), [5, 1]);
}

#[test]
fn moves_in_flight_count_and_pinned_shards_stay() {
    let mut snapshot = cluster(2);
    led(&mut snapshot, "s", &[6, 0], 0);
    for n in 0..3 {
        snapshot.in_flight.push(InFlightInput {
            shard: format!("s/{n}"),
            role: Role::Leader,
            from: "b0".into(),
            to: "b1".into(),
        });
    }
    let (problem, result) = solve(&snapshot);
    assert_eq!(moved(&problem, &result), 0, "the moves under way level it");
    snapshot.in_flight.clear();
    snapshot
        .shards
        .iter_mut()
        .take(5)
        .for_each(|s| s.pinned = true);
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [5, 1]);
}

#[test]
fn tags_and_allowed_brokers_bind() {
    let mut snapshot = cluster(4);
    led(&mut snapshot, "s", &[8, 0, 0, 0], 4);
    snapshot.streams[0].allowed_brokers = vec!["b1".into(), "b2".into(), "b3".into()];
    snapshot.streams[0].required_tags = [("disk".to_string(), "ssd".to_string())].into();
    for b in [0, 1, 2] {
        snapshot.brokers[b].tags = [("disk".to_string(), "ssd".to_string())].into();
    }
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [0, 6, 6, 0]);
}

#[test]
fn the_largest_shares_overflow_nothing() {
    let mut snapshot = cluster(2);
    led(&mut snapshot, "a", &[], 2);
    snapshot.brokers[0]
        .tags
        .insert("t".to_owned(), "x".to_owned());
    snapshot.brokers[1].share = Some(u32::MAX);
    let required = &mut snapshot.streams[0].required_tags;
    required.insert("t".to_owned(), "x".to_owned());
    let (problem, result) = solve(&snapshot);
    assert_eq!(totals(&problem, &result), [2, 0]);
}
