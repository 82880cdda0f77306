//! Whatever the text: findings, or a request that validates.

use proptest::prelude::*;
use shardflow::interop::elasticsearch::{Import, Limits, export, import};
use shardflow::pb;

use super::samples::*;
use crate::support::*;

const PIECES: [&str; 37] = [
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"",
    "null",
    "true",
    "0",
    "-1",
    "1e400",
    "18446744073709551615",
    "99999999999999999999",
    "9223372036854775807",
    "\"9223372036854775807\"",
    "\"index\":\"i\"",
    "\"shard\":\"0\"",
    "\"prirep\":\"p\"",
    "\"prirep\":\"r\"",
    "\"state\":\"STARTED\"",
    "\"state\":\"INITIALIZING\"",
    "RELOCATING",
    "UNASSIGNED",
    " -> ",
    "\"node\":\"es-1\"",
    "\"node\":\"es-1 -> 10.0.0.1 x es-2\"",
    "\"attr\":\"zone\"",
    "\"value\":\"\"",
    "\"disk.total\":\"5\"",
    "\"id\":\"\"",
    "es-1",
    "\\u0000",
    "\u{feff}",
    "\u{a0}",
    "\n",
    "é",
];

/// Imports; what is imported must validate, and a plan without moves export to nothing.
fn check(described: Import<'_>) {
    match import(described) {
        Err(error) => assert!(!error.findings.is_empty()),
        Ok(imported) => {
            assert_validates(snapshot(&imported));
            let response = respond(&imported.request, &[]);
            let exported = export(&imported.request, &response, Limits::default()).unwrap();
            assert_eq!(exported.reroute, "");
        }
    }
}

/// Rows of two shards that are nearly sound.
fn listing() -> impl Strategy<Value = String> {
    let state =
        proptest::sample::select(vec!["STARTED", "INITIALIZING", "RELOCATING", "UNASSIGNED"]);
    let copy = (0_u32..2, any::<bool>(), state, 0..5, 0..5);
    proptest::collection::vec(copy, 1..6).prop_map(|copies| {
        let row = |(shard, is_primary, state, node, to): (u32, bool, &str, i32, i32)| {
            let node = match state {
                "RELOCATING" => format!("n{node} -> ::1 id n{to}"),
                _ => format!("n{node}"),
            };
            row(shard, if is_primary { "p" } else { "r" }, state, &node)
        };
        rows(&copies.into_iter().map(row).collect::<Vec<_>>())
    })
}

/// Moves that fit nothing in particular.
fn moves() -> impl Strategy<Value = Vec<pb::Move>> {
    let node = || proptest::sample::select(vec!["", "es-1", "es-2", "es-3", "es-4", "x"]);
    let shard = proptest::sample::select(vec!["orders/0", "orders/1", "audit/0", ".tasks/0", "x"]);
    let step = (0_u32..3, shard, -1..7, 0..3, node(), node());
    let step = step.prop_map(|(step, shard, kind, role, from, to)| pb::Move {
        step,
        shard: shard.to_owned(),
        kind,
        role,
        from: from.to_owned(),
        to: to.to_owned(),
        ..pb::Move::default()
    });
    proptest::collection::vec(step, 0..8).prop_map(|mut moves| {
        moves.sort_by_key(|step| step.step);
        moves
    })
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn pieces(pieces in proptest::collection::vec(piece(&PIECES), 0..40)) {
        let text = pieces.concat();
        let mut described = with_nodes(&text, &text);
        described.allocation = Some(&text);
        check(described);
        check(Import::new(&text));
        check(with_nodes(STEADY, &text));
    }

    #[test]
    fn any_text(text in any::<String>()) {
        let mut described = with_nodes(&text, &text);
        described.allocation = Some(&text);
        check(described);
    }

    #[test]
    fn mutated_samples(
        shards in mutated(&[SHARDS, STEADY], &PIECES),
        nodes in mutated(&[NODEATTRS, NODES], &PIECES),
        allocation in mutated(&[ALLOCATION], &PIECES),
    ) {
        check(Import::new(&shards));
        check(with_nodes(&shards, NODEATTRS));
        let mut described = with_nodes(SHARDS, &nodes);
        check(described);
        described.allocation = Some(&allocation);
        check(described);
    }

    #[test]
    fn listings(text in listing()) {
        check(Import::new(&text));
    }

    #[test]
    fn plans(moves in moves(), per_node in 0_usize..3) {
        let request = listed(SHARDS).request;
        let plan = pb::Plan { moves, ..pb::Plan::default() };
        let response = pb::OptimizeResponse { plan: Some(plan), report: None };
        if let Ok(exported) = export(&request, &response, Limits { per_node }) {
            for line in exported.reroute.lines() {
                let body: serde_json::Value = serde_json::from_str(line).unwrap();
                prop_assert!(!body["commands"].as_array().unwrap().is_empty());
            }
        }
    }
}
