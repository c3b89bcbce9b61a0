//! What is written behind a key: durations, times, names and numbers, each as the schema of a type that has no values.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use holdover_sim::check::SIGHTINGS;
use holdover_sim::clock::Rate;
use holdover_sim::fault::{Original as WhatBecomes, Part as MessagePart};
use holdover_sim::history::EVENTS;
use holdover_sim::point::{POINTS, REPAIR_POINTS};
use holdover_sim::repair::PROCEDURES;
use holdover_sim::service::{MESSAGES, REPAIR_MESSAGES, REPLICA_LETTERS};
use holdover_sim::world::{SERVICE_NAMES, TimeDaemon};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::service_names;
use crate::scenario::clocks::NO_DISCIPLINE;
use crate::scenario::inject::PERCENT;
use crate::scenario::lease::MOST_REPLICAS;
use crate::scenario::names::{
    ENDINGS, EXPIRIES, GATEWAYS, KEY_MEMORIES, LEASE_SERVICES, LOSSES, PAUSE_CLOCKS, PLACES_OF_TOKENS, TASKS,
    VERDICTS,
};
use crate::scenario::nodes::LONGEST_NAME;
use crate::scenario::provider::{FAILING_PAYOUTS, FAILING_REFUNDS};

macro_rules! terms {
    ($($(#[doc = $doc:literal])* $name:ident => $schema:expr;)*) => {$(
        $(#[doc = $doc])*
        pub(in crate::scenario) enum $name {}

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

terms! {
    /// A text in one line that says something.
    Title => text(&format!("[^{CONTROLS}]*[^{CONTROLS}\\s][^{CONTROLS}]*"));
    /// A text in one line.
    Line => text(&format!("[^{CONTROLS}]*"));
    /// A text of lines.
    Lines => text("(\\r\\n|[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f])*");
    /// A date and time without quotes. JSON has no such thing; this is how it is told of.
    Start => json_schema!({ "type": "string", "format": "date-time" });
    /// A time within the run.
    Time => text(&format!("\\s*(\\+{DURATION}|{CLOCK_TIME}|{DATE_TIME})\\s*"));
    /// A duration from zero up.
    Duration => text(DURATION);
    /// A duration above zero.
    PositiveDuration => above_zero(text(DURATION));
    /// A duration that may have a sign.
    SignedDuration => text(&format!("\\s*[+-]?{DURATION}"));
    /// A duration that may have a sign and isn't zero.
    Jump => above_zero(text(&format!("\\s*[+-]?{DURATION}")));
    /// A latency, or a range of them.
    Latency => text(&format!("{DURATION}(\\.\\.{DURATION})?"));
    /// How long something takes, or a range of that.
    Range => text(&format!("{DURATION}(\\.\\.{DURATION})?"));
    /// A rate in parts per million.
    Ppm => ppm();
    /// A rate in parts per million that isn't zero.
    NonZeroPpm => but(ppm(), json!({ "const": 0 }));
    /// A whole number from zero up.
    Whole => json_schema!({ "type": "integer", "minimum": 0 });
    /// What the runs are drawn from.
    Seed => json_schema!({ "type": "integer", "minimum": 0, "maximum": u64::MAX });
    /// Which of several, from 1.
    Nth => json_schema!({ "type": "integer", "minimum": 1, "maximum": u32::MAX });
    /// How many of a hundred.
    Percent => percent(PERCENT);
    /// How many of a hundred payouts fail.
    FailingPayouts => percent(FAILING_PAYOUTS);
    /// How many of a hundred refunds fail.
    FailingRefunds => percent(FAILING_REFUNDS);
    /// Whether or not.
    Flag => json_schema!({ "type": "boolean" });
    /// A name that somebody gives.
    Name => name();
    /// A node.
    Node => name();
    /// A node that is a worker.
    Worker => but(name(), json!({ "enum": SERVICE_NAMES }));
    /// A node that is a service.
    Service => choice(service_names().iter().map(String::as_str));
    /// Several nodes.
    Nodes => set(name());
    /// What a scenario can be run under; the suite says what there is.
    Protocols => set(name());
    /// What a run can have seen. A list of none is fine here.
    Sightings => list(explained(SIGHTINGS.iter().map(|sighting| (sighting.name, sighting.meaning))));
    /// A place in a worker's or an operator's path.
    Point => explained(POINTS.iter().chain(REPAIR_POINTS).map(|(point, meaning)| (point.0, *meaning)));
    /// A kind of event.
    Event => explained(EVENTS.iter().copied());
    /// What a message is about that somebody asks.
    Message => explained(
        MESSAGES.iter().chain(REPAIR_MESSAGES).copied().filter(|(about, _)| !REPLICA_LETTERS.contains(about))
    );
    /// One of the two messages of a call.
    Part => choice(MessagePart::ALL.map(MessagePart::name));
    /// What a checker can conclude.
    Verdict => choice(VERDICTS.iter().copied());
    /// Whose clock a lease ends by.
    Expiry => choice(EXPIRIES.iter().chain(ENDINGS).copied());
    /// What keeps a lease.
    LeaseService => choice(LEASE_SERVICES.iter().copied());
    /// How many replicas keep it.
    Replicas => json_schema!({ "type": "integer", "minimum": 2, "maximum": MOST_REPLICAS });
    /// Where the highest token is kept.
    PlaceOfTokens => choice(PLACES_OF_TOKENS.iter().copied());
    /// Which idempotency keys a provider remembers.
    KeyMemory => above_zero(text(&format!("({}|{DURATION})", KEY_MEMORIES.join("|"))));
    /// What a gateway checks.
    Gateway => choice(GATEWAYS.iter().copied());
    /// What operators decide by.
    Procedure => explained(PROCEDURES.iter().map(|procedure| (procedure.name(), procedure.summary())));
    /// What sets a clock right.
    Discipline => choice(std::iter::once(NO_DISCIPLINE).chain(TimeDaemon::ALL.map(TimeDaemon::name)));
    /// What clocks do during a pause.
    PauseClocks => choice(PAUSE_CLOCKS.iter().copied());
    /// A task of a worker.
    Task => choice(TASKS.iter().copied());
    /// What a restart loses.
    Loses => choice(LOSSES.iter().copied());
    /// What becomes of a machine that is put back.
    Original => choice(WhatBecomes::ALL.map(WhatBecomes::name).into_iter());
}

/// Control characters, as part of a class.
const CONTROLS: &str = "\\u0000-\\u001f\\u007f-\\u009f";

/// A time of day.
const CLOCK_TIME: &str = "([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?";

/// A date and time in UTC; TOML lets seconds be left out.
const DATE_TIME: &str = "\\d{4}-\\d\\d-\\d\\d[Tt ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?([Zz]|[+-]00:00)";

/// A duration without a sign: numbers, each with a unit that begins as one does. Editors show the pattern to whoever
/// doesn't keep to it, so it is short, and knowing all the units is left to the reader.
const DURATION: &str = "\\s*(\\d+([.,]\\d+)?\\s*[wdhmsuµμn][a-z]*,?\\s*)+";

/// A text that all of `pattern` is.
fn text(pattern: &str) -> Schema {
    json_schema!({ "type": "string", "pattern": format!("^{pattern}$") })
}

/// `schema` without what `exception` is.
fn but(mut schema: Schema, exception: Value) -> Schema {
    schema.insert("not".to_owned(), exception);
    schema
}

/// Durations that aren't zero: of their digits some isn't.
fn above_zero(schema: Schema) -> Schema {
    but(schema, json!({ "type": "string", "pattern": "^[^1-9]*0[^1-9]*$" }))
}

fn ppm() -> Schema {
    let most = Rate::MAX_PPB / 1_000;
    json_schema!({ "type": "number", "minimum": -most, "maximum": most })
}

fn percent(possible: RangeInclusive<u64>) -> Schema {
    json_schema!({ "type": "integer", "minimum": possible.start(), "maximum": possible.end() })
}

fn name() -> Schema {
    json_schema!({ "type": "string", "pattern": "^[a-z][a-z0-9-]*$", "maxLength": LONGEST_NAME })
}

fn choice<'a>(names: impl IntoIterator<Item = &'a str>) -> Schema {
    let names: Vec<&str> = names.into_iter().collect();
    json_schema!({ "type": "string", "enum": names })
}

/// A choice of names with their meanings. JSON Schema has no place for those, but taplo has.
pub(super) fn explained<'a>(names: impl IntoIterator<Item = (&'a str, &'a str)>) -> Schema {
    let (names, meanings): (Vec<&str>, Vec<String>) =
        names.into_iter().map(|(name, meaning)| (name, super::sentence(meaning))).unzip();
    json_schema!({ "type": "string", "enum": names, "x-taplo": { "docs": { "enumValues": meanings } } })
}

fn list(items: Schema) -> Schema {
    json_schema!({ "type": "array", "items": items, "uniqueItems": true })
}

/// A list with something in it.
fn set(items: Schema) -> Schema {
    let mut schema = list(items);
    schema.insert("minItems".to_owned(), json!(1));
    schema
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use jsonschema::Validator;
    use proptest::prelude::*;
    use proptest::sample::select;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::scenario::calendar::Calendar;
    use crate::scenario::error::Wrong;
    use crate::scenario::nodes::is_plain_name;
    use crate::scenario::value;

    fn validator<T: JsonSchema>() -> Validator {
        let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
        jsonschema::draft7::new(schema.as_value()).expect("a term is a schema")
    }

    #[track_caller]
    fn check<T: JsonSchema>(right: &[Value], wrong: &[Value]) {
        let validator = validator::<T>();
        for (values, expected) in [(right, true), (wrong, false)] {
            for value in values {
                assert_eq!(validator.is_valid(value), expected, "{} of {value}", T::schema_name());
            }
        }
    }

    fn texts<const N: usize>(texts: [&str; N]) -> [Value; N] {
        texts.map(Value::from)
    }

    #[test]
    fn durations() {
        let right =
            ["38s", "1m30s", "1m 30s", "1 hour, 5 minutes", "1.5s", "250us", "250µs", "250μs", " 3 s ", "0.5s"];
        let wrong = ["", "40", "1.5", "-5s", "+5s", "s", "5 parsecs", "5s ago", "02:00:28", "PT5S", "1h30", "5S"];
        check::<Duration>(&texts(right), &texts(wrong));
        check::<Duration>(&texts(["0s", "0m0s"]), &[json!(40), json!(true), json!(["5s"])]);
        check::<PositiveDuration>(&texts(right), &texts(wrong));
        check::<PositiveDuration>(&texts(["10ms", "0.01s"]), &texts(["0s", "0m0s", "0.0ms"]));
        check::<SignedDuration>(&texts(["-420ms", "+2s", "2s", "-0s"]), &texts(["--1s", "-", "-3"]));
        check::<Jump>(&texts(["-420ms", "+2s", "2s"]), &texts(["-0s", "0s", "+-1s"]));
        check::<Latency>(&texts(["2ms", "1ms..3ms", "1ms .. 3ms", "0s"]), &texts(["1ms..", "1-3ms", "1..3ms"]));
    }

    #[test]
    fn times() {
        let right =
            ["02:00:28", "23:59:59.999999999", "+58s", "+0s", "2026-01-15T02:00:28Z", "2026-01-15 02:00:28+00:00"];
        let wrong =
            ["", "58s", "-1s", "24:00:00", "02:60:00", "02:00", "2:00:28", "2026-01-15", "02:00:28.", "noon"];
        check::<Time>(&texts(right), &texts(wrong));
        check::<Time>(&[], &texts(["2026-01-15T02:00:28", "2026-01-15T03:00:28+01:00", "02:00:28Z", "++5s"]));
    }

    #[test]
    fn names_and_numbers() {
        let longest = "a".repeat(LONGEST_NAME);
        check::<Node>(
            &texts(["worker-a", "a", "w1", "ledger", &longest]),
            &texts(["", "A", "1a", "-a", "a b", "a."]),
        );
        check::<Node>(&[], &texts([&format!("{longest}a")]));
        check::<Worker>(&texts(["worker-a"]), &texts(["ledger", "lease-store", "provider"]));
        check::<Service>(&texts(["ledger", "lease-store", "provider"]), &texts(["worker-a"]));
        check::<Nodes>(&[json!(["a"]), json!(["a", "b"])], &[json!([]), json!(["a", "a"]), json!("a")]);
        check::<Sightings>(
            &[json!([]), json!(["takeover"])],
            &[json!(["take-over"]), json!(["takeover", "takeover"])],
        );
        check::<Ppm>(&[json!(0), json!(-100_000), json!(0.5)], &[json!(100_000.001), json!("30"), Value::Null]);
        check::<NonZeroPpm>(&[json!(-500), json!(0.001)], &[json!(0), json!(0.0)]);
        check::<Percent>(&[json!(1), json!(100)], &[json!(0), json!(101), json!(1.5)]);
        check::<Nth>(&[json!(1), json!(u32::MAX)], &[json!(0), json!(1_u64 << 32)]);
        check::<Seed>(&[json!(0), json!(u64::MAX)], &[json!(-1), json!("7"), json!(0.5)]);
        check::<Discipline>(&texts(["none", "chrony"]), &texts(["cronie", ""]));
        check::<Title>(&texts(["A title", " ü "]), &texts(["", "  ", "two\nlines", "\u{1b}[31mred"]));
        check::<Line>(&texts(["", "a note"]), &texts(["two\nlines", "\u{7f}"]));
        check::<Lines>(&texts(["", "two\nlines\r\n\tor more"]), &texts(["\u{1b}[31mred", "\u{0}"]));
    }

    /// Whatever `reader` takes, the term `T` takes.
    fn law<T: JsonSchema, R: Debug>(
        texts: impl Strategy<Value = String>,
        reader: impl Fn(&str) -> Result<R, Wrong>,
    ) {
        let validator = validator::<T>();
        let run = TestRunner::default().run(&texts, |text| {
            let taken = reader(&text).is_ok();
            prop_assert!(!taken || validator.is_valid(&Value::from(text.clone())), "{text:?}");
            Ok(())
        });
        run.unwrap_or_else(|error| panic!("{}: {error}", T::schema_name()));
    }

    /// Texts that are durations, times or ranges rather often.
    fn nearly_times() -> impl Strategy<Value = String> {
        let pieces = [
            "0",
            "1",
            "30",
            "000",
            "1.5",
            "2,25",
            ".",
            ",",
            ", ",
            " ",
            "\t",
            "-",
            "+",
            "..",
            ":",
            "w",
            "day",
            "days",
            "h",
            "hrs",
            "m",
            "min",
            "minutes",
            "s",
            "secs",
            "second",
            "ms",
            "millis",
            "us",
            "µs",
            "μs",
            "micros",
            "ns",
            "nanos",
            "ago",
            "02:00:28",
            "23:59:59.5",
            "2026-01-15T02:00:28Z",
            "2026-01-15T02:00Z",
            "2026-01-15 02:00:28.1-00:00",
        ];
        prop_oneof![
            prop::collection::vec(select(pieces.to_vec()), 0..7).prop_map(|pieces| pieces.concat()),
            "\\+?[0-9]{1,3}(\\.[0-9]{1,3})?[wdhmsuµn]?s?( [0-9]{1,3} ?(ms|us|ns))?",
            "(\\+|-)?[0-9]{1,2}m ?[0-9]{1,2}s",
            "[0-9]ms ?\\.\\. ?[0-9]{2}ms",
            "[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?",
        ]
    }

    #[test]
    fn what_the_reader_takes_the_terms_take() {
        let start = "2026-01-15T01:59:30Z".parse().expect("a date-time");
        let calendar = Calendar::starting(&start).expect("a start");
        law::<Duration, _>(nearly_times(), value::duration);
        law::<PositiveDuration, _>(nearly_times(), value::positive_duration);
        law::<SignedDuration, _>(nearly_times(), value::signed_duration);
        law::<Latency, _>(nearly_times(), value::latency);
        law::<Range, _>(nearly_times(), value::range);
        law::<Time, _>(nearly_times(), |text| calendar.time(text));
        law::<Node, _>("[a-zA-Z0-9 _-]{0,40}", |text| match is_plain_name(text) {
            true => Ok(()),
            false => Err(Wrong::new("no name")),
        });
    }

    /// The law above says nothing of texts that the reader doesn't take.
    #[test]
    fn texts_that_are_nearly_times_are_times_rather_often() {
        let mut runner = TestRunner::deterministic();
        let text = |_| nearly_times().new_tree(&mut runner).expect("a text").current();
        let texts: Vec<String> = (0..1_000).map(text).collect();
        let taken = texts.iter().filter(|text| value::duration(text).is_ok()).count();
        assert!((100..900).contains(&taken), "{taken} of {}", texts.len());
    }
}
