//! The normal form both engines work on: lower bounds taken out, arcs that cannot move left out.
//!
//! With `y = x − lower` each arc has `0 ≤ y ≤ upper − lower`, and a node's *excess* is its supply, less the lower
//! bounds that leave it, plus those that reach it. Self-loops and arcs of no room are settled here: a loop of
//! negative cost is full, any other is at its least.
//!
//! **Clamped capacities.** Let T be the positive excess plus the room of all arcs of negative cost. Where none of those
//! is uncapacitated, a flow of an arc above T lies on a cycle of the flow once the negative arcs are read
//! backwards, all of whose costs are then ≥ 0. At an optimum such a cycle costs nothing, and each of its arcs has
//! reduced cost zero. So capacities above T + 1 may be lowered to T + 1: a full arc of that capacity has reduced cost
//! zero, and the potentials prove the optimum of the network as given. This makes most amounts fit 32 bits.

use super::LinearError;
use crate::budget::Budget;
use crate::network::{ArcId, CostError, Network, Reach};

/// What a network and its costs come to. Borrows both.
#[derive(Clone, Debug)]
pub(super) struct Problem<'a> {
    pub(super) network: &'a Network,
    pub(super) unit_cost: &'a [i64],
    /// Supply once every arc is at its lower bound.
    pub(super) excess: Vec<i64>,
    /// How far potentials of a tree can be apart; see [`Network`].
    pub(super) reach: i64,
    /// Largest |unit cost| of an arc.
    pub(super) cost_max: i64,
    /// T + 1 where capacities may be clamped.
    pub(super) clamp: Option<i64>,
    /// Number of arcs that can move.
    pub(super) movable: usize,
    /// An uncapacitated self-loop of negative cost.
    pub(super) endless_loop: Option<ArcId>,
}

impl<'a> Problem<'a> {
    /// Checks the costs and takes the lower bounds out. O(nodes + arcs).
    ///
    /// # Errors
    /// [`LinearError::Cost`], [`LinearError::Stopped`].
    pub(super) fn new(
        network: &'a Network,
        unit_cost: &'a [i64],
        budget: &mut Budget<'_>,
    ) -> Result<Self, LinearError> {
        let (given, arcs) = (unit_cost.len(), network.arc_count());
        if given != arcs {
            return Err(CostError::Length { given, arcs }.into());
        }
        let mut reach = Reach::new(network.node_count());
        let mut excess: Vec<i64> = network.nodes().map(|node| network.supply(node)).collect();
        let (mut movable, mut cost_max, mut negative) = (0, 0, Some(0i64));
        let mut endless_loop = None;
        for (arc, &cost) in network.arcs().zip(unit_cost) {
            budget.spend(1)?;
            let (tail, head) = (network.tail(arc).index(), network.head(arc).index());
            reach.raise(tail, head, cost.unsigned_abs());
            if network.lower(arc) != 0 {
                excess[tail] -= network.lower(arc);
                excess[head] += network.lower(arc);
            }
            let Some(room) = movable_room(network, arc) else {
                let is_endless = cost < 0 && network.upper(arc) == Network::UNCAPACITATED;
                endless_loop = endless_loop.or(is_endless.then_some(arc));
                continue;
            };
            movable += 1;
            cost_max = cost_max.max(cost.saturating_abs());
            if cost < 0 {
                let is_limited = room != Network::UNCAPACITATED;
                negative = negative.filter(|_| is_limited).map(|sum| sum + room);
            }
        }
        let positive: i64 = excess.iter().map(|&e| e.max(0)).sum();
        Ok(Problem {
            network,
            unit_cost,
            excess,
            reach: reach.get()?,
            cost_max,
            clamp: negative.map(|sum| sum + positive + 1),
            movable,
            endless_loop,
        })
    }

    /// The arcs that can move, in order.
    pub(super) fn movable_arcs(&self) -> impl Iterator<Item = ArcId> {
        let network = self.network;
        network
            .arcs()
            .filter(move |&arc| movable_room(network, arc).is_some())
    }

    /// Room of an arc that can move, clamped.
    pub(super) fn room(&self, arc: ArcId) -> Option<i64> {
        let clamp = self.clamp.unwrap_or(Network::UNCAPACITATED);
        movable_room(self.network, arc).map(|room| room.min(clamp))
    }

    /// The one node of positive and the one of negative excess, where there are no more.
    pub(super) fn single_pair(&self) -> Option<(usize, usize)> {
        let mut nodes = (0..self.excess.len()).filter(|&node| self.excess[node] != 0);
        match (nodes.next(), nodes.next(), nodes.next()) {
            (Some(one), Some(other), None) if self.excess[one] > 0 => Some((one, other)),
            (Some(one), Some(other), None) => Some((other, one)),
            _ => None,
        }
    }

    /// Flow of all arcs at their least, self-loops of negative cost full.
    pub(super) fn resting_flow(&self) -> Vec<i64> {
        let network = self.network;
        let arcs = network.arcs().zip(self.unit_cost);
        let resting = arcs.map(|(arc, &cost)| {
            let is_full = cost < 0 && network.tail(arc) == network.head(arc);
            if is_full {
                network.upper(arc)
            } else {
                network.lower(arc)
            }
        });
        resting.collect()
    }
}

/// Room of an arc that is no loop and has any.
fn movable_room(network: &Network, arc: ArcId) -> Option<i64> {
    let (lower, upper) = (network.lower(arc), network.upper(arc));
    if lower == upper || network.tail(arc) == network.head(arc) {
        return None;
    }
    Some(if upper == Network::UNCAPACITATED {
        upper
    } else {
        upper - lower
    })
}
