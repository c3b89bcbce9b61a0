//! From the lines of a run to its history. Whatever a line says twice has to agree: a line that contradicts another is none
//! that a run wrote.

use std::borrow::Cow;
use std::collections::BTreeMap;

use holdover_sim::clock::{Clock, ClockLine, Segment};
use holdover_sim::history::{Event, History, NodeRecord, Row, Soundness, What};
use holdover_sim::id::ExportId;
use holdover_sim::limits::Ending;
use holdover_sim::names;
use holdover_sim::seed::Seed;
use holdover_sim::time::{TimeOfDay, TrueTime};
use holdover_sim::world::TimeDaemon;
use serde_json::Value;

use super::error::Mistake;
use super::lines::{EndLine, EventLine, NodeLine, RunLine};
use super::{Concluded, StoredRun, Told, ToldOfNode};
use crate::shown;

/// A run of which the beginning has been read.
pub(super) struct Building {
    run: StoredRun,
    soundness: Soundness,
    exports: BTreeMap<ExportId, Vec<Row>>,
}

impl Building {
    /// The run that begins with `head`, in the line of that number.
    pub(super) fn of(head: RunLine<'static>, line: usize) -> Result<Building, Mistake> {
        let protocol = named("run", &head.run)?;
        seen("summary", &head.summary)?;
        let settings = head.world.into_owned();
        let mut nodes = Vec::new();
        let mut told = Vec::new();
        for (number, node) in head.nodes.into_iter().enumerate() {
            let (record, rest) = record(number, node)?;
            nodes.push(record);
            told.push(rest);
        }
        if nodes.is_empty() || nodes.len() > usize::from(u16::MAX) || head.plan.len() > usize::from(u16::MAX) {
            return Err(Mistake::new("there are 1 to 65,535 nodes, and no more faults than that"));
        }
        for name in head.plan.iter().filter_map(|planned| planned.name.as_deref()) {
            seen("the name of a fault", name)?;
        }
        let soundness = Soundness::of(&nodes, head.batch.len(), &head.plan).map_err(Mistake::new)?;
        let (due, progress_within) = settings.due(head.start);
        let history = History {
            protocol,
            seed: Seed(head.seed),
            start: head.start,
            nodes,
            batch: head.batch.into_owned(),
            plan: head.plan.into_owned(),
            due,
            progress_within,
            ttl: settings.ttl(),
            expiry_as_meant: settings.expiry_as_meant(),
            store_clock: settings.store_clock(),
            lease_service: settings.lease_service().map_err(Mistake::new)?,
            events: Vec::new(),
            exports: Vec::new(),
            ending: Ending::Finished,
            ended_at: TrueTime::START,
        };
        let concluded = Concluded {
            holdover: seen("holdover", &head.holdover)?.to_owned(),
            fingerprints: [fingerprint(head.fingerprint)?, String::new()],
            verdicts: BTreeMap::new(),
            broken_assumptions: Vec::new(),
            belief_overlap: Default::default(),
            seen: BTreeMap::new(),
            faults: Vec::new(),
        };
        let run = StoredRun {
            history,
            line,
            title: head.title.into_owned(),
            story: head.story.map(Cow::into_owned),
            expect: head.expect.map(Into::into),
            summary: head.summary.into_owned(),
            relies_on: texts("relies_on", head.relies_on)?,
            told: Told { settings, nodes: told },
            concluded,
        };
        Ok(Building { run, soundness, exports: BTreeMap::new() })
    }

    /// The protocol of the run.
    pub(super) fn name(&self) -> &'static str {
        self.run.history.protocol
    }

    /// Takes the next event in.
    pub(super) fn follow(&mut self, line: EventLine<'_>) -> Result<(), Mistake> {
        self.is_of_run(&line.run)?;
        let history = &mut self.run.history;
        let EventLine { id, at, node, cause, what, .. } = line;
        if id.index() != history.events.len() {
            let next = history.events.len();
            return Err(Mistake::new(format!("`id` is {}, and the next event is number {next}", id.0)));
        }
        let event = Event { at, node, cause, what };
        self.soundness.follow(&event).map_err(Mistake::new)?;
        if let What::PointPassed(point) = what {
            seen("the point", point.0)?;
        }
        if let What::MessageSent { about, .. } | What::CallTimedOut { about, .. } = what {
            seen("about", about)?;
        }
        history.events.push(event);
        let utc = TimeOfDay(history.utc(at)).to_string();
        if line.utc != utc {
            return Err(Mistake::new(format!("`utc` isn't what `at` and the start of the run make it: {utc}")));
        }
        for (key, clock, stored) in [("wall", Clock::Wall, line.wall), ("mono", Clock::Monotonic, line.mono)] {
            let read = history.reading(id, node, clock);
            if stored != read {
                let wrong = format!("`{key}` is {stored}, and by the clocks in the first line it is {read}");
                return Err(Mistake::new(wrong));
            }
        }
        match (what, line.rows) {
            (What::ExportPublished { export, .. }, Some(rows)) => self.publish(export, rows.into_owned()),
            (What::ExportPublished { .. }, None) => Err(Mistake::new("an export needs its `rows`")),
            (_, Some(_)) => Err(Mistake::new("only an export has `rows`")),
            (_, None) => Ok(()),
        }
    }

    /// Takes the last line in.
    pub(super) fn end(mut self, line: EndLine<'static>) -> Result<StoredRun, Mistake> {
        self.is_of_run(&line.run)?;
        self.soundness.end(line.ended_at).map_err(Mistake::new)?;
        let ending = line.ending.into_owned();
        if let Ending::Panicked { node, .. } = ending {
            self.soundness.node(node).map_err(Mistake::new)?;
        }
        for (export, rows) in line.untold_exports {
            self.publish(export, rows.into_owned())?;
        }
        let StoredRun { history, concluded, .. } = &mut self.run;
        for (expected, (export, rows)) in self.exports.into_iter().enumerate() {
            if export.index() != expected {
                return Err(Mistake::new(format!(
                    "export {expected} is missing, and export {} is there",
                    export.0
                )));
            }
            history.exports.push(rows);
        }
        history.ending = ending;
        history.ended_at = line.ended_at;
        for (rule, verdict) in &line.verdicts {
            seen("the name of a rule", rule)?;
            let is = verdict.get("verdict").and_then(Value::as_str);
            if !matches!(is, Some("holds" | "violated" | "unknown")) {
                let wrong = format!("the verdict of `{rule}` is neither `holds` nor `violated` nor `unknown`");
                return Err(Mistake::new(wrong));
            }
        }
        concluded.fingerprints[1] = fingerprint(line.fingerprint)?;
        concluded.verdicts =
            line.verdicts.into_iter().map(|(rule, verdict)| (rule.into_owned(), verdict)).collect();
        concluded.broken_assumptions = texts("broken_assumptions", line.broken_assumptions)?;
        concluded.belief_overlap = line.belief_overlap;
        for name in line.seen.keys() {
            seen("a name in `seen`", name)?;
        }
        concluded.seen = line.seen.into_iter().map(|(name, count)| (name.into_owned(), count)).collect();
        concluded.faults = line.faults;
        Ok(self.run)
    }

    fn is_of_run(&self, run: &str) -> Result<(), Mistake> {
        match run == self.name() {
            true => Ok(()),
            false => {
                Err(Mistake::new(format!("`run` is `{}`, and this run is of {}", shown::name(run), self.name())))
            }
        }
    }

    fn publish(&mut self, export: ExportId, rows: Vec<Row>) -> Result<(), Mistake> {
        if rows.iter().any(|row| row.op.index() >= self.run.history.batch.len()) {
            return Err(Mistake::new("`rows` has an operation that isn't in the batch"));
        }
        match self.exports.insert(export, rows) {
            None => Ok(()),
            Some(_) => Err(Mistake::new(format!("export {} was published before", export.0))),
        }
    }
}

/// A node, and what else is told of it.
fn record(number: usize, line: NodeLine<'static>) -> Result<(NodeRecord, ToldOfNode), Mistake> {
    let NodeLine { name, role, starts, copy_of, discipline, clocks } = line;
    seen("the name of a node", &name)?;
    if let Some(discipline) = &discipline
        && !TimeDaemon::ALL.iter().any(|daemon| daemon.name() == discipline.daemon)
    {
        return Err(Mistake::new(format!("`daemon` of node {number} is none that there is")));
    }
    let clocks = ClockLine::of(clocks.into_iter().map(Segment::from).collect())
        .ok_or_else(|| Mistake::new(format!("`clocks` of node {number} are empty, or not in order")))?;
    Ok((NodeRecord { name: name.into_owned(), role, clocks, copy_of }, (starts, discipline)))
}

/// A name that programs have for as long as they run.
fn named(key: &str, name: &str) -> Result<names::Name, Mistake> {
    names::kept(seen(key, name)?).map_err(|wrong| Mistake::new(format!("`{key}`: {wrong}")))
}

/// `name`, if it has nothing that nobody sees or that a terminal obeys: reports show it as it is.
fn seen<'a>(key: &str, name: &'a str) -> Result<&'a str, Mistake> {
    match name.chars().any(shown::is_unseen) {
        false => Ok(name),
        true => Err(Mistake::new(format!("{key} has a character that can't be seen: {}", shown::name(name)))),
    }
}

fn texts(key: &str, texts: Vec<Cow<'_, str>>) -> Result<Vec<String>, Mistake> {
    texts.into_iter().map(|text| seen(key, &text).map(str::to_owned)).collect()
}

fn fingerprint(text: String) -> Result<String, Mistake> {
    match text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        true => Ok(text),
        false => Err(Mistake::new("`fingerprint` isn't 32 digits from 0 to f")),
    }
}
