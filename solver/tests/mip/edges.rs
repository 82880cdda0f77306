//! Nothing to decide, starts that are not legal, limits, and numbers that no float holds.

use shardflow_solver::budget::{Budget, Stop, never};
use shardflow_solver::cost::{Rank, evaluate};
use shardflow_solver::input::{BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput};
use shardflow_solver::mip::{self, Effort, Outcome, Status};
use shardflow_solver::model::current;
use shardflow_solver::snapshot::{Assignment, Problem, ShardId};
use shardflow_solver::validate;

use crate::joint_common::random::{Mood, Size, TINY, problem};
use crate::joint_common::{faults, optimum};

fn solve(problem: &Problem, start: &[Assignment], effort: Effort) -> Outcome {
    let mut budget = Budget::new(None, &never);
    mip::solve(problem, start, None, effort, &mut budget).expect("nothing asks to stop")
}

/// `brokers` in three zones, one stream, and what `shard` makes of each number below `shards`.
fn cluster(
    brokers: usize,
    factor: u32,
    shards: usize,
    shard: impl Fn(usize) -> ShardInput,
) -> SnapshotInput {
    SnapshotInput {
        brokers: (0..brokers)
            .map(|b| BrokerInput {
                id: format!("b{b:03}"),
                zone: format!("z{}", b % 3),
                ..BrokerInput::default()
            })
            .collect(),
        streams: vec![StreamInput {
            id: "s".into(),
            replication_factor: factor,
            ..StreamInput::default()
        }],
        shards: (0..shards)
            .map(|i| ShardInput {
                id: format!("p{i:05}"),
                stream: "s".into(),
                ..shard(i)
            })
            .collect(),
        ..SnapshotInput::default()
    }
}

#[test]
fn with_nothing_free_the_start_is_proven() {
    let problem = problem(7, TINY, Mood::Wild);
    let start = current::placement(&problem);
    let mut budget = Budget::new(None, &never);
    let outcome = mip::solve(&problem, &start, Some(&[]), Effort::default(), &mut budget);
    let outcome = outcome.expect("nothing asks to stop");
    assert_eq!((outcome.status, outcome.stop), (Status::Optimal, None));
    assert_eq!(outcome.placement, start);
    assert_eq!(outcome.bounds, outcome.cost.0.map(Some));
}

#[test]
fn a_start_that_is_not_legal_is_refused() {
    let shard = |i: usize| ShardInput {
        leader: format!("b00{}", i % 3),
        followers: vec![format!("b00{}", (i + 1) % 3)],
        ..ShardInput::default()
    };
    let policy = PolicyInput {
        max_moves: Some(0),
        ..PolicyInput::default()
    };
    let problem = validate::build(&cluster(4, 2, 3, shard), &policy).expect("a valid cluster");
    let mut start = current::placement(&problem);
    let mut moved = start[0].clone();
    moved.leader = problem.broker_ids().last();
    start[0] = moved;
    let outcome = solve(&problem, &start, Effort::default());
    assert_eq!(outcome.status, Status::Refused);
    assert_eq!(outcome.placement, start);
    assert_eq!(outcome.cost, evaluate(&problem, &start).0);
    start[0].followers = vec![start[0].leader.expect("it has one")];
    assert_eq!(
        solve(&problem, &start, Effort::default()).status,
        Status::Refused
    );
}

#[test]
fn what_is_too_large_is_not_built() {
    let problem = validate::build(
        &cluster(100, 3, 2_000, |_| ShardInput::default()),
        &PolicyInput::default(),
    );
    let problem = problem.expect("a valid cluster");
    let start = current::placement(&problem);
    let outcome = solve(&problem, &start, Effort::default());
    assert_eq!(outcome.status, Status::TooLarge);
    assert_eq!(outcome.placement, start);
    assert_eq!(outcome.size, mip::Size::default());
    assert!(mip::size(&problem, None).columns > mip::COLUMNS_MAX);
    let few: Vec<ShardId> = problem.shard_ids().take(20).collect();
    assert!(mip::size(&problem, Some(&few)).columns < mip::COLUMNS_MAX);
}

#[test]
fn no_more_is_built_than_the_size_says() {
    let size = Size {
        shards: 9,
        brokers: 7,
        zones: 3,
        streams: 3,
        factor: 4,
    };
    let effort = Effort {
        nodes_max: Some(0),
        seconds_max: None,
    };
    for seed in 0..60 {
        let problem = problem(seed, size, Mood::Wild);
        let outcome = solve(&problem, &current::placement(&problem), effort);
        let told = mip::size(&problem, None);
        assert!(
            outcome.size.columns <= told.columns,
            "seed {seed}: {:?} {told:?}",
            outcome.size
        );
        assert!(
            outcome.size.rows <= told.rows,
            "seed {seed}: {:?} {told:?}",
            outcome.size
        );
    }
}

#[test]
fn few_nodes_give_true_bounds_and_the_same_answer_again() {
    let mut open = 0;
    for seed in 300..360 {
        let problem = problem(seed, TINY, Mood::Wild);
        let start = current::placement(&problem);
        let Some(best) = optimum(&problem, 20_000) else {
            continue;
        };
        let effort = Effort {
            nodes_max: Some(0),
            seconds_max: None,
        };
        let outcome = solve(&problem, &start, effort);
        assert_eq!(outcome, solve(&problem, &start, effort), "seed {seed}");
        assert!(outcome.cost <= evaluate(&problem, &start).0, "seed {seed}");
        assert_eq!(
            faults(&problem, &outcome.placement),
            Vec::<String>::new(),
            "seed {seed}"
        );
        open += u32::from(outcome.status != Status::Optimal);
        for rank in Rank::ALL {
            // Where they differ it is the first rank that is not proven: what is proven is the optimum.
            let bound = outcome.bounds[rank as usize];
            assert!(
                bound.is_none_or(|bound| bound <= best.cost[rank]),
                "seed {seed}: {rank:?}"
            );
        }
    }
    assert!(open > 0);
}

#[test]
fn a_work_limit_stops_before_a_run() {
    let problem = problem(10, TINY, Mood::Wild);
    let start = current::placement(&problem);
    let mut budget = Budget::new(Some(2_000), &never);
    let outcome = mip::solve(&problem, &start, None, Effort::default(), &mut budget);
    let outcome = outcome.expect("the start is judged");
    assert_eq!(outcome.stop, Some(Stop::WorkLimit));
    assert_eq!(outcome.placement, start);
}

#[test]
fn numbers_beyond_floats_lose_no_placement() {
    let shard = |i: usize| ShardInput {
        leader: format!("b00{}", i % 2),
        size_bytes: (1 << 58) + [3, 1, 4][i],
        ..ShardInput::default()
    };
    let mut snapshot = cluster(4, 1, 3, shard);
    for (broker, size) in
        snapshot
            .brokers
            .iter_mut()
            .zip([1 << 58, 1 << 59, (1 << 58) + 3, 1 << 57])
    {
        broker.disk_bytes = Some(size);
    }
    let policy = PolicyInput {
        disk_watermark_percent: Some(100),
        ..PolicyInput::default()
    };
    let problem = validate::build(&snapshot, &policy).expect("a valid cluster");
    let outcome = solve(&problem, &current::placement(&problem), Effort::default());
    let best = optimum(&problem, 1_000).expect("few placements");
    assert_eq!(faults(&problem, &outcome.placement), Vec::<String>::new());
    assert_eq!(outcome.cost[Rank::Breaches], best.cost[Rank::Breaches]);
    for rank in Rank::ALL {
        let bound = outcome.bounds[rank as usize];
        assert!(
            bound.is_none_or(|bound| bound <= best.cost[rank]),
            "{rank:?}"
        );
    }
}
