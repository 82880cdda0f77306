//! The leader network as far as leaders placed, breaches and zone minima go: kinds of shards against limits.
//!
//! ```text
//! group ──> broker          that holds a live replica; a breach where it should leave
//! group ──> hub (class)     one for the brokers that some streams may enter; then hub ──> broker
//! group ──> unled ──> sink  goes without a leader
//! broker ──> zone ──> sink  up to the caps in force; above those configured, breaches
//! ```
//!
//! Nothing but the ranks up to `zone_minimum_shortfall` costs anything, so that shards of a kind are one node. The ranks
//! are those of the contract where neither disks nor rates nor followers are decided; the value of each is that of the
//! best plan, but for what no choice of leaders changes.

use super::grouping::{Groups, Rules};
use crate::budget::Budget;
use crate::cost::Rank;
use crate::cut::{LimitRule, Place};
use crate::network::{ArcId, Convex, Network, NetworkBuilder, NodeId, RankCost};
use crate::simplex::Simplex;
use crate::snapshot::{BrokerId, Counts, Problem, Roles, ZoneId};

/// What an arc stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// From a group to a broker that holds its shards.
    Holder {
        broker: BrokerId,
        /// A breach.
        is_unwanted: bool,
    },
    /// From a group to the hub of its class, or from there to a broker.
    Newcomer,
    /// From a group to the node of those without a leader.
    Unled,
    /// From there to the sink.
    AllUnled,
    /// From a broker to its zone, or from a zone to the sink.
    Count(Place),
}

/// The network, its flow, and what nodes and arcs stand for.
pub(super) struct Contest {
    pub(super) network: Network,
    pub(super) ways: Vec<Way>,
    /// Per arc, room below what is configured; in [`Network::upper`] it is below the caps in force.
    pub(super) configured: Vec<i64>,
    /// Optimal in all three ranks.
    pub(super) flow: Vec<i64>,
    /// By zone, by group: its node.
    pub(super) zones: Vec<NodeId>,
    pub(super) groups: Vec<NodeId>,
    pub(super) unled: NodeId,
    pub(super) all_unled: ArcId,
    pub(super) sink: NodeId,
    /// `min_leaders` of each zone, less pinned leaders.
    pub(super) minima: Vec<i64>,
    /// Value by rank of [`super::RANKS_EXPLAINED`], what no leader changes aside.
    pub(super) values: [i128; 3],
}

impl Contest {
    /// Builds and solves; `None` where the budget ends first.
    pub(super) fn solve(
        problem: &Problem,
        groups: &Groups,
        rules: &Rules,
        budget: &mut Budget<'_>,
    ) -> Option<Self> {
        let mut builder = Builder::new(problem, groups, rules);
        builder.add_counts();
        builder.add_groups();
        builder.finish(budget)
    }

    /// The arc that counts the leaders of a place: those of zones, then those of brokers, follow the first arc.
    pub(super) fn count_arc(&self, place: Place) -> ArcId {
        match place {
            Place::Zone(z) => ArcId::at(1 + z.index()),
            Place::Broker(b) => ArcId::at(1 + self.zones.len() + b.index()),
        }
    }

    /// The room of a limit, and which rule sets it: the tightest one.
    pub(super) fn limit(
        problem: &Problem,
        rules: &Rules,
        pinned: &Counts,
        place: Place,
        is_in_force: bool,
    ) -> Option<(LimitRule, i64)> {
        let (leaders, replicas) = taken(pinned, place);
        let present = taken(&problem.limits.present, place);
        let room = |cap: Option<u32>, now: i64, taken: i64| {
            let cap = i64::from(cap?);
            let cap = if is_in_force { cap.max(now) } else { cap };
            Some((cap - taken).max(0))
        };
        let of_leaders = room(rules.leaders(place), present.0, leaders);
        let of_replicas = room(rules.replicas(place), present.1, replicas)
            .filter(|_| problem.policy.roles == Roles::LeadersAndFollowers);
        let both = [
            of_leaders.map(|room| (LimitRule::MaxLeaders, room)),
            of_replicas.map(|room| (LimitRule::MaxReplicas, room)),
        ];
        both.into_iter().flatten().min_by_key(|limit| limit.1)
    }
}

/// Leaders and replicas at a place.
pub(super) fn taken(counts: &Counts, place: Place) -> (i64, i64) {
    match place {
        Place::Broker(b) => (counts.leaders[b.index()], counts.replicas[b.index()]),
        Place::Zone(z) => (
            counts.zone_leaders[z.index()],
            counts.zone_replicas[z.index()],
        ),
    }
}

struct Builder<'a> {
    problem: &'a Problem,
    groups: &'a Groups,
    rules: &'a Rules,
    network: NetworkBuilder,
    ways: Vec<Way>,
    configured: Vec<i64>,
    /// Unit costs, beside `ways`.
    unplaced: Vec<i64>,
    followers: Vec<i64>,
    breaches: Vec<i64>,
    excess: Vec<(ArcId, Convex)>,
    shortfall: Vec<(ArcId, Convex)>,
    brokers: Vec<NodeId>,
    zones: Vec<NodeId>,
    group_nodes: Vec<NodeId>,
    minima: Vec<i64>,
    unled: NodeId,
    sink: NodeId,
    /// Free shards, which no flow exceeds.
    free: i64,
}

impl<'a> Builder<'a> {
    fn new(problem: &'a Problem, groups: &'a Groups, rules: &'a Rules) -> Self {
        let free: usize = groups.list.iter().map(|group| group.shards.len()).sum();
        let mut network = NetworkBuilder::default();
        let sink = network.add_node(-(free as i64));
        let unled = network.add_node(0);
        Builder {
            problem,
            groups,
            rules,
            network,
            ways: Vec::new(),
            configured: Vec::new(),
            unplaced: Vec::new(),
            followers: Vec::new(),
            breaches: Vec::new(),
            excess: Vec::new(),
            shortfall: Vec::new(),
            brokers: Vec::new(),
            zones: Vec::new(),
            group_nodes: Vec::new(),
            minima: Vec::new(),
            unled,
            sink,
            free: free as i64,
        }
    }

    fn arc(&mut self, tail: NodeId, head: NodeId, upper: i64, configured: i64, way: Way) -> ArcId {
        self.ways.push(way);
        self.configured.push(configured);
        self.unplaced.push(i64::from(way == Way::Unled));
        self.followers.push(0);
        self.breaches.push(0);
        self.network.add_arc(tail, head, 0, upper)
    }

    /// Zones and brokers; more than all free shards flow nowhere.
    fn add_counts(&mut self) {
        let (unled, sink, free) = (self.unled, self.sink, self.free);
        self.arc(unled, sink, free, free, Way::AllUnled);
        for z in (0..self.problem.zones.len()).map(ZoneId::at) {
            let node = self.network.add_node(0);
            let arc = self.count(node, sink, Place::Zone(z));
            let pinned = self.groups.pinned.zone_leaders[z.index()];
            let minimum = i64::from(self.rules.min_leaders[z.index()]) - pinned;
            if minimum > 0 {
                self.shortfall.push((arc, Convex::Shortfall(minimum)));
            }
            self.minima.push(minimum);
            self.zones.push(node);
        }
        for b in self.problem.broker_ids() {
            let node = self.network.add_node(0);
            let zone = self.zones[self.problem.zone_of(b).index()];
            self.count(node, zone, Place::Broker(b));
            self.brokers.push(node);
        }
    }

    fn count(&mut self, node: NodeId, head: NodeId, place: Place) -> ArcId {
        let (problem, rules, pinned) = (self.problem, self.rules, &self.groups.pinned);
        let limit = |is_in_force| {
            let limit = Contest::limit(problem, rules, pinned, place, is_in_force);
            limit.map_or(i64::MAX, |(_, room)| room)
        };
        // A cost needs an upper bound; one more than can flow is none.
        let (upper, configured) = (limit(true).min(self.free + 1), limit(false));
        let arc = self.arc(node, head, upper, configured, Way::Count(place));
        let (leaders, replicas) = taken(pinned, place);
        let of_leaders = rules.leaders(place).map(|cap| i64::from(cap) - leaders);
        let of_replicas = (rules.replicas(place))
            .filter(|_| problem.policy.roles == Roles::LeadersAndFollowers)
            .map(|cap| i64::from(cap) - replicas);
        let excess = match (of_leaders, of_replicas) {
            (Some(a), Some(b)) => Some(Convex::TwoExcess(a, b)),
            (Some(cap), None) | (None, Some(cap)) => Some(Convex::Excess(cap)),
            (None, None) => None,
        };
        self.excess.extend(excess.map(|excess| (arc, excess)));
        arc
    }

    fn add_groups(&mut self) {
        let groups = self.groups;
        let mut hubs = Vec::with_capacity(groups.classes.len());
        for open in &groups.classes {
            let hub = self.network.add_node(0);
            hubs.push(hub);
            if self.problem.policy.roles == Roles::LeadersAndFollowers {
                for &b in open {
                    self.free_arc(hub, self.brokers[b.index()], Way::Newcomer);
                }
            }
        }
        for group in &groups.list {
            let node = self.network.add_node(group.shards.len() as i64);
            for &broker in &group.holders {
                let is_unwanted = group.unwanted.contains(&broker);
                let (upper, configured) = match is_unwanted {
                    true => (Network::UNCAPACITATED, 0),
                    false => (Network::UNCAPACITATED, i64::MAX),
                };
                let head = self.brokers[broker.index()];
                let way = Way::Holder {
                    broker,
                    is_unwanted,
                };
                let arc = self.arc(node, head, upper, configured, way).index();
                self.followers[arc] = i64::from(group.misses_leader_as_follower);
                if is_unwanted {
                    self.breaches[arc] = if group.class.is_some() { 2 } else { 1 };
                }
            }
            if let Some(class) = group.class {
                self.free_arc(node, hubs[class], Way::Newcomer);
            }
            if group.may_go_unled {
                self.free_arc(node, self.unled, Way::Unled);
            }
            self.group_nodes.push(node);
        }
    }

    fn free_arc(&mut self, tail: NodeId, head: NodeId, way: Way) {
        self.arc(tail, head, Network::UNCAPACITATED, i64::MAX, way);
    }

    fn finish(self, budget: &mut Budget<'_>) -> Option<Contest> {
        let network = self.network.build().ok()?;
        let breaches = RankCost {
            unit: self.breaches,
            convex: self.excess,
        };
        let costs = [
            (Some(Rank::UnplacedLeaders), RankCost::linear(self.unplaced)),
            (None, RankCost::linear(self.followers)),
            (Some(Rank::Breaches), breaches),
            (
                Some(Rank::ZoneMinimumShortfall),
                RankCost::convex(self.shortfall),
            ),
        ];
        let mut simplex = Simplex::from_scratch(&network, budget).ok()?;
        for (_, cost) in &costs {
            simplex.minimize(cost, budget).ok()?;
            simplex.restrict();
        }
        let flow = simplex.flow().to_vec();
        let value = |cost: &RankCost| cost.total(&flow);
        let values = [value(&costs[0].1), value(&costs[2].1), value(&costs[3].1)];
        Some(Contest {
            network,
            ways: self.ways,
            configured: self.configured,
            flow,
            zones: self.zones,
            groups: self.group_nodes,
            unled: self.unled,
            // The first that `add_counts` makes.
            all_unled: ArcId::at(0),
            sink: self.sink,
            minima: self.minima,
            values,
        })
    }
}
