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
//!   replication factor leaves room.
//!
//! Complexity: O(shards · replicas² + streams · brokers). Broker ids that do not exist are faults, not panics.

mod measure;
mod rules;

pub(super) use measure::{
    Bands, Level, Own, Replicas, Tally, Vector, Wanted, above, has_replicas, live_leader,
    live_replicas, takes,
};
pub(super) use rules::{check_broker_growth, check_zone_growth};

use std::borrow::Cow;

use super::{Fault, Rule};
use crate::cost::{Cost, RANKS, Rank, Terms};
use crate::snapshot::{Assignment, BrokerId, Problem, ShardId};
use measure::{Parts, add_stream_cost, count_cost};

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
    let mut faults = Vec::new();
    if placement.len() != problem.shards.len() {
        let (has, wants) = (placement.len(), problem.shards.len());
        let what = format!("the plan has {has} assignments for {wants} shards");
        faults.push(Fault::of_answer(Rule::AssignmentCount, what));
    }
    let all_known = placement.iter().all(|a| is_known(problem, a));
    let known: Cow<'_, [Assignment]> = match all_known {
        true => Cow::Borrowed(placement),
        false => placement.iter().map(|a| known_part(problem, a)).collect(),
    };
    for (at, assignment) in placement.iter().take(problem.shards.len()).enumerate() {
        rules::check_shard(
            problem,
            ShardId::at(at),
            assignment,
            &known[at],
            &mut faults,
        );
    }
    let mut tally = Tally::empty(problem);
    for assignment in known.iter().take(problem.shards.len()) {
        tally.add(problem, assignment, 1);
    }
    rules::check_counts(problem, &tally, &mut faults);
    let (total, parts) = measure_all(problem, &known, &tally);
    let cost = Cost(report_total(&total, &mut faults));
    Checked {
        terms: report_terms(&parts),
        faults,
        cost,
    }
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

fn measure_all(problem: &Problem, placement: &[Assignment], tally: &Tally) -> (Vector, Parts) {
    let mut total = count_cost(problem, tally);
    let mut parts = Parts::default();
    let mut leaders = vec![0; problem.brokers.len()];
    let mut replicas = vec![0; problem.brokers.len()];
    for stream in &problem.streams {
        leaders.fill(0);
        replicas.fill(0);
        for at in stream.shards.start as usize..stream.shards.end as usize {
            let Some(assignment) = placement.get(at) else {
                continue;
            };
            let live = live_replicas(problem, assignment);
            let leader = live_leader(problem, assignment);
            if let Some(leader) = leader {
                leaders[leader.index()] += 1;
            }
            for replica in &live {
                replicas[replica.index()] += 1;
            }
            let (own, own_parts) = Wanted::new(problem, &problem.shards[at]).own(leader, &live);
            own.add_to(&mut total);
            parts.add(&own_parts);
        }
        add_stream_cost(problem, stream, &leaders, &replicas, &mut total);
    }
    (total, parts)
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
