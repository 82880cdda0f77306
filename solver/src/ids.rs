//! Ids: positions in a fixed order, as types that can't be mixed up.

/// Declares an id, a `u32` position in the order that its documentation names.
macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);
        impl $name {
            /// The position.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
            /// The id at a position, which is below 2³².
            #[inline]
            pub fn at(index: usize) -> Self {
                debug_assert!(u32::try_from(index).is_ok());
                Self(index as u32)
            }
        }
    };
}

pub(crate) use id_type;
