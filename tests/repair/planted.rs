//! Bugs in a repair, each on a night on which the right way comes out right; each is caught.

use holdover::sim::check::{Verdict, judge};
use holdover::sim::fault::{Anchor, Crash, Pause, PauseClocks, PlannedFault};
use holdover::sim::history::{Decision, PayoutState, Reason};
use holdover::sim::id::{NodeId, OpId, Token};
use holdover::sim::repair::{Chosen, DeleteOneWorkersRecords, Facts, Procedure, next};
use holdover::sim::service::provider::Reference;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::worker_node;

use crate::support::{Night, OPERATOR, at_point, crash, not_made_good, operator};

const SEED: u64 = 7;

const A: NodeId = worker_node(0);

/// Takes a payout back for each entry too many, whatever the provider has.
#[derive(Debug)]
struct ByLedger;

impl Procedure for ByLedger {
    fn name(&self) -> &'static str {
        "by-ledger"
    }

    fn summary(&self) -> &'static str {
        "takes payouts back by what the ledger has"
    }

    fn next(&self, facts: &Facts<'_>) -> (Decision, Reason) {
        let Some(last) = facts.told.payouts.last() else { return next(facts) };
        if facts.file.taken_back.len() + 1 < facts.entries.len() {
            return match last.state {
                PayoutState::Settled => (Decision::Refund(last.payout), Reason::DuplicateSettled),
                _ => (Decision::Void(last.payout), Reason::DuplicateUnderWay),
            };
        }
        (Decision::Close(facts.told.payouts[0].payout), Reason::OneEffect)
    }
}

/// Asks payouts back whose money hasn't moved, and takes it for done.
#[derive(Debug)]
struct RefundsPending;

impl Procedure for RefundsPending {
    fn name(&self) -> &'static str {
        "refunds-pending"
    }

    fn summary(&self) -> &'static str {
        "asks pending payouts back"
    }

    fn next(&self, facts: &Facts<'_>) -> (Decision, Reason) {
        let mut told = facts.told.clone();
        told.payouts.retain(|payout| !facts.file.taken_back.contains(&payout.payout));
        match next(&Facts { told: &told, ..*facts }) {
            (Decision::Void(payout), why) => (Decision::Refund(payout), why),
            decided => decided,
        }
    }
}

/// Doesn't look at the payouts once more in the end.
#[derive(Debug)]
struct ForgetsWhatIsLate;

impl Procedure for ForgetsWhatIsLate {
    fn name(&self) -> &'static str {
        "forgets-what-is-late"
    }

    fn summary(&self) -> &'static str {
        "doesn't wait for late answers"
    }

    fn looks_again(&self) -> bool {
        false
    }
}

/// Has another operation ID each time that an operator takes charge.
#[derive(Debug)]
struct UnstableIds;

impl Procedure for UnstableIds {
    fn name(&self) -> &'static str {
        "unstable-ids"
    }

    fn summary(&self) -> &'static str {
        "makes operation IDs of its token"
    }

    fn reference(&self, op: OpId, attempt: u16, token: Option<Token>) -> Reference {
        let made_up = token.map_or(0, |token| token.0 as u32);
        Reference { op: OpId(op.0 + 1_000 * made_up), attempt }
    }
}

/// Leaves the checkpoint where the workers had left it.
#[derive(Debug)]
struct LeavesTheCheckpoint;

impl Procedure for LeavesTheCheckpoint {
    fn name(&self) -> &'static str {
        "leaves-the-checkpoint"
    }

    fn summary(&self) -> &'static str {
        "resumes from the stale checkpoint"
    }

    fn sets_checkpoint(&self) -> bool {
        false
    }
}

/// Checks that `bug` breaks `rules` on `night`, and that the right way makes everything good there.
#[track_caller]
fn check(night: Night, bug: &'static dyn Procedure, rules: &[&str]) {
    assert_eq!(not_made_good(&night.run(SEED)), [], "the right way");
    let mut wrong = night;
    wrong.world.repair.procedure = Chosen(bug);
    let verdicts = judge(&wrong.run(SEED));
    let violated: Vec<&str> = verdicts
        .iter()
        .filter(|(checker, verdict)| {
            matches!(verdict, Verdict::Violated { .. })
                && !["single-writer", "stale-write"].contains(&checker.name)
        })
        .map(|(checker, _)| checker.name)
        .collect();
    assert_eq!(violated, rules, "{}", bug.name());
}

/// A night without any trouble but that worker-a dies for good after it entered the fifth operation, and before it paid it.
fn half_done() -> Night {
    let mut night = Night::midway();
    night.world.operators = vec![operator("operator", 30_000)];
    night.plan = vec![at_point(A, "write.done", 5, Crash { node: A, lasting: None })];
    night
}

/// `point` of worker-a, after it woke up in the incident.
fn after_waking(point: &str, inject: impl Into<holdover::sim::fault::Fault>) -> PlannedFault {
    let when = Anchor::Point {
        point: point.to_owned(),
        node: Some(A),
        after: TrueTime::START + Span::secs(58),
        nth: 1,
        delay: Span::ZERO,
    };
    PlannedFault { when, inject: inject.into(), note: None, name: None }
}

#[test]
fn compensating_by_the_ledger_is_caught() {
    // Of the operation that both entered, only worker-b's payout was made.
    let night = Night::incident().and(after_waking("write.done", Crash { node: A, lasting: None }));
    check(night, &ByLedger, &["effect-once"]);
}

#[test]
fn refunding_a_pending_payout_is_caught() {
    // It asks for what it thinks is done until its time is over, and leaves the rest to a person.
    check(Night::midway(), &RefundsPending, &["effect-once", "progress"]);
}

#[test]
fn forgetting_the_late_answer_is_caught() {
    // Worker-a goes on to pay when the operation is closed already.
    let pause = Pause::of(A, Span::millis(8_000), PauseClocks::Running);
    let night = Night::incident().and(after_waking("write.done", pause));
    check(night, &ForgetsWhatIsLate, &["effect-once"]);
}

#[test]
fn operation_ids_that_are_not_stable_are_caught() {
    let night = half_done().and(at_point(OPERATOR, "repair.done", 1, crash(OPERATOR)));
    // What it had paid it never finds, so it never comes to an end.
    check(night, &UnstableIds, &["effect-once", "repair-idempotent", "progress"]);
}

#[test]
fn resuming_from_the_stale_checkpoint_is_caught() {
    check(half_done(), &LeavesTheCheckpoint, &["effect-once", "nothing-lost"]);
}

#[test]
fn deleting_records_is_caught() {
    check(Night::midway(), &DeleteOneWorkersRecords, &["effect-once", "audit-kept"]);
}
