//! Lexicographic minima of separable convex functions of one integer.
//!
//! A function here has one component per rank: a sum of convex parts less `price · (x − origin)`. Each component is
//! convex, so its minimisers in an interval are again an interval; narrowing the interval rank by rank ends with the
//! lexicographic minimisers. Complexity: two binary searches for each rank that has a part, none for the others; where it has neither part nor price it is passed
//! over.

use super::prices::Row;
use crate::cost::Rank;
use crate::verify::placement::{Level, Vector};

/// A convex cost of a count.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// Distance outside a band, squared.
    Outside(Level),
    /// `max(0, x − cap)`.
    Above(i64),
    /// `max(0, minimum − x)`.
    Below(i64),
}

impl Shape {
    fn at(self, x: i64) -> i128 {
        match self {
            Shape::Outside(level) => level.squared(x),
            Shape::Above(cap) => i128::from((x - cap).max(0)),
            Shape::Below(minimum) => i128::from((minimum - x).max(0)),
        }
    }
}

/// Counts from `low` to `high`; `low` is what is there whatever the plan, and prices count from it.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) low: i64,
    pub(super) high: i64,
}

/// Adds the lexicographic minimum over the range of Σ parts − price · (x − low); `ranks` are those of the row. Parts may
/// be of other ranks as well.
pub(super) fn add_minimum(
    range: Range,
    ranks: &[Rank],
    price: &Row,
    parts: &[(Rank, Shape)],
    total: &mut Vector,
) {
    let (mut low, mut high) = (range.low, range.high.max(range.low));
    let mut at = 0;
    for rank in Rank::ALL {
        let mut price_here = 0;
        if ranks.get(at) == Some(&rank) {
            price_here = i128::from(price[at]);
            at += 1;
        }
        let has_part = parts.iter().any(|part| part.0 == rank);
        if !has_part && price_here == 0 {
            continue;
        }
        let here = |x: i64| {
            let own = parts.iter().filter(|part| part.0 == rank);
            let own: i128 = own.map(|part| part.1.at(x)).sum();
            own - price_here * i128::from(x - range.low)
        };
        if has_part {
            let slope = |x: i64| here(x + 1) - here(x);
            let first = first_where(low, high, |x| slope(x) >= 0);
            high = first_where(first, high, |x| slope(x) > 0);
            low = first;
        } else if price_here > 0 {
            low = high;
        } else {
            high = low;
        }
        total[rank as usize] += here(low);
    }
}

/// The first x in `low..high` for which a monotone condition holds, or `high`.
fn first_where(mut low: i64, mut high: i64, holds: impl Fn(i64) -> bool) -> i64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
