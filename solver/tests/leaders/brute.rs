//! The optimum of tiny problems by trying every plan. Legality is the verifier's, cost the objective's own.

use shardflow_solver::cost::{Cost, evaluate};
use shardflow_solver::model::current;
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, Roles, ShardId};
use shardflow_solver::strategy::{Answer, Outcome};
use shardflow_solver::verify::placement::check;

use crate::cases::{Case, Size, TINY, counts_cross, generate, generate_orphans, solve};

/// Most plans to try for one problem.
const PLANS_MAX: usize = 3_000;

/// The least cost of any admissible plan; `None` where there are more than [`PLANS_MAX`] to try.
pub(crate) fn optimum(problem: &Problem) -> Option<Cost> {
    let mut plan = current::placement(problem);
    assert_eq!(
        check(problem, &plan).faults,
        [],
        "the present layout is admissible"
    );
    let options: Vec<Vec<Assignment>> = (problem.shard_ids())
        .map(|id| options(problem, id, &mut plan))
        .collect();
    let plans = options
        .iter()
        .try_fold(1, |all: usize, some| all.checked_mul(some.len()))?;
    if plans > PLANS_MAX {
        return None;
    }
    let mut best = None;
    let mut digits = vec![0; options.len()];
    loop {
        for (shard, &digit) in digits.iter().enumerate() {
            plan[shard].clone_from(&options[shard][digit]);
        }
        let cost = evaluate(problem, &plan).0;
        if best.is_none_or(|best| cost < best) && check(problem, &plan).faults.is_empty() {
            best = Some(cost);
        }
        let Some(next) = (0..digits.len()).find(|&at| digits[at] + 1 < options[at].len()) else {
            return best;
        };
        digits[..next].fill(0);
        digits[next] += 1;
    }
}

/// Everything that the rules of the shard itself allow, tried in the place of its assignment in `plan`.
fn options(problem: &Problem, id: ShardId, plan: &mut [Assignment]) -> Vec<Assignment> {
    let present = plan[id.index()].clone();
    let mut options = candidates(problem, id);
    options.push(present.clone());
    options.sort_by(|a, b| (a.leader, &a.followers).cmp(&(b.leader, &b.followers)));
    options.dedup();
    options.retain(|option| {
        plan[id.index()].clone_from(option);
        let faults = check(problem, plan).faults;
        faults.iter().all(|fault| fault.shard != Some(id))
    });
    plan[id.index()] = present;
    options
}

fn candidates(problem: &Problem, id: ShardId) -> Vec<Assignment> {
    let led = |leader: Option<BrokerId>, followers: Vec<BrokerId>| Assignment { leader, followers };
    let shard = problem.shard(id);
    let mut all = Vec::new();
    let leaders = || std::iter::once(None).chain(problem.broker_ids().map(Some));
    for leader in leaders() {
        if problem.policy.roles == Roles::LeadershipOnly {
            let mut others: Vec<BrokerId> = shard.present.replicas().collect();
            others.retain(|&b| Some(b) != leader);
            others.sort_unstable();
            all.push(led(leader, others));
        } else {
            all.push(led(leader, Vec::new()));
            let others = problem.broker_ids().filter(|&b| Some(b) != leader);
            all.extend(others.map(|b| led(leader, vec![b])));
        }
    }
    all
}

/// What a comparison shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Match {
    /// The optimum, and the report says so.
    Proven,
    /// The optimum without a proof: counts cross.
    Unproven,
    /// Worse than the optimum, likewise.
    Missed,
}

/// An answer against the optimum.
pub(crate) fn compare(problem: &Problem, answer: &Answer, optimum: &Cost) -> Match {
    let value = answer.plan.after.0;
    assert_eq!(evaluate(problem, &answer.plan.placement).0, value);
    assert_eq!(check(problem, &answer.plan.placement).faults, []);
    assert_bounds(answer, optimum);
    let is_proven = answer.report.outcome == Outcome::Optimal;
    if is_proven || !counts_cross(problem) {
        assert_eq!(value, *optimum, "warnings: {:?}", answer.report.warnings);
        assert!(is_proven, "{:?}", answer.report);
        return Match::Proven;
    }
    let says_why = |warning: &String| warning.contains("limits its leaders and a broker in it");
    assert!(answer.report.warnings.iter().any(says_why));
    assert!(value >= *optimum);
    if value == *optimum {
        Match::Unproven
    } else {
        Match::Missed
    }
}

/// What the report proves holds for the optimum: no bound is above it, up to the first rank that is open.
pub(crate) fn assert_bounds(answer: &Answer, optimum: &Cost) {
    let ranks = &answer.report.ranks;
    for entry in ranks {
        assert_eq!(entry.value, answer.plan.after.0[entry.rank]);
        let Some(bound) = entry.bound else { break };
        let least = optimum[entry.rank];
        assert!(
            bound <= least,
            "{:?}: bound {bound}, optimum {least}",
            entry.rank
        );
        if bound < entry.value {
            break;
        }
    }
    let is_proven = ranks.iter().all(|entry| entry.bound == Some(entry.value));
    assert_eq!(is_proven, answer.report.outcome == Outcome::Optimal);
}

/// Solves a case and compares it, naming it where that fails.
pub(crate) fn check_case(name: &dyn std::fmt::Debug, case: &Case) -> Option<Match> {
    let problem = case.problem();
    let optimum = optimum(&problem)?;
    let answer = solve(&problem);
    let _named = Named(name);
    Some(compare(&problem, &answer, &optimum))
}

/// Names the case on the way out of a failed comparison.
pub(crate) struct Named<'a>(pub(crate) &'a dyn std::fmt::Debug);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("case {:?}", self.0);
        }
    }
}

/// Compares the cases of all seeds that are small enough; how many there are of each kind.
fn check_cases(seeds: std::ops::Range<u64>, generate: impl Fn(u64) -> Case) -> [usize; 3] {
    let mut counts = [0; 3];
    for seed in seeds {
        if let Some(found) = check_case(&seed, &generate(seed)) {
            counts[found as usize] += 1;
        }
    }
    counts
}

#[test]
fn tiny_problems_match_every_plan_tried() {
    let [proven, unproven, missed] = check_cases(0..6_000, |seed| generate(seed, TINY));
    assert!(proven > 4_000, "only {proven} are proven");
    assert!(
        (unproven + missed) * 200 < proven,
        "{unproven} unproven, {missed} missed"
    );
}

#[test]
fn tiny_problems_with_many_orphans_match_every_plan_tried() {
    let size = Size {
        shards: 4,
        streams: 2,
        ..TINY
    };
    let [proven, unproven, missed] =
        check_cases(60_000..66_000, |seed| generate_orphans(seed, size));
    assert!(proven > 5_900, "only {proven} are proven");
    assert!(
        unproven + missed < 30,
        "{unproven} unproven, {missed} missed"
    );
}
