//! Prices of an earlier answer as a start.
//!
//! A caller that sends them back spares the engine the search for them, while the server keeps nothing. They guide the
//! way, never the optimum: any numbers may stand here, and what they name may be gone.

use crate::certificate::Certificate;
use crate::cost::Rank;
use crate::snapshot::Problem;
use std::collections::HashMap;

/// What one more leader cost by [`Rank::Weighted`], by name. The last of several prices of one name counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PriceHint {
    /// By broker.
    pub brokers: Vec<(String, i64)>,
    /// By zone.
    pub zones: Vec<(String, i64)>,
}

/// First prices of the counts of a problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FirstPrices {
    /// By broker, on top of its zone's.
    pub(crate) brokers: Vec<i64>,
    /// By zone.
    pub(crate) zones: Vec<i64>,
}

impl PriceHint {
    /// The prices of a certificate.
    pub fn of(problem: &Problem, certificate: &Certificate) -> Self {
        let ranks = &certificate.ranks;
        let Some(prices) = ranks.iter().find(|prices| prices.rank == Rank::Weighted) else {
            return PriceHint::default();
        };
        let brokers = problem.brokers.iter().map(|broker| broker.id.clone());
        let zones = problem.zones.iter().map(|zone| zone.name.clone());
        PriceHint {
            brokers: brokers.zip(prices.brokers.iter().copied()).collect(),
            zones: zones.zip(prices.zones.iter().copied()).collect(),
        }
    }

    /// Prices of all counts; none for an empty hint. What the hint doesn't name costs nothing: so answers list prices.
    ///
    /// Complexity: O(hint + brokers + zones).
    pub(crate) fn first_prices(&self, problem: &Problem) -> Option<FirstPrices> {
        if self.brokers.is_empty() && self.zones.is_empty() {
            return None;
        }
        let (brokers, zones) = (named(&self.brokers), named(&self.zones));
        let price = |of: &HashMap<&str, i64>, name: &str| of.get(name).copied().unwrap_or(0);
        let zones: Vec<i64> = (problem.zones.iter())
            .map(|zone| price(&zones, &zone.name))
            .collect();
        let brokers = (problem.brokers.iter())
            .map(|broker| price(&brokers, &broker.id).saturating_sub(zones[broker.zone.index()]))
            .collect();
        Some(FirstPrices { brokers, zones })
    }
}

fn named(prices: &[(String, i64)]) -> HashMap<&str, i64> {
    prices
        .iter()
        .map(|(name, price)| (&**name, *price))
        .collect()
}
