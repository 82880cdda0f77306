//! Brokers that leave or are lost, and who takes over.

use shardflow_solver::cost::{Rank, evaluate};
use shardflow_solver::input::PolicyInput;
use shardflow_solver::snapshot::{BrokerId, BrokerState, Roles};

use crate::clusters::{cluster, led, plan, problem_of, shard, solve, stream, zoned};
use crate::measures::{leaders, moved, range, totals};

#[test]
fn a_draining_broker_is_left_level() {
    let mut snapshot = cluster(4);
    led(&mut snapshot, "a", &[3, 3, 3, 3], 0);
    led(&mut snapshot, "b", &[2, 2, 2, 2], 0);
    snapshot.brokers[3].state = BrokerState::Draining;
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "a"), [4, 4, 4, 0]);
    assert_eq!(totals(&problem, &result)[3], 0);
    assert_eq!(range(&totals(&problem, &result)[..3]), 1);
    assert_eq!(moved(&problem, &result), 5, "only what had to");
}

#[test]
fn a_drained_leader_prefers_its_follower() {
    let mut snapshot = cluster(4);
    snapshot.streams.push(stream("s", 2));
    snapshot.shards.push(shard("s", 0, "b3", &["b0"]));
    snapshot.brokers[3].state = BrokerState::Draining;
    let (_, result) = solve(&snapshot);
    assert_eq!(result[0].leader, Some(BrokerId(0)));
    assert!(!result[0].holds(BrokerId(3)));
    assert_eq!(result[0].followers.len(), 1);
}

#[test]
fn what_a_drain_finds_no_room_for_stays() {
    let mut snapshot = cluster(3);
    led(&mut snapshot, "s", &[2, 2, 2], 0);
    snapshot.brokers[2].state = BrokerState::Draining;
    snapshot.brokers[0].max_replicas = Some(3);
    snapshot.brokers[1].max_leaders = Some(2);
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [3, 2, 1]);
}

#[test]
fn a_promotion_counts_in_the_same_pass() {
    let mut snapshot = cluster(3);
    snapshot.streams.push(stream("s", 3));
    for n in 0..6 {
        snapshot.shards.push(shard("s", n, "b2", &["b0", "b1"]));
    }
    snapshot.brokers[2].state = BrokerState::Down;
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [3, 3, 0]);
    for a in &result {
        assert!(
            a.followers.contains(&BrokerId(2)),
            "nothing replaces it: {a:?}"
        );
    }
}

#[test]
fn full_holders_leave_the_lead_to_another_broker() {
    let mut snapshot = cluster(3);
    snapshot.streams.push(stream("s", 2));
    snapshot.shards.push(shard("s", 0, "b2", &["b0"]));
    snapshot.brokers[2].state = BrokerState::Down;
    snapshot.brokers[0].max_leaders = Some(0);
    let (problem, result) = solve(&snapshot);
    assert_eq!(result[0].leader, Some(BrokerId(1)));
    assert_eq!(result[0].followers, [BrokerId(0)]);
    let policy = PolicyInput {
        roles: Roles::LeadershipOnly,
        ..PolicyInput::default()
    };
    let only = problem_of(&snapshot, &policy);
    let kept = plan(&only);
    assert_eq!(kept[0].leader, None, "leadership only copies nothing");
    assert_eq!(problem.shards.len(), 1);
}

#[test]
fn a_failover_prefers_brokers_that_stay() {
    let mut snapshot = cluster(4);
    snapshot.streams.push(stream("s", 3));
    snapshot.shards.push(shard("s", 0, "b3", &["b0", "b1"]));
    snapshot.brokers[3].state = BrokerState::Down;
    snapshot.brokers[0].state = BrokerState::Draining;
    let (_, result) = solve(&snapshot);
    assert_eq!(result[0].leader, Some(BrokerId(1)));
    assert_eq!(
        result[0].followers,
        [BrokerId(0), BrokerId(2)],
        "b0 has no successor"
    );
}

#[test]
fn leadership_only_promotes_and_copies_nothing() {
    let mut snapshot = cluster(3);
    snapshot.streams.push(stream("s", 2));
    for n in 0..6 {
        snapshot.shards.push(shard("s", n, "b0", &["b1"]));
    }
    snapshot.shards.push(shard("s", 6, "", &[]));
    let policy = PolicyInput {
        roles: Roles::LeadershipOnly,
        ..PolicyInput::default()
    };
    let problem = problem_of(&snapshot, &policy);
    let result = plan(&problem);
    assert_eq!(leaders(&problem, &result, "s"), [3, 3, 0]);
    assert_eq!(evaluate(&problem, &result).0[Rank::Copies], 0);
}

#[test]
fn surplus_goes_from_unwanted_brokers_and_doubled_zones() {
    let mut snapshot = zoned(["x", "x", "y", "w", "v"]);
    snapshot.streams.push(stream("s", 3));
    snapshot
        .shards
        .push(shard("s", 0, "b0", &["b1", "b2", "b3", "b4"]));
    snapshot.brokers[3].state = BrokerState::Draining;
    let (_, result) = solve(&snapshot);
    assert_eq!(result[0].leader, Some(BrokerId(0)));
    assert_eq!(result[0].followers, [BrokerId(2), BrokerId(4)]);
}
