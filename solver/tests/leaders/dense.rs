//! Medium problems through HiGHS: a dense model, one binary per shard and leader, written from the contract.
//!
//! Ranks are solved one after another; each optimum becomes an equality for the ranks after it. Squares are unit
//! pieces of rising price. Costs of a shard's own choice are derived here again. HiGHS works in floats, so its
//! answer is rounded to a placement, which the objective then measures in integers.

use std::ops::Range;

use good_lp::{
    Constraint, Expression, IntoAffineExpression, ProblemVariables, Solution, SolverModel,
    Variable, constraint, highs, variable,
};
use shardflow_solver::cost::{Cost, RANKS, Rank, evaluate};
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, Roles, Shard, ShardId, ZoneId};
use shardflow_solver::verify::placement::check;

use crate::brute::{Match, Named, compare};
use crate::cases::{Case, MEDIUM, Size, generate, generate_orphans, solve};
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
            let takes = problem.is_active(b).then_some(u64::from(broker.share));
            let total: u64 = (problem.broker_ids().filter(|&b| problem.is_active(b)))
                .map(|b| u64::from(problem.broker(b).share))
                .sum();
            let slack = problem.policy.cluster_leaders.map(|spread| spread.slack);
            let shards = problem.shards.len() as u64;
            self.add_squares(
                Rank::ClusterLeaderSpread,
                leaders,
                takes,
                total,
                slack,
                shards,
            );
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
        let slack = problem.policy.stream_leaders.map(|spread| spread.slack);
        for stream in &problem.streams {
            let open = |b: BrokerId| problem.is_active(b) && stream.open[b.index()];
            let range = stream.shards.start as usize..stream.shards.end as usize;
            let (mut leaders, shards) = (Count::default(), range.len() as u64);
            for option in self
                .options
                .iter()
                .filter(|option| range.contains(&option.shard))
            {
                if option.assignment.leader == Some(b) {
                    leaders.chosen.push(option.chosen);
                }
            }
            let share = |b: BrokerId| u64::from(problem.broker(b).share);
            let total = problem.broker_ids().filter(|&b| open(b)).map(share).sum();
            let takes = open(b).then_some(share(b));
            self.add_squares(
                Rank::StreamLeaderSpread,
                leaders,
                takes,
                total,
                slack,
                shards,
            );
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

    fn add_squares(
        &mut self,
        rank: Rank,
        count: Count,
        share: Option<u64>,
        total: u64,
        slack: Option<u32>,
        things: u64,
    ) {
        let (Some(share), Some(slack)) = (share, slack) else {
            return;
        };
        if total == 0 {
            return;
        }
        let (floor, ceiling) = (things * share / total, (things * share).div_ceil(total));
        let low = floor as i64 - i64::from(slack);
        let high = ceiling as i64 + i64::from(slack);
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

/// What the rules of the shard itself allow.
fn choices(problem: &Problem, shard: &Shard) -> Vec<Assignment> {
    if shard.is_pinned {
        return vec![shard.present.clone()];
    }
    let with =
        |leader: Option<BrokerId>, followers: Vec<BrokerId>| Assignment { leader, followers };
    let live: Vec<BrokerId> = problem.live(&shard.present).collect();
    let is_led = shard.present.leader.is_some_and(|b| problem.is_live(b));
    let mut all: Vec<BrokerId> = shard.present.replicas().collect();
    all.sort_unstable();
    if problem.policy.roles == Roles::LeadershipOnly {
        let others = |b: BrokerId| all.iter().copied().filter(|&o| o != b).collect();
        let mut choices: Vec<Assignment> = live.iter().map(|&b| with(Some(b), others(b))).collect();
        if !is_led {
            choices.push(with(None, all));
        }
        return choices;
    }
    let stream = problem.stream(shard.stream);
    let enters = |b: &BrokerId| problem.is_active(*b) && stream.open[b.index()];
    let newcomers = problem
        .broker_ids()
        .filter(enters)
        .filter(|b| !live.contains(b));
    let seats: Vec<BrokerId> = live.iter().copied().chain(newcomers).collect();
    let mut choices: Vec<Assignment> = seats.iter().map(|&b| with(Some(b), vec![])).collect();
    if !is_led && live.is_empty() {
        // Of the replicas on `DOWN` brokers the lowest id stays listed.
        all.truncate(1);
        choices.push(with(None, all));
    } else if !is_led {
        choices.extend(seats.iter().map(|&b| with(None, vec![b])));
    }
    choices
}

/// Cost of a shard's own choice in every rank, from the contract.
fn own_cost(problem: &Problem, shard: &Shard, plan: &Assignment) -> [i64; RANKS] {
    let weights = &problem.policy.weights;
    let stream = problem.stream(shard.stream);
    let factor = i64::from(stream.replication_factor);
    let zone = |b: BrokerId| problem.zone_of(b);
    let live: Vec<BrokerId> = problem.live(plan).collect();
    let now: Vec<BrokerId> = problem.live(&shard.present).collect();
    let leader = plan.leader;
    let followers: Vec<BrokerId> = live
        .iter()
        .copied()
        .filter(|&b| Some(b) != leader)
        .collect();
    let mut cost = [0; RANKS];
    cost[0] = i64::from(leader.is_none());
    cost[1] = (factor - 1 - followers.len() as i64).max(0);
    let spans = |replicas: &[BrokerId]| {
        let mut zones: Vec<ZoneId> = replicas.iter().map(|&b| zone(b)).collect();
        zones.sort_unstable();
        zones.dedup();
        zones.len() as i64
    };
    if !shard.is_pinned {
        let closed = |b: &&BrokerId| !problem.is_active(**b) || !stream.open[b.index()];
        cost[2] = live.iter().filter(closed).count() as i64;
        cost[2] += leader.iter().filter(closed).count() as i64;
        if let Some(most) = problem.policy.max_replicas_per_zone {
            for z in (0..problem.zones.len()).map(ZoneId::at) {
                let there = live.iter().filter(|&&b| zone(b) == z).count() as i64;
                cost[2] += (there - i64::from(most)).max(0);
            }
        }
        let kept = if problem.policy.allow_zone_loss {
            0
        } else {
            spans(&now)
        };
        let wanted = i64::from(problem.policy.min_zones).max(kept).min(factor);
        cost[5] = (wanted - spans(&live)).max(0);
    }
    let new: Vec<BrokerId> = live.iter().copied().filter(|b| !now.contains(b)).collect();
    let copies = if now.is_empty() { 0 } else { new.len() as i64 };
    let gib = (shard.size_bytes + (1 << 30) - 1) / (1 << 30);
    cost[12] = copies * (weights.overlap + weights.overlap_per_gib * gib);
    if let Some(leader) = leader {
        cost[12] += weights.traffic * shard.leader_traffic.cross(zone(leader));
        let together = followers
            .iter()
            .filter(|&&b| zone(b) == zone(leader))
            .count() as i64;
        cost[12] += weights.same_rack_as_leader * together;
        let old = shard.present.leader.filter(|&b| problem.is_live(b));
        let is_promoted = shard.present.followers.contains(&leader);
        if old.is_some() && is_promoted {
            cost[12] += weights.promotion;
        }
        let fails_over = old.is_none() && !now.is_empty() && !now.contains(&leader);
        let is_renamed = shard.present.leader.is_some_and(|named| named != leader);
        cost[14] = i64::from(is_renamed) + i64::from(fails_over);
    }
    for (at, &b) in live.iter().enumerate() {
        let pairs = live[..at]
            .iter()
            .filter(|&&other| zone(other) == zone(b))
            .count() as i64;
        cost[12] += weights.same_rack * pairs;
    }
    for &b in &followers {
        cost[12] += weights.traffic * shard.follower_traffic.cross(zone(b));
    }
    cost[13] = copies;
    cost
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
