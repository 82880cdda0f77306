//! Two answers to the same snapshot, side by side; a side may come from outside.

use shardflow::pb;
use shardflow::pb::variant::Source;

use crate::common::{broker, config, lopsided, small, start};
use crate::paths;

fn planned(planner: pb::Planner) -> pb::Variant {
    pb::Variant {
        policy: None,
        source: Some(Source::Options(pb::Options {
            planner: planner.into(),
            ..Default::default()
        })),
    }
}

fn external(assignments: Vec<pb::Assignment>) -> pb::Variant {
    pb::Variant {
        policy: None,
        source: Some(Source::External(pb::Plan {
            assignments,
            ..Default::default()
        })),
    }
}

fn led(shard: &str, leader: &str) -> pb::Assignment {
    pb::Assignment {
        shard: shard.into(),
        leader: leader.into(),
        ..Default::default()
    }
}

fn compare(
    snapshot: pb::Snapshot,
    baseline: pb::Variant,
    candidate: impl Into<Option<pb::Variant>>,
) -> pb::CompareRequest {
    pb::CompareRequest {
        snapshot: Some(snapshot),
        baseline: Some(baseline),
        candidate: candidate.into(),
        ..Default::default()
    }
}

#[tokio::test]
async fn two_planners_are_compared() {
    let server = start(config()).await;
    let request = compare(
        lopsided(200, 8, 1),
        planned(pb::Planner::GreedyTiers),
        planned(pb::Planner::Auto),
    );
    let compared = server.client().await.compare(request).await.unwrap();
    let compared = compared.into_inner();
    let (baseline, candidate) = (compared.baseline.unwrap(), compared.candidate.unwrap());
    let report = baseline.report.as_ref().unwrap();
    assert_eq!(report.engine(), pb::Engine::GreedyTiers);
    let leader_of = |answer: &pb::OptimizeResponse, id: &str| {
        let assignments = &answer.plan.as_ref().unwrap().assignments;
        let of_shard = assignments.iter().find(|a| a.shard == id);
        of_shard.unwrap().leader.clone()
    };
    assert!(!compared.differences.is_empty());
    for difference in &compared.differences {
        let id = &difference.shard;
        assert_eq!(difference.baseline_leader, leader_of(&baseline, id));
        assert_eq!(difference.candidate_leader, leader_of(&candidate, id));
        assert_ne!(difference.baseline_leader, difference.candidate_leader);
    }
}

#[tokio::test]
async fn an_external_plan_is_judged_and_what_it_omits_stays() {
    let server = start(config()).await;
    let request = compare(
        small(),
        external(vec![led("s-3", "b")]),
        external(Vec::new()),
    );
    let compared = server.client().await.compare(request).await.unwrap();
    let compared = compared.into_inner();
    let baseline = compared.baseline.unwrap();
    let report = baseline.report.as_ref().unwrap();
    assert_eq!(report.engine(), pb::Engine::External);
    let plan = baseline.plan.unwrap();
    let leaders: Vec<&str> = plan.assignments.iter().map(|a| a.leader.as_str()).collect();
    assert_eq!(leaders, ["a", "a", "a", "b"]);
    assert_eq!(plan.after.unwrap().copies, 1);
    assert_eq!(compared.differences.len(), 1);
    assert_eq!(compared.differences[0].shard, "s-3");
}

#[tokio::test]
async fn an_external_plan_however_odd_is_judged_with_warnings() {
    let mut snapshot = small();
    snapshot.brokers.push(broker("c", "x"));
    snapshot.brokers[2].state = pb::BrokerState::Down.into();
    snapshot.brokers[1].max_leaders = Some(0);
    let mut crowded = led("s-0", "a");
    crowded.followers = vec!["b".into(), "c".into()];
    let odd = [
        led("s-0", ""),
        led("s-0", "b"),
        led("s-0", "c"),
        crowded,
        pb::Assignment {
            followers: vec!["a".into()],
            ..led("s-0", "")
        },
    ];
    let server = start(config()).await;
    let mut client = server.client().await;
    for assignment in odd {
        let request = compare(
            snapshot.clone(),
            external(vec![assignment.clone()]),
            planned(pb::Planner::Auto),
        );
        let compared = client.compare(request).await.unwrap().into_inner();
        let judged = compared.baseline.unwrap().report.unwrap();
        assert_eq!(judged.outcome(), pb::Outcome::Feasible);
        assert!(!judged.warnings.is_empty(), "{assignment:?}");
    }
}

#[tokio::test]
async fn both_sides_of_a_comparison_are_checked_together() {
    let mut snapshot = small();
    snapshot.brokers[0].state = 9;
    let mut baseline = external(vec![
        led("s-0", "nobody"),
        led("s-1", "b"),
        led("s-1", "a"),
        led("unheard-of", "a"),
    ]);
    let mut twice = led("s-2", "a");
    twice.followers = vec!["b".into(), "a".into()];
    if let Some(Source::External(plan)) = &mut baseline.source {
        plan.assignments.push(twice);
    }
    let mut candidate = planned(pb::Planner::Auto);
    candidate.policy = Some(pb::Policy {
        roles: 6,
        ..Default::default()
    });
    let server = start(config()).await;
    let request = compare(snapshot, baseline, candidate);
    let mut client = server.client().await;
    let status = client.compare(request).await.unwrap_err();
    assert_eq!(
        paths(&status),
        [
            "snapshot.brokers[0].state",
            "baseline.external.assignments[0].leader",
            "baseline.external.assignments[2].shard",
            "baseline.external.assignments[3].shard",
            "baseline.external.assignments[4].followers[1]",
            "candidate.policy.roles",
        ]
    );
    let mut snapshot = small();
    snapshot.shards[0].rate = -1;
    let request = compare(snapshot, planned(pb::Planner::Swap), None);
    let status = client.compare(request).await.unwrap_err();
    assert_eq!(paths(&status), ["snapshot.shards[0].rate", "candidate"]);
}
