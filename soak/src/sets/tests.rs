//! The second formulation against plain enumeration: legality by the verifier, cost by the objective.

use std::collections::BTreeSet;

use shardflow_solver::cost::{Cost, evaluate};
use shardflow_solver::model::current;
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, Roles, Shard, ShardId};
use shardflow_solver::verify::placement;

use super::{Kind, choices, generate, joint};

/// Most placements to try for one case.
const PLACEMENTS_MAX: usize = 4_000;

/// Assignments of one shard, legal or not: every set of brokers under every leader or none, with any lost replicas.
fn candidates(problem: &Problem, shard: &Shard) -> Vec<Assignment> {
    let brokers: Vec<BrokerId> = problem.broker_ids().collect();
    let mut candidates = vec![shard.present.clone()];
    for bits in 0..1_u32 << brokers.len() {
        let set = brokers.iter().copied().filter(|b| bits >> b.0 & 1 == 1);
        let set: Vec<BrokerId> = set.collect();
        for leader in set.iter().copied().map(Some).chain([None]) {
            let followers = set.iter().copied().filter(|&b| Some(b) != leader);
            candidates.push(Assignment {
                leader,
                followers: followers.collect(),
            });
        }
    }
    candidates.sort_by_key(key);
    candidates.dedup();
    candidates
}

fn key(assignment: &Assignment) -> (Option<BrokerId>, Vec<BrokerId>) {
    (assignment.leader, assignment.followers.clone())
}

/// Those that the verifier accepts of the shard.
fn legal(problem: &Problem, id: ShardId) -> Vec<Assignment> {
    let mut plan = current::placement(problem);
    let mut legal = candidates(problem, problem.shard(id));
    legal.retain(|assignment| {
        plan[id.index()].clone_from(assignment);
        let faults = placement::check(problem, &plan).faults;
        faults.iter().all(|fault| fault.shard != Some(id))
    });
    legal
}

/// The least cost of all legal placements; `None` where there are too many.
fn least(problem: &Problem) -> Option<Cost> {
    let options: Vec<Vec<Assignment>> = problem.shard_ids().map(|id| legal(problem, id)).collect();
    let count = (options.iter()).try_fold(1_usize, |all, some| all.checked_mul(some.len()));
    count.filter(|&count| count <= PLACEMENTS_MAX)?;
    let mut plans = vec![Vec::new()];
    for some in &options {
        let with = |plan: &Vec<Assignment>| -> Vec<Vec<Assignment>> {
            let longer = |one: &Assignment| plan.iter().chain([one]).cloned().collect();
            some.iter().map(longer).collect()
        };
        plans = plans.iter().flat_map(with).collect();
    }
    let costs = plans.into_iter().filter_map(|plan| {
        let is_legal = placement::check(problem, &plan).faults.is_empty();
        is_legal.then(|| evaluate(problem, &plan).0)
    });
    costs.min()
}

/// A part of a case: so few shards that every placement can be tried.
fn small_problem(seed: u64) -> Problem {
    let mut case = generate::case(seed);
    let keep = 1 + (seed / 3 % 3) as usize;
    case.snapshot.shards.truncate(keep);
    let shards: BTreeSet<String> = case.snapshot.shards.iter().map(|s| s.id.clone()).collect();
    (case.snapshot.in_flight).retain(|flight| shards.contains(&flight.shard));
    case.problem()
}

#[test]
fn the_choices_of_a_shard_are_what_the_verifier_allows_at_the_objectives_price() {
    let mut shards = 0;
    for seed in 0..600 {
        let problem = generate::case(seed).problem();
        if problem.policy.roles == Roles::LeadershipOnly && seed % 4 > 0 {
            continue;
        }
        for id in problem.shard_ids().take(2) {
            let mut chosen: Vec<Assignment> = choices::of(&problem, problem.shard(id))
                .into_iter()
                .map(|choice| choice.listed)
                .collect();
            chosen.sort_by_key(key);
            assert_eq!(chosen, legal(&problem, id), "seed {seed}, {id:?}");
            shards += 1;
        }
    }
    assert!(shards > 500, "{shards}");
}

#[test]
fn the_joint_optimum_is_the_least_of_all_placements() {
    let mut compared = [0; 3];
    for seed in 0..600 {
        let problem = small_problem(seed);
        let Some(least) = least(&problem) else {
            continue;
        };
        let optimum = joint::optimum(&problem, 60.0).expect("the program is right");
        let optimum = optimum.expect("a small program is solved");
        assert_eq!(optimum.cost, least, "seed {seed}: {problem:#?}");
        assert_eq!(placement::check(&problem, &optimum.placement).faults, []);
        compared[Kind::of(seed) as usize] += 1;
    }
    assert!(compared.iter().all(|&count| count > 50), "{compared:?}");
}
