//! The two widths of the engines: 32 bits where the ranges allow it, 64 where they don't.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

/// A signed integer that costs, potentials and amounts of flow are kept in.
pub(super) trait Number:
    Copy
    + Debug
    + Default
    + Ord
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + SubAssign
    + Neg<Output = Self>
    + Into<i64>
{
    /// Zero.
    const ZERO: Self;
    /// Potentials stay strictly within ± this; one shift may leave it and is still exact.
    const REACH: Self;
    /// The capacity that stands for none. Amounts that have a limit stay below a half of it.
    const FAR: Self;

    /// The value, which the caller has checked against the range.
    fn narrow(value: i64) -> Self;

    /// Whether a value lies beyond ± [`Number::REACH`].
    fn is_beyond(self) -> bool;

    /// Whether a value lies beyond a quarter of that.
    fn is_far(self) -> bool {
        self.into().unsigned_abs() > Self::REACH.into().unsigned_abs() / 4
    }
}

impl Number for i32 {
    const ZERO: i32 = 0;
    const REACH: i32 = 1 << 29;
    const FAR: i32 = 1 << 30;

    #[inline]
    fn narrow(value: i64) -> i32 {
        debug_assert!(i32::try_from(value).is_ok());
        value as i32
    }

    #[inline]
    fn is_beyond(self) -> bool {
        self.wrapping_add(Self::REACH) as u32 > 2 * Self::REACH as u32
    }
}

impl Number for i64 {
    const ZERO: i64 = 0;
    const REACH: i64 = 1 << 62;
    const FAR: i64 = 1 << 62;

    #[inline]
    fn narrow(value: i64) -> i64 {
        value
    }

    #[inline]
    fn is_beyond(self) -> bool {
        false
    }
}
