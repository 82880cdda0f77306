//! Checks a flow and its optimality from the network, the costs and the potentials alone.
//!
//! **Feasible**: every node keeps its supply and every arc its bounds. **Optimal**: for each arc, take over the
//! ranks the vector of `slope + potential[tail] − potential[head]`. Where the arc has room for more flow, the vector
//! of the slopes to the right must be lexicographically ≥ 0; where it has room for less, that of the slopes to the
//! left ≤ 0. Any other feasible flow is reached along cycles of such room, on which potentials cancel, and the costs
//! are convex; so no flow is lexicographically cheaper. Slopes are taken as differences of values. All sums are
//! `i128`. O(nodes + arcs · ranks).

use crate::network::{ArcId, Convex, Network, NodeId, RankCost};
use std::fmt;

/// One thing wrong with a flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FlowFault {
    /// Not one flow value per arc.
    FlowLength {
        /// Values given.
        given: usize,
        /// Arcs of the network.
        arcs: usize,
    },
    /// Not one list of potentials per rank, or not one potential per node in a list.
    PotentialsLength {
        /// The list concerned; none where their number is wrong.
        rank: Option<usize>,
        /// Length given.
        given: usize,
        /// Length expected.
        expected: usize,
    },
    /// A rank whose unit costs are not one per arc, or that names an arc out of order or out of range.
    CostShape {
        /// The rank.
        rank: usize,
    },
    /// A node off its supply.
    Conservation {
        /// The node.
        node: NodeId,
        /// Supply, less what leaves, plus what arrives.
        excess: i128,
    },
    /// An arc outside its bounds.
    Bounds {
        /// The arc.
        arc: ArcId,
        /// Its flow.
        flow: i64,
    },
    /// An arc whose flow should rise.
    ShouldRise {
        /// The arc.
        arc: ArcId,
        /// The first rank of non-zero reduced cost.
        rank: usize,
        /// That reduced cost, negative.
        reduced_cost: i128,
    },
    /// An arc whose flow should fall.
    ShouldFall {
        /// The arc.
        arc: ArcId,
        /// The first rank of non-zero reduced cost.
        rank: usize,
        /// That reduced cost, positive.
        reduced_cost: i128,
    },
}

impl fmt::Display for FlowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlowFault::FlowLength { given, arcs } => {
                write!(f, "{given} flow values for {arcs} arcs")
            }
            FlowFault::PotentialsLength {
                rank: None,
                given,
                expected,
            } => write!(f, "{given} lists of potentials for {expected} ranks"),
            FlowFault::PotentialsLength {
                rank: Some(rank),
                given,
                expected,
            } => write!(f, "rank {rank}: {given} potentials for {expected} nodes"),
            FlowFault::CostShape { rank } => write!(f, "rank {rank}: costs do not fit the network"),
            FlowFault::Conservation { node, excess } => {
                write!(f, "node {} is off its supply by {excess}", node.0)
            }
            FlowFault::Bounds { arc, flow } => {
                write!(f, "flow {flow} of arc {} is outside its bounds", arc.0)
            }
            FlowFault::ShouldRise {
                arc,
                rank,
                reduced_cost,
            } => write!(
                f,
                "arc {} has room for more at reduced cost {reduced_cost} in rank {rank}",
                arc.0
            ),
            FlowFault::ShouldFall {
                arc,
                rank,
                reduced_cost,
            } => write!(
                f,
                "arc {} has room for less at reduced cost {reduced_cost} in rank {rank}",
                arc.0
            ),
        }
    }
}

/// All faults of feasibility: bounds by arc, then conservation by node.
pub fn check_flow(network: &Network, flow: &[i64]) -> Vec<FlowFault> {
    let arcs = network.arc_count();
    if flow.len() != arcs {
        let given = flow.len();
        return vec![FlowFault::FlowLength { given, arcs }];
    }
    let mut faults = Vec::new();
    let mut excess: Vec<i128> = network
        .nodes()
        .map(|node| i128::from(network.supply(node)))
        .collect();
    for (arc, &flow) in network.arcs().zip(flow) {
        if flow < network.lower(arc) || flow > network.upper(arc) {
            faults.push(FlowFault::Bounds { arc, flow });
        }
        excess[network.tail(arc).index()] -= i128::from(flow);
        excess[network.head(arc).index()] += i128::from(flow);
    }
    for (node, excess) in network.nodes().zip(excess) {
        if excess != 0 {
            faults.push(FlowFault::Conservation { node, excess });
        }
    }
    faults
}

/// All faults of feasibility, then all of lexicographic optimality. `potentials` has one list per rank, each with
/// one potential per node.
pub fn check_optimal(
    network: &Network,
    ranks: &[RankCost],
    flow: &[i64],
    potentials: &[Vec<i64>],
) -> Vec<FlowFault> {
    let mut faults = shape_faults(network, ranks, potentials);
    faults.extend(check_flow(network, flow));
    if faults.iter().any(is_of_shape) {
        return faults;
    }
    let mut views: Vec<RankView<'_>> = ranks
        .iter()
        .zip(potentials)
        .map(|(cost, potential)| RankView {
            cost,
            potential,
            next: 0,
        })
        .collect();
    let mut right = vec![0; ranks.len()];
    let mut left = vec![0; ranks.len()];
    for (arc, &flow) in network.arcs().zip(flow) {
        let has_room_up = flow < network.upper(arc);
        let has_room_down = flow > network.lower(arc);
        for (rank, view) in views.iter_mut().enumerate() {
            let bend = view.bend(arc);
            let line = view.line(network, arc);
            let value = |x: i64| bend.map_or(0, |bend| bend.value(x));
            if has_room_up {
                right[rank] = line + value(flow + 1) - value(flow);
            }
            if has_room_down {
                left[rank] = line + value(flow) - value(flow - 1);
            }
        }
        if has_room_up && let Some((rank, reduced_cost)) = first_nonzero(&right).filter(|r| r.1 < 0)
        {
            faults.push(FlowFault::ShouldRise {
                arc,
                rank,
                reduced_cost,
            });
        }
        if has_room_down
            && let Some((rank, reduced_cost)) = first_nonzero(&left).filter(|r| r.1 > 0)
        {
            faults.push(FlowFault::ShouldFall {
                arc,
                rank,
                reduced_cost,
            });
        }
    }
    faults
}

/// A lower bound on one rank over all feasible flows, from potentials alone (Lagrange): each arc takes the flow that
/// is cheapest at its reduced cost. `None` where an uncapacitated arc would be without end, or the shapes differ.
///
/// At an optimum of the first rank with its potentials the bound is the rank's value.
pub fn bound(network: &Network, rank: &RankCost, potential: &[i64]) -> Option<i128> {
    if !shape_faults(network, std::slice::from_ref(rank), &[potential.to_vec()]).is_empty() {
        return None;
    }
    let mut view = RankView {
        cost: rank,
        potential,
        next: 0,
    };
    let priced = network
        .nodes()
        .zip(potential)
        .map(|(node, &p)| -i128::from(network.supply(node)) * i128::from(p));
    let mut total: i128 = priced.sum();
    for arc in network.arcs() {
        let line = view.line(network, arc);
        let bend = view.bend(arc);
        let cost = |x: i64| line * i128::from(x) + bend.map_or(0, |bend| bend.value(x));
        let (lower, upper) = (network.lower(arc), network.upper(arc));
        if upper == Network::UNCAPACITATED {
            if line < 0 || bend.is_some() {
                return None;
            }
            total += cost(lower);
            continue;
        }
        // The slopes rise, so the least is where they turn from negative.
        let (mut low, mut high) = (lower, upper);
        while low < high {
            let middle = low + (high - low) / 2;
            if cost(middle + 1) < cost(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        total += cost(low);
    }
    Some(total)
}

fn is_of_shape(fault: &FlowFault) -> bool {
    matches!(
        fault,
        FlowFault::FlowLength { .. }
            | FlowFault::PotentialsLength { .. }
            | FlowFault::CostShape { .. }
    )
}

fn shape_faults(network: &Network, ranks: &[RankCost], potentials: &[Vec<i64>]) -> Vec<FlowFault> {
    let mut faults = Vec::new();
    if potentials.len() != ranks.len() {
        faults.push(FlowFault::PotentialsLength {
            rank: None,
            given: potentials.len(),
            expected: ranks.len(),
        });
    }
    for (rank, potential) in potentials.iter().enumerate() {
        if potential.len() != network.node_count() {
            faults.push(FlowFault::PotentialsLength {
                rank: Some(rank),
                given: potential.len(),
                expected: network.node_count(),
            });
        }
    }
    for (rank, cost) in ranks.iter().enumerate() {
        let is_sorted = cost.convex.is_sorted_by(|a, b| a.0 < b.0);
        let is_known = |arc: ArcId| arc.index() < network.arc_count();
        let is_long = cost.unit.is_empty() || cost.unit.len() == network.arc_count();
        if !is_sorted || !is_long || !cost.convex.iter().all(|c| is_known(c.0)) {
            faults.push(FlowFault::CostShape { rank });
        }
    }
    faults
}

/// A rank's cost and potentials, read arc by arc in order.
struct RankView<'a> {
    cost: &'a RankCost,
    potential: &'a [i64],
    /// The next convex cost.
    next: usize,
}

impl RankView<'_> {
    /// Unit cost with potentials, without the convex part.
    fn line(&self, network: &Network, arc: ArcId) -> i128 {
        let potential = |node: NodeId| i128::from(self.potential[node.index()]);
        let unit = self.cost.unit.get(arc.index()).copied().unwrap_or(0);
        i128::from(unit) + potential(network.tail(arc)) - potential(network.head(arc))
    }

    /// The convex cost of an arc; arcs come in ascending order.
    fn bend(&mut self, arc: ArcId) -> Option<Convex> {
        let &(at, bend) = self.cost.convex.get(self.next)?;
        (at == arc).then(|| {
            self.next += 1;
            bend
        })
    }
}

fn first_nonzero(reduced_costs: &[i128]) -> Option<(usize, i128)> {
    let mut ranked = reduced_costs.iter().copied().enumerate();
    ranked.find(|&(_, reduced_cost)| reduced_cost != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkBuilder;

    /// Two parallel arcs; the first is cheaper in rank 0, bent in rank 1.
    fn case() -> (Network, Vec<RankCost>, Vec<i64>, Vec<Vec<i64>>) {
        let mut builder = NetworkBuilder::default();
        let (s, t) = (builder.add_node(5), builder.add_node(-5));
        builder.add_arc(s, t, 0, 9);
        builder.add_arc(s, t, 1, 9);
        builder.add_arc(s, t, 0, 2);
        let network = builder.build().unwrap();
        let squares = Convex::Squares { low: 0, high: 0 };
        let ranks = vec![
            RankCost::linear(vec![2, 2, 3]),
            RankCost::convex(vec![(ArcId(0), squares), (ArcId(1), squares)]),
        ];
        // 3 and 2, or 2 and 3: the marginal square is 5.
        let potentials = vec![vec![-2, 0], vec![-5, 0]];
        (network, ranks, vec![3, 2, 0], potentials)
    }

    #[test]
    fn accepts_the_optimum_and_bounds_it() {
        let (network, ranks, flow, potentials) = case();
        assert_eq!(check_optimal(&network, &ranks, &flow, &potentials), []);
        let value = ranks[0].total(&flow);
        assert_eq!(bound(&network, &ranks[0], &potentials[0]), Some(value));
    }

    #[test]
    fn names_each_fault() {
        let (network, ranks, flow, potentials) = case();
        let faults = check_flow(&network, &[5, 0, 1]);
        let arc = ArcId(1);
        assert_eq!(faults[0], FlowFault::Bounds { arc, flow: 0 });
        let node = NodeId(0);
        assert_eq!(faults[1], FlowFault::Conservation { node, excess: -1 });
        assert_eq!(faults.len(), 3);
        let uneven = check_optimal(&network, &ranks, &[4, 1, 0], &potentials);
        assert!(matches!(
            uneven[..],
            [
                FlowFault::ShouldFall { rank: 1, .. },
                FlowFault::ShouldRise { rank: 1, .. }
            ]
        ));
        let dear = check_optimal(&network, &ranks, &[3, 1, 1], &potentials);
        assert!(matches!(
            dear[..],
            [
                FlowFault::ShouldRise { rank: 1, .. },
                FlowFault::ShouldFall { rank: 0, .. }
            ]
        ));
        let short = check_optimal(&network, &ranks, &flow[1..], &potentials[1..]);
        assert_eq!(short.len(), 2);
        let mut unsorted = ranks.clone();
        unsorted[1].convex.reverse();
        let faults = check_optimal(&network, &unsorted, &flow, &potentials);
        assert_eq!(faults, [FlowFault::CostShape { rank: 1 }]);
    }
}
