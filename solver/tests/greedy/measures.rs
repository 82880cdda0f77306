//! What the tests read off a plan.

use shardflow_solver::snapshot::{Assignment, Counts, Problem};

/// Leaders of a stream by broker.
pub(crate) fn leaders(problem: &Problem, plan: &[Assignment], id: &str) -> Vec<i64> {
    let mut counts = vec![0; problem.brokers.len()];
    for (i, shard) in problem.shards.iter().enumerate() {
        if problem.stream(shard.stream).id == id
            && let Some(b) = plan[i].leader
        {
            counts[b.index()] += 1;
        }
    }
    counts
}

pub(crate) fn counts(problem: &Problem, plan: &[Assignment]) -> Counts {
    let mut counts = Counts::zero(problem.brokers.len(), problem.zones.len());
    plan.iter().for_each(|a| counts.add(&problem.brokers, a, 1));
    counts
}

/// Leaders of all streams by broker.
pub(crate) fn totals(problem: &Problem, plan: &[Assignment]) -> Vec<i64> {
    counts(problem, plan).leaders
}

/// The present layout as a plan.
pub(crate) fn present(problem: &Problem) -> Vec<Assignment> {
    problem.shards.iter().map(|s| s.present.clone()).collect()
}

pub(crate) fn range(counts: &[i64]) -> i64 {
    counts.iter().max().unwrap_or(&0) - counts.iter().min().unwrap_or(&0)
}

pub(crate) fn moved(problem: &Problem, plan: &[Assignment]) -> usize {
    let shards = problem.shards.iter().zip(plan);
    shards.filter(|(s, a)| s.present != **a).count()
}

pub(crate) fn assert_level(problem: &Problem, plan: &[Assignment]) {
    for s in &problem.streams {
        let counts = leaders(problem, plan, &s.id);
        assert!(range(&counts) <= 1, "stream {}: {counts:?}", s.id);
    }
    let counts = totals(problem, plan);
    assert!(range(&counts) <= 1, "totals: {counts:?}");
}
