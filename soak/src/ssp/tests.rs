//! Small networks with answers found by hand, and every flow of tiny ones tried.

use shardflow_solver::network::{ArcId, Convex, Network, NetworkBuilder, NodeId, RankCost};

use super::{Outcome, solve};
use crate::rng::Rng;

type Arc = (usize, usize, i64, i64);

/// Supplies, and arcs (tail, head, lower, upper).
fn network(supplies: &[i64], arcs: &[Arc]) -> Network {
    let mut builder = NetworkBuilder::default();
    for &supply in supplies {
        builder.add_node(supply);
    }
    for &(tail, head, lower, upper) in arcs {
        builder.add_arc(NodeId::at(tail), NodeId::at(head), lower, upper);
    }
    builder.build().unwrap()
}

const FREE: i64 = Network::UNCAPACITATED;

#[test]
fn the_cheap_arc_fills_first_and_a_later_rank_breaks_the_tie() {
    let pair = network(&[3, -3], &[(0, 1, 0, 2), (0, 1, 0, 9), (0, 1, 0, 9)]);
    let ranks = [
        RankCost::linear(vec![1, 5, 5]),
        RankCost::linear(vec![0, 4, 3]),
    ];
    let (totals, flow) = (vec![7, 3], vec![2, 0, 1]);
    assert_eq!(solve(&pair, &ranks), Outcome::Optimal { totals, flow });
}

#[test]
fn negative_costs_and_lower_bounds_are_used() {
    let ring = network(&[0, 0], &[(0, 1, -2, 4), (1, 0, 1, 3)]);
    let ranks = [RankCost::linear(vec![-5, 1])];
    let (totals, flow) = (vec![-12], vec![3, 3]);
    assert_eq!(solve(&ring, &ranks), Outcome::Optimal { totals, flow });
}

#[test]
fn what_cannot_be_delivered_is_counted_wherever_it_is() {
    // Two units at node 0 and one at node 1 share one way out; node 3 wants two that nobody reaches.
    let short = network(&[2, 1, -1, -2], &[(0, 2, 0, 1), (1, 2, 0, 1)]);
    assert_eq!(solve(&short, &[]), Outcome::Infeasible { deficit: 2 });
}

#[test]
fn a_free_cycle_is_endless_in_the_first_rank_that_gains() {
    let ring = [(0, 1, 0, FREE), (1, 0, 0, FREE)];
    let rank = |costs: [i64; 2]| RankCost::linear(costs.to_vec());
    let ranks = [rank([2, -2]), rank([0, 0]), rank([-2, 1])];
    let endless = Outcome::Unbounded { rank: 2 };
    assert_eq!(solve(&network(&[0, 0], &ring), &ranks), endless);
    // An earlier rank that pays for the cycle ends it.
    let ranks = [rank([2, -1]), rank([-2, 1])];
    let (totals, flow) = (vec![0, 0], vec![0, 0]);
    let best = Outcome::Optimal { totals, flow };
    assert_eq!(solve(&network(&[0, 0], &ring), &ranks), best);
    // Without a flow there is nothing without end.
    let apart = network(&[0, 0, 1, -1], &ring);
    let cost = [rank([-1, 0])];
    assert_eq!(solve(&apart, &cost), Outcome::Infeasible { deficit: 1 });
}

#[test]
fn squares_share_evenly() {
    let three = network(&[7, -7], &[(0, 1, 0, 9); 3]);
    let square = Convex::Squares { low: 0, high: 0 };
    let ranks = [RankCost::convex(
        (0..3).map(|a| (ArcId::at(a), square)).collect(),
    )];
    let Outcome::Optimal { totals, mut flow } = solve(&three, &ranks) else {
        panic!("a flow exists")
    };
    flow.sort_unstable();
    assert_eq!((totals, flow), (vec![17], vec![2, 2, 3]));
}

/// The least cost of any flow, by trying all; none where there is no flow.
fn tried(network: &Network, ranks: &[RankCost]) -> Option<Vec<i128>> {
    let arcs: Vec<ArcId> = network.arcs().collect();
    let mut flow: Vec<i64> = arcs.iter().map(|&arc| network.lower(arc)).collect();
    let mut best: Option<Vec<i128>> = None;
    loop {
        let mut left: Vec<i64> = network.nodes().map(|node| network.supply(node)).collect();
        for (&arc, &x) in arcs.iter().zip(&flow) {
            left[network.tail(arc).index()] -= x;
            left[network.head(arc).index()] += x;
        }
        if left.iter().all(|&l| l == 0) {
            let totals: Vec<i128> = ranks.iter().map(|rank| rank.total(&flow)).collect();
            if best.as_ref().is_none_or(|best| totals < *best) {
                best = Some(totals);
            }
        }
        let has_room = |&at: &usize| flow[at] < network.upper(arcs[at]);
        let Some(next) = (0..arcs.len()).find(has_room) else {
            return best;
        };
        flow[next] += 1;
        for at in 0..next {
            flow[at] = network.lower(arcs[at]);
        }
    }
}

fn tiny(rng: &mut Rng) -> (Network, Vec<RankCost>) {
    let nodes = rng.between(1, 4);
    let mut supplies = vec![0; nodes];
    let mut arcs: Vec<Arc> = Vec::new();
    for _ in 0..rng.between(0, 6) {
        let (tail, head) = (rng.below(nodes), rng.below(nodes));
        let lower = rng.below(3) as i64 - 1;
        let upper = lower + rng.below(3) as i64;
        let flow = rng.between(0, (upper - lower) as usize) as i64 + lower;
        supplies[tail] += flow;
        supplies[head] -= flow;
        arcs.push((tail, head, lower, upper));
    }
    if rng.chance(20) {
        supplies[0] += 1;
        supplies[nodes - 1] -= 1;
    }
    let ranks = (0..rng.between(0, 3)).map(|_| {
        let mut rank = RankCost::default();
        if rng.chance(70) {
            rank.unit = arcs.iter().map(|_| rng.below(7) as i64 - 3).collect();
        }
        for at in (0..arcs.len()).map(ArcId::at) {
            let (low, more) = (rng.below(3) as i64 - 1, rng.below(2) as i64);
            let shapes = [
                Convex::Excess(low),
                Convex::TwoExcess(low, low + more),
                Convex::Shortfall(low),
                Convex::Squares {
                    low,
                    high: low + more,
                },
            ];
            if rng.chance(40) {
                rank.convex.push((at, *rng.pick(&shapes)));
            }
        }
        rank
    });
    let ranks = ranks.collect();
    (network(&supplies, &arcs), ranks)
}

#[test]
fn tiny_networks_cost_what_the_best_of_all_flows_does() {
    let (mut feasible, mut infeasible) = (0, 0);
    for seed in 0..4_000 {
        let (network, ranks) = tiny(&mut Rng::new(seed));
        match (tried(&network, &ranks), solve(&network, &ranks)) {
            (Some(best), Outcome::Optimal { totals, .. }) => {
                assert_eq!(totals, best, "seed {seed}");
                feasible += 1;
            }
            (None, Outcome::Infeasible { .. }) => infeasible += 1,
            (best, outcome) => panic!("seed {seed}: {best:?}, {outcome:?}"),
        }
    }
    assert!(
        feasible > 3_000 && infeasible > 200,
        "{feasible}, {infeasible}"
    );
}
