//! The histories as JSON Lines: for each run a line on its world, one for each event, and one on its end. `history_schema`
//! has the schema of a line.

use std::io::{self, Write};

use holdover_sim::clock::{Clock, ClockLine};
use holdover_sim::fault::PlannedFault;
use holdover_sim::history::{Event, History, Role, Row, What};
use holdover_sim::id::{Amount, EventId, NodeId};
use holdover_sim::limits::Ending;
use holdover_sim::time::{TimeOfDay, TrueTime, WallTime};
use serde::Serialize;

use crate::replay::{JudgedRun, Replay};

#[derive(Serialize)]
struct RunLine<'a> {
    line: &'static str,
    run: &'static str,
    holdover: &'static str,
    seed: u64,
    start: WallTime,
    fingerprint: String,
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
    line: &'static str,
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
    line: &'static str,
    run: &'static str,
    ending: &'a Ending,
    ended_at: TrueTime,
    fingerprint: String,
}

/// Writes the histories of `replay`, one run after the other.
///
/// # Errors
/// What `out` says.
pub fn write(replay: &Replay<'_>, out: &mut impl Write) -> io::Result<()> {
    for run in &replay.runs {
        write_history(run, out)?;
    }
    Ok(())
}

fn write_history(run: &JudgedRun, out: &mut impl Write) -> io::Result<()> {
    let history: &History = &run.history;
    let nodes =
        history.nodes.iter().map(|node| NodeLine { name: &node.name, role: node.role, clocks: &node.clocks });
    let head = RunLine {
        line: "run",
        run: history.protocol,
        holdover: env!("CARGO_PKG_VERSION"),
        seed: history.seed.0,
        start: history.start,
        fingerprint: run.fingerprint.to_string(),
        nodes: nodes.collect(),
        batch: &history.batch,
        plan: &history.plan,
    };
    write_line(&head, out)?;
    for (id, event) in history.numbered() {
        write_line(&event_line(history, id, event), out)?;
    }
    let end = EndLine {
        line: "end",
        run: history.protocol,
        ending: &history.ending,
        ended_at: history.ended_at,
        fingerprint: run.fingerprint.to_string(),
    };
    write_line(&end, out)
}

fn event_line<'a>(history: &'a History, id: EventId, event: &'a Event) -> EventLine<'a> {
    let rows = match event.what {
        What::ExportPublished { export, .. } => Some(history.exports[export.index()].as_slice()),
        _ => None,
    };
    EventLine {
        line: "event",
        run: history.protocol,
        id,
        at: event.at,
        utc: TimeOfDay(history.utc(event.at)).to_string(),
        node: event.node,
        wall: history.reading(id, event.node, Clock::Wall),
        mono: history.reading(id, event.node, Clock::Monotonic),
        cause: event.cause,
        what: &event.what,
        rows,
    }
}

/// Writes one line.
pub(super) fn write_line(line: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)
}
