//! What the service answers, over gRPC on loopback.

mod common;
#[path = "server/comparisons.rs"]
mod comparisons;

use common::{config, lopsided, optimize, shard, small, start, stream};
use prost::Message;
use shardflow::pb;
use tonic::{Code, Status};
use tonic_types::StatusExt;

async fn answer(request: pb::OptimizeRequest) -> Result<pb::OptimizeResponse, Status> {
    let server = start(config()).await;
    let answered = server.client().await.optimize(request).await?;
    Ok(answered.into_inner())
}

/// The paths of a status's violations.
fn paths(status: &Status) -> Vec<String> {
    let request = status.get_details_bad_request().expect("a BadRequest");
    let violations = request.field_violations.into_iter();
    violations.map(|violation| violation.field).collect()
}

#[tokio::test]
async fn a_crowded_broker_is_levelled() {
    let answered = answer(optimize(small())).await.unwrap();
    let plan = answered.plan.unwrap();
    let led_by = |id: &str| plan.assignments.iter().filter(|a| a.leader == id).count();
    assert_eq!((led_by("a"), led_by("b")), (2, 2));
    assert_eq!(plan.generation, "17");
    assert_eq!(plan.moves.len(), 2);
    assert_eq!(plan.after.unwrap().copies, 2);
    assert!(!plan.fingerprint.is_empty());
    let report = answered.report.unwrap();
    assert_eq!(report.engine(), pb::Engine::NetworkSimplex);
    assert_eq!(report.outcome(), pb::Outcome::Optimal);
    assert_eq!(report.fallback(), pb::FallbackReason::None);
    assert!(report.reproducible && report.elapsed.is_some());
    assert_eq!(report.ranks.len(), 15);
    assert!(report.ranks.iter().all(|r| r.bound == Some(r.value)));
    assert!(
        report
            .ranks
            .iter()
            .all(|r| r.proof() == pb::Proof::Certificate)
    );
    assert!(report.certificate.is_none());
}

#[tokio::test]
async fn assignments_and_certificate_as_asked_for() {
    let with = |assignments: pb::Assignments, include_certificate| {
        let mut request = optimize(small());
        request.options = Some(pb::Options {
            assignments: assignments.into(),
            include_certificate,
            ..Default::default()
        });
        request
    };
    let changed = answer(with(pb::Assignments::Changed, true)).await.unwrap();
    let assignments = changed.plan.unwrap().assignments;
    assert_eq!(assignments.len(), 2);
    assert!(assignments.iter().all(|a| a.leader == "b"));
    assert!(changed.report.unwrap().certificate.is_some());
    let none = answer(with(pb::Assignments::None, false)).await.unwrap();
    assert!(none.plan.unwrap().assignments.is_empty());
    assert!(none.report.unwrap().certificate.is_none());
}

#[tokio::test]
async fn what_cannot_be_placed_is_explained() {
    let mut snapshot = small();
    for broker in &mut snapshot.brokers {
        broker.max_leaders = Some(3);
    }
    let new = (4..8).map(|i| shard(&format!("s-{i}"), "s", ""));
    snapshot.shards.extend(new);
    let answered = answer(optimize(snapshot)).await.unwrap();
    let plan = answered.plan.unwrap();
    let short: Vec<_> = plan
        .assignments
        .iter()
        .filter(|a| a.leader.is_empty())
        .collect();
    let count = plan.after.unwrap().unplaced_leaders;
    assert_eq!(short.len() as i64, count);
    assert!(count > 0);
    for assignment in &short {
        assert_eq!(assignment.unplaced_reason(), pb::UnplacedReason::BrokerCap);
        assert!(!assignment.unplaced_detail.is_empty());
    }
    let mut explanations = answered.report.unwrap().explanations;
    explanations.retain(|e| e.rank == "unplaced_leaders");
    assert_eq!(explanations.len(), 1);
    assert_eq!(explanations[0].need, count);
    assert_eq!(explanations[0].shards.len(), short.len());
    assert_eq!(explanations[0].reason(), pb::UnplacedReason::BrokerCap);
}

/// A request with something wrong in every part, by the wire's rules and by the solver's.
fn wrong() -> (pb::OptimizeRequest, Vec<&'static str>) {
    let mut snapshot = small();
    snapshot.brokers[1].state = 7;
    snapshot.shards[2].leader = "nobody".into();
    snapshot.shards[3].size_bytes = -1;
    snapshot.in_flight = vec![pb::InFlight {
        shard: "s-0".into(),
        role: 9,
        from: "a".into(),
        to: "b".into(),
    }];
    let request = pb::OptimizeRequest {
        snapshot: Some(snapshot),
        policy: Some(pb::Policy {
            roles: 5,
            stream_leaders: Some(pb::Spread { mode: 4, slack: 0 }),
            thetas: Some(pb::Thetas {
                shard: Some(f64::NAN),
                index: Some(-1.0),
                disk: Some(0.0),
            }),
            max_replicas_per_zone: Some(0),
            ..Default::default()
        }),
        options: Some(pb::Options {
            planner: 17,
            time_budget: Some(prost_types::Duration {
                seconds: -1,
                nanos: 0,
            }),
            assignments: 8,
            price_hint: vec![pb::Price {
                rank: "fame".into(),
                role: 3,
                ..Default::default()
            }],
            ..Default::default()
        }),
        ..Default::default()
    };
    let expected = vec![
        "snapshot.brokers[1].state",
        "snapshot.in_flight[0].role",
        "policy.roles",
        "policy.stream_leaders.mode",
        "options.planner",
        "options.assignments",
        "options.price_hint[0].rank",
        "options.price_hint[0].role",
        "options.price_hint[0].broker",
        "options.time_budget",
        "snapshot.shards[2].leader",
        "snapshot.shards[3].size_bytes",
        "policy.thetas.shard",
        "policy.thetas.index",
        "policy.max_replicas_per_zone",
    ];
    (request, expected)
}

fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort();
    items
}

#[tokio::test]
async fn every_finding_comes_in_one_bad_request() {
    let (request, expected) = wrong();
    let status = answer(request).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert_eq!(sorted(paths(&status)), sorted(expected));
    let violations = status.get_details_bad_request().unwrap().field_violations;
    let state = violations
        .iter()
        .find(|v| v.field == "snapshot.brokers[1].state");
    assert_eq!(
        state.unwrap().description,
        "7: must be a number of BrokerState"
    );
}

#[tokio::test]
async fn validate_lists_every_finding() {
    let (request, expected) = wrong();
    let server = start(config()).await;
    let mut client = server.client().await;
    let request = pb::ValidateRequest {
        request: Some(request),
    };
    let listed = client.validate(request).await.unwrap().into_inner();
    let found = listed.findings.iter().map(|f| f.path.as_str());
    assert_eq!(sorted(found), sorted(expected));
    let clean = pb::ValidateRequest {
        request: Some(optimize(small())),
    };
    let listed = client.validate(clean).await.unwrap().into_inner();
    assert_eq!(listed, pb::ValidateResponse::default());
    let empty = client.validate(pb::ValidateRequest::default()).await;
    assert_eq!(empty.unwrap().into_inner().findings[0].path, "request");
}

#[tokio::test]
async fn thousands_of_findings_are_counted_and_listed_by_validate() {
    let mut snapshot = small();
    let lost = (0..3000).map(|i| shard(&format!("x-{i}"), "none", "a"));
    snapshot.shards.extend(lost);
    let request = optimize(snapshot);
    let server = start(config()).await;
    let mut client = server.client().await;
    let status = client.optimize(request.clone()).await.unwrap_err();
    assert!(status.message().starts_with("3000 findings, "));
    assert!(status.message().contains("Validate"));
    assert!(paths(&status).len() > 20);
    let request = pb::ValidateRequest {
        request: Some(request),
    };
    let listed = client.validate(request).await.unwrap().into_inner();
    assert_eq!(listed.findings.len(), 3000);
}

#[tokio::test]
async fn an_absent_snapshot_is_a_finding_and_all_else_has_defaults() {
    let status = answer(pb::OptimizeRequest::default()).await.unwrap_err();
    assert_eq!(paths(&status), ["snapshot"]);
    assert!(answer(optimize(pb::Snapshot::default())).await.is_ok());
}

#[tokio::test]
async fn every_greedy_planner_answers_by_its_name() {
    let planners = [
        (pb::Planner::GreedyTiers, pb::Engine::GreedyTiers),
        (pb::Planner::WeightFunction, pb::Engine::WeightFunction),
        (pb::Planner::Swap, pb::Engine::Swap),
    ];
    for (planner, engine) in planners {
        let mut snapshot = small();
        snapshot.streams[0].replication_factor = 2;
        let mut request = optimize(snapshot);
        request.options.get_or_insert_default().planner = planner.into();
        let response = answer(request).await.unwrap();
        let report = response.report.unwrap();
        assert_eq!(report.engine(), engine);
        assert!(report.certificate.is_none());
        let plan = response.plan.unwrap();
        assert_eq!(plan.after.unwrap().unplaced_followers, 0, "{planner:?}");
    }
}

#[tokio::test]
async fn a_replication_factor_above_one_is_planned_where_only_leaders_are_decided() {
    let mut snapshot = small();
    snapshot.streams[0].replication_factor = 2;
    for shard in &mut snapshot.shards {
        shard.followers = vec!["b".into()];
    }
    let mut request = optimize(snapshot);
    request.policy = Some(pb::Policy {
        roles: pb::Roles::LeadershipOnly.into(),
        ..Default::default()
    });
    let plan = answer(request).await.unwrap().plan.unwrap();
    let after = plan.after.unwrap();
    assert_eq!((after.copies, after.leader_changes), (0, 2));
}

#[tokio::test]
async fn two_servers_give_the_same_bytes() {
    let mut request = optimize(lopsided(500, 12, 7));
    request.options = Some(pb::Options {
        include_certificate: true,
        ..Default::default()
    });
    let one = answer(request.clone()).await.unwrap();
    let snapshot = request.snapshot.as_mut().unwrap();
    snapshot.brokers.reverse();
    snapshot.shards.rotate_left(123);
    snapshot.streams.reverse();
    let other = answer(request).await.unwrap();
    let bytes = |mut answered: pb::OptimizeResponse| {
        answered.report.as_mut().unwrap().elapsed = None;
        answered.encode_to_vec()
    };
    assert!(bytes(one) == bytes(other));
}

#[tokio::test]
async fn compressed_requests_are_read() {
    use tonic::codec::CompressionEncoding;
    let server = start(config()).await;
    for encoding in [CompressionEncoding::Gzip, CompressionEncoding::Zstd] {
        let client = server.client().await.send_compressed(encoding);
        let mut client = client.accept_compressed(encoding);
        assert!(client.optimize(optimize(small())).await.is_ok());
    }
}

#[tokio::test]
async fn streams_of_tags_and_allowed_brokers_reach_the_solver() {
    let mut snapshot = small();
    let mut fenced = stream("f");
    fenced.allowed_brokers = vec!["b".into()];
    let mut tagged = stream("g");
    tagged.required_tags = [("disk".to_owned(), "ssd".to_owned())].into();
    snapshot.streams.extend([fenced, tagged]);
    snapshot.brokers[1].tags = [("disk".to_owned(), "ssd".to_owned())].into();
    let new = [shard("f-0", "f", ""), shard("g-0", "g", "")];
    snapshot.shards.extend(new);
    let plan = answer(optimize(snapshot)).await.unwrap().plan.unwrap();
    for assignment in plan
        .assignments
        .iter()
        .filter(|a| !a.shard.starts_with('s'))
    {
        assert_eq!(assignment.leader, "b", "{}", assignment.shard);
    }
}

#[tokio::test]
async fn the_prices_of_an_answer_may_be_sent_back() {
    let server = start(config()).await;
    let mut client = server.client().await;
    let cold = client
        .optimize(optimize(small()))
        .await
        .unwrap()
        .into_inner();
    let mut hinted = optimize(small());
    hinted.options = Some(pb::Options {
        price_hint: cold.report.as_ref().unwrap().prices.clone(),
        ..Default::default()
    });
    let warm = client.optimize(hinted).await.unwrap().into_inner();
    assert_eq!(warm.report.unwrap().warnings, cold.report.unwrap().warnings);
    assert_eq!(warm.plan.unwrap().after, cold.plan.unwrap().after);
}

#[tokio::test]
async fn prices_of_what_is_gone_are_passed_over_and_the_report_says_so() {
    let price = |broker: &str, zone: &str| pb::Price {
        rank: "weighted".into(),
        broker: broker.into(),
        zone: zone.into(),
        ..Default::default()
    };
    let mut hinted = optimize(small());
    hinted.options = Some(pb::Options {
        price_hint: vec![price("a", ""), price("gone", ""), price("", "z-gone")],
        ..Default::default()
    });
    let plain = answer(optimize(small())).await.unwrap();
    let hinted = answer(hinted).await.unwrap();
    assert_eq!(hinted.plan, plain.plan);
    let told = "options.price_hint: 2 of 3 prices are passed over, since the snapshot lists no such broker or zone \
                (first: \"gone\")";
    let warnings = hinted.report.unwrap().warnings;
    assert!(warnings.iter().any(|w| w == told), "{warnings:?}");
}
