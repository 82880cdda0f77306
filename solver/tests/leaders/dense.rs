//! Medium problems through HiGHS: a dense model, one binary per shard and leader, written from the contract.
//!
//! Ranks are solved one after another; each optimum becomes an equality for the ranks after it. Squares are unit
//! pieces of rising price. A shard's choices and their costs are those of `choices`. HiGHS works in floats, so its
//! answer is rounded to a placement, which the objective then measures in integers.

use std::ops::Range;

use good_lp::{
    Constraint, Expression, IntoAffineExpression, ProblemVariables, Solution, SolverModel,
    Variable, constraint, highs, variable,
};
use shardflow_solver::cost::{Cost, RANKS, Rank, evaluate};
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, Shard, ShardId, ZoneId};
use shardflow_solver::verify::placement::check;

use crate::brute::{Match, Named, compare};
use crate::cases::{Case, MEDIUM, Size, generate, generate_orphans, solve};
use crate::choices::{choices, cluster_band, own_cost, stream_band};
use crate::layouts::present;

/// What a shard may become.
struct Offer {
    shard: usize,
    assignment: Assignment,
    chosen: Variable,
}

struct Dense<'p> {
    problem: &'p Problem,
    variables: ProblemVariables,
    rows: Vec<Constraint>,
    /// By rank.
    objectives: Vec<Expression>,
    options: Vec<Offer>,
}

/// Leaders or replicas somewhere: what is fixed, and the choices that add one.
#[derive(Clone, Default)]
struct Count {
    fixed: i64,
    chosen: Vec<Variable>,
}

impl Count {
    fn expression(&self) -> Expression {
        let sum: Expression = self.chosen.iter().sum();
        sum + self.fixed as f64
    }
    fn range(&self) -> Range<i64> {
        self.fixed..self.fixed + self.chosen.len() as i64
    }
}

impl<'p> Dense<'p> {
    fn new(problem: &'p Problem) -> Self {
        let mut dense = Dense {
            problem,
            variables: ProblemVariables::new(),
            rows: Vec::new(),
            objectives: vec![Expression::default(); RANKS],
            options: Vec::new(),
        };
        for id in problem.shard_ids() {
            dense.add_shard(id);
        }
        dense.add_counts();
        dense
    }

    fn add_shard(&mut self, id: ShardId) {
        let shard = self.problem.shard(id);
        let mut sum = Expression::default();
        for assignment in choices(self.problem, shard) {
            let chosen = self.variables.add(variable().binary());
            sum += chosen;
            for (rank, cost) in own_cost(self.problem, shard, &assignment)
                .into_iter()
                .enumerate()
            {
                self.objectives[rank].add_mul(cost as f64, chosen);
            }
            self.options.push(Offer {
                shard: id.index(),
                assignment,
                chosen,
            });
        }
        self.rows.push(constraint!(sum == 1));
    }

    fn count(&self, is_counted: impl Fn(&Shard, BrokerId, bool) -> bool) -> Count {
        let mut count = Count::default();
        for option in &self.options {
            let shard = &self.problem.shards[option.shard];
            let leader = option.assignment.leader;
            let live = self.problem.live(&option.assignment);
            let hits = live
                .filter(|&b| is_counted(shard, b, leader == Some(b)))
                .count();
            count
                .chosen
                .extend(std::iter::repeat_n(option.chosen, hits));
        }
        count
    }

    fn present(&self, is_counted: impl Fn(BrokerId, bool) -> bool) -> i64 {
        let all = present(self.problem);
        let hits = |a: &Assignment| {
            self.problem
                .live(a)
                .filter(|&b| is_counted(b, a.leader == Some(b)))
                .count() as i64
        };
        all.iter().map(hits).sum()
    }

    fn add_counts(&mut self) {
        let problem = self.problem;
        for b in problem.broker_ids() {
            let broker = problem.broker(b);
            self.add_cap(broker.max_leaders, |at, leads| leads && at == b);
            self.add_cap(broker.max_replicas, |at, _| at == b);
            let leaders = self.count(|_, at, leads| leads && at == b);
            self.add_squares(Rank::ClusterLeaderSpread, leaders, cluster_band(problem, b));
            self.add_stream_squares(b);
        }
        let absent = problem.policy.absent_zone_minimum as f64;
        for z in (0..problem.zones.len()).map(ZoneId::at) {
            let zone = &problem.zones[z.index()];
            let is_in = |b: BrokerId| problem.zone_of(b) == z;
            self.add_cap(zone.max_leaders, |at, leads| leads && is_in(at));
            self.add_cap(zone.max_replicas, |at, _| is_in(at));
            let missing = self.variables.add(variable().min(0));
            let leaders = self.count(|_, at, leads| leads && is_in(at)).expression();
            let least = f64::from(zone.min_leaders);
            self.rows.push(constraint!(leaders + missing >= least));
            self.objectives[Rank::ZoneMinimumShortfall as usize] += missing;
        }
        self.objectives[Rank::ZoneMinimumShortfall as usize] += absent;
    }

    fn add_stream_squares(&mut self, b: BrokerId) {
        let problem = self.problem;
        for stream in &problem.streams {
            let range = stream.shards.start as usize..stream.shards.end as usize;
            let mut leaders = Count::default();
            let of_stream = |option: &&Offer| range.contains(&option.shard);
            for option in self.options.iter().filter(of_stream) {
                if option.assignment.leader == Some(b) {
                    leaders.chosen.push(option.chosen);
                }
            }
            let band = stream_band(problem, stream, b);
            self.add_squares(Rank::StreamLeaderSpread, leaders, band);
        }
    }

    /// The hard limit, the larger of the cap and what is there, and the breach above the cap.
    fn add_cap(&mut self, cap: Option<u32>, is_counted: impl Fn(BrokerId, bool) -> bool) {
        let Some(cap) = cap.map(i64::from) else {
            return;
        };
        let now = self.present(&is_counted);
        let count = self.count(|_, b, leads| is_counted(b, leads)).expression();
        let excess = self.variables.add(variable().min(0));
        self.rows
            .push(constraint!(count.clone() - excess <= cap as f64));
        self.rows.push(constraint!(count <= cap.max(now) as f64));
        self.objectives[Rank::Breaches as usize] += excess;
    }

    fn add_squares(&mut self, rank: Rank, count: Count, band: Option<(i64, i64)>) {
        let Some((low, high)) = band else {
            return;
        };
        let range = count.range();
        let (mut above, mut below) = (count.expression(), count.expression());
        for piece in 0..(range.end - high).max(0) {
            above -= self.add_piece(rank, piece);
        }
        for piece in 0..(low - range.start).max(0) {
            below += self.add_piece(rank, piece);
        }
        self.rows.push(constraint!(above <= high as f64));
        self.rows.push(constraint!(below >= low as f64));
    }

    fn add_piece(&mut self, rank: Rank, piece: i64) -> Variable {
        let unit = self.variables.add(variable().min(0).max(1));
        self.objectives[rank as usize].add_mul((2 * piece + 1) as f64, unit);
        unit
    }

    /// The lexicographic optimum.
    fn solve(mut self) -> Vec<Assignment> {
        let mut plan = Vec::new();
        for rank in Rank::ALL {
            let objective = self.objectives[rank as usize].clone();
            let mut factors = (&objective).linear_coefficients();
            if factors.all(|(_, factor)| factor == 0.0) && !plan.is_empty() {
                continue;
            }
            let mut model = self
                .variables
                .clone()
                .minimise(objective.clone())
                .using(highs);
            model.set_verbose(false);
            let model = model
                .set_threads(1)
                .set_mip_rel_gap(0.0)
                .expect("a gap of zero");
            let solution = self
                .rows
                .iter()
                .cloned()
                .fold(model, |model, row| model.with(row));
            let solution = solution.solve().expect("the present layout is feasible");
            plan = vec![Assignment::default(); self.problem.shards.len()];
            for option in &self.options {
                if solution.value(option.chosen) > 0.5 {
                    plan[option.shard].clone_from(&option.assignment);
                }
            }
            let value = evaluate(self.problem, &plan).0[rank] as f64;
            let claimed = IntoAffineExpression::eval_with(&objective, &solution).round();
            assert_eq!(claimed, value, "{rank:?} of the model and of the objective");
            self.rows.push(constraint!(objective == value));
        }
        plan
    }
}

/// Solves the cases both ways. How many plans move something, and how many are proven.
fn compare_all(seeds: Range<u64>, generate: impl Fn(u64, Size) -> Case) -> [usize; 2] {
    let (mut moved, mut proven) = (0, 0);
    for seed in seeds {
        let problem = generate(seed, MEDIUM).problem();
        let _named = Named(&seed);
        let plan = Dense::new(&problem).solve();
        assert_eq!(check(&problem, &plan).faults, []);
        let optimum: Cost = evaluate(&problem, &plan).0;
        let answer = solve(&problem);
        moved += usize::from(!answer.plan.moves.is_empty());
        proven += usize::from(compare(&problem, &answer, &optimum) == Match::Proven);
    }
    [moved, proven]
}

#[test]
fn medium_problems_match_highs_in_every_rank() {
    let [moved, proven] = compare_all(0..300, generate);
    assert!(
        moved > 200 && proven > 290,
        "{moved} plans move shards, {proven} are proven"
    );
}

#[test]
fn medium_problems_with_many_orphans_match_highs_in_every_rank() {
    let [moved, proven] = compare_all(80_000..80_150, generate_orphans);
    assert!(
        moved > 100 && proven > 100,
        "{moved} plans move shards, {proven} are proven"
    );
}
