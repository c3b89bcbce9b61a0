//! The record of a page: what all its protocols have in common, and their runs.
//!
//! Times are nanoseconds of true time since the start, as numbers where they are drawn. A run may be longer than the 104
//! days that such numbers are exact for, so what is shown to the nanosecond is kept as differences or as text.

use holdover_sim::check::{CHECKERS, SIGHTINGS};
use holdover_sim::fault::PlannedFault;
use holdover_sim::history::History;
use serde::Serialize;

use super::explained::explained;
use super::one_run::{RunRecord, run_record};
use super::{Picture, harmless};
use crate::replay::Deviation;
use crate::report::closing::{deviation_texts, planned_fault};
use crate::report::explain::text::elsewhere;
use crate::report::json::outcome_name;
use crate::report::words;

#[derive(Serialize)]
pub(super) struct Document<'a> {
    version: &'static str,
    title: String,
    story: Option<&'a str>,
    file: String,
    command: &'a str,
    /// As text: it may be larger than numbers are exact for.
    seed: String,
    /// The wall time at true time 0, in nanoseconds since 1970, as text.
    start: String,
    outcome: &'static str,
    deviations: Vec<String>,
    rules: Vec<Named>,
    sightings: Vec<Named>,
    faults: Vec<FaultRecord>,
    runs: Vec<RunRecord<'a>>,
    elsewhere: Vec<ElsewhereRecord>,
}

/// A rule or a sighting, with what it means.
#[derive(Serialize)]
struct Named {
    name: &'static str,
    means: &'static str,
}

#[derive(Serialize)]
struct FaultRecord {
    kind: &'static str,
    /// What it does and when.
    text: String,
    /// What it does.
    phrase: String,
    note: Option<String>,
    name: Option<String>,
}

#[derive(Serialize)]
struct ElsewhereRecord {
    protocol: &'static str,
    text: String,
    refused: Option<String>,
}

/// The record of the page on `picture`.
pub(super) fn document(picture: Picture<'_>) -> Document<'_> {
    let Picture { explanation, protocols, file, command } = picture;
    let replay = &explanation.replay;
    let premise = &replay.premise;
    let is_shown = |protocol: &str| protocols.contains(&protocol);
    let deviations: Vec<Deviation> =
        replay.deviations().into_iter().filter(|deviation| is_shown(deviation.protocol())).collect();
    let outcome = deviations.iter().map(Deviation::outcome).max();
    let history = replay.runs.first().map(|run| &run.history);
    let runs = replay.runs.iter().enumerate().filter(|(_, run)| is_shown(run.protocol.name()));
    Document {
        version: env!("CARGO_PKG_VERSION"),
        title: harmless(premise.title),
        story: premise.story,
        file: harmless(file),
        command,
        seed: replay.seed.0.to_string(),
        start: premise.start.as_nanos().to_string(),
        outcome: outcome.map_or("as-expected", outcome_name),
        deviations: deviation_texts(&deviations),
        rules: CHECKERS.iter().map(|rule| Named { name: rule.name, means: rule.holds_when }).collect(),
        sightings: SIGHTINGS.iter().map(|seen| Named { name: seen.name, means: seen.meaning }).collect(),
        faults: history.map_or(Vec::new(), |history| {
            premise.plan.iter().map(|planned| fault_record(history, planned)).collect()
        }),
        runs: runs
            .map(|(index, run)| {
                let learned = explanation.explained.get(index);
                run_record(run, learned.map(|learned| explained(run, learned, explanation.budget)))
            })
            .collect(),
        elsewhere: elsewhere(explanation)
            .into_iter()
            .map(|one| ElsewhereRecord { protocol: one.protocol, text: one.text, refused: one.refused })
            .collect(),
    }
}

fn fault_record(history: &History, planned: &PlannedFault) -> FaultRecord {
    FaultRecord {
        kind: planned.inject.name(),
        text: planned_fault(history, planned),
        phrase: words::fault(history, &planned.inject),
        note: planned.note.as_deref().map(harmless),
        name: planned.name.clone(),
    }
}
