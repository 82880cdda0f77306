//! Leaders and live replicas per stream and broker, before and after, from the snapshot and the plan's spread rows.
//!
//! A plan may list all its assignments, some or none of them; its spread rows always list every count that changes.
//! So the counts before come from the snapshot with its flights finished, and where a spread row stands, both
//! numbers come from it. Complexity: O(replicas + spread rows), memory for the counts that are not zero.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::pb;

/// A number in the present layout and in the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Change {
    pub(super) before: i64,
    pub(super) after: i64,
}

impl Change {
    pub(super) fn changes(self) -> bool {
        self.before != self.after
    }

    fn bump(&mut self) {
        self.before += 1;
        self.after += 1;
    }

    fn absorb(&mut self, other: Change) {
        self.before += other.before;
        self.after += other.after;
    }
}

/// Counts of one stream on one broker, or of one broker.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Count {
    pub(super) leaders: Change,
    pub(super) replicas: Change,
}

/// Counts by stream and broker, both by their position in the snapshot.
#[derive(Debug, Default)]
pub(super) struct Counts {
    cells: BTreeMap<(usize, usize), Count>,
}

impl Counts {
    pub(super) fn new(snapshot: &pb::Snapshot, plan: &pb::Plan) -> Self {
        let streams = positions(snapshot.streams.iter().map(|s| s.id.as_str()));
        let brokers = positions(snapshot.brokers.iter().map(|b| b.id.as_str()));
        let is_live = |id: &str| {
            brokers
                .get(id)
                .is_some_and(|&b| snapshot.brokers[b].state() != pb::BrokerState::Down)
        };
        let mut flights: HashMap<&str, Vec<&pb::InFlight>> = HashMap::new();
        for flight in &snapshot.in_flight {
            flights.entry(&flight.shard).or_default().push(flight);
        }
        let mut counts = Counts::default();
        for shard in &snapshot.shards {
            let Some(&stream) = streams.get(shard.stream.as_str()) else {
                continue;
            };
            let flown = flights
                .get(shard.id.as_str())
                .map_or(&[][..], Vec::as_slice);
            let (leader, replicas) = landed(shard, flown, &is_live);
            for id in replicas.into_iter().filter(|id| is_live(id)) {
                let cell = counts.cells.entry((stream, brokers[id])).or_default();
                cell.replicas.bump();
                if id == leader {
                    cell.leaders.bump();
                }
            }
        }
        for row in &plan.spread {
            let place = (
                streams.get(row.stream.as_str()),
                brokers.get(row.broker.as_str()),
            );
            if let (Some(&stream), Some(&broker)) = place {
                counts.cells.insert((stream, broker), count_of(row));
            }
        }
        counts
    }

    /// Of one stream on one broker.
    pub(super) fn cell(&self, stream: usize, broker: usize) -> Count {
        self.cells
            .get(&(stream, broker))
            .copied()
            .unwrap_or_default()
    }

    /// Of all streams, by broker.
    pub(super) fn totals(&self, brokers: usize) -> Vec<Count> {
        let mut totals = vec![Count::default(); brokers];
        for (&(_, broker), cell) in &self.cells {
            totals[broker].leaders.absorb(cell.leaders);
            totals[broker].replicas.absorb(cell.replicas);
        }
        totals
    }

    /// Streams with a count that changes.
    pub(super) fn changed_streams(&self) -> BTreeSet<usize> {
        self.changed().map(|(stream, _)| stream).collect()
    }

    /// Brokers with a count that changes.
    pub(super) fn changed_brokers(&self) -> BTreeSet<usize> {
        self.changed().map(|(_, broker)| broker).collect()
    }

    fn changed(&self) -> impl Iterator<Item = (usize, usize)> {
        self.cells
            .iter()
            .filter(|(_, cell)| cell.leaders.changes() || cell.replicas.changes())
            .map(|(&place, _)| place)
    }

    /// Largest minus smallest count of leaders over `brokers`, of one stream.
    pub(super) fn stream_range(&self, stream: usize, brokers: &[usize]) -> Change {
        difference(ends(brokers.iter().map(|&b| self.cell(stream, b).leaders)))
    }

    /// Smallest and largest count of leaders of all streams over the active brokers.
    pub(super) fn total_ends(&self, snapshot: &pb::Snapshot) -> [Change; 2] {
        let totals = self.totals(snapshot.brokers.len());
        let pairs = snapshot.brokers.iter().zip(&totals);
        let active = pairs.filter(|(broker, _)| is_active(broker));
        ends(active.map(|(_, count)| count.leaders))
    }

    /// Largest minus smallest count of leaders of all streams over the active brokers.
    pub(super) fn total_range(&self, snapshot: &pb::Snapshot) -> Change {
        difference(self.total_ends(snapshot))
    }
}

/// Whether a broker takes new replicas.
pub(super) fn is_active(broker: &pb::Broker) -> bool {
    use pb::BrokerState::{Active, Unspecified};
    matches!(broker.state(), Active | Unspecified)
}

/// Smallest and largest, before and after; 0 of nothing.
fn ends(counts: impl Iterator<Item = Change> + Clone) -> [Change; 2] {
    let smallest = |side: fn(Change) -> i64| counts.clone().map(side).min().unwrap_or(0);
    let largest = |side: fn(Change) -> i64| counts.clone().map(side).max().unwrap_or(0);
    let sides: [fn(Change) -> i64; 2] = [|c| c.before, |c| c.after];
    let [low, high] = [sides.map(smallest), sides.map(largest)];
    [low, high].map(|[before, after]| Change { before, after })
}

/// The second less the first.
fn difference([low, high]: [Change; 2]) -> Change {
    Change {
        before: high.before - low.before,
        after: high.after - low.after,
    }
}

fn count_of(row: &pb::SpreadRow) -> Count {
    Count {
        leaders: Change {
            before: row.leaders_before,
            after: row.leaders_after,
        },
        replicas: Change {
            before: row.replicas_before,
            after: row.replicas_after,
        },
    }
}

/// Leader and replicas of a shard once its flights have landed, the follower's first. A leader that moves onto a
/// follower swaps roles with it. A flight to a broker that is down lapses, and so does every flight of a shard
/// without a live leader.
fn landed<'a>(
    shard: &'a pb::Shard,
    flights: &[&'a pb::InFlight],
    is_live: &impl Fn(&str) -> bool,
) -> (&'a str, BTreeSet<&'a str>) {
    let mut leader = shard.leader.as_str();
    let listed: BTreeSet<&str> = shard.followers.iter().map(String::as_str).collect();
    let mut followers = listed.clone();
    let holds = |flight: &&&'a pb::InFlight| is_live(&shard.leader) && is_live(&flight.to);
    let of_role = |is_follower: bool| {
        let mut flights = flights.iter().filter(holds);
        flights.find(|flight| (flight.role() == pb::Role::Follower) == is_follower)
    };
    if let Some(flight) = of_role(true) {
        followers.remove(flight.from.as_str());
        followers.insert(&flight.to);
    }
    if let Some(flight) = of_role(false) {
        let to = flight.to.as_str();
        if followers.remove(to) && listed.contains(to) {
            followers.insert(leader);
        }
        leader = to;
    }
    followers.insert(leader);
    (leader, followers)
}

fn positions<'a>(ids: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    ids.enumerate().map(|(i, id)| (id, i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> pb::Snapshot {
        let broker = |id: &str, state: pb::BrokerState| pb::Broker {
            id: id.into(),
            state: state.into(),
            ..Default::default()
        };
        pb::Snapshot {
            brokers: vec![
                broker("a", pb::BrokerState::Active),
                broker("b", pb::BrokerState::Draining),
                broker("c", pb::BrokerState::Active),
                broker("x", pb::BrokerState::Down),
            ],
            streams: vec![pb::Stream {
                id: "s".into(),
                ..Default::default()
            }],
            shards: vec![shard("s/0", "a", &["b"])],
            ..Default::default()
        }
    }

    fn shard(id: &str, leader: &str, followers: &[&str]) -> pb::Shard {
        pb::Shard {
            id: id.into(),
            stream: "s".into(),
            leader: leader.into(),
            followers: followers.iter().map(|&id| id.into()).collect(),
            ..Default::default()
        }
    }

    fn flight(role: pb::Role, from: &str, to: &str) -> pb::InFlight {
        pb::InFlight {
            shard: "s/0".into(),
            role: role.into(),
            from: from.into(),
            to: to.into(),
        }
    }

    fn leaders_and_replicas(snapshot: &pb::Snapshot) -> String {
        let counts = Counts::new(snapshot, &pb::Plan::default());
        let cells = (0..snapshot.brokers.len()).map(|b| counts.cell(0, b));
        let shown = cells.map(|c| format!("{}{}", c.leaders.before, c.replicas.after));
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn flights_count_as_landed_unless_they_lapse() {
        let mut snapshot = snapshot();
        assert_eq!(leaders_and_replicas(&snapshot), "11 01 00 00");
        let cases = [
            (flight(pb::Role::Leader, "a", "c"), "00 01 11 00"),
            (flight(pb::Role::Unspecified, "a", "c"), "00 01 11 00"),
            (flight(pb::Role::Leader, "a", "b"), "01 11 00 00"),
            (flight(pb::Role::Leader, "a", "x"), "11 01 00 00"),
            (flight(pb::Role::Follower, "b", "c"), "11 00 01 00"),
            (flight(pb::Role::Follower, "", "c"), "11 01 01 00"),
        ];
        for (flight, expected) in cases {
            snapshot.in_flight = vec![flight];
            assert_eq!(leaders_and_replicas(&snapshot), expected, "{snapshot:?}");
        }
        snapshot.in_flight = vec![
            flight(pb::Role::Leader, "a", "b"),
            flight(pb::Role::Follower, "b", "a"),
        ];
        assert_eq!(leaders_and_replicas(&snapshot), "01 11 00 00");
        snapshot.in_flight = vec![flight(pb::Role::Follower, "b", "c")];
        snapshot.shards = vec![shard("s/0", "x", &["b"])];
        assert_eq!(leaders_and_replicas(&snapshot), "00 01 00 00");
    }

    #[test]
    fn spread_rows_decide_where_they_stand() {
        let plan = pb::Plan {
            spread: vec![pb::SpreadRow {
                stream: "s".into(),
                broker: "c".into(),
                leaders_before: 0,
                leaders_after: 5,
                replicas_before: 1,
                replicas_after: 6,
            }],
            ..Default::default()
        };
        let counts = Counts::new(&snapshot(), &plan);
        assert_eq!(counts.changed_brokers(), BTreeSet::from([2]));
        assert_eq!(counts.totals(4)[2].leaders.after, 5);
        assert_eq!(
            counts.stream_range(0, &[0, 2]),
            Change {
                before: 1,
                after: 4
            }
        );
    }
}
