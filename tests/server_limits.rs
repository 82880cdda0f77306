//! What calls and connections are held to: deadlines, sizes, the queue, cancellation, the drain; and the services
//! beside `PlacementService`.

mod common;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use common::{Client, PATIENCE, Running, config, endless, framed, optimize, raw, small, start};
use shardflow::pb;
use shardflow::server::{Config, Error, Server};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tonic::{Code, Status};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus};

const NAME: &str = "shardflow.v1.PlacementService";

type Answered = JoinHandle<Result<tonic::Response<pb::OptimizeResponse>, Status>>;

fn spawn(mut client: Client, request: impl tonic::IntoRequest<pb::OptimizeRequest>) -> Answered {
    let request = request.into_request();
    tokio::spawn(async move { client.optimize(request).await })
}

fn narrow(queue: usize) -> Config {
    Config {
        workers: NonZeroUsize::MIN,
        queue,
        ..config()
    }
}

/// A server whose only worker is busy with the call.
async fn busy(config: Config) -> (Running, Answered) {
    let server = start(config).await;
    let call = spawn(server.client().await, endless());
    server.until(|load| load.running == 1).await;
    (server, call)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_stops_its_solve() {
    let (server, call) = busy(narrow(0)).await;
    let cancelled = Instant::now();
    call.abort();
    server.until(|load| load.running == 0).await;
    assert!(cancelled.elapsed() < Duration::from_secs(5));
    let mut client = server.client().await;
    assert!(client.optimize(optimize(small())).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_refuses_at_once() {
    let (server, call) = busy(narrow(0)).await;
    let mut client = server.client().await;
    let status = client.optimize(optimize(small())).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert!(
        status
            .message()
            .contains("1 solves are running and 0 calls are waiting")
    );
    call.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_that_passes_in_the_queue_is_told() {
    let (server, call) = busy(narrow(1)).await;
    let body = framed(&optimize(small()));
    let headers = [("grpc-timeout", "50m")];
    let answered = raw(server.address, "Optimize", &headers, &body, true).await;
    assert_eq!(answered.0, Code::DeadlineExceeded as i32, "{}", answered.1);
    server.until(|load| load.waiting == 0).await;
    call.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_later_than_the_deadline_is_none() {
    let server = start(config()).await;
    let body = framed(&optimize(small()));
    for value in ["0m", "1n", "5u"] {
        let headers = [("grpc-timeout", value)];
        let answered = raw(server.address, "Optimize", &headers, &body, true).await;
        let late = Code::DeadlineExceeded as i32;
        assert_eq!(answered.0, late, "{value}: {}", answered.1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_budget_ends_the_solve_and_says_so() {
    let server = start(config()).await;
    let mut request = endless();
    request.options = Some(pb::Options {
        time_budget: Some(prost_types::Duration {
            seconds: 0,
            nanos: 1_000_000,
        }),
        assignments: pb::Assignments::None.into(),
        ..Default::default()
    });
    let answered = server.client().await.optimize(request).await.unwrap();
    let report = answered.into_inner().report.unwrap();
    assert_eq!(report.fallback(), pb::FallbackReason::TimeBudget);
    assert!(!report.reproducible);
}

#[tokio::test]
async fn a_malformed_timeout_is_refused() {
    let server = start(config()).await;
    let body = framed(&optimize(small()));
    for value in ["soon", "5", "123456789S"] {
        let headers = [("grpc-timeout", value)];
        let answered = raw(server.address, "Optimize", &headers, &body, true).await;
        assert_eq!(answered.0, Code::InvalidArgument as i32);
        assert!(answered.1.contains("grpc-timeout") && answered.1.contains(value));
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_the_callers_fault() {
    let server = start(config()).await;
    let body = [0, 0, 0, 0, 3, 0xff, 0xff, 0xff];
    let answered = raw(server.address, "Optimize", &[], &body, true).await;
    assert_eq!(answered.0, Code::InvalidArgument as i32, "{}", answered.1);
}

#[tokio::test]
async fn a_message_too_large_is_refused_with_the_limit() {
    use tonic::codec::CompressionEncoding;
    let limit = 1000;
    let server = start(Config {
        max_message_bytes: limit,
        ..config()
    })
    .await;
    let client = server.client().await;
    let zipped = client.clone().send_compressed(CompressionEncoding::Gzip);
    let mut large = optimize(small());
    large.request_id = "x".repeat(limit);
    for mut client in [client, zipped] {
        let status = client.optimize(large.clone()).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains("1000 bytes"), "{status}");
        assert!(client.optimize(optimize(small())).await.is_ok());
    }
}

#[tokio::test]
async fn a_request_that_stops_coming_is_ended() {
    let server = start(Config {
        receive_limit: Duration::from_millis(50),
        ..config()
    })
    .await;
    let body = framed(&optimize(small()));
    let half = &body[..body.len() / 2];
    let answered = raw(server.address, "Optimize", &[], half, false).await;
    assert_eq!(answered.0, Code::DeadlineExceeded as i32);
    assert!(answered.1.contains("receive limit"));
}

/// Reads to the end; an end by reset is one, too.
async fn is_closed(address: SocketAddr, first: &[u8]) -> bool {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut tcp = tokio::net::TcpStream::connect(address).await.unwrap();
    tcp.write_all(first).await.unwrap();
    let mut bytes = Vec::new();
    timeout(PATIENCE, tcp.read_to_end(&mut bytes)).await.is_ok()
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() {
    let server = start(Config {
        receive_limit: Duration::from_millis(50),
        ..config()
    })
    .await;
    assert!(is_closed(server.address, b"").await);
    assert!(is_closed(server.address, b"PRI * HTTP/2").await);
}

#[tokio::test]
async fn one_connection_too_many_is_closed_and_the_others_go_on() {
    let server = start(Config {
        max_connections: 1,
        receive_limit: 10 * PATIENCE,
        ..config()
    })
    .await;
    let mut client = server.client().await;
    assert!(client.optimize(optimize(small())).await.is_ok());
    assert!(is_closed(server.address, b"").await);
    assert!(client.optimize(optimize(small())).await.is_ok());
}

#[tokio::test]
async fn health_says_serving() {
    let server = start(config()).await;
    let mut health = HealthClient::new(server.channel().await);
    for service in ["", NAME] {
        let request = HealthCheckRequest {
            service: service.into(),
        };
        let checked = health.check(request).await.unwrap().into_inner();
        assert_eq!(checked.status(), ServingStatus::Serving);
    }
}

#[tokio::test]
async fn reflection_lists_the_service_in_both_versions() {
    macro_rules! listed {
        ($version:ident, $channel:expr) => {{
            use reflection::server_reflection_client::ServerReflectionClient;
            use reflection::server_reflection_request::MessageRequest;
            use reflection::server_reflection_response::MessageResponse;
            use tonic_reflection::pb::$version as reflection;
            let request = reflection::ServerReflectionRequest {
                host: String::new(),
                message_request: Some(MessageRequest::ListServices(String::new())),
            };
            let mut client = ServerReflectionClient::new($channel);
            let answered = client.server_reflection_info(tokio_stream::once(request));
            let mut answers = answered.await.unwrap().into_inner();
            match answers.next().await.unwrap().unwrap().message_response {
                Some(MessageResponse::ListServicesResponse(list)) => {
                    list.service.into_iter().map(|s| s.name).collect::<Vec<_>>()
                }
                other => panic!("{other:?}"),
            }
        }};
    }
    let server = start(config()).await;
    let v1 = listed!(v1, server.channel().await);
    let v1alpha = listed!(v1alpha, server.channel().await);
    for listed in [v1, v1alpha] {
        assert!(listed.iter().any(|name| name == NAME), "{listed:?}");
        assert!(listed.iter().any(|name| name == "grpc.health.v1.Health"));
    }
}

async fn watch(server: &Running) -> tonic::Streaming<tonic_health::pb::HealthCheckResponse> {
    let mut health = HealthClient::new(server.channel().await);
    let request = HealthCheckRequest {
        service: NAME.into(),
    };
    let mut watched = health.watch(request).await.unwrap().into_inner();
    let first = watched.next().await.unwrap().unwrap();
    assert_eq!(first.status(), ServingStatus::Serving);
    watched
}

async fn ended(served: JoinHandle<Result<(), Error>>) {
    let served = timeout(PATIENCE, served).await.expect("the server ends");
    served.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drain_tells_health_finishes_calls_and_ends() {
    let server = start(narrow(0)).await;
    let mut watched = watch(&server).await;
    let mut request = endless();
    request.options = Some(pb::Options {
        time_budget: Some(prost_types::Duration {
            seconds: 1,
            nanos: 0,
        }),
        assignments: pb::Assignments::None.into(),
        ..Default::default()
    });
    let call = spawn(server.client().await, request);
    server.until(|load| load.running == 1).await;
    let Running {
        address,
        stop,
        served,
        ..
    } = server;
    stop.send(()).unwrap();
    let next = watched.next().await.unwrap().unwrap();
    assert_eq!(next.status(), ServingStatus::NotServing);
    let report = call.await.unwrap().unwrap().into_inner().report.unwrap();
    assert_eq!(report.fallback(), pb::FallbackReason::TimeBudget);
    // The open watch does not hold it.
    ended(served).await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_drain_limit_solves_stop_and_answer() {
    let (server, call) = busy(Config {
        drain_limit: Duration::ZERO,
        ..narrow(1)
    })
    .await;
    let waiting = spawn(server.client().await, optimize(small()));
    server.until(|load| load.waiting == 1).await;
    server.stop.send(()).unwrap();
    assert_eq!(
        waiting.await.unwrap().unwrap_err().code(),
        Code::Unavailable
    );
    let report = call.await.unwrap().unwrap().into_inner().report.unwrap();
    assert_eq!(report.fallback(), pb::FallbackReason::Cancelled);
    ended(server.served).await;
}

#[tokio::test]
async fn an_address_in_use_is_named() {
    let server = start(config()).await;
    let taken = Config {
        listen: server.address,
        ..config()
    };
    let error = Server::bind(taken).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot listen on {}", server.address)
    );
}

#[tokio::test]
async fn a_termination_signal_begins_the_drain() {
    let signalled = shardflow::server::signalled().unwrap();
    let server = Server::bind(config()).await.unwrap();
    let served = tokio::spawn(server.run(signalled));
    let own = std::process::id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-TERM", &own])
        .status();
    assert!(sent.unwrap().success());
    ended(served).await;
}
