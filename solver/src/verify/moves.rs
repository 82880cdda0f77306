//! Replays the moves of a plan from the present layout.
//!
//! State: the leader and the replicas of every shard, those on `DOWN` brokers included until the shard's moves are
//! done. Of one shard's moves in a step, promotions come first; the others then take effect together, whatever their
//! order: replicas leave, replicas arrive, and a replica that arrives as leader makes a follower of the one before.
//!
//! Invariants checked: every move starts from a live replica that is there and goes to a broker that may take the
//! role; after each step no count and no rate has grown beyond the larger of its cap and what was there before the step,
//! and no breaches have been added in all (`breaches` says what leaders are worth); a shard has all its moves in one
//! step, but for the promotion that ends a failover and for a detour, of which the first half goes to a broker and the
//! second leaves it; the end is the placement.
//!
//! The copies of a step run at the same time, and both ends hold what is copied until they end. So during a step a broker
//! holds what it held before and all that arrives, and this may not pass the larger of the room below its watermark and
//! what it held before.
//!
//! Blocked moves come last. They are not made, so that no count binds them; each shard's lead on to the placement from
//! where the others end.
//!
//! Complexity: O(moves · replicas² + brokers + zones + shards · replicas).

mod breaches;
mod state;

use super::placement::{
    Load, Loads, Tally, above, check_broker_growth, check_disk_growth, check_rate_growth,
    check_zone_growth, live_replicas,
};
use super::{Fault, Rule};
use crate::budget::{Pace, Stop, unstopped};
use crate::plan::{Move, MoveKind, Plan};
use crate::snapshot::{Assignment, BrokerId, Problem, ShardId, ZoneId};
use breaches::Breaches;
use state::State;

/// Checks the moves of a plan; none for moves that lead legally from the present layout to the placement.
pub fn check(problem: &Problem, plan: &Plan) -> Vec<Fault> {
    unstopped(|pace| check_within(problem, plan, pace))
}

/// The same, until the interrupt asks to stop.
///
/// # Errors
/// The interrupt's reason; what is wrong with the moves stays unknown then.
pub fn check_within(
    problem: &Problem,
    plan: &Plan,
    pace: &mut Pace<'_>,
) -> Result<Vec<Fault>, Stop> {
    let mut faults = Vec::new();
    if plan.placement.len() != problem.shards.len() {
        let (has, wants) = (plan.placement.len(), problem.shards.len());
        let what = format!("the plan has {has} assignments for {wants} shards");
        faults.push(Fault::of_answer(Rule::AssignmentCount, what));
    }
    check_step_numbers(&plan.moves, &mut faults);
    check_blocked(&plan.moves, &mut faults);
    let moves = in_order(problem, &plan.moves, &mut faults, pace)?;
    let mut state = State::new(problem, pace)?;
    let mut held = Held {
        counts: Tally::present(problem, pace)?,
        loads: Loads::present(problem, pace)?,
    };
    let mut breaches = Breaches::new();
    let mut touched = Touched::new(problem);
    for step in moves.chunk_by(|a, b| a.step == b.step) {
        for item in step.chunk_by(|a, b| a.shard == b.shard) {
            pace.step(item.len())?;
            let id = item[0].shard;
            let old = state.of(id).clone();
            state.apply(problem, item, &mut faults);
            let new = state.of(id);
            touched.note(problem, &held, &old);
            touched.note(problem, &held, new);
            touched.note_arrivals(problem, id, &old, new);
            held.add(problem, id, &old, -1);
            held.add(problem, id, new, 1);
            breaches.change(problem, id, &old, new);
        }
        let (number, is_made) = (step[0].step, step[0].blocked.is_none());
        let mut unbound = Vec::new();
        let bound = if is_made { &mut faults } else { &mut unbound };
        let above_caps = touched.end_step(problem, number, &held, bound);
        breaches.end_step(number, is_made, above_caps);
    }
    breaches.check(&mut faults);
    state.check_end(problem, &plan.placement, &mut faults, pace)?;
    Ok(faults)
}

/// The moves that are well formed, by step and shard.
fn in_order<'a>(
    problem: &Problem,
    all: &'a [Move],
    faults: &mut Vec<Fault>,
    pace: &mut Pace<'_>,
) -> Result<Vec<&'a Move>, Stop> {
    let mut moves: Vec<&Move> = Vec::with_capacity(all.len());
    for step in all {
        pace.step(1)?;
        if is_well_formed(problem, step, faults) {
            moves.push(step);
        }
    }
    // Moves come by step: only within one are they sorted, unless that is a fault.
    let place = |step: &&Move| (step.step, step.shard);
    if !moves.is_sorted_by_key(place) {
        moves.sort_by_key(place);
    }
    Ok(moves)
}

/// What brokers and zones hold.
struct Held {
    counts: Tally,
    loads: Loads,
}

impl Held {
    fn add(&mut self, problem: &Problem, id: ShardId, assignment: &Assignment, times: i64) {
        let shard = &problem.shards[id.index()];
        self.counts.add(problem, assignment, times);
        self.loads.add(problem, shard, assignment, times);
    }
}

/// What a broker held before a step.
struct Before {
    broker: BrokerId,
    counts: (i64, i64),
    load: Load,
}

/// The counts and loads that a step changes, as they were before it. A step costs what it touches, not the size of the
/// cluster.
struct Touched {
    /// By broker and by zone, whether the step has touched it.
    is_noted: [Vec<bool>; 2],
    brokers: Vec<Before>,
    zones: Vec<(ZoneId, (i64, i64))>,
    /// By broker, bytes that arrive in the step.
    arriving: Vec<i128>,
}

impl Touched {
    fn new(problem: &Problem) -> Self {
        Touched {
            is_noted: [
                vec![false; problem.brokers.len()],
                vec![false; problem.zones.len()],
            ],
            brokers: Vec::new(),
            zones: Vec::new(),
            arriving: vec![0; problem.brokers.len()],
        }
    }

    /// Notes where the replicas of an assignment are counted, before they change.
    fn note(&mut self, problem: &Problem, held: &Held, assignment: &Assignment) {
        for broker in live_replicas(problem, assignment) {
            if !std::mem::replace(&mut self.is_noted[0][broker.index()], true) {
                self.brokers.push(Before {
                    broker,
                    counts: held.counts.of_broker(broker),
                    load: held.loads.of_broker(broker),
                });
            }
            let z = problem.brokers[broker.index()].zone;
            if !std::mem::replace(&mut self.is_noted[1][z.index()], true) {
                self.zones.push((z, held.counts.of_zone(z)));
            }
        }
    }

    /// Notes the bytes of the replicas that the step adds.
    fn note_arrivals(
        &mut self,
        problem: &Problem,
        id: ShardId,
        old: &Assignment,
        new: &Assignment,
    ) {
        let before = live_replicas(problem, old);
        for b in live_replicas(problem, new) {
            if !before.contains(&b) {
                self.arriving[b.index()] += i128::from(problem.shards[id.index()].size_bytes);
            }
        }
    }

    /// Checks what the step changed; by how much counts above their caps grew. Ready for the next step.
    fn end_step(
        &mut self,
        problem: &Problem,
        step: u32,
        held: &Held,
        faults: &mut Vec<Fault>,
    ) -> i128 {
        let counts = &held.counts;
        let when = || format!("after step {step} there are");
        let during = || format!("during step {step} there are");
        let mut grown = 0;
        for before in self.brokers.drain(..) {
            let id = before.broker;
            self.is_noted[0][id.index()] = false;
            let (broker, after) = (&problem.brokers[id.index()], counts.of_broker(id));
            grown +=
                above(after.0, broker.max_leaders) - above(before.counts.0, broker.max_leaders);
            grown +=
                above(after.1, broker.max_replicas) - above(before.counts.1, broker.max_replicas);
            check_broker_growth(problem, id, before.counts, counts, &when, faults);
            let rates = (before.load.rate, held.loads.of_broker(id).rate);
            check_rate_growth(problem, id, rates, &when, faults);
            let peak = before.load.bytes + std::mem::take(&mut self.arriving[id.index()]);
            check_disk_growth(problem, id, (before.load.bytes, peak), &during, faults);
        }
        for (id, before) in self.zones.drain(..) {
            self.is_noted[1][id.index()] = false;
            let (zone, after) = (&problem.zones[id.index()], counts.of_zone(id));
            grown += above(after.0, zone.max_leaders) - above(before.0, zone.max_leaders);
            grown += above(after.1, zone.max_replicas) - above(before.1, zone.max_replicas);
            check_zone_growth(problem, id, before, counts, &when, faults);
        }
        grown
    }
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

/// Blocked moves share no step with others and come after them.
fn check_blocked(moves: &[Move], faults: &mut Vec<Fault>) {
    let mut pairs = moves.iter().zip(moves.iter().skip(1));
    let is_late = |(one, next): &(&Move, &Move)| match (&one.blocked, &next.blocked) {
        (Some(_), None) => true,
        (None, Some(_)) => one.step == next.step,
        _ => false,
    };
    if let Some((_, next)) = pairs.find(is_late) {
        let what = format!(
            "in step {}, moves are made beside or after blocked ones",
            next.step
        );
        faults.push(Fault::of_answer(Rule::StepNumbers, what));
    }
}

/// Whether ids exist, the brokers named are those that the kind of move needs, only copies make detours, and what is blocked
/// has a cause.
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
    let named = |b: Option<BrokerId>| b.map_or("no broker", |b| &problem.brokers[b.index()].id);
    let what = if !fits {
        let (from, to) = (named(step.from), named(step.to));
        format!("{name} does not go from {from} to {to}")
    } else if step.detour && step.kind != MoveKind::Copy {
        format!("{name} is no detour")
    } else if step.blocked.as_ref().is_some_and(String::is_empty) {
        format!("{name} is blocked without a cause")
    } else {
        return true;
    };
    faults.push(Fault::of_shard(problem, Rule::MoveShape, step.shard, what));
    false
}
