//! The leader problem as a flow network with hubs.
//!
//! **Problem.** Choose a leader for every shard that is not pinned, where that decides everything: under
//! `LEADERSHIP_ONLY`, or where every replication factor is 1. One unit of flow per shard runs
//!
//! ```text
//! shard ──> slot (stream, broker)     where the broker holds a live replica
//! shard ──> hub (stream, zone)        for a copy to any other broker of a zone that a source lists
//! shard ──> elsewhere (stream)        for a copy to a zone that no source lists; then
//! elsewhere ──> hub                   for every zone
//! hub ──> slot or broker              for every broker of the zone that may hold the stream
//! slot ──> broker ──> zone ──> sink   counts, with their convex costs
//! shard ──> sink                      stays without a leader
//! ```
//!
//! A copy costs the same on every broker of a zone, and in every zone that no source lists, so hubs replace
//! shards × brokers arcs by shards × (zones listed + replicas) + streams × brokers. A slot is a node only where a shard
//! of the stream has a replica; elsewhere the arc from the hub to the broker has the slot's bounds and costs. Shards of
//! a stream that have the same choices at the same costs are one node that supplies as many. Pinned shards are offsets
//! of the counts.
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
//! rank that then costs nothing. The first ranks in which the start costs nothing are *held*: no cost is negative, so
//! nothing is better there, prices of zero prove it, and what they ask for becomes bounds on the arcs.

mod absent;
mod build;
mod counts;
mod offers;
mod search;
mod solution;
mod tree;

pub use solution::Solution;

use crate::budget::{Budget, Stop};
use crate::cost::{Rank, evaluate};
use crate::hint::PriceHint;
use crate::network::{ArcId, Network, NodeId, RankCost};
use crate::snapshot::{Assignment, BrokerId, Problem, Roles, Shard, ShardId, StreamId, ZoneId};
use crate::verify::flow;
use counts::{KeptLayers, Nesting};
use search::{Found, Search};
use std::ops::Range;

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
    /// Led by some other broker, in a zone that no source lists.
    Elsewhere,
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
    /// Whether exits are left out; see `absent`.
    is_lazy: bool,
    /// The ranks that are not held and cost anything, the most important first.
    ranks: Vec<Rank>,
    /// Beside `ranks`.
    costs: Vec<RankCost>,
    /// Per node an arc towards the sink: for slots and counts the one that leaves them.
    way: Vec<Option<ArcId>>,
    layers: Layers,
    groups: Groups,
}

/// Nodes and arcs of the counts. Rows by stream × zone: `stream * zones + zone`. From a slot or a count the way to the
/// sink is that of `way`.
struct Layers {
    /// Stream by stream, in the order of the brokers.
    exits: Vec<Exit>,
    /// Exits of stream `s` are at `exits_begin[s]..exits_begin[s + 1]`.
    exits_begin: Vec<u32>,
    /// Arcs of stream `s` are `arcs_begin[s]..arcs_begin[s + 1]`.
    arcs_begin: Vec<ArcId>,
    hubs: Vec<Option<NodeId>>,
    /// From the stream's elsewhere to the hub.
    elsewhere_arcs: Vec<Option<ArcId>>,
    /// Leaders by broker.
    broker_nodes: Vec<NodeId>,
    /// Leaders by zone; the node of replicas where that stands for both.
    zone_nodes: Vec<NodeId>,
    /// Replicas, where some shard is an orphan.
    kept: Option<KeptLayers>,
    sink: NodeId,
}

/// Where leaders of a stream reach a broker.
#[derive(Clone, Copy)]
struct Exit {
    broker: BrokerId,
    /// Present where a free shard has a replica on the broker.
    slot: Option<NodeId>,
    /// From the hub to the slot, or straight to the broker.
    hub_arc: Option<ArcId>,
    /// From the slot or the hub to the broker.
    out: ArcId,
}

impl Layers {
    fn exits(&self, s: StreamId) -> &[Exit] {
        let range = self.exits_begin[s.index()]..self.exits_begin[s.index() + 1];
        &self.exits[range.start as usize..range.end as usize]
    }

    fn exit(&self, s: StreamId, b: BrokerId) -> Option<&Exit> {
        let exits = self.exits(s);
        let at = exits.binary_search_by_key(&b, |exit| exit.broker).ok()?;
        Some(&exits[at])
    }
}

/// The shards that are not pinned, alike ones of a stream together, and the arcs that leave them.
#[derive(Default)]
struct Groups {
    list: Vec<Group>,
    /// In canonical order within each group.
    members: Vec<ShardId>,
    choices: Vec<Choice>,
}

/// Shards of a stream with the same choices at the same costs.
struct Group {
    node: NodeId,
    members: Range<u32>,
    /// Of the choices; the arcs lie beside them, from `first_arc` on.
    choices: Range<u32>,
    first_arc: ArcId,
}

impl Groups {
    fn push(
        &mut self,
        node: NodeId,
        first_arc: ArcId,
        members: impl Iterator<Item = ShardId>,
        choices: impl Iterator<Item = Choice>,
    ) {
        let before = (self.members.len() as u32, self.choices.len() as u32);
        self.members.extend(members);
        self.choices.extend(choices);
        self.list.push(Group {
            node,
            members: before.0..self.members.len() as u32,
            choices: before.1..self.choices.len() as u32,
            first_arc,
        });
    }

    fn members(&self, group: &Group) -> &[ShardId] {
        &self.members[group.members.start as usize..group.members.end as usize]
    }

    /// Arcs of a group, with where they lead.
    fn choices(&self, group: &Group) -> impl Iterator<Item = (ArcId, Choice)> + '_ {
        let choices = &self.choices[group.choices.start as usize..group.choices.end as usize];
        let first = group.first_arc.0;
        (choices.iter().enumerate()).map(move |(at, &choice)| (ArcId(first + at as u32), choice))
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

impl From<Stop> for LeaderError {
    fn from(stop: Stop) -> Self {
        LeaderError::Stopped(stop)
    }
}

/// By zone, the brokers that take new replicas, whatever the stream.
fn active_by_zone(problem: &Problem) -> Vec<Vec<BrokerId>> {
    let mut active = vec![Vec::new(); problem.zones.len()];
    for b in problem.broker_ids().filter(|&b| problem.is_active(b)) {
        active[problem.zone_of(b).index()].push(b);
    }
    active
}

/// Improves an admissible placement to the optimum, or as far as the budget goes.
///
/// `hint` may be empty or wrong: it changes how long it takes, and which of several optima is found, no more. The result
/// is never worse than `start`, and holds prices for every rank that was begun.
///
/// # Errors
/// Where the budget stops the build of the network, or the network is refused.
///
/// Complexity: O(shards · (zones listed + replicas) + streams · brokers) to build; then the simplex.
pub fn solve(
    problem: &Problem,
    start: &[Assignment],
    hint: &PriceHint,
    budget: &mut Budget<'_>,
) -> Result<Solution, LeaderError> {
    let cost = evaluate(problem, start).0;
    let held = (Rank::ALL.iter())
        .take_while(|&&rank| rank < Rank::Weighted && cost[rank] == 0)
        .count();
    let mut model = LeaderNetwork::build(problem, held, start, budget)?;
    let search = Search::new(&mut model, start, hint, budget)?;
    let Found {
        flow,
        is_feasible,
        potentials,
        stop,
    } = search.run(budget).map_err(LeaderError::Refused)?;
    if !is_feasible {
        return Ok(Solution {
            placement: start.to_vec(),
            certificate: model.certificate_of(&flow, &potentials),
            stop,
        });
    }
    let faults = match stop {
        None => flow::check_optimal(&model.network, &model.costs, &flow, &potentials),
        Some(_) => flow::check_flow(&model.network, &flow),
    };
    if let Some(fault) = faults.first() {
        return Err(LeaderError::Refused(fault.to_string()));
    }
    Ok(Solution {
        placement: model.placement_of(&flow, start),
        certificate: model.certificate_of(&flow, &potentials),
        stop,
    })
}
