//! Exits that the network does without until a price asks for them.
//!
//! Most of streams × brokers carry nothing in any good plan: a stream of 50 shards uses 50 of 1,000 brokers. Where a
//! stream has no slot on a broker, the arc from the hub is left out, unless the start uses it or the stream needs a
//! leader there; each hub keeps one more, so that all nodes have a way to the sink. An absent exit costs nothing, so it
//! is content where its hub is priced no higher than its broker, rank after rank. Those that are not are added, and
//! the rank goes on: that ends, since no exit is added twice, and then the optimum is that of the whole network.
//!
//! Only where all ranks before `weighted` are held: what an exit costs in them is then a bound.
//!
//! Complexity: O(brokers) a stream, with a potential looked up for each.

use super::{Layers, LeaderNetwork, active_by_zone};
use crate::network::NodeId;
use crate::snapshot::{BrokerId, Problem, StreamId};
use std::cmp::Reverse;

/// Which exits a network has, and where others could go.
pub(super) struct Absent {
    /// Stream × broker; also where there can't be one.
    is_present: Vec<bool>,
    /// By zone, brokers that take new replicas.
    brokers: Vec<Vec<BrokerId>>,
}

/// An exit to add.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wanted {
    pub(super) broker: BrokerId,
    pub(super) hub: NodeId,
    /// Most leaders of the stream there.
    pub(super) upper: i64,
}

impl Absent {
    pub(super) fn new(problem: &Problem, layers: &Layers) -> Self {
        let width = problem.brokers.len();
        let mut is_present = vec![false; problem.streams.len() * width];
        for s in (0..problem.streams.len()).map(StreamId::at) {
            for exit in layers.exits(s) {
                is_present[s.index() * width + exit.broker.index()] = true;
            }
        }
        Absent {
            is_present,
            brokers: active_by_zone(problem),
        }
    }

    /// The absent exits of a stream that would gain something, by what a unit on them would gain; of each hub the best
    /// few. They count as present from now on.
    pub(super) fn take_wanted(
        &mut self,
        model: &LeaderNetwork<'_>,
        s: StreamId,
        gain: impl Fn(NodeId, NodeId) -> i64,
    ) -> Vec<Wanted> {
        let problem = model.problem;
        let row = s.index() * problem.brokers.len();
        let hubs = model.layers.hubs_of(problem, s);
        let shards = problem.stream(s).shards.len();
        let most = 1 + shards / (4 * problem.zones.len());
        let mut wanted = Vec::new();
        let mut gaining: Vec<(i64, Wanted)> = Vec::new();
        for (z, hub) in hubs.iter().enumerate() {
            let Some(hub) = *hub else { continue };
            gaining.clear();
            for &broker in &self.brokers[z] {
                let gain = gain(hub, model.layers.broker_nodes[broker.index()]);
                let is_present = &mut self.is_present[row + broker.index()];
                if gain <= 0 || *is_present {
                    continue;
                }
                if problem.may_enter(s, broker) {
                    let upper = upper(problem, s, broker);
                    gaining.push((gain, Wanted { broker, hub, upper }));
                } else {
                    // Never to be looked at again.
                    *is_present = true;
                }
            }
            gaining.sort_unstable_by_key(|&(gain, of)| (Reverse(gain), of.broker));
            gaining.truncate(most);
            for &(_, of) in &gaining {
                self.is_present[row + of.broker.index()] = true;
                wanted.push(of);
            }
        }
        wanted
    }
}

/// Whether the network needs the exit from the start, given that no shard of the stream is pinned or sits there.
pub(super) fn is_needed(problem: &Problem, s: StreamId, b: BrokerId) -> bool {
    let band = problem.stream_leader_band(s, b);
    band.is_some_and(|band| band.low > 0)
}

/// Most leaders of the stream on the broker, one more than can flow where there is no ceiling. An exit that a ceiling of
/// zero closes is added all the same: it needs a price.
fn upper(problem: &Problem, s: StreamId, b: BrokerId) -> i64 {
    let all = problem.stream(s).shards.len() as i64 + 1;
    let band = problem.stream_leader_band(s, b);
    band.map_or(all, |band| all.min(band.high))
}
