//! Cuts: what the unplaced, the excess and the missing units of a rank can reach.
//!
//! A unit too many at a node can go wherever the residual network leads: along arcs with room, back along arcs that
//! carry flow. It never gets to the sink, or the rank would be lower. So what is reached is closed in by arcs without room
//! and takes nothing from outside: its shards, less the room of those arcs, are the units too many. For a zone that
//! lacks leaders it is the same backwards: whatever could reach it.
//!
//! What units of one layer can reach together is one cut. Complexity: O(nodes + arcs) for each rank.

use std::collections::BTreeMap;

use super::contest::{Contest, Way};
use super::grouping::{Groups, Rules};
use crate::cost::Rank;
use crate::cut::{Cut, CutLimit, LimitRule, Place};
use crate::network::{ArcId, NodeId};
use crate::snapshot::{Problem, ZoneId};

/// Which way units are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// From units too many to where they could go.
    Onward,
    /// From units missing to where they could come from.
    Back,
}

impl Contest {
    /// The cuts of a rank, in the order of their first shards or zones.
    pub(super) fn cuts(
        &self,
        problem: &Problem,
        rank: Rank,
        groups: &Groups,
        rules: &Rules,
    ) -> Vec<Cut> {
        let view = View {
            problem,
            contest: self,
            groups,
            rules,
            rank,
            touching: self.touching(),
        };
        let mut cuts = view.own_limits();
        let mut is_explained = vec![false; self.network.node_count()];
        for mut sources in view.sources() {
            sources.retain(|source| !is_explained[source.index()]);
            for nodes in Regions::of(&view, &sources).members() {
                nodes
                    .iter()
                    .for_each(|node| is_explained[node.index()] = true);
                cuts.extend(view.cut(&nodes));
            }
        }
        cuts.sort_by_cached_key(|cut| (cut.shards.first().copied(), cut.zones.clone()));
        cuts
    }

    /// Arcs at each node.
    fn touching(&self) -> Vec<Vec<ArcId>> {
        let mut touching = vec![Vec::new(); self.network.node_count()];
        for arc in self.network.arcs() {
            touching[self.network.tail(arc).index()].push(arc);
            touching[self.network.head(arc).index()].push(arc);
        }
        touching
    }
}

/// One rank of a contest.
struct View<'a> {
    problem: &'a Problem,
    contest: &'a Contest,
    groups: &'a Groups,
    rules: &'a Rules,
    rank: Rank,
    touching: Vec<Vec<ArcId>>,
}

impl View<'_> {
    fn direction(&self) -> Direction {
        match self.rank {
            Rank::ZoneMinimumShortfall => Direction::Back,
            _ => Direction::Onward,
        }
    }

    fn flow(&self, arc: ArcId) -> i64 {
        self.contest.flow[arc.index()]
    }

    /// What fits on an arc: below the caps in force where a leader is at stake, else below those configured.
    fn room(&self, arc: ArcId) -> i64 {
        match (self.rank, self.contest.ways[arc.index()]) {
            (Rank::UnplacedLeaders, Way::Unled | Way::AllUnled) => 0,
            (Rank::UnplacedLeaders, _) => self.contest.network.upper(arc),
            // As many as rank 1 leaves without a leader.
            (_, Way::AllUnled) => self.flow(arc),
            _ => self.contest.configured[arc.index()],
        }
    }

    fn has_room(&self, arc: ArcId) -> bool {
        self.flow(arc) < self.room(arc)
    }

    /// Whether flow of the arc may be given back.
    fn has_flow(&self, arc: ArcId) -> bool {
        let is_given = |way| matches!(way, Way::Unled | Way::AllUnled);
        let is_kept =
            self.rank == Rank::UnplacedLeaders && is_given(self.contest.ways[arc.index()]);
        self.flow(arc) > 0 && !is_kept
    }

    /// Nodes that units too many are at, or that lack units. Where shards sit on brokers that they should leave, and
    /// these in zones above their maximum, each is a rule of its own: units are followed layer by layer, shards first.
    fn sources(&self) -> Vec<Vec<NodeId>> {
        let (contest, network) = (self.contest, &self.contest.network);
        if self.rank == Rank::ZoneMinimumShortfall {
            let zones = (0..contest.zones.len()).filter(|&z| self.is_short(z) && !self.is_full(z));
            return vec![zones.map(|z| contest.zones[z]).collect()];
        }
        let is_too_many = |arc: &ArcId| match (self.rank, contest.ways[arc.index()]) {
            (Rank::UnplacedLeaders, way) => way == Way::Unled && self.flow(*arc) > 0,
            (_, Way::Holder { .. } | Way::Count(_)) => self.flow(*arc) > self.room(*arc),
            _ => false,
        };
        let mut layers = vec![Vec::new(); 3];
        for arc in network.arcs().filter(is_too_many) {
            let layer = match contest.ways[arc.index()] {
                Way::Count(Place::Zone(_)) => 2,
                Way::Count(Place::Broker(_)) => 1,
                _ => 0,
            };
            layers[layer].push(network.tail(arc));
        }
        layers
    }

    fn led_in(&self, zone: usize) -> i64 {
        self.flow(self.contest.count_arc(Place::Zone(ZoneId::at(zone))))
    }

    fn is_short(&self, zone: usize) -> bool {
        self.led_in(zone) < self.contest.minima[zone]
    }

    /// Whether the zone's own maximum keeps it from more leaders.
    fn is_full(&self, zone: usize) -> bool {
        self.own_room(zone)
            .is_some_and(|(_, room)| self.led_in(zone) >= room)
    }

    fn own_room(&self, zone: usize) -> Option<(LimitRule, i64)> {
        let place = Place::Zone(ZoneId::at(zone));
        Contest::limit(self.problem, self.rules, &self.groups.pinned, place, false)
    }

    /// Zones whose minimum is above their own maximum, which is all there is to it.
    fn own_limits(&self) -> Vec<Cut> {
        if self.rank != Rank::ZoneMinimumShortfall {
            return Vec::new();
        }
        let zones = (0..self.contest.zones.len()).filter(|&z| self.is_short(z) && self.is_full(z));
        let cuts = zones.filter_map(|z| {
            let (rule, _) = self.own_room(z)?;
            let place = Place::Zone(ZoneId::at(z));
            let room = self.led_in(z);
            Some(Cut {
                rank: self.rank,
                shards: Vec::new(),
                zones: vec![ZoneId::at(z)],
                limits: vec![CutLimit { place, rule, room }],
                unplaced: 0,
                demand: self.contest.minima[z],
                capacity: room,
            })
        });
        cuts.collect()
    }

    /// The cut around a region, which is closed; `None` where it is not, because the sink can be reached at the
    /// expense of a rank between those explained.
    fn cut(&self, nodes: &[NodeId]) -> Option<Cut> {
        let contest = self.contest;
        let mut is_in = vec![false; contest.network.node_count()];
        nodes.iter().for_each(|node| is_in[node.index()] = true);
        if is_in[contest.sink.index()] {
            return None;
        }
        let grouped = self.groups.list.iter().zip(&contest.groups);
        let inside = grouped.filter(|(_, node)| is_in[node.index()]);
        let mut shards: Vec<_> = inside.flat_map(|(g, _)| g.shards.iter().copied()).collect();
        shards.sort_unstable();
        let mut limits = BTreeMap::new();
        for arc in contest.network.arcs() {
            let ends = [contest.network.tail(arc), contest.network.head(arc)];
            if ends.map(|node| is_in[node.index()]) == self.outward() {
                self.add_limit(arc, &mut limits);
            }
        }
        let limits: Vec<CutLimit> = (limits.into_iter())
            .map(|((place, rule), room)| CutLimit { place, rule, room })
            .collect();
        let room: i64 = limits.iter().map(|limit| limit.room).sum();
        let has_unled = is_in[contest.unled.index()];
        let unplaced = if has_unled {
            self.flow(contest.all_unled)
        } else {
            0
        };
        let count = shards.len() as i64;
        let in_zones = |z: &usize| is_in[contest.zones[*z].index()];
        let (zones, demand, capacity) = match self.direction() {
            Direction::Onward => (Vec::new(), count, room + unplaced),
            Direction::Back => {
                let zones: Vec<usize> = (0..contest.zones.len()).filter(in_zones).collect();
                let demand = zones.iter().map(|&z| contest.minima[z]).sum();
                let zones = zones.into_iter().map(ZoneId::at).collect();
                (zones, demand, count - unplaced + room)
            }
        };
        let cut = Cut {
            rank: self.rank,
            shards,
            zones,
            limits,
            unplaced,
            demand,
            capacity,
        };
        (cut.need() > 0).then_some(cut)
    }

    /// Whether tail and head of an arc around a region are in it.
    fn outward(&self) -> [bool; 2] {
        match self.direction() {
            Direction::Onward => [true, false],
            Direction::Back => [false, true],
        }
    }

    /// What an arc around a region says to the user. Where zones lack leaders, flow above what is configured counts as
    /// let through: it is there by the ranks before.
    fn add_limit(&self, arc: ArcId, limits: &mut BTreeMap<(Place, LimitRule), i64>) {
        let is_back = self.direction() == Direction::Back;
        let (place, rule) = match self.contest.ways[arc.index()] {
            Way::Count(place) => {
                let is_in_force = self.rank == Rank::UnplacedLeaders;
                let pinned = &self.groups.pinned;
                let limit = Contest::limit(self.problem, self.rules, pinned, place, is_in_force);
                (place, limit.map_or(LimitRule::MaxLeaders, |limit| limit.0))
            }
            Way::Holder { broker, .. } => (Place::Broker(broker), LimitRule::Closed),
            Way::Newcomer | Way::Unled | Way::AllUnled => return,
        };
        let room = match is_back {
            true => self.room(arc).max(self.flow(arc)),
            false => self.room(arc),
        };
        *limits.entry((place, rule)).or_insert(0) += room;
    }
}

/// Regions that sources reach, those that overlap joined.
struct Regions {
    /// By node: the region that it was first reached by, from 1.
    first: Vec<usize>,
    /// By region: the one that it became a part of, or itself.
    part_of: Vec<usize>,
}

impl Regions {
    fn of(view: &View<'_>, sources: &[NodeId]) -> Self {
        let mut regions = Regions {
            first: vec![0; view.contest.network.node_count()],
            part_of: vec![0],
        };
        for &source in sources {
            if regions.first[source.index()] == 0 {
                regions.grow(view, source);
            }
        }
        regions
    }

    fn grow(&mut self, view: &View<'_>, source: NodeId) {
        let mut region = self.part_of.len();
        self.part_of.push(region);
        self.first[source.index()] = region;
        let mut open = vec![source];
        while let Some(node) = open.pop() {
            for &arc in &view.touching[node.index()] {
                let Some(next) = step(view, arc, node) else {
                    continue;
                };
                match self.first[next.index()] {
                    0 => {
                        self.first[next.index()] = region;
                        open.push(next);
                    }
                    other => region = self.join(region, other),
                }
            }
        }
    }

    fn root(&self, mut region: usize) -> usize {
        while self.part_of[region] != region {
            region = self.part_of[region];
        }
        region
    }

    /// Makes two regions one, under the older number.
    fn join(&mut self, one: usize, other: usize) -> usize {
        let (one, other) = (self.root(one), self.root(other));
        let (old, young) = (one.min(other), one.max(other));
        self.part_of[young] = old;
        old
    }

    /// The nodes of each region.
    fn members(&self) -> Vec<Vec<NodeId>> {
        let mut members = vec![Vec::new(); self.part_of.len()];
        for (node, &first) in self.first.iter().enumerate().filter(|(_, f)| **f > 0) {
            members[self.root(first)].push(NodeId::at(node));
        }
        members.retain(|nodes| !nodes.is_empty());
        members
    }
}

/// Where a unit at a node gets by an arc; backwards, where it could come from.
fn step(view: &View<'_>, arc: ArcId, node: NodeId) -> Option<NodeId> {
    let network = &view.contest.network;
    let (tail, head) = (network.tail(arc), network.head(arc));
    match view.direction() {
        Direction::Onward if tail == node => view.has_room(arc).then_some(head),
        Direction::Onward => view.has_flow(arc).then_some(tail),
        Direction::Back if head == node => view.has_room(arc).then_some(tail),
        // What leads to the sink is there by the zone's own minimum, or by rank 1.
        Direction::Back if head == view.contest.sink => None,
        Direction::Back => view.has_flow(arc).then_some(head),
    }
}
