//! Why a shard lacks its leader or followers in the plan, in the user's words.
//!
//! Every broker that could help the shard is asked what holds it back; a broker is named with what it has and its
//! limit. A shard that lacks its leader is explained for the leader: a live holder could be promoted, another broker
//! could take a replica that leads. The reason is what stands in the way last:
//!
//! * no broker could ever help: `NO_BROKER`;
//! * all of them are in zones that hold as much of this shard as `max_replicas_per_zone` allows: `ZONE_RULE`;
//! * the others are all in zones at their maximum: `ZONE_LIMIT`;
//! * of the rest, all are full: `BROKER_CAP`;
//! * those that aren't have no capacity for its rate: `RATE`;
//! * those that have are short of bytes below their watermarks: `DISK`.
//!
//! Complexity: O(brokers) for each kind of want, which shards of a stream that hold replicas in the same places share;
//! thousands of new shards of one stream are explained once.

use std::collections::HashMap;

use super::{Shortfall, ShortfallReason};
use crate::budget::{Pace, Stop};
use crate::snapshot::{
    Assignment, BrokerId, Counts, Limits, Loads, Problem, Roles, Shard, ShardId, StreamId, ZoneId,
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
    let mut held = Held {
        counts: Counts::zero(problem.brokers.len(), problem.zones.len()),
        loads: Loads::zero(problem.brokers.len()),
    };
    for (assignment, shard) in placement.iter().zip(&problem.shards) {
        pace.step(1)?;
        held.counts.add(&problem.brokers, assignment, 1);
        held.loads.add(&problem.brokers, shard, assignment, 1);
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
                held: &held,
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

/// What brokers and zones hold in the plan.
struct Held {
    counts: Counts,
    loads: Loads,
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
    /// Bytes of a replica and rate of its leader; 0 where nothing binds them.
    size_bytes: i64,
    rate: i64,
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
    let (size_bytes, rate) = match problem.has_loads() {
        true => (shard.size_bytes, shard.rate),
        false => (0, 0),
    };
    Some(ShardWant {
        stream: shard.stream,
        lacks_leader,
        followers: followers as u32,
        is_pinned: shard.is_pinned,
        closed_zones: closed_zones(problem, shard, &held),
        held,
        size_bytes,
        rate,
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
    Rate,
    Disk,
}

/// Who is held back by what.
#[derive(Default)]
struct Holds {
    free: Few,
    rules: Few,
    zones: Few,
    brokers: Few,
    rates: Few,
    disks: Few,
}

impl Holds {
    /// What stands in the way last.
    fn reason(&self) -> ShortfallReason {
        let reasons = [
            (&self.disks, ShortfallReason::Disk),
            (&self.rates, ShortfallReason::Rate),
            (&self.brokers, ShortfallReason::BrokerCap),
            (&self.zones, ShortfallReason::ZoneLimit),
            (&self.rules, ShortfallReason::ZoneRule),
        ];
        let found = reasons.iter().find(|(few, _)| !few.is_empty());
        found.map_or(ShortfallReason::NoBroker, |found| found.1)
    }
}

struct Advocate<'a> {
    problem: &'a Problem,
    held: &'a Held,
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
        let holds = self.holds();
        let detail = format!("{lacking}: {}", self.in_words(&holds));
        (holds.reason(), detail)
    }

    /// Asks every broker; a zone is named once.
    fn holds(&self) -> Holds {
        let mut holds = Holds::default();
        let mut is_named = vec![[false; 2]; self.problem.zones.len()];
        let mut is_first =
            |zone: ZoneId, list: usize| !std::mem::replace(&mut is_named[zone.index()][list], true);
        for broker in self.problem.broker_ids() {
            let id = &self.problem.broker(broker).id;
            let (limits, loads) = (&self.problem.limits.loads_in_force, &self.held.loads);
            let left = |limits: &[i64], loads: &[i64], unit: &str| {
                let left = (limits[broker.index()] - loads[broker.index()]).max(0);
                format!("{id} ({left}{unit} left)")
            };
            match self.hold(broker) {
                None => {}
                Some(Hold::Nothing) => holds.free.add(|| id.clone()),
                Some(Hold::Rule(zone)) if is_first(zone, 0) => {
                    let zone = &self.problem.zones[zone.index()];
                    holds.rules.add(|| zone.name.clone());
                }
                Some(Hold::Zone(zone, what)) if is_first(zone, 1) => {
                    holds.zones.add(|| self.full_zone(zone, what));
                }
                Some(Hold::Rule(_) | Hold::Zone(..)) => {}
                Some(Hold::Broker(what)) => holds.brokers.add(|| self.full_broker(broker, what)),
                Some(Hold::Rate) => holds.rates.add(|| left(&limits.rates, &loads.rates, "")),
                Some(Hold::Disk) => holds
                    .disks
                    .add(|| left(&limits.bytes, &loads.bytes, " bytes")),
            }
        }
        holds
    }

    fn in_words(&self, holds: &Holds) -> String {
        let mut parts = Vec::new();
        let mut add = |few: &Few, text: &dyn Fn(String) -> String| {
            if !few.is_empty() {
                parts.push(text(few.in_words()));
            }
        };
        add(&holds.free, &|brokers| {
            format!("{brokers} would have room, which this plan does not use")
        });
        add(&holds.disks, &|brokers| {
            let size = self.want.size_bytes;
            format!("disks without room for its {size} bytes: {brokers}")
        });
        add(&holds.rates, &|brokers| {
            let rate = self.want.rate;
            format!("capacities without room for its rate {rate}: {brokers}")
        });
        add(&holds.brokers, &|brokers| format!("full: {brokers}"));
        add(&holds.zones, &|zones| {
            format!("zones at their maximum: {zones}")
        });
        let limit = self.problem.policy.max_replicas_per_zone.unwrap_or(0);
        add(&holds.rules, &|zones| {
            format!("max_replicas_per_zone {limit} reached in {zones}")
        });
        if parts.is_empty() {
            parts.push(self.nobody());
        }
        parts.join("; ")
    }

    fn full_zone(&self, zone: ZoneId, what: What) -> String {
        let (at, counts) = (zone.index(), &self.held.counts);
        let zone = &self.problem.zones[at];
        match what {
            What::Leaders => full(&zone.name, what, counts.zone_leaders[at], zone.max_leaders),
            What::Replicas => full(
                &zone.name,
                what,
                counts.zone_replicas[at],
                zone.max_replicas,
            ),
        }
    }

    fn full_broker(&self, broker: BrokerId, what: What) -> String {
        let (at, counts) = (broker.index(), &self.held.counts);
        let broker = self.problem.broker(broker);
        match what {
            What::Leaders => full(&broker.id, what, counts.leaders[at], broker.max_leaders),
            What::Replicas => full(&broker.id, what, counts.replicas[at], broker.max_replicas),
        }
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
        let (counts, limits) = (&self.held.counts, &self.problem.limits.in_force);
        let (loads, loads_in_force) = (&self.held.loads, &self.problem.limits.loads_in_force);
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
        } else if leads && is_above(loads.rates[b], self.want.rate, loads_in_force.rates[b]) {
            Hold::Rate
        } else if enters
            && is_above(
                loads.bytes[b],
                self.want.size_bytes,
                loads_in_force.bytes[b],
            )
        {
            Hold::Disk
        } else {
            Hold::Nothing
        }
    }
}

/// Whether one more of that amount would be too much.
fn is_above(load: i64, amount: i64, limit: i64) -> bool {
    amount > 0 && limit != Limits::NONE && load.saturating_add(amount) > limit
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
