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
        let nodes = self.potential.len();
        self.queue.clear();
        self.queue.extend(0..nodes as u32);
        let mut is_queued = vec![true; nodes];
        while let Some(node) = self.queue.pop_front() {
            is_queued[node as usize] = false;
            let row = self.residual.row(node as usize);
            budget.spend(row.len() as u64)?;
            let own = self.potential[node as usize];
            for half in &self.residual.halves[row] {
                let reached = i64::from(half.cost) + own;
                let other = &mut self.potential[half.to as usize];
                if half.room > 0 && reached < *other {
                    *other = reached;
                    if !std::mem::replace(&mut is_queued[half.to as usize], true) {
                        self.queue.push_back(half.to);
                    }
                }
            }
        }
        Ok(())
    }
}
