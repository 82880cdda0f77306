//! Medium networks against HiGHS.

use crate::answers::{assert_proved, from_scratch};
use crate::generator::{Size, bounds, random_case, totals};
use crate::highs_model::optimum;
use crate::rng::Rng;

#[test]
fn medium_networks_equal_highs() {
    let size = Size {
        nodes: 20,
        arcs: 90,
        span: 6,
        cost: 40,
    };
    let mut compared = 0;
    for seed in 0..300 {
        let case = random_case(&mut Rng::new(1_000_000 + seed), &size);
        let Ok(answer) = from_scratch(&case) else {
            continue;
        };
        assert_proved(&case, &answer, seed);
        if bounds(&case.network).iter().all(|&(low, high)| low == high) {
            continue; // nothing to choose: HiGHS calls the model empty
        }
        assert_eq!(
            totals(&case.ranks, &answer.flow),
            optimum(&case.network, &case.ranks),
            "seed {seed}"
        );
        compared += 1;
    }
    assert!(compared > 200, "{compared}");
}
