//! Replica sets by flow against every placement of tiny problems.
//!
//! * `followers`: every choice of followers for given leaders;
//! * `layers`: leaders on the same layers, against the leader network;
//! * `union`: every set of brokers, with roles ignored;
//! * `choices`: every set of followers of one shard, for each of its leaders, at random prices;
//! * `caps`: followers from a start that breaks caps;
//! * `promotions`: every choice of leaders within given sets;
//! * `composite` and `staged`: every placement, the former where counts of replicas have prices at most; and what prices
//!   prove of them;
//! * `stops`: solves that a budget cuts short.
//!
//! Every failure names the seed of its case; `cases::generate` rebuilds it.

mod calm;
mod caps;
mod cases;
mod choices;
mod composite;
mod enumerate;
mod followers;
mod layers;
mod prices;
mod promotions;
#[path = "../support/rng.rs"]
mod rng;
mod staged;
mod stops;
mod union;
