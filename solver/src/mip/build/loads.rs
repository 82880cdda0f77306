//! Bytes and rates of brokers: hard caps, what lies above watermark, capacity and balance.

use crate::cost::Rank;
use crate::snapshot::{BrokerId, Dimension, Limits, Problem, Roles, balance_caps};

use super::super::program::{Column, Program, Row, Terms};
use super::{Choice, Fixed};

/// What the free shards may put on a broker.
#[derive(Clone, Default)]
struct Load {
    bytes: Terms,
    rates: Terms,
}

/// A load of one broker: what decisions add, and what is there whatever they are.
struct Sum<'a> {
    terms: &'a Terms,
    offset: i64,
}

impl Sum<'_> {
    /// The most it can be.
    fn most(&self) -> i64 {
        let sum = self
            .terms
            .iter()
            .map(|&(_, by)| i128::from(by))
            .sum::<i128>();
        (sum + i128::from(self.offset)).min(i128::from(i64::MAX)) as i64
    }

    /// Keeps it from rising above `cap`, and lets what is above `free` cost in a rank.
    fn rule(&self, cap: i64, free: i64, rank: Rank, program: &mut Program) {
        let most = self.most().min(cap);
        if self.most() > cap {
            let row = Row::at_most(self.terms.clone(), cap.saturating_sub(self.offset));
            program.add_row(row);
        }
        if most > free && !self.terms.is_empty() {
            let above = self.offset.saturating_sub(free);
            let width = most.saturating_sub(free);
            let excess = program.add_fill(self.terms.clone(), above, &[width], false);
            program.add_cost(rank, Column(excess.start), 1);
        }
    }
}

/// Adds all loads.
pub(super) fn add(problem: &Problem, choices: &[Choice], fixed: &Fixed<'_>, program: &mut Program) {
    let loads = collect(problem, choices);
    let staying = staying(problem, choices);
    let caps = balance_caps(problem);
    let in_force = &problem.limits.loads_in_force;
    for (at, load) in loads.iter().enumerate() {
        let broker = BrokerId::at(at);
        let bytes = Sum {
            terms: &load.bytes,
            offset: fixed.loads.bytes[at] + staying[at],
        };
        let rates = Sum {
            terms: &load.rates,
            offset: fixed.loads.rates[at],
        };
        if let Some(room) = problem.disk_room(broker) {
            bytes.rule(in_force.bytes[at], room, Rank::DiskExcess, program);
        }
        if let Some(capacity) = problem.broker(broker).rate_capacity {
            rates.rule(in_force.rates[at], capacity, Rank::RateExcess, program);
        }
        let balance = problem.policy.balance;
        let cap = caps.get(at).copied().flatten();
        if let (Some(balance), Some(cap)) = (balance, cap) {
            let sum = match balance.dimension {
                Dimension::Rate => rates,
                Dimension::Bytes => bytes,
            };
            sum.rule(Limits::NONE, cap, Rank::BalanceExcess, program);
        }
    }
}

fn collect(problem: &Problem, choices: &[Choice]) -> Vec<Load> {
    let mut loads = vec![Load::default(); problem.brokers.len()];
    let is_leadership = problem.policy.roles == Roles::LeadershipOnly;
    for choice in choices {
        let shard = problem.shard(choice.id);
        for candidate in &choice.candidates {
            let load = &mut loads[candidate.broker.index()];
            if shard.rate > 0 {
                load.rates.push((candidate.lead, shard.rate));
            }
            if shard.size_bytes > 0 && !is_leadership {
                let columns = candidate.holds();
                load.bytes
                    .extend(columns.map(|column| (column, shard.size_bytes)));
            }
        }
    }
    loads
}

/// Bytes of free shards that stay where they are, by broker: all of them where only leaders are decided.
fn staying(problem: &Problem, choices: &[Choice]) -> Vec<i64> {
    let mut bytes = vec![0; problem.brokers.len()];
    if problem.policy.roles == Roles::LeadershipOnly {
        for shard in choices.iter().map(|choice| problem.shard(choice.id)) {
            for broker in problem.live(&shard.present) {
                bytes[broker.index()] += shard.size_bytes;
            }
        }
    }
    bytes
}
