//! One pivot: push around the cycle, exchange an arc, shift the subtree.

use super::pricing::Entering;
use super::tree::Link;
use super::{End, Engine};
use crate::budget::Budget;
use crate::linear::number::Number;
use crate::network::ArcId;

impl<N: Number> Engine<N> {
    /// Lets an arc enter. An end where there is one: then the pivot is done, but for an unbounded cycle.
    pub(super) fn pivot(&mut self, entering: Entering<N>, budget: &mut Budget<'_>) -> Option<End> {
        let entered = entering.arc;
        let (from, to) = (self.arcs[entered].tail, self.arcs[entered].head);
        let room = self.capacity[entered];
        let cycle = self.tree.cycle(from, to, room);
        if cycle.amount.into() > N::FAR.into() / 2 {
            return Some(End::Unbounded(self.cycle_arcs(entered, cycle.apex)));
        }
        self.stats.pivots += 1;
        self.stats.nodes_touched += cycle.length;
        if cycle.amount > N::ZERO {
            self.tree.push(from, to, cycle.apex, cycle.amount);
        } else {
            self.stats.degenerate_pivots += 1;
        }
        let Some(leaving) = cycle.leaving else {
            self.turn(entered);
            return stopped(budget, cycle.length);
        };
        let (above, below) = (room - cycle.amount, cycle.amount);
        let cut = *self.tree.place(leaving.node);
        let (inner, link, pushed_from, by) = if leaving.is_before {
            let link = Link {
                parent: to,
                arc: entered as u32,
                room_up: above,
                room_down: below,
            };
            (from, link, cut.parent, -entering.reduced_cost)
        } else {
            let link = Link {
                parent: from,
                arc: entered as u32,
                room_up: below,
                room_down: above,
            };
            (to, link, leaving.node, entering.reduced_cost)
        };
        let left = cut.arc as usize;
        // It has no room along the push, so it rests against it.
        if (self.arcs.get(left)).is_some_and(|arc| arc.tail == pushed_from) {
            self.turn(left);
        }
        let turned = self.tree.rehang(inner, leaving.node, cycle.apex, link);
        let touched = turned + self.shift(inner, by);
        self.stats.nodes_touched += touched;
        if self.is_beyond {
            return Some(End::Wide);
        }
        stopped(budget, cycle.length + touched)
    }

    /// Turns an arc around, so that it points where it has room.
    #[inline]
    fn turn(&mut self, index: usize) {
        let arc = &mut self.arcs[index];
        std::mem::swap(&mut arc.tail, &mut arc.head);
        arc.cost = -arc.cost;
        self.is_turned[index] = !self.is_turned[index];
    }

    /// Shifts the potentials of a subtree. Returns its size.
    #[inline]
    fn shift(&mut self, top: u32, by: N) -> u64 {
        let last = self.tree.place(top).last;
        let mut node = top;
        let mut touched = 1;
        let mut is_beyond = false;
        loop {
            let potential = &mut self.potential[node as usize];
            *potential += by;
            is_beyond |= potential.is_beyond();
            if node == last {
                self.is_beyond |= is_beyond;
                return touched;
            }
            node = self.tree.next[node as usize];
            touched += 1;
        }
    }

    /// The arcs of the network on the cycle of an arc. Artificial arcs have a limit against the way they carry, so
    /// a cycle without one has none.
    fn cycle_arcs(&self, entered: usize, apex: u32) -> Vec<ArcId> {
        let mut arcs = vec![ArcId(self.origin[entered])];
        for start in [self.arcs[entered].tail, self.arcs[entered].head] {
            let mut node = start;
            while node != apex {
                let place = self.tree.place(node);
                arcs.extend(self.origin.get(place.arc as usize).map(|&arc| ArcId(arc)));
                node = place.parent;
            }
        }
        arcs
    }
}

fn stopped(budget: &mut Budget<'_>, units: u64) -> Option<End> {
    budget.spend(units).err().map(End::Stopped)
}
