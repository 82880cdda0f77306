//! Sets with roles ignored against every other choice of them.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::cost::{Cost, Rank, evaluate, shard_cost};
use shardflow_solver::model::sets::union;
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, ShardId};
use shardflow_solver::verify::placement::check;
use shardflow_solver::verify::{Fault, Rule};

use crate::cases::{Named, generate, start};
use crate::enumerate::{least, live_sets, with_lost};

/// The ranks that roles alone decide, or that pinned leaders make constant.
const OF_LEADERS: [Rank; 3] = [
    Rank::ZoneMinimumShortfall,
    Rank::StreamLeaderSpread,
    Rank::ClusterLeaderSpread,
];

/// The placement with each set that is decided as followers.
fn without_roles(problem: &Problem, placement: &[Assignment]) -> Vec<Assignment> {
    let decided = problem.shard_ids().zip(placement);
    decided
        .map(|(id, assignment)| match problem.shard(id).is_pinned {
            true => assignment.clone(),
            false => {
                let mut live: Vec<BrokerId> = problem.live(assignment).collect();
                live.sort_unstable();
                with_lost(problem, id, None, &live)
            }
        })
        .collect()
}

/// What a replica costs more as a leader, without what depends on others.
fn more_as_leader(problem: &Problem, id: ShardId, b: BrokerId) -> Cost {
    let led = Assignment {
        leader: Some(b),
        followers: Vec::new(),
    };
    let held = Assignment {
        leader: None,
        followers: vec![b],
    };
    let (mut led, held) = (
        shard_cost(problem, id, &led),
        shard_cost(problem, id, &held),
    );
    for (led, held) in led.0.iter_mut().zip(held.0) {
        *led -= held;
    }
    led[Rank::UnplacedLeaders] = 0;
    led[Rank::UnplacedFollowers] = 0;
    led
}

/// Cost of sets without roles, from that of the same sets as followers.
fn cost(problem: &Problem, placement: &[Assignment]) -> Cost {
    let mut cost = evaluate(problem, placement).0;
    for rank in OF_LEADERS {
        cost[rank] = 0;
    }
    for (id, assignment) in problem.shard_ids().zip(placement) {
        let shard = problem.shard(id);
        if shard.is_pinned {
            continue;
        }
        let factor = i64::from(problem.replication_factor(shard.stream));
        let live = problem.live(assignment).count() as i64;
        cost[Rank::UnplacedLeaders] -= i64::from(live > 0);
        cost[Rank::UnplacedFollowers] -= (factor - 1 - live).max(0);
        cost[Rank::UnplacedFollowers] += factor - live.max(1);
        for b in problem.live(assignment) {
            let more = more_as_leader(problem, id, b).min(Cost::default());
            for (cost, more) in cost.0.iter_mut().zip(more.0) {
                *cost += more;
            }
        }
    }
    cost
}

/// A set without roles has no leader, and may be as large as the factor.
fn is_excused(fault: &Fault) -> bool {
    matches!(fault.rule, Rule::Leaderless | Rule::Surplus)
}

fn optimum(problem: &Problem, start: &[Assignment]) -> Option<Cost> {
    let options = |id: ShardId| {
        let shard = problem.shard(id);
        let factor = problem.replication_factor(shard.stream) as usize;
        let mut sets = live_sets(problem, None);
        sets.retain(|set| set.len() <= factor && !shard.is_pinned);
        let sets = sets.iter();
        sets.map(|live| with_lost(problem, id, None, live))
            .collect()
    };
    least(problem, start, options, is_excused, |placement| {
        cost(problem, placement)
    })
}

fn compare(seed: u64) -> Option<bool> {
    let _named = Named(seed);
    let problem = generate(seed);
    let start = start(&problem, seed);
    let sets = without_roles(&problem, &start);
    let optimum = optimum(&problem, &sets)?;
    let mut budget = Budget::new(None, &never);
    let solution = union(&problem, &start, &mut budget).expect("validated problems are built");
    assert_eq!(solution.stop, None);
    let of_leaders = |fault: &Fault| matches!(fault.rule, Rule::BrokerLeaders | Rule::ZoneLeaders);
    let faults = check(&problem, &solution.placement).faults;
    assert!(faults.iter().all(of_leaders), "{faults:?}");
    let found = without_roles(&problem, &solution.placement);
    assert_eq!(cost(&problem, &found), optimum);
    Some(found != sets)
}

#[test]
fn tiny_problems_match_every_choice_of_sets() {
    let outcomes: Vec<bool> = (50_000..56_000).filter_map(compare).collect();
    let moved = outcomes.iter().filter(|&&moved| moved).count();
    assert!(outcomes.len() > 3_000, "only {} are small", outcomes.len());
    assert!(moved > 1_000, "only {moved} move anything");
}
