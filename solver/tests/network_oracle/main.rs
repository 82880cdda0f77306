//! The simplex against two independent oracles: unit-by-unit cycle cancelling on vector costs, and HiGHS rank by
//! rank on parallel arcs. Every answer also passes the checker, and every start reaches the same optimum.
//!
//! * `oracle`: cycle cancelling, and small networks against it;
//! * `highs`: medium networks against HiGHS;
//! * `stops`: answers under every work limit;
//! * `corruption`: what the checker must reject;
//! * `edges`: degenerate bases, unbounded arcs, starts that are no flow;
//! * `edits`: bases that outlive changes to their network;
//! * `corpus`: the pitfalls of known solvers.

mod answers;
mod corpus;
mod corruption;
mod edges;
mod edits;
mod generator;
mod highs;
#[path = "../support/highs.rs"]
mod highs_model;
mod oracle;
#[path = "../support/rng.rs"]
mod rng;
mod stops;
