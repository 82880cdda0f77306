//! Placement of shards on brokers as min-cost flow: pure, no I/O, no async, no clock.
//!
//! Data flows one way: [`input`] → [`validate`] → [`snapshot`] → [`network`] → flow → [`plan`] → [`verify`].

pub mod bare;
pub mod budget;
pub mod certificate;
pub mod cost;
pub mod cut;
pub mod explain;
pub mod greedy;
#[cfg(feature = "highs")]
pub mod highs;
pub mod hint;
mod ids;
pub mod input;
pub mod joint;
pub mod linear;
pub mod mip;
pub mod model;
pub mod network;
pub mod plan;
pub mod simplex;
pub mod snapshot;
pub mod strategy;
pub mod validate;
pub mod verify;
