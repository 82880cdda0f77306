//! Disks, rates and `max_moves` under the tiers.

use shardflow_solver::cost::{Rank, evaluate};
use shardflow_solver::input::{PolicyInput, SnapshotInput};
use shardflow_solver::snapshot::{BrokerState, Problem};
use shardflow_solver::validate::build;

use crate::clusters::{applied, cluster, led, plan, problem_of, shard, solve, stream};
use crate::measures::{leaders, moved, totals};
use crate::random::loaded_case;
use crate::rng::Rng;

const CASES: u64 = 6_000;

fn cases() -> impl Iterator<Item = (u64, SnapshotInput, PolicyInput, Problem)> {
    (0..CASES).filter_map(|seed| {
        let (snapshot, policy) = loaded_case(seed);
        let problem = build(&snapshot, &policy).ok()?;
        Some((seed, snapshot, policy, problem))
    })
}

fn with_disks(snapshot: &mut SnapshotInput, sizes: &[i64]) {
    let disks = snapshot.brokers.iter_mut().zip(sizes);
    disks.for_each(|(broker, &size)| broker.disk_bytes = Some(size));
}

#[test]
fn random_plans_keep_bytes_rates_and_changes_and_replanning_moves_nothing() {
    let mut built = 0;
    for (seed, snapshot, policy, problem) in cases() {
        built += 1;
        let result = plan(&problem);
        if policy.max_moves.is_some() {
            continue;
        }
        let again = problem_of(&applied(&snapshot, &problem, &result), &policy);
        for (shard, a) in again.shards.iter().zip(plan(&again)) {
            assert_eq!(a, shard.present, "seed {seed}: {} moved again", shard.id);
        }
    }
    assert!(built > CASES / 2, "only {built} cases are valid");
}

#[test]
fn new_shards_go_where_there_is_room() {
    let mut snapshot = cluster(3);
    led(&mut snapshot, "s", &[], 6);
    snapshot
        .shards
        .iter_mut()
        .for_each(|shard| shard.size_bytes = 10);
    with_disks(&mut snapshot, &[1_000, 1_000, 12]);
    let (problem, result) = solve(&snapshot);
    assert_eq!(totals(&problem, &result)[2], 1);
    assert!(result.iter().all(|a| a.leader.is_some()));
}

#[test]
fn a_rate_capacity_holds_back_leads_and_only_leads() {
    let mut snapshot = cluster(2);
    snapshot.streams.push(stream("s", 2));
    for n in 0..4 {
        snapshot.shards.push(shard("s", n, "", &[]));
        snapshot.shards[n].rate = 5;
    }
    snapshot.brokers[0].rate_capacity = Some(9);
    let (problem, result) = solve(&snapshot);
    assert_eq!(leaders(&problem, &result, "s"), [1, 3]);
    assert!(result.iter().all(|a| a.followers.len() == 1));
}

#[test]
fn the_limit_on_changes_stops_what_is_optional_and_nothing_else() {
    let mut snapshot = cluster(3);
    led(&mut snapshot, "s", &[9, 0, 0], 0);
    led(&mut snapshot, "t", &[0, 3, 0], 3);
    let policy = |most| PolicyInput {
        max_moves: Some(most),
        ..PolicyInput::default()
    };
    for most in [0, 1, 4] {
        let problem = problem_of(&snapshot, &policy(most));
        let result = plan(&problem);
        assert!(
            result.iter().all(|a| a.leader.is_some()),
            "new shards are placed"
        );
        assert_eq!(moved(&problem, &result), 3 + most as usize);
    }
    snapshot.brokers[1].state = BrokerState::Draining;
    let problem = problem_of(&snapshot, &policy(0));
    assert_eq!(
        totals(&problem, &plan(&problem))[1],
        0,
        "a drain is no option"
    );
}

#[test]
fn smaller_replicas_make_room_for_one_that_fits_nowhere() {
    let mut snapshot = cluster(2);
    led(&mut snapshot, "s", &[2, 2], 1);
    let sizes = [30, 10, 30, 10, 50];
    let sized = snapshot.shards.iter_mut().zip(sizes);
    sized.for_each(|(shard, size)| shard.size_bytes = size);
    // 49 and 39 bytes are left: 50 fit on b0 once 10 have gone to b1.
    with_disks(&mut snapshot, &[89, 79]);
    let policy = PolicyInput {
        disk_watermark_percent: Some(100),
        ..PolicyInput::default()
    };
    let problem = problem_of(&snapshot, &policy);
    let result = plan(&problem);
    assert_eq!(evaluate(&problem, &result).0[Rank::UnplacedLeaders], 0);
    let unmoved = PolicyInput {
        max_moves: Some(0),
        ..policy
    };
    let problem = problem_of(&snapshot, &unmoved);
    assert_eq!(
        evaluate(&problem, &plan(&problem)).0[Rank::UnplacedLeaders],
        1,
        "nothing may make room"
    );
}

/// Sizes over three orders of magnitude; with one broker lost, the others are 85 % full.
#[test]
fn a_full_cluster_takes_the_shards_of_a_lost_broker_as_far_as_its_disks_allow() {
    for seed in 0..20 {
        let mut random = Rng::new(seed);
        let brokers = 20;
        let mut snapshot = cluster(brokers);
        snapshot.streams.push(stream("s", 1));
        for n in 0..1_000 {
            let mut shard = shard("s", n, "", &[]);
            shard.size_bytes = [10, 100, 1_000, 10_000][random.below(4)] * random.between(1, 9);
            snapshot.shards.push(shard);
        }
        let total: i64 = snapshot.shards.iter().map(|s| s.size_bytes).sum();
        let size = total * 100 / 85 / (brokers as i64 - 1);
        with_disks(&mut snapshot, &vec![size; brokers]);
        let problem = problem_of(&snapshot, &PolicyInput::default());
        let first = plan(&problem);
        let mut next = applied(&snapshot, &problem, &first);
        next.brokers[seed as usize].state = BrokerState::Down;
        let problem = problem_of(&next, &PolicyInput::default());
        let result = plan(&problem);
        let unplaced = evaluate(&problem, &result).0[Rank::UnplacedLeaders];
        assert_eq!(unplaced, 0, "seed {seed}");
    }
}
