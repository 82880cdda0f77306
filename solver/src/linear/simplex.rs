//! Primal network simplex for one linear cost.
//!
//! **Basis.** A spanning tree of the nodes and an artificial root; arcs outside it are empty or full. An arc is kept *in
//! the direction in which it has room*: when it comes to rest full, it is turned around and its cost negated. Hence an
//! arc may enter exactly when `cost + potential[tail] − potential[head] < 0`; tree arcs have zero there, so pricing
//! reads no state at all. Flow of tree arcs is kept as room up and down with the node below.
//!
//! **Artificial arcs.** A node of positive or no excess hangs from the root by an arc towards it, of cost 0; a node of
//! negative excess by an arc from it, of cost *big*. They never enter again. A flow is optimal once no arc may enter and
//! no artificial arc carries flow, whatever *big* is. While some carry flow, *big* is raised, at last to
//! `reach + 1`, above what any path may cost ([`Problem::reach`]): if an artificial arc carries flow at that
//! optimum, no path with room leads from a node with flow to the root to one with flow from it, and the network is
//! infeasible. Potentials are at most 2 · reach + 1 ≤ 2⁶¹ + 1 from the root's, which stays within 2⁶⁰ (below), so
//! nothing leaves `i64`.
//!
//! **Unbounded.** A cycle through the root comes up an artificial arc and goes down another. Only one that goes down an
//! arc of cost *big* has no limit there, and then it costs more than 0. So the cycle of an arc that enters without a
//! limit consists of arcs of the network.
//!
//! **Strong feasibility** as in [`crate::simplex`]: each tree arc has room from the node below towards the root, the
//! last blocking arc leaves, no tree repeats.
//!
//! **Width.** Where costs and clamped amounts are small, everything is kept in 32 bits. Amounts can't leave them;
//! potentials are watched, and when one does, the same tree goes on in 64 bits.
//!
//! **Memory.** 21 bytes an arc and 44 a node in 32 bits, 29 and 60 in 64 (a test adds them up). Nothing is allocated
//! between pivots.
//!
//! **Shifts.** When a subtree is hung elsewhere, its potentials shift, or, which comes to the same, all others shift the
//! other way: whichever are fewer, as long as the root's potential stays near 0. In deep trees (GOTO) this took a fifth
//! of the time away.
//!
//! **Locality.** Now and then the nodes are numbered in preorder of the tree, so that a subtree whose
//! potentials shift is near in memory.

mod cut;
mod pivot;
mod pricing;
mod start;
mod tree;

use super::number::Number;
use super::problem::Problem;
use super::{LinearError, Method, Optimum, Stats};
use crate::budget::{Budget, POLL_EVERY, Stop};
use crate::network::ArcId;
use pricing::{ADAPT_EVERY, Pricing};
use tree::Tree;

/// An arc in the direction in which it has room.
#[derive(Clone, Copy, Debug)]
struct Arc<N> {
    tail: u32,
    head: u32,
    cost: N,
}

/// The working state. Arcs are in working order, nodes in an order that changes.
#[derive(Clone, Debug)]
pub(super) struct Engine<N> {
    arcs: Vec<Arc<N>>,
    capacity: Vec<N>,
    /// The arc of the network.
    origin: Vec<u32>,
    /// Whether the arc is turned around.
    is_turned: Vec<bool>,
    /// Per node, and of the root.
    potential: Vec<N>,
    /// The node of the network.
    name: Vec<u32>,
    tree: Tree<N>,
    pricing: Pricing,
    /// Cost of artificial arcs from the root.
    big: i64,
    /// Whether a potential needs 64 bits.
    is_beyond: bool,
    pivots: u64,
    degenerate_pivots: u64,
    nodes_touched: u64,
}

/// How a run of pivots ended.
enum End {
    Optimal,
    Infeasible,
    /// A potential or the cost of artificial arcs needs 64 bits.
    Wide,
    /// The arcs of an uncapacitated cycle of negative cost.
    Unbounded(Vec<ArcId>),
    Stopped(Stop),
}

/// Nodes are numbered anew after nodes / this pivots and arcs / the next.
///
/// Twice as often or half as often changed times by under 5 % on all families.
const PIVOTS_PER_NODES: usize = 4;

/// A numbering passes over all arcs, which takes as long as some 500 pivots where arcs are 64 to a node; without this
/// term it took a fifth of the time there.
const PIVOTS_PER_ARCS: usize = 32;

/// Solves the problem.
///
/// # Errors
/// See [`LinearError`].
pub(super) fn solve(
    problem: &Problem<'_>,
    budget: &mut Budget<'_>,
    stats: &mut Stats,
) -> Result<Optimum, LinearError> {
    stats.method = Method::Simplex;
    if let Some(arc) = problem.endless_loop {
        return Err(unbounded(problem, vec![arc], budget));
    }
    let mut wide = if is_narrow(problem) {
        let mut narrow = Engine::<i32>::new(problem, budget)?;
        match narrow.run(problem, budget) {
            End::Wide => narrow.widen(),
            end => return narrow.answer(problem, end, budget, stats),
        }
    } else {
        Engine::<i64>::new(problem, budget)?
    };
    let end = wide.run(problem, budget);
    wide.answer(problem, end, budget, stats)
}

/// Whether amounts fit 32 bits for good, and costs for a start.
fn is_narrow(problem: &Problem<'_>) -> bool {
    let is_below = |value: i64, limit: i32| value < i64::from(limit / 2);
    let is_clamped = problem.clamp.is_some_and(|clamp| is_below(clamp, i32::FAR));
    is_clamped && is_below(problem.cost_max, i32::REACH)
}

/// The answer where a cycle has no end: it counts only if some flow is feasible.
fn unbounded(problem: &Problem<'_>, cycle: Vec<ArcId>, budget: &mut Budget<'_>) -> LinearError {
    let free = vec![0; problem.network.arc_count()];
    let feasible = Problem::new(problem.network, &free, budget)
        .and_then(|problem| solve(&problem, budget, &mut Stats::default()));
    match feasible {
        Ok(_) => LinearError::Unbounded { cycle },
        Err(error) => error,
    }
}

impl<N: Number> Engine<N> {
    /// Pivots until the end, whatever it is.
    fn run(&mut self, problem: &Problem<'_>, budget: &mut Budget<'_>) -> End {
        self.run_to_end(problem, budget)
            .unwrap_or_else(End::Stopped)
    }

    fn run_to_end(&mut self, problem: &Problem<'_>, budget: &mut Budget<'_>) -> Result<End, Stop> {
        if self.pivots == 0
            && let Some(end) = self.enter_first(problem, budget)?
        {
            return Ok(end);
        }
        let every =
            (self.name.len() / PIVOTS_PER_NODES + self.arcs.len() / PIVOTS_PER_ARCS + 100) as u64;
        let mut next_numbering = self.pivots + every;
        loop {
            let end = match self.pricing.find(&self.arcs, &self.potential, budget)? {
                Some(entering) => self.pivot(entering, budget)?,
                None => self.settle(problem),
            };
            if let Some(end) = end {
                return Ok(end);
            }
            if self.pivots.is_multiple_of(ADAPT_EVERY) {
                self.pricing.adapt(self.nodes_touched);
            }
            if self.pivots >= next_numbering {
                next_numbering += every;
                self.renumber(budget)?;
            }
        }
    }

    /// Lets the arcs of [`Engine::first_arcs`] enter, where they want to.
    fn enter_first(
        &mut self,
        problem: &Problem<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<End>, Stop> {
        for arc in self.first_arcs(problem, budget)? {
            if let Some(entering) = pricing::wanting(&self.arcs, &self.potential, arc as usize)
                && let Some(end) = self.pivot(entering, budget)?
            {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Once no arc may enter: the end, or none after *big* was raised.
    fn settle(&mut self, problem: &Problem<'_>) -> Option<End> {
        if self.missing() == 0 {
            return Some(End::Optimal);
        }
        let enough = problem.reach + 1;
        if self.big >= enough {
            return Some(End::Infeasible);
        }
        let big = enough.min(self.big.saturating_mul(start::RAISE));
        if big > N::REACH.into() / 2 {
            return Some(End::Wide);
        }
        self.raise(big);
        self.is_beyond.then_some(End::Wide)
    }

    /// What the artificial arcs from the root carry.
    fn missing(&self) -> i64 {
        let nodes = 0..self.name.len() as u32;
        nodes.filter_map(|node| self.artificial_demand(node)).sum()
    }

    /// Flow of the artificial arc from the root above a node, if that is the arc above it.
    fn artificial_demand(&self, node: u32) -> Option<i64> {
        let place = self.tree.place(node);
        let is_artificial = place.arc as usize >= self.arcs.len();
        (is_artificial && place.is_unlimited_down()).then(|| place.room_up.into())
    }

    /// Flow of the artificial arc to the root above a node, if that is the arc above it.
    fn artificial_supply(&self, node: u32) -> Option<i64> {
        let place = self.tree.place(node);
        let is_artificial = place.arc as usize >= self.arcs.len();
        (is_artificial && !place.is_unlimited_down()).then(|| place.room_down.into())
    }

    /// Raises the cost of artificial arcs from the root: what hangs by one shifts.
    fn raise(&mut self, big: i64) {
        let by = N::narrow(big - self.big);
        self.big = big;
        let root = self.tree.root();
        let mut node = self.tree.next[root as usize];
        let mut is_shifted = false;
        while node != root {
            if self.tree.place(node).parent == root {
                is_shifted = self.artificial_demand(node).is_some();
            }
            if is_shifted {
                let potential = &mut self.potential[node as usize];
                *potential += by;
                self.is_beyond |= potential.is_beyond();
            }
            node = self.tree.next[node as usize];
        }
    }

    /// Numbers the nodes in preorder, in place. O(nodes + arcs).
    fn renumber(&mut self, budget: &mut Budget<'_>) -> Result<(), Stop> {
        let number = self.tree.number();
        for arcs in self.arcs.chunks_mut(POLL_EVERY as usize) {
            budget.spend(arcs.len() as u64)?;
            for arc in arcs {
                arc.tail = number[arc.tail as usize];
                arc.head = number[arc.head as usize];
            }
        }
        self.tree.permute(&mut self.potential, &mut self.name);
        Ok(())
    }

    /// The same state in 64 bits.
    fn widen(self) -> Engine<i64> {
        let arcs = self.arcs.into_iter().map(|arc| Arc {
            tail: arc.tail,
            head: arc.head,
            cost: arc.cost.into(),
        });
        let wide = |numbers: Vec<N>| numbers.into_iter().map(Into::into).collect();
        let count = self.origin.len();
        Engine {
            arcs: arcs.collect(),
            capacity: wide(self.capacity),
            origin: self.origin,
            is_turned: self.is_turned,
            potential: wide(self.potential),
            name: self.name,
            tree: self.tree.widen(count),
            pricing: self.pricing,
            big: self.big,
            is_beyond: false,
            pivots: self.pivots,
            degenerate_pivots: self.degenerate_pivots,
            nodes_touched: self.nodes_touched,
        }
    }

    /// What the end means, by the ids of the network.
    fn answer(
        &self,
        problem: &Problem<'_>,
        end: End,
        budget: &mut Budget<'_>,
        stats: &mut Stats,
    ) -> Result<Optimum, LinearError> {
        stats.pivots = self.pivots;
        stats.degenerate_pivots = self.degenerate_pivots;
        stats.nodes_touched = self.nodes_touched;
        stats.arcs_priced += self.pricing.priced;
        match end {
            End::Optimal => Ok(Optimum {
                flow: self.flow(problem),
                potentials: self.potentials(),
            }),
            End::Unbounded(cycle) => Err(unbounded(problem, cycle, budget)),
            End::Stopped(stop) => Err(stop.into()),
            End::Infeasible | End::Wide => Err(self.infeasible(problem, budget)?),
        }
    }

    fn potentials(&self) -> Vec<i64> {
        let mut potentials = vec![0; self.name.len()];
        for (&name, &potential) in self.name.iter().zip(&self.potential) {
            potentials[name as usize] = potential.into();
        }
        potentials
    }

    /// Flow per arc of the network.
    fn flow(&self, problem: &Problem<'_>) -> Vec<i64> {
        let network = problem.network;
        let mut flow = problem.resting_flow();
        let arcs = self.origin.iter().zip(&self.capacity);
        for ((&arc, &capacity), &is_turned) in arcs.zip(&self.is_turned) {
            if is_turned {
                flow[arc as usize] += capacity.into();
            }
        }
        for (node, &name) in self.name.iter().enumerate() {
            let place = self.tree.place(node as u32);
            let Some(&arc) = self.origin.get(place.arc as usize) else {
                continue;
            };
            let is_up = network.tail(ArcId(arc)).0 == name;
            let room = if is_up {
                place.room_down
            } else {
                place.room_up
            };
            flow[arc as usize] = network.lower(ArcId(arc)) + room.into();
        }
        flow
    }

    /// Bytes held.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.arcs)
            + size_of_val(&*self.capacity)
            + size_of_val(&*self.origin)
            + size_of_val(&*self.is_turned)
            + size_of_val(&*self.potential)
            + size_of_val(&*self.name)
            + self.tree.bytes()
    }
}
