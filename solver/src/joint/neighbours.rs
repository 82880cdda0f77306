//! Large-neighbourhood search: a few shards at a time are decided anew by the MIP solver, all others stay.
//!
//! A neighbourhood is a shard that would like to be elsewhere and shards that are in its way: those on the broker where it
//! would be cheapest, of its own stream first, since these can take its place without a count changing.

use std::cmp::Reverse;

use crate::budget::{Budget, Stop};
use crate::cost::{Cost, shard_cost};
use crate::mip::{self, Effort};
use crate::snapshot::{Assignment, BrokerId, Problem, ShardId};

use super::options::{Entrants, Options};

/// Shards that one neighbourhood frees.
const SHARDS: usize = 10;

/// Neighbourhoods a round.
const SEEDS: usize = 8;

/// Rounds at most.
const ROUNDS: usize = 3;

/// Nodes of the MIP solver's search in one neighbourhood, a rank.
const NODES_MAX: u32 = 200;

/// A shard that would like to change.
struct Seed {
    shard: ShardId,
    /// What it would save by itself: rank by rank, negative.
    gain: Cost,
    /// Where a replica of it would go.
    to: BrokerId,
}

/// Improves a legal placement as far as the budget goes; the result is legal and no worse. HiGHS may take so many seconds a
/// run.
pub(super) fn improve(
    problem: &Problem,
    placement: &[Assignment],
    seconds_max: Option<f64>,
    budget: &mut Budget<'_>,
) -> (Vec<Assignment>, Option<Stop>) {
    let effort = Effort {
        nodes_max: Some(NODES_MAX),
        seconds_max,
    };
    let mut best = placement.to_vec();
    for _ in 0..ROUNDS {
        match round(problem, &mut best, effort, budget) {
            Ok(true) => {}
            Ok(false) => break,
            Err(stop) => return (best, Some(stop)),
        }
    }
    (best, None)
}

/// Decides one neighbourhood after another; whether that changed anything.
fn round(
    problem: &Problem,
    best: &mut Vec<Assignment>,
    effort: Effort,
    budget: &mut Budget<'_>,
) -> Result<bool, Stop> {
    let mut is_changed = false;
    for seed in seeds(problem, best, budget)? {
        let free = around(problem, best, &seed);
        let outcome = mip::solve(problem, best, Some(&free), effort, budget)?;
        if let Some(stop) = outcome.stop {
            return Err(stop);
        }
        is_changed |= outcome.placement != *best;
        *best = outcome.placement;
    }
    Ok(is_changed)
}

/// The shards with most to gain by themselves.
fn seeds(
    problem: &Problem,
    placement: &[Assignment],
    budget: &mut Budget<'_>,
) -> Result<Vec<Seed>, Stop> {
    let mut seeds = Vec::new();
    let mut pace = budget.pace();
    for id in problem.shard_ids() {
        pace.step(1)?;
        seeds.extend(seed(problem, id, &placement[id.index()]));
    }
    seeds.sort_by_key(|seed| (seed.gain, seed.shard));
    seeds.truncate(SEEDS);
    Ok(seeds)
}

fn seed(problem: &Problem, id: ShardId, now: &Assignment) -> Option<Seed> {
    let options = Options::of(problem, id, now)?;
    let (mut to, mut newcomers) = options.entrants();
    // To the shard all newcomers of a zone are alike.
    newcomers.sort_unstable();
    let by_zone = newcomers.chunk_by(|one, next| one.0 == next.0);
    to.extend(by_zone.map(|alike| alike[0].1));
    let entrants = Entrants {
        leaders: to.clone(),
        followers: to,
    };
    let cost = shard_cost(problem, id, now);
    let mut best: Option<(Cost, Assignment)> = None;
    options.each(&entrants, |assignment| {
        let found = shard_cost(problem, id, &assignment);
        if found < best.as_ref().map_or(cost, |best| best.0) {
            best = Some((found, assignment));
        }
    });
    let (found, assignment) = best?;
    let mut gain = found;
    for (gain, now) in gain.0.iter_mut().zip(cost.0) {
        *gain -= now;
    }
    let arrives = |b: &BrokerId| !now.holds(*b);
    let to = problem
        .live(&assignment)
        .find(arrives)
        .or(assignment.leader)?;
    Some(Seed {
        shard: id,
        gain,
        to,
    })
}

/// A shard and those in its way.
fn around(problem: &Problem, placement: &[Assignment], seed: &Seed) -> Vec<ShardId> {
    let stream = problem.shard(seed.shard).stream;
    let is_free = |&id: &ShardId| !problem.shard(id).is_pinned && id != seed.shard;
    let is_there = |id: &ShardId| placement[id.index()].holds(seed.to);
    let mut others: Vec<ShardId> = problem
        .shard_ids()
        .filter(is_free)
        .filter(is_there)
        .collect();
    let own = |id: ShardId| shard_cost(problem, id, &placement[id.index()]);
    others.sort_by_cached_key(|&id| (problem.shard(id).stream != stream, Reverse(own(id)), id));
    others.truncate(SHARDS - 1);
    others.push(seed.shard);
    others.sort_unstable();
    others
}
