//! Breaches on the way of a plan, and the reasons of the moves that mend them.

mod plan_common;

use plan_common::groups::check_groups;
use plan_common::random::{Random, random_cluster, random_target, unwanted_cluster};
use plan_common::{Balance, Cluster, Live, breaches, brief, check, counted, layouts};
use shardflow_solver::plan::{self, Move, MoveKind, MoveReason};
use shardflow_solver::snapshot::{BrokerId, BrokerState, Problem, Roles};
use shardflow_solver::verify;

use BrokerState::{Active, Draining};

#[test]
fn no_step_adds_a_breach_that_the_plan_does_not_need() {
    let (mut balanced, mut several) = (0, 0);
    for seed in 0..12_000 {
        let mut random = Random(1_000_000 + seed);
        let problem = unwanted_cluster(&mut random).problem();
        let target = random_target(&mut random, &problem);
        let plan = plan::make(&problem, target);
        let faults = verify::moves::check(&problem, &plan);
        assert!(faults.is_empty(), "seed {seed}: {faults:?}");
        let steps = check(&problem, &plan);
        several += check_groups(&problem, &plan, &steps);
        let layouts = layouts(&problem, &steps);
        let unwanted = layouts
            .first()
            .is_some_and(|l| breaches(&problem, l) > 0 && steps.len() > 1);
        let is_even = Balance::new(&problem, &layouts).is_even();
        balanced += usize::from(is_even && unwanted);
    }
    assert!(
        balanced > 4_000 && several > 1_000,
        "{balanced} plans add no breach, {several} groups"
    );
}

/// Of the moves in a step that leave a broker or zone above what it ends with and its cap, as many are forced as are
/// too many there.
fn check_reasons(problem: &Problem, layouts: &[Vec<Live>], steps: &[Vec<Move>]) -> usize {
    let zone = |b: BrokerId| problem.brokers.len() + problem.zone_of(b).index();
    let goal = counted(problem, &layouts[layouts.len() - 1]);
    let (brokers, zones) = (problem.brokers.len(), problem.zones.len());
    let place = |is_leader: bool, at: usize| match at < brokers {
        true => at + if is_leader { 0 } else { brokers },
        false => at + brokers + if is_leader { 0 } else { zones },
    };
    let mut mended = 0;
    for (layout, step) in layouts.iter().zip(steps) {
        let before = counted(problem, layout);
        let mut leaving: Vec<Vec<MoveReason>> = vec![Vec::new(); before.len()];
        let mut running = layout.clone();
        for m in step {
            let old = running[m.shard.index()].leader;
            running[m.shard.index()].apply(problem, m);
            let new = running[m.shard.index()].leader;
            let replica = m.from.filter(|_| m.kind != MoveKind::Promotion);
            for (is_leader, from, to) in [(true, old, new), (false, replica, m.to)] {
                let Some(from) = from.filter(|_| from != to) else {
                    continue;
                };
                leaving[place(is_leader, from.index())].push(m.reason);
                if to.map(zone) != Some(zone(from)) {
                    leaving[place(is_leader, zone(from))].push(m.reason);
                }
            }
        }
        for (r, reasons) in leaving.iter().enumerate() {
            let (count, cap) = before[r];
            let most = cap.map_or(count, |cap| goal[r].0.max(i64::from(cap)));
            let wanted = reasons.len().min((count - most).max(0) as usize);
            let forced = reasons.iter().filter(|&&r| r <= MoveReason::Rule).count();
            assert!(forced >= wanted, "{wanted} of {reasons:?} in {step:?}");
            mended += wanted;
        }
    }
    mended
}

#[test]
fn what_leaves_a_count_above_its_cap_is_forced() {
    let mut mended = 0;
    for seed in 0..12_000 {
        let mut random = Random(2_000_000 + seed);
        let problem = match seed % 2 {
            0 => random_cluster(&mut random).problem(),
            _ => unwanted_cluster(&mut random).problem(),
        };
        let target = random_target(&mut random, &problem);
        let plan = plan::make(&problem, target);
        let steps = check(&problem, &plan);
        mended += check_reasons(&problem, &layouts(&problem, &steps), &steps);
    }
    assert!(mended > 3_500, "only {mended} counts were mended");
}

#[test]
fn a_promotion_onto_a_closed_broker_goes_with_the_one_that_pays_for_it() {
    let mut cluster = Cluster::new(2)
        .active("a", "x")
        .broker("b", "y", Active, 1, 0)
        .shard("p", "b", &["a"])
        .shard("q", "a", &["b"]);
    cluster.snapshot.streams[0].allowed_brokers = vec!["b".into()];
    cluster.policy.roles = Roles::LeadershipOnly;
    let problem = cluster.problem();
    let plan = cluster.plan(&[("a", &["b"]), ("b", &["a"])]);
    check(&problem, &plan);
    let found: Vec<String> = plan.moves.iter().map(|m| brief(&problem, m)).collect();
    assert_eq!(
        found,
        [
            "1 p Promotion Leader b>a Rule",
            "1 q Promotion Leader a>b Rule"
        ]
    );
}

#[test]
fn room_for_a_new_shard_is_made_together_with_what_pays_for_it() {
    let cluster = Cluster::new(2)
        .broker("a", "x", Draining, 0, 0)
        .broker("b", "y", Active, 2, 0)
        .shard("p", "", &[])
        .shard("q", "b", &["a"])
        .shard("r", "b", &["a"])
        .shard("s", "a", &["b"]);
    let problem = cluster.problem();
    let plan = cluster.plan(&[("", &[]), ("a", &["b"]), ("b", &["a"]), ("b", &["a"])]);
    check(&problem, &plan);
    assert!(
        plan.moves.len() == 2 && plan.moves.iter().all(|m| m.step == 1),
        "{:?}",
        plan.moves
    );
}
