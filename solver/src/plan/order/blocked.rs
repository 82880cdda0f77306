//! Why a move is blocked, in the user's words.

use super::super::room::Obstacle;
use super::Agenda;
use crate::snapshot::BrokerId;

impl Agenda<'_> {
    /// What is in the way of an item that remains.
    pub(super) fn cause(&self, item: u32) -> String {
        let problem = self.problem;
        let size = problem.shard(self.log.shard_of(item)).size_bytes;
        let broker = |b: BrokerId| &problem.broker(b).id;
        let waits = "and what would leave it is blocked";
        match self.room.obstacle(item) {
            Some(Obstacle::Bytes(b, left)) => format!(
                "broker {:?} has {left} bytes left below its watermark, the copy needs {size}; \
                 nothing that leaves it can go first, and no broker lends room",
                broker(b)
            ),
            Some(Obstacle::Rates(b)) => {
                format!("broker {:?} is at its rate_capacity, {waits}", broker(b))
            }
            Some(Obstacle::Leaders(b)) => {
                format!("broker {:?} is at its max_leaders, {waits}", broker(b))
            }
            Some(Obstacle::Replicas(b)) => {
                format!("broker {:?} is at its max_replicas, {waits}", broker(b))
            }
            Some(Obstacle::ZoneLeaders(z)) => {
                let zone = &problem.zones[z.index()].name;
                format!("zone {zone:?} is at its max_leaders, {waits}")
            }
            Some(Obstacle::ZoneReplicas(z)) => {
                let zone = &problem.zones[z.index()].name;
                format!("zone {zone:?} is at its max_replicas, {waits}")
            }
            Some(Obstacle::Breaches) => {
                "it adds breaches that only blocked moves would make up for".to_owned()
            }
            Some(Obstacle::Earlier) => "an earlier move of its shard is blocked".to_owned(),
            None => "it has to go together with moves that are blocked".to_owned(),
        }
    }
}
