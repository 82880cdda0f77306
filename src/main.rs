//! shardflow
fn main() {}
