//! Moves in the order in which they are to be made.
//!
//! An item is all moves of one shard; where the shard fails over to a live replica, that promotion is an item of its
//! own that comes before the rest. Items are taken by their reason, within a reason by shard:
//!
//! 1. promotions that bring a failed-over shard back at once: onto the planned leader where that fits, else onto a
//!    stand-in with room (where every holder is full, the shard waits and its lead goes straight to where it ends);
//! 2. what else is forced: `FAILOVER`, `NEW`, `DRAIN`, `RULE`; the last includes what leaves a broker or zone that is
//!    above its cap just then, or gives a leader to a zone that has too few;
//! 3. what serves a stream's spread just then, 4. what serves the cluster's; both in passes, because one move may open
//!    the way for another; a pass that settles less than an eighth of what it looked at is the last, so that all
//!    passes together are linear;
//! 5. the rest: no item of it lowers a spread by itself, it is moved for its cost.
//!
//! What [`Room`] commits to make room, or together with an item so that breaches don't grow, takes the reason of the item
//! it serves (a stronger reason of its own stays). Otherwise every move has the reason of what it does itself: one that
//! mends a count is made for `RULE`, whatever else its shard does in the step.

use std::ops::Range;

use super::level::{Level, Scope, Shift};
use super::mending::Mending;
use super::moves::{Difference, Draft, Failover};
use super::room::{NIL, Room};
use super::{Move, MoveKind, MoveReason, SpreadRow};
use crate::budget::{Pace, Stop};
use crate::snapshot::{Assignment, BrokerId, Problem, ShardId};

/// A pass goes on while it settles one in so many of the items it looks at.
const PASS_YIELD: usize = 8;

/// All moves by step, and the counts that change.
pub(super) fn order(
    problem: &Problem,
    placement: &[Assignment],
    pace: &mut Pace<'_>,
) -> Result<(Vec<Move>, Vec<SpreadRow>), Stop> {
    let mut changed = Vec::new();
    let mut last = problem.limits.present.clone();
    for (id, planned) in problem.shard_ids().zip(placement) {
        pace.step(1)?;
        let present = &problem.shard(id).present;
        if present != planned {
            changed.push(id);
            last.add(&problem.brokers, present, -1);
            last.add(&problem.brokers, planned, 1);
        }
    }
    let mut agenda = Agenda {
        problem,
        room: Room::new(problem, &last),
        log: Log {
            problem,
            level: Level::new(problem, placement, &changed, &last, pace)?,
            mending: Mending::new(problem, &last),
            items: Vec::new(),
            drafts: Vec::new(),
            shifts: Vec::new(),
            moves: Vec::new(),
            own: Vec::new(),
            step: 0,
        },
        shifts: Vec::new(),
        changes: Vec::new(),
    };
    agenda.collect(placement, &changed, pace)?;
    agenda.run(pace)?;
    Ok((agenda.log.moves, agenda.log.level.rows()))
}

/// Moves that belong together.
struct Item {
    shard: ShardId,
    /// In [`Log::drafts`].
    drafts: Range<u32>,
    /// In [`Log::shifts`].
    shifts: Range<u32>,
    /// The strongest reason that forces one of its moves.
    class: Option<MoveReason>,
}

/// The items, and the steps so far.
struct Log<'a> {
    problem: &'a Problem,
    level: Level,
    mending: Mending,
    items: Vec<Item>,
    /// Each with who leads before it.
    drafts: Vec<(Draft, Option<BrokerId>)>,
    shifts: Vec<Shift>,
    moves: Vec<Move>,
    /// Buffer for the reasons that one item's moves have of their own.
    own: Vec<Option<MoveReason>>,
    step: u32,
}

impl Log<'_> {
    fn shifts_of(&self, item: u32) -> &[Shift] {
        let range = &self.items[item as usize].shifts;
        &self.shifts[range.start as usize..range.end as usize]
    }

    fn serves(&self, scope: Scope, item: u32) -> bool {
        self.level.serves(scope, self.shifts_of(item))
    }

    /// Whether one of its moves mends a count as it stands.
    fn mends(&self, item: u32) -> bool {
        let range = &self.items[item as usize].drafts;
        self.drafts[range.start as usize..range.end as usize]
            .iter()
            .any(|(draft, leader)| self.mending.mends(self.problem, draft, *leader))
    }

    /// One step: `items` for the sake of `root`, which is moved for `reason`.
    fn step(&mut self, items: &[u32], root: u32, reason: MoveReason) {
        self.step += 1;
        let mut sorted = items.to_vec();
        sorted.sort_unstable_by_key(|&i| (self.items[i as usize].shard, i));
        for &item in &sorted {
            let start = self.moves.len();
            let is_forced = self.write(item, reason);
            let (unforced, served) = if item == root {
                (self.unforced_reason(root, reason, is_forced), None)
            } else {
                (reason, Some(reason))
            };
            for (one, own) in self.moves[start..].iter_mut().zip(self.own.drain(..)) {
                let own = own.unwrap_or(unforced);
                one.reason = served.map_or(own, |served| own.min(served));
            }
        }
        for item in sorted {
            for at in self.items[item as usize].drafts.clone() {
                let (draft, leader) = self.drafts[at as usize];
                self.mending.settle(self.problem, &draft, leader);
            }
            let range = self.items[item as usize].shifts.clone();
            self.level
                .apply(&self.shifts[range.start as usize..range.end as usize]);
        }
    }

    /// Reason for the moves of the root that nothing forces.
    fn unforced_reason(&self, root: u32, reason: MoveReason, is_forced: bool) -> MoveReason {
        if !is_forced {
            reason
        } else if self.serves(Scope::Stream, root) || self.serves(Scope::Cluster, root) {
            MoveReason::Spread
        } else {
            MoveReason::Cost
        }
    }

    /// Writes the moves of an item that is part of a step for `reason`, their own reasons aside; whether one is forced.
    fn write(&mut self, item: u32, reason: MoveReason) -> bool {
        let Item { shard, drafts, .. } = &self.items[item as usize];
        let whole = self.problem.shard(*shard);
        let is_somewhere = !self.problem.is_free_to_place(whole);
        for &(draft, leader) in &self.drafts[drafts.start as usize..drafts.end as usize] {
            let is_mending =
                reason <= MoveReason::Rule && self.mending.mends(self.problem, &draft, leader);
            self.mending.apply(self.problem, &draft, leader);
            let is_copied = is_somewhere && matches!(draft.kind, MoveKind::Add | MoveKind::Copy);
            self.own
                .push(draft.reason.or(is_mending.then_some(MoveReason::Rule)));
            self.moves.push(Move {
                step: self.step,
                shard: *shard,
                role: draft.role,
                from: draft.from,
                to: draft.to,
                kind: draft.kind,
                reason,
                bytes: if is_copied { whole.size_bytes } else { 0 },
            });
        }
        self.own.iter().any(Option::is_some)
    }
}

struct Agenda<'a> {
    problem: &'a Problem,
    room: Room,
    log: Log<'a>,
    /// Buffers for one item.
    shifts: Vec<Shift>,
    changes: Vec<(u32, i32)>,
}

impl<'a> Agenda<'a> {
    /// Turns the changed shards into items and makes the promotions that come first.
    fn collect(
        &mut self,
        placement: &'a [Assignment],
        changed: &[ShardId],
        pace: &mut Pace<'_>,
    ) -> Result<(), Stop> {
        let problem = self.problem;
        let Some(&any) = changed.first() else {
            return Ok(());
        };
        let mut difference = Difference::new(problem, problem.shard(any), &placement[any.index()]);
        let mut promotions = Vec::new();
        let mut homeless = Vec::new();
        for &id in changed {
            pace.step(1)?;
            let shard = problem.shard(id);
            difference.load(shard, &placement[id.index()]);
            match difference.failover() {
                Failover::None => {
                    let leader = problem.live_leader(shard);
                    self.add_rest(id, &mut difference, leader, NIL);
                }
                Failover::Onto(leader) => {
                    let first = self.add_promotion(id, &difference, leader);
                    promotions.push(first);
                    self.add_rest(id, &mut difference, Some(leader), first);
                }
                Failover::Elsewhere => homeless.push(id),
            }
        }
        for item in promotions {
            pace.step(1)?;
            self.promote(item);
        }
        for id in homeless {
            pace.step(1)?;
            difference.load(problem.shard(id), &placement[id.index()]);
            self.add_homeless(id, &mut difference);
        }
        Ok(())
    }

    /// A shard without a live leader whose planned leader holds nothing yet.
    fn add_homeless(&mut self, id: ShardId, difference: &mut Difference<'_>) {
        let has_room = |b: &BrokerId| self.room.has_leader_room(b.0, self.problem.zone_of(*b).0);
        let stand_in = difference.stand_ins().into_iter().find(has_room);
        if let Some(leader) = stand_in {
            let first = self.add_promotion(id, difference, leader);
            self.promote(first);
        }
        self.add_rest(id, difference, stand_in, NIL);
    }

    fn promote(&mut self, item: u32) {
        if self.room.try_alone(item) {
            self.log.step(&[item], item, MoveReason::Failover);
        }
    }

    /// Adds the promotion that ends a failover.
    fn add_promotion(&mut self, id: ShardId, difference: &Difference<'_>, to: BrokerId) -> u32 {
        self.add(id, &[difference.promotion(to)], None, NIL, 0)
    }

    /// Adds all other moves of a shard that `leader` leads, if there are any.
    fn add_rest(
        &mut self,
        id: ShardId,
        difference: &mut Difference<'_>,
        leader: Option<BrokerId>,
        after: u32,
    ) {
        let crowding = difference.crowding();
        let drafts = difference.moves(leader);
        if !drafts.is_empty() {
            self.add(id, drafts, leader, after, crowding);
        }
    }

    /// Adds an item of these moves, starting from the live leader, after which `crowding` more replicas are above
    /// `max_replicas_per_zone`.
    fn add(
        &mut self,
        shard: ShardId,
        drafts: &[Draft],
        leader: Option<BrokerId>,
        after: u32,
        crowding: i64,
    ) -> u32 {
        let log = &mut self.log;
        let start = (log.drafts.len() as u32, log.shifts.len() as u32);
        let mut lead = leader;
        for &draft in drafts {
            log.drafts.push((draft, lead));
            lead = draft.leader_after(lead);
        }
        self.gather(shard, drafts, leader);
        let log = &mut self.log;
        log.shifts.extend_from_slice(&self.shifts);
        log.items.push(Item {
            shard,
            drafts: start.0..log.drafts.len() as u32,
            shifts: start.1..log.shifts.len() as u32,
            class: drafts.iter().filter_map(|d| d.reason).min(),
        });
        let gains_leader = if leader.is_none() { lead } else { None };
        let breaches = self.own_breaches(shard, crowding, gains_leader);
        self.room.add(&self.changes, breaches, after)
    }

    /// By how much the gathered shifts add to the breaches that the shard is by itself: replicas on brokers that may
    /// not hold it, a leader twice, and crowding. A leader where there was none is worth what it adds.
    fn own_breaches(&self, shard: ShardId, crowding: i64, gains_leader: Option<BrokerId>) -> i64 {
        let shard = self.problem.shard(shard);
        if shard.is_pinned {
            return 0;
        }
        let is_unwanted = |b: BrokerId| self.problem.is_unwanted(shard.stream, b);
        let unwanted = self.shifts.iter().filter(|s| is_unwanted(s.broker));
        let worth = i64::from(gains_leader.is_some_and(is_unwanted));
        crowding - worth + unwanted.map(|s| s.leaders + s.replicas).sum::<i64>()
    }

    /// Fills the buffers with what the moves change, starting from the live leader.
    fn gather(&mut self, shard: ShardId, drafts: &[Draft], leader: Option<BrokerId>) {
        let problem = self.problem;
        self.shifts.clear();
        let mut lead = leader;
        for draft in drafts {
            let passage = draft.passage(problem, lead);
            lead = draft.leader_after(lead);
            for (ends, leaders, replicas) in [(passage.replica, 0, 1), (passage.lead, 1, 0)] {
                if let Some(from) = ends.0 {
                    self.shift(shard, from, -leaders, -replicas);
                }
                if let Some(to) = ends.1 {
                    self.shift(shard, to, leaders, replicas);
                }
            }
        }
        self.shifts.retain(|s| s.leaders != 0 || s.replicas != 0);
        self.changes.clear();
        for shift in &self.shifts {
            let b = shift.broker.0;
            let zone = problem.zone_of(shift.broker).0;
            for (resource, by) in [
                (self.room.leaders(b), shift.leaders),
                (self.room.replicas(b), shift.replicas),
                (self.room.zone_leaders(zone), shift.leaders),
                (self.room.zone_replicas(zone), shift.replicas),
            ] {
                match self.changes.iter_mut().find(|c| c.0 == resource) {
                    Some(change) => change.1 += by as i32,
                    None => self.changes.push((resource, by as i32)),
                }
            }
        }
        self.changes.sort_unstable();
    }

    /// Adds to the counts of a live broker.
    fn shift(&mut self, shard: ShardId, broker: BrokerId, leaders: i64, replicas: i64) {
        if !self.problem.is_live(broker) {
            return;
        }
        match self.shifts.iter_mut().find(|s| s.broker == broker) {
            Some(shift) => {
                shift.leaders += leaders;
                shift.replicas += replicas;
            }
            None => {
                let stream = self.problem.shard(shard).stream;
                self.shifts.push(Shift {
                    broker,
                    cell: self.log.level.cell(stream, broker),
                    leaders,
                    replicas,
                });
            }
        }
    }

    fn run(&mut self, pace: &mut Pace<'_>) -> Result<(), Stop> {
        let mut items: Vec<u32> = (0..self.log.items.len() as u32)
            .filter(|&i| !self.room.is_done(i))
            .collect();
        let log = &self.log;
        let place_of = |&i: &u32| {
            let item = &log.items[i as usize];
            (item.class.unwrap_or(MoveReason::Cost), item.shard, i)
        };
        items.sort_unstable_by_key(place_of);
        self.room.open(&items);
        for &item in &items {
            match self.log.items[item as usize].class {
                Some(reason) if reason < MoveReason::Rule => self.place(item, reason, pace)?,
                _ => {}
            }
        }
        self.place_rules(&mut items, pace)?;
        for scope in [Scope::Stream, Scope::Cluster] {
            self.place_spread(&mut items, scope, pace)?;
        }
        for item in items {
            self.place(item, MoveReason::Cost, pace)?;
        }
        Ok(())
    }

    fn place_rules(&mut self, items: &mut Vec<u32>, pace: &mut Pace<'_>) -> Result<(), Stop> {
        items.retain(|&i| !self.room.is_done(i));
        items.sort_unstable_by_key(|&i| (self.log.items[i as usize].shard, i));
        for &item in items.iter() {
            pace.step(1)?;
            if self.room.is_done(item) {
                continue;
            }
            let is_forced = self.log.items[item as usize].class.is_some();
            if is_forced || self.log.mends(item) {
                self.place(item, MoveReason::Rule, pace)?;
            }
        }
        Ok(())
    }

    fn place_spread(
        &mut self,
        items: &mut Vec<u32>,
        scope: Scope,
        pace: &mut Pace<'_>,
    ) -> Result<(), Stop> {
        loop {
            items.retain(|&i| !self.room.is_done(i));
            let looked_at = items.len();
            for &item in items.iter() {
                pace.step(1)?;
                if !self.room.is_done(item) && self.log.serves(scope, item) {
                    self.place(item, MoveReason::Spread, pace)?;
                }
            }
            items.retain(|&i| !self.room.is_done(i));
            let settled = looked_at - items.len();
            if items.is_empty() || settled * PASS_YIELD < looked_at || settled == 0 {
                return Ok(());
            }
        }
    }

    fn place(&mut self, item: u32, reason: MoveReason, pace: &mut Pace<'_>) -> Result<(), Stop> {
        let log = &mut self.log;
        self.room
            .place(item, pace, &mut |items| log.step(items, item, reason))
    }
}
