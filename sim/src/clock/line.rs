//! All stretches of one node's clocks, in order.

use serde::Serialize;

use super::{Clock, Deadline, Rate, Segment};
use crate::time::{BootTime, MonoTime, RawTime, Span, TrueTime, WallTime};

/// A node's clocks over a whole run: a function from true time to readings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ClockLine {
    /// Never empty; `from` strictly increases.
    segments: Vec<Segment>,
}

impl ClockLine {
    /// Clocks that start with the run, the wall clock at `wall`, the oscillator off by `drift`.
    pub fn new(wall: WallTime, drift: Rate) -> ClockLine {
        ClockLine { segments: vec![Segment::boot(wall, drift)] }
    }

    /// The stretches, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The newest stretch.
    pub fn current(&self) -> &Segment {
        self.segments.last().expect("a clock line is never empty")
    }

    /// Begins a new stretch at `at` and lets `change` alter it. Two changes at one instant make one stretch.
    ///
    /// # Panics
    /// If `at` lies before the newest stretch: clocks change in the order of true time.
    pub fn change(&mut self, at: TrueTime, change: impl FnOnce(&mut Segment)) {
        let current = self.current();
        assert!(at >= current.from, "clock changed at {at:?}, before its newest stretch at {:?}", current.from);
        if at > current.from {
            let next = current.cut(at);
            self.segments.push(next);
        }
        change(self.segments.last_mut().expect("a clock line is never empty"));
    }

    /// The stretch that holds at `at`.
    pub fn at(&self, at: TrueTime) -> &Segment {
        let after = self.segments.partition_point(|segment| segment.from <= at);
        &self.segments[after.saturating_sub(1)]
    }

    /// The reading of `clock` at `at`, in that clock's nanoseconds.
    pub fn read(&self, clock: Clock, at: TrueTime) -> i64 {
        self.at(at).read(clock, at)
    }

    /// The wall clock's reading at `at`.
    pub fn wall(&self, at: TrueTime) -> WallTime {
        WallTime::from_nanos(self.read(Clock::Wall, at))
    }

    /// The monotonic clock's reading at `at`.
    pub fn mono(&self, at: TrueTime) -> MonoTime {
        MonoTime::from_nanos(self.read(Clock::Monotonic, at))
    }

    /// The raw clock's reading at `at`.
    pub fn raw(&self, at: TrueTime) -> RawTime {
        RawTime::from_nanos(self.read(Clock::Raw, at))
    }

    /// The boottime clock's reading at `at`.
    pub fn boot(&self, at: TrueTime) -> BootTime {
        BootTime::from_nanos(self.read(Clock::Boottime, at))
    }

    /// How far the wall clock is ahead of true time at `at`, for a run that began at the wall time `start`.
    pub fn wall_error(&self, start: WallTime, at: TrueTime) -> Span {
        self.wall(at) - (start + (at - TrueTime::START))
    }

    /// Calls `each` with every interval `[from, until)` within `[from, until)` in which `deadline` has not been reached,
    /// in order. A step backward can open a second interval after the first has closed.
    pub fn before(
        &self,
        deadline: Deadline,
        from: TrueTime,
        until: TrueTime,
        mut each: impl FnMut(TrueTime, TrueTime),
    ) {
        let first = self.segments.partition_point(|segment| segment.from <= from).saturating_sub(1);
        for (i, segment) in self.segments.iter().enumerate().skip(first) {
            let begin = segment.from.max(from);
            let end = self.segments.get(i + 1).map_or(until, |next| next.from.min(until));
            if begin >= end {
                continue;
            }
            let reached = segment.when(deadline.clock, deadline.reading).unwrap_or(TrueTime::NEVER);
            if reached > begin {
                each(begin, reached.min(end));
            }
        }
    }
}
