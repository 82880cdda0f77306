//! A snapshot as a network without hubs: an arc for every broker that may lead a shard, and one for every limit.
//!
//! ```text
//! shard ──> slot (stream, broker) ──> leaders of a broker ──> leaders of its zone ──> sink
//! shard ──> sink                      without a leader
//! ```
//!
//! Each limit on a count is an arc of its own, one behind the other. With factor 1 every leader is a replica, so the
//! limits of both follow each other on the way, but where a shard without a leader keeps a replica (`Kept`):
//!
//! ```text
//! shard ──> replicas of a broker ──> replicas of its zone ──> sink
//! leaders of a broker ──> replicas of the broker       in a zone that does not limit its leaders
//! leaders of the zone ──> replicas of the zone         in one that does; no broker there limits its replicas
//! ```
//!
//! Under `LEADERSHIP_ONLY` replicas stay where they are, and so does what they cost. Caps in force leave room for what
//! is there now.

use shardflow_solver::cost::{Cost, RANKS, Rank};
use shardflow_solver::network::{ArcId, Convex, Network, NetworkBuilder, NodeId, RankCost};
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, Roles, Shard, ZoneId};

use crate::choices::{choices, cluster_band, own_cost, stream_band};
use crate::ssp::{self, Outcome};

/// A limit on a count: what it costs, and the most that may be there.
struct Limit {
    rank: Rank,
    cost: Convex,
    most: i64,
}

/// How shards without a leader keep replicas in a zone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// None does.
    Never,
    /// Counted by broker, together with its leaders.
    ByBroker,
    /// Counted by zone, together with its leaders.
    ByZone,
}

pub(super) struct Dense<'p> {
    problem: &'p Problem,
    has_kept: bool,
    builder: NetworkBuilder,
    /// By arc.
    unit: Vec<[i64; RANKS]>,
    bends: Vec<(ArcId, Rank, Convex)>,
    /// What no choice changes.
    constant: Cost,
    sink: NodeId,
    /// By broker.
    leaders: Vec<NodeId>,
    /// By broker, where a replica that is kept is counted.
    kept: Vec<NodeId>,
}

impl<'p> Dense<'p> {
    pub(super) fn new(problem: &'p Problem) -> Self {
        let mut builder = NetworkBuilder::default();
        let sink = builder.add_node(0);
        let leaders = problem.broker_ids().map(|_| builder.add_node(0)).collect();
        let is_kept =
            |choice: &Assignment| choice.leader.is_none() && problem.live(choice).next().is_some();
        let has_kept = problem.policy.roles == Roles::LeadersAndFollowers
            && (problem.shards.iter()).any(|shard| choices(problem, shard).iter().any(is_kept));
        let mut dense = Dense {
            problem,
            has_kept,
            builder,
            unit: Vec::new(),
            bends: Vec::new(),
            constant: Cost::default(),
            sink,
            leaders,
            kept: vec![sink; problem.brokers.len()],
        };
        dense.constant[Rank::ZoneMinimumShortfall] = problem.policy.absent_zone_minimum;
        for z in (0..problem.zones.len()).map(ZoneId::at) {
            dense.add_zone(z);
        }
        for stream in 0..problem.streams.len() {
            dense.add_stream(stream);
        }
        dense
    }

    /// The lexicographic optimum.
    pub(super) fn optimum(self) -> Result<Cost, String> {
        let network = self.builder.build().map_err(|error| error.to_string())?;
        let (ranks, costs) = costs(&network, &self.unit, &self.bends);
        let Outcome::Optimal { totals, .. } = ssp::solve(&network, &costs) else {
            return Err("the dense network has no optimum, and the present layout fits".to_owned());
        };
        let mut optimum = self.constant;
        for (rank, total) in ranks.into_iter().zip(totals) {
            optimum[rank] += i64::try_from(total).map_err(|_| format!("a total of {total}"))?;
        }
        Ok(optimum)
    }

    fn add_arc(&mut self, tail: NodeId, head: NodeId, most: i64) -> ArcId {
        self.unit.push([0; RANKS]);
        self.builder.add_arc(tail, head, 0, most)
    }

    /// The way from one count to the next, through each limit.
    fn add_way(&mut self, from: NodeId, to: NodeId, limits: Vec<Limit>) {
        let all = self.problem.shards.len() as i64;
        let mut at = from;
        for limit in limits {
            let next = self.builder.add_node(0);
            let arc = self.add_arc(at, next, limit.most.min(all));
            self.bends.push((arc, limit.rank, limit.cost));
            at = next;
        }
        self.add_arc(at, to, all);
    }

    fn add_zone(&mut self, z: ZoneId) {
        let problem = self.problem;
        let zone = &problem.zones[z.index()];
        let in_zone = |b: &BrokerId| problem.zone_of(*b) == z;
        let brokers: Vec<BrokerId> = problem.broker_ids().filter(in_zone).collect();
        let live: Vec<BrokerId> = brokers
            .iter()
            .copied()
            .filter(|&b| problem.is_live(b))
            .collect();
        let is_limited = zone.min_leaders > 0 || zone.max_leaders.is_some();
        let kept = match self.has_kept {
            false => Kept::Never,
            true if is_limited && live.len() > 1 => Kept::ByZone,
            true => Kept::ByBroker,
        };
        let replicas = self.builder.add_node(0);
        let cap = self.replica_cap(zone.max_replicas, &brokers);
        self.add_way(replicas, self.sink, cap);
        let leaders = self.builder.add_node(0);
        let zone_limits = self.zone_limits(z, &brokers);
        if kept != Kept::ByBroker {
            self.add_way(leaders, replicas, zone_limits);
            for b in brokers {
                let mut limits = self.broker_limits(b);
                if kept == Kept::Never {
                    limits.extend(self.replica_cap(problem.broker(b).max_replicas, &[b]));
                }
                self.add_way(self.leaders[b.index()], leaders, limits);
                self.kept[b.index()] = replicas;
            }
            return;
        }
        if live.is_empty() {
            self.constant[Rank::ZoneMinimumShortfall] += i64::from(zone.min_leaders);
        }
        let mut zone_limits = Some(zone_limits);
        for b in live {
            let mut limits = self.broker_limits(b);
            // Of several live brokers none needs the zone's limits: it has none.
            limits.extend(
                zone_limits
                    .take()
                    .filter(|_| is_limited)
                    .into_iter()
                    .flatten(),
            );
            let of_broker = self.builder.add_node(0);
            self.add_way(self.leaders[b.index()], of_broker, limits);
            let cap = self.replica_cap(problem.broker(b).max_replicas, &[b]);
            self.add_way(of_broker, replicas, cap);
            self.kept[b.index()] = of_broker;
        }
    }

    /// Rank 9, and the cap on leaders.
    fn broker_limits(&self, b: BrokerId) -> Vec<Limit> {
        let most = self.problem.shards.len() as i64;
        let spread = cluster_band(self.problem, b).map(|(low, high)| Limit {
            rank: Rank::ClusterLeaderSpread,
            cost: Convex::Squares { low, high },
            most,
        });
        let now = self.count(|at, leads| leads && at == b);
        let cap = capped(self.problem.broker(b).max_leaders, now, 0);
        spread.into_iter().chain(cap).collect()
    }

    fn zone_limits(&self, z: ZoneId, brokers: &[BrokerId]) -> Vec<Limit> {
        let zone = &self.problem.zones[z.index()];
        let least = Limit {
            rank: Rank::ZoneMinimumShortfall,
            cost: Convex::Shortfall(i64::from(zone.min_leaders)),
            most: self.problem.shards.len() as i64,
        };
        let now = self.count(|at, leads| leads && brokers.contains(&at));
        std::iter::once(least)
            .chain(capped(zone.max_leaders, now, 0))
            .collect()
    }

    /// The cap on replicas on some brokers. Where replicas stay, what they are above it is constant.
    fn replica_cap(&mut self, cap: Option<u32>, brokers: &[BrokerId]) -> Vec<Limit> {
        let now = self.count(|at, _| brokers.contains(&at));
        if self.problem.policy.roles == Roles::LeadershipOnly {
            let above = cap.map_or(0, |cap| (now - i64::from(cap)).max(0));
            self.constant[Rank::Breaches] += above;
            return Vec::new();
        }
        let pinned = self.problem.shards.iter().filter(|shard| shard.is_pinned);
        let followers = pinned.flat_map(|shard| &shard.present.followers);
        let counted = |b: &&BrokerId| brokers.contains(b) && self.problem.is_live(**b);
        let fixed = followers.filter(counted).count() as i64;
        capped(cap, now, fixed).into_iter().collect()
    }

    /// Live replicas now.
    fn count(&self, is_counted: impl Fn(BrokerId, bool) -> bool) -> i64 {
        let of_shard = |shard: &Shard| {
            let live = self.problem.live(&shard.present);
            live.filter(|&b| is_counted(b, shard.present.leader == Some(b)))
                .count() as i64
        };
        self.problem.shards.iter().map(of_shard).sum()
    }

    fn add_stream(&mut self, at: usize) {
        let problem = self.problem;
        let stream = &problem.streams[at];
        let slots: Vec<NodeId> = (problem.broker_ids())
            .map(|_| self.builder.add_node(0))
            .collect();
        for (b, &slot) in problem.broker_ids().zip(&slots) {
            let spread = stream_band(problem, stream, b).map(|(low, high)| Limit {
                rank: Rank::StreamLeaderSpread,
                cost: Convex::Squares { low, high },
                most: problem.shards.len() as i64,
            });
            self.add_way(slot, self.leaders[b.index()], spread.into_iter().collect());
        }
        for shard in &problem.shards[stream.shards.start as usize..stream.shards.end as usize] {
            self.add_shard(shard, &slots);
        }
    }

    fn add_shard(&mut self, shard: &Shard, slots: &[NodeId]) {
        let node = self.builder.add_node(1);
        self.builder.add_supply(self.sink, -1);
        for choice in choices(self.problem, shard) {
            let replica = self.problem.live(&choice).next();
            let head = match (choice.leader, replica) {
                (Some(b), _) => slots[b.index()],
                (None, Some(b)) if self.has_kept => self.kept[b.index()],
                (None, _) => self.sink,
            };
            let arc = self.add_arc(node, head, 1);
            self.unit[arc.index()] = own_cost(self.problem, shard, &choice);
        }
    }
}

/// A cap, of which `fixed` are taken; the larger of it and what is there now is in force.
fn capped(cap: Option<u32>, now: i64, fixed: i64) -> Option<Limit> {
    let cap = i64::from(cap?);
    Some(Limit {
        rank: Rank::Breaches,
        cost: Convex::Excess(cap - fixed),
        most: cap.max(now) - fixed,
    })
}

/// The ranks that cost anything.
fn costs(
    network: &Network,
    unit: &[[i64; RANKS]],
    bends: &[(ArcId, Rank, Convex)],
) -> (Vec<Rank>, Vec<RankCost>) {
    let mut found = (Vec::new(), Vec::new());
    for rank in Rank::ALL {
        let of_rank = bends.iter().filter(|bend| bend.1 == rank);
        let cost = RankCost {
            unit: unit.iter().map(|costs| costs[rank as usize]).collect(),
            convex: of_rank.map(|&(arc, _, convex)| (arc, convex)).collect(),
        };
        debug_assert_eq!(cost.check(network), Ok(()));
        if !cost.is_zero() {
            found.0.push(rank);
            found.1.push(cost);
        }
    }
    found
}
