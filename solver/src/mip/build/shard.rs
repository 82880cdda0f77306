//! One free shard: its candidates, and the rules and costs that are its own.

use crate::cost::{Rank, shard_cost};
use crate::model::current::with_leader;
use crate::snapshot::{Assignment, BrokerId, Problem, Roles, Shard, ShardId, ZoneId};

use super::super::program::{Column, Program, Row, Terms};
use super::{Candidate, Choice};

/// How many replicas a shard must and may have.
struct Wanted {
    /// Live replicas now.
    now: usize,
    /// Live replicas that must stay.
    fewest: usize,
    factor: usize,
    /// It has a live leader now and so has one in the plan.
    is_led: bool,
}

impl Wanted {
    fn new(problem: &Problem, shard: &Shard) -> Self {
        let now = problem.live(&shard.present).count();
        let factor = problem.replication_factor(shard.stream) as usize;
        Wanted {
            now,
            fewest: now.min(factor),
            factor,
            is_led: problem.live_leader(shard).is_some(),
        }
    }

    /// Most followers.
    fn followers(&self) -> usize {
        match self.is_led {
            true => self.factor - 1,
            false => self.fewest.max(self.factor - 1),
        }
    }
}

/// The shard's candidates and their decisions, and what each decision costs by itself.
pub(super) fn choice(problem: &Problem, id: ShardId, program: &mut Program) -> Choice {
    let shard = problem.shard(id);
    let is_leadership = problem.policy.roles == Roles::LeadershipOnly;
    let may_hold = |&b: &BrokerId| {
        let holds = problem.is_live(b) && shard.present.holds(b);
        holds || (!is_leadership && problem.may_enter(shard.stream, b))
    };
    let followers_max = match is_leadership {
        true => 0,
        false => Wanted::new(problem, shard).followers(),
    };
    let candidates = (problem.broker_ids().filter(may_hold)).map(|broker| {
        let lead = program.add_decision();
        let follow = (followers_max > 0).then(|| program.add_decision_beside(lead));
        Candidate {
            broker,
            lead,
            follow,
        }
    });
    let choice = Choice {
        id,
        candidates: candidates.collect(),
        followers_max: followers_max as i128,
    };
    match is_leadership {
        true => add_lead_costs(problem, &choice, program),
        false => add_replica_costs(problem, &choice, program),
    }
    choice
}

/// Where every replica stays: what the shard costs led from each, against what it costs without a leader.
fn add_lead_costs(problem: &Problem, choice: &Choice, program: &mut Program) {
    let shard = problem.shard(choice.id);
    let mut followers: Vec<BrokerId> = shard.present.replicas().collect();
    followers.sort_unstable();
    let leader = None;
    let without = shard_cost(problem, choice.id, &Assignment { leader, followers });
    for candidate in &choice.candidates {
        let led = shard_cost(problem, choice.id, &with_leader(shard, candidate.broker));
        for rank in Rank::ALL {
            program.add_cost(rank, candidate.lead, led[rank] - without[rank]);
        }
    }
}

/// What one replica costs by itself, as leader and as follower, against none. Zones are counted elsewhere.
fn add_replica_costs(problem: &Problem, choice: &Choice, program: &mut Program) {
    let shard = problem.shard(choice.id);
    let wanted = Wanted::new(problem, shard);
    // A shard that keeps as many live replicas as it should have misses no follower, led or not.
    let may_miss = wanted.is_led || wanted.now < wanted.factor;
    let none = shard_cost(problem, choice.id, &Assignment::default());
    let mut add = |column: Column, one: Assignment| {
        let cost = shard_cost(problem, choice.id, &one);
        for rank in Rank::ALL {
            let is_elsewhere =
                rank == Rank::ZonesLost || (rank == Rank::UnplacedFollowers && !may_miss);
            if !is_elsewhere {
                program.add_cost(rank, column, cost[rank] - none[rank]);
            }
        }
    };
    for candidate in &choice.candidates {
        let leader = Assignment {
            leader: Some(candidate.broker),
            followers: Vec::new(),
        };
        add(candidate.lead, leader);
        if let Some(follow) = candidate.follow {
            let follower = Assignment {
                leader: None,
                followers: vec![candidate.broker],
            };
            add(follow, follower);
        }
    }
}

/// How many replicas and leaders it has, and what their zones cost.
pub(super) fn add_rules(problem: &Problem, choice: &Choice, program: &mut Program) {
    let wanted = Wanted::new(problem, problem.shard(choice.id));
    let leaders: Terms = choice.candidates.iter().map(|c| (c.lead, 1)).collect();
    program.add_row(match wanted.is_led {
        true => Row::equal(leaders.clone(), 1),
        false => Row::at_most(leaders.clone(), 1),
    });
    if problem.policy.roles == Roles::LeadershipOnly {
        return;
    }
    let followers = choice.candidates.iter().filter_map(|c| c.follow);
    let followers: Terms = followers.map(|follow| (follow, 1)).collect();
    let mut replicas = leaders;
    replicas.extend(&followers);
    if wanted.fewest > 0 {
        program.add_row(Row::at_least(replicas.clone(), wanted.fewest as i64));
    }
    match !wanted.is_led && wanted.fewest == wanted.factor {
        true => program.add_row(Row::at_most(replicas.clone(), wanted.factor as i64)),
        false => program.add_row(Row::at_most(followers, wanted.factor as i64 - 1)),
    }
    add_zones(problem, choice, &replicas, program);
}

/// Rank 6, and the parts of ranks 3 and 13 that count a shard's replicas by zone.
fn add_zones(problem: &Problem, choice: &Choice, replicas: &Terms, program: &mut Program) {
    let wanted = i64::from(problem.zones_wanted(problem.shard(choice.id)));
    let mut by_zone: Vec<&Candidate> = choice.candidates.iter().collect();
    by_zone.sort_by_key(|c| problem.zone_of(c.broker));
    let mut spanned = Terms::new();
    for there in by_zone.chunk_by(|a, b| problem.zone_of(a.broker) == problem.zone_of(b.broker)) {
        let zone = Zone::new(problem, choice.id, there);
        spanned.extend(zone.add(problem, wanted > 1, program));
    }
    if wanted == 0 {
        return;
    }
    // Any replica is in some zone.
    let spanned = if wanted > 1 { &spanned } else { replicas };
    let missing = spanned.iter().map(|&(column, by)| (column, -by)).collect();
    let lost = program.add_fill(missing, wanted, &[wanted], false);
    program.add_cost(Rank::ZonesLost, Column(lost.start), 1);
}

/// The candidates of a shard in one zone.
struct Zone<'a> {
    there: &'a [&'a Candidate],
    /// Replicas of the shard above which each is a breach.
    limit: Option<i64>,
    /// Most replicas of the shard.
    most: i64,
}

impl<'a> Zone<'a> {
    fn new(problem: &Problem, id: ShardId, there: &'a [&'a Candidate]) -> Self {
        let shard = problem.shard(id);
        let zone = problem.zone_of(there[0].broker);
        let is_here = |b: &BrokerId| -> bool { here(problem, zone, *b) };
        let now = problem.live(&shard.present).filter(is_here).count() as i64;
        let limit = problem.policy.max_replicas_per_zone.map(i64::from);
        let fits = limit.map_or(i64::MAX, |limit| limit.max(now));
        let factor = i64::from(problem.replication_factor(shard.stream));
        Zone {
            there,
            limit,
            most: fits.min(factor).min(there.len() as i64),
        }
    }

    fn replicas(&self) -> Terms {
        let all = self.there.iter().flat_map(|c| c.holds());
        all.map(|column| (column, 1)).collect()
    }

    /// Adds what its replicas cost together; answers with what is 1 where there are any, and 0 otherwise.
    fn add(&self, problem: &Problem, is_spanned: bool, program: &mut Program) -> Terms {
        let weights = &problem.policy.weights;
        let limit = self.limit.unwrap_or(i64::MAX);
        let is_priced = weights.same_rack > 0 || weights.same_rack_as_leader > 0;
        let replicas = self.replicas();
        if self.most <= 1 || !(is_priced || is_spanned || self.most > limit) {
            if self.most < self.there.len() as i64 {
                program.add_row(Row::at_most(replicas.clone(), self.most));
            }
            return replicas;
        }
        let widths = vec![1; self.most as usize];
        let units = program.add_fill(replicas, 0, &widths, true);
        for (earlier, unit) in (0..).zip(units.clone()) {
            let is_above = i64::from(earlier >= limit);
            program.add_cost(Rank::Breaches, Column(unit), is_above);
            program.add_cost(Rank::Weighted, Column(unit), weights.same_rack * earlier);
        }
        if weights.same_rack_as_leader > 0 {
            for unit in units.clone().skip(1) {
                let mut both: Terms = self.there.iter().map(|c| (c.lead, 1)).collect();
                both.push((Column(unit), 1));
                let with_leader = program.add_fill(both, -1, &[1], false);
                let price = weights.same_rack_as_leader;
                program.add_cost(Rank::Weighted, Column(with_leader.start), price);
            }
        }
        vec![(Column(units.start), 1)]
    }
}

fn here(problem: &Problem, zone: ZoneId, broker: BrokerId) -> bool {
    problem.zone_of(broker) == zone
}
