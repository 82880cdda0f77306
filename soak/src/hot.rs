//! Streams with one hot shard under a balance of rates: within the tolerance wherever the ranks above leave that open, and
//! said so where one shard alone is more than any broker should lead.

use std::fmt;

use shardflow_solver::cost::Rank;
use shardflow_solver::input::{
    BalanceInput, BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput,
};
use shardflow_solver::snapshot::{Dimension, Problem};
use shardflow_solver::strategy::{Answer, Planner};

use crate::cases::Case;
use crate::rng::Rng;
use crate::run;
use crate::sets::facts::balance_cap;
use crate::sets::joint;
use crate::sets::promises::{check_legal, solve};

/// How long HiGHS may take for one rank.
const REFERENCE_SECONDS: f64 = 60.0;

/// The hot shard's id.
const HOT: &str = "hot";

/// What a run showed.
#[derive(Default)]
pub struct Measured {
    /// The optimum keeps the balance, and so does the answer.
    level: usize,
    /// The optimum is above the balance by as much as the answer.
    above: usize,
    /// Of those, where the hot shard alone is more than any broker should lead, and the report names it.
    named: usize,
    /// Seeds of answers that are above the balance by more.
    worse: Vec<u64>,
    undecided: usize,
}

/// Solves as many clusters.
///
/// # Errors
/// A plan that is not legal, or a hot shard that no warning names.
pub fn measure(seed: u64, count: u64, mut progress: impl FnMut(u64)) -> Result<Measured, String> {
    let mut measured = Measured::default();
    for place in 0..count {
        let seed = run::case_seed(seed, place);
        measured
            .add(seed)
            .map_err(|fault| format!("seed {seed}: {fault}"))?;
        progress(place + 1);
    }
    Ok(measured)
}

/// Level but for one hot shard, as large as a fifth to twice of what a broker should lead.
fn case(seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    let brokers = rng.between(3, 5);
    let factor = rng.between(1, 2);
    let shards = rng.between(2 * brokers, 4 * brokers);
    let mut listed: Vec<ShardInput> = (0..shards)
        .map(|k| {
            let mut ids = (k..k + factor).map(|b| format!("b{}", b % brokers));
            ShardInput {
                id: format!("p{k:02}"),
                stream: "s".to_owned(),
                number: Some(k as u32),
                leader: ids.next().unwrap_or_default(),
                followers: ids.collect(),
                rate: rng.between(5, 15) as i64,
                ..ShardInput::default()
            }
        })
        .collect();
    let level = 10 * shards / brokers;
    let hot = rng.below(shards);
    listed[hot].id = HOT.to_owned();
    listed[hot].rate = rng.between(level / 5, 2 * level) as i64;
    let broker = |b: usize| BrokerInput {
        id: format!("b{b}"),
        zone: format!("z{}", b % 3),
        ..BrokerInput::default()
    };
    let snapshot = SnapshotInput {
        cluster_id: "hot".to_owned(),
        brokers: (0..brokers).map(broker).collect(),
        streams: vec![StreamInput {
            id: "s".to_owned(),
            replication_factor: factor as u32,
            ..StreamInput::default()
        }],
        shards: listed,
        ..SnapshotInput::default()
    };
    let mut policy = PolicyInput {
        balance: Some(BalanceInput {
            dimension: Dimension::Rate,
            tolerance_percent: *rng.pick(&[5, 10, 20]),
        }),
        ..PolicyInput::default()
    };
    // Level counts and level rates are seldom had together.
    policy.stream_leaders.is_off = rng.chance(50);
    policy.cluster_leaders.is_off = policy.stream_leaders.is_off;
    Case { snapshot, policy }
}

impl Measured {
    fn add(&mut self, seed: u64) -> Result<(), String> {
        let problem = case(seed).problem();
        let answer = solve(&problem, Planner::Auto)?;
        check_legal(&problem, &answer)?;
        self.named += usize::from(check_named(&problem, &answer)?);
        let Some(optimum) = joint::optimum(&problem, REFERENCE_SECONDS)? else {
            self.undecided += 1;
            return Ok(());
        };
        let upto = Rank::BalanceExcess as usize;
        match answer.plan.after.0.0[..=upto].cmp(&optimum.cost.0[..=upto]) {
            std::cmp::Ordering::Less => return Err(format!("beats {:?}", optimum.cost)),
            std::cmp::Ordering::Equal if optimum.cost[Rank::BalanceExcess] == 0 => self.level += 1,
            std::cmp::Ordering::Equal => self.above += 1,
            std::cmp::Ordering::Greater => self.worse.push(seed),
        }
        Ok(())
    }

    /// Whether every answer is as level as it can be.
    pub fn is_good(&self) -> bool {
        self.worse.is_empty()
    }
}

/// Whether the hot shard alone is more than any broker should lead; a warning names it then.
fn check_named(problem: &Problem, answer: &Answer) -> Result<bool, String> {
    let Some(hot) = problem.shards.iter().find(|shard| shard.id == HOT) else {
        return Err("no hot shard".to_owned());
    };
    let caps = (0..problem.brokers.len()).filter_map(|b| balance_cap(problem, b));
    let is_oversized = caps.max().is_some_and(|most| hot.rate > most);
    let warnings = &answer.report.warnings;
    if is_oversized && !warnings.iter().any(|text| text.contains(HOT)) {
        let rate = hot.rate;
        return Err(format!(
            "nothing says that {HOT} with rate {rate} is too large: {warnings:?}"
        ));
    }
    Ok(is_oversized)
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for seed in &self.worse {
            writeln!(f, "less level than it can be: seed {seed}")?;
        }
        write!(
            f,
            "{} within the tolerance, {} as near as can be, {} not, {} undecided; in {} the hot shard alone is too large, \
             and the report names it",
            self.level,
            self.above,
            self.worse.len(),
            self.undecided,
            self.named
        )
    }
}
