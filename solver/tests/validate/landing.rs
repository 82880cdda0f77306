//! Moves in flight count as finished and pin; what makes a flight or a pin lapse.

use shardflow_solver::input::{InFlightInput, PolicyInput, SnapshotInput};
use shardflow_solver::snapshot::{BrokerState, Role};

use crate::{accepted, replicas, shard, snapshot};

fn flight(role: Role, from: &str, to: &str) -> InFlightInput {
    InFlightInput {
        shard: "p".to_owned(),
        role,
        from: from.to_owned(),
        to: to.to_owned(),
    }
}

/// Leader `a`, followers `b` and `c`, a spare broker `d`.
fn with_flights(flights: &[InFlightInput]) -> SnapshotInput {
    let mut snapshot = snapshot();
    snapshot.shards = vec![shard("p", "s", "a", &["c", "b"])];
    snapshot.in_flight = flights.to_vec();
    snapshot
}

/// The layout as landed: leader, followers, and whether the shard is pinned.
#[track_caller]
fn lands(snapshot: &SnapshotInput, leader: &str, followers: &[&str], is_pinned: bool) {
    let problem = accepted(snapshot, &PolicyInput::default());
    let landed = replicas(&problem, &problem.shards[0].present);
    let followers = followers.iter().map(|&b| b.to_owned()).collect();
    assert_eq!(
        landed,
        ((!leader.is_empty()).then(|| leader.to_owned()), followers)
    );
    assert_eq!(problem.shards[0].is_pinned, is_pinned);
}

#[test]
fn without_flights_the_layout_is_as_listed() {
    lands(&with_flights(&[]), "a", &["b", "c"], false);
}

#[test]
fn a_leader_moves_to_a_broker_that_held_nothing() {
    lands(
        &with_flights(&[flight(Role::Leader, "a", "d")]),
        "d",
        &["b", "c"],
        true,
    );
}

#[test]
fn a_leader_that_moves_onto_a_follower_swaps_with_it() {
    lands(
        &with_flights(&[flight(Role::Leader, "a", "b")]),
        "b",
        &["a", "c"],
        true,
    );
}

#[test]
fn a_follower_moves() {
    lands(
        &with_flights(&[flight(Role::Follower, "b", "d")]),
        "a",
        &["c", "d"],
        true,
    );
}

#[test]
fn a_follower_without_from_is_added() {
    lands(
        &with_flights(&[flight(Role::Follower, "", "d")]),
        "a",
        &["b", "c", "d"],
        true,
    );
}

#[test]
fn a_follower_that_is_there_already_is_not_added_twice() {
    lands(
        &with_flights(&[flight(Role::Follower, "", "c")]),
        "a",
        &["b", "c"],
        true,
    );
    lands(
        &with_flights(&[flight(Role::Follower, "b", "c")]),
        "a",
        &["c"],
        true,
    );
}

#[test]
fn a_pair_of_flights_that_swap_comes_out_as_the_swap() {
    let swap = [
        flight(Role::Leader, "a", "b"),
        flight(Role::Follower, "b", "a"),
    ];
    lands(&with_flights(&swap), "b", &["a", "c"], true);
    let [leader, follower] = swap;
    lands(&with_flights(&[follower, leader]), "b", &["a", "c"], true);
}

#[test]
fn a_pair_of_flights_moves_both_roles() {
    let both = [
        flight(Role::Leader, "a", "d"),
        flight(Role::Follower, "b", "a"),
    ];
    lands(&with_flights(&both), "d", &["a", "c"], true);
    // The follower leaves the broker that the leader enters.
    let chain = [
        flight(Role::Leader, "a", "b"),
        flight(Role::Follower, "b", "d"),
    ];
    lands(&with_flights(&chain), "b", &["c", "d"], true);
}

#[test]
fn a_flight_to_a_down_broker_lapses() {
    for role in [Role::Leader, Role::Follower] {
        let from = if role == Role::Leader { "a" } else { "b" };
        let mut snapshot = with_flights(&[flight(role, from, "d")]);
        snapshot.brokers[3].state = BrokerState::Down;
        lands(&snapshot, "a", &["b", "c"], false);
        snapshot.brokers[3].state = BrokerState::Draining;
        let problem = accepted(&snapshot, &PolicyInput::default());
        assert!(
            problem.shards[0].is_pinned,
            "DRAINING brokers still take what is on its way"
        );
    }
}

#[test]
fn one_flight_of_a_pair_may_lapse_alone() {
    let mut snapshot = with_flights(&[
        flight(Role::Leader, "a", "d"),
        flight(Role::Follower, "b", "a"),
    ]);
    snapshot.brokers[3].state = BrokerState::Down;
    // The leader stays on `a`, where the follower would go.
    let rejection = crate::rejected(&snapshot, &PolicyInput::default());
    assert_eq!(rejection.invalid[0].path, "snapshot.in_flight[1].to");
    snapshot.in_flight = vec![
        flight(Role::Leader, "a", "d"),
        flight(Role::Follower, "b", "d"),
    ];
    lands(&snapshot, "a", &["b", "c"], false);
}

#[test]
fn a_flight_lapses_without_a_live_leader() {
    for role in [Role::Leader, Role::Follower] {
        let from = if role == Role::Leader { "a" } else { "b" };
        let mut snapshot = with_flights(&[flight(role, from, "d")]);
        snapshot.brokers[0].state = BrokerState::Down;
        lands(&snapshot, "a", &["b", "c"], false);
        snapshot.brokers[0].state = BrokerState::Active;
        snapshot.shards[0].leader.clear();
        if role == Role::Leader {
            snapshot.in_flight[0].from.clear();
        }
        lands(&snapshot, "", &["b", "c"], false);
    }
}

#[test]
fn a_pin_holds_while_there_is_a_live_leader() {
    let mut snapshot = with_flights(&[]);
    snapshot.shards[0].pinned = true;
    lands(&snapshot, "a", &["b", "c"], true);
    snapshot.brokers[0].state = BrokerState::Draining;
    lands(&snapshot, "a", &["b", "c"], true);
    snapshot.brokers[0].state = BrokerState::Down;
    lands(&snapshot, "a", &["b", "c"], false);
    snapshot.brokers[0].state = BrokerState::Active;
    snapshot.shards[0].leader.clear();
    lands(&snapshot, "", &["b", "c"], false);
}

#[test]
fn a_flight_that_is_finished_counts_in_the_caps_in_force() {
    let mut snapshot = with_flights(&[flight(Role::Leader, "a", "d")]);
    snapshot.brokers[0].max_leaders = Some(0);
    snapshot.brokers[3].max_leaders = Some(0);
    let problem = accepted(&snapshot, &PolicyInput::default());
    assert_eq!(problem.limits.present.leaders, [0, 0, 0, 1]);
    assert_eq!(problem.limits.in_force.leaders[0], 0);
    assert_eq!(problem.limits.in_force.leaders[3], 1);
}
