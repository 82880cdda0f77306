//! Rendezvous scores: every shard ranks the brokers in an order of its own.
//!
//! `score(shard, broker) = xxh3_64(broker, seed = xxh3_64(shard))`. The two ids are hashed apart, so ("ab", "c")
//! and ("a", "bc") have nothing in common, and a shard's id is hashed once for all brokers. The value depends on
//! the ids alone: it is part of the plan's contract and must not change between versions.
//!
//! The broker of the highest score comes first; equal scores are settled by the broker's id, the lower first.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Score of a broker for a shard, by their ids as listed.
pub fn score(shard: &str, broker: &str) -> u64 {
    Seed::of(shard).score(broker)
}

/// A shard's half of the score, for scoring many brokers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seed(u64);

impl Seed {
    /// The half that belongs to the shard.
    pub fn of(shard: &str) -> Self {
        Seed(xxh3_64(shard.as_bytes()))
    }
    /// Score of a broker.
    #[inline]
    pub fn score(self, broker: &str) -> u64 {
        xxh3_64_with_seed(broker.as_bytes(), self.0)
    }
}
