//! The items, and the steps so far.

use std::ops::Range;

use super::super::level::{Level, Scope, Shift};
use super::super::mending::Mending;
use super::super::moves::Draft;
use super::super::{Move, MoveKind, MoveReason, SpreadRow};
use crate::snapshot::{BrokerId, Problem, ShardId};

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
pub(super) struct Log<'a> {
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

impl<'a> Log<'a> {
    /// No items yet.
    pub(super) fn new(problem: &'a Problem, level: Level, mending: Mending) -> Self {
        Log {
            problem,
            level,
            mending,
            items: Vec::new(),
            drafts: Vec::new(),
            shifts: Vec::new(),
            moves: Vec::new(),
            own: Vec::new(),
            step: 0,
        }
    }

    /// The moves, and the counts that they change.
    pub(super) fn finish(self) -> (Vec<Move>, Vec<SpreadRow>) {
        let rows = self.level.rows();
        (self.moves, rows)
    }

    /// Adds an item of these moves, before which `leader` leads, and what they change; who leads after it.
    pub(super) fn add(
        &mut self,
        shard: ShardId,
        drafts: &[Draft],
        leader: Option<BrokerId>,
        shifts: &[Shift],
    ) -> Option<BrokerId> {
        let start = (self.drafts.len() as u32, self.shifts.len() as u32);
        let mut lead = leader;
        for &draft in drafts {
            self.drafts.push((draft, lead));
            lead = draft.leader_after(lead);
        }
        self.shifts.extend_from_slice(shifts);
        self.items.push(Item {
            shard,
            drafts: start.0..self.drafts.len() as u32,
            shifts: start.1..self.shifts.len() as u32,
            class: drafts.iter().filter_map(|d| d.reason).min(),
        });
        lead
    }

    pub(super) fn item_count(&self) -> u32 {
        self.items.len() as u32
    }

    pub(super) fn shard_of(&self, item: u32) -> ShardId {
        self.items[item as usize].shard
    }

    /// The strongest reason that forces one of its moves.
    pub(super) fn class_of(&self, item: u32) -> Option<MoveReason> {
        self.items[item as usize].class
    }

    /// Its moves, each with who leads before it.
    pub(super) fn drafts_of(&self, item: u32) -> &[(Draft, Option<BrokerId>)] {
        let range = &self.items[item as usize].drafts;
        &self.drafts[range.start as usize..range.end as usize]
    }

    /// How many steps there are.
    pub(super) fn steps(&self) -> u32 {
        self.step
    }

    fn shifts_of(&self, item: u32) -> &[Shift] {
        let range = &self.items[item as usize].shifts;
        &self.shifts[range.start as usize..range.end as usize]
    }

    pub(super) fn level(&self) -> &Level {
        &self.level
    }

    pub(super) fn serves(&self, scope: Scope, item: u32) -> bool {
        let shard = self.problem.shard(self.shard_of(item));
        self.level.serves(scope, shard, self.shifts_of(item))
    }

    /// Whether one of its moves mends an amount as it stands.
    pub(super) fn mends(&self, item: u32) -> bool {
        let shard = self.problem.shard(self.shard_of(item));
        let mut drafts = self.drafts_of(item).iter();
        drafts.any(|(draft, leader)| self.mending.mends(self.problem, shard, draft, *leader))
    }

    /// The reason for which an item would be moved just now.
    pub(super) fn reason_of(&self, item: u32) -> MoveReason {
        match self.class_of(item) {
            Some(class) => class,
            None if self.mends(item) => MoveReason::Rule,
            None => self.level_reason(item),
        }
    }

    fn level_reason(&self, item: u32) -> MoveReason {
        let scopes = [Scope::Stream, Scope::Cluster, Scope::Load];
        match scopes.iter().any(|&scope| self.serves(scope, item)) {
            true => MoveReason::Spread,
            false => MoveReason::Cost,
        }
    }

    /// One step: `items` for the sake of `root`, which is moved for `reason`.
    pub(super) fn step(&mut self, items: &[u32], root: u32, reason: MoveReason) {
        self.step += 1;
        let mut sorted = items.to_vec();
        sorted.sort_unstable_by_key(|&i| (self.items[i as usize].shard, i));
        for &item in &sorted {
            let start = self.moves.len();
            let is_forced = self.write(item, reason);
            let (unforced, served) = if item == root {
                let unforced = if is_forced {
                    self.level_reason(root)
                } else {
                    reason
                };
                (unforced, None)
            } else {
                (reason, Some(reason))
            };
            for (one, own) in self.moves[start..].iter_mut().zip(self.own.drain(..)) {
                let own = own.unwrap_or(unforced);
                one.reason = served.map_or(own, |served| own.min(served));
            }
        }
        for item in sorted {
            let shard = self.problem.shard(self.shard_of(item));
            for at in self.items[item as usize].drafts.clone() {
                let (draft, leader) = self.drafts[at as usize];
                self.mending.settle(self.problem, shard, &draft, leader);
            }
            let range = self.items[item as usize].shifts.clone();
            let shifts = &self.shifts[range.start as usize..range.end as usize];
            self.level.apply(shard, shifts);
        }
    }

    /// Writes the moves of an item that is part of a step for `reason`, their own reasons aside; whether one is forced.
    fn write(&mut self, item: u32, reason: MoveReason) -> bool {
        let id = self.shard_of(item);
        let shard = self.problem.shard(id);
        for at in self.items[item as usize].drafts.clone() {
            let (draft, leader) = self.drafts[at as usize];
            let is_mending = reason <= MoveReason::Rule
                && self.mending.mends(self.problem, shard, &draft, leader);
            self.mending.apply(self.problem, shard, &draft, leader);
            self.own
                .push(draft.reason.or(is_mending.then_some(MoveReason::Rule)));
            self.moves.push(self.one_move(id, &draft, reason));
        }
        self.own.iter().any(Option::is_some)
    }

    /// Lists the moves of an item that nothing makes room for, as a step of its own.
    pub(super) fn block(&mut self, item: u32, cause: &str) {
        self.step += 1;
        let (id, reason) = (self.shard_of(item), self.reason_of(item));
        for at in self.items[item as usize].drafts.clone() {
            let draft = self.drafts[at as usize].0;
            let reason = draft.reason.unwrap_or(reason);
            let mut one = self.one_move(id, &draft, reason);
            one.blocked = Some(cause.to_owned());
            self.moves.push(one);
        }
    }

    fn one_move(&self, id: ShardId, draft: &Draft, reason: MoveReason) -> Move {
        let shard = self.problem.shard(id);
        let is_copied = !self.problem.is_free_to_place(shard)
            && matches!(draft.kind, MoveKind::Add | MoveKind::Copy);
        Move {
            step: self.step,
            shard: id,
            role: draft.role,
            from: draft.from,
            to: draft.to,
            kind: draft.kind,
            reason,
            detour: draft.is_detour,
            blocked: None,
            bytes: if is_copied { shard.size_bytes } else { 0 },
        }
    }
}
