//! A node's clocks: pure functions of (node, clock, true time).
//!
//! Between two changes every clock is a straight line; a [`Segment`] holds the four lines of one such stretch and a
//! [`ClockLine`] the stretches in order. Reading draws nothing and changes nothing, in whole numbers only, so a
//! history that keeps the segments can tell what every clock read at every instant. The shape follows what Linux does:
//! a slew bends monotonic as well as wall, a step moves wall alone, raw runs at the bare rate of the oscillator.

mod line;
mod segment;

pub use line::ClockLine;
pub use segment::{Motion, Rate, Segment};

use serde::{Deserialize, Serialize};

use crate::time::{MonoTime, WallTime};

/// One of a node's four clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Clock {
    /// `CLOCK_REALTIME`: what people call the time.
    Wall,
    /// `CLOCK_MONOTONIC`: for durations; bent by a slew, halted by a freeze or a suspend.
    Monotonic,
    /// `CLOCK_MONOTONIC_RAW`: the oscillator's own rate.
    Raw,
    /// `CLOCK_BOOTTIME`: monotonic plus the suspends that the guest knows of.
    Boottime,
}

/// An instant on one of a node's clocks, as a timer or a lease has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deadline {
    /// The clock that it is measured on.
    pub clock: Clock,
    /// The reading at which it is reached, in that clock's nanoseconds.
    pub reading: i64,
}

impl From<WallTime> for Deadline {
    fn from(time: WallTime) -> Deadline {
        Deadline { clock: Clock::Wall, reading: time.as_nanos() }
    }
}

impl From<MonoTime> for Deadline {
    fn from(time: MonoTime) -> Deadline {
        Deadline { clock: Clock::Monotonic, reading: time.as_nanos() }
    }
}
