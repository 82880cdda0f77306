//! Lexicographic minima of separable convex functions of one integer.
//!
//! A function here has one component per rank: a sum of convex parts less `price · (x − origin)`. Each component is
//! convex, so its minimisers in an interval are again an interval; narrowing the interval rank by rank ends with the
//! lexicographic minimisers. Complexity: two binary searches for each rank that has a part, none for the others.

use crate::cost::{RANKS, Rank};
use crate::verify::placement::{Level, Vector};

/// A convex cost of a count.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// Distance outside a band, squared.
    Outside(Level),
    /// `max(0, x − cap)`.
    Above(i128),
    /// `max(0, minimum − x)`.
    Below(i128),
}

impl Shape {
    fn at(self, x: i64) -> i128 {
        match self {
            Shape::Outside(level) => level.squared(x),
            Shape::Above(cap) => (i128::from(x) - cap).max(0),
            Shape::Below(minimum) => (minimum - i128::from(x)).max(0),
        }
    }
}

/// Counts from `low` to `high`; `low` is what is there whatever the plan, and prices count from it.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) low: i64,
    pub(super) high: i64,
}

/// The lexicographic minimum over the range of Σ parts − price · (x − low).
pub(super) fn minimum(range: Range, price: &Vector, parts: &[(Rank, Shape)]) -> Vector {
    let mut value: Vector = [0; RANKS];
    let (mut low, mut high) = (range.low, range.high.max(range.low));
    for rank in 0..RANKS {
        let has_part = parts.iter().any(|part| part.0 as usize == rank);
        if !has_part && price[rank] == 0 {
            continue;
        }
        let here = |x: i64| {
            let own = parts.iter().filter(|part| part.0 as usize == rank);
            let own: i128 = own.map(|part| part.1.at(x)).sum();
            own - price[rank] * (i128::from(x) - i128::from(range.low))
        };
        if has_part {
            let slope = |x: i64| here(x + 1) - here(x);
            let first = first_where(low, high, |x| slope(x) >= 0);
            high = first_where(first, high, |x| slope(x) > 0);
            low = first;
        } else if price[rank] > 0 {
            low = high;
        } else {
            high = low;
        }
        value[rank] = here(low);
    }
    value
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
