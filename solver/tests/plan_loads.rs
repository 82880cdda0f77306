//! Disks and capacities for rates in the order of moves: detours, blocked moves, exchanges of leads; by hand.

mod plan_common;

use plan_common::{Cluster, brief};
use shardflow_solver::cost::Rank;
use shardflow_solver::input::BalanceInput;
use shardflow_solver::plan::{Plan, ShortfallReason};
use shardflow_solver::snapshot::{BrokerState, Dimension};
use shardflow_solver::verify;

use BrokerState::{Active, Draining};

/// Brokers in zones of their own with disks of this size; 0: no size.
fn disks(factor: u32, brokers: &[(&str, i64)]) -> Cluster {
    let mut cluster = Cluster::new(factor);
    cluster.policy.disk_watermark_percent = Some(100);
    for (id, size) in brokers {
        cluster = cluster.active(id, &format!("z{id}"));
        let disk = (*size > 0).then_some(*size);
        cluster.snapshot.brokers.last_mut().expect("one").disk_bytes = disk;
    }
    cluster
}

fn sized(cluster: Cluster, id: &str, size: i64, leader: &str, followers: &[&str]) -> Cluster {
    let mut cluster = cluster.shard(id, leader, followers);
    let shard = cluster.snapshot.shards.last_mut().expect("one");
    shard.size_bytes = size;
    cluster
}

/// The moves in short, found legal by the verifier.
fn told(cluster: &Cluster, plan: &Plan) -> Vec<String> {
    let problem = cluster.problem();
    assert_eq!(verify::moves::check(&problem, plan), []);
    let moves = plan.moves.iter().map(|m| {
        let detour = if m.detour { " detour" } else { "" };
        let blocked = if m.blocked.is_some() { " blocked" } else { "" };
        format!("{}{detour}{blocked}", brief(&problem, m))
    });
    moves.collect()
}

#[test]
fn a_copy_waits_until_its_bytes_have_left() {
    let cluster = disks(1, &[("a", 10), ("b", 10), ("c", 10)]);
    let cluster = sized(cluster, "p", 8, "a", &[]);
    let cluster = sized(cluster, "q", 8, "b", &[]);
    let plan = cluster.plan(&[("b", &[]), ("c", &[])]);
    let moves = ["1 q Copy Leader b>c Cost", "2 p Copy Leader a>b Cost"];
    assert_eq!(told(&cluster, &plan), moves);
}

/// `p` and `q` are to change places between full disks; broker `c` may lend room.
fn exchange(room: i64) -> (Cluster, Plan) {
    let cluster = disks(1, &[("a", 10), ("b", 10), ("c", room)]);
    let cluster = sized(cluster, "p", 8, "a", &[]);
    let cluster = sized(cluster, "q", 6, "b", &[]);
    let plan = cluster.plan(&[("b", &[]), ("a", &[])]);
    (cluster, plan)
}

#[test]
fn the_smallest_shard_of_a_circle_goes_by_way_of_a_broker_with_room() {
    let (cluster, plan) = exchange(7);
    let moves = [
        "1 q Copy Leader b>c Cost detour",
        "2 p Copy Leader a>b Cost",
        "3 q Copy Leader c>a Cost detour",
    ];
    assert_eq!(told(&cluster, &plan), moves);
    let sizes: Vec<i64> = plan.moves.iter().map(|m| m.bytes).collect();
    assert_eq!(sizes, [6, 8, 6]);
}

#[test]
fn without_a_broker_with_room_moves_are_blocked_and_the_target_stays() {
    let (cluster, plan) = exchange(5);
    let moves = [
        "1 p Copy Leader a>b Cost blocked",
        "2 q Copy Leader b>a Cost blocked",
    ];
    assert_eq!(told(&cluster, &plan), moves);
    assert_eq!(
        plan.moves[0].blocked.as_deref(),
        Some(
            "broker \"b\" has 4 bytes left below its watermark, the copy needs 8; \
             nothing that leaves it can go first, and no broker lends room"
        )
    );
    assert_eq!(plan.after.0[Rank::Copies], 2);
}

#[test]
fn only_a_broker_that_may_take_the_replica_lends_room() {
    let (mut cluster, _) = exchange(7);
    let is_blocked = |cluster: &Cluster| {
        let plan = cluster.plan(&[("b", &[]), ("a", &[])]);
        told(cluster, &plan).iter().all(|m| m.ends_with(" blocked"))
    };
    assert!(!is_blocked(&cluster));
    cluster.snapshot.brokers[2].state = Draining;
    assert!(is_blocked(&cluster));
    cluster.snapshot.brokers[2].state = Active;
    cluster.snapshot.brokers[2].max_replicas = Some(0);
    assert!(is_blocked(&cluster));
    cluster.snapshot.brokers[2].max_replicas = None;
    cluster.snapshot.brokers[2].max_leaders = Some(0);
    assert!(is_blocked(&cluster));
    cluster.snapshot.brokers[2].max_leaders = None;
    cluster.snapshot.shards[1].rate = 3;
    cluster.snapshot.brokers[2].rate_capacity = Some(2);
    assert!(is_blocked(&cluster));
    cluster.snapshot.brokers[2].rate_capacity = Some(3);
    cluster.snapshot.streams[0].allowed_brokers = vec!["a".into(), "b".into()];
    assert!(is_blocked(&cluster));
    cluster.snapshot.streams[0].allowed_brokers = vec![];
    assert!(!is_blocked(&cluster));
}

#[test]
fn a_full_exchange_of_replica_caps_takes_a_detour_as_well() {
    let (mut cluster, _) = exchange(7);
    for broker in &mut cluster.snapshot.brokers {
        broker.max_replicas = Some(1);
        broker.max_leaders = Some(1);
    }
    let plan = cluster.plan(&[("b", &[]), ("a", &[])]);
    assert_eq!(told(&cluster, &plan).len(), 3);
    assert!(plan.moves.iter().all(|m| m.blocked.is_none()));
}

#[test]
fn a_circle_of_three_takes_one_detour() {
    let cluster = disks(1, &[("a", 10), ("b", 10), ("c", 10), ("d", 9)]);
    let cluster = sized(cluster, "p", 9, "a", &[]);
    let cluster = sized(cluster, "q", 7, "b", &[]);
    let cluster = sized(cluster, "r", 8, "c", &[]);
    let plan = cluster.plan(&[("b", &[]), ("c", &[]), ("a", &[])]);
    let moves = [
        "1 q Copy Leader b>d Cost detour",
        "2 p Copy Leader a>b Cost",
        "3 r Copy Leader c>a Cost",
        "4 q Copy Leader d>c Cost detour",
    ];
    assert_eq!(told(&cluster, &plan), moves);
}

#[test]
fn what_waits_for_a_blocked_move_is_blocked_as_well() {
    // b stays above its watermark, so that nothing can arrive there; a has no place for r until p leaves.
    let mut cluster = disks(1, &[("a", 0), ("b", 10), ("c", 0)]);
    cluster.snapshot.brokers[0].max_replicas = Some(1);
    let cluster = sized(cluster, "p", 6, "a", &[]);
    let cluster = sized(cluster, "q", 6, "b", &[]);
    let cluster = sized(cluster, "r", 0, "c", &[]);
    let cluster = sized(cluster, "s", 6, "b", &[]);
    let plan = cluster.plan(&[("b", &[]), ("c", &[]), ("a", &[]), ("b", &[])]);
    let moves = [
        "1 q Copy Leader b>c Cost",
        "2 p Copy Leader a>b Cost blocked",
        "3 r Copy Leader c>a Cost blocked",
    ];
    assert_eq!(told(&cluster, &plan), moves);
    assert_eq!(
        plan.moves[2].blocked.as_deref(),
        Some("broker \"a\" is at its max_replicas, and what would leave it is blocked")
    );
}

#[test]
fn what_leaves_a_broker_above_its_watermark_or_capacity_is_for_the_rule() {
    let cluster = disks(1, &[("a", 10), ("b", 0)]);
    let cluster = sized(cluster, "p", 12, "a", &[]);
    let mut cluster = sized(cluster, "q", 4, "b", &[]);
    let plan = cluster.plan(&[("b", &[]), ("a", &[])]);
    let moves = ["1 p Copy Leader a>b Rule", "2 q Copy Leader b>a Spread"];
    assert_eq!(told(&cluster, &plan), moves);
    cluster.snapshot.brokers[0].disk_bytes = None;
    cluster.snapshot.shards[1].rate = 7;
    cluster.snapshot.brokers[1].rate_capacity = Some(6);
    let plan = cluster.plan(&[("b", &[]), ("a", &[])]);
    let moves = ["1 q Copy Leader b>a Rule", "2 p Copy Leader a>b Spread"];
    assert_eq!(told(&cluster, &plan), moves);
}

/// `p` is led by `a`, `q` by `b`, at these capacities; each holds the other's follower.
fn led(capacities: [i64; 2], rates: [i64; 2]) -> Cluster {
    let mut cluster = Cluster::new(2).active("a", "x").active("b", "y");
    for (broker, capacity) in cluster.snapshot.brokers.iter_mut().zip(capacities) {
        broker.rate_capacity = Some(capacity);
    }
    cluster = cluster.shard("p", "a", &["b"]).shard("q", "b", &["a"]);
    for (shard, rate) in cluster.snapshot.shards.iter_mut().zip(rates) {
        shard.rate = rate;
    }
    cluster
}

#[test]
fn leads_change_places_in_one_step_where_rates_leave_no_room() {
    let target: [(&str, &[&str]); 2] = [("b", &["a"]), ("a", &["b"])];
    let full = led([5, 5], [5, 5]);
    let moves = [
        "1 p Promotion Leader a>b Cost",
        "1 q Promotion Leader b>a Cost",
    ];
    assert_eq!(told(&full, &full.plan(&target)), moves);
    let roomy = led([8, 5], [5, 3]);
    let moves = [
        "1 q Promotion Leader b>a Cost",
        "2 p Promotion Leader a>b Cost",
    ];
    assert_eq!(told(&roomy, &roomy.plan(&target)), moves);
}

#[test]
fn a_failover_waits_for_a_holder_with_capacity() {
    let mut cluster = Cluster::new(1)
        .broker("a", "x", BrokerState::Down, 0, 0)
        .active("b", "x")
        .active("c", "y")
        .shard("p", "a", &["b"])
        .shard("q", "b", &[]);
    let stand_in = [
        "1 p Promotion Leader a>b Failover",
        "2 p Copy Leader b>c Spread",
    ];
    let target: [(&str, &[&str]); 2] = [("c", &[]), ("b", &[])];
    assert_eq!(told(&cluster, &cluster.plan(&target)), stand_in);
    for shard in &mut cluster.snapshot.shards {
        shard.rate = 2;
    }
    cluster.snapshot.brokers[1].rate_capacity = Some(3);
    let straight = ["1 p Copy Leader b>c Failover"];
    assert_eq!(told(&cluster, &cluster.plan(&target)), straight);
}

#[test]
fn what_levels_the_load_to_balance_is_for_the_spread_and_before_cost() {
    let mut cluster = disks(1, &[("a", 0), ("b", 0)]);
    cluster.policy.stream_leaders.is_off = true;
    cluster.policy.cluster_leaders.is_off = true;
    for (id, size, leader) in [("p", 1, "a"), ("q", 8, "a"), ("r", 1, "b")] {
        cluster = sized(cluster, id, size, leader, &[]);
    }
    let target: [(&str, &[&str]); 3] = [("b", &[]), ("b", &[]), ("a", &[])];
    let costs = cluster.plan(&target);
    assert!(told(&cluster, &costs).iter().all(|m| m.ends_with(" Cost")));
    cluster.policy.balance = Some(BalanceInput {
        dimension: Dimension::Bytes,
        tolerance_percent: 60,
    });
    let moves = [
        "1 p Copy Leader a>b Spread",
        "2 q Copy Leader a>b Cost",
        "3 r Copy Leader b>a Cost",
    ];
    assert_eq!(told(&cluster, &cluster.plan(&target)), moves);
}

/// `p` hands its lead from `a` to `b`, and its replica at `a` is to change places with the leader of `q` at `c`.
fn swapped_sets(zone_of_lender: &str) -> (Cluster, Plan) {
    let brokers = [("a", 10), ("b", 7), ("c", 10), ("d", 10), ("e", 9)];
    let mut cluster = disks(2, &brokers);
    cluster.snapshot.brokers[3].zone = zone_of_lender.into();
    cluster.policy.stream_leaders.is_off = true;
    cluster.policy.cluster_leaders.is_off = true;
    let cluster = sized(cluster, "p", 6, "a", &["b"]);
    let cluster = sized(cluster, "q", 8, "c", &["e"]);
    let plan = cluster.plan(&[("b", &["c"]), ("a", &["e"])]);
    (cluster, plan)
}

#[test]
fn a_detour_of_a_replica_that_hands_over_the_lead_promotes_first() {
    let (cluster, plan) = swapped_sets("za");
    let moves = [
        "1 p Promotion Leader a>b Cost",
        "1 p Copy Follower a>d Cost detour",
        "2 q Copy Leader c>a Cost",
        "3 p Copy Follower d>c Cost detour",
    ];
    assert_eq!(told(&cluster, &plan), moves);
}

#[test]
fn no_detour_lowers_the_zones_of_a_shard() {
    let (cluster, plan) = swapped_sets("zb");
    let moves = [
        "1 q Copy Leader c>d Cost detour",
        "2 p Promotion Leader a>b Cost",
        "2 p Copy Follower a>c Cost",
        "3 q Copy Leader d>a Cost detour",
    ];
    assert_eq!(told(&cluster, &plan), moves);
}

#[test]
fn shortfalls_name_disks_and_capacities() {
    let cluster = disks(2, &[("a", 10), ("b", 8), ("c", 0)]);
    let mut cluster = sized(cluster, "p", 9, "a", &[]);
    cluster.snapshot.brokers[2].state = Draining;
    let plan = cluster.plan(&[("a", &[])]);
    assert_eq!(plan.shortfalls[0].reason, ShortfallReason::Disk);
    assert_eq!(
        plan.shortfalls[0].detail,
        "1 follower missing: disks without room for its 9 bytes: b (8 bytes left)"
    );
    cluster.snapshot.brokers[1].disk_bytes = None;
    cluster.snapshot.brokers[0].state = BrokerState::Down;
    cluster.snapshot.shards[0].rate = 4;
    cluster.snapshot.brokers[1].rate_capacity = Some(3);
    let plan = cluster.plan(&[("", &[])]);
    assert_eq!(plan.shortfalls[0].reason, ShortfallReason::Rate);
    assert_eq!(
        plan.shortfalls[0].detail,
        "no leader, 1 follower missing: capacities without room for its rate 4: b (3 left)"
    );
}
