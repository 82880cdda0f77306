//! Moves in flight: each counts as finished and pins its shard.
//!
//! `from`, `to` and roles refer to the layout as listed. The follower's flight is applied first, so that a pair
//! of flights that together swap two roles comes out as the swap. A leader that moves onto a follower swaps roles
//! with it; otherwise the old leader's replica goes. A flight lapses (is ignored) when its destination is `DOWN`
//! or the shard has no live leader to feed it.

use std::collections::BTreeMap;

use super::Findings;
use super::snapshot::{Layout, Resolved};
use crate::input::{InFlightInput, SnapshotInput};
use crate::snapshot::{BrokerState, Role};

/// The layout of one shard with its flights finished.
pub(super) struct Landed {
    pub(super) leader: Option<usize>,
    pub(super) followers: Vec<usize>,
    /// A flight that has not lapsed holds it in place.
    pub(super) is_held: bool,
}

/// A flight whose ids are resolved.
struct Flight {
    position: usize,
    from: Option<usize>,
    to: usize,
}

/// The layouts with flights finished of the shards that have any, by position.
pub(super) fn apply(
    snapshot: &SnapshotInput,
    resolved: &Resolved<'_>,
    findings: &mut Findings,
) -> BTreeMap<usize, Landed> {
    let mut flights: BTreeMap<usize, [Option<Flight>; 2]> = BTreeMap::new();
    for (position, flight) in snapshot.in_flight.iter().enumerate() {
        let Some((shard, parsed)) = check(position, flight, resolved, findings) else {
            continue;
        };
        let slot = &mut flights.entry(shard).or_default()[flight.role as usize];
        if let Some(first) = slot {
            findings.add(
                format!("snapshot.in_flight[{position}].shard"),
                &flight.shard,
                format!(
                    "has a move of the same role in snapshot.in_flight[{}]",
                    first.position
                ),
            );
            continue;
        }
        *slot = Some(parsed);
    }
    let landed = flights.into_iter().map(|(shard, flights)| {
        let layout = &resolved.layouts[shard];
        (shard, land(snapshot, layout, flights, findings))
    });
    landed.collect()
}

fn check(
    i: usize,
    flight: &InFlightInput,
    resolved: &Resolved<'_>,
    findings: &mut Findings,
) -> Option<(usize, Flight)> {
    let before = findings.0.len();
    let shard = resolved.shards.get(flight.shard.as_str()).copied();
    if shard.is_none() {
        findings.add(
            format!("snapshot.in_flight[{i}].shard"),
            &flight.shard,
            "is not the id of a shard in snapshot.shards",
        );
    }
    let broker = |id: &str| resolved.brokers.get(id).copied();
    let (from, to) = (broker(&flight.from), broker(&flight.to));
    let unlisted = "is not the id of a broker in snapshot.brokers";
    if to.is_none() {
        findings.add(format!("snapshot.in_flight[{i}].to"), &flight.to, unlisted);
    }
    if from.is_none() && !flight.from.is_empty() {
        findings.add(
            format!("snapshot.in_flight[{i}].from"),
            &flight.from,
            unlisted,
        );
    } else if from.is_some() && from == to {
        findings.add(
            format!("snapshot.in_flight[{i}].to"),
            &flight.to,
            "is where the move starts",
        );
    }
    let (shard, to) = (shard?, to?);
    if findings.0.len() == before {
        check_from(i, flight, &resolved.layouts[shard], from, findings);
    }
    (findings.0.len() == before).then_some((
        shard,
        Flight {
            position: i,
            from,
            to,
        },
    ))
}

/// `from` must play the role that moves, in the layout as listed.
fn check_from(
    i: usize,
    flight: &InFlightInput,
    layout: &Layout,
    from: Option<usize>,
    findings: &mut Findings,
) {
    let rule = match (flight.role, from) {
        (Role::Leader, from) if layout.leader.is_some() && from != layout.leader => {
            "is not the leader of the shard"
        }
        (Role::Follower, Some(from)) if !layout.followers.contains(&from) => {
            "is not a follower of the shard"
        }
        _ => return,
    };
    findings.add(format!("snapshot.in_flight[{i}].from"), &flight.from, rule);
}

fn land(
    snapshot: &SnapshotInput,
    layout: &Layout,
    [leader_flight, follower_flight]: [Option<Flight>; 2],
    findings: &mut Findings,
) -> Landed {
    let is_down = |b: usize| snapshot.brokers[b].state == BrokerState::Down;
    let is_fed = layout.leader.is_some_and(|b| !is_down(b));
    let holds = |flight: &Flight| is_fed && !is_down(flight.to);
    let mut landed = Landed {
        leader: layout.leader,
        followers: layout.followers.clone(),
        is_held: false,
    };
    let follower_at = follower_flight.as_ref().map(|flight| flight.position);
    if let Some(flight) = follower_flight.filter(holds) {
        landed.is_held = true;
        landed.followers.retain(|&b| Some(b) != flight.from);
        if !landed.followers.contains(&flight.to) {
            landed.followers.push(flight.to);
        }
    }
    if let Some(flight) = leader_flight.filter(holds) {
        landed.is_held = true;
        landed.leader = Some(flight.to);
        let onto_follower = layout.followers.contains(&flight.to);
        let was_follower = landed.followers.contains(&flight.to);
        landed.followers.retain(|&b| b != flight.to);
        if let Some(old) = flight.from
            && onto_follower
            && was_follower
            && !landed.followers.contains(&old)
        {
            landed.followers.push(old);
        }
    }
    if let (Some(leader), Some(i)) = (landed.leader, follower_at)
        && landed.followers.contains(&leader)
    {
        findings.add(
            format!("snapshot.in_flight[{i}].to"),
            &snapshot.in_flight[i].to,
            "is the leader of the shard as well",
        );
    }
    landed
}
