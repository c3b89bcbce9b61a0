//! A repair that is run again, or by two, comes to the same: nothing is taken back twice, nothing paid for twice by
//! operators, and what was closed stays closed unless something new happened.
//!
//! Only an operation that was closed is decided the same: until then a repair goes on finding out. Something new of it is an
//! entry, a payout, or that ledger or provider lost any such thing; another half of a split provider counts as another
//! provider.

use super::finding::Findings;
use super::{Checker, Evidence, Verdict, Witness};
use crate::history::{Account, Decision, Event, Halves, History, Role, What, accounts};
use crate::id::{EventId, FaultId, OpId};
use crate::time::TrueTime;

pub(super) const CHECKER: Checker = Checker {
    name: "repair-idempotent",
    holds_when: "what a repair closed is not decided otherwise unless ledger or provider have something new of it, and no \
                 operator takes anything back or pays anything a second time",
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    if !evidence.nodes.iter().any(|node| node.role == Role::Operator) {
        return Verdict::Holds { judged: 0 };
    }
    let mut findings = Findings::default();
    let judged = decided_anew(evidence, &mut findings);
    let accounts = accounts(evidence).payouts;
    for Account { payout, taken_back, .. } in &accounts {
        if let [first, second, ..] = taken_back[..] {
            findings.add(Witness::CompensatedTwice { op: payout.op, first, second });
        }
    }
    submitted_twice(evidence, &accounts, &mut findings);
    findings.or_holds(judged)
}

/// How an operation was closed, with nothing new of it since.
#[derive(Clone, Copy)]
struct Closed {
    by: EventId,
    /// The half of the provider that answered the operator then, as [`Halves::half_for`] has it.
    provider: Option<FaultId>,
}

/// Looks for decisions on what was closed; counts the decisions.
fn decided_anew(evidence: &Evidence<'_>, findings: &mut Findings) -> usize {
    let history: &History = evidence;
    // Each half of a split ledger has what was noted there.
    let mut closed: Halves<Vec<Option<Closed>>> = Halves::new(Role::Ledger, vec![None; history.batch.len()]);
    let mut provider = Halves::new(Role::Provider, ());
    let mut decisions = 0;
    for (id, event) in evidence.deeds() {
        closed.note(history, id, event);
        provider.note(history, id, event);
        match event.what {
            What::OperationDecided { claim, op, decision, .. } => {
                decisions += 1;
                let now = provider.half_for(history, claim.worker);
                // A half that was deposed since began with what the provider had before.
                let is_known = |before: &Closed| {
                    before.provider == now
                        || (before.provider.is_none()
                            && provider.since(now).is_some_and(|since| since > before.by))
                };
                let Some(known) = closed.of(history, event).get_mut(op.index()) else { continue };
                match (known.filter(is_known), decision) {
                    (None, Decision::Close(_)) => *known = Some(Closed { by: id, provider: now }),
                    (Some(Closed { by: first, .. }), _) if changes(history, first, decision) => {
                        findings.add(Witness::DecidedAnew { op, first, second: id });
                        *known = None;
                    }
                    _ => {}
                }
            }
            What::WriteAccepted { op, .. } => reopen(closed.of(history, event), op),
            What::PayoutMade { op, .. } => closed.each().for_each(|ops| reopen(ops, op)),
            What::WritesLost { since } => forget(evidence, id, since, &mut closed),
            _ => {}
        }
    }
    decisions
}

/// A ledger or a provider that has lost what it had of an operation has something new to tell of it, and a ledger that lost how
/// it was closed doesn't know that it was.
fn forget(evidence: &Evidence<'_>, lost: EventId, since: TrueTime, closed: &mut Halves<Vec<Option<Closed>>>) {
    let history: &History = evidence;
    let node = history.event(lost).node;
    let is_lost = |id: EventId, event: &Event| id < lost && event.node == node && !history.by_deposed(event);
    let newer = evidence.deeds().rev().skip_while(|(id, _)| *id >= lost).take_while(|(_, event)| event.at > since);
    for (id, event) in newer.filter(|(id, event)| is_lost(*id, event)) {
        match event.what {
            What::WriteAccepted { op, .. } | What::EntrySuperseded { op, .. } | What::EntryDeleted { op, .. } => {
                reopen(closed.half(None), op);
            }
            What::OperationDecided { op, .. } => {
                let known = closed.half(None).get_mut(op.index());
                if let Some(known) = known {
                    *known = known.filter(|closed| closed.by != id);
                }
            }
            What::PayoutMade { op, .. } | What::PayoutVoided { op, .. } | What::RefundBegun { op, .. } => {
                closed.each().for_each(|ops| reopen(ops, op));
            }
            _ => {}
        }
    }
}

fn reopen(ops: &mut [Option<Closed>], op: OpId) {
    if let Some(known) = ops.get_mut(op.index()) {
        *known = None;
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

/// Looks for payouts that operators asked for while an earlier one of theirs counts.
fn submitted_twice(history: &History, accounts: &[Account], findings: &mut Findings) {
    let by_operator = |made: EventId| {
        history.event(made).what.claim().is_some_and(|claim| history.is(claim.worker, Role::Operator))
    };
    let mut counted: Vec<Option<EventId>> = vec![None; history.batch.len()];
    for payout in accounts.iter().map(|account| &account.payout) {
        // One that failed or was taken back had to be made up for.
        let counts = payout.is_effect() && by_operator(payout.made);
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
    use crate::history::fixture::{A, B, LEDGER, OPERATORS, PROVIDER, STORE, Story, ms};
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
    }

    /// The same, at a time of its own for each part: paid at the start, voided at 10, closed at 20.
    fn repaired_slowly() -> Story {
        let paid = Story::new().with_operators().paid_as(A, 1, 0, 1, false).paid_as(B, 2, 0, 2, false);
        let voided = paid.at(10).voided(FIRST, 3, 0, 2);
        voided.at(20).decided(FIRST, 3, 0, (CLOSE, Reason::OneEffect)).at(30)
    }

    const OTHER: (Decision, Reason) = (Decision::Keep(PayoutId(2)), Reason::FirstSettled);

    #[test]
    fn what_ledger_or_provider_lost_of_an_operation_is_something_new_of_it() {
        let lost = |node, since| repaired_slowly().on(node, What::WritesLost { since: ms(since) });
        let witness = Witness::DecidedAnew { op: OpId(0), first: EventId(5), second: EventId(7) };
        holds(lost(LEDGER, 15).decided(SECOND, 4, 0, OTHER), 2);
        violated(lost(LEDGER, 20).decided(SECOND, 4, 0, OTHER), witness.clone());
        holds(lost(PROVIDER, 5).decided(SECOND, 4, 0, OTHER), 2);
        violated(lost(PROVIDER, 10).decided(SECOND, 4, 0, OTHER), witness.clone());
        violated(lost(STORE, 0).decided(SECOND, 4, 0, OTHER), witness);
        // What is lost of another operation is nothing new of this one.
        let another = repaired_slowly().wrote(A, 1, 1).at(40).on(LEDGER, What::WritesLost { since: ms(25) });
        let witness = Witness::DecidedAnew { op: OpId(0), first: EventId(5), second: EventId(8) };
        violated(another.decided(SECOND, 4, 0, OTHER), witness);
    }

    #[test]
    fn a_deposed_ledger_alone_knows_what_was_closed_there() {
        let split = || Story::new().with_operators().paid_as(A, 1, 0, 1, false).split(LEDGER, FIRST);
        let closed = || split().deposed(LEDGER, FIRST).decided(FIRST, 3, 0, (CLOSE, Reason::OneEffect));
        holds(closed().decided(SECOND, 4, 0, OTHER), 2);
        let witness = Witness::DecidedAnew { op: OpId(0), first: EventId(4), second: EventId(6) };
        violated(closed().deposed(LEDGER, FIRST).decided(FIRST, 3, 0, OTHER), witness);
        // Each half goes on from what was closed before.
        let before = || Story::new().with_operators().decided(FIRST, 3, 0, (CLOSE, Reason::OneEffect));
        let witness = |second| Witness::DecidedAnew { op: OpId(0), first: EventId(0), second: EventId(second) };
        violated(before().split(LEDGER, FIRST).decided(SECOND, 4, 0, OTHER), witness(2));
        violated(before().split(LEDGER, FIRST).deposed(LEDGER, FIRST).decided(FIRST, 4, 0, OTHER), witness(3));
    }

    #[test]
    fn another_half_of_the_provider_has_something_new() {
        let split = || Story::new().with_operators().paid_as(A, 1, 0, 1, false).split(PROVIDER, FIRST);
        let closed = || split().decided(FIRST, 3, 0, (CLOSE, Reason::OneEffect));
        let witness =
            |first, second| Witness::DecidedAnew { op: OpId(0), first: EventId(first), second: EventId(second) };
        violated(closed().decided(FIRST, 3, 0, OTHER), witness(3, 4));
        holds(closed().decided(SECOND, 4, 0, OTHER), 2);
        holds(closed().heals(0).decided(FIRST, 3, 0, OTHER), 2);
        // The half that was deposed begins with what there was before.
        let before = Story::new().with_operators().decided(FIRST, 3, 0, (CLOSE, Reason::OneEffect));
        violated(before.split(PROVIDER, FIRST).decided(FIRST, 3, 0, OTHER), witness(0, 2));
    }

    #[test]
    fn payouts_of_two_halves_are_two_though_they_have_one_number() {
        let old = |story: Story| story.deposed(PROVIDER, FIRST);
        let split = || Story::new().with_operators().split(PROVIDER, FIRST);
        let paid = || old(split()).paid_as(A, 1, 0, 1, false).paid_as(B, 2, 0, 1, false);
        holds(old(paid()).voided(FIRST, 3, 0, 1).voided(SECOND, 4, 0, 1), 0);
        let witness = Witness::CompensatedTwice { op: OpId(0), first: EventId(6), second: EventId(7) };
        violated(paid().voided(SECOND, 4, 0, 1).voided(SECOND, 4, 0, 1), witness);
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
