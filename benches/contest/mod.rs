//! Runs of several solvers in turn, so that what else the machine does meets all of them alike.
//!
//! After a warm-up of each, [`RUNS`] rounds in which each has its turn. Two rules keep a contest short: a peer that its
//! warm-up of more than [`SHORT`] puts behind the best one by more than [`BEHIND`] won't become the best, and a run of
//! more than [`LONG`] needs no warm-up. In both cases the warm-up is the only run, and the table says 1 for the runs.

use std::time::Duration;

/// Rounds after the warm-up.
pub(crate) const RUNS: usize = 5;

/// How many times the best peer's time makes a peer drop out.
const BEHIND: u32 = 3;

/// A run that may be repeated whatever it says. One that takes milliseconds says little: the machine does other things.
const SHORT: Duration = Duration::from_secs(1);

/// What makes a run a long one.
const LONG: Duration = Duration::from_secs(60);

/// Whose solver it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Ours,
    Peer,
    /// A peer that counts in 32 bits, which may be too few: then its answer is wrong, and is not counted.
    Peer32,
}

/// One run.
pub(crate) struct Run {
    /// Time of the solve alone.
    pub(crate) time: Duration,
    /// Cost of the answer, where it is one to compare.
    pub(crate) cost: Option<i128>,
    /// Largest resident set of the process, where it is the solver's own.
    pub(crate) peak_bytes: Option<u64>,
}

/// Runs once.
pub(crate) type Runner<'a> = Box<dyn FnMut() -> Result<Run, String> + 'a>;

/// A solver on a problem.
pub(crate) struct Contestant<'a> {
    /// As in the table.
    pub(crate) name: String,
    pub(crate) side: Side,
    /// Contestants on one problem must agree in cost.
    pub(crate) problem: String,
    pub(crate) run: Runner<'a>,
}

impl<'a> Contestant<'a> {
    /// One of ours.
    pub(crate) fn ours(
        name: impl Into<String>,
        problem: &str,
        run: impl FnMut() -> Result<Run, String> + 'a,
    ) -> Self {
        Contestant {
            name: name.into(),
            side: Side::Ours,
            problem: problem.to_owned(),
            run: Box::new(run),
        }
    }
}

/// What a contestant did.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) side: Side,
    pub(crate) problem: String,
    /// Sorted.
    pub(crate) times: Vec<Duration>,
    pub(crate) cost: Option<i128>,
    pub(crate) peak_bytes: Option<u64>,
    /// Why the row doesn't count. Only peers have one: where ours fails, the contest does.
    pub(crate) fault: Option<String>,
}

impl Row {
    /// Median time; none where no run succeeded.
    pub(crate) fn median(&self) -> Option<Duration> {
        self.times.get(self.times.len() / 2).copied()
    }

    /// Median time of a peer that counts.
    pub(crate) fn peer_median(&self) -> Option<Duration> {
        self.median()
            .filter(|_| self.side != Side::Ours && self.fault.is_none())
    }
}

/// The peer that takes the least time.
pub(crate) fn best_peer(rows: &[Row]) -> Option<&Row> {
    rows.iter()
        .filter(|row| row.peer_median().is_some())
        .min_by_key(|row| row.peer_median())
}

/// Lets everyone run.
///
/// # Errors
/// Where one of ours fails, or two answers to one problem cost differently.
pub(crate) fn hold(mut contestants: Vec<Contestant<'_>>) -> Result<Vec<Row>, String> {
    let mut rows = Vec::with_capacity(contestants.len());
    for contestant in &mut contestants {
        rows.push(warm_up(contestant)?);
    }
    mark_overflows(&mut rows);
    let best = best_peer(&rows).and_then(Row::median);
    let goes_on: Vec<bool> = rows.iter().map(|row| goes_on(row, best)).collect();
    for (row, _) in rows.iter_mut().zip(&goes_on).filter(|(_, on)| **on) {
        row.times.clear();
    }
    for _ in 0..RUNS {
        let runs = contestants.iter_mut().zip(&mut rows).zip(&goes_on);
        for ((contestant, row), _) in runs.filter(|(_, on)| **on) {
            match (contestant.run)() {
                Ok(run) => row.take(&run),
                Err(fault) if row.side == Side::Ours => {
                    return Err(format!("{}: {fault}", row.name));
                }
                Err(fault) => row.fault = Some(fault),
            }
        }
    }
    for row in &mut rows {
        row.times.sort_unstable();
    }
    agree(&rows)?;
    Ok(rows)
}

fn warm_up(contestant: &mut Contestant<'_>) -> Result<Row, String> {
    let mut row = Row {
        name: contestant.name.clone(),
        side: contestant.side,
        problem: contestant.problem.clone(),
        times: Vec::new(),
        cost: None,
        peak_bytes: None,
        fault: None,
    };
    match (contestant.run)() {
        Ok(run) => row.take(&run),
        Err(fault) if row.side == Side::Ours => return Err(format!("{}: {fault}", row.name)),
        Err(fault) => row.fault = Some(fault),
    }
    Ok(row)
}

fn goes_on(row: &Row, best: Option<Duration>) -> bool {
    let is_peer = row.side != Side::Ours;
    let is_behind = |time| is_peer && time > SHORT && best.is_some_and(|best| time > BEHIND * best);
    row.fault.is_none()
        && row
            .median()
            .is_some_and(|time| time <= LONG && !is_behind(time))
}

impl Row {
    fn take(&mut self, run: &Run) {
        self.times.push(run.time);
        self.peak_bytes = self.peak_bytes.max(run.peak_bytes);
        match self.cost {
            Some(cost) if run.cost != Some(cost) => {
                self.fault = Some("its answers differ".to_owned());
            }
            _ => self.cost = run.cost,
        }
    }
}

/// Finds 32-bit answers that differ from what the others on the problem say.
fn mark_overflows(rows: &mut [Row]) {
    let others: Vec<(String, i128)> = rows
        .iter()
        .filter(|row| row.side != Side::Peer32)
        .filter_map(|row| Some((row.problem.clone(), row.cost?)))
        .collect();
    for row in rows.iter_mut().filter(|row| row.side == Side::Peer32) {
        let of_problem = || others.iter().filter(|other| other.0 == row.problem);
        if row
            .cost
            .is_some_and(|cost| of_problem().any(|other| other.1 != cost))
        {
            row.fault = Some("32 bits are too few: wrong answer".to_owned());
        }
    }
}

/// Answers to one problem must cost the same.
fn agree(rows: &[Row]) -> Result<(), String> {
    let counted = || {
        rows.iter()
            .filter(|row| row.side != Side::Peer32 || row.fault.is_none())
    };
    for row in counted() {
        let differs = |other: &&Row| {
            other.problem == row.problem && other.cost.is_some() && other.cost != row.cost
        };
        if let (Some(cost), Some(other)) = (row.cost, counted().find(differs)) {
            return Err(format!(
                "{}: {} costs {cost}, {} {}",
                row.problem,
                row.name,
                other.name,
                other.cost.unwrap_or_default(),
            ));
        }
    }
    let broken = |row: &&Row| row.fault.as_deref() == Some("its answers differ");
    match rows.iter().find(broken) {
        Some(row) => Err(format!(
            "{}: {}'s answers differ from run to run",
            row.problem, row.name
        )),
        None => Ok(()),
    }
}
