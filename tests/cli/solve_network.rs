//! `solve-network`: the corpus of pitfalls, every exit status, options, streams.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;

use serde_json::Value;

use crate::session::{Scratch, Session, read_json, root, run, run_with, shardflow};

const CASES: [&str; 9] = [
    "F01", "F03", "F05", "F07", "F09", "F11", "F14", "F16", "F18",
];

/// All but HiGHS.
const OURS: [&str; 3] = ["auto", "simplex", "cost-scaling"];

const SMALL: &str = "p min 2 3\nn 1 3\nn 2 -3\na 1 2 0 0 1\na 1 2 0 2 5\na 1 2 0 9 7\n";

/// The case's network as a problem file; its nodes are numbered in their order.
fn dimacs(input: &Value) -> String {
    let nodes = input["nodes"].as_array().unwrap();
    let arcs = input["arcs"].as_array().unwrap();
    let number = |id: &Value| 1 + nodes.iter().position(|node| &node["id"] == id).unwrap();
    let mut text = format!("p min {} {}\n", nodes.len(), arcs.len());
    for (at, node) in (1..).zip(nodes) {
        text.push_str(&format!("n {at} {}\n", node["supply"]));
    }
    for arc in arcs {
        let (tail, head) = (number(&arc["from"]), number(&arc["to"]));
        let lower = arc["lower"].as_i64().unwrap_or(0);
        let capacity = arc["cap"].as_i64().unwrap_or(-1);
        text.push_str(&format!(
            "a {tail} {head} {lower} {capacity} {}\n",
            arc["cost"]
        ));
    }
    text
}

fn assert_optimal(session: &Session, expected: &Value, id: &str) {
    assert_eq!(session.status, 0, "{id}: {session:?}");
    assert_eq!(session.stderr, "", "{id}");
    let mut lines = session.stdout.lines();
    let cost = expected["cost"].to_string().replace('"', "");
    assert_eq!(lines.next(), Some(&*format!("s {cost}")), "{id}");
    let flow: Vec<&str> = lines.map(|line| line.rsplit_once(' ').unwrap().1).collect();
    if let Some(expected) = expected["flow"].as_array() {
        let expected: Vec<String> = expected.iter().map(Value::to_string).collect();
        assert_eq!(flow, expected, "{id}");
    }
}

/// No flow is printed, and standard error says it in these words.
fn assert_refused(session: &Session, status: i32, words: &[&str]) {
    assert_eq!(
        (session.status, &*session.stdout),
        (status, ""),
        "{session:?}"
    );
    for words in words {
        assert!(session.stderr.contains(words), "{words}: {session:?}");
    }
}

#[test]
fn every_case_of_the_corpus_has_its_answer_with_every_engine() {
    for id in CASES {
        let case = read_json(
            root()
                .join(format!("testdata/flow/{id}.json"))
                .to_str()
                .unwrap(),
        );
        let text = dimacs(&case["input"]);
        let solve = |engine| run_with(&["solve-network", "-", "--all", "--engine", engine], &text);
        let mut expected = &case["expected"];
        if let Some(either) = expected["any_of"].as_array() {
            expected = &either[0];
        }
        for engine in OURS {
            assert_answer(&solve(engine), &case["input"], expected, id);
        }
        let highs = solve("highs");
        match expected["status"].as_str().unwrap() {
            "OPTIMAL" if id == "F03" => {
                let words = ["out of range: unit cost 4611686018427387904", "2^53"];
                assert_refused(&highs, 6, &words);
            }
            "INFEASIBLE" => assert_refused(&highs, 3, &["infeasible; this engine names no cut"]),
            _ => assert_answer(&highs, &case["input"], expected, id),
        }
    }
}

/// The answer of the case, from an engine that names cuts.
fn assert_answer(session: &Session, input: &Value, expected: &Value, id: &str) {
    match expected["status"].as_str().unwrap() {
        "OPTIMAL" => assert_optimal(session, expected, id),
        "INFEASIBLE" => {
            let deficit = (expected["deficit"].as_i64())
                .or(expected["deficit_halves"].as_i64())
                .unwrap();
            let deficit = format!("infeasible, deficit {deficit}: nodes ");
            assert_refused(session, 3, &[&deficit]);
            let unreachable = expected["unreachable_from"].as_array();
            for node in unreachable.into_iter().flatten() {
                let nodes = input["nodes"].as_array().unwrap();
                let at = 1 + nodes.iter().position(|n| &n["id"] == node).unwrap();
                assert_refused(session, 3, &[&format!("nodes {at} together supply 13")]);
            }
        }
        "UNBALANCED" => {
            let surplus = format!("unbalanced, surplus {}: ", expected["surplus"]);
            let most = format!("at most {} can be delivered", expected["max_placeable"]);
            assert_refused(session, 4, &[&surplus, &most]);
        }
        other => panic!("{id}: {other}"),
    }
}

#[test]
fn each_reason_for_no_flow_has_its_status_and_its_words() {
    let solve = |text: &str| run_with(&["solve-network", "-"], text);
    let cut = "p min 3 2\nn 1 1\nn 2 2\nn 3 -3\na 1 2 0 9 0\na 2 3 0 2 0\n";
    let words =
        "infeasible, deficit 1: nodes 1, 2 together supply 3, but at most 2 can leave them\n";
    assert_eq!(solve(cut).stderr, words);
    assert_refused(&solve(cut), 3, &[]);
    let short = "p min 2 1\nn 1 2\nn 2 -5\na 1 2 0 1 0\n";
    let words =
        "unbalanced, shortage 3: supplies sum to 2, demands to 5; at most 1 can be delivered\n";
    assert_eq!(solve(short).stderr, words);
    assert_refused(&solve(short), 4, &[]);
    let cycle = "p min 3 3\na 1 2 0 -1 1\na 2 3 0 -1 1\na 3 1 0 -1 -3\n";
    let session = solve(cycle);
    assert_refused(
        &session,
        5,
        &["unbounded: each unit around the cycle", " costs -1\n"],
    );
    for node in ["1", "2", "3"] {
        assert!(session.stderr.contains(node), "{session:?}");
    }
    let costs = format!("p min 2 2\na 1 2 0 1 3\na 1 2 0 1 {}\n", i64::MIN);
    let words = "the largest is -9223372036854775808, first on line 3";
    assert_refused(&solve(&costs), 6, &["out of range: unit costs: ", words]);
    let promise = "p min 4000000000 4000000000\n";
    assert_refused(
        &solve(promise),
        6,
        &["standard input is out of range:\nline 1: promises more than"],
    );
    let wrong = solve("p min 2 1\na 1 3 0 1 1\nx\n");
    assert_refused(
        &wrong,
        2,
        &[
            "error: standard input is not valid:\nline 2: HEAD",
            "\nline 3: ",
        ],
    );
    let many = format!("p min 1 0\n{}", "x\n".repeat(25));
    assert_refused(
        &solve(&many),
        2,
        &["\nline 21: a line begins", "\nand 5 more\n"],
    );
    assert_refused(&solve(""), 2, &["has no `p min NODES ARCS` line"]);
    assert_refused(
        &run(&["solve-network", "/nowhere/a.min"]),
        1,
        &["can't read /nowhere/a.min"],
    );
    let directory = root().join("src");
    assert_refused(
        &run(&["solve-network", directory.to_str().unwrap()]),
        1,
        &["can't read"],
    );
    assert_refused(
        &run(&["solve-network", "-", "--engine", "none"]),
        2,
        &["simplex"],
    );
    let help = run(&["solve-network", "--help"]).stdout;
    for status in [
        "3  infeasible",
        "4  unbalanced",
        "5  unbounded",
        "6  out of range",
        "7  stopped",
    ] {
        assert!(help.contains(status), "{status}: {help}");
    }
}

#[test]
fn an_input_that_stalls_is_given_up_at_the_end_of_the_budget() {
    for engine in ["simplex", "highs"] {
        let mut child = shardflow(&[
            "solve-network",
            "-",
            "--engine",
            engine,
            "--time-budget",
            "30ms",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
        // It stays open until the process has ended.
        let mut stdin = child.stdin.take().unwrap();
        let _ = stdin.write_all(b"p min 2 1\nn 1 1\n");
        let status = child.wait().unwrap().code();
        drop(stdin);
        let (mut out, mut said) = (String::new(), String::new());
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut out)
            .unwrap();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        assert_eq!((status, &*out), (Some(7), ""), "{said}");
        assert_eq!(said, "stopped by the time budget, without an answer\n");
    }
}

#[test]
fn flow_potentials_and_files_are_as_asked() {
    let scratch = Scratch::new();
    let file = scratch.file("small.min", SMALL);
    let session = run(&["solve-network", &file]);
    assert_eq!(session.stdout, "s 17\nf 1 2 2\nf 1 2 1\n");
    let session = run(&["solve-network", &file, "--all", "--potentials"]);
    let (flow, potentials) = session
        .stdout
        .split_at("s 17\nf 1 2 0\nf 1 2 2\nf 1 2 1\n".len());
    assert_eq!(flow, "s 17\nf 1 2 0\nf 1 2 2\nf 1 2 1\n");
    let potential: Vec<i64> = (1..=2)
        .zip(potentials.lines())
        .map(|(node, line)| {
            line.strip_prefix(&format!("p {node} "))
                .unwrap()
                .parse()
                .unwrap()
        })
        .collect();
    // The arc of cost 7 is between its bounds: its reduced cost is 0.
    assert_eq!(potential[1] - potential[0], 7);
    let out = scratch.path("small.sol");
    let session = run(&["solve-network", &file, "--output", &out]);
    assert_eq!(
        (session.status, &*session.stdout, &*session.stderr),
        (0, "", "")
    );
    assert_eq!(
        fs::read_to_string(&out).unwrap(),
        "s 17\nf 1 2 2\nf 1 2 1\n"
    );
    let refused = scratch.file("short.min", "p min 1 0\nn 1 1\n");
    assert_eq!(
        run(&["solve-network", &refused, "--output", &out]).status,
        4
    );
    assert!(
        fs::read_to_string(&out).unwrap().starts_with("s 17"),
        "left alone"
    );
}

#[test]
fn potentials_of_costs_that_were_divided_are_in_units_of_the_file() {
    let text = format!("p min 2 1\nn 1 2\nn 2 -2\na 1 2 0 -1 {}\n", 1i64 << 62);
    let session = run_with(&["solve-network", "-", "--potentials"], &text);
    let potentials: Vec<i128> = (session.stdout.lines())
        .filter_map(|line| line.strip_prefix("p "))
        .map(|line| line.split_once(' ').unwrap().1.parse().unwrap())
        .collect();
    assert_eq!(potentials[1] - potentials[0], 1 << 62, "{session:?}");
}

#[test]
fn gzip_is_recognised_in_files_and_on_standard_input() {
    let scratch = Scratch::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(SMALL.as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    let file = scratch.path("small.min.gz");
    fs::write(&file, &bytes).unwrap();
    assert_eq!(
        run(&["solve-network", &file]).stdout,
        "s 17\nf 1 2 2\nf 1 2 1\n"
    );
    let mut child = shardflow(&["solve-network", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"s 17\nf 1 2 2\nf 1 2 1\n");
    fs::write(&file, &bytes[..bytes.len() - 9]).unwrap();
    assert_refused(&run(&["solve-network", &file]), 2, &["damaged or cut off"]);
}

#[test]
fn stats_say_how_long_each_step_took_and_what_it_held() {
    let names = |engine: &str, text: &str| -> Vec<String> {
        let session = run_with(&["solve-network", "-", "--stats", "--engine", engine], text);
        (session.stderr.lines())
            .map(|line| line.split_once(' ').unwrap())
            .inspect(|(name, value)| {
                let is_number = value.parse::<f64>().is_ok_and(|value| value >= 0.0);
                assert!(is_number || name.ends_with("unbalanced,"), "{name} {value}");
            })
            .map(|(name, _)| name.to_owned())
            .collect()
    };
    let steps = [
        "nodes",
        "arcs",
        "read_seconds",
        "build_seconds",
        "solve_seconds",
        "check_seconds",
    ];
    let simplex = [&steps[..], &["pivots", "arcs_priced", "peak_bytes"]].concat();
    assert_eq!(names("simplex", SMALL), simplex);
    let counters = [
        "phases",
        "relabels",
        "global_updates",
        "arcs_priced",
        "peak_bytes",
    ];
    let scaling = [&steps[..], &counters].concat();
    assert_eq!(names("cost-scaling", SMALL), scaling);
    assert_eq!(
        names("highs", SMALL),
        [&steps[..], &["peak_bytes"]].concat()
    );
    let unbalanced = names("simplex", "p min 1 0\nn 1 1\n");
    assert_eq!(unbalanced, ["read_seconds", "peak_bytes", "unbalanced,"]);
}
