//! Reports for programs: one JSON document on a replay, or the whole history with a line for each event.
//!
//! Times are nanoseconds: `at` is true time since the start, `wall` and `mono` are what the event's node read on its own
//! clocks at that instant. Node numbers are indices into `nodes`; operations are numbered from 1; amounts are in minor
//! units.

mod reconciliation;

use std::collections::BTreeMap;
use std::io::{self, Write};

use holdover_sim::check::{Bite, Verdict};
use holdover_sim::clock::ClockLine;
use holdover_sim::fault::PlannedFault;
use holdover_sim::history::{History, Role, Row, What};
use holdover_sim::id::{Amount, EventId, NodeId};
use holdover_sim::limits::Ending;
use holdover_sim::time::{Span, TrueTime, WallTime};
use holdover_sim::world::SERVICE_NAMES;
use serde::Serialize;

use self::reconciliation::ReconciliationDocument;
use super::text::deviation_texts;
use super::timeline::{Mark, timeline};
use super::words;
use crate::replay::{Blame, JudgedRun, Outcome, Replay};
use crate::scenario::Scenario;

#[derive(Serialize)]
struct Document<'a> {
    holdover: &'static str,
    title: &'a str,
    file: &'a str,
    /// What repeats it.
    command: &'a str,
    seed: u64,
    start: WallTime,
    nodes: Vec<&'a str>,
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
        title: &replay.scenario.title,
        file,
        command,
        seed: replay.seed.0,
        start: replay.scenario.world.start,
        nodes: node_names(replay.scenario),
        outcome: outcome_name(replay.outcome()),
        deviations: deviation_texts(&replay.deviations()),
        plan: &replay.scenario.plan,
        runs: replay.runs.iter().map(run_document).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// The names of the nodes, in the order of their numbers.
pub(super) fn node_names(scenario: &Scenario) -> Vec<&str> {
    let world = &scenario.world;
    let others = world.workers.iter().chain(&world.operators).map(|worker| worker.name.as_str());
    SERVICE_NAMES.into_iter().chain(others).collect()
}

/// An outcome's name in JSON.
pub const fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::AsExpected => "as-expected",
        Outcome::Inconclusive => "inconclusive",
        Outcome::NotAsExpected => "not-as-expected",
        Outcome::NotDeterministic => "not-deterministic",
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
        assumptions: run.blame().map(|blame| match blame {
            Blame::Inside => "inside",
            Blame::Outside => "outside",
        }),
        broken_assumptions: run.broken_assumptions.iter().map(|assumption| assumption.name).collect(),
        belief_overlap: run.belief_overlap,
        seen: run.sightings.iter().map(|(sighting, count)| (sighting.name, *count)).collect(),
        faults: &run.bites,
        reconciliation: reconciliation::document(history),
        timeline: rows.collect(),
    }
}

#[derive(Serialize)]
struct HeadLine<'a> {
    run: &'static str,
    seed: u64,
    start: WallTime,
    nodes: Vec<NodeLine<'a>>,
    batch: &'a [Amount],
    plan: &'a [PlannedFault],
}

#[derive(Serialize)]
struct NodeLine<'a> {
    name: &'a str,
    role: Role,
    clocks: &'a ClockLine,
}

#[derive(Serialize)]
struct EventLine<'a> {
    run: &'static str,
    id: EventId,
    at: TrueTime,
    utc: String,
    node: NodeId,
    wall: i64,
    mono: i64,
    cause: Option<EventId>,
    what: &'a What,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<&'a [Row]>,
}

#[derive(Serialize)]
struct EndLine<'a> {
    run: &'static str,
    ending: &'a Ending,
    ended_at: TrueTime,
    fingerprint: String,
}

/// Writes the histories of `replay`, a JSON line for each event; before a run's events a line on its world, after them
/// one on its end.
///
/// # Errors
/// What `out` says.
pub fn write_lines(replay: &Replay<'_>, out: &mut impl Write) -> io::Result<()> {
    for run in &replay.runs {
        write_history(run, out)?;
    }
    Ok(())
}

fn write_history(run: &JudgedRun, out: &mut impl Write) -> io::Result<()> {
    let history: &History = &run.history;
    let nodes =
        history.nodes.iter().map(|node| NodeLine { name: &node.name, role: node.role, clocks: &node.clocks });
    let head = HeadLine {
        run: history.protocol,
        seed: history.seed.0,
        start: history.start,
        nodes: nodes.collect(),
        batch: &history.batch,
        plan: &history.plan,
    };
    write_line(&head, out)?;
    for (id, event) in history.numbered() {
        let clocks = &history.node(event.node).clocks;
        let rows = match event.what {
            What::ExportPublished { export, .. } => Some(history.exports[export.index()].as_slice()),
            _ => None,
        };
        let line = EventLine {
            run: history.protocol,
            id,
            at: event.at,
            utc: holdover_sim::time::TimeOfDay(history.utc(event.at)).to_string(),
            node: event.node,
            wall: clocks.wall(event.at).as_nanos(),
            mono: clocks.mono(event.at).as_nanos(),
            cause: event.cause,
            what: &event.what,
            rows,
        };
        write_line(&line, out)?;
    }
    let end = EndLine {
        run: history.protocol,
        ending: &history.ending,
        ended_at: history.ended_at,
        fingerprint: run.fingerprint.to_string(),
    };
    write_line(&end, out)
}

pub(super) fn write_line(line: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)
}
