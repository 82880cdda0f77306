//! Cost scaling: push-relabel on reduced costs, with an error that falls by a factor from phase to phase.
//!
//! **Problem and notation.** Costs are multiplied by nodes + 1. A flow and potentials are ε-optimal when every half arc
//! with room (an arc forward, or backward where it carries flow) has
//! `reduced_cost = cost + potential[tail] − potential[head] ≥ −ε`. At ε = 1 no cycle of room is cheaper than
//! −nodes, and a negative cycle of the given costs would be at most −(nodes + 1): the flow is optimal
//! (Bertsekas; Goldberg, Tarjan 1990).
//!
//! **Phase.** ε falls by [`DIVISOR`]. Half arcs of negative reduced cost are filled, which leaves an excess here and a
//! lack there; then nodes with excess push it along *admissible* half arcs (room, negative reduced cost), and a node
//! without one is *relabelled*: its potential falls until it has one, by at least ε. Every half arc keeps ≥ −ε.
//! - *Partial augmentation* (Goldberg 2008; Kovács 2015, section 3.3): excess moves along a path of up to
//!   [`PATH_MAX`] admissible half arcs at once, so that it doesn't move to a node that can't pass it on.
//! - *Global update* (Goldberg 1997): every so many relabels all potentials fall by the distance to the nearest lack,
//!   in steps of ε, by buckets.
//!
//! **Potentials.** At the end they are divided by nodes + 1 and corrected by label-correcting steps, in given
//! costs, until all half arcs with room have reduced cost ≥ 0.
//!
//! **Complexity.** O(nodes² · arcs · log(nodes · costs)); near linear times the phases in practice, also where each
//! simplex is hopeless.
//!
//! Price refinement (settling a phase by new potentials alone) never succeeded on the families measured, so it is not
//! here.
//!
//! **Where it steps aside.** It needs amounts and costs of 32 bits, clamped as [`Problem`] says, and prices that
//! fit 64 bits. It does not look for the cut of an infeasible network: it finds that some excess reaches no lack.
//! In each of these cases it gives up with `None` and the simplex takes the problem.

mod exact;
mod refine;
mod residual;
mod update;

use super::problem::Problem;
use super::{LinearError, Optimum, Stats};
use crate::budget::{Budget, Stop};
use residual::Residual;

/// Factor between the errors of two phases.
const DIVISOR: i64 = 16;

/// Relabels after which a search for a path returns, so that excess without a way to a lack is noticed.
const RELABELS_MAX: usize = 64;

/// Half arcs on a partial augmentation.
const PATH_MAX: usize = 4;

/// Why there is no answer.
enum Halt {
    Stopped(Stop),
    /// Some excess reaches no lack.
    Infeasible,
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        Halt::Stopped(stop)
    }
}

/// The state of a solve.
struct Scaling {
    residual: Residual,
    /// nodes + 1.
    factor: i64,
    /// In multiplied costs.
    potential: Vec<i64>,
    excess: Vec<i64>,
    /// The half arc to look at next, per node.
    current: Vec<u32>,
    update: update::Update,
    queue: std::collections::VecDeque<u32>,
    path: Vec<u32>,
    stats: Stats,
}

/// Whether the ranges allow cost scaling.
pub(super) fn is_able(problem: &Problem<'_>) -> bool {
    let limit = 1 << 29;
    let nodes = problem.excess.len() as i128 + 1;
    let prices = 8 * i128::from(problem.cost_max.max(1)) * nodes * nodes;
    problem.clamp.is_some_and(|clamp| clamp < limit) && problem.cost_max < limit && prices < 1 << 62
}

/// Solves the problem, or gives up; see the module.
///
/// # Errors
/// A stop, with the flow of the last phase that ended.
pub(super) fn solve(
    problem: &Problem<'_>,
    budget: &mut Budget<'_>,
) -> Result<Option<Optimum>, LinearError> {
    let resting = match problem.resting_flow() {
        Ok(resting) if is_able(problem) => resting,
        _ => return Ok(None),
    };
    let mut scaling = Scaling::new(problem);
    let mut kept = None;
    match scaling.run(problem, budget, &mut kept) {
        Ok(()) => {}
        Err(Halt::Infeasible) => return Ok(None),
        Err(Halt::Stopped(reason)) => {
            let flow = kept.map(|rooms| residual::flow(problem, resting, &rooms));
            return Err(LinearError::Stopped { reason, flow });
        }
    }
    let rooms = scaling.residual.backward_rooms(problem);
    Ok(Some(Optimum {
        flow: residual::flow(problem, resting, &rooms),
        potentials: scaling.potential,
        stats: scaling.stats,
    }))
}

impl Scaling {
    fn new(problem: &Problem<'_>) -> Self {
        let nodes = problem.excess.len();
        let residual = Residual::new(problem);
        Scaling {
            factor: nodes as i64 + 1,
            potential: vec![0; nodes],
            excess: problem.excess.clone(),
            current: vec![0; nodes],
            update: update::Update::new(nodes),
            queue: std::collections::VecDeque::with_capacity(nodes),
            path: Vec::with_capacity(PATH_MAX),
            residual,
            stats: Stats::default(),
        }
    }

    /// All phases. `kept` holds the rooms of the last phase that ended.
    fn run(
        &mut self,
        problem: &Problem<'_>,
        budget: &mut Budget<'_>,
        kept: &mut Option<Vec<i32>>,
    ) -> Result<(), Halt> {
        let mut epsilon = problem.cost_max.max(1) * self.factor;
        loop {
            epsilon = (epsilon / DIVISOR).max(1);
            self.stats.phases += 1;
            self.refine(epsilon, budget)?;
            *kept = Some(self.residual.backward_rooms(problem));
            if epsilon == 1 {
                return self.settle_potentials(budget);
            }
        }
    }
}
