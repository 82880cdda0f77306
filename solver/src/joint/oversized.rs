//! Shards that no broker can hold or lead within its limits, whatever the plan.

use crate::cost::{Cost, Rank};
use crate::snapshot::{BrokerId, Dimension, Problem, Shard, StreamId, balance_caps};

/// Shards named for each limit; the others are counted.
const NAMED: usize = 3;

/// A limit on loads, as far as it is about one shard.
struct Limit {
    /// What the shard has.
    of: fn(&Shard) -> i64,
    /// By broker, the most that fits.
    caps: Vec<Option<i64>>,
    what: &'static str,
    than: &'static str,
}

/// In words, the shards that by themselves exceed what any broker that may take them has room for: those behind a cost
/// in ranks 4, 5 and 12, and replicas that are missing.
///
/// Complexity: O(shards + streams · brokers) where such a rank costs anything.
pub fn oversized(problem: &Problem, cost: &Cost) -> Vec<String> {
    let limits = limits(problem, cost);
    limits
        .iter()
        .filter_map(|limit| told(problem, limit))
        .collect()
}

fn limits(problem: &Problem, cost: &Cost) -> Vec<Limit> {
    let mut limits = Vec::new();
    let is_missing = cost[Rank::UnplacedLeaders] + cost[Rank::UnplacedFollowers] > 0;
    let by_broker = |cap: &dyn Fn(BrokerId) -> Option<i64>| problem.broker_ids().map(cap).collect();
    let of = |dimension: Dimension| -> fn(&Shard) -> i64 {
        match dimension {
            Dimension::Rate => |shard| shard.rate,
            Dimension::Bytes => |shard| shard.size_bytes,
        }
    };
    if is_missing || cost[Rank::DiskExcess] > 0 {
        limits.push(Limit {
            of: of(Dimension::Bytes),
            caps: by_broker(&|b| problem.disk_room(b)),
            what: "bytes",
            than: "fit below the watermark of any broker",
        });
    }
    if is_missing || cost[Rank::RateExcess] > 0 {
        limits.push(Limit {
            of: of(Dimension::Rate),
            caps: by_broker(&|b| problem.broker(b).rate_capacity),
            what: "rate",
            than: "the rate_capacity of any broker",
        });
    }
    if let Some(balance) = problem
        .policy
        .balance
        .filter(|_| cost[Rank::BalanceExcess] > 0)
    {
        limits.push(Limit {
            of: of(balance.dimension),
            caps: balance_caps(problem),
            what: match balance.dimension {
                Dimension::Rate => "rate",
                Dimension::Bytes => "bytes",
            },
            than: "balance allows any broker",
        });
    }
    limits
}

/// The sentence about the shards above a limit.
fn told(problem: &Problem, limit: &Limit) -> Option<String> {
    let mut large: Vec<(i64, &Shard, i64)> = Vec::new();
    for (s, stream) in problem.streams.iter().enumerate() {
        let Some(most) = most(problem, StreamId::at(s), limit) else {
            continue;
        };
        let shards = &problem.shards[stream.shards.start as usize..stream.shards.end as usize];
        let above = shards
            .iter()
            .filter(|shard| !shard.is_pinned && (limit.of)(shard) > most);
        large.extend(above.map(|shard| ((limit.of)(shard), shard, most)));
    }
    large.sort_by_key(|&(has, ..)| std::cmp::Reverse(has));
    let named = large.iter().take(NAMED);
    let named: Vec<String> = named
        .map(|(has, shard, most)| format!("{:?} ({has}, at most {most})", shard.id))
        .collect();
    let more = match large.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (what, than) = (limit.what, limit.than);
    (!named.is_empty()).then(|| {
        let named = named.join(", ");
        format!("by itself a shard has more {what} than {than}, whatever the plan: {named}{more}")
    })
}

/// The most that a broker which may take the stream has room for; `None` where one takes any shard, or none takes one.
fn most(problem: &Problem, s: StreamId, limit: &Limit) -> Option<i64> {
    let mut most = None;
    for b in problem.broker_ids().filter(|&b| problem.may_enter(s, b)) {
        most = most.max(Some(limit.caps[b.index()]?));
    }
    most
}
