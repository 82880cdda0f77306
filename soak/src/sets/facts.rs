//! What the program needs to know of the snapshot, read from the contract: caps, loads, levels, bands.

use shardflow_solver::snapshot::{BrokerState, Dimension, Problem, Shard, Spread, Stream};

use super::choices::Choice;

/// What is counted of the choices.
#[derive(Clone, Copy)]
pub(super) enum Counted {
    Leaders,
    Replicas,
}

impl Counted {
    pub(super) fn at(self, choice: &Choice, b: usize) -> i64 {
        i64::from(match self {
            Counted::Leaders => choice.listed.leader.is_some_and(|l| l.index() == b),
            Counted::Replicas => choice.live.iter().any(|l| l.index() == b),
        })
    }

    pub(super) fn cap(self, leaders: Option<u32>, replicas: Option<u32>) -> Option<u32> {
        match self {
            Counted::Leaders => leaders,
            Counted::Replicas => replicas,
        }
    }

    /// The count of the present layout on a broker.
    pub(super) fn now(self, problem: &Problem, b: usize) -> i64 {
        if problem.brokers[b].state == BrokerState::Down {
            return 0;
        }
        let is_there = |shard: &&Shard| match self {
            Counted::Leaders => shard.present.leader.is_some_and(|l| l.index() == b),
            Counted::Replicas => shard.present.replicas().any(|l| l.index() == b),
        };
        problem.shards.iter().filter(is_there).count() as i64
    }
}

pub(super) fn load(dimension: Dimension, shard: &Shard) -> i64 {
    match dimension {
        Dimension::Bytes => shard.size_bytes,
        Dimension::Rate => shard.rate,
    }
}

/// The load of the present layout on a broker.
pub(crate) fn load_now(problem: &Problem, dimension: Dimension, b: usize) -> i64 {
    let counts = |shard: &&Shard| match dimension {
        Dimension::Bytes => shard.present.replicas().any(|l| l.index() == b),
        Dimension::Rate => shard.present.leader.is_some_and(|l| l.index() == b),
    };
    let there = problem.shards.iter().filter(counts);
    there.map(|shard| load(dimension, shard)).sum()
}

/// Bytes below the watermark that others don't use, or the rate capacity; of live brokers.
pub(crate) fn load_cap(problem: &Problem, dimension: Dimension, b: usize) -> Option<i64> {
    let broker = &problem.brokers[b];
    if broker.state == BrokerState::Down {
        return None;
    }
    let percent = i64::from(problem.policy.disk_watermark_percent);
    match dimension {
        Dimension::Bytes => {
            let filled = broker.disk_bytes? * percent / 100;
            Some(filled - broker.disk_used_bytes)
        }
        Dimension::Rate => broker.rate_capacity,
    }
}

/// The load above which `balance` costs.
pub(crate) fn balance_cap(problem: &Problem, b: usize) -> Option<i64> {
    let balance = problem.policy.balance?;
    let (broker, shares) = (&problem.brokers[b], share_total(problem, None));
    if broker.state != BrokerState::Active || shares == 0 {
        return None;
    }
    let wanted = |shard: &Shard| match balance.dimension {
        Dimension::Rate => shard.rate,
        Dimension::Bytes => {
            let stream = &problem.streams[shard.stream.index()];
            shard.size_bytes * i64::from(stream.replication_factor)
        }
    };
    let total: i64 = problem.shards.iter().map(wanted).sum();
    let percent = 100 + i128::from(balance.tolerance_percent);
    let part = percent * i128::from(total) * i128::from(broker.share);
    i64::try_from(part / (100 * i128::from(shares))).ok()
}

/// Σ share of the `ACTIVE` brokers, of those that may hold the stream where one is named.
pub(super) fn share_total(problem: &Problem, stream: Option<&Stream>) -> i64 {
    let brokers = problem.brokers.iter().enumerate();
    let active = brokers.filter(|(b, broker)| {
        broker.state == BrokerState::Active && stream.is_none_or(|stream| stream.open[*b])
    });
    active.map(|(_, broker)| i64::from(broker.share)).sum()
}

/// Counts that cost nothing.
pub(super) fn band(count: i64, (share, total): (u32, i64), spread: Spread) -> Option<(i64, i64)> {
    let (wanted, slack) = (count * i64::from(share), i64::from(spread.slack));
    (total > 0).then(|| (wanted / total - slack, (wanted + total - 1) / total + slack))
}

pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    match b {
        0 => a.abs(),
        _ => gcd(b, a % b),
    }
}
