//! Policies with names: those of KIP-925, as fields of a [`pb::Policy`].
//!
//! A preset sets the fields listed with it, in place of what the policy says there, and leaves the others. It is nothing
//! but these fields: over gRPC a caller sets them itself.

use crate::pb;

/// KIP-925's own prices where the zones of standbys come first: same_rack ten times that of traffic.
const FIRST: i64 = 10;
const SECOND: i64 = 1;

/// A named policy. The first two are about spreads and the last two about standbys, which go together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Preset {
    /// KIP-925's min_traffic: counts of brokers are level, those of streams don't matter
    MinTraffic,
    /// KIP-925's balance_subtopology: counts of brokers and of streams are level
    BalanceSubtopology,
    /// Standbys in as many zones as there can be, whatever the traffic
    StandbyReliabilityFirst,
    /// Standbys where traffic is cheap, in zones of their own where that costs the same
    StandbyCostFirst,
}

impl Preset {
    /// Sets its fields.
    ///
    /// * `MinTraffic`: `stream_leaders` and `stream_replicas` OFF, `cluster_leaders` and `cluster_replicas` LEVEL.
    /// * `BalanceSubtopology`: all four LEVEL.
    /// * `StandbyReliabilityFirst`: `min_zones` above any replication factor, so that each zone fewer counts in a rank
    ///   above all spreads and costs; `weights.traffic` 1 and `weights.same_rack` 10 for standbys beyond the zones.
    /// * `StandbyCostFirst`: `min_zones` 0 and `allow_zone_loss`; `weights.traffic` 10, `weights.same_rack` 1.
    pub fn apply(self, policy: &mut pb::Policy) {
        match self {
            Preset::MinTraffic => spread(policy, pb::SpreadMode::Off),
            Preset::BalanceSubtopology => spread(policy, pb::SpreadMode::Level),
            Preset::StandbyReliabilityFirst => {
                policy.min_zones = u32::MAX;
                policy.allow_zone_loss = false;
                weigh(policy, SECOND, FIRST);
            }
            Preset::StandbyCostFirst => {
                policy.min_zones = 0;
                policy.allow_zone_loss = true;
                weigh(policy, FIRST, SECOND);
            }
        }
    }
}

/// Sets the spreads of streams, and levels those of the cluster. Slack stays as it is.
fn spread(policy: &mut pb::Policy, of_streams: pb::SpreadMode) {
    let level = pb::SpreadMode::Level;
    for (spread, mode) in [
        (&mut policy.stream_leaders, of_streams),
        (&mut policy.stream_replicas, of_streams),
        (&mut policy.cluster_leaders, level),
        (&mut policy.cluster_replicas, level),
    ] {
        spread.get_or_insert_default().set_mode(mode);
    }
}

fn weigh(policy: &mut pb::Policy, traffic: i64, same_rack: i64) {
    let weights = policy.weights.get_or_insert_default();
    weights.traffic = Some(traffic);
    weights.same_rack = Some(same_rack);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_set_their_fields_and_leave_the_others() {
        let mut policy = pb::Policy {
            max_moves: Some(3),
            stream_leaders: Some(pb::Spread {
                slack: 2,
                ..Default::default()
            }),
            ..Default::default()
        };
        Preset::MinTraffic.apply(&mut policy);
        Preset::StandbyCostFirst.apply(&mut policy);
        let modes = |policy: &pb::Policy| {
            [
                policy.stream_leaders,
                policy.stream_replicas,
                policy.cluster_leaders,
                policy.cluster_replicas,
            ]
            .map(|spread| spread.unwrap().mode())
        };
        use pb::SpreadMode::{Level, Off};
        assert_eq!(modes(&policy), [Off, Off, Level, Level]);
        let weights = policy.weights.unwrap();
        assert_eq!((weights.traffic, weights.same_rack), (Some(10), Some(1)));
        assert!(policy.allow_zone_loss);
        Preset::BalanceSubtopology.apply(&mut policy);
        Preset::StandbyReliabilityFirst.apply(&mut policy);
        assert_eq!(modes(&policy), [Level; 4]);
        let weights = policy.weights.unwrap();
        assert_eq!((weights.traffic, weights.same_rack), (Some(1), Some(10)));
        assert!(policy.min_zones > 100 && !policy.allow_zone_loss);
        assert_eq!(policy.max_moves, Some(3));
        assert_eq!(policy.stream_leaders.unwrap().slack, 2);
    }
}
