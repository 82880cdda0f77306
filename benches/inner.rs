//! The inner loops, one by one: what a change to one of them does before it shows in `ratios`.
//!
//! Usage: `make bench-inner`, or `make bench-inner ARGS=pricing` for those whose names match. Wall-clock times of this
//! machine, to be compared with those of an earlier run on it: Criterion does so by itself.

#[expect(dead_code, reason = "edits are for `ratios`")]
mod family;
#[expect(
    dead_code,
    reason = "files and the classical families are for `ratios`"
)]
mod network;
#[expect(dead_code, reason = "the classical families are for `ratios`")]
mod random;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use family::{SIZES, Size};
use network::{Bare, Form};
use shardflow_solver::budget::{Budget, never};
use shardflow_solver::greedy::felix;
use shardflow_solver::network::RankCost;
use shardflow_solver::plan;
use shardflow_solver::simplex::Simplex;
use shardflow_solver::snapshot::Problem;
use shardflow_solver::strategy::{self, Answer, SolveOptions};
use shardflow_solver::{validate, verify};
use std::hint::black_box;

const SEED: u64 = 1;

/// S2: large enough that its arcs don't fit the first cache, small enough for hundreds of samples.
const SIZE: &Size = &SIZES[1];

criterion_group!(loops, simplex, planning, verifier);
criterion_main!(loops);

fn problem() -> Problem {
    let (snapshot, policy) = family::make(SIZE, SEED);
    validate::build(&snapshot, &policy).expect("a family is valid")
}

fn answer(problem: &Problem) -> Answer {
    strategy::solve(problem, &SolveOptions::default(), &never).expect("a family is supported")
}

/// The engine with a feasible flow of the network, no rank minimised.
fn feasible(bare: &Bare) -> Simplex {
    let mut budget = Budget::new(None, &never);
    Simplex::from_scratch(&bare.network, &mut budget).expect("a family is feasible")
}

fn minimize(simplex: &mut Simplex, cost: &RankCost) {
    let mut budget = Budget::new(None, &never);
    simplex
        .minimize(cost, &mut budget)
        .expect("there is an optimum");
}

/// What is measured, on a copy of the engine.
type Work<'a> = &'a dyn Fn(&mut Simplex);

fn simplex(criterion: &mut Criterion) {
    let bare = network::of(&problem(), Form::Compact).expect("a family is a network");
    let start = feasible(&bare);
    let mut optimal = start.clone();
    minimize(&mut optimal, &bare.cost);
    let zero = RankCost::linear(vec![0; bare.network.arc_count()]);
    let arcs = Throughput::Elements(bare.network.arc_count() as u64);
    let pivots = Throughput::Elements(optimal.stats().pivots - start.stats().pivots);
    let mut group = criterion.benchmark_group("simplex");
    let mut from = |name: &str, throughput: &Throughput, simplex: &Simplex, work: Work<'_>| {
        group.throughput(throughput.clone());
        group.bench_function(name, |bencher| {
            let run = |mut simplex: Simplex| {
                work(&mut simplex);
                simplex
            };
            bencher.iter_batched(|| simplex.clone(), run, BatchSize::LargeInput);
        });
    };
    let begin: Work<'_> = &|simplex| minimize(simplex, &zero);
    let solve: Work<'_> = &|simplex| minimize(simplex, &bare.cost);
    from("begin a rank that costs nothing", &arcs, &optimal, begin);
    from(
        "begin a rank and price every arc once",
        &arcs,
        &optimal,
        solve,
    );
    from(
        "restrict to the optimal face",
        &arcs,
        &optimal,
        &Simplex::restrict,
    );
    from(
        "pivots from a feasible flow to an optimum",
        &pivots,
        &start,
        solve,
    );
    group.throughput(arcs);
    group.bench_function("find a feasible flow", |bencher| {
        bencher.iter(|| feasible(black_box(&bare)));
    });
    group.finish();
}

fn planning(criterion: &mut Criterion) {
    let (snapshot, policy) = family::make(SIZE, SEED);
    let problem = problem();
    let answer = answer(&problem);
    let mut group = criterion.benchmark_group("planning");
    group.throughput(Throughput::Elements(SIZE.shards as u64));
    group.bench_function("validate", |bencher| {
        bencher.iter(|| validate::build(black_box(&snapshot), &policy));
    });
    group.bench_function("greedy tiers", |bencher| {
        bencher.iter(|| felix::plan(black_box(&problem), &mut Budget::new(None, &never)));
    });
    group.bench_function("moves, order and fingerprint", |bencher| {
        let placement = || answer.plan.placement.clone();
        let make = |placement| plan::make(&problem, placement);
        bencher.iter_batched(placement, make, BatchSize::LargeInput);
    });
    group.finish();
}

fn verifier(criterion: &mut Criterion) {
    let problem = problem();
    let answer = answer(&problem);
    let plan = &answer.plan;
    let prices = answer.report.certificate.as_ref().expect("it is proven");
    let mut group = criterion.benchmark_group("verifier");
    group.throughput(Throughput::Elements(SIZE.shards as u64));
    group.bench_function("placement", |bencher| {
        bencher.iter(|| verify::placement::check(black_box(&problem), &plan.placement));
    });
    group.bench_function("moves", |bencher| {
        bencher.iter(|| verify::moves::check(black_box(&problem), plan));
    });
    group.bench_function("bound", |bencher| {
        bencher.iter(|| verify::bound::bound(black_box(&problem), prices));
    });
    group.finish();
}
