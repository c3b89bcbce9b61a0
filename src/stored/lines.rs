//! The lines of a history, as they are written and read: declared once for both. `report::history_schema` says what each
//! field is.

use std::borrow::Cow;
use std::collections::BTreeMap;

use holdover_sim::clock::{ClockLine, Motion, Rate, Segment};
use holdover_sim::fault::PlannedFault;
use holdover_sim::history::{Role, Row, What};
use holdover_sim::id::{Amount, EventId, ExportId, NodeId};
use holdover_sim::limits::Ending;
use holdover_sim::time::{BootTime, MonoTime, RawTime, Span, TrueTime, WallTime};
use holdover_sim::world::Discipline;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::settings::Settings;
use crate::scenario::{Expectation, Expected};

/// That a line begins a run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Head {
    Run,
}

/// That a line is an event.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Body {
    Event,
}

/// That a line ends a run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tail {
    End,
}

/// What a run starts from, before its events.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunLine<'a> {
    pub(crate) line: Head,
    pub(crate) format: u32,
    pub(crate) run: Cow<'a, str>,
    pub(crate) summary: Cow<'a, str>,
    pub(crate) relies_on: Vec<Cow<'a, str>>,
    pub(crate) holdover: Cow<'a, str>,
    pub(crate) title: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) story: Option<Cow<'a, str>>,
    pub(crate) seed: u64,
    pub(crate) start: WallTime,
    pub(crate) fingerprint: String,
    pub(crate) world: Cow<'a, Settings>,
    pub(crate) nodes: Vec<NodeLine<'a>>,
    pub(crate) batch: Cow<'a, [Amount]>,
    pub(crate) plan: Cow<'a, [PlannedFault]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expect: Option<ExpectLine<'a>>,
}

/// What the scenario expects of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectLine<'a> {
    pub(crate) verdicts: BTreeMap<Cow<'a, str>, Verdict>,
    pub(crate) seen: Vec<Cow<'a, str>>,
}

/// The name of a verdict.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Holds,
    Violated,
    Unknown,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeLine<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) role: Role,
    #[serde(deserialize_with = "required")]
    pub(crate) starts: Option<TrueTime>,
    #[serde(deserialize_with = "required")]
    pub(crate) copy_of: Option<NodeId>,
    #[serde(deserialize_with = "required")]
    pub(crate) discipline: Option<DisciplineLine<'a>>,
    pub(crate) clocks: Vec<Stretch>,
}

/// What sets a node's clocks right, and how often it polls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DisciplineLine<'a> {
    pub(crate) daemon: Cow<'a, str>,
    pub(crate) poll: Span,
}

/// A stretch of a node's clocks. `since` isn't among the bytes that a fingerprint is of, so this isn't how those have it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stretch {
    from: TrueTime,
    since: EventId,
    wall: WallTime,
    mono: MonoTime,
    raw: RawTime,
    boot: BootTime,
    drift: Rate,
    slew: Rate,
    motion: Motion,
}

/// An event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventLine<'a> {
    pub(crate) line: Body,
    pub(crate) run: Cow<'a, str>,
    pub(crate) id: EventId,
    pub(crate) at: TrueTime,
    pub(crate) utc: Cow<'a, str>,
    pub(crate) node: NodeId,
    pub(crate) wall: i64,
    pub(crate) mono: i64,
    #[serde(deserialize_with = "required")]
    pub(crate) cause: Option<EventId>,
    pub(crate) what: What,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rows: Option<Cow<'a, [Row]>>,
}

/// How a run ended, and what it came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndLine<'a> {
    pub(crate) line: Tail,
    pub(crate) run: Cow<'a, str>,
    pub(crate) ending: Cow<'a, Ending>,
    pub(crate) ended_at: TrueTime,
    pub(crate) fingerprint: String,
    pub(crate) verdicts: BTreeMap<Cow<'a, str>, Value>,
    pub(crate) broken_assumptions: Vec<Cow<'a, str>>,
    pub(crate) belief_overlap: Span,
    pub(crate) seen: BTreeMap<Cow<'a, str>, usize>,
    pub(crate) faults: Vec<Value>,
    /// Exports that no event tells of: whoever published them hung in the write, and was gone before it was done.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) untold_exports: BTreeMap<ExportId, Cow<'a, [Row]>>,
}

/// Reads what may be null, but has to be there.
fn required<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

impl DisciplineLine<'_> {
    pub(crate) fn of(Discipline { daemon, poll }: Discipline) -> DisciplineLine<'static> {
        DisciplineLine { daemon: Cow::Borrowed(daemon.name()), poll }
    }
}

impl Stretch {
    /// The stretches of `clocks`.
    pub(crate) fn all(clocks: &ClockLine) -> Vec<Stretch> {
        clocks.segments().iter().copied().map(Stretch::from).collect()
    }
}

impl From<Segment> for Stretch {
    fn from(segment: Segment) -> Stretch {
        let Segment { from, wall, mono, raw, boot, drift, slew, motion, since } = segment;
        Stretch { from, since, wall, mono, raw, boot, drift, slew, motion }
    }
}

impl From<Stretch> for Segment {
    fn from(stretch: Stretch) -> Segment {
        let Stretch { from, since, wall, mono, raw, boot, drift, slew, motion } = stretch;
        Segment { from, wall, mono, raw, boot, drift, slew, motion, since }
    }
}

impl<'a> ExpectLine<'a> {
    pub(crate) fn of(expectation: &'a Expectation) -> ExpectLine<'a> {
        let verdict = |expected: &Expected| match expected {
            Expected::Holds => Verdict::Holds,
            Expected::Violated => Verdict::Violated,
            Expected::Unknown => Verdict::Unknown,
        };
        let verdicts = expectation.verdicts.iter();
        ExpectLine {
            verdicts: verdicts.map(|(rule, expected)| (Cow::Borrowed(rule.as_str()), verdict(expected))).collect(),
            seen: expectation.seen.iter().map(|name| Cow::Borrowed(name.as_str())).collect(),
        }
    }
}

impl From<ExpectLine<'_>> for Expectation {
    fn from(line: ExpectLine<'_>) -> Expectation {
        let expected = |verdict: Verdict| match verdict {
            Verdict::Holds => Expected::Holds,
            Verdict::Violated => Expected::Violated,
            Verdict::Unknown => Expected::Unknown,
        };
        let verdicts = line.verdicts.into_iter();
        Expectation {
            verdicts: verdicts.map(|(rule, verdict)| (rule.into_owned(), expected(verdict))).collect(),
            seen: line.seen.into_iter().map(Cow::into_owned).collect(),
        }
    }
}
