//! Cuts and their remedies.

use shardflow_solver::cost::Rank;
use shardflow_solver::cut::{Change, Cut, CutLimit, LimitRule, Place, Reason};
use shardflow_solver::explain::{RANKS_EXPLAINED, fixed_breaches, reasons};
use shardflow_solver::input::ZoneLimitInput;
use shardflow_solver::model::leaders;
use shardflow_solver::snapshot::{BrokerId, Problem, Roles, ShardId, ZoneId};
use shardflow_solver::verify;

use crate::cases::{Case, MEDIUM, Size, TINY, generate, solve};

/// Crowded clusters, whose plans fall short in many ways.
fn crowded(seed: u64, size: Size) -> Case {
    let mut case = generate(seed, size);
    for (at, broker) in case.snapshot.brokers.iter_mut().enumerate() {
        if (seed + at as u64).is_multiple_of(2) {
            broker.max_leaders = Some((seed / 3 % 3) as u32);
        }
    }
    case
}

fn each_case(mut check: impl FnMut(&Case, &Problem)) {
    let small = Size { shards: 9, ..TINY };
    for (first, count, size) in [(0, 2_500, small), (10_000, 250, MEDIUM)] {
        for seed in first..first + count {
            let case = crowded(seed, size);
            let _named = Named(seed);
            check(&case, &case.problem());
        }
    }
}

/// Names the seed on the way out of a failed comparison.
pub(crate) struct Named(pub(crate) u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}", self.0);
        }
    }
}

fn has_orphans(problem: &Problem) -> bool {
    let mut shards = problem.shards.iter();
    shards.any(|shard| leaders::is_orphan(problem, shard))
}

/// What no cut has to explain: breaches that stay wherever leaders go, and minima of zones that are not there.
fn fixed(problem: &Problem, rank: Rank) -> i64 {
    match rank {
        Rank::ZoneMinimumShortfall => problem.policy.absent_zone_minimum,
        _ => 0,
    }
}

#[test]
fn every_shortfall_is_explained_in_full_and_every_cut_passes_the_verifier() {
    let mut explained = [0; 3];
    each_case(|_, problem| {
        let value = solve(problem).plan.after.0;
        let reasons = reasons(problem, &value);
        for reason in &reasons {
            let faults = verify::cut::check(problem, &value, &reason.cut);
            assert_eq!(faults, [], "{:?}", reason.cut);
        }
        if has_orphans(problem) {
            assert_eq!(reasons, []);
            return;
        }
        for (at, rank) in RANKS_EXPLAINED.into_iter().enumerate() {
            let cuts = reasons.iter().filter(|reason| reason.cut.rank == rank);
            let need: i64 = cuts.map(|reason| reason.cut.need()).sum();
            if rank == Rank::Breaches {
                // One shard is up to six: on a closed broker, above both caps of it and of its zone. Others stay
                // wherever leaders go; and two layers may tell of one unit.
                let movable = value[rank] - fixed_breaches(problem);
                if value[Rank::UnplacedLeaders] > 0 && value[Rank::UnplacedFollowers] > 0 {
                    // Another shard could go without a leader, but would lack a follower more.
                    continue;
                }
                assert!(
                    movable <= 6 * need && (movable > 0) == (need > 0),
                    "{need} of {movable}"
                );
            } else {
                assert_eq!(need, value[rank] - fixed(problem, rank), "{rank:?}");
            }
            explained[at] += usize::from(need > 0);
        }
    });
    assert!(explained.iter().all(|&n| n > 100), "{explained:?}");
}

/// The case with the changes made.
fn changed(case: &Case, problem: &Problem, changes: &[Change]) -> Case {
    let mut case = case.clone();
    for change in changes {
        apply(&mut case, problem, change);
    }
    case
}

fn apply(case: &mut Case, problem: &Problem, change: &Change) {
    let broker_name = |b: BrokerId| problem.broker(b).id.clone();
    match *change {
        Change::MaxLeaders { place, to } => match place {
            Place::Broker(b) => broker(case, &broker_name(b)).max_leaders = Some(to),
            Place::Zone(z) => limit(case, problem, z).max_leaders = Some(to),
        },
        Change::MaxReplicas { place, to } => match place {
            Place::Broker(b) => broker(case, &broker_name(b)).max_replicas = Some(to),
            Place::Zone(z) => limit(case, problem, z).max_replicas = Some(to),
        },
        Change::MinLeaders { zone, to } => limit(case, problem, zone).min_leaders = Some(to),
        Change::Open { .. } => {}
    }
}

fn broker<'a>(case: &'a mut Case, id: &str) -> &'a mut shardflow_solver::input::BrokerInput {
    let mut brokers = case.snapshot.brokers.iter_mut();
    brokers.find(|b| b.id == id).expect("listed")
}

fn limit<'a>(case: &'a mut Case, problem: &Problem, zone: ZoneId) -> &'a mut ZoneLimitInput {
    let name = &problem.zones[zone.index()].name;
    let mut limits = case.policy.zone_limits.iter_mut();
    limits.find(|l| l.zone == *name).expect("limited")
}

/// The problem under the changes; opened brokers have no other name in the input where tags close them.
fn problem_under(case: &Case, problem: &Problem, changes: &[Change]) -> Problem {
    let mut next = changed(case, problem, changes).problem();
    for change in changes {
        if let Change::Open { stream, broker } = *change {
            let share = u64::from(next.broker(broker).share);
            let stream = &mut next.streams[stream.index()];
            assert!(!stream.open[broker.index()]);
            stream.open[broker.index()] = true;
            stream.share_total += share;
        }
    }
    next
}

#[test]
fn remedies_lift_what_they_say_when_planned_again() {
    let (mut tried, mut whole, mut opened) = ([0; 3], 0, 0);
    each_case(|case, problem| {
        let value = solve(problem).plan.after.0;
        for Reason { cut, remedies } in reasons(problem, &value) {
            for remedy in &remedies {
                let again = solve(&problem_under(case, problem, &remedy.changes));
                let after = again.plan.after.0;
                let lifted = value[cut.rank] - after[cut.rank];
                assert_eq!(lifted, remedy.lifts, "{cut:?} {remedy:?}");
                let at = RANKS_EXPLAINED.iter().position(|&r| r == cut.rank);
                let at = at.expect("an explained rank");
                for rank in &RANKS_EXPLAINED[..at] {
                    assert!(after[*rank] <= value[*rank], "{cut:?} {remedy:?}");
                }
                tried[at] += 1;
                let is_open = |c: &Change| matches!(c, Change::Open { .. });
                opened += usize::from(remedy.changes.iter().any(is_open));
            }
            whole += usize::from(remedies.first().is_some_and(|r| r.lifts >= cut.need()));
        }
    });
    assert!(tried.iter().all(|&n| n > 100), "{tried:?}");
    assert!(whole > 300 && opened > 50, "{whole} whole, {opened} opened");
}

#[test]
fn a_remedy_of_one_unit_less_lifts_less() {
    let mut tried = 0;
    each_case(|case, problem| {
        let value = solve(problem).plan.after.0;
        for Reason { cut, remedies } in reasons(problem, &value) {
            for remedy in remedies.iter().filter(|remedy| remedy.changes.len() == 1) {
                let less = match remedy.changes[0] {
                    Change::MaxLeaders { place, to } => Change::MaxLeaders { place, to: to - 1 },
                    Change::MaxReplicas { place, to } => Change::MaxReplicas { place, to: to - 1 },
                    Change::MinLeaders { zone, to } => Change::MinLeaders { zone, to: to + 1 },
                    Change::Open { .. } => continue,
                };
                let again = solve(&problem_under(case, problem, &[less]));
                let lifted = value[cut.rank] - again.plan.after.0[cut.rank];
                assert!(lifted < remedy.lifts, "{cut:?} {remedy:?}");
                tried += 1;
            }
        }
    });
    assert!(tried > 300, "only {tried}");
}

#[test]
fn a_cut_with_one_number_changed_is_refused() {
    let mut refused = 0;
    each_case(|_, problem| {
        let value = solve(problem).plan.after.0;
        for Reason { cut, .. } in reasons(problem, &value) {
            for wrong in corrupted(&cut, problem) {
                let faults = verify::cut::check(problem, &value, &wrong);
                assert_ne!(faults, [], "{cut:?} as {wrong:?}");
                refused += 1;
            }
        }
    });
    assert!(refused > 2_000, "only {refused}");
}

/// Cuts that claim something else.
fn corrupted(cut: &Cut, problem: &Problem) -> Vec<Cut> {
    let mut all: Vec<Cut> = Vec::new();
    let mut with = |change: &dyn Fn(&mut Cut)| {
        let mut wrong = cut.clone();
        change(&mut wrong);
        all.push(wrong);
    };
    with(&|cut| cut.demand += 1);
    with(&|cut| cut.capacity -= 1);
    with(&|cut| cut.unplaced += 1);
    with(&|cut| cut.demand = cut.capacity);
    if let Some(&first) = cut.shards.first() {
        with(&|cut| cut.shards.insert(0, first));
    }
    with(&|cut| cut.shards.push(ShardId::at(problem.shards.len())));
    let has_room = |limit: &CutLimit| limit.rule != LimitRule::Closed && limit.room > 0;
    if cut.limits.first().is_some_and(has_room) {
        with(&|cut| {
            let gone = cut.limits.remove(0);
            cut.capacity -= gone.room;
        });
    }
    if cut.rank != Rank::ZoneMinimumShortfall && !cut.limits.is_empty() {
        for by in [-1, 1] {
            with(&|cut| {
                cut.limits[0].room += by;
                cut.capacity += by;
            });
        }
    }
    if problem.policy.roles == Roles::LeadershipOnly && !cut.limits.is_empty() {
        with(&|cut| cut.limits[0].rule = LimitRule::MaxReplicas);
    }
    all
}
