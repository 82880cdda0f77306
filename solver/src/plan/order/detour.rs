//! Detours: a replica that goes by way of a broker that lends room.
//!
//! Where replicas wait in a circle for each other's bytes, one of them is copied to a broker with room, away from the
//! broker where it is in the way; later it goes on from there. The item of its shard becomes two. The first has that copy,
//! with the promotion of another replica ahead of it where the lead would have gone to one anyway; the second has the
//! rest. A shard takes one detour at most, the smallest shard of the circle first, and never to fewer zones than it
//! spans both now and in the plan: a second item that gets stuck leaves it there.
//!
//! Complexity: O(brokers · log brokers) for each shard that is tried.

use super::super::moves::{Draft, crowding};
use super::super::room::Wait;
use super::super::{MoveKind, MoveReason};
use super::Agenda;
use crate::budget::{Pace, Stop};
use crate::snapshot::{Assignment, BrokerId, Role, ShardId};

/// So many shards of a circle are tried.
const TRIES: usize = 8;
/// So many brokers are tried for each.
const LENDERS: usize = 8;

/// The two halves of an item.
struct Halves {
    first: Vec<Draft>,
    rest: Vec<Draft>,
    /// Who leads between them.
    leader: Option<BrokerId>,
    /// The replicas between them.
    layout: Assignment,
}

impl Agenda<'_> {
    /// Takes a detour that lets one of those that wait go on, for the sake of `root`; the item that takes it, and the one
    /// that leads on.
    pub(super) fn take_detour(
        &mut self,
        waits: &[Wait],
        root: u32,
        reason: MoveReason,
        pace: &mut Pace<'_>,
    ) -> Result<Option<(u32, u32)>, Stop> {
        let mut waits = waits.to_vec();
        waits.sort_by_key(|wait| {
            let id = self.log.shard_of(wait.item);
            let size = self.problem.shard(id).size_bytes;
            (size < wait.lack, size, id)
        });
        for wait in waits.iter().take(TRIES) {
            pace.step_stream(self.problem.brokers.len())?;
            let Some(by) = self.detour_of(wait) else {
                continue;
            };
            let (first, rest) = self.split(wait.item, &by);
            let log = &mut self.log;
            if self.room.try_alone(first) {
                log.step(&[first], root, reason);
            }
            return Ok(Some((wait.item, rest)));
        }
        Ok(None)
    }

    /// How an item can leave the resource early.
    fn detour_of(&mut self, wait: &Wait) -> Option<Halves> {
        let from = self.room.broker_of(wait.resource)?;
        let drafts = self.log.drafts_of(wait.item);
        let at = drafts
            .iter()
            .position(|(d, _)| d.kind == MoveKind::Copy && d.from == Some(from))?;
        if drafts.iter().any(|(draft, _)| draft.is_detour) {
            return None;
        }
        let drafts = drafts.to_vec();
        let id = self.log.shard_of(wait.item);
        let after = self.room.terms_of(wait.item).1;
        let lenders = self.lenders(id, from, &drafts);
        lenders.into_iter().take(LENDERS).find_map(|by| {
            let halves = self.halves(id, &drafts, at, by);
            let now = &self.problem.shard(id).present;
            let crowding = crowding(self.problem, now, &halves.layout);
            self.gather(id, &halves.first, drafts[0].1);
            let own = self.own_breaches(id, crowding, None);
            (crowding <= 0 && self.room.fits(&self.changes, own, after)).then_some(halves)
        })
    }

    /// Brokers that have room for a replica now at `from`, the best first: those whose room nothing else in the plan
    /// wants, those in the same zone, those with most of it.
    fn lenders(
        &self,
        id: ShardId,
        from: BrokerId,
        drafts: &[(Draft, Option<BrokerId>)],
    ) -> Vec<BrokerId> {
        let (problem, shard) = (self.problem, self.problem.shard(id));
        let planned = &self.placement[id.index()];
        let fewest = (problem.zones_spanned(&shard.present)).min(problem.zones_spanned(planned));
        let may_lend = |b: &BrokerId| {
            problem.may_enter(shard.stream, *b)
                && self.room.has_replica_room(b.0, shard.size_bytes)
                && !shard.present.holds(*b)
                && drafts.iter().all(|(draft, _)| draft.to != Some(*b))
                && problem.zones_spanned(&moved(&shard.present, from, *b)) >= fewest
        };
        let mut lenders: Vec<BrokerId> = problem.broker_ids().filter(may_lend).collect();
        lenders.sort_by_key(|&b| {
            let spare = self.room.bytes_spare(b);
            let is_elsewhere = problem.zone_of(b) != problem.zone_of(from);
            (
                spare < shard.size_bytes,
                is_elsewhere,
                std::cmp::Reverse(spare),
                b,
            )
        });
        lenders
    }

    /// The moves of a shard where the copy at that position goes by way of another broker.
    fn halves(
        &self,
        id: ShardId,
        drafts: &[(Draft, Option<BrokerId>)],
        at: usize,
        by: BrokerId,
    ) -> Halves {
        let (copy, before) = (drafts[at].0, drafts[0].1);
        let is_handed_over =
            |(draft, _): &&(Draft, _)| draft.kind == MoveKind::Promotion && draft.from == copy.from;
        let handed_over = drafts.iter().find(is_handed_over).map(|(draft, _)| *draft);
        let mut leader = handed_over.map_or(before, |draft| draft.leader_after(before));
        let role = match leader == copy.from && leader.is_some() {
            true => Role::Leader,
            false => Role::Follower,
        };
        let there = Draft {
            role,
            to: Some(by),
            is_detour: true,
            ..copy
        };
        leader = there.leader_after(leader);
        let onward = Draft {
            from: Some(by),
            is_detour: true,
            ..copy
        };
        let rest = drafts.iter().map(|&(draft, _)| draft);
        let rest = rest.filter(|draft| Some(*draft) != handed_over);
        let now = &self.problem.shard(id).present;
        Halves {
            first: handed_over.into_iter().chain([there]).collect(),
            rest: rest
                .map(|draft| if draft == copy { onward } else { draft })
                .collect(),
            leader,
            layout: copy.from.map_or(now.clone(), |from| moved(now, from, by)),
        }
    }

    /// Puts two items in the place of one; they are still to be done.
    fn split(&mut self, item: u32, halves: &Halves) -> (u32, u32) {
        let id = self.log.shard_of(item);
        let (_, after) = self.room.terms_of(item);
        let before = self.log.drafts_of(item)[0].1;
        let (now, planned) = (&self.problem.shard(id).present, &self.placement[id.index()]);
        let first = crowding(self.problem, now, &halves.layout);
        let rest = crowding(self.problem, &halves.layout, planned);
        self.room.replace(item);
        let first = self.add(id, &halves.first, before, after, first);
        let rest = self.add(id, &halves.rest, halves.leader, first, rest);
        self.room.open_late(rest);
        (first, rest)
    }
}

/// With the replica at `from` at another broker instead.
fn moved(assignment: &Assignment, from: BrokerId, to: BrokerId) -> Assignment {
    let moved = |b: BrokerId| if b == from { to } else { b };
    Assignment {
        leader: assignment.leader.map(moved),
        followers: assignment.followers.iter().map(|&b| moved(b)).collect(),
    }
}
