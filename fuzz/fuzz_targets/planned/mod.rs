//! What must hold of any request, whatever it says: it is refused with reasons, or planned and verified.

use prost::Message;
use shardflow::json::{Defaults, from_json, to_json};
use shardflow::pb;
use shardflow::planning::{self, Control};

/// Most work of a plan: enough for small requests to be solved, and little for large ones.
const WORK_MAX: u64 = 200_000;

/// Plans a request and holds it to the promises.
pub fn check(mut request: pb::OptimizeRequest) {
    written_again(&request);
    let mut options = request.options.unwrap_or_default();
    // A clock would make a crash hard to see again.
    options.time_budget = None;
    options.work_limit = Some(options.work_limit.unwrap_or(WORK_MAX).min(WORK_MAX));
    request.options = Some(options);
    let validated = planning::validate(&pb::ValidateRequest {
        request: Some(request.clone()),
    });
    let is_valid = validated.findings.is_empty();
    match planning::optimize(&request, &Control::default()) {
        Err(refusal) => {
            assert!(!refusal.findings().is_empty() && !is_valid, "{refusal}");
        }
        Ok(response) => {
            assert!(is_valid, "{:?}", validated.findings);
            planned(&request, &response);
        }
    }
}

/// The check of `shardflow verify` finds nothing, where the plan lists what it takes; the same request gives the same
/// bytes.
fn planned(request: &pb::OptimizeRequest, response: &pb::OptimizeResponse) {
    let listed = request.options.as_ref().map(pb::Options::assignments);
    if listed != Some(pb::Assignments::None) {
        let checked = planning::verify(request, response).expect("it was planned");
        assert_eq!(checked.faults, Vec::<String>::new());
    }
    let again = planning::optimize(request, &Control::default()).expect("it was planned");
    assert!(bytes(response) == bytes(&again), "other bytes");
}

fn bytes(response: &pb::OptimizeResponse) -> Vec<u8> {
    let mut response = response.clone();
    if let Some(report) = &mut response.report {
        report.elapsed = None;
    }
    response.encode_to_vec()
}

/// What is written as a file reads as the same request.
fn written_again(request: &pb::OptimizeRequest) {
    // Durations that the mapping has no text for can't be written.
    let Ok(text) = to_json(request, Defaults::Skip) else {
        return;
    };
    let again: pb::OptimizeRequest = from_json(&text).expect("what was written can be read");
    let twice = to_json(&again, Defaults::Skip).expect("it was written before");
    assert_eq!(text, twice);
}
