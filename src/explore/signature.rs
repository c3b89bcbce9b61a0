//! Failure signatures: what two failures have in common, whatever seed and plan they come from.

use std::cmp::Ordering;
use std::fmt;

use holdover_sim::check::{CHECKERS, Checker, Verdict, WITNESSES};
use serde::Serialize;

/// What kind of failure it is: the rule that was broken, and the kind of the witness that shows it. That is the first
/// witness, as in reports: a rule that is broken in several ways has the signature of the way that came first.
///
/// Ordered as reports have the rules. Shown as one line that stays the same from version to version, such as
/// `single-writer: two workers in one generation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Signature {
    checker: &'static str,
    kind: &'static str,
}

impl Signature {
    /// The signature of a verdict of `checker`, if that is a violation.
    pub fn of(checker: &Checker, verdict: &Verdict) -> Option<Signature> {
        match verdict {
            Verdict::Violated { witness, .. } => Some(Signature { checker: checker.name, kind: witness.kind() }),
            Verdict::Holds { .. } | Verdict::Unknown { .. } => None,
        }
    }

    /// The signature with these names, as it was written somewhere; `None` if there is no such rule or witness.
    pub fn named(checker: &str, kind: &str) -> Option<Signature> {
        let checker = CHECKERS.iter().find(|known| known.name == checker)?;
        let (kind, _) = WITNESSES.iter().find(|(known, _)| *known == kind)?;
        Some(Signature { checker: checker.name, kind })
    }

    /// The rule that was broken.
    pub fn checker(self) -> &'static str {
        self.checker
    }

    /// The kind of witness.
    pub fn kind(self) -> &'static str {
        self.kind
    }

    /// What the witness shows, as a phrase.
    pub fn meaning(self) -> &'static str {
        WITNESSES.iter().find(|(kind, _)| *kind == self.kind).map_or(self.kind, |(_, meaning)| meaning)
    }

    fn rank(self) -> (usize, &'static str, &'static str) {
        let place = CHECKERS.iter().position(|checker| checker.name == self.checker);
        (place.unwrap_or(CHECKERS.len()), self.checker, self.kind)
    }
}

impl Ord for Signature {
    fn cmp(&self, other: &Signature) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Signature {
    fn partial_cmp(&self, other: &Signature) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.checker, self.meaning())
    }
}

#[cfg(test)]
mod tests {
    use holdover_sim::check::Witness;
    use holdover_sim::id::EventId;

    use super::*;

    fn named(checker: &str, kind: &str) -> Signature {
        Signature::named(checker, kind).expect("a rule and a witness that there are")
    }

    #[test]
    fn it_is_the_rule_and_the_kind_of_witness_and_not_the_events() {
        let violated = |n| Verdict::Violated {
            times: n as usize,
            witness: Witness::TwoWriters { first: EventId(n), second: EventId(n + 1) },
        };
        let checker = &CHECKERS[0];
        assert_eq!(Signature::of(checker, &violated(1)), Signature::of(checker, &violated(7)));
        assert_eq!(Signature::of(checker, &violated(1)), Signature::named("single-writer", "two-writers"));
        assert_eq!(Signature::of(checker, &Verdict::Holds { judged: 1 }), None);
        assert_eq!(Signature::of(checker, &Verdict::Unknown { reason: String::new() }), None);
    }

    #[test]
    fn it_is_written_in_words_and_as_names() {
        let signature = named("effect-once", "never-paid");
        assert_eq!(signature.to_string(), "effect-once: an operation never paid");
        let written = serde_json::to_string(&signature).expect("two texts");
        assert_eq!(written, r#"{"checker":"effect-once","kind":"never-paid"}"#);
        for (checker, kind) in [("", ""), ("effect-once", "paid"), ("effect", "paid-twice")] {
            assert_eq!(Signature::named(checker, kind), None);
        }
    }

    #[test]
    fn the_order_is_that_of_reports() {
        let mut signatures = [
            named("progress", "not-finished"),
            named("effect-once", "paid-twice"),
            named("effect-once", "never-paid"),
            named("single-writer", "two-writers"),
        ];
        signatures.sort_unstable();
        let kinds = signatures.map(Signature::kind);
        assert_eq!(kinds, ["two-writers", "never-paid", "paid-twice", "not-finished"]);
    }
}
