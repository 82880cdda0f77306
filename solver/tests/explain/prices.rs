//! Prices of rules.

use shardflow_solver::certificate::Certificate;
use shardflow_solver::cost::{Cost, RANKS};
use shardflow_solver::cut::Place;
use shardflow_solver::explain::prices::{PricedRule, RulePrice, prices};
use shardflow_solver::snapshot::Problem;
use shardflow_solver::strategy::Outcome;
use shardflow_solver::validate;
use shardflow_solver::verify::bound::bound;

use crate::cases::{Case, MEDIUM, Size, TINY, generate, generate_orphans, solve};

/// Optimal answers: the problem, its cost, its certificate.
fn each_proven(mut check: impl FnMut(&Case, &Problem, &Cost, &Certificate)) {
    let small = Size { shards: 8, ..TINY };
    let plain = (0..1_500).map(|seed| (seed, generate(seed, small)));
    let medium = (20_000..20_150).map(|seed| (seed, generate(seed, MEDIUM)));
    let orphans = (60_000..60_500).map(|seed| (seed, generate_orphans(seed, small)));
    for (seed, case) in plain.chain(medium).chain(orphans) {
        let problem = case.problem();
        let answer = solve(&problem);
        if answer.report.outcome != Outcome::Optimal {
            continue;
        }
        let _named = crate::cuts::Named(seed);
        let certificate = answer.report.certificate.expect("an engine's answer");
        check(&case, &problem, &answer.plan.after.0, &certificate);
    }
}

/// The problem with a rule wider by one; `None` for spreads, which follow from counts.
fn wider(case: &Case, problem: &Problem, rule: PricedRule) -> Option<Problem> {
    let mut case = case.clone();
    let broker_at = |at: usize| {
        let id = &problem.brokers[at].id;
        case.snapshot
            .brokers
            .iter()
            .position(|b| b.id == *id)
            .expect("listed")
    };
    let limit_at = |at: usize| {
        let name = &problem.zones[at].name;
        case.policy
            .zone_limits
            .iter()
            .position(|l| l.zone == *name)
            .expect("limited")
    };
    let up = |cap: &mut Option<u32>| *cap = cap.map(|cap| cap + 1);
    match rule {
        PricedRule::MaxLeaders(Place::Broker(b)) => {
            let at = broker_at(b.index());
            up(&mut case.snapshot.brokers[at].max_leaders);
        }
        PricedRule::MaxReplicas(Place::Broker(b)) => {
            let at = broker_at(b.index());
            up(&mut case.snapshot.brokers[at].max_replicas);
        }
        PricedRule::MaxLeaders(Place::Zone(z)) => {
            let at = limit_at(z.index());
            up(&mut case.policy.zone_limits[at].max_leaders);
        }
        PricedRule::MaxReplicas(Place::Zone(z)) => {
            let at = limit_at(z.index());
            up(&mut case.policy.zone_limits[at].max_replicas);
        }
        PricedRule::MinLeaders(z) => {
            let at = limit_at(z.index());
            let least = &mut case.policy.zone_limits[at].min_leaders;
            *least = least.map(|least| least - 1);
        }
        PricedRule::ClusterFloor(_)
        | PricedRule::ClusterCeiling(_)
        | PricedRule::StreamFloor(..)
        | PricedRule::StreamCeiling(..) => return None,
    }
    Some(validate::build(&case.snapshot, &case.policy).expect("a wider rule is legal"))
}

/// Every rule that the input can make wider.
fn rules(problem: &Problem) -> Vec<PricedRule> {
    use shardflow_solver::snapshot::ZoneId;
    let mut rules = Vec::new();
    let mut add = |place: Place, leaders: Option<u32>, replicas: Option<u32>| {
        rules.extend(leaders.map(|_| PricedRule::MaxLeaders(place)));
        rules.extend(replicas.map(|_| PricedRule::MaxReplicas(place)));
    };
    for (b, broker) in problem.broker_ids().zip(&problem.brokers) {
        add(Place::Broker(b), broker.max_leaders, broker.max_replicas);
    }
    for (at, zone) in problem.zones.iter().enumerate() {
        add(
            Place::Zone(ZoneId::at(at)),
            zone.max_leaders,
            zone.max_replicas,
        );
    }
    let zones = problem.zones.iter().enumerate();
    let minima = zones.filter(|(_, zone)| zone.min_leaders > 0);
    rules.extend(minima.map(|(at, _)| PricedRule::MinLeaders(ZoneId::at(at))));
    rules
}

fn saves(prices: &[RulePrice], rule: PricedRule) -> [i128; RANKS] {
    let found = prices.iter().find(|price| price.rule == rule);
    found.map_or([0; RANKS], |price| price.saves.map(i128::from))
}

fn less(a: [i128; RANKS], b: [i128; RANKS]) -> [i128; RANKS] {
    std::array::from_fn(|rank| a[rank] - b[rank])
}

#[test]
fn one_more_unit_saves_at_most_the_price_and_often_all_of_it() {
    let (mut priced, mut exact, mut free) = (0, 0, 0);
    each_proven(|case, problem, cost, certificate| {
        let found = prices(problem, certificate);
        for rule in rules(problem) {
            let Some(next) = wider(case, problem, rule) else {
                continue;
            };
            let after = solve(&next).plan.after.0;
            let saved = less(cost.0.map(i128::from), after.0.map(i128::from));
            let price = saves(&found, rule);
            assert!(saved <= price, "{rule:?}: {saved:?} saved, price {price:?}");
            priced += usize::from(price > [0; RANKS]);
            exact += usize::from(price > [0; RANKS] && price == saved);
            free += usize::from(price == [0; RANKS]);
        }
    });
    assert!(
        priced > 500 && exact > 250 && free > 500,
        "{priced} {exact} {free}"
    );
}

/// The verifier computes the same terms: its bound falls by the price where the rule is wider.
#[test]
fn a_price_is_what_the_verifier_takes_off_its_bound() {
    let mut compared = 0;
    each_proven(|case, problem, _, certificate| {
        let found = prices(problem, certificate);
        let now = bound(problem, certificate).expect("it applies").0;
        for rule in rules(problem) {
            let Some(next) = wider(case, problem, rule) else {
                continue;
            };
            let then = bound(&next, certificate).expect("it applies").0;
            assert_eq!(less(now, then), saves(&found, rule), "{rule:?}");
            compared += 1;
        }
    });
    assert!(compared > 2_000, "only {compared}");
}

/// One more unit of slack widens all floors and ceilings of all streams: it saves at most what all of them do, and
/// the dearest of a stream is no less than any.
#[test]
fn spreads_are_priced_where_a_floor_or_ceiling_holds_leaders_back() {
    let mut kinds = [0; 4];
    each_proven(|_, problem, _, certificate| {
        for price in prices(problem, certificate) {
            assert!(price.saves > [0; RANKS]);
            let kind = match price.rule {
                PricedRule::ClusterFloor(_) => 0,
                PricedRule::ClusterCeiling(_) => 1,
                PricedRule::StreamFloor(..) => 2,
                PricedRule::StreamCeiling(..) => 3,
                _ => continue,
            };
            kinds[kind] += 1;
        }
    });
    assert!(kinds.iter().all(|&n| n > 50), "{kinds:?}");
}
