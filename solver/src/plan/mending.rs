//! Which moves mend something that counts or loads break: a broker or zone above its cap, a zone short of leaders, a
//! broker above its watermark or its capacity for rates.
//!
//! Within a step moves happen together, so that what arrives doesn't make the next one that leaves a cure. Each amount is
//! therefore kept twice: less what has left in this step so far, which tells what is still above its cap, and with what
//! has arrived, which tells what still lacks leaders. Between steps the two agree.
//!
//! A cap that the plan leaves exceeded is mended down to the amount it ends with.

use super::moves::{Draft, Passage};
use crate::snapshot::{BrokerId, Counts, Limits, Loads, Problem, Shard};

/// Kinds of amounts.
const KINDS: usize = 6;

/// Amounts of one kind, by broker or zone.
struct Tally {
    most: Vec<i64>,
    fewest: Vec<i64>,
    /// Less what has left in this step.
    falling: Vec<i64>,
    /// With what has arrived in this step.
    rising: Vec<i64>,
}

impl Tally {
    fn new(caps: impl Iterator<Item = Option<i64>>, now: &[i64], last: &[i64]) -> Self {
        let most = |(cap, &last): (Option<i64>, &i64)| cap.unwrap_or(Limits::NONE).max(last);
        Tally {
            most: caps.zip(last).map(most).collect(),
            fewest: vec![0; now.len()],
            falling: now.to_vec(),
            rising: now.to_vec(),
        }
    }
    /// Whether some of it that passes from here to there mends an amount.
    fn mends(&self, from: Option<usize>, to: Option<usize>) -> bool {
        from != to
            && (from.is_some_and(|at| self.falling[at] > self.most[at])
                || to.is_some_and(|at| self.rising[at] < self.fewest[at]))
    }
}

/// The running counts of leaders and replicas by broker and by zone, rates and bytes by broker.
pub(super) struct Mending([Tally; KINDS]);

/// How much passes, from where to where.
struct Ends {
    from: Option<usize>,
    to: Option<usize>,
    amount: i64,
}

impl Mending {
    /// The present layout, `last` being the counts and loads of the plan.
    pub(super) fn new(problem: &Problem, (counts, loads): &(Counts, Loads)) -> Self {
        let (now, held) = (&problem.limits.present, &problem.limits.present_loads);
        let (brokers, zones) = (problem.brokers.iter(), problem.zones.iter());
        let wide = |cap: Option<u32>| cap.map(i64::from);
        let caps = brokers.clone().map(|b| wide(b.max_leaders));
        let leaders = Tally::new(caps, &now.leaders, &counts.leaders);
        let caps = brokers.clone().map(|b| wide(b.max_replicas));
        let replicas = Tally::new(caps, &now.replicas, &counts.replicas);
        let caps = zones.clone().map(|z| wide(z.max_leaders));
        let mut zone_leaders = Tally::new(caps, &now.zone_leaders, &counts.zone_leaders);
        let caps = zones.clone().map(|z| wide(z.max_replicas));
        let zone_replicas = Tally::new(caps, &now.zone_replicas, &counts.zone_replicas);
        zone_leaders.fewest = zones.map(|z| i64::from(z.min_leaders)).collect();
        let caps = brokers.map(|b| b.rate_capacity);
        let rates = Tally::new(caps, &held.rates, &loads.rates);
        let rooms = problem.broker_ids().map(|b| problem.disk_room(b));
        let bytes = Tally::new(rooms, &held.bytes, &loads.bytes);
        Mending([leaders, replicas, zone_leaders, zone_replicas, rates, bytes])
    }

    /// Whether a move, before which `leader` leads, mends something as the amounts stand.
    pub(super) fn mends(
        &self,
        problem: &Problem,
        shard: &Shard,
        draft: &Draft,
        leader: Option<BrokerId>,
    ) -> bool {
        let ends = ends(problem, shard, &draft.passage(problem, leader));
        let mut each = self.0.iter().zip(ends);
        each.any(|(tally, end)| end.amount > 0 && tally.mends(end.from, end.to))
    }

    /// Counts a move of the step.
    pub(super) fn apply(
        &mut self,
        problem: &Problem,
        shard: &Shard,
        draft: &Draft,
        leader: Option<BrokerId>,
    ) {
        for (tally, end) in self.passing(problem, shard, draft, leader) {
            (end.from.into_iter()).for_each(|at| tally.falling[at] -= end.amount);
            (end.to.into_iter()).for_each(|at| tally.rising[at] += end.amount);
        }
    }

    /// Ends the step as far as one of its moves is concerned.
    pub(super) fn settle(
        &mut self,
        problem: &Problem,
        shard: &Shard,
        draft: &Draft,
        leader: Option<BrokerId>,
    ) {
        for (tally, end) in self.passing(problem, shard, draft, leader) {
            (end.from.into_iter()).for_each(|at| tally.rising[at] -= end.amount);
            (end.to.into_iter()).for_each(|at| tally.falling[at] += end.amount);
        }
    }

    fn passing(
        &mut self,
        problem: &Problem,
        shard: &Shard,
        draft: &Draft,
        leader: Option<BrokerId>,
    ) -> impl Iterator<Item = (&mut Tally, Ends)> {
        let ends = ends(problem, shard, &draft.passage(problem, leader));
        (self.0.iter_mut().zip(ends)).filter(|(_, end)| end.from != end.to)
    }
}

/// Where lead and replica leave and arrive, in the order of [`Mending`]'s amounts.
fn ends(problem: &Problem, shard: &Shard, passage: &Passage) -> [Ends; KINDS] {
    let broker = |(from, to): (Option<BrokerId>, Option<BrokerId>), amount: i64| Ends {
        from: from.map(BrokerId::index),
        to: to.map(BrokerId::index),
        amount,
    };
    let zone_of = |b: BrokerId| problem.zone_of(b).index();
    let zone = |(from, to): (Option<BrokerId>, Option<BrokerId>)| Ends {
        from: from.map(zone_of),
        to: to.map(zone_of),
        amount: 1,
    };
    let (lead, replica) = (passage.lead, passage.replica);
    [
        broker(lead, 1),
        broker(replica, 1),
        zone(lead),
        zone(replica),
        broker(lead, shard.rate),
        broker(replica, shard.size_bytes),
    ]
}
