//! A repair that is run again, or by two, comes to the same: nothing is taken back twice, nothing paid for twice by
//! operators, and what was closed stays closed unless something new happened.

use super::finding::Findings;
use super::{Checker, Verdict, Witness};
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

fn judge(history: &History) -> Verdict {
    if !history.nodes.iter().any(|node| node.role == Role::Operator) {
        return Verdict::Holds { judged: 0 };
    }
    let mut findings = Findings::default();
    let judged = decided_anew(history, &mut findings);
    compensated_twice(history, &mut findings);
    submitted_twice(history, &mut findings);
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
