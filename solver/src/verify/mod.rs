//! Independent checkers: they import no engine.

pub mod flow;
