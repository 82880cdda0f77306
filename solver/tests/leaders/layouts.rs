//! Layouts on the way from a snapshot to its plan, what they have paid for, and layouts as new inputs.

use shardflow_solver::cost::{Cost, Rank, evaluate};
use shardflow_solver::plan::{Move, MoveKind, Plan};
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, Role};

use crate::cases::Case;

/// The layout that the problem starts from, moves in flight finished.
pub(crate) fn present(problem: &Problem) -> Vec<Assignment> {
    problem.shards.iter().map(|s| s.present.clone()).collect()
}

/// The same cluster with another layout. Moves in flight are done; shards that were held in place still are.
pub(crate) fn with_layout(case: &Case, problem: &Problem, layout: &[Assignment]) -> Case {
    let mut case = case.clone();
    case.snapshot.in_flight.clear();
    let name = |b: BrokerId| problem.broker(b).id.clone();
    for input in &mut case.snapshot.shards {
        let id = problem
            .shard_ids()
            .find(|&id| problem.shard(id).id == input.id);
        let id = id.expect("every shard of the input is in the problem");
        let assignment = &layout[id.index()];
        input.leader = assignment.leader.map_or_else(String::new, name);
        input.followers = assignment.followers.iter().copied().map(name).collect();
        input.pinned = problem.shard(id).is_pinned;
    }
    case
}

/// The layouts after each step of a plan, the present one first. A shard whose moves are all done is as planned.
pub(crate) fn after_steps(problem: &Problem, plan: &Plan) -> Vec<Vec<Assignment>> {
    let mut layout = present(problem);
    let mut layouts = vec![layout.clone()];
    let last_step = |one: &Move| {
        plan.moves
            .iter()
            .rfind(|m| m.shard == one.shard)
            .map(|m| m.step)
    };
    for step in plan.moves.chunk_by(|a, b| a.step == b.step) {
        for one in step {
            apply(&mut layout[one.shard.index()], one);
        }
        for one in step.iter().filter(|one| last_step(one) == Some(one.step)) {
            let at = one.shard.index();
            let (moved, planned) = (&mut layout[at], &plan.placement[at]);
            let mut live: Vec<BrokerId> = problem.live(moved).collect();
            let mut wanted: Vec<BrokerId> = problem.live(planned).collect();
            live.sort_unstable();
            wanted.sort_unstable();
            let leader = moved.leader.filter(|&b| problem.is_live(b));
            assert_eq!(
                (leader, live),
                (planned.leader, wanted),
                "moves of {:?}",
                one.shard
            );
            moved.clone_from(planned);
        }
        layouts.push(layout.clone());
    }
    layouts
}

fn apply(layout: &mut Assignment, one: &Move) {
    let is_leader = one.role == Role::Leader;
    if one.kind == MoveKind::Promotion {
        let old = layout.leader.take();
        layout.followers.extend(old);
    } else if let Some(from) = one.from {
        assert!(
            layout.holds(from),
            "{one:?} starts where no replica is: {layout:?}"
        );
        layout.leader = layout.leader.filter(|&b| b != from);
        layout.followers.retain(|&b| b != from);
    }
    if let Some(to) = one.to {
        let is_promotion = one.kind == MoveKind::Promotion;
        assert_eq!(
            layout.holds(to),
            is_promotion,
            "{one:?} does not fit {layout:?}"
        );
        layout.followers.retain(|&b| b != to);
        if is_leader {
            // A leader that stays behind follows.
            let old = layout.leader.replace(to);
            layout.followers.extend(old);
        } else {
            layout.followers.push(to);
        }
    }
    layout.followers.sort_unstable();
}

/// What a layout on the way has paid so far of the ranks that moves cost.
pub(crate) fn paid(problem: &Problem, layout: &[Assignment]) -> Cost {
    let (cost, terms) = evaluate(problem, layout);
    let mut paid = Cost::default();
    paid[Rank::Weighted] = terms.overlap + terms.promotion;
    paid[Rank::Copies] = cost[Rank::Copies];
    paid[Rank::LeaderChanges] = cost[Rank::LeaderChanges];
    paid
}

/// Moves after a step. A shard that fails over goes straight to a broker that held nothing only where its live
/// holders are full; that counts for two, as in the objective: with room it would be promoted on the way.
pub(crate) fn length(problem: &Problem, plan: &Plan, step: usize) -> usize {
    let is_left = |one: &&Move| one.step as usize > step;
    let is_straight = |one: &&Move| {
        let shard = problem.shard(one.shard);
        let of_shard = |other: &Move| other.shard == one.shard && other.kind == MoveKind::Promotion;
        (one.role == Role::Leader && one.kind != MoveKind::Promotion)
            && problem.live_leader(shard).is_none()
            && !problem.is_free_to_place(shard)
            && !plan.moves.iter().any(of_shard)
    };
    let left = plan.moves.iter().filter(is_left);
    left.clone().count() + left.filter(is_straight).count()
}
