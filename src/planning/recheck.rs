//! A plan made earlier against its request, with the independent verifier: nothing here plans.
//!
//! Every claim of a response that the request lets one check is checked: the placement by the hard rules, the costs,
//! the moves and the counts they change, the value of each rank, the bounds where the certificate is included, and
//! the fingerprint.

use std::collections::BTreeMap;

use shardflow_solver::certificate::{Certificate, RankPrices};
use shardflow_solver::cost::{Cost, RANKS, Rank, Terms};
use shardflow_solver::plan::{self, Move, MoveKind, MoveReason, Plan};
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, Role, StreamId};
use shardflow_solver::verify::{bound, moves, placement};

use crate::pb;
use crate::wire::cost::{ranks, terms};
use crate::wire::external::{self, Names};
use crate::wire::request::Listing;
use crate::wire::{Findings, answer};

/// Every claim of `response` that is wrong for `problem`, in words.
pub(super) fn faults(
    problem: &Problem,
    listing: Listing,
    response: &pb::OptimizeResponse,
) -> Vec<String> {
    let mut recheck = Recheck {
        problem,
        names: Names::new(problem),
        faults: Vec::new(),
    };
    let Some(plan) = &response.plan else {
        return vec!["the response has no plan".to_owned()];
    };
    let Some(placement) = recheck.placement(plan, listing) else {
        return recheck.faults;
    };
    let cost = recheck.costs(plan, &placement);
    recheck.moves(plan, &placement);
    recheck.spread(plan, &placement);
    if plan.fingerprint != plan::fingerprint(problem, &placement) {
        recheck.add("plan.fingerprint: is not that of this request and placement");
    }
    if plan.generation != problem.generation {
        recheck.add("plan.generation: is not that of the snapshot");
    }
    match &response.report {
        Some(report) => recheck.report(report, &cost),
        None => recheck.add("the response has no report"),
    }
    recheck.faults
}

struct Recheck<'a> {
    problem: &'a Problem,
    names: Names<'a>,
    faults: Vec<String>,
}

impl Recheck<'_> {
    fn add(&mut self, fault: impl ToString) {
        self.faults.push(fault.to_string());
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

    fn costs(&mut self, plan: &pb::Plan, placed: &[Assignment]) -> Cost {
        let present = self.problem.shards.iter().map(|s| s.present.clone());
        let before = placement::check(self.problem, &present.collect::<Vec<_>>());
        let after = placement::check(self.problem, placed);
        after.faults.iter().for_each(|fault| self.add(fault));
        self.cost(
            "plan.before",
            plan.before.as_ref(),
            (before.cost, before.terms),
        );
        self.cost("plan.after", plan.after.as_ref(), (after.cost, after.terms));
        after.cost
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

    fn moves(&mut self, plan: &pb::Plan, placed: &[Assignment]) {
        let mut read = Vec::with_capacity(plan.moves.len());
        for (position, message) in plan.moves.iter().enumerate() {
            match one_move(&self.names, message) {
                Ok(read_move) => read.push(read_move),
                Err(fault) => self.add(format!("plan.moves[{position}].{fault}")),
            }
        }
        if read.len() < plan.moves.len() {
            return;
        }
        let plan = Plan {
            placement: placed.to_vec(),
            moves: read,
            before: Default::default(),
            after: Default::default(),
            spread: Vec::new(),
            shortfalls: Vec::new(),
            fingerprint: String::new(),
        };
        let faults = moves::check(self.problem, &plan);
        faults.iter().for_each(|fault| self.add(fault));
    }

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

    fn report(&mut self, report: &pb::SolveReport, cost: &Cost) {
        let names = report.ranks.iter().map(|claim| claim.rank.as_str());
        if !names.eq(Rank::ALL.iter().map(|rank| rank.name())) {
            self.add("report.ranks: must list every rank once, in order");
            return;
        }
        let proven = self.proven(report.certificate.as_ref(), cost);
        for (rank, claim) in Rank::ALL.into_iter().zip(&report.ranks) {
            let path = format!("report.ranks[{}]", rank as usize);
            let name = rank.name();
            if claim.value != cost[rank] {
                let (says, is) = (claim.value, cost[rank]);
                self.add(format!("{path}.value: {says}: {name} is {is}"));
            }
            let Some(least) = claim.bound else { continue };
            if least > cost[rank] {
                self.add(format!(
                    "{path}.bound: {least}: is above the value of {name}"
                ));
            }
            if let Some(proven) = &proven
                && proven[rank as usize].is_none_or(|shown| shown < least)
            {
                self.add(format!(
                    "{path}.bound: {least}: the certificate does not prove it"
                ));
            }
        }
        let is_met = |claim: &pb::RankBound| claim.bound == Some(claim.value);
        let is_optimal = report.ranks.iter().all(is_met);
        if is_optimal != (report.outcome() == pb::Outcome::Optimal) {
            self.add("report.outcome: does not follow from the bounds");
        }
    }

    /// What the certificate proves of each rank; `None` where there is none, or it is faulty.
    fn proven(
        &mut self,
        message: Option<&pb::Certificate>,
        cost: &Cost,
    ) -> Option<[Option<i64>; RANKS]> {
        let certificate = match certificate(self.problem, &self.names, message?) {
            Ok(certificate) => certificate,
            Err(fault) => {
                self.add(format!("report.certificate.{fault}"));
                return None;
            }
        };
        let faults = bound::check_shape(self.problem, &certificate);
        faults.iter().for_each(|fault| self.add(fault));
        let bound = bound::bound(self.problem, &certificate)?;
        match bound::proven(cost, &bound) {
            Ok(proven) => Some(proven),
            Err(fault) => {
                self.add(fault);
                None
            }
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

fn one_move(names: &Names<'_>, message: &pb::Move) -> Result<Move, String> {
    let broker = |id: &str, field: &str| match (id, names.broker(id)) {
        ("", _) => Ok(None),
        (_, Some(broker)) => Ok(Some(broker)),
        _ => Err(format!("{field}: {id}: must be in snapshot.brokers")),
    };
    let unnamed = |field: &str| format!("{field}: must be named");
    let kind = match message.kind() {
        pb::MoveKind::Add => MoveKind::Add,
        pb::MoveKind::Copy => MoveKind::Copy,
        pb::MoveKind::Promotion => MoveKind::Promotion,
        pb::MoveKind::Remove => MoveKind::Remove,
        pb::MoveKind::Unspecified => return Err(unnamed("kind")),
    };
    let reason = match message.reason() {
        pb::MoveReason::Failover => MoveReason::Failover,
        pb::MoveReason::New => MoveReason::New,
        pb::MoveReason::Drain => MoveReason::Drain,
        pb::MoveReason::Rule => MoveReason::Rule,
        pb::MoveReason::Spread => MoveReason::Spread,
        pb::MoveReason::Cost => MoveReason::Cost,
        pb::MoveReason::Unspecified => return Err(unnamed("reason")),
    };
    let role = match message.role() {
        pb::Role::Leader => Role::Leader,
        pb::Role::Follower => Role::Follower,
        pb::Role::Unspecified => return Err(unnamed("role")),
    };
    let shard = names.shard(&message.shard);
    Ok(Move {
        step: message.step,
        shard: shard
            .ok_or_else(|| format!("shard: {}: must be in snapshot.shards", message.shard))?,
        role,
        from: broker(&message.from, "from")?,
        to: broker(&message.to, "to")?,
        kind,
        reason,
        bytes: message.bytes,
    })
}

fn certificate(
    problem: &Problem,
    names: &Names<'_>,
    message: &pb::Certificate,
) -> Result<Certificate, String> {
    if message.ranks.len() > RANKS {
        return Err(format!(
            "ranks: {}: more than there are",
            message.ranks.len()
        ));
    }
    let numbered = message.ranks.iter().enumerate();
    let ranks = numbered.map(|(at, prices)| {
        let read = rank_prices(problem, names, prices);
        read.map_err(|fault| format!("ranks[{at}].{fault}"))
    });
    Ok(Certificate {
        ranks: ranks.collect::<Result<_, _>>()?,
    })
}

fn rank_prices(
    problem: &Problem,
    names: &Names<'_>,
    message: &pb::RankPrices,
) -> Result<RankPrices, String> {
    let unknown = |what: &str, id: &str| format!("{what}: {id}: is not known");
    let broker = |id: &str| names.broker(id).ok_or_else(|| unknown("broker", id));
    let rank = Rank::ALL.into_iter().find(|r| r.name() == message.rank);
    let brokers = problem.brokers.len();
    let mut prices = RankPrices {
        rank: rank.ok_or_else(|| unknown("rank", &message.rank))?,
        slots: vec![0; problem.streams.len() * brokers],
        brokers: vec![0; brokers],
        zones: vec![0; problem.zones.len()],
        broker_replicas: Vec::new(),
        zone_replicas: Vec::new(),
    };
    for price in &message.streams {
        let stream = names.stream(&price.stream);
        let stream = stream.ok_or_else(|| unknown("stream", &price.stream))?;
        let at = stream.index() * brokers + broker(&price.broker)?.index();
        prices.slots[at] = price.value;
    }
    for price in &message.prices {
        let (of_brokers, of_zones) = match price.role() {
            pb::Role::Follower => (&mut prices.broker_replicas, &mut prices.zone_replicas),
            pb::Role::Leader | pb::Role::Unspecified => (&mut prices.brokers, &mut prices.zones),
        };
        if price.broker.is_empty() {
            let zone = names.zone(&price.zone);
            let zone = zone.ok_or_else(|| unknown("zone", &price.zone))?;
            of_zones.resize(problem.zones.len(), 0);
            of_zones[zone.index()] = price.value;
        } else {
            of_brokers.resize(brokers, 0);
            of_brokers[broker(&price.broker)?.index()] = price.value;
        }
    }
    Ok(prices)
}
