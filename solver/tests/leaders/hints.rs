//! Prices to start from change the way, never what it leads to.

use shardflow_solver::hint::PriceHint;
use shardflow_solver::snapshot::Problem;
use shardflow_solver::strategy::{Answer, Outcome, SolveOptions};

use crate::brute::Named;
use crate::cases::{MEDIUM, TINY, generate, solve, solve_with};
use crate::rng::Rng;

/// Prices of some brokers and zones, known and unknown, some twice, that mean nothing.
fn made_up(problem: &Problem, rng: &mut Rng) -> PriceHint {
    let price = |rng: &mut Rng| match rng.below(6) {
        0 => i64::MAX,
        1 => i64::MIN,
        2 => 0,
        _ => rng.below(4_001) as i64 - 2_000,
    };
    let mut hint = PriceHint::default();
    for _ in 0..rng.below(3 * problem.brokers.len()) {
        let broker = rng.pick(&problem.brokers).id.clone();
        hint.brokers.push((broker, price(rng)));
    }
    for _ in 0..1 + rng.below(2 * problem.zones.len()) {
        let zone = rng.pick(&problem.zones).name.clone();
        hint.zones.push((zone, price(rng)));
    }
    hint.brokers.push(("nobody".to_owned(), price(rng)));
    hint
}

/// Solves with a hint, with and without a work limit.
fn check(problem: &Problem, cold: &Answer, price_hint: PriceHint) {
    let hinted = |work_limit| {
        let price_hint = price_hint.clone();
        let options = SolveOptions {
            work_limit,
            price_hint,
            ..SolveOptions::default()
        };
        solve_with(problem, &options)
    };
    let warm = hinted(None);
    assert_eq!(warm.report.ranks.len(), cold.report.ranks.len());
    for (warm, cold) in warm.report.ranks.iter().zip(&cold.report.ranks) {
        assert_eq!(warm.value, cold.value, "{:?}", warm.rank);
    }
    assert_eq!(warm.report.outcome, cold.report.outcome);
    assert_eq!(warm, hinted(None), "twice");
    let tiers = solve_with(
        problem,
        &SolveOptions {
            work_limit: Some(0),
            ..SolveOptions::default()
        },
    );
    for part in 1..4 {
        let stopped = hinted(Some(warm.report.work * part / 4));
        assert!(stopped.plan.after.0 <= tiers.plan.after.0);
    }
}

#[test]
fn any_prices_lead_to_the_same_cost() {
    let mut proven = 0;
    for (first, seeds, size) in [(70_000, 1_500, TINY), (80_000, 150, MEDIUM)] {
        for seed in first..first + seeds {
            let _named = Named(&seed);
            let problem = generate(seed, size).problem();
            let cold = solve(&problem);
            proven += usize::from(cold.report.outcome == Outcome::Optimal);
            let proof = cold.report.certificate.as_ref().unwrap();
            check(&problem, &cold, PriceHint::of(&problem, proof));
            check(&problem, &cold, made_up(&problem, &mut Rng::new(seed)));
        }
    }
    assert!(proven > 1_500, "only {proven} are proven");
}
