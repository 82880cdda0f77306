//! A deadline is met on a cluster of real size. Alone in its binary, so that no other test takes its time.

mod common;

use std::time::{Duration, Instant};

use common::{config, endless, lopsided, optimize, start};
use shardflow::pb;
use tonic::Request;

/// The deadline; on a machine that is busy with something else, three times what a call takes that does not solve.
const DEADLINE: Duration = Duration::from_millis(200);
/// One try out of these must do, for the same reason.
const TRIES: usize = 5;

/// Answers within the deadline, or panics.
async fn answered(unlimited: pb::OptimizeRequest) -> pb::OptimizeResponse {
    static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let _alone = ALONE.lock().await;
    let server = start(config()).await;
    let mut client = server.client().await;
    let mut stopped = unlimited.clone();
    stopped.options = Some(pb::Options {
        time_budget: Some(prost_types::Duration {
            seconds: 0,
            nanos: 1,
        }),
        ..Default::default()
    });
    let mut late = Vec::new();
    for _ in 0..TRIES {
        let began = Instant::now();
        client.optimize(stopped.clone()).await.unwrap();
        let deadline = DEADLINE.max(began.elapsed() * 3);
        let mut request = Request::new(unlimited.clone());
        request.set_timeout(deadline);
        match client.optimize(request).await {
            Err(status) => late.push(status),
            Ok(answered) => return answered.into_inner(),
        }
    }
    panic!("{late:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_deadline_is_met_with_the_best_plan_so_far() {
    let answered = answered(optimize(lopsided(20_000, 100, 5))).await;
    assert_eq!(answered.plan.unwrap().assignments.len(), 20_000);
    let report = answered.report.unwrap();
    let by_clock = report.fallback() == pb::FallbackReason::Deadline;
    assert_eq!(report.reproducible, !by_clock);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_would_take_minutes_is_answered_by_the_deadline_and_says_so() {
    let report = answered(endless()).await.report.unwrap();
    assert_eq!(report.fallback(), pb::FallbackReason::Deadline);
    assert_eq!(report.outcome(), pb::Outcome::Feasible);
    assert!(!report.reproducible);
}
