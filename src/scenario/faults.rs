//! The fault plan: each `[[fault]]` table as the simulator has it.

use std::ops::Range;

use holdover_sim::fault::{Anchor, Fault, HALF_SMEAR, LeapSecond, PlannedFault};
use holdover_sim::time::TrueTime;

use super::anchors;
use super::contradictions;
use super::error::{Mistake, Wrong};
use super::file::{FaultFile, Table};
use super::lower::Lower;
use super::names::quoted;
use super::nodes::Nodes;

pub(super) const MOST_FAULTS: usize = 10_000;

/// The plan, in the order of the file.
pub(super) fn plan(lower: &mut Lower, faults: &[Table<FaultFile>], nodes: &Nodes) -> Vec<PlannedFault> {
    if let Some(Table(first_beyond)) = faults.get(MOST_FAULTS) {
        let wrong = Wrong::new(format!("{} faults", faults.len()));
        lower.mistake(&first_beyond.inject, wrong.help(format!("there can be at most {MOST_FAULTS}")));
    }
    let names = anchors::names(lower, faults);
    let mut placed: Vec<(Range<usize>, PlannedFault)> = Vec::new();
    for Table(fault) in faults.iter().take(MOST_FAULTS) {
        let found = lower.mistakes.found();
        let planned = PlannedFault {
            when: anchors::lower(lower, &fault.when, nodes, &names),
            inject: fault.inject.get_ref().lower(lower, nodes),
            note: fault.note.as_ref().map(|note| note.get_ref().clone()),
            name: fault.name.as_ref().map(|name| name.get_ref().clone()),
        };
        if let Fault::LeapSecond(leap) = &planned.inject {
            check_leap(lower, fault, leap, &planned.when);
        }
        if let Some(note) = &fault.note {
            lower.one_line("note", note);
        }
        // One with a mistake has something in it that wasn't meant, and would contradict by accident.
        if lower.mistakes.found() == found {
            placed.push((fault.inject.span(), planned));
        }
    }
    anchors::find_circles(lower, faults);
    // Whoever dropped out may be the snapshot that one of the others goes back to.
    if placed.len() == faults.len() {
        for (Table(fault), (_, planned)) in faults.iter().zip(&placed) {
            check_restore(lower, fault, planned, &placed);
        }
    }
    if lower.calendar.is_some() {
        contradictions::find(&mut lower.mistakes, &placed);
    }
    placed.into_iter().map(|(_, planned)| planned).collect()
}

/// Whoever is put back must have a snapshot by then, as far as the times tell.
fn check_restore(
    lower: &mut Lower,
    fault: &FaultFile,
    restore: &PlannedFault,
    plan: &[(Range<usize>, PlannedFault)],
) {
    let Some(name) = fault.inject.get_ref().restored() else { return };
    let node = restore.inject.node();
    let snapshots = plan.iter().map(|(_, planned)| planned);
    let snapshots =
        snapshots.filter(|planned| matches!(&planned.inject, Fault::Snapshot(snapshot) if snapshot.node == node));
    let in_time = |snapshot: &PlannedFault| match (&snapshot.when, &restore.when) {
        (Anchor::At(taken), Anchor::At(at)) => taken < at,
        _ => true,
    };
    let wrong = match snapshots.clone().count() {
        0 => Wrong::new(format!("no snapshot of {} is ever taken", quoted(name.get_ref()))).help(
            "add a fault before this one, such as inject = { snapshot = { node = \"worker-a\" } }; a `crash` with a \
             `for` has a worker begin anew with nothing",
        ),
        _ if snapshots.clone().any(in_time) => return,
        _ => Wrong::new(format!("no snapshot of {} is taken before this", quoted(name.get_ref())))
            .help("put the snapshot at an earlier time"),
    };
    lower.mistakes.add(Mistake::at(name.span(), "nothing to go back to", wrong));
}

/// A leap second comes at a time that everybody knows, and its smear is under way long before.
fn check_leap(lower: &mut Lower, fault: &FaultFile, leap: &LeapSecond, when: &Anchor) {
    let written = &fault.when.get_ref().0;
    match (when, &written.point, &written.at) {
        (Anchor::Point { .. } | Anchor::Event { .. } | Anchor::Fault { .. }, point, _) => {
            let wrong = Wrong::new("a leap second strikes at a time, and at nothing else")
                .help("write when = { at = \"00:00:00\" }; a `clock-step` can strike at a point");
            match point {
                Some(point) => lower.mistake(point, wrong),
                None => lower.mistake(&fault.when, wrong),
            }
        }
        (Anchor::At(at), _, Some(place)) if *at - TrueTime::START > HALF_SMEAR && !leap.smeared.is_empty() => {
            let wrong = Wrong::new("a smear that begins after the start")
                .help("it goes on for 12 h before the leap second; put that within 12 h of the start");
            lower.mistake(place, wrong);
        }
        _ => {}
    }
    if leap.stepped.is_empty() && leap.smeared.is_empty() {
        let wrong = Wrong::new("the leap second reaches nobody")
            .help("add stepped = [\"worker-a\"], smeared = [\"worker-b\"], or both");
        lower.mistake(&fault.inject, wrong);
    }
}
