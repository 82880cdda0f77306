//! Local search: takes a placement to one that no small change improves, under every rule.
//!
//! *Single changes*: shard by shard the best of [`Options`] is taken while it improves the objective.
//! *Exchanges*, for loads: a broker with too many bytes or too much rate gives a replica to another broker and takes a
//! smaller one from there; and a shard that found no room is placed where one other replica can make room.
//!
//! The value falls strictly with each change, so the search ends. It depends on the placement alone.

use crate::budget::{Budget, Stop};
use crate::snapshot::{Assignment, BrokerId, Dimension, Problem, Role, ShardId};

use super::options::{Entrants, Options};
use super::state::{State, Value};

/// Work of pricing one change.
const PRICE: u64 = 64;

/// Work of pricing one arrival.
const ARRIVAL: u64 = 16;

/// Partners by size that an exchange looks at, besides those of the same stream.
const NEAREST: usize = 4;

/// Improves a legal placement; the result is legal and never worse. A stop ends the search where it is.
pub(super) fn polish(
    problem: &Problem,
    placement: Vec<Assignment>,
    budget: &mut Budget<'_>,
) -> (Vec<Assignment>, Option<Stop>) {
    let state = match State::new(problem, &placement, &mut budget.pace()) {
        Ok(state) => state,
        Err(stop) => return (placement, Some(stop)),
    };
    let mut polish = Polish { state, budget };
    let stop = polish.run().err();
    (polish.state.placement, stop)
}

struct Polish<'p, 'b, 'i> {
    state: State<'p>,
    budget: &'b mut Budget<'i>,
}

impl<'p> Polish<'p, '_, '_> {
    fn run(&mut self) -> Result<(), Stop> {
        loop {
            while self.single_changes()? {}
            if !self.make_room()? && !self.exchanges()? {
                return Ok(());
            }
        }
    }

    fn problem(&self) -> &'p Problem {
        self.state.problem
    }

    /// Gives every shard the best replicas that differ in one place. False if none changes.
    fn single_changes(&mut self) -> Result<bool, Stop> {
        let problem = self.problem();
        let mut is_changed = false;
        for id in problem.shard_ids() {
            let Some(options) = Options::of(problem, id, &self.state.placement[id.index()]) else {
                continue;
            };
            let entrants = self.entrants(id, &options)?;
            let mut best: Option<(Value, Assignment)> = None;
            let mut priced = 0;
            options.each(&entrants, |assignment| {
                priced += 1;
                let value = self.state.price(id, &assignment);
                if value < best.as_ref().map_or(Value::ZERO, |best| best.0) {
                    best = Some((value, assignment));
                }
            });
            self.budget.spend(PRICE * priced)?;
            if let Some((_, assignment)) = best {
                self.state.set(id, assignment);
                is_changed = true;
            }
        }
        Ok(is_changed)
    }

    /// Where a replica of the shard may go to advantage: in each zone the cheapest newcomer for each role stands for the
    /// others, which cost the shard and the zone the same.
    fn entrants(&mut self, id: ShardId, options: &Options<'_>) -> Result<Entrants, Stop> {
        let (returning, newcomers) = options.entrants();
        self.budget.spend(ARRIVAL * newcomers.len() as u64)?;
        let cheapest = |role: Role| {
            let mut best: Vec<Option<(Value, BrokerId)>> = vec![None; self.problem().zones.len()];
            for &(z, b) in &newcomers {
                let found = (self.state.arrival(id, b, role), b);
                let best = &mut best[z.index()];
                if best.is_none_or(|best| found < best) {
                    *best = Some(found);
                }
            }
            let best = best.into_iter().flatten().map(|best| best.1);
            returning.iter().copied().chain(best).collect()
        };
        Ok(Entrants {
            leaders: cheapest(Role::Leader),
            followers: cheapest(Role::Follower),
        })
    }

    /// Replicas on each broker, with their role.
    fn residents(&self) -> Vec<Vec<(ShardId, bool)>> {
        let problem = self.problem();
        let mut residents = vec![Vec::new(); problem.brokers.len()];
        for id in problem
            .shard_ids()
            .filter(|&id| !problem.shard(id).is_pinned)
        {
            let now = &self.state.placement[id.index()];
            for b in problem.live(now) {
                residents[b.index()].push((id, now.leader == Some(b)));
            }
        }
        residents
    }

    /// Places replicas that are missing where another replica can leave for them. False if none is.
    fn make_room(&mut self) -> Result<bool, Stop> {
        let problem = self.problem();
        if problem.brokers.iter().all(|b| b.disk_bytes.is_none()) {
            return Ok(false);
        }
        let mut is_changed = false;
        let mut missing: Vec<ShardId> = (problem.shard_ids())
            .filter(|&id| !problem.shard(id).is_pinned && self.misses(id))
            .collect();
        missing.sort_by_key(|&id| (std::cmp::Reverse(problem.shard(id).size_bytes), id));
        let mut residents = self.residents();
        for id in missing {
            while self.misses(id) && self.squeeze_in(id, &residents)? {
                is_changed = true;
                residents = self.residents();
            }
        }
        Ok(is_changed)
    }

    /// Whether the shard has fewer live replicas than it should.
    fn misses(&self, id: ShardId) -> bool {
        let problem = self.problem();
        let live = problem.live(&self.state.placement[id.index()]).count();
        live < problem.replication_factor(problem.shard(id).stream) as usize
    }

    /// One more replica of a shard, and another one off that broker for it.
    fn squeeze_in(
        &mut self,
        id: ShardId,
        residents: &[Vec<(ShardId, bool)>],
    ) -> Result<bool, Stop> {
        let problem = self.problem();
        let Some(options) = Options::of(problem, id, &self.state.placement[id.index()]) else {
            return Ok(false);
        };
        let before = self.state.placement[id.index()].clone();
        let replicas = problem.live(&before).count();
        let mut additions = Vec::new();
        let (mut all, newcomers) = options.entrants();
        all.extend(newcomers.into_iter().map(|newcomer| newcomer.1));
        let all = Entrants {
            leaders: all.clone(),
            followers: all,
        };
        options.each(&all, |assignment| {
            if problem.live(&assignment).count() > replicas {
                additions.push(assignment);
            }
        });
        for addition in additions {
            let value = self.state.price(id, &addition);
            let Some(to) = problem.live(&addition).find(|&b| !before.holds(b)) else {
                continue;
            };
            self.state.set(id, addition);
            let over = -self.state.disk_left(to);
            let mut leaving: Vec<ShardId> = (residents[to.index()].iter())
                .map(|&(other, _)| other)
                .filter(|&other| other != id && problem.shard(other).size_bytes >= over)
                .collect();
            leaving.sort_by_key(|&other| (problem.shard(other).size_bytes, other));
            leaving.truncate(2 * NEAREST);
            for other in leaving {
                match self.leaves(other, to, value) {
                    Ok(true) => return Ok(true),
                    Ok(false) => {}
                    Err(stop) => {
                        self.state.set(id, before);
                        return Err(stop);
                    }
                }
            }
            self.state.set(id, before.clone());
        }
        Ok(false)
    }

    /// Moves a replica off a broker if that, with the change of value made so far, is an improvement.
    fn leaves(&mut self, id: ShardId, from: BrokerId, so_far: Value) -> Result<bool, Stop> {
        let problem = self.problem();
        let now = &self.state.placement[id.index()];
        let Some(options) = Options::of(problem, id, now) else {
            return Ok(false);
        };
        let mut best: Option<(Value, Assignment)> = None;
        self.budget.spend(PRICE * problem.brokers.len() as u64)?;
        for to in problem.broker_ids() {
            let Some(assignment) = options.relocated(from, to) else {
                continue;
            };
            let value = so_far.plus(&self.state.price(id, &assignment));
            if value < best.as_ref().map_or(Value::ZERO, |best| best.0) {
                best = Some((value, assignment));
            }
        }
        let Some((_, assignment)) = best else {
            return Ok(false);
        };
        self.state.set(id, assignment);
        Ok(true)
    }

    /// Exchanges replicas between overloaded brokers and others while that improves the placement. False if none does.
    fn exchanges(&mut self) -> Result<bool, Stop> {
        let problem = self.problem();
        let mut is_changed = false;
        for load in [Load::Disk, Load::Rate, Load::Balance] {
            for b in problem.broker_ids().filter(|&b| problem.is_live(b)) {
                while load.excess(&self.state, b).is_some_and(|excess| excess > 0) {
                    if !self.exchange(load, b)? {
                        break;
                    }
                    is_changed = true;
                }
            }
        }
        Ok(is_changed)
    }

    /// The best exchange that relieves a broker.
    fn exchange(&mut self, load: Load, from: BrokerId) -> Result<bool, Stop> {
        let problem = self.problem();
        let residents = self.residents();
        let on = |b: BrokerId| -> Vec<ShardId> {
            let counted = residents[b.index()].iter();
            let counted =
                counted.filter(|entry| entry.1 || load.dimension(problem) == Dimension::Bytes);
            let mut list: Vec<ShardId> = counted.map(|entry| entry.0).collect();
            list.sort_by_key(|&id| (load.of(problem, id), id));
            list
        };
        let others: Vec<(BrokerId, Vec<ShardId>)> = (problem.broker_ids())
            .filter(|&b| b != from && problem.is_active(b))
            .map(|b| (b, on(b)))
            .collect();
        let mut best: Option<(Value, [(ShardId, Assignment); 2])> = None;
        let Some(excess) = load.excess(&self.state, from) else {
            return Ok(false);
        };
        for id in on(from) {
            let size = load.of(problem, id);
            let now = self.state.placement[id.index()].clone();
            let Some(options) = Options::of(problem, id, &now) else {
                continue;
            };
            for (to, partners) in &others {
                let Some(moved) = options.relocated(from, *to) else {
                    continue;
                };
                let first = self.state.price(id, &moved);
                self.state.set(id, moved.clone());
                let near = partners.partition_point(|&p| load.of(problem, p) < size - excess);
                let near =
                    near.saturating_sub(NEAREST / 2)..(near + NEAREST / 2).min(partners.len());
                let stream = problem.shard(id).stream;
                let is_near =
                    |at: usize, p: ShardId| near.contains(&at) || problem.shard(p).stream == stream;
                let partners = partners.iter().enumerate();
                let partners = partners.filter(|&(at, &p)| p != id && is_near(at, p));
                let smaller = partners.filter(|&(_, &p)| load.of(problem, p) < size);
                let mut priced = 1;
                for (_, &partner) in smaller {
                    let theirs = &self.state.placement[partner.index()];
                    let back = Options::of(problem, partner, theirs)
                        .and_then(|options| options.relocated(*to, from));
                    let Some(back) = back else { continue };
                    priced += 1;
                    let value = first.plus(&self.state.price(partner, &back));
                    if value < best.as_ref().map_or(Value::ZERO, |best| best.0) {
                        best = Some((value, [(id, moved.clone()), (partner, back)]));
                    }
                }
                self.state.set(id, now.clone());
                self.budget.spend(PRICE * priced)?;
            }
        }
        let Some((_, changes)) = best else {
            return Ok(false);
        };
        for (id, assignment) in changes {
            self.state.set(id, assignment);
        }
        Ok(true)
    }
}

/// Loads that may be too large on a broker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Load {
    Disk,
    Rate,
    Balance,
}

impl Load {
    /// By how much the broker has more than costs nothing, where that is limited.
    fn excess(self, state: &State<'_>, b: BrokerId) -> Option<i64> {
        match self {
            Load::Disk => state.disk_excess(b),
            Load::Rate => state.rate_excess(b),
            Load::Balance => state.balance_excess(b),
        }
    }

    /// What a replica of the shard counts for.
    fn of(self, problem: &Problem, id: ShardId) -> i64 {
        let shard = problem.shard(id);
        match self.dimension(problem) {
            Dimension::Bytes => shard.size_bytes,
            Dimension::Rate => shard.rate,
        }
    }

    fn dimension(self, problem: &Problem) -> Dimension {
        match self {
            Load::Disk => Dimension::Bytes,
            Load::Rate => Dimension::Rate,
            Load::Balance => problem
                .policy
                .balance
                .map_or(Dimension::Rate, |balance| balance.dimension),
        }
    }
}
