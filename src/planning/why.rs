//! Why a shard is led where it is: the answer to `explain`.

use std::collections::HashMap;

use shardflow_solver::certificate::Certificate;
use shardflow_solver::cost::{RANKS, Rank};
use shardflow_solver::cut::{LimitRule, Place};
use shardflow_solver::explain::choices::{Ban, Choice, Offer, choices};
use shardflow_solver::input::SnapshotInput;
use shardflow_solver::plan::Plan;
use shardflow_solver::snapshot::{BrokerId, Problem, ShardId};
use shardflow_solver::strategy::{self, Outcome};

use super::{Control, Refusal, prepare, recheck};
use crate::pb;
use crate::wire::answer;
use crate::wire::external::Names;
use crate::wire::reasons::Told;

/// Ids that look like one that is not there.
const NEAR_MAX: usize = 5;

/// Why there is no explanation.
#[derive(Debug, thiserror::Error)]
pub enum Unexplained {
    /// The request gets no plan.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The snapshot has no such shard; these have similar ids, the most similar first.
    #[error("{shard:?}: is not the id of a shard in the snapshot{}", suggested(.near))]
    UnknownShard {
        /// The id given.
        shard: String,
        /// Ids close to it.
        near: Vec<String>,
    },
    /// The response is no plan of the request; everything that is wrong with it.
    #[error("the plan is not one of this request")]
    Faulty(Vec<String>),
}

fn suggested(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => {
            let near: Vec<String> = near.iter().map(|id| format!("{id:?}")).collect();
            format!("; did you mean {}?", near.join(", "))
        }
    }
}

/// Explains where a plan has a shard: the plan of `response`, or else a new one.
///
/// # Errors
/// The request is wrong, has no such shard, or the response is no plan of it.
pub fn explain(
    request: &pb::OptimizeRequest,
    shard: &str,
    response: Option<&pb::OptimizeResponse>,
    control: &Control,
) -> Result<pb::ShardExplanation, Unexplained> {
    let mut input = SnapshotInput::default();
    let prepared = prepare(request, &mut input, Some(control)).map_err(Refusal::from)?;
    let problem = prepared.problem;
    let names = Names::new(&problem);
    let Some(id) = names.shard(shard) else {
        return Err(Unexplained::UnknownShard {
            shard: shard.to_owned(),
            near: near(&problem, shard),
        });
    };
    let (plan, certificate) = match response {
        Some(response) => recheck::told(&problem, prepared.options.listing, response)
            .map_err(Unexplained::Faulty)?,
        None => {
            let options = &prepared.options.solve;
            let answer =
                strategy::solve(&problem, options, &prepared.clock).map_err(Refusal::Stopped)?;
            let is_proven = answer.report.outcome == Outcome::Optimal;
            (answer.plan, answer.report.certificate.filter(|_| is_proven))
        }
    };
    let teller = Teller::new(request, &problem);
    Ok(teller.explain(id, &plan, certificate.as_ref()))
}

/// Ids that differ little from one, or hold it.
fn near(problem: &Problem, wanted: &str) -> Vec<String> {
    let lower = wanted.to_lowercase();
    let most = (wanted.chars().count() / 3).max(1);
    let mut near: Vec<(usize, &str)> = Vec::new();
    for shard in &problem.shards {
        let id = shard.id.to_lowercase();
        let is_part = !lower.is_empty() && (id.contains(&lower) || lower.contains(&id));
        let distance = match id.len().abs_diff(lower.len()) {
            far if far > most => usize::MAX,
            _ => strsim::damerau_levenshtein(&id, &lower),
        };
        if distance <= most || is_part {
            near.push((distance, &shard.id));
        }
    }
    near.sort_unstable();
    near.truncate(NEAR_MAX);
    near.into_iter().map(|(_, id)| id.to_owned()).collect()
}

struct Teller<'a> {
    problem: &'a Problem,
    /// What the problem no longer tells apart: tags and allowed brokers.
    policy: Option<&'a pb::Policy>,
    streams: HashMap<&'a str, &'a pb::Stream>,
    brokers: HashMap<&'a str, &'a pb::Broker>,
}

impl<'a> Teller<'a> {
    fn new(request: &'a pb::OptimizeRequest, problem: &'a Problem) -> Self {
        let snapshot = request.snapshot.as_ref();
        let streams = snapshot.iter().flat_map(|s| &s.streams);
        let brokers = snapshot.iter().flat_map(|s| &s.brokers);
        Teller {
            problem,
            policy: request.policy.as_ref(),
            streams: streams.map(|s| (s.id.as_str(), s)).collect(),
            brokers: brokers.map(|b| (b.id.as_str(), b)).collect(),
        }
    }

    fn explain(
        &self,
        id: ShardId,
        plan: &Plan,
        certificate: Option<&Certificate>,
    ) -> pb::ShardExplanation {
        let problem = self.problem;
        let shard = problem.shard(id);
        let told = Told::of(problem, plan);
        let found = choices(problem, &plan.placement, certificate, id);
        let mut choices: Vec<(_, pb::BrokerChoice)> = problem
            .broker_ids()
            .zip(&found)
            .map(|(b, choice)| (order(choice), self.choice(id, b, choice)))
            .collect();
        // Stable: brokers that cost the same stay in order.
        choices.sort_by_key(|choice| choice.0);
        let choices: Vec<pb::BrokerChoice> = choices.into_iter().map(|(_, told)| told).collect();
        let placed = &plan.placement[id.index()];
        let own = plan.moves.iter().filter(|step| step.shard == id);
        let moves: Vec<pb::Move> = own.map(|step| answer::one_move(problem, step)).collect();
        let present = shard.present.leader.map(|b| problem.broker(b).id.clone());
        let planned = answer::assignment(problem, id, placed, told.lack(id));
        pb::ShardExplanation {
            shard: shard.id.clone(),
            stream: problem.stream(shard.stream).id.clone(),
            present_leader: present.unwrap_or_default(),
            text: self.text(id, &planned, &moves, &choices),
            planned: Some(planned),
            moves,
            choices,
        }
    }

    /// Why it is where it is.
    fn text(
        &self,
        id: ShardId,
        planned: &pb::Assignment,
        moves: &[pb::Move],
        choices: &[pb::BrokerChoice],
    ) -> String {
        let shard = self.problem.shard(id);
        if planned.leader.is_empty() {
            return format!("without a leader: {}", planned.unplaced_detail);
        }
        if shard.is_pinned {
            return format!(
                "led by {:?}: pinned, or its move is under way",
                planned.leader
            );
        }
        let now = shard.present.leader.map(|b| &self.problem.broker(b).id);
        let mut text = match now {
            None => format!("led by {:?}, where nobody leads it now", planned.leader),
            Some(now) if *now == planned.leader => format!("stays on {now:?}"),
            Some(now) => format!("led by {:?} instead of {now:?}", planned.leader),
        };
        if let Some(step) = moves.iter().find(|step| step.to == planned.leader) {
            let reason = step.reason().as_str_name();
            let reason = reason.trim_start_matches("MOVE_REASON_").to_lowercase();
            text.push_str(&format!(" ({reason})"));
        }
        let is_other = |choice: &&pb::BrokerChoice| {
            matches!(choice.verdict(), pb::Verdict::Open | pb::Verdict::Full)
        };
        match choices.iter().find(is_other) {
            None => text.push_str("; no other broker may lead it"),
            Some(next) if next.proven => {
                let costs = match next.at_least.first() {
                    None => "may cost the same".to_owned(),
                    Some(amount) => {
                        let rank = amount.rank.replace('_', " ");
                        format!("costs at least {} {rank} more", amount.value)
                    }
                };
                text.push_str(&format!("; the next best, {:?}, {costs}", next.broker));
            }
            Some(next) => {
                let costs = match next.alone.first() {
                    None => "nothing".to_owned(),
                    Some(amount) => {
                        format!("{:+} {}", amount.value, amount.rank.replace('_', " "))
                    }
                };
                text.push_str(&format!(
                    "; {:?} would cost {costs} if it moved alone",
                    next.broker
                ));
            }
        }
        if !planned.unplaced_detail.is_empty() {
            text.push_str(&format!("; {}", planned.unplaced_detail));
        }
        if let Some(step) = moves.iter().find(|step| !step.blocked.is_empty()) {
            text.push_str(&format!("; its move is blocked: {}", step.blocked));
        }
        text
    }

    fn choice(&self, id: ShardId, b: BrokerId, choice: &Choice) -> pb::BrokerChoice {
        let problem = self.problem;
        let mut told = pb::BrokerChoice {
            broker: problem.broker(b).id.clone(),
            zone: problem.zones[problem.zone_of(b).index()].name.clone(),
            ..Default::default()
        };
        match choice {
            Choice::Chosen => told.set_verdict(pb::Verdict::Chosen),
            Choice::Never(ban) => {
                told.set_verdict(pb::Verdict::Forbidden);
                told.rule = self.ban(id, b, *ban);
            }
            Choice::Open(offer) => {
                told.set_verdict(match offer.full.is_empty() {
                    true => pb::Verdict::Open,
                    false => pb::Verdict::Full,
                });
                told.rule = self.full(offer);
                told.at_least = offer.at_least.as_ref().map(amounts).unwrap_or_default();
                told.proven = offer.at_least.is_some();
                told.alone = amounts(&offer.alone);
            }
        }
        told
    }

    /// The limits in force that keep it out unless another shard leaves.
    fn full(&self, offer: &Offer) -> String {
        let problem = self.problem;
        let full = offer.full.iter().map(|&(place, rule, limit)| {
            let name = match rule {
                LimitRule::MaxReplicas => "max_replicas",
                LimitRule::MaxLeaders | LimitRule::Closed => "max_leaders",
            };
            match place {
                Place::Broker(_) => format!("{name} {limit} is reached"),
                Place::Zone(z) => {
                    let zone = &problem.zones[z.index()].name;
                    format!("{name} {limit} of zone {zone:?} is reached")
                }
            }
        });
        full.collect::<Vec<_>>().join(", ")
    }

    fn ban(&self, id: ShardId, b: BrokerId, ban: Ban) -> String {
        match ban {
            Ban::Pinned => "the shard is pinned, or its move is under way".to_owned(),
            Ban::Down => "DOWN".to_owned(),
            Ban::Draining => "DRAINING: takes nothing new".to_owned(),
            Ban::HoldsNothing => "LEADERSHIP_ONLY: holds no live replica".to_owned(),
            Ban::Closed => self.closed(id, b),
        }
    }

    /// Which tag, or else the list, keeps a stream from a broker.
    fn closed(&self, id: ShardId, b: BrokerId) -> String {
        let stream = &self.problem.stream(self.problem.shard(id).stream).id;
        let broker = &self.problem.broker(b).id;
        let listed = (self.streams.get(stream.as_str())).zip(self.brokers.get(broker.as_str()));
        let Some((listed, broker)) = listed else {
            return format!("stream {stream:?} may not be there");
        };
        let allowed = &listed.allowed_brokers;
        if !allowed.is_empty() && !allowed.contains(&broker.id) {
            return format!("not among allowed_brokers of stream {stream:?}");
        }
        let of_policy = self.policy.iter().flat_map(|policy| &policy.required_tags);
        let overridden = |key: &String| listed.required_tags.contains_key(key);
        let wanted = of_policy
            .filter(|(key, _)| !overridden(key))
            .chain(&listed.required_tags);
        let missing = wanted
            .filter(|(key, value)| broker.tags.get(*key) != Some(*value))
            .min();
        match missing {
            Some((key, value)) => match broker.tags.get(key) {
                Some(has) => format!("tag {key} is {has:?}, required is {value:?}"),
                None => format!("has no tag {key}, required is {value:?}"),
            },
            None => format!("stream {stream:?} may not be there"),
        }
    }
}

/// The chosen broker, then the cheapest first, then those that can't.
fn order(choice: &Choice) -> (u8, [i64; RANKS], [i64; RANKS]) {
    let none = [0; RANKS];
    match choice {
        Choice::Chosen => (0, none, none),
        Choice::Open(offer) => (1, offer.at_least.unwrap_or(offer.alone), offer.alone),
        Choice::Never(_) => (2, none, none),
    }
}

fn amounts(values: &[i64; RANKS]) -> Vec<pb::RankAmount> {
    let ranks = Rank::ALL
        .iter()
        .zip(values)
        .filter(|(_, value)| **value != 0);
    ranks
        .map(|(rank, &value)| pb::RankAmount {
            rank: rank.name().to_owned(),
            value,
        })
        .collect()
}
