//! Durations, latencies and rates: from what people write to what the simulator counts in, and back.

use holdover_sim::clock::Rate;
use holdover_sim::time::Span;
use holdover_sim::world::Latency;
use jiff::fmt::friendly::SpanParser;

use super::error::Wrong;
use super::names::quoted;

/// The longest duration that a file can name: a year and a day. It is far beyond any scenario, and sums of a few stay
/// far within 64 bits.
pub(super) const LONGEST: Span = Span::secs(366 * 86_400);

/// The longest latency of a message.
const LONGEST_LATENCY: Span = Span::secs(3_600);

/// A duration without a sign; zero is one.
pub(super) fn duration(text: &str) -> Result<Span, Wrong> {
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return Err(
            Wrong::new(format!("{} is negative", quoted(text))).help("only a duration from zero up fits here")
        );
    }
    if let Some(unsigned) = trimmed.strip_prefix('+') {
        return Err(Wrong::new(format!("{} has a sign", quoted(text)))
            .help(format!("a duration here is written without one: {}", quoted(unsigned))));
    }
    size_of(trimmed, trimmed)
}

/// A duration above zero, without a sign.
pub(super) fn positive_duration(text: &str) -> Result<Span, Wrong> {
    match duration(text)? {
        Span::ZERO => {
            Err(Wrong::new(format!("{} is no time at all", quoted(text))).help("it must be longer than zero"))
        }
        span => Ok(span),
    }
}

/// A duration that may have a sign.
pub(super) fn signed_duration(text: &str) -> Result<Span, Wrong> {
    let trimmed = text.trim();
    match trimmed.strip_prefix('-') {
        Some(size) => size_of(size, trimmed).map(|span| -span),
        None => size_of(trimmed.strip_prefix('+').unwrap_or(trimmed), trimmed),
    }
}

/// The duration `size`, which has no sign; messages call it `text`, as it was written.
fn size_of(size: &str, text: &str) -> Result<Span, Wrong> {
    if !size.is_empty() && size.chars().all(|c| c.is_ascii_digit() || c == '.') {
        let example = if text.len() <= 9 { text } else { "40" };
        return Err(Wrong::new(format!("{} has no unit", quoted(text)))
            .help(format!("write \"{example}s\" for seconds or \"{example}ms\" for milliseconds")));
    }
    // The parser knows signs, a trailing "ago" and clock times too, and all three mean something else here.
    if size.starts_with(['-', '+']) || size.contains(':') || size.contains("ago") {
        return Err(not_a_duration(text));
    }
    // People type either of Unicode's two mus; the parser knows one.
    let span = SpanParser::new().parse_span(size.replace('μ', "µ")).map_err(|_| not_a_duration(text))?;
    if span.get_years() != 0 || span.get_months() != 0 {
        return Err(Wrong::new(format!("{} has no fixed length", quoted(text)))
            .help("months and years differ; count in days (\"30d\"), which are 24 hours here"));
    }
    let parts: [(i64, i128); 8] = [
        (span.get_weeks().into(), 7 * 86_400 * 1_000_000_000),
        (span.get_days().into(), 86_400 * 1_000_000_000),
        (span.get_hours().into(), 3_600 * 1_000_000_000),
        (span.get_minutes(), 60 * 1_000_000_000),
        (span.get_seconds(), 1_000_000_000),
        (span.get_milliseconds(), 1_000_000),
        (span.get_microseconds(), 1_000),
        (span.get_nanoseconds(), 1),
    ];
    let nanos: i128 = parts.iter().map(|&(count, unit)| i128::from(count) * unit).sum();
    match i64::try_from(nanos).map(Span::nanos) {
        Ok(span) if span <= LONGEST => Ok(span),
        _ => Err(Wrong::new(format!("{} is too long", quoted(text))).help("the longest duration is \"366d\"")),
    }
}

fn not_a_duration(text: &str) -> Wrong {
    let message = match text {
        "" => "a duration is missing".to_owned(),
        _ => format!("{} is not a duration", quoted(text)),
    };
    Wrong::new(message)
        .help("durations are written like \"38s\", \"420ms\", \"1m30s\", \"1.5s\", \"250us\" or \"17ns\"")
}

/// How long something takes: one duration, or a range of them with both ends included.
pub(super) fn range(text: &str) -> Result<Latency, Wrong> {
    ends_of(text, "it is written like \"3s\", or \"2s..4s\" for a range with both ends included")
}

/// The ends of a range; `help` says how one is written.
fn ends_of(text: &str, help: &str) -> Result<Latency, Wrong> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let one_end = |end: &str| duration(end).map_err(|wrong| wrong.help(help));
    let (min, max) = (one_end(low)?, one_end(high)?);
    if max < min {
        return Err(Wrong::new(format!("the range {} ends below its beginning", quoted(text)))
            .help(format!("write \"{max}..{min}\"")));
    }
    Ok(Latency { min, max })
}

/// A latency: one duration, or a range of them with both ends included.
pub(super) fn latency(text: &str) -> Result<Latency, Wrong> {
    let Latency { min, max } =
        ends_of(text, "a latency is written like \"2ms\", or \"1ms..3ms\" for a range with both ends included")?;
    if max > LONGEST_LATENCY {
        return Err(Wrong::new(format!("{} is too long for a latency", quoted(text)))
            .help(format!("the longest latency of a message is \"{LONGEST_LATENCY}\", an hour")));
    }
    Ok(Latency { min, max })
}

/// `latency` as a file has it.
pub(super) fn written_latency(latency: Latency) -> String {
    format!("{}..{}", write_duration(latency.min), write_duration(latency.max))
}

/// A rate error in parts per million, which may have three digits behind the point.
pub(super) fn rate(ppm: f64) -> Result<Rate, Wrong> {
    let ppb = ppm * 1_000.0;
    let rounded = ppb.round();
    // Written so that a NaN, which compares with nothing, is out of range too.
    let in_range = rounded.abs() <= f64::from(Rate::MAX_PPB);
    let Some(rate) = Rate::from_ppb(rounded as i32).filter(|_| in_range) else {
        return Err(Wrong::new(format!("{ppm} ppm is out of range"))
            .help("a rate is off by at most 100000 ppm either way (10 %, as far as Linux bends a clock)"));
    };
    if (ppb - rounded).abs() > 1e-6 * ppb.abs().max(1.0) {
        return Err(Wrong::new(format!("{ppm} ppm is too fine"))
            .help("rates are counted in steps of 0.001 ppm, one part per billion"));
    }
    Ok(rate)
}

/// `span` as it shows itself, which is as people write it, but for the mu that keyboards lack.
pub(super) fn write_duration(span: Span) -> String {
    span.to_string().replace('µ', "u")
}

/// A range of latencies; one that has a single latency in it as that.
pub(super) fn write_latency(Latency { min, max }: Latency) -> String {
    if min == max { write_duration(min) } else { format!("{}..{}", write_duration(min), write_duration(max)) }
}

/// A rate error as a number of parts per million.
pub(super) fn write_rate(rate: Rate) -> String {
    let (sign, size) = (if rate.as_ppb() < 0 { "-" } else { "" }, rate.as_ppb().unsigned_abs());
    let text = format!("{sign}{}.{:03}", size / 1_000, size % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parses each text and compares what comes out, a value or a message, with what should.
    #[track_caller]
    pub(in crate::scenario) fn check<T: std::fmt::Debug>(
        parse: impl Fn(&str) -> Result<T, Wrong>,
        cases: &[(&str, &str)],
    ) {
        for (text, expected) in cases {
            let found = match parse(text) {
                Ok(value) => format!("{value:?}"),
                Err(wrong) => wrong.message,
            };
            assert_eq!(found, *expected, "{text:?}");
        }
    }

    #[test]
    fn durations() {
        check(
            |text| duration(text).map(Span::as_nanos),
            &[
                ("38s", "38000000000"),
                ("420ms", "420000000"),
                ("1m30s", "90000000000"),
                ("1m 30s", "90000000000"),
                ("1.5s", "1500000000"),
                ("0.000000001s", "1"),
                ("250us", "250000"),
                ("250µs", "250000"),
                ("250μs", "250000"),
                ("17ns", "17"),
                ("0s", "0"),
                (" 38s ", "38000000000"),
                ("1 hour 30 minutes", "5400000000000"),
                ("2h", "7200000000000"),
                ("1d", "86400000000000"),
                ("1w", "604800000000000"),
                ("366d", "31622400000000000"),
                ("366d 1ns", "`366d 1ns` is too long"),
                ("9000000000s", "`9000000000s` is too long"),
                ("1000000000000s", "`1000000000000s` is too long"),
                ("99999999999999999999s", "`99999999999999999999s` is not a duration"),
                ("1mo", "`1mo` has no fixed length"),
                ("1y 1s", "`1y 1s` has no fixed length"),
                ("40", "`40` has no unit"),
                ("1.5", "`1.5` has no unit"),
                ("-5s", "`-5s` is negative"),
                ("+5s", "`+5s` has a sign"),
                ("", "a duration is missing"),
                ("s", "`s` is not a duration"),
                ("5 parsecs", "`5 parsecs` is not a duration"),
                ("1.5ns", "`1.5ns` is not a duration"),
                ("1h30", "`1h30` is not a duration"),
                ("02:00:28", "`02:00:28` is not a duration"),
                ("5s ago", "`5s ago` is not a duration"),
                ("PT5S", "`PT5S` is not a duration"),
                ("NaN", "`NaN` is not a duration"),
            ],
        );
    }

    #[test]
    fn durations_above_zero() {
        check(
            |text| positive_duration(text).map(Span::as_nanos),
            &[
                ("1ns", "1"),
                ("0s", "`0s` is no time at all"),
                ("0.0ms", "`0.0ms` is no time at all"),
                ("-1s", "`-1s` is negative"),
            ],
        );
    }

    #[test]
    fn durations_with_a_sign() {
        check(
            |text| signed_duration(text).map(Span::as_nanos),
            &[
                ("-420ms", "-420000000"),
                ("+2s", "2000000000"),
                ("2s", "2000000000"),
                ("-0s", "0"),
                ("-366d", "-31622400000000000"),
                ("--1s", "`--1s` is not a duration"),
                ("+-1s", "`+-1s` is not a duration"),
                ("-", "`-` is not a duration"),
                ("-3", "`-3` has no unit"),
            ],
        );
    }

    #[test]
    fn latencies() {
        check(
            |text| latency(text).map(|range| (range.min.as_nanos(), range.max.as_nanos())),
            &[
                ("2ms", "(2000000, 2000000)"),
                ("1ms..3ms", "(1000000, 3000000)"),
                ("1ms .. 3ms", "(1000000, 3000000)"),
                ("0s..0s", "(0, 0)"),
                ("1h", "(3600000000000, 3600000000000)"),
                ("1ms..2h", "`1ms..2h` is too long for a latency"),
                ("3ms..1ms", "the range `3ms..1ms` ends below its beginning"),
                ("1ms..", "a duration is missing"),
                ("1..3ms", "`1` has no unit"),
                ("1ms..=3ms", "`=3ms` is not a duration"),
                ("-1ms..3ms", "`-1ms` is negative"),
            ],
        );
    }

    #[test]
    fn rates() {
        check(
            |text| rate(text.parse().expect("a number")).map(Rate::as_ppb),
            &[
                ("30", "30000"),
                ("-500", "-500000"),
                ("0.5", "500"),
                ("0.1", "100"),
                ("12.345", "12345"),
                ("0", "0"),
                ("-0.001", "-1"),
                ("100000", "100000000"),
                ("-100000", "-100000000"),
                ("99999.999", "99999999"),
                ("100000.001", "100000.001 ppm is out of range"),
                ("1e300", &format!("{} ppm is out of range", 1e300)),
                ("inf", "inf ppm is out of range"),
                ("nan", "NaN ppm is out of range"),
                ("0.0001", "0.0001 ppm is too fine"),
                ("30.0005", "30.0005 ppm is too fine"),
            ],
        );
    }

    #[test]
    fn what_is_written_reads_as_people_write_it() {
        for (nanos, text) in [
            (0, "0s"),
            (17, "17ns"),
            (1_500, "1.5us"),
            (420_000_000, "420ms"),
            (-420_000_000, "-420ms"),
            (38_000_000_000, "38s"),
            (37_950_000_001, "37.950000001s"),
            (60_000_000_000, "1m"),
            (90_000_000_000, "90s"),
            (119_999_000_000, "119.999s"),
            (150_000_000_000, "2m30s"),
            (600_000_000_000, "10m"),
            (10_200_000_000_000, "2h50m"),
            (3_600_000_000_000, "1h"),
            (-19_800_000_000_000, "-5h30m"),
            (3_661_500_000_000, "1h1m1.5s"),
            (86_400_000_000_000, "1d"),
            (93_600_000_000_001, "26h1ns"),
        ] {
            assert_eq!(write_duration(Span::nanos(nanos)), text);
        }
        let latency = |min, max| write_latency(Latency { min: Span::micros(min), max: Span::micros(max) });
        assert_eq!((latency(1_000, 3_000), latency(250, 250)), ("1ms..3ms".to_owned(), "250us".to_owned()));
        for (ppb, text) in
            [(0, "0"), (30_000, "30"), (-500_000, "-500"), (100, "0.1"), (-1, "-0.001"), (99_999_999, "99999.999")]
        {
            assert_eq!(write_rate(Rate::from_ppb(ppb).expect("in range")), text);
        }
    }

    /// Of any size, mostly with zeros at the end.
    fn spans() -> impl Strategy<Value = Span> {
        let unit =
            prop::sample::select(vec![1, 1_000, 1_000_000, 1_000_000_000, 60_000_000_000, 3_600_000_000_000]);
        (0..LONGEST.as_nanos(), unit, 0..2_000_i64).prop_flat_map(|(any, unit, few)| {
            prop_oneof![Just(any), Just(any / unit * unit), Just(few * unit)].prop_map(Span::nanos)
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_it_was(span in spans(), other in spans(), ppb in -Rate::MAX_PPB..=Rate::MAX_PPB) {
            prop_assert_eq!(duration(&write_duration(span)), Ok(span));
            prop_assert_eq!(signed_duration(&write_duration(-span)), Ok(-span));
            let range = Latency { min: span.min(other), max: span.max(other).min(LONGEST_LATENCY) };
            if range.min <= range.max {
                prop_assert_eq!(latency(&write_latency(range)), Ok(range));
            }
            let drift = Rate::from_ppb(ppb).expect("in range");
            prop_assert_eq!(rate(write_rate(drift).parse().expect("a number")), Ok(drift));
        }
    }
}
