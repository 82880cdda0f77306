//! How long leader placement takes, against the best peer on the bare problem in the same run.
//!
//! Usage: `cargo bench --bench leaders [-- S1 S2 S3 S4]`; without names S1 and S2. Exit status 1 where costs disagree,
//! a plan is not proven optimal or an answer fails its check; 2 where an argument names no family.

mod family;
mod measure;
mod network;
mod peers;

use family::{SIZES, Size};
use measure::{RUNS, median};
use network::Bare;
use peers::highs;
use shardflow_solver::budget::{Budget, never};
use shardflow_solver::cost::Rank;
use shardflow_solver::greedy::felix;
use shardflow_solver::input::{PolicyInput, SnapshotInput};
use shardflow_solver::simplex::Simplex;
use shardflow_solver::snapshot::Problem;
use shardflow_solver::strategy::{self, Answer, Outcome, SolveOptions};
use shardflow_solver::validate;
use shardflow_solver::verify;
use std::process::ExitCode;
use std::time::Duration;

/// Seed of every family.
const SEED: u64 = 1;

/// What was measured, and its median time.
type Row = (&'static str, Duration);

/// What is measured without arguments.
const BY_DEFAULT: [&str; 2] = ["S1", "S2"];

/// Shards up to which the bare network is solved, too: S3 takes HiGHS minutes a run, and the simplex from scratch.
const BARE_SHARDS_MAX: usize = 20_000;

fn main() -> ExitCode {
    let sizes = match wanted(std::env::args().skip(1)) {
        Ok(sizes) => sizes,
        Err(name) => {
            eprintln!("{name} is no family; there are S1, S2, S3 and S4");
            return ExitCode::from(2);
        }
    };
    let (machine, commit) = (measure::machine(), measure::commit());
    println!("leaders: {machine}; seed {SEED}; commit {commit}; median of {RUNS} after a warm-up");
    for size in sizes {
        if let Err(fault) = bench(size) {
            eprintln!("{}: {fault}", size.name);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The families named, in the order of their size. Options, such as the `--bench` that cargo adds, are passed over.
fn wanted(arguments: impl Iterator<Item = String>) -> Result<Vec<&'static Size>, String> {
    let mut names: Vec<String> = arguments.filter(|name| !name.starts_with('-')).collect();
    if names.is_empty() {
        names = BY_DEFAULT.map(str::to_owned).to_vec();
    }
    if let Some(unknown) = names
        .iter()
        .find(|&name| SIZES.iter().all(|size| size.name != name))
    {
        return Err(unknown.clone());
    }
    let is_wanted = |size: &&Size| names.iter().any(|name| name == size.name);
    Ok(SIZES.iter().filter(is_wanted).collect())
}

/// Measures one family and prints its rows.
fn bench(size: &Size) -> Result<(), String> {
    let (snapshot, policy) = family::make(size, SEED);
    let (planned, (problem, answer)) = median(|| (), |()| plan(&snapshot, &policy))?;
    let (tiers, _) = median(|| (), |()| tiers(&problem))?;
    let (verified, ()) = median(|| (), |()| verify(&problem, &answer))?;
    let mut ours = vec![
        ("snapshot in memory to verified plan", planned),
        ("  greedy tiers alone", tiers),
        ("  verifier alone", verified),
    ];
    let mut peers = Vec::new();
    let mut flows = Vec::new();
    let bare = network::hub(&problem).map_err(|error| error.to_string())?;
    if size.shards <= BARE_SHARDS_MAX {
        let (time, flow) = median(|| (), |()| simplex(&bare))?;
        flows.push(("the simplex", flow));
        ours.push(("bare network to optimal flow", time));
        for variant in &highs::VARIANTS {
            let (time, flow) = median(|| highs::prepare(&bare, variant), highs::Model::solve)?;
            flows.push((variant.name, flow));
            peers.push((variant.name, time));
        }
    }
    print_table(size, &bare, &ours, &peers);
    let weighted = agreed_cost(&answer, &bare, &flows)?;
    println!("weighted {weighted}, proven; {} flows agree", flows.len());
    Ok(())
}

/// Medians, and their ratios to that of the best peer.
fn print_table(size: &Size, bare: &Bare, ours: &[Row], peers: &[Row]) {
    println!(
        "\n{}: {} shards, {} brokers, {} zones, {} streams; bare network of {} nodes and {} arcs",
        size.name,
        size.shards,
        size.brokers,
        size.zones,
        size.streams,
        bare.network.node_count(),
        bare.network.arc_count(),
    );
    println!("{:<40} {:>12} {:>12}", "", "ms", "/ best peer");
    let best = peers.iter().map(|peer| peer.1).min();
    for (step, time) in ours.iter().chain(peers) {
        let ratio = best.map_or("no peer".to_owned(), |best| {
            format!("{:.3}", time.as_secs_f64() / best.as_secs_f64())
        });
        println!("{step:<40} {:>12.3} {ratio:>12}", time.as_secs_f64() * 1e3);
    }
}

fn plan(snapshot: &SnapshotInput, policy: &PolicyInput) -> Result<(Problem, Answer), String> {
    let problem =
        validate::build(snapshot, policy).map_err(|rejection| format!("{rejection:?}"))?;
    let answer = strategy::solve(&problem, &SolveOptions::default(), &never)
        .map_err(|finding| finding.to_string())?;
    Ok((problem, answer))
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

/// The `weighted` rank of the plan, once every flow is feasible and costs the same.
fn agreed_cost(answer: &Answer, bare: &Bare, flows: &[(&str, Vec<i64>)]) -> Result<i64, String> {
    let cost = answer.plan.after.0;
    if answer.report.outcome != Outcome::Optimal {
        return Err("the plan is not proven optimal".to_owned());
    }
    // Then the spreads are the hard bounds of the bare network, which leaves only `weighted` to compare.
    if let Some(rank) = Rank::ALL
        .iter()
        .find(|&&r| r < Rank::Weighted && cost[r] != 0)
    {
        return Err(format!("the plan costs {} in {}", cost[*rank], rank.name()));
    }
    for (engine, flow) in flows {
        if let Some(fault) = verify::flow::check_flow(&bare.network, flow).first() {
            return Err(format!("flow of {engine}: {fault}"));
        }
        let total = bare.cost.total(flow);
        if total != i128::from(cost[Rank::Weighted]) {
            let planned = cost[Rank::Weighted];
            return Err(format!("{engine} costs {total}, the plan {planned}"));
        }
    }
    Ok(cost[Rank::Weighted])
}
