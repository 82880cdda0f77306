//! A deadline is met on a cluster of real size. Alone in its binary, so that no other test takes its time.

mod common;

use std::time::{Duration, Instant};

use common::{config, lopsided, optimize, start};
use shardflow::pb;
use tonic::Request;

/// The deadline; on a machine that is busy with something else, three times what a call takes that does not solve.
const DEADLINE: Duration = Duration::from_millis(200);
/// One try out of these must do, for the same reason.
const TRIES: usize = 5;

#[tokio::test(flavor = "multi_thread")]
async fn a_short_deadline_is_met_with_the_best_plan_so_far() {
    let server = start(config()).await;
    let mut client = server.client().await;
    let unlimited = optimize(lopsided(20_000, 100, 5));
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
            Ok(answered) => return in_time(answered.into_inner()),
        }
    }
    panic!("{late:?}");
}

fn in_time(answered: pb::OptimizeResponse) {
    assert_eq!(answered.plan.unwrap().assignments.len(), 20_000);
    let report = answered.report.unwrap();
    let by_clock = report.fallback() == pb::FallbackReason::Deadline;
    assert_eq!(report.reproducible, !by_clock);
}
