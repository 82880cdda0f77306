//! Refuses whatever could make a reported total, or a price on the way to it, leave `i64`.
//!
//! Prices of the `weighted` rank are sums along a path that passes each shard at most once, by two arcs, so they
//! stay below twice the largest total. Totals are therefore held to a 32nd of `i64`, and no engine has to
//! check an addition.

use super::Findings;
use super::snapshot::Resolved;
use crate::budget::{Pace, Stop};
use crate::input::{SnapshotInput, TrafficSourceInput};
use crate::snapshot::Weights;

/// Largest total of the `weighted` rank.
const WEIGHTED_MAX: i128 = i64::MAX as i128 / 32;
/// Most replicas wanted by all shards together: squares of their counts stay within `i64`.
const REPLICAS_MAX: i128 = 1 << 31;

pub(super) fn check(
    snapshot: &SnapshotInput,
    resolved: &Resolved<'_>,
    weights: &Weights,
    findings: &mut Findings,
    pace: &mut Pace<'_>,
) -> Result<(), Stop> {
    let mut totals = Totals::default();
    for (i, broker) in snapshot.brokers.iter().enumerate() {
        if broker.disk_bytes.is_none() {
            continue;
        }
        running(
            &mut totals.bytes,
            i128::from(broker.disk_used_bytes.max(0)),
            || {
                (
                    format!("snapshot.brokers[{i}].disk_used_bytes"),
                    "bytes of all replicas and all disks",
                )
            },
            findings,
        );
    }
    for (i, shard) in snapshot.shards.iter().enumerate() {
        pace.step(1)?;
        let layout = &resolved.layouts[i];
        let factor = (layout.stream).map_or(1, |s| snapshot.streams[s].replication_factor.max(1));
        let wanted = i128::from(factor);
        // One more for a follower in flight without `from`.
        let listed = layout.followers.len() as i128 + 2;
        let replicas = wanted.max(listed);
        let leader = source_total(i, "sources", &shard.sources, findings);
        let follower = source_total(i, "follower_sources", &shard.follower_sources, findings);
        let size = i128::from(shard.size_bytes.max(0));
        let gib = (size + (1 << 30) - 1) >> 30;
        if totals.replicas <= REPLICAS_MAX && totals.replicas + wanted > REPLICAS_MAX {
            let path = match layout.stream {
                Some(s) => format!("snapshot.streams[{s}].replication_factor"),
                None => format!("snapshot.shards[{i}]"),
            };
            let rule = format!("brings the replicas of all shards above {REPLICAS_MAX}");
            findings.add(path, wanted, rule);
        }
        totals.replicas += wanted;
        totals.traffic += i128::from(weights.traffic) * (leader + replicas * follower);
        totals.overlap += replicas * i128::from(weights.overlap);
        totals.overlap_per_gib += replicas * gib * i128::from(weights.overlap_per_gib);
        totals.promotion += i128::from(weights.promotion);
        totals.same_rack += i128::from(weights.same_rack) * (replicas * (replicas - 1) / 2);
        totals.same_rack_as_leader += i128::from(weights.same_rack_as_leader) * replicas;
        running(
            &mut totals.bytes,
            replicas * size,
            || {
                (
                    format!("snapshot.shards[{i}].size_bytes"),
                    "bytes of all replicas and all disks",
                )
            },
            findings,
        );
        running(
            &mut totals.rate,
            i128::from(shard.rate.max(0)),
            || (format!("snapshot.shards[{i}].rate"), "rates of all shards"),
            findings,
        );
    }
    totals.check(weights, findings);
    Ok(())
}

#[derive(Default)]
struct Totals {
    replicas: i128,
    traffic: i128,
    overlap: i128,
    overlap_per_gib: i128,
    promotion: i128,
    same_rack: i128,
    same_rack_as_leader: i128,
    bytes: i128,
    rate: i128,
}

impl Totals {
    fn check(&self, weights: &Weights, findings: &mut Findings) {
        let terms = [
            ("traffic", weights.traffic, self.traffic),
            ("overlap", weights.overlap, self.overlap),
            (
                "overlap_per_gib",
                weights.overlap_per_gib,
                self.overlap_per_gib,
            ),
            ("promotion", weights.promotion, self.promotion),
            ("same_rack", weights.same_rack, self.same_rack),
            (
                "same_rack_as_leader",
                weights.same_rack_as_leader,
                self.same_rack_as_leader,
            ),
        ];
        let before = findings.0.len();
        for (name, weight, total) in terms {
            if total > WEIGHTED_MAX {
                findings.add(
                    format!("policy.weights.{name}"),
                    weight,
                    format!("over all shards the cost could reach {total}, above {WEIGHTED_MAX}"),
                );
            }
        }
        let sum: i128 = terms.iter().map(|term| term.2).sum();
        if findings.0.len() == before && sum > WEIGHTED_MAX {
            findings.add(
                "policy.weights",
                "",
                format!("over all shards the costs could reach {sum}, above {WEIGHTED_MAX}"),
            );
        }
    }
}

/// Adds to a total and reports the item at which it leaves `i64`.
fn running(
    total: &mut i128,
    value: i128,
    name: impl FnOnce() -> (String, &'static str),
    findings: &mut Findings,
) {
    let limit = i128::from(i64::MAX);
    if *total <= limit && *total + value > limit {
        let (path, what) = name();
        findings.add(path, value, format!("brings the {what} above {limit}"));
    }
    *total += value;
}

fn source_total(
    i: usize,
    field: &str,
    sources: &[TrafficSourceInput],
    findings: &mut Findings,
) -> i128 {
    let mut total = 0;
    for (j, source) in sources.iter().enumerate() {
        running(
            &mut total,
            i128::from(source.weight.max(0)),
            || {
                (
                    format!("snapshot.shards[{i}].{field}[{j}].weight"),
                    "weights of the shard's sources",
                )
            },
            findings,
        );
    }
    total
}
