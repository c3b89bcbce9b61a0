//! Operation by operation: what there was of each, what was decided, and why.

use std::io::{self, Write};

use anstyle::Style;
use holdover_sim::history::{
    Decided, Decision, Entered, History, Payout, PayoutEnd, Reason, Reconciled, Resolution, Role, Standing, What,
};
use holdover_sim::id::{EventId, NodeId, OpId};

use super::super::layout::{columns, paragraph};
use super::super::style::{BAD, BOLD, DIM, FAULT, GOOD, PLAIN};
use super::super::words;
use super::phrases;

/// More operations than these aren't told one by one.
const SHOWN: usize = 24;

/// Writes what became of each operation; those with the same story are told together.
pub(super) fn write(
    history: &History,
    operations: &[Reconciled],
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    if operations.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    writeln!(out, "  {BOLD}operation by operation{BOLD:#}")?;
    let (alike, conflicting) = apart(history, operations);
    for (story, style) in alike {
        paragraph(out, "  ", 4, &story, style, width)?;
    }
    for operation in conflicting.iter().take(SHOWN) {
        write_one(history, operation, width, out)?;
    }
    if conflicting.len() > SHOWN {
        let others = words::many(conflicting.len() - SHOWN, "more operation", "more operations");
        paragraph(out, "  ", 4, &format!("and {others}; `--format json` has them all"), PLAIN, width)?;
    }
    Ok(())
}

/// The stories of operations that can be told together, and the operations that can't be.
pub(in crate::report) fn apart<'a>(
    history: &History,
    operations: &'a [Reconciled],
) -> (Vec<(String, Style)>, Vec<&'a Reconciled>) {
    let mut alike: Vec<(String, Style, Vec<OpId>)> = Vec::new();
    let (plain, conflicting): (Vec<&Reconciled>, Vec<&Reconciled>) =
        operations.iter().partition(|operation| is_plain(operation));
    for operation in plain {
        let (story, style) = story(history, operation);
        match alike.iter_mut().find(|(same, ..)| *same == story) {
            Some((.., ops)) => ops.push(operation.op),
            None => alike.push((story, style, vec![operation.op])),
        }
    }
    let told =
        |(story, style, ops): (String, Style, Vec<OpId>)| (format!("{}: {story}", words::operations(&ops)), style);
    (alike.into_iter().map(told).collect(), conflicting)
}

/// Whether there is nothing in it that one has to look at one by one.
fn is_plain(operation: &Reconciled) -> bool {
    let is_taken_back = |payout: &Payout| matches!(payout.end, PayoutEnd::Voided(_) | PayoutEnd::Refunded(_));
    operation.entries.len() < 2 && operation.duplicates() == 0 && !operation.payouts.iter().any(is_taken_back)
}

/// What became of an operation without duplicates, in words that fit others too.
fn story(history: &History, operation: &Reconciled) -> (String, Style) {
    let entry = match operation.entries.first() {
        None => "no entry",
        Some(entered) if entered.standing != Standing::Stands => match entered.standing {
            Standing::Deleted(_) => "its entry DELETED",
            _ => "its entry lost",
        },
        Some(entered) if is_operator(history, entered.claim.worker) => "no entry, so one was made",
        Some(_) => "one entry",
    };
    let failed = operation.payouts.iter().filter(|payout| payout.end == PayoutEnd::Failed).count();
    let paid = match (failed, operation.effects().next()) {
        (0, None) => "no payout".to_owned(),
        (0, Some(payout)) if is_operator(history, claimant(history, payout.made)) => {
            "never paid, so it was submitted".to_owned()
        }
        (0, Some(_)) => "one payout".to_owned(),
        (1, None) => "one payout, which failed".to_owned(),
        (1, Some(_)) => "one payout that failed, so it was submitted again".to_owned(),
        (failed, None) => format!("{failed} payouts, which failed"),
        (failed, Some(_)) => format!("{failed} payouts that failed, so it was submitted again"),
    };
    let (end, style) = match operation.resolution {
        Resolution::Closed(_) if operation.is_balanced() => ("kept", PLAIN),
        Resolution::Closed(_) => ("closed, but NOT REPAIRED", BAD),
        Resolution::GivenUp(_) => ("LEFT TO A PERSON", FAULT),
        Resolution::Open => ("NOT CLOSED", FAULT),
    };
    (format!("{entry}, {paid}; {end}"), style)
}

/// Tells an operation entry by entry and payout by payout.
fn write_one(history: &History, operation: &Reconciled, width: usize, out: &mut impl Write) -> io::Result<()> {
    let (head, style) = head(operation);
    paragraph(out, "  ", 4, &head, style, width)?;
    let parts = parts(history, operation);
    let hang = 6 + parts.iter().map(|part| columns(&part.label)).max().unwrap_or(0);
    for Part { label, text, style, .. } in parts {
        paragraph(out, &format!("    {label:<0$}", hang - 4), hang, &text, style, width)?;
    }
    Ok(())
}

/// An operation with its amount, and what is wrong with how it ended.
pub(in crate::report) fn head(operation: &Reconciled) -> (String, Style) {
    let (end, style) = match operation.resolution {
        Resolution::Closed(_) if operation.is_balanced() => (String::new(), PLAIN),
        Resolution::Closed(_) => (", closed, but NOT REPAIRED".to_owned(), BAD),
        Resolution::GivenUp(_) => (", LEFT TO A PERSON".to_owned(), FAULT),
        Resolution::Open => (", NOT CLOSED".to_owned(), FAULT),
    };
    (format!("{} ({}){end}", operation.op, words::amount(operation.amount)), style)
}

/// An entry or a payout of an operation.
pub(in crate::report) struct Part {
    /// Which.
    pub(in crate::report) label: String,
    /// Whose it was, when, and what became of it.
    pub(in crate::report) text: String,
    /// How that stands out.
    pub(in crate::report) style: Style,
    /// The event that made it.
    pub(in crate::report) event: EventId,
}

/// The entries and payouts of an operation, in order.
pub(in crate::report) fn parts(history: &History, operation: &Reconciled) -> Vec<Part> {
    let at = |event: EventId| words::utc(history, history.event(event).at);
    let entries = operation.entries.iter().map(|entered| {
        let (fate, style) = entry_fate(history, operation, entered);
        let by = words::name(history, entered.claim.worker);
        let text = format!("by {by} at {}: {fate}", at(entered.event));
        Part { label: entered.entry.to_string(), text, style, event: entered.event }
    });
    let payouts = operation.payouts.iter().map(|payout| {
        let (fate, style) = payout_fate(history, operation, payout);
        let by = words::name(history, claimant(history, payout.made));
        let text = format!("for {by} at {}: {fate}", at(payout.made));
        Part { label: payout.id.to_string(), text, style, event: payout.made }
    });
    entries.chain(payouts).collect()
}

fn entry_fate(history: &History, operation: &Reconciled, entered: &Entered) -> (String, Style) {
    let at = |event: EventId| words::utc(history, history.event(event).at);
    let others = || operation.entries.iter().filter(|other| other.event != entered.event);
    match entered.standing {
        Standing::Stands if operation.standing().count() > 1 => ("stands, as does another".to_owned(), BAD),
        Standing::Stands if is_operator(history, entered.claim.worker) => {
            ("stands, because there was none".to_owned(), GOOD)
        }
        Standing::Stands => {
            let why = match others().next() {
                None => "",
                Some(_) if others().all(|other| other.claim.token < entered.claim.token) => {
                    ", of the highest token"
                }
                Some(_) if others().all(|other| other.claim.epoch < entered.claim.epoch) => {
                    ", of the newest lease"
                }
                Some(_) if others().all(|other| other.claim.epoch == entered.claim.epoch) => {
                    ", the first of its lease"
                }
                Some(_) => "",
            };
            (format!("stands{why}"), PLAIN)
        }
        Standing::Superseded { by, .. } => (format!("superseded by {by}"), DIM),
        Standing::Deleted(event) => (format!("DELETED at {}", at(event)), BAD),
        Standing::Lost(event) => (format!("lost at {}", at(event)), FAULT),
    }
}

fn payout_fate(history: &History, operation: &Reconciled, payout: &Payout) -> (String, Style) {
    let when = |event: EventId| words::utc(history, history.event(event).at);
    let by = |event: EventId| words::name(history, claimant(history, event));
    let is_on_it = |decided: &&Decided| decided.payout == Some(payout.made);
    let why = |wanted: Decision| {
        operation.decisions.iter().rev().filter(is_on_it).find(|decided| decided.decision == wanted)
    };
    let as_why =
        |wanted| why(wanted).map_or(String::new(), |decided| format!(", as {}", phrases::reason(decided.why)));
    let decided = words::utc(history, payout.decided);
    let settled = if payout.decided > history.ended_at { "settles" } else { "settled" };
    match payout.end {
        PayoutEnd::Settled if operation.stays() == Some(payout) => {
            let told = match why(Decision::Keep(payout.id)).map(|decided| decided.why) {
                Some(why @ Reason::FirstSettled) => format!(", {}, at", phrases::reason(why)),
                Some(why) => format!(", {}, {settled} at", phrases::reason(why)),
                None => format!(", {settled} at"),
            };
            (format!("stays{told} {decided}"), PLAIN)
        }
        // Where none was chosen to stay, those behind the first are too many.
        PayoutEnd::Settled if operation.stays().is_none() && operation.effects().next() == Some(payout) => {
            (format!("{settled} at {decided}"), PLAIN)
        }
        PayoutEnd::Settled => (format!("{settled} at {decided}, NOT TAKEN BACK"), BAD),
        PayoutEnd::Failed => (format!("failed at {decided}"), DIM),
        PayoutEnd::Voided(event) => {
            (format!("voided by {} at {}{}", by(event), when(event), as_why(Decision::Void(payout.id))), GOOD)
        }
        PayoutEnd::Refunded(event) => {
            let begun = history.event(event);
            let done = match begun.what {
                What::RefundBegun { takes, .. } => words::utc(history, begun.at + takes),
                _ => when(event),
            };
            let before = match payout.refunds_failed {
                0 => String::new(),
                failed => format!("; {} before it failed", words::many(failed as usize, "refund", "refunds")),
            };
            let reason = as_why(Decision::Refund(payout.id));
            (format!("refunded by {}{reason}, from {} to {done}{before}", by(event), when(event)), GOOD)
        }
    }
}

fn is_operator(history: &History, node: NodeId) -> bool {
    history.is(node, Role::Operator)
}

/// For whom a payout was made.
fn claimant(history: &History, made: EventId) -> NodeId {
    let event = history.event(made);
    event.what.claim().map_or(event.node, |claim| claim.worker)
}
