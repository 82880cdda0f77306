//! The simplex against two independent oracles: unit-by-unit cycle cancelling on vector costs, and HiGHS rank by
//! rank on parallel arcs. Every answer also passes the checker, and every start reaches the same optimum.

use good_lp::{Expression, Solution, SolverModel, constraint, default_solver, variable, variables};
use shardflow_solver::budget::{Budget, Stop, never};
use shardflow_solver::network::{
    ArcId, Convex, CostError, Network, NetworkBuilder, NetworkError, NodeId, RankCost,
};
use shardflow_solver::simplex::{MinimizeError, ScratchError, Simplex, StartError};
use shardflow_solver::verify::flow::{FlowFault, bound, check_flow, check_optimal};

use proptest as _;
use shardflow_solver as _;
use thiserror as _;
use xxhash_rust as _;

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between `low` and `high`, both included.
    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }
}

struct Case {
    network: Network,
    ranks: Vec<RankCost>,
}

struct Size {
    nodes: i64,
    arcs: i64,
    span: i64,
    cost: i64,
}

const SMALL: Size = Size {
    nodes: 6,
    arcs: 12,
    span: 4,
    cost: 5,
};

fn random_convex(rng: &mut Rng, low: i64, high: i64) -> Convex {
    let mut at = || rng.between(low - 1, high + 1);
    let (a, b, kind) = (at(), at(), at());
    match kind.rem_euclid(4) {
        0 => Convex::Excess(a),
        1 => Convex::TwoExcess(a, b),
        2 => Convex::Shortfall(a),
        _ => Convex::Squares {
            low: a.min(b),
            high: a.max(b),
        },
    }
}

/// Lower bounds, parallel arcs, loops, negative costs, convex arcs, one to three ranks. Supplies come from a hidden
/// flow; one case in six moves a unit of supply, and may then be infeasible.
fn random_case(rng: &mut Rng, size: &Size) -> Case {
    let nodes = rng.between(1, size.nodes);
    let arcs = rng.between(0, size.arcs);
    let mut builder = NetworkBuilder::default();
    let ids: Vec<NodeId> = (0..nodes).map(|_| builder.add_node(0)).collect();
    let mut bounds = Vec::new();
    for _ in 0..arcs {
        let tail = ids[rng.between(0, nodes - 1) as usize];
        let head = ids[rng.between(0, nodes - 1) as usize];
        let lower = if rng.one_in(3) { rng.between(-2, 2) } else { 0 };
        let upper = lower + rng.between(0, size.span);
        let flow = rng.between(lower, upper);
        builder.add_arc(tail, head, lower, upper);
        builder.add_supply(tail, flow);
        builder.add_supply(head, -flow);
        bounds.push((lower, upper));
    }
    if rng.one_in(6) {
        builder.add_supply(ids[0], 1);
        builder.add_supply(ids[nodes as usize - 1], -1);
    }
    let ranks = (0..rng.between(1, 3))
        .map(|_| random_rank(rng, &bounds, size.cost))
        .collect();
    Case {
        network: builder.build().unwrap(),
        ranks,
    }
}

fn bounds(network: &Network) -> Vec<(i64, i64)> {
    let bounds = |arc| (network.lower(arc), network.upper(arc));
    network.arcs().map(bounds).collect()
}

fn random_rank(rng: &mut Rng, bounds: &[(i64, i64)], cost: i64) -> RankCost {
    let mut rank = RankCost::default();
    if !rng.one_in(4) {
        rank.unit = bounds.iter().map(|_| rng.between(-cost, cost)).collect();
    }
    for (arc, &(lower, upper)) in bounds.iter().enumerate() {
        if rng.one_in(3) {
            let convex = random_convex(rng, lower, upper);
            rank.convex.push((ArcId::at(arc), convex));
        }
    }
    rank
}

fn value(rank: &RankCost, arc: ArcId, x: i64) -> i128 {
    let bend = rank.convex.iter().find(|c| c.0 == arc);
    let unit = rank.unit.get(arc.index()).copied().unwrap_or(0);
    i128::from(unit) * i128::from(x) + bend.map_or(0, |c| c.1.value(x))
}

fn totals(ranks: &[RankCost], flow: &[i64]) -> Vec<i128> {
    ranks.iter().map(|rank| rank.total(flow)).collect()
}

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
fn feasible_flow(network: &Network) -> Result<Vec<i64>, i64> {
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
fn cancel_cycles(case: &Case, mut flow: Vec<i64>) -> Vec<i64> {
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

struct Answer {
    flow: Vec<i64>,
    potentials: Vec<Vec<i64>>,
    pivots: u64,
}

fn finish(case: &Case, mut simplex: Simplex<'_>, budget: &mut Budget<'_>) -> Answer {
    let mut potentials = Vec::new();
    for rank in &case.ranks {
        simplex.minimize(rank, budget).unwrap();
        potentials.push(simplex.potentials().to_vec());
        simplex.restrict();
    }
    Answer {
        flow: simplex.flow().to_vec(),
        potentials,
        pivots: simplex.stats().pivots,
    }
}

fn from_scratch(case: &Case) -> Result<Answer, ScratchError> {
    let mut budget = Budget::new(None, &never);
    let simplex = Simplex::from_scratch(&case.network, &mut budget)?;
    Ok(finish(case, simplex, &mut budget))
}

fn from_flow(case: &Case, flow: Vec<i64>, hint: &[Option<ArcId>]) -> Answer {
    let mut budget = Budget::new(None, &never);
    let simplex = Simplex::from_flow(&case.network, flow, hint).unwrap();
    finish(case, simplex, &mut budget)
}

fn assert_proved(case: &Case, answer: &Answer, seed: u64) {
    let faults = check_optimal(&case.network, &case.ranks, &answer.flow, &answer.potentials);
    assert_eq!(faults, [], "seed {seed}");
    let first = bound(&case.network, &case.ranks[0], &answer.potentials[0]);
    assert_eq!(
        first,
        Some(case.ranks[0].total(&answer.flow)),
        "seed {seed}"
    );
}

/// What can leave the cut must fall short of its supply by the deficit.
fn assert_cut(network: &Network, cut: &[NodeId], deficit: i64) {
    let mut short: i64 = cut.iter().map(|&node| network.supply(node)).sum();
    for arc in network.arcs() {
        let is_in = |node: NodeId| cut.contains(&node);
        match (is_in(network.tail(arc)), is_in(network.head(arc))) {
            (true, false) => short -= network.upper(arc),
            (false, true) => short += network.lower(arc),
            _ => {}
        }
    }
    assert_eq!(short, deficit);
    assert!(deficit > 0);
}

fn random_hint(rng: &mut Rng, network: &Network) -> Vec<Option<ArcId>> {
    let arcs = network.arc_count() as i64;
    let mut hint = || (arcs > 0 && !rng.one_in(4)).then(|| rng.between(0, arcs - 1));
    network
        .nodes()
        .map(|_| hint().map(|arc| ArcId::at(arc as usize)))
        .collect()
}

#[test]
fn small_networks_equal_cycle_cancelling() {
    let (mut feasible, mut infeasible) = (0, 0);
    for seed in 0..4000 {
        let mut rng = Rng(seed);
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

/// HiGHS on one rank: convex arcs as parallel unit arcs, earlier ranks held at their optimum.
fn highs(case: &Case) -> Vec<i128> {
    let mut held: Vec<i128> = Vec::new();
    for goal in 0..case.ranks.len() {
        let mut vars = variables!();
        let mut leaves: Vec<Expression> = vec![Expression::default(); case.network.node_count()];
        let mut costs: Vec<Expression> = vec![Expression::default(); case.ranks.len()];
        for arc in case.network.arcs() {
            let (lower, upper) = (case.network.lower(arc), case.network.upper(arc));
            let (tail, head) = (
                case.network.tail(arc).index(),
                case.network.head(arc).index(),
            );
            for (rank, cost) in case.ranks.iter().zip(&mut costs) {
                *cost += value(rank, arc, lower) as f64;
            }
            leaves[tail] += lower as f64;
            leaves[head] -= lower as f64;
            for x in lower..upper {
                let unit = vars.add(variable().min(0).max(1));
                leaves[tail] += unit;
                leaves[head] -= unit;
                for (rank, cost) in case.ranks.iter().zip(&mut costs) {
                    let slope = value(rank, arc, x + 1) - value(rank, arc, x);
                    *cost += slope as f64 * unit;
                }
            }
        }
        let mut model = vars.minimise(costs[goal].clone()).using(default_solver);
        model.set_verbose(false);
        for (node, leaves) in case.network.nodes().zip(leaves) {
            model.add_constraint(constraint!(leaves == case.network.supply(node) as f64));
        }
        for (cost, &held) in costs.iter().zip(&held) {
            model.add_constraint(constraint!(cost.clone() == held as f64));
        }
        let solution = model.solve().unwrap();
        held.push(solution.eval(&costs[goal]).round() as i128);
    }
    held
}

#[test]
fn medium_networks_equal_highs() {
    let size = Size {
        nodes: 20,
        arcs: 90,
        span: 6,
        cost: 40,
    };
    let mut compared = 0;
    for seed in 0..300 {
        let case = random_case(&mut Rng(1_000_000 + seed), &size);
        let Ok(answer) = from_scratch(&case) else {
            continue;
        };
        assert_proved(&case, &answer, seed);
        if bounds(&case.network).iter().all(|&(low, high)| low == high) {
            continue; // nothing to choose: HiGHS calls the model empty
        }
        assert_eq!(
            totals(&case.ranks, &answer.flow),
            highs(&case),
            "seed {seed}"
        );
        compared += 1;
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn a_stop_anywhere_leaves_a_feasible_flow_that_never_gets_worse() {
    for seed in 0..40 {
        let mut rng = Rng(2_000_000 + seed);
        let case = random_case(&mut rng, &SMALL);
        let Ok(start) = feasible_flow(&case.network) else {
            continue;
        };
        let hint = random_hint(&mut rng, &case.network);
        let mut best = totals(&case.ranks, &start);
        let mut is_done = false;
        let mut limit = 0;
        while !is_done {
            let mut budget = Budget::new(Some(limit), &never);
            let mut simplex = Simplex::from_flow(&case.network, start.clone(), &hint).unwrap();
            let mut outcome = Ok(());
            for rank in &case.ranks {
                outcome = simplex.minimize(rank, &mut budget);
                if outcome.is_err() {
                    break;
                }
                simplex.restrict();
            }
            is_done = outcome.is_ok();
            if !is_done {
                assert_eq!(outcome, Err(MinimizeError::Stopped(Stop::WorkLimit)));
            }
            assert_eq!(check_flow(&case.network, simplex.flow()), [], "seed {seed}");
            let reached = totals(&case.ranks, simplex.flow());
            assert!(reached <= best, "seed {seed}, limit {limit}");
            best = reached;
            limit += 1;
        }
        let expected = totals(&case.ranks, &cancel_cycles(&case, start));
        assert_eq!(best, expected, "seed {seed}");
    }
}

#[test]
fn a_stopped_rank_is_taken_up_again_and_not_restricted_before() {
    let case = random_case(&mut Rng(9), &SMALL);
    let answer = from_scratch(&case).unwrap();
    let mut free = Budget::new(None, &never);
    let mut simplex = Simplex::from_scratch(&case.network, &mut free).unwrap();
    for rank in &case.ranks {
        let mut limit = 0;
        while simplex
            .minimize(rank, &mut Budget::new(Some(limit), &never))
            .is_err()
        {
            simplex.restrict();
            limit += 1;
        }
        simplex.restrict();
    }
    assert_eq!(
        totals(&case.ranks, simplex.flow()),
        totals(&case.ranks, &answer.flow)
    );
}

#[test]
fn a_stop_in_the_search_for_a_flow_is_reported() {
    let case = random_case(&mut Rng(9), &SMALL);
    let mut budget = Budget::new(Some(0), &never);
    let stopped = Simplex::from_scratch(&case.network, &mut budget).err();
    assert_eq!(stopped, Some(ScratchError::Stopped(Stop::WorkLimit)));
}

/// The network with one arc's upper bound changed.
fn with_upper(network: &Network, changed: ArcId, upper: i64) -> Network {
    let mut builder = NetworkBuilder::default();
    for node in network.nodes() {
        builder.add_node(network.supply(node));
    }
    for arc in network.arcs() {
        let upper = if arc == changed {
            upper
        } else {
            network.upper(arc)
        };
        builder.add_arc(
            network.tail(arc),
            network.head(arc),
            network.lower(arc),
            upper,
        );
    }
    builder.build().unwrap()
}

#[test]
fn the_checker_rejects_every_corruption() {
    let (mut flows, mut bounds, mut potentials) = (0, 0, 0);
    for seed in 0..300 {
        let case = random_case(&mut Rng(3_000_000 + seed), &SMALL);
        let Ok(answer) = from_scratch(&case) else {
            continue;
        };
        let check = |network: &Network, flow: &[i64], potentials: &[Vec<i64>]| {
            check_optimal(network, &case.ranks, flow, potentials)
        };
        for arc in case.network.arcs() {
            let (tail, head) = (case.network.tail(arc), case.network.head(arc));
            let flow = answer.flow[arc.index()];
            let (lower, upper) = (case.network.lower(arc), case.network.upper(arc));
            if lower < flow {
                let tight = with_upper(&case.network, arc, flow - 1);
                let faults = check(&tight, &answer.flow, &answer.potentials);
                assert!(
                    faults.contains(&FlowFault::Bounds { arc, flow }),
                    "seed {seed}"
                );
                bounds += 1;
            }
            if tail == head {
                continue;
            }
            for step in [-1, 1] {
                let mut flow = answer.flow.clone();
                flow[arc.index()] += step;
                let faults = check(&case.network, &flow, &answer.potentials);
                let off = |f: &&FlowFault| matches!(f, FlowFault::Conservation { .. });
                assert_eq!(faults.iter().filter(off).count(), 2, "seed {seed}");
                flows += 1;
            }
            for (node, by) in [(tail, -100), (head, 100)] {
                let mut changed = answer.potentials.clone();
                changed[0][node.index()] += by;
                let faults = check(&case.network, &answer.flow, &changed);
                if flow < upper {
                    assert_ne!(faults, [], "seed {seed}");
                    potentials += 1;
                }
            }
        }
    }
    assert!(flows > 1000 && bounds > 500 && potentials > 1000);
}

/// n shards, n brokers, one each: every basis is degenerate.
fn assignment(n: i64, mut cost: impl FnMut(i64, i64) -> i64) -> Case {
    let mut builder = NetworkBuilder::default();
    let shards: Vec<NodeId> = (0..n).map(|_| builder.add_node(1)).collect();
    let brokers: Vec<NodeId> = (0..n).map(|_| builder.add_node(-1)).collect();
    let mut unit = Vec::new();
    for (i, &shard) in (0..).zip(&shards) {
        for (j, &broker) in (0..).zip(&brokers) {
            builder.add_arc(shard, broker, 0, 1);
            unit.push(cost(i, j));
        }
    }
    Case {
        network: builder.build().unwrap(),
        ranks: vec![RankCost::linear(unit)],
    }
}

#[test]
fn degenerate_assignments_end() {
    let n = 40;
    let mut rng = Rng(4);
    let mut cases = vec![
        (assignment(n, |_, _| 7), Some(7 * 40)),
        (assignment(n, |i, j| i64::from(i != j)), Some(0)),
        (
            assignment(n, |i, j| (i + 1) * (j + 1)),
            Some((1..=40).map(|k| k * (41 - k)).sum()),
        ),
        (assignment(n, |i, j| (i - j).abs() % 2), Some(0)),
    ];
    for _ in 0..20 {
        cases.push((assignment(n, |_, _| rng.between(0, 1)), None));
    }
    for (seed, (case, expected)) in (0..).zip(&cases) {
        let answer = from_scratch(case).unwrap();
        assert_proved(case, &answer, seed);
        if let Some(expected) = expected {
            assert_eq!(case.ranks[0].total(&answer.flow), *expected);
        }
        let shifted = (0..n * n)
            .map(|a| i64::from((a / n + 1) % n == a % n))
            .collect();
        let again = from_flow(case, shifted, &[]);
        assert_proved(case, &again, seed);
        assert!(answer.pivots < 20_000 && again.pivots < 20_000);
    }
}

#[test]
fn the_same_input_gives_the_same_answer() {
    let size = Size {
        nodes: 30,
        arcs: 200,
        span: 9,
        cost: 9,
    };
    for seed in 0..30 {
        let case = random_case(&mut Rng(5_000_000 + seed), &size);
        let (Ok(one), Ok(two)) = (from_scratch(&case), from_scratch(&case)) else {
            continue;
        };
        assert_eq!(one.flow, two.flow);
        assert_eq!(one.potentials, two.potentials);
        assert_eq!(one.pivots, two.pivots);
    }
}

/// Whether uncapacitated arcs close a cycle of negative cost.
fn is_unbounded(network: &Network, unit: &[i64]) -> bool {
    let mut distance = vec![0; network.node_count()];
    for _ in 0..=network.node_count() {
        let mut has_changed = false;
        for arc in network.arcs() {
            let reached = distance[network.tail(arc).index()] + unit[arc.index()];
            let head = network.head(arc).index();
            if network.upper(arc) == Network::UNCAPACITATED && reached < distance[head] {
                distance[head] = reached;
                has_changed = true;
            }
        }
        if !has_changed {
            return false;
        }
    }
    true
}

#[test]
fn uncapacitated_arcs_are_unbounded_only_on_negative_cycles() {
    let (mut unbounded, mut optimal) = (0, 0);
    for seed in 0..1000 {
        let mut rng = Rng(6_000_000 + seed);
        let bounded = random_case(&mut rng, &SMALL);
        if feasible_flow(&bounded.network).is_err() {
            continue;
        }
        let mut network = bounded.network;
        for arc in network.arcs() {
            if rng.one_in(3) {
                network = with_upper(&network, arc, Network::UNCAPACITATED);
            }
        }
        let unit: Vec<i64> = network.arcs().map(|_| rng.between(-2, 6)).collect();
        let is_unbounded = is_unbounded(&network, &unit);
        let case = Case {
            network,
            ranks: vec![RankCost::linear(unit)],
        };
        let mut budget = Budget::new(None, &never);
        let mut simplex = Simplex::from_scratch(&case.network, &mut budget).unwrap();
        let outcome = simplex.minimize(&case.ranks[0], &mut budget);
        assert_eq!(check_flow(&case.network, simplex.flow()), []);
        if is_unbounded {
            assert!(
                matches!(outcome, Err(MinimizeError::Unbounded { .. })),
                "seed {seed}"
            );
            unbounded += 1;
        } else {
            assert_eq!(outcome, Ok(()), "seed {seed}");
            let potentials = [simplex.potentials().to_vec()];
            let faults = check_optimal(&case.network, &case.ranks, simplex.flow(), &potentials);
            assert_eq!(faults, [], "seed {seed}");
            optimal += 1;
        }
    }
    assert!(unbounded > 100 && optimal > 300, "{unbounded} {optimal}");
}

#[test]
fn a_start_that_is_no_flow_is_refused() {
    let case = assignment(2, |_, _| 0);
    let start = |flow: &[i64], hint: &[Option<ArcId>]| {
        Simplex::from_flow(&case.network, flow.to_vec(), hint).err()
    };
    assert_eq!(start(&[1, 0, 0, 1], &[]), None);
    assert_eq!(
        start(&[1], &[]),
        Some(StartError::FlowLength { given: 1, arcs: 4 })
    );
    let short = Some(StartError::HintLength { given: 1, nodes: 4 });
    assert_eq!(start(&[1, 0, 0, 1], &[None]), short);
    let (arc, flow) = (ArcId(2), 2);
    assert_eq!(
        start(&[1, 0, 2, 1], &[]),
        Some(StartError::Bounds { arc, flow })
    );
    let (node, excess) = (NodeId(1), 1);
    assert_eq!(
        start(&[1, 0, 0, 0], &[]),
        Some(StartError::Conservation { node, excess })
    );
}

type Arc = (usize, usize, i64, i64);

/// A case of the corpus: supplies, arcs (tail, head, capacity, unit cost).
fn corpus(supplies: &[i64], arcs: &[Arc]) -> Result<Case, NetworkError> {
    let mut builder = NetworkBuilder::default();
    for &supply in supplies {
        builder.add_node(supply);
    }
    for &(tail, head, upper, _) in arcs {
        builder.add_arc(NodeId::at(tail), NodeId::at(head), 0, upper);
    }
    Ok(Case {
        network: builder.build()?,
        ranks: vec![RankCost::linear(arcs.iter().map(|arc| arc.3).collect())],
    })
}

fn assert_optimum(supplies: &[i64], arcs: &[Arc], cost: i128, flow: Option<&[i64]>) {
    let case = corpus(supplies, arcs).unwrap();
    let answer = from_scratch(&case).unwrap();
    assert_eq!(case.ranks[0].total(&answer.flow), cost);
    let faults = check_optimal(&case.network, &case.ranks, &answer.flow, &answer.potentials);
    assert_eq!(faults, []);
    if let Some(flow) = flow {
        assert_eq!(answer.flow, flow);
    }
}

fn assert_infeasible(supplies: &[i64], arcs: &[Arc], cut: &[u32], deficit: i64) {
    let case = corpus(supplies, arcs).unwrap();
    let cut = cut.iter().map(|&node| NodeId(node)).collect();
    let expected = ScratchError::Infeasible { cut, deficit };
    assert_eq!(from_scratch(&case).err(), Some(expected));
}

/// The pitfalls of known solvers, by the number of their case.
#[test]
fn corpus_optima() {
    // F07: an arc of capacity 0 that is also the cheapest.
    let arcs = [(0, 1, 0, 1), (0, 1, 2, 5), (0, 1, 9, 7)];
    assert_optimum(&[3, -3], &arcs, 17, Some(&[0, 2, 1]));
    // F09: many small supplies through one uncapacitated trunk.
    let free = Network::UNCAPACITATED;
    let mut supplies = vec![10; 10];
    supplies.extend([-10; 10]);
    supplies.extend([0, 0]);
    let mut arcs: Vec<Arc> = (0..10).map(|h| (h, 20, free, 1)).collect();
    arcs.push((20, 21, free, 1));
    arcs.extend((10..20).map(|k| (21, k, free, 1)));
    assert_optimum(&supplies, &arcs, 300, None);
    // F11: supplies past 2^31.
    let (many, cap) = (3_000_000_000, 2_000_000_000);
    assert_optimum(
        &[many, -many],
        &[(0, 1, cap, 3), (0, 1, cap, 4)],
        10_000_000_000,
        None,
    );
    // F18: a difference of 1 beside 10^15.
    let dear = 1_000_000_000_000_000;
    let arcs = [
        (0, 1, 1000, dear + 1),
        (0, 1, 600, dear),
        (0, 1, 400, dear + 2),
    ];
    let cost = 1_000_000_000_000_000_400;
    assert_optimum(&[1000, -1000], &arcs, cost, Some(&[400, 600, 0]));
}

#[test]
fn corpus_refusals() {
    // F01: less demand than supply.
    let unbalanced = corpus(&[2, -1], &[(0, 1, 1, 0)]).err();
    assert_eq!(unbalanced, Some(NetworkError::Unbalanced { surplus: 1 }));
    // F03: unit costs that fit while potentials and totals would not.
    let case = corpus(&[4, -4], &[(0, 1, 4, 1 << 62)]).unwrap();
    let mut budget = Budget::new(None, &never);
    let mut simplex = Simplex::from_scratch(&case.network, &mut budget).unwrap();
    let range = MinimizeError::Cost(CostError::CostRange { sum: 1 << 63 });
    assert_eq!(simplex.minimize(&case.ranks[0], &mut budget), Err(range));
    // F05: the sink is out of reach.
    let arcs = [(0, 2, 20, 1), (0, 3, 20, 1), (2, 1, 20, 1)];
    assert_infeasible(&[0, 0, 0, -13, 13], &arcs, &[4], 13);
    // F14: three units, two places.
    let arcs = [
        (0, 3, 1, 1),
        (1, 3, 1, 1),
        (2, 4, 1, 1),
        (0, 4, 1, 4),
        (3, 5, 1, 0),
        (4, 5, 1, 0),
    ];
    assert_infeasible(&[1, 1, 1, 0, 0, -3], &arcs, &[0, 1, 2, 3, 4], 1);
    // F16: half of the supply finds no room.
    assert_infeasible(&[2, -2], &[(0, 1, 1, 1)], &[0], 1);
}
