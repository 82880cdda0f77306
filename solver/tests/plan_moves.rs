//! Each kind of move with each reason, shortfalls and the fingerprint, one small cluster each.

mod plan_common;

use plan_common::{Cluster, brief, check};
use shardflow_solver::input::InFlightInput;
use shardflow_solver::input::{TrafficSourceInput, ZoneLimitInput};
use shardflow_solver::plan::{self, ShortfallReason};
use shardflow_solver::snapshot::{BrokerState, Role, Roles};

use BrokerState::{Active, Down, Draining};

/// A shard's leader and followers.
type Target<'a> = (&'a str, &'a [&'a str]);

/// Brokers a, b, c, d in zones x, x, y, y of which `broker` has the given state.
fn four(factor: u32, broker: &str, state: BrokerState) -> Cluster {
    ["a", "b", "c", "d"]
        .iter()
        .fold(Cluster::new(factor), |cluster, id| {
            let zone = if *id < "c" { "x" } else { "y" };
            let state = if *id == broker { state } else { Active };
            cluster.broker(id, zone, state, 0, 0)
        })
}

fn moves(cluster: &Cluster, target: &[Target<'_>]) -> Vec<String> {
    let problem = cluster.problem();
    let plan = cluster.plan(target);
    check(&problem, &plan);
    plan.moves.iter().map(|m| brief(&problem, m)).collect()
}

#[test]
fn a_new_shard_is_added() {
    let cluster = four(2, "", Active).shard("p", "", &[]);
    assert_eq!(
        moves(&cluster, &[("a", &["c"])]),
        ["1 p Add Leader ->a New", "1 p Add Follower ->c New"]
    );
    let nothing_to_copy = cluster.plan(&[("a", &["c"])]);
    assert!(nothing_to_copy.moves.iter().all(|m| m.bytes == 0));
    let held = four(2, "", Active).shard("p", "a", &[]);
    assert_eq!(held.plan(&[("a", &["c"])]).moves[0].bytes, 7);
}

#[test]
fn a_lost_shard_is_added_for_failover() {
    let cluster = four(2, "a", Down).shard("p", "a", &[]);
    assert_eq!(
        moves(&cluster, &[("b", &["c"])]),
        [
            "1 p Add Leader ->b Failover",
            "1 p Add Follower ->c Failover"
        ]
    );
}

#[test]
fn a_lost_follower_is_made_up_for_and_a_missing_one_is_new() {
    let cluster = four(2, "a", Down).shard("p", "b", &["a"]);
    assert_eq!(
        moves(&cluster, &[("b", &["c"])]),
        ["1 p Add Follower ->c Failover"]
    );
    let cluster = four(2, "", Active).shard("p", "b", &[]);
    assert_eq!(
        moves(&cluster, &[("b", &["c"])]),
        ["1 p Add Follower ->c New"]
    );
}

#[test]
fn a_failover_is_promoted_first_and_then_completed() {
    let cluster = four(2, "a", Down).shard("p", "a", &["b"]);
    assert_eq!(
        moves(&cluster, &[("b", &["c"])]),
        [
            "1 p Promotion Leader a>b Failover",
            "2 p Add Follower ->c Failover"
        ]
    );
}

#[test]
fn a_failover_to_a_broker_that_held_none_goes_by_way_of_a_holder() {
    let cluster = four(1, "a", Down).shard("p", "a", &["b"]);
    assert_eq!(
        moves(&cluster, &[("c", &[])]),
        [
            "1 p Promotion Leader a>b Failover",
            "2 p Copy Leader b>c Cost"
        ]
    );
}

#[test]
fn a_stand_in_that_may_hold_the_stream_and_leaves_is_preferred() {
    let cluster =
        four(3, "b", Draining)
            .broker("e", "z", Down, 0, 0)
            .shard("p", "e", &["a", "b", "c"]);
    assert_eq!(
        moves(&cluster, &[("d", &["a", "b"])]),
        [
            "1 p Promotion Leader e>c Failover",
            "2 p Copy Leader c>d Spread"
        ]
    );
}

#[test]
fn a_failover_goes_straight_where_every_holder_is_full() {
    let cluster = Cluster::new(1)
        .broker("a", "x", Down, 0, 0)
        .broker("b", "x", Active, 1, 0)
        .broker("c", "y", Active, 0, 0)
        .shard("p", "a", &["b"])
        .shard("q", "b", &[]);
    assert_eq!(
        moves(&cluster, &[("c", &[]), ("b", &[])]),
        ["1 p Copy Leader b>c Failover"]
    );
}

#[test]
fn promotions_of_failovers_come_before_lost_shards() {
    let cluster = four(1, "a", Down)
        .shard("p", "a", &[])
        .shard("q", "a", &["b"]);
    assert_eq!(
        moves(&cluster, &[("c", &[]), ("b", &[])]),
        [
            "1 q Promotion Leader a>b Failover",
            "2 p Add Leader ->c Failover"
        ]
    );
}

#[test]
fn a_promotion_waits_for_the_leader_that_makes_room() {
    let cluster = Cluster::new(2)
        .broker("a", "x", Down, 0, 0)
        .broker("b", "x", Active, 1, 0)
        .broker("c", "y", Active, 0, 0)
        .shard("p", "a", &["b"])
        .shard("q", "b", &["c"]);
    assert_eq!(
        moves(&cluster, &[("b", &["c"]), ("c", &["b"])]),
        [
            "1 q Promotion Leader b>c Failover",
            "2 p Promotion Leader a>b Failover",
            "3 p Add Follower ->c Failover"
        ]
    );
}

#[test]
fn a_drained_leader_is_copied_or_hands_over() {
    let cluster = four(2, "a", Draining).shard("p", "a", &["c"]);
    assert_eq!(
        moves(&cluster, &[("b", &["c"])]),
        ["1 p Copy Leader a>b Drain"]
    );
    assert_eq!(
        moves(&cluster, &[("c", &["b"])]),
        [
            "1 p Promotion Leader a>c Drain",
            "1 p Copy Follower a>b Drain"
        ]
    );
}

#[test]
fn roles_are_swapped_by_one_promotion() {
    let cluster = four(2, "", Active).shard("p", "a", &["c"]);
    assert_eq!(
        moves(&cluster, &[("c", &["a"])]),
        ["1 p Promotion Leader a>c Cost"]
    );
}

#[test]
fn a_leader_that_stays_hands_over_to_a_replica_that_arrives() {
    let cluster = four(2, "", Active).shard("p", "a", &["c"]);
    let target: &[Target<'_>] = &[("d", &["a"])];
    assert_eq!(moves(&cluster, target), ["1 p Copy Leader c>d Cost"]);
    let cluster = four(2, "a", Draining).shard("p", "a", &[]);
    assert_eq!(moves(&cluster, target), ["1 p Add Leader ->d New"]);
    let cluster = four(2, "a", Draining).shard("p", "a", &["c"]);
    assert_eq!(moves(&cluster, target), ["1 p Copy Leader c>d Drain"]);
}

#[test]
fn followers_are_paired_within_a_zone() {
    let cluster =
        four(3, "", Active)
            .active("e", "x")
            .active("f", "z")
            .shard("p", "f", &["a", "c"]);
    let found = moves(&cluster, &[("f", &["d", "e"])]);
    assert!(
        found[0].starts_with("1 p Copy Follower c>d")
            && found[1].starts_with("1 p Copy Follower a>e")
    );
}

#[test]
fn a_surplus_replica_is_removed() {
    let cluster = four(2, "", Active).shard("p", "a", &["b", "c"]);
    assert_eq!(
        moves(&cluster, &[("a", &["c"])]),
        ["1 p Remove Follower b>- Rule"]
    );
    assert_eq!(
        moves(&cluster, &[("b", &["c"])]),
        [
            "1 p Promotion Leader a>b Cost",
            "1 p Remove Follower a>- Rule"
        ]
    );
}

#[test]
fn what_leaves_a_closed_broker_breaks_a_rule() {
    let mut cluster = four(1, "", Active).shard("p", "a", &[]);
    cluster.snapshot.streams[0].allowed_brokers = vec!["b".into()];
    assert_eq!(moves(&cluster, &[("b", &[])]), ["1 p Copy Leader a>b Rule"]);
}

#[test]
fn only_what_is_above_a_cap_leaves_by_rule() {
    let mut cluster = Cluster::new(1)
        .broker("a", "x", Active, 2, 0)
        .broker("b", "y", Active, 0, 0);
    for id in ["p", "q", "r"] {
        cluster = cluster.shard(id, "a", &[]);
    }
    cluster.policy.stream_leaders.is_off = true;
    cluster.policy.cluster_leaders.is_off = true;
    let target: &[Target<'_>] = &[("b", &[]), ("b", &[]), ("a", &[])];
    assert_eq!(
        moves(&cluster, target),
        ["1 p Copy Leader a>b Rule", "2 q Copy Leader a>b Cost"]
    );
}

#[test]
fn a_move_that_mends_a_count_is_for_a_rule_whatever_goes_with_it() {
    let full = Cluster::new(1)
        .broker("a", "x", Active, 0, 0)
        .active("b", "y")
        .shard("p", "a", &["b"]);
    let mut over = full.clone();
    over.snapshot.brokers[0].max_leaders = Some(0);
    let both = [
        "1 p Promotion Leader a>b Rule",
        "1 p Remove Follower a>- Rule",
    ];
    assert_eq!(moves(&over, &[("b", &[])]), both);
    let mut zone = full.clone();
    zone.policy.zone_limits.push(ZoneLimitInput {
        zone: "x".into(),
        max_leaders: Some(0),
        ..Default::default()
    });
    assert_eq!(moves(&zone, &[("b", &[])]), both);
    let mut short = full;
    short.policy.zone_limits.push(ZoneLimitInput {
        zone: "y".into(),
        min_leaders: Some(1),
        ..Default::default()
    });
    assert_eq!(moves(&short, &[("b", &[])]), both);
}

#[test]
fn a_move_that_mends_nothing_is_not_for_the_rule_of_its_neighbour() {
    let mut cluster = four(3, "", Active).shard("p", "a", &["b", "c"]);
    cluster.snapshot.brokers[0].max_leaders = Some(0);
    cluster.policy.stream_replicas.is_off = true;
    cluster.policy.cluster_replicas.is_off = true;
    assert_eq!(
        moves(&cluster, &[("b", &["a", "d"])]),
        [
            "1 p Promotion Leader a>b Rule",
            "1 p Copy Follower c>d Cost"
        ]
    );
    cluster.snapshot.brokers[0].max_leaders = None;
    cluster.snapshot.brokers[2].max_replicas = Some(0);
    assert_eq!(
        moves(&cluster, &[("b", &["a", "d"])]),
        [
            "1 p Promotion Leader a>b Cost",
            "1 p Copy Follower c>d Rule"
        ]
    );
}

#[test]
fn rules_of_zones_force_moves() {
    let mut cluster = four(2, "", Active).shard("p", "a", &["b"]);
    cluster.policy.max_replicas_per_zone = Some(1);
    assert_eq!(
        moves(&cluster, &[("a", &["c"])]),
        ["1 p Copy Follower b>c Rule"]
    );
    cluster.policy.max_replicas_per_zone = None;
    cluster.policy.min_zones = 2;
    assert_eq!(
        moves(&cluster, &[("a", &["c"])]),
        ["1 p Copy Follower b>c Rule"]
    );
    cluster.policy.min_zones = 0;
    cluster.policy.zone_limits.push(ZoneLimitInput {
        zone: "y".into(),
        min_leaders: Some(1),
        ..Default::default()
    });
    assert_eq!(
        moves(&cluster, &[("c", &["b"])]),
        ["1 p Copy Leader a>c Rule"]
    );
}

#[test]
fn spread_comes_before_cost() {
    let cluster = Cluster::new(1)
        .active("a", "x")
        .active("b", "y")
        .active("c", "y")
        .shard("p", "b", &[])
        .shard("q", "a", &[])
        .shard("r", "a", &[])
        .shard("s", "a", &[]);
    // p and q change places for their cost; r levels the stream.
    let target: &[Target<'_>] = &[("a", &[]), ("b", &[]), ("c", &[]), ("a", &[])];
    let found = moves(&cluster, target);
    assert_eq!(found.len(), 3);
    assert!(
        found.iter().position(|m| m.contains("r Copy"))
            < found.iter().position(|m| m.contains("Cost"))
    );
    assert!(found.last().is_some_and(|m| m.ends_with("Cost")));
}

#[test]
fn a_chain_that_levels_is_for_the_spread_throughout() {
    let mut cluster = Cluster::new(1)
        .active("a", "x")
        .active("b", "y")
        .active("c", "y");
    for (id, leader) in [("p", "a"), ("q", "a"), ("r", "b")] {
        cluster = cluster.shard(id, leader, &[]);
    }
    let target: &[Target<'_>] = &[("a", &[]), ("b", &[]), ("c", &[])];
    let found = moves(&cluster, target);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|m| m.ends_with("Spread")), "{found:?}");
}

#[test]
fn counts_that_change_are_listed() {
    let cluster = four(2, "", Active)
        .shard("p", "a", &["c"])
        .shard("q", "b", &["c"]);
    let rows = cluster.plan(&[("a", &["d"]), ("b", &["c"])]).spread;
    let found: Vec<_> = rows
        .iter()
        .map(|r| (r.broker.0, r.leaders, r.replicas))
        .collect();
    assert_eq!(found, [(2, (0, 0), (2, 1)), (3, (0, 0), (0, 1))]);
}

fn shortfall(cluster: &Cluster, target: Target<'_>) -> (ShortfallReason, String) {
    let mut plan = cluster.plan(&[target]);
    assert_eq!(plan.shortfalls.len(), 1);
    let found = plan.shortfalls.remove(0);
    (found.reason, found.detail)
}

#[test]
fn shortfalls_say_what_holds_a_shard_back() {
    let closed = four(1, "", Active).shard("p", "", &[]);
    let mut none_open = closed.clone();
    none_open.snapshot.brokers.truncate(1);
    none_open.snapshot.brokers[0].state = Draining;
    let (reason, detail) = shortfall(&none_open, ("", &[]));
    assert_eq!(reason, ShortfallReason::NoBroker);
    assert!(
        detail.starts_with("no leader: no ACTIVE broker may hold stream \"s\""),
        "{detail}"
    );

    let mut full = closed.clone();
    for b in &mut full.snapshot.brokers {
        b.max_leaders = Some(0);
    }
    let (reason, detail) = shortfall(&full, ("", &[]));
    assert_eq!(reason, ShortfallReason::BrokerCap);
    assert_eq!(
        detail,
        "no leader: full: a (0 leaders, max_leaders 0), b (0 leaders, max_leaders 0), c (0 leaders, max_leaders 0) and 1 more"
    );

    let mut limited = closed;
    for zone in ["x", "y"] {
        limited.policy.zone_limits.push(ZoneLimitInput {
            zone: zone.into(),
            max_replicas: Some(0),
            ..Default::default()
        });
    }
    let (reason, detail) = shortfall(&limited, ("", &[]));
    assert_eq!(reason, ShortfallReason::ZoneLimit);
    assert!(
        detail.contains("x (0 replicas, max_replicas 0), y (0 replicas"),
        "{detail}"
    );
}

#[test]
fn missing_followers_are_explained() {
    let mut cluster = four(3, "", Active).shard("p", "a", &["c"]);
    cluster.policy.max_replicas_per_zone = Some(1);
    let (reason, detail) = shortfall(&cluster, ("a", &["c"]));
    assert_eq!(reason, ShortfallReason::ZoneRule);
    assert_eq!(
        detail,
        "1 follower missing: max_replicas_per_zone 1 reached in x, y"
    );
    cluster.policy.max_replicas_per_zone = None;
    let (_, detail) = shortfall(&cluster, ("a", &["c"]));
    assert!(detail.contains("b, d would have room"), "{detail}");
    cluster.policy.roles = Roles::LeadershipOnly;
    let (reason, detail) = shortfall(&cluster, ("a", &["c"]));
    assert_eq!(reason, ShortfallReason::NoBroker);
    assert!(detail.contains("LEADERSHIP_ONLY"), "{detail}");
    cluster.snapshot.shards[0].pinned = true;
    let (reason, detail) = shortfall(&cluster, ("a", &["c"]));
    assert_eq!(reason, ShortfallReason::NoBroker);
    assert!(detail.contains("pinned"), "{detail}");
}

#[test]
fn a_leaderless_shard_names_its_full_holders() {
    let cluster = Cluster::new(1)
        .broker("a", "x", Down, 0, 0)
        .broker("b", "x", Draining, 1, 0)
        .shard("p", "a", &["b"])
        .shard("q", "b", &[]);
    let plan = cluster.plan(&[("", &["b"]), ("b", &[])]);
    assert_eq!(plan.shortfalls.len(), 1);
    assert_eq!(plan.shortfalls[0].reason, ShortfallReason::BrokerCap);
    assert_eq!(
        plan.shortfalls[0].detail,
        "no leader: full: b (1 leaders, max_leaders 1)"
    );
    assert!(plan.moves.is_empty());
}

/// A cluster with a bit of everything that goes into the fingerprint.
fn rich() -> Cluster {
    let mut cluster = four(2, "d", Draining)
        .shard("p", "a", &["c"])
        .shard("q", "b", &["c"]);
    cluster.snapshot.shards[0].sources.push(TrafficSourceInput {
        zones: vec!["x".into()],
        weight: 3,
    });
    cluster
}

/// Alters one thing.
type Change = fn(&mut Cluster);

fn print(cluster: &Cluster) -> String {
    let problem = cluster.problem();
    let placement = problem.shards.iter().map(|s| s.present.clone()).collect();
    plan::make(&problem, placement).fingerprint
}

#[test]
fn the_fingerprint_names_everything_that_decides() {
    let base = rich();
    let changes: [(&str, Change); 31] = [
        ("cluster", |c| c.snapshot.cluster_id = "other".into()),
        ("broker added", |c| *c = c.clone().active("e", "x")),
        ("zone", |c| c.snapshot.brokers[1].zone = "y".into()),
        ("state", |c| c.snapshot.brokers[3].state = Active),
        ("share", |c| c.snapshot.brokers[0].share = Some(2)),
        ("max_leaders", |c| {
            c.snapshot.brokers[0].max_leaders = Some(9)
        }),
        ("max_replicas", |c| {
            c.snapshot.brokers[0].max_replicas = Some(9)
        }),
        ("factor", |c| c.snapshot.streams[0].replication_factor = 3),
        ("open", |c| {
            c.snapshot.streams[0].allowed_brokers = vec!["a".into(), "b".into(), "c".into()]
        }),
        ("stream id", |c| {
            c.snapshot.streams[0].id = "t".into();
            c.snapshot
                .shards
                .iter_mut()
                .for_each(|s| s.stream = "t".into());
        }),
        ("shard id", |c| c.snapshot.shards[1].id = "r".into()),
        ("number", |c| c.snapshot.shards[0].number = Some(0)),
        ("leader", |c| c.snapshot.shards[1].leader = "a".into()),
        ("followers", |c| {
            c.snapshot.shards[1].followers = vec!["d".into()]
        }),
        ("size", |c| c.snapshot.shards[0].size_bytes = 8),
        ("rate", |c| c.snapshot.shards[0].rate = 1),
        ("pinned", |c| c.snapshot.shards[0].pinned = true),
        ("in flight", |c| {
            c.snapshot.in_flight.push(InFlightInput {
                shard: "q".into(),
                role: Role::Leader,
                from: "b".into(),
                to: "a".into(),
            });
        }),
        ("traffic weight", |c| {
            c.snapshot.shards[0].sources[0].weight = 4
        }),
        ("traffic zone", |c| {
            c.snapshot.shards[0].sources[0].zones = vec!["y".into()]
        }),
        ("follower traffic", |c| {
            c.snapshot.shards[0].follower_sources = c.snapshot.shards[0].sources.clone();
        }),
        ("weight", |c| c.policy.weights.overlap = Some(2)),
        ("rack weight", |c| {
            c.policy.weights.same_rack_as_leader = Some(2)
        }),
        ("roles", |c| c.policy.roles = Roles::LeadershipOnly),
        ("spread", |c| c.policy.stream_leaders.is_off = true),
        ("slack", |c| c.policy.cluster_replicas.slack = 1),
        ("min_zones", |c| c.policy.min_zones = 2),
        ("zone loss", |c| c.policy.allow_zone_loss = true),
        ("zone rule", |c| c.policy.max_replicas_per_zone = Some(2)),
        ("zone limit", |c| {
            c.policy.zone_limits.push(ZoneLimitInput {
                zone: "x".into(),
                max_leaders: Some(9),
                ..Default::default()
            });
        }),
        ("zone floor", |c| {
            c.policy.zone_limits.push(ZoneLimitInput {
                zone: "x".into(),
                min_leaders: Some(1),
                ..Default::default()
            });
        }),
    ];
    let mut prints = vec![("base", print(&base))];
    for (what, change) in changes {
        let mut other = base.clone();
        change(&mut other);
        prints.push((what, print(&other)));
    }
    let moved = base.plan(&[("a", &["b"]), ("b", &["c"])]).fingerprint;
    prints.push(("placement", moved));
    assert!(
        prints.iter().all(
            |(_, p)| p.len() == 32 && p.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
        )
    );
    prints.sort_by(|a, b| a.1.cmp(&b.1));
    for pair in prints.windows(2) {
        assert_ne!(pair[0].1, pair[1].1, "{} and {}", pair[0].0, pair[1].0);
    }
}

#[test]
fn the_fingerprint_does_not_see_the_order_of_the_input() {
    let base = rich();
    let mut other = base.clone();
    other.snapshot.brokers.reverse();
    other.snapshot.shards.reverse();
    other.snapshot.generation = "another".into();
    assert_eq!(print(&base), print(&other));
}
