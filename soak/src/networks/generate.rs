//! Networks of two to twelve nodes and up to thirty arcs, one kind a seed.
//!
//! Each kind makes one thing common that solvers get wrong; the others still happen now and then. Supplies come from a
//! hidden flow, so that most cases have an answer.

use shardflow_solver::network::{
    ArcId, Convex, CostError, MAGNITUDE_MAX, Network, NetworkBuilder, NetworkError, NodeId,
    POTENTIAL_MAX, RankCost,
};

use crate::rng::Rng;

/// What a kind makes common.
const KINDS: [&str; 14] = [
    "plain",
    "near the range of amounts",
    "near the range of costs",
    "degenerate",
    "disconnected",
    "parallel arcs",
    "loops",
    "zero capacities",
    "lower bounds",
    "negative costs",
    "uncapacitated",
    "infeasible",
    "convex arcs",
    "many ranks",
];

/// The kind of a seed.
pub fn kind(seed: u64) -> &'static str {
    KINDS[(seed % KINDS.len() as u64) as usize]
}

/// A network that was accepted, and costs that fit it.
pub(super) struct Case {
    /// What it is about.
    pub(super) kind: &'static str,
    /// Nodes, arcs, supplies, bounds.
    pub(super) network: Network,
    /// What its flow costs, the most important rank first.
    pub(super) ranks: Vec<RankCost>,
}

/// What a kind draws from.
struct Recipe {
    nodes: usize,
    arcs: usize,
    /// Widest room between the bounds of an arc.
    span: i64,
    /// Largest |unit cost|.
    cost: i64,
    /// Chances in a hundred.
    same_pair: usize,
    same_node: usize,
    shut: usize,
    raised: usize,
    open: usize,
    bent: usize,
    off: usize,
    negative: usize,
    tied: usize,
    /// Nodes of one part of a network that falls in two; none where it doesn't.
    part: Option<usize>,
    ranks: usize,
}

impl Recipe {
    fn new(kind: &str, rng: &mut Rng) -> Self {
        let nodes = rng.between(1, 12);
        let mut recipe = Recipe {
            nodes,
            arcs: rng.between(0, 30),
            span: 6,
            cost: 20,
            same_pair: 10,
            same_node: 4,
            shut: 6,
            raised: 15,
            open: 0,
            bent: 12,
            off: 3,
            negative: 30,
            tied: 10,
            part: None,
            ranks: rng.between(1, 3),
        };
        match kind {
            "near the range of amounts" => {
                recipe.span = MAGNITUDE_MAX / (2 * recipe.arcs.max(1) as i64);
                // The same room twice over does not fit in some of the cases.
                recipe.span *= [1, 1, 1, 4][rng.below(4)];
                recipe.bent = 0;
            }
            "near the range of costs" => {
                recipe.cost = POTENTIAL_MAX / nodes as i64;
                // Some don't fit: twice as much in each node.
                recipe.cost = (recipe.cost / [1, 1, 2, 1 << 20][rng.below(4)]).max(1);
                recipe.cost *= [1, 1, 1, 2][rng.below(4)];
            }
            "degenerate" => (recipe.span, recipe.cost, recipe.tied) = (1, 1, 60),
            "disconnected" => recipe.part = Some(nodes / 2),
            "parallel arcs" => recipe.same_pair = 80,
            "loops" => recipe.same_node = 40,
            "zero capacities" => recipe.shut = 50,
            "lower bounds" => recipe.raised = 80,
            "negative costs" => recipe.negative = 80,
            "uncapacitated" => (recipe.open, recipe.negative) = (50, 10),
            "infeasible" => recipe.off = 80,
            "convex arcs" => recipe.bent = 70,
            "many ranks" => recipe.ranks = rng.between(4, 8),
            _ => {}
        }
        recipe
    }

    fn ends(&self, last: Option<(usize, usize)>, rng: &mut Rng) -> (usize, usize) {
        if let Some(last) = last.filter(|_| rng.chance(self.same_pair)) {
            return last;
        }
        let (begin, count) = match self.part {
            Some(part) if part > 0 && rng.chance(50) => (0, part),
            Some(part) => (part, self.nodes - part),
            None => (0, self.nodes),
        };
        let tail = begin + rng.below(count);
        if rng.chance(self.same_node) {
            return (tail, tail);
        }
        (tail, begin + rng.below(count))
    }

    /// Lower and upper bound of an arc.
    fn bounds(&self, rng: &mut Rng) -> (i64, i64) {
        let mut lower = 0;
        if rng.chance(self.raised) {
            lower = whole(rng, -self.span / 2, self.span / 2);
        }
        if rng.chance(self.open) {
            return (lower, Network::UNCAPACITATED);
        }
        if rng.chance(self.shut) {
            return (lower, lower);
        }
        (lower, lower + whole(rng, 0, self.span))
    }

    fn unit_cost(&self, rng: &mut Rng) -> i64 {
        let cost = match rng.chance(self.tied) {
            true => self.cost / 2,
            false => whole(rng, 0, self.cost),
        };
        match rng.chance(self.negative) {
            true => -cost,
            false => cost,
        }
    }

    fn rank(&self, bounds: &[(i64, i64)], rng: &mut Rng) -> RankCost {
        let mut rank = RankCost::default();
        if !rng.chance(15) {
            rank.unit = bounds.iter().map(|_| self.unit_cost(rng)).collect();
        }
        for (at, &(lower, upper)) in bounds.iter().enumerate() {
            if upper != Network::UNCAPACITATED && rng.chance(self.bent) {
                rank.convex.push((ArcId::at(at), convex(lower, upper, rng)));
            }
        }
        rank
    }
}

/// From `low` to `high`, both included.
fn whole(rng: &mut Rng, low: i64, high: i64) -> i64 {
    let span = (i128::from(high) - i128::from(low) + 1) as u64;
    low + (rng.next() % span) as i64
}

fn convex(lower: i64, upper: i64, rng: &mut Rng) -> Convex {
    let mut at = || whole(rng, lower - 1, upper + 1);
    let (a, b) = (at(), at());
    match rng.below(4) {
        0 => Convex::Excess(a),
        1 => Convex::TwoExcess(a, b),
        2 => Convex::Shortfall(a),
        _ => Convex::Squares {
            low: a.min(b),
            high: a.max(b),
        },
    }
}

/// What was refused.
pub(super) struct Draft {
    supplies: Vec<i64>,
    /// Bounds by arc.
    bounds: Vec<(i64, i64)>,
    refusal: Refusal,
}

enum Refusal {
    Network(NetworkError),
    /// The rank's cost, the network that it was meant for.
    Cost(CostError, RankCost, Network),
}

impl Draft {
    /// Whether something is out of the documented range.
    pub(super) fn check_refused(&self) -> Result<(), String> {
        let most = i128::from(MAGNITUDE_MAX);
        let is_right = match &self.refusal {
            Refusal::Network(NetworkError::SupplyRange { sum }) => {
                let magnitude = |&s: &i64| i128::from(s).abs();
                *sum > most && *sum == self.supplies.iter().map(magnitude).sum()
            }
            Refusal::Network(NetworkError::BoundsRange { sum }) => {
                *sum > most && *sum == finite(&self.bounds)
            }
            Refusal::Network(_) => false,
            Refusal::Cost(CostError::CostRange { sum }, rank, network) => {
                *sum > i128::from(POTENTIAL_MAX) && *sum == potentials_apart(network, rank)
            }
            Refusal::Cost(..) => false,
        };
        if is_right {
            return Ok(());
        }
        let reason = match &self.refusal {
            Refusal::Network(error) => error.to_string(),
            Refusal::Cost(error, rank, network) => format!("{error} {rank:?} {network:?}"),
        };
        let (supplies, bounds) = (&self.supplies, &self.bounds);
        Err(format!(
            "refused: {reason}; supplies {supplies:?}, bounds {bounds:?}"
        ))
    }
}

/// Σ |finite bound|.
fn finite(bounds: &[(i64, i64)]) -> i128 {
    let one = |bound: i64| match bound {
        Network::UNCAPACITATED => 0,
        bound => i128::from(bound).abs(),
    };
    bounds.iter().map(|&(low, high)| one(low) + one(high)).sum()
}

/// The documented measure of how far potentials can be apart.
fn potentials_apart(network: &Network, rank: &RankCost) -> i128 {
    let steepest = |arc: ArcId| {
        let unit = rank.unit.get(arc.index()).map_or(0, |&c| i128::from(c));
        let (lower, upper) = (network.lower(arc), network.upper(arc));
        let bend = rank.convex.iter().find(|c| c.0 == arc);
        let bent = bend.filter(|_| lower < upper).map_or(0, |&(_, f)| {
            let slope = |x: i64| (f.value(x + 1) - f.value(x)).abs();
            slope(lower).max(slope(upper - 1))
        });
        unit.abs() + bent
    };
    let sum = |is_counted: &dyn Fn(NodeId, ArcId) -> bool| -> i128 {
        let largest = |node: NodeId| {
            let counted = network.arcs().filter(|&arc| is_counted(node, arc));
            counted.map(steepest).max().unwrap_or(0)
        };
        network.nodes().map(largest).sum()
    };
    let leaves = |node: NodeId, arc: ArcId| network.tail(arc) == node;
    let touches = |node: NodeId, arc: ArcId| leaves(node, arc) || network.head(arc) == node;
    sum(&touches).min(2 * sum(&leaves))
}

/// The case of a seed, whose generator is given.
pub(super) fn case(rng: &mut Rng, seed: u64) -> Result<Case, Box<Draft>> {
    let kind = kind(seed);
    let recipe = Recipe::new(kind, rng);
    let mut builder = NetworkBuilder::default();
    let nodes: Vec<NodeId> = (0..recipe.nodes).map(|_| builder.add_node(0)).collect();
    let mut draft = Draft {
        supplies: vec![0; recipe.nodes],
        bounds: Vec::new(),
        refusal: Refusal::Network(NetworkError::Unbalanced { surplus: 0 }),
    };
    let mut last = None;
    for _ in 0..recipe.arcs {
        let (tail, head) = recipe.ends(last, rng);
        last = Some((tail, head));
        let (lower, upper) = recipe.bounds(rng);
        let flow = whole(rng, lower, upper.min(lower.saturating_add(recipe.span)));
        builder.add_arc(nodes[tail], nodes[head], lower, upper);
        draft.bounds.push((lower, upper));
        draft.supplies[tail] += flow;
        draft.supplies[head] -= flow;
    }
    if rng.chance(recipe.off) {
        let amount = whole(rng, 1, recipe.span);
        draft.supplies[0] += amount;
        draft.supplies[recipe.nodes - 1] -= amount;
    }
    for (&node, &supply) in nodes.iter().zip(&draft.supplies) {
        builder.add_supply(node, supply);
    }
    let network = match builder.build() {
        Ok(network) => network,
        Err(error) => {
            draft.refusal = Refusal::Network(error);
            return Err(Box::new(draft));
        }
    };
    let ranks: Vec<RankCost> = (0..recipe.ranks)
        .map(|_| recipe.rank(&draft.bounds, rng))
        .collect();
    for rank in &ranks {
        if let Err(error) = rank.check(&network) {
            draft.refusal = Refusal::Cost(error, rank.clone(), network);
            return Err(Box::new(draft));
        }
    }
    Ok(Case {
        kind,
        network,
        ranks,
    })
}

/// Costs of another kind for the same network.
pub(super) fn other_costs(network: &Network, rng: &mut Rng) -> RankCost {
    let recipe = Recipe::new("plain", rng);
    let bounds: Vec<(i64, i64)> = (network.arcs())
        .map(|arc| (network.lower(arc), network.upper(arc)))
        .collect();
    let unit = (bounds.iter()).map(|&(_, upper)| match upper {
        Network::UNCAPACITATED => recipe.unit_cost(rng).abs(),
        _ => recipe.unit_cost(rng),
    });
    RankCost::linear(unit.collect())
}
