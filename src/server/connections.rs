//! Accepted connections: no more than a cap, none that says nothing, all cut when the server has stopped.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::transport::server::{Connected, TcpConnectInfo};

/// Length of the bytes that open every HTTP/2 connection.
const PREFACE_BYTES: usize = 24;
/// Pause after the system refused to accept (out of descriptors), so that asking again does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The listener as a stream of connections.
pub(super) struct Connections {
    listener: TcpListener,
    permits: Arc<Semaphore>,
    preface_limit: Duration,
    cut: CancellationToken,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Connections {
    pub(super) fn new(
        listener: TcpListener,
        most: usize,
        preface_limit: Duration,
        cut: CancellationToken,
    ) -> Self {
        Connections {
            listener,
            permits: Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))),
            preface_limit,
            cut,
            pause: None,
        }
    }

    fn admit(&self, stream: TcpStream) -> Option<Connection> {
        let permit = Arc::clone(&self.permits).try_acquire_owned().ok()?;
        // Only latency is at stake.
        let _ = stream.set_nodelay(true);
        Some(Connection {
            stream,
            cut: Box::pin(self.cut.clone().cancelled_owned()),
            preface: Some(Preface {
                missing_bytes: PREFACE_BYTES,
                limit: Box::pin(sleep(self.preface_limit)),
            }),
            _permit: permit,
        })
    }
}

impl Stream for Connections {
    type Item = io::Result<Connection>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            match ready!(self.listener.poll_accept(cx)) {
                Ok((stream, peer)) => match self.admit(stream) {
                    Some(connection) => return Poll::Ready(Some(Ok(connection))),
                    None => tracing::warn!(%peer, "closed at once: too many connections"),
                },
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    self.pause = Some(Box::pin(sleep(ACCEPT_PAUSE)));
                }
            }
        }
    }
}

/// Bytes of the preface that have not come yet, and how long they may take.
struct Preface {
    missing_bytes: usize,
    limit: Pin<Box<Sleep>>,
}

/// An accepted connection.
pub(super) struct Connection {
    stream: TcpStream,
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    preface: Option<Preface>,
    _permit: OwnedSemaphorePermit,
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> Self::ConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.cut.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let got = buffer.filled().len() - before;
        let Some(preface) = &mut self.preface else {
            return polled;
        };
        preface.missing_bytes = preface.missing_bytes.saturating_sub(got);
        if preface.missing_bytes == 0 {
            self.preface = None;
        } else if polled.is_pending() {
            ready!(preface.limit.as_mut().poll(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        polled
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
