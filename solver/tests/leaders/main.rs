//! Leader problems against independent oracles, and the promises that an answer makes.
//!
//! * `brute`: every admissible plan of tiny problems, random and from an exhaustive grid;
//! * `dense`: a mixed-integer model of medium problems, written from the contract, through HiGHS;
//! * `orphans`: shards without a leader whose follower takes a place, case by case;
//! * `promises`: input order, names, idempotence, prefixes of the steps, never worse than the fallbacks;
//! * `budgets`: answers under a work limit;
//! * `hints`: prices to start from, right ones and others;
//! * `stops`: answers that an interrupt cuts short, at every poll.
//!
//! Every failure names the seed of its case; `cases::generate` rebuilds it.

mod brute;
mod budgets;
mod cases;
mod choices;
mod dense;
mod exhaustive;
mod hints;
mod layouts;
mod orphans;
mod promises;
mod rng;
mod stops;
