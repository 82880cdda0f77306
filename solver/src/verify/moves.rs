//! Replays the moves of a plan from the present layout.
//!
//! State: the leader and the replicas of every shard, those on `DOWN` brokers included until the shard's moves are
//! done. Of one shard's moves in a step, promotions come first; the others then take effect together, whatever their
//! order: replicas leave, replicas arrive, and a replica that arrives as leader makes a follower of the one before.
//!
//! Invariants checked: every move starts from a live replica that is there and goes to a broker that may take the
//! role; after each step no count has grown beyond the larger of its cap and what was there before the step, and no
//! breaches have been added in all (`breaches` says what leaders are worth); a shard has all its moves in one step,
//! but for the promotion that ends a failover; the end is the placement.
//!
//! Complexity: O(moves · replicas² + steps · (brokers + zones) + shards · replicas).

mod breaches;
mod state;

use super::placement::Tally;
use super::placement::check_growth;
use super::{Fault, Rule};
use crate::plan::{Move, MoveKind, Plan};
use crate::snapshot::{BrokerId, Problem};
use breaches::Breaches;
use state::State;

/// Checks the moves of a plan; none for moves that lead legally from the present layout to the placement.
pub fn check(problem: &Problem, plan: &Plan) -> Vec<Fault> {
    let mut faults = Vec::new();
    if plan.placement.len() != problem.shards.len() {
        let (has, wants) = (plan.placement.len(), problem.shards.len());
        let what = format!("the plan has {has} assignments for {wants} shards");
        faults.push(Fault::of_answer(Rule::AssignmentCount, what));
    }
    check_step_numbers(&plan.moves, &mut faults);
    let mut moves: Vec<&Move> = plan.moves.iter().collect();
    moves.retain(|step| is_well_formed(problem, step, &mut faults));
    moves.sort_by_key(|step| (step.step, step.shard));

    let mut state = State::new(problem);
    let mut counts = Tally::present(problem);
    let mut breaches = Breaches::new(problem, &counts);
    for step in moves.chunk_by(|a, b| a.step == b.step) {
        let before = counts.clone();
        for item in step.chunk_by(|a, b| a.shard == b.shard) {
            let id = item[0].shard;
            let old = state.of(id).clone();
            state.apply(problem, item, &mut faults);
            let new = state.of(id);
            counts.add(problem, &old, -1);
            counts.add(problem, new, 1);
            breaches.change(problem, id, &old, new);
        }
        let when = format!("after step {} there are", step[0].step);
        check_growth(problem, &before, &counts, &when, &mut faults);
        breaches.end_step(problem, step[0].step, &counts);
    }
    breaches.check(&mut faults);
    state.check_end(problem, &plan.placement, &mut faults);
    faults
}

fn check_step_numbers(moves: &[Move], faults: &mut Vec<Fault>) {
    let mut last = 0;
    for step in moves.iter().map(|m| m.step) {
        if step < last || step > last.saturating_add(1) || step == 0 {
            let what = format!("step {step} follows step {last}");
            faults.push(Fault::of_answer(Rule::StepNumbers, what));
        }
        last = step;
    }
}

/// Whether ids exist and the brokers named are those that the kind of move needs.
fn is_well_formed(problem: &Problem, step: &Move, faults: &mut Vec<Fault>) -> bool {
    if step.shard.index() >= problem.shards.len() {
        let what = format!("the snapshot has no shard number {}", step.shard.0);
        faults.push(Fault::of_answer(Rule::UnknownId, what));
        return false;
    }
    let is_unknown = |b: &BrokerId| b.index() >= problem.brokers.len();
    if let Some(broker) = step.from.iter().chain(&step.to).find(|b| is_unknown(b)) {
        let what = format!("the snapshot has no broker number {}", broker.0);
        faults.push(Fault::of_shard(problem, Rule::UnknownId, step.shard, what));
        return false;
    }
    let (wants_from, wants_to, name) = match step.kind {
        MoveKind::Add => (Some(false), true, "an ADD"),
        MoveKind::Copy => (Some(true), true, "a COPY"),
        MoveKind::Promotion => (None, true, "a PROMOTION"),
        MoveKind::Remove => (Some(true), false, "a REMOVE"),
    };
    let fits = step.to.is_some() == wants_to
        && wants_from.is_none_or(|wants| step.from.is_some() == wants);
    if !fits {
        let named = |b: Option<BrokerId>| b.map_or("no broker", |b| &problem.brokers[b.index()].id);
        let (from, to) = (named(step.from), named(step.to));
        let what = format!("{name} does not go from {from} to {to}");
        faults.push(Fault::of_shard(problem, Rule::MoveShape, step.shard, what));
    }
    fits
}
