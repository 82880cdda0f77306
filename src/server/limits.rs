//! What every call is held to before and around its handler, as a layer over all services.
//!
//! The deadline of the call is read here, from `grpc-timeout`: a malformed one is refused, an expired one answers
//! `DEADLINE_EXCEEDED`, also where the answer is ready but later than that: the caller has stopped waiting. tonic has a timer of its own for the same header that answers `CANCELLED`; it is made and
//! polled after this one, so this one wins. A request whose bytes stop coming ends at the receive limit. Statuses
//! that tonic gives to requests it can't read are the caller's fault and are told so.
//!
//! A call without an answer in time leaves a warning in the log ([`Unanswered`]), whoever noticed first.

use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use tonic::body::Body;
use tonic::codegen::BoxFuture;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic::{Code, Status};
use tower::{Layer, Service};

use super::pool::{Gauges, Unit};
use crate::pb::placement_service_server::SERVICE_NAME;
use crate::report::escaped;

/// A call as its handler finds it among the extensions of its request.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// When the caller stops waiting.
    pub(super) deadline: Option<Instant>,
    request: Arc<OnceLock<Arrived>>,
}

/// What the log says of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrived {
    /// The caller's name for it.
    pub(super) id: String,
    /// Its size.
    pub(super) shards: usize,
}

impl Call {
    /// To be called by the handler: the request has arrived and could be read.
    pub(super) fn mark_read(&self, request: Arrived) {
        self.request.get_or_init(|| request);
    }

    fn is_read(&self) -> bool {
        self.request.get().is_some()
    }

    fn is_late(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Makes [`Limited`] services.
#[derive(Clone, Debug)]
pub(super) struct CallLayer {
    receive_limit: Duration,
    max_message_bytes: usize,
    gauges: Gauges,
}

impl CallLayer {
    pub(super) fn new(receive_limit: Duration, max_message_bytes: usize, gauges: Gauges) -> Self {
        CallLayer {
            receive_limit,
            max_message_bytes,
            gauges,
        }
    }
}

impl<S> Layer<S> for CallLayer {
    type Service = Limited<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Limited {
            inner,
            limits: self.clone(),
        }
    }
}

/// A service whose calls are held to the limits.
#[derive(Clone, Debug)]
pub(super) struct Limited<S> {
    inner: S,
    limits: CallLayer,
}

impl<S> Service<Request<Body>> for Limited<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<Response<Body>, S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let arrived = Instant::now();
        let deadline = match timeout(request.headers()) {
            Ok(timeout) => timeout.and_then(|timeout| arrived.checked_add(timeout)),
            Err(status) => return Box::pin(async move { Ok(status.into_http()) }),
        };
        let call = Call {
            deadline,
            request: Arc::default(),
        };
        request.extensions_mut().insert(call.clone());
        let is_ours = is_ours(request.uri().path());
        let in_progress = is_ours.then(|| self.limits.gauges.call());
        let receive_ends = arrived.checked_add(self.limits.receive_limit);
        let max_message_bytes = self.limits.max_message_bytes;
        let mut unanswered = Unanswered {
            arrived,
            call: is_ours.then(|| call.clone()),
        };
        let answered = self.inner.call(request);
        Box::pin(async move {
            let response = tokio::select! {
                biased;
                response = answered => Some(response?),
                () = passed(deadline) => None,
                () = stalled(receive_ends, &call) => {
                    unanswered.log("the request did not arrive within the receive limit");
                    Some(deadline_exceeded("the request did not arrive within the receive limit"))
                }
            };
            let response = match response {
                Some(response) if !call.is_late() => response,
                _ => {
                    unanswered.log("the deadline passed before the answer was ready");
                    deadline_exceeded("the deadline of the call has passed")
                }
            };
            unanswered.end();
            Ok(match in_progress {
                Some(unit) => told(response, &call, max_message_bytes).map(|body| held(body, unit)),
                None => response,
            })
        })
    }
}

/// A call of ours that has no answer yet. Its caller's own clock may end it before ours does; then the call is
/// dropped, and this with it.
struct Unanswered {
    arrived: Instant,
    /// Absent once there is nothing to log any more.
    call: Option<Call>,
}

impl Unanswered {
    /// There is an answer.
    fn end(mut self) {
        self.call = None;
    }

    fn log(&mut self, what: &str) {
        let Some(call) = self.call.take() else {
            return;
        };
        let request = call.request.get().cloned().unwrap_or_default();
        let id = escaped(&request.id);
        let shards = request.shards;
        let elapsed_ms = millis(self.arrived.elapsed());
        match call.deadline {
            Some(deadline) => {
                let timeout_ms = millis(deadline.saturating_duration_since(self.arrived));
                tracing::warn!(%id, shards, elapsed_ms, timeout_ms, "{what}");
            }
            None => tracing::warn!(%id, shards, elapsed_ms, "{what}"),
        }
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.log("the caller left before the answer was ready");
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn is_ours(path: &str) -> bool {
    let method = (path.strip_prefix('/')).and_then(|p| p.strip_prefix(SERVICE_NAME));
    method.is_some_and(|method| method.starts_with('/'))
}

/// The body, with `unit` counted until it is sent or dropped.
fn held(body: Body, unit: Unit) -> Body {
    Body::new(body.map_frame(move |frame| {
        let _held = &unit;
        frame
    }))
}

fn deadline_exceeded(message: &str) -> Response<Body> {
    Status::deadline_exceeded(message).into_http()
}

async fn passed(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

async fn stalled(receive_ends: Option<Instant>, call: &Call) {
    passed(receive_ends).await;
    if call.is_read() {
        std::future::pending().await
    }
}

/// The response; where no handler saw the request, tonic could not read it, and the status says so.
fn told(response: Response<Body>, call: &Call, max_message_bytes: usize) -> Response<Body> {
    if call.is_read() {
        return response;
    }
    let Some(status) = Status::from_header_map(response.headers()) else {
        return response;
    };
    let reason = match status.code() {
        Code::OutOfRange | Code::ResourceExhausted => format!(
            "the request is larger than {max_message_bytes} bytes, the most that this server reads (--max-message-bytes)"
        ),
        Code::Internal | Code::Unknown => {
            format!("the request cannot be read: {}", status.message())
        }
        _ => return response,
    };
    Status::invalid_argument(reason).into_http()
}

/// The time that `grpc-timeout` gives: up to eight digits and a unit.
fn timeout(headers: &HeaderMap) -> Result<Option<Duration>, Status> {
    let Some(value) = headers.get("grpc-timeout") else {
        return Ok(None);
    };
    let parsed = value.to_str().ok().and_then(parse_timeout);
    parsed.map(Some).ok_or_else(|| {
        Status::invalid_argument(format!(
            "grpc-timeout: {value:?}: must be 1 to 8 digits and one of H, M, S, m, u, n"
        ))
    })
}

fn parse_timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let is_number = (1..=8).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    let number: u64 = digits.parse().ok().filter(|_| is_number)?;
    match unit {
        "H" => Some(Duration::from_secs(number * 3600)),
        "M" => Some(Duration::from_secs(number * 60)),
        "S" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_millis(number)),
        "u" => Some(Duration::from_micros(number)),
        "n" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_of_every_unit() {
        let seconds = Duration::from_secs;
        assert_eq!(parse_timeout("99999999H"), Some(seconds(359_999_996_400)));
        assert_eq!(parse_timeout("2M"), Some(seconds(120)));
        assert_eq!(parse_timeout("03S"), Some(seconds(3)));
        assert_eq!(parse_timeout("200m"), Some(Duration::from_millis(200)));
        assert_eq!(parse_timeout("5u"), Some(Duration::from_micros(5)));
        assert_eq!(parse_timeout("0n"), Some(Duration::ZERO));
    }

    #[test]
    fn malformed_timeouts() {
        for text in [
            "",
            "S",
            "5",
            "5s",
            "-5S",
            "+5S",
            "1.5S",
            "5 S",
            "123456789S",
            "5é",
        ] {
            assert_eq!(parse_timeout(text), None, "{text}");
        }
    }

    #[test]
    fn only_our_methods_are_ours() {
        assert!(is_ours("/shardflow.v1.PlacementService/Optimize"));
        assert!(!is_ours("/shardflow.v1.PlacementServiceX/Optimize"));
        assert!(!is_ours("/grpc.health.v1.Health/Check"));
    }
}
