//! Whether HiGHS finds room for every replica: bytes and distinct brokers alone.

use shardflow_solver::snapshot::{BrokerId, Dimension, Problem};

use crate::sets::facts::{gcd, load_cap, load_now};
use crate::sets::program::{Failure, Program, Terms};

/// Whether it does in `seconds`.
///
/// # Errors
/// HiGHS says something else.
pub(super) fn is_found(problem: &Problem, seconds: f64) -> Result<bool, String> {
    let brokers = problem.brokers.len();
    let room = |b: usize| {
        let cap = load_cap(problem, Dimension::Bytes, b)?;
        Some(cap.max(load_now(problem, Dimension::Bytes, b)))
    };
    let rooms: Vec<Option<i64>> = (0..brokers).map(room).collect();
    let sizes = problem.shards.iter().map(|shard| shard.size_bytes);
    let unit = sizes
        .chain(rooms.iter().flatten().copied())
        .fold(0, gcd)
        .max(1);
    let mut program = Program::default();
    let mut held = vec![Terms::new(); brokers];
    for shard in &problem.shards {
        let holds = |b: &BrokerId| {
            problem.may_enter(shard.stream, *b) || (problem.is_live(*b) && shard.present.holds(*b))
        };
        let picks: Terms = (problem.broker_ids().filter(holds))
            .map(|b| {
                let pick = program.choice();
                held[b.index()].push((pick, shard.size_bytes / unit));
                (pick, 1)
            })
            .collect();
        program.equal(picks, i64::from(problem.replication_factor(shard.stream)));
    }
    for (terms, room) in held.into_iter().zip(rooms) {
        if let Some(room) = room {
            program.at_most(terms, room / unit);
        }
    }
    match program.minimise(&[], seconds) {
        Ok(_) => Ok(true),
        Err(Failure::Time | Failure::NoPoint) => Ok(false),
        Err(Failure::Highs(text)) => Err(text),
    }
}
