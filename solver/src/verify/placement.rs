//! Checks a placement against the snapshot: every hard rule, and its cost in every rank.
//!
//! A placement is legal where [`check`] finds no fault. What is legal:
//!
//! * a pinned shard stays as it is; where only leadership is decided, each shard keeps its replicas;
//! * otherwise a shard ends with at least min(replication factor, live replicas now) live replicas and at most the
//!   replication factor, and without a leader it gets no follower that would take the leader's place;
//! * a replica is new only on an `ACTIVE` broker that may hold the stream, and counts stay within the larger
//!   of the cap and what is there now. A promotion adds no replica: any live holder may lead;
//! * a shard goes without a leader only where it has no live leader now;
//! * replicas on `DOWN` brokers that nothing replaces stay listed as followers, lowest ids first, as far as the
//!   replication factor leaves room;
//! * bytes and rates of a broker stay within the larger of its room, or its capacity, and what it has now;
//! * settled shards are changed at most `max_moves` times in all.
//!
//! Complexity: O(shards · replicas² + streams · brokers), the latter a byte each where no broker has to hold any
//! of a stream. Broker ids that do not exist are faults, not panics.

mod loads;
mod measure;
mod rules;

pub(super) use loads::{
    Excess, LOAD_RANKS, Load, Loads, add_load_cost, check_disk_growth, check_rate_growth,
};
pub(super) use measure::{
    Bands, Beside, Level, Own, Replicas, Shares, Tally, Vector, Wanted, above, has_replicas,
    live_leader, live_replicas, takes,
};
pub(super) use rules::{check_broker_growth, check_zone_growth};

use std::borrow::Cow;

use super::{Fault, Rule};
use crate::budget::{Pace, Stop, unstopped};
use crate::cost::{Cost, RANKS, Rank, Terms};
use crate::snapshot::{Assignment, BrokerId, Problem, ShardId};
use loads::{Changes, check_loads};
use measure::{Parts, StreamTally, count_cost};

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// Every broken rule; none for a legal placement.
    pub faults: Vec<Fault>,
    /// Cost of the placement. Replicas on brokers that do not exist count nowhere.
    pub cost: Cost,
    /// The terms of its `weighted` rank.
    pub terms: Terms,
}

/// Checks a placement, which is indexed by [`ShardId`].
pub fn check(problem: &Problem, placement: &[Assignment]) -> Checked {
    unstopped(|pace| check_within(problem, placement, pace))
}

/// The same, until the interrupt asks to stop.
///
/// # Errors
/// The interrupt's reason; what is wrong with the placement stays unknown then.
pub fn check_within(
    problem: &Problem,
    placement: &[Assignment],
    pace: &mut Pace<'_>,
) -> Result<Checked, Stop> {
    let mut faults = Vec::new();
    if placement.len() != problem.shards.len() {
        let (has, wants) = (placement.len(), problem.shards.len());
        let what = format!("the plan has {has} assignments for {wants} shards");
        faults.push(Fault::of_answer(Rule::AssignmentCount, what));
    }
    let mut known = Cow::Borrowed(placement);
    for (at, assignment) in placement.iter().enumerate() {
        pace.step(1)?;
        if !is_known(problem, assignment) {
            known.to_mut()[at] = known_part(problem, assignment);
        }
    }
    let (mut tally, mut loads) = (Tally::empty(problem), Loads::empty(problem));
    let mut changes = Changes::default();
    for (at, assignment) in placement.iter().take(problem.shards.len()).enumerate() {
        pace.step(1)?;
        let (id, known) = (ShardId::at(at), &known[at]);
        rules::check_shard(problem, id, assignment, known, &mut faults);
        tally.add(problem, known, 1);
        loads.add(problem, &problem.shards[at], known, 1);
        changes.add(problem, id, known);
    }
    rules::check_counts(
        problem,
        &Tally::present(problem, pace)?,
        &tally,
        &mut faults,
    );
    check_loads(
        problem,
        &Loads::present(problem, pace)?,
        &loads,
        &mut faults,
    );
    changes.check(problem, &mut faults);
    let (mut total, parts) = measure_all(problem, &known, &tally, pace)?;
    add_load_cost(problem, &loads, &mut total);
    let cost = Cost(report_total(&total, &mut faults));
    Ok(Checked {
        terms: report_terms(&parts),
        faults,
        cost,
    })
}

/// Whether all brokers exist.
fn is_known(problem: &Problem, assignment: &Assignment) -> bool {
    let is_known = |b: &BrokerId| b.index() < problem.brokers.len();
    assignment.leader.iter().all(is_known) && assignment.followers.iter().all(is_known)
}

/// The assignment without brokers that do not exist.
fn known_part(problem: &Problem, assignment: &Assignment) -> Assignment {
    let is_known = |b: &BrokerId| b.index() < problem.brokers.len();
    Assignment {
        leader: assignment.leader.filter(is_known),
        followers: assignment
            .followers
            .iter()
            .copied()
            .filter(is_known)
            .collect(),
    }
}

fn measure_all(
    problem: &Problem,
    placement: &[Assignment],
    tally: &Tally,
    pace: &mut Pace<'_>,
) -> Result<(Vector, Parts), Stop> {
    let mut total = count_cost(problem, tally);
    let mut parts = Parts::default();
    let mut of_stream = StreamTally::new(problem);
    for stream in &problem.streams {
        pace.step_stream(problem.brokers.len())?;
        for at in stream.shards.start as usize..stream.shards.end as usize {
            pace.step(1)?;
            let Some(assignment) = placement.get(at) else {
                continue;
            };
            let live = live_replicas(problem, assignment);
            let leader = live_leader(problem, assignment);
            of_stream.add(leader, &live);
            let (own, own_parts) = Wanted::new(problem, &problem.shards[at]).own(leader, &live);
            own.add_to(&mut total);
            parts.add(&own_parts);
        }
        of_stream.settle(problem, stream, &mut total);
    }
    Ok((total, parts))
}

/// The totals as a report holds them; one that does not fit is a fault and shown as the nearest that does.
fn report_total(total: &Vector, faults: &mut Vec<Fault>) -> [i64; RANKS] {
    let mut reported = [0; RANKS];
    for (at, rank) in Rank::ALL.iter().enumerate() {
        if i64::try_from(total[at]).is_err() {
            let what = format!(
                "{} is {}, which is more than a report holds",
                rank.name(),
                total[at]
            );
            faults.push(Fault::of_answer(Rule::Overflow, what));
        }
        reported[at] = clamp(total[at]);
    }
    reported
}

fn report_terms(parts: &Parts) -> Terms {
    Terms {
        traffic: clamp(parts.traffic),
        overlap: clamp(parts.overlap),
        promotion: clamp(parts.promotion),
        same_rack: clamp(parts.same_rack),
        same_rack_as_leader: clamp(parts.same_rack_as_leader),
    }
}

fn clamp(value: i128) -> i64 {
    value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}
