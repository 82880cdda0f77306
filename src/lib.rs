//! shardflow: a placement optimizer for sharded clusters, served over gRPC.

pub mod cli;
pub mod interop;
pub mod json;
pub mod planning;
pub mod presets;
pub mod report;
pub mod server;
pub mod wire;

/// Messages and services of `proto/shardflow/v1`, generated.
#[allow(missing_docs, unreachable_pub, clippy::all)]
pub mod pb {
    tonic::include_proto!("shardflow.v1");

    /// Descriptors of all messages, for reflection and the JSON mapping.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
}
