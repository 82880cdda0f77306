//! Disks: 1,000 shards on 20 brokers, sizes over three orders of magnitude, 85 % full. Every replica is placed where HiGHS
//! finds room for all, and no disk goes above its watermark, or what it holds now, in the plan or on the way.

mod replay;
mod room;

use std::fmt;
use std::time::{Duration, Instant};

use shardflow_solver::cost::Rank;
use shardflow_solver::input::{BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput};
use shardflow_solver::snapshot::BrokerState;
use shardflow_solver::strategy::{Engine, Planner};

use crate::cases::Case;
use crate::rng::Rng;
use crate::sets::promises::{check_legal, solve};

const SHARDS: usize = 1_000;
const BROKERS: usize = 20;
const STREAMS: usize = 20;
const ZONES: usize = 4;

/// Sizes are multiples of it.
const UNIT: i64 = 1 << 20;

/// How long HiGHS may look for room.
const ROOM_SECONDS: f64 = 60.0;

/// What has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// All shards are new.
    New,
    /// A broker is down.
    Dead,
    /// A broker is to be drained.
    Drain,
}

impl Event {
    const ALL: [Event; 3] = [Event::New, Event::Dead, Event::Drain];
}

/// What one solve showed.
struct Solve {
    event: Event,
    factor: u32,
    wall: Duration,
    engine: Engine,
    unplaced: i64,
    /// Where something is unplaced: whether HiGHS finds room for all.
    fits: Option<bool>,
    moves: usize,
    detours: usize,
    blocked: usize,
}

/// What a run showed.
pub struct Measured(Vec<Solve>);

/// Solves each event with factors 1 to 3.
///
/// # Errors
/// A plan or a step that is not legal, or a disk that overflows.
pub fn measure(seed: u64, mut progress: impl FnMut(&dyn fmt::Display)) -> Result<Measured, String> {
    let mut solves = Vec::new();
    for event in Event::ALL {
        for factor in 1..=3 {
            let solve = run(event, factor, seed)?;
            progress(&solve);
            solves.push(solve);
        }
    }
    Ok(Measured(solves))
}

fn run(event: Event, factor: u32, seed: u64) -> Result<Solve, String> {
    let problem = case(event, factor, seed).problem();
    let started = Instant::now();
    let answer = solve(&problem, Planner::Auto)?;
    let wall = started.elapsed();
    check_legal(&problem, &answer)?;
    let plan = &answer.plan;
    replay::check(&problem, plan)?;
    let cost = &plan.after.0;
    let unplaced = cost[Rank::UnplacedLeaders] + cost[Rank::UnplacedFollowers];
    let fits = match unplaced {
        0 => None,
        _ => Some(room::is_found(&problem, ROOM_SECONDS)?),
    };
    Ok(Solve {
        event,
        factor,
        wall,
        engine: answer.report.engine,
        unplaced,
        fits,
        moves: plan.moves.len(),
        detours: plan.moves.iter().filter(|one| one.detour).count(),
        blocked: plan
            .moves
            .iter()
            .filter(|one| one.blocked.is_some())
            .count(),
    })
}

/// The cluster. All disks are alike; those of active brokers are 85 % full once everything is placed.
fn case(event: Event, factor: u32, seed: u64) -> Case {
    let mut rng = Rng::new(seed ^ u64::from(factor));
    let sizes: Vec<i64> = (0..SHARDS).map(|_| size(&mut rng)).collect();
    let active = match event {
        Event::New => BROKERS,
        Event::Dead | Event::Drain => BROKERS - 1,
    } as i64;
    let total = sizes.iter().sum::<i64>() * i64::from(factor);
    // In tens, so that the watermark is a multiple of the unit.
    let disk = (total * 100 / 85 / active / 10 + 1) * 10;
    let broker = |b: usize| BrokerInput {
        id: format!("b{b:02}"),
        zone: format!("z{}", b % ZONES),
        disk_bytes: Some(disk * UNIT),
        ..BrokerInput::default()
    };
    let stream = |s: usize| StreamInput {
        id: format!("s{s:02}"),
        replication_factor: factor,
        ..StreamInput::default()
    };
    let mut snapshot = SnapshotInput {
        cluster_id: "disk".to_owned(),
        brokers: (0..BROKERS).map(broker).collect(),
        streams: (0..STREAMS).map(stream).collect(),
        shards: sizes.iter().enumerate().map(shard).collect(),
        ..SnapshotInput::default()
    };
    if event != Event::New {
        place(&mut snapshot, factor as usize);
        let at = rng.below(BROKERS);
        snapshot.brokers[at].state = match event {
            Event::Dead => BrokerState::Down,
            _ => BrokerState::Draining,
        };
    }
    Case {
        snapshot,
        policy: PolicyInput::default(),
    }
}

/// Log-uniform from 1 to 1,000: as often in each of ten doublings.
fn size(rng: &mut Rng) -> i64 {
    let low = 1_usize << rng.below(10);
    rng.between(low, (2 * low).min(1_000)) as i64
}

fn shard((k, &size): (usize, &i64)) -> ShardInput {
    ShardInput {
        id: format!("p{k:04}"),
        stream: format!("s{:02}", k % STREAMS),
        number: Some((k / STREAMS) as u32),
        size_bytes: size * UNIT,
        rate: size,
        ..ShardInput::default()
    }
}

/// The present layout: the largest shards first, each on the brokers that hold least.
fn place(snapshot: &mut SnapshotInput, factor: usize) {
    let mut held = [0; BROKERS];
    let mut order: Vec<usize> = (0..snapshot.shards.len()).collect();
    order.sort_by_key(|&k| std::cmp::Reverse(snapshot.shards[k].size_bytes));
    for k in order {
        let shard = &mut snapshot.shards[k];
        let mut brokers: Vec<usize> = (0..BROKERS).collect();
        brokers.sort_by_key(|&b| (held[b], b));
        brokers.truncate(factor);
        for &b in &brokers {
            held[b] += shard.size_bytes;
        }
        let mut ids = brokers.into_iter().map(|b| format!("b{b:02}"));
        shard.leader = ids.next().unwrap_or_default();
        shard.followers = ids.collect();
    }
}

impl Measured {
    /// Whether everything is placed that can be.
    pub fn is_good(&self) -> bool {
        self.0.iter().all(|solve| solve.fits != Some(true))
    }
}

impl fmt::Display for Solve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?}, factor {}: {:.2} s, {:?}, {} unplaced",
            self.event,
            self.factor,
            self.wall.as_secs_f64(),
            self.engine,
            self.unplaced
        )?;
        match self.fits {
            None => {}
            Some(true) => write!(f, " though HiGHS finds room")?,
            Some(false) => write!(f, ", nor does HiGHS find room")?,
        }
        write!(
            f,
            "; {} moves, {} by way of another broker, {} blocked",
            self.moves, self.detours, self.blocked
        )
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let placed = self.0.iter().filter(|solve| solve.unplaced == 0).count();
        write!(
            f,
            "{placed} of {} clusters wholly placed, no disk above its watermark",
            self.0.len()
        )
    }
}
