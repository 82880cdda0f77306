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

fn faults(request: &pb::OptimizeRequest, response: &pb::OptimizeResponse) -> Vec<String> {
    planning::verify(request, response).unwrap().faults
}

#[test]
fn an_honest_plan_has_no_faults() {
    let request = request();
    let response = planned(&request);
    let plan = response.plan.as_ref().unwrap();
    assert!(plan.moves.len() > 10 && !plan.spread.is_empty());
    assert_eq!(faults(&request, &response), [""; 0]);
}

#[test]
fn a_plan_that_lists_only_changes_is_checked_in_full() {
    let mut request = request();
    request.options = Some(pb::Options {
        assignments: pb::Assignments::Changed.into(),
        ..Default::default()
    });
    let mut response = planned(&request);
    assert!(plan(&mut response).assignments.len() < 61);
    assert_eq!(faults(&request, &response), [""; 0]);
    let mut without = response.clone();
    plan(&mut without)
        .assignments
        .retain(|a| a.shard != "fenced-0");
    assert_eq!(
        faults(&request, &without),
        ["plan.assignments: fenced-0: lacks replicas and is not listed"]
    );
    plan(&mut response).assignments.pop();
    assert!(!faults(&request, &response).is_empty());
}

#[test]
fn a_plan_that_lists_nothing_cannot_be_checked_and_says_so() {
    let mut request = request();
    request.options = Some(pb::Options {
        assignments: pb::Assignments::None.into(),
        ..Default::default()
    });
    let faults = faults(&request, &planned(&request));
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
        ("plan.moves[0].reason", |r| {
            let other = match plan(r).moves[0].reason() {
                pb::MoveReason::Cost => pb::MoveReason::Drain,
                _ => pb::MoveReason::Cost,
            };
            plan(r).moves[0].set_reason(other);
        }),
        ("an ADD is no detour", |r| {
            plan(r).moves[0].detour = true;
        }),
        ("are made beside or after blocked ones", |r| {
            plan(r).moves[0].blocked = "because".into();
        }),
        ("plan.moves[0].bytes", |r| plan(r).moves[0].bytes += 5),
        ("unplaced_detail", |r| {
            plan(r).assignments[0].unplaced_detail = "hello".into();
        }),
        ("unplaced_reason: fenced-0: UNPLACED_REASON_DISK: is", |r| {
            let fenced = plan(r).assignments.iter_mut().find(|a| a.leader.is_empty());
            fenced
                .unwrap()
                .set_unplaced_reason(pb::UnplacedReason::Disk);
        }),
        ("report.ranks[0].proof", |r| {
            report(r).ranks[0].set_proof(pb::Proof::None);
        }),
        ("report.ranks[14].proof", |r| {
            report(r).ranks[14].set_proof(pb::Proof::SolverBound);
        }),
        ("report.ranks[2].bound: none: the certificate", |r| {
            report(r).ranks[2].bound = None;
        }),
        ("report.ranks[3].bound: breaches, a rank before", |r| {
            report(r).ranks[2].bound = None;
        }),
        ("report.engine: ENGINE_UNSPECIFIED", |r| {
            report(r).set_engine(pb::Engine::Unspecified);
        }),
        ("report.engine: ENGINE_CURRENT", |r| {
            report(r).set_engine(pb::Engine::Current);
        }),
        ("report.fallback: FALLBACK_REASON_WORK_LIMIT", |r| {
            report(r).set_fallback(pb::FallbackReason::WorkLimit);
        }),
        ("report.reproducible: true", |r| {
            report(r).set_fallback(pb::FallbackReason::Deadline);
        }),
        ("report.gap", |r| report(r).gap = Some(0.5)),
        ("report.explanations", |r| {
            let explanation = &mut report(r).explanations[0];
            explanation.shards.push("s0-0".into());
        }),
        ("report.prices", |r| report(r).prices[0].value += 7),
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
    let unseen = changes.iter().filter_map(|(expected, change)| {
        let mut changed = honest.clone();
        change(&mut changed);
        let faults = faults(&request, &changed);
        let is_seen = faults.iter().any(|fault| fault.contains(expected));
        (!is_seen).then_some((expected, faults))
    });
    let unseen: Vec<_> = unseen.collect();
    assert!(unseen.is_empty(), "{unseen:#?}");
}

/// Two brokers with one place each for four new shards, and a zone that wants two leaders.
fn short() -> pb::OptimizeRequest {
    let broker = |id: &str| pb::Broker {
        max_leaders: Some(1),
        ..common::broker(id, id)
    };
    let mut request = optimize(pb::Snapshot {
        brokers: vec![broker("a"), broker("b")],
        streams: vec![common::stream("t")],
        shards: (0..4).map(|i| shard(&format!("t{i}"), "t", "")).collect(),
        ..Default::default()
    });
    request.policy = Some(pb::Policy {
        zone_limits: vec![pb::ZoneLimit {
            zone: "a".into(),
            min_leaders: Some(2),
            ..Default::default()
        }],
        ..Default::default()
    });
    request.options = Some(pb::Options {
        include_certificate: true,
        ..Default::default()
    });
    request
}

#[test]
fn no_reason_and_no_price_of_a_rule_can_be_changed_unseen() {
    let request = short();
    let honest = planned(&request);
    assert_eq!(faults(&request, &honest), [""; 0]);
    let of = |rank: &str| {
        let told = honest.report.as_ref().unwrap();
        let at = told.explanations.iter().position(|e| e.rank == rank);
        at.unwrap_or_else(|| panic!("{rank}: {:?}", told.explanations))
    };
    let (unplaced, minimum) = (of("unplaced_leaders"), of("zone_minimum_shortfall"));
    type Change = fn(&mut pb::Explanation);
    let changes: [Change; 9] = [
        |e| e.need += 1,
        |e| e.demand += 1,
        |e| e.capacity += 1,
        |e| e.shard_count += 1,
        |e| e.limits[0].room += 1,
        |e| e.limits[0].broker = "c".into(),
        |e| e.suggestions[0].lifts += 1,
        |e| e.suggestions[0].changes[0].to += 1,
        |e| e.text.push('!'),
    ];
    for at in [unplaced, minimum] {
        for (number, change) in changes.iter().enumerate() {
            let mut changed = honest.clone();
            change(&mut report(&mut changed).explanations[at]);
            let faults = faults(&request, &changed);
            assert_eq!(faults.len(), 1, "{number} of {at}: {faults:?}");
            assert!(faults[0].starts_with("report.explanations: "), "{faults:?}");
        }
    }
    let of_rule = |price: &pb::Price| price.rule() == pb::Rule::MaxLeaders;
    let prices = &honest.report.as_ref().unwrap().prices;
    let at = prices
        .iter()
        .position(of_rule)
        .expect("one more place would be used");
    let mut changed = honest.clone();
    report(&mut changed).prices[at].value += 1;
    let faults = faults(&request, &changed);
    assert_eq!(faults, ["report.prices: are not those of the certificate"]);
}

/// What a caller sends back as a hint: prices of all brokers and zones that have one, and those of rules do no harm.
#[test]
fn the_prices_of_an_answer_are_a_legal_hint() {
    let mut request = request();
    let prices = planned(&request).report.unwrap().prices;
    let weighted = |price: &&pb::Price| price.rank == "weighted" && price.rule() == pb::Rule::None;
    assert!(prices.iter().filter(weighted).count() > 0, "{prices:?}");
    assert!(prices.iter().any(|price| price.rule() != pb::Rule::None));
    assert!(prices.iter().all(|price| price.value != 0));
    let before = planned(&request).plan;
    request.options.get_or_insert_default().price_hint = prices;
    assert_eq!(planned(&request).plan, before);
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
        ("brokers[0]: nobody: is not known", |c| {
            c.brokers[0] = "nobody".into();
        }),
        ("streams: nothing: is not known", |c| {
            stream_prices(c).stream = "nothing".into();
        }),
        ("prices for", |c| stream_prices(c).values.push(0)),
        ("broker 99: is not among the brokers", |c| {
            stream_prices(c).brokers[0] = 99;
        }),
        ("after that for stream", |c| {
            let prices = stream_prices(c);
            prices.brokers.push(prices.brokers[0]);
            prices.values.push(prices.values[0]);
        }),
    ];
    let request = request();
    let honest = planned(&request);
    for (expected, change) in changes {
        let mut changed = honest.clone();
        let certificate = report(&mut changed).certificate.as_mut();
        change(certificate.expect("a proven plan"));
        let faults = faults(&request, &changed);
        let is_seen = faults.iter().any(|fault| fault.contains(expected));
        assert!(is_seen, "{expected}: {faults:?}");
    }
}

/// Prices of the first stream that has any of its own.
fn stream_prices(certificate: &mut pb::Certificate) -> &mut pb::StreamPrices {
    let of_streams = certificate.ranks.iter_mut().flat_map(|r| &mut r.streams);
    of_streams.into_iter().next().expect("a spread has a price")
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
    assert_eq!(faults(&request, &honest), [""; 0]);
    let is_of_replicas =
        |price: &pb::Price| price.role() == pb::Role::Follower && price.broker == "b0";
    let mut changed = honest.clone();
    assert!(report(&mut changed).prices.iter().any(is_of_replicas));
    for rank in &mut report(&mut changed).certificate.as_mut().unwrap().ranks {
        rank.prices.retain(|price| !is_of_replicas(price));
    }
    let faults = faults(&request, &changed);
    assert!(
        faults.iter().any(|fault| fault.contains("report.ranks")),
        "{faults:?}"
    );
}

#[test]
fn moves_in_another_order_are_not_those_of_this_version() {
    let request = optimize(common::small());
    let mut response = planned(&request);
    let moves = &mut plan(&mut response).moves;
    assert_eq!(moves.len(), 2);
    moves.swap(0, 1);
    moves[0].step = 1;
    moves[1].step = 2;
    assert_eq!(
        faults(&request, &response),
        ["plan.moves[0]: is not what this version makes of the placement"]
    );
}

/// Claims that the plan is the optimum.
fn boast(response: &mut pb::OptimizeResponse) {
    let report = report(response);
    for claim in &mut report.ranks {
        claim.bound = Some(claim.value);
        claim.set_proof(pb::Proof::Certificate);
    }
    report.set_engine(pb::Engine::NetworkSimplex);
    report.set_outcome(pb::Outcome::Optimal);
    report.set_fallback(pb::FallbackReason::None);
    report.gap = None;
}

fn with(planner: pb::Planner, include_certificate: bool) -> Option<pb::Options> {
    let mut options = pb::Options {
        include_certificate,
        ..Default::default()
    };
    options.set_planner(planner);
    Some(options)
}

#[test]
fn optimality_without_a_certificate_is_not_taken_for_checked() {
    let mut request = request();
    let is_checked = |request: &pb::OptimizeRequest, response: &pb::OptimizeResponse| {
        let checked = planning::verify(request, response).unwrap();
        assert_eq!(checked.faults, [""; 0]);
        checked.is_proof_checked
    };
    let mut proven = planned(&request);
    assert!(is_checked(&request, &proven));
    let certificate = report(&mut proven).certificate.take();
    assert!(!is_checked(&request, &proven));
    request.options = with(pb::Planner::GreedyTiers, false);
    let mut tiers = planned(&request);
    assert_eq!(report(&mut tiers).outcome(), pb::Outcome::Feasible);
    assert!(is_checked(&request, &tiers), "it claims nothing");
    boast(&mut tiers);
    assert!(!is_checked(&request, &tiers));
    report(&mut tiers).certificate = certificate;
    let refuted = "report.ranks[12].bound";
    let faults = faults(&request, &tiers);
    assert!(faults.iter().any(|f| f.starts_with(refuted)), "{faults:?}");
}

#[test]
fn the_present_layout_refutes_bounds_that_it_undercuts() {
    let request = optimize(common::small());
    let level = planned(&request);
    let mut snapshot = common::small();
    for (shard, placed) in snapshot
        .shards
        .iter_mut()
        .zip(level.plan.unwrap().assignments)
    {
        shard.leader = placed.leader;
    }
    let assignments = snapshot.shards.iter().map(|shard| pb::Assignment {
        shard: shard.id.clone(),
        leader: "a".into(),
        ..Default::default()
    });
    let worse = pb::Plan {
        assignments: assignments.collect(),
        ..Default::default()
    };
    let variant = |source| {
        Some(pb::Variant {
            policy: None,
            source: Some(source),
        })
    };
    let comparison = pb::CompareRequest {
        snapshot: Some(snapshot.clone()),
        baseline: variant(pb::variant::Source::Options(pb::Options::default())),
        candidate: variant(pb::variant::Source::External(worse)),
        ..Default::default()
    };
    let judged = planning::compare(&comparison, &Control::default()).unwrap();
    let (request, mut response) = (optimize(snapshot), judged.candidate.unwrap());
    assert_eq!(faults(&request, &response), [""; 0]);
    boast(&mut response);
    assert_eq!(
        faults(&request, &response),
        ["report.ranks[7].bound: 8: the present layout has 0"]
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

/// Brokers whose bytes can't be quite even.
fn uneven(planner: pb::Planner) -> (pb::OptimizeRequest, pb::OptimizeResponse) {
    let mut snapshot = lopsided(9, 3, 2);
    for (at, shard) in snapshot.shards.iter_mut().enumerate() {
        shard.size_bytes = 3 + 2 * at as i64;
    }
    let mut request = optimize(snapshot);
    request.policy = Some(pb::Policy {
        balance: Some(pb::Balance {
            dimension: pb::Dimension::Bytes.into(),
            tolerance_percent: 0,
        }),
        ..Default::default()
    });
    request.options = with(planner, true);
    let response = planned(&request);
    (request, response)
}

#[test]
fn the_word_of_a_solver_is_not_taken_for_checked() {
    for planner in [pb::Planner::Auto, pb::Planner::Mip] {
        let (request, response) = uneven(planner);
        let checked = planning::verify(&request, &response).unwrap();
        assert_eq!(checked.faults, [""; 0]);
        assert!(!checked.is_proof_checked);
        let report = response.report.unwrap();
        assert_eq!(report.outcome(), pb::Outcome::Optimal);
        assert_eq!(report.certificate.is_some(), planner == pb::Planner::Auto);
    }
}

#[test]
fn what_a_certificate_proves_is_told_from_what_a_solver_says() {
    let (request, honest) = uneven(pb::Planner::Auto);
    let ranks = &honest.report.as_ref().unwrap().ranks;
    let is_solvers = |rank: &pb::RankBound| rank.proof() == pb::Proof::SolverBound;
    let at = ranks.iter().position(is_solvers).unwrap();
    let mut boasting = honest.clone();
    report(&mut boasting).ranks[at].set_proof(pb::Proof::Certificate);
    let value = ranks[at].value;
    let fault = format!("report.ranks[{at}].bound: {value}: the certificate does not prove it");
    assert_eq!(faults(&request, &boasting), [fault]);
    let mut modest = honest.clone();
    report(&mut modest).ranks[0].set_proof(pb::Proof::SolverBound);
    assert_eq!(
        faults(&request, &modest),
        ["report.ranks[0].proof: PROOF_SOLVER_BOUND: is PROOF_CERTIFICATE with such a bound"]
    );
}
