//! Leaders and replicas of brokers, zones, and streams on brokers: caps, breaches, spreads, zone minima.

use smallvec::SmallVec;

use crate::cost::Rank;
use crate::snapshot::{Band, Limits, Problem, StreamId};

use super::super::program::{Column, Program, Row, Terms};
use super::{Choice, Fixed};

/// What one count costs in each rank that looks at it; convex in every one.
struct Price {
    /// Each unit above costs one in rank 3.
    above: Option<u32>,
    /// Each unit below costs one in rank 7.
    below: i64,
    /// Distance outside costs its square in the rank.
    band: Option<(Rank, Band)>,
}

type Costs = SmallVec<[(Rank, i64); 3]>;

impl Price {
    fn new(above: Option<u32>, rank: Rank, band: Option<Band>) -> Self {
        Price {
            above,
            below: 0,
            band: band.map(|band| (rank, band)),
        }
    }

    /// What one more than `count` costs over `count`.
    fn slopes(&self, count: i64) -> Costs {
        let mut slopes = Costs::new();
        if let Some(cap) = self.above {
            slopes.push((Rank::Breaches, i64::from(count >= i64::from(cap))));
        }
        if self.below > 0 {
            let is_short = i64::from(count < self.below);
            slopes.push((Rank::ZoneMinimumShortfall, -is_short));
        }
        if let Some((rank, band)) = self.band {
            slopes.push((rank, band.squared(count + 1) - band.squared(count)));
        }
        slopes
    }
}

/// A count over free shards.
#[derive(Clone, Default)]
struct Count {
    terms: Terms,
    /// Most of it: a shard counts once on a broker, however many decisions it has there.
    most: i64,
}

impl Count {
    fn add(&mut self, columns: impl Iterator<Item = Column>) {
        self.terms.extend(columns.map(|column| (column, 1)));
        self.most += 1;
    }

    /// Adds the rules of the count, of which `offset` is held by other shards and `cap` is the most in force.
    fn rule(self, offset: i64, cap: i64, price: &Price, program: &mut Program) {
        let fits = self.most.min(cap.saturating_sub(offset));
        if self.terms.is_empty() {
            return;
        }
        let mut widths: Vec<i64> = Vec::new();
        let mut slopes: Vec<Costs> = Vec::new();
        for count in offset..offset.saturating_add(fits) {
            let slope = price.slopes(count);
            match slopes.last() {
                Some(last) if *last == slope => widths[slopes.len() - 1] += 1,
                _ => {
                    widths.push(1);
                    slopes.push(slope);
                }
            }
        }
        let is_priced = slopes.iter().flatten().any(|&(_, cost)| cost != 0);
        if !is_priced {
            if fits < self.most {
                program.add_row(Row::at_most(self.terms, fits));
            }
            return;
        }
        let columns = program.add_fill(self.terms, 0, &widths, true);
        for (column, costs) in columns.zip(slopes) {
            for (rank, cost) in costs {
                program.add_cost(rank, Column(column), cost);
            }
        }
    }
}

/// Leaders and replicas.
#[derive(Clone, Default)]
struct Pair {
    leaders: Count,
    replicas: Count,
}

/// Adds all counts.
pub(super) fn add(problem: &Problem, choices: &[Choice], fixed: &Fixed<'_>, program: &mut Program) {
    let mut brokers = vec![Pair::default(); problem.brokers.len()];
    let mut zones = vec![Pair::default(); problem.zones.len()];
    collect(problem, choices, |broker| broker, &mut brokers);
    let zone_of = |broker: usize| problem.brokers[broker].zone.index();
    collect(problem, choices, zone_of, &mut zones);
    add_brokers(problem, brokers, fixed, program);
    add_zones(problem, zones, fixed, program);
    let by_stream =
        choices.chunk_by(|a, b| problem.shard(a.id).stream == problem.shard(b.id).stream);
    for choices in by_stream {
        add_stream(problem, choices, fixed, program);
    }
}

/// Sorts decisions into counts. Where every replica stays, replicas are not counted.
fn collect(
    problem: &Problem,
    choices: &[Choice],
    place: impl Fn(usize) -> usize,
    counts: &mut [Pair],
) {
    let is_leadership = problem.policy.roles == crate::snapshot::Roles::LeadershipOnly;
    for candidate in choices.iter().flat_map(|choice| &choice.candidates) {
        let pair = &mut counts[place(candidate.broker.index())];
        pair.leaders.add(std::iter::once(candidate.lead));
        if !is_leadership {
            pair.replicas.add(candidate.holds());
        }
    }
}

fn add_brokers(problem: &Problem, counts: Vec<Pair>, fixed: &Fixed<'_>, program: &mut Program) {
    let in_force = &problem.limits.in_force;
    for (id, pair) in problem.broker_ids().zip(counts) {
        let (at, broker) = (id.index(), problem.broker(id));
        let band = problem.cluster_leader_band(id);
        let price = Price::new(broker.max_leaders, Rank::ClusterLeaderSpread, band);
        let (offset, cap) = (fixed.counts.leaders[at], in_force.leaders[at]);
        pair.leaders.rule(offset, cap, &price, program);
        let band = problem.cluster_replica_band(id);
        let price = Price::new(broker.max_replicas, Rank::ClusterReplicaSpread, band);
        let (offset, cap) = (fixed.counts.replicas[at], in_force.replicas[at]);
        pair.replicas.rule(offset, cap, &price, program);
    }
}

fn add_zones(problem: &Problem, counts: Vec<Pair>, fixed: &Fixed<'_>, program: &mut Program) {
    let in_force = &problem.limits.in_force;
    for (at, (zone, pair)) in problem.zones.iter().zip(counts).enumerate() {
        let price = Price {
            above: zone.max_leaders,
            below: i64::from(zone.min_leaders),
            band: None,
        };
        let (offset, cap) = (fixed.counts.zone_leaders[at], in_force.zone_leaders[at]);
        pair.leaders.rule(offset, cap, &price, program);
        let price = Price {
            above: zone.max_replicas,
            below: 0,
            band: None,
        };
        let (offset, cap) = (fixed.counts.zone_replicas[at], in_force.zone_replicas[at]);
        pair.replicas.rule(offset, cap, &price, program);
    }
}

/// Ranks 8 and 10 of the stream that all these shards are of.
fn add_stream(problem: &Problem, choices: &[Choice], fixed: &Fixed<'_>, program: &mut Program) {
    let policy = &problem.policy;
    if policy.stream_leaders.is_none() && policy.stream_replicas.is_none() {
        return;
    }
    let id = problem.shard(choices[0].id).stream;
    let mut counts = vec![Pair::default(); problem.brokers.len()];
    collect(problem, choices, |broker| broker, &mut counts);
    let offsets = stream_offsets(problem, id, fixed);
    for (broker, pair) in problem.broker_ids().zip(counts) {
        let (leaders, replicas) = offsets[broker.index()];
        let band = problem.stream_leader_band(id, broker);
        let price = Price::new(None, Rank::StreamLeaderSpread, band);
        pair.leaders.rule(leaders, Limits::NONE, &price, program);
        let band = problem.stream_replica_band(id, broker);
        let price = Price::new(None, Rank::StreamReplicaSpread, band);
        pair.replicas.rule(replicas, Limits::NONE, &price, program);
    }
}

/// Leaders and live replicas of a stream's shards that are not free, by broker.
fn stream_offsets(problem: &Problem, id: StreamId, fixed: &Fixed<'_>) -> Vec<(i64, i64)> {
    let mut offsets = vec![(0, 0); problem.brokers.len()];
    let shards = problem.stream(id).shards.clone();
    for at in (shards.start as usize..shards.end as usize).filter(|&at| !fixed.is_free[at]) {
        let assignment = &fixed.start[at];
        for broker in problem.live(assignment) {
            offsets[broker.index()].1 += 1;
        }
        if let Some(leader) = assignment.leader.filter(|&b| problem.is_live(b)) {
            offsets[leader.index()].0 += 1;
        }
    }
    offsets
}
