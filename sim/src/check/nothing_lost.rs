//! The ledger is whole: every operation once, for the right amount.

use super::finding::Findings;
use super::tally::Tally;
use super::{Checker, Evidence, Verdict, Witness};
use crate::history::{Standing, entries};

pub(super) const CHECKER: Checker = Checker {
    name: "nothing-lost",
    holds_when: "the canonical ledger has each operation of the batch exactly once, with the right amount",
    judge,
};

/// Judges the entries that the ledger has in the end: what it lost, or what a deposed one took in, is in no ledger, and what
/// is superseded or deleted isn't canonical.
fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut findings = Findings::default();
    let mut standing = Tally::new(evidence);
    let entries = entries(evidence, evidence.deeds(), evidence.writes);
    for entered in entries.iter().filter(|entered| entered.standing == Standing::Stands) {
        if let Some(first) = standing.note(entered.op, entered.event) {
            findings.add(Witness::EnteredTwice { op: entered.op, first, second: entered.event });
        }
        // An operation that the batch doesn't have is right for nothing.
        let right = evidence.batch.get(entered.op.index()).copied().unwrap_or_default();
        if entered.amount != right {
            findings.add(Witness::WrongAmount { entry: entered.event, right });
        }
    }
    let export = evidence.standing_export();
    standing.verdict(findings, export, |op, export| Witness::NeverEntered { op, export }, "have no entry")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::judge_one;
    use crate::history::What;
    use crate::history::fixture::{A, B, LEDGER, OPERATORS, PROVIDER, Story, ms};
    use crate::id::{Amount, EventId, NodeId, OpId};

    #[track_caller]
    fn check(story: Story, expected: Verdict) {
        assert_eq!(judge_one(&CHECKER, &story.history()), expected);
    }

    #[test]
    fn an_entry_that_the_ledger_lost_is_not_there() {
        let lost = |story: Story, since| story.on(LEDGER, What::WritesLost { since: ms(since) });
        let wrote = || Story::new().wrote(A, 1, 0).at(5).wrote(A, 1, 1).at(10);
        check(lost(wrote(), 5).exported(A, 1, &[]), Verdict::Holds { judged: 2 });
        check(lost(wrote(), 4).exported(A, 1, &[]), never(1, 1, 3));
        check(lost(wrote(), 4).wrote(B, 2, 1).exported(A, 1, &[]), Verdict::Holds { judged: 2 });
        // What a provider forgets is no matter of the ledger's.
        let forgets = wrote().on(PROVIDER, What::WritesLost { since: ms(4) });
        check(forgets.exported(A, 1, &[]), Verdict::Holds { judged: 2 });
    }

    #[test]
    fn what_a_deposed_ledger_took_in_is_in_no_ledger() {
        let wrote = || Story::new().wrote(A, 1, 0).deposed(LEDGER, A).wrote(A, 1, 1);
        check(wrote().exported(B, 2, &[]), never(1, 1, 3));
        check(wrote().wrote(B, 2, 1).exported(B, 2, &[]), Verdict::Holds { judged: 2 });
        check(wrote().deposed(LEDGER, A).wrote(A, 1, 1).wrote(B, 2, 1), Verdict::Holds { judged: 2 });
    }

    fn twice(times: usize, op: u32, first: u32, second: u32) -> Verdict {
        let witness = Witness::EnteredTwice { op: OpId(op), first: EventId(first), second: EventId(second) };
        Verdict::Violated { times, witness }
    }

    fn never(times: usize, op: u32, export: u32) -> Verdict {
        Verdict::Violated { times, witness: Witness::NeverEntered { op: OpId(op), export: EventId(export) } }
    }

    fn wrong(times: usize, entry: u32, right: i64) -> Verdict {
        let witness = Witness::WrongAmount { entry: EventId(entry), right: Amount(right) };
        Verdict::Violated { times, witness }
    }

    fn unknown(missing: usize) -> Verdict {
        let reason = format!("the settlement was not published: {missing} of 2 operations have no entry");
        Verdict::Unknown { reason }
    }

    #[test]
    fn holds_where_each_is_entered_once() {
        check(Story::new().batch(&[]).exported(A, 1, &[]), Verdict::Holds { judged: 0 });
        check(Story::new().wrote(A, 1, 0).wrote(B, 2, 1), Verdict::Holds { judged: 2 });
        check(Story::new().wrote(A, 1, 1).wrote(A, 1, 0).exported(A, 1, &[]), Verdict::Holds { judged: 2 });
    }

    #[test]
    fn what_was_kept_or_turned_away_is_no_entry() {
        let entered = || Story::new().wrote(A, 1, 0).wrote(A, 1, 1);
        check(entered().write_repeated(B, 2, 0).write_rejected(A, 1, 1), Verdict::Holds { judged: 2 });
        check(Story::new().write_rejected(A, 1, 0), unknown(2));
    }

    #[test]
    fn a_second_entry_violates_once_for_each_operation() {
        let entered = || Story::new().wrote(A, 1, 0).wrote(A, 1, 1);
        check(entered().wrote(B, 2, 1), twice(1, 1, 1, 2));
        check(entered().wrote(B, 2, 1).wrote(B, 2, 1).wrote(B, 2, 0), twice(2, 1, 1, 2));
    }

    #[test]
    fn a_wrong_amount_violates() {
        check(Story::new().wrote_amount(A, 1, 0, 101), wrong(1, 0, 100));
        check(Story::new().wrote(A, 1, 0).wrote_amount(A, 1, 1, -200).exported(A, 1, &[]), wrong(1, 1, 200));
        check(Story::new().wrote(A, 1, 0).wrote(A, 1, 1).wrote_amount(A, 1, 2, 5), wrong(1, 2, 0));
        check(Story::new().wrote(A, 1, 0).wrote_amount(B, 2, 0, 7), twice(2, 0, 0, 1));
    }

    #[test]
    fn what_is_missing_violates_only_once_the_settlement_is_published() {
        check(Story::new(), unknown(2));
        check(Story::new().wrote(A, 1, 1), unknown(1));
        check(Story::new().exported(A, 1, &[]), never(2, 0, 0));
        check(Story::new().wrote(A, 1, 0).exported(A, 1, &[]).exported(B, 2, &[]), never(1, 1, 1));
    }

    const OPERATOR: NodeId = OPERATORS[0];

    #[test]
    fn an_entry_that_was_superseded_is_not_canonical() {
        let entered =
            || Story::new().with_operators().wrote_as(A, 1, 0, 1).wrote_as(A, 1, 1, 2).wrote_as(B, 2, 0, 3);
        check(entered(), twice(1, 0, 0, 2));
        check(entered().superseded(OPERATOR, 3, 0, (1, 3)), Verdict::Holds { judged: 2 });
        check(entered().superseded(OPERATOR, 3, 0, (3, 1)), Verdict::Holds { judged: 2 });
        check(entered().superseded(OPERATOR, 3, 1, (2, 3)).exported(B, 2, &[]), twice(2, 0, 0, 2));
    }

    #[test]
    fn an_entry_that_was_deleted_is_lost() {
        let entered = || Story::new().with_operators().wrote_as(A, 1, 0, 1).wrote_as(A, 1, 1, 2);
        let deleted = || entered().deleted(OPERATOR, 3, 1, 2);
        check(deleted().exported(A, 1, &[]), never(1, 1, 3));
        check(deleted().wrote_as(B, 4, 1, 3).exported(B, 4, &[]), Verdict::Holds { judged: 2 });
        // A number that was used again means the newer entry.
        let again = entered().wrote_as(B, 4, 1, 2).superseded(OPERATOR, 5, 1, (2, 1));
        check(again, Verdict::Holds { judged: 2 });
    }

    #[test]
    fn a_mark_that_the_ledger_lost_is_no_mark() {
        let twice_entered = Story::new().with_operators().wrote_as(A, 1, 1, 9).at(5).wrote_as(A, 1, 0, 1).at(10);
        let marked = twice_entered.wrote_as(B, 2, 0, 2).at(20).superseded(OPERATOR, 3, 0, (1, 2));
        check(marked.clone(), Verdict::Holds { judged: 2 });
        check(
            marked.on(LEDGER, What::WritesLost { since: ms(15) }).superseded(OPERATOR, 4, 0, (7, 8)),
            twice(1, 0, 1, 2),
        );
    }

    #[test]
    fn a_duplicate_that_the_ledger_lost_is_none_whatever_else_happened() {
        let entered = || Story::new().with_operators().wrote_as(A, 1, 0, 1).wrote_as(A, 1, 1, 2).at(5);
        let twice = || entered().wrote_as(B, 2, 0, 3).at(10);
        let lost = || twice().on(LEDGER, What::WritesLost { since: ms(4) });
        check(twice(), self::twice(1, 0, 0, 2));
        check(lost(), Verdict::Holds { judged: 2 });
        // The same ledger, and once more an entry that is superseded.
        let superseded = |story: Story| story.wrote_as(B, 2, 1, 4).superseded(OPERATOR, 3, 1, (4, 2));
        check(superseded(twice()), self::twice(1, 0, 0, 2));
        check(superseded(lost()), Verdict::Holds { judged: 2 });
        // All copies are lost.
        let all = || lost().on(LEDGER, What::WritesLost { since: ms(-1) });
        check(all(), unknown(2));
        check(all().exported(A, 1, &[]), never(2, 0, 5));
    }

    #[test]
    fn a_wrong_amount_violates_whatever_was_superseded() {
        let entered = || Story::new().with_operators().wrote_as(A, 1, 0, 1).wrote_amount(A, 1, 1, 201);
        check(entered(), wrong(1, 1, 200));
        check(entered().wrote_as(B, 2, 0, 7).superseded(OPERATOR, 3, 0, (7, 1)), wrong(1, 1, 200));
        // What is superseded may be wrong.
        let superseded = entered().wrote_as(B, 2, 1, 7).superseded(OPERATOR, 3, 1, (1, 7));
        check(superseded, Verdict::Holds { judged: 2 });
        let lost = Story::new().wrote(A, 1, 0).wrote(A, 1, 1).at(5).wrote_amount(A, 1, 1, 7);
        check(lost.at(10).on(LEDGER, What::WritesLost { since: ms(4) }), Verdict::Holds { judged: 2 });
    }
}
