//! What is judged: each checker is a pure function of a history, one file each.
//!
//! Checkers judge by the grant epochs that the simulator noted itself, so any protocol is judged the same way, also
//! one without tokens. A checker that panics says *unknown*. To add one: a file here, a line in [`CHECKERS`].

pub mod assumption;
mod audit_kept;
mod bite;
mod effect_once;
mod evidence;
mod export_agreement;
mod finding;
mod linearizable;
mod nothing_lost;
mod places;
mod progress;
mod repair_idempotent;
mod rows;
mod sighting;
mod single_writer;
mod stale_write;
mod strike;
mod tally;
mod token_order;
mod witness;

pub use assumption::{ASSUMPTIONS, Assumption, broken_assumptions, first_broken_assumption};
pub use bite::{Bite, bites};
pub use evidence::Evidence;
pub use progress::is_over_unpublished;
pub use sighting::{SIGHTINGS, Sighting, sightings, sightings_with};
pub(crate) use strike::Strike;
pub use witness::{WITNESSES, Witness};

use serde::Serialize;

use crate::history::{Claim, History, What};
use crate::limits::Ending;
use crate::panics;

/// Why a verdict is unknown whose checker panicked, before what it said.
const CHECKER_PANICKED: &str = "the checker panicked";

/// What a checker concluded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// The rule held.
    Holds {
        /// How many things were judged by it; 0 if the run had nothing that the rule speaks of.
        judged: usize,
    },
    /// The rule was broken.
    Violated {
        /// How often.
        times: usize,
        /// The first time.
        witness: Witness,
    },
    /// It can't be told.
    Unknown {
        /// Why.
        reason: String,
    },
}

impl Verdict {
    /// The verdict's name: `holds`, `violated` or `unknown`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds { .. } => "holds",
            Verdict::Violated { .. } => "violated",
            Verdict::Unknown { .. } => "unknown",
        }
    }

    /// What is to be told of a bug of ours, if one keeps the verdict from being told: the checker panicked.
    pub fn bug(&self) -> Option<&str> {
        match self {
            Verdict::Unknown { reason } if reason.starts_with(CHECKER_PANICKED) => Some(reason),
            Verdict::Holds { .. } | Verdict::Violated { .. } | Verdict::Unknown { .. } => None,
        }
    }
}

/// A rule and the function that judges it.
#[derive(Clone, Copy)]
pub struct Checker {
    /// The rule's name.
    pub name: &'static str,
    /// When it holds, as one sentence's end.
    pub holds_when: &'static str,
    /// Judges a history.
    pub judge: fn(&Evidence<'_>) -> Verdict,
}

/// Every checker, in the order of reports.
pub const CHECKERS: &[Checker] = &[
    single_writer::CHECKER,
    stale_write::CHECKER,
    token_order::CHECKER,
    linearizable::CHECKER,
    export_agreement::CHECKER,
    effect_once::CHECKER,
    nothing_lost::CHECKER,
    audit_kept::CHECKER,
    repair_idempotent::CHECKER,
    progress::CHECKER,
];

/// The verdicts of all checkers on `history`, in the order of [`CHECKERS`].
///
/// A run that was cut short by a bound or a panic can show that a rule was broken, but not that it holds: what would be
/// *holds* is then *unknown*.
pub fn judge(history: &History) -> Vec<(&'static Checker, Verdict)> {
    judge_by(&Evidence::of(history))
}

/// The same, for whoever has the evidence, which [`sightings_with`] asks for too.
pub fn judge_by(evidence: &Evidence<'_>) -> Vec<(&'static Checker, Verdict)> {
    CHECKERS.iter().map(|checker| (checker, verdict(checker, evidence))).collect()
}

/// The verdict of one checker on `history`; see [`judge`].
pub fn judge_one(checker: &Checker, history: &History) -> Verdict {
    verdict(checker, &Evidence::of(history))
}

fn verdict(checker: &Checker, evidence: &Evidence<'_>) -> Verdict {
    let verdict = panics::catch(|| (checker.judge)(evidence))
        .unwrap_or_else(|panic| Verdict::Unknown { reason: format!("{CHECKER_PANICKED} {panic}") });
    match (verdict, cut_short(&evidence.ending)) {
        (Verdict::Holds { .. }, Some(reason)) => Verdict::Unknown { reason: reason.to_owned() },
        (verdict, _) => verdict,
    }
}

/// The claim under which the ledger accepted something, if `what` is that: a mutation or a fence.
fn accepted(what: &What) -> Option<Claim> {
    match *what {
        What::GenerationOpened { claim, .. } => Some(claim),
        _ => what.mutation(),
    }
}

fn cut_short(ending: &Ending) -> Option<&'static str> {
    match ending {
        Ending::Finished | Ending::TimeUp | Ending::Stuck => None,
        Ending::StepsUsedUp => Some("the run hit its bound on steps"),
        Ending::Panicked { .. } => Some("the run panicked"),
        Ending::Bug(_) => Some("the simulator panicked"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::fixture::{A, B, Story};
    use crate::id::{EventId, NodeId};

    const PANICS: Checker = Checker {
        name: "panics",
        holds_when: "never",
        judge: |history| panic!("{} events", history.events.len()),
    };

    #[test]
    fn a_checker_that_panics_says_unknown() {
        let verdict = judge_one(&PANICS, &Story::new().history());
        let bug = verdict.bug().expect("it panicked");
        assert!(bug.starts_with("the checker panicked at sim/src/check/mod.rs:"), "{bug}");
        assert!(bug.ends_with(": 0 events"), "{bug}");
        assert_eq!(Verdict::Unknown { reason: "the run panicked".to_owned() }.bug(), None);
        assert_eq!(Verdict::Holds { judged: 1 }.bug(), None);
    }

    #[test]
    fn a_run_that_was_cut_short_can_violate_but_not_hold() {
        let bug = || Ending::Bug(panics::catch(|| panic!("oh")).expect_err("it panics"));
        let panicked = || Ending::Panicked { node: NodeId(3), message: "oh".to_owned() };
        for (ending, holds) in [
            (Ending::Finished, Verdict::Holds { judged: 1 }),
            (Ending::TimeUp, Verdict::Holds { judged: 1 }),
            (Ending::Stuck, Verdict::Holds { judged: 1 }),
            (Ending::StepsUsedUp, Verdict::Unknown { reason: "the run hit its bound on steps".to_owned() }),
            (panicked(), Verdict::Unknown { reason: "the run panicked".to_owned() }),
            (bug(), Verdict::Unknown { reason: "the simulator panicked".to_owned() }),
        ] {
            let clean = Story::new().wrote(A, 1, 0).ends(ending.clone());
            assert_eq!(judge_one(&single_writer::CHECKER, &clean.history()), holds);
            let dirty = Story::new().wrote(A, 1, 0).wrote(B, 1, 0).ends(ending);
            let witness = Witness::TwoWriters { first: EventId(0), second: EventId(1) };
            let violated = Verdict::Violated { times: 1, witness };
            assert_eq!(judge_one(&single_writer::CHECKER, &dirty.history()), violated);
        }
    }

    #[test]
    fn names_are_unique_and_a_history_without_events_panics_nowhere() {
        let verdicts = judge(&Story::new().history());
        assert_eq!(verdicts.len(), CHECKERS.len());
        for (i, (checker, verdict)) in verdicts.iter().enumerate() {
            assert!(CHECKERS[..i].iter().all(|earlier| earlier.name != checker.name));
            if let Verdict::Unknown { reason } = verdict {
                assert!(!reason.contains("panicked"), "{}: {reason}", checker.name);
            }
        }
    }
}
