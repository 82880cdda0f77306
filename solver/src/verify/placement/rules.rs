//! The hard rules, shard by shard and count by count.

use super::measure::{Replicas, Tally, has_replicas, live_leader, live_replicas, takes};
use crate::snapshot::{Assignment, BrokerId, Problem, Roles, Shard, ShardId, ZoneId};
use crate::verify::{Fault, Rule};

/// Where the faults of one shard go.
struct Finder<'a> {
    problem: &'a Problem,
    id: ShardId,
    shard: &'a Shard,
    faults: &'a mut Vec<Fault>,
}

impl Finder<'_> {
    fn find(&mut self, rule: Rule, what: String) {
        let fault = Fault::of_shard(self.problem, rule, self.id, what);
        self.faults.push(fault);
    }
    fn find_at(&mut self, rule: Rule, broker: BrokerId, what: String) {
        let fault = Fault::of_shard(self.problem, rule, self.id, what).at_broker(broker);
        self.faults.push(fault);
    }
    fn name(&self, broker: BrokerId) -> &str {
        &self.problem.brokers[broker.index()].id
    }
    fn names(&self, brokers: &[BrokerId]) -> String {
        let quoted: Vec<String> = brokers
            .iter()
            .map(|&b| format!("`{}`", self.name(b)))
            .collect();
        if quoted.is_empty() {
            "no broker".to_owned()
        } else {
            quoted.join(", ")
        }
    }
}

/// Checks one assignment: `listed` as given, `known` without brokers that do not exist.
pub(super) fn check_shard(
    problem: &Problem,
    id: ShardId,
    listed: &Assignment,
    known: &Assignment,
    faults: &mut Vec<Fault>,
) {
    let shard = &problem.shards[id.index()];
    let mut finder = Finder {
        problem,
        id,
        shard,
        faults,
    };
    for broker in listed.leader.iter().chain(&listed.followers) {
        if broker.index() >= problem.brokers.len() {
            let what = format!("the snapshot has no broker number {}", broker.0);
            finder.find(Rule::UnknownId, what);
        }
    }
    check_listing(&mut finder, known);
    if shard.is_pinned {
        if known.leader != shard.present.leader
            || sorted(&known.followers) != sorted(&shard.present.followers)
        {
            finder.find(Rule::Pinned, "it is pinned and yet changed".to_owned());
        }
        return;
    }
    check_leader(&mut finder, known);
    if problem.policy.roles == Roles::LeadershipOnly {
        check_replica_set(&mut finder, known);
    } else {
        check_newcomers(&mut finder, known);
        check_replica_count(&mut finder, known);
        check_down_listing(&mut finder, known);
        check_zone_counts(&mut finder, known);
    }
}

fn sorted(brokers: &[BrokerId]) -> Replicas {
    let mut sorted = Replicas::from_slice(brokers);
    sorted.sort_unstable();
    sorted
}

fn all_replicas(assignment: &Assignment) -> Replicas {
    let all = assignment.leader.iter().chain(&assignment.followers);
    let mut all: Replicas = all.copied().collect();
    all.sort_unstable();
    all
}

fn check_listing(finder: &mut Finder<'_>, plan: &Assignment) {
    let replicas = all_replicas(plan);
    for pair in replicas.windows(2).filter(|pair| pair[0] == pair[1]) {
        let what = format!("broker `{}` is listed twice", finder.name(pair[0]));
        finder.find_at(Rule::ListedTwice, pair[0], what);
    }
    if plan.followers.windows(2).any(|pair| pair[0] > pair[1]) {
        let what = format!(
            "followers {} are out of order",
            finder.names(&plan.followers)
        );
        finder.find(Rule::FollowerOrder, what);
    }
}

fn check_leader(finder: &mut Finder<'_>, plan: &Assignment) {
    let problem = finder.problem;
    match plan.leader {
        Some(leader) if !has_replicas(&problem.brokers[leader.index()]) => {
            let what = format!("broker `{}` leads it and is DOWN", finder.name(leader));
            finder.find_at(Rule::LeaderDown, leader, what);
        }
        Some(_) => {}
        None => {
            if let Some(now) = live_leader(problem, &finder.shard.present) {
                let what = format!(
                    "it has no leader, though broker `{}` leads it now",
                    finder.name(now)
                );
                finder.find_at(Rule::Leaderless, now, what);
            }
        }
    }
}

fn check_replica_set(finder: &mut Finder<'_>, plan: &Assignment) {
    let (now, then) = (all_replicas(&finder.shard.present), all_replicas(plan));
    if now != then {
        let what = format!(
            "only leadership may change, but its replicas go from {} to {}",
            finder.names(&now),
            finder.names(&then)
        );
        finder.find(Rule::ReplicaSet, what);
    }
}

fn check_newcomers(finder: &mut Finder<'_>, plan: &Assignment) {
    let problem = finder.problem;
    let now = all_replicas(&finder.shard.present);
    let stream = &problem.streams[finder.shard.stream.index()];
    for broker in all_replicas(plan) {
        if now.contains(&broker) || takes(problem, stream, broker) {
            continue;
        }
        let (name, state) = (finder.name(broker), problem.brokers[broker.index()].state);
        let what = if stream.open[broker.index()] {
            format!("broker `{name}` is {state} and takes no new replica")
        } else {
            format!("broker `{name}` may not hold stream `{}`", stream.id)
        };
        finder.find_at(Rule::NewReplica, broker, what);
    }
}

fn check_replica_count(finder: &mut Finder<'_>, plan: &Assignment) {
    let problem = finder.problem;
    let factor = problem.streams[finder.shard.stream.index()].replication_factor as usize;
    let now = live_replicas(problem, &finder.shard.present).len();
    let live = live_replicas(problem, plan).len();
    let fewest = factor.min(now);
    if live < fewest {
        let what = format!("it goes from {now} live replicas to {live}, and {fewest} must stay");
        finder.find(Rule::GivenUp, what);
    }
    let most = if live_leader(problem, plan).is_some() {
        factor
    } else {
        fewest.max(factor - 1)
    };
    if live > most {
        let what = format!("it has {live} live replicas where at most {most} are allowed");
        finder.find(Rule::Surplus, what);
    }
}

fn check_down_listing(finder: &mut Finder<'_>, plan: &Assignment) {
    let problem = finder.problem;
    let factor = problem.streams[finder.shard.stream.index()].replication_factor as usize;
    let is_lost = |b: &BrokerId| !has_replicas(&problem.brokers[b.index()]);
    let lost = all_replicas(&finder.shard.present);
    let lost: Replicas = lost.into_iter().filter(is_lost).collect();
    let room = factor.saturating_sub(live_replicas(problem, plan).len());
    let expected = &lost[..room.min(lost.len())];
    // A newcomer on a DOWN broker is a fault of its own, and so is a leader there.
    let listed = sorted(&plan.followers);
    let listed: Replicas = listed.into_iter().filter(|b| lost.contains(b)).collect();
    if listed[..] != *expected {
        let what = format!(
            "of its replicas on DOWN brokers the plan lists {} instead of {}",
            finder.names(&listed),
            finder.names(expected)
        );
        finder.find(Rule::DownListing, what);
    }
}

fn check_zone_counts(finder: &mut Finder<'_>, plan: &Assignment) {
    let problem = finder.problem;
    let Some(most) = problem.policy.max_replicas_per_zone else {
        return;
    };
    let zones = |assignment: &Assignment| -> Vec<ZoneId> {
        let live = live_replicas(problem, assignment);
        live.iter()
            .map(|b| problem.brokers[b.index()].zone)
            .collect()
    };
    let (now, then) = (zones(&finder.shard.present), zones(plan));
    let mut distinct = then.clone();
    distinct.sort_unstable();
    distinct.dedup();
    for zone in distinct {
        let count = |all: &[ZoneId]| all.iter().filter(|&&z| z == zone).count();
        let limit = count(&now).max(most as usize);
        if count(&then) > limit {
            let name = &problem.zones[zone.index()].name;
            let what = format!(
                "zone `{name}` has {} of its replicas where at most {limit} are allowed",
                count(&then)
            );
            let fault = Fault::of_shard(problem, Rule::ReplicasPerZone, finder.id, what);
            finder.faults.push(fault.at_zone(zone));
        }
    }
}

/// Checks the counts of brokers and zones against the caps in force.
pub(super) fn check_counts(
    problem: &Problem,
    present: &Tally,
    tally: &Tally,
    faults: &mut Vec<Fault>,
) {
    let plan = || "the plan has".to_owned();
    for at in 0..problem.brokers.len() {
        let id = BrokerId::at(at);
        check_broker_growth(problem, id, present.of_broker(id), tally, &plan, faults);
    }
    for at in 0..problem.zones.len() {
        let id = ZoneId::at(at);
        check_zone_growth(problem, id, present.of_zone(id), tally, &plan, faults);
    }
}

/// A count that grew beyond the larger of its cap and what was there before, in words.
fn excess(cap: Option<u32>, before: i64, after: i64, what: &str) -> Option<String> {
    let limit = i64::from(cap?).max(before);
    (after > limit).then(|| format!("{after} {what} where at most {limit} are allowed"))
}

/// Finds leaders and replicas of a broker that grow beyond the larger of the cap and those `before`.
pub(in crate::verify) fn check_broker_growth(
    problem: &Problem,
    id: BrokerId,
    (leaders, replicas): (i64, i64),
    after: &Tally,
    when: &dyn Fn() -> String,
    faults: &mut Vec<Fault>,
) {
    let broker = &problem.brokers[id.index()];
    let now = after.of_broker(id);
    if let Some(what) = excess(broker.max_leaders, leaders, now.0, "leaders") {
        let what = format!("{} {what}", when());
        faults.push(Fault::of_broker(problem, Rule::BrokerLeaders, id, what));
    }
    if let Some(what) = excess(broker.max_replicas, replicas, now.1, "replicas") {
        let what = format!("{} {what}", when());
        faults.push(Fault::of_broker(problem, Rule::BrokerReplicas, id, what));
    }
}

/// The same for a zone.
pub(in crate::verify) fn check_zone_growth(
    problem: &Problem,
    id: ZoneId,
    (leaders, replicas): (i64, i64),
    after: &Tally,
    when: &dyn Fn() -> String,
    faults: &mut Vec<Fault>,
) {
    let zone = &problem.zones[id.index()];
    let now = after.of_zone(id);
    if let Some(what) = excess(zone.max_leaders, leaders, now.0, "leaders") {
        let what = format!("{} {what}", when());
        faults.push(Fault::of_zone(problem, Rule::ZoneLeaders, id, what));
    }
    if let Some(what) = excess(zone.max_replicas, replicas, now.1, "replicas") {
        let what = format!("{} {what}", when());
        faults.push(Fault::of_zone(problem, Rule::ZoneReplicas, id, what));
    }
}
