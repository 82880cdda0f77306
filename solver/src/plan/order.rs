//! Moves in the order in which they are to be made.
//!
//! An item is all moves of one shard; where the shard fails over to a live replica, that promotion is an item of its
//! own that comes before the rest. Items are taken by their reason, within a reason by shard:
//!
//! 1. promotions that bring a failed-over shard back at once: onto the planned leader where that fits, else onto a
//!    stand-in with room (where every holder is full, the shard waits and its lead goes straight to where it ends);
//! 2. what else is forced: `FAILOVER`, `NEW`, `DRAIN`, `RULE`; the last includes what leaves a broker or zone that is
//!    above its cap just then, or gives a leader to a zone that has too few;
//! 3. what serves a stream's spread just then, 4. what serves the cluster's, then the load to balance; all in passes, because one move may open
//!    the way for another; a pass that settles less than an eighth of what it looked at is the last, so that all
//!    passes together are linear;
//! 5. the rest: no item of it lowers a spread by itself, it is moved for its cost;
//! 6. what was stuck, again, as long as some of it goes and at most so many times; what is left then is blocked.
//!
//! Where that leaves moves blocked or takes detours, a second order spares bytes: what leaves a broker that is short of
//! them goes first, whatever its reason. The one with less trouble is taken.
//!
//! What [`Room`] commits to make room, or together with an item so that breaches don't grow, takes the reason of the item
//! it serves (a stronger reason of its own stays). Otherwise every move has the reason of what it does itself: one that
//! mends a count is made for `RULE`, whatever else its shard does in the step.

mod blocked;
mod detour;
mod log;

use super::level::{Level, Scope, Shift};
use super::mending::Mending;
use super::moves::{Difference, Draft, Failover};
use super::room::{NIL, Placed, Room};
use super::{Move, MoveReason, SpreadRow};
use crate::budget::{Pace, Stop};
use crate::snapshot::{Assignment, BrokerId, Counts, Loads, Problem, ShardId};
use log::Log;

/// A pass goes on while it settles one in so many of the items it looks at.
const PASS_YIELD: usize = 8;
/// How many times what is stuck is tried again.
const RETRIES: usize = 8;

/// All moves by step, and the counts that change.
pub(super) fn order(
    problem: &Problem,
    placement: &[Assignment],
    pace: &mut Pace<'_>,
) -> Result<(Vec<Move>, Vec<SpreadRow>), Stop> {
    let (changed, last) = changes(problem, placement, pace)?;
    let mut ordered = |spares_bytes: bool| {
        let level = Level::new(problem, placement, &changed, &last, pace)?;
        let mut agenda = Agenda {
            problem,
            placement,
            room: Room::new(problem, &last, spares_bytes),
            log: Log::new(problem, level, Mending::new(problem, &last)),
            shifts: Vec::new(),
            changes: Vec::new(),
            onward: Vec::new(),
        };
        agenda.collect(&changed, pace)?;
        agenda.run(pace)?;
        Ok(agenda.log.finish())
    };
    let ordered_first = ordered(false)?;
    let troubles = troubles(&ordered_first.0);
    if troubles == (0, 0) {
        return Ok(ordered_first);
    }
    let sparing = ordered(true)?;
    Ok(match self::troubles(&sparing.0) < troubles {
        true => sparing,
        false => ordered_first,
    })
}

/// How many moves are blocked, and how many belong to detours.
fn troubles(moves: &[Move]) -> (usize, usize) {
    let blocked = moves.iter().filter(|m| m.blocked.is_some());
    let detours = moves.iter().filter(|m| m.detour);
    (blocked.count(), detours.count())
}

/// The shards that change, and the counts and loads they lead to.
fn changes(
    problem: &Problem,
    placement: &[Assignment],
    pace: &mut Pace<'_>,
) -> Result<(Vec<ShardId>, (Counts, Loads)), Stop> {
    let limits = &problem.limits;
    let mut changed = Vec::new();
    let mut last = (limits.present.clone(), limits.present_loads.clone());
    let has_loads = problem.has_loads();
    for (id, planned) in problem.shard_ids().zip(placement) {
        pace.step(1)?;
        let shard = problem.shard(id);
        if shard.present == *planned {
            continue;
        }
        changed.push(id);
        for (assignment, by) in [(&shard.present, -1), (planned, 1)] {
            last.0.add(&problem.brokers, assignment, by);
            if has_loads {
                last.1.add(&problem.brokers, shard, assignment, by);
            }
        }
    }
    Ok((changed, last))
}

struct Agenda<'a> {
    problem: &'a Problem,
    placement: &'a [Assignment],
    room: Room,
    log: Log<'a>,
    /// Buffers for one item.
    shifts: Vec<Shift>,
    changes: Vec<(u32, i64)>,
    /// Items that lead on from a detour and were not placed yet.
    onward: Vec<u32>,
}

impl<'a> Agenda<'a> {
    /// Turns the changed shards into items and makes the promotions that come first.
    fn collect(&mut self, changed: &[ShardId], pace: &mut Pace<'_>) -> Result<(), Stop> {
        let (problem, placement) = (self.problem, self.placement);
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
        let rate = self.problem.shard(id).rate;
        let has_room = |b: &BrokerId| {
            let zone = self.problem.zone_of(*b);
            self.room.has_leader_room(b.0, zone.0, rate)
        };
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
        self.gather(shard, drafts, leader);
        let lead = self.log.add(shard, drafts, leader, &self.shifts);
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
        let (rate, size) = (problem.shard(shard).rate, problem.shard(shard).size_bytes);
        for shift in &self.shifts {
            let b = shift.broker.0;
            let zone = problem.zone_of(shift.broker).0;
            for (resource, by) in [
                (self.room.leaders(b), shift.leaders),
                (self.room.replicas(b), shift.replicas),
                (self.room.zone_leaders(zone), shift.leaders),
                (self.room.zone_replicas(zone), shift.replicas),
                (self.room.rates(b), shift.leaders * rate),
                (self.room.bytes(b), shift.replicas * size),
            ] {
                match self.changes.iter_mut().find(|c| c.0 == resource) {
                    Some(change) => change.1 += by,
                    None => self.changes.push((resource, by)),
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
                    cell: self.log.level().cell(stream, broker),
                    leaders,
                    replicas,
                });
            }
        }
    }

    fn run(&mut self, pace: &mut Pace<'_>) -> Result<(), Stop> {
        let mut items = self.left();
        self.room.open(&items);
        for &item in &items {
            match self.log.class_of(item) {
                Some(reason) if reason < MoveReason::Rule => self.place(item, reason, pace)?,
                _ => {}
            }
        }
        self.place_rules(&mut items, pace)?;
        for scope in [Scope::Stream, Scope::Cluster, Scope::Load] {
            self.place_spread(&mut items, scope, pace)?;
        }
        for item in items {
            self.place(item, MoveReason::Cost, pace)?;
        }
        self.place_stuck(pace)?;
        for item in self.left() {
            pace.step(1)?;
            let cause = self.cause(item);
            self.log.block(item, &cause);
        }
        Ok(())
    }

    /// The items that remain, by reason and shard.
    fn left(&self) -> Vec<u32> {
        let all = 0..self.log.item_count();
        let mut items: Vec<u32> = all.filter(|&i| !self.room.is_done(i)).collect();
        items.sort_unstable_by_key(|&i| {
            let class = self.log.class_of(i).unwrap_or(MoveReason::Cost);
            (class, self.log.shard_of(i), i)
        });
        items
    }

    fn place_rules(&mut self, items: &mut Vec<u32>, pace: &mut Pace<'_>) -> Result<(), Stop> {
        items.retain(|&i| !self.room.is_done(i));
        items.sort_unstable_by_key(|&i| (self.log.shard_of(i), i));
        for &item in items.iter() {
            pace.step(1)?;
            if self.room.is_done(item) {
                continue;
            }
            let is_forced = self.log.class_of(item).is_some();
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

    /// What was stuck may go now that other moves are made.
    fn place_stuck(&mut self, pace: &mut Pace<'_>) -> Result<(), Stop> {
        for _ in 0..RETRIES {
            let left = self.left();
            let before = self.log.steps();
            self.room.unstick(0);
            for item in left {
                let reason = self.log.reason_of(item);
                self.place(item, reason, pace)?;
            }
            if self.log.steps() == before {
                break;
            }
        }
        Ok(())
    }

    /// Places an item, and what leads on from the detours that this takes.
    fn place(&mut self, item: u32, reason: MoveReason, pace: &mut Pace<'_>) -> Result<(), Stop> {
        self.place_one(item, reason, pace)?;
        while let Some(item) = self.onward.pop() {
            self.place_one(item, reason, pace)?;
        }
        Ok(())
    }

    /// Places an item without a detour if that can be done, else with detours; it may stay stuck.
    fn place_one(
        &mut self,
        mut item: u32,
        reason: MoveReason,
        pace: &mut Pace<'_>,
    ) -> Result<(), Stop> {
        let stuck = self.room.stuck();
        let mut takes_detours = false;
        loop {
            let log = &mut self.log;
            let step = &mut |items: &[u32]| log.step(items, item, reason);
            match self.room.place(item, takes_detours, pace, step)? {
                Placed::Done => return Ok(()),
                Placed::Stuck if takes_detours => return Ok(()),
                Placed::Stuck => {
                    self.room.unstick(stuck);
                    takes_detours = true;
                }
                Placed::Deadlock(waits, finder) => {
                    match self.take_detour(&waits, item, reason, pace)? {
                        Some((of, onward)) if of == item => item = onward,
                        Some((_, onward)) => self.onward.push(onward),
                        None => self.room.deny(finder),
                    }
                }
            }
        }
    }
}
