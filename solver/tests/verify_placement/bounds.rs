//! No prices prove more than the best of all plans, and good ones prove all of it.

use shardflow_solver::certificate::{Certificate, RankPrices, SlotPrice};
use shardflow_solver::cost::{Cost, RANKS, Rank};
use shardflow_solver::input::{
    BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput, WeightsInput,
};
use shardflow_solver::snapshot::{BrokerId, BrokerState, Problem, Roles, StreamId};
use shardflow_solver::validate;
use shardflow_solver::verify::bound::{Bound, bound, check_shape, proven};
use shardflow_solver::verify::{Rule, placement};

use crate::random::{self, Family, Random, for_each_placement, legal_assignments, rules};

const FACTOR_ONE: Family = Family {
    brokers: 3,
    shards: 4,
    factor: 1,
    roles: Roles::LeadersAndFollowers,
    zones: 2,
    is_uncoupled: false,
    is_leaderless: false,
    has_loads: false,
};
const ORPHANS: Family = Family {
    is_leaderless: true,
    ..FACTOR_ONE
};
const LEADERSHIP_ONLY: Family = Family {
    factor: 3,
    roles: Roles::LeadershipOnly,
    ..FACTOR_ONE
};

/// The least cost over all legal plans.
pub(crate) fn optimum(problem: &Problem) -> Cost {
    let mut best: Option<Cost> = None;
    for_each_placement(&legal_assignments(problem), |plan| {
        let checked = placement::check(problem, plan);
        if checked.faults.is_empty() {
            best = Some(best.map_or(checked.cost, |best| best.min(checked.cost)));
        }
    });
    best.expect("the present layout, less its surplus, is legal")
}

fn slot_count(problem: &Problem) -> usize {
    problem.streams.len() * problem.brokers.len()
}

/// Prices of all slots, stream by stream.
fn slots(brokers: usize, prices: &[i64]) -> Vec<SlotPrice> {
    let numbered = prices.iter().enumerate();
    let slot = |(at, &price): (usize, &i64)| SlotPrice {
        stream: StreamId::at(at / brokers),
        broker: BrokerId::at(at % brokers),
        price,
    };
    numbered.map(slot).collect()
}

pub(crate) fn zero_prices(problem: &Problem, rank: Rank) -> RankPrices {
    RankPrices {
        rank,
        slots: slots(problem.brokers.len(), &vec![0; slot_count(problem)]),
        brokers: vec![0; problem.brokers.len()],
        zones: vec![0; problem.zones.len()],
        broker_replicas: vec![0; problem.brokers.len()],
        zone_replicas: vec![0; problem.zones.len()],
        replica_slots: Vec::new(),
    }
}

pub(crate) fn random_prices(random: &mut Random, problem: &Problem) -> Certificate {
    let reach = random.between(1, 3);
    let mut certificate = Certificate::default();
    for rank in Rank::ALL {
        if random.percent(35) {
            let mut prices = zero_prices(problem, rank);
            let slots = prices.slots.iter_mut().map(|slot| &mut slot.price);
            let all = slots.chain(&mut prices.brokers);
            for price in all.chain(&mut prices.zones) {
                *price = random.between(-reach, reach);
            }
            match random.up_to(3) {
                0 => prices.broker_replicas.clear(),
                1 => prices.zone_replicas.clear(),
                _ => {}
            }
            let replicas = prices.broker_replicas.iter_mut();
            for price in replicas.chain(&mut prices.zone_replicas) {
                *price = random.between(-reach, reach);
            }
            certificate.ranks.push(prices);
        }
    }
    certificate
}

pub(crate) fn wide(cost: &Cost) -> [i128; RANKS] {
    cost.0.map(i128::from)
}

/// Compares the bounds that prices prove with the optimum.
pub(crate) fn prices_never_prove_too_much(
    family: Family,
    seeds: std::ops::Range<u64>,
    prices: fn(&mut Random, &Problem) -> Certificate,
) {
    for seed in seeds {
        let mut random = Random::new(seed);
        let problem = random::problem(&mut random, family);
        let best = optimum(&problem);
        for _ in 0..8 {
            let certificate = prices(&mut random, &problem);
            let bound = bound(&problem, &certificate).expect("prices of the right shape");
            assert!(
                bound.0 <= wide(&best),
                "seed {seed}: {bound:?} above {best:?} with {certificate:?} in {problem:#?}"
            );
            proven(&best, &bound).expect("no contradiction");
        }
    }
}

#[test]
fn random_prices_never_prove_too_much_where_every_factor_is_one() {
    prices_never_prove_too_much(FACTOR_ONE, 0..3000, random_prices);
}

#[test]
fn random_prices_never_prove_too_much_where_most_shards_have_no_leader() {
    prices_never_prove_too_much(ORPHANS, 20_000..23_000, random_prices);
}

#[test]
fn random_prices_never_prove_too_much_where_only_leadership_is_decided() {
    prices_never_prove_too_much(LEADERSHIP_ONLY, 10_000..13_000, random_prices);
}

/// Raises the bound one multiplier at a time, a few rounds: where a rank can't be proven, those after it rise for ever.
pub(crate) fn climb(problem: &Problem) -> Bound {
    let prices = |&rank: &Rank| {
        let zeros = zero_prices(problem, rank);
        RankPrices {
            replica_slots: zeros.slots.clone(),
            ..zeros
        }
    };
    let mut certificate = Certificate {
        ranks: Rank::ALL.iter().map(prices).collect(),
    };
    let mut best = bound(problem, &certificate).expect("prices of the right shape");
    let lengths = [
        slot_count(problem),
        problem.brokers.len(),
        problem.zones.len(),
        problem.brokers.len(),
        problem.zones.len(),
        slot_count(problem),
    ];
    for _ in 0..4 {
        for rank in 0..RANKS {
            for (part, &length) in lengths.iter().enumerate() {
                for (at, by) in (0..length).flat_map(|at| [1, -1, 3, -3].map(|by| (at, by))) {
                    raise(problem, &mut certificate.ranks[rank], part, at, by);
                    let next = bound(problem, &certificate).expect("prices of the right shape");
                    if next > best {
                        best = next;
                    } else {
                        raise(problem, &mut certificate.ranks[rank], part, at, -by);
                    }
                }
            }
        }
    }
    best
}

/// Changes the multiplier of one count, and with it the prices of all that adds to the count.
fn raise(problem: &Problem, prices: &mut RankPrices, part: usize, at: usize, by: i64) {
    let brokers = problem.brokers.len();
    let is_slot = |slot: usize| matches!(part, 0 | 5) && slot == at;
    let is_broker = |b: usize| matches!(part, 1 | 3) && b == at;
    let is_zone = |z: usize| matches!(part, 2 | 4) && z == at;
    let is_replica = matches!(part, 3 | 4);
    for b in 0..brokers {
        let is_hit = is_broker(b) || is_zone(problem.brokers[b].zone.index());
        prices.brokers[b] += if is_hit { by } else { 0 };
        prices.broker_replicas[b] += if is_hit && is_replica { by } else { 0 };
        for slot in (0..prices.slots.len()).filter(|slot| slot % brokers == b) {
            let hit = is_hit || is_slot(slot);
            prices.slots[slot].price += if hit { by } else { 0 };
            let hit = is_hit && is_replica || part == 5 && slot == at;
            prices.replica_slots[slot].price += if hit { by } else { 0 };
        }
    }
    for z in (0..problem.zones.len()).filter(|&z| is_zone(z)) {
        prices.zones[z] += by;
        prices.zone_replicas[z] += if is_replica { by } else { 0 };
    }
}

fn price_at(certificate: &mut Certificate, rank: usize, part: usize, at: usize) -> &mut i64 {
    let prices = &mut certificate.ranks[rank];
    match part {
        0 => &mut prices.slots[at].price,
        1 => &mut prices.brokers[at],
        2 => &mut prices.zones[at],
        3 => &mut prices.broker_replicas[at],
        _ => &mut prices.zone_replicas[at],
    }
}

#[test]
fn climbing_prices_prove_many_optima_and_never_more() {
    let mut tight = 0;
    for seed in 0..300 {
        let mut random = Random::new(50_000 + seed);
        let family = [FACTOR_ONE, LEADERSHIP_ONLY, ORPHANS][seed as usize % 3];
        let problem = random::problem(&mut random, family);
        let (best, bound) = (wide(&optimum(&problem)), climb(&problem));
        assert!(
            bound.0 <= best,
            "seed {seed}: {bound:?} above {best:?} in {problem:#?}"
        );
        tight += u32::from(bound.0 == best);
    }
    assert!(tight >= 235, "only {tight} of 300 optima were proven");
}

/// Four shards on one of two brokers: the best plan moves two of them.
fn lopsided() -> Problem {
    let broker = |id: &str| BrokerInput {
        id: id.to_owned(),
        ..BrokerInput::default()
    };
    let shard = |at: u32| ShardInput {
        id: format!("orders-{at}"),
        stream: "orders".to_owned(),
        leader: "a".to_owned(),
        ..ShardInput::default()
    };
    let snapshot = SnapshotInput {
        brokers: vec![broker("a"), broker("b")],
        streams: vec![StreamInput {
            id: "orders".to_owned(),
            ..StreamInput::default()
        }],
        shards: (0..4).map(shard).collect(),
        ..SnapshotInput::default()
    };
    let policy = PolicyInput {
        weights: WeightsInput {
            overlap: Some(5),
            ..WeightsInput::default()
        },
        ..PolicyInput::default()
    };
    validate::build(&snapshot, &policy).expect("valid")
}

fn tight_certificate(problem: &Problem) -> Certificate {
    let prices = |(rank, price)| RankPrices {
        slots: slots(2, &[price, 0]),
        ..zero_prices(problem, rank)
    };
    let by_rank = [
        (Rank::Weighted, 5),
        (Rank::Copies, 1),
        (Rank::LeaderChanges, 1),
    ];
    Certificate {
        ranks: by_rank.into_iter().map(prices).collect(),
    }
}

#[test]
fn a_tight_certificate_proves_the_optimum() {
    let problem = lopsided();
    let best = optimum(&problem);
    let bound = bound(&problem, &tight_certificate(&problem)).expect("prices of the right shape");
    assert_eq!(bound.0, wide(&best));
    assert_eq!(proven(&best, &bound), Ok(best.0.map(Some)));
    let weighted = [Rank::Weighted, Rank::Copies, Rank::LeaderChanges].map(|rank| best[rank]);
    assert_eq!(weighted, [10, 2, 2]);
}

#[test]
fn a_changed_price_never_raises_a_tight_bound() {
    let problem = lopsided();
    let best = wide(&optimum(&problem));
    let mut lower = 0;
    for rank in 0..3 {
        for (part, at, by) in [0, 1, 2]
            .into_iter()
            .flat_map(|part| [(part, 0, 1), (part, 0, -1), (part, 1, 1), (part, 1, -1)])
        {
            let mut certificate = tight_certificate(&problem);
            *price_at(&mut certificate, rank, part, at) += by;
            let bound = bound(&problem, &certificate).expect("prices of the right shape");
            assert!(bound.0 <= best);
            lower += u32::from(bound.0 < best);
        }
    }
    assert!(lower >= 6, "only {lower} changes were noticed");
}

#[test]
fn a_loose_bound_proves_the_ranks_before_it_and_bounds_the_next() {
    let problem = lopsided();
    let best = optimum(&problem);
    let loose = bound(&problem, &Certificate::default()).expect("prices of the right shape");
    let ranks = proven(&best, &loose).expect("no contradiction");
    let mut expected = [None; RANKS];
    expected[..=Rank::Weighted as usize].fill(Some(0));
    assert_eq!(ranks, expected);
}

#[test]
fn a_bound_above_the_value_is_a_contradiction() {
    let problem = lopsided();
    let bound = bound(&problem, &tight_certificate(&problem)).expect("prices of the right shape");
    let mut value = optimum(&problem);
    value[Rank::Copies] -= 1;
    let fault = proven(&value, &bound).expect_err("copies are proven at least 2");
    assert_eq!(fault.rule, Rule::Contradiction);
    assert_eq!(
        fault.to_string(),
        "the certificate proves copies at least 2, and the plan has 1"
    );
}

#[test]
fn a_negative_bound_says_zero_and_proves_nothing_after_it() {
    let mut bound = Bound([0; RANKS]);
    bound.0[Rank::Breaches as usize] = -7;
    let ranks = proven(&Cost::default(), &bound).expect("no contradiction");
    let breaches = Rank::Breaches as usize;
    assert!(ranks[..=breaches].iter().all(|&rank| rank == Some(0)));
    assert!(ranks[breaches + 1..].iter().all(Option::is_none));
}

/// Prices of replicas that are all zero say as much as none, also where only leadership is decided.
#[test]
fn absent_prices_of_replicas_are_zero() {
    for (seed, family) in (0..500).flat_map(|seed| [(seed, FACTOR_ONE), (seed, LEADERSHIP_ONLY)]) {
        let mut random = Random::new(70_000 + seed);
        let problem = random::problem(&mut random, family);
        let mut zeros = random_prices(&mut random, &problem);
        let mut absent = zeros.clone();
        for prices in &mut zeros.ranks {
            prices.broker_replicas = vec![0; problem.brokers.len()];
            prices.zone_replicas = vec![0; problem.zones.len()];
        }
        for prices in &mut absent.ranks {
            prices.broker_replicas.clear();
            prices.zone_replicas.clear();
        }
        assert_eq!(bound(&problem, &zeros), bound(&problem, &absent));
    }
}

/// A slot that is missing costs what its broker does.
#[test]
fn absent_prices_of_slots_are_those_of_their_brokers() {
    let mut absent_slots = 0;
    for (seed, family) in (0..500).flat_map(|seed| [(seed, FACTOR_ONE), (seed, ORPHANS)]) {
        let mut random = Random::new(80_000 + seed);
        let problem = random::problem(&mut random, family);
        let mut listed = random_prices(&mut random, &problem);
        let mut absent = listed.clone();
        for (listed, absent) in listed.ranks.iter_mut().zip(&mut absent.ranks) {
            absent.slots.retain(|_| random.percent(50));
            absent_slots += listed.slots.len() - absent.slots.len();
            for slot in &mut listed.slots {
                if !absent.slots.contains(slot) {
                    slot.price = listed.brokers[slot.broker.index()];
                }
            }
        }
        assert_eq!(bound(&problem, &listed), bound(&problem, &absent));
    }
    assert!(absent_slots > 1000, "only {absent_slots} were absent");
}

/// A broker's one place is worth a leader, and the follower there has nowhere else to go.
#[test]
fn a_price_of_replicas_proves_what_a_kept_replica_takes() {
    let broker = |id: &str, state, max_leaders, max_replicas| BrokerInput {
        id: id.to_owned(),
        state,
        max_leaders,
        max_replicas,
        ..BrokerInput::default()
    };
    let shard = |id: &str, followers: &[&str]| ShardInput {
        id: id.to_owned(),
        stream: "orders".to_owned(),
        followers: followers.iter().map(|&b| b.to_owned()).collect(),
        ..ShardInput::default()
    };
    let snapshot = SnapshotInput {
        brokers: vec![broker("a", BrokerState::Active, Some(1), Some(1))],
        streams: vec![StreamInput {
            id: "orders".to_owned(),
            ..StreamInput::default()
        }],
        shards: vec![
            shard("orders-0", &["a"]),
            shard("orders-1", &["a"]),
            shard("orders-2", &[]),
        ],
        ..SnapshotInput::default()
    };
    let problem = validate::build(&snapshot, &PolicyInput::default()).expect("valid");
    let best = optimum(&problem);
    let ranks = [Rank::UnplacedLeaders, Rank::Breaches];
    assert_eq!(ranks.map(|rank| best[rank]), [2, 1]);
    let proven_of = |unplaced: i64, replica: i64| {
        let mut first = zero_prices(&problem, Rank::UnplacedLeaders);
        first.slots[0].price = unplaced;
        first.brokers = vec![unplaced];
        let mut second = zero_prices(&problem, Rank::Breaches);
        second.broker_replicas = vec![replica];
        second.brokers = vec![replica];
        second.slots[0].price = replica;
        let certificate = Certificate {
            ranks: vec![first, second],
        };
        let bound = bound(&problem, &certificate).expect("prices of the right shape");
        assert!(bound.0 <= wide(&best));
        ranks.map(|rank| bound.0[rank as usize])
    };
    assert_eq!(proven_of(1, 1), [2, 1]);
    assert_eq!(proven_of(1, 0), [2, 0]);
}

/// Nobody may lead, but the follower can leave the draining broker that holds it.
#[test]
fn a_follower_that_moves_without_a_leader_is_not_bounded_away() {
    let broker = |id: &str, state| BrokerInput {
        id: id.to_owned(),
        state,
        max_leaders: Some(0),
        ..BrokerInput::default()
    };
    let snapshot = SnapshotInput {
        brokers: vec![
            broker("a", BrokerState::Active),
            broker("leaving", BrokerState::Draining),
        ],
        streams: vec![StreamInput {
            id: "orders".to_owned(),
            ..StreamInput::default()
        }],
        shards: vec![ShardInput {
            id: "orders-0".to_owned(),
            stream: "orders".to_owned(),
            followers: vec!["leaving".to_owned()],
            ..ShardInput::default()
        }],
        ..SnapshotInput::default()
    };
    let problem = validate::build(&snapshot, &PolicyInput::default()).expect("valid");
    let best = optimum(&problem);
    let ranks = [Rank::UnplacedLeaders, Rank::Breaches, Rank::Copies].map(|rank| best[rank]);
    assert_eq!(ranks, [1, 0, 1]);
    let mut prices = zero_prices(&problem, Rank::UnplacedLeaders);
    prices.slots = slots(2, &[2, 2]);
    prices.brokers.fill(2);
    let certificate = Certificate {
        ranks: vec![prices],
    };
    let bound = bound(&problem, &certificate).expect("prices of the right shape");
    assert!(bound.0 <= wide(&best), "{bound:?} above {best:?}");
    assert_eq!(bound.0[..=Rank::Breaches as usize], [1, 0, 0]);
}

#[test]
fn malformed_certificates_are_refused() {
    let problem = lopsided();
    let shape = |change: fn(&mut Certificate)| {
        let mut certificate = tight_certificate(&problem);
        change(&mut certificate);
        let faults = check_shape(&problem, &certificate);
        assert_eq!(rules(&faults), [Rule::CertificateShape]);
        assert_eq!(bound(&problem, &certificate), None);
    };
    shape(|c| {
        let again = c.ranks[0].slots[1];
        c.ranks[0].slots.push(again);
    });
    shape(|c| c.ranks[1].slots.swap(0, 1));
    shape(|c| c.ranks[0].slots[1].broker = BrokerId::at(2));
    shape(|c| c.ranks[2].slots[1].stream = StreamId::at(1));
    shape(|c| {
        let slot = c.ranks[0].slots[1];
        c.ranks[1].replica_slots = vec![slot, slot];
    });
    shape(|c| c.ranks[1].brokers.push(0));
    shape(|c| c.ranks[2].zones.clear());
    shape(|c| c.ranks[0].broker_replicas.push(0));
    shape(|c| c.ranks[2].zone_replicas.truncate(1));
    shape(|c| c.ranks.swap(0, 1));
    shape(|c| c.ranks.push(c.ranks[2].clone()));
}

#[test]
fn the_largest_prices_do_not_wrap() {
    let problem = lopsided();
    for price in [i64::MIN, i64::MAX] {
        let mut certificate = tight_certificate(&problem);
        certificate.ranks[0].slots = slots(2, &[price, price.saturating_neg()]);
        certificate.ranks[0].brokers = vec![price.saturating_neg(), price];
        certificate.ranks[0].zones = vec![price; 2];
        certificate.ranks[0].broker_replicas = vec![price.saturating_neg(), price];
        certificate.ranks[0].zone_replicas = vec![price.saturating_neg(); 2];
        let bound = bound(&problem, &certificate).expect("prices of the right shape");
        assert!(bound.0 <= wide(&optimum(&problem)));
    }
}
