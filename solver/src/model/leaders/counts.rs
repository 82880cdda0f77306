//! The counts of brokers and zones as nodes and arcs.
//!
//! Without orphans replicas are leaders and pinned replicas, so one arc a broker and one a zone carry the costs and
//! caps of both. An orphan's replica may stay while nobody leads the shard; then leaders and replicas are two counts
//! each, and a network holds them where they nest, one contained in the next:
//!
//! ```text
//! leaders of the broker ──> replicas of the broker ──> replicas of the zone ──> sink   by broker
//! leaders of the broker ──> leaders of the zone ────> replicas of the zone ──> sink   by zone
//! ```
//!
//! By broker where the zone has no limits on leaders, by zone where no broker in it has `max_replicas`. Where a zone
//! has both and one live broker, its leaders are the broker's, and all four counts are a chain. Else they cross.

use super::build::{Builder, squares};
use crate::cost::Rank;
use crate::network::{ArcId, Convex, NodeId};
use crate::snapshot::{BrokerId, Limits, Problem, Roles, StreamId, ZoneId};

/// How the counts of a zone nest where orphans' replicas may stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Nesting {
    /// The zone does not limit its leaders.
    ByBroker,
    /// It does, and no broker in it limits its replicas.
    ByZone,
    /// It does, and this is the one live broker in it.
    OneBroker(BrokerId),
    /// Leaders of the zone and replicas of a broker cross. The broker's caps on replicas hold for its leaders and for
    /// its replicas without one, but not for their sum.
    Crossing,
}

impl Nesting {
    pub(super) fn of(problem: &Problem, z: ZoneId) -> Self {
        let zone = &problem.zones[z.index()];
        if zone.max_leaders.is_none() && zone.min_leaders == 0 {
            return Nesting::ByBroker;
        }
        let is_there = |&b: &BrokerId| problem.zone_of(b) == z && problem.is_live(b);
        let live: Vec<BrokerId> = problem.broker_ids().filter(is_there).collect();
        match live[..] {
            [only] => Nesting::OneBroker(only),
            _ if (live.iter()).any(|&b| problem.broker(b).max_replicas.is_some()) => {
                Nesting::Crossing
            }
            _ => Nesting::ByZone,
        }
    }

    /// Whether each broker of the zone counts its replicas apart from its leaders.
    pub(super) fn splits_brokers(self) -> bool {
        matches!(self, Nesting::ByBroker | Nesting::OneBroker(_))
    }
}

/// Nodes and arcs of replicas, of which those without a leader come straight here.
pub(super) struct KeptLayers {
    /// By zone.
    pub(super) nestings: Vec<Nesting>,
    /// By broker; where the zone's nesting has no such count, for replicas without a leader alone.
    pub(super) broker_nodes: Vec<NodeId>,
    pub(super) zone_nodes: Vec<NodeId>,
    /// Stream × zone.
    pub(super) hubs: Vec<Option<NodeId>>,
    /// Stream × broker.
    pub(super) hub_arcs: Vec<Option<ArcId>>,
}

impl KeptLayers {
    pub(super) fn of(problem: &Problem) -> Self {
        let (brokers, zones) = (problem.brokers.len(), problem.zones.len());
        let streams = problem.streams.len();
        KeptLayers {
            nestings: (0..zones)
                .map(|z| Nesting::of(problem, ZoneId::at(z)))
                .collect(),
            broker_nodes: Vec::with_capacity(brokers),
            zone_nodes: Vec::with_capacity(zones),
            hubs: vec![None; streams * zones],
            hub_arcs: vec![None; streams * brokers],
        }
    }
}

impl KeptLayers {
    pub(super) fn hubs_of(&self, problem: &Problem, s: StreamId) -> &[Option<NodeId>] {
        let zones = problem.zones.len();
        &self.hubs[s.index() * zones..(s.index() + 1) * zones]
    }
}

impl Builder<'_> {
    /// Zones and brokers with their caps, spreads and minima. Pinned shards shift every count.
    pub(super) fn add_counts(&mut self) {
        match self.layers.kept.take() {
            Some(mut kept) => {
                self.add_nested_counts(&mut kept);
                self.layers.kept = Some(kept);
            }
            None => {
                for z in 0..self.problem.zones.len() {
                    let node = self.node(0);
                    let both = self.of_zone(z);
                    self.add_zone_count(node, self.layers.sink, z, both);
                    self.layers.zone_nodes.push(node);
                }
                for b in self.problem.broker_ids() {
                    let node = self.node(0);
                    let head = self.layers.zone_nodes[self.problem.zone_of(b).index()];
                    let both = self.of_broker(b);
                    self.add_broker_count(node, head, b, both);
                    self.layers.broker_nodes.push(node);
                }
            }
        }
    }

    fn add_nested_counts(&mut self, kept: &mut KeptLayers) {
        let (problem, sink) = (self.problem, self.layers.sink);
        for z in 0..problem.zones.len() {
            let node = self.node(0);
            let replicas = self.of_zone(z).replicas_only();
            self.add_zone_count(node, sink, z, replicas);
            kept.zone_nodes.push(node);
        }
        for b in problem.broker_ids() {
            let node = self.node(0);
            let z = problem.zone_of(b).index();
            let replicas = self.of_broker(b).replicas_only();
            let excess = [(Rank::Breaches, replicas.excess())];
            let arc = self.bent_arc(node, kept.zone_nodes[z], replicas.room(), &excess);
            self.way[node.index()] = Some(arc);
            kept.broker_nodes.push(node);
        }
        for z in 0..problem.zones.len() {
            let head = match kept.nestings[z] {
                // Leaders of the zone cost nothing, so that its replicas take their place.
                Nesting::ByBroker => {
                    self.layers.zone_nodes.push(kept.zone_nodes[z]);
                    continue;
                }
                Nesting::OneBroker(b) => kept.broker_nodes[b.index()],
                Nesting::ByZone | Nesting::Crossing => kept.zone_nodes[z],
            };
            let node = self.node(0);
            let leaders = self.of_zone(z).leaders_only();
            self.add_zone_count(node, head, z, leaders);
            self.layers.zone_nodes.push(node);
        }
        for b in problem.broker_ids() {
            let node = self.node(0);
            let z = problem.zone_of(b).index();
            let both = self.of_broker(b);
            let (head, counted) = match kept.nestings[z] {
                Nesting::ByBroker => (kept.broker_nodes[b.index()], both.leaders_only()),
                Nesting::ByZone | Nesting::OneBroker(_) => {
                    (self.layers.zone_nodes[z], both.leaders_only())
                }
                Nesting::Crossing => (self.layers.zone_nodes[z], both),
            };
            self.add_broker_count(node, head, b, counted);
            self.layers.broker_nodes.push(node);
        }
    }

    /// The arc of a count of a zone. Where it counts leaders, it carries their minimum.
    fn add_zone_count(&mut self, node: NodeId, head: NodeId, z: usize, counted: Counted) {
        let shortfall = counted.leaders.and_then(|leaders| {
            let minimum = i64::from(self.problem.zones[z].min_leaders) - leaders.taken;
            (minimum > 0).then_some(Convex::Shortfall(minimum))
        });
        let functions = [
            (Rank::Breaches, counted.excess()),
            (Rank::ZoneMinimumShortfall, shortfall),
        ];
        let arc = self.bent_arc(node, head, counted.room(), &functions);
        self.way[node.index()] = Some(arc);
    }

    /// The arc of a broker's leaders.
    fn add_broker_count(&mut self, node: NodeId, head: NodeId, b: BrokerId, counted: Counted) {
        let band = self.problem.cluster_leader_band(b);
        let spread = squares(band, self.pinned.leaders[b.index()]);
        let functions = [
            (Rank::Breaches, counted.excess()),
            (Rank::ClusterLeaderSpread, spread),
        ];
        let arc = self.bent_arc(node, head, counted.room(), &functions);
        self.way[node.index()] = Some(arc);
    }

    fn of_zone(&self, z: usize) -> Counted {
        let zone = &self.problem.zones[z];
        let in_force = &self.problem.limits.in_force;
        let leaders = Capped {
            taken: self.pinned.zone_leaders[z],
            cap: zone.max_leaders,
            in_force: in_force.zone_leaders[z],
        };
        let replicas = Capped {
            taken: self.pinned.zone_replicas[z],
            cap: zone.max_replicas,
            in_force: in_force.zone_replicas[z],
        };
        Counted::new(self.problem, leaders, replicas)
    }

    fn of_broker(&self, b: BrokerId) -> Counted {
        let (at, broker) = (b.index(), self.problem.broker(b));
        let in_force = &self.problem.limits.in_force;
        let leaders = Capped {
            taken: self.pinned.leaders[at],
            cap: broker.max_leaders,
            in_force: in_force.leaders[at],
        };
        let replicas = Capped {
            taken: self.pinned.replicas[at],
            cap: broker.max_replicas,
            in_force: in_force.replicas[at],
        };
        Counted::new(self.problem, leaders, replicas)
    }
}

/// A count, its caps, and what pinned shards take of it.
#[derive(Clone, Copy)]
struct Capped {
    taken: i64,
    cap: Option<u32>,
    in_force: i64,
}

impl Capped {
    /// What fits below the cap in force.
    fn room(self) -> i64 {
        if self.in_force == Limits::NONE {
            i64::from(u32::MAX)
        } else {
            self.in_force - self.taken
        }
    }

    /// Flow from which on more is above the nominal cap.
    fn excess(self) -> Option<i64> {
        self.cap.map(|cap| i64::from(cap) - self.taken)
    }
}

/// What the flow of an arc counts.
#[derive(Clone, Copy)]
struct Counted {
    leaders: Option<Capped>,
    /// `None` also where replicas are not decided.
    replicas: Option<Capped>,
}

impl Counted {
    fn new(problem: &Problem, leaders: Capped, replicas: Capped) -> Self {
        let decides = problem.policy.roles == Roles::LeadersAndFollowers;
        Counted {
            leaders: Some(leaders),
            replicas: decides.then_some(replicas),
        }
    }

    fn leaders_only(self) -> Self {
        Counted {
            replicas: None,
            ..self
        }
    }

    fn replicas_only(self) -> Self {
        Counted {
            leaders: None,
            ..self
        }
    }

    /// Flow that fits below the caps in force.
    fn room(self) -> i64 {
        let room = |count: Option<Capped>| count.map_or(i64::from(u32::MAX), Capped::room);
        room(self.leaders).min(room(self.replicas))
    }

    /// Cost of flow above the nominal caps.
    fn excess(self) -> Option<Convex> {
        let leaders = self.leaders.and_then(Capped::excess);
        let replicas = self.replicas.and_then(Capped::excess);
        match (leaders, replicas) {
            (Some(a), Some(b)) => Some(Convex::TwoExcess(a, b)),
            (Some(cap), None) | (None, Some(cap)) => Some(Convex::Excess(cap)),
            (None, None) => None,
        }
    }
}
