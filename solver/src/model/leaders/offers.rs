//! What the shards of one stream may choose, and what each choice costs by itself.

use super::counts::KeptLayers;
use super::{Choice, active_by_zone, is_orphan};
use crate::cost::{Cost, Rank, shard_cost};
use crate::model::current;
use crate::network::NodeId;
use crate::snapshot::{Assignment, BrokerId, Problem, Roles, Shard, ShardId, Traffic, ZoneId};

/// The ranks in which one shard's own choice can cost something.
pub(super) const OWN: [Rank; 7] = [
    Rank::UnplacedLeaders,
    Rank::UnplacedFollowers,
    Rank::Breaches,
    Rank::ZonesLost,
    Rank::Weighted,
    Rank::Copies,
    Rank::LeaderChanges,
];

/// Costs in the ranks of [`OWN`].
type Own = [i64; OWN.len()];

/// Where [`Rank::Weighted`] is in [`OWN`].
const WEIGHTED: usize = 4;

/// One choice of a shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Offer {
    pub(super) choice: Choice,
    pub(super) head: NodeId,
    pub(super) own: Own,
}

/// The nodes that choices of a stream lead to.
pub(super) struct Ends<'a> {
    /// By broker.
    pub(super) slots: &'a [Option<NodeId>],
    /// By zone.
    pub(super) hubs: &'a [Option<NodeId>],
    pub(super) elsewhere: Option<NodeId>,
    pub(super) kept: Option<&'a KeptLayers>,
    pub(super) sink: NodeId,
}

/// The offers of the free shards of one stream, in their order.
pub(super) struct Offers<'p> {
    problem: &'p Problem,
    /// Choices that cost something in a rank below this one are left out.
    held: usize,
    /// By zone, the brokers that take new replicas, whatever the stream.
    active: Vec<Vec<BrokerId>>,
    offers: Vec<Offer>,
    begin: Vec<u32>,
    /// By shard, equal where the offers are.
    digests: Vec<u64>,
}

impl<'p> Offers<'p> {
    pub(super) fn new(problem: &'p Problem, held: usize) -> Self {
        Offers {
            problem,
            held,
            active: active_by_zone(problem),
            offers: Vec::new(),
            begin: vec![0],
            digests: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.offers.clear();
        self.begin.truncate(1);
        self.digests.clear();
    }

    /// Adds the offers of a shard. What all of them cost alike is left out.
    pub(super) fn add(&mut self, id: ShardId, ends: &Ends<'_>) {
        let problem = self.problem;
        let shard = problem.shard(id);
        let first = self.offers.len();
        for b in problem.live(&shard.present) {
            if let Some(slot) = ends.slots[b.index()] {
                let own = own(problem, id, &led_by(problem, shard, b));
                self.push(Choice::Holder(b), slot, own);
            }
        }
        self.add_newcomers(id, shard, &shard.leader_traffic, Kind::Leader, ends);
        if is_orphan(problem, shard) {
            self.add_kept(id, ends);
        } else if problem.live_leader(shard).is_none() {
            let own = own(problem, id, &current::leaderless(problem, id));
            self.push(Choice::Leaderless, ends.sink, own);
        }
        self.finish(first);
    }

    fn push(&mut self, choice: Choice, head: NodeId, own: Own) {
        self.offers.push(Offer { choice, head, own });
    }

    /// Takes off what all offers from `first` on cost alike, and drops those that cost something in a held rank.
    fn finish(&mut self, first: usize) {
        let mut base = [i64::MAX; OWN.len()];
        for offer in &self.offers[first..] {
            for (base, own) in base.iter_mut().zip(offer.own) {
                *base = (*base).min(own);
            }
        }
        let held = OWN
            .iter()
            .take_while(|&&rank| (rank as usize) < self.held)
            .count();
        let mut kept = first;
        let mut digest = 0u64;
        for at in first..self.offers.len() {
            let mut offer = self.offers[at];
            for (own, base) in offer.own.iter_mut().zip(base) {
                *own -= base;
            }
            if offer.own[..held].iter().any(|&own| own != 0) {
                continue;
            }
            digest = mix(digest, u64::from(offer.head.0));
            for own in offer.own {
                digest = mix(digest, own as u64);
            }
            self.offers[kept] = offer;
            kept += 1;
        }
        self.offers.truncate(kept);
        self.begin.push(kept as u32);
        self.digests.push(digest);
    }

    /// A new replica in some zone. The zones differ in what the traffic pays, and all that no source lists in
    /// nothing, so they are one choice.
    fn add_newcomers(
        &mut self,
        id: ShardId,
        shard: &Shard,
        traffic: &Traffic,
        kind: Kind,
        ends: &Ends<'_>,
    ) {
        if self.problem.policy.roles == Roles::LeadershipOnly {
            return;
        }
        let problem = self.problem;
        // Own cost of a newcomer and the zone it is in.
        let mut known: Option<(Own, ZoneId)> = None;
        let mut own_in = |z: ZoneId, b: BrokerId| {
            let (mut own, at) = *known.get_or_insert_with(|| {
                let placed = kind.placed(problem, shard, b);
                (own(problem, id, &placed), z)
            });
            own[WEIGHTED] +=
                problem.policy.weights.traffic * (traffic.cross(z) - traffic.cross(at));
            own
        };
        let listed = |z: ZoneId| traffic.reached.binary_search_by_key(&z, |e| e.0).is_ok();
        let hubs = match kind {
            Kind::Leader => ends.hubs,
            Kind::Kept => ends
                .kept
                .map_or(&[][..], |kept| kept.hubs_of(problem, shard.stream)),
        };
        let elsewhere = ends.elsewhere.filter(|_| kind == Kind::Leader);
        let mut add = |z: ZoneId, hub: NodeId, list: &mut Vec<Offer>, choice: Choice| {
            let newcomer = self.active[z.index()].iter().find(|&&b| {
                problem.stream(shard.stream).open[b.index()] && !shard.present.holds(b)
            });
            let Some(&b) = newcomer else { return false };
            let own = own_in(z, b);
            list.push(Offer {
                choice,
                head: hub,
                own,
            });
            true
        };
        match elsewhere {
            None => {
                for (z, hub) in hubs.iter().enumerate() {
                    if let Some(hub) = *hub {
                        add(
                            ZoneId::at(z),
                            hub,
                            &mut self.offers,
                            kind.choice(ZoneId::at(z)),
                        );
                    }
                }
            }
            Some(elsewhere) => {
                for &(z, _) in &traffic.reached {
                    if let Some(hub) = hubs[z.index()] {
                        add(z, hub, &mut self.offers, kind.choice(z));
                    }
                }
                let rest = (hubs.iter().enumerate())
                    .filter(|(z, hub)| hub.is_some() && !listed(ZoneId::at(*z)));
                for (z, _) in rest {
                    if add(
                        ZoneId::at(z),
                        elsewhere,
                        &mut self.offers,
                        Choice::Elsewhere,
                    ) {
                        break;
                    }
                }
            }
        }
    }

    /// What an orphan may become without a leader: its replica stays, or another broker takes it over.
    fn add_kept(&mut self, id: ShardId, ends: &Ends<'_>) {
        let problem = self.problem;
        let shard = problem.shard(id);
        let Some(kept) = ends.kept else { return };
        for b in problem.live(&shard.present) {
            let own = own(problem, id, &kept_at(b));
            self.push(Choice::Kept(b), kept.broker_nodes[b.index()], own);
        }
        self.add_newcomers(id, shard, &shard.follower_traffic, Kind::Kept, ends);
    }

    fn of(&self, k: u32) -> &[Offer] {
        &self.offers[self.begin[k as usize] as usize..self.begin[k as usize + 1] as usize]
    }

    /// The offers of the shard at a position.
    pub(super) fn take(&self, k: u32) -> Vec<Offer> {
        self.of(k).to_vec()
    }

    /// Whether two shards have the same offers.
    pub(super) fn is_alike(&self, a: u32, b: u32) -> bool {
        self.digests[a as usize] == self.digests[b as usize] && self.of(a) == self.of(b)
    }

    /// Positions of the shards, alike ones together: groups in the order of their first members.
    pub(super) fn groups(&self, shards: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..shards as u32).collect();
        order.sort_by_key(|&k| (self.digests[k as usize], k));
        // Of equal digests the first member is the key; a collision of digests only splits a group.
        let mut key: Vec<u32> = vec![0; order.len()];
        let mut first = 0;
        for at in 0..order.len() {
            if self.digests[order[at] as usize] != self.digests[order[first] as usize] {
                first = at;
            }
            key[order[at] as usize] = order[first];
        }
        order.sort_by_key(|&k| (key[k as usize], k));
        order
    }
}

/// Which replica a newcomer is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Leader,
    /// Without a leader.
    Kept,
}

impl Kind {
    fn placed(self, problem: &Problem, shard: &Shard, b: BrokerId) -> Assignment {
        match self {
            Kind::Leader => led_by(problem, shard, b),
            Kind::Kept => kept_at(b),
        }
    }

    fn choice(self, z: ZoneId) -> Choice {
        match self {
            Kind::Leader => Choice::Zone(z),
            Kind::Kept => Choice::KeptIn(z),
        }
    }
}

/// The shard led by `leader`: all other replicas as they are where they are not decided, else none.
pub(super) fn led_by(problem: &Problem, shard: &Shard, leader: BrokerId) -> Assignment {
    match problem.policy.roles {
        Roles::LeadershipOnly => current::with_leader(shard, leader),
        Roles::LeadersAndFollowers => Assignment {
            leader: Some(leader),
            followers: Vec::new(),
        },
    }
}

/// The shard without a leader, its one replica on `broker`.
pub(super) fn kept_at(broker: BrokerId) -> Assignment {
    Assignment {
        leader: None,
        followers: vec![broker],
    }
}

fn own(problem: &Problem, id: ShardId, assignment: &Assignment) -> Own {
    let cost: Cost = shard_cost(problem, id, assignment);
    OWN.map(|rank| cost[rank])
}

/// A digest with one more word in it.
fn mix(digest: u64, word: u64) -> u64 {
    let mixed = (digest ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}
