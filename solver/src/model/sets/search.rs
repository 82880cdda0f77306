//! Minimises rank after rank on a network above the layers.

use super::SetError;
use super::layers::Layered;
use crate::budget::{Budget, Stop};
use crate::cost::{Cost, Rank};
use crate::network::{ArcId, NodeId, RankCost};
use crate::simplex::{MinimizeError, Simplex, Start, StartError};
use crate::verify::flow;

/// Sweeps over the streams: the first ones of the first sweep do not know yet what the last ones will do.
const SWEEPS: usize = 2;

/// What a search ends with.
pub struct Found {
    /// By arc.
    pub flow: Vec<i64>,
    /// By rank, of those that were begun.
    pub potentials: Vec<Vec<i64>>,
    /// Whether the flow keeps all bounds. Only a stop leaves one that doesn't, after arcs were closed or from such a start.
    pub is_feasible: bool,
    /// Why the search stopped short of the optimum.
    pub stop: Option<Stop>,
}

/// Arcs that are closed, and nodes and arcs that take their place.
#[derive(Default)]
pub struct Edits {
    /// Arcs without flow from now on.
    pub closed: Vec<ArcId>,
    /// Nodes to be added, without supply.
    pub nodes: usize,
    /// Arcs to be added; new nodes have the ids that follow the last one. They cost nothing in ranks without any cost.
    pub arcs: Vec<NewArc>,
}

/// An arc to be added.
pub struct NewArc {
    /// Where it begins.
    pub tail: NodeId,
    /// Where it ends.
    pub head: NodeId,
    /// Its capacity.
    pub upper: i64,
    /// What a unit costs.
    pub cost: Cost,
}

/// The engine on a network.
pub struct Search {
    simplex: Simplex,
}

impl Search {
    /// The engine at a flow, feasible but for upper bounds, which the first rank brings it back to. `hint` has an arc to
    /// hang each node by, where one is known.
    ///
    /// # Errors
    /// A stop, or what is wrong with the start.
    pub fn new(
        layered: &Layered<'_>,
        flow: Vec<i64>,
        hint: &[Option<ArcId>],
        budget: &mut Budget<'_>,
    ) -> Result<Self, SetError> {
        let anchors = layered.anchors();
        let start = Start {
            flow,
            hint,
            anchors: Some(&anchors),
        };
        let network = &layered.network;
        let over = network
            .arcs()
            .filter(|&arc| start.flow[arc.index()] > network.upper(arc));
        let over: Vec<ArcId> = over.collect();
        let simplex = match over.is_empty() {
            true => Simplex::start(network, start, budget),
            false => {
                let mut wide = network.clone().into_builder();
                for &arc in &over {
                    wide.set_bounds(arc, network.lower(arc), start.flow[arc.index()]);
                }
                let wide = wide.build();
                let wide = wide.map_err(|error| SetError::Refused(error.to_string()))?;
                Simplex::start(&wide, start, budget)
            }
        };
        let mut simplex = simplex.map_err(|error| match error {
            StartError::Stopped(stop) => SetError::Stopped(stop),
            error => SetError::Refused(error.to_string()),
        })?;
        for arc in over {
            simplex.set_bounds(arc, network.lower(arc), network.upper(arc));
        }
        simplex.set_blocks(layered.arcs_begin.iter().copied());
        Ok(Search { simplex })
    }

    /// Minimises all ranks. What the engine claims is checked.
    ///
    /// # Errors
    /// What the engine refused.
    pub fn run(
        &mut self,
        layered: &Layered<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Found, SetError> {
        let mut potentials = Vec::with_capacity(layered.ranks.len());
        let stop = match self.ranks(layered, &mut potentials, budget) {
            Ok(()) => None,
            Err(MinimizeError::Stopped(reason)) => {
                potentials.push(self.simplex.potentials());
                Some(reason)
            }
            Err(MinimizeError::Infeasible { .. }) => return Err(SetError::Infeasible),
            Err(error) => return Err(SetError::Refused(error.to_string())),
        };
        let found = Found {
            flow: self.simplex.flow().to_vec(),
            potentials,
            is_feasible: self.simplex.is_feasible(),
            stop,
        };
        match fault(layered, &found) {
            None => Ok(found),
            Some(fault) => Err(SetError::Refused(fault)),
        }
    }

    fn ranks(
        &mut self,
        layered: &Layered<'_>,
        potentials: &mut Vec<Vec<i64>>,
        budget: &mut Budget<'_>,
    ) -> Result<(), MinimizeError> {
        for (&rank, cost) in layered.ranks.iter().zip(&layered.costs) {
            self.sweep(layered, rank, cost, budget)?;
            self.simplex.minimize(cost, budget)?;
            potentials.push(self.simplex.potentials());
            self.simplex.restrict();
        }
        Ok(())
    }

    /// Before the spread within streams: solves one stream after another, each with the brokers that have enough by then
    /// a little dearer. That decides among counts that cost the stream the same, and leaves little to do for the spread
    /// over the cluster, where each unit moved would be looked for in all streams.
    fn sweep(
        &mut self,
        layered: &Layered<'_>,
        rank: Rank,
        cost: &RankCost,
        budget: &mut Budget<'_>,
    ) -> Result<(), MinimizeError> {
        let levels = layered.levels(rank);
        if levels.is_empty() {
            return Ok(());
        }
        let shared: Vec<(ArcId, i64)> = levels.iter().map(|level| (level.0, 0)).collect();
        let mut relaxed = self.simplex.relax(cost, &shared, budget)?;
        // The counts come before the first stream.
        let streams = 1..=layered.arcs_begin.len();
        let mut blocks = (0..SWEEPS).flat_map(|_| streams.clone());
        let outcome = blocks.try_for_each(|block| {
            relaxed.reprice_each(|at, flow| i64::from(flow >= levels[at].1));
            budget.spend(levels.len() as u64)?;
            relaxed.solve(block, budget)
        });
        relaxed.close();
        outcome
    }

    /// Changes the network and the engine, which keeps its tree; the next run begins with the first rank.
    ///
    /// # Errors
    /// What the network refused.
    ///
    /// Complexity: O(nodes + arcs).
    pub fn edit(&mut self, layered: &mut Layered<'_>, edits: Edits) -> Result<(), SetError> {
        let network = std::mem::take(&mut layered.network);
        for arc in network.arcs() {
            (self.simplex).set_bounds(arc, network.lower(arc), network.upper(arc));
        }
        let mut builder = network.into_builder();
        for &arc in &edits.closed {
            builder.set_bounds(arc, 0, 0);
            self.simplex.set_bounds(arc, 0, 0);
        }
        let nodes = vec![0; edits.nodes];
        for _ in self.simplex.add_nodes(&nodes) {
            builder.add_node(0);
            layered.way.push(None);
        }
        for arc in &edits.arcs {
            builder.add_arc(arc.tail, arc.head, 0, arc.upper);
            self.simplex.add_arc(arc.tail, arc.head, arc.upper);
        }
        for (&rank, of_rank) in layered.ranks.iter().zip(&mut layered.costs) {
            let added = edits.arcs.iter().map(|arc| arc.cost[rank]);
            of_rank.unit.extend(added);
        }
        let network = builder.build();
        layered.network = network.map_err(|error| SetError::Refused(error.to_string()))?;
        Ok(())
    }
}

/// What is wrong with a flow, by the verifier.
fn fault(layered: &Layered<'_>, found: &Found) -> Option<String> {
    if !found.is_feasible {
        return None;
    }
    let faults = match found.stop {
        None => flow::check_optimal(
            &layered.network,
            &layered.costs,
            &found.flow,
            &found.potentials,
        ),
        Some(_) => flow::check_flow(&layered.network, &found.flow),
    };
    faults.first().map(ToString::to_string)
}
