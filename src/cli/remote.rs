//! A running server in place of the planning core.

use std::future::Future;
use std::time::Duration;

use shardflow_solver::validate::Finding;
use tonic::codec::CompressionEncoding;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::failure::{Failure, Place, chain};
use crate::pb;
use crate::pb::placement_service_client::PlacementServiceClient;
use crate::planning::Refusal;

/// Time in which a server must accept the connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Has `server` plan the request that `file` holds.
pub(super) fn optimize(
    server: &str,
    file: &str,
    request: pb::OptimizeRequest,
) -> Result<pb::OptimizeResponse, Failure> {
    wait(async {
        let mut client = connect(server).await?;
        match client.optimize(request.clone()).await {
            Ok(response) => Ok(response.into_inner()),
            Err(status) => {
                // A status has room for the first findings only; Validate lists them all.
                let findings = match status.code() {
                    Code::InvalidArgument => all_findings(&mut client, request).await,
                    _ => Vec::new(),
                };
                Err(failure(server, file, &status, findings, str::to_owned))
            }
        }
    })
}

/// Has `server` run the comparison that `file` asks for; `place` turns the path of a finding into its place in the
/// files.
pub(super) fn compare(
    server: &str,
    file: &str,
    request: pb::CompareRequest,
    place: impl Fn(&str) -> Place,
) -> Result<pb::CompareResponse, Failure> {
    wait(async {
        let mut client = connect(server).await?;
        let answer = client.compare(request).await;
        let response =
            answer.map_err(|status| failure(server, file, &status, Vec::new(), place))?;
        Ok(response.into_inner())
    })
}

/// Runs to its end on this thread.
fn wait<T>(call: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Other(format!("can't start the runtime: {error}")))?;
    runtime.block_on(call)
}

/// Answers may be of any size: they come from the server that the caller chose.
async fn connect(server: &str) -> Result<PlacementServiceClient<Channel>, Failure> {
    let unreachable = |error: tonic::transport::Error| {
        Failure::Other(format!("can't reach {server}: {}", chain(&error)))
    };
    let address = if server.contains("://") {
        server.to_owned()
    } else {
        format!("http://{server}")
    };
    let endpoint = Endpoint::from_shared(address).map_err(unreachable)?;
    let channel = endpoint.connect_timeout(CONNECT_LIMIT).connect().await;
    Ok(PlacementServiceClient::new(channel.map_err(unreachable)?)
        .accept_compressed(CompressionEncoding::Zstd)
        .max_decoding_message_size(usize::MAX))
}

/// Everything that is wrong with a request; empty where the server would not say.
async fn all_findings(
    client: &mut PlacementServiceClient<Channel>,
    request: pb::OptimizeRequest,
) -> Vec<Finding> {
    let request = pb::ValidateRequest {
        request: Some(request),
    };
    let Ok(response) = client.validate(request).await else {
        return Vec::new();
    };
    let findings = response.into_inner().findings.into_iter();
    let findings = findings.map(|finding| Finding {
        path: finding.path,
        value: finding.value,
        rule: finding.rule,
    });
    findings.collect()
}

/// What a status means for the caller. `known` are the findings behind it; where there are none, those that the
/// status itself carries count.
fn failure<P: Into<Place>>(
    server: &str,
    file: &str,
    status: &Status,
    known: Vec<Finding>,
    place: impl Fn(&str) -> P,
) -> Failure {
    let findings = if known.is_empty() {
        carried(status)
    } else {
        known
    };
    match status.code() {
        Code::InvalidArgument if !findings.is_empty() => {
            Failure::refused(file, Refusal::Invalid(findings), place)
        }
        Code::InvalidArgument => Failure::Usage(format!("{file}: {}", status.message())),
        code => Failure::Other(format!("{server}: {code}: {}", status.message())),
    }
}

/// The findings that a status carries; the description of each holds value and rule.
fn carried(status: &Status) -> Vec<Finding> {
    let Some(request) = status.get_details_bad_request() else {
        return Vec::new();
    };
    let violations = request.field_violations.into_iter();
    let findings = violations.map(|violation| Finding {
        path: violation.field,
        value: String::new(),
        rule: violation.description,
    });
    findings.collect()
}
