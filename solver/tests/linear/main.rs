//! The linear engines against each other, against the simplex of placement, and before the independent checker.

mod generator;
mod random;
#[path = "../support/rng.rs"]
mod rng;
mod stops;
