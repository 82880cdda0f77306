//! Replica sets as flow: all followers for given leaders, or all replicas with roles ignored.
//!
//! * [`layers`] and `layered`: the counts of one kind, leaders or replicas, as the lower half of a network;
//! * `parcels`: the upper half, what each shard ships and where it may go;
//! * [`search`]: minimises rank after rank, and goes on after arcs were added;
//! * `ship`: from a start to a flow (`first`), and from the flow to brokers (`seats`);
//! * [`choices`]: the best followers of one shard for each of its leaders, at prices of replicas (`pool`);
//! * [`composite()`] and [`promotions()`]: leaders with the followers they bring along, or among given replicas (`lead`);
//! * [`staged()`]: one after the other while that is better;
//! * [`followers()`] and [`union()`]: what a shard ships for the one and the other (`wishes`).
//!
//! Ranks 4, 5 and 12 (bytes, rates and their balance) and `max_moves` cross the layers and are not seen here.

mod alternate;
pub mod choices;
mod composite;
mod first;
mod followers;
mod layered;
pub mod layers;
mod lead;
mod parcels;
mod pool;
mod prices;
mod promotions;
pub mod search;
mod seats;
mod ship;
mod union;
mod wishes;

pub use alternate::{Staged, staged};
pub use composite::{composite, is_decoupled};
pub use followers::followers;
pub use promotions::promotions;
pub use union::union;

use crate::budget::Stop;
use crate::certificate::RankPrices;
use crate::snapshot::{Assignment, Problem, Roles};

/// What a flow of replicas comes to.
pub struct Solution {
    /// By shard. Pinned shards are as in the start.
    pub placement: Vec<Assignment>,
    /// Prices of replicas in the ranks that were begun, see [`crate::certificate`]; those of leaders are zero.
    pub prices: Vec<RankPrices>,
    /// Why the engine stopped short of the optimum.
    pub stop: Option<Stop>,
}

impl Solution {
    fn of_start(start: &[Assignment]) -> Self {
        Solution {
            placement: start.to_vec(),
            prices: Vec::new(),
            stop: None,
        }
    }
}

/// Whether the plan decides where replicas are.
fn is_decided(problem: &Problem) -> bool {
    problem.policy.roles == Roles::LeadersAndFollowers
}

/// Why there is no solution by flow.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetError {
    /// The budget stopped the build; the start stands.
    #[error("stopped: {0:?}")]
    Stopped(Stop),
    /// A start outside the caps in force, and no way back within them.
    #[error("no flow keeps the caps in force")]
    Infeasible,
    /// The network or the start was refused. Validated problems and admissible starts never are.
    #[error("the network was refused: {0}")]
    Refused(String),
}

impl From<Stop> for SetError {
    fn from(stop: Stop) -> Self {
        SetError::Stopped(stop)
    }
}
