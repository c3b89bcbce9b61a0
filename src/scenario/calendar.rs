//! A scenario's time: its date, its start and end, and what the times written in it mean.

use holdover_sim::time::{Span, TrueTime, WallTime};
use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use toml::value::Datetime;

use super::error::Wrong;
use super::names::quoted;
use super::value::{self, LONGEST};

/// The years in which a scenario can start. Wall clocks count from 1970 and reach the year 2262; the margin is for
/// clocks that are wrong.
const YEARS: std::ops::RangeInclusive<i16> = 1971..=2200;

/// When a scenario starts and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calendar {
    start: Timestamp,
    end: Span,
}

impl Calendar {
    /// A scenario that starts at `start`, with the latest end that there can be.
    pub(super) fn starting(start: &Datetime) -> Result<Calendar, Wrong> {
        Ok(Calendar { start: start_of(start)?, end: LONGEST })
    }

    /// The same start with another end, `end` after it.
    pub(super) fn ending_after(self, end: Span) -> Calendar {
        Calendar { end, ..self }
    }

    /// A run from `start` to `end`.
    pub(super) fn of(start: WallTime, end: TrueTime) -> Calendar {
        Calendar { start: instant(start, TrueTime::START), end: end - TrueTime::START }
    }

    /// The start, as the wall clock of the world has it.
    pub(super) fn start(&self) -> WallTime {
        // In the years from 1971 to 2200 this never saturates.
        WallTime::from_nanos(i64::try_from(self.start.as_nanosecond()).unwrap_or(i64::MAX))
    }

    /// The end, as true time.
    pub(super) fn end(&self) -> TrueTime {
        TrueTime::START + self.end
    }

    /// The time that `text` names as true time; it must be within the run.
    pub(super) fn time(&self, text: &str) -> Result<TrueTime, Wrong> {
        let after = self.since_start(text)?;
        if after >= self.end {
            return Err(Wrong::new(format!("{} is not before the end of the run", quoted(text))).help(format!(
                "the run goes from {} to {}; a later `end` makes room for more",
                self.start,
                self.instant(self.end)
            )));
        }
        Ok(TrueTime::START + after)
    }

    /// The time that `text` names as true time; it may be the run's end, but not later.
    pub(super) fn time_or_end(&self, text: &str) -> Result<TrueTime, Wrong> {
        match self.since_start(text)? {
            after if after == self.end => Ok(TrueTime::START + after),
            _ => self.time(text),
        }
    }

    /// The same as the end of the run: any time after the start.
    pub(super) fn end_time(&self, text: &str) -> Result<Span, Wrong> {
        match self.since_start(text)? {
            Span::ZERO => Err(Wrong::new(format!("{} is the start of the run", quoted(text)))
                .help(format!("the run starts at {} and must end later", self.start))),
            after => Ok(after),
        }
    }

    /// How long after the start the time that `text` names is; not negative, and not beyond the longest run.
    fn since_start(&self, text: &str) -> Result<Span, Wrong> {
        let trimmed = text.trim();
        if let Some(offset) = trimmed.strip_prefix('+') {
            return value::duration(offset);
        }
        if trimmed.starts_with('-') {
            return Err(self.before_start(text, "an offset from it is written like \"+58s\""));
        }
        if looks_like_clock_time(trimmed) {
            let time = clock_time(trimmed).ok_or_else(|| not_a_clock_time(text))?;
            let today = Offset::UTC.to_datetime(self.start).date();
            let after = utc(today, time).map_or(Span::MAX, |instant| self.until(instant));
            if after.is_negative() {
                return Err(self.before_start(text, &self.next_day(today, time)));
            }
            return Ok(after);
        }
        if let Ok(date_time) = trimmed.parse::<Datetime>() {
            let after = self.until(instant_of(&date_time, &quoted(text))?);
            if after.is_negative() {
                return Err(self.before_start(text, "a later time is needed"));
            }
            if after > LONGEST {
                return Err(Wrong::new(format!("{} is too late", quoted(text)))
                    .help(format!("a run takes at most 366 days, and this one starts at {}", self.start)));
            }
            return Ok(after);
        }
        if value::duration(trimmed).is_ok() {
            return Err(Wrong::new(format!("{} is a duration, not a time", quoted(text)))
                .help(format!("for that long after the start, write \"+{trimmed}\"")));
        }
        Err(not_a_time(text))
    }

    /// How long after the start `instant` is; at the ends of what a span can hold if it is beyond.
    fn until(&self, instant: Timestamp) -> Span {
        let nanos = instant.as_nanosecond() - self.start.as_nanosecond();
        Span::nanos(i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX }))
    }

    fn instant(&self, after: Span) -> Timestamp {
        self.start.saturating_add(SignedDuration::from_nanos(after.as_nanos())).unwrap_or(Timestamp::MAX)
    }

    fn before_start(&self, text: &str, advice: &str) -> Wrong {
        Wrong::new(format!("{} is before the start of the run", quoted(text)))
            .help(format!("the run starts at {}; {advice}", self.start))
    }

    /// What to write if `time` is meant for the day after `today`.
    fn next_day(&self, today: Date, time: Time) -> String {
        match today.tomorrow().ok().and_then(|tomorrow| utc(tomorrow, time)) {
            Some(next) => format!("if the next day is meant, write \"{next}\" or \"+{}\"", self.until(next)),
            None => "a later time is needed".to_owned(),
        }
    }
}

fn start_of(start: &Datetime) -> Result<Timestamp, Wrong> {
    let instant = instant_of(start, "the start")?;
    let year = Offset::UTC.to_datetime(instant).year();
    if !YEARS.contains(&year) {
        return Err(Wrong::new(format!("the year {year} is out of range")).help(format!(
            "a scenario starts in the years from {} to {}",
            YEARS.start(),
            YEARS.end()
        )));
    }
    Ok(instant)
}

/// The instant that a full date-time names; `subject` is what messages call it. It must be in UTC, so that a file never
/// mixes offsets.
fn instant_of(written: &Datetime, subject: &str) -> Result<Timestamp, Wrong> {
    let (Some(date), Some(time)) = (written.date, written.time) else {
        return Err(Wrong::new(format!("{subject} must have a date and a time"))
            .help("a full date and time is written like 2026-01-15T01:59:30Z"));
    };
    let Some(offset) = written.offset else {
        return Err(Wrong::new(format!("{subject} doesn't say that it is in UTC"))
            .help(format!("put a Z behind it: {written}Z")));
    };
    let minutes = match offset {
        toml::value::Offset::Z => 0,
        toml::value::Offset::Custom { minutes } => i32::from(minutes),
    };
    let seconds = time.second.unwrap_or(0);
    if seconds == 60 {
        return Err(Wrong::new(format!("{subject} is a leap second")).help("seconds go from 00 to 59 here"));
    }
    let date = i16::try_from(date.year).ok().zip(i8::try_from(date.month).ok()).zip(i8::try_from(date.day).ok());
    let nanos = i32::try_from(time.nanosecond.unwrap_or(0)).ok();
    let instant = date
        .and_then(|((year, month), day)| Date::new(year, month, day).ok())
        .zip(nanos.and_then(|nanos| clock(time.hour, time.minute, seconds, nanos)))
        .zip(Offset::from_seconds(minutes * 60).ok())
        .and_then(|((date, time), offset)| offset.to_timestamp(date.to_datetime(time)).ok())
        .ok_or_else(|| {
            Wrong::new(format!("{subject} is out of range")).help("the calendar here ends with the year 9999")
        })?;
    if minutes != 0 {
        return Err(
            Wrong::new(format!("{subject} is not in UTC")).help(format!("the same instant in UTC is {instant}"))
        );
    }
    Ok(instant)
}

/// A time of day, if there is such a one.
fn clock(hour: u8, minute: u8, second: u8, nanos: i32) -> Option<Time> {
    let small = |number: u8| i8::try_from(number).ok();
    Time::new(small(hour)?, small(minute)?, small(second)?, nanos).ok()
}

/// `start` as a full date and time, as it stands in a file.
pub(super) fn write_start(start: WallTime) -> String {
    shown(instant(start, TrueTime::START))
}

/// The instant `time` of a scenario that starts at `start`: as a time of day on the same date and with the date on another,
/// if its milliseconds are whole; else as an offset.
pub(super) fn write_time(start: WallTime, time: TrueTime) -> String {
    let (begin, at) = (instant(start, TrueTime::START), instant(start, time));
    if time < TrueTime::START {
        return value::write_duration(time - TrueTime::START);
    }
    if at.subsec_nanosecond() % 1_000_000 != 0 {
        return format!("+{}", value::write_duration(time - TrueTime::START));
    }
    let [begin, civil] = [begin, at].map(|instant| Offset::UTC.to_datetime(instant));
    if begin.date() != civil.date() {
        return shown(at);
    }
    if civil.subsec_nanosecond() == 0 { civil.time().to_string() } else { format!("{:.3}", civil.time()) }
}

/// An instant with its date: without a fraction if there is none, else with all nine digits or just three.
fn shown(instant: Timestamp) -> String {
    match instant.subsec_nanosecond() {
        0 => instant.to_string(),
        nanos if nanos % 1_000_000 == 0 => format!("{instant:.3}"),
        _ => format!("{instant:.9}"),
    }
}

/// The instant of true time `time` in a world that starts at `start`.
fn instant(start: WallTime, time: TrueTime) -> Timestamp {
    // Two counts of nanoseconds that fit into 64 bits reach from 1385 to 2554.
    Timestamp::from_nanosecond(i128::from(start.as_nanos()) + i128::from(time.as_nanos()))
        .expect("the calendar reaches from the year -9999 to 9999")
}

/// Whether `text` is meant as a time of day: a digit or two and a colon.
fn looks_like_clock_time(text: &str) -> bool {
    text.split_once(':')
        .is_some_and(|(hour, _)| (1..=2).contains(&hour.len()) && hour.bytes().all(|digit| digit.is_ascii_digit()))
}

/// `text` as a time of day: always two digits each, so that "02:00" can't be taken for minutes and seconds.
fn clock_time(text: &str) -> Option<Time> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let mut parts = whole.split(':').map(|part| match part.as_bytes() {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Some((tens - b'0') * 10 + (ones - b'0')),
        _ => None,
    });
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() {
        return None;
    }
    let nanos = match fraction {
        None => 0,
        Some(digits) if (1..=9).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            format!("{digits:0<9}").parse().ok()?
        }
        Some(_) => return None,
    };
    clock(hour, minute, second, nanos)
}

fn not_a_clock_time(text: &str) -> Wrong {
    Wrong::new(format!("{} is not a time of day", quoted(text))).help(
        "a time of day is written like \"02:00:28\" or \"02:00:28.150\", from 00:00:00 to 23:59:59.999999999",
    )
}

fn not_a_time(text: &str) -> Wrong {
    Wrong::new(format!("{} is not a time", quoted(text))).help(
        "times are written like \"02:00:28.150\" (on the scenario's date), \"+58s\" (after the start) or \
         \"2026-01-15T02:00:28Z\"",
    )
}

/// The instant at which it is `time` in UTC on `date`.
fn utc(date: Date, time: Time) -> Option<Timestamp> {
    Offset::UTC.to_timestamp(date.to_datetime(time)).ok()
}

#[cfg(test)]
mod tests {
    use super::super::value::tests::check;
    use super::*;

    fn calendar() -> Calendar {
        let start = "2026-01-15T01:59:30Z".parse().expect("a date-time");
        Calendar::starting(&start).expect("a start").ending_after(Span::secs(600))
    }

    #[test]
    fn times_are_clock_times_offsets_or_full_date_times() {
        check(
            |text| calendar().time(text).map(TrueTime::as_nanos),
            &[
                ("01:59:30", "0"),
                ("02:00:28.150", "58150000000"),
                ("02:00:28.000000001", "58000000001"),
                ("02:09:29.999999999", "599999999999"),
                ("+0s", "0"),
                ("+58s", "58000000000"),
                ("+1m30s", "90000000000"),
                ("2026-01-15T02:00:28.15Z", "58150000000"),
                ("2026-01-15 02:00:28+00:00", "58000000000"),
                ("02:09:30", "`02:09:30` is not before the end of the run"),
                ("+600s", "`+600s` is not before the end of the run"),
                ("2026-01-16T02:00:28Z", "`2026-01-16T02:00:28Z` is not before the end of the run"),
                ("2028-01-16T02:00:28Z", "`2028-01-16T02:00:28Z` is too late"),
                ("9999-12-01T23:59:59Z", "`9999-12-01T23:59:59Z` is too late"),
                ("9999-12-31T23:59:59Z", "`9999-12-31T23:59:59Z` is out of range"),
                ("+367d", "`367d` is too long"),
                ("01:59:29", "`01:59:29` is before the start of the run"),
                ("00:00:00", "`00:00:00` is before the start of the run"),
                ("-1s", "`-1s` is before the start of the run"),
                ("0000-01-01T00:00:00Z", "`0000-01-01T00:00:00Z` is before the start of the run"),
                ("2026-01-15T03:00:28+01:00", "`2026-01-15T03:00:28+01:00` is not in UTC"),
                ("2026-01-15T02:00:28", "`2026-01-15T02:00:28` doesn't say that it is in UTC"),
                ("2026-01-15", "`2026-01-15` must have a date and a time"),
                ("2026-01-15T02:00:60Z", "`2026-01-15T02:00:60Z` is a leap second"),
                ("2026-02-30T02:00:00Z", "`2026-02-30T02:00:00Z` is not a time"),
                ("24:00:00", "`24:00:00` is not a time of day"),
                ("02:60:00", "`02:60:00` is not a time of day"),
                ("02:00:60", "`02:00:60` is not a time of day"),
                ("02:00", "`02:00` is not a time of day"),
                ("2:00:28", "`2:00:28` is not a time of day"),
                ("02:00:28.", "`02:00:28.` is not a time of day"),
                ("02:00:28.1234567891", "`02:00:28.1234567891` is not a time of day"),
                ("02:00:28:00", "`02:00:28:00` is not a time of day"),
                ("02:00:28Z", "`02:00:28Z` is not a time of day"),
                ("58s", "`58s` is a duration, not a time"),
                ("+", "a duration is missing"),
                ("++5s", "`+5s` has a sign"),
                ("noon", "`noon` is not a time"),
                ("", "`` is not a time"),
                ("58", "`58` is not a time"),
            ],
        );
    }

    #[test]
    fn a_clock_time_before_the_start_may_be_meant_for_the_next_day() {
        let wrong = calendar().time("00:00:05").expect_err("before the start");
        assert_eq!(
            wrong.help.as_deref(),
            Some(
                "the run starts at 2026-01-15T01:59:30Z; if the next day is meant, write \"2026-01-16T00:00:05Z\" or \
                 \"+22h35s\""
            )
        );
    }

    #[test]
    fn starts_are_in_utc_and_in_range() {
        let parse =
            |text: &str| Calendar::starting(&text.parse().expect("a date-time")).map(|c| c.start().as_nanos());
        check(
            parse,
            &[
                ("1971-01-01T00:00:00Z", "31536000000000000"),
                ("2026-01-15T01:59:30.000000001Z", "1768442370000000001"),
                ("2026-01-15T01:59:30+00:00", "1768442370000000000"),
                ("2200-12-31T23:59:59.999999999Z", "7289654399999999999"),
                ("2026-01-15T02:59:30+01:00", "the start is not in UTC"),
                ("2026-01-15T02:59:30", "the start doesn't say that it is in UTC"),
                ("2026-01-15", "the start must have a date and a time"),
                ("02:00:00", "the start must have a date and a time"),
                ("2026-01-15T23:59:60Z", "the start is a leap second"),
                ("1970-12-31T23:59:59Z", "the year 1970 is out of range"),
                ("2201-01-01T00:00:00Z", "the year 2201 is out of range"),
                ("9999-12-31T23:59:59-23:59", "the start is out of range"),
            ],
        );
    }

    #[test]
    fn times_are_written_as_they_are_read() {
        let calendar = calendar().ending_after(LONGEST);
        for (nanos, text) in [
            (0, "01:59:30"),
            (58_150_000_000, "02:00:28.150"),
            (58_150_000_001, "+58.150000001s"),
            (300_000_000_001, "+5m1ns"),
            (79_229_999_000_000, "23:59:59.999"),
            (79_230_000_000_000, "2026-01-16T00:00:00Z"),
            (79_230_250_000_000, "2026-01-16T00:00:00.250Z"),
            (79_230_000_001_000, "+22h30.000001s"),
        ] {
            let time = TrueTime::from_nanos(nanos);
            assert_eq!(write_time(calendar.start(), time), text);
            assert_eq!(calendar.time(text), Ok(time), "{text}");
        }
        // What is before the start is written too, and isn't read.
        let early = write_time(calendar.start(), TrueTime::from_nanos(-1));
        assert_eq!(
            calendar.time(&early).map_err(|wrong| wrong.message),
            Err("`-1ns` is before the start of the run".to_owned())
        );
    }

    #[test]
    fn starts_are_written_as_they_are_read() {
        for (nanos, text) in [
            (1_768_442_370_000_000_000, "2026-01-15T01:59:30Z"),
            (1_768_442_370_150_000_000, "2026-01-15T01:59:30.150Z"),
            (1_768_442_370_000_000_010, "2026-01-15T01:59:30.000000010Z"),
        ] {
            let start = WallTime::from_nanos(nanos);
            assert_eq!(write_start(start), text);
            assert_eq!(
                Calendar::starting(&text.parse().expect("a date-time")).map(|calendar| calendar.start()),
                Ok(start)
            );
        }
    }

    #[test]
    fn no_time_is_beyond_what_can_be_written() {
        for start in [i64::MIN, 0, i64::MAX].map(WallTime::from_nanos) {
            write_start(start);
            for time in [i64::MIN, 0, i64::MAX].map(TrueTime::from_nanos) {
                write_time(start, time);
            }
        }
    }
}
