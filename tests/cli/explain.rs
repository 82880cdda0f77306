//! `explain`, and what tables say of plans that fall short.

use serde_json::{Value, json};

use crate::session::{Scratch, assert_golden, masked, read_json, request, run};

/// Three zones, caps that leave too little room, a zone that asks for more than can be led there, a stream of one
/// broker, and a broker to drain.
fn tight() -> Value {
    let broker = |id: &str, zone: &str, more: Value| {
        let mut broker = json!({"id": id, "zone": zone});
        let fields = more.as_object().unwrap().clone();
        broker.as_object_mut().unwrap().extend(fields);
        broker
    };
    let shard = |stream: &str, i: usize, leader: &str| {
        json!({"id": format!("{stream}/{i}"), "stream": stream, "leader": leader,
               "sources": [{"zones": ["z1"], "weight": 5}]})
    };
    let mut shards: Vec<Value> = (0..4).map(|i| shard("q", i, "")).collect();
    shards.extend((0..6).map(|i| shard("a", i, ["b1", "b2", "b3"][i % 3])));
    shards.push(shard("a", 6, "old"));
    json!({
        "snapshot": {
            "cluster_id": "tight",
            "brokers": [
                broker("b1", "z1", json!({"max_leaders": 3, "tags": {"disk": "ssd"}})),
                broker("b2", "z2", json!({"max_leaders": 3, "tags": {"disk": "hdd"}})),
                broker("b3", "z3", json!({})),
                broker("old", "z3", json!({"state": "BROKER_STATE_DRAINING", "tags": {"disk": "ssd"}})),
                broker("gone", "z2", json!({"state": "BROKER_STATE_DOWN"})),
            ],
            "streams": [
                {"id": "q", "required_tags": {"disk": "ssd"}},
                {"id": "a", "allowed_brokers": ["b1", "b2", "b3"]},
            ],
            "shards": shards,
        },
        "policy": {"zone_limits": [{"zone": "z2", "min_leaders": 4}]},
    })
}

#[test]
fn a_plan_that_falls_short_says_why_and_what_would_lift_it() {
    let scratch = Scratch::new();
    let file = scratch.json("request.json", &tight());
    let session = run(&["optimize", &file]);
    assert_eq!((session.status, &*session.stderr), (0, ""), "{session:?}");
    assert_golden("optimize-tight.txt", &masked(&session.stdout));
    let out = scratch.path("response.json");
    assert_eq!(
        run(&["optimize", &file, "--certificate", "--output", &out]).status,
        0
    );
    let session = run(&["verify", &file, &out]);
    assert_eq!(session.status, 0, "{session:?}");
    assert!(
        session
            .stdout
            .contains("optimality proven by its certificate")
    );
}

#[test]
fn the_first_suggestion_made_lifts_what_it_says() {
    let scratch = Scratch::new();
    let mut request = tight();
    let file = scratch.json("request.json", &request);
    let out = scratch.path("response.json");
    let plan = |file: &str| {
        assert_eq!(run(&["optimize", file, "--output", &out]).status, 0);
        read_json(&out)
    };
    let before = plan(&file);
    let explanations = before["report"]["explanations"].as_array().unwrap();
    let unplaced = explanations
        .iter()
        .find(|e| e["rank"] == "unplaced_leaders")
        .unwrap();
    let suggestion = &unplaced["suggestions"][0];
    for change in suggestion["changes"].as_array().unwrap() {
        assert_eq!(change["rule"], "RULE_MAX_LEADERS");
        let brokers = request["snapshot"]["brokers"].as_array_mut().unwrap();
        let broker = brokers
            .iter_mut()
            .find(|b| b["id"] == change["broker"])
            .unwrap();
        broker["max_leaders"] = change["to"].clone();
    }
    let after = plan(&scratch.json("changed.json", &request));
    let number = |response: &Value| -> i64 {
        let value = response["plan"]["after"]["unplaced_leaders"]
            .as_str()
            .unwrap();
        value.parse().unwrap()
    };
    let lifts: i64 = suggestion["lifts"].as_str().unwrap().parse().unwrap();
    assert!(lifts > 0);
    assert_eq!(number(&before) - number(&after), lifts);
}

#[test]
fn tables_of_explanations() {
    let scratch = Scratch::new();
    let file = scratch.json("request.json", &tight());
    for shard in ["a/0", "a/6", "q/3"] {
        let session = run(&["explain", &file, shard]);
        assert_eq!((session.status, &*session.stderr), (0, ""), "{shard}");
        assert_golden(
            &format!("explain-{}.txt", shard.replace('/', "-")),
            &session.stdout,
        );
    }
}

#[test]
fn a_given_plan_is_explained_and_one_of_another_request_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.json("request.json", &request("P01"));
    let (with, without) = (scratch.path("with.json"), scratch.path("without.json"));
    assert_eq!(run(&["optimize", &file, "--output", &without]).status, 0);
    assert_eq!(
        run(&["optimize", &file, "--certificate", "--output", &with]).status,
        0
    );
    let explain = |more: &[&str]| -> Value {
        let session = run(&[&["explain", &file, "q/2", "--output", "-"], more].concat());
        assert_eq!(session.status, 0, "{session:?}");
        serde_json::from_str(&session.stdout).unwrap()
    };
    let fresh = explain(&[]);
    assert_eq!(explain(&["--plan", &with]), fresh);
    let unproven = explain(&["--plan", &without]);
    let proven = |told: &Value| {
        let choices = told["choices"].as_array().unwrap();
        choices
            .iter()
            .filter(|choice| choice["proven"] == true)
            .count()
    };
    assert_eq!((proven(&fresh), proven(&unproven)), (2, 0));
    let other = scratch.json("other.json", &tight());
    let session = run(&["explain", &other, "a/0", "--plan", &with]);
    assert_eq!(session.status, 2, "{session:?}");
    assert!(
        session.stderr.contains("with.json is not valid:\n"),
        "{session:?}"
    );
}

#[test]
fn an_unknown_shard_is_answered_with_those_that_look_like_it() {
    let scratch = Scratch::new();
    let file = scratch.json("request.json", &tight());
    let session = run(&["explain", &file, "Q/33"]);
    assert_eq!((session.status, &*session.stdout), (2, ""));
    let said = "error: \"Q/33\": is not the id of a shard in the snapshot; did you mean \"q/3\"?\n";
    assert_eq!(session.stderr, said);
    let session = run(&["explain", &file, "nothing-alike"]);
    let said = "error: \"nothing-alike\": is not the id of a shard in the snapshot\n";
    assert_eq!((session.status, &*session.stderr), (2, said));
}

#[test]
fn a_thousand_brokers_are_listed_by_cost_up_to_twenty() {
    let scratch = Scratch::new();
    let brokers: Vec<Value> = (0..1_000)
        .map(|b| json!({"id": format!("b{b:03}"), "zone": format!("z{}", b % 3)}))
        .collect();
    let shards: Vec<Value> = (0..1_000)
        .map(|i| json!({"id": format!("s/{i}"), "stream": "s", "leader": format!("b{i:03}")}))
        .collect();
    let request =
        json!({"snapshot": {"brokers": brokers, "streams": [{"id": "s"}], "shards": shards}});
    let file = scratch.json("request.json", &request);
    let session = run(&["explain", &file, "s/7"]);
    assert_eq!(session.status, 0, "{session:?}");
    assert!(
        session
            .stdout
            .contains("… and 979 brokers more (--all lists them)\n"),
        "{session:?}"
    );
    let lines = |text: &str| text.lines().filter(|line| line.starts_with('b')).count();
    assert_eq!(lines(&session.stdout), 21);
    let session = run(&["explain", &file, "s/7", "--all"]);
    assert_eq!(lines(&session.stdout), 1_000);
}
