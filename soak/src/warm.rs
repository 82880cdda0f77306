//! Warm equals cold: plan, apply the plan, change the cluster, plan again, with and without the last answer's prices.
//!
//! Prices from before, garbled ones and none must cost the same in every rank, each with its proof: a hint may change
//! the way and which of equal plans is found, never what is best. The same request twice gives the same bytes, and
//! the answers pass the check that `shardflow verify` makes.

mod cluster;

use prost::Message;
use shardflow::pb;
use shardflow::planning::{self, Control};

use crate::rng::Rng;
use crate::wire;
use cluster::Cluster;

/// What a sequence went through.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Seen {
    /// Plans that moved something.
    pub moving: usize,
    /// Prices that came back in reports.
    pub prices: usize,
}

/// Goes through the sequence of a seed.
///
/// # Errors
/// The first difference in words, and the request that shows it.
pub fn check(seed: u64, edits: usize) -> Result<Seen, String> {
    let mut rng = Rng::new(seed);
    let mut cluster = Cluster::new(&mut rng);
    let mut prices: Vec<pb::Price> = Vec::new();
    let mut seen = Seen::default();
    for edit in 0..=edits {
        let answer = plan_in_every_way(&cluster, &prices, &mut rng)
            .map_err(|fault| format!("after {edit} edits: {fault}"))?;
        let (Some(plan), Some(report)) = (answer.plan, answer.report) else {
            return Err(format!("after {edit} edits: no plan or no report"));
        };
        seen.moving += usize::from(!plan.moves.is_empty());
        seen.prices += report.prices.len();
        prices = report.prices;
        cluster.apply(&plan);
        cluster.edit(&mut rng);
    }
    Ok(seen)
}

/// Plans cold, warm and from garbled prices. One of the answers.
fn plan_in_every_way(
    cluster: &Cluster,
    prices: &[pb::Price],
    rng: &mut Rng,
) -> Result<pb::OptimizeResponse, String> {
    let garbled = garbled(cluster, prices, rng);
    let cold = answer(cluster, Vec::new())?;
    let mut answers = vec![cold];
    for (name, hint) in [
        ("the last prices", prices.to_vec()),
        ("garbled prices", garbled),
    ] {
        let warm = answer(cluster, hint.clone())?;
        if after(&warm) != after(&answers[0]) {
            let (found, expected) = (after(&warm), after(&answers[0]));
            let request = wire::json(&request(cluster, hint));
            return Err(format!(
                "{name} cost {found:?}, none {expected:?}\n{request}"
            ));
        }
        answers.push(warm);
    }
    let chosen = rng.below(answers.len());
    Ok(answers.swap_remove(chosen))
}

fn after(response: &pb::OptimizeResponse) -> Option<pb::Cost> {
    response.plan.as_ref()?.after
}

fn request(cluster: &Cluster, price_hint: Vec<pb::Price>) -> pb::OptimizeRequest {
    pb::OptimizeRequest {
        options: Some(pb::Options {
            include_certificate: true,
            price_hint,
            ..pb::Options::default()
        }),
        ..cluster.request.clone()
    }
}

/// The answer to the request with this hint: proven, correct by the recheck, and twice the same.
fn answer(cluster: &Cluster, hint: Vec<pb::Price>) -> Result<pb::OptimizeResponse, String> {
    let request = request(cluster, hint);
    let fail = |fault: String| format!("{fault}\n{}", wire::json(&request));
    let plan = || planning::optimize(&request, &Control::default());
    let response = plan().map_err(|refusal| fail(refusal.to_string()))?;
    let again = plan().map_err(|refusal| fail(refusal.to_string()))?;
    if bytes(&response) != bytes(&again) {
        return Err(fail("the same request gives other bytes".to_owned()));
    }
    let outcome = response.report.as_ref().map(|report| report.outcome());
    if outcome != Some(pb::Outcome::Optimal) {
        return Err(fail(format!("{outcome:?}, not optimal")));
    }
    let checked = planning::verify(&request, &response).map_err(|r| fail(r.to_string()))?;
    match checked.faults.first() {
        Some(fault) => Err(fail(fault.clone())),
        None if !checked.is_proof_checked => Err(fail("the proof is not checked".to_owned())),
        None => Ok(response),
    }
}

/// The response as it travels, but for the time it took.
fn bytes(response: &pb::OptimizeResponse) -> Vec<u8> {
    let mut response = response.clone();
    if let Some(report) = &mut response.report {
        report.elapsed = None;
    }
    // Responses hold no maps, whose order on the wire is free.
    response.encode_to_vec()
}

/// Prices that are legal and mean nothing: changed, lost, doubled, swapped, made up.
fn garbled(cluster: &Cluster, prices: &[pb::Price], rng: &mut Rng) -> Vec<pb::Price> {
    let brokers: Vec<&pb::Broker> = cluster.brokers().collect();
    let mut garbled: Vec<pb::Price> = prices.to_vec();
    for _ in 0..rng.below(6) {
        let broker = rng.pick(&brokers);
        let is_zone = rng.chance(30);
        garbled.push(pb::Price {
            rank: (*rng.pick(&shardflow_solver::cost::Rank::ALL))
                .name()
                .to_owned(),
            role: rng.below(3) as i32,
            broker: if is_zone {
                String::new()
            } else {
                broker.id.clone()
            },
            zone: if is_zone {
                broker.zone.clone()
            } else {
                String::new()
            },
            ..Default::default()
        });
    }
    garbled.retain(|_| !rng.chance(20));
    if !garbled.is_empty() {
        let twice = rng.pick(&garbled).clone();
        garbled.push(twice);
    }
    for price in &mut garbled {
        let small = rng.below(2_000) as i64 - 1_000;
        let any = rng.next() as i64;
        if rng.chance(60) {
            price.value = *rng.pick(&[0, small, small * small, any, i64::MAX, i64::MIN]);
        }
    }
    rng.shuffle(&mut garbled);
    garbled
}
