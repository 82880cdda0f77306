//! What to do with the bodies, in words.

use std::collections::BTreeSet;

use super::reroute::Command;
use crate::interop::{count, few};

/// Notes on the commands of each step, sent in so many bodies; `is_busy` where copies are under way already.
pub(super) fn notes(steps: &[Vec<Command<'_>>], bodies: usize, is_busy: bool) -> Vec<String> {
    let commands = || steps.iter().flatten();
    if bodies == 0 {
        return vec!["nothing changes, so there is nothing to run".to_owned()];
    }
    let mut notes = vec![format!(
        "{} in {}, one a line: send each to POST _cluster/reroute, and the next one once GET _cluster/health?\
         wait_for_no_relocating_shards=true&wait_for_no_initializing_shards=true has answered; with ?dry_run=true the cluster \
         tells what it would refuse, and it refuses a body whole",
        count(commands().count(), "command"),
        if bodies == 1 {
            "1 body".to_owned()
        } else {
            format!("{bodies} bodies")
        },
    )];
    notes.push(
        "set cluster.routing.rebalance.enable to none before, or the cluster may move shards back"
            .to_owned(),
    );
    if commands().any(|command| matches!(command, Command::AllocateReplica { .. })) {
        notes.push(
            "allocate_replica needs a replica that isn't assigned: index.number_of_replicas is at least the replication \
             factor less 1"
                .to_owned(),
        );
    }
    let cancelled: BTreeSet<String> = commands()
        .filter_map(|command| match command {
            Command::Cancel { index, .. } => Some((*index).to_owned()),
            _ => None,
        })
        .collect();
    if !cancelled.is_empty() {
        let cancelled: Vec<String> = cancelled.into_iter().collect();
        notes.push(format!(
            "a cancelled replica is assigned again unless cluster.routing.allocation.enable is none; lower \
             index.number_of_replicas before it is enabled again, of: {}",
            few(&cancelled)
        ));
    }
    if is_busy {
        notes.push("copies are under way: wait for their end first".to_owned());
    }
    notes
}
