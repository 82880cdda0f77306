//! How many leaders and replicas brokers and zones have, and how many they may have.

use super::{Assignment, Broker, BrokerId, BrokerState, Loads, Problem};
use crate::budget::{Pace, Stop};

/// Leaders and live replicas per broker and zone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Leaders by broker.
    pub leaders: Vec<i64>,
    /// Live replicas of any role by broker.
    pub replicas: Vec<i64>,
    /// Leaders by zone.
    pub zone_leaders: Vec<i64>,
    /// Live replicas of any role by zone.
    pub zone_replicas: Vec<i64>,
}

impl Counts {
    /// All zero.
    pub fn zero(brokers: usize, zones: usize) -> Self {
        Counts {
            leaders: vec![0; brokers],
            replicas: vec![0; brokers],
            zone_leaders: vec![0; zones],
            zone_replicas: vec![0; zones],
        }
    }
    /// Adds `by` times the live replicas of an assignment; replicas on `DOWN` brokers count nowhere.
    pub fn add(&mut self, brokers: &[Broker], assignment: &Assignment, by: i64) {
        let is_live = |b: &BrokerId| brokers[b.index()].state != BrokerState::Down;
        for b in assignment.replicas().filter(is_live) {
            self.replicas[b.index()] += by;
            self.zone_replicas[brokers[b.index()].zone.index()] += by;
        }
        if let Some(b) = assignment.leader.filter(is_live) {
            self.leaders[b.index()] += by;
            self.zone_leaders[brokers[b.index()].zone.index()] += by;
        }
    }
}

/// Counts and loads of the present layout, and the caps in force: max(cap, count now); [`Limits::NONE`] where there is no
/// cap.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The present layout, moves in flight finished.
    pub present: Counts,
    /// The caps in force, in the same shape.
    pub in_force: Counts,
    /// Bytes and rates of the present layout.
    pub present_loads: Loads,
    /// The caps in force: of bytes the room below the watermark, of rates the capacity.
    pub loads_in_force: Loads,
}

impl Limits {
    /// Stands for "no cap".
    pub const NONE: i64 = i64::MAX;

    /// Of a problem without brokers.
    pub(crate) fn none() -> Self {
        Limits {
            present: Counts::zero(0, 0),
            in_force: Counts::zero(0, 0),
            present_loads: Loads::zero(0),
            loads_in_force: Loads::zero(0),
        }
    }

    /// Of the present layout of a problem.
    ///
    /// # Errors
    /// The interrupt's reason.
    pub(crate) fn of(problem: &Problem, pace: &mut Pace<'_>) -> Result<Self, Stop> {
        let (brokers, zones) = (&problem.brokers, &problem.zones);
        let mut present = Counts::zero(brokers.len(), zones.len());
        let mut present_loads = Loads::zero(brokers.len());
        for shard in &problem.shards {
            pace.step(1)?;
            present.add(brokers, &shard.present, 1);
            present_loads.add(brokers, shard, &shard.present, 1);
        }
        let load = |now: &[i64], cap: &dyn Fn(BrokerId) -> Option<i64>| {
            let in_force = |(b, &now): (usize, &i64)| {
                cap(BrokerId::at(b)).map_or(Limits::NONE, |cap| now.max(cap))
            };
            now.iter().enumerate().map(in_force).collect()
        };
        let loads_in_force = Loads {
            bytes: load(&present_loads.bytes, &|b| problem.disk_room(b)),
            rates: load(&present_loads.rates, &|b| problem.broker(b).rate_capacity),
        };
        let in_force =
            |cap: Option<u32>, now: i64| cap.map_or(Limits::NONE, |cap| now.max(i64::from(cap)));
        let with = |now: &[i64], cap: &dyn Fn(usize) -> Option<u32>| {
            (now.iter().enumerate())
                .map(|(i, &now)| in_force(cap(i), now))
                .collect()
        };
        let in_force = Counts {
            leaders: with(&present.leaders, &|b| brokers[b].max_leaders),
            replicas: with(&present.replicas, &|b| brokers[b].max_replicas),
            zone_leaders: with(&present.zone_leaders, &|z| zones[z].max_leaders),
            zone_replicas: with(&present.zone_replicas, &|z| zones[z].max_replicas),
        };
        Ok(Limits {
            present,
            in_force,
            present_loads,
            loads_in_force,
        })
    }
}
