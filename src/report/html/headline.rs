//! What a run came to, in a sentence for people who see it for the first time.

use holdover_sim::check::{Verdict, Witness};
use serde::Serialize;

use crate::explore::{Measures, Signature, failures};
use crate::replay::JudgedRun;
use crate::report::explain::listed;
use crate::report::words;

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Headline {
    /// `broke`, `held` or `unknown`.
    state: &'static str,
    text: String,
    /// What can be counted of it, as the end of the sentence.
    counts: String,
}

pub(super) fn headline(run: &JudgedRun, measures: Measures) -> Headline {
    let broken = failures(&run.verdicts);
    let unknown: Vec<String> = run
        .verdicts
        .iter()
        .filter(|(_, verdict)| matches!(verdict, Verdict::Unknown { .. }))
        .map(|(checker, _)| checker.name.to_owned())
        .collect();
    let (state, text) = match (&broken[..], &unknown[..]) {
        ([(first, _), ..], _) => ("broke", deed(run).unwrap_or_else(|| first.meaning().to_owned())),
        ([], []) => ("held", format!("held all {} rules", run.verdicts.len())),
        ([], unknown) => ("unknown", format!("broke nothing, but {} can't be told", listed(unknown))),
    };
    Headline { state, text, counts: counts(&broken, measures) }
}

/// Who went on although somebody else had taken over.
fn deed(run: &JudgedRun) -> Option<String> {
    let history = &run.history;
    let name = |event| {
        let event = history.event(event);
        words::name(history, event.what.worker().unwrap_or(event.node))
    };
    let witness = |wanted: fn(&Witness) -> bool| {
        run.verdicts.iter().find_map(|(_, verdict)| match verdict {
            Verdict::Violated { witness, .. } => Some(witness).filter(|witness| wanted(witness)),
            _ => None,
        })
    };
    let stale = witness(|witness| matches!(witness, Witness::StaleWrite { .. }));
    if let Some(Witness::StaleWrite { newer, stale }) = stale {
        let (newer, stale) = (name(*newer), name(*stale));
        return Some(match newer == stale {
            true => format!("{stale} wrote under a lease that a newer one of its own had replaced"),
            false => format!("{stale} went on writing after {newer} had taken over"),
        });
    }
    match witness(|witness| matches!(witness, Witness::TwoWriters { .. }))? {
        Witness::TwoWriters { first, second } => {
            Some(format!("{} and {} both wrote in one generation", name(*first), name(*second)))
        }
        _ => None,
    }
}

fn counts(broken: &[(Signature, usize)], measures: Measures) -> String {
    let Measures { stale_writes_tried: tried, stale_writes_accepted: accepted, .. } = measures;
    let mut told = Vec::new();
    match (tried, accepted) {
        (0, _) => {}
        (tried, 0) => {
            told.push(format!("{} tried, none accepted", words::many(tried, "stale write", "stale writes")))
        }
        (tried, accepted) if tried == accepted => {
            told.push(format!("{} accepted", words::many(accepted, "stale write", "stale writes")));
        }
        (tried, accepted) => {
            told.push(format!("{accepted} of {} accepted", words::many(tried, "stale write", "stale writes")));
        }
    }
    for (signature, times) in broken {
        let operations = words::many(*times, "operation", "operations");
        match signature.kind() {
            "two-writers" | "stale-write" => {}
            "paid-twice" => told.push(format!("{operations} paid twice")),
            "never-paid" => told.push(format!("{operations} never paid")),
            "entered-twice" => told.push(format!("{operations} entered twice")),
            "never-entered" => told.push(format!("{operations} never entered")),
            _ => told.push(signature.meaning().to_owned()),
        }
    }
    if broken.is_empty() && tried == 0 {
        told.push("no stale write was tried".to_owned());
    }
    listed(&told)
}
