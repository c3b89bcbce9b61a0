//! The phase after the incident: what operators found, what they decided and why, and what it came to.

pub(super) mod figures;
pub(super) mod operations;
pub(super) mod phrases;
mod turns;

use std::io::{self, Write};

use anstyle::Style;
use holdover_sim::history::{
    History, PayoutEnd, Reconciled, Reconciliation, Resolution, Role, Totals, reconciliation,
};
use holdover_sim::id::{EventId, OpId};

use super::layout::{columns, paragraph};
use super::style::{BAD, BOLD, DIM, FAULT, GOOD, PLAIN};
use super::words;

/// Writes how the repair in `history` went, if anybody repaired anything.
pub(super) fn write(history: &History, width: usize, out: &mut impl Write) -> io::Result<()> {
    let Some(repair) = reconciliation(history) else { return Ok(()) };
    writeln!(out)?;
    writeln!(out, "  {BOLD}repair under {}{BOLD:#}", history.protocol)?;
    let told = told(history, &repair);
    let hang = 4 + told.iter().map(|(label, ..)| columns(label)).max().unwrap_or(0);
    for (label, text, style) in told {
        let head = format!("  {label:<0$}", hang - 2);
        paragraph(out, &head, hang, &text, style, width)?;
    }
    operations::write(history, &repair.operations, width, out)?;
    figures::write(&repair.totals, repair.sums, width, out)?;
    write_unresolved(&repair.operations, width, out)
}

/// Who repaired, what there was to repair, and what it came to, each with its label.
pub(super) fn told(history: &History, repair: &Reconciliation) -> Vec<(String, String, Style)> {
    let mut told = turns::told(history, &repair.turns);
    told.push(("found".to_owned(), found(history, repair), PLAIN));
    let (outcome, style) = outcome(repair);
    told.push(("came to".to_owned(), outcome, style));
    told
}

/// The damage that there was to repair: what workers did, and left undone.
fn found(history: &History, repair: &Reconciliation) -> String {
    let by_worker = |event: EventId| {
        let claim = history.event(event).what.claim();
        claim.is_none_or(|claim| !history.is(claim.worker, Role::Operator))
    };
    let mut kinds = [
        (0, "with more than one entry"),
        (0, "without an entry"),
        (0, "with more than one payout"),
        (0, "whose payouts failed"),
        (0, "never paid"),
    ];
    for operation in &repair.operations {
        let entries = operation.entries.iter().filter(|entered| by_worker(entered.event)).count();
        let payouts = || operation.payouts.iter().filter(|payout| by_worker(payout.made));
        let failed = payouts().filter(|payout| payout.end == PayoutEnd::Failed).count();
        let paid = payouts().count() - failed;
        let is_so = [entries > 1, entries == 0, paid > 1, paid == 0 && failed > 0, paid + failed == 0];
        kinds.iter_mut().zip(is_so).for_each(|((count, _), is_so)| *count += usize::from(is_so));
    }
    let Totals { operations, affected, exports_superseded, .. } = repair.totals;
    let mut told = vec![format!("{affected} of {} affected", words::many(operations, "operation", "operations"))];
    told.extend(kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}")));
    if exports_superseded > 0 {
        told.push(words::many(exports_superseded, "export to supersede", "exports to supersede"));
    }
    told.join(", ")
}

fn outcome(repair: &Reconciliation) -> (String, Style) {
    let Totals { unresolved, .. } = repair.totals;
    let off: Vec<OpId> = repair
        .operations
        .iter()
        .filter(|operation| !operation.is_balanced())
        .map(|operation| operation.op)
        .collect();
    let left = match unresolved {
        0 => "nothing is unresolved".to_owned(),
        left => format!("{} unresolved", words::many(left, "operation is", "operations are")),
    };
    match (off.is_empty(), unresolved) {
        _ if repair.operations.is_empty() => ("nothing was there to repair".to_owned(), PLAIN),
        (true, 0) => (format!("each has one standing entry and one effect; {left}"), GOOD),
        (true, _) => (format!("{left}, though each has one standing entry and one effect"), FAULT),
        (false, _) => (format!("{} exactly one standing entry and one effect; {left}", do_not_have(&off)), BAD),
    }
}

fn do_not_have(ops: &[OpId]) -> String {
    format!("{} {} have", words::operations(ops), if ops.len() == 1 { "doesn't" } else { "don't" })
}

/// Writes what isn't closed, and why.
fn write_unresolved(operations: &[Reconciled], width: usize, out: &mut impl Write) -> io::Result<()> {
    let unresolved = unresolved(operations);
    if unresolved.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    writeln!(out, "  {BOLD}what is unresolved{BOLD:#}")?;
    for (why, truth) in unresolved {
        paragraph(out, "  ", 4, &why, FAULT, width)?;
        paragraph(out, "    ", 4, &truth, DIM, width)?;
    }
    Ok(())
}

/// What isn't closed and why, each with what only the simulator can know of it.
pub(super) fn unresolved(operations: &[Reconciled]) -> Vec<(String, String)> {
    let open = operations.iter().filter(|operation| !matches!(operation.resolution, Resolution::Closed(_)));
    let mut reasons: Vec<(Resolution, Vec<&Reconciled>)> = Vec::new();
    for operation in open {
        match reasons.iter_mut().find(|(resolution, _)| *resolution == operation.resolution) {
            Some((_, alike)) => alike.push(operation),
            None => reasons.push((operation.resolution, vec![operation])),
        }
    }
    let told = |(resolution, alike): (Resolution, Vec<&Reconciled>)| {
        let why = match resolution {
            Resolution::GivenUp(why) => format!("a person has to look: {}", phrases::reason(why)),
            _ if alike.iter().all(|operation| operation.decisions.is_empty()) => {
                "the repair never asked what the provider has".to_owned()
            }
            _ => "the repair didn't come to an end".to_owned(),
        };
        let all: Vec<OpId> = alike.iter().map(|operation| operation.op).collect();
        let off: Vec<OpId> = alike
            .iter()
            .filter(|operation| operation.effects().count() != 1)
            .map(|operation| operation.op)
            .collect();
        let truth = match off.len() {
            0 => "in truth each has exactly one effect".to_owned(),
            _ => format!("in truth {} exactly one effect", do_not_have(&off)),
        };
        (format!("{}: {why}", words::operations(&all)), truth)
    };
    reasons.into_iter().map(told).collect()
}
