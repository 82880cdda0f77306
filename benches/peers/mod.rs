//! Other solvers, each on the same network.

pub(crate) mod highs;
