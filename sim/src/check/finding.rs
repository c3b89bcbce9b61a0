//! What a checker has found so far.

use super::{Verdict, Witness};

/// How often a rule was seen broken, and the first time. It keeps no list: a checker runs on every history.
#[derive(Debug, Default)]
pub(super) struct Findings {
    times: usize,
    witness: Option<Witness>,
}

impl Findings {
    pub(super) fn add(&mut self, witness: Witness) {
        self.times += 1;
        self.witness.get_or_insert(witness);
    }

    /// Violated if anything was found; else holding over `judged` things.
    pub(super) fn or_holds(self, judged: usize) -> Verdict {
        self.or_else(|| Verdict::Holds { judged })
    }

    /// Violated if anything was found; else what `verdict` says.
    pub(super) fn or_else(self, verdict: impl FnOnce() -> Verdict) -> Verdict {
        match self.witness {
            Some(witness) => Verdict::Violated { times: self.times, witness },
            None => verdict(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::EventId;

    #[test]
    fn the_first_finding_is_the_witness() {
        let witness = |n| Witness::StaleWrite { newer: EventId(0), stale: EventId(n) };
        let mut findings = Findings::default();
        findings.add(witness(2));
        findings.add(witness(1));
        assert_eq!(findings.or_holds(5), Verdict::Violated { times: 2, witness: witness(2) });
        assert_eq!(Findings::default().or_holds(5), Verdict::Holds { judged: 5 });
    }
}
