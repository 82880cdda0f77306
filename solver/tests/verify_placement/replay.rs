//! Moves are replayed from the present layout.

use shardflow_solver::cost::{Cost, Terms};
use shardflow_solver::input::{BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput};
use shardflow_solver::plan::{Move, MoveKind, MoveReason, Plan};
use shardflow_solver::snapshot::{
    Assignment, BrokerId, BrokerState, Problem, Role, Roles, ShardId,
};
use shardflow_solver::validate;
use shardflow_solver::verify::{Rule, moves, placement};

use crate::random::{self, Family, Random, legal_assignments, rules};

pub(crate) fn plan(placement: Vec<Assignment>, moves: Vec<Move>) -> Plan {
    Plan {
        placement,
        moves,
        before: (Cost::default(), Terms::default()),
        after: (Cost::default(), Terms::default()),
        spread: Vec::new(),
        shortfalls: Vec::new(),
        fingerprint: String::new(),
    }
}

pub(crate) fn a_move(
    step: u32,
    shard: u32,
    role: Role,
    kind: MoveKind,
    from: Option<u32>,
    to: Option<u32>,
) -> Move {
    Move {
        step,
        shard: ShardId(shard),
        role,
        from: from.map(BrokerId),
        to: to.map(BrokerId),
        kind,
        reason: MoveReason::Cost,
        detour: false,
        blocked: None,
        bytes: 0,
    }
}

pub(crate) fn promotion(step: u32, shard: u32, from: Option<u32>, to: u32) -> Move {
    a_move(
        step,
        shard,
        Role::Leader,
        MoveKind::Promotion,
        from,
        Some(to),
    )
}

pub(crate) fn copy(step: u32, shard: u32, role: Role, from: u32, to: u32) -> Move {
    a_move(step, shard, role, MoveKind::Copy, Some(from), Some(to))
}

pub(crate) fn at(leader: Option<u32>, followers: &[u32]) -> Assignment {
    Assignment {
        leader: leader.map(BrokerId),
        followers: followers.iter().copied().map(BrokerId).collect(),
    }
}

/// Brokers 0 to 2 are `ACTIVE` and may lead one shard each, 3 is `DOWN`, 4 is `DRAINING`.
fn cluster(shards: &[(&str, &[&str])]) -> Problem {
    let broker = |at: u32, state| BrokerInput {
        id: format!("b{at}"),
        state,
        max_leaders: (at < 3).then_some(1),
        ..BrokerInput::default()
    };
    let states = [BrokerState::Active; 3];
    let states = states
        .into_iter()
        .chain([BrokerState::Down, BrokerState::Draining]);
    let snapshot = SnapshotInput {
        brokers: (0..)
            .zip(states)
            .map(|(at, state)| broker(at, state))
            .collect(),
        streams: vec![StreamInput {
            id: "s".to_owned(),
            replication_factor: 2,
            ..StreamInput::default()
        }],
        shards: (0..)
            .zip(shards)
            .map(|(at, (leader, followers))| ShardInput {
                id: format!("s-{at}"),
                stream: "s".to_owned(),
                number: Some(at),
                leader: (*leader).to_owned(),
                followers: followers.iter().map(|&f| f.to_owned()).collect(),
                ..ShardInput::default()
            })
            .collect(),
        ..SnapshotInput::default()
    };
    validate::build(&snapshot, &PolicyInput::default()).expect("valid")
}

pub(crate) fn found(problem: &Problem, placement: &[Assignment], moves: Vec<Move>) -> Vec<Rule> {
    assert_eq!(
        placement::check(problem, placement).faults,
        [],
        "the placement itself is legal"
    );
    rules(&moves::check(problem, &plan(placement.to_vec(), moves)))
}

#[test]
fn roles_are_swapped_and_replicas_leave_in_one_step() {
    let problem = cluster(&[("b0", &["b1"])]);
    let swapped = [at(Some(1), &[0])];
    assert_eq!(
        found(&problem, &swapped, vec![promotion(1, 0, Some(0), 1)]),
        []
    );
    let moved = [at(Some(1), &[2])];
    let both = vec![
        copy(1, 0, Role::Follower, 0, 2),
        promotion(1, 0, Some(0), 1),
    ];
    assert_eq!(
        found(&problem, &moved, both),
        [],
        "in whatever order they are listed"
    );
    let deposed = [at(Some(2), &[0])];
    assert_eq!(
        found(&problem, &deposed, vec![copy(1, 0, Role::Leader, 1, 2)]),
        []
    );
}

#[test]
fn a_failover_may_be_promoted_in_an_earlier_step() {
    let problem = cluster(&[("b3", &["b4"])]);
    let placement = [at(Some(0), &[1])];
    let add = |step| a_move(step, 0, Role::Follower, MoveKind::Add, None, Some(1));
    let lead = |step| copy(step, 0, Role::Leader, 4, 0);
    let apart = vec![promotion(1, 0, Some(3), 4), lead(2), add(2)];
    assert_eq!(found(&problem, &placement, apart), []);
    let at_once = vec![promotion(1, 0, None, 4), lead(1), add(1)];
    assert_eq!(found(&problem, &placement, at_once), []);
    let straight = vec![lead(1), add(1)];
    assert_eq!(found(&problem, &placement, straight), []);
    let thrice = vec![promotion(1, 0, Some(3), 4), lead(2), add(3)];
    assert_eq!(found(&problem, &placement, thrice), [Rule::MoveSplit]);
    let late = vec![lead(1), add(2)];
    assert_eq!(found(&problem, &placement, late), [Rule::MoveSplit]);
}

#[test]
fn only_a_failover_is_promoted_ahead_of_the_rest() {
    let problem = cluster(&[("b0", &["b1"])]);
    let moves = vec![
        promotion(1, 0, Some(0), 1),
        copy(2, 0, Role::Follower, 0, 2),
    ];
    assert_eq!(
        found(&problem, &[at(Some(1), &[2])], moves),
        [Rule::MoveSplit]
    );
}

#[test]
fn caps_hold_after_every_step() {
    let problem = cluster(&[("b0", &["b1"]), ("b1", &["b2"])]);
    let placement = [at(Some(1), &[0]), at(Some(2), &[1])];
    let (first, second) = (promotion(1, 0, Some(0), 1), promotion(2, 1, Some(1), 2));
    assert_eq!(
        found(&problem, &placement, vec![first, second]),
        [Rule::BrokerLeaders, Rule::StepBreaches]
    );
    let (first, second) = (promotion(1, 1, Some(1), 2), promotion(2, 0, Some(0), 1));
    assert_eq!(found(&problem, &placement, vec![first, second.clone()]), []);
    let together = vec![promotion(1, 0, Some(0), 1), promotion(1, 1, Some(1), 2)];
    assert_eq!(found(&problem, &placement, together), []);
}

#[test]
fn a_breach_that_has_shrunk_does_not_grow_again() {
    let problem = cluster(&[("b0", &["b1"]), ("b0", &["b2"]), ("b4", &["b0"])]);
    let placement = [at(Some(1), &[0]), at(Some(0), &[2]), at(Some(0), &[4])];
    let (out, back) = (promotion(1, 0, Some(0), 1), promotion(2, 2, Some(4), 0));
    assert_eq!(
        found(&problem, &placement, vec![out, back]),
        [Rule::BrokerLeaders]
    );
    let together = vec![promotion(1, 0, Some(0), 1), promotion(1, 2, Some(4), 0)];
    assert_eq!(found(&problem, &placement, together), []);
}

#[test]
fn breaches_of_different_kinds_are_added_up_after_every_step() {
    let problem = cluster(&[("b4", &["b0"]), ("b1", &["b4"])]);
    let placement = [at(Some(0), &[4]), at(Some(4), &[1])];
    let (onto, off) = (promotion(1, 1, Some(1), 4), promotion(2, 0, Some(4), 0));
    assert_eq!(
        found(&problem, &placement, vec![onto.clone(), off]),
        [Rule::StepBreaches]
    );
    let together = vec![promotion(1, 0, Some(4), 0), onto];
    assert_eq!(found(&problem, &placement, together), []);
    let (off, onto) = (promotion(1, 0, Some(4), 0), promotion(2, 1, Some(1), 4));
    assert_eq!(
        found(&problem, &placement, vec![off, onto]),
        [Rule::StepBreaches],
        "what has fallen below its end has to grow again"
    );
}

#[test]
fn a_plan_that_pays_with_breaches_goes_no_further_than_its_end() {
    let problem = cluster(&[("b4", &["b0"]), ("b1", &["b4"]), ("b2", &["b4"])]);
    let placement = [at(Some(0), &[4]), at(Some(4), &[1]), at(Some(4), &[2])];
    let onto = |step, shard, from| promotion(step, shard, Some(from), 4);
    let off = |step| promotion(step, 0, Some(4), 0);
    let far = vec![onto(1, 1, 1), onto(2, 2, 2), off(3)];
    assert_eq!(found(&problem, &placement, far), [Rule::StepBreaches]);
    let near = vec![onto(1, 1, 1), off(2), onto(3, 2, 2)];
    assert_eq!(found(&problem, &placement, near), []);
}

#[test]
fn a_failover_is_worth_the_leader_it_puts_on_a_draining_broker() {
    let problem = cluster(&[("b3", &["b4"]), ("b4", &["b0"]), ("b1", &["b4"])]);
    let rest = [at(Some(0), &[4]), at(Some(4), &[1])];
    let placement = |first: Assignment| [vec![first], rest.to_vec()].concat();
    let (lead, add) = (
        promotion(1, 0, Some(3), 4),
        a_move(2, 0, Role::Follower, MoveKind::Add, None, Some(2)),
    );
    let swap = |step| {
        vec![
            promotion(step, 1, Some(4), 0),
            promotion(step, 2, Some(1), 4),
        ]
    };
    let moves = |swap: Vec<Move>| [vec![lead.clone(), add.clone()], swap].concat();
    let plan = placement(at(Some(4), &[2]));
    assert_eq!(found(&problem, &plan, moves(swap(3))), []);
    let mut apart = moves(swap(3));
    apart[3].step = 4;
    assert_eq!(found(&problem, &plan, apart), [Rule::StepBreaches]);
    let mut ahead = moves(swap(3));
    ahead.swap(2, 3);
    ahead[3].step = 4;
    assert_eq!(
        found(&problem, &plan, ahead),
        [Rule::StepBreaches],
        "the failover's worth is its own"
    );
}

#[test]
fn moves_from_nowhere_and_to_brokers_that_may_not_are_found() {
    let problem = cluster(&[("b0", &["b1", "b3"])]);
    let stay = [at(Some(0), &[1])];
    let one = |step: Move| found(&problem, &stay, vec![step]);
    assert_eq!(one(copy(1, 0, Role::Follower, 2, 1)), [Rule::MoveSource]);
    assert_eq!(
        one(copy(1, 0, Role::Follower, 3, 2)),
        [Rule::MoveSource],
        "it is lost"
    );
    assert_eq!(
        one(copy(1, 0, Role::Follower, 1, 0)),
        [Rule::MoveTarget],
        "it holds one"
    );
    assert_eq!(
        one(copy(1, 0, Role::Follower, 1, 4)),
        [Rule::MoveTarget],
        "it drains"
    );
    assert_eq!(one(promotion(1, 0, Some(0), 2)), [Rule::MoveTarget]);
    assert_eq!(one(promotion(1, 0, Some(0), 3)), [Rule::MoveTarget]);
    assert_eq!(one(promotion(1, 0, Some(0), 0)), [Rule::MoveTarget]);
    assert_eq!(one(promotion(1, 0, Some(1), 1)), [Rule::MoveSource]);
    assert_eq!(
        one(promotion(1, 0, None, 1)),
        [Rule::MoveSource],
        "another one leads"
    );
    let twice = vec![promotion(1, 0, Some(0), 1), promotion(1, 0, Some(1), 0)];
    assert_eq!(
        found(&problem, &stay, twice),
        [Rule::MoveTarget, Rule::MoveEnd]
    );
}

#[test]
fn a_replica_leaves_only_once_and_none_arrives_twice() {
    let problem = cluster(&[("b0", &["b1"])]);
    let moved = [at(Some(0), &[2])];
    let away = || copy(1, 0, Role::Follower, 1, 2);
    let remove = a_move(1, 0, Role::Follower, MoveKind::Remove, Some(1), None);
    assert_eq!(
        found(&problem, &moved, vec![away(), remove]),
        [Rule::MoveSource]
    );
    let add = a_move(1, 0, Role::Follower, MoveKind::Add, None, Some(2));
    assert_eq!(
        found(&problem, &moved, vec![away(), add]),
        [Rule::MoveTarget]
    );
}

#[test]
fn malformed_moves_are_found() {
    let problem = cluster(&[("b0", &["b1"])]);
    let stay = [at(Some(0), &[1])];
    let shape = |kind, from, to| {
        found(
            &problem,
            &stay,
            vec![a_move(1, 0, Role::Follower, kind, from, to)],
        )
    };
    assert_eq!(shape(MoveKind::Copy, None, Some(2)), [Rule::MoveShape]);
    assert_eq!(shape(MoveKind::Copy, Some(1), None), [Rule::MoveShape]);
    assert_eq!(shape(MoveKind::Add, Some(1), Some(2)), [Rule::MoveShape]);
    assert_eq!(shape(MoveKind::Remove, Some(1), Some(2)), [Rule::MoveShape]);
    assert_eq!(shape(MoveKind::Remove, None, None), [Rule::MoveShape]);
    assert_eq!(shape(MoveKind::Promotion, Some(0), None), [Rule::MoveShape]);
    assert_eq!(shape(MoveKind::Copy, Some(1), Some(77)), [Rule::UnknownId]);
    assert_eq!(
        found(&problem, &stay, vec![promotion(1, 9, None, 1)]),
        [Rule::UnknownId]
    );
}

#[test]
fn steps_count_from_one_without_holes() {
    let problem = cluster(&[("b0", &["b1"]), ("b1", &["b2"])]);
    let placement = [at(Some(1), &[0]), at(Some(2), &[1])];
    let steps = |first, second| {
        let moves = vec![
            promotion(first, 1, Some(1), 2),
            promotion(second, 0, Some(0), 1),
        ];
        found(&problem, &placement, moves)
    };
    assert_eq!(steps(1, 2), []);
    assert_eq!(steps(0, 1), [Rule::StepNumbers]);
    assert_eq!(steps(1, 3), [Rule::StepNumbers]);
    assert_eq!(steps(2, 3), [Rule::StepNumbers]);
    assert_eq!(
        rules(&moves::check(
            &problem,
            &plan(
                placement.to_vec(),
                vec![promotion(2, 0, Some(0), 1), promotion(1, 1, Some(1), 2),]
            )
        )),
        [Rule::StepNumbers]
    );
}

#[test]
fn lost_replicas_disappear_without_a_move_and_none_appear() {
    let problem = cluster(&[("b0", &["b1", "b3"])]);
    let stay = [at(Some(0), &[1])];
    assert_eq!(found(&problem, &stay, Vec::new()), []);
    let invented = plan(vec![at(Some(0), &[1, 4])], Vec::new());
    assert_eq!(rules(&moves::check(&problem, &invented)), [Rule::MoveEnd]);
    let unknown = plan(vec![at(Some(0), &[1, 40])], Vec::new());
    assert_eq!(rules(&moves::check(&problem, &unknown)), [Rule::MoveEnd]);
    let short = plan(Vec::new(), Vec::new());
    assert_eq!(
        rules(&moves::check(&problem, &short)),
        [Rule::AssignmentCount]
    );
}

/// All the moves to a placement, in one step.
fn in_one_step(problem: &Problem, placement: &[Assignment]) -> Vec<Move> {
    let mut moves = Vec::new();
    for (at, (shard, then)) in (0..).zip(problem.shards.iter().zip(placement)) {
        let now: Vec<u32> = problem.live(&shard.present).map(|b| b.0).collect();
        let live: Vec<u32> = problem.live(then).map(|b| b.0).collect();
        let leader = then.leader.map(|b| b.0);
        if let Some(to) = leader.filter(|to| now.contains(to)) {
            let from = shard.present.leader.map(|b| b.0);
            if from != Some(to) {
                moves.push(promotion(1, at, from, to));
            }
        }
        let mut leaving = now.iter().copied().filter(|b| !live.contains(b));
        for to in live.iter().copied().filter(|b| !now.contains(b)) {
            let role = if leader == Some(to) {
                Role::Leader
            } else {
                Role::Follower
            };
            moves.push(match leaving.next() {
                Some(from) => copy(1, at, role, from, to),
                None => a_move(1, at, role, MoveKind::Add, None, Some(to)),
            });
        }
        moves.extend(
            leaving.map(|from| a_move(1, at, Role::Follower, MoveKind::Remove, Some(from), None)),
        );
    }
    moves
}

#[test]
fn any_legal_placement_is_reached_and_no_move_can_be_left_out() {
    let mut moved = 0;
    for seed in 0..4000 {
        let mut random = Random::new(90_000 + seed);
        let roles = match seed % 4 {
            0 => Roles::LeadershipOnly,
            _ => Roles::LeadersAndFollowers,
        };
        let family = Family {
            brokers: 4,
            shards: 4,
            factor: 3,
            roles,
            zones: 2,
            is_uncoupled: false,
            is_leaderless: false,
            has_loads: false,
        };
        let problem = random::problem(&mut random, family);
        let options = legal_assignments(&problem);
        let mut draw =
            |of: &Vec<Assignment>| of[random.up_to(of.len() as u32 - 1) as usize].clone();
        let placement: Vec<Assignment> = options.iter().map(&mut draw).collect();
        if !placement::check(&problem, &placement).faults.is_empty() {
            continue;
        }
        let moves = in_one_step(&problem, &placement);
        let complete = plan(placement.clone(), moves.clone());
        assert_eq!(
            moves::check(&problem, &complete),
            [],
            "seed {seed}: {complete:?} in {problem:#?}"
        );
        for left_out in 0..moves.len() {
            let mut rest = moves.clone();
            rest.remove(left_out);
            let found = rules(&moves::check(&problem, &plan(placement.clone(), rest)));
            assert!(
                found.contains(&Rule::MoveEnd),
                "seed {seed}: {left_out} of {moves:?}"
            );
            moved += 1;
        }
    }
    assert!(moved > 2000, "only {moved} moves were tried");
}
