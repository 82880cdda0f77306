//! A plan made earlier is checked claim by claim: an honest one has no faults, and no claim can be changed unseen.

mod common;

use common::{lopsided, optimize, shard};
use shardflow::pb;
use shardflow::planning::{self, Control, Refusal};

/// A cluster with moves of many kinds, one broker gone, and shards that can't be placed.
fn request() -> pb::OptimizeRequest {
    let mut snapshot = lopsided(60, 6, 11);
    snapshot.generation = "g".into();
    snapshot.brokers[5].state = pb::BrokerState::Down.into();
    let mut fenced = common::stream("fenced");
    fenced.allowed_brokers = vec!["b5".into()];
    snapshot.streams.push(fenced);
    snapshot.shards.push(shard("fenced-0", "fenced", ""));
    let mut request = optimize(snapshot);
    request.options = Some(pb::Options {
        include_certificate: true,
        ..Default::default()
    });
    request
}

fn planned(request: &pb::OptimizeRequest) -> pb::OptimizeResponse {
    planning::optimize(request, &Control::default()).unwrap()
}

#[test]
fn an_honest_plan_has_no_faults() {
    let request = request();
    let response = planned(&request);
    let plan = response.plan.as_ref().unwrap();
    assert!(plan.moves.len() > 10 && !plan.spread.is_empty());
    assert_eq!(planning::verify(&request, &response).unwrap(), [""; 0]);
}

#[test]
fn a_plan_that_lists_only_changes_is_checked_in_full() {
    let mut request = request();
    request.options = Some(pb::Options {
        assignments: pb::Assignments::Changed.into(),
        ..Default::default()
    });
    let mut response = planned(&request);
    let plan = response.plan.as_mut().unwrap();
    assert!(plan.assignments.len() < 61);
    assert_eq!(planning::verify(&request, &response).unwrap(), [""; 0]);
    response.plan.as_mut().unwrap().assignments.pop();
    assert!(!planning::verify(&request, &response).unwrap().is_empty());
}

#[test]
fn a_plan_that_lists_nothing_cannot_be_checked_and_says_so() {
    let mut request = request();
    request.options = Some(pb::Options {
        assignments: pb::Assignments::None.into(),
        ..Default::default()
    });
    let faults = planning::verify(&request, &planned(&request)).unwrap();
    assert_eq!(faults.len(), 1);
    assert!(faults[0].contains("asks for none"));
}

fn plan(response: &mut pb::OptimizeResponse) -> &mut pb::Plan {
    response.plan.as_mut().unwrap()
}

fn report(response: &mut pb::OptimizeResponse) -> &mut pb::SolveReport {
    response.report.as_mut().unwrap()
}

#[test]
fn no_claim_can_be_changed_unseen() {
    type Change = fn(&mut pb::OptimizeResponse);
    let changes: &[(&str, Change)] = &[
        ("the response has no plan", |r| r.plan = None),
        ("the response has no report", |r| r.report = None),
        ("60 of 61 shards are listed", |r| {
            plan(r).assignments.pop();
        }),
        ("plan.assignments[3].leader: nobody", |r| {
            plan(r).assignments[3].leader = "nobody".into();
        }),
        ("must be listed once", |r| {
            let again = plan(r).assignments[0].clone();
            plan(r).assignments.push(again);
        }),
        ("plan.fingerprint", |r| {
            let assignment = &mut plan(r).assignments[3];
            let other = if assignment.leader == "b0" {
                "b1"
            } else {
                "b0"
            };
            assignment.leader = other.into();
        }),
        ("b5", |r| plan(r).assignments[3].leader = "b5".into()),
        ("unplaced_reason", |r| {
            plan(r).assignments[3].set_unplaced_reason(pb::UnplacedReason::Disk);
        }),
        ("unplaced_reason: fenced-0", |r| {
            let fenced = plan(r).assignments.iter_mut().find(|a| a.leader.is_empty());
            fenced
                .unwrap()
                .set_unplaced_reason(pb::UnplacedReason::None);
        }),
        ("plan.before.traffic", |r| {
            plan(r).before.as_mut().unwrap().traffic += 1;
        }),
        ("plan.after.copies", |r| {
            plan(r).after.as_mut().unwrap().copies -= 1;
        }),
        ("plan.after.leader_changes", |r| plan(r).after = None),
        ("shard", |r| {
            plan(r).moves.pop();
        }),
        ("step", |r| plan(r).moves[2].step += 1000),
        ("plan.moves[1].kind: must be named", |r| {
            plan(r).moves[1].kind = 0
        }),
        ("plan.moves[1].to: nobody", |r| {
            plan(r).moves[1].to = "nobody".into();
        }),
        ("shard", |r| plan(r).moves[1].from = "b4".into()),
        ("plan.spread", |r| plan(r).spread[0].leaders_after += 1),
        ("plan.fingerprint", |r| plan(r).fingerprint.push('0')),
        ("plan.generation", |r| plan(r).generation.clear()),
        ("report.ranks: must list", |r| report(r).ranks.swap(3, 4)),
        ("report.ranks[12].value", |r| report(r).ranks[12].value -= 1),
        ("is above the value", |r| {
            let rank = &mut report(r).ranks[12];
            rank.bound = Some(rank.value + 1);
        }),
        ("report.outcome", |r| {
            let other = match report(r).outcome() {
                pb::Outcome::Optimal => pb::Outcome::Feasible,
                _ => pb::Outcome::Optimal,
            };
            report(r).set_outcome(other);
        }),
    ];
    let request = request();
    let honest = planned(&request);
    for (expected, change) in changes {
        let mut changed = honest.clone();
        change(&mut changed);
        let faults = planning::verify(&request, &changed).unwrap();
        let is_seen = faults.iter().any(|fault| fault.contains(expected));
        assert!(is_seen, "{expected}: {faults:?}");
    }
}

#[test]
fn a_certificate_must_prove_the_bounds() {
    type Change = fn(&mut pb::Certificate);
    let changes: &[(&str, Change)] = &[
        ("does not prove it", |c| c.ranks.clear()),
        ("report.certificate.ranks[0].rank: fame", |c| {
            c.ranks[0].rank = "fame".into();
        }),
        ("after", |c| {
            let again = c.ranks[0].clone();
            c.ranks.push(again);
        }),
        ("broker: nobody", |c| {
            c.ranks[0].prices.push(pb::Price {
                broker: "nobody".into(),
                ..Default::default()
            });
        }),
    ];
    let request = request();
    let honest = planned(&request);
    for (expected, change) in changes {
        let mut changed = honest.clone();
        let certificate = report(&mut changed).certificate.as_mut();
        change(certificate.expect("a proven plan"));
        let faults = planning::verify(&request, &changed).unwrap();
        let is_seen = faults.iter().any(|fault| fault.contains(expected));
        assert!(is_seen, "{expected}: {faults:?}");
    }
}

/// Two followers on a broker that may have one replica and no leader: what one more replica costs there is part of
/// the proof, and travels with it.
#[test]
fn prices_of_replicas_travel_with_the_certificate() {
    let mut request = optimize(pb::Snapshot {
        brokers: vec![pb::Broker {
            id: "b0".into(),
            max_leaders: Some(0),
            max_replicas: Some(1),
            ..Default::default()
        }],
        streams: vec![common::stream("s")],
        shards: ["s-0", "s-1"].map(|id| shard(id, "s", "")).to_vec(),
        ..Default::default()
    });
    for shard in &mut request.snapshot.as_mut().unwrap().shards {
        shard.followers = vec!["b0".into()];
    }
    request.options = Some(pb::Options {
        include_certificate: true,
        ..Default::default()
    });
    let honest = planned(&request);
    assert_eq!(
        honest.report.as_ref().unwrap().outcome(),
        pb::Outcome::Optimal
    );
    assert_eq!(planning::verify(&request, &honest).unwrap(), [""; 0]);
    let is_of_replicas =
        |price: &pb::Price| price.role() == pb::Role::Follower && price.broker == "b0";
    let mut changed = honest.clone();
    assert!(report(&mut changed).prices.iter().any(is_of_replicas));
    for rank in &mut report(&mut changed).certificate.as_mut().unwrap().ranks {
        rank.prices.retain(|price| !is_of_replicas(price));
    }
    let faults = planning::verify(&request, &changed).unwrap();
    assert!(
        faults
            .iter()
            .any(|fault| fault.contains("does not prove it"))
    );
}

#[test]
fn a_wrong_request_is_refused_and_not_checked() {
    let response = planned(&request());
    let mut wrong = request();
    wrong.snapshot.as_mut().unwrap().brokers[0].state = 9;
    match planning::verify(&wrong, &response) {
        Err(Refusal::Invalid(findings)) => {
            assert_eq!(findings[0].path, "snapshot.brokers[0].state");
        }
        other => panic!("{other:?}"),
    }
}
