//! A lower bound on the objective from prices alone.
//!
//! **Problem.** Every free (not pinned) shard i chooses a set of brokers that hold it, and one of them that leads it, or
//! none. The cost of a plan is Σ own(i, choice), plus convex costs of counts: f of the leaders of a stream on a broker
//! (rank 8), g of the leaders of a broker (ranks 3 and 9), h of the leaders of a zone (ranks 3 and 7); and of replicas of
//! any role p of a stream on a broker (rank 10), r of a broker (ranks 3 and 11) and q of a zone (rank 3). Counts include
//! what pinned shards use.
//!
//! **Bound.** Give each count its own multiplier: any integers α(s, b), β(b), γ(z), ρ(s, b), δ(b), ε(z) for f, g, h, p, r,
//! q. In a plan every count is what the choices make it, so adding multiplier · (what choices add to the count − (count −
//! pinned)) for all counts adds zero. Letting choices and counts free of each other can therefore only lower
//!
//! ```text
//! constants + Σ_i   min over choices   own(i, choice) + α(s, b) + β(b) + γ(z)   of the leader, on b in z, if any
//!                                                   + Σ ρ(s, b) + δ(b) + ε(z)   over all replicas, on b in z
//!           + Σ_s,b min over x in range   ( f(x) − α(s, b) · (x − pinned) )  +  the same of p with ρ
//!           + Σ_b   min over x in range   ( g(x) − β(b) · (x − pinned) )     +  the same of r with δ
//!           + Σ_z   min over x in range   ( h(x) − γ(z) · (x − pinned) )     +  the same of q with ε
//! ```
//!
//! whatever the multipliers. A certificate holds sums of them (see there). The module `sets` finds the cheapest choice of
//! a shard exactly.
//!
//! Where δ or ε is zero, the breaches of a broker's or zone's replicas are counted as if the only replicas were leaders
//! and those of pinned shards: they join g or h. More replicas only add to them, so that is a bound as well, and no
//! smaller than two terms apart. It is what makes prices of leaders alone tight where no shard has followers.
//!
//! Costs and prices are vectors, one component per rank, and every minimum is lexicographic. The lexicographic order
//! is total and kept by addition, so the sum of the minima is a lower bound on the objective in that order.
//! Prices of an optimal basis make it tight; then it proves every rank of the plan.
//!
//! **What it leaves out.** Bytes and rates (ranks 4, 5 and 12) count as far as pinned shards together, or another replica by
//! itself, exceed what a broker may have; neither they nor `max_moves` restrict a choice. Where only leadership is decided, replicas stay, whatever the choices: bytes and excess
//! replicas are constants, and prices of replicas are passed over.
//!
//! **Sizes.** Sums of one shard stay within `i64` (see `prices`); totals are `i128`.
//!
//! **Complexity.** Each shard as in `sets`, and O(streams · brokers + listed slots · log shards): a slot that the
//! certificate doesn't list has α = 0, or ρ = 0, so that its term is a distance of two intervals.

mod convex;
mod newcomers;
mod prices;
mod sets;
mod shape;
mod sums;

pub use self::shape::check_shape;

use self::prices::Prices;
use self::sums::Sums;
use super::placement::{Excess, Vector};
use super::{Fault, Rule};
use crate::budget::{Pace, Stop, unstopped};
use crate::certificate::Certificate;
use crate::cost::{Cost, RANKS, Rank};
use crate::snapshot::{Problem, StreamId};

/// No placement has a lexicographically smaller cost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bound(pub [i128; RANKS]);

/// The lower bound that the prices prove; `None` where [`check_shape`] finds a fault.
pub fn bound(problem: &Problem, certificate: &Certificate) -> Option<Bound> {
    unstopped(|pace| bound_within(problem, certificate, pace))
}

/// The same, until the interrupt asks to stop.
///
/// # Errors
/// The interrupt's reason; nothing is proven then.
pub fn bound_within(
    problem: &Problem,
    certificate: &Certificate,
    pace: &mut Pace<'_>,
) -> Result<Option<Bound>, Stop> {
    if !check_shape(problem, certificate).is_empty() {
        return Ok(None);
    }
    let excess = Excess::new(problem);
    let mut prices = Prices::new(problem, certificate, &excess);
    let mut sums = Sums::new(problem, &excess, &prices);
    for (s, stream) in problem.streams.iter().enumerate() {
        pace.step_stream(problem.brokers.len())?;
        prices.turn_to(StreamId::at(s));
        sums.add_stream(stream, &prices, pace)?;
    }
    let total: Vector = sums.finish(&prices);
    Ok(Some(Bound(total)))
}

/// The larger of the bounds that these prices and no prices prove; the latter is asked for where the former leaves something
/// of a plan's value open. `None` where [`check_shape`] finds a fault.
///
/// # Errors
/// The interrupt's reason.
pub fn largest_within(
    problem: &Problem,
    certificate: &Certificate,
    value: &Cost,
    pace: &mut Pace<'_>,
) -> Result<Option<Bound>, Stop> {
    let Some(priced) = bound_within(problem, certificate, pace)? else {
        return Ok(None);
    };
    if certificate.ranks.is_empty() || priced.0 == value.0.map(i128::from) {
        return Ok(Some(priced));
    }
    Ok(bound_within(problem, &Certificate::default(), pace)?.max(Some(priced)))
}

/// What the bound proves of a plan's value: for each rank up to the first in which they differ, that no plan as good
/// in the ranks before has less than this. The plan is optimal where all ranks are proven.
///
/// # Errors
/// The bound lies above the value, so that one of them is wrong.
pub fn proven(value: &Cost, bound: &Bound) -> Result<[Option<i64>; RANKS], Fault> {
    let mut proven = [None; RANKS];
    for rank in Rank::ALL {
        let (has, least) = (i128::from(value[rank]), bound.0[rank as usize]);
        if least > has {
            let name = rank.name();
            let what =
                format!("the certificate proves {name} at least {least}, and the plan has {has}");
            return Err(Fault::of_answer(Rule::Contradiction, what));
        }
        // No cost is negative, so a negative bound says no more than zero does; but the ranks after it are open.
        proven[rank as usize] = i64::try_from(least.max(0).min(has)).ok();
        if least < has {
            break;
        }
    }
    Ok(proven)
}
