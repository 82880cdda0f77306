//! Successive shortest paths with potentials: a second exact algorithm for lexicographic min-cost flow, slow and plain.
//!
//! **Problem.** That of [`shardflow_solver::network`]: a flow of the network that is lexicographically least under a
//! list of rank costs. Nothing here is shared with the simplex, nor with its convex costs: those are read from their
//! definition (`pieces`).
//!
//! **Method** (Ahuja, Magnanti, Orlin, Network Flows, section 9.7). Costs are vectors, one entry a rank, compared
//! lexicographically; that is an ordered group, which is all the algorithm asks of a cost, so all ranks are minimised
//! at once. A convex arc is its run of linear pieces of rising slope. Each arc starts at its lower bound. Potentials
//! that make the reduced costs of uncapacitated arcs non-negative come from Bellman-Ford; a negative cycle there has
//! no end. Every finite piece of negative reduced cost is then filled. From here on the invariant holds that all
//! residual arcs have reduced costs ≥ 0: while some node has an excess, a Dijkstra search finds its nearest node with
//! a deficit, the potentials rise by the distances, and the path takes as much as it can.
//!
//! **Infeasible.** An excess that reaches no deficit never will again, since no later path enters what it reaches. What
//! is left so in the end is the least that any flow leaves undelivered.
//!
//! **Complexity.** O(paths · (nodes² + pieces)) vector operations; the number of paths is at most the pieces filled and
//! the supply, but exponential in the worst case where amounts are large. Meant for a hundred nodes.
//!
//! **Ranges.** Amounts, costs and totals are `i128`, which the ranges of networks can't exceed.

mod pieces;
#[cfg(test)]
mod tests;

use shardflow_solver::network::{Network, RankCost};

/// Room of an arc without a bound, and less than that by any amount that can flow.
const ENDLESS: i128 = i128::MAX / 4;

/// What a network comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The optimum.
    Optimal {
        /// Cost by rank.
        totals: Vec<i128>,
        /// Flow by arc; another flow may cost the same.
        flow: Vec<i128>,
    },
    /// No flow meets the supplies and bounds.
    Infeasible {
        /// The least supply that stays undelivered.
        deficit: i128,
    },
    /// There are flows of ever lower cost.
    Unbounded {
        /// The first rank without end, the earlier ones being at their optimum.
        rank: usize,
    },
}

/// The lexicographic optimum.
///
/// # Panics
/// Where a rank's cost does not fit the network ([`RankCost::check`]), or there are more than 16 ranks.
pub fn solve(network: &Network, ranks: &[RankCost]) -> Outcome {
    match ranks.len() {
        0..=1 => Residual::<1>::new(network, ranks).solve(),
        2 => Residual::<2>::new(network, ranks).solve(),
        3..=4 => Residual::<4>::new(network, ranks).solve(),
        5..=8 => Residual::<8>::new(network, ranks).solve(),
        count => {
            assert!(count <= 16, "{count} ranks");
            Residual::<16>::new(network, ranks).solve()
        }
    }
}

/// A cost by rank; ranks past those given are zero. The order of arrays is lexicographic.
type Cost<const R: usize> = [i128; R];

fn sum<const R: usize>(a: &Cost<R>, b: &Cost<R>) -> Cost<R> {
    std::array::from_fn(|rank| a[rank] + b[rank])
}

fn difference<const R: usize>(a: &Cost<R>, b: &Cost<R>) -> Cost<R> {
    std::array::from_fn(|rank| a[rank] - b[rank])
}

/// A residual arc. Those of one piece are at 2k, along it, and 2k + 1, against it.
struct Arc<const R: usize> {
    tail: usize,
    head: usize,
    room: i128,
    cost: Cost<R>,
}

struct Residual<'a, const R: usize> {
    network: &'a Network,
    ranks: &'a [RankCost],
    arcs: Vec<Arc<R>>,
    /// Residual arcs by tail.
    leaving: Vec<Vec<usize>>,
    /// By piece, the arc of the network that it belongs to.
    owner: Vec<usize>,
    excess: Vec<i128>,
    potential: Vec<Cost<R>>,
}

impl<'a, const R: usize> Residual<'a, R> {
    /// Every arc at its lower bound.
    fn new(network: &'a Network, ranks: &'a [RankCost]) -> Self {
        let nodes = network.node_count();
        let mut residual = Residual {
            network,
            ranks,
            arcs: Vec::new(),
            leaving: vec![Vec::new(); nodes],
            owner: Vec::new(),
            excess: (network.nodes())
                .map(|node| i128::from(network.supply(node)))
                .collect(),
            potential: vec![[0; R]; nodes],
        };
        let mut bends = pieces::Bends::new(ranks);
        for arc in network.arcs() {
            let (tail, head) = (network.tail(arc).index(), network.head(arc).index());
            let lower = i128::from(network.lower(arc));
            residual.excess[tail] -= lower;
            residual.excess[head] += lower;
            for piece in bends.pieces(network, arc) {
                residual.add_piece(tail, head, piece.length, piece.slope);
                residual.owner.push(arc.index());
            }
        }
        residual
    }

    fn add_piece(&mut self, tail: usize, head: usize, room: i128, cost: Cost<R>) {
        let at = self.arcs.len();
        self.leaving[tail].push(at);
        self.leaving[head].push(at + 1);
        self.arcs.push(Arc {
            tail,
            head,
            room,
            cost,
        });
        self.arcs.push(Arc {
            tail: head,
            head: tail,
            room: 0,
            cost: cost.map(|c| -c),
        });
    }

    fn solve(mut self) -> Outcome {
        match self.endless_rank() {
            None => {}
            Some(rank) => {
                // Without costs: only whether there is a flow at all.
                return match Residual::<1>::new(self.network, &[]).solve() {
                    Outcome::Optimal { .. } => Outcome::Unbounded { rank },
                    other => other,
                };
            }
        }
        self.fill_negative();
        let deficit = self.deliver();
        if deficit > 0 {
            return Outcome::Infeasible { deficit };
        }
        self.optimum()
    }

    /// Sets potentials under which no uncapacitated arc has a negative reduced cost, or else names the first rank in
    /// which they close a negative cycle.
    fn endless_rank(&mut self) -> Option<usize> {
        if self.shorten(R) {
            return None;
        }
        (1..=R).find(|&count| !self.shorten(count)).map(|c| c - 1)
    }

    /// Bellman-Ford over the uncapacitated arcs by the first `count` ranks; false where they have a negative cycle.
    fn shorten(&mut self, count: usize) -> bool {
        self.potential.fill([0; R]);
        for _ in 0..=self.potential.len() {
            let mut is_settled = true;
            for arc in self.arcs.iter().filter(|arc| arc.room == ENDLESS) {
                let reached = sum(&self.potential[arc.tail], &arc.cost);
                if reached[..count] < self.potential[arc.head][..count] {
                    self.potential[arc.head] = reached;
                    is_settled = false;
                }
            }
            if is_settled {
                return true;
            }
        }
        false
    }

    fn reduced_cost(&self, arc: &Arc<R>) -> Cost<R> {
        let cost = sum(&arc.cost, &self.potential[arc.tail]);
        difference(&cost, &self.potential[arc.head])
    }

    /// Fills every piece of negative reduced cost; they are all finite.
    fn fill_negative(&mut self) {
        for at in (0..self.arcs.len()).step_by(2) {
            let arc = &self.arcs[at];
            if self.reduced_cost(arc) < [0; R] {
                let (tail, head, amount) = (arc.tail, arc.head, arc.room);
                self.push(at, amount);
                self.excess[tail] -= amount;
                self.excess[head] += amount;
            }
        }
    }

    fn push(&mut self, at: usize, amount: i128) {
        self.arcs[at].room -= amount;
        self.arcs[at ^ 1].room += amount;
    }

    /// Delivers every excess that can be; what is left.
    fn deliver(&mut self) -> i128 {
        let mut left = 0;
        for from in 0..self.excess.len() {
            while self.excess[from] > 0 {
                let Some((to, via)) = self.nearest_deficit(from) else {
                    left += self.excess[from];
                    break;
                };
                let mut amount = self.excess[from].min(-self.excess[to]);
                let mut node = to;
                while node != from {
                    amount = amount.min(self.arcs[via[node]].room);
                    node = self.arcs[via[node]].tail;
                }
                node = to;
                while node != from {
                    self.push(via[node], amount);
                    node = self.arcs[via[node]].tail;
                }
                self.excess[from] -= amount;
                self.excess[to] += amount;
            }
        }
        left
    }

    /// Dijkstra by reduced costs, up to the nearest node with a deficit. Gives it, and by node the arc that reaches it;
    /// raises the potentials by the distances, none by more than the end's, so that reduced costs stay ≥ 0.
    fn nearest_deficit(&mut self, from: usize) -> Option<(usize, Vec<usize>)> {
        let nodes = self.excess.len();
        let mut distance: Vec<Option<Cost<R>>> = vec![None; nodes];
        let mut is_done = vec![false; nodes];
        let mut via = vec![usize::MAX; nodes];
        distance[from] = Some([0; R]);
        loop {
            let open = (0..nodes).filter(|&node| !is_done[node]);
            let reached = open.filter_map(|node| Some((distance[node]?, node)));
            let (far, node) = reached.min()?;
            is_done[node] = true;
            if self.excess[node] < 0 {
                for (potential, distance) in self.potential.iter_mut().zip(distance) {
                    let by = distance.map_or(far, |distance| distance.min(far));
                    *potential = sum(potential, &by);
                }
                return Some((node, via));
            }
            for &at in &self.leaving[node] {
                let arc = &self.arcs[at];
                if arc.room == 0 || is_done[arc.head] {
                    continue;
                }
                let step = self.reduced_cost(arc);
                debug_assert!(step >= [0; R], "a residual arc of negative reduced cost");
                let reached = sum(&far, &step);
                if distance[arc.head].is_none_or(|before| reached < before) {
                    distance[arc.head] = Some(reached);
                    via[arc.head] = at;
                }
            }
        }
    }

    fn optimum(&self) -> Outcome {
        let lower = |arc| i128::from(self.network.lower(arc));
        let mut flow: Vec<i128> = self.network.arcs().map(lower).collect();
        let mut totals: Vec<i128> = (self.ranks.iter())
            .map(|rank| pieces::value_at_lower(self.network, rank))
            .collect();
        for (&owner, pair) in self.owner.iter().zip(self.arcs.chunks_exact(2)) {
            let amount = pair[1].room;
            flow[owner] += amount;
            for (total, slope) in totals.iter_mut().zip(pair[0].cost) {
                *total += slope * amount;
            }
        }
        Outcome::Optimal { totals, flow }
    }
}
