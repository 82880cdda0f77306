//! One pivot: push around the cycle, exchange an arc, shift the subtree.

use super::pricing::Entering;
use super::tree::Link;
use super::{End, Engine};
use crate::budget::{Budget, Stop};
use crate::linear::number::Number;
use crate::network::ArcId;

impl<N: Number> Engine<N> {
    /// Lets an arc enter. An end where there is one: then the pivot is done, but for an unbounded cycle.
    ///
    /// # Errors
    /// A stop, once the pivot is done.
    #[inline]
    pub(super) fn pivot(
        &mut self,
        entering: Entering<N>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<End>, Stop> {
        let entered = entering.arc;
        let (from, to) = (self.arcs[entered].tail, self.arcs[entered].head);
        let room = self.capacity[entered];
        let cycle = self.tree.cycle(from, to, room);
        if cycle.amount.into() > N::FAR.into() / 2 {
            return Ok(Some(End::Unbounded(self.cycle_arcs(entered, cycle.apex))));
        }
        self.pivots += 1;
        self.nodes_touched += cycle.length();
        if cycle.amount > N::ZERO {
            self.tree.push(&cycle);
        } else {
            self.degenerate_pivots += 1;
        }
        let Some(leaving) = cycle.leaving else {
            self.turn(entered);
            budget.spend(cycle.length())?;
            return Ok(None);
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
        let turned = self.tree.rehang(&cycle, leaving, link);
        let touched = turned + self.shift(inner, by);
        self.nodes_touched += touched;
        budget.spend(cycle.length() + touched)?;
        Ok(self.is_beyond.then_some(End::Wide))
    }

    /// Turns an arc around, so that it points where it has room.
    #[inline]
    fn turn(&mut self, index: usize) {
        let arc = &mut self.arcs[index];
        std::mem::swap(&mut arc.tail, &mut arc.head);
        arc.cost = -arc.cost;
        self.is_turned[index] = !self.is_turned[index];
    }

    /// Shifts the potentials of a subtree against the others: those of the subtree or, against them, those of the
    /// others, whichever are fewer, as long as the root's stays small. Returns how many were shifted.
    #[inline]
    fn shift(&mut self, top: u32, by: N) -> u64 {
        let place = self.tree.place(top);
        let (last, size) = (place.last, place.size as usize);
        let root = self.tree.root() as usize;
        let drift = self.potential[root] - by;
        if 2 * size <= root || drift.is_far() {
            self.shift_interval(top, last, by);
            return size as u64;
        }
        let first = self.tree.next[last as usize];
        let place = self.tree.place(top);
        self.shift_interval(first, place.previous, -by);
        (root + 1 - size) as u64
    }

    /// Shifts the potentials from one node to another in preorder, which is a ring.
    #[inline]
    fn shift_interval(&mut self, first: u32, last: u32, by: N) {
        let mut node = first;
        let mut is_beyond = false;
        loop {
            let potential = &mut self.potential[node as usize];
            *potential += by;
            is_beyond |= potential.is_beyond();
            if node == last {
                self.is_beyond |= is_beyond;
                return;
            }
            node = self.tree.next[node as usize];
        }
    }

    /// The arcs of the network on the cycle of an arc, in order, none of them artificial (see the module).
    fn cycle_arcs(&self, entered: usize, apex: u32) -> Vec<ArcId> {
        let arc = &self.arcs[entered];
        let mut cycle = self.arcs_above(arc.tail, apex);
        cycle.reverse();
        cycle.push(ArcId(self.origin[entered]));
        cycle.extend(self.arcs_above(arc.head, apex));
        cycle
    }

    /// The arcs from a node up to one above it.
    fn arcs_above(&self, mut node: u32, apex: u32) -> Vec<ArcId> {
        let mut arcs = Vec::new();
        while node != apex {
            let place = self.tree.place(node);
            arcs.push(ArcId(self.origin[place.arc as usize]));
            node = place.parent;
        }
        arcs
    }
}
