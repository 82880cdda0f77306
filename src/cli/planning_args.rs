//! Arguments that override a request's options and policy.

use clap::{Args, ValueEnum};

use crate::pb;
use crate::presets::Preset;

/// Who plans.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum PlannerName {
    /// The exact engine that fits, with the greedy tiers as fallback
    Auto,
    /// Min-cost flow
    NetworkSimplex,
    /// Mixed-integer program
    Mip,
    /// Felix tiers
    GreedyTiers,
    /// Weight function
    WeightFunction,
    /// Swaps after KIP-925
    Swap,
}

impl From<PlannerName> for pb::Planner {
    fn from(name: PlannerName) -> Self {
        match name {
            PlannerName::Auto => pb::Planner::Auto,
            PlannerName::NetworkSimplex => pb::Planner::NetworkSimplex,
            PlannerName::Mip => pb::Planner::Mip,
            PlannerName::GreedyTiers => pb::Planner::GreedyTiers,
            PlannerName::WeightFunction => pb::Planner::WeightFunction,
            PlannerName::Swap => pb::Planner::Swap,
        }
    }
}

/// Policies with names.
#[derive(Args, Clone, Debug)]
pub(super) struct Presets {
    /// A named policy, in place of the fields that it is about; may be given more than once
    #[arg(long = "preset", value_enum, value_name = "NAME")]
    presets: Vec<Preset>,
}

impl Presets {
    /// Overrides what the policy says, one after the other.
    pub(super) fn apply(&self, policy: &mut Option<pb::Policy>) {
        for preset in &self.presets {
            preset.apply(policy.get_or_insert_default());
        }
    }
}

/// Budgets of a solve.
#[derive(Args, Clone, Debug)]
pub(super) struct Budgets {
    /// Most time for solving, such as 200ms, 2s or 1m
    #[arg(long, value_name = "TIME", value_parser = time)]
    time_budget: Option<prost_types::Duration>,
    /// Most solver work; the answer is the same on every machine
    #[arg(long, value_name = "N")]
    work_limit: Option<u64>,
}

impl Budgets {
    #[cfg(test)]
    pub(super) fn of_work(work_limit: u64) -> Self {
        Budgets {
            time_budget: None,
            work_limit: Some(work_limit),
        }
    }

    /// Overrides what the options say.
    pub(super) fn apply(&self, options: &mut pb::Options) {
        if self.time_budget.is_some() {
            options.time_budget = self.time_budget;
        }
        if self.work_limit.is_some() {
            options.work_limit = self.work_limit;
        }
    }
}

/// A number with its unit. Above 0: a budget of nothing would be no budget to the eye and an error to the solver.
pub(super) fn time(text: &str) -> Result<prost_types::Duration, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(digits.len());
    let milliseconds_of_unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return Err("a number with ms, s or m, such as 200ms".to_owned()),
    };
    let number: i64 = number
        .parse()
        .map_err(|_| "a whole number with ms, s or m, such as 200ms".to_owned())?;
    let milliseconds = number
        .checked_mul(milliseconds_of_unit)
        .ok_or("longer than can be counted")?;
    if milliseconds <= 0 {
        return Err("must be above 0".to_owned());
    }
    Ok(prost_types::Duration {
        seconds: milliseconds / 1_000,
        nanos: (milliseconds % 1_000) as i32 * 1_000_000,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_and_are_above_zero() {
        let of = |seconds, nanos| Ok(prost_types::Duration { seconds, nanos });
        assert_eq!(time("200ms"), of(0, 200_000_000));
        assert_eq!(time("1500ms"), of(1, 500_000_000));
        assert_eq!(time("2s"), of(2, 0));
        assert_eq!(time("3m"), of(180, 0));
        for wrong in [
            "",
            "5",
            "ms",
            "0s",
            "-1s",
            "1.5s",
            "1h",
            "9223372036854775807s",
            "1 s",
        ] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
