//! A name for snapshot, policy and result, so that the plan applied is the plan shown.
//!
//! xxh3 with 128 bits over canonical bytes: the version of the algorithm, then everything in the problem that decides or
//! that the plan is about, then the placement. Every number is eight bytes, little-endian, every text and list begins with
//! its length, every option with whether it is there: no two problems share their bytes. What the caller merely has
//! echoed (`generation`) and what follows from the rest (counts, totals, warnings) stays out.

use xxhash_rust::xxh3::Xxh3;

use crate::budget::{Pace, Stop, unstopped};
use crate::snapshot::{
    Assignment, BrokerId, BrokerState, Dimension, Policy, Problem, Roles, Shard, Spread, Stream,
    Traffic,
};

/// To be raised whenever the same request may get another plan.
const VERSION: &str = "shardflow-2";
/// Bytes gathered before they are hashed.
const CHUNK: usize = 1 << 16;

/// The fingerprint: 32 lowercase hexadecimal digits. O(size of the problem).
pub fn fingerprint(problem: &Problem, placement: &[Assignment]) -> String {
    unstopped(|pace| fingerprint_within(problem, placement, pace))
}

/// The same, until the interrupt asks to stop.
pub(super) fn fingerprint_within(
    problem: &Problem,
    placement: &[Assignment],
    pace: &mut Pace<'_>,
) -> Result<String, Stop> {
    let mut out = Canonical {
        hasher: Xxh3::new(),
        bytes: Vec::with_capacity(2 * CHUNK),
    };
    out.text(VERSION);
    out.text(&problem.cluster_id);
    out.brokers(problem);
    out.count(problem.streams.len());
    for stream in &problem.streams {
        pace.step_stream(problem.brokers.len())?;
        out.stream(stream);
    }
    out.count(problem.shards.len());
    for shard in &problem.shards {
        pace.step(1)?;
        out.shard(shard);
    }
    out.policy(&problem.policy);
    out.count(placement.len());
    for assignment in placement {
        pace.step(1)?;
        out.assignment(assignment);
    }
    Ok(format!("{:032x}", out.finish()))
}

struct Canonical {
    hasher: Xxh3,
    bytes: Vec<u8>,
}

impl Canonical {
    fn finish(mut self) -> u128 {
        self.hasher.update(&self.bytes);
        self.hasher.digest128()
    }

    fn number(&mut self, value: i64) {
        if self.bytes.len() >= CHUNK {
            self.hasher.update(&self.bytes);
            self.bytes.clear();
        }
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn count(&mut self, value: usize) {
        self.number(value as i64);
    }

    fn option(&mut self, value: Option<u32>) {
        self.number(i64::from(value.is_some()));
        self.number(i64::from(value.unwrap_or(0)));
    }

    fn wide(&mut self, value: Option<i64>) {
        self.number(i64::from(value.is_some()));
        self.number(value.unwrap_or(0));
    }

    fn text(&mut self, value: &str) {
        self.count(value.len());
        self.bytes.extend_from_slice(value.as_bytes());
    }

    fn brokers(&mut self, problem: &Problem) {
        self.count(problem.zones.len());
        for zone in &problem.zones {
            self.text(&zone.name);
            self.number(i64::from(zone.min_leaders));
            self.option(zone.max_leaders);
            self.option(zone.max_replicas);
        }
        self.count(problem.brokers.len());
        for broker in &problem.brokers {
            self.text(&broker.id);
            self.number(i64::from(broker.zone.0));
            self.number(match broker.state {
                BrokerState::Active => 0,
                BrokerState::Draining => 1,
                BrokerState::Down => 2,
            });
            self.number(i64::from(broker.share));
            self.option(broker.max_leaders);
            self.option(broker.max_replicas);
            self.wide(broker.disk_bytes);
            self.number(broker.disk_used_bytes);
            self.wide(broker.rate_capacity);
        }
    }

    fn stream(&mut self, stream: &Stream) {
        self.text(&stream.id);
        self.number(i64::from(stream.replication_factor));
        self.count(stream.open.len());
        self.bytes
            .extend(stream.open.iter().map(|&open| u8::from(open)));
    }

    fn shard(&mut self, shard: &Shard) {
        self.text(&shard.id);
        self.number(i64::from(shard.stream.0));
        self.option(shard.number);
        self.assignment(&shard.present);
        self.number(shard.size_bytes);
        self.number(shard.rate);
        self.number(i64::from(shard.is_pinned));
        self.traffic(&shard.leader_traffic);
        self.traffic(&shard.follower_traffic);
    }

    fn traffic(&mut self, traffic: &Traffic) {
        self.number(traffic.total);
        self.count(traffic.reached.len());
        for &(zone, weight) in &traffic.reached {
            self.number(i64::from(zone.0));
            self.number(weight);
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.option(assignment.leader.map(|b| b.0));
        self.count(assignment.followers.len());
        for &BrokerId(follower) in &assignment.followers {
            self.number(i64::from(follower));
        }
    }

    fn policy(&mut self, policy: &Policy) {
        let weights = &policy.weights;
        for weight in [
            weights.traffic,
            weights.overlap,
            weights.overlap_per_gib,
            weights.promotion,
            weights.same_rack,
            weights.same_rack_as_leader,
        ] {
            self.number(weight);
        }
        self.number(match policy.roles {
            Roles::LeadersAndFollowers => 0,
            Roles::LeadershipOnly => 1,
        });
        let slack = |spread: Spread| spread.slack;
        for spread in [
            policy.stream_leaders,
            policy.cluster_leaders,
            policy.stream_replicas,
            policy.cluster_replicas,
        ] {
            self.option(spread.map(slack));
        }
        self.number(i64::from(policy.min_zones));
        self.number(i64::from(policy.allow_zone_loss));
        self.option(policy.max_replicas_per_zone);
        self.number(i64::from(policy.disk_watermark_percent));
        self.option(policy.max_moves);
        self.option(policy.balance.map(|balance| balance.tolerance_percent));
        self.number(match policy.balance.map(|balance| balance.dimension) {
            None | Some(Dimension::Rate) => 0,
            Some(Dimension::Bytes) => 1,
        });
        for theta in policy.thetas {
            self.wide(theta.map(|theta| theta.to_bits() as i64));
        }
        self.number(policy.absent_zone_minimum);
    }
}
