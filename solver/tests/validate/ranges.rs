//! Totals that could leave `i64` are refused with the field that does it; just below, everything works.

use shardflow_solver::budget::never;
use shardflow_solver::input::{PolicyInput, SnapshotInput};
use shardflow_solver::snapshot::{BrokerState, Problem, Roles};
use shardflow_solver::strategy::{self, Outcome, Planner, SolveOptions};
use shardflow_solver::verify;

use crate::{accepted, finding, rejected, shard, snapshot, source, stream};

/// Largest total of the weighted rank.
const WEIGHTED_MAX: i64 = i64::MAX / 32;
/// Most replicas of all shards.
const REPLICAS_MAX: u32 = 1 << 31;

fn plan(problem: &Problem, planner: Planner) -> strategy::Answer {
    let options = SolveOptions {
        planner,
        ..SolveOptions::default()
    };
    let answer = strategy::solve(problem, &options, &never).expect("the planner is built");
    assert_eq!(
        verify::placement::check(problem, &answer.plan.placement).faults,
        []
    );
    assert_eq!(verify::moves::check(problem, &answer.plan), []);
    assert_eq!(answer.report.warnings, problem.warnings);
    answer
}

/// Everything has to move: both brokers that lead drain, in zones that the traffic does not reach.
fn costly() -> SnapshotInput {
    let mut snapshot = snapshot();
    snapshot.streams[0].replication_factor = 1;
    snapshot.shards = vec![shard("p", "s", "a", &[]), shard("q", "s", "b", &[])];
    snapshot.brokers[0].state = BrokerState::Draining;
    snapshot.brokers[1].state = BrokerState::Draining;
    snapshot
}

#[test]
fn a_weight_times_its_traffic_stays_in_range() {
    let mut snapshot = costly();
    snapshot.shards[0].sources = vec![source(&["a"], 3)];
    snapshot.shards[1].sources = vec![source(&["b"], 4)];
    let mut policy = PolicyInput::default();
    let mut with = |traffic: i64| {
        policy.weights.traffic = Some(traffic);
        policy.weights.overlap = Some(0);
        policy.weights.same_rack = Some(0);
        policy.clone()
    };
    let most = WEIGHTED_MAX / 7;
    let answer = plan(&accepted(&snapshot, &with(most)), Planner::Auto);
    assert_eq!(answer.report.outcome, Outcome::Optimal);
    assert_eq!(answer.plan.after.1.traffic, most * 7);
    let total = i128::from(most + 1) * 7;
    let rule = format!("over all shards the cost could reach {total}, above {WEIGHTED_MAX}");
    let rejection = rejected(&snapshot, &with(most + 1));
    let expected = finding("policy.weights.traffic", &(most + 1).to_string(), &rule);
    assert_eq!(rejection.invalid, [expected]);
}

/// A weight of a policy.
type Field = fn(&mut PolicyInput) -> &mut Option<i64>;

#[test]
fn each_weight_is_named_by_itself() {
    let mut snapshot = costly();
    for shard in &mut snapshot.shards {
        shard.size_bytes = 1;
        shard.follower_sources = vec![source(&[], 1)];
    }
    let fields: [(&str, Field); 6] = [
        ("traffic", |p| &mut p.weights.traffic),
        ("overlap", |p| &mut p.weights.overlap),
        ("overlap_per_gib", |p| &mut p.weights.overlap_per_gib),
        ("promotion", |p| &mut p.weights.promotion),
        ("same_rack", |p| &mut p.weights.same_rack),
        ("same_rack_as_leader", |p| {
            &mut p.weights.same_rack_as_leader
        }),
    ];
    for (name, field) in fields {
        let mut policy = PolicyInput::default();
        *field(&mut policy) = Some(i64::MAX);
        let rejection = rejected(&snapshot, &policy);
        let paths: Vec<&str> = rejection.invalid.iter().map(|f| f.path.as_str()).collect();
        // A promotion may not be dearer than a copy either.
        let times = if name == "promotion" { 2 } else { 1 };
        assert_eq!(
            paths,
            vec![format!("policy.weights.{name}"); times],
            "{rejection:?}"
        );
        let last = rejection.invalid.last().expect("a finding");
        assert_eq!(last.value, i64::MAX.to_string());
        assert!(
            last.rule
                .starts_with("over all shards the cost could reach "),
            "{}",
            last.rule
        );
    }
}

#[test]
fn the_sum_of_the_weights_stays_in_range_too() {
    let snapshot = costly();
    let mut policy = PolicyInput::default();
    // Two shards, each with room for two replicas: 4 copies and 2 pairs.
    policy.weights.overlap = Some(WEIGHTED_MAX / 8);
    policy.weights.same_rack = Some(WEIGHTED_MAX / 4 - 1);
    assert_eq!(
        plan(&accepted(&snapshot, &policy), Planner::Auto)
            .plan
            .moves
            .len(),
        2
    );
    policy.weights.same_rack = Some(WEIGHTED_MAX / 4 + 8);
    let rejection = rejected(&snapshot, &policy);
    assert_eq!(rejection.invalid.len(), 1, "{rejection:?}");
    assert_eq!(rejection.invalid[0].path, "policy.weights");
    assert!(
        rejection.invalid[0]
            .rule
            .starts_with("over all shards the costs could reach ")
    );
}

#[test]
fn weights_of_sources_stay_in_range() {
    let mut snapshot = snapshot();
    let policy = &mut PolicyInput::default();
    policy.weights.traffic = Some(0);
    snapshot.shards[0].sources = vec![source(&[], i64::MAX)];
    accepted(&snapshot, policy);
    snapshot.shards[0].sources.push(source(&["a"], 1));
    let rule = format!(
        "brings the weights of the shard's sources above {}",
        i64::MAX
    );
    let path = "snapshot.shards[0].sources[1].weight";
    assert_eq!(
        rejected(&snapshot, policy).invalid,
        [finding(path, "1", &rule)]
    );
    snapshot.shards[0].follower_sources = std::mem::take(&mut snapshot.shards[0].sources);
    let path = "snapshot.shards[0].follower_sources[1].weight";
    assert_eq!(
        rejected(&snapshot, policy).invalid,
        [finding(path, "1", &rule)]
    );
}

#[test]
fn bytes_of_all_replicas_stay_in_range() {
    let mut snapshot = costly();
    // Each of the two shards may come to have two replicas.
    snapshot.shards[0].size_bytes = i64::MAX / 4;
    snapshot.shards[1].size_bytes = i64::MAX / 4;
    let answer = plan(&accepted(&snapshot, &PolicyInput::default()), Planner::Auto);
    let bytes: i64 = answer.plan.moves.iter().map(|one| one.bytes).sum();
    assert_eq!(bytes, i64::MAX / 4 * 2);
    snapshot.shards[1].size_bytes += 2;
    let rejection = rejected(&snapshot, &PolicyInput::default());
    let value = (i128::from(i64::MAX / 4 + 2) * 2).to_string();
    let rule = format!(
        "brings the bytes of all replicas and all disks above {}",
        i64::MAX
    );
    assert_eq!(
        rejection.invalid,
        [finding("snapshot.shards[1].size_bytes", &value, &rule)]
    );
}

#[test]
fn rates_of_all_shards_stay_in_range() {
    let mut snapshot = costly();
    snapshot.shards[0].rate = i64::MAX - 1;
    snapshot.shards[1].rate = 1;
    plan(&accepted(&snapshot, &PolicyInput::default()), Planner::Auto);
    snapshot.shards[1].rate = 2;
    let rejection = rejected(&snapshot, &PolicyInput::default());
    let rule = format!("brings the rates of all shards above {}", i64::MAX);
    assert_eq!(
        rejection.invalid,
        [finding("snapshot.shards[1].rate", "2", &rule)]
    );
}

#[test]
fn replicas_of_all_shards_stay_in_range() {
    let mut snapshot = costly();
    snapshot.streams = vec![stream("s", REPLICAS_MAX / 2)];
    let mut policy = PolicyInput::default();
    policy.weights.overlap = Some(0);
    policy.weights.same_rack = Some(0);
    for roles in [Roles::LeadershipOnly, Roles::LeadersAndFollowers] {
        policy.roles = roles;
        let problem = accepted(&snapshot, &policy);
        assert_eq!(problem.replicas_wanted, i64::from(REPLICAS_MAX));
        let answer = plan(&problem, Planner::GreedyTiers);
        assert!(answer.plan.after.0.0.iter().all(|&value| value >= 0));
    }
    policy.roles = Roles::LeadershipOnly;
    plan(&accepted(&snapshot, &policy), Planner::Auto);
    snapshot.streams[0].replication_factor += 1;
    let rejection = rejected(&snapshot, &policy);
    let rule = format!("brings the replicas of all shards above {REPLICAS_MAX}");
    let value = (REPLICAS_MAX / 2 + 1).to_string();
    let path = "snapshot.streams[0].replication_factor";
    assert_eq!(rejection.invalid, [finding(path, &value, &rule)]);
}

#[test]
fn the_largest_numbers_of_every_kind_are_solved() {
    let mut snapshot = costly();
    let mut policy = PolicyInput::default();
    for broker in &mut snapshot.brokers {
        broker.share = Some(u32::MAX);
        broker.max_leaders = Some(u32::MAX);
        broker.max_replicas = Some(u32::MAX);
        broker.disk_used_bytes = i64::MAX;
    }
    policy.stream_leaders.slack = u32::MAX;
    policy.cluster_leaders.slack = u32::MAX;
    policy.min_zones = u32::MAX;
    policy.max_replicas_per_zone = Some(u32::MAX);
    for zone in ["a", "c", "x", "y"] {
        policy
            .zone_limits
            .push(shardflow_solver::input::ZoneLimitInput {
                zone: zone.to_owned(),
                min_leaders: Some(u32::MAX),
                max_leaders: Some(u32::MAX),
                max_replicas: Some(u32::MAX),
            });
    }
    let answer = plan(&accepted(&snapshot, &policy), Planner::Auto);
    assert_eq!(answer.report.outcome, Outcome::Optimal);
    assert_eq!(answer.plan.after.0.0[6], 4 * i64::from(u32::MAX) - 2);
}

#[test]
fn bytes_of_all_disks_stay_in_range() {
    let mut snapshot = costly();
    for broker in &mut snapshot.brokers {
        broker.disk_used_bytes = i64::MAX;
    }
    accepted(&snapshot, &PolicyInput::default());
    snapshot.brokers[0].disk_bytes = Some(0);
    snapshot.brokers[1].disk_bytes = Some(i64::MAX);
    let rejection = rejected(&snapshot, &PolicyInput::default());
    let rule = format!(
        "brings the bytes of all replicas and all disks above {}",
        i64::MAX
    );
    let path = "snapshot.brokers[1].disk_used_bytes";
    assert_eq!(
        rejection.invalid,
        [finding(path, &i64::MAX.to_string(), &rule)]
    );
}
