//! The numbers of a planned fault as knobs: each can be read, and turned, whatever the kind of fault.
//!
//! Explaining turns them to find the edge between breaking and holding, and shrinking to find shorter and rounder values.
//! All there is to a kind is one arm of `Turning::fault`, and to an anchor one of `Turning::anchor`: which numbers it has,
//! by the keys that scenario files have for them, and between what they can be. What a scenario file would refuse
//! about a number alone is out of range here; whether two faults contradict each other isn't looked at.
//!
//! What a fault draws is keyed by what it is, when it strikes and on which links. So turning a knob of an anchor draws
//! anew what becomes of each message, and turning one of the fault itself doesn't.

use std::fmt;

use holdover_sim::clock::Rate;
use holdover_sim::fault::{Anchor, Fault, HALF_SMEAR, Loses, PauseClocks, PlannedFault, Throttle};
use holdover_sim::time::{Span, TrueTime};
use serde::Serialize;

/// The longest span that a fault can have, as in scenario files: a year and a day.
const LONGEST: Span = Span::secs(366 * 86_400);
/// The longest latency of a message, as in scenario files.
const LONGEST_LATENCY: Span = Span::secs(3_600);
/// How far apart time zones can be, and of what their differences are multiples.
const FURTHEST_ZONE: Span = Span::secs(26 * 3_600);
const ZONE_STEP: Span = Span::secs(900);
/// How often a strobe can jump.
const MOST_JUMPS: i64 = 100_000;
/// How often a throttle can stall, and what it can be: as in scenario files.
const MOST_STALLS: i64 = 100_000;
const SHORTEST_QUOTA: Span = Span::millis(1);
const LONGEST_PERIOD: Span = Span::secs(1);
/// The shortest span that there is.
const SHORTEST: Span = Span::nanos(1);

/// One number of a planned fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Which.
    pub name: KnobName,
    /// What it counts.
    pub unit: Unit,
    /// How it stands, in its unit.
    pub value: i64,
    /// The lowest value that it can have while the others stay as they are.
    pub low: i64,
    /// The highest.
    pub high: i64,
    /// Whether it can't be zero, although zero is in between.
    pub not_zero: bool,
    /// What values differ by at the least when one is looked for.
    pub grain: i64,
}

/// Which number of a fault a knob is: the key that scenario files have for it, and whether it is in `when` or `inject`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct KnobName {
    /// Whether it is one of the anchor's, and not of what is injected.
    pub when: bool,
    /// The key. Of a range there are two, with `.min` and `.max` behind it.
    pub key: &'static str,
}

/// What a knob counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A length of time, in nanoseconds.
    Span,
    /// An instant, in nanoseconds since the start of the run.
    Time,
    /// A rate, in parts per billion.
    Rate,
    /// Of a hundred.
    Percent,
    /// Which of several, from 1.
    Count,
}

impl Unit {
    /// What values differ by at the least when one is looked for: a millisecond, a part per million, 1.
    pub const fn grain(self) -> i64 {
        match self {
            Unit::Span | Unit::Time => 1_000_000,
            Unit::Rate => 1_000,
            Unit::Percent | Unit::Count => 1,
        }
    }
}

impl Knob {
    /// Whether it can have this value.
    pub fn takes(&self, value: i64) -> bool {
        (self.low..=self.high).contains(&value) && !(self.not_zero && value == 0)
    }
}

/// `for`, `when.at`, as reports call it.
impl fmt::Display for KnobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.when { "when." } else { "" }, self.key)
    }
}

/// The knobs of `planned`, those of what is injected first, in a run that ends at `end` at the latest.
pub fn knobs(planned: &PlannedFault, end: TrueTime) -> Vec<Knob> {
    let mut copy = planned.clone();
    let mut turning = Turning { end, to: None, found: Vec::new() };
    turning.planned(&mut copy);
    turning.found
}

/// `planned` with the knob of this name turned to `value`; `None` if it has none, or it can't have that value.
pub fn turned(planned: &PlannedFault, end: TrueTime, name: KnobName, value: i64) -> Option<PlannedFault> {
    let knob = knobs(planned, end).into_iter().find(|knob| knob.name == name)?;
    let mut copy = planned.clone();
    Turning { end, to: Some((name, value)), found: Vec::new() }.planned(&mut copy);
    knob.takes(value).then_some(copy)
}

/// Where a number is.
trait Number {
    const UNIT: Unit;
    fn get(&self) -> i64;
    fn set(&mut self, value: i64);
}

impl Number for Span {
    const UNIT: Unit = Unit::Span;
    fn get(&self) -> i64 {
        self.as_nanos()
    }
    fn set(&mut self, value: i64) {
        *self = Span::nanos(value);
    }
}

impl Number for TrueTime {
    const UNIT: Unit = Unit::Time;
    fn get(&self) -> i64 {
        self.as_nanos()
    }
    fn set(&mut self, value: i64) {
        *self = TrueTime::from_nanos(value);
    }
}

impl Number for Rate {
    const UNIT: Unit = Unit::Rate;
    fn get(&self) -> i64 {
        self.as_ppb().into()
    }
    fn set(&mut self, value: i64) {
        *self = i32::try_from(value).ok().and_then(Rate::from_ppb).unwrap_or(*self);
    }
}

impl Number for u8 {
    const UNIT: Unit = Unit::Percent;
    fn get(&self) -> i64 {
        (*self).into()
    }
    fn set(&mut self, value: i64) {
        *self = u8::try_from(value).unwrap_or(*self);
    }
}

impl Number for u32 {
    const UNIT: Unit = Unit::Count;
    fn get(&self) -> i64 {
        (*self).into()
    }
    fn set(&mut self, value: i64) {
        *self = u32::try_from(value).unwrap_or(*self);
    }
}

/// Walks the numbers of a planned fault: notes them all, and turns one.
struct Turning {
    end: TrueTime,
    to: Option<(KnobName, i64)>,
    found: Vec<Knob>,
}

impl Turning {
    fn planned(&mut self, planned: &mut PlannedFault) {
        self.fault(&mut planned.inject);
        self.anchor(planned);
    }

    fn anchor(&mut self, planned: &mut PlannedFault) {
        let (start, end) = (TrueTime::START.as_nanos(), self.end.as_nanos());
        // A leap second further away would be out of sight of its smear.
        let reach = match planned.inject {
            Fault::LeapSecond(_) => end.min(HALF_SMEAR.as_nanos()),
            _ => end,
        };
        match &mut planned.when {
            Anchor::At(at) => self.time("at", at, start, reach),
            Anchor::Point { after, nth, delay, .. } | Anchor::Event { after, nth, delay, .. } => {
                self.time("after", after, start, end);
                self.count(true, nth);
                self.length(true, "delay", delay, Span::ZERO, LONGEST);
            }
            Anchor::Fault { delay, .. } => self.length(true, "delay", delay, Span::ZERO, LONGEST),
        }
    }

    fn fault(&mut self, fault: &mut Fault) {
        match fault {
            Fault::Pause(pause) => {
                let lasting = pause.lasting;
                let lost = match pause.clocks {
                    PauseClocks::Migrated { lost, .. } => lost,
                    _ => Span::ZERO,
                };
                self.length(false, "for", &mut pause.lasting, lost.max(SHORTEST), LONGEST);
                match &mut pause.clocks {
                    PauseClocks::Migrated { lost, drift_change } => {
                        self.length(false, "lost", lost, Span::ZERO, lasting);
                        self.rate("drift_change_ppm", drift_change, false);
                    }
                    PauseClocks::Corrected { after } => {
                        self.length(false, "corrected_after", after, Span::ZERO, LONGEST);
                    }
                    PauseClocks::Running | PauseClocks::Suspended | PauseClocks::Frozen | PauseClocks::Counted => {
                    }
                }
            }
            Fault::ClockStep(step) => self.signed("by", &mut step.by),
            Fault::ClockSlew(slew) => {
                self.rate("ppm", &mut slew.rate, true);
                self.lasting(&mut slew.lasting);
            }
            Fault::ClockDrift(drift) => {
                self.rate("ppm", &mut drift.rate, true);
                drift.lasting.iter_mut().for_each(|lasting| self.lasting(lasting));
            }
            Fault::ClockStrobe(strobe) => {
                let (every, lasting) = (strobe.every, strobe.lasting);
                self.signed("by", &mut strobe.by);
                let often = Span::nanos(lasting.as_nanos() / MOST_JUMPS + 1);
                self.length(false, "every", &mut strobe.every, often, lasting - SHORTEST);
                let longest = LONGEST.min(every.times(MOST_JUMPS));
                self.length(false, "for", &mut strobe.lasting, every + SHORTEST, longest);
            }
            Fault::ZoneError(zone) => {
                let (furthest, step) = (FURTHEST_ZONE.as_nanos(), ZONE_STEP.as_nanos());
                self.note(false, "by", &mut zone.by, (-furthest, furthest), true, step);
                self.lasting(&mut zone.lasting);
            }
            Fault::LeapSecond(_) => {}
            Fault::TimeSource(source) => {
                self.signed("error", &mut source.error);
                self.lasting(&mut source.lasting);
            }
            Fault::Restart(restart) => {
                self.lasting(&mut restart.lasting);
                if let Loses::Unsynced(lag) = &mut restart.loses {
                    self.length(false, "unsynced", lag, SHORTEST, LONGEST);
                }
            }
            Fault::Failover(failover) => {
                self.length(false, "lag", &mut failover.lag, SHORTEST, LONGEST);
                self.lasting(&mut failover.lasting);
            }
            Fault::Crash(crash) => crash.lasting.iter_mut().for_each(|lasting| self.lasting(lasting)),
            Fault::Shutdown(shutdown) => {
                self.length(false, "takes", &mut shutdown.lasting, SHORTEST, LONGEST);
            }
            Fault::Partition(partition) => self.lasting(&mut partition.lasting),
            Fault::Latency(latency) => {
                let (min, max) = (latency.range.min, latency.range.max);
                self.length(false, "range.min", &mut latency.range.min, Span::ZERO, max);
                self.length(false, "range.max", &mut latency.range.max, min, LONGEST_LATENCY);
                self.lasting(&mut latency.lasting);
            }
            Fault::Loss(loss) => {
                self.percent(&mut loss.percent);
                self.lasting(&mut loss.lasting);
            }
            Fault::Duplicate(duplicate) => {
                self.percent(&mut duplicate.percent);
                self.lasting(&mut duplicate.lasting);
            }
            Fault::Reorder(reorder) => {
                self.percent(&mut reorder.percent);
                self.length(false, "by", &mut reorder.by, SHORTEST, LONGEST);
                self.lasting(&mut reorder.lasting);
            }
            Fault::Hold(hold) => self.lasting(&mut hold.lasting),
            Fault::DelayMessage(delay) => {
                self.length(false, "by", &mut delay.by, SHORTEST, LONGEST);
                self.count(false, &mut delay.nth);
            }
            Fault::LoseMessage(lose) => self.count(false, &mut lose.nth),
            Fault::Snapshot(_) | Fault::Restore(_) => {}
            Fault::Throttle(throttle) => {
                let Throttle { quota, period, lasting, .. } = *throttle;
                self.length(false, "quota", &mut throttle.quota, SHORTEST_QUOTA, period - SHORTEST);
                let often = Span::nanos(lasting.as_nanos() / (MOST_STALLS + 1) + 1);
                let (shortest, longest) = ((quota + SHORTEST).max(often), LONGEST_PERIOD.min(lasting - SHORTEST));
                self.length(false, "period", &mut throttle.period, shortest, longest);
                let longest = LONGEST.min(period.times(MOST_STALLS));
                self.length(false, "for", &mut throttle.lasting, period + SHORTEST, longest);
            }
            Fault::DiskStall(stall) => self.lasting(&mut stall.lasting),
            Fault::SplitBrain(split) => {
                self.length(false, "lag", &mut split.lag, Span::ZERO, LONGEST);
                self.lasting(&mut split.lasting);
            }
        }
    }

    /// How long the fault lasts.
    fn lasting(&mut self, span: &mut Span) {
        self.length(false, "for", span, SHORTEST, LONGEST);
    }

    fn length(&mut self, when: bool, key: &'static str, span: &mut Span, low: Span, high: Span) {
        self.note(when, key, span, (low.as_nanos(), high.as_nanos()), false, Unit::Span.grain());
    }

    fn signed(&mut self, key: &'static str, span: &mut Span) {
        self.note(false, key, span, (-LONGEST.as_nanos(), LONGEST.as_nanos()), true, Unit::Span.grain());
    }

    fn time(&mut self, key: &'static str, time: &mut TrueTime, low: i64, high: i64) {
        self.note(true, key, time, (low, high), false, Unit::Time.grain());
    }

    fn rate(&mut self, key: &'static str, rate: &mut Rate, not_zero: bool) {
        let most = i64::from(Rate::MAX_PPB);
        self.note(false, key, rate, (-most, most), not_zero, Unit::Rate.grain());
    }

    fn percent(&mut self, percent: &mut u8) {
        self.note(false, "percent", percent, (1, 100), false, Unit::Percent.grain());
    }

    fn count(&mut self, when: bool, nth: &mut u32) {
        self.note(when, "nth", nth, (1, u32::MAX.into()), false, Unit::Count.grain());
    }

    fn note<N: Number>(
        &mut self,
        when: bool,
        key: &'static str,
        number: &mut N,
        (low, high): (i64, i64),
        not_zero: bool,
        grain: i64,
    ) {
        let name = KnobName { when, key };
        let value = number.get();
        self.found.push(Knob { name, unit: N::UNIT, value, low, high, not_zero, grain });
        if let Some((_, value)) = self.to.filter(|(turned, _)| *turned == name) {
            number.set(value);
        }
    }
}
