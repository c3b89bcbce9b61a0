//! The histories as JSON Lines: for each run a line on its world, one for each event, and one on its end. `history_schema`
//! has the schema of a line.

use std::collections::BTreeMap;
use std::io::{self, Write};

use holdover_sim::check::{Bite, Verdict};
use holdover_sim::clock::{Clock, ClockLine};
use holdover_sim::fault::PlannedFault;
use holdover_sim::history::{Event, History, Role, Row, What};
use holdover_sim::id::{Amount, EventId, NodeId};
use holdover_sim::limits::Ending;
use holdover_sim::time::{Span, TimeOfDay, TrueTime, WallTime};
use holdover_sim::world::{Discipline, WorldSpec, worker_node};
use serde::Serialize;

use super::settings::Settings;
use crate::replay::{JudgedRun, Replay};

#[derive(Serialize)]
struct RunLine<'a> {
    line: &'static str,
    run: &'static str,
    holdover: &'static str,
    seed: u64,
    start: WallTime,
    fingerprint: String,
    world: Settings,
    nodes: Vec<NodeLine<'a>>,
    batch: &'a [Amount],
    plan: &'a [PlannedFault],
}

#[derive(Serialize)]
struct NodeLine<'a> {
    name: &'a str,
    role: Role,
    starts: Option<TrueTime>,
    copy_of: Option<NodeId>,
    discipline: Option<DisciplineLine>,
    clocks: &'a ClockLine,
}

#[derive(Serialize)]
struct DisciplineLine {
    daemon: &'static str,
    poll: Span,
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
    verdicts: BTreeMap<&'static str, &'a Verdict>,
    broken_assumptions: Vec<&'static str>,
    belief_overlap: Span,
    seen: BTreeMap<&'static str, usize>,
    faults: &'a [Bite],
}

/// Writes the histories of `replay`, one run after the other.
///
/// # Errors
/// What `out` says.
pub fn write(replay: &Replay<'_>, out: &mut impl Write) -> io::Result<()> {
    for run in &replay.runs {
        write_history(&replay.scenario.world, run, out)?;
    }
    Ok(())
}

fn write_history(world: &WorldSpec, run: &JudgedRun, out: &mut impl Write) -> io::Result<()> {
    let history: &History = &run.history;
    let processes = world.workers.iter().chain(&world.operators).zip(0..);
    let started_at: BTreeMap<NodeId, TrueTime> =
        processes.map(|(process, index)| (worker_node(index), process.starts)).collect();
    let nodes = history.nodes.iter().zip(0..).map(|(node, number)| {
        let number = NodeId(number);
        let clock = world.clock(node.copy_of.unwrap_or(number));
        NodeLine {
            name: &node.name,
            role: node.role,
            starts: started_at.get(&number).copied(),
            copy_of: node.copy_of,
            discipline: clock.discipline.map(discipline_line),
            clocks: &node.clocks,
        }
    });
    let head = RunLine {
        line: "run",
        run: history.protocol,
        holdover: env!("CARGO_PKG_VERSION"),
        seed: history.seed.0,
        start: history.start,
        fingerprint: run.fingerprint.to_string(),
        world: Settings::of(world, run.protocol, history.lease_service),
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
        verdicts: run.verdicts.iter().map(|(checker, verdict)| (checker.name, verdict)).collect(),
        broken_assumptions: run.broken_assumptions.iter().map(|assumption| assumption.name).collect(),
        belief_overlap: run.belief_overlap,
        seen: run.sightings.iter().map(|(sighting, count)| (sighting.name, *count)).collect(),
        faults: &run.bites,
    };
    write_line(&end, out)
}

fn discipline_line(Discipline { daemon, poll }: Discipline) -> DisciplineLine {
    DisciplineLine { daemon: daemon.name(), poll }
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
