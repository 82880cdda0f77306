//! Every error: its place, what it quotes, its rule.

use shardflow::interop::elasticsearch::{Import, import};

use super::samples::*;
use crate::support::*;

#[test]
fn rows_of_shards() {
    let sound = row(0, "p", "STARTED", "a");
    let with = |replaced: &str, by: &str| {
        let text = sound.replace(replaced, by);
        assert_ne!(text, sound, "{replaced}");
        import(Import::new(&rows(&[text])))
    };
    let cases = [
        ("\"i\"", "\"\"", ".index", "\"\"", "text that isn't empty"),
        (
            "\"i\"",
            "\"a b\"",
            ".index",
            "\"a b\"",
            "the name of an index",
        ),
        (
            "\"i\"",
            "\"a/b\"",
            ".index",
            "\"a/b\"",
            "the name of an index",
        ),
        ("\"0\"", "\"-1\"", ".shard", "\"-1\"", "0 to 4294967295"),
        ("\"0\"", "\"+1\"", ".shard", "\"+1\"", "a whole number"),
        (
            "\"0\"",
            "4294967296",
            ".shard",
            "4294967296",
            "a whole number",
        ),
        (
            "\"0\"",
            "\"99999999999999999999\"",
            ".shard",
            "\"99999999999999999999\"",
            "a whole number",
        ),
        (
            "\"p\"",
            "\"s\"",
            ".prirep",
            "\"s\"",
            "a primary, `p`, or a replica, `r`",
        ),
        ("\"p\"", "1", ".prirep", "1", "a primary"),
        (
            "STARTED",
            "started",
            ".state",
            "\"started\"",
            "UNASSIGNED, INITIALIZING, STARTED or RELOCATING",
        ),
        ("\"a\"", "7", ".node", "7", "text that isn't empty"),
        (
            "STARTED",
            "RELOCATING",
            ".node",
            "\"a\"",
            "`NODE -> IP ID NODE`",
        ),
        (
            "\"5\"",
            "\"31.1mb\"",
            ".store",
            "\"31.1mb\"",
            "ask with `bytes=b`",
        ),
        ("\"5\"", "5.5", ".store", "5.5", "ask with `bytes=b`"),
        (
            "\"5\"",
            "\"9223372036854775808\"",
            ".store",
            "\"9223372036854775808\"",
            "bytes in digits",
        ),
    ];
    for (replaced, by, place, found, rule) in cases {
        assert_finding(
            with(replaced, by),
            &format!("shards, $[0]{place}"),
            found,
            rule,
        );
    }
    for column in ["index", "shard", "prirep", "state", "node"] {
        let error = with(&format!("\"{column}\""), "\"x\"").unwrap_err();
        assert_eq!(error.findings.len(), 1, "{error}");
        assert!(
            error
                .to_string()
                .contains(&format!("an object with `{column}`")),
            "{error}"
        );
    }
}

#[test]
fn shards_that_contradict_themselves() {
    let cases = [
        (
            [row(0, "p", "STARTED", "a"), row(0, "p", "STARTED", "b")],
            "shards, $[1]",
            "a shard has one primary; see also shards, $[0]",
        ),
        (
            [row(0, "p", "STARTED", "a"), row(0, "r", "STARTED", "a")],
            "shards, $[1]",
            "on different nodes; see also shards, $[0]",
        ),
        (
            [
                row(0, "r", "STARTED", "b"),
                row(0, "p", "RELOCATING", "a -> ip id b"),
            ],
            "shards, $[1]",
            "on different nodes",
        ),
        (
            [
                row(1, "p", "STARTED", "b"),
                row(0, "p", "RELOCATING", "a -> ip id a"),
            ],
            "shards, $[1]",
            "on different nodes",
        ),
    ];
    for (pair, place, rule) in cases {
        let found = &pair[1];
        let short: serde_json::Value = serde_json::from_str(found).unwrap();
        let mut short = short.to_string();
        short.truncate(100);
        let error = import(Import::new(&rows(&pair))).unwrap_err();
        assert_eq!(error.findings[0].place, place, "{error}");
        assert!(error.findings[0].rule.contains(rule), "{error}");
        assert!(error.findings[0].found.starts_with(&short), "{error}");
    }
    assert_finding(
        import(Import::new(&rows(&[row(0, "r", "UNASSIGNED", "")]))),
        "shards, $[0]",
        "i/0",
        "a row for its primary",
    );
}

#[test]
fn listings_are_one_array() {
    let missing = r#"{"error":{"type":"security_exception"},"status":401}"#;
    let cases = [
        ("", "shards", "", "a JSON object is expected"),
        ("[]", "shards", "", "at least one shard"),
        ("[\n{]", "shards, line 2", "{]", "broken JSON"),
        (
            "[{\"index\":\"i\",\"index\":\"i\"}]",
            "shards, line 1",
            "[{\"index\":\"i\",\"index\":\"i\"}]",
            "the key `index` twice",
        ),
        (missing, "shards, $", missing, "an array is expected"),
        ("[{}] [{}]", "shards, line 1", "[{}]", "and nothing else"),
        (
            "index shard prirep",
            "shards",
            "index shard prirep",
            "a JSON object is expected",
        ),
    ];
    for (text, place, found, rule) in cases {
        let error = import(Import::new(text)).unwrap_err();
        let finding = &error.findings[0];
        assert_eq!(
            (finding.place.as_str(), finding.found.as_str()),
            (place, found),
            "{text}"
        );
        assert!(finding.rule.contains(rule), "{error}");
    }
    let many = rows(&vec![row(0, "r", "UNASSIGNED", ""); 20_000]);
    assert!(import(Import::new(&many)).is_err(), "and soon");
    let deep = "[".repeat(100_000) + "{";
    assert!(import(Import::new(&deep)).is_err());
}

#[test]
fn nodes_and_disks() {
    let nodes = |text: &str| import(with_nodes(STEADY, text));
    let cases = [
        (
            r#"[{"id":"a","rak":"x"}]"#,
            "$[0].rak",
            "\"x\"",
            "unknown field",
        ),
        (
            r#"{"nodes":[{"id":"a"}],"more":1}"#,
            "$.more",
            "1",
            "unknown field",
        ),
        (
            r#"[{"id":"a"},{"id":"a"}]"#,
            "$[1]",
            r#"{"id":"a"}"#,
            "node a is listed once",
        ),
        (r#"[{"id":7}]"#, "$[0].id", "7", "text that isn't empty"),
        (r#"[{"zone":"a"}]"#, "$[0]", r#"{"zone":"a"}"#, "`id`"),
        ("[]", "$", "[]", "at least one"),
        (r#"{"nodes":[]}"#, "$", r#"{"nodes":[]}"#, "at least one"),
        (
            r#"[{"node":"a","attr":"zone","value":"x"},{"node":"a","attr":"zone","value":"y"}]"#,
            "$[1]",
            r#"{"attr":"zone","node":"a","value":"y"}"#,
            "nodes of one name can't be told apart",
        ),
        (
            r#"[{"node":"a","attr":"zone","value":1}]"#,
            "$[0]",
            r#"{"attr":"zone","node":"a","value":1}"#,
            "each of them text",
        ),
    ];
    for (text, place, found, rule) in cases {
        assert_finding(nodes(text), &format!("nodes, {place}"), found, rule);
    }
    let disks = |text: &'static str| {
        let mut described = Import::new(STEADY);
        described.allocation = Some(text);
        import(described)
    };
    let cases = [
        (
            r#"[{"node":"a","disk.total":"1gb"}]"#,
            "$[0].disk.total",
            "\"1gb\"",
            "ask with `bytes=b`",
        ),
        (
            r#"[{"disk.total":"1"}]"#,
            "$[0]",
            r#"{"disk.total":"1"}"#,
            "`node`",
        ),
        (
            r#"[{"node":"a","disk.total":"1"},{"node":"a","disk.total":"2"}]"#,
            "$[1]",
            r#"{"disk.total":"2","node":"a"}"#,
            "a node is listed once",
        ),
    ];
    for (text, place, found, rule) in cases {
        assert_finding(disks(text), &format!("allocation, {place}"), found, rule);
    }
}

#[test]
fn all_documents_at_once() {
    let mut described = with_nodes("[{}]", "[{}]");
    described.allocation = Some("[{}]");
    let findings = import(described).unwrap_err().findings;
    let places: Vec<&str> = findings.iter().map(|f| f.place.as_str()).collect();
    let shards = ["shards, $[0]"; 4];
    assert_eq!(places[..4], shards);
    assert_eq!(places[4..], ["nodes, $[0]", "allocation, $[0]"]);
}
