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
//!
//! **Memory.** 32 bytes an arc and 58 a node (a test adds them up). Nothing is allocated inside a phase.

mod exact;
mod refine;
mod residual;
mod update;

use super::problem::Problem;
use super::{LinearError, Method, Optimum, Stats};
use crate::budget::{Budget, Stop};
use residual::Residual;
use std::collections::VecDeque;

/// Factor between the errors of two phases, as in LEMON.
const DIVISOR: i64 = 16;

/// Relabels after which a search for a path returns, so that excess without a way to a lack is noticed.
const RELABELS_MAX: usize = 64;

/// Half arcs on a partial augmentation, as in Kovács 2015.
const PATH_MAX: usize = 4;

/// Why there is no answer.
enum Halt {
    /// The budget ended.
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
pub(super) struct Scaling {
    residual: Residual,
    /// nodes + 1.
    factor: i64,
    /// In multiplied costs.
    potential: Vec<i64>,
    excess: Vec<i64>,
    /// The half arc to look at next, per node.
    current: Vec<u32>,
    update: update::Update,
    /// Nodes with excess; at the end those whose potential may make a reduced cost negative.
    queue: VecDeque<u32>,
    is_queued: Vec<bool>,
    path: Vec<u32>,
    phases: u64,
    relabels: u64,
    updates: u64,
    arcs_priced: u64,
}

/// Nodes from which on cost scaling may be favoured.
///
/// On the torus networks of GOTO the simplex takes 0.65 of its time at 2¹³ nodes, as long at 2¹⁴ and more beyond: its
/// time grows by 4 with each doubling, that of cost scaling by 2.5.
const FAVOURED_NODES_MIN: usize = 20_000;

/// Whether cost scaling is to be expected to be the faster engine: from one node to one other flows what some path could
/// carry alone, as there are enough arcs that are able to, but most arcs could not. Ways of nearly the same cost then share it,
/// the tree is deep, and a pivot dear.
///
/// On all other families measured the simplex is as fast or faster, mostly by more than 2 times: without arcs that can carry
/// all (grids), with many supplies (NETGEN, assignment, placement), or below this size.
pub(super) fn is_favoured(problem: &Problem<'_>, budget: &mut Budget<'_>) -> Result<bool, Stop> {
    let nodes = problem.excess.len();
    let Some((supply, _)) = problem.single_pair() else {
        return Ok(false);
    };
    if nodes < FAVOURED_NODES_MIN || !is_able(problem) {
        return Ok(false);
    }
    let mut wide = 0;
    for arc in problem.movable_arcs() {
        budget.spend(1)?;
        wide += usize::from(problem.room(arc) >= Some(problem.excess[supply]));
    }
    Ok(wide + 1 >= nodes && 2 * wide <= problem.movable)
}

/// Whether the ranges allow cost scaling.
fn is_able(problem: &Problem<'_>) -> bool {
    let limit = 1 << 29;
    let nodes = problem.excess.len() as i128 + 1;
    let prices = 8 * i128::from(problem.cost_max.max(1)) * nodes * nodes;
    problem.clamp.is_some_and(|clamp| clamp < limit) && problem.cost_max < limit && prices < 1 << 62
}

/// Solves the problem, or gives up; see the module.
///
/// # Errors
/// A stop.
pub(super) fn solve(
    problem: &Problem<'_>,
    budget: &mut Budget<'_>,
    stats: &mut Stats,
) -> Result<Option<Optimum>, LinearError> {
    if problem.endless_loop.is_some() || !is_able(problem) {
        return Ok(None);
    }
    stats.method = Method::CostScaling;
    let mut scaling = Scaling::new(problem, budget)?;
    let run = scaling.run(problem, budget);
    stats.phases = scaling.phases;
    stats.relabels = scaling.relabels;
    stats.updates = scaling.updates;
    stats.arcs_priced = scaling.arcs_priced;
    match run {
        Ok(()) => Ok(Some(Optimum {
            flow: scaling.residual.flow(problem),
            potentials: scaling.potential,
        })),
        Err(Halt::Infeasible) => Ok(None),
        Err(Halt::Stopped(stop)) => Err(stop.into()),
    }
}

impl Scaling {
    pub(super) fn new(problem: &Problem<'_>, budget: &mut Budget<'_>) -> Result<Self, Stop> {
        let nodes = problem.excess.len();
        Ok(Scaling {
            residual: Residual::new(problem, budget)?,
            factor: nodes as i64 + 1,
            potential: vec![0; nodes],
            excess: problem.excess.clone(),
            current: vec![0; nodes],
            update: update::Update::new(nodes),
            queue: VecDeque::with_capacity(nodes),
            is_queued: vec![false; nodes],
            path: Vec::with_capacity(PATH_MAX),
            phases: 0,
            relabels: 0,
            updates: 0,
            arcs_priced: 0,
        })
    }

    /// All phases, and the potentials of the end.
    fn run(&mut self, problem: &Problem<'_>, budget: &mut Budget<'_>) -> Result<(), Halt> {
        let mut epsilon = problem.cost_max.max(1) * self.factor;
        while epsilon > 1 {
            epsilon = (epsilon / DIVISOR).max(1);
            self.phases += 1;
            self.refine(epsilon, budget)?;
        }
        self.settle_potentials(budget)
    }

    /// Puts a node at the end of the queue, unless it waits there.
    #[inline]
    fn enqueue(&mut self, node: usize) {
        if !std::mem::replace(&mut self.is_queued[node], true) {
            self.queue.push_back(node as u32);
        }
    }

    /// Bytes held.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.residual.bytes()
            + self.update.bytes()
            + size_of_val(&*self.potential)
            + size_of_val(&*self.excess)
            + size_of_val(&*self.current)
            + size_of_val(&*self.is_queued)
            + self.queue.capacity() * size_of::<u32>()
    }
}
