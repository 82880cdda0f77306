//! One pivot: push around the cycle, exchange an arc, shift the subtree.
//!
//! A leaf whose own arc leaves just changes hands. Where another arc leaves, a leaf that the entering arc starts from
//! becomes a node like others; a source that is left without children becomes a leaf.

use super::basis::{Leaving, Link};
use super::pricing::Entering;
use super::{MinimizeError, Simplex, is_unlimited};
use crate::network::Segment;

impl Simplex {
    /// Lets an arc enter. Returns the number of nodes touched.
    pub(super) fn pivot(&mut self, entering: Entering) -> Result<u64, MinimizeError> {
        let Entering { arc, is_rising, .. } = entering;
        let (tail, head) = (self.arcs.tail[arc] as usize, self.arcs.head[arc] as usize);
        let flow = self.arcs.flow[arc];
        let (low, high) = (self.arcs.low[arc], self.arcs.high[arc]);
        let (run, from, to) = if is_rising {
            (self.slopes.run_right(arc, flow), tail, head)
        } else {
            (self.slopes.run_left(arc, flow), head, tail)
        };
        let run = run.within(low, high);
        let room = if is_rising {
            run.high - flow
        } else {
            flow - run.low
        };
        let depth = (self.anchors.depth(from), self.anchors.depth(to));
        let cycle = self.tree.cycle((from, to), depth, room);
        if is_unlimited(cycle.amount) {
            return Err(MinimizeError::Unbounded {
                arc: self.network_arc(arc),
            });
        }
        if cycle.amount > 0 {
            self.tree.push(from, to, cycle.apex, cycle.amount);
            let gain = i128::from(entering.reduced_cost.abs()) * i128::from(cycle.amount);
            self.value -= gain;
            self.arcs.flow[arc] = if is_rising {
                flow + cycle.amount
            } else {
                flow - cycle.amount
            };
        } else {
            self.stats.degenerate_pivots += 1;
        }
        let Some(leaving) = cycle.leaving else {
            self.reprice(arc);
            return Ok(cycle.length);
        };
        let (inner, outer) = if leaving.is_before {
            (from, to)
        } else {
            (to, from)
        };
        let link = self.link(arc, run, inner, outer);
        Ok(cycle.length + self.exchange(entering, link, leaving, inner))
    }

    /// What hangs `inner` from `outer` by the entering arc.
    fn link(&self, arc: usize, run: Segment, inner: usize, outer: usize) -> Link {
        let flow = self.arcs.flow[arc];
        let is_up = self.arcs.tail[arc] as usize == inner;
        let (above, below) = (run.high - flow, flow - run.low);
        Link {
            parent: outer as u32,
            arc: arc as u32,
            room_up: if is_up { above } else { below },
            room_down: if is_up { below } else { above },
            run_low: run.low,
        }
    }

    /// Takes the leaving arc out of the tree and hangs the part below it, in which `inner` is, by the entering arc.
    fn exchange(&mut self, entering: Entering, link: Link, leaving: Leaving, inner: usize) -> u64 {
        let left = self.tree.places[leaving.node].arc as usize;
        self.arcs.flow[left] = self.tree_flow(leaving.node);
        let is_up = self.arcs.tail[entering.arc] as usize == inner;
        let by = if is_up {
            -entering.reduced_cost
        } else {
            entering.reduced_cost
        };
        let touched = if self.anchors.is_leaf(leaving.node) {
            // It is where the entering arc starts, since a cycle passes a leaf nowhere else.
            let potential = self.anchors.potential(inner) + by;
            let above = self.anchors.potential(link.parent as usize);
            self.tree.relink(inner, link);
            self.anchors.set_leaf(inner, link.parent, potential - above);
            1
        } else {
            self.list(self.arcs.tail[entering.arc] as usize);
            let turned = self.tree.rehang(inner, leaving.node, link);
            let shifted = self.anchors.shift(&self.tree, inner, leaving.node, by);
            self.unlist(self.arcs.tail[left] as usize);
            turned + shifted
        };
        self.prices.hide(entering.arc);
        self.reprice(left);
        touched
    }

    /// Makes a leaf a node like others.
    pub(super) fn list(&mut self, node: usize) {
        if self.anchors.is_leaf(node) {
            self.anchors.list(node);
            self.tree.enlist(node);
        }
    }

    /// Makes a source a leaf, where it has no children and its arc starts from it.
    pub(super) fn unlist(&mut self, node: usize) {
        let place = &self.tree.places[node];
        let (arc, parent) = (place.arc as usize, place.parent);
        if !place.is_source || self.tree.has_children(node) || self.arcs.tail[arc] as usize != node
        {
            return;
        }
        let potential = self.anchors.potential(node) - self.anchors.potential(parent as usize);
        self.tree.delist(node);
        self.anchors.set_leaf(node, parent, potential);
    }
}
