//! The leaders that may move, listed where a move looks for them.

use std::collections::HashMap;

use super::tally::Tally;
use crate::snapshot::{BrokerId, ShardId, StreamId};

/// A shard with its stream at hand.
pub(super) type Listed = (ShardId, StreamId);

/// Leaders that may move, by broker, with their streams at hand: most are passed over for their stream's sake.
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
            if let Some(b) = tally.of(shard).leader
                && !tally.is_pinned(shard)
            {
                self.by_broker[b.index()].push((shard, stream));
                if self.by_pair.is_some() {
                    self.pair(tally, (shard, stream));
                }
            }
        }
    }
    /// Lists a shard under its leader and each of its followers.
    pub(super) fn pair(&mut self, tally: &Tally<'_>, entry: Listed) {
        let layout = tally.of(entry.0);
        if let (Some(pairs), Some(leader)) = (&mut self.by_pair, layout.leader) {
            for &follower in &layout.followers {
                pairs.entry((leader, follower)).or_default().push(entry);
            }
        }
    }
    /// Takes a shard out of those lists.
    pub(super) fn unpair(&mut self, tally: &Tally<'_>, entry: Listed) {
        let layout = tally.of(entry.0);
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
