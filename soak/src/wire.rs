//! Inputs of the solver as messages: for what goes through a request, and for files to look at a mismatch.

use std::collections::{BTreeMap, HashMap};

use shardflow::json::{Defaults, to_json};
use shardflow::pb;
use shardflow_solver::input::{
    BalanceInput, BrokerInput, InFlightInput, PolicyInput, ShardInput, SnapshotInput, SpreadInput,
    StreamInput, TrafficSourceInput, WeightsInput, ZoneLimitInput,
};
use shardflow_solver::snapshot::{BrokerState, Dimension, Role, Roles};

/// The request that reads as these inputs. Thetas are not carried over; nothing here sets them.
pub fn request(snapshot: &SnapshotInput, policy: &PolicyInput) -> pb::OptimizeRequest {
    pb::OptimizeRequest {
        request_id: String::new(),
        snapshot: Some(snapshot_message(snapshot)),
        policy: Some(policy_message(policy)),
        options: None,
    }
}

/// A request as a file.
pub fn json(request: &pb::OptimizeRequest) -> String {
    to_json(request, Defaults::Skip).unwrap_or_else(|error| error.to_string())
}

fn snapshot_message(input: &SnapshotInput) -> pb::Snapshot {
    pb::Snapshot {
        cluster_id: input.cluster_id.clone(),
        generation: input.generation.clone(),
        brokers: input.brokers.iter().map(broker).collect(),
        streams: input.streams.iter().map(stream).collect(),
        shards: input.shards.iter().map(shard).collect(),
        in_flight: input.in_flight.iter().map(flight).collect(),
    }
}

fn tags(tags: &BTreeMap<String, String>) -> HashMap<String, String> {
    tags.clone().into_iter().collect()
}

fn broker(input: &BrokerInput) -> pb::Broker {
    let state = match input.state {
        BrokerState::Active => pb::BrokerState::Active,
        BrokerState::Draining => pb::BrokerState::Draining,
        BrokerState::Down => pb::BrokerState::Down,
    };
    pb::Broker {
        id: input.id.clone(),
        zone: input.zone.clone(),
        state: state.into(),
        tags: tags(&input.tags),
        share: input.share,
        max_leaders: input.max_leaders,
        max_replicas: input.max_replicas,
        disk_bytes: input.disk_bytes,
        disk_used_bytes: input.disk_used_bytes,
        rate_capacity: input.rate_capacity,
    }
}

fn stream(input: &StreamInput) -> pb::Stream {
    pb::Stream {
        id: input.id.clone(),
        replication_factor: input.replication_factor,
        required_tags: tags(&input.required_tags),
        allowed_brokers: input.allowed_brokers.clone(),
    }
}

fn shard(input: &ShardInput) -> pb::Shard {
    pb::Shard {
        id: input.id.clone(),
        stream: input.stream.clone(),
        number: input.number,
        leader: input.leader.clone(),
        followers: input.followers.clone(),
        size_bytes: input.size_bytes,
        rate: input.rate,
        pinned: input.pinned,
        sources: input.sources.iter().map(source).collect(),
        follower_sources: input.follower_sources.iter().map(source).collect(),
    }
}

fn source(input: &TrafficSourceInput) -> pb::TrafficSource {
    pb::TrafficSource {
        zones: input.zones.clone(),
        weight: input.weight,
    }
}

fn flight(input: &InFlightInput) -> pb::InFlight {
    let role = match input.role {
        Role::Leader => pb::Role::Leader,
        Role::Follower => pb::Role::Follower,
    };
    pb::InFlight {
        shard: input.shard.clone(),
        role: role.into(),
        from: input.from.clone(),
        to: input.to.clone(),
    }
}

fn policy_message(input: &PolicyInput) -> pb::Policy {
    let roles = match input.roles {
        Roles::LeadersAndFollowers => pb::Roles::LeadersAndFollowers,
        Roles::LeadershipOnly => pb::Roles::LeadershipOnly,
    };
    pb::Policy {
        weights: Some(weights(&input.weights)),
        roles: roles.into(),
        stream_leaders: Some(spread(&input.stream_leaders)),
        cluster_leaders: Some(spread(&input.cluster_leaders)),
        stream_replicas: Some(spread(&input.stream_replicas)),
        cluster_replicas: Some(spread(&input.cluster_replicas)),
        zone_limits: input.zone_limits.iter().map(zone_limit).collect(),
        min_zones: input.min_zones,
        allow_zone_loss: input.allow_zone_loss,
        max_replicas_per_zone: input.max_replicas_per_zone,
        disk_watermark_percent: input.disk_watermark_percent,
        max_moves: input.max_moves,
        required_tags: tags(&input.required_tags),
        thetas: None,
        balance: input.balance.as_ref().map(balance),
    }
}

fn balance(input: &BalanceInput) -> pb::Balance {
    let dimension = match input.dimension {
        Dimension::Rate => pb::Dimension::Rate,
        Dimension::Bytes => pb::Dimension::Bytes,
    };
    pb::Balance {
        dimension: dimension.into(),
        tolerance_percent: input.tolerance_percent,
    }
}

fn weights(input: &WeightsInput) -> pb::Weights {
    pb::Weights {
        traffic: input.traffic,
        overlap: input.overlap,
        overlap_per_gib: input.overlap_per_gib,
        promotion: input.promotion,
        same_rack: input.same_rack,
        same_rack_as_leader: input.same_rack_as_leader,
    }
}

fn spread(input: &SpreadInput) -> pb::Spread {
    let mode = match input.is_off {
        true => pb::SpreadMode::Off,
        false => pb::SpreadMode::Level,
    };
    pb::Spread {
        mode: mode.into(),
        slack: input.slack,
    }
}

fn zone_limit(input: &ZoneLimitInput) -> pb::ZoneLimit {
    pb::ZoneLimit {
        zone: input.zone.clone(),
        min_leaders: input.min_leaders,
        max_leaders: input.max_leaders,
        max_replicas: input.max_replicas,
    }
}
