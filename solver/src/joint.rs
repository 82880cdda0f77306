//! Leaders and followers together, and loads: what no single network flow decides.

mod options;
mod polish;
mod state;
#[cfg(test)]
mod tests;
/// x
pub fn polished(
    p: &crate::snapshot::Problem,
    s: Vec<crate::snapshot::Assignment>,
    b: &mut crate::budget::Budget<'_>,
) -> (
    Vec<crate::snapshot::Assignment>,
    Option<crate::budget::Stop>,
) {
    polish::polish(p, s, b)
}
