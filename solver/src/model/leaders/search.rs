//! From an admissible placement to the optimum.
//!
//! 1. *Tree*: below the sink, at guessed prices (`tree`).
//! 2. *Sweep*, where the first rank is `weighted` and the network is large or prices were given: streams are solved one
//!    after another, while counts of brokers and zones have prices instead of bounds ([`crate::simplex::Relaxed`]). A
//!    price rises with what its count is above its bounds, by [`STEP`] times what an arc costs on average at an overload
//!    of the whole bound, and falls below them. One sweep leaves some 0.1 % of the shards of a large cluster outside the
//!    bounds.
//! 3. *Ranks*: minimised one after another by the simplex. Exits are added where prices ask for them (`absent`).

use super::absent::{Absent, Wanted};
use super::{Exit, LeaderError, LeaderNetwork};
use crate::budget::{Budget, Stop};
use crate::cost::Rank;
use crate::hint::{FirstPrices, PriceHint};
use crate::network::{ArcId, NodeId};
use crate::simplex::{MinimizeError, Relaxed, Simplex, Start, StartError};
use crate::snapshot::{Assignment, StreamId};

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
    /// First prices of the counts.
    prices: Vec<(ArcId, i64)>,
    is_hinted: bool,
    /// None where all exits are there.
    absent: Option<Absent>,
    /// Exits that came later, in the order of their arcs.
    added: Vec<(StreamId, Wanted)>,
}

/// What a search ends with.
pub(super) struct Found {
    pub(super) flow: Vec<i64>,
    /// Whether the flow keeps the bounds of all counts.
    pub(super) is_feasible: bool,
    /// By rank, of those that were begun.
    pub(super) potentials: Vec<Vec<i64>>,
    pub(super) stop: Option<Stop>,
}

impl<'m, 'p> Search<'m, 'p> {
    /// The engine at a start, with first prices of the counts.
    ///
    /// # Errors
    /// A stop, or what is wrong with the start.
    pub(super) fn new(
        model: &'m mut LeaderNetwork<'p>,
        start: &[Assignment],
        hint: &PriceHint,
        budget: &mut Budget<'_>,
    ) -> Result<Self, LeaderError> {
        let flow = model.flow_of(start, budget)?;
        let first = hint.first_prices(model.problem);
        let is_hinted = first.is_some();
        let prices = model.count_prices(first.as_ref());
        let way = model.first_tree(&flow, &prices, budget)?;
        let layers = &model.layers;
        let counts = [&layers.broker_nodes[..], &layers.zone_nodes].concat();
        let start = Start {
            flow,
            hint: &way,
            anchors: Some(&counts),
        };
        let mut simplex = Simplex::start(&model.network, start, budget).map_err(|e| match e {
            StartError::Stopped(stop) => LeaderError::Stopped(stop),
            error => LeaderError::Refused(error.to_string()),
        })?;
        simplex.set_blocks(model.layers.arcs_begin.iter().copied());
        let absent = model
            .is_lazy
            .then(|| Absent::new(model.problem, &model.layers));
        Ok(Search {
            model,
            simplex,
            prices,
            is_hinted,
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
        self.model.admit(self.added)?;
        Ok(Found {
            flow: self.simplex.flow().to_vec(),
            is_feasible: self.simplex.is_feasible(),
            potentials,
            stop,
        })
    }

    fn ranks(
        &mut self,
        potentials: &mut Vec<Vec<i64>>,
        budget: &mut Budget<'_>,
    ) -> Result<(), MinimizeError> {
        if self.sweeps() {
            self.sweep(budget)?;
        }
        for rank in 0..self.model.ranks.len() {
            self.simplex.minimize(&self.model.costs[rank], budget)?;
            potentials.push(self.simplex.potentials());
            while self.add_wanted(potentials, budget)? {
                potentials.pop();
                self.simplex.go_on(budget)?;
                potentials.push(self.simplex.potentials());
            }
            self.simplex.restrict();
        }
        Ok(())
    }

    /// Whether a sweep comes before the ranks.
    fn sweeps(&self) -> bool {
        self.model.ranks.first() == Some(&Rank::Weighted)
            && self.model.layers.kept.is_none()
            && (self.is_hinted || self.model.network.arc_count() >= SWEEP_ARCS_MIN)
    }

    /// Solves one stream after another, with prices on counts.
    fn sweep(&mut self, budget: &mut Budget<'_>) -> Result<(), MinimizeError> {
        let model = &*self.model;
        let cost = &model.costs[0];
        let mut sweep = Sweep {
            model,
            relaxed: self.simplex.relax(cost, &self.prices, budget)?,
            absent: self.absent.as_mut(),
            added: &mut self.added,
            step: average(&cost.unit).saturating_mul(STEP),
            counts: self.prices.len() as u64,
            repriced: 0,
        };
        let streams = (0..model.problem.streams.len()).map(StreamId::at);
        let mut streams = streams.map(|s| sweep.solve(s, budget));
        let outcome = streams.find(Result::is_err).unwrap_or(Ok(()));
        sweep.relaxed.close();
        self.extend_costs();
        outcome
    }

    /// Adds the absent exits that would lower the rank minimised last without raising one before. False if there are
    /// none.
    fn add_wanted(
        &mut self,
        potentials: &[Vec<i64>],
        budget: &mut Budget<'_>,
    ) -> Result<bool, MinimizeError> {
        let Some(absent) = &mut self.absent else {
            return Ok(false);
        };
        let before = self.added.len();
        let gain = |hub: NodeId, broker: NodeId| {
            let of = |rank: &Vec<i64>| rank[broker.index()] - rank[hub.index()];
            let mut gains = potentials.iter().map(of);
            gains.find(|&gain| gain != 0).unwrap_or(0)
        };
        let brokers = self.model.problem.brokers.len() as u64;
        for s in (0..self.model.problem.streams.len()).map(StreamId::at) {
            budget.spend(brokers)?;
            for wanted in absent.take_wanted(self.model, s, gain) {
                let head = self.model.layers.broker_nodes[wanted.broker.index()];
                self.simplex.add_arc(wanted.hub, head, wanted.upper);
                self.added.push((s, wanted));
            }
        }
        self.extend_costs();
        Ok(self.added.len() > before)
    }

    /// Added arcs cost nothing.
    fn extend_costs(&mut self) {
        let arcs = self.model.network.arc_count() + self.added.len();
        for cost in self
            .model
            .costs
            .iter_mut()
            .filter(|cost| !cost.unit.is_empty())
        {
            cost.unit.resize(arcs, 0);
        }
    }
}

/// A sweep over the streams.
struct Sweep<'s, 'm, 'p> {
    model: &'m LeaderNetwork<'p>,
    relaxed: Relaxed<'s>,
    absent: Option<&'s mut Absent>,
    added: &'s mut Vec<(StreamId, Wanted)>,
    /// Price of an overload of all that an arc may carry.
    step: i64,
    /// Number of counts.
    counts: u64,
    /// Pivots when the prices were set last.
    repriced: u64,
}

impl Sweep<'_, '_, '_> {
    /// Solves a stream at prices that are up to date.
    fn solve(&mut self, s: StreamId, budget: &mut Budget<'_>) -> Result<(), MinimizeError> {
        if self.relaxed.pivots() - self.repriced >= self.counts / PIVOTS_PART {
            self.repriced = self.relaxed.pivots();
            let step = self.step;
            (self.relaxed)
                .reprice(|(_, high), overload| step.saturating_mul(overload) / high.max(1));
        }
        budget.spend(self.counts)?;
        self.relaxed.solve(block_of(s), budget)?;
        while self.add_wanted(s, budget)? {
            self.relaxed.solve(block_of(s), budget)?;
        }
        Ok(())
    }

    /// Adds the absent exits of a stream that want to enter. False if there are none.
    fn add_wanted(&mut self, s: StreamId, budget: &mut Budget<'_>) -> Result<bool, MinimizeError> {
        let Some(absent) = &mut self.absent else {
            return Ok(false);
        };
        let relaxed = &mut self.relaxed;
        let gain = |hub, broker| relaxed.potential(broker) - relaxed.potential(hub);
        let wanted = absent.take_wanted(self.model, s, gain);
        for &wanted in &wanted {
            let head = self.model.layers.broker_nodes[wanted.broker.index()];
            let arc = relaxed.add_arc(wanted.hub, head, wanted.upper);
            self.added.push((s, wanted));
            relaxed.enter(arc, budget)?;
        }
        Ok(!wanted.is_empty())
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

impl LeaderNetwork<'_> {
    /// The arcs from the counts of zones and brokers, where they are both leaders and replicas, with first prices.
    fn count_prices(&self, first: Option<&FirstPrices>) -> Vec<(ArcId, i64)> {
        let of = |nodes: &[NodeId], prices: Option<&Vec<i64>>| -> Vec<(ArcId, i64)> {
            let arcs = nodes.iter().map(|node| self.way[node.index()]);
            let price = |at: usize| prices.map_or(0, |prices| prices[at]);
            let priced = arcs.enumerate().map(|(at, arc)| Some((arc?, price(at))));
            priced.flatten().collect()
        };
        let zones = of(&self.layers.zone_nodes, first.map(|first| &first.zones));
        let brokers = of(&self.layers.broker_nodes, first.map(|first| &first.brokers));
        [zones, brokers].concat()
    }

    /// Puts exits that were added to the engine into the network, in the same order.
    ///
    /// # Errors
    /// What the network refused.
    fn admit(&mut self, added: Vec<(StreamId, Wanted)>) -> Result<(), String> {
        if added.is_empty() {
            return Ok(());
        }
        let mut builder = std::mem::take(&mut self.network).into_builder();
        let mut exits = Vec::with_capacity(added.len());
        for (s, Wanted { broker, hub, upper }) in added {
            let head = self.layers.broker_nodes[broker.index()];
            let arc = builder.add_arc(hub, head, 0, upper);
            let exit = Exit {
                broker,
                slot: None,
                hub_arc: Some(arc),
                out: arc,
            };
            exits.push((s, exit));
        }
        self.network = builder.build().map_err(|error| error.to_string())?;
        self.layers.admit(exits);
        Ok(())
    }
}
