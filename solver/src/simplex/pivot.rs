//! One pivot: push around the cycle, exchange an arc, shift the subtree.

use super::basis::{Leaving, Link};
use super::pricing::Entering;
use super::{MinimizeError, Simplex, is_unlimited};
use crate::network::{ArcId, Segment};

impl Simplex<'_> {
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
                arc: ArcId::at(arc),
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
        match cycle.leaving {
            None => {
                self.reprice(arc);
                Ok(cycle.length)
            }
            Some(leaving) => {
                let (inner, outer) = if leaving.is_before {
                    (from, to)
                } else {
                    (to, from)
                };
                Ok(cycle.length + self.exchange(entering, run, leaving, inner, outer))
            }
        }
    }

    /// Takes the leaving arc out of the tree and hangs the part below it by the entering arc, `inner` from `outer`.
    fn exchange(
        &mut self,
        entering: Entering,
        run: Segment,
        leaving: Leaving,
        inner: usize,
        outer: usize,
    ) -> u64 {
        let arc = entering.arc;
        let left = self.tree.places[leaving.node].arc as usize;
        self.arcs.flow[left] = self.tree_flow(leaving.node);
        let flow = self.arcs.flow[arc];
        self.arcs.run_low[arc] = run.low;
        let is_up = self.arcs.tail[arc] as usize == inner;
        let (above, below) = (run.high - flow, flow - run.low);
        let link = Link {
            parent: outer as u32,
            arc: arc as u32,
            room_up: if is_up { above } else { below },
            room_down: if is_up { below } else { above },
        };
        let turned = self.tree.rehang(inner, leaving.node, link);
        self.prices.hide(arc);
        self.reprice(left);
        let by = if is_up {
            -entering.reduced_cost
        } else {
            entering.reduced_cost
        };
        turned + self.anchors.shift(&self.tree, inner, leaving.node, by)
    }
}
