//! The rows of the joint program: counts with their caps and squares, loads, `max_moves`.

use shardflow_solver::cost::Rank;
use shardflow_solver::snapshot::{BrokerState, Dimension, Shard, Stream, ZoneId};

use super::choices::Choice;
use super::facts::{Counted, balance_cap, band, gcd, load, load_cap, load_now, share_total};
use super::joint::Joint;
use super::program::{Column, Terms};

/// A cap: as configured, and in force given what is there now.
struct Cap {
    value: i64,
    now: i64,
}

impl Cap {
    fn new(value: u32, now: i64) -> Self {
        let value = i64::from(value);
        Cap { value, now }
    }
}

impl Joint<'_> {
    pub(super) fn add_counts(&mut self, counted: Counted) {
        let problem = self.problem;
        let (policy, brokers) = (&problem.policy, &problem.brokers);
        let (stream_rank, cluster_rank, stream_spread, cluster_spread) = match counted {
            Counted::Leaders => (
                Rank::StreamLeaderSpread,
                Rank::ClusterLeaderSpread,
                policy.stream_leaders,
                policy.cluster_leaders,
            ),
            Counted::Replicas => (
                Rank::StreamReplicaSpread,
                Rank::ClusterReplicaSpread,
                policy.stream_replicas,
                policy.cluster_replicas,
            ),
        };
        let wanted = |stream: &Stream| match counted {
            Counted::Leaders => i64::from(stream.shards.end - stream.shards.start),
            Counted::Replicas => {
                i64::from(stream.shards.end - stream.shards.start)
                    * i64::from(stream.replication_factor)
            }
        };
        let is_active = |b: usize| brokers[b].state == BrokerState::Active;
        let mut of_zones = vec![Terms::new(); problem.zones.len()];
        let mut now_in_zones = vec![0; problem.zones.len()];
        for (b, broker) in brokers.iter().enumerate() {
            let mut of_broker = Terms::new();
            for stream in &problem.streams {
                let shards = stream.shards.start as usize..stream.shards.end as usize;
                let most = shards.len() as i64;
                let terms = self.sum(shards, |_, choice| counted.at(choice, b));
                let total = self.total(terms, most);
                of_broker.push((total, 1));
                if let Some(spread) = stream_spread.filter(|_| is_active(b) && stream.open[b]) {
                    let shares = (broker.share, share_total(problem, Some(stream)));
                    self.add_band(stream_rank, total, band(wanted(stream), shares, spread));
                }
            }
            let total = self.total(of_broker, problem.shards.len() as i64);
            of_zones[broker.zone.index()].push((total, 1));
            let now = counted.now(problem, b);
            now_in_zones[broker.zone.index()] += now;
            if let Some(cap) = counted.cap(broker.max_leaders, broker.max_replicas) {
                self.add_cap(total, &Cap::new(cap, now));
            }
            if let Some(spread) = cluster_spread.filter(|_| is_active(b)) {
                let all = problem.streams.iter().map(wanted).sum();
                let shares = (broker.share, share_total(problem, None));
                self.add_band(cluster_rank, total, band(all, shares, spread));
            }
        }
        for (z, terms) in of_zones.into_iter().enumerate() {
            self.add_zone(ZoneId::at(z), terms, counted, now_in_zones[z]);
        }
    }

    fn add_zone(&mut self, id: ZoneId, terms: Terms, counted: Counted, now: i64) {
        let zone = &self.problem.zones[id.index()];
        let most = (self.problem.shards.len() * self.problem.brokers.len()) as i64;
        let total = self.total(terms, most);
        if let Some(cap) = counted.cap(zone.max_leaders, zone.max_replicas) {
            self.add_cap(total, &Cap::new(cap, now));
        }
        if matches!(counted, Counted::Replicas) {
            return;
        }
        let least = i64::from(zone.min_leaders);
        let short = self.program.amount(least);
        (self.program).at_least(vec![(total, 1), (short, 1)], least);
        self.ranks[Rank::ZoneMinimumShortfall as usize].add(short, 1, least);
    }

    fn add_cap(&mut self, total: Column, cap: &Cap) {
        let in_force = cap.value.max(cap.now);
        self.program.at_most(vec![(total, 1)], in_force);
        self.add_excess(Rank::Breaches, total, cap.value, 1, in_force - cap.value);
    }

    /// `unit` times what a total is above a value, of which it can't be above by more than `most`.
    fn add_excess(&mut self, rank: Rank, total: Column, value: i64, unit: i64, most: i64) {
        if most <= 0 {
            return;
        }
        let excess = self.program.amount(most);
        (self.program).at_most(vec![(total, 1), (excess, -1)], value);
        self.ranks[rank as usize].add(excess, unit, most);
    }

    /// The square of how far a total is outside a band.
    fn add_band(&mut self, rank: Rank, total: Column, band: Option<(i64, i64)>) {
        let Some((low, high)) = band else { return };
        let above = self.add_segments(rank, self.program.upper(total) - high);
        let below = self.add_segments(rank, low);
        let with = |by: i64, segments: Vec<Column>| -> Terms {
            let segments = segments.into_iter().map(|column| (column, by));
            segments.chain([(total, 1)]).collect()
        };
        self.program.at_most(with(-1, above), high);
        if low > 0 {
            self.program.at_least(with(1, below), low);
        }
    }

    /// Unit segments that cost 1, 3, 5, …
    fn add_segments(&mut self, rank: Rank, count: i64) -> Vec<Column> {
        let segment = |k: i64| {
            let column = self.program.amount(1);
            self.ranks[rank as usize].add(column, 2 * k - 1, 1);
            column
        };
        (1..=count).map(segment).collect()
    }

    pub(super) fn add_loads(&mut self) {
        let problem = self.problem;
        let balanced = |dimension| {
            problem
                .policy
                .balance
                .is_some_and(|b| b.dimension == dimension)
        };
        for dimension in [Dimension::Bytes, Dimension::Rate] {
            let caps: Vec<Option<i64>> = (0..problem.brokers.len())
                .map(|b| load_cap(problem, dimension, b))
                .collect();
            let levels: Vec<Option<i64>> = (0..problem.brokers.len())
                .map(|b| balance_cap(problem, b).filter(|_| balanced(dimension)))
                .collect();
            let loads = problem.shards.iter().map(|shard| load(dimension, shard));
            let unit = loads
                .chain(caps.iter().chain(&levels).flatten().copied())
                .fold(0, gcd)
                .max(1);
            for (b, (&cap, &level)) in caps.iter().zip(&levels).enumerate() {
                if cap.is_some() || level.is_some() {
                    self.add_load(dimension, b, unit, cap, level);
                }
            }
        }
    }

    /// The load of one broker in units, of which every load, cap and level is a multiple.
    fn add_load(
        &mut self,
        dimension: Dimension,
        b: usize,
        unit: i64,
        cap: Option<i64>,
        level: Option<i64>,
    ) {
        let problem = self.problem;
        let of = |shard: &Shard, choice: &Choice| match dimension {
            Dimension::Bytes => Counted::Replicas.at(choice, b) * shard.size_bytes / unit,
            Dimension::Rate => Counted::Leaders.at(choice, b) * shard.rate / unit,
        };
        let terms = self.sum(0..problem.shards.len(), of);
        let all: i64 = problem
            .shards
            .iter()
            .map(|s| load(dimension, s) / unit)
            .sum();
        let total = self.total(terms, all);
        let mut most = all;
        if let Some(cap) = cap {
            let in_force = cap.max(load_now(problem, dimension, b)) / unit;
            self.program.at_most(vec![(total, 1)], in_force);
            let rank = match dimension {
                Dimension::Bytes => Rank::DiskExcess,
                Dimension::Rate => Rank::RateExcess,
            };
            most = most.min(in_force);
            self.add_excess(rank, total, cap / unit, unit, most - cap / unit);
        }
        if let Some(level) = level {
            let most = most - level / unit;
            self.add_excess(Rank::BalanceExcess, total, level / unit, unit, most);
        }
    }

    pub(super) fn add_max_moves(&mut self) {
        if let Some(most) = self.problem.policy.max_moves {
            let terms = self.sum(0..self.problem.shards.len(), |_, choice| choice.changes);
            self.program.at_most(terms, i64::from(most));
        }
    }
}
