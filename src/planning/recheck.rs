//! A plan made earlier against its request, with the independent verifier: nothing here plans.
//!
//! Every claim of a response that the request lets one check is checked, in two ways:
//!
//! * Against the contract, by the verifier: the placement by the hard rules, the costs, the order of the moves and the
//!   counts they change, the value of each rank, and the bounds (see [`report`]).
//! * Against what this version writes for the same placement, where the contract leaves the choice to it: the
//!   fingerprint, which move comes when and why, the bytes it copies, and what holds back a shard that lacks replicas.
//!   No engine is asked: [`plan::make`] is a function of request and placement, and the fingerprint names its version,
//!   so that a plan which differs was altered, or made by another version whose fingerprint differs too.
//!
//! What request and plan can't tell is not checked: who found the placement, the work and time spent, the warnings.

mod read;
mod rebuilt;
mod report;

use std::collections::BTreeMap;

use shardflow_solver::certificate::Certificate;
use shardflow_solver::cost::{Cost, Terms};
use shardflow_solver::plan::{self, Plan};
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, StreamId};
use shardflow_solver::verify::{moves, placement};

use crate::pb;
use crate::wire::cost::{ranks, terms};
use crate::wire::external::{self, Names};
use crate::wire::reasons::Told;
use crate::wire::request::Listing;
use crate::wire::{Findings, answer};

/// What a check of a response found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rechecked {
    /// Every claim that is wrong, in words.
    pub faults: Vec<String>,
    /// Whether every bound that the report claims was shown to hold. Without a certificate, only those that hold at any
    /// prices are.
    pub is_proof_checked: bool,
}

/// Checks every claim of `response`.
pub(super) fn response(
    problem: &Problem,
    listing: Listing,
    response: &pb::OptimizeResponse,
) -> Rechecked {
    if response
        .report
        .as_ref()
        .is_some_and(|report| report.unchecked)
    {
        return Rechecked {
            faults: vec![
                "the report says that nothing was checked: the plan is the layout as listed"
                    .to_owned(),
            ],
            is_proof_checked: false,
        };
    }
    let mut recheck = Recheck::new(problem);
    let known = match &response.plan {
        Some(plan) => recheck.plan(plan, listing),
        None => {
            recheck.add("the response has no plan");
            None
        }
    };
    let mut is_proof_checked = false;
    match (&response.report, known) {
        (Some(report), Some(known)) => is_proof_checked = recheck.report(report, &known),
        (Some(_), None) => {}
        (None, _) => recheck.add("the response has no report"),
    }
    Rechecked {
        faults: recheck.faults,
        is_proof_checked,
    }
}

/// Every claim of `plan` that is wrong, in words.
pub(super) fn plan(problem: &Problem, listing: Listing, plan: &pb::Plan) -> Vec<String> {
    let mut recheck = Recheck::new(problem);
    recheck.plan(plan, listing);
    recheck.faults
}

/// The plan that a response without faults tells, and the certificate that proves it optimal, if one does.
///
/// # Errors
/// Every claim that is wrong, in words.
pub(super) fn told(
    problem: &Problem,
    listing: Listing,
    response: &pb::OptimizeResponse,
) -> Result<(Plan, Option<Certificate>), Vec<String>> {
    let mut recheck = Recheck::new(problem);
    let known = (response.plan.as_ref()).and_then(|plan| recheck.plan(plan, listing));
    let report = response.report.as_ref();
    let mut is_proof_checked = false;
    if let (Some(report), Some(known)) = (report, &known) {
        is_proof_checked = recheck.report(report, known);
    }
    let rebuilt = known.and_then(|known| known.rebuilt);
    let Some((plan, _)) = rebuilt.filter(|_| recheck.faults.is_empty()) else {
        if recheck.faults.is_empty() {
            recheck.add("the response has no plan");
        }
        return Err(recheck.faults);
    };
    let is_proven =
        |report: &&pb::SolveReport| is_proof_checked && report.outcome() == pb::Outcome::Optimal;
    let certificate = (report.filter(is_proven))
        .and_then(|report| report.certificate.as_ref())
        .and_then(|message| read::certificate(problem, &recheck.names, message).ok());
    Ok((plan, certificate))
}

struct Recheck<'a> {
    problem: &'a Problem,
    names: Names<'a>,
    faults: Vec<String>,
}

/// What is known of a plan once its placement can be told.
struct Known {
    cost: Cost,
    /// Cost of the present layout, where that is a legal plan.
    present: Option<Cost>,
    /// The plan that this version makes of the placement, where that is legal.
    rebuilt: Option<(Plan, Told)>,
}

impl<'a> Recheck<'a> {
    fn new(problem: &'a Problem) -> Self {
        Recheck {
            problem,
            names: Names::new(problem),
            faults: Vec::new(),
        }
    }

    fn add(&mut self, fault: impl ToString) {
        self.faults.push(fault.to_string());
    }

    /// Checks a plan; `None` where its placement can't be told.
    fn plan(&mut self, plan: &pb::Plan, listing: Listing) -> Option<Known> {
        let placed = self.placement(plan, listing)?;
        let known = self.costs(plan, &placed);
        let are_legal = self.moves(plan, &placed);
        if let Some((rebuilt, told)) = &known.rebuilt {
            if are_legal {
                self.compare_moves(&plan.moves, rebuilt);
            }
            self.compare_shortfalls(&plan.assignments, told);
        }
        self.spread(plan, &placed);
        if plan.fingerprint != plan::fingerprint(self.problem, &placed) {
            self.add("plan.fingerprint: is not that of this request and placement");
        }
        if plan.generation != self.problem.generation {
            self.add("plan.generation: is not that of the snapshot");
        }
        Some(known)
    }

    /// The placement that the plan describes; `None` where it can't be told.
    fn placement(&mut self, plan: &pb::Plan, listing: Listing) -> Option<Vec<Assignment>> {
        let (listed, shards) = (plan.assignments.len(), self.problem.shards.len());
        match listing {
            Listing::All if listed < shards => {
                let count = format!("{listed} of {shards} shards are listed");
                self.add(format!(
                    "plan.assignments: {count}; the request asks for all"
                ));
            }
            Listing::None if listed < shards => {
                self.add(
                    "plan.assignments: the request asks for none, so the plan can't be checked",
                );
                return None;
            }
            _ => {}
        }
        let mut findings = Findings::default();
        let at = "plan.assignments";
        let assignments = &plan.assignments;
        let read = external::placement(self.problem, &self.names, assignments, at, &mut findings);
        findings.0.iter().for_each(|finding| self.add(finding));
        for (position, assignment) in assignments.iter().enumerate() {
            self.shortfall(assignment, &read, position);
        }
        findings.0.is_empty().then_some(read)
    }

    /// Whether a reason is given just where replicas are missing.
    fn shortfall(&mut self, message: &pb::Assignment, placement: &[Assignment], position: usize) {
        let Some(id) = self.names.shard(&message.shard) else {
            return;
        };
        let placed = &placement[id.index()];
        let shard = self.problem.shard(id);
        let wanted = self.problem.replication_factor(shard.stream) as usize;
        let is_led = placed.leader.is_some_and(|b| self.problem.is_live(b));
        let followers = self.problem.live(placed).count() - usize::from(is_led);
        let is_short = !is_led || followers + 1 < wanted;
        let says_short = message.unplaced_reason() != pb::UnplacedReason::None;
        if is_short != says_short {
            let path = format!("plan.assignments[{position}].unplaced_reason");
            let what = if is_short { "lacks" } else { "has all its" };
            self.add(format!(
                "{path}: {}: the shard {what} replicas",
                message.shard
            ));
        }
    }

    /// Checks the hard rules and the costs.
    fn costs(&mut self, plan: &pb::Plan, placed: &[Assignment]) -> Known {
        let present = self.problem.shards.iter().map(|s| s.present.clone());
        let before = placement::check(self.problem, &present.collect::<Vec<_>>());
        let after = placement::check(self.problem, placed);
        after.faults.iter().for_each(|fault| self.add(fault));
        let is_legal = after.faults.is_empty();
        let claimed = [plan.before.as_ref(), plan.after.as_ref()];
        self.cost("plan.before", claimed[0], (before.cost, before.terms));
        self.cost("plan.after", claimed[1], (after.cost, after.terms));
        let rebuilt = is_legal.then(|| {
            let plan = plan::make(self.problem, placed.to_vec());
            let told = Told::of(self.problem, &plan);
            (plan, told)
        });
        Known {
            cost: after.cost,
            present: before.faults.is_empty().then_some(before.cost),
            rebuilt,
        }
    }

    fn cost(&mut self, path: &str, claimed: Option<&pb::Cost>, actual: (Cost, Terms)) {
        let claimed = claimed.copied().unwrap_or_default();
        let actual = answer::cost(&actual);
        let fields = |cost: &pb::Cost| ranks(cost).into_iter().chain(terms(cost));
        let pairs = fields(&claimed).zip(fields(&actual));
        for ((name, says), (_, is)) in pairs.filter(|(one, other)| one != other) {
            self.add(format!("{path}.{name}: {says}: is {is}"));
        }
    }

    /// Checks the moves by the contract; whether they are right.
    fn moves(&mut self, plan: &pb::Plan, placed: &[Assignment]) -> bool {
        let mut told = Vec::with_capacity(plan.moves.len());
        for (position, message) in plan.moves.iter().enumerate() {
            match read::one_move(&self.names, message) {
                Ok(one_move) => told.push(one_move),
                Err(fault) => self.add(format!("plan.moves[{position}].{fault}")),
            }
        }
        if told.len() < plan.moves.len() {
            return false;
        }
        let plan = Plan {
            placement: placed.to_vec(),
            moves: told,
            before: Default::default(),
            after: Default::default(),
            spread: Vec::new(),
            shortfalls: Vec::new(),
            fingerprint: String::new(),
        };
        let faults = moves::check(self.problem, &plan);
        faults.iter().for_each(|fault| self.add(fault));
        faults.is_empty()
    }

    /// Checks the counts that change.
    fn spread(&mut self, plan: &pb::Plan, placed: &[Assignment]) {
        let mut changed: Vec<pb::SpreadRow> = Vec::new();
        for ((stream, broker), counts) in counts(self.problem, placed) {
            let [
                leaders_before,
                leaders_after,
                replicas_before,
                replicas_after,
            ] = counts;
            if (leaders_before, replicas_before) != (leaders_after, replicas_after) {
                changed.push(pb::SpreadRow {
                    stream: self.problem.stream(stream).id.clone(),
                    broker: self.problem.broker(broker).id.clone(),
                    leaders_before,
                    leaders_after,
                    replicas_before,
                    replicas_after,
                });
            }
        }
        if changed != plan.spread {
            let (has, listed) = (changed.len(), plan.spread.len());
            self.add(format!(
                "plan.spread: {listed} rows: are not the {has} counts that change"
            ));
        }
    }
}

/// Leaders before and after, then live replicas, by stream and broker.
fn counts(problem: &Problem, placed: &[Assignment]) -> BTreeMap<(StreamId, BrokerId), [i64; 4]> {
    let mut counts = BTreeMap::new();
    for (shard, after) in problem.shards.iter().zip(placed) {
        for (when, assignment) in [&shard.present, after].into_iter().enumerate() {
            for broker in problem.live(assignment) {
                let of: &mut [i64; 4] = counts.entry((shard.stream, broker)).or_default();
                of[when] += i64::from(assignment.leader == Some(broker));
                of[2 + when] += 1;
            }
        }
    }
    counts
}
