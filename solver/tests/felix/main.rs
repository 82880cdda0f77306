//! The greedy tiers: the scenarios that the rule was made for, and properties over random clusters.
//!
//! * `levels`: what the tiers level and where they put a new shard;
//! * `failover`: drains, lost brokers, promotions, surplus;
//! * `limits`: caps, zones, pins, moves in flight, tags;
//! * `properties`: hard rules, idempotence, never worse, input order.
//!
//! Every plan made by `clusters::plan` passes the hard rules of `rules`.

mod clusters;
mod failover;
mod levels;
mod limits;
mod measures;
mod properties;
mod random;
#[path = "../support/rng.rs"]
mod rng;
mod rules;
