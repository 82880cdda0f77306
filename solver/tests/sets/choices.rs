//! The best followers of one shard against every other choice of them.

use shardflow_solver::certificate::RankPrices;
use shardflow_solver::cost::{Cost, shard_cost};
use shardflow_solver::model::sets::choices::{Best, Choices};
use shardflow_solver::snapshot::{Assignment, BrokerId, Problem, ShardId, ZoneId};
use shardflow_solver::verify::placement::check;

use crate::cases::{Named, generate, start};
use crate::enumerate::{live_sets, with_lost};
use crate::prices;
use crate::rng::Rng;

/// One shard of a problem, at prices of replicas, with the placement of the others.
struct Case<'a> {
    problem: &'a Problem,
    prices: &'a [RankPrices],
    placement: Vec<Assignment>,
    id: ShardId,
}

impl Case<'_> {
    fn cost(&self, assignment: &Assignment) -> Cost {
        let stream = self.problem.shard(self.id).stream;
        let live = self.problem.live(assignment);
        live.fold(shard_cost(self.problem, self.id, assignment), |cost, b| {
            prices::sum(cost, prices::of(self.prices, stream, b))
        })
    }

    fn is_legal(&mut self, assignment: &Assignment) -> bool {
        self.placement[self.id.index()].clone_from(assignment);
        let faults = check(self.problem, &self.placement).faults;
        faults.iter().all(|fault| fault.shard != Some(self.id))
    }

    fn least(&mut self, leader: Option<BrokerId>) -> Option<Cost> {
        let sets = live_sets(self.problem, leader);
        let all = sets
            .iter()
            .map(|live| with_lost(self.problem, self.id, leader, live));
        let all: Vec<Assignment> = all.collect();
        let legal = all
            .into_iter()
            .filter(|assignment| self.is_legal(assignment));
        let legal: Vec<Assignment> = legal.collect();
        legal.iter().map(|assignment| self.cost(assignment)).min()
    }

    /// Compares what was found; whether there are followers to be chosen.
    fn compare(&mut self, leader: Option<BrokerId>, found: Option<&Best>) -> bool {
        let least = self.least(leader);
        assert_eq!(found.map(|best| best.cost), least, "led by {leader:?}");
        let Some(best) = found else { return false };
        let set = with_lost(self.problem, self.id, leader, &best.followers);
        assert!(self.is_legal(&set), "{set:?}");
        assert_eq!(self.cost(&set), best.cost);
        !best.followers.is_empty()
    }
}

/// Compares all leaders of all shards of a case. Returns how many choices had followers.
fn compare(seed: u64) -> usize {
    let _named = Named(seed);
    let problem = generate(seed);
    let prices = prices::random(&problem, &mut Rng::new(seed ^ 0xc057));
    let prefer = start(&problem, seed);
    let mut choices = Choices::new(&problem, &prices).expect("the prices are small");
    let mut compared = 0;
    for id in problem.shard_ids() {
        let shard = problem.shard(id);
        if shard.is_pinned {
            continue;
        }
        choices.open_stream(shard.stream);
        choices.open_shard(id, &prefer[id.index()]);
        let mut case = Case {
            problem: &problem,
            prices: &prices,
            placement: prefer.clone(),
            id,
        };
        let is_new = |b: &BrokerId| problem.may_enter(shard.stream, *b) && !shard.present.holds(*b);
        let live = problem.live(&shard.present);
        for b in live.chain(problem.broker_ids().filter(is_new)) {
            let found = choices.led(b);
            compared += usize::from(case.compare(Some(b), found.as_ref()));
        }
        if problem.live_leader(shard).is_none() {
            compared += usize::from(case.compare(None, choices.leaderless().as_ref()));
        }
        for z in (0..problem.zones.len()).map(ZoneId::at) {
            let here = problem.broker_ids().filter(is_new);
            let here: Vec<BrokerId> = here.filter(|&b| problem.zone_of(b) == z).collect();
            let of_zone = choices.led_in(z);
            assert_eq!(of_zone.is_some(), !here.is_empty());
            let Some(of_zone) = of_zone else { continue };
            for b in here {
                let led = choices.led(b).expect("a newcomer can lead");
                let by_zone = prices::sum(of_zone.cost, *choices.price(b));
                assert!(by_zone <= led.cost);
                assert!(by_zone == led.cost || of_zone.followers.contains(&b));
            }
        }
    }
    compared
}

#[test]
fn the_best_followers_match_every_choice_of_them() {
    let compared: usize = (0..4_000).map(compare).sum();
    assert!(compared > 10_000, "only {compared} have followers");
}

#[test]
fn of_equals_the_preferred_follow() {
    let (mut kept, mut all) = (0, 0);
    for seed in 0..2_000 {
        let _named = Named(seed);
        let problem = generate(seed);
        let prefer = start(&problem, seed);
        let mut choices = Choices::new(&problem, &[]).expect("no prices");
        for id in problem
            .shard_ids()
            .filter(|&id| !problem.shard(id).is_pinned)
        {
            choices.open_stream(problem.shard(id).stream);
            choices.open_shard(id, &prefer[id.index()]);
            let preferred = &prefer[id.index()];
            let Some(leader) = preferred.leader else {
                continue;
            };
            let best = choices
                .led(leader)
                .expect("it leads in an admissible placement");
            let live: Vec<BrokerId> = problem.live(preferred).skip(1).collect();
            if shard_cost(&problem, id, preferred) == best.cost {
                all += 1;
                kept += usize::from(best.followers[..] == live[..]);
            }
        }
    }
    assert!(all > 1_000 && kept == all, "{kept} of {all}");
}
