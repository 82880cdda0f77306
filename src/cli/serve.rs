//! `serve`: the gRPC server, until SIGTERM or SIGINT.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Args;
use tracing_subscriber::EnvFilter;

use super::Answered;
use super::failure::{Failure, chain};
use crate::server::{self, Config};

#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// Address to listen on; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:50051")]
    listen: SocketAddr,
    /// Requests planned at a time [default: one a core]
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// Requests that may wait for a worker
    #[arg(long, value_name = "N")]
    queue: Option<usize>,
    /// Largest request in bytes
    #[arg(long, value_name = "N")]
    max_message_bytes: Option<usize>,
    /// Seconds that requests in progress have when the server stops
    #[arg(long, value_name = "SECONDS")]
    drain_limit: Option<u64>,
}

/// Logs go to standard error; `RUST_LOG` chooses which.
pub(super) fn run(arguments: &Arguments) -> Result<Answered, Failure> {
    let filter = EnvFilter::builder()
        .with_default_directive(tracing::Level::INFO.into())
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Other(format!("can't start the runtime: {error}")))?;
    let served = runtime.block_on(async {
        let shutdown = server::signalled()
            .map_err(|error| Failure::Other(format!("can't await signals: {error}")))?;
        let served = server::serve(config(arguments), shutdown).await;
        served.map_err(|error| Failure::Other(chain(&error)))
    });
    served.map(|()| Answered::Well)
}

fn config(arguments: &Arguments) -> Config {
    let default = Config::default();
    let drain_limit = arguments.drain_limit.map(Duration::from_secs);
    Config {
        listen: arguments.listen,
        workers: arguments.workers.unwrap_or(default.workers),
        queue: arguments.queue.unwrap_or(default.queue),
        max_message_bytes: arguments
            .max_message_bytes
            .unwrap_or(default.max_message_bytes),
        drain_limit: drain_limit.unwrap_or(default.drain_limit),
        ..default
    }
}
