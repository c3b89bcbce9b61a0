//! What stands below the verdicts: what shows each violation, what the faults came to, how the runs ended.

use std::io::{self, Write};

use holdover_sim::check::{Bite, Verdict};
use holdover_sim::fault::PlannedFault;
use holdover_sim::history::History;
use holdover_sim::limits::Ending;

use super::layout::{columns, cut, harmless, paragraph};
use super::style::{BAD, BOLD, DIM, FAULT, GOOD, PLAIN};
use super::words;
use crate::replay::{Deviation, JudgedRun, Outcome, Replay};
use crate::scenario::Expected;

/// Beside a longer name there would be no room.
const WIDEST_NAME: usize = 20;

/// More faults than these are only counted.
const FAULTS_SHOWN: usize = 40;

/// Writes what shows each violation, and why what is unknown is so.
pub(super) fn write_violations(replay: &Replay<'_>, width: usize, out: &mut impl Write) -> io::Result<()> {
    for run in &replay.runs {
        let (mut broken, mut unknown) = (Vec::new(), Vec::new());
        for (checker, verdict) in &run.verdicts {
            match verdict {
                Verdict::Holds { .. } => {}
                Verdict::Violated { witness, .. } => {
                    broken.push((checker.name, words::witness(&run.history, witness)));
                }
                Verdict::Unknown { reason } => unknown.push((checker.name, harmless(reason))),
            }
        }
        let name = run.protocol.name();
        write_reasons(&format!("what {name} broke"), broken, width, out)?;
        write_reasons(&format!("what can't be told of {name}"), unknown, width, out)?;
    }
    Ok(())
}

fn write_reasons(title: &str, reasons: Vec<(&str, String)>, width: usize, out: &mut impl Write) -> io::Result<()> {
    if reasons.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    writeln!(out, "  {BOLD}{title}{BOLD:#}")?;
    let hang = 4 + reasons.iter().map(|(checker, _)| columns(checker)).max().unwrap_or(0);
    for (checker, reason) in reasons {
        let head = format!("  {checker:<0$}", hang - 2);
        paragraph(out, &head, hang, &reason, PLAIN, width)?;
    }
    Ok(())
}

/// Writes what each fault of the plan came to.
pub(super) fn write_faults(replay: &Replay<'_>, width: usize, out: &mut impl Write) -> io::Result<()> {
    let Some(first) = replay.runs.first() else { return Ok(()) };
    writeln!(out)?;
    let plan = &first.history.plan;
    if plan.is_empty() {
        return writeln!(out, "  {DIM}no faults are planned{DIM:#}");
    }
    writeln!(out, "  {BOLD}faults{BOLD:#}")?;
    for (index, planned) in plan.iter().enumerate().take(FAULTS_SHOWN) {
        paragraph(out, "  ", 4, &planned_fault(&first.history, planned), PLAIN, width)?;
        let came_to = replay.runs.iter().map(|run| format!("{}: {}", run.protocol.name(), bite(run.bites[index])));
        paragraph(out, "    ", 4, &came_to.collect::<Vec<_>>().join(" · "), DIM, width)?;
    }
    if plan.len() > FAULTS_SHOWN {
        let others = words::many(plan.len() - FAULTS_SHOWN, "more fault", "more faults");
        paragraph(out, "  ", 4, &format!("and {others}"), PLAIN, width)?;
        for run in &replay.runs {
            let text = format!("{}: {}", run.protocol.name(), counted_bites(&run.bites[FAULTS_SHOWN..]));
            paragraph(out, "    ", 4, &text, DIM, width)?;
        }
    }
    Ok(())
}

pub(super) fn planned_fault(history: &History, planned: &PlannedFault) -> String {
    let note = planned.note.as_ref().map_or(String::new(), |note| format!(" ({})", harmless(note)));
    format!("{}, {}{note}", words::fault(history, &planned.inject), words::anchor(history, planned))
}

/// What became of a fault, in words.
pub(super) fn bite(bite: Bite) -> &'static str {
    match bite {
        Bite::NeverStruck => "never struck",
        Bite::Missed => "struck, but touched no lease",
        Bite::Bit => "bit",
    }
}

fn counted_bites(bites: &[Bite]) -> String {
    let counted = [Bite::Bit, Bite::Missed, Bite::NeverStruck].into_iter().filter_map(|kind| {
        let count = bites.iter().filter(|one| **one == kind).count();
        (count > 0).then(|| format!("{} {}", words::grouped(count as u64), bite(kind)))
    });
    counted.collect::<Vec<_>>().join("; ")
}

/// The columns of the longest protocol's name, within reason.
pub(super) fn widest_name(replay: &Replay<'_>) -> usize {
    replay.runs.iter().map(|run| columns(run.protocol.name())).max().unwrap_or(0).min(WIDEST_NAME)
}

/// Writes how the runs ended, their fingerprints, and whether all is as expected.
pub(super) fn write_ends(replay: &Replay<'_>, width: usize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    let widest = widest_name(replay);
    for run in &replay.runs {
        let name = cut(run.protocol.name(), widest);
        paragraph(out, &format!("  {name:<widest$}  "), widest + 4, &ended(run), DIM, width)?;
    }
    let deviations = replay.deviations();
    if deviations.is_empty() {
        return writeln!(out, "  {GOOD}as the scenario expects{GOOD:#}");
    }
    // Why something is unknown was told above.
    for alike in deviations.chunk_by(|one, next| are_alike(one, next, false)) {
        let style = if alike[0].outcome() == Outcome::Inconclusive { FAULT } else { BAD };
        paragraph(out, "  ", 4, &told_together(alike), style, width)?;
    }
    Ok(())
}

/// How a run ended, and its fingerprint.
pub(super) fn ended(run: &JudgedRun) -> String {
    let at = words::utc(&run.history, run.history.ended_at);
    let ended = match &run.history.ending {
        Ending::Finished => format!("finished at {at}"),
        Ending::TimeUp => format!("ran to the scenario's end at {at}"),
        Ending::Stuck => format!("got stuck at {at}: nothing more could happen"),
        Ending::StepsUsedUp => format!("was stopped by its bound on steps at {at}"),
        // What it said is among what isn't as expected.
        Ending::Bug(_) => format!("BROKE DOWN at {at}, by a bug in holdover"),
        Ending::Panicked { node, .. } => format!("PANICKED on {} at {at}", words::name(&run.history, *node)),
    };
    let events = words::many(run.history.events.len(), "event", "events");
    format!("{ended}, {events}, fingerprint {}", run.fingerprint)
}

/// What isn't as expected, as sentences without their full stops; verdicts that are unknown for one reason are told
/// together.
pub fn deviation_texts(deviations: &[Deviation]) -> Vec<String> {
    told_deviations(deviations).into_iter().map(|(_, text)| text).collect()
}

/// The same, each with the first of those that are told together.
pub(super) fn told_deviations(deviations: &[Deviation]) -> Vec<(&Deviation, String)> {
    let groups = deviations.chunk_by(|one, next| are_alike(one, next, true)).map(|alike| {
        let text = told_together(alike);
        match unknown(&alike[0]) {
            Some((.., reason)) => (&alike[0], format!("{text} ({})", harmless(reason))),
            None => (&alike[0], text),
        }
    });
    groups.collect()
}

/// The protocol, the checker, what is expected of it and why it can't be told, if that is what `deviation` says.
fn unknown(deviation: &Deviation) -> Option<(&str, &str, Expected, &str)> {
    match deviation {
        Deviation::Verdict { protocol, checker, expected, got: Verdict::Unknown { reason } } => {
            Some((protocol, checker, *expected, reason))
        }
        _ => None,
    }
}

fn are_alike(one: &Deviation, next: &Deviation, reasons_too: bool) -> bool {
    match (unknown(one), unknown(next)) {
        (Some((protocol, _, expected, reason)), Some((next_protocol, _, next_expected, next_reason))) => {
            (protocol, expected) == (next_protocol, next_expected) && (!reasons_too || reason == next_reason)
        }
        _ => false,
    }
}

fn told_together(alike: &[Deviation]) -> String {
    let checkers: Vec<&str> = alike.iter().filter_map(unknown).map(|(_, checker, ..)| checker).collect();
    match unknown(&alike[0]) {
        Some((protocol, _, expected, _)) if checkers.len() > 1 => {
            format!("{protocol}: {} are unknown, expected: {expected}", checkers.join(", "))
        }
        _ => without_reason(&alike[0]),
    }
}

fn without_reason(deviation: &Deviation) -> String {
    match deviation {
        Deviation::Verdict { protocol, checker, expected, got } => {
            let is = if matches!(got, Verdict::Holds { .. }) { "" } else { "is " };
            format!("{protocol}: {checker} {is}{}, expected: {expected}", got.name())
        }
        Deviation::Panicked { protocol, node, message } => {
            format!("{protocol}: {node} panicked: {}", harmless(message))
        }
        Deviation::NotSeen { protocol, sighting } => {
            format!("{protocol}: {sighting} was never seen, so the verdicts prove nothing")
        }
        Deviation::BoundHit { protocol, steps } => {
            let bound = words::many(usize::try_from(*steps).unwrap_or(usize::MAX), "step", "steps");
            format!("{protocol}: the run hit its bound of {bound}; `steps` in the scenario raises it")
        }
        Deviation::Bug { protocol, bug } => {
            format!("{protocol}: holdover itself panicked: this is a bug in holdover: {}", harmless(bug))
        }
        Deviation::NotAsStored { protocol, what } => format!("{protocol}: {what}"),
        Deviation::NotDeterministic { protocol, why } => {
            format!("{protocol}: a second run with the same seed gave another history: {why}")
        }
    }
}
