//! The layers of leaders: `LEADERSHIP_ONLY` problems built on them by hand, against the leader network.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::cost::{evaluate, shard_cost};
use shardflow_solver::hint::PriceHint;
use shardflow_solver::model::sets::layers::{Counted, LayersBuilder};
use shardflow_solver::model::sets::search::Search;
use shardflow_solver::model::{current, leaders};
use shardflow_solver::network::ArcId;
use shardflow_solver::snapshot::{Assignment, BrokerId, Counts, Problem, ShardId, StreamId};

use crate::cases::{Named, generate_led};

/// What a shard may choose, with its arc.
type Choices = Vec<(ArcId, Assignment)>;

fn pinned_leader(problem: &Problem, id: ShardId) -> Option<BrokerId> {
    let shard = problem.shard(id);
    problem.live_leader(shard).filter(|_| shard.is_pinned)
}

fn solve_on_layers(problem: &Problem, start: &[Assignment]) -> Vec<Assignment> {
    let mut taken = Counts::zero(problem.brokers.len(), problem.zones.len());
    for shard in problem.shards.iter().filter(|shard| shard.is_pinned) {
        taken.add(&problem.brokers, &shard.present, 1);
    }
    let mut builder = LayersBuilder::new(problem, Counted::Leaders, &taken);
    let mut choices: Vec<Choices> = vec![Vec::new(); problem.shards.len()];
    for (s, stream) in problem.streams.iter().enumerate() {
        let shards = stream.shards.clone().map(ShardId);
        let pinned = shards.clone().filter_map(|id| pinned_leader(problem, id));
        builder.open_stream(StreamId(s as u32), pinned);
        for id in shards.filter(|&id| !problem.shard(id).is_pinned) {
            let shard = problem.shard(id);
            let node = builder.node(1);
            for b in problem.live(&shard.present) {
                let led = current::with_leader(shard, b);
                let slot = builder.slot(b);
                let arc = builder.arc(node, slot, 1, &shard_cost(problem, id, &led));
                choices[id.index()].push((arc, led));
            }
            if problem.live_leader(shard).is_none() {
                let none = current::leaderless(problem, id);
                let arc = builder.arc(node, builder.sink(), 1, &shard_cost(problem, id, &none));
                choices[id.index()].push((arc, none));
            }
        }
    }
    let layered = builder.finish().expect("the layers hold together");
    let mut flow = vec![0; layered.network.arc_count()];
    for (choices, now) in choices.iter().zip(start) {
        if let Some((arc, _)) = choices.iter().find(|choice| choice.1 == *now) {
            flow[arc.index()] = 1;
            layered.ship(layered.network.head(*arc), &mut flow);
        }
    }
    let mut budget = Budget::new(None, &never);
    let mut search = Search::new(&layered, flow, &layered.way, &mut budget).expect("a start");
    let found = search.run(&layered, &mut budget).expect("an optimum");
    let mut placement = start.to_vec();
    for (choices, placed) in choices.iter().zip(&mut placement) {
        for (arc, choice) in choices {
            if found.flow[arc.index()] == 1 {
                placed.clone_from(choice);
            }
        }
    }
    placement
}

#[test]
fn leaders_on_layers_match_the_leader_network() {
    let mut moved = 0;
    for seed in 0..2_000 {
        let _named = Named(seed);
        let problem = generate_led(seed);
        let start = current::placement(&problem);
        let mut budget = Budget::new(None, &never);
        let expected = leaders::solve(&problem, &start, &PriceHint::default(), &mut budget);
        let expected = expected.expect("leader problems are built").placement;
        let placement = solve_on_layers(&problem, &start);
        assert_eq!(
            evaluate(&problem, &placement).0,
            evaluate(&problem, &expected).0
        );
        moved += usize::from(placement != start);
    }
    assert!(moved > 500, "only {moved} move a leader");
}
