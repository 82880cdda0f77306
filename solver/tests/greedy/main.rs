//! The greedy planners: the scenarios that their rules were made for, and properties over random clusters.
//!
//! * `levels`: what the tiers level and where they put a new shard;
//! * `failover`: drains, lost brokers, promotions, surplus;
//! * `limits`: caps, zones, pins, moves in flight, tags;
//! * `loads`: disks, rates and `max_moves`;
//! * `weight`: the weight function, its eight scenarios;
//! * `swap`: swaps of followers, and what they can't do;
//! * `properties`: hard rules, idempotence, never worse, input order.
//!
//! Every plan made by `clusters::plan` and its like passes the hard rules of `rules`.

mod clusters;
mod failover;
mod levels;
mod limits;
mod loads;
mod measures;
mod properties;
mod random;
#[path = "../support/rng.rs"]
mod rng;
mod rules;
mod swap;
mod weight;
