//! The fields of a cost message under their names.

use crate::pb;

/// The ranks' names and values, the most important first.
pub(crate) fn ranks(cost: &pb::Cost) -> [(&'static str, i64); 15] {
    [
        ("unplaced_leaders", cost.unplaced_leaders),
        ("unplaced_followers", cost.unplaced_followers),
        ("breaches", cost.breaches),
        ("disk_excess", cost.disk_excess),
        ("rate_excess", cost.rate_excess),
        ("zones_lost", cost.zones_lost),
        ("zone_minimum_shortfall", cost.zone_minimum_shortfall),
        ("stream_leader_spread", cost.stream_leader_spread),
        ("cluster_leader_spread", cost.cluster_leader_spread),
        ("stream_replica_spread", cost.stream_replica_spread),
        ("cluster_replica_spread", cost.cluster_replica_spread),
        ("balance_excess", cost.balance_excess),
        ("weighted", cost.weighted),
        ("copies", cost.copies),
        ("leader_changes", cost.leader_changes),
    ]
}

/// The terms of `weighted`.
pub(crate) fn terms(cost: &pb::Cost) -> [(&'static str, i64); 5] {
    [
        ("traffic", cost.traffic),
        ("overlap", cost.overlap),
        ("promotion", cost.promotion),
        ("same_rack", cost.same_rack),
        ("same_rack_as_leader", cost.same_rack_as_leader),
    ]
}
