//! Cycle cancelling, unit by unit on vector costs, and small networks against it.

use shardflow_solver::network::{ArcId, Network};
use shardflow_solver::simplex::ScratchError;

use crate::answers::{assert_cut, assert_proved, from_flow, from_scratch};
use crate::generator::{Case, SMALL, bounds, random_case, random_hint, random_rank, totals};
use crate::highs_model::value;
use crate::rng::Rng;

/// One unit more or less on an arc: from, to, arc, step.
type Way = (usize, usize, usize, i64);

fn ways(network: &Network, flow: &[i64]) -> Vec<Way> {
    let mut ways = Vec::new();
    for arc in network.arcs() {
        let (t, h, a) = (
            network.tail(arc).index(),
            network.head(arc).index(),
            arc.index(),
        );
        if flow[a] < network.upper(arc) {
            ways.push((t, h, a, 1));
        }
        if flow[a] > network.lower(arc) {
            ways.push((h, t, a, -1));
        }
    }
    ways
}

/// Unit augmenting paths from surplus to demand; the units that stay undelivered where the case is infeasible.
pub(crate) fn feasible_flow(network: &Network) -> Result<Vec<i64>, i64> {
    let mut flow: Vec<i64> = network.arcs().map(|arc| network.lower(arc)).collect();
    loop {
        let mut excess: Vec<i64> = network.nodes().map(|node| network.supply(node)).collect();
        for arc in network.arcs() {
            excess[network.tail(arc).index()] -= flow[arc.index()];
            excess[network.head(arc).index()] += flow[arc.index()];
        }
        if excess.iter().all(|&e| e == 0) {
            return Ok(flow);
        }
        let mut via: Vec<Option<Way>> = vec![None; excess.len()];
        let mut queue: Vec<usize> = (0..excess.len()).filter(|&v| excess[v] > 0).collect();
        let mut at = 0;
        let end = loop {
            let Some(&node) = queue.get(at) else {
                return Err(excess.iter().filter(|&&e| e > 0).sum());
            };
            at += 1;
            if excess[node] < 0 {
                break node;
            }
            for way in ways(network, &flow) {
                if way.0 == node && via[way.1].is_none() && !queue.contains(&way.1) {
                    via[way.1] = Some(way);
                    queue.push(way.1);
                }
            }
        };
        let mut node = end;
        while let Some((from, _, arc, step)) = via[node] {
            flow[arc] += step;
            node = from;
        }
    }
}

/// Cancels lexicographically negative cycles, one unit at a time, until none is left.
pub(crate) fn cancel_cycles(case: &Case, mut flow: Vec<i64>) -> Vec<i64> {
    let network = &case.network;
    let nodes = network.node_count();
    'again: loop {
        let ways = ways(network, &flow);
        let cost = |&(_, _, a, step): &Way| -> Vec<i128> {
            let arc = ArcId::at(a);
            let change = |rank| value(rank, arc, flow[a] + step) - value(rank, arc, flow[a]);
            case.ranks.iter().map(change).collect()
        };
        let costs: Vec<Vec<i128>> = ways.iter().map(cost).collect();
        let mut distance = vec![vec![0i128; case.ranks.len()]; nodes];
        let mut via: Vec<Option<Way>> = vec![None; nodes];
        for round in 0..=nodes {
            let mut changed = None;
            for (way, cost) in ways.iter().zip(&costs) {
                let sum = distance[way.0].iter().zip(cost).map(|(d, c)| d + c);
                let reached: Vec<i128> = sum.collect();
                if reached < distance[way.1] {
                    distance[way.1] = reached;
                    via[way.1] = Some(*way);
                    changed = Some(way.1);
                }
            }
            let Some(mut node) = changed else {
                return flow;
            };
            if round < nodes {
                continue;
            }
            for _ in 0..nodes {
                node = via[node].unwrap().0;
            }
            let on_cycle = node;
            loop {
                let (from, _, arc, step) = via[node].unwrap();
                flow[arc] += step;
                node = from;
                if node == on_cycle {
                    continue 'again;
                }
            }
        }
    }
}

#[test]
fn small_networks_equal_cycle_cancelling() {
    let (mut feasible, mut infeasible) = (0, 0);
    for seed in 0..4000 {
        let mut rng = Rng::new(seed);
        let case = random_case(&mut rng, &SMALL);
        let start = match (feasible_flow(&case.network), from_scratch(&case)) {
            (Err(short), Err(ScratchError::Infeasible { cut, deficit })) => {
                assert_eq!(deficit, short, "seed {seed}");
                assert_cut(&case.network, &cut, deficit);
                infeasible += 1;
                continue;
            }
            (Ok(start), Ok(answer)) => {
                assert_proved(&case, &answer, seed);
                let expected = totals(&case.ranks, &cancel_cycles(&case, start.clone()));
                assert_eq!(totals(&case.ranks, &answer.flow), expected, "seed {seed}");
                start
            }
            (oracle, simplex) => panic!("seed {seed}: {oracle:?}, {:?}", simplex.err()),
        };
        feasible += 1;
        let expected = totals(&case.ranks, &from_scratch(&case).unwrap().flow);
        let hint = random_hint(&mut rng, &case.network);
        for (start, hint) in [(start.clone(), &hint[..]), (start, &[])] {
            let answer = from_flow(&case, start, hint);
            assert_proved(&case, &answer, seed);
            assert_eq!(totals(&case.ranks, &answer.flow), expected, "seed {seed}");
        }
        let other = Case {
            network: case.network.clone(),
            ranks: vec![random_rank(&mut rng, &bounds(&case.network), 9)],
        };
        let far = from_scratch(&other).unwrap().flow;
        let again = from_flow(&case, far, &hint);
        assert_eq!(totals(&case.ranks, &again.flow), expected, "seed {seed}");
    }
    assert!(
        feasible > 2500 && infeasible > 50,
        "{feasible} {infeasible}"
    );
}
