//! Checks a policy by itself and fills in its defaults.

use std::collections::HashMap;

use super::Findings;
use crate::input::PolicyInput;
use crate::snapshot::Weights;

/// Checks the policy; the weights with their defaults.
pub(super) fn check(policy: &PolicyInput, findings: &mut Findings) -> Weights {
    let given = &policy.weights;
    let mut weight = |name: &str, value: Option<i64>, default: i64| {
        let value = value.unwrap_or(default);
        findings.not_negative(|| format!("policy.weights.{name}"), value);
        value.max(0)
    };
    let weights = Weights {
        traffic: weight("traffic", given.traffic, 10),
        overlap: weight("overlap", given.overlap, 1),
        overlap_per_gib: weight("overlap_per_gib", given.overlap_per_gib, 0),
        promotion: weight("promotion", given.promotion, 0),
        same_rack: weight("same_rack", given.same_rack, 10),
        same_rack_as_leader: weight("same_rack_as_leader", given.same_rack_as_leader, 0),
    };
    if weights.promotion > weights.overlap {
        findings.add(
            "policy.weights.promotion",
            weights.promotion,
            format!("must be at most overlap, which is {}", weights.overlap),
        );
    }
    check_zone_limits(policy, findings);
    if policy.max_replicas_per_zone == Some(0) {
        findings.add("policy.max_replicas_per_zone", 0, "must be at least 1");
    }
    if let Some(percent) = policy.disk_watermark_percent
        && !(1..=100).contains(&percent)
    {
        findings.add(
            "policy.disk_watermark_percent",
            percent,
            "must be from 1 to 100",
        );
    }
    for (name, theta) in ["shard", "index", "disk"].iter().zip(policy.thetas) {
        if let Some(theta) = theta.filter(|theta| !(theta.is_finite() && *theta >= 0.0)) {
            findings.add(
                format!("policy.thetas.{name}"),
                theta,
                "must be finite and not negative",
            );
        }
    }
    weights
}

fn check_zone_limits(policy: &PolicyInput, findings: &mut Findings) {
    let mut first = HashMap::new();
    for (i, limit) in policy.zone_limits.iter().enumerate() {
        let path = format!("policy.zone_limits[{i}]");
        if limit.zone.is_empty() {
            findings.add(format!("{path}.zone"), "", "must name a zone");
        } else if let Some(j) = first.insert(limit.zone.as_str(), i) {
            findings.add(
                format!("{path}.zone"),
                &limit.zone,
                format!("has limits in policy.zone_limits[{j}] already"),
            );
        }
        for (name, most) in [
            ("max_leaders", limit.max_leaders),
            ("max_replicas", limit.max_replicas),
        ] {
            if let (Some(least), Some(most)) = (limit.min_leaders, most)
                && least > most
            {
                findings.add(
                    format!("{path}.min_leaders"),
                    least,
                    format!("is above {name}, which is {most}"),
                );
            }
        }
    }
}
