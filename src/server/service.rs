//! `PlacementService`: takes a call to the pool and its result back.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::limits::Call;
use super::pool::Pool;
use super::status;
use crate::pb;
use crate::pb::placement_service_server::PlacementService;
use crate::planning::{self, Control, Refusal};

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
        plan: fn(&M, &Control) -> Result<T, Refusal>,
    ) -> Result<Response<T>, Status> {
        let call = request.extensions().get::<Call>();
        call.inspect(|call| call.mark_read());
        let deadline = call.and_then(|call| call.deadline);
        let message = request.into_inner();
        let job = move |token| plan(&message, &Control::new(token).with_deadline(deadline));
        let planned = self.pool.run(job).await;
        let planned = planned.map_err(|failure| status::failed(&failure))?;
        planned
            .map(Response::new)
            .map_err(|refusal| status::refused(&refusal))
    }
}

#[tonic::async_trait]
impl PlacementService for Placement {
    #[tracing::instrument(skip_all, err, fields(id = request.get_ref().request_id))]
    async fn optimize(
        &self,
        request: Request<pb::OptimizeRequest>,
    ) -> Result<Response<pb::OptimizeResponse>, Status> {
        let answered = self.on_worker(request, planning::optimize).await?;
        let report = answered.get_ref().report.as_ref();
        tracing::info!(
            engine = report.map(|r| r.engine().as_str_name()),
            outcome = report.map(|r| r.outcome().as_str_name()),
            work = report.map(|r| r.work),
            "planned"
        );
        Ok(answered)
    }

    #[tracing::instrument(skip_all, err, fields(id = request.get_ref().request_id))]
    async fn compare(
        &self,
        request: Request<pb::CompareRequest>,
    ) -> Result<Response<pb::CompareResponse>, Status> {
        let answered = self.on_worker(request, planning::compare).await?;
        let differences = answered.get_ref().differences.len();
        tracing::info!(differences, "compared");
        Ok(answered)
    }

    #[tracing::instrument(skip_all, err)]
    async fn validate(
        &self,
        request: Request<pb::ValidateRequest>,
    ) -> Result<Response<pb::ValidateResponse>, Status> {
        let validate = |message: &_, _: &Control| Ok(planning::validate(message));
        let answered = self.on_worker(request, validate).await?;
        let findings = answered.get_ref().findings.len();
        tracing::info!(findings, "validated");
        Ok(answered)
    }
}
