//! Reasons, prices and choices against new plans of changed inputs.
//!
//! * `cuts`: every cut passes the verifier, explains the whole of its rank, and its remedies lift what they say;
//! * `prices`: what one more unit of a rule saves is at most its price;
//! * `choices`: what a shard costs elsewhere, by recounting and by planning again with the shard fixed there.

#[allow(dead_code)] // other tests shuffle cases
#[path = "../leaders/cases.rs"]
mod cases;
mod choices;
mod cuts;
mod prices;
#[path = "../leaders/rng.rs"]
mod rng;
