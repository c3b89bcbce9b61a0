//! Repairs told by hand, and the law of their sums.

use proptest::prelude::*;

use super::*;
use crate::history::fixture::{A, B, LEDGER, OPERATORS, PROVIDER, STORE, Story, claim, ms};
use crate::id::Token;

const OPERATOR: crate::id::NodeId = OPERATORS[0];
const SECOND: crate::id::NodeId = OPERATORS[1];

/// Two workers, and an operator who has taken over under epoch 3.
fn in_charge(damage: Story) -> Story {
    damage.with_operators().at(100).stopped(OPERATOR, 3).fenced(OPERATOR, 3)
}

fn told(story: &Story) -> Reconciliation {
    reconciliation(&story.clone().history()).expect("an operator acted")
}

fn closed(story: Story, op: u32, payout: u32) -> Story {
    story.decided(OPERATOR, 3, op, (Decision::Close(PayoutId(payout)), Reason::OneEffect))
}

/// The first operation: what becomes of its entries by number, what stays, what it came to.
#[track_caller]
fn check_first(story: &Story, entries: &[(u32, &str)], stays: Option<u32>, resolution: Resolution) {
    let told = told(story);
    let first = &told.operations[0];
    let standings = first.entries.iter().map(|entered| {
        let standing = match entered.standing {
            Standing::Stands => "stands",
            Standing::Superseded { .. } => "superseded",
            Standing::Deleted(_) => "deleted",
            Standing::Lost(_) => "lost",
        };
        (entered.entry.0, standing)
    });
    assert_eq!(standings.collect::<Vec<_>>(), entries);
    assert_eq!(first.stays().map(|payout| payout.id.0), stays);
    assert_eq!(first.resolution, resolution);
}

#[test]
fn without_an_operator_there_is_nothing_to_tell() {
    assert_eq!(reconciliation(&Story::new().wrote(A, 1, 0).history()), None);
    assert_eq!(reconciliation(&Story::new().with_operators().wrote(A, 1, 0).history()), None);
    assert!(reconciliation(&in_charge(Story::new()).history()).is_some());
}

#[test]
fn a_duplicate_is_traced_to_what_took_it_back() {
    let damage = Story::new().wrote_as(A, 1, 0, 1).wrote_as(B, 2, 0, 2).paid_as(A, 1, 0, 1, false);
    let story = in_charge(damage.paid_as(B, 2, 0, 2, false)).marked(OPERATOR, 3, 1);
    check_first(&story, &[(1, "stands"), (2, "stands")], None, Resolution::Open);
    let totals = told(&story).totals;
    assert_eq!((totals.operations, totals.affected, totals.duplicates), (2, 1, 1));
    assert_eq!((totals.unresolved, totals.out_of_balance), (1, 1));
    assert_eq!(told(&story).sums.difference(), Amount(0), "twice here and twice there");

    let story = story.superseded(OPERATOR, 3, 0, (1, 2));
    let story = story.decided(OPERATOR, 3, 0, (Decision::Keep(PayoutId(1)), Reason::FirstSettled));
    let story = story.decided(OPERATOR, 3, 0, (Decision::Refund(PayoutId(2)), Reason::DuplicateSettled));
    assert_eq!(told(&story).sums.difference(), Amount(100));
    let story = story.refund_begun(OPERATOR, 3, 0, 2, false);
    let refund = story.last();
    let story = closed(story, 0, 1).repair_ended(OPERATOR, 3, 0);
    check_first(&story, &[(1, "superseded"), (2, "stands")], Some(1), Resolution::Closed(PayoutId(1)));
    let told = told(&story);
    let ends: Vec<PayoutEnd> = told.operations[0].payouts.iter().map(|payout| payout.end).collect();
    assert_eq!(ends, [PayoutEnd::Settled, PayoutEnd::Refunded(refund)]);
    let reasons: Vec<Reason> = told.operations[0].decisions.iter().map(|decided| decided.why).collect();
    assert_eq!(reasons, [Reason::FirstSettled, Reason::DuplicateSettled, Reason::OneEffect]);
    let Totals { superseded, refunded, voided, unresolved, out_of_balance, .. } = told.totals;
    assert_eq!((superseded, refunded, voided, unresolved, out_of_balance), (1, 1, 0, 0, 0));
    let Sums { batch, ledger, paid, taken_back } = told.sums;
    assert_eq!([batch, ledger, paid, taken_back], [100, 100, 200, 100].map(Amount));
    assert_eq!((told.sums.provider(), told.sums.difference()), (Amount(100), Amount(0)));
}

#[test]
fn a_refund_that_fails_takes_nothing_back() {
    let damage = Story::new().wrote_as(A, 1, 0, 1).paid_as(A, 1, 0, 1, false).paid_as(B, 2, 0, 2, false);
    let story = in_charge(damage).marked(OPERATOR, 3, 1).refund_begun(OPERATOR, 3, 0, 2, true);
    assert_eq!((told(&story).totals.refunded, told(&story).sums.difference()), (0, Amount(100)));
    let story = story.refund_begun(OPERATOR, 3, 0, 2, false);
    assert_eq!((told(&story).totals.refunded, told(&story).sums.difference()), (1, Amount(0)));
    assert_eq!(told(&story).operations[0].payouts[1].refunds_failed, 1);
}

#[test]
fn what_failed_is_no_duplicate_of_what_made_up_for_it() {
    let story = in_charge(Story::new().wrote_as(A, 1, 0, 1).paid_as(A, 1, 0, 1, true)).marked(OPERATOR, 3, 1);
    let story = story.decided(OPERATOR, 3, 0, (Decision::Submit(1), Reason::NoneLeft));
    assert_eq!(told(&story).sums.difference(), Amount(-100));
    let story = closed(story.paid_as(OPERATOR, 3, 0, 2, false), 0, 2);
    check_first(&story, &[(1, "stands")], Some(2), Resolution::Closed(PayoutId(2)));
    let totals = told(&story).totals;
    assert_eq!((totals.duplicates, totals.resubmitted, totals.out_of_balance), (0, 1, 0));
}

#[test]
fn what_cannot_be_told_is_unresolved() {
    let story = in_charge(Story::new().wrote_as(A, 1, 0, 1).paid_as(A, 1, 0, 1, false)).marked(OPERATOR, 3, 1);
    let story = story.decided(OPERATOR, 3, 0, (Decision::GiveUp, Reason::NoAnswerAndNoKeys));
    let story = story.repair_ended(OPERATOR, 3, 1);
    check_first(&story, &[(1, "stands")], None, Resolution::GivenUp(Reason::NoAnswerAndNoKeys));
    assert_eq!(told(&story).totals.unresolved, 1);
    assert_eq!(told(&story).totals.out_of_balance, 0, "it is right, but the operator can't know");
}

#[test]
fn the_last_decision_counts() {
    let story = closed(in_charge(Story::new().wrote_as(A, 1, 0, 1).paid_as(A, 1, 0, 1, false)), 0, 1);
    check_first(&story, &[(1, "stands")], Some(1), Resolution::Closed(PayoutId(1)));
    let late = story.paid_as(B, 2, 0, 2, false);
    let opened = late.decided(OPERATOR, 3, 0, (Decision::Void(PayoutId(2)), Reason::DuplicateUnderWay));
    check_first(&opened, &[(1, "stands")], Some(1), Resolution::Open);
    assert_eq!(told(&opened).totals.duplicates, 1);
}

#[test]
fn what_a_ledger_lost_is_told_so() {
    let wrote = Story::new().at(5).wrote_as(A, 1, 0, 1).at(10).wrote_as(B, 2, 0, 2);
    let story = in_charge(wrote).at(20).superseded(OPERATOR, 3, 0, (1, 2));
    let lost = |since| story.clone().on(LEDGER, What::WritesLost { since: ms(since) });
    check_first(&lost(20), &[(1, "superseded"), (2, "stands")], None, Resolution::Open);
    // The mark is lost, and the entry stands again.
    check_first(&lost(15), &[(1, "stands"), (2, "stands")], None, Resolution::Open);
    check_first(&lost(5), &[(1, "stands"), (2, "lost")], None, Resolution::Open);
    // The number is free again.
    let again = lost(5).wrote_as(B, 2, 0, 2).superseded(OPERATOR, 3, 0, (2, 1));
    check_first(&again, &[(1, "stands"), (2, "lost"), (2, "superseded")], None, Resolution::Open);
}

#[test]
fn what_a_ledger_lost_of_decisions_is_not_decided() {
    let story = closed(in_charge(Story::new().wrote_as(A, 1, 0, 1).paid_as(A, 1, 0, 1, false)).at(200), 0, 1);
    let lost = |since| story.clone().at(300).on(LEDGER, What::WritesLost { since: ms(since) });
    check_first(&lost(200), &[(1, "stands")], Some(1), Resolution::Closed(PayoutId(1)));
    check_first(&lost(199), &[(1, "stands")], None, Resolution::Open);
}

#[test]
fn an_operator_keeps_the_payout_of_the_half_that_answers_it() {
    let old = |story: Story| story.deposed(PROVIDER, OPERATOR);
    let split = in_charge(Story::new().wrote_as(A, 1, 0, 1)).split(PROVIDER, OPERATOR);
    let story = old(split).paid_as(A, 1, 0, 1, false);
    let by_old = EventId(story.last().0 - 1);
    let story = story.paid_as(B, 2, 0, 1, false);
    let keep = (Decision::Keep(PayoutId(1)), Reason::FirstUnderWay);
    let stays = |story: &Story| told(story).operations[0].stays().map(|payout| payout.made);
    assert_eq!(stays(&story.clone().decided(OPERATOR, 3, 0, keep)), Some(by_old));
    assert_eq!(stays(&story.clone().decided(SECOND, 3, 0, keep)), Some(EventId(by_old.0 + 2)));
    // Both are of one number, and one of them is taken back.
    let story = old(story.decided(OPERATOR, 3, 0, keep)).voided(OPERATOR, 3, 0, 1);
    let ends = told(&story).operations[0].payouts.iter().map(Payout::is_effect).collect::<Vec<_>>();
    assert_eq!(ends, [false, true]);
}

#[test]
fn what_was_deleted_is_affected_though_nobody_marked_it() {
    let story = Story::new().wrote_as(A, 1, 1, 1).paid_as(A, 1, 1, 1, false);
    let story = in_charge(story).deleted(OPERATOR, 3, 1, 1);
    let told = told(&story);
    assert_eq!(told.operations.iter().map(|operation| operation.op).collect::<Vec<_>>(), [OpId(1)]);
    assert_eq!((told.totals.deleted, told.totals.out_of_balance), (1, 1));
    assert_eq!(told.sums.difference(), Amount(200));
}

#[test]
fn operations_beyond_the_batch_are_nobodys() {
    let story = in_charge(Story::new()).marked(OPERATOR, 3, 9).voided(OPERATOR, 3, 7, 1);
    assert_eq!(told(&story).operations.len(), 2);
}

#[test]
fn exports_are_superseded_one_by_one() {
    let story = in_charge(Story::new().exported(A, 1, &[]).exported(B, 2, &[])).export_superseded(OPERATOR, 3, 1);
    let marked = told(&story).exports.iter().map(|export| export.superseded.is_some()).collect::<Vec<_>>();
    assert_eq!(marked, [false, true]);
    assert_eq!(told(&story).totals.exports_superseded, 1);
}

/// Who, under which token, with what end, as a word.
#[track_caller]
fn check_turns(story: Story, expected: &[(crate::id::NodeId, u64, &str)]) {
    let turns = told(&story).turns.into_iter().map(|turn| {
        let end = match turn.end {
            TurnEnd::Ended { .. } => "ended",
            TurnEnd::GaveWay(_) => "gave way",
            TurnEnd::Died(_) => "died",
            TurnEnd::BegunAnew(_) => "begun anew",
            TurnEnd::UnderWay => "under way",
        };
        (turn.operator, turn.token.map_or(0, |token: Token| token.0), end)
    });
    assert_eq!(turns.collect::<Vec<_>>(), expected);
}

#[test]
fn each_operator_has_its_turn() {
    let first = || in_charge(Story::new());
    check_turns(first(), &[(OPERATOR, 3, "under way")]);
    check_turns(first().repair_ended(OPERATOR, 3, 0), &[(OPERATOR, 3, "ended")]);
    let died = first().on(OPERATOR, What::WorkerDied);
    check_turns(died.clone(), &[(OPERATOR, 3, "died")]);
    let again = died.stopped(OPERATOR, 4);
    check_turns(again.clone(), &[(OPERATOR, 3, "died"), (OPERATOR, 4, "under way")]);
    check_turns(first().stopped(OPERATOR, 4), &[(OPERATOR, 3, "begun anew"), (OPERATOR, 4, "under way")]);
    let other = first().stopped(SECOND, 4).on(OPERATOR, What::RepairLeft { claim: claim(OPERATOR, 3) });
    check_turns(other.repair_ended(SECOND, 4, 0), &[(OPERATOR, 3, "gave way"), (SECOND, 4, "ended")]);
    // The death of a process that was done is no end of its work.
    let late = first().repair_ended(OPERATOR, 3, 0).on(OPERATOR, What::WorkerDied);
    check_turns(late, &[(OPERATOR, 3, "ended")]);
}

#[test]
fn a_turn_has_its_steps() {
    let story = in_charge(Story::new());
    let fenced = story.last();
    let by = claim(OPERATOR, 3);
    let story = story.on(crate::history::fixture::PROVIDER, What::GatewayFenced { claim: by, fenced: false });
    let story = story.on(STORE, What::WorkerElected { claim: by, elected: Some(B) }).marked(OPERATOR, 3, 1);
    let story = story.marked(OPERATOR, 3, 2).on(STORE, What::DispatchResumed { claim: by, elected: Some(B) });
    let resumed = story.last();
    let turn = told(&story).turns[0];
    assert_eq!(turn.fenced, Some(fenced));
    assert_eq!(turn.gateway.map(|(_, fenced)| fenced), Some(false));
    assert_eq!(turn.elected.map(|(_, elected)| elected), Some(Some(B)));
    assert_eq!(turn.marked.map(|(_, until)| until), Some(OpId(2)));
    assert_eq!(turn.resumed, Some(resumed));
}

/// What becomes of an entry or a payout in a drawn story.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Counts,
    Fails,
    IsVoided,
    IsRefunded,
    StaysAsItsRefundFails,
}

impl Fate {
    fn counts(self) -> bool {
        matches!(self, Fate::Counts | Fate::StaysAsItsRefundFails)
    }
}

/// For each of two operations: of each entry whether it is superseded, and the fate of each payout.
type Drawn = [(Vec<bool>, Vec<Fate>); 2];

fn drawn() -> impl Strategy<Value = Drawn> {
    let fates = vec![Fate::Counts, Fate::Fails, Fate::IsVoided, Fate::IsRefunded, Fate::StaysAsItsRefundFails];
    let one =
        (prop::collection::vec(any::<bool>(), 0..4), prop::collection::vec(prop::sample::select(fates), 0..4));
    [one.clone(), one]
}

fn tell(drawn: &Drawn) -> Story {
    let mut number = 0;
    // Of another order of magnitude, so that what is too much for one doesn't make up for what another lacks.
    let mut story = in_charge(Story::new().batch(&[1, 100])).marked(OPERATOR, 3, 2);
    for (op, (entries, payouts)) in (0..).zip(drawn) {
        for is_superseded in entries {
            number += 1;
            story = story.wrote_as(A, 1, op, number);
            if *is_superseded {
                story = story.superseded(OPERATOR, 3, op, (number, 0));
            }
        }
        for fate in payouts {
            number += 1;
            story = story.paid_as(A, 1, op, number, matches!(fate, Fate::Fails));
            story = match fate {
                Fate::Counts | Fate::Fails => story,
                Fate::IsVoided => story.voided(OPERATOR, 3, op, number),
                Fate::IsRefunded => story.refund_begun(OPERATOR, 3, op, number, false),
                Fate::StaysAsItsRefundFails => story.refund_begun(OPERATOR, 3, op, number, true),
            };
        }
    }
    story
}

proptest! {
    /// The sums are those of the batch exactly when each operation has one entry that stands and one effect; and then
    /// nothing is the difference.
    #[test]
    fn sums_agree_exactly_when_each_operation_has_one_entry_and_one_effect(drawn in drawn()) {
        let told = told(&tell(&drawn));
        let standing = |entries: &[bool]| entries.iter().filter(|is_superseded| !**is_superseded).count();
        let effects = |fates: &[Fate]| fates.iter().filter(|fate| fate.counts()).count();
        let once = drawn.iter().filter(|(entries, fates)| (standing(entries), effects(fates)) == (1, 1)).count();
        let Sums { batch, ledger, .. } = told.sums;
        prop_assert_eq!((ledger, told.sums.provider()) == (batch, batch), once == 2);
        prop_assert_eq!(told.totals.out_of_balance, 2 - once);
        let as_many = drawn.iter().all(|(entries, fates)| standing(entries) == effects(fates));
        prop_assert_eq!(told.sums.difference() == Amount(0), as_many);
        let real = |fates: &[Fate]| fates.iter().filter(|fate| !matches!(fate, Fate::Fails)).count();
        let duplicates: usize = drawn.iter().map(|(_, fates)| real(fates).saturating_sub(1)).sum();
        prop_assert_eq!(told.totals.duplicates, duplicates);
        for (operation, (entries, _)) in told.operations.iter().zip(&drawn) {
            prop_assert_eq!(operation.entries.len(), entries.len());
        }
    }
}
