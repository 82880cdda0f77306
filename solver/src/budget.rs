//! Counted work and outside interrupts: what may stop a solve.
//!
//! Work is counted in units that do not depend on the machine (arcs priced, nodes touched), so a work limit gives
//! the same answer everywhere. The interrupt is the caller's: it looks at a clock or a cancellation and is polled
//! every [`POLL_EVERY`] units, well under a millisecond of work. This crate has no clock of its own.

/// Units of work between two polls of the interrupt.
pub const POLL_EVERY: u64 = 1 << 14;

/// Why a solve stopped before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The work limit is spent.
    WorkLimit,
    /// The request's own time budget is spent.
    TimeBudget,
    /// The call's deadline is near.
    Deadline,
    /// The caller no longer waits.
    Cancelled,
}

/// What a solve is at when it asks whether to stop. What still follows a stop is less from one to the next, so a caller
/// with a clock lets them stop the later, the later they come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// It looks for a better plan. Once stopped it makes the best one so far and checks it.
    Search,
    /// It makes that plan and checks it. Once stopped it judges the present layout instead.
    Plan,
    /// It judges the present layout. Once stopped there is no answer.
    Current,
}

/// What may stop a solve from outside. A function that knows no phases interrupts the search alone.
pub trait Interrupt {
    /// The reason to stop, if there is one by now.
    fn stop(&self, phase: Phase) -> Option<Stop>;

    /// Seconds until the search will be stopped, where that is known: for work that can't poll. What it decides may not
    /// be more than when such work, left behind, ends.
    fn seconds_left(&self) -> Option<f64> {
        None
    }
}

impl<F: Fn() -> Option<Stop>> Interrupt for F {
    fn stop(&self, phase: Phase) -> Option<Stop> {
        match phase {
            Phase::Search => self(),
            Phase::Plan | Phase::Current => None,
        }
    }
}

/// Items between two polls of a [`Pace`]: well under a millisecond of work.
pub const ITEMS: usize = 512;

/// Polls an interrupt at an even pace, for work that goes item by item: shards, moves, streams with their brokers.
pub struct Pace<'a> {
    interrupt: &'a dyn Fn() -> Option<Stop>,
    left: usize,
}

impl<'a> Pace<'a> {
    /// The first item polls.
    pub fn new(interrupt: &'a dyn Fn() -> Option<Stop>) -> Self {
        Pace { interrupt, left: 0 }
    }

    /// Counts so many items.
    ///
    /// # Errors
    /// The reason, where the interrupt asks to stop.
    #[inline]
    pub fn step(&mut self, items: usize) -> Result<(), Stop> {
        if items < self.left {
            self.left -= items;
            return Ok(());
        }
        self.left = ITEMS;
        (self.interrupt)().map_or(Ok(()), Err)
    }

    /// Counts one stream and a look at each of so many brokers, of which 64 take as long as a shard.
    ///
    /// # Errors
    /// The reason, where the interrupt asks to stop.
    #[inline]
    pub fn step_stream(&mut self, brokers: usize) -> Result<(), Stop> {
        self.step(1 + brokers / 64)
    }
}

/// Does to its end what could be stopped.
pub fn unstopped<T>(work: impl FnOnce(&mut Pace<'_>) -> Result<T, Stop>) -> T {
    match work(&mut Pace::new(&never)) {
        Ok(done) => done,
        Err(reason) => unreachable!("nothing asked to stop: {reason:?}"),
    }
}

/// What a solve may spend.
pub struct Budget<'a> {
    limit: u64,
    spent: u64,
    next_poll: u64,
    interrupt: &'a dyn Fn() -> Option<Stop>,
}

impl<'a> Budget<'a> {
    /// At most `limit` units of work (`None`: any number) until `interrupt` answers with a reason to stop.
    pub fn new(limit: Option<u64>, interrupt: &'a dyn Fn() -> Option<Stop>) -> Self {
        Budget {
            limit: limit.unwrap_or(u64::MAX),
            spent: 0,
            next_poll: 0,
            interrupt,
        }
    }

    /// Counts `units` of work.
    ///
    /// # Errors
    /// The reason, once the limit is passed or the interrupt asks to stop.
    #[inline]
    pub fn spend(&mut self, units: u64) -> Result<(), Stop> {
        self.spent = self.spent.saturating_add(units);
        if self.spent > self.limit {
            return Err(Stop::WorkLimit);
        }
        if self.spent >= self.next_poll {
            return self.poll();
        }
        Ok(())
    }

    /// Asks the interrupt without counting work: for steps that the work limit doesn't govern.
    ///
    /// # Errors
    /// The reason, where the interrupt asks to stop.
    #[inline(never)]
    pub fn poll(&mut self) -> Result<(), Stop> {
        self.next_poll = self.spent.saturating_add(POLL_EVERY);
        match (self.interrupt)() {
            Some(reason) => Err(reason),
            None => Ok(()),
        }
    }

    /// A pace that polls the same interrupt, for steps that go item by item and are not counted.
    pub fn pace(&self) -> Pace<'a> {
        Pace::new(self.interrupt)
    }

    /// Units spent so far.
    pub fn spent(&self) -> u64 {
        self.spent
    }
}

/// An interrupt that never fires.
pub fn never() -> Option<Stop> {
    None
}
