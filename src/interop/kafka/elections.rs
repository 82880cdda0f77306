//! Which partitions a plan could give a leader that Kafka refuses, because it is out of sync.

use std::collections::BTreeSet;

use super::layout::{Partition, partitions};
use crate::interop::{Report, few};
use crate::pb;

/// Judges partitions and remembers those to warn of.
pub(super) struct Elections {
    /// Brokers that no plan gives the lead.
    down: BTreeSet<String>,
    is_leadership_only: bool,
    pinned: Vec<String>,
    /// Of the pinned: those where another follower is in sync.
    choosable: usize,
    left_out: Vec<String>,
}

impl Elections {
    pub(super) fn new(brokers: &[pb::Broker], roles: pb::Roles) -> Self {
        let down = brokers
            .iter()
            .filter(|broker| broker.state() == pb::BrokerState::Down);
        Elections {
            down: down.map(|broker| broker.id.clone()).collect(),
            is_leadership_only: roles == pb::Roles::LeadershipOnly,
            pinned: Vec::new(),
            choosable: 0,
            left_out: Vec::new(),
        }
    }

    /// Live replicas beside the leader: those that may lead, and those that may not.
    fn candidates(&self, partition: &Partition) -> (Vec<i32>, Vec<i32>) {
        let present = partition.present().into_iter();
        present
            .filter(|broker| partition.leader != Some(*broker))
            .filter(|broker| !self.down.contains(&broker.to_string()))
            .partition(|broker| partition.may_lead(*broker))
    }

    /// Whether the partition can be in a request: it has a leader, or all its live replicas may lead.
    pub(super) fn admits(&mut self, id: &str, partition: &Partition) -> bool {
        let is_safe = partition.leader.is_some() || self.candidates(partition).1.is_empty();
        if !is_safe {
            self.left_out.push(id.to_owned());
        }
        is_safe
    }

    /// Whether the partition's leader has to stay, because a plan could choose a follower that may not lead.
    pub(super) fn must_pin(&mut self, id: &str, partition: &Partition) -> bool {
        let (may_lead, may_not) = self.candidates(partition);
        if !self.is_leadership_only || partition.leader.is_none() || may_not.is_empty() {
            return false;
        }
        self.choosable += usize::from(!may_lead.is_empty());
        self.pinned.push(id.to_owned());
        true
    }

    pub(super) fn warn(&self, report: &mut Report) {
        if !self.pinned.is_empty() {
            let others = match self.choosable {
                0 => String::new(),
                count => format!(
                    " ({count} of them with another follower in sync, which a snapshot can't tell from it)"
                ),
            };
            report.warn(format!(
                "{} pinned, as Kafka would refuse to elect a live follower that is out of sync{others}; import again \
                 once they have caught up: {}",
                partitions(self.pinned.len()),
                few(&self.pinned)
            ));
        }
        if !self.left_out.is_empty() {
            report.warn(format!(
                "{} left out: without a leader, and a live replica isn't in sync, so that electing it could lose data; \
                 Kafka elects one in sync by itself once it is up: {}",
                partitions(self.left_out.len()),
                few(&self.left_out)
            ));
        }
    }
}
