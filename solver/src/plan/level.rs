//! How level the counts are while the moves are put in order: which move serves a spread, and which counts change.
//!
//! A *cell* is a count of leaders and replicas with its bands: per (stream, broker) that a change touches for ranks 8
//! and 10, per broker for ranks 9 and 11. Memory is O(changes + brokers); cells are found by binary search.
//!
//! A move serves a spread where it lowers its two ranks, compared lexicographically, or leaves them as they are while it
//! heals a cell that ends nearer to its band: the first of a chain of moves (from a broker above its band to one at the
//! brim, from there to one below) lowers nothing yet, but without it the chain doesn't.

use super::SpreadRow;
use crate::snapshot::{Assignment, Band, BrokerId, Counts, Problem, ShardId, StreamId};

/// What a change of one shard does to the counts of one broker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shift {
    pub(super) broker: BrokerId,
    pub(super) cell: u32,
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
}

/// The running counts.
pub(super) struct Level {
    /// By stream, then broker.
    cells: Vec<Cell>,
    /// By stream: where its cells begin; one more at the end.
    starts: Vec<u32>,
    /// By broker.
    cluster: Vec<Cell>,
}

impl Level {
    /// The counts of the present layout; `changed` lists the shards that differ, in canonical order.
    pub(super) fn new(
        problem: &Problem,
        placement: &[Assignment],
        changed: &[ShardId],
        last: &Counts,
    ) -> Self {
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
        };
        for of_stream in
            changed.chunk_by(|&a, &b| problem.shard(a).stream == problem.shard(b).stream)
        {
            level.add_stream(problem, placement, of_stream);
        }
        for s in 1..level.starts.len() {
            level.starts[s] = level.starts[s].max(level.starts[s - 1]);
        }
        level
    }

    fn add_stream(&mut self, problem: &Problem, placement: &[Assignment], changed: &[ShardId]) {
        let Some(&any) = changed.first() else { return };
        let stream = problem.shard(any).stream;
        let mut touched = vec![false; problem.brokers.len()];
        for &shard in changed {
            let present = problem.live(&problem.shard(shard).present);
            for b in present.chain(problem.live(&placement[shard.index()])) {
                touched[b.index()] = true;
            }
        }
        let mut first = Counts::zero(problem.brokers.len(), problem.zones.len());
        let mut last = first.clone();
        for shard in problem.stream(stream).shards.clone() {
            let shard = shard as usize;
            first.add(&problem.brokers, &problem.shards[shard].present, 1);
            last.add(&problem.brokers, &placement[shard], 1);
        }
        for broker in problem.broker_ids().filter(|b| touched[b.index()]) {
            let b = broker.index();
            let leaders = problem.stream_leader_band(stream, broker);
            let replicas = problem.stream_replica_band(stream, broker);
            self.cells.push(Cell {
                broker,
                leaders: Tally::new(first.leaders[b], last.leaders[b], leaders),
                replicas: Tally::new(first.replicas[b], last.replicas[b], replicas),
            });
        }
        self.starts[stream.index() + 1] = self.cells.len() as u32;
    }

    /// The cell of a broker that a change of the stream touches.
    pub(super) fn cell(&self, stream: StreamId, broker: BrokerId) -> u32 {
        let start = self.starts[stream.index()] as usize;
        let end = self.starts[stream.index() + 1] as usize;
        let at = self.cells[start..end].partition_point(|cell| cell.broker < broker);
        (start + at) as u32
    }

    /// Whether a change serves the spread in that scope.
    pub(super) fn serves(&self, scope: Scope, shifts: &[Shift]) -> bool {
        let mut sums = (0, 0);
        let mut heals = false;
        for shift in shifts {
            let cell = match scope {
                Scope::Stream => &self.cells[shift.cell as usize],
                Scope::Cluster => &self.cluster[shift.broker.index()],
            };
            let leaders = cell.leaders.change(shift.leaders);
            let replicas = cell.replicas.change(shift.replicas);
            sums = (sums.0 + leaders.0, sums.1 + replicas.0);
            heals |= leaders.1 || replicas.1;
        }
        sums < (0, 0) || (sums == (0, 0) && heals)
    }

    /// Counts a change.
    pub(super) fn apply(&mut self, shifts: &[Shift]) {
        for shift in shifts {
            for cell in [
                &mut self.cells[shift.cell as usize],
                &mut self.cluster[shift.broker.index()],
            ] {
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
