//! What every answer promises: a function of the request alone, idempotent, prefix-stable, monotone, legal step by step.

use std::collections::HashMap;

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::cost::{Cost, Rank, evaluate};
use shardflow_solver::greedy::felix;
use shardflow_solver::model::current;
use shardflow_solver::snapshot::{Assignment, Counts, Problem, ShardId};
use shardflow_solver::strategy::{Answer, Outcome};
use shardflow_solver::verify;

use crate::brute::Named;
use crate::cases::{Case, MEDIUM, TINY, generate, generate_orphans, shuffled, solve};
use crate::layouts::{after_steps, length, paid, present, with_layout};
use crate::rng::Rng;

/// Thousands of tiny problems, and some medium ones; then the same with many orphans.
fn each_case(mut check: impl FnMut(u64, &Case)) {
    for (first, seeds, size) in [(10_000, 2_500, TINY), (20_000, 250, MEDIUM)] {
        for seed in first..first + seeds {
            let _named = Named(&seed);
            check(seed, &generate(seed, size));
        }
    }
    for (first, seeds, size) in [(70_000, 1_200, TINY), (75_000, 60, MEDIUM)] {
        for seed in first..first + seeds {
            let _named = Named(&seed);
            check(seed, &generate_orphans(seed, size));
        }
    }
}

fn is_optimal(answer: &Answer) -> bool {
    answer.report.outcome == Outcome::Optimal
}

#[test]
fn the_order_of_the_input_does_not_matter() {
    each_case(|seed, case| {
        let mut rng = Rng::new(seed);
        let answer = solve(&case.problem());
        let again = solve(&shuffled(case, &mut rng).problem());
        assert_eq!(answer, again);
    });
}

/// New random names, the same for the same thing.
struct Names {
    rng: Rng,
    known: HashMap<(&'static str, String), String>,
}

impl Names {
    fn rename(&mut self, kind: &'static str, name: &mut String) {
        if name.is_empty() {
            return;
        }
        let fresh = format!("{kind}{:016x}", self.rng.next());
        let known = self.known.entry((kind, name.clone()));
        name.clone_from(known.or_insert(fresh));
    }
}

fn renamed(case: &Case, rng: Rng) -> Case {
    let mut names = Names {
        rng,
        known: HashMap::new(),
    };
    let mut case = case.clone();
    let snapshot = &mut case.snapshot;
    let is_named = |down: bool| {
        let state = |b: &&shardflow_solver::input::BrokerInput| {
            down || b.state != shardflow_solver::snapshot::BrokerState::Down
        };
        snapshot
            .brokers
            .iter()
            .filter(state)
            .map(|b| !b.zone.is_empty())
            .collect::<Vec<_>>()
    };
    let live = is_named(false);
    let has_zones = if live.is_empty() {
        is_named(true)
    } else {
        live
    }
    .contains(&true);
    let zone = if has_zones { "zone" } else { "broker" };
    for broker in &mut snapshot.brokers {
        names.rename("broker", &mut broker.id);
        names.rename("zone", &mut broker.zone);
    }
    for stream in &mut snapshot.streams {
        names.rename("stream", &mut stream.id);
        stream
            .allowed_brokers
            .iter_mut()
            .for_each(|b| names.rename("broker", b));
    }
    for shard in &mut snapshot.shards {
        names.rename("shard", &mut shard.id);
        names.rename("stream", &mut shard.stream);
        names.rename("broker", &mut shard.leader);
        shard
            .followers
            .iter_mut()
            .for_each(|b| names.rename("broker", b));
        for source in shard.sources.iter_mut().chain(&mut shard.follower_sources) {
            source.zones.iter_mut().for_each(|z| names.rename(zone, z));
        }
    }
    for flight in &mut snapshot.in_flight {
        names.rename("shard", &mut flight.shard);
        names.rename("broker", &mut flight.from);
        names.rename("broker", &mut flight.to);
    }
    for limit in &mut case.policy.zone_limits {
        names.rename(zone, &mut limit.zone);
    }
    case
}

#[test]
fn names_do_not_matter_to_the_cost() {
    let mut proven = 0;
    each_case(|seed, case| {
        let answer = solve(&case.problem());
        let again = solve(&renamed(case, Rng::new(seed)).problem());
        if is_optimal(&answer) && is_optimal(&again) {
            // Which terms of a rank add up to it may differ among plans that cost the same.
            assert_eq!(answer.plan.after.0, again.plan.after.0);
            assert_eq!(answer.plan.before, again.plan.before);
            proven += 1;
        }
    });
    assert!(proven > 2_600, "only {proven} pairs are proven");
}

/// The cost without what depends on where replicas were before: copies, promotions, changes of the lead.
fn lasting(problem: &Problem, plan: &[Assignment]) -> Cost {
    let (mut cost, terms) = evaluate(problem, plan);
    cost[Rank::Weighted] -= terms.overlap + terms.promotion;
    cost[Rank::Copies] = 0;
    cost[Rank::LeaderChanges] = 0;
    cost
}

#[test]
fn a_planned_layout_stays_as_it_is() {
    let mut proven = 0;
    each_case(|_, case| {
        let problem = case.problem();
        let answer = solve(&problem);
        if !is_optimal(&answer) {
            return;
        }
        proven += 1;
        let mut next = with_layout(case, &problem, &answer.plan.placement);
        let planned = next.problem();
        let again = solve(&planned);
        assert_eq!(again.plan.moves, []);
        assert_eq!(again.plan.placement, answer.plan.placement);
        assert_eq!(
            again.plan.after.0,
            lasting(&problem, &answer.plan.placement)
        );
        assert!(is_optimal(&again), "{:?}", again.report);
        // Pins that had lapsed for want of a leader come back to life, and that moves nothing either.
        for shard in &mut next.snapshot.shards {
            shard.pinned |= case
                .snapshot
                .shards
                .iter()
                .any(|old| old.id == shard.id && old.pinned);
        }
        assert_eq!(solve(&next.problem()).plan.moves, []);
    });
    assert!(proven > 2_600, "only {proven} answers are proven");
}

#[test]
fn after_any_prefix_of_the_steps_the_rest_is_left() {
    let mut prefixes = 0;
    each_case(|_, case| {
        let problem = case.problem();
        let answer = solve(&problem);
        if !is_optimal(&answer) {
            return;
        }
        let plan = &answer.plan;
        let layouts = after_steps(&problem, plan);
        for (step, layout) in layouts.iter().enumerate().skip(1) {
            let next = with_layout(case, &problem, layout).problem();
            let wants = |p: &Problem| {
                p.shards
                    .iter()
                    .map(|s| p.zones_wanted(s))
                    .collect::<Vec<_>>()
            };
            if wants(&next) != wants(&problem) {
                continue;
            }
            let rest = solve(&next);
            let (total, paid) = (plan.after.0, paid(&problem, layout));
            let left = std::array::from_fn(|rank| total.0[rank] - paid.0[rank]);
            assert_eq!(rest.plan.after.0, Cost(left), "after step {step}");
            let (way, again) = (length(&problem, plan, step), length(&next, &rest.plan, 0));
            assert_eq!(again, way, "after step {step} of {:?}", plan.moves);
            assert!(is_optimal(&rest));
            prefixes += 1;
        }
    });
    assert!(prefixes > 3_000, "only {prefixes} prefixes");
}

#[test]
fn never_worse_than_the_present_layout_or_the_tiers() {
    let mut gains = 0;
    each_case(|_, case| {
        let problem = case.problem();
        let value = solve(&problem).plan.after.0;
        let now = evaluate(&problem, &current::placement(&problem)).0;
        assert!(value <= now);
        let tiers = felix::plan(&problem, &mut Budget::new(None, &never)).expect("no budget");
        let tiers = evaluate(&problem, &tiers).0;
        assert!(value <= tiers);
        gains += usize::from(value < now.min(tiers));
    });
    assert!(gains > 300, "only {gains} answers are better than both");
}

/// Leaders and replicas above the caps, broker by broker and zone by zone.
fn excesses(problem: &Problem, layout: &[Assignment]) -> Vec<i64> {
    let mut counts = Counts::zero(problem.brokers.len(), problem.zones.len());
    layout
        .iter()
        .for_each(|a| counts.add(&problem.brokers, a, 1));
    let above = |count: i64, cap: Option<u32>| cap.map_or(0, |cap| (count - i64::from(cap)).max(0));
    let brokers = problem.brokers.iter().enumerate().flat_map(|(b, broker)| {
        [
            above(counts.leaders[b], broker.max_leaders),
            above(counts.replicas[b], broker.max_replicas),
        ]
    });
    let zones = problem.zones.iter().enumerate().flat_map(|(z, zone)| {
        let (leaders, replicas) = (counts.zone_leaders[z], counts.zone_replicas[z]);
        [
            above(leaders, zone.max_leaders),
            above(replicas, zone.max_replicas),
        ]
    });
    brokers.chain(zones).collect()
}

/// Rank 3 doesn't grow in any step, but for a leader where there was none (a leader on a broker that may not hold the
/// shard is one breach more); where the plan adds some, no step goes beyond its end.
fn assert_breaches(problem: &Problem, layouts: &[Vec<Assignment>]) {
    let all: Vec<i64> = layouts
        .iter()
        .map(|layout| evaluate(problem, layout).0[Rank::Breaches])
        .collect();
    let worth = |pair: &[Vec<Assignment>]| {
        let shards = problem.shards.iter().zip(&pair[0]).zip(&pair[1]);
        let gained = shards.filter(|((shard, old), new)| {
            let live = |a: &Assignment| a.leader.filter(|&b| problem.is_live(b));
            live(old).is_none() && live(new).is_some_and(|b| !problem.may_enter(shard.stream, b))
        });
        gained.count() as i64
    };
    let worths: Vec<i64> = layouts.windows(2).map(worth).collect();
    let mut left: i64 = worths.iter().sum();
    let last = all[all.len() - 1];
    let end = if last > all[0] + left { last } else { 0 };
    for (pair, worth) in all.windows(2).zip(&worths) {
        let now = pair[0] + left;
        left -= worth;
        assert!(pair[1] + left <= now.max(end), "{all:?}, {worths:?}");
    }
}

/// New replicas are where they may be.
fn assert_arrivals(problem: &Problem, before: &[Assignment], after: &[Assignment]) {
    for (at, (old, new)) in before.iter().zip(after).enumerate() {
        let stream = problem.shard(ShardId::at(at)).stream;
        for b in problem.live(new).filter(|&b| !old.holds(b)) {
            assert!(problem.may_enter(stream, b), "shard {at} enters {b:?}");
        }
    }
}

#[test]
fn no_step_adds_a_breach() {
    let mut steps = 0;
    each_case(|_, case| {
        let problem = case.problem();
        let answer = solve(&problem);
        assert_eq!(verify::moves::check(&problem, &answer.plan), []);
        let layouts = after_steps(&problem, &answer.plan);
        assert_breaches(&problem, &layouts);
        for pair in layouts.windows(2) {
            let (before, after) = (excesses(&problem, &pair[0]), excesses(&problem, &pair[1]));
            assert!(
                before.iter().zip(&after).all(|(old, new)| new <= old),
                "{before:?} {after:?}"
            );
            assert_arrivals(&problem, &pair[0], &pair[1]);
            steps += 1;
        }
        // Shards without moves may only drop lost replicas from the listing.
        let end = layouts.last().expect("the present layout at least");
        for (moved, planned) in end.iter().zip(&answer.plan.placement) {
            let live = |a: &Assignment| {
                let mut live: Vec<_> = problem.live(a).collect();
                live.sort_unstable();
                live
            };
            assert_eq!(live(moved), live(planned));
        }
        assert_eq!(
            answer.plan.before.0,
            evaluate(&problem, &present(&problem)).0
        );
    });
    assert!(steps > 4_000, "only {steps} steps");
}
