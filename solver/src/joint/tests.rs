//! Prices of changes against costs measured anew, and what polishing promises.

use super::options::{Entrants, Options};
use super::polish::polish;
use super::state::{State, Value};
use crate::budget::{Budget, never, unstopped};
use crate::cost::evaluate;
use crate::input::{
    BalanceInput, BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput,
    TrafficSourceInput, ZoneLimitInput,
};
use crate::model::current;
use crate::snapshot::{Assignment, BrokerState, Dimension, Problem, Roles, ShardId};
use crate::validate;
use crate::verify::placement;

#[path = "../../tests/support/rng.rs"]
mod rng;
use rng::Rng;

/// A small random cluster under every kind of rule.
fn random_problem(random: &mut Rng) -> Problem {
    let brokers = 2 + random.below(5);
    let zones = 1 + random.below(3);
    let mut snapshot = SnapshotInput::default();
    for b in 0..brokers {
        let cap = |random: &mut Rng, below| random.one_in(4).then(|| random.below(below) as u32);
        let mut broker = BrokerInput {
            id: format!("b{b}"),
            zone: format!("z{}", random.below(zones)),
            max_leaders: cap(random, 5),
            max_replicas: cap(random, 9),
            share: random.one_in(4).then(|| random.below(4) as u32),
            disk_bytes: random.one_in(2).then(|| random.below(60) as i64),
            disk_used_bytes: random.below(8) as i64,
            rate_capacity: random.one_in(3).then(|| random.below(30) as i64),
            ..Default::default()
        };
        broker.state = match random.below(8) {
            0 => BrokerState::Draining,
            1 => BrokerState::Down,
            _ => BrokerState::Active,
        };
        snapshot.brokers.push(broker);
    }
    for s in 0..1 + random.below(3) {
        snapshot.streams.push(StreamInput {
            id: format!("s{s}"),
            replication_factor: 1 + random.below(3) as u32,
            ..Default::default()
        });
    }
    for i in 0..1 + random.below(9) {
        let stream = random.below(snapshot.streams.len());
        let mut ids: Vec<usize> = (0..brokers).collect();
        for at in (1..brokers).rev() {
            ids.swap(at, random.below(at + 1));
        }
        ids.truncate(random.below(5));
        let mut ids = ids.into_iter().map(|b| format!("b{b}"));
        let source = TrafficSourceInput {
            zones: vec![format!("z{}", random.below(zones))],
            weight: random.below(9) as i64,
        };
        snapshot.shards.push(ShardInput {
            id: format!("p{i}"),
            stream: format!("s{stream}"),
            leader: match random.one_in(6) {
                true => String::new(),
                false => ids.next().unwrap_or_default(),
            },
            followers: ids.collect(),
            size_bytes: random.below(12) as i64,
            rate: random.below(9) as i64,
            pinned: random.one_in(9),
            sources: vec![source.clone()],
            follower_sources: vec![source],
            ..Default::default()
        });
    }
    let dimension = [Dimension::Rate, Dimension::Bytes][random.below(2)];
    let tolerance_percent = random.below(40) as u32;
    let policy = PolicyInput {
        roles: match random.one_in(6) {
            true => Roles::LeadershipOnly,
            false => Roles::LeadersAndFollowers,
        },
        min_zones: random.below(3) as u32,
        max_replicas_per_zone: random.one_in(3).then(|| 1 + random.below(2) as u32),
        max_moves: random.one_in(3).then(|| random.below(4) as u32),
        allow_zone_loss: random.one_in(3),
        balance: random.one_in(2).then_some(BalanceInput {
            dimension,
            tolerance_percent,
        }),
        zone_limits: vec![ZoneLimitInput {
            zone: "z0".to_owned(),
            min_leaders: Some(random.below(3) as u32),
            max_leaders: random.one_in(2).then(|| 3 + random.below(4) as u32),
            max_replicas: random.one_in(2).then(|| 3 + random.below(6) as u32),
        }],
        ..Default::default()
    };
    validate::build(&snapshot, &policy).expect("a random cluster is valid")
}

fn state_of<'p>(problem: &'p Problem, placement: &[Assignment]) -> State<'p> {
    unstopped(|pace| State::new(problem, placement, pace))
}

/// Caps in force and `max_moves` exceeded by a placement, and its cost, both counted from nothing.
fn measured(problem: &Problem, placement: &[Assignment]) -> Value {
    let state = state_of(problem, placement);
    Value {
        excess: state.excess(),
        cost: evaluate(problem, placement).0,
    }
}

#[test]
fn the_price_of_a_change_is_the_difference_that_it_makes() {
    let mut random = Rng::new(17);
    let mut priced = 0;
    for _ in 0..3_000 {
        let problem = random_problem(&mut random);
        let mut state = state_of(&problem, &current::placement(&problem));
        for _ in 0..4 {
            let before = measured(&problem, &state.placement);
            let id = ShardId::at(random.below(problem.shards.len()));
            let mut all = Vec::new();
            if let Some(options) = Options::of(&problem, id, &state.placement[id.index()]) {
                let (mut to, newcomers) = options.entrants();
                to.extend(newcomers.into_iter().map(|newcomer| newcomer.1));
                let entrants = Entrants {
                    leaders: to.clone(),
                    followers: to,
                };
                options.each(&entrants, |assignment| all.push(assignment));
            }
            if all.is_empty() {
                continue;
            }
            let chosen = all.swap_remove(random.below(all.len()));
            let price = state.price(id, &chosen);
            state.set(id, chosen);
            priced += 1;
            assert_eq!(before.plus(&price), measured(&problem, &state.placement));
        }
    }
    assert!(priced > 5_000, "{priced}");
}

#[test]
fn polishing_keeps_every_rule_and_never_raises_the_cost() {
    let mut random = Rng::new(23);
    let mut improved = 0;
    for _ in 0..3_000 {
        let problem = random_problem(&mut random);
        let start = current::placement(&problem);
        let before = evaluate(&problem, &start).0;
        let (placement, stop) = polish(&problem, start, &mut Budget::new(None, &never));
        assert_eq!(stop, None);
        let checked = placement::check(&problem, &placement);
        assert_eq!(checked.faults, []);
        assert_eq!(state_of(&problem, &placement).excess(), 0);
        let after = evaluate(&problem, &placement).0;
        assert!(after <= before);
        improved += usize::from(after < before);
        let again = polish(&problem, placement.clone(), &mut Budget::new(None, &never));
        assert_eq!(again, (placement, None));
    }
    assert!(improved > 1_500, "{improved}");
}

#[test]
fn a_shard_too_large_for_every_broker_is_named() {
    let mut snapshot = SnapshotInput::default();
    for (id, rate_capacity) in [("a", 50), ("b", 70)] {
        snapshot.brokers.push(BrokerInput {
            id: id.to_owned(),
            rate_capacity: Some(rate_capacity),
            disk_bytes: Some(1000),
            ..Default::default()
        });
    }
    snapshot.streams.push(StreamInput {
        id: "s".to_owned(),
        ..Default::default()
    });
    for (id, leader, rate) in [("hot", "", 71), ("warm", "b", 70), ("cold", "a", 1)] {
        snapshot.shards.push(ShardInput {
            id: id.to_owned(),
            stream: "s".to_owned(),
            leader: leader.to_owned(),
            rate,
            ..Default::default()
        });
    }
    let balance = BalanceInput {
        dimension: Dimension::Rate,
        tolerance_percent: 0,
    };
    let policy = PolicyInput {
        balance: Some(balance),
        ..Default::default()
    };
    let problem = validate::build(&snapshot, &policy).expect("it is valid");
    let cost = evaluate(&problem, &current::placement(&problem)).0;
    let told = super::oversized(&problem, &cost);
    let rates = "by itself a shard has more rate than the rate_capacity of any broker, whatever the plan: \
                 \"hot\" (71, at most 70)";
    assert_eq!(told, [rates]);
    let led = [Some(0), Some(0), Some(1)].map(|leader| Assignment {
        leader: leader.map(crate::snapshot::BrokerId),
        followers: Vec::new(),
    });
    let cost = evaluate(&problem, &led).0;
    assert_eq!(cost[crate::cost::Rank::BalanceExcess], 1);
    assert_eq!(super::oversized(&problem, &cost).len(), 1);
}
