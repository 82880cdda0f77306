//! What one leader more or less means to a spread, and whether a stream wants a move at all.

use super::bands::Bands;
use crate::greedy::tally::Tally;
use crate::snapshot::{Band, BrokerId, StreamId};

/// How much a broker gains by giving, or pays for taking: (own goal's cost, own excess, cluster's cost, cluster's
/// excess), so that brokers which are equal for the stream are told apart by their totals.
pub(super) type Pressure = (i64, i64, i64, i64);

/// What giving one of `count` gains.
#[inline]
pub(super) fn gain_out(band: Band, count: i64) -> i64 {
    band.squared(count) - band.squared(count - 1)
}

/// What one more than `count` costs.
#[inline]
pub(super) fn cost_in(band: Band, count: i64) -> i64 {
    band.squared(count + 1) - band.squared(count)
}

/// Whether some eligible broker of the stream gains more by giving than another pays for taking.
pub(super) fn wants_move(tally: &Tally<'_>, bands: &Bands, stream: StreamId) -> bool {
    let row = tally.stream_row(stream);
    if let Some(band) = bands.common()
        && bands.eligible.len() == row.len()
    {
        // Both are the larger the larger the count.
        let most = i64::from(row.iter().copied().fold(0, u32::max));
        let least = i64::from(row.iter().copied().fold(u32::MAX, u32::min));
        return most > 0 && gain_out(band, most) > cost_in(band, least);
    }
    let mut gain = i64::MIN;
    let mut cost = i64::MAX;
    for &b in &bands.eligible {
        let count = i64::from(row[b.index()]);
        let band = bands.of_stream(b);
        if count > 0 {
            gain = gain.max(gain_out(band, count));
        }
        cost = cost.min(cost_in(band, count));
    }
    gain > cost
}

/// What one leader more or less means to the cluster's spread, and how far the broker's total lies above its band.
#[inline]
pub(super) fn cluster_pressure(
    tally: &Tally<'_>,
    bands: &Bands,
    broker: BrokerId,
    marginal: impl Fn(Band, i64) -> i64,
) -> (i64, i64) {
    let band = bands.cluster[broker.index()];
    let count = tally.counts.leaders[broker.index()];
    (marginal(band, count), count - band.high)
}
