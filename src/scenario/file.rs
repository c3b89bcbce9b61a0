//! A scenario file as it is written: keys, tables and texts, nothing understood yet.
//!
//! Whatever a later check may have to point at is [`Spanned`]. Kinds of fault are tagged from outside, and nothing is
//! flattened or untagged, because only then can an error name the exact token.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use toml::Spanned;
use toml::value::Datetime;

use super::inject::InjectFile;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioFile {
    pub(super) title: Spanned<String>,
    pub(super) story: Option<Spanned<String>>,
    pub(super) start: Spanned<Datetime>,
    #[serde(default)]
    pub(super) seed: u64,
    pub(super) end: Option<Spanned<Written>>,
    pub(super) steps: Option<Spanned<u64>>,
    pub(super) protocols: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) lease: Table<LeaseFile>,
    #[serde(default)]
    pub(super) ledger: Table<LedgerFile>,
    pub(super) job: Table<JobFile>,
    #[serde(default)]
    pub(super) network: Table<NetworkFile>,
    pub(super) worker: Spanned<Vec<Table<WorkerFile>>>,
    #[serde(default)]
    pub(super) service: BTreeMap<Spanned<String>, Table<ServiceFile>>,
    #[serde(default)]
    pub(super) fault: Vec<Table<FaultFile>>,
    #[serde(default)]
    pub(super) expect: BTreeMap<Spanned<String>, ExpectFile>,
}

/// `[lease]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LeaseFile {
    pub(super) ttl: Spanned<Written>,
    pub(super) renew_every: Spanned<Written>,
    pub(super) poll_every: Option<Spanned<Written>>,
    pub(super) expiry: Option<Spanned<String>>,
}

/// `[ledger]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LedgerFile {
    pub(super) highest_token: Option<Spanned<String>>,
}

/// `[job]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobFile {
    pub(super) operations: Spanned<u64>,
    pub(super) due: Option<Spanned<Written>>,
    pub(super) pace: Option<Spanned<Written>>,
    pub(super) finish_within: Option<Spanned<Written>>,
}

/// `[network]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkFile {
    pub(super) internal: Option<Spanned<Written>>,
    pub(super) provider: Option<Spanned<Written>>,
    pub(super) timeout: Option<Spanned<Written>>,
}

/// `[[worker]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkerFile {
    pub(super) name: Spanned<String>,
    pub(super) starts: Option<Spanned<Written>>,
    #[serde(default)]
    pub(super) clock: Table<ClockFile>,
}

/// `[service.NAME]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServiceFile {
    #[serde(default)]
    pub(super) clock: Table<ClockFile>,
}

/// `clock = { … }` of a worker or a service
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClockFile {
    pub(super) offset: Option<Spanned<Written>>,
    pub(super) drift_ppm: Option<Spanned<f64>>,
    pub(super) discipline: Option<Spanned<String>>,
    pub(super) poll: Option<Spanned<Written>>,
}

/// `[[fault]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultFile {
    pub(super) when: Spanned<Table<WhenFile>>,
    pub(super) inject: Spanned<InjectFile>,
    pub(super) note: Option<Spanned<String>>,
    pub(super) name: Option<Spanned<String>>,
}

/// `when = { … }`: one of `at`, `point`, `event` and `fault`; which of the rest go with it depends on that. Not an enum,
/// so that a mixture gets an error that names the keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WhenFile {
    pub(super) at: Option<Spanned<Written>>,
    pub(super) point: Option<Spanned<String>>,
    pub(super) event: Option<Spanned<String>>,
    pub(super) fault: Option<Spanned<String>>,
    pub(super) node: Option<Spanned<String>>,
    pub(super) after: Option<Spanned<Written>>,
    pub(super) nth: Option<Spanned<u64>>,
    pub(super) end: Option<Spanned<bool>>,
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
