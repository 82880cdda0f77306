//! How late a solve stops.
use std::time::{Duration, Instant};

use prost_types::Duration as Budget;
use shardflow::pb;
use shardflow::planning::{self, Control};
use shardflow_solver::budget::{Budget as Work, Stop, never};
use shardflow_solver::cost::evaluate;
use shardflow_solver::greedy::felix;
use shardflow_solver::model::{current, leaders};
use shardflow_solver::strategy::{self, SolveOptions};
use shardflow_solver::{plan, validate, verify};
use std::cell::{Cell, RefCell};

use crate::family::{self, Size};
use crate::rng::Rng;
use crate::wire;

fn ms(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}

fn timed<T>(name: &str, f: impl FnOnce() -> T) -> T {
    let at = Instant::now();
    let out = f();
    println!("  {name:<28} {:>10.2} ms", ms(at.elapsed()));
    out
}

/// phases
pub fn phases(size: &str) {
    let size = family::SIZES.iter().find(|s| s.name == size).unwrap();
    let (snapshot, policy) = family::make(size, 1);
    let request = wire::request(&snapshot, &policy);
    println!("{}", size.name);
    let v = pb::ValidateRequest {
        request: Some(request),
    };
    timed("read + validate (prepare)", || planning::validate(&v));
    let problem = timed("validate::build", || {
        validate::build(&snapshot, &policy).unwrap()
    });
    let now = timed("current::placement", || current::placement(&problem));
    timed("evaluate", || evaluate(&problem, &now));
    let mut work = Work::new(None, &never);
    let tiers = timed("felix::plan", || felix::plan(&problem, &mut work).unwrap());
    let start = std::env::var("SOLVE").is_ok();
    for (name, placement) in [("present", now.clone()), ("tiers", tiers.clone())] {
        println!(" plan of {name}");
        let made = timed("plan::make", || plan::make(&problem, placement));
        timed("verify::placement::check", || {
            verify::placement::check(&problem, &made.placement)
        });
        timed("verify::moves::check", || {
            verify::moves::check(&problem, &made)
        });
    }
    timed("verify::bound (no prices)", || {
        verify::bound::bound(&problem, &Default::default())
    });
    timed("drop of a placement", || drop(now));
    // Stops: how long from the first Stop to the return, and the widest gap between polls.
    let _ = leaders::applies(&problem);
    let mut at_ms = 1u64;
    while at_ms <= if start { 64_000 } else { 4_000 } {
        let begun = Instant::now();
        let last = Cell::new(begun);
        let widest = Cell::new((Duration::ZERO, Duration::ZERO));
        let fired = Cell::new(None);
        let polls = RefCell::new(0u64);
        let interrupt = || {
            *polls.borrow_mut() += 1;
            let now = Instant::now();
            let gap = now - last.get();
            if gap > widest.get().0 && fired.get().is_none() {
                widest.set((gap, last.get() - begun));
            }
            last.set(now);
            (now - begun >= Duration::from_millis(at_ms)).then(|| {
                if fired.get().is_none() {
                    fired.set(Some(now));
                }
                Stop::TimeBudget
            })
        };
        let answer = strategy::solve(&problem, &SolveOptions::default(), &interrupt).unwrap();
        let end = Instant::now();
        let tail = fired.get().map_or(f64::NAN, |f| ms(end - f));
        println!(
            "  stop at {at_ms:>6} ms: done {:>9.1}, tail after stop {tail:>9.1}, widest gap {:>8.1} (begun at {:>8.1}), {} polls, {:?} {:?}",
            ms(end - begun),
            ms(widest.get().0),
            ms(widest.get().1),
            polls.borrow(),
            answer.report.engine,
            answer.report.fallback
        );
        if fired.get().is_none() {
            break;
        }
        at_ms *= 4;
    }
}

/// run
pub fn run(_n: u64, _seed: u64) {
    let _: fn(&Size, u64) -> _ = family::make;
    let _ = Rng::new(1);
    let _ = Budget::default();
    let _ = Control::default();
}
