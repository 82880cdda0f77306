//! Greedy planners: the fallback of the exact engines, and the other side of a comparison.

pub mod felix;
pub mod rendezvous;
