//! Which moves mend something that counts break: a broker or zone above its cap, a zone short of leaders.
//!
//! Within a step moves happen together, so that what arrives doesn't make the next one that leaves a cure. Each count is
//! therefore kept twice: less what has left in this step so far, which tells what is still above its cap, and with what
//! has arrived, which tells what still lacks leaders. Between steps the two agree.
//!
//! A cap that the plan leaves exceeded is mended down to the count it ends with.

use super::moves::{Draft, Passage};
use crate::snapshot::{BrokerId, Counts, Limits, Problem};

/// Counts of one kind, by broker or zone.
struct Tally {
    most: Vec<i64>,
    fewest: Vec<i64>,
    /// Less what has left in this step.
    falling: Vec<i64>,
    /// With what has arrived in this step.
    rising: Vec<i64>,
}

impl Tally {
    fn new(caps: impl Iterator<Item = Option<u32>>, now: &[i64], last: &[i64]) -> Self {
        let most =
            |(cap, &last): (Option<u32>, &i64)| cap.map_or(Limits::NONE, i64::from).max(last);
        Tally {
            most: caps.zip(last).map(most).collect(),
            fewest: vec![0; now.len()],
            falling: now.to_vec(),
            rising: now.to_vec(),
        }
    }
    /// Whether one that passes from here to there mends a count.
    fn mends(&self, from: Option<usize>, to: Option<usize>) -> bool {
        from != to
            && (from.is_some_and(|at| self.falling[at] > self.most[at])
                || to.is_some_and(|at| self.rising[at] < self.fewest[at]))
    }
}

/// The running counts of leaders and replicas.
pub(super) struct Mending {
    leaders: Tally,
    replicas: Tally,
    zone_leaders: Tally,
    zone_replicas: Tally,
}

/// A passage by one kind of count.
type Ends = (Option<usize>, Option<usize>);

impl Mending {
    /// The present layout, `last` being the counts of the plan.
    pub(super) fn new(problem: &Problem, last: &Counts) -> Self {
        let now = &problem.limits.present;
        let (brokers, zones) = (problem.brokers.iter(), problem.zones.iter());
        let caps = brokers.clone().map(|b| b.max_leaders);
        let leaders = Tally::new(caps, &now.leaders, &last.leaders);
        let caps = brokers.map(|b| b.max_replicas);
        let replicas = Tally::new(caps, &now.replicas, &last.replicas);
        let caps = zones.clone().map(|z| z.max_leaders);
        let mut zone_leaders = Tally::new(caps, &now.zone_leaders, &last.zone_leaders);
        let caps = zones.clone().map(|z| z.max_replicas);
        zone_leaders.fewest = zones.map(|z| i64::from(z.min_leaders)).collect();
        Mending {
            leaders,
            replicas,
            zone_leaders,
            zone_replicas: Tally::new(caps, &now.zone_replicas, &last.zone_replicas),
        }
    }

    /// Whether a move, before which `leader` leads, mends something as the counts stand.
    pub(super) fn mends(&self, problem: &Problem, draft: &Draft, leader: Option<BrokerId>) -> bool {
        let tallies = [
            &self.leaders,
            &self.replicas,
            &self.zone_leaders,
            &self.zone_replicas,
        ];
        let ends = ends(problem, &draft.passage(problem, leader));
        tallies
            .iter()
            .zip(ends)
            .any(|(tally, (from, to))| tally.mends(from, to))
    }

    /// Counts a move of the step.
    pub(super) fn apply(&mut self, problem: &Problem, draft: &Draft, leader: Option<BrokerId>) {
        self.count(problem, draft, leader, |tally, (from, to)| {
            from.into_iter().for_each(|at| tally.falling[at] -= 1);
            to.into_iter().for_each(|at| tally.rising[at] += 1);
        });
    }

    /// Ends the step as far as one of its moves is concerned.
    pub(super) fn settle(&mut self, problem: &Problem, draft: &Draft, leader: Option<BrokerId>) {
        self.count(problem, draft, leader, |tally, (from, to)| {
            from.into_iter().for_each(|at| tally.rising[at] -= 1);
            to.into_iter().for_each(|at| tally.falling[at] += 1);
        });
    }

    fn count(
        &mut self,
        problem: &Problem,
        draft: &Draft,
        leader: Option<BrokerId>,
        mut add: impl FnMut(&mut Tally, Ends),
    ) {
        let [led, held, zone_led, zone_held] = ends(problem, &draft.passage(problem, leader));
        for (tally, (from, to)) in [
            (&mut self.leaders, led),
            (&mut self.replicas, held),
            (&mut self.zone_leaders, zone_led),
            (&mut self.zone_replicas, zone_held),
        ] {
            if from != to {
                add(tally, (from, to));
            }
        }
    }
}

/// Where leader and replica leave and arrive, by broker and by zone, in the order of [`Mending`]'s counts.
fn ends(problem: &Problem, passage: &Passage) -> [Ends; 4] {
    let broker = |b: Option<BrokerId>| b.map(BrokerId::index);
    let zone = |b: Option<BrokerId>| b.map(|b| problem.zone_of(b).index());
    let (lead, replica) = (passage.lead, passage.replica);
    [
        (broker(lead.0), broker(lead.1)),
        (broker(replica.0), broker(replica.1)),
        (zone(lead.0), zone(lead.1)),
        (zone(replica.0), zone(replica.1)),
    ]
}
