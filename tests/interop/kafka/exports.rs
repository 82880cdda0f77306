//! What a plan becomes.

use shardflow::interop::kafka::{Import, export, import};
use shardflow::pb;

use super::samples::*;
use crate::support::*;

/// Nothing in it is pinned.
fn in_sync() -> String {
    SPACES.replace("Isr: 3,1 ", "Isr: 3,1,2 ")
}

#[test]
fn a_plan_that_changes_nothing_exports_nothing() {
    for text in [SPACES, REASSIGNMENT, GENERATE, DEMO] {
        let request = layout(text).request;
        let exported = export(&request, &respond(&request, &[])).unwrap();
        assert_eq!(exported.reassignment, NOTHING);
        assert_eq!(exported.rollback, NOTHING);
        assert_eq!(exported.election, "{\"partitions\":[]}\n");
        assert_eq!(exported.warnings, Vec::<String>::new());
        assert_eq!(exported.notes.len(), 1);
        assert_warns(&exported.notes, "nothing changes");
    }
}

#[test]
fn a_promotion_only_reorders_and_asks_for_an_election() {
    let request = layout(SPACES).request;
    let changes: [(&str, &str, &[&str]); 2] = [
        ("carts-0", "3", &["2", "1"]),
        ("prices.eu-west-0", "3", &["2"]),
    ];
    let exported = export(&request, &respond(&request, &changes)).unwrap();
    assert_eq!(
        exported.reassignment,
        r#"{"version":1,"partitions":[
{"topic":"carts","partition":0,"replicas":[3,1,2]},
{"topic":"prices.eu-west","partition":0,"replicas":[3,2]}
]}
"#
    );
    assert_eq!(
        exported.rollback,
        r#"{"version":1,"partitions":[
{"topic":"carts","partition":0,"replicas":[1,2,3]},
{"topic":"prices.eu-west","partition":0,"replicas":[2,3]}
]}
"#
    );
    assert_eq!(
        exported.election,
        r#"{"partitions":[
{"topic":"carts","partition":0},
{"topic":"prices.eu-west","partition":0}
]}
"#
    );
    assert_warns(&exported.notes, "no data is copied");
    assert_warns(
        &exported.notes,
        "kafka-leader-election --election-type preferred",
    );
}

#[test]
fn copies_go_behind_the_replicas_that_stay() {
    let mut request = layout(&in_sync()).request;
    for id in ["4", "5"] {
        let broker = pb::Broker {
            id: id.to_owned(),
            ..pb::Broker::default()
        };
        request.snapshot.as_mut().unwrap().brokers.push(broker);
    }
    let changes: [(&str, &str, &[&str]); 2] =
        [("carts-0", "1", &["4", "3"]), ("carts-1", "5", &["2", "1"])];
    let exported = export(&request, &respond(&request, &changes)).unwrap();
    assert_eq!(
        exported.reassignment,
        r#"{"version":1,"partitions":[
{"topic":"carts","partition":0,"replicas":[1,3,4]},
{"topic":"carts","partition":1,"replicas":[5,1,2]}
]}
"#
    );
    assert_eq!(
        exported.election,
        "{\"partitions\":[\n{\"topic\":\"carts\",\"partition\":1}\n]}\n"
    );
    assert_warns(&exported.notes, "data is copied for 2");
    // What was exported is a layout as well, and the rollback leads back.
    let planned = layout(&exported.reassignment);
    assert_eq!(
        shards(snapshot(&planned)),
        ["carts-0 1 3,4", "carts-1 5 1,2"]
    );
    let restored = layout(&exported.rollback);
    assert_eq!(
        shards(snapshot(&restored)),
        ["carts-0 1 2,3", "carts-1 3 1,2"]
    );
}

#[test]
fn pinned_flying_and_leaderless_partitions_stay_out() {
    let eligible = NEW.replace("\tElr: 1\t", "\tElr: 1,2\t");
    let eligible = eligible.replace("\tElr: 5,6\t", "\tElr: 4,5,6\t");
    let request = layout(&eligible).request;
    let changes: [(&str, &str, &[&str]); 3] = [
        ("moving-0", "2", &["1"]),
        ("moving-1", "1", &["3"]),
        ("moving-6", "2", &["1", "3"]),
    ];
    let exported = export(&request, &respond(&request, &changes)).unwrap();
    assert_eq!(
        exported.reassignment,
        "{\"version\":1,\"partitions\":[\n{\"topic\":\"moving\",\"partition\":0,\"replicas\":[2,1]}\n]}\n"
    );
    assert_warns(&exported.warnings, "left out 1 partition pinned: moving-6");
    assert_warns(
        &exported.warnings,
        "left out 2 partitions without a leader in the plan: moving-7, quiet-0",
    );
    assert_warns(&exported.notes, "--additional");
}

#[test]
fn brokers_that_are_down_stay_out() {
    let listed = r#"[{"id":1},{"id":3},{"id":4}]"#;
    let request = import(with_brokers(SPACES, listed)).unwrap().request;
    let changes: [(&str, &str, &[&str]); 2] =
        [("carts-0", "3", &["1", "2"]), ("carts-1", "1", &["3", "4"])];
    let exported = export(&request, &respond(&request, &changes)).unwrap();
    assert_eq!(
        exported.reassignment,
        "{\"version\":1,\"partitions\":[\n{\"topic\":\"carts\",\"partition\":1,\"replicas\":[1,3,4]}\n]}\n"
    );
    assert_eq!(exported.rollback, NOTHING);
    assert_warns(
        &exported.warnings,
        "kafka-reassign-partitions refuses: carts-0",
    );
    assert_warns(&exported.warnings, "not in the rollback");
}

#[test]
fn a_shard_without_a_number_is_split_by_its_id() {
    let mut request = layout(SPACES).request;
    for shard in &mut request.snapshot.as_mut().unwrap().shards {
        shard.number = None;
        shard.stream = "any".to_owned();
    }
    let response = respond(&request, &[("prices.eu-west-0", "3", &["2"])]);
    let exported = export(&request, &response).unwrap();
    assert_eq!(
        exported.reassignment,
        "{\"version\":1,\"partitions\":[\n{\"topic\":\"prices.eu-west\",\"partition\":0,\"replicas\":[3,2]}\n]}\n"
    );
}

#[test]
fn two_shards_are_not_one_partition() {
    let mut request = layout(&in_sync()).request;
    request.snapshot.as_mut().unwrap().shards[1].number = Some(0);
    let changes: [(&str, &str, &[&str]); 2] =
        [("carts-0", "2", &["1", "3"]), ("carts-1", "1", &["3", "2"])];
    let error = export(&request, &respond(&request, &changes)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "snapshot.shards[1]: two shards aren't one partition; found `carts-0`"
    );
}

#[test]
fn every_finding_at_once() {
    let mut request = layout(SPACES).request;
    let changes: [(&str, &str, &[&str]); 2] =
        [("carts-0", "2", &["1", "3"]), ("carts-1", "1", &["3", "2"])];
    let mut response = respond(&request, &changes);
    let listed = request.snapshot.as_mut().unwrap();
    listed.generation = "7".to_owned();
    listed.shards[0].number = None;
    listed.shards[0].id = "carts".to_owned();
    let plan = response.plan.as_mut().unwrap();
    plan.assignments[0].shard = "carts".to_owned();
    plan.assignments[2].followers = vec!["2".to_owned(), "nine".to_owned()];
    plan.assignments.push(plan.assignments[0].clone());
    plan.assignments.push(pb::Assignment {
        shard: "other-1".to_owned(),
        ..pb::Assignment::default()
    });
    let findings = export(&request, &response).unwrap_err().findings;
    let seen: Vec<(&str, &str)> = findings
        .iter()
        .map(|f| (f.place.as_str(), f.found.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            ("plan.generation", ""),
            ("snapshot.shards[0]", "carts"),
            ("plan.assignments[2]", "2"),
            ("plan.assignments[2]", "nine"),
            ("snapshot.shards[2]", "nine"),
            ("plan.assignments[3].shard", "carts"),
            ("plan.assignments[4].shard", "other-1"),
        ],
        "{findings:#?}"
    );
}

#[test]
fn a_plan_without_assignments_is_refused() {
    let request = import(Import::new(SPACES)).unwrap().request;
    let error = export(&request, &pb::OptimizeResponse::default()).unwrap_err();
    assert_eq!(error.to_string(), "plan: the response has a plan");
    let plan = pb::Plan {
        moves: vec![pb::Move::default()],
        ..pb::Plan::default()
    };
    let response = pb::OptimizeResponse {
        plan: Some(plan),
        report: None,
    };
    let error = export(&request, &response).unwrap_err();
    assert_eq!(error.findings[0].place, "plan.assignments");
}
