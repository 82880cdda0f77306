//! What callers get whose time ends before their request is checked. A deadline that is past needs no clock to be
//! tested: the first poll stops.

mod common;

use std::time::Instant;

use common::{misplaced, optimize};
use shardflow::pb;
use shardflow::planning::{self, Control, Refusal, Unexplained};
use shardflow_solver::budget::Stop;

fn too_late() -> Control {
    Control::default().with_deadline(Some(Instant::now()))
}

#[test]
fn a_request_without_time_to_check_it_is_answered_by_its_layout_and_labelled() {
    let mut request = optimize(misplaced(600, 5, 3, 5));
    let snapshot = request.snapshot.as_mut().unwrap();
    snapshot.generation = "g".into();
    // Nobody has looked.
    snapshot.shards[7].leader = "nobody".into();
    let listed: Vec<(String, String, Vec<String>)> = (snapshot.shards.iter())
        .map(|s| (s.id.clone(), s.leader.clone(), s.followers.clone()))
        .collect();
    let response = planning::optimize(&request, &too_late()).unwrap();
    let (plan, report) = (
        response.plan.clone().unwrap(),
        response.report.clone().unwrap(),
    );
    let told = plan.assignments.iter();
    let told = told.map(|a| (a.shard.clone(), a.leader.clone(), a.followers.clone()));
    assert_eq!(told.collect::<Vec<_>>(), listed);
    assert_eq!(plan.generation, "g");
    let nothing = pb::Plan {
        assignments: plan.assignments.clone(),
        generation: plan.generation.clone(),
        ..Default::default()
    };
    assert_eq!(plan, nothing);
    assert_eq!(report.engine(), pb::Engine::Current);
    assert_eq!(report.outcome(), pb::Outcome::Feasible);
    assert_eq!(report.fallback(), pb::FallbackReason::Deadline);
    assert!(report.unchecked && !report.reproducible);
    assert_eq!(report.ranks, []);
    assert_eq!(report.warnings.len(), 1);
    // With time the request is refused; one that is right is planned, and its answer is checked.
    assert!(planning::optimize(&request, &Control::default()).is_err());
    request.snapshot.as_mut().unwrap().shards[7].leader = "b0".into();
    let checked = planning::optimize(&request, &Control::default()).unwrap();
    assert!(!checked.report.unwrap().unchecked);
    let faults = planning::verify(&request, &response).unwrap().faults;
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].contains("nothing was checked"), "{faults:?}");
}

#[test]
fn what_lists_changes_lists_none_of_a_layout_that_was_not_checked() {
    let mut request = optimize(misplaced(10, 3, 2, 5));
    for assignments in [pb::Assignments::Changed, pb::Assignments::None] {
        request.options = Some(pb::Options {
            assignments: assignments.into(),
            ..Default::default()
        });
        let response = planning::optimize(&request, &too_late()).unwrap();
        assert_eq!(response.plan.unwrap().assignments, []);
        assert!(response.report.unwrap().unchecked);
    }
}

#[test]
fn there_is_nothing_to_compare_or_to_explain_before_the_request_is_checked() {
    let request = optimize(misplaced(10, 3, 2, 5));
    let variant = || Some(pb::Variant::default());
    let comparison = pb::CompareRequest {
        snapshot: request.snapshot.clone(),
        baseline: variant(),
        candidate: variant(),
        ..Default::default()
    };
    let is_stopped = |refusal: &Refusal| matches!(refusal, Refusal::Stopped(Stop::Deadline));
    let compared = planning::compare(&comparison, &too_late()).unwrap_err();
    assert!(is_stopped(&compared), "{compared}");
    let explained = planning::explain(&request, "s-0", None, &too_late()).unwrap_err();
    assert!(
        matches!(&explained, Unexplained::Refused(refusal) if is_stopped(refusal)),
        "{explained}"
    );
}
