//! Long comparisons of the solver, and measurements that take minutes.

#[path = "../../benches/family/mod.rs"]
mod family;
#[path = "../../solver/tests/support/highs.rs"]
mod highs;
#[path = "../../solver/tests/leaders/rng.rs"]
mod rng;

pub mod deadlines;
pub mod networks;
pub mod ssp;
pub mod wire;
