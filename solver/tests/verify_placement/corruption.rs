//! A legal plan, changed in one way after the other: each change is found, and only it.

use shardflow_solver::cost::{Rank, evaluate};
use shardflow_solver::input::{
    BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput, TrafficSourceInput,
    ZoneLimitInput,
};
use shardflow_solver::snapshot::{
    Assignment, BrokerId, BrokerState, Counts, Loads, Problem, Roles,
};
use shardflow_solver::validate;
use shardflow_solver::verify::Rule;
use shardflow_solver::verify::placement::{Checked, check};

use crate::random::{self, Family, Random, for_each_placement, legal_assignments, rules};

const A: u32 = 0;
const B: u32 = 1;
const C: u32 = 2;
const DRAINING: u32 = 3;
const DOWN: u32 = 4;
const OLD: u32 = 5;
const LOST: u32 = 6;

/// Brokers `a`, `b` and `c` (zones x, x and y) are `ACTIVE`; three more are not, and `old` lacks a tag.
fn snapshot() -> SnapshotInput {
    let broker = |id: &str, zone: &str, state| BrokerInput {
        id: id.to_owned(),
        zone: zone.to_owned(),
        state,
        tags: [("disk".to_owned(), "ssd".to_owned())].into(),
        ..BrokerInput::default()
    };
    let stream = |id: &str, replication_factor| StreamInput {
        id: id.to_owned(),
        replication_factor,
        required_tags: [("disk".to_owned(), "ssd".to_owned())].into(),
        ..StreamInput::default()
    };
    let shard = |id: &str, stream: &str, leader: &str, followers: &[&str]| ShardInput {
        id: id.to_owned(),
        stream: stream.to_owned(),
        leader: leader.to_owned(),
        followers: followers.iter().map(|&f| f.to_owned()).collect(),
        ..ShardInput::default()
    };
    let mut old = broker("old", "y", BrokerState::Active);
    old.tags.clear();
    SnapshotInput {
        brokers: vec![
            broker("a", "x", BrokerState::Active),
            broker("b", "x", BrokerState::Active),
            broker("c", "y", BrokerState::Active),
            broker("leaving", "y", BrokerState::Draining),
            broker("lost1", "y", BrokerState::Down),
            old,
            broker("z-lost2", "x", BrokerState::Down),
        ],
        streams: vec![stream("orders", 3), stream("single", 1)],
        shards: vec![
            shard("orders-0", "orders", "a", &["b", "lost1", "z-lost2"]),
            shard("orders-1", "orders", "c", &["a", "leaving"]),
            shard("orders-2", "orders", "b", &["c"]),
            ShardInput {
                pinned: true,
                ..shard("orders-3", "orders", "c", &["b"])
            },
            shard("single-0", "single", "a", &[]),
        ],
        ..SnapshotInput::default()
    }
}

fn build(snapshot: &SnapshotInput, policy: &PolicyInput) -> Problem {
    let problem = validate::build(snapshot, policy).expect("valid");
    let ids: Vec<&str> = problem.brokers.iter().map(|b| b.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "leaving", "lost1", "old", "z-lost2"]);
    problem
}

fn at(leader: Option<u32>, followers: &[u32]) -> Assignment {
    Assignment {
        leader: leader.map(BrokerId),
        followers: followers.iter().copied().map(BrokerId).collect(),
    }
}

/// The present layout with the lost replica dropped that has no room.
fn stay() -> Vec<Assignment> {
    vec![
        at(Some(A), &[B, DOWN]),
        at(Some(C), &[A, DRAINING]),
        at(Some(B), &[C]),
        at(Some(C), &[B]),
        at(Some(A), &[]),
    ]
}

fn check_with(policy: &PolicyInput, shard: usize, assignment: Assignment) -> Checked {
    let problem = build(&snapshot(), policy);
    let mut plan = stay();
    plan[shard] = assignment;
    check(&problem, &plan)
}

fn breaks(shard: usize, assignment: Assignment) -> Vec<Rule> {
    rules(&check_with(&PolicyInput::default(), shard, assignment).faults)
}

#[test]
fn staying_and_legal_changes_have_no_fault() {
    let problem = build(&snapshot(), &PolicyInput::default());
    assert_eq!(check(&problem, &stay()).faults, []);
    assert_eq!(
        breaks(0, at(Some(A), &[B, C])),
        [],
        "c takes the place of the lost replica"
    );
    assert_eq!(
        breaks(1, at(Some(DRAINING), &[A, C])),
        [],
        "a draining broker may be promoted"
    );
    assert_eq!(
        breaks(2, at(Some(A), &[B, C])),
        [],
        "the missing follower is added"
    );
}

#[test]
fn a_wrong_number_of_assignments_is_found() {
    let problem = build(&snapshot(), &PolicyInput::default());
    let short = check(&problem, &stay()[..4]);
    assert_eq!(rules(&short.faults), [Rule::AssignmentCount]);
    assert_eq!(
        short.faults[0].to_string(),
        "the plan has 4 assignments for 5 shards"
    );
    let long: Vec<Assignment> = stay().into_iter().chain([at(Some(A), &[])]).collect();
    assert_eq!(
        rules(&check(&problem, &long).faults),
        [Rule::AssignmentCount]
    );
}

#[test]
fn brokers_that_do_not_exist_or_are_listed_twice_are_found() {
    assert_eq!(breaks(2, at(Some(B), &[C, 99])), [Rule::UnknownId]);
    assert_eq!(breaks(2, at(Some(B), &[B, C])), [Rule::ListedTwice]);
    assert_eq!(breaks(2, at(Some(B), &[C, C])), [Rule::ListedTwice]);
    assert_eq!(
        breaks(1, at(Some(C), &[DRAINING, A])),
        [Rule::FollowerOrder]
    );
}

#[test]
fn new_replicas_on_brokers_that_take_none_are_found() {
    assert_eq!(breaks(2, at(Some(B), &[C, DRAINING])), [Rule::NewReplica]);
    assert_eq!(breaks(2, at(Some(B), &[C, DOWN])), [Rule::NewReplica]);
    assert_eq!(breaks(2, at(Some(B), &[C, OLD])), [Rule::NewReplica]);
    let faults = check_with(&PolicyInput::default(), 2, at(Some(B), &[C, DRAINING])).faults;
    let said = "shard `orders-2`: broker `leaving` is DRAINING and takes no new replica";
    assert_eq!(faults[0].to_string(), said);
    assert_eq!(faults[0].broker, Some(BrokerId(DRAINING)));
}

#[test]
fn leaders_that_are_missing_or_lost_are_found() {
    assert_eq!(breaks(2, at(None, &[B, C])), [Rule::Leaderless]);
    assert_eq!(
        breaks(0, at(Some(DOWN), &[A, B])),
        [Rule::LeaderDown, Rule::DownListing]
    );
}

#[test]
fn replicas_given_up_and_surplus_ones_are_found() {
    assert_eq!(breaks(1, at(Some(C), &[A])), [Rule::GivenUp]);
    assert_eq!(breaks(4, at(Some(A), &[C])), [Rule::Surplus]);
}

#[test]
fn lost_replicas_stay_listed_lowest_ids_first() {
    assert_eq!(breaks(0, at(Some(A), &[B])), [Rule::DownListing]);
    assert_eq!(breaks(0, at(Some(A), &[B, LOST])), [Rule::DownListing]);
    assert_eq!(
        breaks(0, at(Some(A), &[B, DOWN, LOST])),
        [Rule::DownListing]
    );
    assert_eq!(breaks(0, at(Some(A), &[B, C, DOWN])), [Rule::DownListing]);
}

#[test]
fn a_changed_pinned_shard_is_found() {
    assert_eq!(breaks(3, at(Some(B), &[C])), [Rule::Pinned]);
    assert_eq!(breaks(3, at(Some(C), &[A, B])), [Rule::Pinned]);
}

#[test]
fn where_only_leadership_is_decided_the_replicas_stay() {
    let policy = PolicyInput {
        roles: Roles::LeadershipOnly,
        ..PolicyInput::default()
    };
    let problem = build(&snapshot(), &policy);
    let with = |shard: usize, assignment: Assignment| {
        let mut plan = stay();
        plan[0] = at(Some(A), &[B, DOWN, LOST]);
        plan[shard] = assignment;
        rules(&check(&problem, &plan).faults)
    };
    assert_eq!(with(0, at(Some(B), &[A, DOWN, LOST])), []);
    assert_eq!(with(0, at(Some(A), &[B, DOWN])), [Rule::ReplicaSet]);
    assert_eq!(with(2, at(Some(B), &[A, C])), [Rule::ReplicaSet]);
    assert_eq!(with(0, at(Some(LOST), &[A, B, DOWN])), [Rule::LeaderDown]);
    assert_eq!(with(4, at(None, &[A])), [Rule::Leaderless]);
}

#[test]
fn a_shard_without_leader_gets_no_follower_in_its_place() {
    let mut snapshot = snapshot();
    snapshot.shards[4].leader.clear();
    let problem = build(&snapshot, &PolicyInput::default());
    let mut plan = stay();
    plan[4] = at(None, &[]);
    assert_eq!(check(&problem, &plan).faults, []);
    plan[4] = at(None, &[A]);
    assert_eq!(rules(&check(&problem, &plan).faults), [Rule::Surplus]);

    snapshot.shards[4].followers = vec!["leaving".to_owned()];
    let problem = build(&snapshot, &PolicyInput::default());
    for holder in [DRAINING, A] {
        plan[4] = at(None, &[holder]);
        assert_eq!(check(&problem, &plan).faults, []);
    }
    plan[4] = at(None, &[]);
    assert_eq!(rules(&check(&problem, &plan).faults), [Rule::GivenUp]);
}

#[test]
fn caps_of_brokers_bind_what_a_plan_adds() {
    let mut snapshot = snapshot();
    snapshot.brokers[C as usize].max_leaders = Some(1);
    snapshot.brokers[C as usize].max_replicas = Some(0);
    let problem = build(&snapshot, &PolicyInput::default());
    let checked = check(&problem, &stay());
    assert_eq!(
        checked.faults,
        [],
        "two leaders and three replicas are there already"
    );
    assert_eq!(
        checked.cost[Rank::Breaches],
        1 + 3 + 1,
        "and one is on a draining broker"
    );
    let mut plan = stay();
    plan[2] = at(Some(C), &[B]);
    let faults = check(&problem, &plan).faults;
    assert_eq!(rules(&faults), [Rule::BrokerLeaders]);
    let said = "broker `c`: the plan has 3 leaders where at most 2 are allowed";
    assert_eq!(faults[0].to_string(), said);
    plan = stay();
    plan[0] = at(Some(A), &[B, C]);
    assert_eq!(
        rules(&check(&problem, &plan).faults),
        [Rule::BrokerReplicas]
    );
}

#[test]
fn limits_of_zones_bind_what_a_plan_adds() {
    let limit = |max_leaders, max_replicas| PolicyInput {
        zone_limits: vec![ZoneLimitInput {
            zone: "y".to_owned(),
            max_leaders,
            max_replicas,
            ..ZoneLimitInput::default()
        }],
        ..PolicyInput::default()
    };
    let promoted = || at(Some(C), &[B]);
    assert_eq!(
        rules(&check_with(&limit(Some(2), None), 2, promoted()).faults),
        [Rule::ZoneLeaders]
    );
    assert_eq!(
        rules(&check_with(&limit(Some(3), None), 2, promoted()).faults),
        []
    );
    let added = || at(Some(A), &[B, C]);
    assert_eq!(
        rules(&check_with(&limit(None, Some(0)), 0, added()).faults),
        [Rule::ZoneReplicas]
    );
    let crowd = PolicyInput {
        max_replicas_per_zone: Some(1),
        ..PolicyInput::default()
    };
    let faults = check_with(&crowd, 2, at(Some(B), &[A, C])).faults;
    assert_eq!(rules(&faults), [Rule::ReplicasPerZone]);
    let said = "shard `orders-2`: zone `x` has 2 of its replicas where at most 1 are allowed";
    assert_eq!(faults[0].to_string(), said);
    assert_eq!(
        check_with(&crowd, 0, at(Some(A), &[B, DOWN])).faults,
        [],
        "two are there now"
    );
}

#[test]
fn every_finding_is_listed() {
    let problem = build(&snapshot(), &PolicyInput::default());
    let plan = vec![
        at(Some(A), &[B]),
        at(None, &[A, C, DRAINING]),
        at(Some(B), &[C, OLD]),
        at(Some(B), &[C]),
        at(Some(A), &[A]),
    ];
    let expected = [
        Rule::ListedTwice,
        Rule::Leaderless,
        Rule::NewReplica,
        Rule::Pinned,
        Rule::Surplus,
        Rule::DownListing,
    ];
    assert_eq!(rules(&check(&problem, &plan).faults), expected);
}

#[test]
fn totals_that_no_report_holds_are_a_fault_and_do_not_wrap() {
    let mut snapshot = snapshot();
    snapshot.shards[4].sources = vec![TrafficSourceInput {
        zones: Vec::new(),
        weight: 1,
    }];
    let mut problem = build(&snapshot, &PolicyInput::default());
    problem.policy.weights.traffic = i64::MAX;
    assert_eq!(
        rules(&check(&problem, &stay()).faults),
        [Rule::Overflow],
        "same_rack comes on top"
    );
    assert_eq!(check(&problem, &stay()).cost[Rank::Weighted], i64::MAX);
}

const ANY: Family = Family {
    brokers: 5,
    shards: 9,
    factor: 3,
    roles: Roles::LeadersAndFollowers,
    zones: 2,
    is_uncoupled: false,
    is_leaderless: false,
    has_loads: false,
};

/// Any listing of distinct brokers, legal or not.
fn arbitrary(random: &mut Random, problem: &Problem) -> Vec<Assignment> {
    let all = random::all_assignments(problem.brokers.len());
    let mut draw = |present: &Assignment| match random.percent(30) {
        true => present.clone(),
        false => all[random.up_to(all.len() as u32 - 1) as usize].clone(),
    };
    problem.shards.iter().map(|s| draw(&s.present)).collect()
}

#[test]
fn both_implementations_of_the_objective_agree() {
    for seed in 0..6000 {
        let mut random = Random::new(seed);
        let roles = match seed % 3 {
            0 => Roles::LeadershipOnly,
            _ => Roles::LeadersAndFollowers,
        };
        let family = Family {
            roles,
            has_loads: seed % 2 == 0,
            ..ANY
        };
        let problem = random::problem(&mut random, family);
        for _ in 0..4 {
            let plan = arbitrary(&mut random, &problem);
            let checked = check(&problem, &plan);
            let other = evaluate(&problem, &plan);
            assert_eq!(
                (checked.cost, checked.terms),
                other,
                "seed {seed}: {plan:?} in {problem:#?}"
            );
        }
    }
}

/// The larger of cap and present count is in force, as everyone else reads it too.
#[test]
fn caps_in_force_are_those_of_the_problem() {
    let family = Family {
        brokers: 3,
        shards: 3,
        ..ANY
    };
    let (mut within, mut beyond) = (0, 0);
    for seed in 0..400 {
        let family = Family {
            has_loads: seed % 2 == 0,
            ..family
        };
        let problem = random::problem(&mut Random::new(seed), family);
        for_each_placement(&legal_assignments(&problem), |plan| {
            let mut counts = Counts::zero(problem.brokers.len(), problem.zones.len());
            let mut loads = Loads::zero(problem.brokers.len());
            let mut changes = 0;
            for (shard, assignment) in problem.shards.iter().zip(plan) {
                counts.add(&problem.brokers, assignment, 1);
                loads.add(&problem.brokers, shard, assignment, 1);
                if problem.is_settled(shard) {
                    changes += problem.changes(shard, assignment);
                }
            }
            let (limit, loaded) = (&problem.limits.in_force, &problem.limits.loads_in_force);
            let fits =
                |counts: &[i64], limits: &[i64]| counts.iter().zip(limits).all(|(c, l)| c <= l);
            let moves = problem.policy.max_moves.map_or(i64::MAX, i64::from);
            let expected = fits(&counts.leaders, &limit.leaders)
                && fits(&counts.replicas, &limit.replicas)
                && fits(&counts.zone_leaders, &limit.zone_leaders)
                && fits(&counts.zone_replicas, &limit.zone_replicas)
                && fits(&loads.bytes, &loaded.bytes)
                && fits(&loads.rates, &loaded.rates)
                && changes <= moves;
            assert_eq!(
                check(&problem, plan).faults.is_empty(),
                expected,
                "seed {seed}"
            );
            *(if expected { &mut within } else { &mut beyond }) += 1;
        });
    }
    assert!(
        within > 1000 && beyond > 1000,
        "{within} within, {beyond} beyond"
    );
}

#[test]
fn the_present_layout_less_its_surplus_is_legal() {
    for seed in 0..3000 {
        let roles = match seed % 3 {
            0 => Roles::LeadershipOnly,
            _ => Roles::LeadersAndFollowers,
        };
        let family = Family {
            roles,
            has_loads: seed % 2 == 0,
            ..ANY
        };
        let problem = random::problem(&mut Random::new(seed), family);
        let plan: Vec<Assignment> = problem
            .shards
            .iter()
            .map(|s| trimmed(&problem, s))
            .collect();
        let faults = check(&problem, &plan).faults;
        assert_eq!(faults, [], "seed {seed}: {plan:?} in {problem:#?}");
    }
}

/// The present replicas, live ones first, as far as the replication factor goes; a lost leader as a follower.
fn trimmed(problem: &Problem, shard: &shardflow_solver::snapshot::Shard) -> Assignment {
    let leader = problem.live_leader(shard);
    let mut followers: Vec<BrokerId> = shard
        .present
        .replicas()
        .filter(|&b| leader != Some(b))
        .collect();
    if !shard.is_pinned && problem.policy.roles == Roles::LeadersAndFollowers {
        followers.sort_by_key(|&b| (!problem.is_live(b), b));
        let factor = problem.replication_factor(shard.stream) as usize;
        followers.truncate(factor - usize::from(leader.is_some()));
    }
    followers.sort_unstable();
    Assignment { leader, followers }
}
