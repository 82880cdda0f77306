//! The first flow, that of the start, and the first tree.
//!
//! A node may hang by any arc with room towards the sink. Most arcs carry one unit or none, so a shard hangs by one that
//! it doesn't use: the cheapest such, which is what it would pay for one unit more, while prices of counts are zero. The
//! nearer these are to the prices of an optimum, the fewer pivots are left.

use super::SetError;
use super::parcels::{End, POLL_SHARDS, Parcel, ParcelZone, SetNetwork, part, sum};
use super::wishes::Wishes;
use crate::budget::Budget;
use crate::cost::Cost;
use crate::network::{ArcId, NodeId};
use crate::snapshot::{BrokerId, Problem};

impl SetNetwork<'_> {
    /// The flow of the start.
    pub(super) fn start_flow(
        &self,
        wishes: &impl Wishes,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<i64>, SetError> {
        let problem = wishes.problem();
        let mut flow = vec![0; self.layered.network.arc_count()];
        for (at, parcel) in self.parcels.iter().enumerate() {
            if at % POLL_SHARDS == 0 {
                budget.poll()?;
            }
            let flowing = wishes.flowing(&wishes.start()[parcel.shard.index()]);
            let mut missing = parcel.units;
            for b in flowing.into_iter().filter(|&b| problem.is_live(b)) {
                self.route(parcel, b, problem, &mut flow);
                missing -= 1;
            }
            for &arc in part(&self.missing, &parcel.missing) {
                let units = missing.min(self.layered.network.upper(arc));
                flow[arc.index()] += units;
                missing -= units;
            }
        }
        Ok(flow)
    }

    /// Sends a unit of a parcel to a broker. What the network doesn't allow is left out, and the engine refuses the flow.
    fn route(&self, parcel: &Parcel, b: BrokerId, problem: &Problem, flow: &mut [i64]) {
        let zone = problem.zone_of(b);
        let mut zones = part(&self.zones, &parcel.zones);
        let Some(to) = zones.find(|to| to.zone == zone) else {
            return;
        };
        let network = &self.layered.network;
        let has_room = |arc: ArcId, flow: &[i64]| flow[arc.index()] < network.upper(arc);
        let step = part(&self.steps, &to.steps).find(|&&arc| has_room(arc, flow));
        let mut ends = part(&self.ends, &to.ends).filter(|end| has_room(end.0, flow));
        let own = ends.clone().find(|end| end.1 == End::Broker(b));
        let end = own.or_else(|| ends.find(|end| matches!(end.1, End::Hub(_))));
        for &arc in step.into_iter().chain(end.map(|end| &end.0)) {
            flow[arc.index()] += 1;
            let is_before = |first: &ArcId| network.head(*first) == network.tail(arc);
            if let Some(first) = parcel.first.filter(is_before) {
                flow[first.index()] += 1;
            }
        }
        match end {
            Some(&(_, End::Hub(hub))) => {
                self.layered.ship_by_seat(hub, b, flow);
            }
            Some(&(arc, End::Broker(_))) => self.layered.ship(network.head(arc), flow),
            None => {}
        }
    }

    /// An arc with room to hang each node by.
    pub(super) fn first_tree(
        &self,
        flow: &[i64],
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Option<ArcId>>, SetError> {
        let mut tree = self.layered.way.clone();
        for (at, parcel) in self.parcels.iter().enumerate() {
            if at % POLL_SHARDS == 0 {
                budget.poll()?;
            }
            self.hang(parcel, flow, &mut tree);
        }
        Ok(tree)
    }

    fn hang(&self, parcel: &Parcel, flow: &[i64], tree: &mut [Option<ArcId>]) {
        let network = &self.layered.network;
        let first = parcel.first.map(|arc| network.head(arc));
        let has_room = |arc: ArcId| flow[arc.index()] < network.upper(arc);
        let (mut of_shard, mut of_first) = (Way::none(), Way::none());
        let mut offer = |arc: ArcId, rest: Cost| {
            if has_room(arc) {
                let is_first = first == Some(network.tail(arc));
                let way = if is_first {
                    &mut of_first
                } else {
                    &mut of_shard
                };
                way.offer(arc, sum(&self.layered.cost_of(arc), &rest));
            }
        };
        for &arc in part(&self.missing, &parcel.missing) {
            offer(arc, Cost::default());
        }
        for zone in part(&self.zones, &parcel.zones) {
            match zone.node {
                None => {
                    part(&self.ends, &zone.ends).for_each(|end| offer(end.0, Cost::default()));
                }
                Some(_) => {
                    if let Some((cost, _)) = self.way_out(zone, flow).0 {
                        part(&self.steps, &zone.steps).for_each(|&arc| offer(arc, cost));
                    }
                }
            }
        }
        if let (Some(arc), Some((cost, _))) = (parcel.first, of_first.0) {
            of_shard.offer(arc, cost);
        }
        let mut set = |node: NodeId, way: &Way| tree[node.index()] = way.0.map(|way| way.1);
        set(parcel.node, &of_shard);
        if let (Some(node), Some(arc)) = (first, parcel.first) {
            of_first.0.get_or_insert((Cost::default(), arc));
            set(node, &of_first);
        }
        for zone in part(&self.zones, &parcel.zones) {
            let Some(node) = zone.node else { continue };
            let mut way = self.way_out(zone, flow);
            // Or one unit less comes here, and one more goes where the shard would send it.
            for &arc in part(&self.steps, &zone.steps).filter(|arc| flow[arc.index()] > 0) {
                let is_first = first == Some(network.tail(arc));
                let before = if is_first { &of_first } else { &of_shard };
                if let Some((cost, _)) = before.0 {
                    way.offer(arc, difference(&cost, &self.layered.cost_of(arc)));
                }
            }
            set(node, &way);
        }
    }

    /// The cheapest arc with room from the node of a zone.
    fn way_out(&self, zone: &ParcelZone, flow: &[i64]) -> Way {
        let mut way = Way::none();
        for &(arc, _) in part(&self.ends, &zone.ends) {
            if flow[arc.index()] < self.layered.network.upper(arc) {
                way.offer(arc, self.layered.cost_of(arc));
            }
        }
        way
    }
}

/// The cheapest way known from a node, and the arc it begins with.
struct Way(Option<(Cost, ArcId)>);

impl Way {
    fn none() -> Self {
        Way(None)
    }

    /// The first of the cheapest is kept.
    fn offer(&mut self, arc: ArcId, cost: Cost) {
        if self.0.is_none_or(|known| cost < known.0) {
            self.0 = Some((cost, arc));
        }
    }
}

fn difference(a: &Cost, b: &Cost) -> Cost {
    let mut difference = *a;
    for (difference, b) in difference.0.iter_mut().zip(b.0) {
        *difference -= b;
    }
    difference
}
