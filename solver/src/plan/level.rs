//! How level the counts are while the moves are put in order: which move serves a spread, and which counts change.
//!
//! A *cell* is a count of leaders and replicas with its bands: per (stream, broker) that a change touches for ranks 8
//! and 10, per broker for ranks 9 and 11. Memory is O(changes + brokers); cells are found by binary search.
//!
//! A move serves a spread where it lowers its two ranks, compared lexicographically, or leaves them as they are while it
//! heals a cell that ends nearer to its band (likewise for rank 12, a load above its cap): the first of a chain of moves (from a broker above its band to one at the
//! brim, from there to one below) lowers nothing yet, but without it the chain doesn't.

use super::SpreadRow;
use crate::budget::{Pace, Stop};
use crate::snapshot::{
    Assignment, Band, BrokerId, Counts, Dimension, Loads, Problem, Shard, ShardId, StreamId,
    balance_caps,
};

/// What a change of one shard does to the counts of one broker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shift {
    pub(super) broker: BrokerId,
    /// `None` where the broker only lends room to the stream.
    pub(super) cell: Option<u32>,
    pub(super) leaders: i64,
    pub(super) replicas: i64,
}

/// A count at the start, as the moves so far leave it, and at the end.
#[derive(Clone, Copy, Debug)]
struct Tally {
    first: i64,
    now: i64,
    last: i64,
    band: Option<Band>,
}

impl Tally {
    fn new(first: i64, last: i64, band: Option<Band>) -> Self {
        Tally {
            first,
            now: first,
            last,
            band,
        }
    }
    /// Change of the squared distance when `by` is added, and whether that heals the count for good.
    fn change(&self, by: i64) -> (i64, bool) {
        let Some(band) = self.band.filter(|_| by != 0) else {
            return (0, false);
        };
        let before = band.distance(self.now);
        let after = band.distance(self.now + by);
        let heals = after < before && band.distance(self.last) < before;
        (after * after - before * before, heals)
    }
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    broker: BrokerId,
    leaders: Tally,
    replicas: Tally,
}

/// Whose counts are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scope {
    /// Ranks 8 and 10.
    Stream,
    /// Ranks 9 and 11.
    Cluster,
    /// The load of rank 12.
    Load,
}

/// The load that rank 12 looks at, by broker.
struct Load {
    dimension: Dimension,
    caps: Vec<Option<i64>>,
    now: Vec<i64>,
    last: Vec<i64>,
}

impl Load {
    fn new(problem: &Problem, last: &Loads) -> Option<Self> {
        let dimension = problem.policy.balance?.dimension;
        let caps = balance_caps(problem);
        (!caps.is_empty()).then(|| Load {
            dimension,
            caps,
            now: problem.limits.present_loads.of(dimension).to_vec(),
            last: last.of(dimension).to_vec(),
        })
    }

    fn of(&self, shard: &Shard, shift: &Shift) -> i64 {
        match self.dimension {
            Dimension::Rate => shift.leaders * shard.rate,
            Dimension::Bytes => shift.replicas * shard.size_bytes,
        }
    }

    fn serves(&self, shard: &Shard, shifts: &[Shift]) -> bool {
        let mut sum = 0;
        let mut heals = false;
        for shift in shifts {
            let at = shift.broker.index();
            let Some(cap) = self.caps[at] else { continue };
            let excess = |load: i64| (load - cap).max(0);
            let before = excess(self.now[at]);
            let after = excess(self.now[at] + self.of(shard, shift));
            sum += after - before;
            heals |= after < before && excess(self.last[at]) < before;
        }
        sum < 0 || (sum == 0 && heals)
    }

    fn apply(&mut self, shard: &Shard, shifts: &[Shift]) {
        for shift in shifts {
            let by = self.of(shard, shift);
            self.now[shift.broker.index()] += by;
        }
    }
}

/// Leaders and live replicas of one stream on a broker, each now and in the plan.
#[derive(Clone, Copy, Default)]
struct StreamCount {
    leaders: [i64; 2],
    replicas: [i64; 2],
    /// A change touches it.
    is_touched: bool,
}

/// The running counts.
pub(super) struct Level {
    /// By stream, then broker.
    cells: Vec<Cell>,
    /// By stream: where its cells begin; one more at the end.
    starts: Vec<u32>,
    /// By broker.
    cluster: Vec<Cell>,
    /// `None` where nothing is balanced.
    load: Option<Load>,
}

impl Level {
    /// The counts of the present layout; `changed` lists the shards that differ, in canonical order.
    pub(super) fn new(
        problem: &Problem,
        placement: &[Assignment],
        changed: &[ShardId],
        (last, loads): &(Counts, Loads),
        pace: &mut Pace<'_>,
    ) -> Result<Self, Stop> {
        let first = &problem.limits.present;
        let cluster = problem
            .broker_ids()
            .map(|broker| {
                let b = broker.index();
                let leaders = problem.cluster_leader_band(broker);
                let replicas = problem.cluster_replica_band(broker);
                Cell {
                    broker,
                    leaders: Tally::new(first.leaders[b], last.leaders[b], leaders),
                    replicas: Tally::new(first.replicas[b], last.replicas[b], replicas),
                }
            })
            .collect();
        let mut level = Level {
            cells: Vec::new(),
            starts: vec![0; problem.streams.len() + 1],
            cluster,
            load: Load::new(problem, loads),
        };
        let mut counts = vec![StreamCount::default(); problem.brokers.len()];
        for of_stream in
            changed.chunk_by(|&a, &b| problem.shard(a).stream == problem.shard(b).stream)
        {
            level.add_stream(problem, placement, of_stream, &mut counts, pace)?;
        }
        for s in 1..level.starts.len() {
            level.starts[s] = level.starts[s].max(level.starts[s - 1]);
        }
        Ok(level)
    }

    /// Adds the cells that changes of a stream touch. `counts`, by broker, are all zero before and after.
    fn add_stream(
        &mut self,
        problem: &Problem,
        placement: &[Assignment],
        changed: &[ShardId],
        counts: &mut [StreamCount],
        pace: &mut Pace<'_>,
    ) -> Result<(), Stop> {
        let Some(&any) = changed.first() else {
            return Ok(());
        };
        let stream = problem.shard(any).stream;
        let mut touched: Vec<BrokerId> = Vec::new();
        for &shard in changed {
            pace.step(1)?;
            let present = problem.live(&problem.shard(shard).present);
            for b in present.chain(problem.live(&placement[shard.index()])) {
                let count = &mut counts[b.index()];
                if !std::mem::replace(&mut count.is_touched, true) {
                    touched.push(b);
                }
            }
        }
        for shard in problem.stream(stream).shards.clone() {
            pace.step(1)?;
            let shard = shard as usize;
            let sides = [&problem.shards[shard].present, &placement[shard]];
            for (side, assignment) in sides.into_iter().enumerate() {
                for b in problem.live(assignment) {
                    counts[b.index()].replicas[side] += 1;
                }
                if let Some(b) = assignment.leader.filter(|&b| problem.is_live(b)) {
                    counts[b.index()].leaders[side] += 1;
                }
            }
        }
        touched.sort_unstable();
        for broker in touched {
            let StreamCount {
                leaders, replicas, ..
            } = counts[broker.index()];
            let leader_band = problem.stream_leader_band(stream, broker);
            let replica_band = problem.stream_replica_band(stream, broker);
            self.cells.push(Cell {
                broker,
                leaders: Tally::new(leaders[0], leaders[1], leader_band),
                replicas: Tally::new(replicas[0], replicas[1], replica_band),
            });
        }
        for shard in problem.stream(stream).shards.clone() {
            let shard = shard as usize;
            let present = problem.shards[shard].present.replicas();
            for b in present.chain(placement[shard].replicas()) {
                counts[b.index()] = StreamCount::default();
            }
        }
        self.starts[stream.index() + 1] = self.cells.len() as u32;
        Ok(())
    }

    /// The cell of a broker, if a change of the stream touches it.
    pub(super) fn cell(&self, stream: StreamId, broker: BrokerId) -> Option<u32> {
        let start = self.starts[stream.index()] as usize;
        let end = self.starts[stream.index() + 1] as usize;
        let cells = &self.cells[start..end];
        let at = cells.binary_search_by_key(&broker, |cell| cell.broker);
        at.ok().map(|at| (start + at) as u32)
    }

    /// Whether a change of the shard serves the spread in that scope.
    pub(super) fn serves(&self, scope: Scope, shard: &Shard, shifts: &[Shift]) -> bool {
        if scope == Scope::Load {
            let load = self.load.as_ref();
            return load.is_some_and(|load| load.serves(shard, shifts));
        }
        let mut sums = (0, 0);
        let mut heals = false;
        for shift in shifts {
            let cell = match (scope, shift.cell) {
                (Scope::Stream, Some(cell)) => &self.cells[cell as usize],
                (Scope::Stream, None) => continue,
                (Scope::Cluster | Scope::Load, _) => &self.cluster[shift.broker.index()],
            };
            let leaders = cell.leaders.change(shift.leaders);
            let replicas = cell.replicas.change(shift.replicas);
            sums = (sums.0 + leaders.0, sums.1 + replicas.0);
            heals |= leaders.1 || replicas.1;
        }
        sums < (0, 0) || (sums == (0, 0) && heals)
    }

    /// Counts a change of the shard.
    pub(super) fn apply(&mut self, shard: &Shard, shifts: &[Shift]) {
        if let Some(load) = &mut self.load {
            load.apply(shard, shifts);
        }
        for shift in shifts {
            let of_stream = shift.cell.map(|cell| &mut self.cells[cell as usize]);
            let of_cluster = &mut self.cluster[shift.broker.index()];
            for cell in of_stream.into_iter().chain([of_cluster]) {
                cell.leaders.now += shift.leaders;
                cell.replicas.now += shift.replicas;
            }
        }
    }

    /// The (stream, broker) counts that differ between present layout and plan, sorted.
    pub(super) fn rows(&self) -> Vec<SpreadRow> {
        let mut rows = Vec::new();
        for (s, bounds) in self.starts.windows(2).enumerate() {
            for cell in &self.cells[bounds[0] as usize..bounds[1] as usize] {
                let leaders = (cell.leaders.first, cell.leaders.last);
                let replicas = (cell.replicas.first, cell.replicas.last);
                if leaders.0 != leaders.1 || replicas.0 != replicas.1 {
                    rows.push(SpreadRow {
                        stream: StreamId::at(s),
                        broker: cell.broker,
                        leaders,
                        replicas,
                    });
                }
            }
        }
        rows
    }
}
