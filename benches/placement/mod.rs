//! The placement families: how long a plan takes, and the bare problem behind it on the same networks as the peers.

use crate::SEED;
use crate::contest::{self, Contestant, Run};
use crate::family::perturb::{self, Perturbation};
use crate::family::{self, Size};
use crate::measure::time;
use crate::network::{self, Bare, Form, dimacs};
use crate::peers::{Peers, checked_cost, named};
use crate::table::{Section, grouped};
use shardflow_solver::bare;
use shardflow_solver::budget::{Budget, never};
use shardflow_solver::cost::{Rank, evaluate};
use shardflow_solver::greedy::felix;
use shardflow_solver::hint::PriceHint;
use shardflow_solver::input::{PolicyInput, SnapshotInput};
use shardflow_solver::linear::Method;
use shardflow_solver::model::leaders::{self, Solution};
use shardflow_solver::simplex::Simplex;
use shardflow_solver::snapshot::{Assignment, Problem};
use shardflow_solver::strategy::{self, Answer, Outcome, SolveOptions};
use shardflow_solver::validate;
use shardflow_solver::verify;
use std::path::Path;
use std::time::Duration;

/// Shards up to which the dense network is made: that of S3 has 10 million arcs and was never the best of the three.
const DENSE_SHARDS_MAX: usize = 20_000;

/// Shards up to which the bare problem is solved where no peers are named: S4 takes the peers minutes a run and 3 GB.
const BARE_SHARDS_MAX: usize = 200_000;

/// Shards up to which the hub network is made. That of S4 has 47 million arcs.
const HUB_SHARDS_MAX: usize = 200_000;

/// The plan of a snapshot in memory, the row that others are held against.
const PLAN: &str = "snapshot in memory to verified plan";

/// The part of that which peers do: the network built, all ranks minimised and checked, shards seated.
const NETWORK: &str = "leader network from the tiers' plan, all ranks";

/// The bare solver as it comes.
pub(crate) const AUTO: (&str, Method) = ("bare solver", Method::Auto);

/// Measures one family.
///
/// # Errors
/// Where ours fails, is not proven optimal, or costs differ.
pub(crate) fn bench(
    size: &Size,
    forms: &[Form],
    peers: &Peers,
    files: &Path,
) -> Result<Section, String> {
    let (snapshot, policy) = family::make(size, SEED);
    let (problem, answer) = plan(&snapshot, &policy, &SolveOptions::default())?;
    let weighted = weighted_alone(&answer)?;
    let bares = bares(size, forms, peers, &problem)?;
    let mut contestants = planners(size, &snapshot, &policy, &problem, &answer);
    let mut notes = Vec::new();
    for (form, bare) in &bares {
        let file = files.join(format!("{}-{}.min", size.name, form.name()));
        dimacs::write(bare, size.name, &file).map_err(|error| error.to_string())?;
        if *form == Form::Compact || size.shards <= DENSE_SHARDS_MAX {
            contestants.push(from_scratch(bare, size.name, form.name()));
        }
        contestants.push(bare_solver(AUTO, bare, size.name, form.name()));
        contestants.extend(peers.on(bare, &file, size.name, form.name()));
        let (nodes, arcs) = (bare.network.node_count(), bare.network.arc_count());
        notes.push(format!(
            "{}: {} nodes, {} arcs.",
            form.name(),
            grouped(nodes),
            grouped(arcs)
        ));
    }
    for form in Form::ALL
        .iter()
        .filter(|form| !bares.iter().any(|bare| bare.0 == **form))
    {
        notes.push(format!("{}: left out at this size.", form.name()));
    }
    let mut rows = contest::hold(contestants)?;
    let planned = perturb::planned(&snapshot, &problem, &answer.plan.placement);
    let proof = answer.report.certificate.as_ref().ok_or("no prices")?;
    let prices = SolveOptions {
        price_hint: PriceHint::of(&problem, proof),
        ..SolveOptions::default()
    };
    for edit in Perturbation::ALL {
        let edited = edit.apply(&planned, SEED);
        rows.extend(contest::hold(after(edit, size, &edited, &policy, &prices))?);
    }
    notes.push(format!("`weighted` {weighted}, proven; all answers agree."));
    Ok(Section {
        name: size.name.to_owned(),
        about: format!(
            "{} shards, {} brokers, {} zones, {} streams",
            grouped(size.shards),
            grouped(size.brokers),
            size.zones,
            grouped(size.streams)
        ),
        count: size.shards,
        rows,
        notes,
    })
}

/// The networks that are made at this size.
fn bares(
    size: &Size,
    forms: &[Form],
    peers: &Peers,
    problem: &Problem,
) -> Result<Vec<(Form, Bare)>, String> {
    let is_made = |form: &&Form| {
        let is_small = match form {
            Form::Dense => size.shards <= DENSE_SHARDS_MAX,
            Form::Hub => size.shards <= HUB_SHARDS_MAX,
            Form::Compact => size.shards <= BARE_SHARDS_MAX || peers.are_named(),
        };
        forms.contains(form) || (forms.is_empty() && is_small)
    };
    let make = |&form: &Form| match network::of(problem, form) {
        Ok(bare) => Ok((form, bare)),
        Err(error) => Err(error.to_string()),
    };
    Form::ALL.iter().filter(is_made).map(make).collect()
}

/// From the snapshot, and the two large parts of that alone.
fn planners<'a>(
    size: &Size,
    snapshot: &'a SnapshotInput,
    policy: &'a PolicyInput,
    problem: &'a Problem,
    answer: &'a Answer,
) -> Vec<Contestant<'a>> {
    let planned = move || {
        let (time, (_, answer)) =
            time(|| (), |()| plan(snapshot, policy, &SolveOptions::default()))?;
        Ok(run(time, Some(weighted_alone(&answer)?)))
    };
    let start = felix::plan(problem, &mut Budget::new(None, &never)).unwrap_or_default();
    let optimum = move || {
        let (time, solution) = time(|| (), |()| solve_network(problem, &start))?;
        let cost = evaluate(problem, &solution.placement).0[Rank::Weighted];
        Ok(run(time, Some(i128::from(cost))))
    };
    let tiers = move || Ok(run(time(|| (), |()| tiers(problem))?.0, None));
    let verified = move || Ok(run(time(|| (), |()| verify(problem, answer))?.0, None));
    vec![
        Contestant::ours(PLAN, size.name, planned),
        Contestant::ours(NETWORK, size.name, optimum),
        Contestant::ours("greedy tiers alone", size.name, tiers),
        Contestant::ours("verifier alone", size.name, verified),
    ]
}

/// Plans of the cluster after an edit, from the layout that was planned before, without and with the prices of its
/// plan. All of them have the same optimum.
fn after<'a>(
    edit: Perturbation,
    size: &Size,
    edited: &'a SnapshotInput,
    policy: &'a PolicyInput,
    prices: &'a SolveOptions,
) -> Vec<Contestant<'a>> {
    let problem = format!("{} after {}", size.name, edit.name());
    let without = SolveOptions::default();
    let planned = move |options: &SolveOptions| {
        let (time, (_, answer)) = time(|| (), |()| plan(edited, policy, options))?;
        let cost = i128::from(answer.plan.after.0[Rank::Weighted]);
        Ok(run(time, Some(cost)))
    };
    let name = format!("{}: {PLAN}", edit.name());
    let hinted = format!("{name}, with price_hint");
    vec![
        Contestant::ours(name, &problem, move || planned(&without)),
        Contestant::ours(hinted, &problem, move || planned(prices)),
    ]
}

/// The simplex of the plan on a plain network, as on one read from a file.
fn from_scratch<'a>(bare: &'a Bare, problem: &str, form: &str) -> Contestant<'a> {
    Contestant::ours(named("simplex of the plan", form), problem, move || {
        let (time, flow) = time(|| (), |()| simplex(bare))?;
        Ok(run(time, Some(checked_cost(bare, &flow)?)))
    })
}

/// The bare solver on a plain network, as on one read from a file.
pub(crate) fn bare_solver<'a>(
    (name, method): (&str, Method),
    bare: &'a Bare,
    problem: &str,
    form: &str,
) -> Contestant<'a> {
    Contestant::ours(named(name, form), problem, move || {
        let solve = |()| bare_flow(bare, method);
        let (time, flow) = time(|| (), solve)?;
        Ok(run(time, Some(checked_cost(bare, &flow)?)))
    })
}

fn bare_flow(network: &Bare, method: Method) -> Result<Vec<i64>, String> {
    let mut budget = Budget::new(None, &never);
    let outcome = bare::outcome(&network.network, &network.cost, method, &mut budget).0;
    match outcome.map_err(|error| error.to_string())? {
        bare::Outcome::Optimal(solution) => Ok(solution.flow),
        other => Err(format!("{other:?}")),
    }
}

fn run(time: Duration, cost: Option<i128>) -> Run {
    Run {
        time,
        cost,
        peak_bytes: None,
    }
}

fn plan(
    snapshot: &SnapshotInput,
    policy: &PolicyInput,
    options: &SolveOptions,
) -> Result<(Problem, Answer), String> {
    let problem =
        validate::build(snapshot, policy).map_err(|rejection| format!("{rejection:?}"))?;
    let answer = strategy::solve(&problem, options, &never).map_err(|stop| format!("{stop:?}"))?;
    if answer.report.outcome != Outcome::Optimal {
        return Err("the plan is not proven optimal".to_owned());
    }
    Ok((problem, answer))
}

/// The `weighted` rank of a plan that costs nothing in the ranks before. Then the spreads are the hard bounds of the
/// bare network, and the two have the same optimum.
fn weighted_alone(answer: &Answer) -> Result<i128, String> {
    let cost = answer.plan.after.0;
    let costly = |rank: &&Rank| **rank < Rank::Weighted && cost[**rank] != 0;
    match Rank::ALL.iter().find(costly) {
        Some(rank) => Err(format!("the plan costs {} in {}", cost[*rank], rank.name())),
        None => Ok(i128::from(cost[Rank::Weighted])),
    }
}

fn solve_network(problem: &Problem, start: &[Assignment]) -> Result<Solution, String> {
    let mut budget = Budget::new(None, &never);
    leaders::solve(problem, start, &PriceHint::default(), &mut budget)
        .map_err(|error| error.to_string())
}

fn tiers(problem: &Problem) -> Result<(), String> {
    let mut budget = Budget::new(None, &never);
    (felix::plan(problem, &mut budget).map(drop)).map_err(|stop| format!("stopped: {stop:?}"))
}

/// Everything that the verifier says of an answer: rules and costs, moves, and the bound from the prices.
fn verify(problem: &Problem, answer: &Answer) -> Result<(), String> {
    let plan = &answer.plan;
    let checked = verify::placement::check(problem, &plan.placement);
    let moves = verify::moves::check(problem, plan);
    if let Some(fault) = checked.faults.iter().chain(&moves).next() {
        return Err(fault.to_string());
    }
    let prices = answer.report.certificate.as_ref().ok_or("no prices")?;
    let bound = verify::bound::bound(problem, prices).ok_or("the prices prove nothing")?;
    let proven = verify::bound::proven(&checked.cost, &bound).map_err(|fault| fault.to_string())?;
    if proven == checked.cost.0.map(Some) {
        Ok(())
    } else {
        Err(format!("{:?} is proven of {:?}", proven, checked.cost.0))
    }
}

fn simplex(bare: &Bare) -> Result<Vec<i64>, String> {
    let mut budget = Budget::new(None, &never);
    let mut simplex =
        Simplex::from_scratch(&bare.network, &mut budget).map_err(|error| error.to_string())?;
    (simplex.minimize(&bare.cost, &mut budget)).map_err(|error| error.to_string())?;
    Ok(simplex.flow().to_vec())
}
