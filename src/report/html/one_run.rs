//! The record of one protocol's run.

use holdover_sim::check::Verdict;
use holdover_sim::clock::{ClockLine, Motion, Segment};
use holdover_sim::history::{History, Role};
use holdover_sim::id::{EventId, NodeId};
use holdover_sim::time::{Span, TrueTime};
use serde::Serialize;

use super::bands::{Bands, bands};
use super::events::{Events, Rows, events, messages, rows};
use super::explained::ExplainedRecord;
use super::harmless;
use super::headline::{Headline, headline};
use super::repaired::{Repaired, repaired};
use crate::explore::Measures;
use crate::replay::JudgedRun;
use crate::report::summary::blame;
use crate::report::timeline::timeline;
use crate::report::{closing, words};

#[derive(Serialize)]
pub(super) struct RunRecord<'a> {
    protocol: &'static str,
    summary: &'a str,
    headline: Headline,
    /// In the order of the rules.
    verdicts: Vec<VerdictRecord>,
    /// Where what was violated stands to what the protocol relies on.
    blame: Option<String>,
    /// In the order of the sightings.
    seen: Vec<usize>,
    belief_overlap: Option<String>,
    /// What became of each fault of the plan.
    bites: Vec<&'static str>,
    ending: String,
    ended_at: TrueTime,
    fingerprint: String,
    nodes: Vec<NodeRecord<'a>>,
    /// The nodes in the order of their lanes.
    lanes: Vec<u16>,
    bands: Bands,
    events: Events,
    rows: Rows,
    messages: Vec<(usize, i64, u16, u8)>,
    explained: ExplainedRecord,
    repaired: Option<Repaired>,
}

#[derive(Serialize)]
struct VerdictRecord {
    state: &'static str,
    text: String,
    /// What shows it, or why it can't be told.
    why: Option<String>,
    /// The events that show it, the offending one last.
    events: Vec<EventId>,
}

#[derive(Serialize)]
struct NodeRecord<'a> {
    name: &'a str,
    role: Role,
    /// Stretches of its wall clock, each with when it begins, what it reads then (both as text), how much it goes on in a
    /// second, in nanoseconds, and the first event of that instant for which it holds.
    wall: Vec<(String, String, i64, EventId)>,
}

/// The record of `run`, with what was learned of it, if it was explained.
pub(super) fn run_record(run: &JudgedRun, explained: Option<ExplainedRecord>) -> RunRecord<'_> {
    let history = &run.history;
    let told = timeline(history);
    RunRecord {
        protocol: run.protocol.name(),
        summary: run.protocol.summary(),
        headline: headline(run, Measures::of(history)),
        verdicts: run.verdicts.iter().map(|(_, verdict)| verdict_record(history, verdict)).collect(),
        blame: blame(run).map(|(text, _)| text),
        seen: run.sightings.iter().map(|(_, count)| *count).collect(),
        belief_overlap: (run.belief_overlap > Span::ZERO).then(|| words::rounded(run.belief_overlap).to_string()),
        bites: run.bites.iter().map(|bite| closing::bite(*bite)).collect(),
        ending: closing::ended(run),
        ended_at: history.ended_at,
        fingerprint: run.fingerprint.to_string(),
        nodes: history
            .nodes
            .iter()
            .map(|node| NodeRecord { name: &node.name, role: node.role, wall: wall(&node.clocks) })
            .collect(),
        lanes: lanes(history),
        bands: bands(history),
        events: events(history, &told),
        rows: rows(&told),
        messages: messages(history),
        explained: explained.unwrap_or_default(),
        repaired: repaired(history),
    }
}

fn verdict_record(history: &History, verdict: &Verdict) -> VerdictRecord {
    let (why, events) = match verdict {
        Verdict::Holds { .. } => (None, Vec::new()),
        Verdict::Violated { witness, .. } => (Some(words::witness(history, witness)), witness.events()),
        Verdict::Unknown { reason } => (Some(harmless(reason)), Vec::new()),
    };
    VerdictRecord { state: verdict.name(), text: words::verdict(verdict), why, events }
}

/// Those who act first, then the services in the order of their roles.
fn lanes(history: &History) -> Vec<u16> {
    let mut lanes: Vec<NodeId> = (0..history.nodes.len()).map(|index| NodeId(index as u16)).collect();
    let serves = |role| !matches!(role, Role::Worker | Role::Operator);
    lanes.sort_by_key(|node| {
        let role = history.node(*node).role;
        (serves(role), role)
    });
    lanes.into_iter().map(|node| node.0).collect()
}

/// The stretches of a wall clock.
fn wall(clocks: &ClockLine) -> Vec<(String, String, i64, EventId)> {
    let rate = |segment: &Segment| match segment.motion {
        Motion::Running => 1_000_000_000 + i64::from(segment.drift.as_ppb()) + i64::from(segment.slew.as_ppb()),
        Motion::Suspended => 1_000_000_000,
        Motion::Frozen => 0,
    };
    let stretch = |segment: &Segment| {
        let (from, reads) = (segment.from.as_nanos().to_string(), segment.wall.as_nanos().to_string());
        (from, reads, rate(segment), segment.since)
    };
    clocks.segments().iter().map(stretch).collect()
}
