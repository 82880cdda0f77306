//! Replica sets by flow against every placement of tiny problems.
//!
//! * `followers`: every choice of followers for given leaders;
//! * `layers`: leaders on the same layers, against the leader network;
//! * `union`: every set of brokers, with roles ignored;
//! * `stops`: solves that a budget cuts short.
//!
//! Every failure names the seed of its case; `cases::generate` rebuilds it.

mod cases;
mod enumerate;
mod followers;
mod layers;
#[path = "../support/rng.rs"]
mod rng;
mod stops;
mod union;
