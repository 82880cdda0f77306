//! The smallest changes of rules that lift a cut.
//!
//! Candidates are the limits of the cut, made wider, and brokers outside with room, opened to streams inside; a zone's
//! minimum may be lowered. What a change is worth is not read off the cut but solved: the contest under the changed
//! rules, by as much as it is better. The value of a rank is convex in a limit, so the least widening that is
//! worth as much as the whole is found by halving. Where no change alone lifts the whole cut, the best one is
//! made and another sought, up to [`CHANGES_MAX`] in all.

use std::ops::Range;

use super::RANKS_EXPLAINED;
use super::contest::{Contest, taken};
use super::grouping::{Groups, Rules};
use crate::budget::Budget;
use crate::cost::Rank;
use crate::cut::{Change, Cut, LimitRule, Place, Remedy};
use crate::snapshot::{BrokerId, Counts, Problem, Roles, StreamId};

/// Limits of a cut that are tried.
const LIMITS_MAX: usize = 6;
/// Streams and brokers that are tried.
const OPENINGS_MAX: usize = 3;
/// Remedies given.
const REMEDIES_MAX: usize = 3;
/// Rules changed by one remedy, two for each place of which both maxima are in the way.
const CHANGES_MAX: usize = 6;

/// The remedies of a cut, those that lift most first.
pub(super) fn of(
    problem: &Problem,
    cut: &Cut,
    rules: &Rules,
    groups: &Groups,
    contest: &Contest,
    budget: &mut Budget<'_>,
) -> Vec<Remedy> {
    let mut search = Search {
        problem,
        rank: cut.rank,
        groups,
        budget,
    };
    let mut remedies = search.singles(cut, rules, contest);
    remedies.truncate(REMEDIES_MAX);
    let lifts_all = |remedy: &Remedy| remedy.lifts >= cut.need();
    if let Some(best) = remedies.first().filter(|best| !lifts_all(best)).cloned()
        && let Some(both) = search.extended(best, cut.need(), rules, contest)
    {
        remedies.insert(0, both);
        remedies.truncate(REMEDIES_MAX);
    }
    remedies
}

struct Search<'a, 'b, 'c> {
    problem: &'a Problem,
    rank: Rank,
    groups: &'a Groups,
    budget: &'b mut Budget<'c>,
}

impl Search<'_, '_, '_> {
    /// Remedies that change one place, stream or minimum.
    fn singles(&mut self, cut: &Cut, rules: &Rules, contest: &Contest) -> Vec<Remedy> {
        let mut remedies = Vec::new();
        let need = cut.need();
        let is_limit = |rule| rule != LimitRule::Closed;
        let limits: Vec<Place> = (cut.limits.iter())
            .filter(|limit| is_limit(limit.rule))
            .map(|limit| limit.place)
            .collect();
        // Zones first: they hold back more.
        let is_zone = |place: &&Place| matches!(place, Place::Zone(_));
        let (zones, brokers): (Vec<&Place>, Vec<&Place>) = limits.iter().partition(is_zone);
        for &place in zones.into_iter().chain(brokers).take(LIMITS_MAX) {
            // Where pinned shards alone exceed it, there is something to lift before there is room.
            let least = -self.pinned_excess(place, rules);
            let remedy = self.smallest(least..need, rules, contest, |this, by| {
                this.widened(place, by, rules, contest)
            });
            remedies.extend(remedy);
        }
        for &zone in &cut.zones {
            let now = rules.min_leaders[zone.index()];
            let remedy = self.smallest(0..need.min(i64::from(now)), rules, contest, |_, by| {
                let to = now.saturating_sub(by as u32);
                vec![Change::MinLeaders { zone, to }]
            });
            remedies.extend(remedy);
        }
        for (stream, broker) in self.openings(cut, rules, contest) {
            let changes = vec![Change::Open { stream, broker }];
            let lifts = self.lifts(&changes, rules, contest);
            remedies.extend((lifts > 0).then_some(Remedy { changes, lifts }));
        }
        remedies.sort_by_cached_key(|remedy| {
            let lowers = |change: &Change| matches!(change, Change::MinLeaders { .. });
            let gives_up = remedy.changes.iter().any(lowers);
            let size: i64 = remedy.changes.iter().map(|c| self.size(c, rules)).sum();
            (gives_up, -remedy.lifts, size, remedy.changes.clone())
        });
        remedies
    }

    /// A remedy, and then what lifts more of what it leaves.
    fn extended(
        &mut self,
        first: Remedy,
        need: i64,
        rules: &Rules,
        contest: &Contest,
    ) -> Option<Remedy> {
        let mut remedy = first;
        loop {
            let changed = rules.with(&remedy.changes);
            let regrouped = Groups::of(self.problem, &changed);
            let next = Contest::solve(self.problem, &regrouped, &changed, self.budget)?;
            let cuts = next.cuts(self.problem, self.rank, &regrouped, &changed);
            let mut best: Option<Remedy> = None;
            for cut in &cuts {
                let singles = Search {
                    problem: self.problem,
                    rank: self.rank,
                    groups: &regrouped,
                    budget: self.budget,
                }
                .singles(cut, &changed, &next);
                let found = singles.into_iter().next();
                if found.as_ref().map(|r| r.lifts) > best.as_ref().map(|r| r.lifts) {
                    best = found;
                }
            }
            let best = best?;
            let is_too_long = remedy.changes.len() + best.changes.len() > CHANGES_MAX;
            if is_too_long {
                return None;
            }
            remedy.changes = merged(&remedy.changes, &best.changes);
            remedy.lifts = self.lifts(&remedy.changes, rules, contest);
            if remedy.lifts >= need {
                return Some(remedy);
            }
        }
    }

    /// Changes that make room for so many leaders more at a place. A limit that is exceeded grows from where it is,
    /// unless the excess is not what is at stake.
    fn widened(&self, place: Place, by: i64, rules: &Rules, contest: &Contest) -> Vec<Change> {
        let (problem, pinned) = (self.problem, &self.groups.pinned);
        let is_in_force = self.rank == Rank::UnplacedLeaders;
        let Some((_, room)) = Contest::limit(problem, rules, pinned, place, is_in_force) else {
            return Vec::new();
        };
        let room = match self.rank {
            Rank::ZoneMinimumShortfall => room.max(contest.led_at(place)),
            _ => room,
        };
        let present = taken(&problem.limits.present, place);
        let wider = |cap: Option<u32>, now: i64, pinned: i64| {
            let cap = i64::from(cap?);
            let from = if is_in_force { cap.max(now) } else { cap };
            let wanted = pinned + room + by;
            u32::try_from(wanted).ok().filter(|_| wanted > from)
        };
        let (leaders, replicas) = taken(pinned, place);
        let mut changes = Vec::new();
        let to = wider(rules.leaders(place), present.0, leaders);
        changes.extend(to.map(|to| Change::MaxLeaders { place, to }));
        if problem.policy.roles == Roles::LeadersAndFollowers {
            let to = wider(rules.replicas(place), present.1, replicas);
            changes.extend(to.map(|to| Change::MaxReplicas { place, to }));
        }
        changes
    }

    fn pinned_excess(&self, place: Place, rules: &Rules) -> i64 {
        let (leaders, replicas) = taken(&self.groups.pinned, place);
        let excess = |cap: Option<u32>, count: i64| cap.map_or(0, |cap| count - i64::from(cap));
        let of_leaders = excess(rules.leaders(place), leaders);
        of_leaders
            .max(excess(rules.replicas(place), replicas))
            .max(0)
    }

    /// The least size above the start of a range, up to its end, at which a change is worth as much as at the end.
    fn smallest(
        &mut self,
        sizes: Range<i64>,
        rules: &Rules,
        contest: &Contest,
        change: impl Fn(&Self, i64) -> Vec<Change>,
    ) -> Option<Remedy> {
        let changes = change(self, sizes.end);
        if changes.is_empty() {
            return None;
        }
        let lifts = self.lifts(&changes, rules, contest);
        if lifts <= 0 {
            return None;
        }
        let (mut low, mut high) = (sizes.start, sizes.end);
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            let changes = change(self, middle);
            let is_enough = self.lifts(&changes, rules, contest) >= lifts;
            if is_enough {
                high = middle;
            } else {
                low = middle;
            }
        }
        let changes = change(self, high);
        Some(Remedy { changes, lifts })
    }

    /// By how much the rank falls in the best plan under changed rules; 0 where a rank before rises, or where the
    /// budget ends.
    fn lifts(&mut self, changes: &[Change], rules: &Rules, contest: &Contest) -> i64 {
        let changed = rules.with(changes);
        let opens = changes.iter().any(|c| matches!(c, Change::Open { .. }));
        let regrouped = opens.then(|| Groups::of(self.problem, &changed));
        let groups = regrouped.as_ref().unwrap_or(self.groups);
        let next = Contest::solve(self.problem, groups, &changed, self.budget);
        let Some(next) = next else { return 0 };
        let at = RANKS_EXPLAINED.iter().position(|&rank| rank == self.rank);
        let at = at.unwrap_or(0);
        if next.values[..at] != contest.values[..at] {
            return 0;
        }
        i64::try_from(contest.values[at] - next.values[at]).unwrap_or(0)
    }

    /// Streams of the cut and brokers outside that could take them, most shards and most room first.
    fn openings(&self, cut: &Cut, rules: &Rules, contest: &Contest) -> Vec<(StreamId, BrokerId)> {
        let problem = self.problem;
        if problem.policy.roles == Roles::LeadershipOnly {
            return Vec::new();
        }
        let shards: Vec<_> = match self.rank {
            Rank::ZoneMinimumShortfall => {
                let all = problem.shard_ids();
                let outside = all.filter(|id| cut.shards.binary_search(id).is_err());
                outside.collect()
            }
            _ => cut.shards.clone(),
        };
        let mut counts = vec![0_usize; problem.streams.len()];
        for id in shards.iter().filter(|id| !problem.shard(**id).is_pinned) {
            counts[problem.shard(*id).stream.index()] += 1;
        }
        let mut streams: Vec<usize> = (0..counts.len()).filter(|&s| counts[s] > 0).collect();
        streams.sort_by_key(|&s| (std::cmp::Reverse(counts[s]), s));
        let mut brokers: Vec<(i64, BrokerId)> = (problem.broker_ids())
            .filter(|&b| problem.is_active(b))
            .map(|b| (contest.spare(problem, rules, &self.groups.pinned, b), b))
            .filter(|(spare, b)| {
                let zone = problem.zone_of(*b);
                *spare > 0 && (cut.zones.is_empty() || cut.zones.contains(&zone))
            })
            .collect();
        brokers.sort_by_key(|&(spare, b)| (std::cmp::Reverse(spare), b));
        let mut openings = Vec::new();
        for s in streams.into_iter().take(OPENINGS_MAX).map(StreamId::at) {
            let closed = |b: &BrokerId| !problem.stream(s).open[b.index()];
            let broker = brokers.iter().map(|(_, b)| *b).find(closed);
            openings.extend(broker.map(|b| (s, b)));
        }
        openings
    }

    fn size(&self, change: &Change, rules: &Rules) -> i64 {
        let by = |from: Option<u32>, to: u32| (i64::from(to) - i64::from(from.unwrap_or(0))).abs();
        match *change {
            Change::MaxLeaders { place, to } => by(rules.leaders(place), to),
            Change::MaxReplicas { place, to } => by(rules.replicas(place), to),
            Change::MinLeaders { zone, to } => by(Some(rules.min_leaders[zone.index()]), to),
            Change::Open { .. } => 1,
        }
    }
}

/// Both lists of changes; of two that change one rule the later one.
fn merged(first: &[Change], then: &[Change]) -> Vec<Change> {
    let is_same = |a: &Change, b: &Change| match (a, b) {
        (Change::MaxLeaders { place: a, .. }, Change::MaxLeaders { place: b, .. })
        | (Change::MaxReplicas { place: a, .. }, Change::MaxReplicas { place: b, .. }) => a == b,
        (Change::MinLeaders { zone: a, .. }, Change::MinLeaders { zone: b, .. }) => a == b,
        _ => a == b,
    };
    let kept = first.iter().filter(|a| !then.iter().any(|b| is_same(a, b)));
    let mut all: Vec<Change> = kept.chain(then).copied().collect();
    all.sort_unstable();
    all
}

impl Contest {
    /// Leaders of free shards at a place.
    fn led_at(&self, place: Place) -> i64 {
        self.flow[self.count_arc(place).index()]
    }

    /// Leaders more that fit on a broker and in its zone within what is configured.
    fn spare(&self, problem: &Problem, rules: &Rules, pinned: &Counts, broker: BrokerId) -> i64 {
        let places = [Place::Broker(broker), Place::Zone(problem.zone_of(broker))];
        let spare = places.map(|place| {
            let limit = Contest::limit(problem, rules, pinned, place, false);
            limit.map_or(i64::MAX, |(_, room)| room - self.led_at(place))
        });
        spare[0].min(spare[1])
    }
}
