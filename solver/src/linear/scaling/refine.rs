//! A phase: fill what is negative, then move the excess to where it lacks.

use super::{Halt, PATH_MAX, RELABELS_MAX, Scaling};
use crate::budget::Budget;

impl Scaling {
    /// Makes the flow ε-optimal.
    pub(super) fn refine(&mut self, epsilon: i64, budget: &mut Budget<'_>) -> Result<(), Halt> {
        self.fill(budget)?;
        let nodes = self.excess.len();
        self.current.copy_from_slice(&self.residual.begin[..nodes]);
        for node in 0..nodes {
            if self.excess[node] > 0 {
                self.enqueue(node);
            }
        }
        // The potentials of the phase before say little about this one.
        let mut relabels = nodes;
        while let Some(&node) = self.queue.front() {
            if self.excess[node as usize] <= 0 {
                self.queue.pop_front();
                self.is_queued[node as usize] = false;
                continue;
            }
            if relabels >= nodes {
                relabels = 0;
                self.global_update(epsilon, budget)?;
            }
            relabels += self.augment(node, epsilon, budget)?;
        }
        Ok(())
    }

    /// Fills all half arcs of negative reduced cost.
    fn fill(&mut self, budget: &mut Budget<'_>) -> Result<(), Halt> {
        for node in 0..self.excess.len() {
            let row = self.residual.row(node);
            budget.spend(row.len() as u64)?;
            for half in row {
                let at = self.residual.halves[half];
                let reduced_cost = i64::from(at.cost) * self.factor + self.potential[node]
                    - self.potential[at.to as usize];
                if reduced_cost < 0 && at.room > 0 {
                    self.push(node, half, at.room);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, node: usize, half: usize, amount: i32) {
        let at = &mut self.residual.halves[half];
        at.room -= amount;
        let (to, mate) = (at.to as usize, at.mate as usize);
        self.residual.halves[mate].room += amount;
        self.excess[node] -= i64::from(amount);
        self.excess[to] += i64::from(amount);
    }

    /// Finds a path of admissible half arcs from a node with excess, relabelling on the way, and pushes along it.
    /// Returns the number of relabels.
    fn augment(
        &mut self,
        start: u32,
        epsilon: i64,
        budget: &mut Budget<'_>,
    ) -> Result<usize, Halt> {
        self.path.clear();
        let mut tip = start as usize;
        let mut relabels = 0;
        let mut looked = 0;
        while self.path.len() < PATH_MAX && self.excess[tip] >= 0 && relabels < RELABELS_MAX {
            let (found, units) = self.admissible(tip);
            looked += units;
            if let Some(half) = found {
                self.current[tip] = half as u32;
                self.path.push(half as u32);
                tip = self.residual.halves[half].to as usize;
                continue;
            }
            self.relabel(tip, epsilon)?;
            looked += self.residual.row(tip).len();
            relabels += 1;
            // The way to a node that was relabelled is no longer admissible.
            if let Some(half) = self.path.pop() {
                let mate = self.residual.halves[half as usize].mate as usize;
                tip = self.residual.halves[mate].to as usize;
            }
        }
        self.relabels += relabels as u64;
        self.arcs_priced += looked as u64;
        budget.spend(looked as u64)?;
        let mut node = start as usize;
        for index in 0..self.path.len() {
            let half = self.path[index] as usize;
            let at = self.residual.halves[half];
            let amount = i64::from(at.room).min(self.excess[node]) as i32;
            self.push(node, half, amount);
            node = at.to as usize;
            if self.excess[node] > 0 {
                self.enqueue(node);
            }
        }
        Ok(relabels)
    }

    /// The next admissible half arc of a node, and how many were looked at.
    #[inline]
    fn admissible(&self, node: usize) -> (Option<usize>, usize) {
        let begin = self.current[node] as usize;
        let end = self.residual.begin[node + 1] as usize;
        let potential = self.potential[node];
        for (half, index) in self.residual.halves[begin..end].iter().zip(begin..) {
            if half.room > 0 {
                let other = self.potential[half.to as usize];
                if i64::from(half.cost) * self.factor + potential < other {
                    return (Some(index), index - begin + 1);
                }
            }
        }
        (None, end - begin)
    }

    /// Lowers the potential of a node until a half arc with room has reduced cost −ε.
    #[inline]
    fn relabel(&mut self, node: usize, epsilon: i64) -> Result<(), Halt> {
        let row = self.residual.row(node);
        let with_room = self.residual.halves[row]
            .iter()
            .filter(|half| half.room > 0);
        let least = with_room
            .map(|half| i64::from(half.cost) * self.factor - self.potential[half.to as usize])
            .min();
        let least = least.ok_or(Halt::Infeasible)?;
        self.potential[node] = -least - epsilon;
        self.current[node] = self.residual.begin[node];
        Ok(())
    }
}
