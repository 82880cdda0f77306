//! Answers: from the solver's plans and reports to messages.

use std::time::Duration;

use shardflow_solver::budget::Stop;
use shardflow_solver::certificate::{Certificate, RankPrices, SlotPrice};
use shardflow_solver::cost::{Cost, Rank, Terms};
use shardflow_solver::cut::Place;
use shardflow_solver::explain::{
    self,
    prices::{PricedRule, RulePrice},
};
use shardflow_solver::plan::{Move, MoveKind, MoveReason, Plan};
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, Role, ShardId, StreamId, ZoneId};
use shardflow_solver::strategy::{Answer, Engine, Fallback, Outcome, Proof, RankBound, Report};

use super::reasons::Told;
use super::request::Listing;
use crate::pb;

/// The response that tells `answer`; `elapsed` is the time the caller measured.
pub(crate) fn response(
    problem: &Problem,
    answer: &Answer,
    listing: Listing,
    include_certificate: bool,
    elapsed: Duration,
) -> pb::OptimizeResponse {
    let mut report = report(problem, &answer.report, include_certificate);
    report.elapsed = prost_types::Duration::try_from(elapsed).ok();
    let mut told = Told::of(problem, &answer.plan);
    report.explanations = std::mem::take(&mut told.explanations);
    pb::OptimizeResponse {
        plan: Some(plan(problem, &answer.plan, &told, listing)),
        report: Some(report),
    }
}

fn plan(problem: &Problem, plan: &Plan, told: &Told, listing: Listing) -> pb::Plan {
    let spread = plan.spread.iter().map(|row| pb::SpreadRow {
        stream: problem.stream(row.stream).id.clone(),
        broker: problem.broker(row.broker).id.clone(),
        leaders_before: row.leaders.0,
        leaders_after: row.leaders.1,
        replicas_before: row.replicas.0,
        replicas_after: row.replicas.1,
    });
    pb::Plan {
        assignments: assignments(problem, plan, told, listing),
        moves: plan.moves.iter().map(|m| one_move(problem, m)).collect(),
        before: Some(cost(&plan.before)),
        after: Some(cost(&plan.after)),
        spread: spread.collect(),
        fingerprint: plan.fingerprint.clone(),
        generation: problem.generation.clone(),
    }
}

fn assignments(
    problem: &Problem,
    plan: &Plan,
    told: &Told,
    listing: Listing,
) -> Vec<pb::Assignment> {
    if listing == Listing::None {
        return Vec::new();
    }
    let mut listed = Vec::new();
    for (id, placed) in problem.shard_ids().zip(&plan.placement) {
        let lack = told.lack(id);
        let is_short = lack.0 != pb::UnplacedReason::None;
        let is_changed = *placed != problem.shard(id).present;
        if listing == Listing::All || is_changed || is_short {
            listed.push(assignment(problem, id, placed, lack));
        }
    }
    listed
}

pub(crate) fn assignment(
    problem: &Problem,
    id: ShardId,
    placed: &Assignment,
    (reason, detail): (pb::UnplacedReason, &str),
) -> pb::Assignment {
    pb::Assignment {
        shard: problem.shard(id).id.clone(),
        leader: broker_name(problem, placed.leader),
        followers: broker_names(problem, &placed.followers),
        unplaced_reason: reason.into(),
        unplaced_detail: detail.to_owned(),
    }
}

fn broker_name(problem: &Problem, id: Option<BrokerId>) -> String {
    id.map(|id| problem.broker(id).id.clone())
        .unwrap_or_default()
}

fn broker_names(problem: &Problem, ids: &[BrokerId]) -> Vec<String> {
    let names = ids.iter().map(|&id| problem.broker(id).id.clone());
    names.collect()
}

fn role(role: Role) -> pb::Role {
    match role {
        Role::Leader => pb::Role::Leader,
        Role::Follower => pb::Role::Follower,
    }
}

/// A move as the message.
pub(crate) fn one_move(problem: &Problem, step: &Move) -> pb::Move {
    let kind = match step.kind {
        MoveKind::Add => pb::MoveKind::Add,
        MoveKind::Copy => pb::MoveKind::Copy,
        MoveKind::Promotion => pb::MoveKind::Promotion,
        MoveKind::Remove => pb::MoveKind::Remove,
    };
    let reason = match step.reason {
        MoveReason::Failover => pb::MoveReason::Failover,
        MoveReason::New => pb::MoveReason::New,
        MoveReason::Drain => pb::MoveReason::Drain,
        MoveReason::Rule => pb::MoveReason::Rule,
        MoveReason::Spread => pb::MoveReason::Spread,
        MoveReason::Cost => pb::MoveReason::Cost,
    };
    pb::Move {
        step: step.step,
        shard: problem.shard(step.shard).id.clone(),
        role: role(step.role).into(),
        from: broker_name(problem, step.from),
        to: broker_name(problem, step.to),
        kind: kind.into(),
        reason: reason.into(),
        detour: step.detour,
        blocked: step.blocked.clone().unwrap_or_default(),
        bytes: step.bytes,
    }
}

/// A cost and its terms as the message.
pub(crate) fn cost((cost, terms): &(Cost, Terms)) -> pb::Cost {
    pb::Cost {
        unplaced_leaders: cost[Rank::UnplacedLeaders],
        unplaced_followers: cost[Rank::UnplacedFollowers],
        breaches: cost[Rank::Breaches],
        disk_excess: cost[Rank::DiskExcess],
        rate_excess: cost[Rank::RateExcess],
        zones_lost: cost[Rank::ZonesLost],
        zone_minimum_shortfall: cost[Rank::ZoneMinimumShortfall],
        stream_leader_spread: cost[Rank::StreamLeaderSpread],
        cluster_leader_spread: cost[Rank::ClusterLeaderSpread],
        stream_replica_spread: cost[Rank::StreamReplicaSpread],
        cluster_replica_spread: cost[Rank::ClusterReplicaSpread],
        balance_excess: cost[Rank::BalanceExcess],
        weighted: cost[Rank::Weighted],
        copies: cost[Rank::Copies],
        leader_changes: cost[Rank::LeaderChanges],
        traffic: terms.traffic,
        overlap: terms.overlap,
        promotion: terms.promotion,
        same_rack: terms.same_rack,
        same_rack_as_leader: terms.same_rack_as_leader,
    }
}

fn report(problem: &Problem, report: &Report, include_certificate: bool) -> pb::SolveReport {
    let engine = match report.engine {
        Engine::NetworkSimplex => pb::Engine::NetworkSimplex,
        Engine::Mip => pb::Engine::Mip,
        Engine::GreedyTiers => pb::Engine::GreedyTiers,
        Engine::WeightFunction => pb::Engine::WeightFunction,
        Engine::Swap => pb::Engine::Swap,
        Engine::Current => pb::Engine::Current,
        Engine::External => pb::Engine::External,
    };
    let outcome = match report.outcome {
        Outcome::Optimal => pb::Outcome::Optimal,
        Outcome::Feasible => pb::Outcome::Feasible,
    };
    let fallback = match report.fallback {
        None => pb::FallbackReason::None,
        Some(Fallback::Budget(reason)) => fallback(reason),
        Some(Fallback::Verifier) => pb::FallbackReason::Verifier,
    };
    let proof = report.certificate.as_ref();
    pb::SolveReport {
        engine: engine.into(),
        outcome: outcome.into(),
        fallback: fallback.into(),
        ranks: report.ranks.iter().map(rank_bound).collect(),
        gap: report.gap,
        work: report.work,
        reproducible: report.is_reproducible,
        elapsed: None,
        explanations: Vec::new(),
        certificate: proof
            .filter(|_| include_certificate)
            .map(|proof| certificate(problem, proof)),
        prices: proof
            .map(|proof| prices(problem, proof, report.outcome == Outcome::Optimal))
            .unwrap_or_default(),
        warnings: report.warnings.clone(),
        unchecked: false,
    }
}

/// Which budget was hit.
pub(crate) fn fallback(reason: Stop) -> pb::FallbackReason {
    match reason {
        Stop::WorkLimit => pb::FallbackReason::WorkLimit,
        Stop::TimeBudget => pb::FallbackReason::TimeBudget,
        Stop::Deadline => pb::FallbackReason::Deadline,
        Stop::Cancelled => pb::FallbackReason::Cancelled,
    }
}

fn rank_bound(rank: &RankBound) -> pb::RankBound {
    let proof = match rank.proof {
        Some(Proof::Certificate) => pb::Proof::Certificate,
        Some(Proof::Solver) => pb::Proof::SolverBound,
        None => pb::Proof::None,
    };
    pb::RankBound {
        rank: rank.rank.name().to_owned(),
        value: rank.value,
        bound: rank.bound,
        proof: proof.into(),
    }
}

/// Prices of brokers and zones that are not 0, rank by rank; then, where the plan is proven, those of rules.
pub(crate) fn prices(problem: &Problem, proof: &Certificate, is_proven: bool) -> Vec<pb::Price> {
    let ranks = proof.ranks.iter();
    let mut prices: Vec<pb::Price> = ranks.flat_map(|rank| rank_prices(problem, rank)).collect();
    if is_proven {
        let rules = explain::prices::prices(problem, proof);
        prices.extend(rules.iter().flat_map(|price| rule_prices(problem, price)));
    }
    prices
}

/// The price of one rule, one entry for each rank that is not 0.
fn rule_prices(problem: &Problem, price: &RulePrice) -> Vec<pb::Price> {
    let broker = |b: BrokerId| problem.broker(b).id.clone();
    let zone = |z: ZoneId| problem.zones[z.index()].name.clone();
    let none = String::new;
    let of_place = |place: Place| match place {
        Place::Broker(b) => (broker(b), none()),
        Place::Zone(z) => (none(), zone(z)),
    };
    let of_stream = |s: StreamId, b: BrokerId| (problem.stream(s).id.clone(), (broker(b), none()));
    let (rule, (stream, (broker, zone))) = match price.rule {
        PricedRule::MaxLeaders(place) => (pb::Rule::MaxLeaders, (none(), of_place(place))),
        PricedRule::MaxReplicas(place) => (pb::Rule::MaxReplicas, (none(), of_place(place))),
        PricedRule::MinLeaders(z) => (pb::Rule::MinLeaders, (none(), (none(), zone(z)))),
        PricedRule::ClusterFloor(b) => (pb::Rule::ClusterFloor, (none(), (broker(b), none()))),
        PricedRule::ClusterCeiling(b) => (pb::Rule::ClusterCeiling, (none(), (broker(b), none()))),
        PricedRule::StreamFloor(s, b) => (pb::Rule::StreamFloor, of_stream(s, b)),
        PricedRule::StreamCeiling(s, b) => (pb::Rule::StreamCeiling, of_stream(s, b)),
    };
    let role = match rule {
        pb::Rule::MaxReplicas => pb::Role::Follower,
        _ => pb::Role::Leader,
    };
    let ranks = Rank::ALL
        .iter()
        .zip(price.saves)
        .filter(|(_, saves)| *saves != 0);
    ranks
        .map(|(rank, value)| pb::Price {
            rank: rank.name().to_owned(),
            role: role.into(),
            broker: broker.clone(),
            zone: zone.clone(),
            value,
            rule: rule.into(),
            stream: stream.clone(),
        })
        .collect()
}

/// Prices of brokers and zones that are not 0: those of leaders, then those of replicas of any role.
fn rank_prices(problem: &Problem, rank: &RankPrices) -> Vec<pb::Price> {
    let mut prices = Vec::new();
    let mut extend = |role: pb::Role, brokers: &[i64], zones: &[i64]| {
        let price = |broker: &str, zone: &str, value: i64| pb::Price {
            rank: rank.rank.name().to_owned(),
            role: role.into(),
            broker: broker.to_owned(),
            zone: zone.to_owned(),
            value,
            rule: pb::Rule::None.into(),
            stream: String::new(),
        };
        let of_brokers = problem.brokers.iter().zip(brokers);
        let of_zones = problem.zones.iter().zip(zones);
        let of_brokers = of_brokers.map(|(broker, &value)| price(&broker.id, "", value));
        let of_zones = of_zones.map(|(zone, &value)| price("", &zone.name, value));
        prices.extend(of_brokers.chain(of_zones).filter(|price| price.value != 0));
    };
    extend(pb::Role::Leader, &rank.brokers, &rank.zones);
    extend(
        pb::Role::Follower,
        &rank.broker_replicas,
        &rank.zone_replicas,
    );
    prices
}

fn certificate(problem: &Problem, proof: &Certificate) -> pb::Certificate {
    let mut brokers = Numbers::new(problem);
    let ranks = proof.ranks.iter().map(|rank| {
        let mut by_stream = |slots: &[SlotPrice]| -> Vec<pb::StreamPrices> {
            let by_stream = slots.chunk_by(|one, next| one.stream == next.stream);
            let prices = by_stream.map(|slots| pb::StreamPrices {
                stream: problem.stream(slots[0].stream).id.clone(),
                brokers: slots.iter().map(|slot| brokers.of(slot.broker)).collect(),
                values: slots.iter().map(|slot| slot.price).collect(),
            });
            prices.collect()
        };
        pb::RankPrices {
            rank: rank.rank.name().to_owned(),
            streams: by_stream(&rank.slots),
            replica_streams: by_stream(&rank.replica_slots),
            prices: rank_prices(problem, rank),
        }
    });
    let ranks = ranks.collect();
    let brokers = brokers.used.iter().map(|&b| problem.broker(b).id.clone());
    pb::Certificate {
        ranks,
        brokers: brokers.collect(),
    }
}

/// Brokers by the order in which they are first named.
struct Numbers {
    used: Vec<BrokerId>,
    /// By broker.
    number: Vec<Option<u32>>,
}

impl Numbers {
    fn new(problem: &Problem) -> Self {
        Numbers {
            used: Vec::new(),
            number: vec![None; problem.brokers.len()],
        }
    }

    fn of(&mut self, broker: BrokerId) -> u32 {
        *self.number[broker.index()].get_or_insert_with(|| {
            self.used.push(broker);
            self.used.len() as u32 - 1
        })
    }
}

/// Shards that two placements of one problem put differently.
pub(crate) fn differences(
    problem: &Problem,
    baseline: &[Assignment],
    candidate: &[Assignment],
) -> Vec<pb::Difference> {
    let pairs = problem.shard_ids().zip(baseline.iter().zip(candidate));
    pairs
        .filter(|(_, (one, other))| one != other)
        .map(|(id, (one, other))| pb::Difference {
            shard: problem.shard(id).id.clone(),
            baseline_leader: broker_name(problem, one.leader),
            candidate_leader: broker_name(problem, other.leader),
            baseline_followers: broker_names(problem, &one.followers),
            candidate_followers: broker_names(problem, &other.followers),
        })
        .collect()
}
