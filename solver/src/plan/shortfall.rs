//! Why a shard lacks its leader or followers in the plan, in the user's words.
//!
//! Every broker that could help the shard is asked what holds it back; a broker is named with what it has and its
//! limit. A shard that lacks its leader is explained for the leader: a live holder could be promoted, another broker
//! could take a replica that leads. The reason is what stands in the way last:
//!
//! * no broker could ever help: `NO_BROKER`;
//! * all of them are in zones that hold as much of this shard as `max_replicas_per_zone` allows: `ZONE_RULE`;
//! * the others are all in zones at their maximum: `ZONE_LIMIT`;
//! * of the rest, all are full: `BROKER_CAP`.
//!
//! Complexity: O(brokers) for each kind of want, which shards of a stream that hold replicas in the same places share;
//! thousands of new shards of one stream are explained once.

use std::collections::HashMap;

use super::{Shortfall, ShortfallReason};
use crate::budget::{Pace, Stop};
use crate::snapshot::{
    Assignment, BrokerId, Counts, Problem, Roles, Shard, ShardId, StreamId, ZoneId,
};

/// How many brokers or zones a detail names.
const NAMED: usize = 3;

/// Shards that lack replicas, in canonical order.
pub(super) fn shortfalls(
    problem: &Problem,
    placement: &[Assignment],
    pace: &mut Pace<'_>,
) -> Result<Vec<Shortfall>, Stop> {
    let mut lacking = Vec::new();
    for (at, (plan, shard)) in placement.iter().zip(&problem.shards).enumerate() {
        pace.step(1)?;
        if let Some(want) = want(problem, shard, plan) {
            lacking.push((want, ShardId::at(at)));
        }
    }
    if lacking.is_empty() {
        return Ok(Vec::new());
    }
    let mut counts = Counts::zero(problem.brokers.len(), problem.zones.len());
    for assignment in placement {
        pace.step(1)?;
        counts.add(&problem.brokers, assignment, 1);
    }
    let mut known: HashMap<ShardWant, (ShortfallReason, String)> = HashMap::new();
    let mut shortfalls = Vec::with_capacity(lacking.len());
    for (want, shard) in lacking {
        if !known.contains_key(&want) {
            pace.step_stream(problem.brokers.len())?;
        }
        let explained = known.entry(want).or_insert_with_key(|want| {
            let advocate = Advocate {
                problem,
                counts: &counts,
                want,
            };
            advocate.explain()
        });
        shortfalls.push(Shortfall {
            shard,
            reason: explained.0,
            detail: explained.1.clone(),
        });
    }
    Ok(shortfalls)
}

/// Everything about a shard that decides its explanation.
#[derive(PartialEq, Eq, Hash)]
struct ShardWant {
    stream: StreamId,
    lacks_leader: bool,
    followers: u32,
    is_pinned: bool,
    /// Live replicas in the plan.
    held: Vec<BrokerId>,
    /// Zones that may hold no more of the shard.
    closed_zones: Vec<ZoneId>,
}

fn want(problem: &Problem, shard: &Shard, plan: &Assignment) -> Option<ShardWant> {
    let live = problem.live(plan).count() as i64;
    let lacks_leader = !plan.leader.is_some_and(|b| problem.is_live(b));
    let factor = i64::from(problem.replication_factor(shard.stream));
    let followers = (factor - 1 - (live - i64::from(!lacks_leader))).max(0);
    if !lacks_leader && followers == 0 {
        return None;
    }
    let mut held: Vec<BrokerId> = problem.live(plan).collect();
    held.sort_unstable();
    Some(ShardWant {
        stream: shard.stream,
        lacks_leader,
        followers: followers as u32,
        is_pinned: shard.is_pinned,
        closed_zones: closed_zones(problem, shard, &held),
        held,
    })
}

/// Zones where the plan holds as many replicas of the shard as the larger of `max_replicas_per_zone` and those there now.
fn closed_zones(problem: &Problem, shard: &Shard, held: &[BrokerId]) -> Vec<ZoneId> {
    let Some(limit) = problem.policy.max_replicas_per_zone else {
        return Vec::new();
    };
    let mut zones: Vec<ZoneId> = held.iter().map(|&b| problem.zone_of(b)).collect();
    zones.sort_unstable();
    let is_closed = |same: &&[ZoneId]| {
        let now = problem
            .live(&shard.present)
            .filter(|&b| problem.zone_of(b) == same[0])
            .count();
        same.len() >= now.max(limit as usize)
    };
    zones
        .chunk_by(|a, b| a == b)
        .filter(is_closed)
        .map(|same| same[0])
        .collect()
}

/// What there is too much of.
#[derive(Clone, Copy)]
enum What {
    Leaders,
    Replicas,
}

/// What holds a broker back from helping.
enum Hold {
    Nothing,
    Rule(ZoneId),
    Zone(ZoneId, What),
    Broker(What),
}

struct Advocate<'a> {
    problem: &'a Problem,
    counts: &'a Counts,
    want: &'a ShardWant,
}

impl Advocate<'_> {
    fn explain(&self) -> (ShortfallReason, String) {
        let lacking = self.lacking();
        if self.want.is_pinned {
            let detail =
                format!("{lacking}: the shard is pinned and keeps its replicas as they are");
            return (ShortfallReason::NoBroker, detail);
        }
        let (mut free, mut rules) = (Few::default(), Few::default());
        let (mut zones, mut brokers) = (Few::default(), Few::default());
        let mut is_named = vec![[false; 2]; self.problem.zones.len()];
        let mut is_first =
            |zone: ZoneId, list: usize| !std::mem::replace(&mut is_named[zone.index()][list], true);
        for broker in self.problem.broker_ids() {
            match self.hold(broker) {
                None => {}
                Some(Hold::Nothing) => free.add(|| self.problem.broker(broker).id.clone()),
                Some(Hold::Rule(zone)) if is_first(zone, 0) => {
                    rules.add(|| self.problem.zones[zone.index()].name.clone());
                }
                Some(Hold::Zone(zone, what)) if is_first(zone, 1) => zones.add(|| {
                    let (zone, counts) = (zone.index(), self.counts);
                    let in_zone = &self.problem.zones[zone];
                    match what {
                        What::Leaders => full(
                            &in_zone.name,
                            what,
                            counts.zone_leaders[zone],
                            in_zone.max_leaders,
                        ),
                        What::Replicas => full(
                            &in_zone.name,
                            what,
                            counts.zone_replicas[zone],
                            in_zone.max_replicas,
                        ),
                    }
                }),
                Some(Hold::Rule(_) | Hold::Zone(..)) => {}
                Some(Hold::Broker(what)) => brokers.add(|| {
                    let (at, counts) = (broker.index(), self.counts);
                    let listed = self.problem.broker(broker);
                    match what {
                        What::Leaders => {
                            full(&listed.id, what, counts.leaders[at], listed.max_leaders)
                        }
                        What::Replicas => {
                            full(&listed.id, what, counts.replicas[at], listed.max_replicas)
                        }
                    }
                }),
            }
        }
        let reason = if !brokers.is_empty() {
            ShortfallReason::BrokerCap
        } else if !zones.is_empty() {
            ShortfallReason::ZoneLimit
        } else if !rules.is_empty() {
            ShortfallReason::ZoneRule
        } else {
            ShortfallReason::NoBroker
        };
        let mut parts = Vec::new();
        if !free.is_empty() {
            parts.push(format!(
                "{} would have room, which this plan does not use",
                free.in_words()
            ));
        }
        if !brokers.is_empty() {
            parts.push(format!("full: {}", brokers.in_words()));
        }
        if !zones.is_empty() {
            parts.push(format!("zones at their maximum: {}", zones.in_words()));
        }
        if let (Some(limit), false) = (self.problem.policy.max_replicas_per_zone, rules.is_empty())
        {
            parts.push(format!(
                "max_replicas_per_zone {limit} reached in {}",
                rules.in_words()
            ));
        }
        if parts.is_empty() {
            parts.push(self.nobody());
        }
        (reason, format!("{lacking}: {}", parts.join("; ")))
    }

    fn lacking(&self) -> String {
        let followers = match self.want.followers {
            1 => "1 follower".to_owned(),
            n => format!("{n} followers"),
        };
        match (self.want.lacks_leader, self.want.followers) {
            (true, 0) => "no leader".to_owned(),
            (true, _) => format!("no leader, {followers} missing"),
            _ => format!("{followers} missing"),
        }
    }

    fn nobody(&self) -> String {
        let stream = &self.problem.stream(self.want.stream).id;
        if self.problem.policy.roles == Roles::LeadershipOnly {
            return "under LEADERSHIP_ONLY nothing is copied, and no live replica is left that could help".to_owned();
        }
        let other = if self.want.held.is_empty() {
            ""
        } else {
            " other"
        };
        format!(
            "no{other} ACTIVE broker may hold stream {stream:?} (state, required tags, allowed brokers)"
        )
    }

    /// `None` where the broker could not help in any case.
    fn hold(&self, broker: BrokerId) -> Option<Hold> {
        if self.want.held.binary_search(&broker).is_ok() {
            return self
                .want
                .lacks_leader
                .then(|| self.cap(broker, true, false));
        }
        let may_enter = self.problem.may_enter(self.want.stream, broker)
            && self.problem.policy.roles == Roles::LeadersAndFollowers;
        if !may_enter {
            return None;
        }
        let zone = self.problem.zone_of(broker);
        if self.want.closed_zones.contains(&zone) {
            return Some(Hold::Rule(zone));
        }
        Some(self.cap(broker, self.want.lacks_leader, true))
    }

    /// Whether one more leader, one more replica, or both fit there.
    fn cap(&self, broker: BrokerId, leads: bool, enters: bool) -> Hold {
        let (counts, limits) = (self.counts, &self.problem.limits.in_force);
        let zone = self.problem.zone_of(broker);
        let (b, z) = (broker.index(), zone.index());
        if leads && counts.zone_leaders[z] >= limits.zone_leaders[z] {
            Hold::Zone(zone, What::Leaders)
        } else if enters && counts.zone_replicas[z] >= limits.zone_replicas[z] {
            Hold::Zone(zone, What::Replicas)
        } else if leads && counts.leaders[b] >= limits.leaders[b] {
            Hold::Broker(What::Leaders)
        } else if enters && counts.replicas[b] >= limits.replicas[b] {
            Hold::Broker(What::Replicas)
        } else {
            Hold::Nothing
        }
    }
}

/// A broker or zone that has all it may have.
fn full(name: &str, what: What, count: i64, cap: Option<u32>) -> String {
    let what = match what {
        What::Leaders => "leaders",
        What::Replicas => "replicas",
    };
    let cap = cap.map_or(String::new(), |cap| format!(", max_{what} {cap}"));
    format!("{name} ({count} {what}{cap})")
}

/// The first few of a list in words.
#[derive(Default)]
struct Few {
    named: Vec<String>,
    count: usize,
}

impl Few {
    fn add(&mut self, name: impl FnOnce() -> String) {
        if self.named.len() < NAMED {
            self.named.push(name());
        }
        self.count += 1;
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn in_words(&self) -> String {
        let named = self.named.join(", ");
        match self.count - self.named.len() {
            0 => named,
            more => format!("{named} and {more} more"),
        }
    }
}
