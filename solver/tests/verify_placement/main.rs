//! The verifier: every kind of corruption is found, costs agree with the other implementation, no prices ever prove
//! more than the true optimum, and moves are replayed.

mod bounds;
mod corruption;
mod joint;
mod loads;
mod random;
mod replay;
#[path = "../support/rng.rs"]
mod rng;
mod steps;
