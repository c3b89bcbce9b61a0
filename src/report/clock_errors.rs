//! How far a clock is off, as the corners of a line.

use holdover_sim::clock::ClockLine;
use holdover_sim::history::History;
use holdover_sim::time::{Span, TrueTime};

/// How far the wall clock of `clocks` is ahead of true time over the run of `history`: the corners of the line, in order. A
/// step has two at one instant.
pub(super) fn clock_errors(history: &History, clocks: &ClockLine) -> Vec<(TrueTime, Span)> {
    let end = history.ended_at;
    let mut corners: Vec<(TrueTime, Span)> = Vec::new();
    let mut corner = |at: TrueTime, error: Span| {
        if corners.last() != Some(&(at, error)) {
            corners.push((at, error));
        }
    };
    let segments = clocks.segments();
    for (index, segment) in segments.iter().enumerate().filter(|(_, segment)| segment.from <= end) {
        let until = segments.get(index + 1).map_or(end, |next| next.from.min(end));
        let error = |at: TrueTime| {
            let reading = segment.read(holdover_sim::clock::Clock::Wall, at);
            Span::nanos(reading.saturating_sub(history.utc(at).as_nanos()))
        };
        corner(segment.from, error(segment.from));
        corner(until, error(until));
    }
    corners
}
