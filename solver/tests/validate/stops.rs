//! A build can be stopped, and asks often enough whether it should.

use std::cell::Cell;

use shardflow_solver::budget::{ITEMS, Stop, never};
use shardflow_solver::input::{
    BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput, TrafficSourceInput,
};
use shardflow_solver::validate::{BuildError, build, build_within};

const SHARDS: usize = 4 * ITEMS;

fn snapshot() -> SnapshotInput {
    let named = |id: &str| id.to_owned();
    let shard = |at: usize| ShardInput {
        id: format!("s-{at}"),
        stream: named("s"),
        number: Some((SHARDS - at) as u32),
        leader: named("b"),
        sources: vec![TrafficSourceInput {
            zones: vec![named("z"), named("z")],
            weight: 3,
        }],
        ..ShardInput::default()
    };
    SnapshotInput {
        brokers: vec![BrokerInput {
            id: named("b"),
            zone: named("z"),
            ..BrokerInput::default()
        }],
        streams: vec![StreamInput {
            id: named("s"),
            ..StreamInput::default()
        }],
        shards: (0..SHARDS).map(shard).collect(),
        ..SnapshotInput::default()
    }
}

#[test]
fn a_build_stops_at_every_poll_it_makes() {
    let (snapshot, policy) = (snapshot(), PolicyInput::default());
    let polls = Cell::new(0);
    let count = || {
        polls.set(polls.get() + 1);
        None
    };
    let whole = build_within(&snapshot, &policy, &count).expect("valid");
    assert_eq!(whole.shards.len(), SHARDS);
    // Every pass over the shards asks: ids, layouts, ranges, starts, order, shards, counts.
    let most = polls.get();
    assert!(most >= 7 * SHARDS / ITEMS, "{most} polls");
    for last in 0..most {
        let left = Cell::new(last);
        let stop = || match left.get() {
            0 => Some(Stop::TimeBudget),
            n => {
                left.set(n - 1);
                None
            }
        };
        let stopped = build_within(&snapshot, &policy, &stop);
        assert_eq!(stopped.err(), Some(BuildError::Stopped(Stop::TimeBudget)));
    }
}

#[test]
fn one_that_is_not_stopped_finds_what_build_finds() {
    let mut snapshot = snapshot();
    let policy = PolicyInput::default();
    let one = build(&snapshot, &policy).expect("valid");
    let other = build_within(&snapshot, &policy, &never).expect("valid");
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
    snapshot.shards[3].leader = "nobody".to_owned();
    let rejection = build(&snapshot, &policy).expect_err("an unknown broker");
    let found = build_within(&snapshot, &policy, &never).err();
    assert_eq!(found, Some(BuildError::Rejected(rejection)));
}

/// Numbers that go up, down and about, with and without gaps: each repeated one is found, and only those.
#[test]
fn repeated_numbers_are_found_in_whatever_order() {
    let lists: [(&[u32], &[usize]); 6] = [
        (&[0, 1, 2, 3], &[]),
        (&[3, 2, 1, 0, 3], &[4]),
        (&[5, 7, 6, 8, 7, 6, 5, 8], &[4, 5, 6, 7]),
        (&[1, 3, 2, 3, 4, 4], &[3, 5]),
        (&[u32::MAX, 0, u32::MAX, 1, 0], &[2, 4]),
        (&[2, 4, 3, 5, 4], &[4]),
    ];
    for (numbers, repeated) in lists {
        let mut snapshot = snapshot();
        snapshot.shards.truncate(numbers.len());
        for (shard, &number) in snapshot.shards.iter_mut().zip(numbers) {
            shard.number = Some(number);
        }
        let found = build(&snapshot, &PolicyInput::default());
        let found = found.map_or_else(|rejection| rejection.invalid, |_| Vec::new());
        let paths: Vec<String> = found.into_iter().map(|finding| finding.path).collect();
        let expected = repeated
            .iter()
            .map(|i| format!("snapshot.shards[{i}].number"));
        assert_eq!(paths, expected.collect::<Vec<_>>(), "{numbers:?}");
    }
}
