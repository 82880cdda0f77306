//! The two files of a weight-function allocator.

use proptest::prelude::*;
use shardflow::interop::weight_function::{Import, import};
use shardflow::interop::{ImportError, Imported};

use crate::support::*;

const NODES: &str = include_str!("../../testdata/weight-function/nodes.json");
const SHARDS: &str = include_str!("../../testdata/weight-function/shards.json");

fn nodes(text: &str) -> Result<Imported, ImportError> {
    import(Import::new(text, SHARDS))
}

fn whole(text: &str) -> Result<Imported, ImportError> {
    import(Import::new(NODES, text))
}

#[test]
fn collections_become_streams_and_their_shards_are_new() {
    let mut described = Import::new(NODES, SHARDS);
    described.replicas = 2;
    let imported = import(described).unwrap();
    let listed = snapshot(&imported);
    let disks: Vec<_> = listed
        .brokers
        .iter()
        .map(|b| (b.id.as_str(), b.disk_bytes, b.disk_used_bytes))
        .collect();
    assert_eq!(
        disks,
        [
            ("node1", Some(600_000_000), 2_000_000),
            ("node2", Some(600_000_000), 2_000_000),
            ("node3", Some(500_000_000), 9_000_000)
        ]
    );
    assert!(listed.brokers.iter().all(|broker| broker.zone.is_empty()));
    let streams: Vec<_> = listed
        .streams
        .iter()
        .map(|s| (s.id.as_str(), s.replication_factor))
        .collect();
    assert_eq!(streams, [("reports", 2), ("users", 2)]);
    assert_eq!(
        shards(listed),
        [
            "reports/shard1 - ",
            "reports/shard2 - ",
            "users/shard1 - ",
            "users/shard2 - "
        ]
    );
    assert_eq!(
        (listed.shards[1].number, listed.shards[1].size_bytes),
        (Some(2), 115_000_000)
    );
    assert_eq!(
        imported.request.options, None,
        "the planner is the caller's"
    );
    assert_eq!(imported.warnings, [""; 0]);
    assert_eq!(rejection(listed), None);
}

#[test]
fn names_of_fields_vary() {
    let names = [
        ("id", "totalSpace", "usedSpace"),
        ("nodeId", "total", "used"),
        ("node-id", "TOTAL_DISK", "usedDisk"),
        ("ID", "disk_total", "disk_used"),
    ];
    for (id, total, used) in names {
        let text = format!(r#"{{"nodes":[{{"{id}":7,"{total}":"90","{used}":0}}]}}"#);
        let imported = nodes(&text).unwrap();
        let broker = &snapshot(&imported).brokers[0];
        assert_eq!(
            (broker.id.as_str(), broker.disk_bytes),
            ("7", Some(90)),
            "{text}"
        );
    }
    for (id, collection, size) in [
        ("id", "index", "bytes"),
        ("shardId", "collection_id", "shard_size"),
    ] {
        let text = format!(r#"{{"shards":[{{"{id}":3,"{collection}":"c","{size}":"9"}}]}}"#);
        let imported = whole(&text).unwrap();
        let shard = &snapshot(&imported).shards[0];
        assert_eq!(
            (shard.id.as_str(), shard.number, shard.size_bytes),
            ("c/3", Some(3), 9),
            "{text}"
        );
    }
}

#[test]
fn numbers_are_those_in_which_all_shards_differ() {
    let numbers = |first: &str, second: &str| {
        let row = |id: &str| format!(r#"{{"collection":"c","shard":"{id}","size":1}}"#);
        let text = format!("[{},{}]", row(first), row(second));
        let imported = whole(&text).unwrap();
        let shards = snapshot(&imported).shards.iter();
        shards.map(|shard| shard.number).collect::<Vec<_>>()
    };
    assert_eq!(numbers("shard9", "shard10"), [Some(9), Some(10)]);
    assert_eq!(numbers("a1", "b1"), [None, None]);
    assert_eq!(numbers("a1", "b"), [None, None]);
    assert_eq!(numbers("a1", "b4294967296"), [None, None]);
    assert_eq!(numbers("é1", "é٢"), [None, None]);
}

#[test]
fn findings_name_the_path() {
    let cases = [
        ("[]", "$", "[]", "at least one"),
        (r#"{"nodes":[]}"#, "$.nodes", "[]", "at least one"),
        (
            r#"{"list":[],"nodes":[{"id":"a","total":2,"used":1}]}"#,
            "$.list",
            "[]",
            "unknown field",
        ),
        (
            r#"[{"id":"a","total":2,"used":1,"rack":"x"}]"#,
            "$[0].rack",
            "\"x\"",
            "known here: id, totalspace, usedspace",
        ),
        (
            r#"[{"id":"a","total":2}]"#,
            "$[0]",
            r#"{"id":"a","total":2}"#,
            "`usedspace`",
        ),
        (
            r#"[{"id":"a","total":2,"used":1,"used_space":1}]"#,
            "$[0].used_space",
            "1",
            "under one of its names",
        ),
        (
            r#"[{"id":"a","total":2.5,"used":1}]"#,
            "$[0].total",
            "2.5",
            "a whole number",
        ),
        (
            r#"[{"id":"","total":2,"used":1}]"#,
            "$[0].id",
            "\"\"",
            "text that isn't empty",
        ),
        (
            r#"[{"id":1,"total":2,"used":1},{"id":"1","total":2,"used":1}]"#,
            "$[1]",
            r#"{"id":"1","total":2,"used":1}"#,
            "a node is listed once",
        ),
        ("7", "", "7", "a JSON object is expected"),
    ];
    for (text, place, found, rule) in cases {
        let place = match place {
            "" => "nodes".to_owned(),
            place => format!("nodes, {place}"),
        };
        assert_finding(nodes(text), &place, found, rule);
    }
    let twice =
        r#"[{"collection":"a/1","shard":"2","size":1},{"collection":"a","shard":"1/2","size":1}]"#;
    assert_finding(
        whole(twice),
        "shards, $[1]",
        r#"{"collection":"a","shard":"1/2","size":1}"#,
        "listed once",
    );
    let both = import(Import::new("[{}]", "{\n")).unwrap_err();
    let places: Vec<&str> = both.findings.iter().map(|f| f.place.as_str()).collect();
    assert_eq!(
        places,
        ["nodes, $[0]"; 3]
            .into_iter()
            .chain(["shards, line 2"])
            .collect::<Vec<_>>()
    );
}

const PIECES: [&str; 18] = [
    "[",
    "]",
    "{",
    "}",
    ",",
    "null",
    "-1",
    "1e400",
    "18446744073709551615",
    "\"id\":1",
    "\"total\":\"5\"",
    "\"used_space\":0",
    "\"collection\":\"c\"",
    "\"shard\":\"shard1\"",
    "\"size\":9223372036854775807",
    "\"nodes\":",
    "\"shards\":",
    "\u{feff}",
];

fn check(described: Import<'_>) {
    match import(described) {
        Err(error) => assert!(!error.findings.is_empty()),
        Ok(imported) => assert_validates(snapshot(&imported)),
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn whatever_the_text(
        pieces in proptest::collection::vec(piece(&PIECES), 0..30),
        nodes in mutated(&[NODES], &PIECES),
        shards in mutated(&[SHARDS], &PIECES),
        text in any::<String>(),
    ) {
        let pieces = pieces.concat();
        check(Import::new(&pieces, &pieces));
        check(Import::new(&text, &text));
        check(Import::new(&nodes, SHARDS));
        check(Import::new(NODES, &shards));
    }
}
