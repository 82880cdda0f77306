//! What a flow costs in one rank: a line per arc, and convex functions given by their shape.
//!
//! A convex function of integers is a chain of segments of constant slope; the slopes rise. [`Convex`] knows its
//! own segments, so that Σ d² over 200,000 arcs needs no parallel arc per unit of d.

use super::{ArcId, Network, POTENTIAL_MAX};
use thiserror::Error;

/// A convex integer function of one arc's flow. Parameters may be negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Convex {
    /// `max(0, x − cap)`.
    Excess(i64),
    /// `max(0, x − a) + max(0, x − b)`.
    TwoExcess(i64, i64),
    /// `max(0, min − x)`.
    Shortfall(i64),
    /// The squared distance of x from the band `[low, high]`.
    Squares {
        /// Least flow without cost.
        low: i64,
        /// Largest flow without cost; at least `low`.
        high: i64,
    },
}

/// A run of flow values `[low, high]` on which a function has one slope. `i64::MIN` and `i64::MAX` stand for no end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// First flow of the run.
    pub low: i64,
    /// Last flow of the run.
    pub high: i64,
}

impl Segment {
    /// All flows.
    pub const ALL: Segment = Segment {
        low: i64::MIN,
        high: i64::MAX,
    };

    /// The part between `low` and `high`.
    #[inline]
    pub fn within(self, low: i64, high: i64) -> Segment {
        Segment {
            low: self.low.max(low),
            high: self.high.min(high),
        }
    }
}

impl Convex {
    /// f(x), exact while it fits `i128` and its largest value beyond.
    pub fn value(self, x: i64) -> i128 {
        let excess = |cap: i64| (i128::from(x) - i128::from(cap)).max(0);
        match self {
            Convex::Excess(cap) => excess(cap),
            Convex::TwoExcess(a, b) => excess(a) + excess(b),
            Convex::Shortfall(min) => (i128::from(min) - i128::from(x)).max(0),
            Convex::Squares { low, high } => {
                let distance = excess(high).max(i128::from(low) - i128::from(x));
                distance.saturating_mul(distance)
            }
        }
    }

    /// The flows that cost nothing; none of the shapes costs less. Empty only for a [`Convex::Squares`] whose band is.
    pub fn free(self) -> Segment {
        match self {
            Convex::Excess(cap) => Segment::ALL.within(i64::MIN, cap),
            Convex::TwoExcess(a, b) => Segment::ALL.within(i64::MIN, a.min(b)),
            Convex::Shortfall(min) => Segment::ALL.within(min, i64::MAX),
            Convex::Squares { low, high } => Segment { low, high },
        }
    }

    /// f(x + 1) − f(x), exact while it fits `i64` and the nearest `i64` beyond.
    #[inline]
    pub fn right_slope(self, x: i64) -> i64 {
        match self {
            Convex::Excess(cap) => i64::from(x >= cap),
            Convex::TwoExcess(a, b) => i64::from(x >= a) + i64::from(x >= b),
            Convex::Shortfall(min) => -i64::from(x < min),
            Convex::Squares { low, high } => {
                if x >= high {
                    odd_after(x.saturating_sub(high))
                } else if x < low {
                    odd_after(low.saturating_sub(x).saturating_sub(1)).saturating_neg()
                } else {
                    0
                }
            }
        }
    }

    /// f(x) − f(x − 1), exact while it fits `i64` and the nearest `i64` beyond.
    #[inline]
    pub fn left_slope(self, x: i64) -> i64 {
        match self {
            Convex::Excess(cap) => i64::from(x > cap),
            Convex::TwoExcess(a, b) => i64::from(x > a) + i64::from(x > b),
            Convex::Shortfall(min) => -i64::from(x <= min),
            Convex::Squares { low, high } => {
                if x > high {
                    odd_after(x.saturating_sub(high).saturating_sub(1))
                } else if x <= low {
                    odd_after(low.saturating_sub(x)).saturating_neg()
                } else {
                    0
                }
            }
        }
    }

    /// The longest run of constant slope that holds x and x + 1.
    #[inline]
    pub fn segment_right(self, x: i64) -> Segment {
        match self {
            Convex::Excess(at) | Convex::Shortfall(at) => split_right(Segment::ALL, at, x),
            Convex::TwoExcess(a, b) => split_right(split_right(Segment::ALL, a, x), b, x),
            Convex::Squares { low, high } if low <= x && x < high => Segment { low, high },
            Convex::Squares { .. } => Segment {
                low: x,
                high: x.saturating_add(1),
            },
        }
    }

    /// The longest run of constant slope that holds x − 1 and x.
    #[inline]
    pub fn segment_left(self, x: i64) -> Segment {
        self.segment_right(x.saturating_sub(1))
    }
}

/// Slope of d² between `distance` and `distance + 1`.
#[inline]
fn odd_after(distance: i64) -> i64 {
    distance.saturating_mul(2).saturating_add(1)
}

/// The part of `segment` on the side of the breakpoint `at` where x + 1 lies.
#[inline]
fn split_right(segment: Segment, at: i64, x: i64) -> Segment {
    if x >= at {
        segment.within(at, i64::MAX)
    } else {
        segment.within(i64::MIN, at)
    }
}

/// What makes the cost of a rank unusable with a network.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CostError {
    /// Unit costs that are neither none nor one per arc.
    #[error("{given} unit costs for {arcs} arcs")]
    Length {
        /// Unit costs given.
        given: usize,
        /// Arcs of the network.
        arcs: usize,
    },
    /// A convex cost whose arc does not exist or is not above the arc before it.
    #[error("the convex cost of arc {} is out of order, repeated, or of no arc", .arc.0)]
    Order {
        /// The arc named.
        arc: ArcId,
    },
    /// A convex cost on an arc without an upper bound, or a band with its ends crossed.
    #[error("the convex cost of arc {} needs a finite upper bound and an uncrossed band", .arc.0)]
    Shape {
        /// The arc.
        arc: ArcId,
    },
    /// Costs so large that potentials could leave `i64`.
    #[error("the potentials could reach {sum}, above {POTENTIAL_MAX}")]
    CostRange {
        /// How far potentials could be apart.
        sum: i128,
    },
}

/// The cost of one rank: Σ unit\[a\] · x(a) + Σ convex(x(a)). An arc may have both.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RankCost {
    /// Unit cost per arc; empty for none.
    pub unit: Vec<i64>,
    /// Convex costs in ascending order of their arcs, at most one per arc.
    pub convex: Vec<(ArcId, Convex)>,
}

impl RankCost {
    /// Unit costs alone.
    pub fn linear(unit: Vec<i64>) -> Self {
        RankCost {
            unit,
            convex: Vec::new(),
        }
    }

    /// Convex costs alone, in ascending order of their arcs.
    pub fn convex(convex: Vec<(ArcId, Convex)>) -> Self {
        RankCost {
            unit: Vec::new(),
            convex,
        }
    }

    /// Whether every flow costs nothing. O(arcs).
    pub fn is_zero(&self) -> bool {
        self.convex.is_empty() && self.unit.iter().all(|&c| c == 0)
    }

    /// Unit cost of an arc.
    #[inline]
    pub fn unit_cost(&self, arc: ArcId) -> i64 {
        self.unit.get(arc.index()).copied().unwrap_or(0)
    }

    /// Cost of a flow, exact while it fits `i128` and its largest value beyond.
    pub fn total(&self, flow: &[i64]) -> i128 {
        let line = self.unit.iter().zip(flow);
        let line = line.map(|(&c, &x)| i128::from(c) * i128::from(x));
        let bent = self
            .convex
            .iter()
            .map(|&(arc, f)| f.value(flow[arc.index()]));
        line.chain(bent).fold(0, i128::saturating_add)
    }

    /// Checks shape and range against a network. O(nodes + arcs).
    ///
    /// # Errors
    /// The first fault found; see [`CostError`].
    pub fn check(&self, network: &Network) -> Result<(), CostError> {
        let bounds = |arc: ArcId| (network.lower(arc), network.upper(arc));
        self.check_arcs(network.node_count(), &network.tail, &network.head, bounds)
            .map(drop)
    }

    /// [`RankCost::check`] of a network given by its parts. An upper bound of [`Network::UNCAPACITATED`] is none.
    /// Returns how far potentials can be apart.
    pub(crate) fn check_arcs(
        &self,
        nodes: usize,
        tail: &[u32],
        head: &[u32],
        bounds: impl Fn(ArcId) -> (i64, i64),
    ) -> Result<i64, CostError> {
        let arcs = tail.len();
        if !self.unit.is_empty() && self.unit.len() != arcs {
            let given = self.unit.len();
            return Err(CostError::Length { given, arcs });
        }
        let mut reach = Reach::new(nodes);
        let mut raise = |arc: usize, slope: u64| {
            reach.raise(tail[arc] as usize, head[arc] as usize, slope);
        };
        for (arc, &cost) in self.unit.iter().enumerate() {
            raise(arc, cost.unsigned_abs());
        }
        let mut least = 0;
        for &(arc, convex) in &self.convex {
            if arc.index() < least || arc.index() >= arcs {
                return Err(CostError::Order { arc });
            }
            least = arc.index() + 1;
            let (lower, upper) = bounds(arc);
            let is_crossed = matches!(convex, Convex::Squares { low, high } if low > high);
            if is_crossed || upper == Network::UNCAPACITATED {
                return Err(CostError::Shape { arc });
            }
            let unit = self.unit_cost(arc);
            let steepest = |slope: i64| slope.unsigned_abs().saturating_add(unit.unsigned_abs());
            if lower < upper {
                raise(arc.index(), steepest(convex.right_slope(lower)));
                raise(arc.index(), steepest(convex.left_slope(upper)));
            }
        }
        reach.get()
    }
}

/// How far potentials of a tree can be apart, by the slopes of the arcs; see the ranges of [`super`].
pub(crate) struct Reach {
    /// By node.
    most: Vec<Steepest>,
}

impl Reach {
    /// Without any arc.
    pub(crate) fn new(nodes: usize) -> Self {
        Reach {
            most: vec![Steepest::default(); nodes],
        }
    }

    /// Takes in a slope of an arc from `tail` to `head`.
    #[inline]
    pub(crate) fn raise(&mut self, tail: usize, head: usize, slope: u64) {
        let at_tail = &mut self.most[tail];
        at_tail.touching = at_tail.touching.max(slope);
        at_tail.leaving = at_tail.leaving.max(slope);
        let at_head = &mut self.most[head];
        at_head.touching = at_head.touching.max(slope);
    }

    /// The bound.
    ///
    /// A path passes a node once, so it uses at most two of the arcs that touch it or leave it.
    ///
    /// # Errors
    /// [`CostError::CostRange`] where it is above [`POTENTIAL_MAX`].
    pub(crate) fn get(&self) -> Result<i64, CostError> {
        let sum =
            |of: fn(&Steepest) -> u64| self.most.iter().map(|most| i128::from(of(most))).sum();
        let (touching, leaving): (i128, i128) =
            (sum(|most| most.touching), sum(|most| most.leaving));
        let sum = touching.min(2 * leaving);
        match i64::try_from(sum) {
            Ok(reach) if reach <= POTENTIAL_MAX => Ok(reach),
            _ => Err(CostError::CostRange { sum }),
        }
    }
}

/// The largest |slope| among the arcs of a node.
#[derive(Clone, Copy, Default)]
struct Steepest {
    touching: u64,
    leaving: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<Convex> {
        let mut all = Vec::new();
        for a in -4..=4 {
            all.push(Convex::Excess(a));
            all.push(Convex::Shortfall(a));
            for b in -4..=4 {
                all.push(Convex::TwoExcess(a, b));
                if a <= b {
                    all.push(Convex::Squares { low: a, high: b });
                }
            }
        }
        all
    }

    /// f(x) by counting one by one.
    fn counted(f: Convex, x: i64) -> i128 {
        let above = |cap: i64| (cap..x).count() as i128;
        let below = |min: i64| (x..min).count() as i128;
        match f {
            Convex::Excess(cap) => above(cap),
            Convex::TwoExcess(a, b) => above(a) + above(b),
            Convex::Shortfall(min) => below(min),
            Convex::Squares { low, high } => above(high).pow(2) + below(low).pow(2),
        }
    }

    #[test]
    fn values_and_slopes_equal_their_definition() {
        for f in shapes() {
            for x in -9..=9 {
                assert_eq!(f.value(x), counted(f, x), "{f:?} at {x}");
                let right = counted(f, x + 1) - counted(f, x);
                let left = counted(f, x) - counted(f, x - 1);
                assert_eq!(i128::from(f.right_slope(x)), right, "{f:?} right of {x}");
                assert_eq!(i128::from(f.left_slope(x)), left, "{f:?} left of {x}");
            }
        }
    }

    #[test]
    fn segments_are_the_longest_runs_of_one_slope() {
        let slope = |f: Convex, x: i64| counted(f, x + 1) - counted(f, x);
        for f in shapes() {
            for x in -9..=9 {
                let mut low = x;
                while low > -20 && slope(f, low - 1) == slope(f, x) {
                    low -= 1;
                }
                let mut high = x + 1;
                while high < 20 && slope(f, high) == slope(f, x) {
                    high += 1;
                }
                let expected = Segment { low, high };
                let right = f.segment_right(x);
                assert_eq!(right.within(-20, 20), expected, "{f:?} right of {x}");
                assert_eq!(right, f.segment_left(x + 1), "{f:?} left of {}", x + 1);
            }
        }
    }

    #[test]
    fn slopes_saturate_instead_of_wrapping() {
        let f = Convex::Squares { low: 0, high: 0 };
        assert_eq!(f.right_slope(i64::MAX), i64::MAX);
        assert_eq!(f.left_slope(i64::MIN), -i64::MAX);
        let far = Convex::Squares {
            low: i64::MIN,
            high: i64::MIN,
        };
        assert_eq!(far.right_slope(i64::MAX), i64::MAX);
        assert_eq!(far.value(i64::MAX), i128::MAX);
    }

    fn one_arc(upper: i64) -> Network {
        let mut builder = super::super::NetworkBuilder::default();
        let s = builder.add_node(0);
        let t = builder.add_node(0);
        builder.add_arc(s, t, 0, upper);
        builder.build().unwrap()
    }

    #[test]
    fn refuses_costs_that_do_not_fit() {
        let network = one_arc(1 << 40);
        let check = |cost: RankCost| cost.check(&network);
        assert_eq!(check(RankCost::linear(vec![1 << 59])), Ok(()));
        let sum = (1i128 << 60) + 2;
        assert_eq!(
            check(RankCost::linear(vec![(1 << 59) + 1])),
            Err(CostError::CostRange { sum })
        );
        assert!(matches!(
            check(RankCost::linear(vec![i64::MIN])),
            Err(CostError::CostRange { .. })
        ));
        assert!(matches!(
            check(RankCost::linear(vec![1, 2])),
            Err(CostError::Length { given: 2, arcs: 1 })
        ));
        let arc = ArcId(0);
        let cap = (arc, Convex::Excess(1));
        assert_eq!(check(RankCost::convex(vec![cap])), Ok(()));
        assert_eq!(
            check(RankCost::convex(vec![cap, cap])),
            Err(CostError::Order { arc })
        );
        let crossed = (arc, Convex::Squares { low: 2, high: 1 });
        assert_eq!(
            check(RankCost::convex(vec![crossed])),
            Err(CostError::Shape { arc })
        );
        let open = one_arc(Network::UNCAPACITATED);
        assert_eq!(
            RankCost::convex(vec![cap]).check(&open),
            Err(CostError::Shape { arc })
        );
        let steep = Convex::Squares {
            low: -(1 << 61),
            high: -(1 << 61),
        };
        assert!(matches!(
            check(RankCost::convex(vec![(arc, steep)])),
            Err(CostError::CostRange { .. })
        ));
    }
}
