//! The leaders that may move, listed where a move looks for them.

use std::collections::HashMap;

use crate::greedy::tally::{Origin, Tally};
use crate::snapshot::{BrokerId, ShardId, StreamId};

/// A shard with what a look at it needs, so that most looks stay within the list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) shard: ShardId,
    pub(super) stream: StreamId,
    pub(super) origin: Origin,
    /// Has no followers; moves of the lead don't change that.
    pub(super) is_alone: bool,
}

/// Leaders that may move, by broker.
pub(super) struct Led {
    pub(super) by_broker: Vec<Vec<Listed>>,
    /// Where the last look at the broker's shards ended.
    pub(super) cursor: Vec<usize>,
    /// Where replicas stay, only a follower can take the lead: the shards by leader and follower.
    pub(super) by_pair: Option<HashMap<(BrokerId, BrokerId), Vec<Listed>>>,
}

impl Led {
    pub(super) fn new(tally: &Tally<'_>) -> Self {
        let brokers = tally.problem.brokers.len();
        Led {
            by_broker: vec![Vec::new(); brokers],
            cursor: vec![0; brokers],
            by_pair: tally.keeps_replicas().then(HashMap::new),
        }
    }
    pub(super) fn clear(&mut self) {
        self.by_broker.iter_mut().for_each(Vec::clear);
        self.cursor.fill(0);
        if let Some(pairs) = &mut self.by_pair {
            pairs.clear();
        }
    }
    /// Lists the leaders of a stream.
    pub(super) fn add_stream(&mut self, tally: &Tally<'_>, stream: StreamId) {
        let shards = tally.problem.stream(stream).shards.clone();
        for shard in shards.map(ShardId) {
            let layout = tally.of(shard);
            if let Some(b) = layout.leader
                && !tally.is_pinned(shard)
            {
                let entry = Listed {
                    shard,
                    stream,
                    origin: tally.origin(shard),
                    is_alone: layout.followers.is_empty(),
                };
                self.by_broker[b.index()].push(entry);
                if self.by_pair.is_some() {
                    self.pair(tally, entry);
                }
            }
        }
    }
    /// Lists a shard under its leader and each of its followers.
    pub(super) fn pair(&mut self, tally: &Tally<'_>, entry: Listed) {
        let layout = tally.of(entry.shard);
        if let (Some(pairs), Some(leader)) = (&mut self.by_pair, layout.leader) {
            for &follower in &layout.followers {
                pairs.entry((leader, follower)).or_default().push(entry);
            }
        }
    }
    /// Takes a shard out of those lists.
    pub(super) fn unpair(&mut self, tally: &Tally<'_>, entry: Listed) {
        let layout = tally.of(entry.shard);
        if let (Some(pairs), Some(leader)) = (&mut self.by_pair, layout.leader) {
            for &follower in &layout.followers {
                if let Some(list) = pairs.get_mut(&(leader, follower))
                    && let Some(at) = list.iter().position(|listed| *listed == entry)
                {
                    list.swap_remove(at);
                }
            }
        }
    }
    /// The shards led by `from` that may be handed to `to`, caps and rules aside.
    pub(super) fn candidates(&self, from: BrokerId, to: BrokerId) -> &[Listed] {
        match &self.by_pair {
            Some(pairs) => pairs.get(&(from, to)).map_or(&[], Vec::as_slice),
            None => &self.by_broker[from.index()],
        }
    }
}
