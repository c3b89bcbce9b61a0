//! The kinds of time, each a type of its own, so that none can be mistaken for another.
//!
//! [`TrueTime`] is the simulator's: only the engine, the checkers and the reports see it. The other four are readings
//! of a node's clocks, named as Linux names them (`clock_gettime(2)`). A [`Span`] is a signed length. All are whole
//! nanoseconds in an `i64`, which reaches 292 years; arithmetic saturates at the ends, so an absurd input makes a
//! deadline that is never reached instead of one in the past.

use std::fmt;
use std::ops::{Add, Neg, Sub};

use serde::{Deserialize, Serialize};

/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;

/// A signed length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(i64);

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The longest span there is, about 292 years.
    pub const MAX: Span = Span(i64::MAX);

    /// A span of `nanos` nanoseconds.
    pub const fn nanos(nanos: i64) -> Span {
        Span(nanos)
    }

    /// A span of `micros` microseconds.
    pub const fn micros(micros: i64) -> Span {
        Span(micros.saturating_mul(1_000))
    }

    /// A span of `millis` milliseconds.
    pub const fn millis(millis: i64) -> Span {
        Span(millis.saturating_mul(1_000_000))
    }

    /// A span of `secs` seconds.
    pub const fn secs(secs: i64) -> Span {
        Span(secs.saturating_mul(SECOND))
    }

    /// The length in nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Whether the span is below zero.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// `n` times this span.
    pub const fn times(self, n: i64) -> Span {
        Span(self.0.saturating_mul(n))
    }
}

/// `a + b`, or the number nearest to it. Almost no sum is beyond what there is, so those have a way of their own, and all
/// others cost an addition and a look.
#[inline(always)]
pub(crate) fn sum(a: i64, b: i64) -> i64 {
    a.checked_add(b).unwrap_or_else(|| saturated(b > 0))
}

/// `a - b`, or the number nearest to it.
#[inline(always)]
fn difference(a: i64, b: i64) -> i64 {
    a.checked_sub(b).unwrap_or_else(|| saturated(b < 0))
}

#[cold]
fn saturated(is_above: bool) -> i64 {
    if is_above { i64::MAX } else { i64::MIN }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(sum(self.0, other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(difference(self.0, other.0))
    }
}

impl Neg for Span {
    type Output = Span;
    fn neg(self) -> Span {
        Span(self.0.saturating_neg())
    }
}

/// Written as people write it, and exactly: in days where they are whole; in hours, minutes and what is left from two minutes
/// on, and where minutes are whole; else in the largest unit that needs no more than nine digits behind the point and none of
/// them zero at the end: `38s`, `-420ms`, `1.5ms`, `17ns`, `2h50m`, `2m5.3s`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MINUTE: u64 = 60_000_000_000;
        const HOUR: u64 = 60 * MINUTE;
        const DAY: u64 = 24 * HOUR;
        let size = self.0.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        } else if size > 0 && f.sign_plus() {
            f.write_str("+")?;
        }
        if size == 0 || (size < 2 * MINUTE && !size.is_multiple_of(MINUTE)) {
            return write_in_one_unit(f, size);
        }
        if size.is_multiple_of(DAY) {
            return write!(f, "{}d", size / DAY);
        }
        let (hours, minutes, rest) = (size / HOUR, size % HOUR / MINUTE, size % MINUTE);
        for (count, unit) in [(hours, 'h'), (minutes, 'm')] {
            if count > 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        if rest > 0 { write_in_one_unit(f, rest) } else { Ok(()) }
    }
}

/// So many nanoseconds in the largest unit up to seconds.
fn write_in_one_unit(f: &mut fmt::Formatter<'_>, size: u64) -> fmt::Result {
    let (unit, digits, name) = match size {
        0 => return f.write_str("0s"),
        1_000_000_000.. => (1_000_000_000, 9, "s"),
        1_000_000.. => (1_000_000, 6, "ms"),
        1_000.. => (1_000, 3, "µs"),
        _ => (1, 0, "ns"),
    };
    write!(f, "{}", size / unit)?;
    if !size.is_multiple_of(unit) {
        let fraction = format!("{:0digits$}", size % unit);
        write!(f, ".{}", fraction.trim_end_matches('0'))?;
    }
    f.write_str(name)
}

macro_rules! instants {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(i64);

        impl $name {
            /// The instant `nanos` nanoseconds after this clock's zero.
            pub const fn from_nanos(nanos: i64) -> $name {
                $name(nanos)
            }

            /// Nanoseconds since this clock's zero.
            pub const fn as_nanos(self) -> i64 {
                self.0
            }
        }

        impl Add<Span> for $name {
            type Output = $name;
            fn add(self, span: Span) -> $name {
                $name(sum(self.0, span.0))
            }
        }

        impl Sub<Span> for $name {
            type Output = $name;
            fn sub(self, span: Span) -> $name {
                $name(difference(self.0, span.0))
            }
        }

        impl Sub for $name {
            type Output = Span;
            fn sub(self, other: $name) -> Span {
                Span(difference(self.0, other.0))
            }
        }
    )*};
}

instants! {
    /// The simulator's own time: nanoseconds since the start of the run. Protocol code can't see it.
    TrueTime;
    /// A reading of a node's wall clock (`CLOCK_REALTIME`): nanoseconds since 1970-01-01T00:00:00Z. Steps and slews.
    WallTime;
    /// A reading of a node's monotonic clock (`CLOCK_MONOTONIC`): nanoseconds since the node's boot. Slews, never
    /// steps, and doesn't count a suspend or a freeze.
    MonoTime;
    /// A reading of a node's raw clock (`CLOCK_MONOTONIC_RAW`): nanoseconds since the node's boot, at the bare rate of
    /// its oscillator.
    RawTime;
    /// A reading of a node's boottime clock (`CLOCK_BOOTTIME`): as monotonic, but it counts suspends that the guest
    /// itself made.
    BootTime;
}

impl TrueTime {
    /// The start of the run.
    pub const START: TrueTime = TrueTime(0);
    /// Later than anything that happens.
    pub const NEVER: TrueTime = TrueTime(i64::MAX);
}

/// The time of day of a wall-clock reading in UTC, as `02:00:28.150`: milliseconds, and more digits only where they
/// aren't zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOfDay(pub WallTime);

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos().rem_euclid(86_400 * SECOND);
        let (seconds, fraction) = (nanos / SECOND, nanos % SECOND);
        write!(f, "{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)?;
        match (fraction % 1_000_000, fraction % 1_000) {
            (0, _) => write!(f, ".{:03}", fraction / 1_000_000),
            (_, 0) => write!(f, ".{:06}", fraction / 1_000),
            _ => write!(f, ".{fraction:09}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_people_write_them() {
        for (nanos, text) in [
            (0, "0s"),
            (17, "17ns"),
            (-1, "-1ns"),
            (1_500, "1.5µs"),
            (420_000_000, "420ms"),
            (-420_000_000, "-420ms"),
            (38_000_000_000, "38s"),
            (37_950_000_001, "37.950000001s"),
            (60_000_000_000, "1m"),
            (90_000_000_000, "90s"),
            (-150_300_000_000, "-2m30.3s"),
            (10_200_000_000_000, "2h50m"),
            (86_400_000_000_000, "1d"),
            (93_600_000_000_001, "26h1ns"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(Span::nanos(nanos).to_string(), text);
        }
    }

    #[test]
    fn a_time_of_day_shows_milliseconds_and_what_is_left() {
        for (nanos, text) in [
            (0, "00:00:00.000"),
            (7_228_150_000_000, "02:00:28.150"),
            (7_228_150_001_000, "02:00:28.150001"),
            (86_400_000_000_001, "00:00:00.000000001"),
            (-1, "23:59:59.999999999"),
        ] {
            assert_eq!(TimeOfDay(WallTime::from_nanos(nanos)).to_string(), text);
        }
    }

    #[test]
    fn arithmetic_saturates() {
        let earliest = WallTime::from_nanos(i64::MIN);
        assert_eq!(TrueTime::NEVER + Span::secs(1), TrueTime::NEVER);
        assert_eq!(TrueTime::NEVER - Span::secs(-1), TrueTime::NEVER);
        assert_eq!(TrueTime::NEVER - TrueTime::from_nanos(-1), Span::MAX);
        assert_eq!(Span::MAX + Span::nanos(1), Span::MAX);
        assert_eq!(earliest + Span::secs(-1), earliest);
        assert_eq!(earliest - WallTime::from_nanos(1), Span::nanos(i64::MIN));
        assert_eq!(Span::MAX.times(3), Span::MAX);
        assert_eq!(-Span::nanos(i64::MIN), Span::MAX);
        assert_eq!(earliest - Span::secs(1), earliest);
    }
}
