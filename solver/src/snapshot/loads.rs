//! Bytes and rates of brokers, and how much of them they may have.

use super::{Assignment, Broker, BrokerState, Dimension, Problem, Shard};

/// Bytes and rates per broker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loads {
    /// Bytes of the live replicas, by broker.
    pub bytes: Vec<i64>,
    /// Rates of the shards led, by broker.
    pub rates: Vec<i64>,
}

impl Loads {
    /// All zero.
    pub fn zero(brokers: usize) -> Self {
        Loads {
            bytes: vec![0; brokers],
            rates: vec![0; brokers],
        }
    }

    /// Adds `by` times what an assignment of the shard puts on live brokers.
    pub fn add(&mut self, brokers: &[Broker], shard: &Shard, assignment: &Assignment, by: i64) {
        let is_live = |b: &super::BrokerId| brokers[b.index()].state != BrokerState::Down;
        for b in assignment.replicas().filter(is_live) {
            self.bytes[b.index()] += by * shard.size_bytes;
        }
        if let Some(b) = assignment.leader.filter(is_live) {
            self.rates[b.index()] += by * shard.rate;
        }
    }

    /// The load that a balance looks at, by broker.
    pub fn of(&self, dimension: Dimension) -> &[i64] {
        match dimension {
            Dimension::Rate => &self.rates,
            Dimension::Bytes => &self.bytes,
        }
    }
}

/// By broker, the load above which rank 12 costs: ⌊(100 + tolerance) · total · share / (100 · Σ share)⌋ for `ACTIVE` ones,
/// `None` for others. Empty where nothing is balanced: the policy asks for it not at all, or no share wants anything.
///
/// The total is of all shards as they should be: Σ rate, or Σ size times replication factor.
pub fn balance_caps(problem: &Problem) -> Vec<Option<i64>> {
    let Some(balance) = problem.policy.balance.filter(|_| problem.share_total > 0) else {
        return Vec::new();
    };
    let wanted = |shard: &Shard| match balance.dimension {
        Dimension::Rate => shard.rate as u128,
        Dimension::Bytes => {
            shard.size_bytes as u128 * u128::from(problem.replication_factor(shard.stream))
        }
    };
    let total: u128 = problem.shards.iter().map(wanted).sum();
    let percent = 100 + u128::from(balance.tolerance_percent);
    let cap = |broker: &Broker| {
        // The total is within `i64`, percent and share are below 2³³ and 2³²: the product is below 2¹²⁸.
        let part = percent * total * u128::from(broker.share);
        let cap = part / (100 * u128::from(problem.share_total));
        (broker.state == BrokerState::Active).then_some(i64::try_from(cap).unwrap_or(i64::MAX))
    };
    problem.brokers.iter().map(cap).collect()
}
