//! Greedy planners: the fallback of the exact engines, and the other side of a comparison.

pub mod felix;
pub mod rendezvous;
pub mod swap;
mod tally;
pub mod weight;
