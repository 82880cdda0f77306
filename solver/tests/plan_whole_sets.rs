//! Moves to placements of whole replica sets, whatever made them: random legal targets for factors 1 to 4.

mod plan_common;

use plan_common::random::{Random, legal_target, loaded_cluster, whole_cluster};
use plan_common::{Live, breaches, check, layouts};
use shardflow_solver::cost::Rank;
use shardflow_solver::plan::{self, Move, MoveKind, Plan};
use shardflow_solver::snapshot::{Assignment, BrokerId, BrokerState, Problem, Roles, Shard};
use shardflow_solver::verify;

/// How many copies and additions, promotions and removals a shard needs.
fn needed(problem: &Problem, shard: &Shard, planned: &Assignment) -> (usize, usize, usize) {
    let (now, then) = (
        Live::of(problem, &shard.present),
        Live::of(problem, planned),
    );
    let held = |live: &Live| -> Vec<BrokerId> {
        let leader = live.leader.into_iter();
        leader.chain(live.followers.iter().copied()).collect()
    };
    let (before, after) = (held(&now), held(&then));
    let arriving = after.iter().filter(|b| !before.contains(b)).count();
    let leaving = before.iter().filter(|b| !after.contains(b)).count();
    let is_promoted = then
        .leader
        .is_some_and(|b| now.leader != Some(b) && before.contains(&b));
    (
        arriving,
        usize::from(is_promoted),
        leaving.saturating_sub(arriving),
    )
}

/// The moves of every shard are those that it needs, one copy more for each detour, and one promotion more where it fails
/// over ahead of a leader that has yet to arrive.
fn check_counts(problem: &Problem, plan: &Plan) {
    for (id, planned) in problem.shard_ids().zip(&plan.placement) {
        let shard = problem.shard(id);
        let mine: Vec<&Move> = plan.moves.iter().filter(|m| m.shard == id).collect();
        let count = |kinds: &[MoveKind]| mine.iter().filter(|m| kinds.contains(&m.kind)).count();
        let detours = mine.iter().filter(|m| m.detour).count();
        assert!(detours == 0 || detours == 2, "{mine:?}");
        let (arriving, promoted, removed) = needed(problem, shard, planned);
        let added = count(&[MoveKind::Add, MoveKind::Copy]);
        assert_eq!(added, arriving + detours / 2, "{mine:?}");
        assert_eq!(count(&[MoveKind::Remove]), removed, "{mine:?}");
        let is_failed_over = problem.live_leader(shard).is_none()
            && planned.leader.is_some_and(|b| !shard.present.holds(b))
            && count(&[MoveKind::Promotion]) == 1;
        let promotions = count(&[MoveKind::Promotion]);
        assert_eq!(
            promotions,
            promoted + usize::from(is_failed_over),
            "{mine:?}"
        );
    }
}

#[test]
fn any_legal_placement_is_reached_without_a_move_too_many() {
    let (mut moves, mut kinds) = (0, [0; 4]);
    for seed in 0..4000 {
        let mut random = Random(7_000_000 + seed);
        let problem = whole_cluster(&mut random).problem();
        let target = legal_target(&mut random, &problem);
        assert_eq!(verify::placement::check(&problem, &target).faults, []);
        let plan = plan::make(&problem, target);
        let faults = verify::moves::check(&problem, &plan);
        assert!(faults.is_empty(), "seed {seed}: {faults:?}");
        check(&problem, &plan);
        check_counts(&problem, &plan);
        let is_plain = |m: &Move| !m.detour && m.blocked.is_none();
        assert!(plan.moves.iter().all(is_plain), "seed {seed}");
        moves += plan.moves.len();
        for m in &plan.moves {
            kinds[m.kind as usize] += 1;
        }
    }
    assert!(moves > 20_000, "{moves} moves");
    assert!(kinds.iter().all(|&of_kind| of_kind > 500), "{kinds:?}");
}

/// Bytes and rates of every broker.
fn loads(problem: &Problem, layout: &[Live]) -> Vec<(i64, i64)> {
    let mut loads = vec![(0, 0); problem.brokers.len()];
    for (live, shard) in layout.iter().zip(&problem.shards) {
        for b in live.leader.iter().chain(&live.followers) {
            loads[b.index()].0 += shard.size_bytes;
        }
        if let Some(b) = live.leader {
            loads[b.index()].1 += shard.rate;
        }
    }
    loads
}

/// Every step keeps bytes and rates of each broker, counting what arrives before anything leaves.
fn check_loads(problem: &Problem, layouts: &[Vec<Live>], steps: &[Vec<Move>]) {
    for (pair, step) in layouts.windows(2).zip(steps) {
        let (before, after) = (loads(problem, &pair[0]), loads(problem, &pair[1]));
        for b in problem.broker_ids() {
            let (held, led) = before[b.index()];
            let arriving = step
                .iter()
                .filter(|m| m.to == Some(b) && matches!(m.kind, MoveKind::Add | MoveKind::Copy));
            let arriving: i64 = arriving.map(|m| problem.shard(m.shard).size_bytes).sum();
            let room = problem.disk_room(b).unwrap_or(i64::MAX);
            assert!(held + arriving <= room.max(held), "{step:?}");
            let capacity = problem.broker(b).rate_capacity.unwrap_or(i64::MAX);
            assert!(after[b.index()].1 <= capacity.max(led), "{step:?}");
        }
    }
}

/// The steps to be made, and those that are blocked.
fn parts(plan: &Plan) -> (Vec<Vec<Move>>, Vec<Vec<Move>>) {
    let steps = plan.moves.chunk_by(|a, b| a.step == b.step);
    let steps = steps.map(<[Move]>::to_vec);
    steps.partition(|step| step[0].blocked.is_none())
}

#[test]
fn disks_and_capacities_hold_at_every_moment() {
    let (mut made, mut detours, mut blocked) = (0, 0, 0);
    for seed in 0..8000 {
        let mut random = Random(8_000_000 + seed);
        let problem = loaded_cluster(&mut random).problem();
        let target = legal_target(&mut random, &problem);
        let plan = plan::make(&problem, target.clone());
        assert_eq!(plan, plan::make(&problem, target), "seed {seed}");
        let faults = verify::moves::check(&problem, &plan);
        assert!(faults.is_empty(), "seed {seed}: {faults:?}");
        check_counts(&problem, &plan);
        let (steps, late) = parts(&plan);
        let all = layouts(&problem, &steps);
        check_loads(&problem, &all, &steps);
        if late.is_empty() {
            let counted = breaches(&problem, &all[all.len() - 1]);
            assert_eq!(counted, plan.after.0[Rank::Breaches]);
        }
        made += steps.iter().map(Vec::len).sum::<usize>();
        detours += steps.iter().flatten().filter(|m| m.detour).count();
        blocked += late.iter().map(Vec::len).sum::<usize>();
    }
    let found = format!("{made} moves, {detours} of detours, {blocked} blocked");
    assert!(made > 20_000 && detours > 200 && blocked > 50, "{found}");
    assert!(blocked * 5 < made, "{found}");
}

/// Whether all shards can be moved in some order in which each step is legal: one shard, or up to three together.
fn has_order(problem: &Problem, goal: &[Live]) -> bool {
    let start: Vec<Live> = (problem.shards.iter())
        .map(|shard| Live::of(problem, &shard.present))
        .collect();
    let changed: Vec<usize> = (0..start.len()).filter(|&i| start[i] != goal[i]).collect();
    let all = (1_usize << changed.len()) - 1;
    let layout = |set: usize| -> Vec<Live> {
        let mut layout = start.clone();
        for (at, &i) in changed.iter().enumerate() {
            if set & (1 << at) != 0 {
                layout[i] = goal[i].clone();
            }
        }
        layout
    };
    let mut is_seen = vec![false; all + 1];
    let mut open = vec![0];
    is_seen[0] = true;
    while let Some(set) = open.pop() {
        if set == all {
            return true;
        }
        for group in 1..=all {
            let is_next = group & set == 0 && group.count_ones() <= 3 && !is_seen[set | group];
            if is_next && is_legal_step(problem, &layout(set), &layout(set | group)) {
                is_seen[set | group] = true;
                open.push(set | group);
            }
        }
    }
    false
}

fn is_legal_step(problem: &Problem, before: &[Live], after: &[Live]) -> bool {
    let (held, then) = (loads(problem, before), loads(problem, after));
    let mut arriving = vec![0; problem.brokers.len()];
    for ((old, new), shard) in before.iter().zip(after).zip(&problem.shards) {
        for &b in new.leader.iter().chain(&new.followers) {
            if old.leader != Some(b) && !old.followers.contains(&b) {
                arriving[b.index()] += shard.size_bytes;
            }
        }
    }
    let fits = problem.broker_ids().all(|b| {
        let at = b.index();
        let room = problem.disk_room(b).unwrap_or(i64::MAX).max(held[at].0);
        let capacity = problem.broker(b).rate_capacity.unwrap_or(i64::MAX);
        held[at].0 + arriving[at] <= room && then[at].1 <= capacity.max(held[at].1)
    });
    fits && plan_common::is_legal(
        &plan_common::counted(problem, before),
        &plan_common::counted(problem, after),
    )
}

#[test]
fn where_an_order_exists_hardly_a_detour_is_taken_and_nothing_is_blocked() {
    let (mut ordered, mut detoured, mut blocked, mut without) = (0, 0, 0, 0);
    for seed in 0..4000 {
        let mut random = Random(9_000_000 + seed);
        let mut cluster = loaded_cluster(&mut random);
        cluster.snapshot.shards.truncate(9);
        cluster.policy.max_replicas_per_zone = None;
        for broker in &mut cluster.snapshot.brokers {
            if broker.state == BrokerState::Draining {
                broker.state = BrokerState::Active;
            }
        }
        for stream in &mut cluster.snapshot.streams {
            stream.allowed_brokers.clear();
        }
        let problem = cluster.problem();
        let target = legal_target(&mut random, &problem);
        let goal: Vec<Live> = target.iter().map(|a| Live::of(&problem, a)).collect();
        let plan = plan::make(&problem, target);
        if !has_order(&problem, &goal) {
            without += 1;
            continue;
        }
        ordered += 1;
        detoured += usize::from(plan.moves.iter().any(|m| m.detour));
        blocked += usize::from(plan.moves.iter().any(|m| m.blocked.is_some()));
    }
    // Failovers and forced moves come first, and what they take may be missing later: not every order can be found.
    let found = format!("{ordered} ordered, {detoured} detoured, {blocked} blocked, {without} not");
    assert!(ordered > 2000 && without > 100, "{found}");
    assert!(
        detoured * 100 < ordered && blocked * 50 < ordered,
        "{found}"
    );
}

#[test]
fn only_leadership_moves_no_bytes() {
    for seed in 0..500 {
        let mut random = Random(6_000_000 + seed);
        let mut cluster = loaded_cluster(&mut random);
        cluster.policy.roles = Roles::LeadershipOnly;
        let problem = cluster.problem();
        let target = legal_target(&mut random, &problem);
        let plan = plan::make(&problem, target);
        let is_promotion = |m: &Move| m.kind == MoveKind::Promotion && m.blocked.is_none();
        assert!(plan.moves.iter().all(is_promotion), "seed {seed}");
        assert_eq!(verify::moves::check(&problem, &plan), []);
    }
}
