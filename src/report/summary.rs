//! What a run came to, in a few words.

use anstyle::Style;

use super::style::{BAD, DIM, FAULT, GOOD};
use crate::replay::{Blame, JudgedRun};

/// What `run` came to, in phrases that each have their colour.
pub(super) fn told(run: &JudgedRun) -> Vec<(String, Style)> {
    let rules = run.verdicts.len();
    let named = |name: &str| -> Vec<&str> {
        let of_name = run.verdicts.iter().filter(|(_, verdict)| verdict.name() == name);
        of_name.map(|(checker, _)| checker.name).collect()
    };
    let (violated, unknown) = (named("violated"), named("unknown"));
    let mut told: Vec<(String, Style)> = Vec::new();
    if !violated.is_empty() {
        told.push((format!("violates {}", violated.join(", ")), BAD));
    }
    told.extend(blame(run));
    if unknown.len() == rules {
        told.push((format!("can't tell any of the {rules} rules"), FAULT));
    } else if !unknown.is_empty() {
        told.push((format!("can't tell {}", unknown.join(", ")), FAULT));
    }
    if told.is_empty() {
        told.push((format!("holds all {rules} rules"), GOOD));
    }
    let (tried, rejected) = (run.seen("stale-write-tried"), run.seen("stale-write-rejected"));
    let double = run.seen("duplicate-payout-tried");
    if tried + double > 0 {
        let accepted = tried.saturating_sub(rejected);
        let stale = format!("stale writes: {accepted} accepted, {rejected} rejected");
        told.push((format!("{stale} · payouts asked for again: {double}"), DIM));
    }
    told
}

/// Where what was violated stands to what the protocol relies on, if that can be said.
pub(super) fn blame(run: &JudgedRun) -> Option<(String, Style)> {
    match run.blame()? {
        Blame::Inside => Some(("inside its assumptions: all of them were kept".to_owned(), BAD)),
        Blame::Outside => {
            let broken: Vec<String> =
                run.broken_assumptions.iter().map(|assumption| assumption.name.replace('-', " ")).collect();
            Some((format!("outside its assumptions: {}", broken.join(", ")), DIM))
        }
        Blame::Late => Some(("only late, which is no flaw: all its assumptions were kept".to_owned(), DIM)),
        Blame::Unsaid => None,
    }
}
