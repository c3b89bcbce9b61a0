//! A scenario file as it is written: keys, tables and texts, nothing understood yet.
//!
//! Whatever a later check may have to point at is [`Spanned`]. Kinds of fault are tagged from outside, and nothing is
//! flattened or untagged, because only then can an error name the exact token.
//!
//! The JSON Schema that editors use is derived from these structs: what a comment on a field says is what they show.
//! `with` says what is written there, and what may be left out has its default beside it.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use holdover_sim::limits::Limits;
use holdover_sim::world::{NetworkSpec, PayoutSpec, RepairSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use toml::Spanned;
use toml::value::Datetime;

use super::clocks::NO_DISCIPLINE;
use super::faults::MOST_FAULTS;
use super::inject::InjectFile;
use super::lease::LOCK_DELAY;
use super::lower::{FINISH_WITHIN, INTERNAL, MOST_OPERATIONS, MOST_STEPS, PACE, POLL_EVERY, PROVIDER};
use super::names::PLACE_OF_TOKENS;
use super::nodes::{MOST_OPERATORS, MOST_WORKERS};
use super::schema::{self, terms};
use super::value;

/// The start of the run as a time.
const AT_START: &str = "+0s";

/// A scenario: a world, the protocols to run it under, a fault plan, and what should come of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A holdover scenario")]
pub(super) struct ScenarioFile {
    /// What it shows, in one line.
    #[schemars(with = "terms::Title")]
    pub(super) title: Spanned<String>,
    /// The story behind it, in as many lines as you like; default: none.
    #[schemars(with = "Option<terms::Lines>")]
    pub(super) story: Option<Spanned<String>>,
    /// When the run begins: in UTC and without quotes, such as `2026-01-15T01:59:30Z`.
    #[schemars(with = "terms::Start")]
    pub(super) start: Spanned<Datetime>,
    /// What everything is drawn from; default: 0.
    #[serde(default)]
    #[schemars(with = "terms::Seed")]
    pub(super) seed: u64,
    /// When it ends at the latest: a time such as "02:01:30" or "+5m"; default: 10 minutes after the start.
    #[schemars(with = "Option<terms::Time>", extend("default" = format!("+{}", Limits::DEFAULT_RUN)))]
    pub(super) end: Option<Spanned<Written>>,
    /// The bound on steps: about as many as the run has events.
    #[schemars(with = "Option<terms::Whole>", range(min = 1, max = MOST_STEPS), extend("default" = Limits::DEFAULT_STEPS))]
    pub(super) steps: Option<Spanned<u64>>,
    /// What it is run under; default: the protocols that something is expected of, or all if nothing is.
    #[schemars(with = "Option<terms::Protocols>")]
    pub(super) protocols: Option<Spanned<Vec<Spanned<String>>>>,
    /// The lease that the workers compete for.
    pub(super) lease: Table<LeaseFile>,
    /// The ledger that the operations are entered into.
    #[serde(default)]
    pub(super) ledger: Table<LedgerFile>,
    /// The provider that pays, and the gateway in front of it.
    #[serde(default)]
    pub(super) provider: Table<ProviderFile>,
    /// The settlement that whoever holds the lease works on.
    pub(super) job: Table<JobFile>,
    /// How long messages take, and how long callers wait.
    #[serde(default)]
    pub(super) network: Table<NetworkFile>,
    /// The workers, a `[[worker]]` table each.
    #[schemars(with = "Vec<WorkerFile>", length(min = 1, max = MOST_WORKERS))]
    pub(super) worker: Spanned<Vec<Table<WorkerFile>>>,
    /// The operators, who repair what went wrong: an `[[operator]]` table each.
    #[serde(default)]
    #[schemars(with = "Vec<WorkerFile>", length(max = MOST_OPERATORS))]
    pub(super) operator: Vec<Table<WorkerFile>>,
    /// How operators go about it; only where there are operators.
    #[schemars(with = "Option<RepairFile>")]
    pub(super) repair: Option<Spanned<Table<RepairFile>>>,
    /// What is special about services, a `[service.NAME]` table each.
    #[serde(default)]
    #[schemars(schema_with = "schema::services")]
    pub(super) service: BTreeMap<Spanned<String>, Table<ServiceFile>>,
    /// The fault plan, a `[[fault]]` table for each fault.
    #[serde(default)]
    #[schemars(with = "Vec<FaultFile>", length(max = MOST_FAULTS))]
    pub(super) fault: Vec<Table<FaultFile>>,
    /// What should come of it, an `[expect.PROTOCOL]` table each. A rule that isn't mentioned is expected to hold.
    #[serde(default)]
    #[schemars(schema_with = "schema::expectations")]
    pub(super) expect: BTreeMap<Spanned<String>, ExpectFile>,
}

/// `[lease]`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LeaseFile {
    /// How long a grant or a renewal lasts, such as "40s".
    #[schemars(with = "terms::PositiveDuration")]
    pub(super) ttl: Spanned<Written>,
    /// How often the holder renews, such as "10s"; below the TTL.
    #[schemars(with = "terms::PositiveDuration")]
    pub(super) renew_every: Spanned<Written>,
    /// How often the others ask for it.
    #[schemars(with = "Option<terms::PositiveDuration>", extend("default" = POLL_EVERY.to_string()))]
    pub(super) poll_every: Option<Spanned<Written>>,
    /// What keeps it: a table row, a primary that copies to replicas, or replicas that agree; default: as the protocol means
    /// it.
    #[schemars(with = "Option<terms::LeaseService>")]
    pub(super) service: Option<Spanned<String>>,
    /// With replicas: how many there are; 3 or 5 that agree, from 2 to 5 with a primary that copies.
    #[schemars(with = "Option<terms::Replicas>")]
    pub(super) replicas: Option<Spanned<u64>>,
    /// By whose clock it ends. In a table: the asker's wall clock, the store's monotonic clock, or the store's wall clock as
    /// the transaction starts; default: as the protocol means it. With replicas: timers of the leader's (the default), times
    /// that they agree on, or timers and a delay.
    #[schemars(with = "Option<terms::Expiry>")]
    pub(super) expiry: Option<Spanned<String>>,
    /// With expiry = "lock-delay": how long nobody gets a lease that was taken away, such as "15s".
    #[schemars(with = "Option<terms::PositiveDuration>", extend("default" = LOCK_DELAY.to_string()))]
    pub(super) lock_delay: Option<Spanned<Written>>,
    /// With replicas: whether whoever leads makes sure that it still does before it renews a lease.
    #[schemars(with = "Option<terms::Flag>", extend("default" = true))]
    pub(super) confirms_renewals: Option<Spanned<bool>>,
    /// With replicas: whether whoever leads makes sure that it still does before it takes a lease away.
    #[schemars(with = "Option<terms::Flag>", extend("default" = true))]
    pub(super) confirms_revocations: Option<Spanned<bool>>,
}

/// `[ledger]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LedgerFile {
    /// Where it keeps the highest token that it saw. In memory it is gone after a crash.
    #[schemars(with = "Option<terms::PlaceOfTokens>", extend("default" = PLACE_OF_TOKENS))]
    pub(super) highest_token: Option<Spanned<String>>,
}

/// `[provider]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProviderFile {
    /// Which idempotency keys it remembers: none of them, all of them, or those of payouts that are younger than this, such
    /// as "24h"; default: as the protocol means it.
    #[schemars(with = "Option<terms::KeyMemory>")]
    pub(super) keys: Option<Spanned<Written>>,
    /// Whether its gateway lets everybody in or turns low tokens away; default: as the protocol means it.
    #[schemars(with = "Option<terms::Gateway>")]
    pub(super) gateway: Option<Spanned<String>>,
    /// How long it takes until it knows what it was asked for: "200ms", or a range with both ends included.
    #[schemars(with = "Option<terms::Range>", extend("default" = value::written_latency(PayoutSpec::default().known_in)))]
    pub(super) known_in: Option<Spanned<Written>>,
    /// How long it takes from there until the money has moved: "3s", or a range with both ends included.
    #[schemars(with = "Option<terms::Range>", extend("default" = value::written_latency(PayoutSpec::default().settles_in)))]
    pub(super) settles_in: Option<Spanned<Written>>,
    /// Of a hundred payouts, how many fail.
    #[schemars(with = "Option<terms::FailingPayouts>", extend("default" = 0))]
    pub(super) fails_percent: Option<Spanned<u64>>,
    /// How long it takes to give back what was paid: "2s", or a range with both ends included.
    #[schemars(with = "Option<terms::Range>", extend("default" = value::written_latency(PayoutSpec::default().refunds_in)))]
    pub(super) refunds_in: Option<Spanned<Written>>,
    /// Of a hundred refunds, how many fail.
    #[schemars(with = "Option<terms::FailingRefunds>", extend("default" = 0))]
    pub(super) refunds_fail_percent: Option<Spanned<u64>>,
    /// Whether it answers questions on payouts.
    #[schemars(with = "Option<terms::Flag>", extend("default" = true))]
    pub(super) answers: Option<bool>,
    /// How many payouts it lists on a page.
    #[schemars(with = "Option<terms::Whole>", range(min = 1), extend("default" = PayoutSpec::default().page))]
    pub(super) page: Option<Spanned<u64>>,
}

/// `[job]`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JobFile {
    /// How many operations the settlement has.
    #[schemars(with = "terms::Whole", range(min = 1, max = MOST_OPERATIONS))]
    pub(super) operations: Spanned<u64>,
    /// When it begins by the holder's wall clock, such as "01:59:49.100"; default: the start.
    #[schemars(with = "Option<terms::Time>", extend("default" = AT_START))]
    pub(super) due: Option<Spanned<Written>>,
    /// How often an operation begins.
    #[schemars(with = "Option<terms::Duration>", extend("default" = PACE.to_string()))]
    pub(super) pace: Option<Spanned<Written>>,
    /// How long it may take after it is due, or after the last fault healed if that is later.
    #[schemars(with = "Option<terms::PositiveDuration>", extend("default" = FINISH_WITHIN.to_string()))]
    pub(super) finish_within: Option<Spanned<Written>>,
}

/// `[network]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkFile {
    /// The latency between workers, lease store and ledger: "2ms", or a range with both ends included.
    #[schemars(with = "Option<terms::Latency>", extend("default" = value::written_latency(INTERNAL)))]
    pub(super) internal: Option<Spanned<Written>>,
    /// The latency to and from the provider: "25ms", or a range with both ends included.
    #[schemars(with = "Option<terms::Latency>", extend("default" = value::written_latency(PROVIDER)))]
    pub(super) provider: Option<Spanned<Written>>,
    /// How long a worker waits for an answer.
    #[schemars(
        with = "Option<terms::PositiveDuration>",
        extend("default" = NetworkSpec::DEFAULT_TIMEOUT.to_string())
    )]
    pub(super) timeout: Option<Spanned<Written>>,
}

/// `[repair]`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RepairFile {
    /// What operators decide by.
    #[schemars(with = "Option<terms::Procedure>", extend("default" = RepairSpec::default().procedure.0.name()))]
    pub(super) procedure: Option<Spanned<String>>,
    /// How long they wait before they ask again.
    #[schemars(with = "Option<terms::PositiveDuration>", extend("default" = RepairSpec::default().ask_every.to_string()))]
    pub(super) ask_every: Option<Spanned<Written>>,
    /// How long they go on asking for an operation before they leave it to a person.
    #[schemars(with = "Option<terms::Duration>", extend("default" = value::write_duration(RepairSpec::default().ask_for)))]
    pub(super) ask_for: Option<Spanned<Written>>,
    /// How long they wait for what may still be under way to the provider, before they look at all payouts once more.
    #[schemars(with = "Option<terms::Duration>", extend("default" = RepairSpec::default().quiet_for.to_string()))]
    pub(super) quiet_for: Option<Spanned<Written>>,
}

/// A worker or an operator.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkerFile {
    /// Its name, such as "worker-a" or "operator": lower-case letters, digits and dashes, a letter first.
    #[schemars(with = "terms::Worker")]
    pub(super) name: Spanned<String>,
    /// When its process begins, such as "01:59:38" or "+2s"; default: at the start.
    #[schemars(with = "Option<terms::Time>", extend("default" = AT_START))]
    pub(super) starts: Option<Spanned<Written>>,
    /// How wrong its clocks are, and what sets them right; default: right, and nothing sets them.
    #[serde(default)]
    pub(super) clock: Table<ClockFile>,
}

/// `[service.NAME]`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ServiceFile {
    /// How wrong its clocks are, and what sets them right; default: right, and nothing sets them.
    #[serde(default)]
    pub(super) clock: Table<ClockFile>,
}

/// `clock = { … }` of a worker or a service
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClockFile {
    /// How far its wall clock is ahead at the start, such as "1s", or behind, such as "-5ms".
    #[schemars(with = "Option<terms::SignedDuration>", extend("default" = "0s"))]
    pub(super) offset: Option<Spanned<Written>>,
    /// How much too fast its oscillator is, in parts per million; negative if too slow.
    #[schemars(with = "Option<terms::Ppm>", extend("default" = 0))]
    pub(super) drift_ppm: Option<Spanned<f64>>,
    /// The program that sets it right.
    #[schemars(with = "Option<terms::Discipline>", extend("default" = NO_DISCIPLINE))]
    pub(super) discipline: Option<Spanned<String>>,
    /// How often that program asks for the time, such as "16s"; default: as the real one begins.
    #[schemars(with = "Option<terms::PositiveDuration>")]
    pub(super) poll: Option<Spanned<Written>>,
}

/// A fault: what happens, and when.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultFile {
    /// When it strikes: at a time, at a point, at an event, or with another fault.
    #[schemars(with = "WhenFile")]
    pub(super) when: Spanned<Table<WhenFile>>,
    /// What happens: one kind of fault with its keys, such as `{ pause = { node = "worker-a", for = "38s" } }`.
    #[schemars(with = "InjectFile")]
    pub(super) inject: Spanned<InjectFile>,
    /// What a person calls it, in one line; default: nothing.
    #[schemars(with = "Option<terms::Line>")]
    pub(super) note: Option<Spanned<String>>,
    /// What other faults call it that wait for it; default: nothing.
    #[schemars(with = "Option<terms::Name>")]
    pub(super) name: Option<Spanned<String>>,
}

/// `when = { … }`: one of `at`, `point`, `event` and `fault`; which of the rest go with it depends on that. Not an enum,
/// so that a mixture gets an error that names the keys.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = schema::one_head)]
pub(super) struct WhenFile {
    /// The time at which it strikes: a clock time such as "02:00:28.150", an offset from the start such as "+58s", or a
    /// date and time such as "2026-01-15T02:00:28Z".
    #[schemars(with = "Option<terms::Time>")]
    pub(super) at: Option<Spanned<Written>>,
    /// The place in a worker's or an operator's path at which it strikes, such as "write.checked".
    #[schemars(with = "Option<terms::Point>")]
    pub(super) point: Option<Spanned<String>>,
    /// The kind of event at which it strikes, such as "lease-granted".
    #[schemars(with = "Option<terms::Event>")]
    pub(super) event: Option<Spanned<String>>,
    /// The name of the fault with which it strikes.
    #[schemars(with = "Option<terms::Name>")]
    pub(super) fault: Option<Spanned<String>>,
    /// With a point: the worker or operator whose passing counts. With an event: where it happens, or the worker that it is about.
    /// Default: any.
    #[schemars(with = "Option<terms::Node>")]
    pub(super) node: Option<Spanned<String>>,
    /// With a point or an event: the time from which on they count; default: the start.
    #[schemars(with = "Option<terms::Time>", extend("default" = AT_START))]
    pub(super) after: Option<Spanned<Written>>,
    /// With a point or an event: which of those that count.
    #[schemars(with = "Option<terms::Nth>", extend("default" = 1))]
    pub(super) nth: Option<Spanned<u64>>,
    /// With another fault: true for its end and not its beginning.
    #[schemars(with = "Option<terms::Flag>", extend("default" = false))]
    pub(super) end: Option<Spanned<bool>>,
    /// With all but a time: how long after that it strikes, such as "10ms".
    #[schemars(with = "Option<terms::Duration>", extend("default" = "0s"))]
    pub(super) delay: Option<Spanned<Written>>,
}

/// A table, and nothing else. Without this an array would do too: what serde derives for a struct also takes its fields
/// by position.
#[derive(Debug, Default)]
pub(super) struct Table<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Table<T>, D::Error> {
        struct OnlyMap<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OnlyMap<T> {
            type Value = Table<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Table<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Table)
            }
        }

        deserializer.deserialize_map(OnlyMap(PhantomData))
    }
}

/// A time, a duration, a verdict as it was written. Values that aren't texts are kept as if they were, since what is
/// wrong with them, such as a missing unit, is better said together with the file's other mistakes. Only TOML's own
/// times are refused at once: they would do, and there should be one way to write a time.
#[derive(Debug)]
pub(super) struct Written(pub(super) String);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Written, D::Error> {
        struct AnyText;

        impl<'de> Visitor<'de> for AnyText {
            type Value = Written;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text in quotes")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Written, E> {
                Ok(Written(text.to_owned()))
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Written, E> {
                Ok(Written(flag.to_string()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Written, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Written("[…]".to_owned()))
            }
        }

        deserializer.deserialize_any(AnyText)
    }
}

/// `[expect.NAME]`: `seen`, and any checker's name with a verdict. Which checkers there are is the registry's
/// knowledge, so their names are data here and not fields.
#[derive(Debug)]
pub(super) struct ExpectFile {
    pub(super) verdicts: Vec<(Spanned<String>, Spanned<Written>)>,
    pub(super) seen: Vec<Spanned<String>>,
}

impl<'de> Deserialize<'de> for ExpectFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ExpectFile, D::Error> {
        struct AnyKeys;

        impl<'de> Visitor<'de> for AnyKeys {
            type Value = ExpectFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of one protocol")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ExpectFile, A::Error> {
                let mut expect = ExpectFile { verdicts: Vec::new(), seen: Vec::new() };
                while let Some(key) = map.next_key::<Spanned<String>>()? {
                    if key.get_ref() == "seen" {
                        expect.seen = map.next_value()?;
                    } else {
                        expect.verdicts.push((key, map.next_value()?));
                    }
                }
                Ok(expect)
            }
        }

        deserializer.deserialize_map(AnyKeys)
    }
}
