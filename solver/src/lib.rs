//! Placement of shards on brokers as min-cost flow: pure, no I/O, no async, no clock.
//!
//! Data flows one way: [`input`] → [`validate`] → [`snapshot`] → network → flow → plan → verify.

pub mod budget;
pub mod cost;
pub mod input;
pub mod network;
pub mod simplex;
pub mod snapshot;
pub mod verify;
