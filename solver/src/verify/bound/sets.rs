//! The cheapest replicas of one shard: who leads, if any broker does, and who follows.
//!
//! **Problem.** Find the lexicographic minimum over leader and followers of own cost and prices. A shard that has live
//! replicas now keeps as many, up to its replication factor R, and a live leader; newcomers go where they are taken; a
//! zone has no more of its replicas than `max_replicas_per_zone` or those there now.
//!
//! **Followers.** With the leader given, a set of followers costs a sum over its members, a convex function of their
//! number in each zone (`same_rack`, `max_replicas_per_zone`), and a reward for each zone it spans until there are
//! enough. That is the cost of a flow: one unit a follower, through a node of limited capacity that rewards the first
//! one in a zone. Costs of sets that come from flows are M♮-convex, over vectors in lexicographic order too, and for such
//! the greedy choice is exact (Murota, *Discrete Convex Analysis*, sections 6.3 and 9.6; Dress and Wenzel, *Valuated
//! matroids*): the best set of k + 1 is a best set of k and the member that then costs least, and what a member costs
//! does not fall from one to the next.
//!
//! **Leaders.** In the zone of the leader the followers are chosen as if the leader took no broker from them. That is
//! exact for every leader that is not among them and a lower bound for the others, which are chosen for again. Newcomers
//! of a zone lead at the same own cost, so they are tried by rising price, up to the first that is not among the
//! followers.
//!
//! **Zones.** Of those that no source lists and no replica is in, all cost the same but for prices. A set is in at most
//! R zones; so where one of them is not among the R cheapest for a newcomer, by the least price of a follower there,
//! one of these is empty, and its cheapest broker does instead of any follower in the other: prices do not rise, and in
//! an empty zone nothing but price is paid. The same holds for the leader and the R cheapest by its price. All others are
//! passed over.
//!
//! Complexity: with Z zones left, at most 2 R and those of sources and holders, O(Z · R · (Z + R)) a shard, and O(Z · R)
//! more for each leader that would have followed.

use smallvec::SmallVec;

use super::super::placement::{Beside, Excess, Replicas, Wanted};
use super::newcomers::Line;
use super::prices::{Prices, Row, plus};
use crate::budget::{Pace, Stop};
use crate::cost::RANKS;
use crate::snapshot::{BrokerId, Problem, Stream, ZoneId};

/// Finds the cheapest replicas, shard after shard.
pub(super) struct Sets<'p> {
    problem: &'p Problem,
    /// Where new leaders of the stream at hand would go.
    leaders: Line,
    /// Where its new followers would, once a shard may have any.
    followers: Line,
    has_followers: bool,
    /// The zones that matter to the shard at hand are the first `used`; the others keep their memory.
    zones: Vec<Within>,
    used: usize,
    /// By zone: its place among those.
    place: Vec<Option<u32>>,
}

/// What a zone has to offer to a shard.
struct Within {
    zone: ZoneId,
    /// Most of its replicas.
    most: usize,
    /// Live replicas there now.
    holders: Replicas,
    /// Brokers that may follow, with own cost and price, the cheapest first; no more than can be needed.
    followers: Vec<(Row, BrokerId)>,
}

/// The shard at hand.
struct Choice<'a> {
    wanted: &'a Wanted<'a>,
    prices: &'a Prices<'a>,
    excess: &'a Excess,
    live: &'a Replicas,
    /// Live replicas that it keeps.
    fewest: usize,
    best: Option<Row>,
}

/// Followers and what they cost.
struct Followers {
    cost: Row,
    brokers: Replicas,
}

impl Choice<'_> {
    fn offer(&mut self, cost: Row) {
        if self.best.is_none_or(|best| cost < best) {
            self.best = Some(cost);
        }
    }

    /// What the shard costs with this leader and no followers.
    fn alone(&self, leader: BrokerId) -> Row {
        let own = self.wanted.own(Some(leader), &[leader]).0;
        let mut sum = self.prices.sum(&own, self.prices.of_slot(leader));
        self.add_loads(&mut sum, leader, true);
        sum
    }

    /// What a follower costs by itself.
    fn follower(&self, broker: BrokerId) -> Row {
        let own = self.wanted.follower(broker);
        let mut sum = self.prices.sum(&own, self.prices.of_replica_slot(broker));
        self.add_loads(&mut sum, broker, false);
        sum
    }

    /// Newcomers are taken to go where there is most room, so that they cost the same wherever they go.
    fn add_loads(&self, row: &mut Row, broker: BrokerId, is_leader: bool) {
        self.prices.add_loads(row, || {
            let holder = self.live.contains(&broker).then_some(broker);
            self.excess.of(self.wanted.shard(), holder, is_leader)
        });
    }

    /// Fewest and most followers.
    fn limits(&self, is_led: bool) -> (usize, usize) {
        match is_led {
            true => (self.fewest.saturating_sub(1), self.wanted.factor() - 1),
            false => (self.fewest, self.fewest.max(self.wanted.factor() - 1)),
        }
    }
}

impl<'p> Sets<'p> {
    pub(super) fn new(problem: &'p Problem, prices: &Prices<'_>) -> Self {
        Sets {
            problem,
            has_followers: false,
            leaders: Line::new(problem, |b| prices.of_broker(b)[0]),
            followers: Line::new(problem, |b| prices.of_broker(b)[1]),
            zones: Vec::new(),
            used: 0,
            place: vec![None; problem.zones.len()],
        }
    }

    /// Turns to a stream, to which the prices have turned before.
    pub(super) fn turn_to(&mut self, stream: &Stream, prices: &Prices<'_>) {
        let price = |b| prices.of_slot(b);
        self.leaders.turn_to(self.problem, stream, prices, price);
        self.has_followers = false;
    }

    /// Draws up the line of followers, for the first shard of the stream that may have any.
    fn line_up_followers(&mut self, stream: &Stream, prices: &Prices<'_>) {
        if !std::mem::replace(&mut self.has_followers, true) {
            let price = |b| prices.of_replica_slot(b);
            self.followers.turn_to(self.problem, stream, prices, price);
        }
    }

    /// The least own cost and price of a free shard of the stream at hand, with its live replicas now; `None` where it has
    /// no choice.
    pub(super) fn cheapest(
        &mut self,
        wanted: &Wanted<'_>,
        live: &Replicas,
        has_leader: bool,
        (prices, excess): (&Prices<'_>, &Excess),
        pace: &mut Pace<'_>,
    ) -> Result<Option<Row>, Stop> {
        let mut choice = Choice {
            wanted,
            prices,
            excess,
            live,
            fewest: live.len().min(wanted.factor()),
            best: None,
        };
        let (_, most) = choice.limits(has_leader);
        if most > 0 {
            self.line_up_followers(wanted.stream(), prices);
        }
        self.find_zones(&choice, most > 0);
        self.list_followers(&choice, most);
        for at in 0..self.used {
            pace.step(self.used * wanted.factor() / 16)?;
            self.lead_from(at, &mut choice);
        }
        if !has_leader {
            let own = wanted.own(None, &[]).0;
            let followers = self.best_followers(&choice, None, None);
            choice.offer(prices.sum(&own, &followers.cost[..prices.ranks().len()]));
        }
        Ok(choice.best)
    }

    /// Takes up the zones that matter.
    fn find_zones(&mut self, choice: &Choice<'_>, with_followers: bool) {
        for within in &self.zones[..self.used] {
            self.place[within.zone.index()] = None;
        }
        self.used = 0;
        for &b in choice.live {
            let at = self.take_up(self.problem.brokers[b.index()].zone);
            self.zones[at].holders.push(b);
        }
        let (leader, follower) = (
            choice.wanted.leader_traffic(),
            choice.wanted.follower_traffic(),
        );
        for &(zone, _) in leader.reached.iter().chain(&follower.reached) {
            self.take_up(zone);
        }
        let special = self.used;
        let lines = [(true, true), (false, with_followers)];
        for (is_leader, _) in lines.into_iter().filter(|line| line.1) {
            let mut left = choice.wanted.factor();
            for at in 0.. {
                let line = match is_leader {
                    true => &self.leaders,
                    false => &self.followers,
                };
                let Some(&zone) = line.zones().get(at).filter(|_| left > 0) else {
                    break;
                };
                left -= usize::from(self.take_up(zone) >= special);
            }
        }
    }

    /// The place of a zone among those that matter.
    fn take_up(&mut self, zone: ZoneId) -> usize {
        if let Some(at) = self.place[zone.index()] {
            return at as usize;
        }
        let at = self.used;
        self.place[zone.index()] = Some(at as u32);
        self.used += 1;
        match self.zones.get_mut(at) {
            Some(within) => {
                within.zone = zone;
                within.holders.clear();
                within.followers.clear();
            }
            None => self.zones.push(Within {
                zone,
                most: 0,
                holders: Replicas::new(),
                followers: Vec::new(),
            }),
        }
        at
    }

    /// Lists the brokers of each zone that may follow: as many as can, and one more that may lead instead.
    fn list_followers(&mut self, choice: &Choice<'_>, most: usize) {
        let per_zone = self.problem.policy.max_replicas_per_zone;
        for within in &mut self.zones[..self.used] {
            within.most =
                per_zone.map_or(usize::MAX, |most| within.holders.len().max(most as usize));
            if most == 0 {
                continue;
            }
            let is_held = |b: &&BrokerId| within.holders.contains(b);
            let newcomers = self.followers.of_zone(within.zone).iter();
            let newcomers = newcomers.filter(|b| !is_held(b)).take(most + 1);
            let price = |&b: &BrokerId| (choice.follower(b), b);
            within
                .followers
                .extend(within.holders.iter().chain(newcomers).map(price));
            within.followers.sort_unstable();
            within.followers.truncate(most + 1);
        }
    }

    /// Offers the leaders of one zone, each with its best followers.
    fn lead_from(&self, at: usize, choice: &mut Choice<'_>) {
        let within = &self.zones[at];
        let newcomers = self.leaders.of_zone(within.zone);
        if within.holders.is_empty() && newcomers.is_empty() {
            return;
        }
        let eager = self.best_followers(choice, Some(at), None);
        for &leader in &within.holders {
            self.lead_with(leader, at, &eager, choice);
        }
        for &leader in newcomers.iter().filter(|b| !choice.live.contains(b)) {
            if !self.lead_with(leader, at, &eager, choice) {
                break;
            }
        }
    }

    /// Offers a leader; whether a dearer newcomer of its zone may still be better, because this one would have followed.
    fn lead_with(
        &self,
        leader: BrokerId,
        at: usize,
        eager: &Followers,
        choice: &mut Choice<'_>,
    ) -> bool {
        let alone = choice.alone(leader);
        let least = plus(&alone, &eager.cost);
        if choice.best.is_some_and(|best| best <= least) {
            return false;
        }
        if !eager.brokers.contains(&leader) {
            choice.offer(least);
            return false;
        }
        let others = self.best_followers(choice, Some(at), Some(leader));
        choice.offer(plus(&alone, &others.cost));
        true
    }

    /// The best followers of a leader in one of the zones, or of none; `leader` is kept free where it is given.
    fn best_followers(
        &self,
        choice: &Choice<'_>,
        leader_at: Option<usize>,
        leader: Option<BrokerId>,
    ) -> Followers {
        let mut followers = Followers {
            cost: [0; RANKS],
            brokers: Replicas::new(),
        };
        let (fewest, most) = choice.limits(leader_at.is_some());
        if most == 0 {
            return followers;
        }
        let zones = &self.zones[..self.used];
        let mut chosen: SmallVec<[Chosen; 16]> = (0..zones.len())
            .map(|at| Chosen {
                replicas: usize::from(leader_at == Some(at)),
                next: 0,
            })
            .collect();
        let mut spanned = usize::from(leader_at.is_some());
        for nth in 0..most {
            let mut best: Option<(Row, usize)> = None;
            for (at, (within, chosen)) in zones.iter().zip(&mut chosen).enumerate() {
                if chosen.replicas >= within.most {
                    continue;
                }
                let is_leader =
                    |entry: Option<&(Row, BrokerId)>| entry.is_some_and(|e| Some(e.1) == leader);
                chosen.next += usize::from(is_leader(within.followers.get(chosen.next)));
                let Some((cost, _)) = within.followers.get(chosen.next) else {
                    continue;
                };
                let beside = choice.wanted.beside(&Beside {
                    in_zone: chosen.replicas,
                    is_leader_there: leader_at == Some(at),
                    zones: spanned,
                    followers: nth,
                });
                let cost = choice
                    .prices
                    .sum(&beside, &cost[..choice.prices.ranks().len()]);
                if best.is_none_or(|best| cost < best.0) {
                    best = Some((cost, at));
                }
            }
            let Some((cost, at)) = best else { break };
            if nth >= fewest && cost >= [0; RANKS] {
                break;
            }
            let chosen = &mut chosen[at];
            spanned += usize::from(chosen.replicas == 0);
            followers.cost = plus(&followers.cost, &cost);
            followers.brokers.push(zones[at].followers[chosen.next].1);
            chosen.replicas += 1;
            chosen.next += 1;
        }
        followers
    }
}

/// What has been chosen of a zone.
#[derive(Clone, Copy)]
struct Chosen {
    replicas: usize,
    /// The follower to try next.
    next: usize,
}
