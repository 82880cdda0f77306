//! What a shard may become, what that costs by itself, and how many leaders are level, derived from the contract once
//! more: models that serve as oracles are built on it.

use shardflow_solver::cost::RANKS;
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, Roles, Shard, Stream, ZoneId};

/// What the rules of the shard itself allow.
pub(crate) fn choices(problem: &Problem, shard: &Shard) -> Vec<Assignment> {
    if shard.is_pinned {
        return vec![shard.present.clone()];
    }
    let with =
        |leader: Option<BrokerId>, followers: Vec<BrokerId>| Assignment { leader, followers };
    let live: Vec<BrokerId> = problem.live(&shard.present).collect();
    let is_led = shard.present.leader.is_some_and(|b| problem.is_live(b));
    let mut all: Vec<BrokerId> = shard.present.replicas().collect();
    all.sort_unstable();
    if problem.policy.roles == Roles::LeadershipOnly {
        let others = |b: BrokerId| all.iter().copied().filter(|&o| o != b).collect();
        let mut choices: Vec<Assignment> = live.iter().map(|&b| with(Some(b), others(b))).collect();
        if !is_led {
            choices.push(with(None, all));
        }
        return choices;
    }
    let stream = problem.stream(shard.stream);
    let enters = |b: &BrokerId| problem.is_active(*b) && stream.open[b.index()];
    let newcomers = problem
        .broker_ids()
        .filter(enters)
        .filter(|b| !live.contains(b));
    let seats: Vec<BrokerId> = live.iter().copied().chain(newcomers).collect();
    let mut choices: Vec<Assignment> = seats.iter().map(|&b| with(Some(b), vec![])).collect();
    if !is_led && live.is_empty() {
        // Of the replicas on `DOWN` brokers the lowest id stays listed.
        all.truncate(1);
        choices.push(with(None, all));
    } else if !is_led {
        choices.extend(seats.iter().map(|&b| with(None, vec![b])));
    }
    choices
}

/// Cost of a shard's own choice in every rank.
pub(crate) fn own_cost(problem: &Problem, shard: &Shard, plan: &Assignment) -> [i64; RANKS] {
    let weights = &problem.policy.weights;
    let stream = problem.stream(shard.stream);
    let factor = i64::from(stream.replication_factor);
    let zone = |b: BrokerId| problem.zone_of(b);
    let live: Vec<BrokerId> = problem.live(plan).collect();
    let now: Vec<BrokerId> = problem.live(&shard.present).collect();
    let leader = plan.leader;
    let followers: Vec<BrokerId> = live
        .iter()
        .copied()
        .filter(|&b| Some(b) != leader)
        .collect();
    let mut cost = [0; RANKS];
    cost[0] = i64::from(leader.is_none());
    cost[1] = (factor - 1 - followers.len() as i64).max(0);
    let spans = |replicas: &[BrokerId]| {
        let mut zones: Vec<ZoneId> = replicas.iter().map(|&b| zone(b)).collect();
        zones.sort_unstable();
        zones.dedup();
        zones.len() as i64
    };
    if !shard.is_pinned {
        let closed = |b: &&BrokerId| !problem.is_active(**b) || !stream.open[b.index()];
        cost[2] = live.iter().filter(closed).count() as i64;
        cost[2] += leader.iter().filter(closed).count() as i64;
        if let Some(most) = problem.policy.max_replicas_per_zone {
            for z in (0..problem.zones.len()).map(ZoneId::at) {
                let there = live.iter().filter(|&&b| zone(b) == z).count() as i64;
                cost[2] += (there - i64::from(most)).max(0);
            }
        }
        let kept = if problem.policy.allow_zone_loss {
            0
        } else {
            spans(&now)
        };
        let wanted = i64::from(problem.policy.min_zones).max(kept).min(factor);
        cost[5] = (wanted - spans(&live)).max(0);
    }
    let new: Vec<BrokerId> = live.iter().copied().filter(|b| !now.contains(b)).collect();
    let copies = if now.is_empty() { 0 } else { new.len() as i64 };
    let gib = (shard.size_bytes + (1 << 30) - 1) / (1 << 30);
    cost[12] = copies * (weights.overlap + weights.overlap_per_gib * gib);
    if let Some(leader) = leader {
        cost[12] += weights.traffic * shard.leader_traffic.cross(zone(leader));
        let together = followers
            .iter()
            .filter(|&&b| zone(b) == zone(leader))
            .count() as i64;
        cost[12] += weights.same_rack_as_leader * together;
        let old = shard.present.leader.filter(|&b| problem.is_live(b));
        let is_promoted = shard.present.followers.contains(&leader);
        if old.is_some() && is_promoted {
            cost[12] += weights.promotion;
        }
        let fails_over = old.is_none() && !now.is_empty() && !now.contains(&leader);
        let is_renamed = shard.present.leader.is_some_and(|named| named != leader);
        cost[14] = i64::from(is_renamed) + i64::from(fails_over);
    }
    for (at, &b) in live.iter().enumerate() {
        let pairs = live[..at]
            .iter()
            .filter(|&&other| zone(other) == zone(b))
            .count() as i64;
        cost[12] += weights.same_rack * pairs;
    }
    for &b in &followers {
        cost[12] += weights.traffic * shard.follower_traffic.cross(zone(b));
    }
    cost[13] = copies;
    cost
}

/// Leaders of all streams that cost nothing in rank 9, from the least to the most; `None` where the rank does not apply
/// to the broker.
pub(crate) fn cluster_band(problem: &Problem, b: BrokerId) -> Option<(i64, i64)> {
    let slack = problem.policy.cluster_leaders?.slack;
    band(problem, b, problem.shards.len(), slack, |b| {
        problem.is_active(b)
    })
}

/// Leaders of a stream that cost nothing in rank 8; likewise.
pub(crate) fn stream_band(problem: &Problem, stream: &Stream, b: BrokerId) -> Option<(i64, i64)> {
    let slack = problem.policy.stream_leaders?.slack;
    band(problem, b, stream.shards.len(), slack, |b| {
        problem.is_active(b) && stream.open[b.index()]
    })
}

/// Floor less slack and ceiling plus slack of one broker's part of some shards, shared out among those that take part.
fn band(
    problem: &Problem,
    b: BrokerId,
    shards: usize,
    slack: u32,
    takes_part: impl Fn(BrokerId) -> bool,
) -> Option<(i64, i64)> {
    let share = |b: BrokerId| u64::from(problem.broker(b).share);
    let brokers = problem.broker_ids().filter(|&b| takes_part(b));
    let total: u64 = brokers.map(share).sum();
    if total == 0 || !takes_part(b) {
        return None;
    }
    let wanted = shards as u64 * share(b);
    let slack = i64::from(slack);
    let (floor, ceiling) = (wanted / total, wanted.div_ceil(total));
    Some((floor as i64 - slack, ceiling as i64 + slack))
}
