//! The layout while moves are replayed.

use crate::budget::{Pace, Stop};
use crate::plan::{Move, MoveKind};
use crate::snapshot::{Assignment, BrokerId, Problem, Role, ShardId};
use crate::verify::placement::{has_replicas, live_leader, live_replicas, takes};
use crate::verify::{Fault, Rule};

/// How far the moves of a shard have come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Untouched,
    /// A promotion has ended a failover; the rest may follow in another step.
    FailedOver,
    /// A replica is at a broker that only lends room, from where it has to go on.
    Away(BrokerId),
    Done,
}

/// The layout after some of the moves.
pub(super) struct State {
    layout: Vec<Assignment>,
    progress: Vec<Progress>,
}

impl State {
    /// The present layout.
    pub(super) fn new(problem: &Problem, pace: &mut Pace<'_>) -> Result<Self, Stop> {
        let mut layout = Vec::with_capacity(problem.shards.len());
        for shard in &problem.shards {
            pace.step(1)?;
            layout.push(shard.present.clone());
        }
        Ok(State {
            progress: vec![Progress::Untouched; layout.len()],
            layout,
        })
    }

    /// Where the replicas of a shard are.
    pub(super) fn of(&self, shard: ShardId) -> &Assignment {
        &self.layout[shard.index()]
    }

    /// Applies the moves of one shard in one step, which are well formed. A move that is illegal is a fault and has
    /// no effect.
    pub(super) fn apply(&mut self, problem: &Problem, item: &[&Move], faults: &mut Vec<Fault>) {
        let id = item[0].shard;
        let is_failover = live_leader(problem, self.of(id)).is_none()
            && item.len() == 1
            && item[0].kind == MoveKind::Promotion;
        let progress = &mut self.progress[id.index()];
        let detour = item.iter().find(|m| m.detour);
        *progress = match (*progress, detour) {
            (Progress::Untouched, None) if is_failover => Progress::FailedOver,
            (Progress::Untouched | Progress::FailedOver, None) => Progress::Done,
            (Progress::Untouched | Progress::FailedOver, Some(m)) => {
                m.to.map_or(Progress::Done, Progress::Away)
            }
            (Progress::Away(lender), Some(m)) if m.from == Some(lender) => Progress::Done,
            (Progress::Done | Progress::Away(_), _) => {
                let what = format!("its moves go on in step {}", item[0].step);
                faults.push(Fault::of_shard(problem, Rule::MoveSplit, id, what));
                Progress::Done
            }
        };
        let mut change = Change {
            problem,
            id,
            layout: &mut self.layout[id.index()],
            faults,
        };
        change.promote(item);
        change.rearrange(item);
    }

    /// Finds shards that do not end where the placement has them.
    pub(super) fn check_end(
        &self,
        problem: &Problem,
        plan: &[Assignment],
        faults: &mut Vec<Fault>,
        pace: &mut Pace<'_>,
    ) -> Result<(), Stop> {
        for (at, (end, wanted)) in self.layout.iter().zip(plan).enumerate() {
            pace.step(1)?;
            if let Progress::Away(lender) = self.progress[at] {
                let name = &problem.brokers[lender.index()].id;
                let what = format!("its detour does not lead on from broker `{name}`");
                let fault = Fault::of_shard(problem, Rule::MoveSplit, ShardId::at(at), what);
                faults.push(fault.at_broker(lender));
            }
            let is_known = |b: &BrokerId| b.index() < problem.brokers.len();
            let all_known = wanted.leader.iter().chain(&wanted.followers).all(is_known);
            if !all_known || !is_end(problem, end, wanted) {
                let what = "its moves do not lead to its place in the plan".to_owned();
                faults.push(Fault::of_shard(
                    problem,
                    Rule::MoveEnd,
                    ShardId::at(at),
                    what,
                ));
            }
        }
        Ok(())
    }
}

/// Live replicas are as wanted, and lost ones are listed only where they were.
fn is_end(problem: &Problem, end: &Assignment, wanted: &Assignment) -> bool {
    if end == wanted {
        return true;
    }
    let sorted = |assignment: &Assignment| {
        let mut live = live_replicas(problem, assignment);
        live.sort_unstable();
        live
    };
    let is_lost = |b: &&BrokerId| !has_replicas(&problem.brokers[b.index()]);
    live_leader(problem, end) == live_leader(problem, wanted)
        && sorted(end) == sorted(wanted)
        && wanted
            .leader
            .iter()
            .chain(&wanted.followers)
            .filter(is_lost)
            .all(|&b| holds(end, b))
}

fn holds(assignment: &Assignment, broker: BrokerId) -> bool {
    assignment.leader == Some(broker) || assignment.followers.contains(&broker)
}

/// The moves of one shard in one step, as they take effect.
struct Change<'a> {
    problem: &'a Problem,
    id: ShardId,
    layout: &'a mut Assignment,
    faults: &'a mut Vec<Fault>,
}

impl Change<'_> {
    fn find(&mut self, rule: Rule, broker: BrokerId, step: &Move, what: &str) {
        let name = &self.problem.brokers[broker.index()].id;
        let what = format!("in step {}, broker `{name}` {what}", step.step);
        let fault = Fault::of_shard(self.problem, rule, self.id, what);
        self.faults.push(fault.at_broker(broker));
    }
    fn is_live(&self, broker: BrokerId) -> bool {
        has_replicas(&self.problem.brokers[broker.index()])
    }
    /// Makes `leader` lead; the leader before becomes a follower.
    fn set_leader(&mut self, leader: BrokerId) {
        self.layout.followers.retain(|&b| b != leader);
        self.layout
            .followers
            .extend(self.layout.leader.replace(leader));
    }

    fn promote(&mut self, item: &[&Move]) {
        let promotions = item.iter().filter(|m| m.kind == MoveKind::Promotion);
        for (nth, step) in promotions.enumerate() {
            let Some(to) = step.to else { continue };
            if nth > 0 || step.role != Role::Leader {
                self.find(
                    Rule::MoveTarget,
                    to,
                    step,
                    "is not the one that takes the lead",
                );
            } else if step.from != self.layout.leader
                && (step.from.is_some() || live_leader(self.problem, self.layout).is_some())
            {
                let from = step.from.unwrap_or(to);
                self.find(
                    Rule::MoveSource,
                    from,
                    step,
                    "does not lead, or another broker does",
                );
            } else if !self.layout.followers.contains(&to) || !self.is_live(to) {
                self.find(
                    Rule::MoveTarget,
                    to,
                    step,
                    "holds no live follower to promote",
                );
            } else {
                self.set_leader(to);
            }
        }
    }

    fn rearrange(&mut self, item: &[&Move]) {
        let stream = self.problem.shards[self.id.index()].stream;
        let stream = &self.problem.streams[stream.index()];
        let before = self.layout.clone();
        let (mut left, mut arrived): (Vec<BrokerId>, Vec<&Move>) = (Vec::new(), Vec::new());
        for &step in item.iter().filter(|m| m.kind != MoveKind::Promotion) {
            let is_there =
                |from| holds(&before, from) && self.is_live(from) && !left.contains(&from);
            if let Some(from) = step.from.filter(|&from| !is_there(from)) {
                self.find(
                    Rule::MoveSource,
                    from,
                    step,
                    "has no live replica to give up",
                );
                continue;
            }
            if let Some(to) = step.to {
                let is_taken = holds(&before, to) || arrived.iter().any(|m| m.to == Some(to));
                if is_taken || !takes(self.problem, stream, to) {
                    self.find(Rule::MoveTarget, to, step, "may not take a new replica");
                    continue;
                }
                arrived.push(step);
            }
            left.extend(step.from);
        }
        self.layout.leader = before.leader.filter(|b| !left.contains(b));
        self.layout.followers.retain(|b| !left.contains(b));
        for step in arrived {
            match (step.to, step.role) {
                (Some(to), Role::Leader) => self.set_leader(to),
                (Some(to), Role::Follower) => self.layout.followers.push(to),
                (None, _) => {}
            }
        }
    }
}
