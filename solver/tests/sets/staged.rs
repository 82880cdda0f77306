//! The stages against every placement of tiny problems.

use shardflow_solver::budget::{Budget, never};
use shardflow_solver::certificate::Certificate;
use shardflow_solver::cost::{Cost, evaluate};
use shardflow_solver::model::current;
use shardflow_solver::model::sets::staged;
use shardflow_solver::snapshot::{Assignment, Problem};
use shardflow_solver::verify::bound::bound;
use shardflow_solver::verify::placement::check;

use crate::calm;
use crate::cases::{Named, generate, start};
use crate::enumerate::{all_options, least_of};

/// What became of problems that were small enough to compare.
#[derive(Default, Debug)]
struct Tally {
    all: usize,
    /// That reached the optimum of all placements.
    reached: usize,
    /// And that some prices prove to be there.
    proven: usize,
}

/// Whether the prices prove a cost to be least. They never prove more.
fn is_proven(problem: &Problem, certificate: &Certificate, optimum: &Cost) -> bool {
    let optimum = optimum.0.map(i128::from);
    let bound = bound(problem, certificate).expect("the prices have the right shape");
    assert!(bound.0 <= optimum, "{bound:?} above {optimum:?}");
    bound.0 == optimum
}

/// Solves a problem, where there are few enough placements to try them all.
fn compare(problem: &Problem, starts: &[&[Assignment]], tally: &mut Tally) -> Option<()> {
    let options = |id| all_options(problem, id);
    let cost = |placement: &[Assignment]| evaluate(problem, placement).0;
    let optimum: Cost = least_of(10_000, problem, starts[0], options, |_| false, cost)?;
    let mut budget = Budget::new(None, &never);
    let solution = staged(problem, starts, &mut budget).expect("validated problems are built");
    assert_eq!(solution.stop, None);
    assert_eq!(check(problem, &solution.placement).faults, []);
    let reached = cost(&solution.placement);
    assert!(reached >= optimum, "better than every placement");
    for start in starts {
        assert!(reached <= cost(start));
    }
    let is_proven = is_proven(problem, &solution.certificate, &optimum);
    tally.all += 1;
    tally.reached += usize::from(reached == optimum);
    tally.proven += usize::from(is_proven);
    Some(())
}

#[test]
fn most_random_problems_reach_the_joint_optimum() {
    let mut tally = Tally::default();
    for seed in 200_000..202_000 {
        let _named = Named(seed);
        let problem = generate(seed);
        let (now, other) = (current::placement(&problem), start(&problem, seed));
        compare(&problem, &[&now, &other], &mut tally);
    }
    println!("{tally:?}");
    let Tally {
        all,
        reached,
        proven,
    } = tally;
    assert!(all > 1_000, "only {all} are small");
    assert!(reached * 100 >= all * 97, "{reached} of {all} are optimal");
    assert!(proven * 100 >= all * 70, "{proven} of {all} are proven");
}

#[test]
fn most_calm_clusters_reach_the_joint_optimum() {
    let mut tally = Tally::default();
    for seed in 0..600 {
        let _named = Named(seed);
        let problem = calm::generate(seed);
        compare(&problem, &[&current::placement(&problem)], &mut tally);
    }
    println!("{tally:?}");
    let Tally {
        all,
        reached,
        proven,
    } = tally;
    assert!(all > 200, "only {all} are small");
    assert!(reached * 100 >= all * 97, "{reached} of {all} are optimal");
    assert!(proven * 100 >= all * 70, "{proven} of {all} are proven");
}
