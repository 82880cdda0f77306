//! Problems and placements for the tests of plans, and a replay of moves that shares no code with the planner.

#![allow(dead_code)] // each test file uses its part

pub(crate) mod groups;
pub(crate) mod random;

use std::collections::BTreeSet;

use shardflow_solver::input::{BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput};
use shardflow_solver::plan::{self, Move, MoveKind, MoveReason, Plan};
use shardflow_solver::snapshot::{
    Assignment, BrokerId, BrokerState, Counts, Problem, Role, ShardId,
};
use shardflow_solver::validate;

/// A cluster in the making.
#[derive(Clone, Default)]
pub(crate) struct Cluster {
    pub(crate) snapshot: SnapshotInput,
    pub(crate) policy: PolicyInput,
}

impl Cluster {
    /// One stream `s` of this factor.
    pub(crate) fn new(factor: u32) -> Self {
        let mut cluster = Cluster::default();
        cluster.snapshot.cluster_id = "test".into();
        cluster.snapshot.streams.push(StreamInput {
            id: "s".into(),
            replication_factor: factor,
            ..Default::default()
        });
        cluster
    }
    /// Another broker; zero stands for "no cap".
    pub(crate) fn broker(
        mut self,
        id: &str,
        zone: &str,
        state: BrokerState,
        max_leaders: u32,
        max_replicas: u32,
    ) -> Self {
        self.snapshot.brokers.push(BrokerInput {
            id: id.into(),
            zone: zone.into(),
            state,
            max_leaders: (max_leaders > 0).then_some(max_leaders),
            max_replicas: (max_replicas > 0).then_some(max_replicas),
            ..Default::default()
        });
        self
    }
    /// Another active broker without caps.
    pub(crate) fn active(self, id: &str, zone: &str) -> Self {
        self.broker(id, zone, BrokerState::Active, 0, 0)
    }
    /// Another shard of stream `s`.
    pub(crate) fn shard(mut self, id: &str, leader: &str, followers: &[&str]) -> Self {
        self.snapshot.shards.push(ShardInput {
            id: id.into(),
            stream: "s".into(),
            leader: leader.into(),
            followers: followers.iter().map(|f| f.to_string()).collect(),
            size_bytes: 7,
            ..Default::default()
        });
        self
    }
    pub(crate) fn problem(&self) -> Problem {
        validate::build(&self.snapshot, &self.policy).expect("a valid cluster")
    }
    /// The plan to a target, given as (leader, followers) by shard in canonical order.
    pub(crate) fn plan(&self, target: &[(&str, &[&str])]) -> Plan {
        let problem = self.problem();
        let placement = target
            .iter()
            .map(|(leader, followers)| assignment(&problem, leader, followers))
            .collect();
        plan::make(&problem, placement)
    }
}

pub(crate) fn broker(problem: &Problem, id: &str) -> BrokerId {
    BrokerId::at(problem.brokers.iter().position(|b| b.id == id).expect(id))
}

pub(crate) fn assignment(problem: &Problem, leader: &str, followers: &[&str]) -> Assignment {
    let mut followers: Vec<BrokerId> = followers.iter().map(|f| broker(problem, f)).collect();
    followers.sort();
    Assignment {
        leader: (!leader.is_empty()).then(|| broker(problem, leader)),
        followers,
    }
}

/// A move in short, such as `1 x COPY LEADER a>b DRAIN`.
pub(crate) fn brief(problem: &Problem, m: &Move) -> String {
    let name = |b: Option<BrokerId>| b.map_or("-", |b| &problem.broker(b).id);
    format!(
        "{} {} {:?} {:?} {}>{} {:?}",
        m.step,
        problem.shard(m.shard).id,
        m.kind,
        m.role,
        name(m.from),
        name(m.to),
        m.reason
    )
}

/// Live replicas of a shard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Live {
    pub(crate) leader: Option<BrokerId>,
    pub(crate) followers: BTreeSet<BrokerId>,
}

impl Live {
    pub(crate) fn of(problem: &Problem, assignment: &Assignment) -> Self {
        let is_live = |b: &BrokerId| problem.brokers[b.index()].state != BrokerState::Down;
        Live {
            leader: assignment.leader.filter(is_live),
            followers: assignment
                .followers
                .iter()
                .copied()
                .filter(is_live)
                .collect(),
        }
    }
    /// Does what the documented semantics of a move say, and refuses a move that doesn't fit.
    pub(crate) fn apply(&mut self, problem: &Problem, m: &Move) {
        let holds =
            |live: &Live, b: BrokerId| live.leader == Some(b) || live.followers.contains(&b);
        let is_live = |b: &BrokerId| problem.brokers[b.index()].state != BrokerState::Down;
        match (m.kind, m.role) {
            (MoveKind::Add, role) => {
                let to = m.to.expect("ADD has a target");
                assert!(m.from.is_none() && !holds(self, to) && is_live(&to));
                if role == Role::Leader {
                    self.followers.extend(self.leader.replace(to));
                } else {
                    self.followers.insert(to);
                }
            }
            (MoveKind::Copy, role) => {
                let (from, to) = (
                    m.from.expect("COPY has a source"),
                    m.to.expect("and a target"),
                );
                assert!(holds(self, from) && !holds(self, to) && is_live(&to));
                if role == Role::Leader {
                    self.followers.extend(self.leader.replace(to));
                    self.followers.remove(&from);
                } else {
                    assert!(self.followers.remove(&from));
                    self.followers.insert(to);
                }
            }
            (MoveKind::Promotion, Role::Leader) => {
                let to = m.to.expect("PROMOTION has a target");
                assert!(self.followers.remove(&to));
                assert_eq!(m.from.filter(is_live), self.leader);
                self.followers.extend(self.leader.replace(to));
            }
            (MoveKind::Remove, Role::Follower) => {
                assert!(m.to.is_none());
                assert!(self.followers.remove(&m.from.expect("REMOVE has a source")));
            }
            other => panic!("{other:?} is no move"),
        }
    }
    pub(crate) fn assignment(&self) -> Assignment {
        Assignment {
            leader: self.leader,
            followers: self.followers.iter().copied().collect(),
        }
    }
}

/// Every count with its nominal cap, in a fixed order.
pub(crate) fn counted(problem: &Problem, layout: &[Live]) -> Vec<(i64, Option<u32>)> {
    let mut counts = Counts::zero(problem.brokers.len(), problem.zones.len());
    for live in layout {
        for b in live.leader.iter().chain(&live.followers) {
            counts.replicas[b.index()] += 1;
            counts.zone_replicas[problem.brokers[b.index()].zone.index()] += 1;
        }
        if let Some(b) = live.leader {
            counts.leaders[b.index()] += 1;
            counts.zone_leaders[problem.brokers[b.index()].zone.index()] += 1;
        }
    }
    let brokers = problem.brokers.iter();
    let zones = problem.zones.iter();
    let caps = brokers
        .clone()
        .map(|b| b.max_leaders)
        .chain(brokers.map(|b| b.max_replicas))
        .chain(zones.clone().map(|z| z.max_leaders))
        .chain(zones.map(|z| z.max_replicas));
    let counts = [
        counts.leaders,
        counts.replicas,
        counts.zone_leaders,
        counts.zone_replicas,
    ];
    counts.concat().into_iter().zip(caps).collect()
}

/// Whether going from one layout to the next adds no breach.
pub(crate) fn is_legal(before: &[(i64, Option<u32>)], after: &[(i64, Option<u32>)]) -> bool {
    before
        .iter()
        .zip(after)
        .all(|(b, a)| a.1.is_none_or(|cap| a.0 <= i64::from(cap).max(b.0)))
}

/// Breaches of a layout, counted from the snapshot: rank 3.
pub(crate) fn breaches(problem: &Problem, layout: &[Live]) -> i64 {
    let caps: i64 = counted(problem, layout)
        .iter()
        .map(|&(count, cap)| cap.map_or(0, |cap| (count - i64::from(cap)).max(0)))
        .sum();
    let shards = layout.iter().zip(&problem.shards);
    let own = shards
        .filter(|(_, shard)| !shard.is_pinned)
        .map(|(live, shard)| {
            let unwanted = |b: &&BrokerId| !problem.may_enter(shard.stream, **b);
            let replicas = || live.leader.iter().chain(&live.followers);
            let led = live.leader.iter().filter(unwanted).count();
            let mut crowd = 0;
            if let Some(most) = problem.policy.max_replicas_per_zone {
                for z in 0..problem.zones.len() {
                    let there = replicas()
                        .filter(|b| problem.zone_of(**b).index() == z)
                        .count();
                    crowd += there.saturating_sub(most as usize);
                }
            }
            (replicas().filter(unwanted).count() + led + crowd) as i64
        });
    caps + own.sum::<i64>()
}

/// Shards without a leader before that one leads after which may not hold them.
pub(crate) fn worth(problem: &Problem, before: &[Live], after: &[Live]) -> i64 {
    let pairs = before.iter().zip(after).zip(&problem.shards);
    let is_worth = |((old, new), shard): &((&Live, &Live), &shardflow_solver::snapshot::Shard)| {
        let leads = |b: BrokerId| !problem.may_enter(shard.stream, b);
        old.leader.is_none() && new.leader.is_some_and(leads)
    };
    pairs.filter(is_worth).count() as i64
}

/// What breaches may be on the way of a plan.
pub(crate) struct Balance {
    /// At the end where the plan adds breaches, zero where it doesn't.
    end: i64,
    /// Worth of the leaders that steps to come gain.
    left: i64,
}

impl Balance {
    pub(crate) fn new(problem: &Problem, layouts: &[Vec<Live>]) -> Self {
        let pairs = layouts.windows(2);
        let left = pairs.map(|pair| worth(problem, &pair[0], &pair[1])).sum();
        let (first, last) = (&layouts[0], &layouts[layouts.len() - 1]);
        let (first, last) = (breaches(problem, first), breaches(problem, last));
        let is_balanced = last <= first + left;
        Balance {
            end: if is_balanced { 0 } else { last },
            left,
        }
    }
    /// Whether the plan adds no breach, but for leaders.
    pub(crate) fn is_even(&self) -> bool {
        self.end == 0
    }
    /// Breaches with the worth of what is to come, after a step from `before`.
    fn after(&self, problem: &Problem, before: &[Live], after: &[Live]) -> i64 {
        breaches(problem, after) + self.left - worth(problem, before, after)
    }
    /// Whether a step is legal.
    pub(crate) fn allows(&self, problem: &Problem, before: &[Live], after: &[Live]) -> bool {
        let now = breaches(problem, before) + self.left;
        self.after(problem, before, after) <= now.max(self.end)
    }
    /// Whether what has to come after a step can without adding breaches.
    pub(crate) fn leaves_way(
        &self,
        problem: &Problem,
        before: &[Live],
        after: &[Live],
        goal: &[Live],
    ) -> bool {
        self.end > 0 || self.after(problem, before, after) >= breaches(problem, goal)
    }
    /// After a step.
    pub(crate) fn passed(&self, problem: &Problem, before: &[Live], after: &[Live]) -> Self {
        Balance {
            end: self.end,
            left: self.left - worth(problem, before, after),
        }
    }
}

/// The layouts on the way, the present one first.
pub(crate) fn layouts(problem: &Problem, steps: &[Vec<Move>]) -> Vec<Vec<Live>> {
    let shards = problem.shards.iter();
    let mut all: Vec<Vec<Live>> = vec![shards.map(|s| Live::of(problem, &s.present)).collect()];
    for step in steps {
        let mut next = all[all.len() - 1].clone();
        for m in step {
            next[m.shard.index()].apply(problem, m);
        }
        all.push(next);
    }
    all
}

/// Replays a plan step by step and checks all that holds for every plan; answers with the steps.
pub(crate) fn check(problem: &Problem, plan: &Plan) -> Vec<Vec<Move>> {
    let steps: Vec<Vec<Move>> = plan
        .moves
        .chunk_by(|a, b| a.step == b.step)
        .map(<[Move]>::to_vec)
        .collect();
    let start: Vec<Live> = problem
        .shards
        .iter()
        .map(|s| Live::of(problem, &s.present))
        .collect();
    let goal: Vec<Live> = plan
        .placement
        .iter()
        .map(|a| Live::of(problem, a))
        .collect();
    let mut layout = start.clone();
    let all = layouts(problem, &steps);
    let mut balance = Balance::new(problem, &all);
    let mut reason = MoveReason::Failover;
    for (at, step) in steps.iter().enumerate() {
        assert_eq!(step[0].step, at as u32 + 1);
        let before = counted(problem, &layout);
        for m in step {
            layout[m.shard.index()].apply(problem, m);
        }
        assert!(is_legal(&before, &counted(problem, &layout)), "{step:?}");
        let shards: BTreeSet<ShardId> = step.iter().map(|m| m.shard).collect();
        for id in shards {
            let mine: Vec<&Move> = step.iter().filter(|m| m.shard == id).collect();
            let promotes = mine.len() == 1
                && mine[0].kind == MoveKind::Promotion
                && mine[0].reason == MoveReason::Failover
                && start[id.index()].leader.is_none();
            assert!(
                layout[id.index()] == goal[id.index()] || promotes,
                "{step:?}"
            );
        }
        let forced = step
            .iter()
            .map(|m| m.reason)
            .min()
            .expect("a step has moves");
        assert!(reason <= forced, "{:?}", plan.moves);
        reason = forced;
        assert!(
            balance.allows(problem, &all[at], &layout),
            "step {} adds breaches: {:?}",
            at + 1,
            all.iter().map(|l| breaches(problem, l)).collect::<Vec<_>>()
        );
        balance = balance.passed(problem, &all[at], &layout);
    }
    assert_eq!(layout, goal);
    steps
}
