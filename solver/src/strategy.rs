//! The door: picks an engine, keeps the budget, labels the outcome.

use crate::budget::Stop;
use crate::certificate::Certificate;
use crate::cost::Rank;
use crate::plan::Plan;

/// Who plans.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Planner {
    /// The exact engine that fits, with the greedy tiers as fallback.
    #[default]
    Auto,
    /// Min-cost flow.
    NetworkSimplex,
    /// Mixed-integer program.
    Mip,
    /// Felix tiers.
    GreedyTiers,
    /// Weight function.
    WeightFunction,
    /// Swaps.
    Swap,
}

/// How to plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SolveOptions {
    /// Who plans.
    pub planner: Planner,
    /// Most solver work.
    pub work_limit: Option<u64>,
}

/// Whose plan the answer holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Engine {
    /// Min-cost flow.
    NetworkSimplex,
    /// Felix tiers.
    GreedyTiers,
    /// The present layout.
    Current,
    /// A plan made elsewhere.
    External,
}

/// How good the plan is known to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// Proven best in every rank.
    Optimal,
    /// Legal, with bounds.
    Feasible,
}

/// Why the answer is not the engine's proven optimum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// A budget was hit.
    Budget(Stop),
    /// The verifier refused the engine's answer.
    Verifier,
}

/// Value of a rank in the plan, and what is known of how low it can go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankBound {
    /// The rank.
    pub rank: Rank,
    /// Value in the plan.
    pub value: i64,
    /// No plan as good in the ranks before has less; checked by the verifier.
    pub bound: Option<i64>,
}

/// How the plan came about.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Whose plan it is.
    pub engine: Engine,
    /// How good it is known to be.
    pub outcome: Outcome,
    /// Why it is not the proven optimum, where an exact engine was asked for.
    pub fallback: Option<Fallback>,
    /// All ranks, the most important first.
    pub ranks: Vec<RankBound>,
    /// (value − bound) / max(|value|, 1) of the first rank that is not proven.
    pub gap: Option<f64>,
    /// Work spent.
    pub work: u64,
    /// False where a clock or a cancellation decided.
    pub is_reproducible: bool,
    /// The prices that prove the bounds.
    pub certificate: Option<Certificate>,
    /// Things to know that are not errors.
    pub warnings: Vec<String>,
}

/// A plan and how it came about.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The plan.
    pub plan: Plan,
    /// The report.
    pub report: Report,
}
