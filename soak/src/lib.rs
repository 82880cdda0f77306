//! Long comparisons of the solver with a second algorithm, and measurements that take minutes: `make soak` and
//! `make deadlines`. Nothing here is shipped.
//!
//! * [`ssp`]: successive shortest paths on vector costs, which shares no code with the simplex;
//! * [`networks`]: the simplex against it, and against HiGHS on a sample;
//! * [`snapshots`]: whole plans against it, on a network without hubs;
//! * [`sets`]: plans for whole replica sets against an integer program over whole choices, and what they promise;
//! * [`calm`]: large healthy clusters after one event, their time and their gap;
//! * [`disk`]: disks that are nearly full, and what is on them at each step;
//! * [`hot`]: streams with one hot shard, and a balance of rates;
//! * [`warm`]: plans over sequences of edits, with the last prices, garbled ones and none;
//! * [`run`]: all of them, case by case, up to the first mismatch;
//! * [`deadlines`]: how late solves stop;
//! * [`stuck`]: deadlines on a problem that HiGHS doesn't finish, and what is left behind.
//!
//! Generators and models that the solver's tests have as well are theirs, included by path.

#[allow(dead_code)] // each user takes its part
#[path = "../../solver/tests/leaders/cases.rs"]
mod cases;
#[path = "../../solver/tests/leaders/choices.rs"]
mod choices;
#[allow(dead_code)] // likewise
#[path = "../../benches/family/mod.rs"]
mod family;
#[path = "../../solver/tests/support/highs.rs"]
mod highs;
#[path = "../../solver/tests/leaders/layouts.rs"]
mod layouts;
#[allow(dead_code)] // likewise
#[path = "../../benches/random/mod.rs"]
mod random;
#[path = "../../solver/tests/leaders/rng.rs"]
mod rng;

pub mod calm;
pub mod deadlines;
pub mod disk;
pub mod hot;
pub mod networks;
pub mod run;
pub mod sets;
pub mod snapshots;
pub mod ssp;
pub mod stuck;
mod usage;
pub mod warm;
pub mod wire;
