//! shardflow
