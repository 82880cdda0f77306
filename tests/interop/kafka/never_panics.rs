//! Whatever the text: findings, or a request that validates.

use proptest::prelude::*;
use shardflow::interop::kafka::{Import, export, import};

use super::samples::*;
use crate::support::*;

const PIECES: [&str; 39] = [
    "Topic: a",
    "Topic:",
    "Partition: 0",
    "PartitionCount: 1",
    "ReplicationFactor:3",
    "Leader: none",
    "Leader: 1",
    "Replicas: 1,2",
    "Replicas: 3,1,2",
    "Isr: 1",
    "Adding Replicas: 3",
    "Removing Replicas: 1",
    "Configs: a=b",
    "MarkedForDeletion: true",
    "\t",
    "\n",
    " ",
    "{",
    "}",
    "[",
    "]",
    "\"partitions\":",
    "\"brokers\":",
    "\"id\":1",
    "\"records\":",
    "\"disk\":1e308",
    "\"brokerId\":\"-1\"",
    "NaN",
    "-0.0",
    "null",
    ",",
    "-1",
    "99999999999999999999",
    "Current partition replica assignment\n",
    "{\"version\":1,\"partitions\":[]}",
    "é:",
    "\u{a0}",
    "\u{feff}",
    "$",
];

/// A partition line with digits drawn, so that most are nearly sound.
fn line() -> impl Strategy<Value = String> {
    let brokers = || proptest::sample::subsequence(vec![1, 2, 3, 4, 5], 0..5);
    let replicas = brokers().prop_shuffle();
    (0..6, replicas, brokers(), brokers(), brokers()).prop_map(
        |(leader, replicas, in_sync, adding, removing)| {
            let list = |ids: Vec<i32>| {
                let ids: Vec<String> = ids.iter().map(i32::to_string).collect();
                ids.join(",")
            };
            let held = |ids: Vec<i32>| list(ids.into_iter().filter(|b| replicas.contains(b)).collect());
            let leader = if replicas.contains(&leader) { leader } else { -1 };
            format!(
                "Topic: a\tPartition: 0\tLeader: {leader}\tReplicas: {}\tIsr: {}\tAdding Replicas: {}\tRemoving Replicas: {}",
                list(replicas.clone()),
                held(in_sync),
                held(adding),
                held(removing),
            )
        },
    )
}

/// Imports; what is imported must validate, and its identity plan export to nothing.
fn check(described: Import<'_>) {
    match import(described) {
        Err(error) => assert!(!error.findings.is_empty()),
        Ok(imported) => {
            assert_validates(snapshot(&imported));
            let response = respond(&imported.request, &[]);
            let exported = export(&imported.request, &response).unwrap();
            assert_eq!(exported.reassignment, NOTHING, "{}", described.layout);
        }
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn pieces(pieces in proptest::collection::vec(piece(&PIECES), 0..30)) {
        let text = pieces.concat();
        let mut described = with_brokers(&text, &text);
        described.log_dirs = Some(&text);
        described.partition_load = Some(&text);
        described.capacity = Some(&text);
        check(described);
        check(Import::new(&text));
    }

    #[test]
    fn any_text(text in any::<String>(), id in "[a-z0-9-]{0,6}") {
        let mut described = with_brokers(&text, &text);
        described.log_dirs = Some(&text);
        described.partition_load = Some(&text);
        described.capacity = Some(&text);
        check(described);
        let mut request = layout(SPACES).request;
        let mut response = respond(&request, &[]);
        request.snapshot.as_mut().unwrap().shards[0].id.clone_from(&id);
        response.plan.as_mut().unwrap().assignments[0].leader.clone_from(&id);
        response.plan.as_mut().unwrap().assignments[1].shard = id;
        let _ = export(&request, &response);
    }

    #[test]
    fn mutated_samples(
        text in mutated(&[OLD, SPACES, NEW, REASSIGNMENT, GENERATE, EXECUTE, KCAT], &PIECES),
        brokers in mutated(&[BROKERS, KCAT], &PIECES),
        log_dirs in mutated(&[LOG_DIRS], &PIECES),
        load in mutated(&[PARTITION_LOAD], &PIECES),
        capacity in mutated(&[CAPACITY], &PIECES),
    ) {
        check(Import::new(&text));
        check(with_brokers(&text, BROKERS));
        check(with_brokers(SPACES, &brokers));
        let mut described = Import::new(SPACES);
        described.log_dirs = Some(&log_dirs);
        check(described);
        described.partition_load = Some(&load);
        check(described);
        described.capacity = Some(&capacity);
        check(described);
    }

    /// Flights end where the reassignment does, pins hold what is listed, and what is free to move is in sync.
    #[test]
    fn reassignments_under_way(line in line()) {
        check(Import::new(&line));
        if let Ok(imported) = import(Import::new(&line)) {
            let value = |key: &str| {
                let (_, rest) = line.split_once(key).unwrap();
                let ids = rest.split('\t').next().unwrap().split(',');
                ids.filter_map(|id| id.trim().parse::<i32>().ok()).collect::<Vec<_>>()
            };
            let (replicas, removing) = (value("\tReplicas: "), value("Removing Replicas: "));
            let snapshot = snapshot(&imported);
            if !snapshot.in_flight.is_empty() {
                let mut target: Vec<i32> = replicas.into_iter().filter(|b| !removing.contains(b)).collect();
                let leader = value("Leader: ")[0];
                let led_by = if target.contains(&leader) { leader } else { target[0] };
                target.retain(|b| *b != led_by);
                target.sort_unstable();
                let ids: Vec<String> = target.iter().map(i32::to_string).collect();
                prop_assert_eq!(landed(snapshot), [format!("a-0 {led_by} {}", ids.join(","))]);
            } else if let Some(shard) = snapshot.shards.first() {
                let (adding, in_sync) = (value("Adding Replicas: "), value("Isr: "));
                let passing = adding.iter().filter(|b| removing.contains(b)).count();
                let held = shard.followers.len() + 1;
                let is_free = |id: &String| in_sync.iter().any(|b| b.to_string() == *id);
                prop_assert!(!shard.pinned || (replicas.len() - passing..=replicas.len()).contains(&held));
                prop_assert!(shard.pinned || shard.followers.iter().all(is_free));
            }
        }
    }
}
