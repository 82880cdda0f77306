//! `compare`: one snapshot planned twice, here or by a server.

use std::path::PathBuf;

use clap::Args;

use super::failure::{Failure, Place};
use super::files::{self, Source};
use super::planning_args::{Budgets, PlannerName, Presets};
use super::{Answered, remote, screen};
use crate::json::{Defaults, to_json};
use crate::pb;
use crate::pb::variant::Source as PlanSource;
use crate::planning::{self, Control};
use crate::report;

#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// A CompareRequest as JSON, or an OptimizeRequest: then its plan is compared with that of the greedy tiers;
    /// - is standard input
    file: PathBuf,
    /// Write the response as JSON instead of a table; - is standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Who plans the baseline
    #[arg(long, value_enum, value_name = "PLANNER")]
    baseline_planner: Option<PlannerName>,
    /// Who plans the candidate
    #[arg(long, value_enum, value_name = "PLANNER", conflicts_with = "plan")]
    candidate_planner: Option<PlannerName>,
    /// Take the candidate from a file that holds an OptimizeResponse or a Plan
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    presets: Presets,
    #[command(flatten)]
    budgets: Budgets,
    /// Ask a running server, such as 127.0.0.1:50051, instead of planning here
    #[arg(long, value_name = "ADDRESS")]
    server: Option<String>,
}

/// How the request came together, to name the places of findings as the files do.
struct Origin {
    /// The file holds an `OptimizeRequest`.
    is_optimize: bool,
    /// File of the plan, and the path of its assignments there.
    plan: Option<(String, &'static str)>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Answered, Failure> {
    if let Some(plan) = &arguments.plan {
        files::only_one_dash(&[&arguments.file, plan])?;
    }
    let source = Source::read(&arguments.file)?;
    let (mut request, is_optimize) = read(&source)?;
    let mut origin = Origin {
        is_optimize,
        plan: None,
    };
    let baseline = request.baseline.get_or_insert_default();
    override_options(baseline, arguments.baseline_planner, &arguments.budgets);
    arguments.presets.apply(&mut baseline.policy);
    let candidate = request.candidate.get_or_insert_default();
    arguments.presets.apply(&mut candidate.policy);
    override_options(candidate, arguments.candidate_planner, &arguments.budgets);
    if let Some(path) = &arguments.plan {
        let source = Source::read(path)?;
        let (response, prefix) = source.plan()?;
        candidate.source = response.plan.map(PlanSource::External);
        origin.plan = Some((source.name, prefix));
    }
    let place = |path: &str| origin.place(path);
    let response = match &arguments.server {
        Some(server) => remote::compare(server, &source.name, request.clone(), place)?,
        None => planning::compare(&request, &Control::default())
            .map_err(|refusal| Failure::refused(&source.name, refusal, place))?,
    };
    match &arguments.output {
        Some(output) => files::write(output, &to_json(&response, Defaults::Write)?)?,
        None => files::print(&report::compare(&request, &response, screen::of_stdout()))?,
    }
    Ok(Answered::Well)
}

/// The comparison that a file asks for, and whether it holds an `OptimizeRequest`. One that lacks a variant
/// altogether gets it from [`override_options`]: planned with default options, by the default policy.
fn read(source: &Source) -> Result<(pb::CompareRequest, bool), Failure> {
    if source.has_any(&["baseline", "candidate"])? {
        return Ok((source.message()?, false));
    }
    let request: pb::OptimizeRequest = source.message()?;
    let variant = |planner: pb::Planner| {
        let mut options = request.options.clone().unwrap_or_default();
        options.set_planner(planner);
        Some(pb::Variant {
            policy: request.policy.clone(),
            source: Some(PlanSource::Options(options)),
        })
    };
    let compare = pb::CompareRequest {
        baseline: variant(pb::Planner::GreedyTiers),
        candidate: variant(pb::Planner::Auto),
        request_id: request.request_id.clone(),
        snapshot: request.snapshot,
    };
    Ok((compare, true))
}

/// Overrides the options of a variant. A planner takes the place of a plan made elsewhere; budgets alone don't.
fn override_options(variant: &mut pb::Variant, planner: Option<PlannerName>, budgets: &Budgets) {
    let mut options = match (variant.source.take(), planner) {
        (Some(PlanSource::External(plan)), None) => {
            variant.source = Some(PlanSource::External(plan));
            return;
        }
        (Some(PlanSource::Options(options)), _) => options,
        (Some(PlanSource::External(_)) | None, _) => pb::Options::default(),
    };
    if let Some(planner) = planner {
        options.set_planner(planner.into());
    }
    budgets.apply(&mut options);
    variant.source = Some(PlanSource::Options(options));
}

impl Origin {
    /// The place of a finding in the file that it is about.
    fn place(&self, path: &str) -> Place {
        if let Some((file, prefix)) = &self.plan
            && let Some(rest) = path.strip_prefix("candidate.external.")
        {
            return Place {
                file: Some(file.clone()),
                path: format!("{prefix}{rest}"),
            };
        }
        let mut inner = None;
        if self.is_optimize {
            let baseline = path.strip_prefix("baseline.");
            inner = baseline.or_else(|| path.strip_prefix("candidate."));
        }
        Place::from(inner.unwrap_or(path).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_name_the_place_in_the_file_they_are_about() {
        let both = Origin {
            is_optimize: true,
            plan: Some(("plan.json".into(), "plan.")),
        };
        let here = |path: &str| Place::from(path.to_owned());
        let there = Place {
            file: Some("plan.json".into()),
            path: "plan.assignments[3].leader".into(),
        };
        assert_eq!(
            both.place("candidate.external.assignments[3].leader"),
            there
        );
        let policy = both.place("baseline.policy.min_zones");
        assert_eq!(policy, here("policy.min_zones"));
        let shard = "snapshot.shards[0].id";
        assert_eq!(both.place(shard), here(shard));
        let compare = Origin {
            is_optimize: false,
            plan: None,
        };
        let external = "candidate.external.assignments[3]";
        assert_eq!(compare.place(external), here(external));
    }

    #[test]
    fn a_planner_replaces_a_plan_made_elsewhere() {
        let mut variant = pb::Variant {
            source: Some(PlanSource::External(pb::Plan::default())),
            ..Default::default()
        };
        let budgets = Budgets::of_work(7);
        override_options(&mut variant, None, &budgets);
        assert!(matches!(variant.source, Some(PlanSource::External(_))));
        override_options(&mut variant, Some(PlannerName::Mip), &budgets);
        let Some(PlanSource::Options(options)) = variant.source else {
            unreachable!("{variant:?}");
        };
        assert_eq!(options.planner(), pb::Planner::Mip);
        assert_eq!(options.work_limit, Some(7));
    }
}
