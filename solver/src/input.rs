//! What a caller hands in: plain, unvalidated values, in the caller's order.
//!
//! Absent text is the empty string, as on the wire. [`crate::validate::build`] turns an input into a
//! [`crate::snapshot::Problem`] or lists everything that is wrong with it.

use std::collections::BTreeMap;

use crate::snapshot::{BrokerState, Dimension, Role, Roles};

/// One cluster at one instant, as listed by the caller.
#[derive(Clone, Debug, Default)]
pub struct SnapshotInput {
    /// Name of the cluster; only echoed into the fingerprint.
    pub cluster_id: String,
    /// The caller's version of the snapshot; echoed in the plan.
    pub generation: String,
    /// Every broker that may hold a replica or holds one now.
    pub brokers: Vec<BrokerInput>,
    /// Every stream that has shards.
    pub streams: Vec<StreamInput>,
    /// Every shard with its present replicas.
    pub shards: Vec<ShardInput>,
    /// Moves that are under way.
    pub in_flight: Vec<InFlightInput>,
}

/// A broker as listed.
#[derive(Clone, Debug, Default)]
pub struct BrokerInput {
    /// Unique, non-empty.
    pub id: String,
    /// Zone or rack; empty on every broker means that each broker is its own zone.
    pub zone: String,
    /// Whether it takes, keeps or has lost its replicas.
    pub state: BrokerState,
    /// Free labels, matched by required tags.
    pub tags: BTreeMap<String, String>,
    /// Relative size; absent means 1, zero wants nothing.
    pub share: Option<u32>,
    /// Most leaders it may be given.
    pub max_leaders: Option<u32>,
    /// Most replicas of any role it may be given.
    pub max_replicas: Option<u32>,
    /// Disk size in bytes.
    pub disk_bytes: Option<i64>,
    /// Bytes in use that belong to no shard of the snapshot.
    pub disk_used_bytes: i64,
    /// Capacity for the rates of the shards it leads.
    pub rate_capacity: Option<i64>,
}

/// A stream as listed.
#[derive(Clone, Debug, Default)]
pub struct StreamInput {
    /// Unique, non-empty.
    pub id: String,
    /// Replicas a shard should have; zero means one.
    pub replication_factor: u32,
    /// Tags a broker must carry; each overrides the policy's tag of the same key.
    pub required_tags: BTreeMap<String, String>,
    /// Brokers that may hold it; empty means all.
    pub allowed_brokers: Vec<String>,
}

/// A shard as listed.
#[derive(Clone, Debug, Default)]
pub struct ShardInput {
    /// Unique, non-empty.
    pub id: String,
    /// Id of its stream.
    pub stream: String,
    /// Its number in the stream, unique there.
    pub number: Option<u32>,
    /// Broker that leads it; empty where none does.
    pub leader: String,
    /// Brokers that hold its other replicas.
    pub followers: Vec<String>,
    /// Size in bytes.
    pub size_bytes: i64,
    /// Traffic rate of its leader, in the caller's unit.
    pub rate: i64,
    /// Keeps its replicas where they are.
    pub pinned: bool,
    /// Traffic that its leader serves.
    pub sources: Vec<TrafficSourceInput>,
    /// Traffic that each of its followers serves.
    pub follower_sources: Vec<TrafficSourceInput>,
}

/// Traffic that a replica in one of `zones` reaches at no cost.
#[derive(Clone, Debug, Default)]
pub struct TrafficSourceInput {
    /// Zones that reach the source free of charge; they need not have brokers.
    pub zones: Vec<String>,
    /// Cost from any other zone, before the policy's weight.
    pub weight: i64,
}

/// A move under way; it counts as finished.
#[derive(Clone, Debug, Default)]
pub struct InFlightInput {
    /// Id of the shard.
    pub shard: String,
    /// Role that moves.
    pub role: Role,
    /// Broker that gives the role up; empty for a follower that is added.
    pub from: String,
    /// Broker that takes it.
    pub to: String,
}

/// What to optimise for.
#[derive(Clone, Debug, Default)]
pub struct PolicyInput {
    /// Prices of the `weighted` rank.
    pub weights: WeightsInput,
    /// Which roles may be decided.
    pub roles: Roles,
    /// Spread of each stream's leaders.
    pub stream_leaders: SpreadInput,
    /// Spread of all leaders.
    pub cluster_leaders: SpreadInput,
    /// Spread of each stream's replicas.
    pub stream_replicas: SpreadInput,
    /// Spread of all replicas.
    pub cluster_replicas: SpreadInput,
    /// Limits per zone, at most one a zone.
    pub zone_limits: Vec<ZoneLimitInput>,
    /// Zones every shard should span, capped at its replication factor.
    pub min_zones: u32,
    /// Lets a shard end in fewer zones than it spans now.
    pub allow_zone_loss: bool,
    /// Most replicas of one shard in one zone, at least 1.
    pub max_replicas_per_zone: Option<u32>,
    /// Share of a disk that may be filled, 1 to 100.
    pub disk_watermark_percent: Option<u32>,
    /// Most changes to settled shards.
    pub max_moves: Option<u32>,
    /// Tags a broker must carry to hold any stream.
    pub required_tags: BTreeMap<String, String>,
    /// Weights of the weight-function planner: shard, index, disk.
    pub thetas: [Option<f64>; 3],
    /// Load to keep level besides counts.
    pub balance: Option<BalanceInput>,
}

/// Prices of the `weighted` rank; absent ones take the documented defaults.
#[derive(Clone, Debug, Default)]
pub struct WeightsInput {
    /// Times the traffic that crosses zones; default 10.
    pub traffic: Option<i64>,
    /// Per copy; default 1.
    pub overlap: Option<i64>,
    /// Per copy and started GiB; default 0.
    pub overlap_per_gib: Option<i64>,
    /// Per leader moved onto a follower; default 0, at most `overlap`.
    pub promotion: Option<i64>,
    /// Per pair of a shard's replicas in one zone; default 10.
    pub same_rack: Option<i64>,
    /// Per follower in its leader's zone; default 0.
    pub same_rack_as_leader: Option<i64>,
}

/// How level a count should be.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpreadInput {
    /// Leaves the spread out of the objective.
    pub is_off: bool,
    /// How far outside floor and ceiling costs nothing.
    pub slack: u32,
}

/// Limits of one zone.
#[derive(Clone, Debug, Default)]
pub struct ZoneLimitInput {
    /// Name of the zone.
    pub zone: String,
    /// Fewest leaders it should have.
    pub min_leaders: Option<u32>,
    /// Most leaders it may be given.
    pub max_leaders: Option<u32>,
    /// Most replicas it may be given.
    pub max_replicas: Option<u32>,
}

/// Load to keep level besides counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct BalanceInput {
    /// Which load.
    pub dimension: Dimension,
    /// How far above its share a broker may be, in percent.
    pub tolerance_percent: u32,
}
