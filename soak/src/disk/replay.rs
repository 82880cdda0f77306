//! Disks step by step, both ends of a copy full while it runs; a few lines that share nothing with the verifier.

use shardflow_solver::plan::{Move, MoveKind, Plan};
use shardflow_solver::snapshot::{BrokerId, Problem};

/// Bytes of the snapshot's shards on each broker.
fn present(problem: &Problem) -> Vec<i64> {
    let mut held = vec![0; problem.brokers.len()];
    for shard in &problem.shards {
        for b in shard.present.replicas() {
            held[b.index()] += shard.size_bytes;
        }
    }
    held
}

/// Whether a disk overflows in a step, each step's copies running at once, or in the end.
///
/// # Errors
/// The first that does.
pub(super) fn check(problem: &Problem, plan: &Plan) -> Result<(), String> {
    let mut held = present(problem);
    let most: Vec<Option<i64>> = (problem.brokers.iter().zip(&held))
        .map(|(broker, &now)| {
            let percent = i64::from(problem.policy.disk_watermark_percent);
            let filled = broker.disk_bytes? * percent / 100 - broker.disk_used_bytes;
            Some(filled.max(now))
        })
        .collect();
    let fits = |b: BrokerId, held: i64, when: &str| match most[b.index()] {
        Some(most) if held > most => {
            let id = &problem.brokers[b.index()].id;
            Err(format!("broker {id} holds {held} bytes of {most} {when}"))
        }
        _ => Ok(()),
    };
    for step in plan.moves.chunk_by(|a, b| a.step == b.step) {
        let size = |one: &Move| problem.shards[one.shard.index()].size_bytes;
        let copies = |one: &&Move| one.kind != MoveKind::Promotion;
        let made = step
            .iter()
            .filter(|one| one.blocked.is_none())
            .filter(copies);
        for one in made.clone() {
            let Some(to) = one.to else { continue };
            held[to.index()] += size(one);
            fits(to, held[to.index()], &format!("in step {}", one.step))?;
        }
        for one in made {
            if let Some(from) = one.from {
                held[from.index()] -= size(one);
            }
        }
    }
    let mut end = vec![0; problem.brokers.len()];
    for (shard, assignment) in problem.shards.iter().zip(&plan.placement) {
        for b in assignment.replicas() {
            end[b.index()] += shard.size_bytes;
        }
    }
    let mut brokers = problem.broker_ids();
    brokers.try_for_each(|b| fits(b, end[b.index()], "in the end"))
}
