//! Reports on explanations: [`text`] for a terminal, [`json`] for programs.
//!
//! `chain` tells the steps by which it comes about, `edges` where a number's edges are, and `roles` what a fault is to it.

pub(super) mod chain;
pub(super) mod edges;
pub mod json;
pub(super) mod roles;
pub mod text;

use super::layout::harmless;
use super::words::grouped;
use crate::explore::{Budget, Signature, Spent};

/// Names in a row: `one`, `one and two`, `one, two and three`.
pub(crate) fn listed(names: &[String]) -> String {
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// Faults by the numbers that people see, from 1, three or more in a row as a range; `faults` is in order.
fn numbered(faults: &[usize]) -> String {
    let rows = faults.chunk_by(|one, next| one + 1 == *next);
    let told = rows.flat_map(|row| match row {
        [first, _, .., last] => vec![format!("{}–{}", first + 1, last + 1)],
        few => few.iter().map(|fault| (fault + 1).to_string()).collect(),
    });
    listed(&told.collect::<Vec<_>>())
}

/// The rules of these signatures; where one rule is broken in several ways, the ways as well.
fn rules(signatures: &[Signature]) -> String {
    rules_among(signatures, signatures)
}

/// The rules of these signatures, with the ways in which they are broken where `all` has others of the same rule.
fn rules_among(signatures: &[Signature], all: &[Signature]) -> String {
    let name = |signature: &Signature| {
        let other = |other: &Signature| other.checker() == signature.checker() && other != signature;
        match all.iter().any(other) {
            false => signature.checker().to_owned(),
            true => format!("{} ({})", signature.checker(), signature.meaning()),
        }
    };
    listed(&signatures.iter().map(name).collect::<Vec<_>>())
}

/// Which of `all` are meant, in as few words as will do.
pub(super) fn which(signatures: &[Signature], all: &[Signature]) -> String {
    match (signatures.len(), all.len()) {
        (some, all) if some == all && all > 2 => format!("all {all} rules"),
        _ => rules(signatures),
    }
}

/// How far an explanation is, in a few words.
pub(crate) fn so_far(protocol: &str, doing: &str, spent: Spent, budget: Budget) -> String {
    let (runs, most) = (grouped(spent.runs), grouped(budget.runs));
    format!("{}: {doing} · {runs} of at most {most} runs", harmless(protocol))
}
