//! `PlacementService`: takes a call to the pool and its result back.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::limits::{Arrived, Call};
use super::pool::Pool;
use super::status;
use crate::pb;
use crate::pb::placement_service_server::PlacementService;
use crate::planning::{self, Control, Refusal};
use crate::report::escaped;

/// The service.
#[derive(Debug)]
pub(super) struct Placement {
    pool: Arc<Pool>,
}

impl Placement {
    pub(super) fn new(pool: Arc<Pool>) -> Self {
        Placement { pool }
    }

    /// Runs `plan` on a worker, with what may stop it: the call's deadline, and its end.
    async fn on_worker<M: Send + 'static, T: Send + 'static>(
        &self,
        request: Request<M>,
        arrived: Arrived,
        plan: fn(&M, &Control) -> Result<T, Refusal>,
    ) -> Result<Response<T>, Status> {
        let call = request.extensions().get::<Call>();
        call.inspect(|call| call.mark_read(arrived));
        let deadline = call.and_then(|call| call.deadline);
        let message = request.into_inner();
        let job = move |token| plan(&message, &Control::new(token).with_deadline(deadline));
        let planned = match self.pool.run(job).await {
            Ok(Ok(planned)) => Ok(Response::new(planned)),
            Ok(Err(refusal)) => Err(status::refused(&refusal)),
            Err(failure) => Err(status::failed(&failure)),
        };
        planned.inspect_err(status::log)
    }
}

fn arrived(id: &str, snapshot: Option<&pb::Snapshot>) -> Arrived {
    Arrived {
        id: id.to_owned(),
        shards: snapshot.map_or(0, |snapshot| snapshot.shards.len()),
    }
}

#[tonic::async_trait]
impl PlacementService for Placement {
    #[tracing::instrument(skip_all, fields(id = %escaped(&request.get_ref().request_id)))]
    async fn optimize(
        &self,
        request: Request<pb::OptimizeRequest>,
    ) -> Result<Response<pb::OptimizeResponse>, Status> {
        let message = request.get_ref();
        let arrived = arrived(&message.request_id, message.snapshot.as_ref());
        let planned = self.on_worker(request, arrived, planning::optimize);
        let answered = planned.await?;
        let report = answered.get_ref().report.as_ref();
        tracing::info!(
            engine = report.map(|r| r.engine().as_str_name()),
            outcome = report.map(|r| r.outcome().as_str_name()),
            work = report.map(|r| r.work),
            "planned"
        );
        Ok(answered)
    }

    #[tracing::instrument(skip_all, fields(id = %escaped(&request.get_ref().request_id)))]
    async fn compare(
        &self,
        request: Request<pb::CompareRequest>,
    ) -> Result<Response<pb::CompareResponse>, Status> {
        let message = request.get_ref();
        let arrived = arrived(&message.request_id, message.snapshot.as_ref());
        let compared = self.on_worker(request, arrived, planning::compare);
        let answered = compared.await?;
        let differences = answered.get_ref().differences.len();
        tracing::info!(differences, "compared");
        Ok(answered)
    }

    #[tracing::instrument(skip_all)]
    async fn validate(
        &self,
        request: Request<pb::ValidateRequest>,
    ) -> Result<Response<pb::ValidateResponse>, Status> {
        let validate = |message: &_, _: &Control| Ok(planning::validate(message));
        let arrived = match &request.get_ref().request {
            Some(inner) => arrived(&inner.request_id, inner.snapshot.as_ref()),
            None => Arrived::default(),
        };
        let answered = self.on_worker(request, arrived, validate).await?;
        let findings = answered.get_ref().findings.len();
        tracing::info!(findings, "validated");
        Ok(answered)
    }
}
