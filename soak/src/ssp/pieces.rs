//! Arc costs as linear pieces, from the definition of each convex function.

use shardflow_solver::network::{ArcId, Convex, Network, RankCost};

use super::{Cost, ENDLESS};

/// A run of flows on which every rank is linear.
pub(super) struct Piece<const R: usize> {
    /// How much flow it takes.
    pub(super) length: i128,
    /// Cost of each unit.
    pub(super) slope: Cost<R>,
}

/// Reads the convex costs of all ranks, arc by arc in ascending order.
pub(super) struct Bends<'a> {
    ranks: &'a [RankCost],
    /// By rank, the next convex cost.
    next: Vec<usize>,
}

impl<'a> Bends<'a> {
    pub(super) fn new(ranks: &'a [RankCost]) -> Self {
        Bends {
            ranks,
            next: vec![0; ranks.len()],
        }
    }

    /// The pieces of an arc from its lower bound up, of rising slope.
    ///
    /// A piece ends wherever some rank bends; a square does so at every flow outside its band.
    pub(super) fn pieces<const R: usize>(
        &mut self,
        network: &Network,
        arc: ArcId,
    ) -> Vec<Piece<R>> {
        let mut unit = [0; R];
        let mut bends: [Option<Convex>; R] = [None; R];
        for (rank, cost) in self.ranks.iter().enumerate() {
            unit[rank] = cost.unit.get(arc.index()).map_or(0, |&c| i128::from(c));
            let convex = cost.convex.get(self.next[rank]).filter(|c| c.0 == arc);
            self.next[rank] += usize::from(convex.is_some());
            bends[rank] = convex.map(|c| c.1);
        }
        let (lower, upper) = (network.lower(arc), network.upper(arc));
        if upper == Network::UNCAPACITATED {
            assert!(bends.iter().all(Option::is_none), "arc {} bends", arc.0);
            return vec![Piece {
                length: ENDLESS,
                slope: unit,
            }];
        }
        let mut ends = vec![lower, upper];
        for bend in bends.iter().flatten() {
            add_breakpoints(bend, lower, upper, &mut ends);
        }
        ends.retain(|&x| lower <= x && x <= upper);
        ends.sort_unstable();
        ends.dedup();
        let slope = |x: i64| -> Cost<R> {
            let x = i128::from(x);
            let bent = |bend: Option<Convex>| bend.map_or(0, |f| value(f, x + 1) - value(f, x));
            std::array::from_fn(|rank| unit[rank] + bent(bends[rank]))
        };
        let runs = ends.windows(2).map(|run| Piece {
            length: i128::from(run[1]) - i128::from(run[0]),
            slope: slope(run[0]),
        });
        runs.collect()
    }
}

/// Flows between the bounds where the function changes its slope.
fn add_breakpoints(bend: &Convex, lower: i64, upper: i64, ends: &mut Vec<i64>) {
    match *bend {
        Convex::Excess(at) | Convex::Shortfall(at) => ends.push(at),
        Convex::TwoExcess(a, b) => ends.extend([a, b]),
        Convex::Squares { low, high } => {
            ends.extend(lower..=low.min(upper));
            ends.extend(high.max(lower)..=upper);
        }
    }
}

/// f(x), by definition.
fn value(f: Convex, x: i128) -> i128 {
    let above = |cap: i64| (x - i128::from(cap)).max(0);
    let below = |min: i64| (i128::from(min) - x).max(0);
    match f {
        Convex::Excess(cap) => above(cap),
        Convex::TwoExcess(a, b) => above(a) + above(b),
        Convex::Shortfall(min) => below(min),
        Convex::Squares { low, high } => above(high).pow(2) + below(low).pow(2),
    }
}

/// Cost of a rank with every arc at its lower bound.
pub(super) fn value_at_lower(network: &Network, rank: &RankCost) -> i128 {
    let lower = |arc: ArcId| i128::from(network.lower(arc));
    let line = (network.arcs().zip(&rank.unit)).map(|(arc, &unit)| i128::from(unit) * lower(arc));
    let bent = (rank.convex.iter()).map(|&(arc, f)| value(f, lower(arc)));
    line.chain(bent).sum()
}
