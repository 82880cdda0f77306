//! Floors and ceilings that the tiers compare counts with.

use crate::snapshot::{Band, BrokerId, Problem, Spread, StreamId};

/// Floors and ceilings of one stream at a time, and of the cluster. Brokers of one share have the same.
///
/// A spread that the policy switches off is no goal of rebalancing, but placement prefers level counts all the
/// same: then the bands here have no slack.
pub(super) struct Bands {
    /// By broker, for the cluster.
    pub(super) cluster: Vec<Band>,
    /// Brokers that a replica of the stream may enter.
    pub(super) eligible: Vec<BrokerId>,
    /// By broker: which of `shares` it has.
    class: Vec<u32>,
    shares: Vec<u32>,
    /// By class, for the stream; meaningful for eligible brokers.
    stream: Vec<Band>,
    slack: u32,
    of: Option<StreamId>,
}

const NOTHING_WANTED: Band = Band { low: 0, high: 0 };

impl Bands {
    /// Bands with the policy's slack, or none.
    pub(super) fn new(problem: &Problem, with_slack: bool) -> Self {
        let slack = |spread: Option<Spread>| spread.map_or(0, |s| s.slack * u32::from(with_slack));
        let mut shares: Vec<u32> = problem.brokers.iter().map(|b| b.share).collect();
        shares.sort_unstable();
        shares.dedup();
        let class = |share: u32| shares.partition_point(|&s| s < share) as u32;
        let class: Vec<u32> = problem.brokers.iter().map(|b| class(b.share)).collect();
        let total = (problem.shards.len() as i64, problem.share_total);
        let cluster = bands(&shares, total, slack(problem.policy.cluster_leaders));
        Bands {
            cluster: class.iter().map(|&c| cluster[c as usize]).collect(),
            eligible: Vec::new(),
            stream: vec![NOTHING_WANTED; shares.len()],
            class,
            shares,
            slack: slack(problem.policy.stream_leaders),
            of: None,
        }
    }
    /// Turns to a stream. O(shares) where it is another than before, O(brokers) where other brokers may hold it.
    pub(super) fn turn_to(&mut self, problem: &Problem, stream: StreamId) {
        if self.of == Some(stream) {
            return;
        }
        let s = problem.stream(stream);
        let last = self.of.replace(stream);
        if last.is_none_or(|last| problem.stream(last).open != s.open) {
            let ids = problem.broker_ids();
            self.eligible.clear();
            self.eligible
                .extend(ids.filter(|&b| problem.may_enter(stream, b)));
        }
        self.stream = bands(&self.shares, (s.shard_count(), s.share_total), self.slack);
    }
    /// The stream's band of an eligible broker.
    #[inline]
    pub(super) fn of_stream(&self, broker: BrokerId) -> Band {
        self.stream[self.class[broker.index()] as usize]
    }
    /// The stream's band of all brokers, where it is one.
    pub(super) fn common(&self) -> Option<Band> {
        match self.stream[..] {
            [band] => Some(band),
            _ => None,
        }
    }
}

/// The band of each share for so many things over so many shares.
fn bands(shares: &[u32], (count, share_total): (i64, u64), slack: u32) -> Vec<Band> {
    let band = |&share: &u32| match share_total {
        0 => NOTHING_WANTED,
        _ => Band::new(count, share, share_total, slack),
    };
    shares.iter().map(band).collect()
}
