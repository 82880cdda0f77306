//! Import of what the cat APIs list, export for `_cluster/reroute`.

mod exports;
mod findings;
mod listings;
mod never_panics;
mod reroutes;
mod samples;
