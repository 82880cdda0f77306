//! Reports of messages built by hand: what goldens of small cases don't show.

use super::*;

const PLAIN: Screen = Screen {
    width: 80,
    is_coloured: false,
};

fn broker(id: &str, state: pb::BrokerState) -> pb::Broker {
    pb::Broker {
        id: id.into(),
        state: state.into(),
        ..Default::default()
    }
}

/// Streams `s0`, `s1`, … of one shard each, led by `a`; brokers `a`, `b`, ….
fn request(streams: usize, brokers: &[&str]) -> pb::OptimizeRequest {
    let id = |i: usize| format!("s{i}");
    pb::OptimizeRequest {
        snapshot: Some(pb::Snapshot {
            brokers: brokers
                .iter()
                .map(|id| broker(id, pb::BrokerState::Active))
                .collect(),
            streams: (0..streams)
                .map(|i| pb::Stream {
                    id: id(i),
                    ..Default::default()
                })
                .collect(),
            shards: (0..streams)
                .map(|i| pb::Shard {
                    id: format!("s{i}/0"),
                    stream: id(i),
                    leader: brokers[0].into(),
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// The leader of a stream goes from one broker to another.
fn rows(stream: usize, from: &str, to: &str) -> [pb::SpreadRow; 2] {
    let row = |broker: &str, before: i64| pb::SpreadRow {
        stream: format!("s{stream}"),
        broker: broker.into(),
        leaders_before: before,
        leaders_after: 1 - before,
        replicas_before: before,
        replicas_after: 1 - before,
    };
    [row(from, 1), row(to, 0)]
}

fn response(plan: pb::Plan) -> pb::OptimizeResponse {
    pb::OptimizeResponse {
        plan: Some(plan),
        report: Some(pb::SolveReport {
            engine: pb::Engine::GreedyTiers.into(),
            outcome: pb::Outcome::Feasible.into(),
            fallback: pb::FallbackReason::TimeBudget.into(),
            gap: Some(0.125),
            work: 1_234_567,
            elapsed: Some(prost_types::Duration {
                seconds: 12,
                nanos: 345_000_000,
            }),
            ..Default::default()
        }),
    }
}

fn of_plan(request: &pb::OptimizeRequest, plan: pb::Plan) -> String {
    optimize(request, &response(plan), PLAIN)
}

#[test]
fn of_many_streams_those_that_change_are_shown() {
    let request = request(30, &["a", "b"]);
    let plan = |changed: usize| pb::Plan {
        spread: (0..changed).flat_map(|s| rows(s, "a", "b")).collect(),
        ..Default::default()
    };
    let text = of_plan(&request, plan(2));
    let lines: Vec<&str> = text.lines().skip(2).take(5).collect();
    assert_eq!(
        lines,
        [
            "stream           a    b",
            "s0             1→0  0→1",
            "s1             1→0  0→1",
            "all leaders  30→28  0→2",
            "… and 28 streams unchanged",
        ]
    );
    let text = of_plan(&request, plan(25));
    let note = "\n… and 5 more streams that change, 5 streams unchanged\n";
    assert!(text.contains(note), "{text}");
    assert!(
        text.contains("\ns19 ") && !text.contains("\ns20 "),
        "{text}"
    );
}

#[test]
fn of_many_brokers_those_that_change_are_shown_as_far_as_they_fit() {
    let ids: Vec<String> = (0..60).map(|i| format!("broker-{i:02}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let request = request(2, &ids);
    let text = of_plan(&request, pb::Plan::default());
    let line = "\nThe counts of 2 streams on 60 brokers stay as they are.\n";
    assert!(text.contains(line), "{text}");
    let spread = rows(1, ids[0], ids[7]).to_vec();
    let few = pb::Plan {
        spread,
        ..Default::default()
    };
    let text = of_plan(&request, few);
    let heads = "\nstream       broker-00  broker-07\n";
    assert!(text.contains(heads), "{text}");
    let notes = "\n… and 58 brokers not shown\n\
                 Leaders of an active broker: 0 to 2 now, 0 to 1 in the plan\n";
    assert!(text.contains(notes), "{text}");
    let many = pb::Plan {
        spread: (1..60).flat_map(|b| rows(1, ids[0], ids[b])).collect(),
        ..Default::default()
    };
    let text = of_plan(&request, many);
    let mut lines = text.lines().skip(2).take(4);
    assert!(
        lines.all(|line| table::width(line) <= PLAIN.width),
        "{text}"
    );
    assert!(text.contains("\n… and 54 brokers not shown\n"), "{text}");
}

#[test]
fn brokers_that_leave_are_shown_before_others() {
    let ids: Vec<String> = (0..12).map(|i| format!("broker-{i:02}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut request = request(12, &ids);
    let last = request
        .snapshot
        .as_mut()
        .unwrap()
        .brokers
        .last_mut()
        .unwrap();
    last.state = pb::BrokerState::Draining.into();
    let spread = (0..11).flat_map(|s| rows(s, ids[s], ids[s + 1])).collect();
    let report = of_plan(
        &request,
        pb::Plan {
            spread,
            ..Default::default()
        },
    );
    let heads = report
        .lines()
        .find(|line| line.starts_with("stream"))
        .unwrap();
    assert!(heads.ends_with("broker-11"), "{report}");
    assert!(
        heads.contains("broker-00") && !heads.contains("broker-10"),
        "{report}"
    );
}

#[test]
fn long_ids_that_differ_at_their_ends_or_middles_stay_apart() {
    let ids: Vec<String> = (1..4)
        .map(|i| format!("kafka-prod-eu-west-1-node-000{i}"))
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut request = request(2, &ids);
    let snapshot = request.snapshot.get_or_insert_default();
    let middle = |i: usize| format!("orders-of-the-year-{i}-in-all-the-countries");
    let mut plan = pb::Plan::default();
    for (i, stream) in snapshot.streams.iter_mut().enumerate() {
        stream.id = middle(i);
        snapshot.shards[i].stream = middle(i);
        plan.moves.push(pb::Move {
            shard: format!("{}/0", middle(i)),
            ..Default::default()
        });
    }
    let wide = Screen {
        width: 160,
        ..PLAIN
    };
    let text = optimize(&request, &response(plan), wide);
    for i in 1..4 {
        let short = format!("kafka-prod-e…1-node-000{i}");
        assert!(text.contains(&short), "{text}");
    }
    for i in 0..2 {
        let rows = text
            .lines()
            .filter(|line| line.contains(&format!("year-{i}-in")));
        assert_eq!(rows.count(), 2, "a stream and a move: {text}");
    }
}

#[test]
fn states_and_replicas_have_their_lines() {
    let mut request = request(1, &["a", "b", "c"]);
    let snapshot = request.snapshot.get_or_insert_default();
    snapshot.brokers[2] = broker("c", pb::BrokerState::Draining);
    snapshot.shards[0].followers = vec!["c".into()];
    let text = of_plan(&request, pb::Plan::default());
    let lines: Vec<&str> = text.lines().skip(2).take(4).collect();
    assert_eq!(
        lines,
        [
            "stream        a  b         c",
            "state               draining",
            "s0            1  ·         ·",
            "all replicas  1  ·         1",
        ]
    );
}

#[test]
fn moves_that_are_blocked_or_take_a_detour_say_so() {
    let step = |step: u32, shard: &str| pb::Move {
        step,
        shard: shard.into(),
        role: pb::Role::Follower.into(),
        from: "a".into(),
        to: "b".into(),
        kind: pb::MoveKind::Copy.into(),
        reason: pb::MoveReason::Drain.into(),
        bytes: 3 << 29,
        ..Default::default()
    };
    let plan = pb::Plan {
        moves: vec![
            pb::Move {
                detour: true,
                ..step(1, "s0/0")
            },
            pb::Move {
                blocked: "no room on b".into(),
                ..step(2, "s1/0")
            },
            pb::Move {
                blocked: "no room on b".into(),
                ..step(2, "s1/0")
            },
            pb::Move {
                blocked: "waits".into(),
                ..step(3, "s2/0")
            },
        ],
        ..Default::default()
    };
    let text = of_plan(&request(2, &["a", "b"]), plan);
    let from = text
        .find("4 moves in 1 step, 6.0 GiB to copy\n")
        .unwrap_or_default();
    let lines: Vec<&str> = text[from..].lines().take(10).collect();
    assert_eq!(
        lines,
        [
            "4 moves in 1 step, 6.0 GiB to copy",
            "  4 copies: 4 drain",
            "",
            "step  shard  role      from → to  kind  reason    bytes",
            "   1  s0/0   follower  a → b      copy  drain   1.5 GiB  detour",
            "   2  s1/0   follower  a → b      copy  drain   1.5 GiB  blocked",
            "   2  s1/0   follower  a → b      copy  drain   1.5 GiB  blocked",
            "   3  s2/0   follower  a → b      copy  drain   1.5 GiB  blocked",
            "blocked: s1/0: no room on b",
            "blocked: s2/0: waits",
        ]
    );
}

#[test]
fn shards_without_an_explanation_and_warnings_are_listed_up_to_a_limit() {
    let plan = pb::Plan {
        assignments: (0..12)
            .map(|i| pb::Assignment {
                shard: format!("s{i}/0"),
                unplaced_reason: pb::UnplacedReason::NoBroker.into(),
                unplaced_detail: "none\nis up".into(),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    };
    let mut response = response(plan);
    let report = response.report.get_or_insert_default();
    report.explanations = vec![pb::Explanation {
        reason: pb::UnplacedReason::Disk.into(),
        text: "full".into(),
        shards: vec!["s0/0".into()],
        ..Default::default()
    }];
    report.warnings = vec!["odd\u{1b}[2J".into(); 11];
    let text = optimize(&request(12, &["a"]), &response, PLAIN);
    assert!(
        text.contains("\n12 shards lack replicas\n  disk: full\n    s0/0\n"),
        "{text}"
    );
    assert!(
        text.contains("\n  no broker: s1/0: none\\u{a}is up\n"),
        "{text}"
    );
    assert!(text.contains("\n  … and 1 more\n"), "{text}");
    assert!(text.contains("\nwarning: odd\\u{1b}[2J\n"), "{text}");
    assert!(text.contains("\n… and 1 more warnings\n"), "{text}");
}

#[test]
fn the_last_line_tells_how_the_plan_was_found() {
    let text = of_plan(&request(1, &["a"]), pb::Plan::default());
    let last = "\ngreedy tiers: feasible, stopped by time budget, gap 12.50 %, 0 moves, a clock decided, \
                work 1,234,567, 12.3 s\n";
    assert!(text.ends_with(last), "{text}");
}

#[test]
fn colours_change_nothing_but_colours() {
    let request = request(2, &["a", "b"]);
    let plan = pb::Plan {
        spread: rows(0, "a", "b").to_vec(),
        before: Some(pb::Cost {
            weighted: 3,
            ..Default::default()
        }),
        ..Default::default()
    };
    let plain = of_plan(&request, plan.clone());
    let coloured = Screen {
        is_coloured: true,
        ..PLAIN
    };
    let mut painted = optimize(&request, &response(plan), coloured);
    assert_ne!(painted, plain);
    for code in ["0", "1", "2", "31", "32"] {
        painted = painted.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(painted, plain);
}

#[test]
fn a_comparison_says_which_rank_decides_and_what_can_not_be_compared() {
    let request = request(2, &["a", "b"]);
    let mut compared = pb::CompareRequest {
        snapshot: request.snapshot.clone(),
        ..Default::default()
    };
    let side = |spread: i64, copies: i64| {
        let cost = |copies| pb::Cost {
            stream_leader_spread: spread,
            copies,
            ..Default::default()
        };
        Some(response(pb::Plan {
            before: Some(cost(0)),
            after: Some(cost(copies)),
            ..Default::default()
        }))
    };
    let answer = pb::CompareResponse {
        baseline: side(4, 0),
        candidate: side(1, 9),
        differences: vec![pb::Difference {
            shard: "s0/0".into(),
            baseline_leader: "a".into(),
            candidate_followers: vec!["a".into(), "b".into()],
            ..Default::default()
        }],
    };
    let text = compare(&compared, &answer, PLAIN);
    let verdict = "\nThe candidate is better, decided by stream_leader_spread: 4 in the baseline, 1 in the candidate.\n";
    assert!(text.contains(verdict), "{text}");
    assert!(text.contains("stream_leader_spread     4 | 1"), "{text}");
    assert!(
        text.contains("\nThey place 1 of 2 shards differently.\n"),
        "{text}"
    );
    assert!(text.contains("\ns0/0   a         – + a, b\n"), "{text}");
    compared.candidate = Some(pb::Variant {
        policy: Some(pb::Policy {
            min_zones: 2,
            ..Default::default()
        }),
        ..Default::default()
    });
    let text = compare(&compared, &answer, PLAIN);
    assert!(text.contains("judged by its own policy"), "{text}");
}
