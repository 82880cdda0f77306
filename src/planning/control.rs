//! What may stop a solve from outside: the call's deadline, its cancellation, the request's time budget.
//!
//! # The time plan
//! A search that goes on to the last moment leaves no time to make its plan and to verify it. So each [`Phase`] ends
//! earlier than the next by what the next takes. How long that is depends on the shards, the moves, the machine and
//! what else it does; all of it shows in how long reading and validating the same request took (`prepared`), which is
//! the unit of the reserves.
//!
//! ```text
//!   Plan ends      JUDGE · prepared before Current, which judges the present layout
//!   Search ends    FINISH · prepared before Plan, which makes and verifies the best plan
//!   Current ends   GRACE after a time budget, or before a deadline by the time to tell the answer; less TIDY · shards
//! ```
//!
//! A time budget ends the search at the latest when it is spent; what follows may take [`GRACE`] more, so that a small
//! cluster gets a plan however small its budget. A cancellation can't be foreseen: the search ends at once, and what
//! follows has the same time.

use std::cell::Cell;
use std::time::{Duration, Instant};

use shardflow_solver::budget::{Interrupt, Phase, Stop};
use tokio_util::sync::CancellationToken;

/// How long work may go on after a time budget is spent or a cancellation, for an answer better than none. Half of the 50 ms that are
/// promised: the rest is for what isn't foreseen.
const GRACE: Duration = Duration::from_millis(25);

/// To judge the present layout, in tenths of the time that reading and validating took.
const JUDGE: u32 = 10;

/// To make a plan in which nearly all shards move and to verify it, in tenths of the same.
const FINISH: u32 = 32;

/// To give back the memory of one shard, as read and as validated: what is left to do wherever a call is stopped.
const TIDY: Duration = Duration::from_nanos(150);

/// To encode an answer and send it on its way, in tenths of the same.
const TELL: u32 = 15;

/// To tell an answer at least, however small the problem.
const TELL_MIN: Duration = Duration::from_millis(10);

/// What may stop a call from outside.
#[derive(Clone, Debug, Default)]
pub struct Control {
    deadline: Option<Instant>,
    cancelled: CancellationToken,
}

impl Control {
    /// Nothing stops it but the token, once it is cancelled.
    pub fn new(cancelled: CancellationToken) -> Self {
        Control {
            deadline: None,
            cancelled,
        }
    }

    /// The answer must be there by then.
    #[must_use]
    pub fn with_deadline(self, deadline: Option<Instant>) -> Self {
        Control { deadline, ..self }
    }

    /// When the answer must be there.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The same, with half of the time that is left.
    pub(super) fn first_half(&self) -> Self {
        let now = Instant::now();
        let half = |deadline: Instant| now + deadline.saturating_duration_since(now) / 2;
        Control {
            deadline: self.deadline.map(half),
            cancelled: self.cancelled.clone(),
        }
    }

    /// The clock of a call about so many shards that started at `started`, for reading and validating its request.
    pub(super) fn clock(
        &self,
        started: Instant,
        time_budget: Option<Duration>,
        shards: usize,
    ) -> Clock {
        let times = Times {
            started,
            tidy: TIDY.saturating_mul(u32::try_from(shards).unwrap_or(u32::MAX)),
            budget: time_budget.and_then(|budget| started.checked_add(budget)),
            deadline: self.deadline,
        };
        Clock {
            ends: times.ends(Duration::ZERO),
            times,
            cancelled: self.cancelled.clone(),
            cancelled_at: Cell::new(None),
        }
    }
}

/// What a call has time for.
#[derive(Clone, Copy)]
struct Times {
    started: Instant,
    /// What it takes to leave.
    tidy: Duration,
    /// When the time budget is spent.
    budget: Option<Instant>,
    deadline: Option<Instant>,
}

/// When each phase ends, in their order, and why.
type Ends = [Option<(Instant, Stop)>; 3];

impl Times {
    /// Of the budget and the deadline, what ends a phase first is the reason.
    fn ends(self, prepared: Duration) -> Ends {
        let tenths = |count: u32| prepared.saturating_mul(count) / 10;
        let tell = TELL_MIN.saturating_add(tenths(TELL));
        let following = [tenths(JUDGE + FINISH), tenths(JUDGE), Duration::ZERO];
        let following = following.map(|time| time.saturating_add(self.tidy));
        let latest = [Duration::ZERO, GRACE, GRACE];
        let before = |at: Instant, time: Duration| at.checked_sub(time).unwrap_or(self.started);
        std::array::from_fn(|phase| {
            let by_budget = self.budget.map(|spent| {
                let end = before(spent + GRACE, following[phase]);
                (end.min(spent + latest[phase]), Stop::TimeBudget)
            });
            let by_deadline = self.deadline.map(|deadline| {
                // A plan stopped early has few moves and is told soon.
                let most = deadline.saturating_duration_since(self.started) / 4 * 3;
                let reserve = tell.saturating_add(following[phase]).min(most);
                (before(deadline, reserve), Stop::Deadline)
            });
            let both = by_budget.into_iter().chain(by_deadline);
            both.min_by_key(|(end, _)| *end)
        })
    }
}

/// The interrupt of one call: its time, and its cancellation, which goes before.
pub(super) struct Clock {
    times: Times,
    ends: Ends,
    cancelled: CancellationToken,
    /// When the cancellation was first seen.
    cancelled_at: Cell<Option<Instant>>,
}

impl Clock {
    /// The clock for solving a request that took so long to read and validate.
    pub(super) fn set_aside(self, prepared: Duration) -> Self {
        Clock {
            ends: self.times.ends(prepared),
            ..self
        }
    }

    /// The same where the present layout has to be judged, whatever the time budget.
    pub(super) fn until_judged(mut self, prepared: Duration) -> Self {
        let times = Times {
            budget: None,
            ..self.times
        };
        self.ends[Phase::Current as usize] = times.ends(prepared)[Phase::Current as usize];
        self
    }

    /// Whether what a cancellation leaves time for is over as well.
    fn is_cancelled(&self, phase: Phase) -> bool {
        if !self.cancelled.is_cancelled() {
            return false;
        }
        let now = Instant::now();
        let since = self.cancelled_at.get().unwrap_or(now);
        self.cancelled_at.set(Some(since));
        let left = match phase {
            Phase::Search => Duration::ZERO,
            Phase::Plan => GRACE.saturating_sub(self.times.tidy) / 2,
            Phase::Current => GRACE.saturating_sub(self.times.tidy),
        };
        now - since >= left
    }
}

impl Interrupt for Clock {
    fn stop(&self, phase: Phase) -> Option<Stop> {
        if self.is_cancelled(phase) {
            return Some(Stop::Cancelled);
        }
        let (end, reason) = self.ends[phase as usize]?;
        (Instant::now() >= end).then_some(reason)
    }

    fn seconds_left(&self) -> Option<f64> {
        let (end, _) = self.ends[Phase::Search as usize]?;
        Some(end.saturating_duration_since(Instant::now()).as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const MS: Duration = Duration::from_millis(1);

    fn times(budget: Option<Duration>, deadline: Option<Duration>) -> Times {
        let started = Instant::now();
        Times {
            started,
            tidy: Duration::ZERO,
            budget: budget.map(|budget| started + budget),
            deadline: deadline.map(|deadline| started + deadline),
        }
    }

    /// Milliseconds from the start to the end of each phase, and the reason.
    fn ends(times: Times, prepared: Duration) -> [Option<(u128, Stop)>; 3] {
        times
            .ends(prepared)
            .map(|end| end.map(|(at, reason)| ((at - times.started).as_millis(), reason)))
    }

    #[test]
    fn nothing_stops_an_unlimited_call() {
        let clock = Control::default()
            .clock(Instant::now(), None, 1)
            .set_aside(SECOND);
        for phase in [Phase::Search, Phase::Plan, Phase::Current] {
            assert_eq!(clock.stop(phase), None);
        }
    }

    #[test]
    fn a_budget_leaves_each_phase_the_time_of_those_that_follow() {
        let budget = times(Some(SECOND), None);
        let by = |ms| Some((ms, Stop::TimeBudget));
        assert_eq!(ends(budget, Duration::ZERO), [by(1000), by(1025), by(1025)]);
        assert_eq!(ends(budget, 100 * MS), [by(605), by(925), by(1025)]);
        // Judging comes first where there is no time for more, and nothing ends before the start.
        assert_eq!(ends(budget, 600 * MS), [by(0), by(425), by(1025)]);
    }

    #[test]
    fn many_shards_leave_time_to_leave() {
        let large = Times {
            tidy: 100 * MS,
            ..times(Some(SECOND), None)
        };
        let by = |ms| Some((ms, Stop::TimeBudget));
        assert_eq!(ends(large, Duration::ZERO), [by(925), by(925), by(925)]);
        let clock = Control::default().clock(Instant::now(), None, 1_000_000);
        assert_eq!(clock.times.tidy, 150 * MS);
    }

    #[test]
    fn a_deadline_leaves_time_to_tell_the_answer_up_to_three_quarters() {
        let deadline = times(None, Some(SECOND));
        let by = |ms| Some((ms, Stop::Deadline));
        assert_eq!(ends(deadline, Duration::ZERO), [by(990), by(990), by(990)]);
        assert_eq!(ends(deadline, 40 * MS), [by(762), by(890), by(930)]);
        assert_eq!(ends(deadline, 400 * MS), [by(250), by(250), by(390)]);
    }

    #[test]
    fn what_ends_first_is_the_reason() {
        let both = |budget: u32, deadline: u32| {
            let times = times(Some(budget * SECOND), Some(deadline * SECOND));
            times.ends(Duration::ZERO).map(|end| end.map(|end| end.1))
        };
        assert_eq!(both(5, 2), [Some(Stop::Deadline); 3]);
        assert_eq!(both(2, 5), [Some(Stop::TimeBudget); 3]);
    }

    #[test]
    fn phases_end_in_their_order_and_a_budget_that_is_spent_ends_all() {
        let Some(past) = Instant::now().checked_sub(10 * SECOND) else {
            return;
        };
        let spent = |budget| Control::default().clock(past, Some(budget), 1);
        assert_eq!(spent(SECOND).stop(Phase::Current), Some(Stop::TimeBudget));
        let near = spent(12 * SECOND).set_aside(SECOND);
        assert_eq!(near.stop(Phase::Search), Some(Stop::TimeBudget));
        assert_eq!(near.stop(Phase::Plan), None);
        assert_eq!(
            spent(3600 * SECOND).set_aside(SECOND).stop(Phase::Search),
            None
        );
    }

    #[test]
    fn a_comparison_judges_the_present_layout_whatever_its_budget() {
        let Some(past) = Instant::now().checked_sub(10 * SECOND) else {
            return;
        };
        let spent = Control::default().clock(past, Some(SECOND), 1);
        let spent = spent.set_aside(SECOND).until_judged(SECOND);
        assert_eq!(spent.stop(Phase::Plan), Some(Stop::TimeBudget));
        assert_eq!(spent.stop(Phase::Current), None);
        let late = Control::default().with_deadline(Some(past + SECOND));
        let late = late.clock(past, Some(SECOND), 1).until_judged(SECOND);
        assert_eq!(late.stop(Phase::Current), Some(Stop::Deadline));
    }

    #[test]
    fn a_cancellation_goes_before_all_and_leaves_time_to_finish() {
        let token = CancellationToken::new();
        let control = Control::new(token.clone()).with_deadline(Some(Instant::now()));
        let clock = control.clock(Instant::now(), None, 1);
        assert_eq!(clock.stop(Phase::Search), Some(Stop::Deadline));
        token.cancel();
        assert_eq!(clock.stop(Phase::Search), Some(Stop::Cancelled));
        let seen = clock
            .cancelled_at
            .get()
            .and_then(|at| at.checked_sub(GRACE));
        clock.cancelled_at.set(seen);
        assert_eq!(clock.stop(Phase::Current), Some(Stop::Cancelled));
        let unlimited = Control::new(token).clock(Instant::now(), None, 1);
        assert_eq!(unlimited.stop(Phase::Search), Some(Stop::Cancelled));
        assert_eq!(unlimited.stop(Phase::Plan), None);
        assert_eq!(unlimited.stop(Phase::Current), None);
    }

    #[test]
    fn the_first_of_two_gets_half_of_the_time() {
        let before = Instant::now();
        let half = Control::default().with_deadline(Some(before + 100 * SECOND));
        let half = half.first_half().deadline();
        assert!(half > Some(before + 49 * SECOND) && half < Some(before + 52 * SECOND));
        assert_eq!(Control::default().first_half().deadline(), None);
    }
}
