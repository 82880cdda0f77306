//! Rank 3 after every step of the moves.
//!
//! Notation: B is the number of breaches, less those now (B₀ = 0); Bₙ at the end. A step *promises* one for each shard that has no live
//! leader before it and is led after it by a broker that may not hold it: a leader, even there, is worth more (rank 1).
//! C = B + what the steps still to come promise. Where Cₙ = Bₙ is no larger than C₀, C never grows. Where the plan pays
//! for more leaders or followers with breaches elsewhere, no order could hold that; there C never grows beyond the
//! larger of itself and Bₙ.

use crate::snapshot::{Assignment, Problem, ShardId};
use crate::verify::placement::{Wanted, live_leader, live_replicas, takes};
use crate::verify::{Fault, Rule};

/// One step as it counts here. One that is not made is counted for what it would lead to.
struct Passed {
    step: u32,
    is_made: bool,
    before: i128,
    after: i128,
    promised: i128,
}

/// The breaches so far.
pub(super) struct Breaches {
    /// Against the start: those of single shards, and of counts above their caps.
    grown: i128,
    promised: i128,
    before: i128,
    passed: Vec<Passed>,
}

impl Breaches {
    /// The present layout. What it has does not matter, only what steps add.
    pub(super) fn new() -> Self {
        Breaches {
            grown: 0,
            promised: 0,
            before: 0,
            passed: Vec::new(),
        }
    }

    /// Takes up the change of one shard within a step.
    pub(super) fn change(
        &mut self,
        problem: &Problem,
        id: ShardId,
        before: &Assignment,
        after: &Assignment,
    ) {
        self.grown += own(problem, id, after) - own(problem, id, before);
        let stream = &problem.streams[problem.shards[id.index()].stream.index()];
        let is_unwanted = live_leader(problem, after).is_some_and(|b| !takes(problem, stream, b));
        self.promised += i128::from(live_leader(problem, before).is_none() && is_unwanted);
    }

    /// Ends a step in which counts above their caps grew by so much.
    pub(super) fn end_step(&mut self, step: u32, is_made: bool, above_caps: i128) {
        self.grown += above_caps;
        let after = self.grown;
        self.passed.push(Passed {
            step,
            is_made,
            before: self.before,
            after,
            promised: std::mem::take(&mut self.promised),
        });
        self.before = after;
    }

    /// Finds the steps that add breaches.
    pub(super) fn check(&self, faults: &mut Vec<Fault>) {
        let (Some(first), Some(last)) = (self.passed.first(), self.passed.last()) else {
            return;
        };
        let mut due: i128 = self.passed.iter().map(|p| p.promised).sum();
        let pays_with_breaches = last.after > first.before + due;
        for passed in &self.passed {
            let before = passed.before + due;
            due -= passed.promised;
            let limit = if pays_with_breaches {
                before.max(last.after)
            } else {
                before
            };
            if passed.is_made && passed.after + due > limit {
                let added = passed.after - passed.before;
                let allowed = limit - due - passed.before;
                let what = format!(
                    "step {} adds {added} breaches where at most {allowed} are allowed",
                    passed.step
                );
                faults.push(Fault::of_answer(Rule::StepBreaches, what));
            }
        }
    }
}

/// Breaches that the replicas of one shard are by themselves.
fn own(problem: &Problem, id: ShardId, assignment: &Assignment) -> i128 {
    let live = live_replicas(problem, assignment);
    let leader = live_leader(problem, assignment);
    let (own, _) = Wanted::new(problem, &problem.shards[id.index()]).own(leader, &live);
    i128::from(own.breaches())
}
