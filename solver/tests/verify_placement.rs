//! The verifier: every kind of corruption is found, costs agree with the other implementation, no prices ever prove
//! more than the true optimum, and moves are replayed.

#[path = "verify_placement/bounds.rs"]
mod bounds;
#[path = "verify_placement/corruption.rs"]
mod corruption;
#[path = "verify_placement/random.rs"]
mod random;
#[path = "verify_placement/replay.rs"]
mod replay;
