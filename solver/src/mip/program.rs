//! An integer programme in whole numbers: what HiGHS is given a copy of, and what its answers are held against.
//!
//! Columns are whole numbers from 0 to their width. The first ones are *decisions*; each other one follows from columns
//! before it by a [`Fill`]. Every goal grows no slower from one column of a fill to the next, so that filling them in order
//! costs least in every rank, and a linear relaxation gains nothing by doing otherwise.

use std::ops::Range;

use crate::cost::{RANKS, Rank};

use super::Size;

/// A column, by its position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Column(pub(super) u32);

impl Column {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Columns times whole numbers, summed.
pub(super) type Terms = Vec<(Column, i64)>;

/// `least ≤ Σ terms ≤ most`; without either there is no such bound.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) terms: Terms,
    pub(super) least: Option<i64>,
    pub(super) most: Option<i64>,
}

impl Row {
    pub(super) fn at_most(terms: Terms, most: i64) -> Self {
        Row {
            terms,
            least: None,
            most: Some(most),
        }
    }

    pub(super) fn at_least(terms: Terms, least: i64) -> Self {
        Row {
            terms,
            least: Some(least),
            most: None,
        }
    }

    pub(super) fn equal(terms: Terms, value: i64) -> Self {
        Row {
            terms,
            least: Some(value),
            most: Some(value),
        }
    }

    /// Any decisions but these.
    pub(super) fn other_than(decisions: &[i64]) -> Self {
        let flip = |&value: &i64| if value == 1 { -1 } else { 1 };
        let terms = decisions.iter().enumerate();
        Row::at_least(
            terms
                .map(|(at, value)| (Column(at as u32), flip(value)))
                .collect(),
            1 - decisions.iter().sum::<i64>(),
        )
    }

    /// Whether the values keep it.
    pub(super) fn holds(&self, values: &[i64]) -> bool {
        let sum = sum(&self.terms, values);
        self.least.is_none_or(|least| sum >= i128::from(least))
            && self.most.is_none_or(|most| sum <= i128::from(most))
    }
}

/// Columns that together are max(0, Σ terms + constant), the first ones filled to their width before the next.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    pub(super) terms: Terms,
    pub(super) constant: i64,
    pub(super) columns: Range<u32>,
    /// The sum is never negative and the columns equal it. Otherwise they are only kept from being less, and all of them
    /// cost.
    pub(super) is_count: bool,
}

impl Fill {
    /// Positions of its columns.
    pub(super) fn places(&self) -> Range<usize> {
        self.columns.start as usize..self.columns.end as usize
    }

    /// How much the costs of its columns may differ: none of them is filled, or some, or all.
    pub(super) fn reach(&self, costs: &[i128], widths: &[i64]) -> i128 {
        let (mut cost, mut least, mut most) = (0, 0, 0);
        for at in self.places() {
            cost += costs[at] * i128::from(widths[at]);
            least = cost.min(least);
            most = cost.max(most);
        }
        most - least
    }
}

/// The programme. Its goals, one a rank, are to be minimised in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    widths: Vec<i64>,
    /// By decision, the first one of those that are about the same replica; at most one of them is 1.
    replicas: Vec<Column>,
    rows: Vec<Row>,
    fills: Vec<Fill>,
    goals: [Terms; RANKS],
}

impl Program {
    /// Another decision, 0 or 1. All of them come before the first fill.
    pub(super) fn add_decision(&mut self) -> Column {
        debug_assert!(self.fills.is_empty(), "decisions come first");
        let column = self.add_column(1);
        self.replicas.push(column);
        column
    }

    /// Another decision about the replica of one, of which at most one is 1.
    pub(super) fn add_decision_beside(&mut self, other: Column) -> Column {
        let column = self.add_decision();
        self.replicas[column.index()] = other;
        self.add_row(Row::at_most(vec![(other, 1), (column, 1)], 1));
        column
    }

    /// Another row; one without terms is left out.
    pub(super) fn add_row(&mut self, row: Row) {
        if !row.terms.is_empty() {
            self.rows.push(row);
        }
    }

    /// Columns of these widths for max(0, Σ terms + constant); see [`Fill`].
    pub(super) fn add_fill(
        &mut self,
        terms: Terms,
        constant: i64,
        widths: &[i64],
        is_count: bool,
    ) -> Range<u32> {
        let first = self.widths.len() as u32;
        self.widths.extend(widths);
        let columns = first..self.widths.len() as u32;
        self.fills.push(Fill {
            terms,
            constant,
            columns: columns.clone(),
            is_count,
        });
        columns
    }

    /// Lets a unit of the column cost so much in a rank.
    pub(super) fn add_cost(&mut self, rank: Rank, column: Column, cost: i64) {
        if cost != 0 {
            self.goals[rank as usize].push((column, cost));
        }
    }

    fn add_column(&mut self, width: i64) -> Column {
        self.widths.push(width);
        Column(self.widths.len() as u32 - 1)
    }

    /// By column, the largest value.
    pub(super) fn widths(&self) -> &[i64] {
        &self.widths
    }

    /// Number of decisions.
    pub(super) fn decisions(&self) -> usize {
        self.replicas.len()
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(super) fn fills(&self) -> &[Fill] {
        &self.fills
    }

    /// What is minimised in a rank, but for a constant.
    pub(super) fn goal(&self, rank: Rank) -> &Terms {
        &self.goals[rank as usize]
    }

    /// Its columns and rows.
    pub(super) fn size(&self) -> Size {
        Size {
            columns: self.widths.len(),
            rows: self.rows.len() + self.fills.len(),
        }
    }

    /// Entries of its matrix.
    pub(super) fn entries(&self) -> usize {
        let rows = self.rows.iter().map(|row| row.terms.len());
        let fills = (self.fills.iter()).map(|fill| fill.terms.len() + fill.columns.len());
        rows.sum::<usize>() + fills.sum::<usize>()
    }

    /// Rows that follow from rows of positive numbers which decisions break: of the few replicas that are too many together,
    /// one has to go, whatever else is decided (*cover inequalities*).
    pub(super) fn covers(&self, decisions: &[i64]) -> Vec<Row> {
        let rows = self.rows.iter().filter_map(|row| {
            let most = row.most?;
            self.cover(&row.terms, i128::from(most), decisions)
        });
        let fills = (self.fills.iter().filter(|fill| !fill.is_count)).filter_map(|fill| {
            let width: i128 = (self.widths[fill.places()].iter())
                .map(|&width| i128::from(width))
                .sum();
            self.cover(&fill.terms, width - i128::from(fill.constant), decisions)
        });
        rows.chain(fills).collect()
    }

    fn cover(&self, terms: &Terms, most: i128, decisions: &[i64]) -> Option<Row> {
        let is_load = |&(column, by): &(Column, i64)| by > 0 && column.index() < decisions.len();
        if !terms.iter().all(is_load) {
            return None;
        }
        let set = terms
            .iter()
            .filter(|(column, _)| decisions[column.index()] == 1);
        let mut set: Vec<(i64, Column)> = set
            .map(|&(column, by)| (by, self.replicas[column.index()]))
            .collect();
        let mut sum: i128 = set.iter().map(|&(by, _)| i128::from(by)).sum();
        if sum <= most {
            return None;
        }
        set.sort_unstable();
        set.retain(|&(by, _)| {
            let is_needed = sum - i128::from(by) <= most;
            sum -= if is_needed { 0 } else { i128::from(by) };
            is_needed
        });
        let is_one = |column: Column| set.iter().any(|one| one.1 == self.replicas[column.index()]);
        let terms = terms.iter().filter(|(column, _)| is_one(*column));
        let terms: Terms = terms.map(|&(column, _)| (column, 1)).collect();
        (!set.is_empty()).then(|| Row::at_most(terms, set.len() as i64 - 1))
    }

    /// The values of all columns that follow from decisions, where they keep every row and width.
    pub(super) fn completed(&self, decisions: &[i64]) -> Option<Vec<i64>> {
        let mut values = decisions.to_vec();
        values.resize(self.widths.len(), 0);
        for fill in &self.fills {
            let sum = sum(&fill.terms, &values) + i128::from(fill.constant);
            if fill.is_count && sum < 0 {
                return None;
            }
            let mut rest = sum.max(0);
            let own = fill.places();
            for (value, &width) in values[own.clone()].iter_mut().zip(&self.widths[own]) {
                let part = rest.min(i128::from(width));
                *value = part as i64; // a width is an i64
                rest -= part;
            }
            if rest > 0 {
                return None;
            }
        }
        let within = |(value, width): (&i64, &i64)| (0..=*width).contains(value);
        let is_legal = decisions.iter().zip(&self.widths).all(within)
            && self.rows.iter().all(|row| row.holds(&values));
        is_legal.then_some(values)
    }
}

/// Σ terms at these values.
pub(super) fn sum(terms: &[(Column, i64)], values: &[i64]) -> i128 {
    let term = |&(column, by): &(Column, i64)| i128::from(by) * i128::from(values[column.index()]);
    terms.iter().map(term).sum()
}
