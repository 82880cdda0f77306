//! Problem to programme: who may hold and lead each free shard, what that costs, and every rule.
//!
//! A free shard has a decision `lead(b)` and a decision `follow(b)` for each broker b that may hold it: those that hold it
//! live, and those it may enter. What the other shards hold are offsets. Everything that counts over several decisions
//! (leaders of a broker, replicas of a shard in a zone, bytes) is a [`Fill`](super::program::Fill) whose columns carry its
//! slopes: squares cost 1, 3, 5, … a unit, exact for whole numbers and convex.
//!
//! Complexity: O(free shards · brokers), and O(shards) for the offsets.

mod counts;
mod loads;
mod shard;

use std::sync::Arc;

use crate::budget::{Budget, Stop};
use crate::cost::{RANKS, Rank};
use crate::model::current;
use crate::snapshot::{Assignment, BrokerId, Counts, Loads, Problem, Roles, ShardId};

use super::program::{Column, Program, Row, Terms};

/// A broker that may hold a free shard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) broker: BrokerId,
    /// It leads.
    pub(super) lead: Column,
    /// It follows; `None` where the shard has no followers to decide.
    pub(super) follow: Option<Column>,
}

impl Candidate {
    /// The decisions of which one makes it a replica.
    fn holds(self) -> impl Iterator<Item = Column> {
        std::iter::once(self.lead).chain(self.follow)
    }
}

/// A shard to decide.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) id: ShardId,
    /// In canonical order of brokers.
    pub(super) candidates: Vec<Candidate>,
    /// Most followers.
    pub(super) followers_max: i128,
}

impl Choice {
    /// How much the costs of its decisions may differ: one of them leads, or none, and so many follow.
    fn reach(&self, costs: &[i128]) -> i128 {
        let span = |columns: &mut dyn Iterator<Item = Column>| {
            let (least, most) = columns.fold((0, 0), |(least, most), column| {
                let cost = costs[column.index()];
                (cost.min(least), cost.max(most))
            });
            most - least
        };
        let leads = span(&mut self.candidates.iter().map(|c| c.lead));
        let follows = span(&mut self.candidates.iter().filter_map(|c| c.follow));
        leads + self.followers_max * follows
    }
}

/// A problem as a programme, and the way back.
pub(super) struct Model {
    pub(super) program: Arc<Program>,
    /// By rank, how much two placements may differ at most.
    pub(super) reaches: [i128; RANKS],
    choices: Vec<Choice>,
    /// Only leaders are decided; every replica stays.
    is_leadership: bool,
}

impl Model {
    /// The programme of the shards of `free`, the others being as in `start`. Pinned shards among them stay as they are.
    ///
    /// # Errors
    /// The budget's reason to stop.
    pub(super) fn new(
        problem: &Problem,
        start: &[Assignment],
        free: &[ShardId],
        budget: &mut Budget<'_>,
    ) -> Result<Self, Stop> {
        let mut program = Program::default();
        let mut choices = Vec::with_capacity(free.len());
        let mut is_free = vec![false; problem.shards.len()];
        for &id in free {
            budget.spend(problem.brokers.len() as u64)?;
            if problem.shard(id).is_pinned || is_free[id.index()] {
                continue;
            }
            is_free[id.index()] = true;
            choices.push(shard::choice(problem, id, &mut program));
        }
        choices.sort_by_key(|choice| choice.id);
        for choice in &choices {
            budget.spend(choice.candidates.len() as u64)?;
            shard::add_rules(problem, choice, &mut program);
        }
        let fixed = Fixed::new(problem, start, &is_free, budget)?;
        counts::add(problem, &choices, &fixed, &mut program);
        if problem.has_loads() {
            loads::add(problem, &choices, &fixed, &mut program);
        }
        add_moves(problem, &choices, &fixed, &mut program);
        Ok(Model {
            reaches: reaches(&program, &choices),
            program: Arc::new(program),
            choices,
            is_leadership: problem.policy.roles == Roles::LeadershipOnly,
        })
    }

    /// The decisions that make the free shards what they are in a placement; `None` where no decisions do.
    pub(super) fn decisions(
        &self,
        problem: &Problem,
        placement: &[Assignment],
    ) -> Option<Vec<i64>> {
        let mut values = vec![0; self.program.decisions()];
        for choice in &self.choices {
            let assignment = &placement[choice.id.index()];
            let at = |b: BrokerId| {
                let found = (choice.candidates).binary_search_by_key(&b, |c| c.broker);
                found.ok().map(|at| choice.candidates[at])
            };
            if let Some(leader) = assignment.leader {
                values[at(leader)?.lead.index()] = 1;
            }
            if self.is_leadership {
                continue;
            }
            let live = |b: &&BrokerId| problem.is_live(**b);
            for &follower in assignment.followers.iter().filter(live) {
                values[at(follower)?.follow?.index()] = 1;
            }
        }
        Some(values)
    }

    /// Puts what the values decide into a placement.
    pub(super) fn apply(&self, problem: &Problem, values: &[i64], placement: &mut [Assignment]) {
        let is_set = |column: Column| values[column.index()] == 1;
        for choice in &self.choices {
            let candidates = || choice.candidates.iter();
            let leader = candidates().find(|c| is_set(c.lead)).map(|c| c.broker);
            let shard = problem.shard(choice.id);
            let assignment = if self.is_leadership {
                let mut followers: Vec<BrokerId> = shard.present.replicas().collect();
                followers.retain(|&b| Some(b) != leader);
                followers.sort_unstable();
                Assignment { leader, followers }
            } else {
                let live = candidates().filter(|c| c.follow.is_some_and(is_set));
                let live = live.map(|c| c.broker).collect();
                current::with_lost(problem, choice.id, leader, live)
            };
            placement[choice.id.index()] = assignment;
        }
    }
}

/// By rank, how much two placements may differ at most: what decisions differ by, shard by shard, and what fills do.
fn reaches(program: &Program, choices: &[Choice]) -> [i128; RANKS] {
    Rank::ALL.map(|rank| {
        let mut costs = vec![0; program.widths().len()];
        for &(column, cost) in program.goal(rank) {
            costs[column.index()] += i128::from(cost);
        }
        let own = choices.iter().map(|choice| choice.reach(&costs));
        let fills = program
            .fills()
            .iter()
            .map(|fill| fill.reach(&costs, program.widths()));
        own.sum::<i128>() + fills.sum::<i128>()
    })
}

/// What shards that are not free hold.
struct Fixed<'a> {
    start: &'a [Assignment],
    is_free: &'a [bool],
    counts: Counts,
    loads: Loads,
    /// Changes they make to settled shards.
    moves: i64,
}

impl<'a> Fixed<'a> {
    fn new(
        problem: &Problem,
        start: &'a [Assignment],
        is_free: &'a [bool],
        budget: &mut Budget<'_>,
    ) -> Result<Self, Stop> {
        let mut fixed = Fixed {
            start,
            is_free,
            counts: Counts::zero(problem.brokers.len(), problem.zones.len()),
            loads: Loads::zero(problem.brokers.len()),
            moves: 0,
        };
        for (at, assignment) in start.iter().enumerate().filter(|(at, _)| !is_free[*at]) {
            budget.spend(1)?;
            let shard = &problem.shards[at];
            fixed.counts.add(&problem.brokers, assignment, 1);
            (fixed.loads).add(&problem.brokers, shard, assignment, 1);
            if problem.policy.max_moves.is_some() && problem.is_settled(shard) {
                fixed.moves += problem.changes(shard, assignment);
            }
        }
        Ok(fixed)
    }
}

/// `max_moves`: the copies and promotions made to settled shards.
fn add_moves(problem: &Problem, choices: &[Choice], fixed: &Fixed<'_>, program: &mut Program) {
    let Some(most) = problem.policy.max_moves else {
        return;
    };
    let mut terms = Terms::new();
    for choice in choices {
        let shard = problem.shard(choice.id);
        if !problem.is_settled(shard) {
            continue;
        }
        for candidate in &choice.candidates {
            if !shard.present.holds(candidate.broker) {
                terms.extend(candidate.holds().map(|column| (column, 1)));
            } else if shard.present.leader != Some(candidate.broker) {
                terms.push((candidate.lead, 1));
            }
        }
    }
    program.add_row(Row::at_most(terms, i64::from(most) - fixed.moves));
}
