//! The joint programme against everything there is to try.
//!
//! * `exhaustive`: random tiny problems with every rule, whole and in part;
//! * `edges`: nothing to decide, starts that are not legal, limits, numbers that no float holds.

#![cfg(feature = "highs")]

mod edges;
mod exhaustive;
#[path = "../joint_common/mod.rs"]
mod joint_common;
#[path = "../support/rng.rs"]
mod rng;
