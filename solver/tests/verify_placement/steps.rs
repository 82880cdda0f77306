//! Bytes and rates while moves are made, detours, and moves that are blocked.

use shardflow_solver::input::{BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput};
use shardflow_solver::plan::Move;
use shardflow_solver::snapshot::{Assignment, Problem, Role};
use shardflow_solver::validate;
use shardflow_solver::verify::{Rule, moves};

use crate::random::rules;
use crate::replay::{at, copy, found, plan, promotion};

/// Brokers of these disk sizes and rate capacities, and shards of one replica: where, how many bytes, what rate.
fn cluster(brokers: &[(Option<i64>, Option<i64>)], shards: &[(&str, i64, i64)]) -> Problem {
    let broker =
        |(at, &(disk_bytes, rate_capacity)): (usize, &(Option<i64>, Option<i64>))| BrokerInput {
            id: format!("b{at}"),
            disk_bytes,
            rate_capacity,
            ..BrokerInput::default()
        };
    let shard = |(at, &(leader, size_bytes, rate)): (usize, &(&str, i64, i64))| ShardInput {
        id: format!("s-{at}"),
        stream: "s".to_owned(),
        number: Some(at as u32),
        leader: leader.to_owned(),
        size_bytes,
        rate,
        ..ShardInput::default()
    };
    let snapshot = SnapshotInput {
        brokers: brokers.iter().enumerate().map(broker).collect(),
        streams: vec![StreamInput {
            id: "s".to_owned(),
            ..StreamInput::default()
        }],
        shards: shards.iter().enumerate().map(shard).collect(),
        ..SnapshotInput::default()
    };
    let policy = PolicyInput {
        disk_watermark_percent: Some(100),
        ..PolicyInput::default()
    };
    validate::build(&snapshot, &policy).expect("valid")
}

fn lead(step: u32, shard: u32, from: u32, to: u32) -> Move {
    copy(step, shard, Role::Leader, from, to)
}

fn detour(step: Move) -> Move {
    Move {
        detour: true,
        ..step
    }
}

fn blocked(step: Move, cause: &str) -> Move {
    Move {
        blocked: Some(cause.to_owned()),
        ..step
    }
}

/// Two brokers with room for one shard of ten bytes and no more than two besides, and one with as much as given.
fn full(third: i64) -> Problem {
    let disks = [Some(12), Some(12), Some(third)].map(|disk| (disk, None));
    cluster(&disks, &[("b0", 10, 0), ("b1", 10, 0)])
}

fn swapped() -> [Assignment; 2] {
    [at(Some(1), &[]), at(Some(0), &[])]
}

#[test]
fn both_ends_of_a_running_copy_count() {
    let problem = full(20);
    let together = vec![lead(1, 0, 0, 1), lead(1, 1, 1, 0)];
    let faults = moves::check(&problem, &plan(swapped().to_vec(), together));
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let of = |b| {
        format!(
            "broker `{b}`: during step 1 there are 20 bytes of replicas where at most 12 are allowed"
        )
    };
    assert_eq!(said, [of("b0"), of("b1")]);
    assert_eq!(rules(&faults), [Rule::BrokerBytes]);
}

#[test]
fn a_broker_above_its_watermark_takes_nothing_while_it_gives() {
    let disks = [Some(5), None, None].map(|disk| (disk, None));
    let problem = cluster(&disks, &[("b0", 10, 0), ("b1", 1, 0)]);
    let placement = [at(Some(2), &[]), at(Some(0), &[])];
    let together = vec![lead(1, 0, 0, 2), lead(1, 1, 1, 0)];
    assert_eq!(found(&problem, &placement, together), [Rule::BrokerBytes]);
    let one_by_one = vec![lead(1, 0, 0, 2), lead(2, 1, 1, 0)];
    assert_eq!(found(&problem, &placement, one_by_one), []);
}

#[test]
fn rates_hold_after_every_step() {
    let capacities = [Some(5), Some(5)].map(|rate| (None, rate));
    let problem = cluster(&capacities, &[("b0", 0, 5), ("b1", 0, 4)]);
    let apart = vec![lead(1, 0, 0, 1), lead(2, 1, 1, 0)];
    assert_eq!(found(&problem, &swapped(), apart), [Rule::BrokerRate]);
    let together = vec![lead(1, 0, 0, 1), lead(1, 1, 1, 0)];
    assert_eq!(found(&problem, &swapped(), together), []);
}

#[test]
fn a_detour_is_two_marked_copies_and_leads_on() {
    let there = || detour(lead(1, 0, 0, 2));
    let (second, onward) = (|| lead(2, 1, 1, 0), || detour(lead(3, 0, 2, 1)));
    let check = |moves| found(&full(20), &swapped(), moves);
    assert_eq!(check(vec![there(), second(), onward()]), []);
    let unmarked = vec![lead(1, 0, 0, 2), second(), onward()];
    assert_eq!(check(unmarked), [Rule::MoveSplit]);
    let half_marked = vec![there(), second(), lead(3, 0, 2, 1)];
    assert_eq!(check(half_marked), [Rule::MoveSplit]);
    let stays = vec![there(), second()];
    assert_eq!(check(stays), [Rule::MoveSplit, Rule::MoveEnd]);
    let too_small = vec![there(), second(), onward()];
    let found = found(&full(9), &swapped(), too_small);
    assert_eq!(found, [Rule::BrokerBytes], "the lender has to have room");
}

#[test]
fn only_copies_make_detours() {
    let problem = full(20);
    let stay = [at(Some(0), &[]), at(Some(1), &[])];
    let step = detour(promotion(1, 0, Some(0), 1));
    assert_eq!(found(&problem, &stay, vec![step]), [Rule::MoveShape]);
}

#[test]
fn blocked_moves_are_not_made_and_lead_on_to_the_placement() {
    let check = |moves| found(&full(5), &swapped(), moves);
    let (first, second) = (|| blocked(lead(1, 0, 0, 1), "full"), || lead(2, 1, 1, 0));
    assert_eq!(check(vec![first(), blocked(second(), "full")]), []);
    assert_eq!(
        check(vec![first(), second()]),
        [Rule::StepNumbers],
        "what is made comes first"
    );
    assert_eq!(check(vec![first()]), [Rule::MoveEnd]);
    let silent = vec![blocked(lead(1, 0, 0, 1), ""), blocked(second(), "full")];
    assert_eq!(check(silent), [Rule::MoveShape, Rule::MoveEnd]);
}
