//! Bytes and rates of brokers: what they cost (ranks 4, 5 and 12), and how much of them a plan may add.
//!
//! All sums are `i128`: the snapshot's validation keeps the totals of a legal plan within `i64`, those of an illegal one
//! it knows nothing of.

use super::measure::{Vector, has_replicas, live_leader, live_replicas};
use crate::budget::{Pace, Stop};
use crate::cost::Rank;
use crate::snapshot::{
    Assignment, Broker, BrokerId, BrokerState, Dimension, Problem, Roles, Shard, ShardId,
};
use crate::verify::{Fault, Rule};

/// What a broker carries.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::verify) struct Load {
    /// Bytes of its live replicas.
    pub(in crate::verify) bytes: i128,
    /// Rates of the shards it leads.
    pub(in crate::verify) rate: i128,
}

/// Loads by broker.
pub(in crate::verify) struct Loads(Vec<Load>);

impl Loads {
    /// Nothing anywhere.
    pub(in crate::verify) fn empty(problem: &Problem) -> Self {
        Loads(vec![Load::default(); problem.brokers.len()])
    }

    /// Loads of the present layout.
    pub(in crate::verify) fn present(problem: &Problem, pace: &mut Pace<'_>) -> Result<Self, Stop> {
        let mut loads = Self::empty(problem);
        for shard in &problem.shards {
            pace.step(1)?;
            loads.add(problem, shard, &shard.present, 1);
        }
        Ok(loads)
    }

    /// Adds `times` times what an assignment of the shard puts on brokers that are not `DOWN`.
    pub(in crate::verify) fn add(
        &mut self,
        problem: &Problem,
        shard: &Shard,
        assignment: &Assignment,
        times: i64,
    ) {
        let live = live_replicas(problem, assignment);
        self.add_live(shard, live_leader(problem, assignment), &live, times);
    }

    /// The same for replicas that are known to be live.
    pub(in crate::verify) fn add_live(
        &mut self,
        shard: &Shard,
        leader: Option<BrokerId>,
        live: &[BrokerId],
        times: i64,
    ) {
        for replica in live {
            self.0[replica.index()].bytes += i128::from(times) * i128::from(shard.size_bytes);
        }
        if let Some(leader) = leader {
            self.0[leader.index()].rate += i128::from(times) * i128::from(shard.rate);
        }
    }

    /// What a broker carries.
    pub(in crate::verify) fn of_broker(&self, id: BrokerId) -> Load {
        self.0[id.index()]
    }
}

/// Bytes of replicas that fit on a broker below its watermark; fewer than none where others fill it already. `None` where
/// its disk has no size.
fn disk_room(problem: &Problem, broker: &Broker) -> Option<i128> {
    let percent = i128::from(problem.policy.disk_watermark_percent);
    let watermark = i128::from(broker.disk_bytes?) * percent / 100;
    Some(watermark - i128::from(broker.disk_used_bytes))
}

/// Adds ranks 4, 5 and 12. A `DOWN` broker holds nothing that could be too much.
pub(in crate::verify) fn add_load_cost(problem: &Problem, loads: &Loads, total: &mut Vector) {
    let above = |load: i128, cap: Option<i128>| cap.map_or(0, |cap| (load - cap).max(0));
    let level = LoadLevel::new(problem);
    for (broker, load) in problem.brokers.iter().zip(&loads.0) {
        if has_replicas(broker) {
            let capacity = broker.rate_capacity.map(i128::from);
            total[Rank::DiskExcess as usize] += above(load.bytes, disk_room(problem, broker));
            total[Rank::RateExcess as usize] += above(load.rate, capacity);
        }
        if let Some(level) = &level {
            total[Rank::BalanceExcess as usize] += level.excess(broker, load);
        }
    }
}

/// How much of the load that is balanced a broker may have for nothing.
struct LoadLevel {
    dimension: Dimension,
    /// Of all shards with all the replicas that they should have, times the percentage that is within tolerance.
    scaled_total: u128,
    share_total: u128,
}

impl LoadLevel {
    /// `None` where nothing is balanced or no broker wants anything.
    fn new(problem: &Problem) -> Option<Self> {
        let balance = problem.policy.balance?;
        let active = (problem.brokers.iter()).filter(|b| b.state == BrokerState::Active);
        let share_total: u128 = active.map(|b| u128::from(b.share)).sum();
        let wanted = |shard: &Shard| -> u128 {
            let factor = problem.streams[shard.stream.index()].replication_factor;
            match balance.dimension {
                Dimension::Rate => shard.rate.unsigned_abs().into(),
                Dimension::Bytes => {
                    u128::from(shard.size_bytes.unsigned_abs()) * u128::from(factor)
                }
            }
        };
        let total: u128 = problem.shards.iter().map(wanted).sum();
        (share_total > 0).then(|| LoadLevel {
            dimension: balance.dimension,
            scaled_total: total * (100 + u128::from(balance.tolerance_percent)),
            share_total,
        })
    }

    /// The broker's part, rounded down. The total is below 2⁶³, the percentage below 2³³ and a share below 2³²: their product
    /// is within `u128`, a hundredth of it within `i128`.
    fn part(&self, broker: &Broker) -> i128 {
        (self.scaled_total * u128::from(broker.share) / (100 * self.share_total)) as i128
    }

    /// Load above the broker's part.
    fn excess(&self, broker: &Broker, load: &Load) -> i128 {
        if broker.state != BrokerState::Active {
            return 0;
        }
        let load = match self.dimension {
            Dimension::Rate => load.rate,
            Dimension::Bytes => load.bytes,
        };
        (load - self.part(broker)).max(0)
    }
}

/// The ranks of loads.
pub(in crate::verify) const LOAD_RANKS: [Rank; 3] =
    [Rank::DiskExcess, Rank::RateExcess, Rank::BalanceExcess];

/// What one replica puts above the caps of its broker all by itself.
///
/// Replicas on one broker exceed a cap together by at least the sum of what each exceeds it by alone, and of what pinned
/// ones do ([`add_load_cost`]), where a cap below zero is taken for zero. So these parts of ranks 4, 5 and 12 add up to
/// a lower bound.
pub(in crate::verify) struct Excess {
    dimension: Dimension,
    /// Bytes are a constant where replicas stay.
    counts_bytes: bool,
    /// By broker, for each of [`LOAD_RANKS`].
    caps: Vec<[Option<i128>; 3]>,
    /// The widest of the `ACTIVE` brokers, for a replica that may go to any of them.
    widest: [Option<i128>; 3],
}

impl Excess {
    pub(in crate::verify) fn new(problem: &Problem) -> Self {
        let level = LoadLevel::new(problem);
        let caps = |broker: &Broker| -> [Option<i128>; 3] {
            let part = (level.as_ref()).filter(|_| broker.state == BrokerState::Active);
            [
                disk_room(problem, broker).map(|room| room.max(0)),
                broker.rate_capacity.map(i128::from),
                part.map(|level| level.part(broker)),
            ]
        };
        let caps: Vec<_> = problem.brokers.iter().map(caps).collect();
        let active = problem.brokers.iter().zip(&caps);
        let active = active.filter(|(broker, _)| broker.state == BrokerState::Active);
        // No cap anywhere is wider than any; without `ACTIVE` brokers nothing is asked of the widest.
        let widest = std::array::from_fn(|rank| {
            let mut caps = active.clone().map(|(_, caps)| caps[rank]);
            let first = caps.next()?;
            caps.fold(first, |widest, cap| Some(widest?.max(cap?)))
        });
        Excess {
            dimension: level.map_or(Dimension::Rate, |level| level.dimension),
            counts_bytes: problem.policy.roles == Roles::LeadersAndFollowers,
            caps,
            widest,
        }
    }

    /// Whether any broker has a cap.
    pub(in crate::verify) fn is_any(&self) -> bool {
        self.caps.iter().flatten().any(Option::is_some)
    }

    /// Of a replica on a broker, or on whichever new one it goes to, for each of [`LOAD_RANKS`].
    pub(in crate::verify) fn of(
        &self,
        shard: &Shard,
        broker: Option<BrokerId>,
        is_leader: bool,
    ) -> [i128; 3] {
        let bytes = if self.counts_bytes {
            shard.size_bytes
        } else {
            0
        };
        let rate = if is_leader { shard.rate } else { 0 };
        let balanced = match self.dimension {
            Dimension::Rate => rate,
            Dimension::Bytes => bytes,
        };
        let caps = broker.map_or(&self.widest, |b| &self.caps[b.index()]);
        let loads = [bytes, rate, balanced].map(i128::from);
        std::array::from_fn(|rank| caps[rank].map_or(0, |cap| (loads[rank] - cap).max(0)))
    }
}

/// A load that grew beyond the larger of its cap and what was there before, in words.
fn excess(cap: Option<i128>, before: i128, after: i128, unit: &str) -> Option<String> {
    let limit = cap?.max(before);
    (after > limit).then(|| format!("{after} {unit} where at most {limit} are allowed"))
}

/// Finds bytes on a broker that grow beyond the larger of the room below its watermark and those `before`.
pub(in crate::verify) fn check_disk_growth(
    problem: &Problem,
    id: BrokerId,
    (before, after): (i128, i128),
    when: &dyn Fn() -> String,
    faults: &mut Vec<Fault>,
) {
    let room = disk_room(problem, &problem.brokers[id.index()]);
    if let Some(what) = excess(room, before, after, "bytes of replicas") {
        let what = format!("{} {what}", when());
        faults.push(Fault::of_broker(problem, Rule::BrokerBytes, id, what));
    }
}

/// The same for the rates of the shards it leads and its capacity.
pub(in crate::verify) fn check_rate_growth(
    problem: &Problem,
    id: BrokerId,
    (before, after): (i128, i128),
    when: &dyn Fn() -> String,
    faults: &mut Vec<Fault>,
) {
    let capacity = problem.brokers[id.index()].rate_capacity.map(i128::from);
    if let Some(what) = excess(capacity, before, after, "units of rate") {
        let what = format!("{} {what}", when());
        faults.push(Fault::of_broker(problem, Rule::BrokerRate, id, what));
    }
}

/// Checks bytes and rates of all brokers against the caps in force.
pub(super) fn check_loads(
    problem: &Problem,
    present: &Loads,
    loads: &Loads,
    faults: &mut Vec<Fault>,
) {
    let plan = || "the plan has".to_owned();
    for at in 0..problem.brokers.len() {
        let id = BrokerId::at(at);
        let (before, after) = (present.of_broker(id), loads.of_broker(id));
        let (bytes, rates) = ((before.bytes, after.bytes), (before.rate, after.rate));
        check_disk_growth(problem, id, bytes, &plan, faults);
        check_rate_growth(problem, id, rates, &plan, faults);
    }
}

/// Changes made to settled shards, which `max_moves` bounds.
#[derive(Default)]
pub(super) struct Changes(i128);

impl Changes {
    /// Counts the changes of one shard: replicas on brokers that hold none now, and a lead that passes to a broker that
    /// holds a follower.
    pub(super) fn add(&mut self, problem: &Problem, id: ShardId, plan: &Assignment) {
        let shard = &problem.shards[id.index()];
        if problem.policy.max_moves.is_none() || !is_settled(problem, shard) {
            return;
        }
        let now = live_replicas(problem, &shard.present);
        let then = live_replicas(problem, plan);
        let copies = then.iter().filter(|b| !now.contains(b)).count();
        let leader = live_leader(problem, plan).filter(|b| now.contains(b));
        let is_promoted = leader.is_some() && leader != shard.present.leader;
        self.0 += copies as i128 + i128::from(is_promoted);
    }

    /// Finds more of them than there may be.
    pub(super) fn check(&self, problem: &Problem, faults: &mut Vec<Fault>) {
        let Some(most) = problem.policy.max_moves else {
            return;
        };
        if self.0 > i128::from(most) {
            let what = format!(
                "the plan makes {} changes to shards that need none where at most {most} are allowed",
                self.0
            );
            faults.push(Fault::of_answer(Rule::MaxMoves, what));
        }
    }
}

/// Whether the shard needs no repair: it is led, has as many replicas as it should, and each is where a new one might go,
/// no more of them in a zone than the policy has it.
fn is_settled(problem: &Problem, shard: &Shard) -> bool {
    let stream = &problem.streams[shard.stream.index()];
    let listed = usize::from(shard.present.leader.is_some()) + shard.present.followers.len();
    let now = live_replicas(problem, &shard.present);
    let most = problem.policy.max_replicas_per_zone;
    let zone = |b: &BrokerId| problem.brokers[b.index()].zone;
    let beside = |b: &BrokerId| now.iter().filter(|other| zone(other) == zone(b)).count();
    shard.present.leader.is_some()
        && listed >= stream.replication_factor as usize
        && now.len() == listed
        && now.iter().all(|&b| super::takes(problem, stream, b))
        && now
            .iter()
            .all(|b| most.is_none_or(|most| beside(b) <= most as usize))
}
