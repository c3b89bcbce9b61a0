//! A repair that is run again, or by two, comes to the same: nothing is taken back twice, nothing paid for twice by
//! operators, and what was closed stays closed unless something new happened.

use super::finding::Findings;
use super::{Checker, Evidence, Verdict, Witness};
use crate::history::{Decision, History, PayoutEnd, Role, What, payouts};
use crate::id::{EventId, OpId};

pub(super) const CHECKER: Checker = Checker {
    name: "repair-idempotent",
    holds_when: "a repair that is run again decides the same, and takes nothing back and pays nothing a second time",
    judge,
};

/// What is known of an operation.
#[derive(Clone, Copy, Default)]
struct Known {
    /// How it was closed, with nothing new since.
    closed: Option<EventId>,
}

fn judge(evidence: &Evidence<'_>) -> Verdict {
    if !evidence.nodes.iter().any(|node| node.role == Role::Operator) {
        return Verdict::Holds { judged: 0 };
    }
    let mut findings = Findings::default();
    let judged = decided_anew(evidence, &mut findings);
    compensated_twice(evidence, &mut findings);
    submitted_twice(evidence, &mut findings);
    findings.or_holds(judged)
}

/// Looks for decisions on what was closed; counts the decisions.
fn decided_anew(history: &History, findings: &mut Findings) -> usize {
    let mut ops = vec![Known::default(); history.batch.len()];
    let mut decisions = 0;
    for (id, event) in history.numbered() {
        match event.what {
            What::OperationDecided { op, decision, .. } => {
                decisions += 1;
                let Some(known) = ops.get_mut(op.index()) else { continue };
                match (known.closed, decision) {
                    (None, Decision::Close(_)) => known.closed = Some(id),
                    (Some(first), _) if changes(history, first, decision) => {
                        findings.add(Witness::DecidedAnew { op, first, second: id });
                        known.closed = None;
                    }
                    _ => {}
                }
            }
            What::PayoutMade { op, .. } | What::WriteAccepted { op, .. } => reopen(&mut ops, op),
            // A provider or a ledger that has lost what it had has something new to tell.
            What::WritesLost { .. } => ops.fill(Known::default()),
            _ => {}
        }
    }
    decisions
}

fn reopen(ops: &mut [Known], op: OpId) {
    if let Some(known) = ops.get_mut(op.index()) {
        known.closed = None;
    }
}

/// Whether `decision` comes to something else than what the operation was closed with by `closed`.
fn changes(history: &History, closed: EventId, decision: Decision) -> bool {
    let What::OperationDecided { decision: Decision::Close(stays), .. } = history.event(closed).what else {
        return false;
    };
    match decision {
        Decision::Keep(payout) | Decision::Close(payout) => payout != stays,
        Decision::Submit(_) | Decision::Void(_) | Decision::Refund(_) => true,
        Decision::AskAgain | Decision::GiveUp => false,
    }
}

fn compensated_twice(history: &History, findings: &mut Findings) {
    let payouts = payouts(history);
    for payout in payouts.iter().filter(|payout| payout.compensations > 1) {
        let mut back = history.numbered().filter(|(id, event)| {
            *id > payout.made
                && match event.what {
                    What::PayoutVoided { payout: which, .. }
                    | What::RefundBegun { payout: which, fails: false, .. } => which == payout.id,
                    _ => false,
                }
        });
        if let (Some((first, _)), Some((second, _))) = (back.next(), back.next()) {
            findings.add(Witness::CompensatedTwice { op: payout.op, first, second });
        }
    }
}

/// Looks for payouts that operators asked for while an earlier one of theirs counts.
fn submitted_twice(history: &History, findings: &mut Findings) {
    let by_operator = |made: EventId| {
        history.event(made).what.claim().is_some_and(|claim| history.is(claim.worker, Role::Operator))
    };
    let mut counted: Vec<Option<EventId>> = vec![None; history.batch.len()];
    for payout in payouts(history) {
        // One that failed or was taken back had to be made up for.
        let counts = matches!(payout.end, PayoutEnd::Settled) && by_operator(payout.made);
        let Some(counted) = counted.get_mut(payout.op.index()).filter(|_| counts) else { continue };
        match *counted {
            Some(first) => findings.add(Witness::SubmittedTwice { op: payout.op, first, second: payout.made }),
            None => *counted = Some(payout.made),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::judge_one;
    use crate::history::Reason;
    use crate::history::fixture::{A, B, LEDGER, OPERATORS, PROVIDER, Story, ms};
    use crate::id::{NodeId, PayoutId};

    const FIRST: NodeId = OPERATORS[0];
    const SECOND: NodeId = OPERATORS[1];
    const KEEP: Decision = Decision::Keep(PayoutId(1));
    const CLOSE: Decision = Decision::Close(PayoutId(1));

    #[track_caller]
    fn holds(story: Story, judged: usize) {
        assert_eq!(judge_one(&CHECKER, &story.history()), Verdict::Holds { judged });
    }

    #[track_caller]
    fn violated(story: Story, witness: Witness) {
        assert_eq!(judge_one(&CHECKER, &story.history()), Verdict::Violated { times: 1, witness });
    }

    /// Payouts 1 and 2 for the first operation; the first operator keeps one, has the other voided, and closes it.
    fn repaired() -> Story {
        let paid = Story::new().with_operators().paid_as(A, 1, 0, 1, false).paid_as(B, 2, 0, 2, false);
        let void = (Decision::Void(PayoutId(2)), Reason::DuplicateUnderWay);
        let decided = paid.decided(FIRST, 3, 0, (KEEP, Reason::FirstUnderWay)).decided(FIRST, 3, 0, void);
        decided.voided(FIRST, 3, 0, 2).decided(FIRST, 3, 0, (CLOSE, Reason::OneEffect))
    }

    #[test]
    fn a_repair_that_comes_to_the_same_holds() {
        holds(Story::new().paid(A, 1, 0).paid(B, 2, 0), 0);
        holds(repaired(), 3);
        holds(repaired().decided(SECOND, 4, 0, (CLOSE, Reason::OneEffect)), 4);
        let asks = (Decision::AskAgain, Reason::NotKnownYet);
        holds(repaired().decided(SECOND, 4, 0, asks).decided(SECOND, 4, 0, (KEEP, Reason::FirstSettled)), 5);
    }

    #[test]
    fn a_decision_on_what_was_closed_needs_something_new() {
        let other = (Decision::Keep(PayoutId(2)), Reason::FirstSettled);
        let witness = Witness::DecidedAnew { op: OpId(0), first: EventId(7), second: EventId(8) };
        violated(repaired().decided(SECOND, 4, 0, other), witness.clone());
        violated(repaired().decided(SECOND, 4, 0, (Decision::Submit(1), Reason::NoneLeft)), witness);
        let void = (Decision::Void(PayoutId(3)), Reason::DuplicateUnderWay);
        holds(repaired().paid_as(A, 1, 0, 3, false).decided(SECOND, 4, 0, void), 4);
        holds(repaired().wrote(A, 1, 0).decided(SECOND, 4, 0, other), 4);
        holds(repaired().on(LEDGER, What::WritesLost { since: ms(0) }).decided(SECOND, 4, 0, other), 4);
    }

    #[test]
    fn a_payout_is_taken_back_once() {
        let witness = Witness::CompensatedTwice { op: OpId(0), first: EventId(6), second: EventId(8) };
        violated(repaired().refund_begun(SECOND, 4, 0, 2, false), witness.clone());
        violated(repaired().voided(SECOND, 4, 0, 2), witness);
        holds(repaired().refund_begun(SECOND, 4, 0, 1, true).refund_begun(SECOND, 4, 0, 1, false), 3);
        // A provider that forgot the first time has to be asked again.
        let voided = Story::new().with_operators().paid_as(A, 1, 0, 1, false).at(20).voided(FIRST, 3, 0, 1).at(30);
        let forgot = voided.on(PROVIDER, What::WritesLost { since: ms(10) });
        holds(forgot.voided(SECOND, 4, 0, 1), 0);
    }

    #[test]
    fn operators_pay_once_unless_what_they_paid_came_to_nothing() {
        let story = || Story::new().with_operators().paid_as(FIRST, 3, 0, 1, false);
        let witness = Witness::SubmittedTwice { op: OpId(0), first: EventId(0), second: EventId(2) };
        violated(story().paid_as(SECOND, 4, 0, 2, false), witness);
        holds(story().paid_as(SECOND, 4, 0, 2, true), 0);
        holds(story().paid_as(SECOND, 4, 1, 2, false), 0);
        holds(story().paid_as(A, 1, 0, 2, false), 0);
    }
}
