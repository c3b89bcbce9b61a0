//! The fault plan: each `[[fault]]` table as the simulator has it.

use std::ops::Range;

use holdover_sim::fault::{Anchor, Fault, HALF_SMEAR, LeapSecond, PlannedFault};
use holdover_sim::point::POINTS;
use holdover_sim::time::TrueTime;
use toml::Spanned;

use super::contradictions;
use super::error::{Mistake, Wrong};
use super::file::{FaultFile, Table, WhenFile};
use super::inject::NO_NODE;
use super::lower::{Lower, Nodes};
use super::names::{did_you_mean, listed, quoted};

const MOST_FAULTS: usize = 10_000;

/// The plan, in the order of the file.
pub(super) fn plan(lower: &mut Lower, faults: &[Table<FaultFile>], nodes: &Nodes) -> Vec<PlannedFault> {
    if let Some(Table(first_beyond)) = faults.get(MOST_FAULTS) {
        let wrong = Wrong::new(format!("{} faults", faults.len()));
        lower.mistake(&first_beyond.inject, wrong.help(format!("there can be at most {MOST_FAULTS}")));
    }
    let mut placed: Vec<(Range<usize>, PlannedFault)> = Vec::new();
    for Table(fault) in faults.iter().take(MOST_FAULTS) {
        let found = lower.mistakes.found();
        let planned = PlannedFault {
            when: anchor(lower, &fault.when, nodes),
            inject: fault.inject.get_ref().lower(lower, nodes),
            note: fault.note.as_ref().map(|note| note.get_ref().clone()),
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
    if lower.calendar.is_some() {
        contradictions::find(&mut lower.mistakes, &placed);
    }
    placed.into_iter().map(|(_, planned)| planned).collect()
}

/// A leap second comes at a time that everybody knows, and its smear is under way long before.
fn check_leap(lower: &mut Lower, fault: &FaultFile, leap: &LeapSecond, when: &Anchor) {
    let written = &fault.when.get_ref().0;
    match (when, &written.point, &written.at) {
        (Anchor::Point { .. }, Some(point), _) => {
            let wrong = Wrong::new("a leap second strikes at a time, not at a point")
                .help("write when = { at = \"00:00:00\" }; a `clock-step` can strike at a point");
            lower.mistake(point, wrong);
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

fn anchor(lower: &mut Lower, when: &Spanned<Table<WhenFile>>, nodes: &Nodes) -> Anchor {
    let WhenFile { at, point, node, after, nth } = &when.get_ref().0;
    match (at, point) {
        (Some(at), None) => {
            let others = [
                node.as_ref().map(|node| ("node", node.span())),
                after.as_ref().map(|after| ("after", after.span())),
                nth.as_ref().map(|nth| ("nth", nth.span())),
            ];
            for (key, place) in others.into_iter().flatten() {
                let wrong = Wrong::new(format!("`{key}` doesn't go with `at`"))
                    .help("it narrows down a `point`; a fault at a time needs only the time");
                lower.mistakes.add(Mistake::at(place, "of no use here", wrong).and(at.span(), "the time"));
            }
            Anchor::At(lower.time(Some(at)))
        }
        (None, Some(point)) => point_anchor(lower, point, &when.get_ref().0, nodes),
        (Some(at), Some(point)) => {
            let wrong = Wrong::new("a fault strikes at a time or at a point, not both")
                .help("take one away; for a point from a time on write `after` in place of `at`");
            lower.mistakes.add(Mistake::at(point.span(), "the point", wrong).and(at.span(), "the time"));
            Anchor::At(lower.time(Some(at)))
        }
        (None, None) => {
            let wrong = Wrong::new("the fault has neither a time nor a point")
                .help("write when = { at = \"+58s\" } or when = { point = \"write.checked\" }");
            lower.mistake(when, wrong);
            Anchor::At(lower.time(None))
        }
    }
}

fn point_anchor(lower: &mut Lower, point: &Spanned<String>, when: &WhenFile, nodes: &Nodes) -> Anchor {
    let name = point.get_ref();
    if !POINTS.iter().any(|(known, _)| known.0 == name) {
        let help = did_you_mean(name, "points", POINTS.iter().map(|(known, _)| known.0));
        let wrong = Wrong::new(format!("unknown point {}", quoted(name)));
        lower.mistakes.add(Mistake::at(point.span(), "no such point", wrong.help(help)));
    }
    let node = when.node.as_ref().map(|name| {
        let node = lower.mistakes.value_or(nodes.find(name), NO_NODE);
        if Nodes::is_service(node) {
            let wrong = Wrong::new(format!("the service {} passes no points", quoted(name.get_ref())))
                .help(format!("only workers do: {}", listed(&nodes.workers())));
            lower.mistakes.add(Mistake::at(name.span(), "a service", wrong));
        }
        node
    });
    let nth = lower.above_zero(when.nth.as_ref(), "nth", 1);
    let nth = u32::try_from(nth).unwrap_or_else(|_| {
        if let Some(written) = &when.nth {
            lower.mistake(
                written,
                Wrong::new(format!("the passing number {nth} never comes")).help("count from 1"),
            );
        }
        u32::MAX
    });
    Anchor::Point { point: name.clone(), node, after: lower.time(when.after.as_ref()), nth }
}
