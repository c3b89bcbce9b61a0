//! All stretches of one node's clocks, in order.

use serde::Serialize;

use super::{Clock, Deadline, Rate, Segment};
use crate::id::EventId;
use crate::time::{BootTime, MonoTime, RawTime, Span, TrueTime, WallTime};

/// A node's clocks over a whole run: a function from true time to readings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ClockLine {
    /// Never empty; (`from`, `since`) strictly increases.
    segments: Vec<Segment>,
}

impl ClockLine {
    /// Clocks that start with the run, the wall clock at `wall`, the oscillator off by `drift`.
    pub fn new(wall: WallTime, drift: Rate) -> ClockLine {
        ClockLine { segments: vec![Segment::boot(wall, drift)] }
    }

    /// Clocks of these stretches; `None` if there are none, or if they aren't in order.
    pub fn of(segments: Vec<Segment>) -> Option<ClockLine> {
        let place = |segment: &Segment| (segment.from, segment.since);
        let in_order = segments.windows(2).all(|pair| place(&pair[0]) < place(&pair[1]));
        (in_order && !segments.is_empty()).then_some(ClockLine { segments })
    }

    /// The stretches, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The newest stretch.
    pub fn current(&self) -> &Segment {
        self.segments.last().expect("a clock line is never empty")
    }

    /// Begins a new stretch at `at`, before all events of that instant, and lets `change` alter it. Two such changes at one
    /// instant make one stretch.
    ///
    /// # Panics
    /// If `at` lies before the newest stretch: clocks change in the order of true time.
    pub fn change(&mut self, at: TrueTime, change: impl FnOnce(&mut Segment)) {
        self.change_with(EventId(0), at, change);
    }

    /// The same, but with the event `since`, which happens at `at`: whatever was recorded before it read the clocks as they
    /// were. So a stretch may last for no time at all.
    ///
    /// # Panics
    /// As [`ClockLine::change`] does.
    pub fn change_with(&mut self, since: EventId, at: TrueTime, change: impl FnOnce(&mut Segment)) {
        let current = self.current();
        assert!(at >= current.from, "clock changed at {at:?}, before its newest stretch at {:?}", current.from);
        if (at, since) > (current.from, current.since) {
            let next = Segment { since, ..current.cut(at) };
            self.segments.push(next);
        }
        change(self.segments.last_mut().expect("a clock line is never empty"));
    }

    /// The stretch that holds at `at`, when all is over that happens at that instant.
    pub fn at(&self, at: TrueTime) -> &Segment {
        let after = self.segments.partition_point(|segment| segment.from <= at);
        &self.segments[after.saturating_sub(1)]
    }

    /// What `clock` read at the event `id`, which happened at `at`, in that clock's nanoseconds: what changed the clocks later
    /// at the same instant is left out.
    pub fn read_with(&self, id: EventId, clock: Clock, at: TrueTime) -> i64 {
        let after = self.segments.partition_point(|segment| (segment.from, segment.since) <= (at, id));
        self.segments[after.saturating_sub(1)].read(clock, at)
    }

    /// The reading of `clock` at `at`, when all is over that happens at that instant, in that clock's nanoseconds.
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

    /// How far the wall clock is off at most, either way, from `from` to `until`, for a run that began at the wall time
    /// `start`. It is furthest off where a stretch begins or ends, also if it does both at once.
    pub fn wall_error_within(&self, start: WallTime, from: TrueTime, until: TrueTime) -> Span {
        let later = self.segments.partition_point(|segment| segment.from < from);
        let begins_one = self.segments.get(later).is_some_and(|segment| segment.from == from);
        let first = if begins_one { later } else { later.saturating_sub(1) };
        let mut most = Span::ZERO;
        for (i, segment) in self.segments.iter().enumerate().skip(first).take_while(|(_, one)| one.from <= until) {
            let begin = segment.from.max(from);
            let last = self.segments.get(i + 1).map_or(until, |next| next.from - Span::nanos(1));
            for at in [begin, last.clamp(begin, until.max(begin))] {
                let error = WallTime::from_nanos(segment.read(Clock::Wall, at)) - (start + (at - TrueTime::START));
                most = most.max(error).max(-error);
            }
        }
        most
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
