//! The cost of the rank in force, by arc.

use crate::network::{Convex, RankCost, Segment};

const NONE: u32 = u32::MAX;

/// Unit cost and bend per arc, those of the network behind the artificial ones.
#[derive(Clone, Debug)]
pub(super) struct Slopes {
    pub(super) unit: Vec<i64>,
    bend_of: Vec<u32>,
    bends: Vec<Convex>,
    /// Arcs with a bend.
    pub(super) bent: Vec<u32>,
    /// Number of artificial arcs, which come first.
    artificial: usize,
}

impl Slopes {
    /// Costs that are zero for `artificial` arcs and so many arcs of a network behind them.
    pub(super) fn zero(artificial: usize, arcs: usize) -> Self {
        Slopes {
            unit: vec![0; artificial + arcs],
            bend_of: vec![NONE; artificial + arcs],
            bends: Vec::new(),
            bent: Vec::new(),
            artificial,
        }
    }

    /// Each artificial arc costs one, all others nothing.
    pub(super) fn load_artificial(&mut self) {
        self.load(&RankCost::default());
        self.charge_artificial(1);
    }

    /// Each artificial arc costs so much.
    pub(super) fn charge_artificial(&mut self, unit: i64) {
        self.unit[..self.artificial].fill(unit);
    }

    /// The cost of a rank, which fits the network; artificial arcs cost nothing.
    pub(super) fn load(&mut self, rank: &RankCost) {
        for &arc in &self.bent {
            self.bend_of[arc as usize] = NONE;
        }
        self.bends.clear();
        self.bent.clear();
        if rank.unit.is_empty() {
            self.unit.fill(0);
        } else {
            self.unit[..self.artificial].fill(0);
            self.unit[self.artificial..].copy_from_slice(&rank.unit);
        }
        for &(arc, bend) in &rank.convex {
            let arc = self.artificial + arc.index();
            self.bend_of[arc] = self.bends.len() as u32;
            self.bends.push(bend);
            self.bent.push(arc as u32);
        }
    }

    /// One more arc, which costs nothing in the rank in force.
    pub(super) fn push(&mut self) {
        self.unit.push(0);
        self.bend_of.push(NONE);
    }

    /// Artificial arcs that cost nothing, behind those that there are.
    pub(super) fn insert_artificial(&mut self, before: usize, count: usize) {
        self.unit
            .splice(before..before, std::iter::repeat_n(0, count));
        self.bend_of
            .splice(before..before, std::iter::repeat_n(NONE, count));
        self.artificial += count;
        for arc in &mut self.bent {
            *arc += count as u32;
        }
    }

    #[inline]
    fn bend(&self, arc: usize) -> Option<Convex> {
        let bend = self.bend_of[arc];
        (bend != NONE).then(|| self.bends[bend as usize])
    }

    #[inline]
    pub(super) fn is_bent(&self, arc: usize) -> bool {
        self.bend_of[arc] != NONE
    }

    /// Cost of one unit more.
    #[inline]
    pub(super) fn right(&self, arc: usize, flow: i64) -> i64 {
        self.unit[arc] + self.bend(arc).map_or(0, |bend| bend.right_slope(flow))
    }

    /// What one unit less saves.
    #[inline]
    pub(super) fn left(&self, arc: usize, flow: i64) -> i64 {
        self.unit[arc] + self.bend(arc).map_or(0, |bend| bend.left_slope(flow))
    }

    /// The run of one slope above a flow.
    #[inline]
    pub(super) fn run_right(&self, arc: usize, flow: i64) -> Segment {
        self.bend(arc)
            .map_or(Segment::ALL, |bend| bend.segment_right(flow))
    }

    /// The run of one slope below a flow.
    #[inline]
    pub(super) fn run_left(&self, arc: usize, flow: i64) -> Segment {
        self.bend(arc)
            .map_or(Segment::ALL, |bend| bend.segment_left(flow))
    }
}
