//! The independent verifier: what an answer claims, checked against the snapshot, in integers.
//!
//! It is the second implementation of the contract. It imports no engine, no planner and no helper that they
//! share (floors, ceilings, caps in force and costs are derived here again), so that a mistake has to be made
//! twice, in different code, before a wrong answer gets out. Every finding is reported, not just the first.

pub mod bound;
pub mod cut;
mod fault;
pub mod flow;
pub mod moves;
pub mod placement;

pub use fault::{Fault, Rule};
