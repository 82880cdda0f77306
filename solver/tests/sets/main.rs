//! Replica sets by flow against every placement of tiny problems.
//!
//! * `followers`: every choice of followers for given leaders;
//! * `union`: every set of brokers, with roles ignored;
//! * `stops`: solves that a budget cuts short.
//!
//! Every failure names the seed of its case; `cases::generate` rebuilds it.

mod calm;
mod cases;
mod choices;
mod composite;
mod enumerate;
mod followers;
mod prices;
mod promotions;
#[path = "../support/rng.rs"]
mod rng;
mod staged;
mod stops;
mod union;
