//! What a plan becomes.

use shardflow::interop::elasticsearch::{Export, Limits, export};
use shardflow::pb;
use shardflow::pb::{MoveKind, Role};

use super::samples::*;
use crate::support::*;

/// A move of a step: shard, role, from, to, kind.
type Step<'a> = (u32, &'a str, Role, &'a str, &'a str, MoveKind);

fn response(steps: &[Step<'_>]) -> pb::OptimizeResponse {
    let moves = steps
        .iter()
        .map(|&(step, shard, role, from, to, kind)| pb::Move {
            step,
            shard: shard.to_owned(),
            role: role.into(),
            from: from.to_owned(),
            to: to.to_owned(),
            kind: kind.into(),
            ..pb::Move::default()
        });
    let plan = pb::Plan {
        moves: moves.collect(),
        ..pb::Plan::default()
    };
    pb::OptimizeResponse {
        plan: Some(plan),
        report: None,
    }
}

/// Six shards `i/0` to `i/5`, each on a (primary) and b, and nodes c, d, e.
fn request() -> pb::OptimizeRequest {
    let pair = |shard| {
        [
            row(shard, "p", "STARTED", "a"),
            row(shard, "r", "STARTED", "b"),
        ]
    };
    let pairs: Vec<String> = (0..6).flat_map(pair).collect();
    let mut request = listed(&rows(&pairs)).request;
    let more = ["c", "d", "e"].map(|id| pb::Broker {
        id: id.to_owned(),
        ..pb::Broker::default()
    });
    request.snapshot.as_mut().unwrap().brokers.extend(more);
    request
}

fn exported(request: &pb::OptimizeRequest, steps: &[Step<'_>]) -> Export {
    export(request, &response(steps), Limits::default()).unwrap()
}

fn lines(export: &Export) -> Vec<&str> {
    export.reroute.lines().collect()
}

#[test]
fn nothing_to_do_is_nothing_to_send() {
    let export = exported(&request(), &[]);
    assert_eq!(export.reroute, "");
    assert_eq!(
        export.notes,
        ["nothing changes, so there is nothing to run"]
    );
    assert_eq!(export.warnings, [""; 0]);
}

#[test]
fn copies_of_either_role_move() {
    let export = exported(
        &request(),
        &[
            (1, "i/0", Role::Leader, "a", "c", MoveKind::Copy),
            (2, "i/1", Role::Follower, "b", "d", MoveKind::Copy),
        ],
    );
    assert_eq!(
        export.reroute,
        "{\"commands\":[\
         {\"move\":{\"index\":\"i\",\"shard\":0,\"from_node\":\"a\",\"to_node\":\"c\"}},\
         {\"move\":{\"index\":\"i\",\"shard\":1,\"from_node\":\"b\",\"to_node\":\"d\"}}]}\n"
    );
    assert_warns(&export.notes, "2 commands in 1 body, one a line");
    assert_warns(&export.notes, "cluster.routing.rebalance.enable");
    assert_eq!(export.warnings, [""; 0], "the primary keeps its role");
}

#[test]
fn missing_replicas_are_allocated_and_surplus_ones_cancelled() {
    let export = exported(
        &request(),
        &[
            (1, "i/0", Role::Follower, "", "c", MoveKind::Add),
            (2, "i/1", Role::Follower, "b", "", MoveKind::Remove),
        ],
    );
    assert_eq!(
        lines(&export),
        [
            "{\"commands\":[{\"allocate_replica\":{\"index\":\"i\",\"shard\":0,\"node\":\"c\"}},\
         {\"cancel\":{\"index\":\"i\",\"shard\":1,\"node\":\"b\"}}]}"
        ]
    );
    assert_warns(&export.notes, "index.number_of_replicas is at least");
    assert_warns(&export.notes, "is enabled again, of: i");
}

#[test]
fn no_command_promotes_and_the_shard_is_named() {
    let promoted = [
        (1, "i/0", Role::Leader, "a", "b", MoveKind::Promotion),
        (1, "i/0", Role::Follower, "a", "c", MoveKind::Copy),
        (2, "i/1", Role::Leader, "a", "b", MoveKind::Promotion),
        (3, "i/2", Role::Leader, "b", "d", MoveKind::Copy),
        (4, "i/3", Role::Leader, "", "e", MoveKind::Add),
    ];
    let export = exported(&request(), &promoted);
    assert_eq!(
        lines(&export),
        [
            "{\"commands\":[{\"move\":{\"index\":\"i\",\"shard\":0,\"from_node\":\"a\",\"to_node\":\"c\"}},\
          {\"move\":{\"index\":\"i\",\"shard\":2,\"from_node\":\"b\",\"to_node\":\"d\"}},\
          {\"allocate_replica\":{\"index\":\"i\",\"shard\":3,\"node\":\"e\"}}]}"
        ]
    );
    assert_eq!(export.warnings.len(), 1, "{:?}", export.warnings);
    assert_warns(
        &export.warnings,
        "4 shards whose primary stays another copy than in the plan, as no command makes a replica the primary without \
         taking the primary down: i/0 on c, not b, i/1 on a, not b, i/2 on a, not d, i/3 on a, not e",
    );
}

#[test]
fn a_primary_is_never_cancelled() {
    let steps = [
        (1, "i/0", Role::Leader, "a", "b", MoveKind::Promotion),
        (1, "i/0", Role::Follower, "a", "", MoveKind::Remove),
        (2, "i/1", Role::Leader, "b", "a", MoveKind::Promotion),
        (2, "i/1", Role::Follower, "b", "", MoveKind::Remove),
    ];
    let export = exported(&request(), &steps);
    let cancel = "{\"commands\":[{\"cancel\":{\"index\":\"i\",\"shard\":1,\"node\":\"b\"}}]}";
    assert_eq!(lines(&export), [cancel]);
    assert_warns(
        &export.warnings,
        "left out the removal of a surplus copy of 1 shard, as it is or may be the primary: i/0 on a",
    );
}

#[test]
fn shards_without_a_live_copy_are_named_and_never_placed() {
    let mut request = request();
    let snapshot = request.snapshot.as_mut().unwrap();
    snapshot.shards[0].leader.clear();
    snapshot.shards[0].followers.clear();
    for shard in &mut snapshot.shards[1..3] {
        shard.leader = "e".to_owned();
    }
    snapshot.shards[2].followers.clear();
    snapshot.brokers[4].state = pb::BrokerState::Down.into();
    let steps = [
        (1, "i/0", Role::Leader, "", "a", MoveKind::Add),
        (1, "i/0", Role::Follower, "", "c", MoveKind::Add),
        (2, "i/1", Role::Leader, "e", "b", MoveKind::Promotion),
        (3, "i/1", Role::Follower, "", "d", MoveKind::Add),
        (4, "i/2", Role::Leader, "", "a", MoveKind::Add),
    ];
    let export = exported(&request, &steps);
    let allocate =
        "{\"commands\":[{\"allocate_replica\":{\"index\":\"i\",\"shard\":1,\"node\":\"d\"}}]}";
    assert_eq!(lines(&export), [allocate]);
    assert_warns(
        &export.warnings,
        "left out 2 shards without a live copy: allocate_empty_primary",
    );
    assert_warns(&export.warnings, "i/0, i/2");
    assert_warns(
        &export.warnings,
        "1 shard whose primary the cluster elects by itself, maybe another copy than in the plan: i/1",
    );
    let steps = [
        (1, "i/1", Role::Leader, "e", "b", MoveKind::Promotion),
        (2, "i/1", Role::Follower, "b", "", MoveKind::Remove),
    ];
    let export = exported(&request, &steps);
    assert_eq!(export.reroute, "", "it may be the one that is elected");
    assert_warns(&export.warnings, "i/1 on b");
}

#[test]
fn blocked_moves_stay_out() {
    let mut blocked = response(&[
        (1, "i/0", Role::Follower, "b", "c", MoveKind::Copy),
        (2, "i/1", Role::Follower, "b", "c", MoveKind::Copy),
    ]);
    blocked.plan.as_mut().unwrap().moves[0].blocked = "no room".to_owned();
    let export = export(&request(), &blocked, Limits::default()).unwrap();
    assert_eq!(lines(&export).len(), 1);
    assert_warns(
        &export.warnings,
        "left out 1 shard whose moves are blocked: i/0",
    );
}

#[test]
fn a_body_ends_where_order_matters() {
    let copy = |step, shard, from, to| (step, shard, Role::Follower, from, to, MoveKind::Copy);
    let bodies = |request: &pb::OptimizeRequest, steps: &[Step<'_>], per_node| {
        let export = export(request, &response(steps), Limits { per_node }).unwrap();
        let lines = export.reroute.lines();
        lines
            .map(|line| line.matches("\"move\"").count())
            .collect::<Vec<_>>()
    };
    let request = request();
    let apart = [copy(1, "i/0", "b", "c"), copy(2, "i/1", "b", "d")];
    assert_eq!(bodies(&request, &apart, 2), [2]);
    assert_eq!(bodies(&request, &apart, 1), [1, 1], "both are read from b");
    let room = [copy(1, "i/0", "b", "c"), copy(2, "i/1", "a", "b")];
    assert_eq!(
        bodies(&request, &room, 2),
        [1, 1],
        "what leaves b makes room"
    );
    let detour = [copy(1, "i/0", "b", "c"), copy(2, "i/0", "c", "d")];
    assert_eq!(bodies(&request, &detour, 2), [1, 1], "one shard twice");
    let cycle = [
        copy(1, "i/0", "b", "c"),
        copy(1, "i/1", "a", "b"),
        copy(1, "i/2", "b", "d"),
    ];
    assert_eq!(bodies(&request, &cycle, 1), [3], "a step stays whole");
    let chain = [
        copy(1, "i/0", "b", "c"),
        copy(1, "i/0", "a", "b"),
        copy(2, "i/1", "b", "d"),
    ];
    assert_eq!(
        bodies(&request, &chain, 2),
        [1, 2],
        "b holds a copy of i/0 until it has left"
    );
    let mut zoned = request.clone();
    let snapshot = zoned.snapshot.as_mut().unwrap();
    for (broker, zone) in snapshot.brokers.iter_mut().zip(["x", "x", "y", "y", "x"]) {
        broker.zone = zone.to_owned();
    }
    let across = [
        copy(1, "i/0", "b", "c"),
        copy(2, "i/1", "a", "e"),
        (3, "i/2", Role::Follower, "", "e", MoveKind::Add),
    ];
    assert_eq!(bodies(&zoned, &across, 2), [2]);
    zoned.policy.as_mut().unwrap().zone_limits = vec![pb::ZoneLimit {
        zone: "x".to_owned(),
        max_replicas: Some(12),
        ..pb::ZoneLimit::default()
    }];
    assert_eq!(
        bodies(&zoned, &across, 2),
        [2, 0],
        "what leaves zone x makes room for what comes"
    );
}

#[test]
fn every_finding_at_once() {
    let mut request = request();
    let snapshot = request.snapshot.as_mut().unwrap();
    snapshot.generation = "7".to_owned();
    snapshot.shards[1].number = None;
    snapshot.shards[1].id = "i-1".to_owned();
    let mut response = response(&[
        (2, "i/0", Role::Follower, "b", "nowhere", MoveKind::Copy),
        (1, "i-1", Role::Follower, "b", "c", MoveKind::Copy),
        (2, "other", Role::Follower, "", "c", MoveKind::Add),
        (3, "i/2", Role::Follower, "", "", MoveKind::Remove),
    ]);
    response.plan.as_mut().unwrap().moves.push(pb::Move {
        step: 3,
        shard: "i/3".to_owned(),
        kind: 99,
        ..pb::Move::default()
    });
    let error = export(&request, &response, Limits::default()).unwrap_err();
    let places: Vec<&str> = error.findings.iter().map(|f| f.place.as_str()).collect();
    assert_eq!(
        places,
        [
            "plan.generation",
            "plan.moves[0].to",
            "plan.moves[1].step",
            "snapshot.shards[1]",
            "plan.moves[2].shard",
            "plan.moves[3].from",
            "plan.moves[4].kind",
        ],
        "{error}"
    );
    let error = export(
        &request,
        &pb::OptimizeResponse::default(),
        Limits::default(),
    )
    .unwrap_err();
    assert_eq!(error.to_string(), "plan: the response has a plan");
}

#[test]
fn a_shard_without_a_number_is_split_by_its_id() {
    let mut request = request();
    for shard in &mut request.snapshot.as_mut().unwrap().shards {
        shard.number = None;
        shard.stream = "any".to_owned();
    }
    let export = exported(
        &request,
        &[(1, "i/4", Role::Leader, "a", "c", MoveKind::Copy)],
    );
    assert!(
        export.reroute.contains("\"index\":\"i\",\"shard\":4"),
        "{}",
        export.reroute
    );
}
