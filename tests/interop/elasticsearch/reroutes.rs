//! Plans of random clusters, carried out as a cluster carries out the bodies.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use shardflow::interop::elasticsearch::{Limits, export};
use shardflow::pb;
use shardflow::planning::{self, Control};

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// A crowded cluster: nodes that drain or are gone, missing replicas, caps of nodes and of a zone.
fn request(seed: u64) -> pb::OptimizeRequest {
    let mut numbers = Numbers(seed);
    let nodes = 3 + numbers.below(6);
    let broker = |at: usize, numbers: &mut Numbers| pb::Broker {
        id: format!("n{at}"),
        zone: format!("z{}", at % 3),
        state: match numbers.below(8) {
            0 => pb::BrokerState::Draining.into(),
            1 => pb::BrokerState::Down.into(),
            _ => pb::BrokerState::Active.into(),
        },
        max_replicas: (numbers.below(3) == 0).then(|| 4 + numbers.below(6) as u32),
        ..pb::Broker::default()
    };
    let brokers: Vec<pb::Broker> = (0..nodes).map(|at| broker(at, &mut numbers)).collect();
    let mut snapshot = pb::Snapshot {
        brokers,
        ..pb::Snapshot::default()
    };
    for index in 0..1 + numbers.below(4) {
        let factor = 1 + numbers.below(3);
        let id = format!("index-{index}");
        for number in 0..1 + numbers.below(8) {
            let first = numbers.below(nodes).min(numbers.below(nodes));
            let held = factor - numbers.below(2).min(factor - 1);
            let held: Vec<String> = (0..held)
                .map(|at| format!("n{}", (first + at) % nodes))
                .collect();
            snapshot.shards.push(pb::Shard {
                id: format!("{id}/{number}"),
                stream: id.clone(),
                number: u32::try_from(number).ok(),
                leader: held[0].clone(),
                followers: held[1..].to_vec(),
                ..pb::Shard::default()
            });
        }
        snapshot.streams.push(pb::Stream {
            id,
            replication_factor: factor as u32,
            ..pb::Stream::default()
        });
    }
    let limit = pb::ZoneLimit {
        zone: "z1".to_owned(),
        max_replicas: Some(3 + numbers.below(8) as u32),
        ..pb::ZoneLimit::default()
    };
    pb::OptimizeRequest {
        snapshot: Some(snapshot),
        policy: Some(pb::Policy {
            zone_limits: vec![limit],
            ..pb::Policy::default()
        }),
        options: Some(pb::Options {
            planner: pb::Planner::GreedyTiers.into(),
            ..pb::Options::default()
        }),
        ..pb::OptimizeRequest::default()
    }
}

/// Nodes of the live copies of each shard, and which of them is the primary.
#[derive(Clone)]
struct Cluster {
    copies: BTreeMap<String, BTreeSet<String>>,
    primaries: BTreeMap<String, String>,
}

impl Cluster {
    fn new(snapshot: &pb::Snapshot) -> Self {
        let brokers = snapshot.brokers.iter();
        let down = brokers.filter(|broker| broker.state() == pb::BrokerState::Down);
        let down: BTreeSet<&String> = down.map(|broker| &broker.id).collect();
        let mut cluster = Cluster {
            copies: BTreeMap::new(),
            primaries: BTreeMap::new(),
        };
        for shard in &snapshot.shards {
            let listed = std::iter::once(&shard.leader).chain(&shard.followers);
            let live: Vec<&String> = listed.filter(|node| !down.contains(node)).collect();
            let primary = live.first().map(|node| (*node).clone()).unwrap_or_default();
            cluster.primaries.insert(shard.id.clone(), primary);
            cluster
                .copies
                .insert(shard.id.clone(), live.into_iter().cloned().collect());
        }
        cluster
    }

    fn count(&self, node: &str) -> usize {
        self.copies
            .values()
            .filter(|nodes| nodes.contains(node))
            .count()
    }
}

/// Copies while some of them move: at both ends, but that a move within a zone counts once in the zone.
struct During {
    nodes: Cluster,
    zones: Cluster,
}

impl During {
    fn new(cluster: &Cluster) -> Self {
        During {
            nodes: cluster.clone(),
            zones: cluster.clone(),
        }
    }

    fn arrive(&mut self, shard: &str, from: &str, to: &str, zones: &BTreeMap<String, String>) {
        for cluster in [&mut self.nodes, &mut self.zones] {
            let copies = cluster.copies.get_mut(shard).unwrap();
            assert!(
                copies.insert(to.to_owned()),
                "{shard}: {to} holds a copy already"
            );
        }
        if zones.get(from) == zones.get(to) {
            self.zones.copies.get_mut(shard).unwrap().remove(from);
        }
    }

    /// Copies on each node, and in the zone that has a limit.
    fn counts(&self, zones: &BTreeMap<String, String>) -> BTreeMap<String, usize> {
        let nodes = zones.keys();
        let mut counts: BTreeMap<String, usize> = nodes
            .map(|node| (node.clone(), self.nodes.count(node)))
            .collect();
        let limited = zones.iter().filter(|(_, zone)| *zone == "z1");
        let held = limited.map(|(node, _)| self.zones.count(node)).sum();
        counts.insert("z1".to_owned(), held);
        counts
    }
}

/// The most copies that a node, or the zone with the limit, ever has on the way of the plan, where the copies of a step
/// arrive before any leaves.
fn peaks(
    start: &Cluster,
    moves: &[pb::Move],
    zones: &BTreeMap<String, String>,
) -> BTreeMap<String, usize> {
    let mut cluster = start.clone();
    let mut peaks = During::new(start).counts(zones);
    for step in moves.chunk_by(|a, b| a.step == b.step) {
        let mut during = During::new(&cluster);
        for step in step
            .iter()
            .filter(|step| step.kind() != pb::MoveKind::Promotion)
        {
            during.arrive(&step.shard, &step.from, &step.to, zones);
            let copies = cluster.copies.get_mut(&step.shard).unwrap();
            copies.remove(&step.from);
            copies.insert(step.to.clone());
        }
        for (name, count) in during.counts(zones) {
            let peak = peaks.entry(name).or_insert(0);
            *peak = count.max(*peak);
        }
    }
    peaks
}

/// Carries out a body as the cluster would: what comes is there beside what leaves, until all has ended.
fn carry_out(
    cluster: &mut Cluster,
    body: &Value,
    factors: &BTreeMap<&str, usize>,
    zones: &BTreeMap<String, String>,
) -> During {
    let before = cluster.clone();
    let mut during = During::new(cluster);
    for command in body["commands"].as_array().unwrap() {
        let (kind, fields) = command.as_object().unwrap().iter().next().unwrap();
        let text = |name: &str| fields[name].as_str().unwrap_or_default();
        let id = format!("{}/{}", text("index"), fields["shard"]);
        assert!(!cluster.primaries[&id].is_empty(), "{id} has a primary");
        let (from, to) = match kind.as_str() {
            "move" => (text("from_node"), text("to_node")),
            _ => ("", text("node")),
        };
        during.arrive(&id, from, to, zones);
        let ended = cluster.copies.get_mut(&id).unwrap();
        ended.insert(to.to_owned());
        if kind == "move" {
            assert!(
                before.copies[&id].contains(from) && ended.remove(from),
                "{id} is on {from}"
            );
            if cluster.primaries[&id] == from {
                cluster.primaries.insert(id, to.to_owned());
            }
        } else {
            assert_eq!(kind, "allocate_replica");
            assert!(
                before.copies[&id].len() < factors[text("index")],
                "{id} lacks a replica"
            );
        }
    }
    during
}

#[test]
fn every_body_can_be_carried_out_and_the_copies_end_where_the_plan_has_them() {
    let mut bodies_seen = 0;
    let mut commands_seen = 0;
    for seed in 0..1500 {
        let request = request(seed);
        let snapshot = request.snapshot.as_ref().unwrap();
        let response = planning::optimize(&request, &Control::default()).unwrap();
        let plan = response.plan.as_ref().unwrap();
        let per_node = 1 + seed as usize % 3;
        let export = export(&request, &response, Limits { per_node }).unwrap();
        let zones = snapshot
            .brokers
            .iter()
            .map(|b| (b.id.clone(), b.zone.clone()));
        let zones: BTreeMap<String, String> = zones.collect();
        let streams = snapshot.streams.iter();
        let factors = streams
            .map(|s| (s.id.as_str(), s.replication_factor as usize))
            .collect();
        let mut cluster = Cluster::new(snapshot);
        let start = cluster.clone();
        let peaks = peaks(&start, &plan.moves, &zones);
        for line in export.reroute.lines() {
            let body: Value = serde_json::from_str(line).unwrap();
            let during = carry_out(&mut cluster, &body, &factors, &zones);
            for (name, count) in during.counts(&zones) {
                assert!(
                    count <= peaks[&name],
                    "seed {seed}: {count} on {name}, in the plan {}",
                    peaks[&name]
                );
            }
            bodies_seen += 1;
            commands_seen += body["commands"].as_array().unwrap().len();
        }
        for assignment in &plan.assignments {
            let id = &assignment.shard;
            if start.copies[id].is_empty() {
                assert!(cluster.copies[id].is_empty(), "seed {seed}: {id} was lost");
                continue;
            }
            let planned = std::iter::once(&assignment.leader).chain(&assignment.followers);
            let live = planned.filter(|node| {
                let broker = snapshot.brokers.iter().find(|broker| broker.id == **node);
                broker.is_some_and(|broker| broker.state() != pb::BrokerState::Down)
            });
            let live: BTreeSet<String> = live.cloned().collect();
            assert_eq!(cluster.copies[id], live, "seed {seed}: {id}");
            let named = |what: &str| {
                let mut warnings = export.warnings.iter();
                warnings.any(|warning| warning.contains(what))
            };
            let is_led = cluster.primaries[id] == assignment.leader;
            assert!(is_led || named("whose primary"), "seed {seed}: {id}");
        }
    }
    assert!(
        bodies_seen > 1000 && commands_seen > 2 * bodies_seen,
        "{commands_seen} in {bodies_seen}"
    );
}
