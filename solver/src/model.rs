//! Snapshot to network, and flow to placement.

pub mod current;
pub mod leaders;
mod seating;
pub mod sets;
