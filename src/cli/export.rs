//! `export`: a plan as files for other tools.

mod elasticsearch;
mod kafka;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Answered;
use super::failure::{Failure, Lines, Place};
use super::files::{self, Source};
use crate::interop::{self, ExportError};
use crate::pb;
use crate::planning;
use crate::report::escaped;

#[derive(Subcommand, Debug)]
pub(super) enum Format {
    /// For kafka-reassign-partitions and kafka-leader-election
    Kafka(kafka::Arguments),
    /// For _cluster/reroute of Elasticsearch or OpenSearch
    Elasticsearch(elasticsearch::Arguments),
}

/// What every export is made of.
#[derive(Args, Debug)]
struct Planned {
    /// The OptimizeRequest as JSON; - is standard input
    file: PathBuf,
    /// The OptimizeResponse as JSON, or its plan alone, which must be that of the request; - is standard input
    plan: PathBuf,
}

pub(super) fn run(format: &Format) -> Result<Answered, Failure> {
    match format {
        Format::Kafka(arguments) => kafka::run(arguments),
        Format::Elasticsearch(arguments) => elasticsearch::run(arguments),
    }
}

impl Planned {
    /// Reads both files and exports the plan, which must be that of the request.
    fn export<T>(
        &self,
        export: impl FnOnce(&pb::OptimizeRequest, &pb::OptimizeResponse) -> Result<T, ExportError>,
    ) -> Result<T, Failure> {
        files::only_one_dash(&[&self.file, &self.plan])?;
        let source = Source::read(&self.file)?;
        let request: pb::OptimizeRequest = source.message()?;
        let plan = Source::read(&self.plan)?;
        let (response, prefix) = plan.plan()?;
        let files = Files {
            request: &source.name,
            plan: &plan.name,
            prefix,
        };
        let exported = export(&request, &response).map_err(|error| files.blame(error.findings))?;
        files.check(&request, &response)?;
        Ok(exported)
    }
}

/// Says what isn't in the files, and what to do with them.
fn remark(warnings: &[String], notes: &[String]) {
    for warning in warnings {
        files::complain(&format!("warning: {}", escaped(warning)));
    }
    for note in notes {
        files::complain(&format!("note: {}", escaped(note)));
    }
}

/// The files that an export is made of.
struct Files<'a> {
    request: &'a str,
    plan: &'a str,
    /// Path in the file of the plan where its own fields begin.
    prefix: &'static str,
}

impl Files<'_> {
    /// What is wrong, in the file that it is about: paths of the snapshot are in the request.
    fn blame(&self, findings: Vec<interop::Finding>) -> Failure {
        let placed = findings.into_iter().map(|finding| {
            let is_asked = finding.place.starts_with("snapshot");
            let file = (!is_asked).then(|| self.plan.to_owned());
            let path = self.inner(&finding.place).to_owned();
            let text = interop::Finding {
                place: path.clone(),
                ..finding
            };
            (Place { file, path }, text.to_string())
        });
        Failure::invalid(self.request, placed.collect())
    }

    /// Refuses a plan that is not one of the request, or that is wrong: what was not planned is not carried out.
    fn check(
        &self,
        request: &pb::OptimizeRequest,
        response: &pb::OptimizeResponse,
    ) -> Result<(), Failure> {
        let refused = |refusal| Failure::refused(self.request, refusal, str::to_owned);
        let plan = response.plan.as_ref().filter(|_| response.report.is_none());
        let faults = match plan {
            Some(plan) => planning::verify_plan(request, plan).map_err(refused)?,
            None => {
                let checked = planning::verify(request, response).map_err(refused)?;
                checked.faults
            }
        };
        if faults.is_empty() {
            return Ok(());
        }
        let lines = Lines::new(faults.iter().map(|fault| self.inner(fault)));
        let file = self.plan.to_owned();
        Err(Failure::Invalid { file, lines })
    }

    /// A text that may begin with the path of a part of the plan, as the file has it.
    fn inner<'t>(&self, text: &'t str) -> &'t str {
        let is_alone = self.prefix.is_empty();
        let inner = text.strip_prefix("plan.").filter(|_| is_alone);
        inner.unwrap_or(text)
    }
}
