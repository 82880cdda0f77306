//! The leader problem as a flow network with hubs.
//!
//! **Problem.** Choose a leader for every shard that is not pinned, where that decides everything: under
//! `LEADERSHIP_ONLY`, or where every replication factor is 1. One unit of flow per shard runs
//!
//! ```text
//! shard ──> slot (stream, broker)     where the broker holds a live replica
//! shard ──> hub (stream, zone)        for a copy to any other broker of the zone; then
//! hub ──> slot                        for every broker of the zone that may hold the stream
//! slot ──> broker ──> zone ──> sink   counts, with their convex costs
//! shard ──> sink                      stays without a leader
//! ```
//!
//! A copy costs the same on every broker of a zone, so hubs replace shards × brokers arcs by
//! shards × (zones + replicas) + streams × brokers. Pinned shards are offsets of the counts.
//!
//! **Orphans.** With factor 1, a shard without a live leader may still have live followers: surplus once it is led, and
//! one of them must stay while it is not. Where such a shard is free, replicas are counted apart from leaders, and
//!
//! ```text
//! orphan ──> replicas of a broker     where the broker holds a live replica, which stays
//! orphan ──> its hub (stream, zone)   for a copy to any other broker of the zone; then
//! hub ──> replicas of a broker        for every broker of the zone that may hold the stream
//! broker ──> replicas of the broker ──> replicas of the zone ──> sink    see `counts` for the other ways
//! ```
//!
//! Copies are seated as leaders are: a replica that sits where the shard already is would be cheaper in place.
//!
//! **Faithful.** Flows and placements have the same cost in every rank, but where there are orphans and the counts of
//! a zone cross: where a zone of several live brokers limits its leaders and a broker in it its replicas. There leaders
//! and what orphans keep are counted at the broker one without the other, so a plan may cost more than its flow, or
//! break the broker's cap and be refused. The verifier's bound holds either way.
//!
//! **Ranks.** Each rank is one [`RankCost`]; what is the same for all choices of a shard is left out, and so is a
//! rank that then costs nothing.

mod build;
mod counts;
mod solution;

pub use solution::Solution;

use crate::budget::{Budget, Stop};
use crate::cost::Rank;
use crate::network::{ArcId, Network, NodeId, RankCost};
use crate::simplex::{MinimizeError, Simplex};
use crate::snapshot::{Assignment, BrokerId, Problem, Roles, Shard, ShardId, ZoneId};
use crate::verify::flow;
use counts::{KeptLayers, Nesting};

/// Whether the leaders decide everything in this problem.
pub fn applies(problem: &Problem) -> bool {
    problem.policy.roles == Roles::LeadershipOnly
        || (problem.streams.iter()).all(|s| s.shard_count() == 0 || s.replication_factor == 1)
}

/// Whether the shard may go without a leader and still keeps a replica, which has to be placed.
pub fn is_orphan(problem: &Problem, shard: &Shard) -> bool {
    problem.policy.roles == Roles::LeadersAndFollowers
        && !shard.is_pinned
        && problem.live_leader(shard).is_none()
        && !problem.is_free_to_place(shard)
}

/// The first zone in which the network does not count exactly what orphans keep, should there be any.
pub fn crossing_zone(problem: &Problem) -> Option<ZoneId> {
    (0..problem.zones.len())
        .map(ZoneId::at)
        .find(|&z| Nesting::of(problem, z) == Nesting::Crossing)
}

/// Where an arc that leaves a shard leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    /// Led by a broker that holds a live replica.
    Holder(BrokerId),
    /// Led by some other broker of the zone.
    Zone(ZoneId),
    /// Without a leader and a live replica, or without a leader where replicas are not decided.
    Leaderless,
    /// Without a leader; the replica on the broker stays.
    Kept(BrokerId),
    /// Without a leader; some other broker of the zone takes the replica over.
    KeptIn(ZoneId),
}

/// The network of one problem, and what its nodes and arcs stand for.
struct LeaderNetwork<'p> {
    problem: &'p Problem,
    network: Network,
    /// The ranks that cost anything, the most important first.
    ranks: Vec<Rank>,
    /// Beside `ranks`.
    costs: Vec<RankCost>,
    /// Per node the arc to hang it by in the first tree, where that has room in every flow. For slots and counts it
    /// is the one arc that leaves them.
    hint: Vec<Option<ArcId>>,
    layers: Layers,
    shards: FreeShards,
}

/// Nodes and arcs of the counts. Rows by stream × broker or stream × zone: `stream * columns + column`. The way from a
/// count to the sink is that of the hints.
struct Layers {
    slots: Vec<Option<NodeId>>,
    hubs: Vec<Option<NodeId>>,
    hub_arcs: Vec<Option<ArcId>>,
    /// Leaders by broker.
    broker_nodes: Vec<NodeId>,
    /// Leaders by zone; the node of replicas where that stands for both.
    zone_nodes: Vec<NodeId>,
    /// Replicas, where some shard is an orphan.
    kept: Option<KeptLayers>,
    sink: NodeId,
}

/// The shards that are not pinned, in canonical order, and the arcs that leave them.
#[derive(Default)]
struct FreeShards {
    ids: Vec<ShardId>,
    /// Arcs and choices of shard `k` are at `begin[k]..begin[k + 1]`.
    begin: Vec<usize>,
    arcs: Vec<ArcId>,
    choices: Vec<Choice>,
}

impl FreeShards {
    /// Arcs of the shard at a position, with where they lead.
    fn choices(&self, k: usize) -> impl Iterator<Item = (ArcId, Choice)> + '_ {
        let range = self.begin[k]..self.begin[k + 1];
        let arcs = self.arcs[range.clone()].iter().copied();
        arcs.zip(self.choices[range].iter().copied())
    }
}

/// Why there is no solution by flow.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LeaderError {
    /// The budget stopped the build; the start stands.
    #[error("stopped: {0:?}")]
    Stopped(Stop),
    /// The network or the start was refused. Validated problems and admissible starts never are.
    #[error("the network was refused: {0}")]
    Refused(String),
}

/// Improves an admissible placement to the optimum, or as far as the budget goes.
///
/// The result is never worse than `start`, and holds prices for every rank that was begun.
///
/// # Errors
/// Where the budget stops the build of the network, or the network is refused.
///
/// Complexity: O(shards · (zones + replicas) + streams · brokers) to build; then the simplex.
pub fn solve(
    problem: &Problem,
    start: &[Assignment],
    budget: &mut Budget<'_>,
) -> Result<Solution, LeaderError> {
    let model = LeaderNetwork::build(problem, budget)?;
    let refused = |error: &dyn std::fmt::Display| LeaderError::Refused(error.to_string());
    let flow = model.flow_of(start);
    let mut simplex =
        Simplex::from_flow(&model.network, flow, &model.hint).map_err(|e| refused(&e))?;
    let mut potentials = Vec::with_capacity(model.ranks.len());
    let mut stop = None;
    for cost in &model.costs {
        match simplex.minimize(cost, budget) {
            Ok(()) => simplex.restrict(),
            Err(MinimizeError::Stopped(reason)) => stop = Some(reason),
            Err(error) => return Err(refused(&error)),
        }
        potentials.push(simplex.potentials().to_vec());
        if stop.is_some() {
            break;
        }
    }
    let faults = match stop {
        None => flow::check_optimal(&model.network, &model.costs, simplex.flow(), &potentials),
        Some(_) => flow::check_flow(&model.network, simplex.flow()),
    };
    if let Some(fault) = faults.first() {
        return Err(refused(fault));
    }
    Ok(Solution {
        placement: model.placement_of(simplex.flow(), start),
        certificate: model.certificate_of(&potentials),
        stop,
    })
}
