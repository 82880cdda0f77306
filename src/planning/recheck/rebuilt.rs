//! A plan against the one that this version makes of the same placement.

use std::collections::BTreeSet;

use shardflow_solver::plan::Plan;
use shardflow_solver::snapshot::ShardId;

use super::Recheck;
use crate::pb;
use crate::wire::answer;
use crate::wire::reasons::Told;

impl Recheck<'_> {
    /// Compares the moves: which comes when, then what is said of each.
    pub(super) fn compare_moves(&mut self, says: &[pb::Move], rebuilt: &Plan) {
        let moves = rebuilt.moves.iter();
        let makes: Vec<pb::Move> = moves.map(|m| answer::one_move(self.problem, m)).collect();
        let is_same = |(one, other): (&pb::Move, &pb::Move)| acts(one) == acts(other);
        let alike = says
            .iter()
            .zip(&makes)
            .take_while(|pair| is_same(*pair))
            .count();
        if alike < says.len().max(makes.len()) {
            self.add(format!(
                "plan.moves[{alike}]: is not what this version makes of the placement"
            ));
            return;
        }
        for (position, (says, makes)) in says.iter().zip(&makes).enumerate() {
            for ((field, says), (_, makes)) in remarks(says).into_iter().zip(remarks(makes)) {
                if says != makes {
                    let path = format!("plan.moves[{position}].{field}");
                    self.add(format!("{path}: {says:?}: is {makes:?}"));
                }
            }
        }
    }

    /// Compares what is said of the shards that lack replicas.
    pub(super) fn compare_shortfalls(&mut self, says: &[pb::Assignment], told: &Told) {
        let mut short: BTreeSet<ShardId> = told.lacking().collect();
        for (position, says) in says.iter().enumerate() {
            let Some(id) = self.names.shard(&says.shard) else {
                continue;
            };
            short.remove(&id);
            let (reason, detail) = told.lack(id);
            let path = format!("plan.assignments[{position}]");
            let (claimed, shard) = (says.unplaced_reason(), &says.shard);
            // Whether there is a reason at all was checked by the contract.
            let is_none = |reason| reason == pb::UnplacedReason::None;
            if claimed != reason && is_none(claimed) == is_none(reason) {
                let (says, is) = (claimed.as_str_name(), reason.as_str_name());
                self.add(format!("{path}.unplaced_reason: {shard}: {says}: is {is}"));
            }
            if says.unplaced_detail != detail {
                let says = &says.unplaced_detail;
                self.add(format!(
                    "{path}.unplaced_detail: {shard}: {says:?}: is {detail:?}"
                ));
            }
        }
        if let Some(&id) = short.first() {
            let shard = &self.problem.shard(id).id;
            self.add(format!(
                "plan.assignments: {shard}: lacks replicas and is not listed"
            ));
        }
    }
}

/// What a move does, and when.
fn acts(step: &pb::Move) -> (u32, &str, i32, &str, &str, i32) {
    let (shard, from, to) = (&step.shard, &step.from, &step.to);
    (step.step, shard, step.role, from, to, step.kind)
}

/// What is said of a move besides.
fn remarks(step: &pb::Move) -> [(&'static str, String); 4] {
    [
        ("reason", step.reason().as_str_name().to_owned()),
        ("detour", step.detour.to_string()),
        ("blocked", step.blocked.clone()),
        ("bytes", step.bytes.to_string()),
    ]
}
