//! From an admissible placement to the optimum.
//!
//! 1. *Tree*: counts by their own arcs, shards by the dearest arc that they use.
//! 2. *Sweep*, where the first rank is `weighted`: streams are solved one after another, while counts of brokers and
//!    zones have prices instead of bounds ([`crate::simplex::Relaxed`]). A price rises with what its count is above its
//!    bounds, by [`STEP`] times what an arc costs on average at an overload of the whole bound, and falls below them.
//!    One sweep leaves some 0.1 % of the shards of a large cluster outside the bounds. More sweeps were no faster in
//!    all, nor were prices from a sample of the streams.
//! 3. *Ranks*: minimised one after another by the simplex. Exits are added where prices ask for them (`absent`).

use super::absent::{Absent, Wanted};
use super::{Exit, LeaderNetwork};
use crate::budget::{Budget, Stop};
use crate::cost::Rank;
use crate::network::{ArcId, NodeId};
use crate::simplex::{MinimizeError, Simplex};
use crate::snapshot::{Assignment, BrokerId, StreamId};

/// Price of an overload of all that an arc may carry, in average costs of an arc.
const STEP: i64 = 12;

/// Part of the count arcs that may pivot before they get new prices.
const PIVOTS_PART: u64 = 8;

/// Arcs below which a sweep takes longer than it saves.
const SWEEP_ARCS_MIN: usize = 20_000;

/// The engine on the network of a problem.
pub(super) struct Search<'m, 'p> {
    model: &'m mut LeaderNetwork<'p>,
    simplex: Simplex,
    /// None where all exits are there.
    absent: Option<Absent>,
    added: Vec<(StreamId, Exit)>,
}

/// What a search ends with.
pub(super) struct Found {
    /// None where the bounds didn't hold yet.
    pub(super) flow: Option<Vec<i64>>,
    /// By rank, of those that were begun.
    pub(super) potentials: Vec<Vec<i64>>,
    pub(super) stop: Option<Stop>,
}

impl<'m, 'p> Search<'m, 'p> {
    /// The engine at the start.
    ///
    /// # Errors
    /// What is wrong with the start.
    pub(super) fn new(
        model: &'m mut LeaderNetwork<'p>,
        start: &[Assignment],
    ) -> Result<Self, String> {
        let t = super::cpu();
        let flow = model.flow_of(start);
        eprintln!("flow {:?}", super::cpu() - t);
        let way = model.first_tree(&flow);
        eprintln!("hints {:?}", super::cpu() - t);
        let mut simplex =
            Simplex::from_flow(&model.network, flow, &way).map_err(|error| error.to_string())?;
        let counts = model.layers.broker_nodes.iter().chain(&model.layers.zone_nodes);
        simplex.set_anchors(counts.copied());
        simplex.set_blocks(model.layers.arcs_begin.iter().copied());
        let absent = model
            .is_lazy
            .then(|| Absent::new(model.problem, &model.layers));
        Ok(Search {
            model,
            simplex,
            absent,
            added: Vec::new(),
        })
    }

    /// Minimises all ranks, and puts exits that were added into the network.
    ///
    /// # Errors
    /// What the engine refused.
    pub(super) fn run(mut self, budget: &mut Budget<'_>) -> Result<Found, String> {
        let mut potentials = Vec::with_capacity(self.model.ranks.len());
        let outcome = self.ranks(&mut potentials, budget);
        let stop = match outcome {
            Ok(()) => None,
            Err(MinimizeError::Stopped(reason)) => {
                potentials.push(self.simplex.potentials());
                Some(reason)
            }
            Err(error) => return Err(error.to_string()),
        };
        let flow = (self.simplex.is_feasible()).then(|| self.simplex.flow().to_vec());
        self.model.admit(self.added)?;
        Ok(Found {
            flow,
            potentials,
            stop,
        })
    }

    fn ranks(
        &mut self,
        potentials: &mut Vec<Vec<i64>>,
        budget: &mut Budget<'_>,
    ) -> Result<(), MinimizeError> {
        let is_weighted = self.model.ranks.first() == Some(&Rank::Weighted);
        let t = super::cpu();
        if is_weighted
            && self.model.layers.kept.is_none()
            && self.model.network.arc_count() >= SWEEP_ARCS_MIN
        {
            self.sweep(budget)?;
            eprintln!("sweep {:?} {:?} added {}", super::cpu() - t, self.simplex.stats(), self.added.len());
        }
        for rank in 0..self.model.ranks.len() {
            let t = super::cpu();
            self.simplex.minimize(&self.model.costs[rank], budget)?;
            loop {
                potentials.push(self.simplex.potentials());
                eprintln!("{rank} {:?} {:?}", super::cpu() - t, self.simplex.stats());
                if !self.add_wanted(potentials) {
                    break;
                }
                eprintln!("added {} {:?}", self.added.len(), super::cpu() - t);
                potentials.pop();
                self.simplex.go_on(budget)?;
            }
            self.simplex.restrict();
        }
        Ok(())
    }

    /// Solves one stream after another, with prices on counts.
    fn sweep(&mut self, budget: &mut Budget<'_>) -> Result<(), MinimizeError> {
        let model = &*self.model;
        let cost = &model.costs[0];
        let step = STEP * average(&cost.unit);
        let counts: Vec<ArcId> = model.count_arcs().collect();
        let prices = counts.iter().map(|&arc| (arc, 0));
        let mut relaxed = self.simplex.relax(cost, prices)?;
        let mut repriced = 0;
        let mut outcome = Ok(());
        for s in (0..model.problem.streams.len()).map(StreamId::at) {
            if relaxed.pivots() - repriced >= counts.len() as u64 / PIVOTS_PART {
                repriced = relaxed.pivots();
                relaxed.reprice(|(_, high), overload| {
                    step.saturating_mul(overload) / high.max(1)
                });
            }
            let block = block_of(s);
            outcome = relaxed.solve(block, budget);
            while let (Ok(()), Some(absent)) = (&outcome, &mut self.absent) {
                let wanted = absent.take_wanted(model, s, |hub, broker| {
                    relaxed.potential(broker) - relaxed.potential(hub)
                });
                if wanted.is_empty() {
                    break;
                }
                for wanted in wanted {
                    let ends = (wanted.hub, model.layers.broker_nodes[wanted.broker.index()]);
                    let added = relaxed.add_arc(ends, wanted.upper, block, budget);
                    match added {
                        Ok(arc) => self.added.push((s, Exit::late(wanted.broker, arc))),
                        Err(error) => outcome = Err(error),
                    }
                }
                if outcome.is_ok() {
                    outcome = relaxed.solve(block, budget);
                }
            }
            if outcome.is_err() {
                break;
            }
        }
        relaxed.close();
        self.extend_costs();
        outcome
    }

    /// Adds the absent exits that would lower the rank minimised last without raising one before. False if there are
    /// none.
    fn add_wanted(&mut self, potentials: &[Vec<i64>]) -> bool {
        let Some(absent) = &mut self.absent else {
            return false;
        };
        let before = self.added.len();
        let gain = |hub: NodeId, broker: NodeId| {
            let of = |rank: &Vec<i64>| rank[broker.index()] - rank[hub.index()];
            potentials.iter().map(of).find(|&gain| gain != 0).unwrap_or(0)
        };
        for s in (0..self.model.problem.streams.len()).map(StreamId::at) {
            for wanted in absent.take_wanted(self.model, s, gain) {
                let Wanted { broker, hub, upper } = wanted;
                let head = self.model.layers.broker_nodes[broker.index()];
                let arc = self.simplex.add_arc(hub, head, upper, block_of(s));
                self.added.push((s, Exit::late(broker, arc)));
            }
        }
        self.extend_costs();
        self.added.len() > before
    }

    /// Added arcs cost nothing.
    fn extend_costs(&mut self) {
        let arcs = self.model.network.arc_count() + self.added.len();
        for cost in self.model.costs.iter_mut().filter(|cost| !cost.unit.is_empty()) {
            cost.unit.resize(arcs, 0);
        }
    }
}

/// The pricing block of a stream; that before them holds the counts.
fn block_of(s: StreamId) -> usize {
    s.index() + 1
}

/// Average of what arcs cost that cost something.
fn average(unit: &[i64]) -> i64 {
    let (mut sum, mut count) = (0i128, 0i128);
    for &unit in unit.iter().filter(|&&unit| unit > 0) {
        sum += i128::from(unit);
        count += 1;
    }
    (sum / count.max(1)).max(1) as i64
}

impl Exit {
    fn late(broker: BrokerId, arc: ArcId) -> Self {
        Exit {
            broker,
            slot: None,
            hub_arc: Some(arc),
            out: arc,
        }
    }
}

impl LeaderNetwork<'_> {
    /// From the counts of brokers and zones, where they are both leaders and replicas.
    fn count_arcs(&self) -> impl Iterator<Item = ArcId> + '_ {
        let nodes = self.layers.broker_nodes.iter().chain(&self.layers.zone_nodes);
        nodes.filter_map(|node| self.way[node.index()])
    }

    /// An arc to hang each node by.
    fn first_tree(&self, flow: &[i64]) -> Vec<Option<ArcId>> {
        if self.ranks.first() != Some(&Rank::Weighted) || self.layers.kept.is_some() {
            return self.way.clone();
        }
        let mut way = self.way.clone();
        for group in &self.groups.list {
            let used = (self.groups.choices(group)).filter(|&(arc, _)| flow[arc.index()] > 0);
            let dearest = used.max_by_key(|&(arc, _)| self.costs[0].unit_cost(arc));
            way[group.node.index()] = dearest.map(|(arc, _)| arc);
        }
        way
    }

    /// Puts exits that were added to the engine into the network.
    ///
    /// # Errors
    /// What the network refused.
    fn admit(&mut self, added: Vec<(StreamId, Exit)>) -> Result<(), String> {
        if added.is_empty() {
            return Ok(());
        }
        let mut builder = std::mem::take(&mut self.network).into_builder();
        let layers = &mut self.layers;
        for (s, exit) in &added {
            let zone = self.problem.zone_of(exit.broker);
            let hub = layers.hubs[s.index() * self.problem.zones.len() + zone.index()];
            let head = layers.broker_nodes[exit.broker.index()];
            if let Some(hub) = hub {
                builder.add_arc(hub, head, 0, super::absent::upper(self.problem, *s, exit.broker));
            }
        }
        self.network = builder.build().map_err(|error| error.to_string())?;
        layers.admit(added);
        Ok(())
    }
}
