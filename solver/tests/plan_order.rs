//! The order of moves: properties over random problems and legal targets, and capacity cycles and chains by hand.

mod plan_common;

use plan_common::groups::check_groups;
use plan_common::random::{Random, random_cluster, random_target};
use plan_common::{Cluster, Live, assignment, brief, check, counted, is_legal};
use shardflow_solver::plan::{self, Move, MoveKind, MoveReason, Plan};
use shardflow_solver::snapshot::{BrokerState, Problem, ShardId};
use shardflow_solver::verify;

use BrokerState::{Active, Draining};

/// A failover to a broker that held none is promoted first, unless no holder has room.
fn check_failovers(problem: &Problem, plan: &Plan) {
    let start: Vec<Live> = problem
        .shards
        .iter()
        .map(|s| Live::of(problem, &s.present))
        .collect();
    let before = counted(problem, &start);
    for (i, goal) in plan.placement.iter().enumerate() {
        let Some(leader) = goal.leader else { continue };
        let has_failed = start[i].leader.is_none() && !start[i].followers.is_empty();
        if !has_failed || start[i].followers.contains(&leader) {
            continue;
        }
        let mine: Vec<&Move> = plan
            .moves
            .iter()
            .filter(|m| m.shard == ShardId::at(i))
            .collect();
        let goes_straight = mine[0].kind != MoveKind::Promotion;
        let could_wait = start[i].followers.iter().any(|&b| {
            let mut layout = start.clone();
            layout[i].followers.remove(&b);
            layout[i].leader = Some(b);
            is_legal(&before, &counted(problem, &layout))
        });
        let is_first = mine[0].step < mine[mine.len() - 1].step;
        assert!(goes_straight || is_first);
        let others_failed = start
            .iter()
            .filter(|live| live.leader.is_none() && !live.followers.is_empty())
            .count();
        assert!(!goes_straight || !could_wait || others_failed > 1);
    }
}

#[test]
fn plans_of_random_targets_hold_what_they_promise() {
    let (mut several, mut moves) = (0, 0);
    for seed in 0..6000 {
        let mut random = Random(seed);
        let cluster = random_cluster(&mut random);
        let problem = cluster.problem();
        let target = random_target(&mut random, &problem);
        let plan = plan::make(&problem, target.clone());
        assert_eq!(plan, plan::make(&problem, target), "seed {seed}");
        let steps = check(&problem, &plan);
        let faults = verify::moves::check(&problem, &plan);
        assert!(faults.is_empty(), "seed {seed}: {faults:?}");
        several += check_groups(&problem, &plan, &steps);
        check_failovers(&problem, &plan);
        moves += plan.moves.len();
    }
    assert!(
        several > 1500 && moves > 20_000,
        "{several} groups, {moves} moves"
    );
}

#[test]
fn a_plan_does_not_depend_on_the_order_of_the_input() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let cluster = random_cluster(&mut random);
        let problem = cluster.problem();
        let target = random_target(&mut random, &problem);
        let mut other = cluster.clone();
        random.shuffle(&mut other.snapshot.brokers);
        random.shuffle(&mut other.snapshot.shards);
        random.shuffle(&mut other.snapshot.streams);
        let plan = plan::make(&problem, target.clone());
        assert_eq!(plan, plan::make(&other.problem(), target), "seed {seed}");
    }
}

#[test]
fn a_target_above_a_cap_in_force_still_gets_an_order() {
    let cluster = Cluster::new(1)
        .broker("a", "x", Active, 1, 0)
        .broker("b", "y", Active, 1, 0)
        .shard("p", "a", &[])
        .shard("q", "b", &[]);
    let plan = cluster.plan(&[("a", &[]), ("a", &[])]);
    assert_eq!(plan.moves.len(), 1);
}

/// `n` brokers with one leader each and no room.
fn full_ring(n: usize) -> Cluster {
    (0..n).fold(Cluster::new(1), |cluster, b| {
        let id = format!("b{b:03}");
        cluster
            .broker(&id, &format!("z{b:03}"), Active, 1, 1)
            .shard(&format!("p{b:03}"), &id, &[])
    })
}

#[test]
fn a_cycle_of_full_brokers_is_one_step() {
    for n in [2, 3, 7, 100] {
        let cluster = full_ring(n);
        let problem = cluster.problem();
        let target = (0..n)
            .map(|b| assignment(&problem, &format!("b{:03}", (b + 1) % n), &[]))
            .collect();
        let plan = plan::make(&problem, target);
        check(&problem, &plan);
        assert_eq!(plan.moves.len(), n);
        assert!(plan.moves.iter().all(|m| m.step == 1));
    }
}

#[test]
fn separate_cycles_are_separate_steps() {
    let cluster = full_ring(6);
    let problem = cluster.problem();
    let to = [1, 2, 0, 4, 3, 5].map(|b| assignment(&problem, &format!("b00{b}"), &[]));
    let plan = plan::make(&problem, to.to_vec());
    check(&problem, &plan);
    let steps: Vec<(u32, u32)> = plan.moves.iter().map(|m| (m.step, m.shard.0)).collect();
    assert_eq!(steps, [(1, 0), (1, 1), (1, 2), (2, 3), (2, 4)]);
}

#[test]
fn a_chain_into_free_room_goes_from_its_end() {
    let cluster = full_ring(5).broker("free", "z", Active, 1, 1);
    let problem = cluster.problem();
    let target = ["b001", "b002", "b003", "b004", "free"].map(|b| assignment(&problem, b, &[]));
    let plan = plan::make(&problem, target.to_vec());
    check(&problem, &plan);
    let steps: Vec<(u32, u32)> = plan.moves.iter().map(|m| (m.step, m.shard.0)).collect();
    assert_eq!(steps, [(1, 4), (2, 3), (3, 2), (4, 1), (5, 0)]);
}

#[test]
fn what_makes_room_takes_the_reason_it_serves() {
    let cluster = Cluster::new(1)
        .broker("a", "x", Draining, 0, 0)
        .broker("b", "x", Active, 1, 1)
        .broker("c", "x", Active, 1, 1)
        .broker("d", "x", Active, 0, 0)
        .shard("p", "a", &[])
        .shard("q", "b", &[])
        .shard("r", "c", &[]);
    let problem = cluster.problem();
    let plan = cluster.plan(&[("b", &[]), ("c", &[]), ("d", &[])]);
    check(&problem, &plan);
    let found: Vec<String> = plan.moves.iter().map(|m| brief(&problem, m)).collect();
    assert_eq!(
        found,
        [
            "1 r Copy Leader c>d Drain",
            "2 q Copy Leader b>c Drain",
            "3 p Copy Leader a>b Drain"
        ]
    );
}

#[test]
fn a_broker_that_stays_above_its_cap_exchanges_in_one_step() {
    let cluster = Cluster::new(1)
        .broker("a", "x", Active, 1, 0)
        .broker("b", "x", Active, 0, 0)
        .shard("p", "a", &[])
        .shard("q", "a", &[])
        .shard("r", "b", &[]);
    let problem = cluster.problem();
    let plan = cluster.plan(&[("b", &[]), ("a", &[]), ("a", &[])]);
    check(&problem, &plan);
    assert!(plan.moves.len() == 2 && plan.moves.iter().all(|m| m.step == 1));
    assert!(plan.moves.iter().all(|m| m.reason == MoveReason::Cost));
}
