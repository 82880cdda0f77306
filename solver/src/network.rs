//! Immutable flow problems: nodes with supplies, arcs with bounds, and what a flow costs, rank by rank.
//!
//! **Problem.** Nodes `v` with supply `s(v)`, Σ s = 0; arcs `a` from a tail to a head with integer bounds
//! `lower(a) ≤ x(a) ≤ upper(a)`. A flow `x` is feasible when it keeps the bounds and, at each node, what leaves
//! less what arrives is the supply. An objective is a list of [`RankCost`]s, the most important first; each is a sum
//! over arcs of integer convex functions of the arc's flow, a line (`unit_cost · x`) for most arcs.
//!
//! **Sign.** `reduced_cost = unit_cost + potential[tail] − potential[head]`, everywhere.
//!
//! **Ranges.** Σ |supply| and Σ |finite bound| may be at most [`MAGNITUDE_MAX`] each, so that no flow of a tree
//! solution and no residual leaves `i64`. A rank is refused by [`RankCost::check`] where potentials could:
//! a tree path passes each node once, so potentials differ by at most the sum over nodes of the largest |slope| among
//! a node's arcs, and by at most twice that sum over the arcs that leave; the smaller may be at most
//! [`POTENTIAL_MAX`]. Totals are `i128`.

mod cost;

pub(crate) use cost::Reach;
pub use cost::{Convex, CostError, RankCost, Segment};

use crate::ids::id_type;
use thiserror::Error;

/// Largest admissible Σ |supply| and Σ |finite bound|.
pub const MAGNITUDE_MAX: i64 = 1 << 58;

/// Largest admissible bound on how far potentials can be apart.
pub const POTENTIAL_MAX: i64 = 1 << 60;

/// Most nodes or arcs of a network: ids are `u32`, and engines add an artificial arc per node and a root.
pub const COUNT_MAX: usize = (u32::MAX / 2 - 2) as usize;

id_type!(
    /// A node, by the order of adding.
    NodeId
);
id_type!(
    /// An arc, by the order of adding.
    ArcId
);

/// What makes a network unusable.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum NetworkError {
    /// More nodes or arcs than ids.
    #[error("{count} nodes or arcs, more than {COUNT_MAX}")]
    TooMany {
        /// How many were added.
        count: usize,
    },
    /// An arc names a node that does not exist.
    #[error("arc {} names node {}, which does not exist", .arc.0, .node.0)]
    UnknownNode {
        /// The arc.
        arc: ArcId,
        /// The node it names.
        node: NodeId,
    },
    /// An arc whose lower bound is above its upper bound, or an uncapacitated lower bound.
    #[error("arc {} has lower bound {lower} and upper bound {upper}", .arc.0)]
    Bounds {
        /// The arc.
        arc: ArcId,
        /// Its lower bound.
        lower: i64,
        /// Its upper bound.
        upper: i64,
    },
    /// Supplies that do not sum to zero.
    #[error("supplies sum to {surplus}, not to 0")]
    Unbalanced {
        /// Their sum.
        surplus: i128,
    },
    /// Supplies too large to add up safely.
    #[error("absolute supplies sum to {sum}, above {MAGNITUDE_MAX}")]
    SupplyRange {
        /// Σ |supply|.
        sum: i128,
    },
    /// Bounds too large to add up safely.
    #[error("absolute finite bounds sum to {sum}, above {MAGNITUDE_MAX}")]
    BoundsRange {
        /// Σ |finite bound|.
        sum: i128,
    },
}

/// A checked, immutable network. Costs are kept apart, in [`RankCost`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Network {
    supply: Vec<i64>,
    tail: Vec<u32>,
    head: Vec<u32>,
    lower: Vec<i64>,
    upper: Vec<i64>,
}

impl Network {
    /// The upper bound of an arc without one.
    pub const UNCAPACITATED: i64 = i64::MAX;

    /// The network to be added to.
    pub fn into_builder(self) -> NetworkBuilder {
        NetworkBuilder {
            supply: self.supply,
            tail: self.tail,
            head: self.head,
            lower: self.lower,
            upper: self.upper,
        }
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.supply.len()
    }

    /// Number of arcs.
    pub fn arc_count(&self) -> usize {
        self.tail.len()
    }

    /// All nodes in order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.supply.len()).map(NodeId::at)
    }

    /// All arcs in order.
    pub fn arcs(&self) -> impl ExactSizeIterator<Item = ArcId> + use<> {
        (0..self.tail.len()).map(ArcId::at)
    }

    /// What leaves the node less what arrives.
    pub fn supply(&self, node: NodeId) -> i64 {
        self.supply[node.index()]
    }

    /// Where the arc begins.
    pub fn tail(&self, arc: ArcId) -> NodeId {
        NodeId(self.tail[arc.index()])
    }

    /// Where the arc ends.
    pub fn head(&self, arc: ArcId) -> NodeId {
        NodeId(self.head[arc.index()])
    }

    /// Least flow of the arc.
    pub fn lower(&self, arc: ArcId) -> i64 {
        self.lower[arc.index()]
    }

    /// Largest flow of the arc, [`Network::UNCAPACITATED`] for none.
    pub fn upper(&self, arc: ArcId) -> i64 {
        self.upper[arc.index()]
    }
}

/// Collects nodes and arcs; [`NetworkBuilder::build`] checks them.
///
/// ```
/// use shardflow_solver::network::NetworkBuilder;
/// let mut builder = NetworkBuilder::default();
/// let shards = builder.add_node(2);
/// let broker = builder.add_node(-2);
/// builder.add_arc(shards, broker, 0, 2);
/// let network = builder.build()?;
/// assert_eq!(network.arc_count(), 1);
/// # Ok::<(), shardflow_solver::network::NetworkError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct NetworkBuilder {
    supply: Vec<i64>,
    tail: Vec<u32>,
    head: Vec<u32>,
    lower: Vec<i64>,
    upper: Vec<i64>,
}

impl NetworkBuilder {
    /// Room for so many nodes and arcs.
    pub fn with_capacity(nodes: usize, arcs: usize) -> Self {
        NetworkBuilder {
            supply: Vec::with_capacity(nodes),
            tail: Vec::with_capacity(arcs),
            head: Vec::with_capacity(arcs),
            lower: Vec::with_capacity(arcs),
            upper: Vec::with_capacity(arcs),
        }
    }

    /// Adds a node; a negative supply is a demand.
    pub fn add_node(&mut self, supply: i64) -> NodeId {
        self.supply.push(supply);
        NodeId((self.supply.len() - 1) as u32)
    }

    /// Changes the supply of a node by `amount`, keeping to the range of `i64`.
    ///
    /// # Panics
    /// Where the node was not added here.
    pub fn add_supply(&mut self, node: NodeId, amount: i64) {
        let supply = &mut self.supply[node.index()];
        *supply = supply.saturating_add(amount);
    }

    /// Adds an arc with its bounds.
    pub fn add_arc(&mut self, tail: NodeId, head: NodeId, lower: i64, upper: i64) -> ArcId {
        self.tail.push(tail.0);
        self.head.push(head.0);
        self.lower.push(lower);
        self.upper.push(upper);
        ArcId((self.tail.len() - 1) as u32)
    }

    /// Changes the bounds of an arc.
    ///
    /// # Panics
    /// Where the arc was not added here.
    pub fn set_bounds(&mut self, arc: ArcId, lower: i64, upper: i64) {
        self.lower[arc.index()] = lower;
        self.upper[arc.index()] = upper;
    }

    /// The network, once everything holds together.
    ///
    /// # Errors
    /// The first of: too many nodes or arcs, an unknown node, crossed bounds, magnitudes out of range,
    /// supplies that do not sum to zero.
    pub fn build(self) -> Result<Network, NetworkError> {
        let count = self.supply.len().max(self.tail.len());
        if count > COUNT_MAX {
            return Err(NetworkError::TooMany { count });
        }
        let mut bounds = 0i128;
        for index in 0..self.tail.len() {
            bounds += self.checked_bounds(index)?;
        }
        let magnitude = i128::from(MAGNITUDE_MAX);
        let sum: i128 = self.supply.iter().map(|&s| i128::from(s).abs()).sum();
        let surplus: i128 = self.supply.iter().map(|&s| i128::from(s)).sum();
        if surplus != 0 {
            return Err(NetworkError::Unbalanced { surplus });
        }
        if sum > magnitude {
            return Err(NetworkError::SupplyRange { sum });
        }
        if bounds > magnitude {
            return Err(NetworkError::BoundsRange { sum: bounds });
        }
        Ok(Network {
            supply: self.supply,
            tail: self.tail,
            head: self.head,
            lower: self.lower,
            upper: self.upper,
        })
    }

    /// Checks one arc and returns its |finite bounds|.
    fn checked_bounds(&self, index: usize) -> Result<i128, NetworkError> {
        let arc = ArcId(index as u32);
        for node in [self.tail[index], self.head[index]] {
            if node as usize >= self.supply.len() {
                let node = NodeId(node);
                return Err(NetworkError::UnknownNode { arc, node });
            }
        }
        let (lower, upper) = (self.lower[index], self.upper[index]);
        if lower > upper || lower == Network::UNCAPACITATED {
            return Err(NetworkError::Bounds { arc, lower, upper });
        }
        let finite = if upper == Network::UNCAPACITATED {
            0
        } else {
            i128::from(upper).abs()
        };
        Ok(i128::from(lower).abs() + finite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(supply: i64, demand: i64, lower: i64, upper: i64) -> Result<Network, NetworkError> {
        let mut builder = NetworkBuilder::default();
        let s = builder.add_node(supply);
        let t = builder.add_node(demand);
        builder.add_arc(s, t, lower, upper);
        builder.build()
    }

    #[test]
    fn refuses_what_does_not_hold_together() {
        assert!(pair(2, -2, 0, Network::UNCAPACITATED).is_ok());
        assert_eq!(
            pair(2, -1, 0, 1),
            Err(NetworkError::Unbalanced { surplus: 1 })
        );
        assert!(matches!(
            pair(2, -2, 3, 2),
            Err(NetworkError::Bounds {
                lower: 3,
                upper: 2,
                ..
            })
        ));
        assert!(matches!(
            pair(i64::MAX, -i64::MAX, 0, 1),
            Err(NetworkError::SupplyRange { .. })
        ));
        assert!(matches!(
            pair(0, 0, i64::MIN, 1),
            Err(NetworkError::BoundsRange { .. })
        ));
        let mut builder = NetworkBuilder::default();
        let s = builder.add_node(0);
        let arc = builder.add_arc(s, NodeId(7), 0, 1);
        let node = NodeId(7);
        assert_eq!(
            builder.build(),
            Err(NetworkError::UnknownNode { arc, node })
        );
    }
}
