//! The DIMACS reader on any bytes. What it takes is solved, and every outcome must pass its proof.

#![no_main]

use libfuzzer_sys::fuzz_target;
use shardflow::interop::dimacs::{FINDINGS_MAX, Instance, Limits, ReadError, read, write};
use shardflow_solver::bare::{self, Outcome, SolveError};
use shardflow_solver::budget::{Budget, never};
use shardflow_solver::network::{Network, RankCost};

/// Sizes that are solved in no time.
const LIMITS: Limits = Limits {
    nodes: 200,
    arcs: 400,
};

fuzz_target!(|bytes: &[u8]| {
    match parsed(bytes) {
        Ok(instance) => solve(instance),
        Err(ReadError::Wrong(findings)) => {
            let told = findings.first.len();
            assert!(told > 0 && told <= FINDINGS_MAX && told as u64 <= findings.count);
        }
        Err(error) => panic!("memory can be read: {error}"),
    }
});

fn parsed(bytes: &[u8]) -> Result<Instance, ReadError> {
    let length = Some(bytes.len() as u64);
    read(bytes, length, &LIMITS, &mut Budget::new(None, &never))
}

fn solve(instance: Instance) {
    let mut budget = Budget::new(None, &never);
    if instance.surplus != 0 {
        if let Ok(delivery) = bare::deliverable(instance.builder, instance.surplus, &mut budget) {
            let most = delivery.supplied.min(delivery.demanded);
            assert!(delivery.delivered.is_none_or(|d| 0 <= d && d <= most));
        }
        return;
    }
    let network = instance
        .builder
        .build()
        .expect("balanced, and checked by the reader");
    write_back(&network, &instance.cost);
    match bare::solve(&network, &instance.cost, &mut budget) {
        Ok(Outcome::Optimal(solution)) => {
            assert_eq!(bare::check(&network, &instance.cost, &solution), []);
        }
        Ok(Outcome::Infeasible(cut)) => assert!(cut.is_some_and(|cut| cut.deficit() > 0)),
        Ok(Outcome::Unbounded(cycle)) => {
            let cycle = cycle.expect("the simplex names the cycle");
            let units = cycle
                .iter()
                .map(|&arc| i128::from(instance.cost.unit_cost(arc)));
            assert!(units.sum::<i128>() < 0);
        }
        Err(SolveError::Cost(_)) => {}
        Err(error) => panic!("{error}"),
    }
}

/// What is written is read back the same.
fn write_back(network: &Network, cost: &RankCost) {
    let mut text = Vec::new();
    write(network, cost, &mut text).expect("what was read can be written");
    let again = parsed(&text).expect("what was written can be read");
    assert_eq!(&again.builder.build().expect("as before"), network);
    assert_eq!(&again.cost, cost);
}
