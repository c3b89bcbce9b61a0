//! The report for programs: one JSON document on a replay.
//!
//! Times are nanoseconds: `at` is true time since the start.

mod reconciliation;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use holdover_sim::check::{Bite, Verdict};
use holdover_sim::fault::PlannedFault;
use holdover_sim::id::EventId;
use holdover_sim::limits::Ending;
use holdover_sim::time::{Span, TrueTime, WallTime};
use serde::Serialize;

use self::reconciliation::ReconciliationDocument;
use super::text::deviation_texts;
use super::timeline::{Mark, timeline};
use super::words;
use crate::replay::{Blame, JudgedRun, Outcome, Replay};

#[derive(Serialize)]
struct Document<'a> {
    holdover: &'static str,
    title: &'a str,
    file: &'a str,
    /// What repeats it.
    command: &'a str,
    seed: u64,
    start: WallTime,
    nodes: Vec<Cow<'a, str>>,
    outcome: &'static str,
    deviations: Vec<String>,
    plan: &'a [PlannedFault],
    runs: Vec<RunDocument<'a>>,
}

#[derive(Serialize)]
struct RunDocument<'a> {
    protocol: &'static str,
    ending: &'a Ending,
    ended_at: TrueTime,
    events: usize,
    fingerprint: String,
    verdicts: BTreeMap<&'static str, &'a Verdict>,
    /// Whether what was violated was so inside or outside of what the protocol relies on.
    assumptions: Option<&'static str>,
    broken_assumptions: Vec<&'static str>,
    belief_overlap: Span,
    seen: BTreeMap<&'static str, usize>,
    faults: &'a [Bite],
    /// How the repair went; not there if nobody repaired anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    reconciliation: Option<ReconciliationDocument<'a>>,
    timeline: Vec<TimelineRow<'a>>,
}

#[derive(Serialize)]
struct TimelineRow<'a> {
    at: TrueTime,
    utc: String,
    event: EventId,
    node: &'a str,
    mark: Mark,
    text: String,
}

/// Writes one JSON document on `replay`, of the scenario in `file`; `command` is what repeats it.
///
/// # Errors
/// What `out` says.
pub fn write(replay: &Replay<'_>, file: &str, command: &str, out: &mut impl Write) -> io::Result<()> {
    let document = Document {
        holdover: env!("CARGO_PKG_VERSION"),
        title: replay.premise.title,
        file,
        command,
        seed: replay.seed.0,
        start: replay.premise.start,
        nodes: replay.premise.nodes.clone(),
        outcome: outcome_name(replay.outcome()),
        deviations: deviation_texts(&replay.deviations()),
        plan: &replay.premise.plan,
        runs: replay.runs.iter().map(run_document).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// An outcome's name in JSON.
pub const fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::AsExpected => "as-expected",
        Outcome::Inconclusive => "inconclusive",
        Outcome::NotAsExpected => "not-as-expected",
        Outcome::NotDeterministic => "not-deterministic",
        Outcome::Bug => "bug",
    }
}

fn run_document(run: &JudgedRun) -> RunDocument<'_> {
    let history = &run.history;
    let rows = timeline(history).into_iter().map(|row| TimelineRow {
        at: row.at,
        utc: words::time_of_day(history.utc(row.at)),
        event: row.event,
        node: words::name(history, row.node),
        mark: row.mark,
        text: row.text,
    });
    RunDocument {
        protocol: run.protocol.name(),
        ending: &history.ending,
        ended_at: history.ended_at,
        events: history.events.len(),
        fingerprint: run.fingerprint.to_string(),
        verdicts: run.verdicts.iter().map(|(checker, verdict)| (checker.name, verdict)).collect(),
        assumptions: run.blame().and_then(Blame::name),
        broken_assumptions: run.broken_assumptions.iter().map(|assumption| assumption.name).collect(),
        belief_overlap: run.belief_overlap,
        seen: run.sightings.iter().map(|(sighting, count)| (sighting.name, *count)).collect(),
        faults: &run.bites,
        reconciliation: reconciliation::document(history),
        timeline: rows.collect(),
    }
}
