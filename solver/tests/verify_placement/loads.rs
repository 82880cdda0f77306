//! Bytes, rates and the number of moves: what breaks a rule on them is found, and what they cost is exact.

use shardflow_solver::certificate::Certificate;
use shardflow_solver::cost::{Cost, Rank, evaluate};
use shardflow_solver::input::{
    BalanceInput, BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput,
};
use shardflow_solver::snapshot::{Assignment, BrokerId, BrokerState, Dimension, Problem};
use shardflow_solver::validate;
use shardflow_solver::verify::Rule;
use shardflow_solver::verify::bound::bound;
use shardflow_solver::verify::placement::{Checked, check};

use crate::random::rules;

const A: u32 = 0;
const B: u32 = 1;
const C: u32 = 2;

/// Three brokers; `a` leads two shards of a stream of two replicas, `b` follows; 10 and 20 bytes, rates 3 and 5.
fn snapshot() -> SnapshotInput {
    let broker = |id: &str| BrokerInput {
        id: id.to_owned(),
        ..BrokerInput::default()
    };
    let shard = |id: &str, size_bytes, rate| ShardInput {
        id: id.to_owned(),
        stream: "orders".to_owned(),
        leader: "a".to_owned(),
        followers: vec!["b".to_owned()],
        size_bytes,
        rate,
        ..ShardInput::default()
    };
    SnapshotInput {
        brokers: vec![broker("a"), broker("b"), broker("c")],
        streams: vec![StreamInput {
            id: "orders".to_owned(),
            replication_factor: 2,
            ..StreamInput::default()
        }],
        shards: vec![shard("orders-0", 10, 3), shard("orders-1", 20, 5)],
        ..SnapshotInput::default()
    }
}

fn build(snapshot: &SnapshotInput, policy: &PolicyInput) -> Problem {
    validate::build(snapshot, policy).expect("valid")
}

fn at(leader: u32, follower: u32) -> Assignment {
    Assignment {
        leader: Some(BrokerId(leader)),
        followers: vec![BrokerId(follower)],
    }
}

/// Checks the two shards and that the other implementation measures the same.
fn checked(problem: &Problem, plan: [Assignment; 2]) -> Checked {
    let checked = check(problem, &plan);
    assert_eq!((checked.cost, checked.terms), evaluate(problem, &plan));
    checked
}

fn said(checked: &Checked) -> Vec<String> {
    checked.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn bytes_beyond_the_watermark_are_found_and_measured() {
    let mut snapshot = snapshot();
    snapshot.brokers[C as usize].disk_bytes = Some(45);
    snapshot.brokers[C as usize].disk_used_bytes = 11;
    let problem = build(&snapshot, &PolicyInput::default());
    // 90 % of 45, rounded down, less 11: room for 29.
    let both = checked(&problem, [at(A, C), at(A, C)]);
    assert_eq!(rules(&both.faults), [Rule::BrokerBytes]);
    assert_eq!(
        said(&both),
        ["broker `c`: the plan has 30 bytes of replicas where at most 29 are allowed"]
    );
    assert_eq!(both.cost[Rank::DiskExcess], 1);
    let one = checked(&problem, [at(A, C), at(A, B)]);
    assert_eq!((one.faults.len(), one.cost[Rank::DiskExcess]), (0, 0));
}

#[test]
fn bytes_that_are_there_may_stay_and_not_grow() {
    let mut snapshot = snapshot();
    snapshot.brokers[A as usize].disk_bytes = Some(10);
    snapshot.brokers[A as usize].disk_used_bytes = 15;
    snapshot.shards[0].leader = "c".to_owned();
    let problem = build(&snapshot, &PolicyInput::default());
    // `a` holds 20 bytes where there is room for 9 − 15.
    let stay = checked(&problem, [at(C, B), at(A, B)]);
    assert_eq!((stay.faults.len(), stay.cost[Rank::DiskExcess]), (0, 26));
    let swapped = checked(&problem, [at(C, A), at(C, B)]);
    assert_eq!(
        (swapped.faults.len(), swapped.cost[Rank::DiskExcess]),
        (0, 16)
    );
    let grown = checked(&problem, [at(C, A), at(A, B)]);
    assert_eq!(
        said(&grown),
        ["broker `a`: the plan has 30 bytes of replicas where at most 20 are allowed"]
    );
}

#[test]
fn a_broker_that_is_down_is_never_too_full() {
    let mut snapshot = snapshot();
    let broker = &mut snapshot.brokers[B as usize];
    broker.state = BrokerState::Down;
    (broker.disk_bytes, broker.disk_used_bytes) = (Some(1), 100);
    let problem = build(&snapshot, &PolicyInput::default());
    let stay = checked(&problem, [at(A, B), at(A, B)]);
    assert_eq!((stay.faults.len(), stay.cost[Rank::DiskExcess]), (0, 0));
}

#[test]
fn rates_beyond_the_capacity_are_found_and_measured() {
    let mut snapshot = snapshot();
    snapshot.brokers[B as usize].rate_capacity = Some(7);
    let problem = build(&snapshot, &PolicyInput::default());
    let both = checked(&problem, [at(B, A), at(B, A)]);
    assert_eq!(
        said(&both),
        ["broker `b`: the plan has 8 units of rate where at most 7 are allowed"]
    );
    assert_eq!(rules(&both.faults), [Rule::BrokerRate]);
    assert_eq!(both.cost[Rank::RateExcess], 1);
    assert_eq!(checked(&problem, [at(B, A), at(A, B)]).faults, []);
    snapshot.brokers[A as usize].rate_capacity = Some(1);
    let problem = build(&snapshot, &PolicyInput::default());
    let stay = checked(&problem, [at(A, B), at(A, B)]);
    assert_eq!((stay.faults.len(), stay.cost[Rank::RateExcess]), (0, 7));
}

#[test]
fn changes_to_settled_shards_are_counted() {
    let limited = |max_moves| PolicyInput {
        max_moves: Some(max_moves),
        ..PolicyInput::default()
    };
    let found = |snapshot: &SnapshotInput, most, plan| {
        rules(&checked(&build(snapshot, &limited(most)), plan).faults)
    };
    let promoted_and_copied = || [at(B, C), at(A, B)];
    assert_eq!(found(&snapshot(), 2, promoted_and_copied()), []);
    assert_eq!(
        found(&snapshot(), 1, promoted_and_copied()),
        [Rule::MaxMoves]
    );
    assert_eq!(
        found(&snapshot(), 0, [at(B, A), at(A, B)]),
        [Rule::MaxMoves]
    );
    assert_eq!(
        found(&snapshot(), 0, [at(A, C), at(A, B)]),
        [Rule::MaxMoves]
    );
    assert_eq!(found(&snapshot(), 0, [at(A, B), at(A, B)]), []);
    let both = checked(&build(&snapshot(), &limited(3)), [at(B, C), at(C, B)]);
    assert_eq!(both.faults, [], "a copy that leads is one change");
    let more = checked(&build(&snapshot(), &limited(2)), [at(B, C), at(C, B)]);
    let sentence = "the plan makes 3 changes to shards that need none where at most 2 are allowed";
    assert_eq!(said(&more), [sentence]);
    let mut drained = snapshot();
    drained.brokers[B as usize].state = BrokerState::Draining;
    let repaired = [at(A, C), at(C, A)];
    assert_eq!(found(&drained, 0, repaired), [], "neither is settled");
    let mut one_lost = snapshot();
    one_lost.shards[0].followers.clear();
    let plan = [at(C, B), at(A, B)];
    assert_eq!(found(&one_lost, 0, plan), [], "it lacks a replica");
}

#[test]
fn a_load_above_its_share_and_tolerance_is_measured() {
    let mut snapshot = snapshot();
    snapshot.brokers[C as usize].share = Some(2);
    let balance = |dimension, tolerance_percent| PolicyInput {
        balance: Some(BalanceInput {
            dimension,
            tolerance_percent,
        }),
        ..PolicyInput::default()
    };
    let excess = |snapshot: &SnapshotInput, policy: &PolicyInput, plan| {
        checked(&build(snapshot, policy), plan).cost[Rank::BalanceExcess]
    };
    let stay = || [at(A, B), at(A, B)];
    // Rates: 8 in four shares, 10 % more: 2.2 each, `a` has 8.
    let rates = balance(Dimension::Rate, 10);
    assert_eq!(excess(&snapshot, &rates, stay()), 6);
    assert_eq!(excess(&snapshot, &rates, [at(C, B), at(A, B)]), 3);
    // Bytes: 60 in four shares: 15 each, `a` and `b` have 30; half as much again: 22.
    assert_eq!(excess(&snapshot, &balance(Dimension::Bytes, 0), stay()), 30);
    assert_eq!(
        excess(&snapshot, &balance(Dimension::Bytes, 50), stay()),
        16
    );
    snapshot.brokers[B as usize].state = BrokerState::Draining;
    // `b` takes no part: 60 in three shares.
    assert_eq!(excess(&snapshot, &balance(Dimension::Bytes, 0), stay()), 10);
    for broker in &mut snapshot.brokers {
        broker.share = Some(0);
    }
    assert_eq!(excess(&snapshot, &rates, stay()), 0, "no share, no balance");
}

/// What no broker has room for is an excess that the bound knows of, whatever the prices.
#[test]
fn what_is_too_much_for_any_broker_is_proven() {
    let proven = |change: fn(&mut BrokerInput), balance: Option<BalanceInput>| {
        let mut snapshot = snapshot();
        snapshot.brokers.iter_mut().for_each(change);
        let policy = PolicyInput {
            balance,
            disk_watermark_percent: Some(50),
            ..PolicyInput::default()
        };
        let problem = build(&snapshot, &policy);
        let bound = bound(&problem, &Certificate::default()).expect("prices of the right shape");
        Rank::ALL.map(|rank| bound.0[rank as usize])
    };
    // Replicas of 10 and 20 bytes, two each, where 5 have room.
    let bytes = proven(|broker| broker.disk_bytes = Some(10), None);
    assert_eq!(bytes[Rank::DiskExcess as usize], 2 * 5 + 2 * 15);
    // Rates of 3 and 5 where 1 is within the capacity.
    let rates = proven(|broker| broker.rate_capacity = Some(1), None);
    assert_eq!(rates[Rank::RateExcess as usize], 2 + 4);
    // The same where each broker's part is 2.
    let balance = BalanceInput {
        dimension: Dimension::Rate,
        tolerance_percent: 0,
    };
    let level = proven(|_| {}, Some(balance));
    assert_eq!(level[Rank::BalanceExcess as usize], 1 + 3);
    let plan = [at(A, B), at(B, A)];
    let policy = PolicyInput {
        balance: Some(balance),
        ..PolicyInput::default()
    };
    let best = checked(&build(&snapshot(), &policy), plan);
    assert_eq!(best.cost[Rank::BalanceExcess], 1 + 3);
}

#[test]
fn the_largest_loads_do_not_wrap() {
    let mut snapshot = snapshot();
    snapshot.shards[0].size_bytes = i64::MAX / 8;
    snapshot.shards[1].size_bytes = i64::MAX / 16;
    snapshot.shards[0].rate = i64::MAX / 2;
    snapshot.shards[1].rate = i64::MAX / 2;
    for broker in &mut snapshot.brokers {
        broker.disk_bytes = Some(i64::MAX);
        broker.share = Some(u32::MAX);
        broker.rate_capacity = Some(i64::MAX / 3);
    }
    for dimension in [Dimension::Rate, Dimension::Bytes] {
        let policy = PolicyInput {
            disk_watermark_percent: Some(100),
            balance: Some(BalanceInput {
                dimension,
                tolerance_percent: u32::MAX,
            }),
            ..PolicyInput::default()
        };
        let problem = build(&snapshot, &policy);
        let stay = checked(&problem, [at(A, B), at(A, B)]);
        assert_eq!((stay.faults.len(), stay.cost[Rank::BalanceExcess]), (0, 0));
        assert_eq!(stay.cost[Rank::DiskExcess], 0);
        let led = (i64::MAX / 2) * 2 - i64::MAX / 3;
        assert_eq!(stay.cost[Rank::RateExcess], led);
    }
    // More bytes than any report holds, listed twice: a fault, and no panic.
    let mut problem = build(&snapshot, &PolicyInput::default());
    problem.shards[0].size_bytes = i64::MAX;
    problem.shards[1].size_bytes = i64::MAX;
    problem.brokers[A as usize].disk_used_bytes = i64::MAX;
    let wide = check(&problem, &[at(A, A), at(A, A)]);
    assert!(rules(&wide.faults).contains(&Rule::Overflow));
    assert_ne!(wide.cost, Cost::default());
}
