//! What protocols rely on of clocks.

use super::Assumption;
use crate::clock::{Motion, Segment};
use crate::history::{History, Role};
use crate::time::{Span, TrueTime};

/// How far a wall clock may be off.
const WALL_ERROR: Span = Span::millis(100);
/// How late a wall clock may be by which a job is due.
const LATE: Span = Span::secs(1);
/// How far a clock's rate may be off, in parts per billion: 500 ppm, as NTP bends clocks at the most.
const RATE_ERROR_PPB: i32 = 500_000;

/// See its sentence.
pub const CLOCKS_AGREE: Assumption = Assumption {
    name: "clocks-agree",
    sentence: "the workers' wall clocks are within 100 ms of true time",
    is_kept: |history| {
        history.nodes_with(Role::Worker).all(|node| {
            let clocks = &history.node(node).clocks;
            // A clock is furthest off where a stretch begins or ends.
            let ends = clocks.segments().iter().skip(1).map(|segment| before(segment.from));
            let begins = clocks.segments().iter().map(|segment| segment.from);
            begins.chain(ends).chain([history.ended_at]).filter(|at| *at <= history.ended_at).all(|at| {
                let error = clocks.wall_error(history.start, at);
                error <= WALL_ERROR && -error <= WALL_ERROR
            })
        })
    },
};

/// See its sentence.
pub const NO_LATE_WALL_CLOCK: Assumption = Assumption {
    name: "no-late-wall-clock",
    sentence: "no worker's wall clock is a second late from when the job is due on",
    is_kept: |history| {
        let due = history.due.min(history.ended_at);
        history.nodes_with(Role::Worker).all(|node| {
            let clocks = &history.node(node).clocks;
            let begins = clocks.segments().iter().map(|segment| segment.from);
            let ends = clocks.segments().iter().skip(1).map(|segment| before(segment.from));
            let since_due = begins.chain(ends).filter(|at| (due..=history.ended_at).contains(at));
            since_due
                .chain([due, history.ended_at])
                .all(|at| -clocks.wall_error(history.start, at) < LATE)
        })
    },
};

/// See its sentence.
pub const CLOCK_RATE: Assumption = Assumption {
    name: "clock-rate",
    sentence: "clocks run at most 500 ppm too fast or too slow",
    is_kept: |history| {
        no_segment(history, |segment| {
            (segment.drift.as_ppb() + segment.slew.as_ppb()).unsigned_abs() > RATE_ERROR_PPB.unsigned_abs()
        })
    },
};

/// See its sentence.
pub const FROZEN_CLOCKS_NEVER: Assumption = Assumption {
    name: "frozen-clocks-never",
    sentence: "no machine stands still together with all its clocks",
    is_kept: |history| no_segment(history, |segment| segment.motion == Motion::Frozen),
};

/// See its sentence.
pub const NO_SUSPEND: Assumption = Assumption {
    name: "no-suspend",
    sentence: "no machine is suspended, with its monotonic clock standing still",
    is_kept: |history| no_segment(history, |segment| segment.motion == Motion::Suspended),
};

fn no_segment(history: &History, is_bad: impl Fn(&Segment) -> bool) -> bool {
    !history.nodes.iter().flat_map(|node| node.clocks.segments()).any(is_bad)
}

fn before(at: TrueTime) -> TrueTime {
    at - Span::nanos(1)
}
