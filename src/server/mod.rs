//! The gRPC server: `PlacementService`, health, and reflection v1 and v1alpha.
//!
//! A call goes through `limits` (deadline, stalled bodies, what tonic's own statuses mean), `service` (messages
//! to [`crate::planning`] and back) and `pool` (a bounded number of solves on threads of their own, so that the
//! async threads only ever move bytes). `connections` caps and cuts connections, `status` words every error.
//!
//! Stopping: the listener closes, health says `NOT_SERVING`, calls in progress finish. At the drain limit their
//! solves are stopped and answer with the best plan they have; what is still open soon after is cut.

mod connections;
mod limits;
mod pool;
mod service;
mod status;

use std::future::{Future, pending};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tonic::codec::CompressionEncoding;
use tonic::transport::server::Router;
use tower::layer::util::{Identity, Stack};

use crate::pb;
use crate::pb::placement_service_server::PlacementServiceServer;
use connections::Connections;
use limits::CallLayer;
pub use pool::Load;
use pool::{Gauges, Pool};
use service::Placement;

/// How long calls may take to answer once their solves are stopped.
const STOP_LIMIT: Duration = Duration::from_secs(5);
/// How long the bytes of the last answer may take to leave.
const LINGER: Duration = Duration::from_secs(1);
/// How often an HTTP/2 peer is asked whether it is still there, and how long it may take to say so.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(10));
/// Streams that we reset for a peer's errors before the connection is closed.
const ERROR_RESETS: usize = 64;

/// How to serve.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address to listen on; port 0 takes any free one.
    pub listen: SocketAddr,
    /// Solves at a time.
    pub workers: NonZeroUsize,
    /// Calls that may wait for a worker; one more is refused with `RESOURCE_EXHAUSTED`.
    pub queue: usize,
    /// Largest request in bytes, decompressed.
    pub max_message_bytes: usize,
    /// Most connections at a time; one more is closed as soon as it is accepted.
    pub max_connections: usize,
    /// Most calls at a time on one connection.
    pub max_calls_per_connection: u32,
    /// Time in which a connection must say its first bytes, and in which a request must have arrived in full.
    pub receive_limit: Duration,
    /// Time that calls in progress have when the server stops.
    pub drain_limit: Duration,
}

impl Default for Config {
    /// Loopback, port 50051, as many workers as cores.
    fn default() -> Self {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 50051)),
            workers: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            queue: 64,
            max_message_bytes: 4 << 20,
            max_connections: 1024,
            max_calls_per_connection: 128,
            receive_limit: Duration::from_secs(30),
            drain_limit: Duration::from_secs(20),
        }
    }
}

/// Why a server could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address can't be listened on.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The descriptors compiled in can't be read.
    #[error("cannot set up reflection")]
    Reflection(#[from] tonic_reflection::server::Error),
    /// The transport failed.
    #[error("the transport failed")]
    Transport(#[from] tonic::transport::Error),
}

/// A server that has its address and does not accept calls yet.
#[derive(Debug)]
pub struct Server {
    config: Config,
    listener: TcpListener,
    address: SocketAddr,
    gauges: Gauges,
}

impl Server {
    /// Takes the address.
    ///
    /// # Errors
    /// [`Error::Bind`].
    pub async fn bind(config: Config) -> Result<Self, Error> {
        let refused = |source| Error::Bind {
            address: config.listen,
            source,
        };
        let listener = TcpListener::bind(config.listen).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Server {
            config,
            listener,
            address,
            gauges: Gauges::default(),
        })
    }

    /// The address taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What the server is doing, as it changes.
    pub fn load(&self) -> watch::Receiver<Load> {
        self.gauges.watch()
    }

    /// Serves until `shutdown` is ready and the calls in progress are over, or the drain limit is.
    ///
    /// # Errors
    /// [`Error::Reflection`], [`Error::Transport`].
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let pool = Pool::new(self.config.workers, self.config.queue, self.gauges.clone());
        let (reporter, health) = tonic_health::server::health_reporter();
        reporter
            .set_serving::<PlacementServiceServer<Placement>>()
            .await;
        let router = router(&self.config, &self.gauges, pool.clone())?.add_service(health);
        let cut = CancellationToken::new();
        let incoming = Connections::new(
            self.listener,
            self.config.max_connections,
            self.config.receive_limit,
            cut.clone(),
        );
        let draining = CancellationToken::new();
        let signal = async {
            shutdown.await;
            tracing::info!("draining");
            let not_serving = tonic_health::ServingStatus::NotServing;
            reporter.set_service_status("", not_serving).await;
            reporter
                .set_not_serving::<PlacementServiceServer<Placement>>()
                .await;
            draining.cancel();
        };
        tracing::info!(address = %self.address, "serving");
        tokio::select! {
            served = router.serve_with_incoming_shutdown(incoming, signal) => served?,
            () = drain(&draining, self.config.drain_limit, &pool, &self.gauges, &cut) => {}
        }
        tracing::info!("stopped");
        Ok(())
    }
}

/// Once the drain begins, gives calls their time, then stops solves, then cuts connections; never ready.
async fn drain(
    draining: &CancellationToken,
    limit: Duration,
    pool: &Pool,
    gauges: &Gauges,
    cut: &CancellationToken,
) {
    draining.cancelled().await;
    if timeout(limit, gauges.idle()).await.is_err() {
        tracing::warn!(
            ?limit,
            "calls are still in progress; their solves are stopped"
        );
    }
    pool.stop();
    if timeout(STOP_LIMIT, gauges.idle()).await.is_err() {
        tracing::error!("calls are cut without an answer");
    }
    sleep(LINGER).await;
    cut.cancel();
    pending().await
}

fn router(
    config: &Config,
    gauges: &Gauges,
    pool: Arc<Pool>,
) -> Result<Router<Stack<CallLayer, Identity>>, Error> {
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(pb::DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let placement = PlacementServiceServer::new(Placement::new(pool))
        .max_decoding_message_size(config.max_message_bytes)
        .accept_compressed(CompressionEncoding::Gzip)
        .accept_compressed(CompressionEncoding::Zstd)
        .send_compressed(CompressionEncoding::Zstd);
    let layer = CallLayer::new(
        config.receive_limit,
        config.max_message_bytes,
        gauges.clone(),
    );
    Ok(tonic::transport::Server::builder()
        .max_concurrent_streams(config.max_calls_per_connection)
        .http2_max_local_error_reset_streams(Some(ERROR_RESETS))
        .http2_keepalive_interval(Some(KEEPALIVE.0))
        .http2_keepalive_timeout(Some(KEEPALIVE.1))
        .layer(layer)
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?)
        .add_service(placement))
}

/// Binds and serves until `shutdown` is ready and the server has drained.
///
/// # Errors
/// See [`Server::bind`] and [`Server::run`].
pub async fn serve(config: Config, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
    Server::bind(config).await?.run(shutdown).await
}

/// Ready at the first SIGTERM or SIGINT.
///
/// # Errors
/// Where the handlers can't be set up.
pub fn signalled() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
