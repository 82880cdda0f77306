//! The hard rules and the shape of a plan, straight from their definition.

use shardflow_solver::snapshot::{Assignment, BrokerId, Counts, Limits, Problem, Roles, Shard};

use crate::measures::{counts, present};

pub(crate) fn check(problem: &Problem, plan: &[Assignment]) {
    assert_eq!(plan.len(), problem.shards.len());
    for (i, a) in plan.iter().enumerate() {
        check_shard(problem, i, a);
    }
    check_caps(problem, plan);
    check_loads(problem, plan);
    check_changes(problem, plan);
}

fn check_shard(problem: &Problem, i: usize, a: &Assignment) {
    let shard = &problem.shards[i];
    let id = &shard.id;
    let mut all: Vec<BrokerId> = a.replicas().collect();
    all.sort_unstable();
    let listed = all.len();
    all.dedup();
    assert_eq!(all.len(), listed, "{id}: distinct brokers");
    assert!(
        a.followers.windows(2).all(|w| w[0] < w[1]),
        "{id}: canonical"
    );
    assert!(
        a.leader.is_none_or(|b| problem.is_live(b)),
        "{id}: led by a DOWN broker"
    );
    assert!(a.leader.is_some() || problem.live_leader(shard).is_none());
    if shard.is_pinned {
        assert_eq!(*a, shard.present, "{id}: pinned");
    } else if problem.policy.roles == Roles::LeadershipOnly {
        let mut present: Vec<BrokerId> = shard.present.replicas().collect();
        present.sort_unstable();
        assert_eq!(all, present, "{id}: leadership only");
    } else {
        check_copies(problem, shard, a, &all);
    }
}

/// The rules of a shard that may gain and lose replicas; `all` are those of the plan, by id.
fn check_copies(problem: &Problem, shard: &Shard, a: &Assignment, all: &[BrokerId]) {
    let id = &shard.id;
    let factor = problem.replication_factor(shard.stream) as usize;
    let now: Vec<BrokerId> = problem.live(&shard.present).collect();
    let live: Vec<BrokerId> = problem.live(a).collect();
    assert!(live.len() <= factor, "{id}: no surplus");
    assert!(live.len() >= now.len().min(factor), "{id}: data given up");
    assert!(
        all.len() <= factor || all.len() == live.len(),
        "{id}: up to the factor"
    );
    let is_down = |b: &BrokerId| !problem.is_live(*b);
    let mut dead: Vec<BrokerId> = shard.present.replicas().filter(is_down).collect();
    dead.sort_unstable();
    dead.truncate(factor - live.len());
    let listed_dead: Vec<BrokerId> = all.iter().copied().filter(is_down).collect();
    assert_eq!(listed_dead, dead, "{id}: DOWN replicas");
    for &b in live.iter().filter(|b| !now.contains(b)) {
        assert!(problem.is_active(b), "{id}: entered {b:?}");
        assert!(
            problem.stream(shard.stream).open[b.index()],
            "{id}: closed {b:?}"
        );
    }
    if let Some(limit) = problem.policy.max_replicas_per_zone {
        for z in 0..problem.zones.len() {
            let is_there = |b: &&BrokerId| problem.zone_of(**b).index() == z;
            let there = |set: &[BrokerId]| set.iter().filter(is_there).count();
            assert!(
                there(&live) <= there(&now).max(limit as usize),
                "{id}: zone rule"
            );
        }
    }
}

fn check_caps(problem: &Problem, plan: &[Assignment]) {
    let before = counts(problem, &present(problem));
    let after = counts(problem, plan);
    let fits = |cap: Option<u32>, of: fn(&Counts) -> &[i64], at: usize| {
        let most = cap.map_or(Limits::NONE, |cap| i64::from(cap).max(of(&before)[at]));
        assert!(of(&after)[at] <= most, "cap {cap:?} of {at}");
    };
    for (b, broker) in problem.brokers.iter().enumerate() {
        fits(broker.max_leaders, |c| &c.leaders, b);
        fits(broker.max_replicas, |c| &c.replicas, b);
    }
    for (z, zone) in problem.zones.iter().enumerate() {
        fits(zone.max_leaders, |c| &c.zone_leaders, z);
        fits(zone.max_replicas, |c| &c.zone_replicas, z);
    }
}

/// Bytes and rates that each broker would have.
fn loads(problem: &Problem, plan: &[Assignment]) -> (Vec<i64>, Vec<i64>) {
    let mut bytes = vec![0; problem.brokers.len()];
    let mut rates = bytes.clone();
    for (shard, a) in problem.shards.iter().zip(plan) {
        for b in problem.live(a) {
            bytes[b.index()] += shard.size_bytes;
        }
        if let Some(b) = a.leader.filter(|&b| problem.is_live(b)) {
            rates[b.index()] += shard.rate;
        }
    }
    (bytes, rates)
}

fn check_loads(problem: &Problem, plan: &[Assignment]) {
    let (bytes_now, rates_now) = loads(problem, &present(problem));
    let (bytes, rates) = loads(problem, plan);
    for (b, broker) in problem.brokers.iter().enumerate() {
        if let Some(size) = broker.disk_bytes {
            let percent = i64::from(problem.policy.disk_watermark_percent);
            let room = size * percent / 100 - broker.disk_used_bytes;
            assert!(bytes[b] <= room.max(bytes_now[b]), "bytes of {}", broker.id);
        }
        if let Some(capacity) = broker.rate_capacity {
            assert!(
                rates[b] <= capacity.max(rates_now[b]),
                "rate of {}",
                broker.id
            );
        }
    }
}

fn check_changes(problem: &Problem, plan: &[Assignment]) {
    let Some(most) = problem.policy.max_moves else {
        return;
    };
    let changes = |(shard, a): (&Shard, &Assignment)| {
        let copies = a.replicas().filter(|&b| !shard.present.holds(b)).count();
        let is_promoted = a
            .leader
            .is_some_and(|b| shard.present.followers.contains(&b));
        copies + usize::from(is_promoted)
    };
    let settled = problem
        .shards
        .iter()
        .zip(plan)
        .filter(|(shard, _)| problem.is_settled(shard));
    let made: usize = settled.map(changes).sum();
    assert!(
        made <= most as usize,
        "{made} changes where {most} are allowed"
    );
}
