//! Global update: distances to the nearest lack, in steps of ε.

use super::{Halt, Scaling};
use crate::budget::Budget;

const NONE: u32 = u32::MAX;

/// Distances are told apart up to so many times the number of nodes: as far as 64 bytes of state a node allow.
const BUCKETS_PER_NODE: usize = 4;

/// Buckets of nodes by distance, as doubly linked lists.
pub(super) struct Update {
    /// First node of each bucket.
    first: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Distance found so far.
    distance: Vec<u32>,
    is_done: Vec<bool>,
}

impl Update {
    pub(super) fn new(nodes: usize) -> Self {
        Update {
            first: vec![NONE; BUCKETS_PER_NODE * nodes + 1],
            next: vec![NONE; nodes],
            previous: vec![NONE; nodes],
            distance: vec![NONE; nodes],
            is_done: vec![false; nodes],
        }
    }

    /// Bytes held.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.first)
            + size_of_val(&*self.next)
            + size_of_val(&*self.previous)
            + size_of_val(&*self.distance)
            + size_of_val(&*self.is_done)
    }

    /// Puts a node into the bucket of a smaller distance than it has.
    fn put(&mut self, node: u32, distance: u32) {
        if self.distance[node as usize] != NONE {
            let (previous, next) = (self.previous[node as usize], self.next[node as usize]);
            match previous {
                NONE => self.first[self.distance[node as usize] as usize] = next,
                _ => self.next[previous as usize] = next,
            }
            if next != NONE {
                self.previous[next as usize] = previous;
            }
        }
        self.distance[node as usize] = distance;
        let next = std::mem::replace(&mut self.first[distance as usize], node);
        self.next[node as usize] = next;
        self.previous[node as usize] = NONE;
        if next != NONE {
            self.previous[next as usize] = node;
        }
    }

    fn take(&mut self, distance: usize) -> Option<u32> {
        let node = self.first[distance];
        if node == NONE {
            return None;
        }
        let next = self.next[node as usize];
        self.first[distance] = next;
        if next != NONE {
            self.previous[next as usize] = NONE;
        }
        self.is_done[node as usize] = true;
        Some(node)
    }
}

impl Scaling {
    /// Lowers each potential by ε times the distance to the nearest lack, where a half arc with room is
    /// ⌊reduced cost / ε⌋ + 1 long. Stops once all excess is reached; farther nodes fall by the largest distance.
    pub(super) fn global_update(
        &mut self,
        epsilon: i64,
        budget: &mut Budget<'_>,
    ) -> Result<(), Halt> {
        let nodes = self.excess.len();
        let update = &mut self.update;
        update.first.fill(NONE);
        update.distance.fill(NONE);
        update.is_done.fill(false);
        let mut left = 0usize;
        for (node, &excess) in self.excess.iter().enumerate() {
            if excess < 0 {
                update.put(node as u32, 0);
            }
            left += usize::from(excess > 0);
        }
        let buckets = update.first.len();
        let mut at = 0;
        budget.spend(nodes as u64)?;
        while left > 0 && at < buckets {
            let Some(node) = update.take(at) else {
                at += 1;
                continue;
            };
            left -= usize::from(self.excess[node as usize] > 0);
            let own = self.potential[node as usize];
            let row = self.residual.row(node as usize);
            budget.spend(row.len() as u64)?;
            for half in &self.residual.halves[row] {
                let other = half.to as usize;
                if update.is_done[other] || self.residual.halves[half.mate as usize].room == 0 {
                    continue;
                }
                let reduced_cost = self.potential[other] - i64::from(half.cost) * self.factor - own;
                let distance = (reduced_cost.div_euclid(epsilon) + 1).max(0) + at as i64;
                if distance < buckets as i64 && distance < i64::from(update.distance[other]) {
                    update.put(half.to, distance as u32);
                }
            }
        }
        self.updates += 1;
        if left > 0 {
            self.check_reach(budget)?;
        }
        let farthest = at.min(buckets) as i64;
        for node in 0..nodes {
            let update = &self.update;
            let steps = if update.is_done[node] {
                i64::from(update.distance[node])
            } else {
                farthest
            };
            if steps > 0 {
                self.potential[node] -= steps * epsilon;
                self.current[node] = self.residual.begin[node];
            }
        }
        Ok(())
    }

    /// Whether all excess can reach a lack, however far.
    fn check_reach(&self, budget: &mut Budget<'_>) -> Result<(), Halt> {
        let mut is_reached: Vec<bool> = self.excess.iter().map(|&excess| excess < 0).collect();
        let mut stack: Vec<u32> = (0..self.excess.len() as u32)
            .filter(|&node| is_reached[node as usize])
            .collect();
        while let Some(node) = stack.pop() {
            let row = self.residual.row(node as usize);
            budget.spend(row.len() as u64)?;
            for half in &self.residual.halves[row] {
                let has_way = self.residual.halves[half.mate as usize].room > 0;
                if has_way && !std::mem::replace(&mut is_reached[half.to as usize], true) {
                    stack.push(half.to);
                }
            }
        }
        let mut excess = self.excess.iter().zip(is_reached);
        match excess.all(|(&excess, is_reached)| excess <= 0 || is_reached) {
            true => Ok(()),
            false => Err(Halt::Infeasible),
        }
    }
}
