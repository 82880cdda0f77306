//! Counts of one kind, leaders or replicas, as the lower half of a network.
//!
//! ```text
//! hub (stream, zone) ──> slot (stream, broker) ──> broker ──> zone ──> sink
//! ```
//!
//! One contains the next, so each count is the flow of one arc, and what it costs is a convex function of that flow:
//!
//! | arc | leaders | replicas |
//! | --- | --- | --- |
//! | slot → broker | `stream_leader_spread` | `stream_replica_spread` |
//! | broker → zone | `max_leaders`, `cluster_leader_spread` | `max_replicas`, `cluster_replica_spread` |
//! | zone → sink | `min_leaders`, `max_leaders` | `max_replicas` |
//!
//! Caps are breaches above the nominal cap, and bounds at the cap in force. What is counted but doesn't flow (pinned
//! shards; leaders, where followers flow) is an offset: it shifts each function and takes its part of each bound. A
//! constant is left out. A leader is a replica too, so leaders keep to caps on replicas as well.
//!
//! A slot is a node of its own only where the stream's spread costs anything there; else it is the broker's node. Slots
//! and hubs are made when they are asked for.
//!
//! **Use.** [`LayersBuilder::new`], then for each stream [`LayersBuilder::open_stream`] and, above the layers, whatever
//! ships units: [`LayersBuilder::node`] with its supply, [`LayersBuilder::arc`] with its cost by rank to a
//! [`LayersBuilder::slot`] or a [`LayersBuilder::hub`]; the sink takes all supplies. [`LayersBuilder::finish`] gives the
//! network, a [`crate::network::RankCost`] for each rank that costs anything, and the way from each node of the layers
//! to the sink. A flow to start from is built with [`Layered::ship`]; [`super::search::Search`] minimises from there, and
//! [`Layered::prices`] reads the multipliers off the potentials.

use super::SetError;
pub use super::layered::Layered;
use crate::cost::{Cost, RANKS, Rank};
use crate::network::{ArcId, Convex, Network, NetworkBuilder, NodeId, RankCost};
use crate::snapshot::{Band, BrokerId, Counts, Limits, Problem, StreamId, ZoneId};

/// What the layers count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// Leaders.
    Leaders,
    /// Replicas of any role.
    Replicas,
}

impl Counted {
    /// What fits below the caps in force: a leader is a replica too.
    fn room(self, in_force: (i64, i64), taken: (i64, i64)) -> i64 {
        let of_replicas = room(in_force.1, taken.1);
        match self {
            Counted::Leaders => of_replicas.min(room(in_force.0, taken.0)),
            Counted::Replicas => of_replicas,
        }
    }

    fn by_broker(self, counts: &Counts) -> &[i64] {
        match self {
            Counted::Leaders => &counts.leaders,
            Counted::Replicas => &counts.replicas,
        }
    }

    fn by_zone(self, counts: &Counts) -> &[i64] {
        match self {
            Counted::Leaders => &counts.zone_leaders,
            Counted::Replicas => &counts.zone_replicas,
        }
    }

    fn stream_band(self, problem: &Problem, s: StreamId, b: BrokerId) -> Option<Band> {
        match self {
            Counted::Leaders => problem.stream_leader_band(s, b),
            Counted::Replicas => problem.stream_replica_band(s, b),
        }
    }

    pub(super) fn stream_rank(self) -> Rank {
        match self {
            Counted::Leaders => Rank::StreamLeaderSpread,
            Counted::Replicas => Rank::StreamReplicaSpread,
        }
    }

    pub(super) fn cluster_rank(self) -> Rank {
        match self {
            Counted::Leaders => Rank::ClusterLeaderSpread,
            Counted::Replicas => Rank::ClusterReplicaSpread,
        }
    }
}

/// The id of a hub, by the order of making.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HubId(pub u32);

/// Where units of a stream enter a zone, whatever the broker.
#[derive(Clone, Debug)]
pub struct Hub {
    /// The stream.
    pub stream: StreamId,
    /// The zone.
    pub zone: ZoneId,
    /// Its node.
    pub node: NodeId,
    /// The brokers of the zone that the stream may enter, in ascending order, with the arcs to their slots.
    pub seats: Vec<(BrokerId, ArcId)>,
}

/// A network as it grows: first the sink, zones and brokers, then stream by stream, so that what a pivot touches lies
/// together.
pub struct LayersBuilder<'p> {
    problem: &'p Problem,
    counted: Counted,
    network: NetworkBuilder,
    way: Vec<Option<ArcId>>,
    arc_count: usize,
    /// By rank, unit costs of the arcs up to the last one that costs something.
    units: Vec<Vec<i64>>,
    /// By rank, in the order of the arcs.
    convex: Vec<Vec<(ArcId, Convex)>>,
    nodes: CountNodes,
    hubs: Vec<Hub>,
    arcs_begin: Vec<ArcId>,
    /// By zone, the brokers that take new replicas, whatever the stream.
    active: Vec<Vec<BrokerId>>,
    open: OpenStream,
}

/// Nodes of the counts.
pub(super) struct CountNodes {
    pub(super) sink: NodeId,
    pub(super) zones: Vec<NodeId>,
    pub(super) brokers: Vec<NodeId>,
    /// Those that are not their broker's node, by stream and broker.
    pub(super) slots: Vec<(StreamId, BrokerId, NodeId)>,
}

/// What belongs to the stream that is being added.
struct OpenStream {
    stream: StreamId,
    /// By broker.
    taken: Vec<i64>,
    /// By broker.
    slots: Vec<Option<NodeId>>,
    /// By broker, most units that a hub may send there.
    seat_caps: Vec<i64>,
    /// By broker, what each of them costs.
    seat_costs: Vec<Cost>,
    /// By zone.
    hubs: Vec<Option<HubId>>,
    /// Of all slots, where those of the stream begin.
    first_slot: usize,
}

impl<'p> LayersBuilder<'p> {
    /// The sink, zones and brokers. `taken` counts what doesn't flow.
    pub fn new(problem: &'p Problem, counted: Counted, taken: &Counts) -> Self {
        let (brokers, zones) = (problem.brokers.len(), problem.zones.len());
        let mut active = vec![Vec::new(); zones];
        for b in problem.broker_ids().filter(|&b| problem.is_active(b)) {
            active[problem.zone_of(b).index()].push(b);
        }
        let mut network = NetworkBuilder::default();
        let sink = network.add_node(0);
        let mut builder = LayersBuilder {
            problem,
            counted,
            network,
            way: vec![None],
            arc_count: 0,
            units: vec![Vec::new(); RANKS],
            convex: vec![Vec::new(); RANKS],
            nodes: CountNodes {
                sink,
                zones: Vec::with_capacity(zones),
                brokers: Vec::with_capacity(brokers),
                slots: Vec::new(),
            },
            hubs: Vec::new(),
            arcs_begin: Vec::with_capacity(problem.streams.len()),
            active,
            open: OpenStream {
                stream: StreamId(0),
                taken: vec![0; brokers],
                slots: vec![None; brokers],
                seat_caps: vec![Network::UNCAPACITATED; brokers],
                seat_costs: vec![Cost::default(); brokers],
                hubs: vec![None; zones],
                first_slot: 0,
            },
        };
        for z in (0..zones).map(ZoneId::at) {
            builder.add_zone(z, taken);
        }
        for b in problem.broker_ids() {
            builder.add_broker(b, taken);
        }
        builder
    }

    fn add_zone(&mut self, z: ZoneId, counts: &Counts) {
        let taken = self.counted.by_zone(counts)[z.index()];
        let zone = &self.problem.zones[z.index()];
        let (cap, minimum) = match self.counted {
            Counted::Leaders => (zone.max_leaders, i64::from(zone.min_leaders)),
            Counted::Replicas => (zone.max_replicas, 0),
        };
        let shortfall = (minimum > taken).then(|| Convex::Shortfall(minimum - taken));
        let functions = [
            (Rank::Breaches, excess(cap, taken)),
            (Rank::ZoneMinimumShortfall, shortfall),
        ];
        let both = |of: &Counts| (of.zone_leaders[z.index()], of.zone_replicas[z.index()]);
        let room = (self.counted).room(both(&self.problem.limits.in_force), both(counts));
        let node = self.count_node(self.nodes.sink, room, &functions);
        self.nodes.zones.push(node);
    }

    fn add_broker(&mut self, b: BrokerId, counts: &Counts) {
        let taken = self.counted.by_broker(counts)[b.index()];
        let broker = self.problem.broker(b);
        let (cap, band) = match self.counted {
            Counted::Leaders => (broker.max_leaders, self.problem.cluster_leader_band(b)),
            Counted::Replicas => (broker.max_replicas, self.problem.cluster_replica_band(b)),
        };
        let spread = band.map(|band| squares(band, taken));
        let functions = [
            (Rank::Breaches, excess(cap, taken)),
            (self.counted.cluster_rank(), spread),
        ];
        let head = self.nodes.zones[broker.zone.index()];
        let both = |of: &Counts| (of.leaders[b.index()], of.replicas[b.index()]);
        let room = (self.counted).room(both(&self.problem.limits.in_force), both(counts));
        let node = self.count_node(head, room, &functions);
        self.nodes.brokers.push(node);
    }

    /// A node with one arc, towards the sink.
    fn count_node(
        &mut self,
        head: NodeId,
        upper: i64,
        functions: &[(Rank, Option<Convex>)],
    ) -> NodeId {
        let node = self.node(0);
        let arc = self.bent_arc(node, head, upper, functions);
        self.way[node.index()] = Some(arc);
        node
    }

    /// Begins a stream; the one before is done. `taken` names the broker of each leader, or replica, of the stream that
    /// is counted but doesn't flow. Streams come in ascending order, and may be left out.
    ///
    /// Complexity: O(brokers + zones + taken).
    pub fn open_stream(&mut self, s: StreamId, taken: impl IntoIterator<Item = BrokerId>) {
        self.close_stream();
        let open = &mut self.open;
        open.stream = s;
        open.taken.fill(0);
        open.slots.fill(None);
        open.seat_caps.fill(Network::UNCAPACITATED);
        open.seat_costs.fill(Cost::default());
        open.hubs.fill(None);
        for b in taken {
            open.taken[b.index()] += 1;
        }
        self.arcs_begin.push(ArcId::at(self.arc_count));
    }

    /// Puts the slots of the stream in order.
    fn close_stream(&mut self) {
        let slots = &mut self.nodes.slots;
        slots[self.open.first_slot..].sort_unstable();
        self.open.first_slot = slots.len();
    }

    /// The slot of the open stream on a broker.
    pub fn slot(&mut self, b: BrokerId) -> NodeId {
        if let Some(node) = self.open.slots[b.index()] {
            return node;
        }
        let (problem, s) = (self.problem, self.open.stream);
        let broker = self.nodes.brokers[b.index()];
        let node = match self.counted.stream_band(problem, s, b) {
            None => broker,
            Some(band) => {
                let stream = problem.stream(s);
                let most = stream.shard_count() * i64::from(stream.replication_factor);
                let spread = squares(band, self.open.taken[b.index()]);
                let functions = [(self.counted.stream_rank(), Some(spread))];
                // One more than can flow, so that the arc has room in every flow.
                let node = self.count_node(broker, most + 1, &functions);
                self.nodes.slots.push((s, b, node));
                node
            }
        };
        self.open.slots[b.index()] = Some(node);
        node
    }

    /// Bounds what the open stream's hub, which is not made yet, sends to a broker: as many as there are shards that may
    /// come to be there by way of the hub.
    pub fn set_seat_cap(&mut self, b: BrokerId, cap: i64) {
        self.open.seat_caps[b.index()] = cap;
    }

    /// Charges each unit that the open stream's hub, which is not made yet, sends to a broker.
    pub fn set_seat_cost(&mut self, b: BrokerId, cost: Cost) {
        self.open.seat_costs[b.index()] = cost;
    }

    /// The hub of the open stream in a zone; none where it may enter no broker there.
    pub fn hub(&mut self, z: ZoneId) -> Option<HubId> {
        if let Some(hub) = self.open.hubs[z.index()] {
            return Some(hub);
        }
        let seats: Vec<BrokerId> = self.enterable(z).collect();
        if seats.is_empty() {
            return None;
        }
        let slots: Vec<NodeId> = seats.iter().map(|&b| self.slot(b)).collect();
        let node = self.node(0);
        let seats = seats.into_iter().zip(slots);
        let seats: Vec<(BrokerId, ArcId)> = seats
            .map(|(b, slot)| {
                let cap = self.open.seat_caps[b.index()];
                let cost = self.open.seat_costs[b.index()];
                (b, self.arc(node, slot, cap, &cost))
            })
            .collect();
        self.way[node.index()] = Some(seats[0].1);
        let id = HubId(self.hubs.len() as u32);
        self.hubs.push(Hub {
            stream: self.open.stream,
            zone: z,
            node,
            seats,
        });
        self.open.hubs[z.index()] = Some(id);
        Some(id)
    }

    /// The brokers of a zone that the open stream may enter.
    pub fn enterable(&self, z: ZoneId) -> impl Iterator<Item = BrokerId> + '_ {
        let stream = self.problem.stream(self.open.stream);
        let active = self.active[z.index()].iter().copied();
        active.filter(|b| stream.open[b.index()])
    }

    /// The node of a hub.
    pub fn hub_node(&self, hub: HubId) -> NodeId {
        self.hubs[hub.0 as usize].node
    }

    /// The node that takes all supplies.
    pub fn sink(&self) -> NodeId {
        self.nodes.sink
    }

    /// A node above the layers that supplies so much to the sink.
    pub fn node(&mut self, supply: i64) -> NodeId {
        self.way.push(None);
        self.network.add_supply(self.nodes.sink, -supply);
        self.network.add_node(supply)
    }

    /// An arc from 0 to `upper` with what a unit of flow costs.
    pub fn arc(&mut self, tail: NodeId, head: NodeId, upper: i64, cost: &Cost) -> ArcId {
        let arc = self.bent_arc(tail, head, upper, &[]);
        for (row, &unit) in self.units.iter_mut().zip(&cost.0) {
            if unit != 0 {
                row.resize(arc.index(), 0);
                row.push(unit);
            }
        }
        arc
    }

    /// An arc from 0 to `upper`, finite, with convex costs.
    pub fn bent_arc(
        &mut self,
        tail: NodeId,
        head: NodeId,
        upper: i64,
        functions: &[(Rank, Option<Convex>)],
    ) -> ArcId {
        let arc = self.network.add_arc(tail, head, 0, upper);
        self.arc_count += 1;
        for &(rank, function) in functions {
            if let Some(function) = function {
                self.convex[rank as usize].push((arc, function));
            }
        }
        arc
    }

    /// The network, with the ranks that cost anything.
    ///
    /// # Errors
    /// What the network refused; validated problems never are.
    pub fn finish(mut self) -> Result<Layered<'p>, SetError> {
        self.close_stream();
        let network = self.network.build();
        let network = network.map_err(|error| SetError::Refused(error.to_string()))?;
        let (mut ranks, mut costs) = (Vec::new(), Vec::new());
        let by_rank = self.units.into_iter().zip(self.convex);
        for (rank, (mut unit, convex)) in Rank::ALL.into_iter().zip(by_rank) {
            if unit.is_empty() && convex.is_empty() {
                continue;
            }
            unit.resize(self.arc_count, 0);
            ranks.push(rank);
            costs.push(RankCost { unit, convex });
        }
        Ok(Layered {
            problem: self.problem,
            counted: self.counted,
            network,
            ranks,
            costs,
            way: self.way,
            hubs: self.hubs,
            arcs_begin: self.arcs_begin,
            nodes: self.nodes,
        })
    }
}

/// What fits below a cap in force.
fn room(in_force: i64, taken: i64) -> i64 {
    if in_force == Limits::NONE {
        i64::from(u32::MAX)
    } else {
        in_force - taken
    }
}

/// Cost of flow above a nominal cap.
fn excess(cap: Option<u32>, taken: i64) -> Option<Convex> {
    cap.map(|cap| Convex::Excess(i64::from(cap) - taken))
}

fn squares(band: Band, taken: i64) -> Convex {
    Convex::Squares {
        low: band.low - taken,
        high: band.high - taken,
    }
}
