//! Calm clusters: a planned layout, and then one broker that drains, dies or joins.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::input::{
    BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput, TrafficSourceInput,
};
use shardflow_solver::model::current;
use shardflow_solver::model::sets::staged;
use shardflow_solver::snapshot::{BrokerState, Problem};
use shardflow_solver::validate;

use crate::rng::Rng;

/// The problem of a seed. It is always valid.
pub(crate) fn generate(seed: u64) -> Problem {
    let mut rng = Rng::new(seed ^ 0xca1);
    let mut snapshot = empty(&mut rng);
    let policy = PolicyInput {
        min_zones: [0, 2][rng.below(2)],
        ..PolicyInput::default()
    };
    let joined = rng.one_in(3).then(|| snapshot.brokers.pop()).flatten();
    settle(&mut snapshot, &policy);
    match joined {
        Some(broker) => snapshot.brokers.push(broker),
        None => {
            let at = rng.below(snapshot.brokers.len());
            snapshot.brokers[at].state = match rng.one_in(2) {
                true => BrokerState::Draining,
                false => BrokerState::Down,
            };
        }
    }
    build(&snapshot, &policy)
}

fn build(snapshot: &SnapshotInput, policy: &PolicyInput) -> Problem {
    validate::build(snapshot, policy).unwrap_or_else(|rejection| panic!("{rejection:?}"))
}

/// Brokers, and shards that nobody holds yet.
fn empty(rng: &mut Rng) -> SnapshotInput {
    let zones = 2 + rng.below(2);
    let brokers = 4 + rng.below(2);
    let brokers = (0..brokers).map(|b| BrokerInput {
        id: format!("b{b}"),
        zone: format!("z{}", b % zones),
        ..BrokerInput::default()
    });
    let brokers = brokers.collect();
    let factor = 2 + rng.below(2) as u32;
    let streams = 1 + rng.below(2);
    let shards = (0..3 + rng.below(2)).map(|i| ShardInput {
        id: format!("p{i}"),
        stream: format!("s{}", i % streams),
        sources: vec![TrafficSourceInput {
            zones: vec![format!("z{}", rng.below(zones))],
            weight: rng.below(3) as i64,
        }],
        ..ShardInput::default()
    });
    let shards = shards.collect();
    let streams = (0..streams).map(|s| StreamInput {
        id: format!("s{s}"),
        replication_factor: factor,
        ..StreamInput::default()
    });
    SnapshotInput {
        cluster_id: "c".to_owned(),
        brokers,
        streams: streams.collect(),
        shards,
        ..SnapshotInput::default()
    }
}

/// Places all shards.
fn settle(snapshot: &mut SnapshotInput, policy: &PolicyInput) {
    let problem = build(snapshot, policy);
    let start = current::placement(&problem);
    let mut budget = Budget::new(None, &never);
    let plan = staged(&problem, &[&start], &mut budget).expect("validated problems are built");
    let name = |b: shardflow_solver::snapshot::BrokerId| problem.broker(b).id.clone();
    for (shard, assignment) in problem.shards.iter().zip(&plan.placement) {
        let mut listed = snapshot.shards.iter_mut();
        if let Some(listed) = listed.find(|listed| listed.id == shard.id) {
            listed.leader = assignment.leader.map(name).unwrap_or_default();
            listed.followers = assignment.followers.iter().map(|&b| name(b)).collect();
        }
    }
}
