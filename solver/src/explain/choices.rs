//! What leading one shard elsewhere would cost, broker by broker.
//!
//! * **At least**: the shard's reduced cost on the broker, its own cost there and the price of the slot less the cheapest
//!   such sum. The bound with the shard fixed there is the proven bound plus the reduced cost, so every plan that
//!   leads it there costs at least so much more than the optimum, however well the others make room for it.
//! * **Alone**: the change where this shard moves and nothing else does, counts counted anew.
//!
//! Both are vectors of the ranks, compared lexicographically: later ranks may be negative. Complexity: O(shards) to
//! count, then O(brokers · replicas).

use super::multipliers::{Multipliers, Vector, less, plus};
use crate::certificate::Certificate;
use crate::cost::{Cost, RANKS, Rank, shard_cost};
use crate::cut::{LimitRule, Place};
use crate::model::{current, leaders};
use crate::snapshot::{
    Assignment, Band, BrokerId, BrokerState, Counts, Problem, Roles, ShardId, StreamId,
};

/// Why a broker can't lead a shard in any plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ban {
    /// The shard keeps its replicas and roles.
    Pinned,
    /// The broker has lost its replicas.
    Down,
    /// The broker takes nothing new, and holds no live replica.
    Draining,
    /// Tags or allowed brokers keep the stream from it, and it holds no live replica.
    Closed,
    /// Nothing is copied under `LEADERSHIP_ONLY`, and it holds no live replica.
    HoldsNothing,
}

/// What leading a shard from a broker costs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// Of every plan that does, above the optimum; `None` without proof.
    pub at_least: Option<[i64; RANKS]>,
    /// Of the plan with this one shard moved there.
    pub alone: [i64; RANKS],
    /// Limits in force that would be exceeded if it moved alone: another shard has to leave.
    pub full: Vec<(Place, LimitRule, i64)>,
}

/// One broker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Choice {
    /// It leads the shard in the plan.
    Chosen,
    /// It could.
    Open(Box<Offer>),
    /// It can't.
    Never(Ban),
}

/// For every broker what leading the shard from there would cost, or what forbids it.
///
/// `certificate` has the problem's shape and proves `placement` optimal, where it is given.
///
/// # Panics
/// Where shard or placement are not those of the problem.
pub fn choices(
    problem: &Problem,
    placement: &[Assignment],
    certificate: Option<&Certificate>,
    shard: ShardId,
) -> Vec<Choice> {
    let certificate = certificate.filter(|_| leaders::applies(problem));
    let stage = Stage::new(problem, placement, shard);
    let reduced = certificate.map(|certificate| stage.reduced_costs(certificate));
    let chosen = placement[shard.index()].leader;
    let choice = |b: BrokerId| {
        if chosen == Some(b) {
            return Choice::Chosen;
        }
        match ban(problem, shard, b) {
            Some(ban) => Choice::Never(ban),
            None => Choice::Open(Box::new(Offer {
                at_least: reduced.as_ref().and_then(|costs| costs[b.index()]),
                alone: stage.alone(b),
                full: stage.full(b),
            })),
        }
    };
    problem.broker_ids().map(choice).collect()
}

/// What keeps a broker from leading a shard, whatever the plan.
fn ban(problem: &Problem, id: ShardId, b: BrokerId) -> Option<Ban> {
    let shard = problem.shard(id);
    if shard.is_pinned {
        return Some(Ban::Pinned);
    }
    if !problem.is_live(b) {
        return Some(Ban::Down);
    }
    if shard.present.holds(b) {
        return None;
    }
    if problem.policy.roles == Roles::LeadershipOnly {
        return Some(Ban::HoldsNothing);
    }
    if problem.broker(b).state == BrokerState::Draining {
        return Some(Ban::Draining);
    }
    (!problem.may_enter(shard.stream, b)).then_some(Ban::Closed)
}

/// One shard among the counts of a placement.
struct Stage<'a> {
    problem: &'a Problem,
    id: ShardId,
    placed: &'a Assignment,
    counts: Counts,
    /// Of the shard's stream.
    of_stream: Counts,
}

impl<'a> Stage<'a> {
    fn new(problem: &'a Problem, placement: &'a [Assignment], id: ShardId) -> Self {
        let zero = || Counts::zero(problem.brokers.len(), problem.zones.len());
        let (mut counts, mut of_stream) = (zero(), zero());
        let range = problem.stream(problem.shard(id).stream).shards.clone();
        for (at, assignment) in (0_u32..).zip(placement) {
            counts.add(&problem.brokers, assignment, 1);
            if range.contains(&at) {
                of_stream.add(&problem.brokers, assignment, 1);
            }
        }
        Stage {
            problem,
            id,
            placed: &placement[id.index()],
            counts,
            of_stream,
        }
    }

    /// The shard led from a broker, its other replicas as they are placed: a follower there swaps roles.
    fn led_from(&self, b: BrokerId) -> Assignment {
        let problem = self.problem;
        let shard = problem.shard(self.id);
        if problem.policy.roles == Roles::LeadershipOnly {
            return current::with_leader(shard, b);
        }
        let mut led = Assignment {
            leader: Some(b),
            followers: Vec::new(),
        };
        if problem.replication_factor(shard.stream) > 1 {
            let is_swap = self.placed.followers.contains(&b);
            let old = self.placed.leader.filter(|_| is_swap);
            let others = self.placed.followers.iter().copied().filter(|&f| f != b);
            led.followers = others.chain(old).collect();
            led.followers.sort_unstable();
        }
        led
    }

    /// By how much the cost changes where only this shard moves.
    fn alone(&self, b: BrokerId) -> [i64; RANKS] {
        let led = self.led_from(b);
        let before = self.cost(self.placed, &[&led], &[]);
        let after = self.cost(&led, &[self.placed], &[(self.placed, -1), (&led, 1)]);
        std::array::from_fn(|rank| after.0[rank] - before.0[rank])
    }

    /// Cost of the shard and of the counts that it or `others` touch, after some changes of the counts.
    fn cost(
        &self,
        assignment: &Assignment,
        others: &[&Assignment],
        changes: &[(&Assignment, i64)],
    ) -> Cost {
        let problem = self.problem;
        let mut counts = Delta::default();
        for &(changed, by) in changes {
            counts.add(problem, changed, by);
        }
        let mut cost = shard_cost(problem, self.id, assignment);
        let all = std::iter::once(&assignment).chain(others);
        let mut brokers: Vec<BrokerId> = all.flat_map(|a| problem.live(a)).collect();
        brokers.sort_unstable();
        brokers.dedup();
        let mut zones: Vec<_> = brokers.iter().map(|&b| problem.zone_of(b)).collect();
        zones.sort_unstable();
        zones.dedup();
        let stream = problem.shard(self.id).stream;
        for &b in &brokers {
            let led = self.counts.leaders[b.index()] + counts.leaders(b);
            let held = self.counts.replicas[b.index()] + counts.replicas(b);
            let of_led = self.of_stream.leaders[b.index()] + counts.leaders(b);
            let of_held = self.of_stream.replicas[b.index()] + counts.replicas(b);
            self.add_broker(b, stream, [led, held, of_led, of_held], &mut cost);
        }
        for z in zones {
            let there = |b: &BrokerId| problem.zone_of(*b) == z;
            let by = |of: &dyn Fn(BrokerId) -> i64| {
                brokers.iter().copied().filter(there).map(of).sum::<i64>()
            };
            let led = self.counts.zone_leaders[z.index()] + by(&|b| counts.leaders(b));
            let held = self.counts.zone_replicas[z.index()] + by(&|b| counts.replicas(b));
            let zone = &problem.zones[z.index()];
            cost[Rank::Breaches] += above(led, zone.max_leaders) + above(held, zone.max_replicas);
            cost[Rank::ZoneMinimumShortfall] += (i64::from(zone.min_leaders) - led).max(0);
        }
        cost
    }

    fn add_broker(&self, b: BrokerId, s: StreamId, counts: [i64; 4], cost: &mut Cost) {
        let problem = self.problem;
        let broker = problem.broker(b);
        let [led, held, of_led, of_held] = counts;
        let squared = |band: Option<Band>, count: i64| band.map_or(0, |band| band.squared(count));
        cost[Rank::Breaches] += above(led, broker.max_leaders) + above(held, broker.max_replicas);
        cost[Rank::StreamLeaderSpread] += squared(problem.stream_leader_band(s, b), of_led);
        cost[Rank::ClusterLeaderSpread] += squared(problem.cluster_leader_band(b), led);
        cost[Rank::StreamReplicaSpread] += squared(problem.stream_replica_band(s, b), of_held);
        cost[Rank::ClusterReplicaSpread] += squared(problem.cluster_replica_band(b), held);
    }

    /// Limits in force that are exceeded where only this shard moves, with the limit.
    fn full(&self, b: BrokerId) -> Vec<(Place, LimitRule, i64)> {
        let problem = self.problem;
        let led = self.led_from(b);
        let mut counts = self.counts.clone();
        counts.add(&problem.brokers, self.placed, -1);
        counts.add(&problem.brokers, &led, 1);
        let (at, z) = (b.index(), problem.zone_of(b));
        let in_force = &problem.limits.in_force;
        let (broker, zone) = (Place::Broker(b), Place::Zone(z));
        let (leaders, replicas) = (LimitRule::MaxLeaders, LimitRule::MaxReplicas);
        let z = z.index();
        [
            (broker, leaders, counts.leaders[at], in_force.leaders[at]),
            (broker, replicas, counts.replicas[at], in_force.replicas[at]),
            (
                zone,
                leaders,
                counts.zone_leaders[z],
                in_force.zone_leaders[z],
            ),
            (
                zone,
                replicas,
                counts.zone_replicas[z],
                in_force.zone_replicas[z],
            ),
        ]
        .into_iter()
        .filter(|(_, _, count, limit)| count > limit)
        .map(|(place, rule, _, limit)| (place, rule, limit))
        .collect()
    }

    /// By broker, own cost and price less the cheapest such sum; `None` where the shard may not be led.
    fn reduced_costs(&self, certificate: &Certificate) -> Vec<Option<[i64; RANKS]>> {
        let (problem, id) = (self.problem, self.id);
        let shard = problem.shard(id);
        let multipliers = Multipliers::new(problem, certificate);
        let own = |assignment: &Assignment| shard_cost(problem, id, assignment).0.map(i128::from);
        let led = |b: BrokerId| {
            let is_open = ban(problem, id, b).is_none();
            is_open.then(|| plus(&own(&self.led_from(b)), &multipliers.slot(shard.stream, b)))
        };
        let costs: Vec<Option<Vector>> = problem.broker_ids().map(led).collect();
        let mut cheapest = costs.iter().flatten().min().copied();
        if problem.live_leader(shard).is_none() {
            let unled = self.unled(&multipliers);
            cheapest = Some(cheapest.map_or(unled, |led| led.min(unled)));
        }
        let clamp = |value: i128| value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        let reduced = |cost: &Vector| less(cost, &cheapest.unwrap_or([0; RANKS])).map(clamp);
        costs
            .iter()
            .map(|cost| cost.as_ref().map(reduced))
            .collect()
    }

    /// Cost of the shard without a leader, at the prices of the replica that it keeps.
    fn unled(&self, multipliers: &Multipliers<'_>) -> Vector {
        let (problem, id) = (self.problem, self.id);
        let shard = problem.shard(id);
        let own = |assignment: &Assignment| shard_cost(problem, id, assignment).0.map(i128::from);
        if !leaders::is_orphan(problem, shard) {
            return own(&current::leaderless(problem, id));
        }
        let keeps = |b: &BrokerId| shard.present.holds(*b) && problem.is_live(*b);
        let takes = |b: &BrokerId| problem.may_enter(shard.stream, *b);
        let places = problem.broker_ids().filter(|b| keeps(b) || takes(b));
        let kept = places.map(|b| {
            let alone = Assignment {
                leader: None,
                followers: vec![b],
            };
            plus(&own(&alone), &multipliers.broker_replica(b))
        });
        kept.min().unwrap_or([0; RANKS])
    }
}

/// Changes of a few counts.
#[derive(Default)]
struct Delta(Vec<(BrokerId, i64, i64)>);

impl Delta {
    fn add(&mut self, problem: &Problem, assignment: &Assignment, by: i64) {
        let leader = assignment.leader;
        let live = problem.live(assignment);
        self.0
            .extend(live.map(|b| (b, by * i64::from(leader == Some(b)), by)));
    }

    fn leaders(&self, b: BrokerId) -> i64 {
        self.0
            .iter()
            .filter(|(at, ..)| *at == b)
            .map(|(_, led, _)| led)
            .sum()
    }

    fn replicas(&self, b: BrokerId) -> i64 {
        self.0
            .iter()
            .filter(|(at, ..)| *at == b)
            .map(|(.., held)| held)
            .sum()
    }
}

fn above(count: i64, cap: Option<u32>) -> i64 {
    cap.map_or(0, |cap| (count - i64::from(cap)).max(0))
}
