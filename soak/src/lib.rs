//! Long comparisons of the solver, and measurements that take minutes.

#[path = "../../solver/tests/leaders/cases.rs"]
mod cases;
#[path = "../../solver/tests/leaders/choices.rs"]
mod choices;
#[path = "../../benches/family/mod.rs"]
mod family;
#[path = "../../solver/tests/support/highs.rs"]
mod highs;
#[path = "../../solver/tests/leaders/rng.rs"]
mod rng;

pub mod deadlines;
pub mod networks;
pub mod run;
pub mod snapshots;
pub mod ssp;
pub mod warm;
pub mod wire;
