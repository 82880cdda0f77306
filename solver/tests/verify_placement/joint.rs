//! Bounds where leaders and followers are decided together.

use shardflow_solver::certificate::Certificate;
use shardflow_solver::cost::{RANKS, Rank, shard_cost};
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, Roles, ShardId, StreamId};
use shardflow_solver::verify::bound::bound;

use crate::bounds::{
    climb, optimum, prices_never_prove_too_much, random_prices, wide, zero_prices,
};
use crate::random::{self, Family, Random, legal_assignments};

const JOINT: Family = Family {
    brokers: 4,
    zones: 3,
    shards: 2,
    factor: 3,
    roles: Roles::LeadersAndFollowers,
    is_uncoupled: false,
    is_leaderless: false,
    has_loads: false,
};
const MORE_SHARDS: Family = Family {
    brokers: 3,
    shards: 3,
    factor: 2,
    ..JOINT
};

/// Random prices of all kinds, some slots of replicas and leaders left out.
fn joint_prices(random: &mut Random, problem: &Problem) -> Certificate {
    let mut certificate = random_prices(random, problem);
    let reach = random.between(1, 3);
    for prices in &mut certificate.ranks {
        let kept = random.up_to(100);
        prices.replica_slots = prices.slots.clone();
        prices.replica_slots.retain(|_| random.percent(kept));
        for slot in &mut prices.replica_slots {
            slot.price = random.between(-reach, reach);
        }
        prices.slots.retain(|_| random.percent(80));
    }
    certificate
}

#[test]
fn random_prices_never_prove_too_much() {
    prices_never_prove_too_much(JOINT, 200_000..202_000, joint_prices);
    prices_never_prove_too_much(MORE_SHARDS, 210_000..212_000, joint_prices);
}

#[test]
fn random_prices_never_prove_too_much_where_most_shards_have_no_leader() {
    let family = Family {
        is_leaderless: true,
        ..JOINT
    };
    prices_never_prove_too_much(family, 220_000..222_000, joint_prices);
}

#[test]
fn random_prices_never_prove_too_much_where_bytes_rates_and_moves_are_limited() {
    for (seed, roles) in [
        (230_000, Roles::LeadersAndFollowers),
        (240_000, Roles::LeadershipOnly),
    ] {
        let family = Family {
            has_loads: true,
            roles,
            ..JOINT
        };
        prices_never_prove_too_much(family, seed..seed + 2000, joint_prices);
    }
}

#[test]
fn climbing_prices_prove_many_optima_and_never_more() {
    let mut tight = 0;
    for seed in 0..200 {
        let mut random = Random::new(250_000 + seed);
        let family = [JOINT, MORE_SHARDS][seed as usize % 2];
        let problem = random::problem(&mut random, family);
        let (best, bound) = (wide(&optimum(&problem)), climb(&problem));
        assert!(
            bound.0 <= best,
            "seed {seed}: {bound:?} above {best:?} in {problem:#?}"
        );
        tight += u32::from(bound.0 == best);
    }
    assert!(tight >= 190, "only {tight} of 200 optima were proven");
}

#[test]
fn without_prices_the_bound_is_the_optimum_of_shards_that_do_not_meet() {
    let mut unlike = 0;
    for seed in 0..3000 {
        let family = Family {
            is_uncoupled: true,
            is_leaderless: seed % 4 == 0,
            ..JOINT
        };
        let problem = random::problem(&mut Random::new(260_000 + seed), family);
        let best = wide(&optimum(&problem));
        let none = bound(&problem, &Certificate::default()).expect("prices of the right shape");
        assert_eq!(none.0, best, "seed {seed}: {problem:#?}");
        unlike += u32::from(best.iter().any(|&value| value > 0));
    }
    assert!(unlike > 1500, "only {unlike} cost anything");
}

/// The prices of one certificate, read as it documents them.
struct Read<'a> {
    problem: &'a Problem,
    certificate: &'a Certificate,
}

type Row = [i128; RANKS];

fn less(a: &Row, b: &Row) -> Row {
    std::array::from_fn(|at| a[at] - b[at])
}

fn plus(a: &Row, b: &Row) -> Row {
    std::array::from_fn(|at| a[at] + b[at])
}

impl Read<'_> {
    fn row(&self, of: impl Fn(&shardflow_solver::certificate::RankPrices) -> i64) -> Row {
        let mut row = [0; RANKS];
        for prices in &self.certificate.ranks {
            row[prices.rank as usize] = i128::from(of(prices));
        }
        row
    }
    fn broker(&self, b: BrokerId) -> [Row; 2] {
        [
            self.row(|p| p.brokers[b.index()]),
            self.row(|p| p.broker_replicas.get(b.index()).copied().unwrap_or(0)),
        ]
    }
    fn zone(&self, z: usize) -> [Row; 2] {
        [
            self.row(|p| p.zones[z]),
            self.row(|p| p.zone_replicas.get(z).copied().unwrap_or(0)),
        ]
    }
    /// Of a leader, and of a replica.
    fn slot(&self, s: StreamId, b: BrokerId) -> [Row; 2] {
        let listed = |slots: &[shardflow_solver::certificate::SlotPrice]| {
            let mut slots = slots.iter();
            let found = slots.find(|slot| (slot.stream, slot.broker) == (s, b));
            found.map(|slot| slot.price)
        };
        let of_broker = |prices: &[i64]| prices.get(b.index()).copied().unwrap_or(0);
        let replica = |p: &shardflow_solver::certificate::RankPrices| {
            listed(&p.replica_slots).unwrap_or(of_broker(&p.broker_replicas))
        };
        let leader = |p: &shardflow_solver::certificate::RankPrices| {
            let absent = p.brokers[b.index()] + replica(p) - of_broker(&p.broker_replicas);
            listed(&p.slots).unwrap_or(absent)
        };
        [self.row(leader), self.row(replica)]
    }

    /// Own cost and prices of one assignment.
    fn choice(&self, shard: ShardId, assignment: &Assignment) -> Row {
        let problem = self.problem;
        let mut sum = shard_cost(problem, shard, assignment).0.map(i128::from);
        let stream = problem.shard(shard).stream;
        for b in problem.live(assignment) {
            let [leader, replica] = self.slot(stream, b);
            let is_leader = assignment.leader == Some(b);
            sum = plus(&sum, if is_leader { &leader } else { &replica });
        }
        sum
    }

    /// What counts without costs add: each multiplier's least product.
    fn counts(&self) -> Row {
        let problem = self.problem;
        let mut total = [0; RANKS];
        let mut add = |multiplier: Row, room: i128| {
            let most = multiplier.map(|price| -price * room);
            total = plus(&total, &most.min([0; RANKS]));
        };
        let mut of_zone = vec![0; problem.zones.len()];
        for b in problem.broker_ids() {
            let zone = problem.zone_of(b);
            let mut of_broker = 0;
            for (s, stream) in problem.streams.iter().enumerate() {
                let shards =
                    &problem.shards[stream.shards.start as usize..stream.shards.end as usize];
                let free = shards.iter().filter(|shard| !shard.is_pinned);
                let may = |shard: &&shardflow_solver::snapshot::Shard| {
                    problem.may_enter(StreamId::at(s), b)
                        || (problem.is_live(b) && shard.present.holds(b))
                };
                let room = free.filter(may).count() as i128;
                let [leader, replica] = self.slot(StreamId::at(s), b);
                let [of_leader, of_replica] = self.broker(b);
                let replicas = less(&replica, &of_replica);
                add(less(&less(&leader, &of_leader), &replicas), room);
                add(replicas, room);
                of_broker += room;
            }
            let [leader, replica] = self.broker(b);
            let [zone_leader, zone_replica] = self.zone(zone.index());
            let replicas = less(&replica, &zone_replica);
            add(less(&less(&leader, &zone_leader), &replicas), of_broker);
            add(replicas, of_broker);
            of_zone[zone.index()] += of_broker;
        }
        for (z, room) in of_zone.into_iter().enumerate() {
            let [leader, replica] = self.zone(z);
            add(less(&leader, &replica), room);
            add(replica, room);
        }
        total
    }
}

/// Where counts cost nothing, the bound is the sum of the shards' least own costs and prices and of what multipliers give
/// away: both found here by trying everything.
#[test]
fn the_cheapest_replicas_of_a_shard_are_found_exactly() {
    for seed in 0..4000 {
        let mut random = Random::new(300_000 + seed);
        let family = Family {
            brokers: 6,
            zones: 1 + random.up_to(4),
            shards: 2,
            factor: 4,
            is_uncoupled: true,
            is_leaderless: seed % 4 == 0,
            ..JOINT
        };
        let problem = random::problem(&mut random, family);
        let options = legal_assignments(&problem);
        for _ in 0..6 {
            let certificate = joint_prices(&mut random, &problem);
            let read = Read {
                problem: &problem,
                certificate: &certificate,
            };
            let mut expected = read.counts();
            for (at, options) in options.iter().enumerate() {
                let id = ShardId::at(at);
                let least = if problem.shards[at].is_pinned {
                    let present = &problem.shards[at].present;
                    shard_cost(&problem, id, present).0.map(i128::from)
                } else {
                    let all = options.iter().map(|option| read.choice(id, option));
                    all.min().expect("a shard may stay as it is")
                };
                expected = plus(&expected, &least);
            }
            expected[Rank::ZoneMinimumShortfall as usize] +=
                i128::from(problem.policy.absent_zone_minimum);
            let bound = bound(&problem, &certificate).expect("prices of the right shape");
            assert_eq!(
                bound.0, expected,
                "seed {seed}: {certificate:?} in {problem:#?}"
            );
        }
    }
}

/// Sums of many replicas at the ends of the range.
#[test]
fn the_largest_prices_do_not_wrap() {
    for seed in 0..200 {
        let mut random = Random::new(310_000 + seed);
        let family = Family {
            has_loads: true,
            ..JOINT
        };
        let problem = random::problem(&mut random, family);
        let best = wide(&optimum(&problem));
        for rank in Rank::ALL {
            let ends = [i64::MIN, i64::MAX, 0];
            let mut end = || ends[random.up_to(2) as usize];
            let mut prices = zero_prices(&problem, rank);
            prices.replica_slots = prices.slots.clone();
            let slots = prices.slots.iter_mut().chain(&mut prices.replica_slots);
            slots.for_each(|slot| slot.price = end());
            for prices in [
                &mut prices.brokers,
                &mut prices.zones,
                &mut prices.broker_replicas,
                &mut prices.zone_replicas,
            ] {
                prices.iter_mut().for_each(|price| *price = end());
            }
            let certificate = Certificate {
                ranks: vec![prices],
            };
            let bound = bound(&problem, &certificate).expect("prices of the right shape");
            assert!(bound.0 <= best, "seed {seed}: {certificate:?}");
        }
    }
}
