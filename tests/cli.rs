//! Sessions through the built binary: answers, tables, exit statuses, streams and files.
//!
//! `SHARDFLOW_BLESS=1` writes the goldens anew; what a machine decides (time, work, fingerprint) is masked in them.

#[path = "cli/checks.rs"]
mod checks;
#[path = "cli/explain.rs"]
mod explain;
#[path = "cli/formats.rs"]
mod formats;
#[path = "cli/planners.rs"]
mod planners;
#[path = "cli/session.rs"]
mod session;
#[path = "cli/solve_network.rs"]
mod solve_network;

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use session::{
    Scratch, Server, assert_golden, case, crowded, masked, read_json, request, run, run_with,
    shardflow,
};

const CASES: [&str; 17] = [
    "K-active-balance-beats-traffic-with-ties-min_traffic-1-0",
    "K-active-four-tasks-three-racks-min_traffic-10-1",
    "K-active-swap-two-and-idempotent-min_traffic-100-1",
    "P01",
    "P02",
    "P05",
    "P08",
    "P10",
    "P14a",
    "P14b",
    "P20",
    "P21b",
    "P22",
    "P24",
    "P26",
    "P29",
    "P33",
];

#[test]
fn every_case_reaches_its_optimum_rank_by_rank_here_and_over_grpc() {
    let scratch = Scratch::new();
    let server = Server::start();
    let over_grpc = ["--server", server.address.as_str()];
    let ways: [&[&str]; 2] = [&[], &over_grpc];
    for (id, more) in CASES.iter().flat_map(|id| ways.map(|way| (id, way))) {
        let case = case(id);
        let file = scratch.json("request.json", &case["request"]);
        let out = scratch.path("response.json");
        let session = run(&[&["optimize", &file, "--output", &out], more].concat());
        assert_eq!(session.status, 0, "{id}: {session:?}");
        assert_eq!((&*session.stdout, &*session.stderr), ("", ""), "{id}");
        let response = read_json(&out);
        assert_eq!(response["report"]["outcome"], "OUTCOME_OPTIMAL", "{id}");
        let after = &response["plan"]["after"];
        let expected = case["expected"]["objective"].as_object().unwrap();
        assert_eq!(expected.len(), 15, "{id}");
        for (rank, value) in expected {
            assert_eq!(Some(number(&after[rank])), value.as_i64(), "{id}: {rank}");
        }
    }
}

/// A 64-bit integer as protobuf JSON writes it.
fn number(value: &Value) -> i64 {
    value.as_str().unwrap().parse().unwrap()
}

#[test]
fn a_work_limit_of_one_gives_the_same_bytes_in_every_process_and_is_no_worse_than_the_tiers() {
    let scratch = Scratch::new();
    let file = scratch.json("request.json", &crowded());
    let answer = |more: &[&str]| -> Value {
        let session = run(&[&["optimize", &file, "--output", "-"], more].concat());
        assert_eq!(session.status, 0, "{session:?}");
        let mut response: Value = serde_json::from_str(&session.stdout).unwrap();
        response["report"]["elapsed"].take();
        response
    };
    let cut = answer(&["--work-limit", "1"]);
    assert_eq!(cut, answer(&["--work-limit", "1"]));
    assert_eq!(cut["report"]["outcome"], "OUTCOME_FEASIBLE");
    assert_eq!(cut["report"]["fallback"], "FALLBACK_REASON_WORK_LIMIT");
    assert_eq!(cut["report"]["reproducible"], true);
    let cost = |response: &Value| -> Vec<i64> {
        let ranks = response["report"]["ranks"].as_array().unwrap();
        assert_eq!(ranks.len(), 15);
        ranks.iter().map(|rank| number(&rank["value"])).collect()
    };
    let tiers = answer(&["--planner", "greedy-tiers"]);
    assert!(cost(&cut) <= cost(&tiers));
    let best = answer(&[]);
    assert_eq!(best, answer(&[]));
    assert_eq!(best["report"]["outcome"], "OUTCOME_OPTIMAL");
    assert!(
        cost(&best) < cost(&tiers),
        "the limit is what kept it from the optimum"
    );
}

#[test]
fn tables_of_plans() {
    let scratch = Scratch::new();
    for id in ["P01", "P02", "P20", "P33"] {
        let file = scratch.json("request.json", &request(id));
        let session = run(&["optimize", &file]);
        assert_eq!((session.status, &*session.stderr), (0, ""), "{id}");
        assert_golden(&format!("optimize-{id}.txt"), &masked(&session.stdout));
    }
}

#[test]
fn a_narrow_screen_keeps_the_columns_that_change() {
    let scratch = Scratch::new();
    let mut request = request("P01");
    let brokers = request["snapshot"]["brokers"].as_array_mut().unwrap();
    brokers.extend((0..40).map(|i| json!({"id": format!("spare-{i}"), "zone": "z9", "share": 0})));
    let file = scratch.json("request.json", &request);
    let output = shardflow(&["optimize", &file])
        .env("COLUMNS", "60")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("40 brokers not shown"), "{text}");
    let matrix = text.split("cost by rank").next().unwrap();
    assert!(
        matrix.contains("b2") && !matrix.contains("spare-"),
        "{text}"
    );
}

#[test]
fn table_of_a_comparison() {
    let scratch = Scratch::new();
    let file = scratch.json("request.json", &request("P21b"));
    let session = run(&["compare", &file]);
    assert_eq!((session.status, &*session.stderr), (0, ""), "{session:?}");
    assert_golden("compare-P21b.txt", &masked(&session.stdout));
}

#[test]
fn a_plan_made_elsewhere_is_compared() {
    let scratch = Scratch::new();
    let file = scratch.json("request.json", &request("P10"));
    let planned = scratch.path("plan.json");
    assert_eq!(run(&["optimize", &file, "--output", &planned]).status, 0);
    let out = scratch.path("comparison.json");
    let session = run(&["compare", &file, "--plan", &planned, "--output", &out]);
    assert_eq!(session.status, 0, "{session:?}");
    let compared = read_json(&out);
    assert_eq!(
        compared["baseline"]["report"]["engine"],
        "ENGINE_GREEDY_TIERS"
    );
    assert_eq!(compared["candidate"]["report"]["engine"], "ENGINE_EXTERNAL");
    let response = read_json(&planned);
    assert_eq!(
        compared["candidate"]["plan"]["after"],
        response["plan"]["after"]
    );
    let mut plan = response["plan"].clone();
    plan["assignments"][0]["leader"] = json!("nowhere");
    let plan = scratch.json("alone.json", &plan);
    let session = run(&["compare", &file, "--plan", &plan]);
    assert_eq!(session.status, 2, "{session:?}");
    let blamed = format!("error: {plan} is not valid:\nassignments[0].leader: nowhere: ");
    assert!(session.stderr.starts_with(&blamed), "{session:?}");
    let mut wrong = request("P10");
    wrong["policy"]["disk_watermark_percent"] = json!(101);
    let session = run(&["compare", &scratch.json("wrong.json", &wrong)]);
    let lines: Vec<&str> = session.stderr.lines().collect();
    assert_eq!((session.status, lines.len()), (2, 2), "{session:?}");
    let start = "policy.disk_watermark_percent: 101: ";
    assert!(
        lines[1].starts_with(start),
        "once, not per variant: {session:?}"
    );
}

#[test]
fn a_comparison_file_names_its_own_variants() {
    let scratch = Scratch::new();
    let request = request("P10");
    let variant =
        |planner: &str| json!({"policy": request["policy"], "options": {"planner": planner}});
    let mut comparison = json!({
        "snapshot": request["snapshot"],
        "baseline": variant("PLANNER_AUTO"),
        "candidate": variant("PLANNER_AUTO"),
    });
    let file = scratch.json("comparison.json", &comparison);
    let out = scratch.path("out.json");
    let arguments = ["compare", &file, "--output", &out];
    assert_eq!(run(&arguments).status, 0);
    assert_eq!(read_json(&out)["differences"], json!([]));
    let with_planner = [&arguments[..], &["--candidate-planner", "greedy-tiers"]].concat();
    assert_eq!(run(&with_planner).status, 0);
    let engine = &read_json(&out)["candidate"]["report"]["engine"];
    assert_eq!(engine, "ENGINE_GREEDY_TIERS");
    comparison["candidate"]["policy"]["disk_watermark_percent"] = json!(101);
    let file = scratch.json("comparison.json", &comparison);
    let session = run(&["compare", &file]);
    assert_eq!(session.status, 2, "{session:?}");
    let line = "\ncandidate.policy.disk_watermark_percent: 101: ";
    assert!(session.stderr.contains(line), "{session:?}");
}

#[test]
fn the_request_may_come_from_standard_input() {
    let request = request("P10").to_string();
    let session = run_with(&["optimize", "-", "--output", "-"], &request);
    assert_eq!(session.status, 0, "{session:?}");
    let response: Value = serde_json::from_str(&session.stdout).unwrap();
    assert_eq!(response["report"]["outcome"], "OUTCOME_OPTIMAL");
    let session = run_with(&["verify", "-", "-"], &request);
    assert_eq!(session.status, 2, "{session:?}");
}

#[test]
fn arguments_override_the_file() {
    let scratch = Scratch::new();
    let mut request = request("P10");
    request["options"] = json!({"planner": "PLANNER_AUTO"});
    let file = scratch.json("request.json", &request);
    let out = scratch.path("out.json");
    let with = |more: &[&str]| {
        let session = run(&[&["optimize", &file, "--output", &out], more].concat());
        assert_eq!(session.status, 0, "{session:?}");
        read_json(&out)["report"].take()
    };
    let plain = with(&[]);
    assert_eq!(plain["outcome"], "OUTCOME_OPTIMAL");
    assert!(plain.get("certificate").is_none());
    let tiers = with(&["--planner", "greedy-tiers"]);
    assert_eq!(tiers["engine"], "ENGINE_GREEDY_TIERS");
    assert!(with(&["--certificate"]).get("certificate").is_some());
    let cut = with(&["--work-limit", "1"]);
    assert_eq!(cut["fallback"], "FALLBACK_REASON_WORK_LIMIT");
    assert_eq!(with(&["--time-budget", "1m"])["outcome"], "OUTCOME_OPTIMAL");
}

#[test]
fn every_fault_of_a_text_is_a_line_with_its_place_and_path() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "request.json",
        "{\n  \"policy\": {\n    \"max_move\": 3\n  },\n  \"policy\": {\"roles\": \"ALL\\u001b\"}\n}\n",
    );
    let session = run(&["optimize", &file]);
    assert_eq!(session.status, 2);
    assert_eq!(session.stdout, "");
    let lines = format!(
        "error: {file}:3:5: policy.max_move: no such field\n\
         {file}:5:3: policy: given twice, first in line 2, column 3\n\
         {file}:5:23: policy.roles: \"ALL\\u001b\": must be one of ROLES_UNSPECIFIED, ROLES_LEADERS_AND_FOLLOWERS, \
         ROLES_LEADERSHIP_ONLY\n"
    );
    assert_eq!(session.stderr, lines);
}

#[test]
fn every_finding_is_a_line_with_its_path() {
    let scratch = Scratch::new();
    let mut request = request("P10");
    request["snapshot"]["shards"][1]["leader"] = json!("gone\u{1b}[31m");
    request["policy"]["disk_watermark_percent"] = json!(0);
    let file = scratch.json("request.json", &request);
    let session = run(&["optimize", &file]);
    assert_eq!((session.status, &*session.stdout), (2, ""), "{session:?}");
    let lines: Vec<&str> = session.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{session:?}");
    assert_eq!(lines[0], format!("error: {file} is not valid:"));
    let starts = |start: &str| lines.iter().any(|line| line.starts_with(start));
    assert!(
        starts("snapshot.shards[1].leader: gone\\u{1b}[31m: "),
        "{session:?}"
    );
    assert!(starts("policy.disk_watermark_percent: 0: "), "{session:?}");
}

#[test]
fn statuses_tell_wrong_input_from_failure() {
    let scratch = Scratch::new();
    let good = scratch.json("request.json", &request("P10"));
    let broken = scratch.file("broken.json", "{");
    let binary = scratch.path("binary.json");
    fs::write(&binary, [0xff, 0xfe]).unwrap();
    let missing = scratch.path("missing.json");
    let nowhere = scratch.path("no/such/directory.json");
    let cases: [(i32, &[&str]); 13] = [
        (0, &["--help"]),
        (0, &["--version"]),
        (0, &["optimize", &good]),
        (2, &[]),
        (2, &["optimise", &good]),
        (2, &["optimize", &good, "--planner", "magic"]),
        (2, &["optimize", &good, "--time-budget", "0s"]),
        (2, &["optimize", &broken]),
        (2, &["optimize", &binary]),
        (1, &["optimize", &missing]),
        (1, &["optimize", &good, "--output", &nowhere]),
        (1, &["optimize", &good, "--server", "127.0.0.1:1"]),
        (1, &["optimize", &good, "--server", "not an address"]),
    ];
    for (status, arguments) in cases {
        let session = run(arguments);
        assert_eq!(session.status, status, "{arguments:?}: {session:?}");
        assert_eq!(
            session.stderr.is_empty(),
            status == 0,
            "{arguments:?}: {session:?}"
        );
        assert_eq!(
            session.stdout.is_empty(),
            status != 0,
            "{arguments:?}: {session:?}"
        );
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let mut child = shardflow(&["optimize", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let request = request("P01").to_string();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(request.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn an_output_appears_whole_or_not_at_all() {
    let scratch = Scratch::new();
    let good = scratch.json("good.json", &request("P10"));
    let wrong = scratch.file("wrong.json", r#"{"snapshot": {"shards": [{"id": "s"}]}}"#);
    let out = scratch.file("out.json", "before");
    assert_eq!(run(&["optimize", &wrong, "--output", &out]).status, 2);
    assert_eq!(fs::read_to_string(&out).unwrap(), "before");
    assert_eq!(run(&["optimize", &good, "--output", &out]).status, 0);
    assert_eq!(read_json(&out)["report"]["outcome"], "OUTCOME_OPTIMAL");
    assert_eq!(scratch.names(), ["good.json", "out.json", "wrong.json"]);
    let directory = scratch.path("directory");
    fs::create_dir(&directory).unwrap();
    assert_eq!(run(&["optimize", &good, "--output", &directory]).status, 1);
    assert_eq!(
        scratch.names(),
        ["directory", "good.json", "out.json", "wrong.json"]
    );
}

#[cfg(unix)]
#[test]
fn an_output_keeps_links_modes_and_devices() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let scratch = Scratch::new();
    let good = scratch.json("good.json", &request("P10"));
    let target = scratch.file("target.json", "before");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    let inode = |path: &str| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let (link, before) = (scratch.path("link.json"), inode(&target));
    symlink(&target, &link).unwrap();
    assert_eq!(run(&["optimize", &good, "--output", &link]).status, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let written = fs::metadata(&target).unwrap();
    assert_eq!(written.permissions().mode() & 0o777, 0o640);
    assert_ne!(inode(&target), before, "replaced, not written over");
    assert_eq!(run(&["optimize", &good, "--output", "/dev/null"]).status, 0);
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
}

#[test]
fn a_server_answers_as_the_command_does() {
    let scratch = Scratch::new();
    let server = Server::start();
    let file = scratch.json("request.json", &request("P01"));
    for command in ["optimize", "compare"] {
        let answer = |more: &[&str]| {
            let session = run(&[&[command, &file, "--output", "-"], more].concat());
            assert_eq!(session.status, 0, "{session:?}");
            let lines = session
                .stdout
                .lines()
                .filter(|line| !line.contains("\"elapsed\""));
            lines.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(
            answer(&[]),
            answer(&["--server", &server.address]),
            "{command}"
        );
    }
    let mut wrong = request("P01");
    for shard in wrong["snapshot"]["shards"].as_array_mut().unwrap() {
        shard["leader"] = json!(format!("gone-{}", "x".repeat(150)));
    }
    let wrong = scratch.json("wrong.json", &wrong);
    let here = run(&["optimize", &wrong]);
    let there = run(&["optimize", &wrong, "--server", &server.address]);
    assert_eq!((here.status, there.status), (2, 2));
    assert_eq!(
        here.stderr, there.stderr,
        "the server's status holds fewer than all 61"
    );
    assert_eq!(here.stderr.lines().count(), 62);
    let comparison = run(&["compare", &wrong, "--server", &server.address]);
    assert_eq!(comparison.status, 2);
    assert!(
        comparison
            .stderr
            .contains("\nsnapshot.shards[0].leader: gone-"),
        "{comparison:?}"
    );
}
