//! Requests: from messages to the solver's input and options.
//!
//! Absent is not wrong where the wire format names a default: an absent policy is the default policy, a zero enum
//! its first named value. What the solver can judge itself (ids, ranges, totals) is passed on as it is; only what
//! its types can't hold is judged here.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use shardflow_solver::budget::{Pace, Stop};
use shardflow_solver::cost::Rank;
use shardflow_solver::hint::PriceHint;
use shardflow_solver::input::{
    BalanceInput, BrokerInput, InFlightInput, PolicyInput, ShardInput, SnapshotInput, SpreadInput,
    StreamInput, TrafficSourceInput, WeightsInput, ZoneLimitInput,
};
use shardflow_solver::snapshot::{BrokerState, Dimension, Role, Roles};
use shardflow_solver::strategy::{Planner, SolveOptions};

use super::Findings;
use crate::pb;

/// Largest number of seconds in a `google.protobuf.Duration`: 10,000 years.
const DURATION_SECONDS_MAX: i64 = 315_576_000_000;

/// Which assignments a plan lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Listing {
    /// All shards.
    #[default]
    All,
    /// Shards that change and shards that lack replicas.
    Changed,
    /// None.
    None,
}

/// `Options` as read.
#[derive(Clone, Debug, Default)]
pub struct OptionsRead {
    /// What the solver needs.
    pub solve: SolveOptions,
    /// Time for solving.
    pub time_budget: Option<Duration>,
    /// Whether the answer carries its proof.
    pub include_certificate: bool,
    /// Assignments to list.
    pub listing: Listing,
    /// What of the options changes nothing.
    pub warnings: Vec<String>,
}

/// Reads a snapshot into an empty `input`, which holds what was read where the interrupt asks to stop. An absent one is
/// a finding, and read as empty.
///
/// # Errors
/// The interrupt's reason.
pub(crate) fn snapshot(
    message: Option<&pb::Snapshot>,
    input: &mut SnapshotInput,
    findings: &mut Findings,
    pace: &mut Pace<'_>,
) -> Result<(), Stop> {
    let Some(message) = message else {
        findings.add("snapshot", "", "must be given");
        return Ok(());
    };
    input.cluster_id.clone_from(&message.cluster_id);
    input.generation.clone_from(&message.generation);
    input.brokers = indexed(&message.brokers, |at, b| broker(at, b, findings));
    input.streams = message.streams.iter().map(stream).collect();
    input.in_flight = indexed(&message.in_flight, |at, flight| InFlightInput {
        shard: flight.shard.clone(),
        role: role(
            flight.role,
            || format!("snapshot.in_flight[{at}].role"),
            findings,
        ),
        from: flight.from.clone(),
        to: flight.to.clone(),
    });
    input.shards.reserve_exact(message.shards.len());
    for message in &message.shards {
        pace.step(1)?;
        input.shards.push(shard(message));
    }
    Ok(())
}

fn indexed<M, T>(messages: &[M], mut read: impl FnMut(usize, &M) -> T) -> Vec<T> {
    let numbered = messages.iter().enumerate();
    numbered.map(|(at, message)| read(at, message)).collect()
}

fn broker(at: usize, message: &pb::Broker, findings: &mut Findings) -> BrokerInput {
    let path = || format!("snapshot.brokers[{at}].state");
    let state = match findings.known(message.state, path, "BrokerState") {
        pb::BrokerState::Unspecified | pb::BrokerState::Active => BrokerState::Active,
        pb::BrokerState::Draining => BrokerState::Draining,
        pb::BrokerState::Down => BrokerState::Down,
    };
    BrokerInput {
        id: message.id.clone(),
        zone: message.zone.clone(),
        state,
        tags: sorted(&message.tags),
        share: message.share,
        max_leaders: message.max_leaders,
        max_replicas: message.max_replicas,
        disk_bytes: message.disk_bytes,
        disk_used_bytes: message.disk_used_bytes,
        rate_capacity: message.rate_capacity,
    }
}

fn stream(message: &pb::Stream) -> StreamInput {
    StreamInput {
        id: message.id.clone(),
        replication_factor: message.replication_factor,
        required_tags: sorted(&message.required_tags),
        allowed_brokers: message.allowed_brokers.clone(),
    }
}

fn shard(message: &pb::Shard) -> ShardInput {
    ShardInput {
        id: message.id.clone(),
        stream: message.stream.clone(),
        number: message.number,
        leader: message.leader.clone(),
        followers: message.followers.clone(),
        size_bytes: message.size_bytes,
        rate: message.rate,
        pinned: message.pinned,
        sources: message.sources.iter().map(source).collect(),
        follower_sources: message.follower_sources.iter().map(source).collect(),
    }
}

fn source(message: &pb::TrafficSource) -> TrafficSourceInput {
    TrafficSourceInput {
        zones: message.zones.clone(),
        weight: message.weight,
    }
}

fn sorted(tags: &HashMap<String, String>) -> BTreeMap<String, String> {
    let owned = tags.iter().map(|(key, value)| (key.clone(), value.clone()));
    owned.collect()
}

pub(crate) fn role(number: i32, path: impl FnOnce() -> String, findings: &mut Findings) -> Role {
    match findings.known(number, path, "Role") {
        pb::Role::Unspecified | pb::Role::Leader => Role::Leader,
        pb::Role::Follower => Role::Follower,
    }
}

/// Reads a policy; `at` is its path in the request. An absent one is the default policy.
pub(crate) fn policy(
    message: Option<&pb::Policy>,
    at: &str,
    findings: &mut Findings,
) -> PolicyInput {
    let Some(message) = message else {
        return PolicyInput::default();
    };
    let path = |field: &str| format!("{at}.{field}");
    let roles = match findings.known(message.roles, || path("roles"), "Roles") {
        pb::Roles::Unspecified | pb::Roles::LeadersAndFollowers => Roles::LeadersAndFollowers,
        pb::Roles::LeadershipOnly => Roles::LeadershipOnly,
    };
    let mut spread = |message: Option<&pb::Spread>, field: &str| match message {
        None => SpreadInput::default(),
        Some(spread) => {
            let mode = || path(&format!("{field}.mode"));
            SpreadInput {
                is_off: findings.known::<pb::SpreadMode>(spread.mode, mode, "SpreadMode")
                    == pb::SpreadMode::Off,
                slack: spread.slack,
            }
        }
    };
    PolicyInput {
        weights: message.weights.as_ref().map(weights).unwrap_or_default(),
        roles,
        stream_leaders: spread(message.stream_leaders.as_ref(), "stream_leaders"),
        cluster_leaders: spread(message.cluster_leaders.as_ref(), "cluster_leaders"),
        stream_replicas: spread(message.stream_replicas.as_ref(), "stream_replicas"),
        cluster_replicas: spread(message.cluster_replicas.as_ref(), "cluster_replicas"),
        zone_limits: message.zone_limits.iter().map(zone_limit).collect(),
        min_zones: message.min_zones,
        allow_zone_loss: message.allow_zone_loss,
        max_replicas_per_zone: message.max_replicas_per_zone,
        disk_watermark_percent: message.disk_watermark_percent,
        max_moves: message.max_moves,
        required_tags: sorted(&message.required_tags),
        thetas: message
            .thetas
            .as_ref()
            .map_or([None; 3], |t| [t.shard, t.index, t.disk]),
        balance: message.balance.as_ref().map(|balance| {
            let dimension = || path("balance.dimension");
            findings.known::<pb::Dimension>(balance.dimension, dimension, "Dimension");
            BalanceInput {
                dimension: match balance.dimension() {
                    pb::Dimension::Bytes => Dimension::Bytes,
                    pb::Dimension::Rate | pb::Dimension::Unspecified => Dimension::Rate,
                },
                tolerance_percent: balance.tolerance_percent,
            }
        }),
    }
}

fn weights(message: &pb::Weights) -> WeightsInput {
    WeightsInput {
        traffic: message.traffic,
        overlap: message.overlap,
        overlap_per_gib: message.overlap_per_gib,
        promotion: message.promotion,
        same_rack: message.same_rack,
        same_rack_as_leader: message.same_rack_as_leader,
    }
}

fn zone_limit(message: &pb::ZoneLimit) -> ZoneLimitInput {
    ZoneLimitInput {
        zone: message.zone.clone(),
        min_leaders: message.min_leaders,
        max_leaders: message.max_leaders,
        max_replicas: message.max_replicas,
    }
}

/// Reads options; `at` is their path in the request. Absent ones are the defaults.
pub(crate) fn options(
    message: Option<&pb::Options>,
    at: &str,
    snapshot: Option<&pb::Snapshot>,
    findings: &mut Findings,
) -> OptionsRead {
    let Some(message) = message else {
        return OptionsRead::default();
    };
    let planner = match findings.known(message.planner, || format!("{at}.planner"), "Planner") {
        pb::Planner::Unspecified | pb::Planner::Auto => Planner::Auto,
        pb::Planner::NetworkSimplex => Planner::NetworkSimplex,
        pb::Planner::Mip => Planner::Mip,
        pb::Planner::GreedyTiers => Planner::GreedyTiers,
        pb::Planner::WeightFunction => Planner::WeightFunction,
        pb::Planner::Swap => Planner::Swap,
    };
    let path = || format!("{at}.assignments");
    let listing = match findings.known(message.assignments, path, "Assignments") {
        pb::Assignments::Unspecified | pb::Assignments::All => Listing::All,
        pb::Assignments::Changed => Listing::Changed,
        pb::Assignments::None => Listing::None,
    };
    let mut warnings = Vec::new();
    if !message.price_hint.is_empty() {
        warnings.extend(price_hint(&message.price_hint, at, snapshot, findings));
    }
    OptionsRead {
        solve: SolveOptions {
            planner,
            work_limit: message.work_limit,
            price_hint: first_prices(&message.price_hint),
        },
        time_budget: message
            .time_budget
            .as_ref()
            .and_then(|budget| time_budget(budget, at, findings)),
        include_certificate: message.include_certificate,
        listing,
        warnings,
    }
}

fn time_budget(
    message: &prost_types::Duration,
    at: &str,
    findings: &mut Findings,
) -> Option<Duration> {
    let (seconds, nanos) = (message.seconds, message.nanos);
    let budget = match (u64::try_from(seconds), u32::try_from(nanos)) {
        (Ok(s), Ok(n)) if seconds <= DURATION_SECONDS_MAX && n < 1_000_000_000 => {
            Some(Duration::new(s, n))
        }
        _ => None,
    };
    let legal = budget.filter(|budget| !budget.is_zero());
    if legal.is_none() {
        findings.add(
            format!("{at}.time_budget"),
            format!("{seconds} s {nanos} ns"),
            "must be above 0 and a legal google.protobuf.Duration",
        );
    }
    legal
}

/// What engines start from: prices of one more leader by weighted cost.
fn first_prices(prices: &[pb::Price]) -> PriceHint {
    let mut hint = PriceHint::default();
    let is_unit_price = |price: &&pb::Price| {
        let is_of_leader = matches!(price.role(), pb::Role::Unspecified | pb::Role::Leader);
        let is_of_unit = matches!(price.rule(), pb::Rule::Unspecified | pb::Rule::None);
        is_of_leader && is_of_unit && price.rank == Rank::Weighted.name()
    };
    for price in prices.iter().filter(is_unit_price) {
        if price.broker.is_empty() {
            hint.zones.push((price.zone.clone(), price.value));
        } else {
            hint.brokers.push((price.broker.clone(), price.value));
        }
    }
    hint
}

/// Refuses what can't be prices.
/// Those of brokers and zones that are gone come with the last answer's: they are passed over, and the warning says so.
fn price_hint(
    prices: &[pb::Price],
    at: &str,
    snapshot: Option<&pb::Snapshot>,
    findings: &mut Findings,
) -> Option<String> {
    let listed = snapshot.map_or(&[][..], |snapshot| &snapshot.brokers);
    let brokers: HashSet<&str> = listed.iter().map(|b| b.id.as_str()).collect();
    let mut zones: HashSet<&str> = listed.iter().map(|b| b.zone.as_str()).collect();
    zones.remove("");
    let zones = if zones.is_empty() { &brokers } else { &zones };
    let is_gone = |name: &str, names: &HashSet<&str>| !name.is_empty() && !names.contains(name);
    let mut gone: Vec<&str> = Vec::new();
    for (position, price) in prices.iter().enumerate() {
        let path = |field: &str| format!("{at}.price_hint[{position}].{field}");
        if !Rank::ALL.iter().any(|rank| rank.name() == price.rank) {
            findings.add(path("rank"), &price.rank, "must be the name of a rank");
        }
        role(price.role, || path("role"), findings);
        if price.broker.is_empty() && price.zone.is_empty() {
            findings.add(
                path("broker"),
                "",
                "must name a broker, or zone must be given",
            );
        }
        if is_gone(&price.broker, &brokers) {
            gone.push(&price.broker);
        } else if is_gone(&price.zone, zones) {
            gone.push(&price.zone);
        }
    }
    let first = gone.first()?;
    Some(format!(
        "{at}.price_hint: {} of {} prices are passed over, since the snapshot lists no such broker or zone (first: \
         {first:?})",
        gone.len(),
        prices.len()
    ))
}
