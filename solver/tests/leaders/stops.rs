//! A solve can be stopped at each of its polls, and polls often enough.

use std::cell::Cell;

use shardflow_solver::budget::{Budget, ITEMS, Interrupt, Pace, Phase, Stop, never};
use shardflow_solver::certificate::Certificate;
use shardflow_solver::cost::evaluate_within;
use shardflow_solver::greedy::felix;
use shardflow_solver::input::{BrokerInput, ShardInput, StreamInput};
use shardflow_solver::model::current;
use shardflow_solver::plan::{self, Costs};
use shardflow_solver::snapshot::{Assignment, Problem};
use shardflow_solver::strategy::{self, Answer, Engine, Fallback, Outcome, SolveOptions};
use shardflow_solver::verify;

use crate::brute::Named;
use crate::cases::{Case, MEDIUM, TINY, generate, solve};

/// Stops a phase, and those before it, from one poll on.
struct StopsAt {
    polls: Cell<usize>,
    first: usize,
    last_phase: Phase,
    has_stopped: Cell<bool>,
}

impl StopsAt {
    fn new(first: usize, last_phase: Phase) -> Self {
        StopsAt {
            polls: Cell::new(0),
            first,
            last_phase,
            has_stopped: Cell::new(false),
        }
    }
}

impl Interrupt for StopsAt {
    fn stop(&self, phase: Phase) -> Option<Stop> {
        let at = self.polls.replace(self.polls.get() + 1);
        let stops = at >= self.first && phase <= self.last_phase;
        self.has_stopped.set(self.has_stopped.get() || stops);
        stops.then_some(Stop::TimeBudget)
    }
}

fn solve_until(problem: &Problem, interrupt: &dyn Interrupt) -> Result<Answer, Stop> {
    strategy::solve(problem, &SolveOptions::default(), interrupt)
}

/// What an answer that was stopped must be: legal, no worse than the layout, and labelled.
fn check(problem: &Problem, answer: &Answer) {
    let (plan, report) = (&answer.plan, &answer.report);
    let placed = verify::placement::check(problem, &plan.placement);
    assert_eq!(placed.faults, []);
    assert_eq!((placed.cost, placed.terms), plan.after);
    assert_eq!(verify::moves::check(problem, plan), []);
    assert!(
        plan.after.0 <= shardflow_solver::cost::evaluate(problem, &current::placement(problem)).0
    );
    assert!(!report.is_reproducible);
    let fallback = match report.outcome {
        Outcome::Optimal => None,
        Outcome::Feasible => Some(Fallback::Budget(Stop::TimeBudget)),
    };
    assert_eq!(report.fallback, fallback);
}

#[test]
fn a_solve_that_is_stopped_at_any_poll_is_answered_by_what_there_was_time_for() {
    let mut engines = [0; 3];
    for (seed, size) in (60_000..60_040)
        .map(|seed| (seed, TINY))
        .chain([(60_100, MEDIUM)])
    {
        let _named = Named(&seed);
        let problem = generate(seed, size).problem();
        let whole = solve(&problem);
        let counted = StopsAt::new(usize::MAX, Phase::Current);
        assert_eq!(solve_until(&problem, &counted).as_ref(), Ok(&whole));
        for first in 0..counted.polls.get() {
            for last_phase in [Phase::Search, Phase::Plan] {
                let stopped = StopsAt::new(first, last_phase);
                let answer = solve_until(&problem, &stopped).expect("the present layout is judged");
                if !stopped.has_stopped.get() {
                    assert_eq!(answer, whole);
                    continue;
                }
                check(&problem, &answer);
                engines[match answer.report.engine {
                    Engine::Current => 0,
                    Engine::GreedyTiers => 1,
                    _ => 2,
                }] += 1;
            }
            let stopped = StopsAt::new(first, Phase::Current);
            match solve_until(&problem, &stopped) {
                Ok(answer) => check(&problem, &answer),
                Err(unsolved) => assert_eq!(unsolved, Stop::TimeBudget),
            }
        }
    }
    assert!(engines.iter().all(|&count| count > 30), "{engines:?}");
}

#[test]
fn a_plan_for_which_the_time_runs_out_gives_way_to_the_present_layout() {
    let problem = large();
    let answer = solve_until(&problem, &StopsAt::new(0, Phase::Plan));
    let answer = answer.expect("the present layout is judged");
    assert_eq!(answer.report.engine, Engine::Current);
    assert_eq!(answer.plan.moves, []);
    check(&problem, &answer);
}

/// Shards in the problem that [`large`] is: several polls' worth.
const SHARDS: usize = 4 * ITEMS;

/// One broker leads everything, and three of four shards have to leave it.
fn large() -> Problem {
    let mut case = Case::default();
    for name in ["a", "b", "c", "d"] {
        case.snapshot.brokers.push(BrokerInput {
            id: name.to_owned(),
            zone: format!("z-{name}"),
            ..BrokerInput::default()
        });
    }
    case.snapshot.streams.push(StreamInput {
        id: "s".to_owned(),
        ..StreamInput::default()
    });
    let shard = |number: usize| ShardInput {
        id: format!("s-{number}"),
        stream: "s".to_owned(),
        number: Some(number as u32),
        leader: "a".to_owned(),
        ..ShardInput::default()
    };
    case.snapshot.shards = (0..SHARDS).map(shard).collect();
    case.problem()
}

/// Runs `work` with each number of polls, up to its end. It must poll once for so many passes over the shards.
fn stops_at_every_poll<T>(passes: usize, work: impl Fn(&mut Pace<'_>) -> Result<T, Stop>) {
    let polls = Cell::new(0);
    let count = || {
        polls.set(polls.get() + 1);
        None
    };
    assert!(work(&mut Pace::new(&count)).is_ok());
    let most = polls.get();
    assert!(most >= passes * SHARDS / ITEMS, "{most} polls");
    for last in 0..most {
        polls.set(0);
        let stop = || {
            polls.set(polls.get() + 1);
            (polls.get() > last).then_some(Stop::Cancelled)
        };
        assert_eq!(work(&mut Pace::new(&stop)).err(), Some(Stop::Cancelled));
        assert_eq!(polls.get(), last + 1, "it asks no more");
    }
}

#[test]
fn what_follows_a_search_polls_for_every_shard_and_move() {
    let problem = &large();
    let placement: &[Assignment] =
        &felix::plan(problem, &mut Budget::new(None, &never)).expect("never stops");
    let plan = &plan::make(problem, placement.to_vec());
    assert_eq!(plan.moves.len(), SHARDS * 3 / 4);
    let costs = Costs {
        before: plan.before,
        after: plan.after,
    };
    // The layout.
    stops_at_every_poll(1, |pace| current::placement_within(problem, pace));
    // Shards, and the counts of their streams.
    stops_at_every_poll(2, |pace| {
        evaluate_within(problem, |at| &placement[at], pace)
    });
    // Followers, changes, counts, items, their order, shortfalls, the bytes of shards and of the placement.
    stops_at_every_poll(7, |pace| {
        plan::make_within(problem, placement.to_vec(), costs, pace)
    });
    // Ids, rules, the present counts, costs.
    stops_at_every_poll(4, |pace| {
        verify::placement::check_within(problem, placement, pace)
    });
    // Moves, the layout, its counts, steps, the end.
    stops_at_every_poll(4, |pace| verify::moves::check_within(problem, plan, pace));
    stops_at_every_poll(1, |pace| {
        verify::bound::bound_within(problem, &Certificate::default(), pace)
    });
}

#[test]
fn an_interrupted_bound_is_no_bound() {
    let problem = large();
    let counted = StopsAt::new(usize::MAX, Phase::Current);
    let whole = solve_until(&problem, &counted).expect("nothing stops it");
    assert_eq!(whole.report.outcome, Outcome::Optimal);
    // The last thing that polls is the bound.
    let last = StopsAt::new(counted.polls.get() - 1, Phase::Current);
    let answer = solve_until(&problem, &last).expect("the plan is verified");
    assert_eq!(answer.plan, whole.plan);
    assert!(answer.report.ranks.iter().all(|rank| rank.bound.is_none()));
    check(&problem, &answer);
}
