//! Small clusters drawn from the bytes, most of them valid, so that what lies behind validation is reached: drains,
//! deaths, caps, limits, tags, shares, pins, flights, orphans, every role and listing, any work limit, garbled prices.

#![no_main]

mod planned;

use std::collections::HashMap;

use libfuzzer_sys::fuzz_target;
use shardflow::pb;

fuzz_target!(|bytes: &[u8]| planned::check(Draw(bytes).request()));

/// Numbers from the bytes, zeros behind their end.
struct Draw<'a>(&'a [u8]);

const RANKS: [&str; 5] = [
    "breaches",
    "zone_minimum_shortfall",
    "stream_leader_spread",
    "weighted",
    "leader_changes",
];

impl Draw<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count.max(1)
    }

    fn is(&mut self, of_256: u8) -> bool {
        self.byte() < of_256
    }

    fn some<T>(&mut self, of_256: u8, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.is(of_256).then(|| draw(self))
    }

    fn list<T>(&mut self, most: usize, mut draw: impl FnMut(&mut Self, usize) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|at| draw(self, at)).collect()
    }

    fn small(&mut self) -> u32 {
        self.below(8) as u32
    }

    /// Mostly small, now and then as large as an integer gets.
    fn amount(&mut self) -> i64 {
        match self.byte() {
            255 => i64::MAX,
            254 => i64::MIN,
            253 => -1,
            252 => 1 << 40,
            small => i64::from(small) % 20,
        }
    }

    fn broker_id(&mut self) -> String {
        format!("b{}", self.below(6))
    }

    fn zone(&mut self) -> String {
        format!("z{}", self.below(4))
    }

    fn tags(&mut self) -> HashMap<String, String> {
        let tag = self.some(30, |draw| {
            ("disk".to_owned(), format!("t{}", draw.below(2)))
        });
        tag.into_iter().collect()
    }

    fn request(&mut self) -> pb::OptimizeRequest {
        pb::OptimizeRequest {
            request_id: String::new(),
            policy: Some(self.policy()),
            options: Some(self.options()),
            snapshot: Some(self.snapshot()),
        }
    }

    fn snapshot(&mut self) -> pb::Snapshot {
        let has_zones = self.is(200);
        let streams = 1 + self.below(3);
        pb::Snapshot {
            cluster_id: String::new(),
            generation: String::new(),
            brokers: self.list(6, |draw, at| draw.broker(at, has_zones)),
            streams: (0..streams).map(|at| self.stream(at)).collect(),
            shards: self.list(12, |draw, at| draw.shard(at, streams)),
            in_flight: self.list(2, |draw, _| pb::InFlight {
                shard: format!("p{}", draw.below(12)),
                role: draw.below(3) as i32,
                from: if draw.is(200) {
                    draw.broker_id()
                } else {
                    String::new()
                },
                to: draw.broker_id(),
            }),
        }
    }

    fn broker(&mut self, at: usize, has_zones: bool) -> pb::Broker {
        let state = match self.byte() {
            0..200 => pb::BrokerState::Active,
            200..230 => pb::BrokerState::Draining,
            230.. => pb::BrokerState::Down,
        };
        pb::Broker {
            id: format!("b{at}"),
            zone: if has_zones {
                self.zone()
            } else {
                String::new()
            },
            state: state.into(),
            tags: self.tags(),
            share: self.some(60, Self::small),
            max_leaders: self.some(80, Self::small),
            max_replicas: self.some(60, Self::small),
            disk_bytes: self.some(4, Self::amount),
            disk_used_bytes: self.some(4, Self::amount).unwrap_or_default(),
            rate_capacity: self.some(4, Self::amount),
        }
    }

    fn stream(&mut self, at: usize) -> pb::Stream {
        pb::Stream {
            id: format!("s{at}"),
            replication_factor: self.some(80, |draw| draw.below(4) as u32).unwrap_or(1),
            required_tags: self.tags(),
            allowed_brokers: self
                .some(30, |draw| draw.list(4, |draw, _| draw.broker_id()))
                .unwrap_or_default(),
        }
    }

    fn shard(&mut self, at: usize, streams: usize) -> pb::Shard {
        let led = self.is(200);
        let leader = if led { self.broker_id() } else { String::new() };
        let mut followers = self.list(2, |draw, _| draw.broker_id());
        followers.sort();
        followers.dedup();
        followers.retain(|follower| *follower != leader);
        pb::Shard {
            id: format!("p{at}"),
            stream: format!("s{}", self.below(streams)),
            number: self.some(100, |_| at as u32),
            leader,
            followers,
            size_bytes: self.amount(),
            rate: self.amount(),
            pinned: self.is(20),
            sources: self.sources(),
            follower_sources: self.sources(),
        }
    }

    fn sources(&mut self) -> Vec<pb::TrafficSource> {
        self.list(2, |draw, _| {
            let mut zones = draw.list(2, |draw, _| draw.zone());
            zones.dedup();
            let weight = draw.amount();
            pb::TrafficSource { zones, weight }
        })
    }

    fn spread(&mut self) -> Option<pb::Spread> {
        self.some(128, |draw| pb::Spread {
            mode: draw.below(3) as i32,
            slack: draw.below(3) as u32,
        })
    }

    fn policy(&mut self) -> pb::Policy {
        pb::Policy {
            weights: self.some(200, |draw| pb::Weights {
                traffic: draw.some(128, Self::amount),
                overlap: draw.some(128, Self::amount),
                overlap_per_gib: draw.some(128, Self::amount),
                promotion: draw.some(30, Self::amount),
                same_rack: draw.some(128, Self::amount),
                same_rack_as_leader: draw.some(128, Self::amount),
            }),
            roles: self.below(3) as i32,
            stream_leaders: self.spread(),
            cluster_leaders: self.spread(),
            stream_replicas: self.spread(),
            cluster_replicas: self.spread(),
            zone_limits: self.zone_limits(),
            min_zones: self.some(60, Self::small).unwrap_or_default(),
            allow_zone_loss: self.is(60),
            max_replicas_per_zone: self.some(40, |draw| 1 + draw.small()),
            required_tags: self.tags(),
            ..pb::Policy::default()
        }
    }

    fn zone_limits(&mut self) -> Vec<pb::ZoneLimit> {
        let mut limits = self.list(3, |draw, at| pb::ZoneLimit {
            zone: format!("z{at}"),
            min_leaders: draw.some(100, Self::small),
            max_leaders: draw.some(100, |draw| 7 + draw.small()),
            max_replicas: draw.some(100, Self::small),
        });
        limits.retain(|_| self.is(200));
        limits
    }

    fn options(&mut self) -> pb::Options {
        pb::Options {
            planner: self
                .some(60, |draw| draw.below(7) as i32)
                .unwrap_or_default(),
            work_limit: self.some(100, |draw| u64::from(draw.byte()).pow(2)),
            include_certificate: self.is(128),
            assignments: self.below(4) as i32,
            price_hint: self.list(4, |draw, _| {
                let of_zone = draw.is(80);
                pb::Price {
                    rank: RANKS[draw.below(RANKS.len())].to_owned(),
                    role: draw.below(3) as i32,
                    broker: if of_zone {
                        String::new()
                    } else {
                        draw.broker_id()
                    },
                    zone: if of_zone { draw.zone() } else { String::new() },
                    value: draw.amount(),
                    ..Default::default()
                }
            }),
            ..pb::Options::default()
        }
    }
}
