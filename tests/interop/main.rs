//! Formats of other tools, in and out.

mod elasticsearch;
mod kafka;
mod support;
mod weight_function;
