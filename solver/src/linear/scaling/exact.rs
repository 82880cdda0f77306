//! New potentials for the flow as it stands: to skip a phase, and as the proof at the end.

use super::{Halt, Scaling};
use crate::budget::Budget;

/// Half arcs looked at per half arc of the network before price refinement is given up. Where it succeeds it needs one
/// or two rounds.
const ROUNDS: u64 = 4;

impl Scaling {
    /// Looks for potentials with which the flow is ε-optimal. Leaves better potentials also where it gives up.
    pub(super) fn refine_prices(
        &mut self,
        epsilon: i64,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Halt> {
        let limit = ROUNDS * self.residual.halves.len() as u64;
        let kept = self.potential.clone();
        let is_refined = self.correct(self.factor, epsilon, limit, budget)?;
        if !is_refined {
            self.potential = kept;
        }
        self.stats.refined += u64::from(is_refined);
        Ok(is_refined)
    }

    /// Potentials in given costs that prove the flow, which is optimal.
    pub(super) fn settle_potentials(&mut self, budget: &mut Budget<'_>) -> Result<(), Halt> {
        for potential in &mut self.potential {
            *potential = potential.div_euclid(self.factor);
        }
        self.correct(1, 0, u64::MAX, budget)?;
        Ok(())
    }

    /// Label correcting: lowers potentials until each half arc with room has
    /// `factor · cost + potential[tail] − potential[head] ≥ −slack`. False where more than `limit` half
    /// arcs were looked at; a cycle that costs less than its slacks would go on for ever.
    fn correct(
        &mut self,
        factor: i64,
        slack: i64,
        limit: u64,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Halt> {
        let nodes = self.potential.len();
        self.queue.clear();
        self.queue.extend(0..nodes as u32);
        let mut is_queued = vec![true; nodes];
        let mut looked = 0;
        while let Some(node) = self.queue.pop_front() {
            is_queued[node as usize] = false;
            let row = self.residual.row(node as usize);
            looked += row.len() as u64;
            budget.spend(row.len() as u64)?;
            if looked > limit {
                return Ok(false);
            }
            let own = self.potential[node as usize] + slack;
            for half in &self.residual.halves[row] {
                let reached = i64::from(half.cost) * factor + own;
                let other = &mut self.potential[half.to as usize];
                if half.room > 0 && reached < *other {
                    *other = reached;
                    if !std::mem::replace(&mut is_queued[half.to as usize], true) {
                        self.queue.push_back(half.to);
                    }
                }
            }
        }
        Ok(true)
    }
}
