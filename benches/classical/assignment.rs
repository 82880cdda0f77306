//! Assignment: as many workers as jobs, each worker with a few jobs it can do at random costs.

use crate::network::{Bare, Builder};
use crate::random::Random;
use shardflow_solver::network::NetworkError;

/// Costs lie in 1…COST_MAX.
const COST_MAX: usize = 10_000;

/// `side` workers and as many jobs, `degree` arcs a worker. One of them, of a random permutation, lets everyone have
/// a job.
pub(crate) fn make(side: usize, degree: usize, random: &mut Random) -> Result<Bare, NetworkError> {
    let mut builder = Builder::default();
    let workers: Vec<_> = (0..side).map(|_| builder.node(1)).collect();
    let jobs: Vec<_> = (0..side).map(|_| builder.node(-1)).collect();
    let own = random.permutation(side);
    for (worker, own) in workers.into_iter().zip(own) {
        for k in 0..degree {
            let job = if k == 0 { own } else { random.below(side) };
            builder.arc(worker, jobs[job], (0, 1), random.one_to(COST_MAX));
        }
    }
    builder.finish()
}
