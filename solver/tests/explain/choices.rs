//! What a shard costs elsewhere.

use shardflow_solver::cost::{Cost, RANKS, evaluate};
use shardflow_solver::explain::choices::{Ban, Choice, choices};
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, Roles, ShardId};
use shardflow_solver::strategy::Outcome;
use shardflow_solver::verify;

use crate::cases::{Case, MEDIUM, Size, TINY, generate, solve};

fn each_case(mut check: impl FnMut(&Case, &Problem)) {
    let small = Size { shards: 6, ..TINY };
    for (first, count, size) in [(0, 1_200, small), (20_000, 60, MEDIUM)] {
        for seed in first..first + count {
            let case = generate(seed, size);
            let _named = crate::cuts::Named(seed);
            check(&case, &case.problem());
        }
    }
}

/// The placement with one shard led from `b`, as both roles have it.
fn moved(problem: &Problem, placement: &[Assignment], id: ShardId, b: BrokerId) -> Vec<Assignment> {
    let mut placement = placement.to_vec();
    let assignment = &mut placement[id.index()];
    if problem.policy.roles == Roles::LeadershipOnly {
        let old = assignment.leader.replace(b);
        assignment.followers.retain(|&f| f != b);
        assignment.followers.extend(old);
        assignment.followers.sort_unstable();
    } else {
        *assignment = Assignment {
            leader: Some(b),
            followers: Vec::new(),
        };
    }
    placement
}

#[test]
fn a_move_alone_costs_what_a_recount_says() {
    let (mut compared, mut full) = (0, 0);
    each_case(|_, problem| {
        let plan = solve(problem).plan;
        let now = evaluate(problem, &plan.placement).0;
        for id in problem.shard_ids() {
            let found = choices(problem, &plan.placement, None, id);
            assert_eq!(found.len(), problem.brokers.len());
            for (b, choice) in problem.broker_ids().zip(found) {
                let Choice::Open(offer) = choice else {
                    continue;
                };
                let placement = moved(problem, &plan.placement, id, b);
                let then = evaluate(problem, &placement).0;
                let change: [i64; RANKS] = std::array::from_fn(|rank| then.0[rank] - now.0[rank]);
                assert_eq!(offer.alone, change, "shard {id:?} to {b:?}");
                assert_eq!(offer.at_least, None);
                let faults = verify::placement::check(problem, &placement).faults;
                assert_eq!(
                    offer.full.is_empty(),
                    faults.is_empty(),
                    "{:?} {faults:?}",
                    offer.full
                );
                compared += 1;
                full += usize::from(!offer.full.is_empty());
            }
        }
    });
    assert!(compared > 4_000 && full > 500, "{compared}, {full} full");
}

/// The least cost of any plan in which the broker leads the shard, by trying all placements of tiny problems.
fn least_led_from(case: &Case, id: ShardId, b: BrokerId) -> Option<Cost> {
    let problem = case.problem();
    let options: Vec<Vec<Assignment>> = problem
        .shard_ids()
        .map(|other| options(&problem, other, (other == id).then_some(b)))
        .collect();
    let plans = options
        .iter()
        .try_fold(1_usize, |all, some| all.checked_mul(some.len()))?;
    if plans == 0 || plans > 2_000 {
        return None;
    }
    let mut best = None;
    for mut number in 0..plans {
        let placement: Vec<Assignment> = options
            .iter()
            .map(|some| {
                let one = some[number % some.len()].clone();
                number /= some.len();
                one
            })
            .collect();
        let cost = evaluate(&problem, &placement).0;
        let is_better = best.is_none_or(|best| cost < best);
        if is_better
            && verify::placement::check(&problem, &placement)
                .faults
                .is_empty()
        {
            best = Some(cost);
        }
    }
    best
}

/// Assignments of a shard that leaders alone decide.
fn options(problem: &Problem, id: ShardId, led_from: Option<BrokerId>) -> Vec<Assignment> {
    let shard = problem.shard(id);
    if shard.is_pinned {
        return vec![shard.present.clone()];
    }
    let present = shardflow_solver::model::current::placement(problem);
    let leaders = problem.broker_ids().filter(|&b| {
        let holds = shard.present.holds(b) && problem.is_live(b);
        let copies = problem.policy.roles == Roles::LeadersAndFollowers;
        led_from.is_none_or(|led| led == b)
            && (holds || copies && problem.may_enter(shard.stream, b))
    });
    let mut all: Vec<Assignment> = leaders
        .map(|b| match problem.policy.roles {
            Roles::LeadershipOnly => shardflow_solver::model::current::with_leader(shard, b),
            Roles::LeadersAndFollowers => Assignment {
                leader: Some(b),
                followers: Vec::new(),
            },
        })
        .collect();
    if led_from.is_none() && problem.live_leader(shard).is_none() {
        all.push(present[id.index()].clone());
    }
    all
}

#[test]
fn no_plan_that_leads_the_shard_elsewhere_is_cheaper_than_said() {
    let (mut compared, mut exact) = (0, 0);
    each_case(|case, problem| {
        let answer = solve(problem);
        if answer.report.outcome != Outcome::Optimal || problem.shards.len() > 5 {
            return;
        }
        let (plan, now) = (&answer.plan, answer.plan.after.0);
        let certificate = answer.report.certificate.as_ref();
        for id in problem.shard_ids() {
            let found = choices(problem, &plan.placement, certificate, id);
            for (b, choice) in problem.broker_ids().zip(found) {
                let Choice::Open(offer) = choice else {
                    continue;
                };
                let at_least = offer.at_least.expect("a certificate was given");
                assert!(at_least >= [0; RANKS], "{at_least:?}");
                if offer.full.is_empty() {
                    assert!(at_least <= offer.alone, "{at_least:?} {:?}", offer.alone);
                }
                let Some(least) = least_led_from(case, id, b) else {
                    continue;
                };
                let more: [i64; RANKS] = std::array::from_fn(|rank| least.0[rank] - now.0[rank]);
                assert!(
                    more >= at_least,
                    "shard {id:?} to {b:?}: {more:?} {at_least:?}"
                );
                compared += 1;
                exact += usize::from(more == at_least);
            }
        }
    });
    assert!(compared > 1_200 && exact > 600, "{compared}, {exact} exact");
}

#[test]
fn what_is_forbidden_is_forbidden_for_its_reason() {
    let mut seen = std::collections::BTreeMap::new();
    each_case(|_, problem| {
        let plan = solve(problem).plan;
        for id in problem.shard_ids() {
            let shard = problem.shard(id);
            for (b, choice) in problem
                .broker_ids()
                .zip(choices(problem, &plan.placement, None, id))
            {
                let Choice::Never(ban) = choice else { continue };
                let placement = moved(problem, &plan.placement, id, b);
                let faults = verify::placement::check(problem, &placement).faults;
                let of_shard = faults.iter().any(|fault| fault.shard == Some(id));
                assert!(
                    of_shard,
                    "{ban:?}: {:?} may lead {shard:?}",
                    problem.broker(b)
                );
                *seen.entry(format!("{ban:?}")).or_insert(0) += 1;
            }
        }
    });
    for ban in [
        Ban::Pinned,
        Ban::Down,
        Ban::Draining,
        Ban::Closed,
        Ban::HoldsNothing,
    ] {
        assert!(
            seen.get(&format!("{ban:?}")).is_some_and(|&n| n > 50),
            "{seen:?}"
        );
    }
}
