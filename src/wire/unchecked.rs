//! The answer of last resort: a request that could not be checked in its time.
//!
//! It moves nothing and repeats the layout as the request lists it, so that whoever applies it changes nothing. Nothing
//! in it was validated or verified: it has no cost, no ranks and no fingerprint, and says so. Making it is encoding.

use std::time::Duration;

use shardflow_solver::budget::Stop;

use super::answer::fallback;
use super::request::Listing;
use crate::pb;

/// What the report says.
const WARNING: &str = "the time ended before the request was checked: it may be wrong, nothing of it was verified, and \
                       the layout is repeated as it is listed";

/// The response to a request whose solve was stopped before its present layout was judged.
pub(crate) fn response(
    request: &pb::OptimizeRequest,
    listing: Listing,
    reason: Stop,
    elapsed: Duration,
) -> pb::OptimizeResponse {
    let snapshot = request.snapshot.as_ref();
    let shards = snapshot.map_or(&[][..], |snapshot| &snapshot.shards);
    let assignments = match listing {
        Listing::All => shards.iter().map(assignment).collect(),
        Listing::Changed | Listing::None => Vec::new(),
    };
    let generation = snapshot.map(|snapshot| snapshot.generation.clone());
    pb::OptimizeResponse {
        plan: Some(pb::Plan {
            assignments,
            generation: generation.unwrap_or_default(),
            ..pb::Plan::default()
        }),
        report: Some(pb::SolveReport {
            engine: pb::Engine::Current.into(),
            outcome: pb::Outcome::Feasible.into(),
            fallback: fallback(reason).into(),
            elapsed: prost_types::Duration::try_from(elapsed).ok(),
            warnings: vec![WARNING.to_owned()],
            unchecked: true,
            ..pb::SolveReport::default()
        }),
    }
}

fn assignment(shard: &pb::Shard) -> pb::Assignment {
    pb::Assignment {
        shard: shard.id.clone(),
        leader: shard.leader.clone(),
        followers: shard.followers.clone(),
        unplaced_reason: pb::UnplacedReason::None.into(),
        unplaced_detail: String::new(),
    }
}
