//! Potentials that prove the flow at the end.

use super::{Halt, Scaling};
use crate::budget::Budget;

impl Scaling {
    /// Potentials in given costs that prove the flow, which is optimal.
    ///
    /// Label correcting from the scaled potentials: they are lowered until each half arc with room has reduced cost
    /// ≥ 0. As no cycle with room is negative, it ends; a node is looked at once or twice in practice.
    pub(super) fn settle_potentials(&mut self, budget: &mut Budget<'_>) -> Result<(), Halt> {
        for potential in &mut self.potential {
            *potential = potential.div_euclid(self.factor);
        }
        (0..self.potential.len()).for_each(|node| self.enqueue(node));
        while let Some(node) = self.queue.pop_front() {
            self.is_queued[node as usize] = false;
            let row = self.residual.row(node as usize);
            budget.spend(row.len() as u64)?;
            let own = self.potential[node as usize];
            for half in row {
                let half = self.residual.halves[half];
                let reached = i64::from(half.cost) + own;
                if half.room > 0 && reached < self.potential[half.to as usize] {
                    self.potential[half.to as usize] = reached;
                    self.enqueue(half.to as usize);
                }
            }
        }
        Ok(())
    }
}
