//! What changes between one planning round and the next: a small edit of a cluster whose plan was carried out.

use crate::random::{Random, exp};
use shardflow_solver::input::{ShardInput, SnapshotInput};
use shardflow_solver::snapshot::{Assignment, BrokerState, Problem};
use std::collections::BTreeMap;

/// One kind of edit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Perturbation {
    /// One shard in a hundred has other traffic from the same zones.
    Traffic,
    /// One broker is to be drained.
    Drained,
    /// One broker is down.
    Removed,
    /// One shard more for every hundred, led by nobody, in streams as large as they come.
    NewShards,
}

impl Perturbation {
    pub(crate) const ALL: [Perturbation; 4] = [
        Perturbation::Traffic,
        Perturbation::Drained,
        Perturbation::Removed,
        Perturbation::NewShards,
    ];

    /// As in the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Perturbation::Traffic => "1 % of the traffic redrawn",
            Perturbation::Drained => "a broker drained",
            Perturbation::Removed => "a broker removed",
            Perturbation::NewShards => "1 % new shards",
        }
    }

    /// The snapshot with the edit made; a function of its arguments.
    pub(crate) fn apply(self, snapshot: &SnapshotInput, seed: u64) -> SnapshotInput {
        let mut edited = snapshot.clone();
        // Each kind draws its own numbers.
        let mut random = Random::new(seed ^ (0x5eed_0000 + self as u64));
        match self {
            Perturbation::Traffic => redraw_traffic(&mut edited, &mut random),
            Perturbation::Drained => set_state(&mut edited, BrokerState::Draining, &mut random),
            Perturbation::Removed => set_state(&mut edited, BrokerState::Down, &mut random),
            Perturbation::NewShards => add_shards(&mut edited, &mut random),
        }
        edited
    }
}

/// The snapshot as it is once the placement has been carried out.
pub(crate) fn planned(
    snapshot: &SnapshotInput,
    problem: &Problem,
    placement: &[Assignment],
) -> SnapshotInput {
    let leaders: BTreeMap<&str, &str> = (problem.shards.iter().zip(placement))
        .filter_map(|(shard, assignment)| {
            let leader = problem.broker(assignment.leader?);
            Some((shard.id.as_str(), leader.id.as_str()))
        })
        .collect();
    let mut planned = snapshot.clone();
    for shard in &mut planned.shards {
        let leader = leaders.get(shard.id.as_str());
        shard.leader = leader.map_or_else(String::new, |&id| id.to_owned());
    }
    planned
}

/// One in a hundred, at least one.
fn percent(count: usize) -> usize {
    count.div_ceil(100)
}

/// Traffic of a shard of any stream.
fn traffic(random: &mut Random) -> i64 {
    let traffic = exp(2.5) * random.lognormal(1.0) * random.lognormal(1.0);
    traffic.round().clamp(1.0, 100_000.0) as i64
}

fn redraw_traffic(snapshot: &mut SnapshotInput, random: &mut Random) {
    let count = snapshot.shards.len();
    for shard in random.permutation(count).into_iter().take(percent(count)) {
        for source in &mut snapshot.shards[shard].sources {
            source.weight = traffic(random);
        }
    }
}

fn set_state(snapshot: &mut SnapshotInput, state: BrokerState, random: &mut Random) {
    let broker = random.below(snapshot.brokers.len());
    snapshot.brokers[broker].state = state;
}

fn add_shards(snapshot: &mut SnapshotInput, random: &mut Random) {
    let count = snapshot.shards.len();
    let mut next: BTreeMap<String, u32> = BTreeMap::new();
    for shard in &snapshot.shards {
        *next.entry(shard.stream.clone()).or_default() += 1;
    }
    for _ in 0..percent(count) {
        let like = &snapshot.shards[random.below(count)];
        let stream = like.stream.clone();
        let mut sources = like.sources.clone();
        for source in &mut sources {
            source.weight = traffic(random);
        }
        let number = next.entry(stream.clone()).or_default();
        snapshot.shards.push(ShardInput {
            id: format!("{stream}-{number}"),
            stream,
            number: Some(*number),
            sources,
            ..ShardInput::default()
        });
        *number += 1;
    }
}
