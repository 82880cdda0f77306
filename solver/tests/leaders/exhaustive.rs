//! Every snapshot of a coarse grid: three brokers, up to four shards of one or two streams.

use shardflow_solver::input::{
    BrokerInput, PolicyInput, ShardInput, SnapshotInput, StreamInput, ZoneLimitInput,
};
use shardflow_solver::snapshot::{BrokerState, Roles};

use crate::brute::{Match, check_case};
use crate::cases::Case;

const BROKERS: [&str; 3] = ["a", "b", "c"];

/// Replicas of a shard: the leader, if any, and its followers.
type Layout = (Option<usize>, Vec<usize>);

/// How the brokers stand.
#[derive(Clone, Default, Debug)]
struct Setting {
    /// One that is not active.
    odd: Option<(usize, BrokerState)>,
    max_leaders: [Option<u32>; 3],
    max_replicas: [Option<u32>; 3],
    /// Two brokers share a zone, `x`; else each is its own.
    has_zones: bool,
    /// Of zone `x`.
    zone_replicas: Option<u32>,
}

/// All brokers active, then one of them not.
fn odds() -> Vec<Option<(usize, BrokerState)>> {
    let states = [BrokerState::Draining, BrokerState::Down];
    let one = |broker| states.map(|state| Some((broker, state)));
    std::iter::once(None)
        .chain((0..BROKERS.len()).flat_map(one))
        .collect()
}

/// No cap, or the same on one of the brokers.
fn caps_on_one(cap: u32) -> Vec<[Option<u32>; 3]> {
    let on = |broker: usize| std::array::from_fn(|b| (b == broker).then_some(cap));
    std::iter::once([None; 3])
        .chain((0..BROKERS.len()).map(on))
        .collect()
}

/// One broker may have a cap of one leader.
fn settings() -> Vec<Setting> {
    let mut settings = Vec::new();
    for has_zones in [false, true] {
        for max_leaders in caps_on_one(1) {
            for odd in odds() {
                settings.push(Setting {
                    odd,
                    max_leaders,
                    has_zones,
                    ..Setting::default()
                });
            }
        }
    }
    settings
}

/// Too few leaders may be placed, and replicas are limited on a broker, in a zone, or both.
fn tight_settings() -> Vec<Setting> {
    let mut settings = Vec::new();
    for zone_replicas in [None, Some(1)] {
        for leaders in [0, 1] {
            for max_replicas in [caps_on_one(0), caps_on_one(1)].concat() {
                for odd in odds() {
                    settings.push(Setting {
                        odd,
                        max_leaders: [Some(leaders), Some(0), Some(leaders)],
                        max_replicas,
                        has_zones: true,
                        zone_replicas,
                    });
                }
            }
        }
    }
    settings
}

fn brokers(setting: &Setting) -> Vec<BrokerInput> {
    (0..BROKERS.len())
        .map(|b| BrokerInput {
            id: BROKERS[b].to_owned(),
            zone: if setting.has_zones {
                ["x", "x", "y"][b]
            } else {
                ""
            }
            .to_owned(),
            state: (setting.odd)
                .filter(|odd| odd.0 == b)
                .map_or(BrokerState::Active, |odd| odd.1),
            max_leaders: setting.max_leaders[b],
            max_replicas: setting.max_replicas[b],
            ..BrokerInput::default()
        })
        .collect()
}

/// The choices of `count` out of `kinds`, repeats allowed, order not: shards of one stream differ only in name.
fn multisets(kinds: usize, count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = multisets(kinds, count - 1);
    let longer = |some: Vec<usize>| {
        let first = some.last().copied().unwrap_or(0);
        (first..kinds).map(move |kind| [some.clone(), vec![kind]].concat())
    };
    shorter.into_iter().flat_map(longer).collect()
}

fn case(roles: Roles, setting: &Setting, streams: [&[&Layout]; 2]) -> Case {
    let mut snapshot = SnapshotInput {
        brokers: brokers(setting),
        ..SnapshotInput::default()
    };
    let factor = if roles == Roles::LeadershipOnly { 2 } else { 1 };
    for (s, shards) in streams.into_iter().enumerate() {
        let stream = format!("s{s}");
        for (leader, followers) in shards.iter().copied() {
            snapshot.shards.push(ShardInput {
                id: format!("p{}", snapshot.shards.len()),
                stream: stream.clone(),
                leader: leader.map_or("", |b| BROKERS[b]).to_owned(),
                followers: followers.iter().map(|&b| BROKERS[b].to_owned()).collect(),
                ..ShardInput::default()
            });
        }
        snapshot.streams.push(StreamInput {
            id: stream,
            replication_factor: factor,
            ..StreamInput::default()
        });
    }
    let limit = |most: u32| ZoneLimitInput {
        zone: "x".to_owned(),
        max_replicas: Some(most),
        ..ZoneLimitInput::default()
    };
    let policy = PolicyInput {
        roles,
        zone_limits: setting.zone_replicas.map(limit).into_iter().collect(),
        ..PolicyInput::default()
    };
    Case { snapshot, policy }
}

/// Tries all layouts of `first` and `second` shards in two streams in the settings.
fn check_all(
    roles: Roles,
    settings: &[Setting],
    layouts: &[Layout],
    [first, second]: [usize; 2],
) -> usize {
    let mut tried = 0;
    let pick = |some: &[usize]| some.iter().map(|&kind| &layouts[kind]).collect::<Vec<_>>();
    for setting in settings {
        for one in multisets(layouts.len(), first) {
            for two in multisets(layouts.len(), second) {
                let (one, two) = (pick(&one), pick(&two));
                let case = case(roles, setting, [&one, &two]);
                let found = check_case(&(setting, &one, &two), &case);
                assert_eq!(found, Some(Match::Proven), "{setting:?} {one:?} {two:?}");
                tried += 1;
            }
        }
    }
    tried
}

#[test]
fn every_layout_without_followers() {
    let layouts = [None, Some(0), Some(1), Some(2)].map(|leader| (leader, Vec::new()));
    let mut tried = 0;
    let shards = [
        [0, 0],
        [1, 0],
        [2, 0],
        [1, 1],
        [3, 0],
        [2, 1],
        [4, 0],
        [3, 1],
        [2, 2],
    ];
    for counts in shards {
        tried += check_all(Roles::LeadersAndFollowers, &settings(), &layouts, counts);
    }
    assert_eq!(tried, 56 * (1 + 4 + 10 + 16 + 20 + 40 + 35 + 80 + 100));
}

/// Every leader, or none, with every set of other brokers as followers.
fn layouts_with_followers() -> Vec<Layout> {
    let mut layouts = Vec::new();
    for leader in [None, Some(0), Some(1), Some(2)] {
        for set in 0..8_usize {
            let followers: Vec<usize> = (0..3).filter(|b| set & (1 << b) != 0).collect();
            if followers.iter().all(|&b| Some(b) != leader) {
                layouts.push((leader, followers));
            }
        }
    }
    layouts
}

#[test]
fn every_layout_where_only_the_lead_moves() {
    let layouts = layouts_with_followers();
    assert_eq!(layouts.len(), 20);
    let mut tried = 0;
    for counts in [[1, 0], [2, 0], [1, 1]] {
        tried += check_all(Roles::LeadershipOnly, &settings(), &layouts, counts);
    }
    assert_eq!(tried, 56 * (20 + 210 + 400));
}

#[test]
fn every_layout_of_three_shards_where_only_the_lead_moves() {
    let with_zones: Vec<Setting> = settings().into_iter().filter(|s| s.has_zones).collect();
    let layouts = layouts_with_followers();
    let tried = check_all(Roles::LeadershipOnly, &with_zones, &layouts, [3, 0]);
    assert_eq!(tried, 28 * 1_540);
}

#[test]
fn every_layout_of_followers_without_a_leader() {
    let is_orphan = |layout: &Layout| layout.0.is_none() && !layout.1.is_empty();
    let mut layouts = layouts_with_followers();
    layouts.retain(|layout| is_orphan(layout) || layout.1.is_empty());
    assert_eq!(layouts.len(), 7 + 4);
    let mut tried = 0;
    for counts in [[1, 0], [2, 0], [1, 1]] {
        let roles = Roles::LeadersAndFollowers;
        tried += check_all(roles, &tight_settings(), &layouts, counts);
    }
    assert_eq!(tried, 2 * 2 * 8 * 7 * (11 + 66 + 121));
}
