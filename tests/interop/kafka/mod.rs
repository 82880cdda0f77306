//! Import of what Kafka's tools print, export for Kafka's tools.

mod exports;
mod findings;
mod layouts;
mod measured;
mod never_panics;
mod samples;
