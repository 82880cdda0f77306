//! Leaders and followers together, and loads: what no single network flow decides.

mod options;
mod polish;
mod state;
#[cfg(test)]
mod tests;
