//! The baselines as planners of their own, and the policies with names.

use serde_json::{Value, json};

use crate::session::{Scratch, read_json, run};

/// Two empty nodes; two small shards of one index and two large ones.
fn scenario() -> Value {
    let node = |id: &str| json!({"id": id, "diskBytes": 1000});
    let shard = |n: usize, size: i64| json!({"id": format!("i-{n}"), "stream": "i", "number": n, "sizeBytes": size});
    json!({"snapshot": {
        "brokers": [node("a"), node("b")],
        "streams": [{"id": "i"}],
        "shards": [shard(1, 10), shard(2, 10), shard(3, 100), shard(4, 100)],
    }})
}

fn planned(arguments: &[&str], out: &str) -> Value {
    let session = run(&[arguments, &["--output", out]].concat());
    assert_eq!(session.status, 0, "{session:?}");
    read_json(out)
}

#[test]
fn the_weight_function_joins_small_shards_and_large_ones() {
    let scratch = Scratch::new();
    let file = scratch.json("request.json", &scenario());
    let out = scratch.path("response.json");
    let response = planned(&["optimize", &file, "--planner", "weight-function"], &out);
    assert_eq!(response["report"]["engine"], "ENGINE_WEIGHT_FUNCTION");
    let assignments = response["plan"]["assignments"].as_array().unwrap();
    let leaders: Vec<&str> = assignments
        .iter()
        .map(|a| a["leader"].as_str().unwrap())
        .collect();
    assert_eq!(leaders, ["a", "b", "a", "b"]);
}

/// Four brokers in four zones; each of two shards has its follower where the other one's is wanted.
fn crossed() -> Value {
    let broker = |id: &str| json!({"id": id, "zone": format!("z{id}")});
    let shard = |n: usize, leader: &str, follower: &str, reads: &str| {
        json!({
            "id": format!("s-{n}"), "stream": "s", "leader": leader, "followers": [follower],
            "followerSources": [{"zones": [reads], "weight": 1}],
        })
    };
    json!({"snapshot": {
        "brokers": [broker("a"), broker("b"), broker("c"), broker("d")],
        "streams": [{"id": "s", "replicationFactor": 2}],
        "shards": [
            shard(0, "c", "b", "za"),
            shard(1, "d", "a", "zb"),
            shard(2, "a", "c", "zc"),
            shard(3, "b", "d", "zd"),
        ],
    }})
}

#[test]
fn swaps_are_compared_with_the_tiers() {
    let scratch = Scratch::new();
    let file = scratch.json("request.json", &crossed());
    let out = scratch.path("response.json");
    let compare = ["compare", &file, "--candidate-planner", "swap"];
    let response = planned(&compare, &out);
    let side = |name: &str| {
        let side = &response[name];
        let weighted = side["plan"]["after"]["weighted"].as_str().unwrap().parse();
        (side["report"]["engine"].clone(), weighted.unwrap())
    };
    let (tiers, before): (_, i64) = side("baseline");
    let (swap, after): (_, i64) = side("candidate");
    assert_eq!(
        (tiers, swap),
        (json!("ENGINE_GREEDY_TIERS"), json!("ENGINE_SWAP"))
    );
    assert!(after < before, "{after} after {before}");
}

#[test]
fn presets_take_the_place_of_what_the_policy_says() {
    let scratch = Scratch::new();
    let mut request = crossed();
    request["policy"] = json!({"weights": {"traffic": 7, "overlap": 0}});
    let file = scratch.json("request.json", &request);
    let out = scratch.path("response.json");
    let optimize = ["optimize", &file, "--planner", "swap"];
    let traffic = |presets: &[&str]| {
        let response = planned(&[&optimize[..], presets].concat(), &out);
        let before = &response["plan"]["before"]["traffic"];
        before.as_str().unwrap().to_owned()
    };
    assert_eq!(traffic(&[]), "14");
    assert_eq!(traffic(&["--preset", "standby-reliability-first"]), "2");
    let both = ["--preset", "min-traffic", "--preset", "standby-cost-first"];
    assert_eq!(traffic(&both), "20");
    let session = run(&["optimize", &file, "--preset", "cheapest"]);
    assert_eq!(session.status, 2, "{session:?}");
    assert!(
        session.stderr.contains("balance-subtopology"),
        "{session:?}"
    );
}
