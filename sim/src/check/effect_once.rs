//! Every payout once: an effect outside can't be taken back by killing the process that caused it.

use super::finding::Findings;
use super::tally::Tally;
use super::{Checker, Evidence, Verdict, Witness};
use crate::history::What;

pub(super) const CHECKER: Checker = Checker {
    name: "effect-once",
    holds_when: "at the end each operation's net effect at the provider is exactly one",
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut findings = Findings::default();
    let mut payouts = Tally::new(evidence);
    let mut export = None;
    for (id, event) in evidence.deeds() {
        match event.what {
            What::PayoutMade { op, .. } => {
                if let Some(first) = payouts.note(op, id) {
                    findings.add(Witness::PaidTwice { op, first, second: id });
                }
            }
            What::ExportPublished { .. } => {
                export.get_or_insert(id);
            }
            _ => {}
        }
    }
    payouts.verdict(findings, export, |op, export| Witness::NeverPaid { op, export }, "were not paid")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::judge_one;
    use crate::history::fixture::{A, B, Story};
    use crate::id::{EventId, OpId};

    #[track_caller]
    fn check(story: Story, expected: Verdict) {
        assert_eq!(judge_one(&CHECKER, &story.history()), expected);
    }

    fn twice(times: usize, op: u32, first: u32, second: u32) -> Verdict {
        let witness = Witness::PaidTwice { op: OpId(op), first: EventId(first), second: EventId(second) };
        Verdict::Violated { times, witness }
    }

    fn never(times: usize, op: u32, export: u32) -> Verdict {
        Verdict::Violated { times, witness: Witness::NeverPaid { op: OpId(op), export: EventId(export) } }
    }

    fn unknown(missing: usize) -> Verdict {
        let reason = format!("the settlement was not published: {missing} of 2 operations were not paid");
        Verdict::Unknown { reason }
    }

    #[test]
    fn holds_where_each_is_paid_once() {
        check(Story::new().batch(&[]), Verdict::Holds { judged: 0 });
        check(Story::new().batch(&[]).exported(A, 1, &[]), Verdict::Holds { judged: 0 });
        check(Story::new().paid(A, 1, 0).paid(A, 1, 1), Verdict::Holds { judged: 2 });
        check(Story::new().paid(A, 1, 0).paid(A, 1, 1).exported(A, 1, &[]), Verdict::Holds { judged: 2 });
        check(Story::new().paid(A, 1, 0).exported(A, 1, &[]).paid(B, 2, 1), Verdict::Holds { judged: 2 });
    }

    #[test]
    fn a_repetition_or_a_refusal_is_no_effect() {
        let paid = || Story::new().paid(A, 1, 0).paid(A, 1, 1);
        check(paid().payout_repeated(B, 2, 0).payout_rejected(A, 1, 1), Verdict::Holds { judged: 2 });
        check(Story::new().paid(A, 1, 0).payout_rejected(A, 1, 1).exported(A, 1, &[]), never(1, 1, 2));
    }

    #[test]
    fn a_second_payout_violates_once_for_each_operation() {
        let paid = || Story::new().paid(A, 1, 0).paid(A, 1, 1);
        check(paid().paid(B, 2, 1), twice(1, 1, 1, 2));
        check(paid().paid(B, 2, 1).paid(B, 2, 0).paid(B, 2, 1), twice(2, 1, 1, 2));
        check(Story::new().paid(A, 1, 0).paid(A, 1, 0), twice(1, 0, 0, 1));
        check(Story::new().paid(A, 1, 0).paid(B, 2, 0).exported(B, 2, &[]), twice(2, 0, 0, 1));
    }

    #[test]
    fn what_is_missing_violates_only_once_the_settlement_is_published() {
        check(Story::new(), unknown(2));
        check(Story::new().paid(A, 1, 1), unknown(1));
        check(Story::new().exported(A, 1, &[]).exported(B, 2, &[]), never(2, 0, 0));
        check(Story::new().paid(A, 1, 0).exported(A, 1, &[]), never(1, 1, 1));
    }

    #[test]
    fn a_payout_beyond_the_batch_panics_nowhere() {
        check(Story::new().paid(A, 1, 0).paid(A, 1, 1).paid(A, 1, u32::MAX), Verdict::Holds { judged: 2 });
    }
}
