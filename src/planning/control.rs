//! What may stop a solve from outside: the call's deadline, its cancellation, the request's time budget.

use std::time::{Duration, Instant};

use shardflow_solver::budget::Stop;
use shardflow_solver::snapshot::Problem;
use tokio_util::sync::CancellationToken;

/// What is set aside of the time to a deadline, however small the problem.
const RESERVE: Duration = Duration::from_millis(10);

/// The time before a deadline at which solving stops, so that the answer is there in time.
///
/// What comes after the stop (moves in order, verification, encoding, the way to the caller) grows with the shards that
/// move, which can be nearly all, and with the streams times brokers (`slots`); it takes longer on a slow or busy
/// machine. That shows in the time that reading and building took (`prepared`), so it is the unit: four and a half of
/// it, and 0.4 of it for each slot per shard. It is never more than three quarters of what is `remaining`: a plan stopped early has
/// few moves and is told soon.
///
/// Measured in milliseconds, in the dev profile on an idle machine, 20,000 shards, 100 brokers, 200 streams: prepared
/// 16 to 25; from the stop to the plan 30 with no moves, 40 with 8,600, 50 with 12,200; encoding and the way to the
/// caller 15 to 25.
fn reserve(remaining: Duration, shards: usize, slots: usize, prepared: Duration) -> Duration {
    let (shards, slots) = (shards.max(1) as u128, slots as u128);
    let wanted = prepared.as_nanos().saturating_mul(45 * shards + 4 * slots) / (10 * shards);
    let wanted = Duration::from_nanos(u64::try_from(wanted).unwrap_or(u64::MAX));
    RESERVE.saturating_add(wanted).min(remaining / 4 * 3)
}

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

    /// The interrupt of a solve, whose call started at `started` and has its problem ready now: of the budget and the deadline, what ends first is the
    /// reason given; a cancellation goes before both.
    pub(super) fn interrupt(
        &self,
        started: Instant,
        time_budget: Option<Duration>,
        problem: &Problem,
    ) -> impl Fn() -> Option<Stop> + use<> {
        let budget_ends = time_budget.and_then(|budget| started.checked_add(budget));
        let budget_ends = budget_ends.map(|at| (at, Stop::TimeBudget));
        let deadline_ends = self.deadline.map(|deadline| {
            let remaining = deadline.saturating_duration_since(started);
            let slots = problem.streams.len().saturating_mul(problem.brokers.len());
            let reserve = reserve(remaining, problem.shards.len(), slots, started.elapsed());
            let at = deadline.checked_sub(reserve).unwrap_or(deadline);
            (at, Stop::Deadline)
        });
        let first = budget_ends
            .into_iter()
            .chain(deadline_ends)
            .min_by_key(|(at, _)| *at);
        let cancelled = self.cancelled.clone();
        move || {
            if cancelled.is_cancelled() {
                return Some(Stop::Cancelled);
            }
            first
                .filter(|(at, _)| Instant::now() >= *at)
                .map(|(_, reason)| reason)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn empty() -> Problem {
        shardflow_solver::validate::build(&Default::default(), &Default::default()).unwrap()
    }

    #[test]
    fn nothing_stops_an_unlimited_call() {
        let interrupt = Control::default().interrupt(Instant::now(), None, &empty());
        assert_eq!(interrupt(), None);
    }

    #[test]
    fn a_spent_budget_and_a_near_deadline_stop_for_their_own_reason() {
        let now = Instant::now();
        let Some(past) = now.checked_sub(SECOND) else {
            return;
        };
        let spent = Control::default().interrupt(past, Some(SECOND), &empty());
        assert_eq!(spent(), Some(Stop::TimeBudget));
        let near = Control::default().with_deadline(Some(now));
        assert_eq!(near.interrupt(past, None, &empty())(), Some(Stop::Deadline));
        let far = Control::default().with_deadline(Some(now + 3600 * SECOND));
        assert_eq!(far.interrupt(now, Some(3600 * SECOND), &empty())(), None);
    }

    #[test]
    fn what_ends_first_is_the_reason() {
        let now = Instant::now();
        let Some(past) = now.checked_sub(10 * SECOND) else {
            return;
        };
        let both = Control::default().with_deadline(Some(past + 2 * SECOND));
        let late = both.interrupt(past, Some(5 * SECOND), &empty());
        assert_eq!(late(), Some(Stop::Deadline));
        let early = both.interrupt(past, Some(SECOND / 4), &empty());
        assert_eq!(early(), Some(Stop::TimeBudget));
    }

    #[test]
    fn a_cancellation_goes_before_all() {
        let token = CancellationToken::new();
        let control = Control::new(token.clone()).with_deadline(Some(Instant::now()));
        let interrupt = control.interrupt(Instant::now(), None, &empty());
        assert_eq!(interrupt(), Some(Stop::Deadline));
        token.cancel();
        assert_eq!(interrupt(), Some(Stop::Cancelled));
    }

    #[test]
    fn the_reserve_grows_with_the_size_and_the_load_up_to_three_quarters() {
        let ms = Duration::from_millis;
        assert_eq!(reserve(SECOND, 0, 0, Duration::ZERO), ms(10));
        assert_eq!(reserve(SECOND, 20_000, 5_000, ms(40)), ms(194));
        assert_eq!(reserve(SECOND, 20_000, 50_000, ms(40)), ms(230));
        assert_eq!(reserve(SECOND, 20_000, 50_000, ms(80)), ms(450));
        assert_eq!(reserve(SECOND, 1, usize::MAX, SECOND), ms(750));
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
