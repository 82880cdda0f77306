//! The hard rules and the shape of a plan, straight from their definition.

use shardflow_solver::snapshot::{Assignment, BrokerId, Counts, Limits, Problem, Roles};

pub(crate) fn check(problem: &Problem, plan: &[Assignment]) {
    assert_eq!(plan.len(), problem.shards.len());
    for (i, a) in plan.iter().enumerate() {
        check_shard(problem, i, a);
    }
    check_caps(problem, plan);
}

fn check_shard(problem: &Problem, i: usize, a: &Assignment) {
    let shard = &problem.shards[i];
    let id = &shard.id;
    let factor = problem.replication_factor(shard.stream) as usize;
    let now: Vec<BrokerId> = problem.live(&shard.present).collect();
    let live: Vec<BrokerId> = problem.live(a).collect();
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
        return;
    }
    if problem.policy.roles == Roles::LeadershipOnly {
        let mut present: Vec<BrokerId> = shard.present.replicas().collect();
        present.sort_unstable();
        assert_eq!(all, present, "{id}: leadership only");
        return;
    }
    assert!(live.len() <= factor, "{id}: no surplus");
    assert!(live.len() >= now.len().min(factor), "{id}: data given up");
    assert!(
        listed <= factor || listed == live.len(),
        "{id}: up to the factor"
    );
    let mut dead: Vec<BrokerId> = shard
        .present
        .replicas()
        .filter(|&b| !problem.is_live(b))
        .collect();
    dead.sort_unstable();
    dead.truncate(factor - live.len());
    let listed_dead: Vec<BrokerId> = all
        .iter()
        .copied()
        .filter(|&b| !problem.is_live(b))
        .collect();
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
            let there = |set: &[BrokerId]| {
                set.iter()
                    .filter(|&&b| problem.zone_of(b).index() == z)
                    .count()
            };
            assert!(
                there(&live) <= there(&now).max(limit as usize),
                "{id}: zone rule"
            );
        }
    }
}

fn check_caps(problem: &Problem, plan: &[Assignment]) {
    let count = |layout: &mut dyn Iterator<Item = &Assignment>| {
        let mut counts = Counts::zero(problem.brokers.len(), problem.zones.len());
        layout.for_each(|a| counts.add(&problem.brokers, a, 1));
        counts
    };
    let before = count(&mut problem.shards.iter().map(|s| &s.present));
    let after = count(&mut plan.iter());
    let fits = |cap: Option<u32>, before: i64, after: i64| {
        after <= cap.map_or(Limits::NONE, |cap| i64::from(cap).max(before))
    };
    for (b, broker) in problem.brokers.iter().enumerate() {
        assert!(fits(
            broker.max_leaders,
            before.leaders[b],
            after.leaders[b]
        ));
        assert!(fits(
            broker.max_replicas,
            before.replicas[b],
            after.replicas[b]
        ));
    }
    for (z, zone) in problem.zones.iter().enumerate() {
        assert!(fits(
            zone.max_leaders,
            before.zone_leaders[z],
            after.zone_leaders[z]
        ));
        assert!(fits(
            zone.max_replicas,
            before.zone_replicas[z],
            after.zone_replicas[z]
        ));
    }
}
