//! Formats of other tools through the binary: imports against goldens, a plan all the way to commands.

use serde_json::{Value, json};

use crate::session::{Scratch, assert_golden, read_json, root, run, run_with};

/// Path of a sample.
fn sample(name: &str) -> String {
    root()
        .join("testdata")
        .join(name)
        .to_str()
        .unwrap()
        .to_owned()
}

fn text(name: &str) -> String {
    std::fs::read_to_string(sample(name)).unwrap()
}

/// Imports, and compares the request and what is said of it with a golden.
fn assert_import(arguments: &[&str], golden: &str) {
    let session = run(&[&["import"], arguments].concat());
    assert_eq!(session.status, 0, "{session:?}");
    let _: Value = serde_json::from_str(&session.stdout).unwrap();
    assert_golden(golden, &(session.stderr + &session.stdout));
}

#[test]
fn elasticsearch_listings() {
    let [shards, nodes, allocation] = ["shards", "nodeattrs", "allocation"]
        .map(|name| sample(&format!("elasticsearch/{name}.json")));
    let files = [
        "elasticsearch",
        &shards,
        "--nodes",
        &nodes,
        "--allocation",
        &allocation,
    ];
    assert_import(
        &[&files[..], &["--cluster", "es"]].concat(),
        "import-elasticsearch.txt",
    );
    let racks = [&files[..], &["--zone-attribute", "none,rack_id"]].concat();
    let session = run(&[&["import"], &racks[..]].concat());
    assert!(session.stdout.contains("\"zone\": \"r1\""), "{session:?}");
}

#[test]
fn weight_function_files() {
    let [nodes, shards] =
        ["nodes", "shards"].map(|name| sample(&format!("weight-function/{name}.json")));
    let files = ["weight-function", &nodes, &shards, "--replicas", "2"];
    assert_import(&files, "import-weight-function.txt");
    let none = run(&[
        "import",
        "weight-function",
        &nodes,
        &shards,
        "--replicas",
        "0",
    ]);
    assert_eq!(none.status, 2, "{none:?}");
    let same = run(&["import", "weight-function", "-", "-"]);
    assert_eq!(same.status, 2, "{same:?}");
}

#[test]
fn cruise_control_joins_a_kafka_import() {
    let [layout, dirs, load, capacity] = [
        "describe-3.x-spaces.txt",
        "log-dirs.txt",
        "partition-load.json",
        "capacity.json",
    ]
    .map(|name| sample(&format!("kafka/{name}")));
    let files = [
        "kafka",
        &layout,
        "--log-dirs",
        &dirs,
        "--partition-load",
        &load,
        "--capacity",
        &capacity,
    ];
    assert_import(&files, "import-kafka-measured.txt");
    let alone = run(&["import", "kafka", &layout, "--rate", "network-in"]);
    assert_eq!(alone.status, 2, "a rate of nothing: {alone:?}");
    let inbound = run(&[&["import"], &files[..], &["--rate", "network-in"]].concat());
    assert!(
        inbound.stdout.contains("\"rate_capacity\": \"10240000\""),
        "{inbound:?}"
    );
}

/// A request of the steady sample on four nodes, of which the first drains, and its plan by the tiers.
fn drained(scratch: &Scratch) -> (String, String) {
    let node = |id: &str, state: &str| json!({"id": id, "state": state});
    let nodes = json!([
        node("es-1", "draining"),
        node("es-2", "active"),
        node("es-3", "active"),
        node("es-4", "active")
    ]);
    let nodes = scratch.json("nodes.json", &nodes);
    let import = ["import", "elasticsearch", "-", "--nodes", &nodes];
    let session = run_with(&import, &text("elasticsearch/steady.json"));
    assert_eq!(session.status, 0, "{session:?}");
    let file = scratch.file("request.json", &session.stdout);
    let plan = scratch.path("plan.json");
    let session = run(&[
        "optimize",
        &file,
        "--planner",
        "greedy-tiers",
        "--output",
        &plan,
    ]);
    assert_eq!(session.status, 0, "{session:?}");
    (file, plan)
}

#[test]
fn a_drained_node_becomes_commands() {
    let scratch = Scratch::new();
    let (file, plan) = drained(&scratch);
    let out = scratch.path("reroute.jsonl");
    let export = ["export", "elasticsearch", &file, &plan];
    let session = run(&[&export[..], &["--output", &out]].concat());
    assert_eq!((session.status, &*session.stdout), (0, ""), "{session:?}");
    assert!(
        session.stderr.contains("note: 4 commands in "),
        "{session:?}"
    );
    let bodies = std::fs::read_to_string(&out).unwrap();
    let commands: Vec<Value> = bodies
        .lines()
        .flat_map(|line| {
            let mut body: Value = serde_json::from_str(line).unwrap();
            let commands = body["commands"].take();
            commands.as_array().unwrap().clone()
        })
        .collect();
    let moves = commands.iter().filter(|c| c["move"]["from_node"] == "es-1");
    assert_eq!(moves.count(), 3, "{bodies}");
    let allocated = commands
        .iter()
        .filter(|c| c["allocate_replica"]["shard"] == 2);
    assert_eq!(allocated.count(), 1, "{bodies}");
    let single = run(&[&export[..], &["--per-node", "1"]].concat());
    assert!(
        single.stdout.lines().count() > bodies.lines().count(),
        "{single:?}"
    );
    for body in single.stdout.lines() {
        assert!(
            body.matches("\"from_node\":\"es-1\"").count() <= 1,
            "{body}"
        );
    }
}

#[test]
fn a_plan_of_another_listing_is_not_exported() {
    let scratch = Scratch::new();
    let (file, plan) = drained(&scratch);
    let mut moved = read_json(&file);
    moved["snapshot"]["shards"][0]["followers"] = json!(["es-3"]);
    let moved = scratch.json("moved.json", &moved);
    let out = scratch.path("reroute.jsonl");
    let session = run(&["export", "elasticsearch", &moved, &plan, "--output", &out]);
    assert_eq!((session.status, &*session.stdout), (2, ""), "{session:?}");
    let blamed = format!("error: {plan} is not valid:\n");
    assert!(session.stderr.starts_with(&blamed), "{session:?}");
    assert!(!scratch.names().contains(&"reroute.jsonl".to_owned()));
}

#[test]
fn what_is_wrong_is_listed_with_its_path() {
    let scratch = Scratch::new();
    let shards = scratch.file(
        "shards.json",
        "[{\"index\":\"i\",\"shard\":\"0\",\"prirep\":\"p\",\"state\":\"STARTED\",\"store\":\"1kb\",\"node\":\"a\\u001b[2J\"}]",
    );
    let session = run(&["import", "elasticsearch", &shards]);
    assert_eq!((session.status, &*session.stdout), (2, ""), "{session:?}");
    assert_eq!(
        session.stderr,
        format!(
            "error: {shards} is not valid:\nshards, $[0].store: bytes in digits are expected here: ask with `bytes=b`; found \
             `\"1kb\"`\n"
        )
    );
}
