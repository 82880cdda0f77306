//! The weight function: the eight scenarios of its design, and the rules of everybody.

use shardflow_solver::cost::evaluate;
use shardflow_solver::input::{PolicyInput, SnapshotInput};
use shardflow_solver::snapshot::{Assignment, BrokerState, Problem};
use shardflow_solver::strategy::{Engine, Planner, SolveOptions, solve};
use shardflow_solver::validate::build;

use crate::clusters::{cluster, led, problem_of, shard, stream, weighed};
use crate::measures::{counts, leaders, moved, present};
use crate::random::{loaded_case, random_case};

/// Brokers of these disks, so much of each in use.
fn nodes(disks: &[(i64, i64)]) -> SnapshotInput {
    let mut snapshot = cluster(disks.len());
    for (broker, &(size, used)) in snapshot.brokers.iter_mut().zip(disks) {
        broker.disk_bytes = Some(size);
        broker.disk_used_bytes = used;
    }
    snapshot
}

/// New shards of these sizes, so many copies of each.
fn index(snapshot: &mut SnapshotInput, id: &str, copies: u32, sizes: &[i64]) {
    snapshot.streams.push(stream(id, copies));
    for (n, &size) in sizes.iter().enumerate() {
        let mut shard = shard(id, n, "", &[]);
        shard.size_bytes = size;
        snapshot.shards.push(shard);
    }
}

fn allocated(snapshot: &SnapshotInput) -> (Problem, Vec<Assignment>) {
    let problem = problem_of(snapshot, &PolicyInput::default());
    let plan = weighed(&problem);
    (problem, plan)
}

fn replicas(problem: &Problem, plan: &[Assignment]) -> Vec<i64> {
    counts(problem, plan).replicas
}

#[test]
fn scenarios_1_to_3_every_node_has_as_many_shards_as_there_are_copies() {
    for copies in 1..=3 {
        let mut snapshot = nodes(&[(1_000, 0); 3]);
        index(&mut snapshot, "i", copies, &[10, 10, 10]);
        let (problem, plan) = allocated(&snapshot);
        assert_eq!(replicas(&problem, &plan), [i64::from(copies); 3]);
        assert_eq!(leaders(&problem, &plan, "i"), [1; 3]);
    }
}

#[test]
fn scenario_4_full_disks_take_nothing() {
    let mut snapshot = nodes(&[(1_000, 895), (1_000, 900), (1_000, 1_000)]);
    index(&mut snapshot, "i", 2, &[6, 6, 6]);
    let (problem, plan) = allocated(&snapshot);
    assert_eq!(replicas(&problem, &plan), [0; 3]);
    snapshot.brokers[0].disk_used_bytes = 894;
    let (problem, plan) = allocated(&snapshot);
    assert_eq!(
        replicas(&problem, &plan),
        [1, 0, 0],
        "90 % and not a byte less"
    );
}

#[test]
fn scenario_5_scarce_room_goes_to_primaries_and_to_one_index() {
    let mut snapshot = nodes(&[(100, 0), (100, 0)]);
    index(&mut snapshot, "i", 2, &[50, 50]);
    let (_, plan) = allocated(&snapshot);
    assert!(
        plan.iter()
            .all(|a| a.leader.is_some() && a.followers.is_empty())
    );
    let mut snapshot = nodes(&[(100, 0), (100, 0)]);
    index(&mut snapshot, "i", 1, &[50, 50]);
    index(&mut snapshot, "j", 1, &[50, 50]);
    let (_, plan) = allocated(&snapshot);
    let is_led: Vec<bool> = plan.iter().map(|a| a.leader.is_some()).collect();
    assert_eq!(is_led, [true, true, false, false]);
}

/// One node with much less of its disk in use than the two others, and one with a much smaller disk.
fn uneven() -> [SnapshotInput; 2] {
    [
        nodes(&[(1_000, 700), (1_000, 100), (1_000, 700)]),
        nodes(&[(1_000, 0), (100, 0), (1_000, 0)]),
    ]
}

#[test]
fn scenario_6_counts_are_even_where_one_disk_is_much_less() {
    for mut snapshot in uneven() {
        index(&mut snapshot, "i", 1, &[10; 6]);
        let (problem, plan) = allocated(&snapshot);
        assert_eq!(replicas(&problem, &plan), [2; 3]);
    }
}

#[test]
fn scenario_7_a_higher_disk_theta_favours_the_disk_with_less_in_use() {
    let with_theta = |disk| PolicyInput {
        thetas: [None, None, Some(disk)],
        ..PolicyInput::default()
    };
    let [mut snapshot, mut small] = uneven();
    index(&mut snapshot, "i", 1, &[10; 6]);
    let problem = problem_of(&snapshot, &with_theta(5.0));
    assert_eq!(replicas(&problem, &weighed(&problem)), [1, 4, 1]);
    index(&mut small, "i", 1, &[10; 6]);
    let problem = problem_of(&small, &with_theta(20.0));
    assert_eq!(
        replicas(&problem, &weighed(&problem)),
        [3, 1, 2],
        "ten bytes are more of a small disk"
    );
}

#[test]
fn scenario_8_small_shards_are_joined_by_large_ones_in_turn() {
    let mut snapshot = nodes(&[(1_000, 0); 2]);
    index(&mut snapshot, "i", 1, &[10, 10, 100, 100]);
    let (_, plan) = allocated(&snapshot);
    assert_eq!(plan[0], plan[2]);
    assert_eq!(plan[1], plan[3]);
    assert_ne!(plan[0], plan[1]);
}

#[test]
fn nothing_that_is_placed_moves_and_the_answer_says_who_planned() {
    let mut snapshot = cluster(3);
    led(&mut snapshot, "s", &[9, 0, 0], 2);
    let problem = problem_of(&snapshot, &PolicyInput::default());
    let plan = weighed(&problem);
    assert_eq!(leaders(&problem, &plan, "s"), [9, 1, 1]);
    assert_eq!(moved(&problem, &plan), 2);
    let options = SolveOptions {
        planner: Planner::WeightFunction,
        ..SolveOptions::default()
    };
    let answer = solve(&problem, &options, &|| None).expect("it is built");
    assert_eq!(answer.report.engine, Engine::WeightFunction);
    assert_eq!(answer.plan.placement, plan);
}

#[test]
fn a_shard_whose_leader_is_lost_is_led_by_a_follower_of_its_own() {
    let mut snapshot = cluster(4);
    snapshot.streams.push(stream("s", 3));
    snapshot.shards.push(shard("s", 0, "b0", &["b1", "b2"]));
    snapshot.brokers[0].state = BrokerState::Down;
    let (problem, plan) = allocated(&snapshot);
    let names: Vec<&str> = plan[0].replicas().map(|b| &*problem.broker(b).id).collect();
    assert_eq!(names, ["b1", "b2", "b3"]);
}

#[test]
fn random_allocations_keep_the_rules_and_are_no_worse_than_the_present_layout() {
    for seed in 0..3_000 {
        for (snapshot, policy) in [random_case(seed), loaded_case(seed)] {
            let Ok(problem) = build(&snapshot, &policy) else {
                continue;
            };
            let plan = weighed(&problem);
            let (before, after) = (
                evaluate(&problem, &present(&problem)),
                evaluate(&problem, &plan),
            );
            assert!(after.0.0[..2] <= before.0.0[..2], "seed {seed}");
        }
    }
}
