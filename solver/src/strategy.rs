//! The door: picks an engine, keeps the budget, labels the outcome.
//!
//! An answer is the best of the candidates at hand: the exact engine's placement, the greedy tiers', the present
//! layout, in this order where they cost the same. The exact engine starts from the better of the other two, so
//! whenever it is stopped its plan is no worse. Each candidate passes the verifier before it is answered; bounds are
//! the verifier's own, computed from the snapshot and the prices alone, never the engine's word. A plan is optimal
//! when its value meets the bound in every rank.

use crate::budget::{Budget, Interrupt, Pace, Phase, Stop};
use crate::certificate::Certificate;
use crate::cost::{Cost, Evaluation, RANKS, Rank, evaluate_within};
use crate::greedy::{felix, swap, weight};
use crate::hint::PriceHint;
use crate::joint::{self, Finder};
use crate::model::current;
use crate::model::leaders::{self, LeaderError};
use crate::plan::{self, Costs, Plan};
use crate::snapshot::{Assignment, Problem, Shard};
use crate::verify::{self, bound::Bound};

/// Who plans.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Planner {
    /// The exact engine that fits, with the greedy tiers as fallback.
    #[default]
    Auto,
    /// Min-cost flow.
    NetworkSimplex,
    /// Mixed-integer program.
    Mip,
    /// Felix tiers.
    GreedyTiers,
    /// Weight function.
    WeightFunction,
    /// Swaps.
    Swap,
}

impl Planner {
    /// Whether it plans by a rule of its own and proves nothing.
    pub fn is_greedy(self) -> bool {
        matches!(
            self,
            Planner::GreedyTiers | Planner::WeightFunction | Planner::Swap
        )
    }
}

/// How to plan.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SolveOptions {
    /// Who plans.
    pub planner: Planner,
    /// Most solver work.
    pub work_limit: Option<u64>,
    /// Prices to start from.
    pub price_hint: PriceHint,
}

/// Whose plan the answer holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Engine {
    /// Min-cost flow, and local search from there.
    NetworkSimplex,
    /// Mixed-integer program.
    Mip,
    /// Felix tiers.
    GreedyTiers,
    /// Weight function.
    WeightFunction,
    /// Swaps.
    Swap,
    /// The present layout.
    Current,
    /// A plan made elsewhere.
    External,
}

/// How good the plan is known to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// Proven best in every rank.
    Optimal,
    /// Legal, with bounds.
    Feasible,
}

/// Why the answer is not the engine's proven optimum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// A budget was hit.
    Budget(Stop),
    /// The verifier refused the engine's answer.
    Verifier,
}

/// Value of a rank in the plan, and what is known of how low it can go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankBound {
    /// The rank.
    pub rank: Rank,
    /// Value in the plan.
    pub value: i64,
    /// No plan as good in the ranks before has less.
    pub bound: Option<i64>,
    /// Who says so, where there is a bound.
    pub proof: Option<Proof>,
}

/// What stands behind a bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proof {
    /// The verifier, from prices.
    Certificate,
    /// The MIP solver's own word.
    Solver,
}

/// How the plan came about.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Whose plan it is.
    pub engine: Engine,
    /// How good it is known to be.
    pub outcome: Outcome,
    /// Why it is not the proven optimum, where an exact engine was asked for.
    pub fallback: Option<Fallback>,
    /// All ranks, the most important first.
    pub ranks: Vec<RankBound>,
    /// (value − bound) / max(|value|, 1) of the first rank that is not proven.
    pub gap: Option<f64>,
    /// Work spent.
    pub work: u64,
    /// False where a clock or a cancellation decided.
    pub is_reproducible: bool,
    /// The prices that prove the bounds.
    pub certificate: Option<Certificate>,
    /// Things to know that are not errors.
    pub warnings: Vec<String>,
}

/// By rank, what no plan as good in the ranks before is below.
type Bounds = [Option<i64>; RANKS];

/// A plan and how it came about.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The plan.
    pub plan: Plan,
    /// The report.
    pub report: Report,
}

/// Plans. The interrupt is polled at least every millisecond of work, in whatever phase.
///
/// # Errors
/// The interrupt's reason, where it ends the last [`Phase`] too: before even the present layout was judged.
pub fn solve(
    problem: &Problem,
    options: &SolveOptions,
    interrupt: &dyn Interrupt,
) -> Result<Answer, Stop> {
    let search = || interrupt.stop(Phase::Search);
    let mut budget = Budget::new(options.work_limit, &search);
    let mut candidates = Candidates::new(problem, interrupt)?;
    let certificate = candidates.search(options, &mut budget);
    let (engine, plan) = candidates.verified()?;
    let bound = candidates.bound(certificate.as_ref(), &plan.after.0);
    let Candidates {
        solver_bounds,
        stop,
        is_refused,
        mut warnings,
        ..
    } = candidates;
    let is_finished = certificate.is_some() && stop.is_none();
    warnings.extend(joint::oversized(problem, &plan.after.0));
    let mut answer = label(engine, plan, certificate, bound, &solver_bounds);
    let report = &mut answer.report;
    if is_finished && report.outcome == Outcome::Feasible {
        warnings.extend(held_back(problem));
    }
    report.work = budget.spent();
    report.warnings.append(&mut warnings);
    report.is_reproducible = stop.is_none_or(|reason| reason == Stop::WorkLimit);
    report.fallback = match stop {
        _ if report.outcome == Outcome::Optimal => None,
        Some(reason) => Some(Fallback::Budget(reason)),
        None => is_refused.then_some(Fallback::Verifier),
    };
    Ok(answer)
}

/// Judges a plan made elsewhere. Rules that it breaks become warnings.
pub fn judge(problem: &Problem, placement: Vec<Assignment>) -> Answer {
    let faults = verify::placement::check(problem, &placement).faults;
    let plan = plan::make(problem, placement);
    let bound = verify::bound::bound(problem, &Certificate::default());
    let mut answer = label(Engine::External, plan, None, bound, &[None; RANKS]);
    if !faults.is_empty() {
        answer.report.outcome = Outcome::Feasible;
    }
    answer
        .report
        .warnings
        .extend(faults.iter().map(|fault| fault.to_string()));
    answer
}

/// The one thing that keeps a finished solve from its proof: a zone in which the leader network does not count exactly
/// the replicas of shards without a leader.
fn held_back(problem: &Problem) -> Option<String> {
    let mut orphans = problem.shards.iter();
    let first = orphans.find(|shard| leaders::is_orphan(problem, shard))?;
    let zone = leaders::crossing_zone(problem)?;
    let others = orphans.filter(|shard| leaders::is_orphan(problem, shard));
    Some(format!(
        "zone {:?} limits its leaders and a broker in it its replicas; this version does not decide exactly which \
         replicas stay there while no leader can be placed ({} shards have followers and no leader, first: {:?}), so \
         the plan may not be the best",
        problem.zones[zone.index()].name,
        1 + others.count(),
        first.id
    ))
}

/// Placements to choose from, the preferred one last.
struct Candidates<'a> {
    problem: &'a Problem,
    interrupt: &'a dyn Interrupt,
    /// Cost of the present layout as it is listed.
    before: Evaluation,
    list: Vec<Candidate>,
    /// What the MIP solver says of the problem.
    solver_bounds: Bounds,
    /// Why the search or the making of its plan ended early.
    stop: Option<Stop>,
    /// The verifier refused something.
    is_refused: bool,
    warnings: Vec<String>,
}

struct Candidate {
    engine: Engine,
    placement: Vec<Assignment>,
    cost: Evaluation,
}

impl<'a> Candidates<'a> {
    /// The present layout alone.
    fn new(problem: &'a Problem, interrupt: &'a dyn Interrupt) -> Result<Self, Stop> {
        let judge = || interrupt.stop(Phase::Current);
        let mut pace = Pace::new(&judge);
        let placement = current::placement_within(problem, &mut pace)?;
        let before = Costs::of_present(problem, &mut pace)?;
        // They differ where surplus is dropped or no leader is live.
        let is_listed = |(shard, kept): (&Shard, &Assignment)| shard.present == *kept;
        let cost = match problem.shards.iter().zip(&placement).all(is_listed) {
            true => before,
            false => evaluate_within(problem, |at| &placement[at], &mut pace)?,
        };
        Ok(Candidates {
            problem,
            interrupt,
            before,
            list: vec![Candidate {
                engine: Engine::Current,
                placement,
                cost,
            }],
            solver_bounds: [None; RANKS],
            stop: None,
            is_refused: false,
            warnings: problem.warnings.clone(),
        })
    }

    /// Adds what the planner finds; the prices of the exact engine.
    fn search(&mut self, options: &SolveOptions, budget: &mut Budget<'_>) -> Option<Certificate> {
        self.search_greedily(options.planner, budget);
        if options.planner.is_greedy() || self.stop.is_some() {
            return None;
        }
        let is_bare = !self.problem.has_loads() && self.problem.policy.max_moves.is_none();
        if !(is_bare && leaders::applies(self.problem)) || options.planner == Planner::Mip {
            return self.search_jointly(options, budget);
        }
        match leaders::solve(self.problem, self.best(), &options.price_hint, budget) {
            Ok(solution) => {
                self.stop = solution.stop;
                self.add(Engine::NetworkSimplex, solution.placement);
                return Some(solution.certificate);
            }
            Err(LeaderError::Stopped(reason)) => self.stop = Some(reason),
            Err(LeaderError::Refused(fault)) => {
                self.is_refused = true;
                self.warnings.push(fault);
            }
        }
        None
    }

    /// Adds what is found where leaders alone don't decide everything.
    fn search_jointly(
        &mut self,
        options: &SolveOptions,
        budget: &mut Budget<'_>,
    ) -> Option<Certificate> {
        let method = joint::Method {
            uses_flow: options.planner != Planner::Mip,
            uses_mip: options.planner != Planner::NetworkSimplex,
        };
        self.add_found(Engine::Swap, swap::plan(self.problem, self.best(), budget));
        if self.stop.is_some() {
            return None;
        }
        let hint = &options.price_hint;
        let found = joint::solve(
            self.problem,
            self.best(),
            hint,
            method,
            self.interrupt,
            budget,
        );
        self.stop = found.stop;
        self.is_refused |= !found.faults.is_empty();
        self.warnings.extend(found.faults);
        self.solver_bounds = found.bounds;
        let engine = match found.finder {
            Finder::Mip => Some(Engine::Mip),
            Finder::Flow => Some(Engine::NetworkSimplex),
            // Nothing better is known after all that was to be done.
            Finder::Start if found.stop.is_none() => Some(match method.uses_flow {
                true => Engine::NetworkSimplex,
                false => Engine::Mip,
            }),
            Finder::Start => None,
        };
        if let Some(engine) = engine {
            self.add(engine, found.placement);
        }
        found.certificate
    }

    /// Adds what the greedy planner asked for finds, and what it starts from; for others the tiers'.
    fn search_greedily(&mut self, planner: Planner, budget: &mut Budget<'_>) {
        let problem = self.problem;
        if planner == Planner::WeightFunction {
            return self.add_found(Engine::WeightFunction, weight::plan(problem, budget));
        }
        self.add_found(Engine::GreedyTiers, felix::plan(problem, budget));
        if planner == Planner::Swap && self.stop.is_none() {
            let swapped = swap::plan(problem, self.best(), budget);
            self.add_found(Engine::Swap, swapped);
        }
    }

    /// Adds what a planner found, or notes why it ended early.
    fn add_found(&mut self, engine: Engine, found: Result<Vec<Assignment>, Stop>) {
        match found {
            Ok(placement) => self.add(engine, placement),
            Err(reason) => self.stop = Some(reason),
        }
    }

    /// Adds a placement, unless there is no time left to judge it.
    fn add(&mut self, engine: Engine, placement: Vec<Assignment>) {
        let finish = || self.interrupt.stop(Phase::Plan);
        match evaluate_within(self.problem, |at| &placement[at], &mut Pace::new(&finish)) {
            Ok(cost) => self.list.push(Candidate {
                engine,
                placement,
                cost,
            }),
            Err(reason) => {
                self.stop.get_or_insert(reason);
            }
        }
        // Stable, so that the newest of equals comes last.
        self.list
            .sort_by_key(|candidate| std::cmp::Reverse(candidate.cost.0));
    }

    /// The cheapest placement.
    fn best(&self) -> &[Assignment] {
        self.list
            .last()
            .map_or(&[], |candidate| &candidate.placement)
    }

    /// The plan of the cheapest placement that the verifier accepts. Where the time for that runs out, it is the present
    /// layout's; likewise where the verifier accepts none.
    fn verified(&mut self) -> Result<(Engine, Plan), Stop> {
        while let Some(candidate) = self.list.pop() {
            let engine = candidate.engine;
            match self.checked(candidate) {
                Ok(Ok(plan)) => return Ok((engine, plan)),
                Ok(Err(fault)) => {
                    self.is_refused = true;
                    self.warnings.push(format!(
                        "the verifier refused a plan of {engine:?}: {fault}"
                    ));
                }
                Err(reason) if engine == Engine::Current => return Err(reason),
                Err(reason) => {
                    self.stop.get_or_insert(reason);
                    self.list.retain(|other| other.engine == Engine::Current);
                }
            }
        }
        let placement = current::placement(self.problem);
        Ok((Engine::Current, plan::make(self.problem, placement)))
    }

    /// The bound that the prices prove. Where the search was stopped before it had any there is none: without prices
    /// a bound says next to nothing, for another look at every shard.
    fn bound(&mut self, certificate: Option<&Certificate>, value: &Cost) -> Option<Bound> {
        if certificate.is_none() && self.stop.is_some() {
            return None;
        }
        let finish = || self.interrupt.stop(Phase::Plan);
        let no_prices = Certificate::default();
        let prices = certificate.unwrap_or(&no_prices);
        let mut pace = Pace::new(&finish);
        let bound = verify::bound::largest_within(self.problem, prices, value, &mut pace);
        bound.unwrap_or_else(|reason| {
            self.stop.get_or_insert(reason);
            None
        })
    }

    /// The plan of a candidate, or the first thing wrong with it.
    fn checked(&self, candidate: Candidate) -> Result<Result<Plan, String>, Stop> {
        let phase = match candidate.engine {
            Engine::Current => Phase::Current,
            _ => Phase::Plan,
        };
        let poll = || self.interrupt.stop(phase);
        let mut pace = Pace::new(&poll);
        let costs = Costs {
            before: self.before,
            after: candidate.cost,
        };
        let plan = plan::make_within(self.problem, candidate.placement, costs, &mut pace)?;
        let fault = fault(self.problem, &plan, &mut pace)?;
        Ok(fault.map_or(Ok(plan), Err))
    }
}

/// The first thing wrong with a plan of ours.
fn fault(problem: &Problem, plan: &Plan, pace: &mut Pace<'_>) -> Result<Option<String>, Stop> {
    let checked = verify::placement::check_within(problem, &plan.placement, pace)?;
    if let Some(fault) = checked.faults.first() {
        return Ok(Some(fault.to_string()));
    }
    if (checked.cost, checked.terms) != plan.after {
        return Ok(Some(format!(
            "it costs {:?}, not {:?}",
            checked.cost.0, plan.after.0.0
        )));
    }
    let moves = verify::moves::check_within(problem, plan, pace)?;
    Ok(moves.first().map(ToString::to_string))
}

/// Bounds by rank: the larger of what prices prove and what a solver says. Each holds among plans as good in the ranks
/// before, so behind the first that is not met there is none.
fn rank_bounds(value: &Cost, proven: &Bounds, solver: &Bounds) -> Vec<RankBound> {
    let mut are_met = true;
    let of = |rank: Rank| {
        let known = |bounds: &Bounds| bounds[rank as usize].filter(|_| are_met);
        let (proven, solver) = (known(proven), known(solver));
        let bound = proven.max(solver);
        are_met &= bound == Some(value[rank]);
        RankBound {
            rank,
            value: value[rank],
            bound,
            proof: bound.map(|_| match proven == bound {
                true => Proof::Certificate,
                false => Proof::Solver,
            }),
        }
    };
    Rank::ALL.into_iter().map(of).collect()
}

/// A plan as an answer, with what the bound of its prices and the word of a solver prove.
fn label(
    engine: Engine,
    plan: Plan,
    certificate: Option<Certificate>,
    bound: Option<Bound>,
    solver: &Bounds,
) -> Answer {
    let value = &plan.after.0;
    let mut warnings = Vec::new();
    let mut bounds = match bound.map(|bound| verify::bound::proven(value, &bound)) {
        Some(Ok(bounds)) => bounds,
        Some(Err(fault)) => {
            warnings.push(fault.to_string());
            [None; RANKS]
        }
        None => [None; RANKS],
    };
    if certificate.is_none() {
        // Without prices the bound proves the ranks that it meets; short of that it says nothing worth a gap.
        for rank in Rank::ALL {
            bounds[rank as usize] = bounds[rank as usize].filter(|&bound| bound == value[rank]);
        }
    }
    let ranks = rank_bounds(value, &bounds, solver);
    let unproven = ranks.iter().find(|rank| rank.bound != Some(rank.value));
    let gap = unproven.and_then(|rank| {
        let missing = i128::from(rank.value) - i128::from(rank.bound?);
        Some(missing as f64 / rank.value.unsigned_abs().max(1) as f64)
    });
    let outcome = match unproven {
        None => Outcome::Optimal,
        Some(_) => Outcome::Feasible,
    };
    Answer {
        report: Report {
            engine,
            outcome,
            fallback: None,
            ranks,
            gap,
            work: 0,
            is_reproducible: true,
            certificate,
            warnings,
        },
        plan,
    }
}
