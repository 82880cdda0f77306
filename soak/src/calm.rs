//! Large healthy clusters with one broker drained, joined or dead: how long a solve takes and how near to the optimum it
//! ends.

use std::fmt;
use std::time::{Duration, Instant};

use shardflow_solver::cost::Rank;
use shardflow_solver::input::{
    BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput, TrafficSourceInput,
    WeightsInput,
};
use shardflow_solver::snapshot::BrokerState;
use shardflow_solver::strategy::{Answer, Engine, Outcome, Planner, RankBound};

use crate::cases::Case;
use crate::rng::Rng;
use crate::sets::promises::{check_legal, solve};
use crate::usage;

/// The most that a solve may take.
const CPU_MAX: Duration = Duration::from_secs(60);

/// The most that `weighted` may be above its bound.
const GAP_MAX: f64 = 0.01;

/// Of a hundred shards, how many have their leader where most of their traffic is.
const NEAR_PERCENT: usize = 90;

/// What happens to the cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Event {
    /// A broker is to be drained.
    Drain,
    /// A broker joins.
    Join,
    /// A broker is down.
    Dead,
}

/// How large a cluster is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Shards, 50 a stream.
    pub shards: usize,
    /// Brokers before the event.
    pub brokers: usize,
    /// Zones, which brokers go round.
    pub zones: usize,
    /// Replicas of each shard, at most as many as zones.
    pub factor: usize,
}

/// Shards of one stream.
const STREAM: usize = 50;

/// The cluster before the event: leaders level by stream and broker, replicas of a shard in distinct zones and nearly
/// level, most leaders near their traffic.
pub(crate) fn healthy(shape: Shape, seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    let brokers = (0..shape.brokers).map(|b| broker(shape, b)).collect();
    let streams = (0..shape.shards.div_ceil(STREAM)).map(|s| StreamInput {
        id: format!("s{s:04}"),
        replication_factor: shape.factor as u32,
        ..StreamInput::default()
    });
    let snapshot = SnapshotInput {
        cluster_id: "calm".to_owned(),
        brokers,
        streams: streams.collect(),
        shards: (0..shape.shards)
            .map(|k| shard(shape, k, &mut rng))
            .collect(),
        ..SnapshotInput::default()
    };
    let policy = PolicyInput {
        weights: WeightsInput {
            overlap: Some(200),
            ..WeightsInput::default()
        },
        ..PolicyInput::default()
    };
    Case { snapshot, policy }
}

/// The cluster after the event.
pub(crate) fn after(mut case: Case, shape: Shape, event: Event, seed: u64) -> Case {
    let brokers = &mut case.snapshot.brokers;
    let at = Rng::new(!seed).below(brokers.len());
    match event {
        Event::Drain => brokers[at].state = BrokerState::Draining,
        Event::Dead => brokers[at].state = BrokerState::Down,
        Event::Join => brokers.push(broker(shape, shape.brokers)),
    }
    case
}

fn broker(shape: Shape, b: usize) -> BrokerInput {
    BrokerInput {
        id: format!("b{b:03}"),
        zone: format!("z{}", b % shape.zones),
        ..BrokerInput::default()
    }
}

fn shard(shape: Shape, k: usize, rng: &mut Rng) -> ShardInput {
    let (leader, stream) = (k % shape.brokers, k / STREAM);
    let mut holders = vec![leader];
    // Followers lie further on by another number of brokers in each round, in the next zones.
    let mut next = leader + 1 + k / shape.brokers % (shape.brokers - 1);
    while holders.len() < shape.factor {
        let b = next % shape.brokers;
        if holders.iter().all(|h| h % shape.zones != b % shape.zones) {
            holders.push(b);
        }
        next += 1;
    }
    let zone = match rng.chance(NEAR_PERCENT) {
        true => leader % shape.zones,
        false => rng.below(shape.zones),
    };
    let mut ids = holders.into_iter().map(|b| format!("b{b:03}"));
    ShardInput {
        id: format!("s{stream:04}-{}", k % STREAM),
        stream: format!("s{stream:04}"),
        number: Some((k % STREAM) as u32),
        leader: ids.next().unwrap_or_default(),
        followers: ids.collect(),
        size_bytes: (1 + rng.below(1_000) as i64) << 20,
        rate: rng.between(1, 100) as i64,
        sources: vec![TrafficSourceInput {
            zones: vec![format!("z{zone}")],
            weight: rng.between(1, 100) as i64,
        }],
        ..ShardInput::default()
    }
}

/// What one solve showed.
pub struct Measured {
    event: Event,
    wall: Duration,
    cpu: Duration,
    moves: usize,
    engine: Engine,
    outcome: Outcome,
    ranks: Vec<RankBound>,
    gap: Option<f64>,
}

/// Solves the cluster after the event.
///
/// # Errors
/// A plan that is not legal.
pub fn measure(shape: Shape, event: Event, seed: u64) -> Result<Measured, String> {
    let case = after(healthy(shape, seed), shape, event, seed);
    let problem = case.problem();
    let (started, cpu) = (Instant::now(), usage::cpu());
    let answer = solve(&problem, Planner::Auto)?;
    let (wall, cpu) = (started.elapsed(), usage::cpu().saturating_sub(cpu));
    check_legal(&problem, &answer)?;
    let Answer { plan, report } = answer;
    Ok(Measured {
        event,
        wall,
        cpu,
        moves: plan.moves.len(),
        engine: report.engine,
        outcome: report.outcome,
        ranks: report.ranks,
        gap: report.gap,
    })
}

impl Measured {
    /// Whether it took seconds, and `weighted` is proven to be near the optimum.
    pub fn is_good(&self) -> bool {
        let is_near = match self.first_open() {
            None => true,
            Some(open) if open.rank < Rank::Weighted => self.gap.is_some(),
            Some(open) => open.rank > Rank::Weighted || self.gap.is_some_and(|gap| gap < GAP_MAX),
        };
        self.cpu <= CPU_MAX && is_near
    }

    /// The first rank that isn't proven.
    fn first_open(&self) -> Option<&RankBound> {
        self.ranks
            .iter()
            .find(|entry| entry.bound != Some(entry.value))
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?}: {:.2} s, {:.2} s of processor; {:?} {:?}, {} moves; ",
            self.event,
            self.wall.as_secs_f64(),
            self.cpu.as_secs_f64(),
            self.engine,
            self.outcome,
            self.moves
        )?;
        let Some(open) = self.first_open() else {
            return write!(f, "all ranks proven");
        };
        let proven = open.rank as usize;
        write!(
            f,
            "{proven} ranks proven, {} is {}",
            open.rank.name(),
            open.value
        )?;
        if let Some(bound) = open.bound {
            write!(f, ", at least {bound}")?;
        }
        match self.gap {
            Some(gap) => write!(f, ", gap {:.3} %", 100.0 * gap),
            None => write!(f, ", no gap known"),
        }
    }
}
