//! A deadline is met on a cluster of real size. Alone in its binary, so that no other test takes its time.
//!
//! An idle machine answers the first call. A machine that is busy with something else may take the processor away
//! for longer than the whole reserve, whatever the server does; hence [`TRIES`], the only allowance there is.

mod common;

use std::time::Duration;

use common::{config, endless, misplaced, optimize, start};
use shardflow::pb;
use tonic::{Code, Request};

/// The deadline of 20,000 shards on 100 brokers, on every machine.
const DEADLINE: Duration = Duration::from_millis(200);
/// That of 30,000 shards of 300 streams on 800 brokers, where reading and telling alone take longer than 200 ms.
const DEADLINE_LARGE: Duration = Duration::from_secs(1);
/// One try out of these must do.
const TRIES: usize = 10;

/// Answers within the deadline, or panics.
async fn answered(unlimited: pb::OptimizeRequest, deadline: Duration) -> pb::OptimizeResponse {
    static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let _alone = ALONE.lock().await;
    let server = start(config()).await;
    let mut client = server.client().await;
    for _ in 0..TRIES {
        let mut request = Request::new(unlimited.clone());
        request.set_timeout(deadline);
        match client.optimize(request).await {
            Ok(answered) => return answered.into_inner(),
            // The clock of the client cancels, that of the server says what passed.
            Err(status) => assert!(
                matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled),
                "{status}"
            ),
        }
    }
    panic!("{TRIES} calls were late");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_deadline_is_met_with_the_best_plan_so_far() {
    let answered = answered(optimize(misplaced(20_000, 100, 200, 5)), DEADLINE).await;
    assert_eq!(answered.plan.unwrap().assignments.len(), 20_000);
    let report = answered.report.unwrap();
    let by_clock = report.fallback() == pb::FallbackReason::Deadline;
    assert_eq!(report.reproducible, !by_clock);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_would_take_long_is_answered_by_the_deadline_and_says_so() {
    let report = answered(endless(), DEADLINE_LARGE).await.report.unwrap();
    assert_eq!(report.fallback(), pb::FallbackReason::Deadline);
    assert_eq!(report.outcome(), pb::Outcome::Feasible);
    assert!(!report.reproducible);
}
