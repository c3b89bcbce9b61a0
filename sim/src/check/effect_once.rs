//! Every payout once: an effect outside can't be taken back by killing the process that caused it, but by the provider.

use super::finding::Findings;
use super::tally::Tally;
use super::{Checker, Evidence, Verdict, Witness};
use crate::history::{Payout, PayoutEnd, What, payouts};
use crate::id::OpId;

pub(super) const CHECKER: Checker = Checker {
    name: "effect-once",
    holds_when: "at the end each operation's net effect at the provider is exactly one",
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut findings = Findings::default();
    let mut payouts = Tally::new(evidence);
    for (id, event) in evidence.deeds() {
        match event.what {
            What::PayoutMade { op, .. } => {
                if let Some(first) = payouts.note(op, id) {
                    findings.add(Witness::PaidTwice { op, first, second: id });
                }
            }
            // From here on it takes more than counting.
            What::PayoutTakenIn { .. } => return judge_by_ends(evidence),
            _ => {}
        }
    }
    let export = evidence.standing_export();
    payouts.verdict(findings, export, |op, export| Witness::NeverPaid { op, export }, "were not paid")
}

/// Judges payouts by what became of them, where they take their time, may fail, and can be taken back.
fn judge_by_ends(evidence: &Evidence<'_>) -> Verdict {
    let mut findings = Findings::default();
    let mut effects = Tally::new(evidence);
    let payouts = payouts(evidence);
    for payout in payouts.iter().filter(|payout| payout.is_effect()) {
        if let Some(first) = effects.note(payout.op, payout.made) {
            findings.add(Witness::PaidTwice { op: payout.op, first, second: payout.made });
        }
    }
    let never = |op, export| nothing_left(&payouts, op).unwrap_or(Witness::NeverPaid { op, export });
    effects.verdict(findings, evidence.standing_export(), never, "were not paid")
}

/// That there were payouts for `op`, and nothing of them is left.
fn nothing_left(payouts: &[Payout], op: OpId) -> Option<Witness> {
    let lost = payouts.iter().filter(|payout| payout.op == op);
    let lost = lost.map(|payout| match payout.end {
        PayoutEnd::Voided(back) | PayoutEnd::Refunded(back) => (back, payout.made),
        PayoutEnd::Settled | PayoutEnd::Failed => (payout.made, payout.made),
    });
    lost.max().map(|(back, payout)| Witness::NothingLeft { op, payout, back })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::judge_one;
    use crate::history::fixture::{A, B, OPERATORS, PROVIDER, Story, ms};
    use crate::id::{EventId, NodeId};

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

    const OPERATOR: NodeId = OPERATORS[0];

    /// Both operations paid once by payouts 1 and 2 that settle, and the first once more by payout 3.
    fn paid_twice() -> Story {
        let once = Story::new().with_operators().paid_as(A, 1, 0, 1, false).paid_as(A, 1, 1, 2, false);
        once.paid_as(B, 2, 0, 3, false)
    }

    #[test]
    fn a_payout_that_was_taken_back_is_no_effect() {
        let holds = Verdict::Holds { judged: 2 };
        check(paid_twice(), twice(1, 0, 0, 4));
        check(paid_twice().voided(OPERATOR, 3, 0, 3), holds.clone());
        check(paid_twice().voided(OPERATOR, 3, 0, 1), holds.clone());
        check(paid_twice().refund_begun(OPERATOR, 3, 0, 3, false), holds);
        check(paid_twice().refund_begun(OPERATOR, 3, 0, 3, true), twice(1, 0, 0, 4));
        check(paid_twice().voided(OPERATOR, 3, 1, 2), twice(1, 0, 0, 4));
    }

    #[test]
    fn a_payout_that_failed_is_no_effect() {
        let failed = || Story::new().with_operators().paid_as(A, 1, 0, 1, true).paid_as(A, 1, 1, 2, false);
        check(failed(), unknown(1));
        check(failed().paid_as(B, 2, 0, 3, false), Verdict::Holds { judged: 2 });
        let (op, payout) = (OpId(0), EventId(0));
        let lost = |back, times| Verdict::Violated { times, witness: Witness::NothingLeft { op, payout, back } };
        check(failed().exported(A, 1, &[]), lost(EventId(0), 1));
    }

    #[test]
    fn what_was_taken_back_altogether_is_missing() {
        let (op, payout) = (OpId(0), EventId(4));
        let both = paid_twice().exported(A, 1, &[]);
        let both = both.voided(OPERATOR, 3, 0, 3);
        check(both.clone(), Verdict::Holds { judged: 2 });
        let witness = Witness::NothingLeft { op, payout: EventId(0), back: EventId(8) };
        check(both.refund_begun(OPERATOR, 3, 0, 1, false), Verdict::Violated { times: 1, witness });
        let first = paid_twice().exported(A, 1, &[]).voided(OPERATOR, 3, 0, 1);
        let witness = Witness::NothingLeft { op, payout, back: EventId(8) };
        check(first.voided(OPERATOR, 3, 0, 3), Verdict::Violated { times: 1, witness });
    }

    #[test]
    fn an_export_that_was_superseded_publishes_nothing() {
        let paid = || Story::new().with_operators().paid_as(A, 1, 0, 1, false).exported(A, 1, &[]);
        check(paid(), never(1, 1, 2));
        check(paid().export_superseded(OPERATOR, 3, 0), unknown(1));
        check(paid().export_superseded(OPERATOR, 3, 0).exported(OPERATOR, 3, &[]), never(1, 1, 4));
    }

    #[test]
    fn what_the_provider_forgot_of_taking_back_is_not_taken_back() {
        let voided = || paid_twice().at(20).voided(OPERATOR, 3, 0, 3);
        let lost = |story: Story, since| story.at(30).on(PROVIDER, What::WritesLost { since: ms(since) });
        check(voided(), Verdict::Holds { judged: 2 });
        check(lost(voided(), 20), Verdict::Holds { judged: 2 });
        check(lost(voided(), 10), twice(1, 0, 0, 4));
        check(lost(voided(), 10).voided(OPERATOR, 4, 0, 3), Verdict::Holds { judged: 2 });
    }

    #[test]
    fn what_one_half_of_a_provider_takes_back_is_none_of_the_other_halfs() {
        let split = || Story::new().with_operators().split(PROVIDER, OPERATOR);
        // Both halves give their first payout the same number.
        let paid = || split().deposed(PROVIDER, OPERATOR).paid_as(OPERATOR, 3, 0, 1, false);
        let paid = || paid().paid_as(A, 1, 1, 1, false).paid_as(A, 1, 0, 2, false);
        check(paid(), twice(1, 0, 2, 6));
        let old = || paid().deposed(PROVIDER, OPERATOR).voided(OPERATOR, 3, 0, 1);
        check(old(), Verdict::Holds { judged: 2 });
        check(paid().voided(OPERATOR, 3, 0, 2), Verdict::Holds { judged: 2 });
        // The new half's number 1 is of the other operation.
        check(paid().voided(OPERATOR, 3, 1, 1), twice(1, 0, 2, 6));
    }
}
