//! The histories as JSON Lines: for each run a line on its world, one for each event, and one on its end. `history_schema`
//! has the schema of a line.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use holdover_sim::clock::Clock;
use holdover_sim::history::{Event, History, Row, What};
use holdover_sim::id::{EventId, ExportId};
use holdover_sim::time::TimeOfDay;
use serde::Serialize;

use crate::replay::{JudgedRun, Premise, Replay};
use crate::stored::FORMAT;
use crate::stored::lines::{Body, EndLine, EventLine, ExpectLine, Head, NodeLine, RunLine, Stretch, Tail};

/// Writes the histories of `replay`, one run after the other.
///
/// # Errors
/// What `out` says.
pub fn write(replay: &Replay<'_>, out: &mut impl Write) -> io::Result<()> {
    for run in &replay.runs {
        write_history(&replay.premise, run, out)?;
    }
    Ok(())
}

fn write_history(premise: &Premise<'_>, run: &JudgedRun, out: &mut impl Write) -> io::Result<()> {
    let history: &History = &run.history;
    let name = Cow::Borrowed(history.protocol);
    let nodes = history.nodes.iter().zip(&run.told.nodes).map(|(node, (starts, discipline))| NodeLine {
        name: Cow::Borrowed(&node.name),
        role: node.role,
        starts: *starts,
        copy_of: node.copy_of,
        discipline: discipline.clone(),
        clocks: Stretch::all(&node.clocks),
    });
    let head = RunLine {
        line: Head::Run,
        format: FORMAT,
        run: name.clone(),
        summary: Cow::Borrowed(run.protocol.summary()),
        relies_on: run.protocol.relies_on().map(Cow::Borrowed).collect(),
        holdover: Cow::Borrowed(env!("CARGO_PKG_VERSION")),
        title: Cow::Borrowed(premise.title),
        story: premise.story.map(Cow::Borrowed),
        seed: history.seed.0,
        start: history.start,
        fingerprint: run.fingerprint.to_string(),
        world: Cow::Borrowed(&run.told.settings),
        nodes: nodes.collect(),
        batch: Cow::Borrowed(&history.batch),
        plan: Cow::Borrowed(&history.plan),
        expect: premise.expect.get(history.protocol).map(ExpectLine::of),
    };
    write_line(&head, out)?;
    for (id, event) in history.numbered() {
        write_line(&event_line(history, id, event), out)?;
    }
    let verdicts = run.verdicts.iter().map(|(checker, verdict)| {
        let verdict = serde_json::to_value(verdict)?;
        Ok((Cow::Borrowed(checker.name), verdict))
    });
    let end = EndLine {
        line: Tail::End,
        run: name,
        ending: Cow::Borrowed(&history.ending),
        ended_at: history.ended_at,
        fingerprint: run.fingerprint.to_string(),
        verdicts: verdicts.collect::<io::Result<_>>()?,
        broken_assumptions: run.broken_assumptions.iter().map(|broken| Cow::Borrowed(broken.name)).collect(),
        belief_overlap: run.belief_overlap,
        seen: run.sightings.iter().map(|(sighting, count)| (Cow::Borrowed(sighting.name), *count)).collect(),
        faults: run.bites.iter().map(serde_json::to_value).collect::<Result<_, _>>()?,
        untold_exports: untold_exports(history),
    };
    write_line(&end, out)
}

fn event_line<'a>(history: &'a History, id: EventId, event: &'a Event) -> EventLine<'a> {
    let rows = match event.what {
        What::ExportPublished { export, .. } => Some(Cow::Borrowed(&*history.exports[export.index()])),
        _ => None,
    };
    EventLine {
        line: Body::Event,
        run: Cow::Borrowed(history.protocol),
        id,
        at: event.at,
        utc: Cow::Owned(TimeOfDay(history.utc(event.at)).to_string()),
        node: event.node,
        wall: history.reading(id, event.node, Clock::Wall),
        mono: history.reading(id, event.node, Clock::Monotonic),
        cause: event.cause,
        what: event.what,
        rows,
    }
}

/// The exports that no event tells of.
fn untold_exports(history: &History) -> BTreeMap<ExportId, Cow<'_, [Row]>> {
    let published = history.events.iter().filter_map(|event| match event.what {
        What::ExportPublished { export, .. } => Some(export),
        _ => None,
    });
    let told: BTreeSet<ExportId> = published.collect();
    let all = history.exports.iter().zip(0..).map(|(rows, number)| (ExportId(number), Cow::Borrowed(&**rows)));
    all.filter(|(export, _)| !told.contains(export)).collect()
}

/// Writes one line.
pub(super) fn write_line(line: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)
}
