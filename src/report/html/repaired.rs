//! How a repair went: who did it, what became of each operation, and what it adds up to.

use holdover_sim::history::{History, reconciliation};
use holdover_sim::id::EventId;
use serde::Serialize;

use super::tone;
use crate::report::repair::figures::{Figure, added_up, counted};
use crate::report::repair::operations::{apart, head, parts};
use crate::report::repair::{told, unresolved};

/// More operations than these aren't told one by one.
const MOST_TOLD: usize = 200;

/// A text with its tone.
type Told = (String, &'static str);

#[derive(Serialize)]
pub(super) struct Repaired {
    /// Who repaired, what there was to repair, and what it came to: label, text and tone.
    told: Vec<(String, String, &'static str)>,
    /// Operations that are told together.
    alike: Vec<Told>,
    operations: Vec<Operation>,
    /// How many operations more there are.
    left_out: usize,
    totals: Vec<(&'static str, String, &'static str)>,
    sums: Vec<(&'static str, String, &'static str)>,
    /// What isn't closed and why, and what only the simulator knows of it.
    unresolved: Vec<(String, String)>,
}

#[derive(Serialize)]
struct Operation {
    head: Told,
    /// Its entries and payouts: which, what became of it, the tone, and the event that made it.
    parts: Vec<(String, String, &'static str, EventId)>,
}

/// How the repair in `history` went, if anybody repaired anything.
pub(super) fn repaired(history: &History) -> Option<Repaired> {
    let repair = reconciliation(history)?;
    let (alike, conflicting) = apart(history, &repair.operations);
    let operation = |operation| {
        let (text, style) = head(operation);
        let parts = parts(history, operation).into_iter();
        let parts = parts.map(|part| (part.label, part.text, tone(part.style), part.event));
        Operation { head: (text, tone(style)), parts: parts.collect() }
    };
    let figures =
        |figures: Vec<Figure>| figures.into_iter().map(|(what, much, style)| (what, much, tone(style))).collect();
    Some(Repaired {
        told: told(history, &repair).into_iter().map(|(label, text, style)| (label, text, tone(style))).collect(),
        alike: alike.into_iter().map(|(text, style)| (text, tone(style))).collect(),
        left_out: conflicting.len().saturating_sub(MOST_TOLD),
        operations: conflicting.into_iter().take(MOST_TOLD).map(operation).collect(),
        totals: figures(counted(&repair.totals)),
        sums: figures(added_up(repair.sums)),
        unresolved: unresolved(&repair.operations),
    })
}
