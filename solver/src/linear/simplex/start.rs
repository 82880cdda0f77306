//! The first tree.

use super::pricing::Pricing;
use super::tree::{Link, NONE, Tree};
use super::{Arc, Engine};
use crate::budget::{Budget, Stop};
use crate::linear::number::Number;
use crate::linear::problem::Problem;
use crate::network::ArcId;

/// By how much the cost of artificial arcs grows while they carry flow.
pub(super) const RAISE: i64 = 64;

impl<N: Number> Engine<N> {
    /// Puts the arcs into working order and hangs every node from the root. The caller has checked the ranges.
    ///
    /// # Errors
    /// A stop.
    pub(in crate::linear) fn new(
        problem: &Problem<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Self, Stop> {
        let nodes = problem.excess.len();
        let count = problem.movable;
        let mut engine = Engine {
            arcs: Vec::with_capacity(count),
            capacity: Vec::with_capacity(count),
            origin: working_order(problem, budget)?,
            is_turned: vec![false; count],
            potential: Vec::with_capacity(nodes + 1),
            name: (0..nodes as u32).collect(),
            tree: Tree::new(&[], &[]),
            pricing: Pricing::new(nodes, count),
            big: (problem.reach + 1).min(N::REACH.into() / 2),
            is_beyond: false,
            pivots: 0,
            degenerate_pivots: 0,
            nodes_touched: 0,
        };
        for &index in &engine.origin {
            budget.spend(1)?;
            let arc = ArcId(index);
            engine.arcs.push(Arc {
                tail: problem.network.tail(arc).0,
                head: problem.network.head(arc).0,
                cost: N::narrow(problem.unit_cost[arc.index()]),
            });
            let capacity = problem.room(arc).unwrap_or(0);
            engine.capacity.push(N::narrow(capacity.min(N::FAR.into())));
        }
        engine.hang(problem);
        Ok(engine)
    }

    fn hang(&mut self, problem: &Problem<'_>) {
        let nodes = problem.excess.len();
        let big = N::narrow(self.big);
        let mut links = Vec::with_capacity(nodes);
        for (node, &excess) in problem.excess.iter().enumerate() {
            let amount = N::narrow(excess.abs());
            let is_demand = excess < 0;
            self.potential.push(if is_demand { big } else { N::ZERO });
            links.push(Link {
                parent: nodes as u32,
                arc: (self.arcs.len() + node) as u32,
                room_up: if is_demand { amount } else { N::FAR },
                room_down: if is_demand { N::FAR } else { amount },
            });
        }
        self.potential.push(N::ZERO);
        let order: Vec<u32> = (0..nodes as u32).collect();
        self.tree = Tree::new(&links, &order);
    }

    /// Arcs that should enter first, in order. O(nodes + arcs).
    ///
    /// With one supply and one demand: arcs that can carry all of it, as a search from the demand meets them. If they
    /// reach the supply, a feasible flow is there at once, and artificial arcs need no pivots any more (GOTO:
    /// 6 × faster). Otherwise the cheapest arc into each node of negative excess.
    pub(super) fn first_arcs(
        &self,
        problem: &Problem<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<u32>, Stop> {
        match problem.single_pair() {
            Some((supply, demand)) => {
                let amount = N::narrow(problem.excess[supply].min(N::FAR.into()));
                self.wide_arcs(supply, demand, amount, budget)
            }
            None => self.cheapest_arcs(problem, budget),
        }
    }

    /// Arcs with room for `amount` that a search from `demand` meets, until it meets `supply`.
    fn wide_arcs(
        &self,
        supply: usize,
        demand: usize,
        amount: N,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<u32>, Stop> {
        let mut begin = vec![0u32; self.name.len() + 1];
        for (arc, &capacity) in self.arcs.iter().zip(&self.capacity) {
            budget.spend(1)?;
            begin[arc.head as usize + 1] += u32::from(capacity >= amount);
        }
        for node in 1..begin.len() {
            begin[node] += begin[node - 1];
        }
        let mut next = begin.clone();
        let mut rows = vec![0u32; begin[begin.len() - 1] as usize];
        let arcs = self.arcs.iter().zip(&self.capacity);
        for (index, (arc, _)) in (0..)
            .zip(arcs)
            .filter(|(_, (_, capacity))| **capacity >= amount)
        {
            budget.spend(1)?;
            let slot = &mut next[arc.head as usize];
            rows[*slot as usize] = index;
            *slot += 1;
        }
        let mut first = Vec::new();
        let mut is_met = vec![false; self.name.len()];
        is_met[demand] = true;
        let mut stack = vec![demand];
        while let Some(node) = stack.pop().filter(|&node| node != supply) {
            for &index in &rows[begin[node] as usize..begin[node + 1] as usize] {
                budget.spend(1)?;
                let tail = self.arcs[index as usize].tail as usize;
                if !std::mem::replace(&mut is_met[tail], true) {
                    first.push(index);
                    stack.push(tail);
                }
            }
        }
        Ok(first)
    }

    /// The cheapest arc into each node of negative excess; of equals the first.
    fn cheapest_arcs(
        &self,
        problem: &Problem<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<u32>, Stop> {
        let mut cheapest = vec![NONE; self.name.len()];
        for (arc, index) in self.arcs.iter().zip(0u32..) {
            budget.spend(1)?;
            let best = &mut cheapest[arc.head as usize];
            if problem.excess[arc.head as usize] < 0
                && (*best == NONE || arc.cost < self.arcs[*best as usize].cost)
            {
                *best = index;
            }
        }
        cheapest.retain(|&index| index != NONE);
        Ok(cheapest)
    }
}

/// The arcs that can move, mixed a little: neighbours in the network come as far apart as there are arcs to a
/// node, so that a block sees arcs of several regions and yet most of a region together.
///
/// Mixing by √arcs, which takes neighbours apart altogether, tripled the pivots on grids.
fn working_order(problem: &Problem<'_>, budget: &mut Budget<'_>) -> Result<Vec<u32>, Stop> {
    let mut arcs = Vec::with_capacity(problem.movable);
    for arc in problem.movable_arcs() {
        budget.spend(1)?;
        arcs.push(arc.0);
    }
    let regions = (arcs.len() / problem.excess.len().max(1)).max(3);
    let stride = arcs.len().div_ceil(regions).max(1);
    let mut mixed = Vec::with_capacity(arcs.len());
    for first in 0..stride {
        budget.spend(regions as u64)?;
        mixed.extend(arcs.iter().skip(first).step_by(stride));
    }
    Ok(mixed)
}
