//! Plans that come back: checked against their request, and made into files for Kafka.

use std::fs;

use serde_json::json;

use crate::session::{Scratch, read_json, request, run, run_with};

#[test]
fn verify_accepts_good_plans_and_lists_the_faults_of_others() {
    let scratch = Scratch::new();
    let file = scratch.json("request.json", &request("P08"));
    let out = scratch.path("response.json");
    assert_eq!(run(&["optimize", &file, "--output", &out]).status, 0);
    let session = run(&["verify", &file, &out]);
    assert_eq!(session.status, 0, "{session:?}");
    let unchecked = format!(
        "{out}: the plan is legal and its costs and moves are right; optimality not checked: no certificate (plan \
         with --certificate)\n"
    );
    assert_eq!(session.stdout, unchecked);
    let certified = ["optimize", &file, "--certificate", "--output", &out];
    assert_eq!(run(&certified).status, 0);
    let session = run(&["verify", &file, &out]);
    let proven = format!("{out}: no faults; optimality proven by its certificate\n");
    assert_eq!((session.status, session.stdout), (0, proven));
    let tiers = ["optimize", &file, "--planner", "greedy-tiers", "--output"];
    let plan = scratch.path("tiers.json");
    assert_eq!(run(&[&tiers[..], &[&plan]].concat()).status, 0);
    let session = run(&["verify", &file, &plan]);
    assert!(
        session.stdout.starts_with(&format!("{plan}: no faults; ")),
        "{session:?}"
    );
    let good = read_json(&out);
    let alone = scratch.json("alone.json", &good["plan"]);
    let session = run(&["verify", &file, &alone]);
    assert_eq!(session.status, 2, "a plan without its report: {session:?}");
    let mut wrong_cost = good.clone();
    wrong_cost["plan"]["after"]["weighted"] = json!("6");
    let mut wrong_place = good.clone();
    let leader = good["plan"]["assignments"][0]["leader"].clone();
    for assignment in wrong_place["plan"]["assignments"].as_array_mut().unwrap() {
        assignment["leader"] = leader.clone();
    }
    for corrupted in [wrong_cost, wrong_place] {
        let plan = scratch.json("corrupted.json", &corrupted);
        let session = run(&["verify", &file, &plan]);
        assert_eq!(session.status, 1, "{session:?}");
        assert!(!session.stdout.is_empty(), "{session:?}");
        assert_eq!(session.stderr, "", "{session:?}");
    }
}

#[test]
fn kafka_layouts_become_requests_and_plans_reassignments() {
    let scratch = Scratch::new();
    let layout = "Topic: t\tPartitionCount: 2\tReplicationFactor: 2\tConfigs:\n\
                  \tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n\
                  \tTopic: t\tPartition: 1\tLeader: 1\tReplicas: 2,1\tIsr: 2,1\n";
    let session = run_with(&["import", "kafka", "-"], layout);
    assert_eq!(session.status, 0, "{session:?}");
    let file = scratch.file("request.json", &session.stdout);
    assert_eq!(read_json(&file)["policy"]["roles"], "ROLES_LEADERSHIP_ONLY");
    let plan = scratch.path("plan.json");
    assert_eq!(run(&["optimize", &file, "--output", &plan]).status, 0);
    assert_eq!(read_json(&plan)["plan"]["after"]["leader_changes"], "1");
    let [out, back, election] =
        ["out.json", "back.json", "election.json"].map(|name| scratch.path(name));
    let named = [
        "--output",
        &out,
        "--rollback",
        &back,
        "--election",
        &election,
    ];
    let export = ["export", "kafka", &file, &plan];
    let session = run(&[&export[..], &named[..]].concat());
    assert_eq!((session.status, &*session.stdout), (0, ""), "{session:?}");
    assert_eq!(
        read_json(&out)["partitions"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(read_json(&back)["partitions"][0]["replicas"][0], 1);
    assert_eq!(
        read_json(&election)["partitions"].as_array().map(Vec::len),
        Some(1)
    );
    let session = run(&export);
    assert_eq!(session.stdout, fs::read_to_string(&out).unwrap());
    let session = run(&[&export[..], &["--output", &out, "--rollback", &out]].concat());
    assert_eq!(session.status, 2, "{session:?}");
    let session = run_with(&["import", "kafka", "-"], "nothing that Kafka prints");
    assert_eq!((session.status, &*session.stdout), (2, ""), "{session:?}");
}

/// A layout of two partitions, its request and its plan, which promotes one follower.
fn planned(scratch: &Scratch) -> (String, String) {
    let layout = "Topic: t\tPartitionCount: 2\tReplicationFactor: 2\tConfigs:\n\
                  \tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n\
                  \tTopic: t\tPartition: 1\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n";
    let session = run_with(&["import", "kafka", "-"], layout);
    assert_eq!(session.status, 0, "{session:?}");
    let file = scratch.file("request.json", &session.stdout);
    let plan = scratch.path("plan.json");
    assert_eq!(run(&["optimize", &file, "--output", &plan]).status, 0);
    (file, plan)
}

#[test]
fn a_plan_of_another_layout_is_not_exported() {
    let scratch = Scratch::new();
    let (file, plan) = planned(&scratch);
    assert_eq!(run(&["export", "kafka", &file, &plan]).status, 0);
    let mut moved = read_json(&file);
    let shard = &mut moved["snapshot"]["shards"][0];
    let leader = shard["leader"].take();
    shard["leader"] = shard["followers"][0].take();
    shard["followers"] = json!([leader]);
    let moved = scratch.json("moved.json", &moved);
    let out = scratch.path("out.json");
    let session = run(&["export", "kafka", &moved, &plan, "--output", &out]);
    assert_eq!((session.status, &*session.stdout), (2, ""), "{session:?}");
    let blamed = format!("error: {plan} is not valid:\n");
    assert!(session.stderr.starts_with(&blamed), "{session:?}");
    let fault = "\nplan.fingerprint: is not that of this request and placement\n";
    assert!(session.stderr.contains(fault), "{session:?}");
    assert!(fs::metadata(&out).is_err(), "nothing is written");
}

#[test]
fn a_plan_alone_is_exported_only_under_its_fingerprint() {
    let scratch = Scratch::new();
    let (file, plan) = planned(&scratch);
    let mut alone = read_json(&plan)["plan"].take();
    let plan = scratch.json("alone.json", &alone);
    assert_eq!(run(&["export", "kafka", &file, &plan]).status, 0);
    alone["fingerprint"] = json!("0".repeat(32));
    let plan = scratch.json("alone.json", &alone);
    let session = run(&["export", "kafka", &file, &plan]);
    let refused = format!(
        "error: {plan} is not valid:\nfingerprint: is not that of this request and placement\n"
    );
    assert_eq!((session.status, session.stderr), (2, refused));
}

#[test]
fn the_file_that_is_wrong_is_blamed() {
    let scratch = Scratch::new();
    let file = scratch.json("request.json", &request("P01"));
    let plan = scratch.path("plan.json");
    assert_eq!(run(&["optimize", &file, "--output", &plan]).status, 0);
    let session = run(&["export", "kafka", &file, &plan]);
    let blamed = format!("error: {file} is not valid:\nsnapshot.shards[");
    assert_eq!(session.status, 2, "no topic has such shards");
    assert!(session.stderr.starts_with(&blamed), "{session:?}");
    let mut wrong = read_json(&file);
    wrong["snapshot"]["generation"] = json!("2");
    let wrong = scratch.json("wrong.json", &wrong);
    let session = run(&["export", "kafka", &wrong, &plan]);
    let starts = [
        format!("error: {wrong} is not valid:\nsnapshot.shards["),
        format!("\n{plan} is not valid:\nplan.generation: "),
    ];
    assert_eq!(session.status, 2, "{session:?}");
    assert!(session.stderr.starts_with(&starts[0]), "{session:?}");
    assert!(session.stderr.contains(&starts[1]), "{session:?}");
    let other = scratch.json("other.json", &request("P08"));
    let session = run(&["compare", &other, "--plan", &plan]);
    let blamed = format!("error: {plan} is not valid:\nplan.assignments[0].shard: ");
    assert_eq!(session.status, 2, "{session:?}");
    assert!(session.stderr.starts_with(&blamed), "{session:?}");
}
