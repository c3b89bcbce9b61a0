//! One stretch of a node's clocks in which every clock is a straight line.

use serde::{Deserialize, Deserializer, Serialize, de};

use super::Clock;
use crate::id::EventId;
use crate::time::{BootTime, MonoTime, RawTime, Span, TrueTime, WallTime};

/// Nanoseconds in a second, and parts of a whole in parts per billion.
const BILLION: i64 = 1_000_000_000;

/// A rate error in parts per billion: +30,000 is 30 ppm fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Rate(i32);

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
        let ppb = i32::deserialize(deserializer)?;
        Rate::from_ppb(ppb).ok_or_else(|| {
            let got = de::Unexpected::Signed(i64::from(ppb));
            de::Error::invalid_value(got, &"a rate of -100000000 to 100000000 parts per billion")
        })
    }
}

impl Rate {
    /// The exact rate.
    pub const EXACT: Rate = Rate(0);
    /// The largest rate error of an oscillator or a slew, either way: 10 %, which is as far as Linux bends a clock
    /// (`adjtimex(2)`: a tick of 9,000 to 11,000 µs).
    pub const MAX_PPB: i32 = 100_000_000;

    /// A rate error of `ppb` parts per billion, or `None` beyond [`Rate::MAX_PPB`].
    pub const fn from_ppb(ppb: i32) -> Option<Rate> {
        if ppb.unsigned_abs() <= Self::MAX_PPB as u32 { Some(Rate(ppb)) } else { None }
    }

    /// Parts per billion.
    pub const fn as_ppb(self) -> i32 {
        self.0
    }
}

/// In parts per million with its sign: `+30 ppm`, `-0.5 ppm`.
impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { '-' } else { '+' };
        let size = self.0.unsigned_abs();
        write!(f, "{sign}{}", size / 1_000)?;
        if !size.is_multiple_of(1_000) {
            let fraction = format!("{:03}", size % 1_000);
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        f.write_str(" ppm")
    }
}

/// What a node's clocks do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Motion {
    /// They run.
    #[default]
    Running,
    /// The guest suspended itself: monotonic and raw stand still, wall and boottime go on.
    Suspended,
    /// The hypervisor stopped the guest's counter: all four stand still, and nobody tells the guest.
    Frozen,
}

/// The four lines of one stretch. Each reading is the base plus what the clock advanced since `from`, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// When the stretch begins.
    pub from: TrueTime,
    /// Wall clock at `from`.
    pub wall: WallTime,
    /// Monotonic clock at `from`.
    pub mono: MonoTime,
    /// Raw clock at `from`.
    pub raw: RawTime,
    /// Boottime clock at `from`.
    pub boot: BootTime,
    /// The oscillator's rate error: all clocks have it.
    pub drift: Rate,
    /// The discipline's rate correction: wall, monotonic and boottime have it, raw doesn't.
    pub slew: Rate,
    /// Whether the clocks run.
    pub motion: Motion,
    /// The first event at `from` for which it holds: what was recorded before, at the same instant, happened by the stretch
    /// before. It follows from what happened, so it isn't among the bytes of a history.
    #[serde(skip)]
    pub since: EventId,
}

impl Segment {
    /// The first stretch of a node that boots at the start of the run with its wall clock at `wall`.
    pub fn boot(wall: WallTime, drift: Rate) -> Segment {
        Segment {
            from: TrueTime::START,
            wall,
            mono: MonoTime::default(),
            raw: RawTime::default(),
            boot: BootTime::default(),
            drift,
            slew: Rate::EXACT,
            motion: Motion::Running,
            since: EventId(0),
        }
    }

    /// What `clock` advances in 10⁹ ns of true time, in ns; 0 when it stands still, and never 2·10⁹ or more.
    #[inline]
    fn slope(&self, clock: Clock) -> i64 {
        let exact = BILLION;
        let drift = i64::from(self.drift.as_ppb());
        let slew = i64::from(self.slew.as_ppb());
        match (self.motion, clock) {
            (Motion::Running, Clock::Raw) => exact + drift,
            (Motion::Running, _) => exact + drift + slew,
            (Motion::Suspended, Clock::Wall | Clock::Boottime) => exact,
            (Motion::Suspended | Motion::Frozen, _) => 0,
        }
    }

    #[inline]
    fn base(&self, clock: Clock) -> i64 {
        match clock {
            Clock::Wall => self.wall.as_nanos(),
            Clock::Monotonic => self.mono.as_nanos(),
            Clock::Raw => self.raw.as_nanos(),
            Clock::Boottime => self.boot.as_nanos(),
        }
    }

    /// By how much `clock` is ahead of true time, if that stays the same all along.
    pub fn ahead(&self, clock: Clock) -> Option<i64> {
        let ahead = self.base(clock).checked_sub(self.from.as_nanos());
        ahead.filter(|_| self.slope(clock) == BILLION)
    }

    /// The reading of `clock` at `at`, in that clock's nanoseconds. Before `from` it is the reading at `from`.
    #[inline]
    pub fn read(&self, clock: Clock, at: TrueTime) -> i64 {
        let passed = (at - self.from).as_nanos().max(0);
        let (base, slope) = (self.base(clock), self.slope(clock));
        if slope == BILLION {
            return base.saturating_add(passed);
        }
        // ⌊passed·slope / 10⁹⌋, whole seconds and the rest apart: the whole product would need a wide division. Rounding
        // down is truncating here: neither factor is negative.
        let (seconds, rest) = (passed / BILLION, passed % BILLION);
        saturate(i128::from(base) + i128::from(seconds) * i128::from(slope) + i128::from(rest * slope / BILLION))
    }

    /// The first instant from `from` on at which `clock` reads `reading` or more, if this stretch lasted for ever;
    /// `None` if it then never would.
    pub fn when(&self, clock: Clock, reading: i64) -> Option<TrueTime> {
        let base = self.base(clock);
        if reading <= base {
            return Some(self.from);
        }
        let slope = self.slope(clock);
        if slope == 0 {
            return None;
        }
        if slope == BILLION {
            let at = i128::from(self.from.as_nanos()) + i128::from(reading) - i128::from(base);
            return (at < i128::from(i64::MAX)).then(|| TrueTime::from_nanos(at as i64));
        }
        // read(from + d) ≥ reading  ⟺  ⌊d·slope / 10⁹⌋ ≥ missing  ⟺  d ≥ ⌈missing·10⁹ / slope⌉, and again without
        // dividing the whole product.
        let (missing, slope, billion) = (reading.abs_diff(base), slope.unsigned_abs(), BILLION.unsigned_abs());
        let rest = (missing % slope * billion).div_ceil(slope);
        let passed = i128::from(missing / slope) * i128::from(billion) + i128::from(rest);
        let at = i128::from(self.from.as_nanos()) + passed;
        (at < i128::from(i64::MAX)).then(|| TrueTime::from_nanos(at as i64))
    }

    /// The stretch that begins at `at` where this one has got to, with nothing else changed.
    pub fn cut(&self, at: TrueTime) -> Segment {
        Segment {
            from: at,
            wall: WallTime::from_nanos(self.read(Clock::Wall, at)),
            mono: MonoTime::from_nanos(self.read(Clock::Monotonic, at)),
            raw: RawTime::from_nanos(self.read(Clock::Raw, at)),
            boot: BootTime::from_nanos(self.read(Clock::Boottime, at)),
            ..*self
        }
    }

    /// Moves the wall clock by `by`, and no other.
    pub fn step(&mut self, by: Span) {
        self.wall = self.wall + by;
    }
}

fn saturate(nanos: i128) -> i64 {
    i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any number, and with the same weight small ones and those about whole seconds.
    fn nanos() -> impl Strategy<Value = i64> {
        prop_oneof![
            any::<i64>(),
            -10..10i64,
            (-100_000..100_000i64, -2..=2i64).prop_map(|(s, ns)| s * BILLION + ns)
        ]
    }

    proptest! {
        #[test]
        fn reading_and_finding_are_the_one_wide_division_that_they_stand_for(
            (from, base, at, reading) in (nanos(), nanos(), nanos(), nanos()),
            (drift, slew) in (-Rate::MAX_PPB..=Rate::MAX_PPB, -Rate::MAX_PPB..=Rate::MAX_PPB),
        ) {
            let (from, at) = (TrueTime::from_nanos(from), TrueTime::from_nanos(at));
            let segment = Segment { from, slew: Rate(slew), ..Segment::boot(WallTime::from_nanos(base), Rate(drift)) };
            let slope = i128::from(BILLION + i64::from(drift) + i64::from(slew));
            let (base, billion) = (i128::from(base), i128::from(BILLION));

            let passed = i128::from((at - from).as_nanos().max(0));
            prop_assert_eq!(segment.read(Clock::Wall, at), saturate(base + passed * slope / billion));

            let missing = (i128::from(reading) - base).max(0);
            let found = i128::from(from.as_nanos()) + (missing * billion + slope - 1) / slope;
            let found = i64::try_from(found).ok().filter(|found| *found < i64::MAX);
            prop_assert_eq!(segment.when(Clock::Wall, reading), found.map(TrueTime::from_nanos));
        }
    }
}
