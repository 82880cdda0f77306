//! Shards without a live leader that keep a follower while nobody may lead them: what they keep takes a place.

use shardflow_solver::cost::{Cost, Rank};
use shardflow_solver::input::{
    BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput, ZoneLimitInput,
};
use shardflow_solver::snapshot::{Assignment, BrokerId};
use shardflow_solver::strategy::Answer;

use crate::brute::{Match, check_case};
use crate::cases::{Case, solve};

fn broker(id: &str, zone: &str, max_replicas: Option<u32>) -> BrokerInput {
    BrokerInput {
        id: id.to_owned(),
        zone: zone.to_owned(),
        max_replicas,
        ..BrokerInput::default()
    }
}

fn shard(id: &str, stream: &str, followers: &[&str]) -> ShardInput {
    ShardInput {
        id: id.to_owned(),
        stream: stream.to_owned(),
        followers: followers.iter().map(|&b| b.to_owned()).collect(),
        ..ShardInput::default()
    }
}

fn case(
    brokers: Vec<BrokerInput>,
    shards: Vec<ShardInput>,
    zone_limits: Vec<ZoneLimitInput>,
) -> Case {
    let mut streams: Vec<String> = shards.iter().map(|s| s.stream.clone()).collect();
    streams.sort_unstable();
    streams.dedup();
    let stream = |id: String| StreamInput {
        id,
        ..StreamInput::default()
    };
    Case {
        snapshot: SnapshotInput {
            brokers,
            streams: streams.into_iter().map(stream).collect(),
            shards,
            ..SnapshotInput::default()
        },
        policy: PolicyInput {
            zone_limits,
            ..PolicyInput::default()
        },
    }
}

/// The answer, proven, and equal to the best of all plans.
fn proven(case: &Case) -> Answer {
    assert_eq!(check_case(&"proven", case), Some(Match::Proven));
    let answer = solve(&case.problem());
    assert_eq!(answer.report.warnings, Vec::<String>::new());
    answer
}

fn at(cost: &Cost, ranks: &[Rank]) -> Vec<i64> {
    ranks.iter().map(|&rank| cost[rank]).collect()
}

/// The follower on `b2` has to leave it for a new shard to take its place there.
#[test]
fn a_kept_replica_leaves_where_its_place_is_worth_more() {
    let case = case(
        vec![broker("b0", "", Some(2)), broker("b2", "", Some(0))],
        vec![
            shard("s0/0", "s0", &[]),
            shard("s0/1", "s0", &[]),
            shard("s1/0", "s1", &[]),
            shard("s2/1", "s2", &["b2"]),
        ],
        vec![],
    );
    let cost = proven(&case).plan.after.0;
    let ranks = [
        Rank::UnplacedLeaders,
        Rank::Breaches,
        Rank::StreamLeaderSpread,
    ];
    assert_eq!(at(&cost, &ranks), [1, 1, 0]);
}

/// The follower moves without a leader to a broker that the zone's leaders leave room on.
#[test]
fn a_kept_replica_is_copied_off_a_broker_that_is_too_full() {
    let one_leader = ZoneLimitInput {
        zone: "z0".to_owned(),
        min_leaders: None,
        max_leaders: Some(1),
        max_replicas: None,
    };
    let mut case = case(
        vec![broker("b0", "z0", Some(0)), broker("b2", "z0", None)],
        vec![shard("s0/0", "s0", &[]), shard("s0/1", "s0", &["b0"])],
        vec![one_leader.clone()],
    );
    let cost = proven(&case).plan.after.0;
    assert_eq!(at(&cost, &[Rank::UnplacedLeaders, Rank::Breaches]), [1, 0]);
    // Each broker its own zone: the counts nest.
    case.snapshot.brokers[0].zone.clear();
    case.snapshot.brokers[1].zone.clear();
    for zone in ["b0", "b2"] {
        case.policy.zone_limits = vec![
            ZoneLimitInput {
                zone: zone.to_owned(),
                ..one_leader.clone()
            },
            ZoneLimitInput {
                zone: if zone == "b0" { "b2" } else { "b0" }.to_owned(),
                max_leaders: Some(0),
                ..one_leader.clone()
            },
        ];
        proven(&case);
    }
}

/// Nobody may lead, and the draining broker's replica still finds its way out.
#[test]
fn a_kept_replica_leaves_a_draining_broker() {
    let mut brokers = vec![broker("a", "", None), broker("b", "", None)];
    brokers[0].state = shardflow_solver::snapshot::BrokerState::Draining;
    brokers.iter_mut().for_each(|b| b.max_leaders = Some(0));
    let case = case(brokers, vec![shard("s/0", "s", &["a"])], vec![]);
    let plan = proven(&case).plan;
    let kept = Assignment {
        leader: None,
        followers: vec![BrokerId(1)],
    };
    assert_eq!(plan.placement, [kept]);
    let ranks = [Rank::UnplacedLeaders, Rank::Breaches, Rank::Copies];
    assert_eq!(at(&plan.after.0, &ranks), [1, 0, 1]);
}
