//! One settlement, one result: whoever reads any export reads the same.

use super::finding::Findings;
use super::{Checker, Evidence, Verdict, Witness};
use crate::history::{Published, Row};
use crate::id::{EventId, OpId};

pub(super) const CHECKER: Checker = Checker {
    name: "export-agreement",
    holds_when: "all exports published for the settlement are identical, but for those marked as superseded",
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    if evidence.published.is_none() {
        return Verdict::Holds { judged: 0 };
    }
    let mut findings = Findings::default();
    let mut first: Option<(EventId, &[Row])> = None;
    let mut judged = 0;
    for published in evidence.published_exports() {
        let Published { export, event: id, superseded } = published;
        let Some(rows) = evidence.exports.get(export.index()) else {
            return findings
                .or_else(|| Verdict::Unknown { reason: format!("the history has no rows for {export}") });
        };
        if superseded.is_some() {
            continue;
        }
        judged += 1;
        let (first, expected) = *first.get_or_insert((id, rows));
        if let Some((op, rows)) = difference(expected, rows) {
            findings.add(Witness::ExportsDiffer { first, second: id, op, rows });
        }
    }
    findings.or_holds(judged)
}

/// The first operation whose rows differ, and in how many operations they do. The order of operations is no part of
/// what an export says.
fn difference(one: &[Row], other: &[Row]) -> Option<(OpId, usize)> {
    if one == other {
        return None;
    }
    let (one, other) = (by_op(one), by_op(other));
    let (mut one, mut other) = (one.as_slice(), other.as_slice());
    let mut first = None;
    let mut count = 0;
    while let Some(op) = one.first().into_iter().chain(other.first()).map(|row| row.op).min() {
        if split(&mut one, op) != split(&mut other, op) {
            first.get_or_insert(op);
            count += 1;
        }
    }
    first.map(|op| (op, count))
}

fn by_op(rows: &[Row]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| row.op);
    rows
}

/// Takes the rows of `op` off the front of `rows`.
fn split<'a>(rows: &mut &'a [Row], op: OpId) -> &'a [Row] {
    let (taken, left) = rows.split_at(rows.partition_point(|row| row.op <= op));
    *rows = left;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::judge_one;
    use crate::history::What;
    use crate::history::fixture::{A, B, LEDGER, OPERATORS, Story, claim, ms, row};
    use crate::id::{EntryId, ExportId, PayoutId};

    /// The verdict on exports by A, B, A, B …, one event each.
    fn verdict(exports: &[&[Row]]) -> Verdict {
        let tell = |story: Story, (i, rows): (usize, &&[Row])| {
            story.exported(if i % 2 == 0 { A } else { B }, i as u32 + 1, rows)
        };
        judge_one(&CHECKER, &exports.iter().enumerate().fold(Story::new(), tell).history())
    }

    #[test]
    fn holds_where_all_are_identical() {
        let rows: &[Row] = &[row(0, 100), row(1, 200)];
        for (exports, judged) in [
            (&[] as &[&[Row]], 0),
            (&[rows], 1),
            (&[&[], &[]], 2),
            (&[rows, rows, rows], 3),
            (&[rows, &[row(1, 200), row(0, 100)]], 2),
        ] {
            assert_eq!(verdict(exports), Verdict::Holds { judged });
        }
    }

    #[test]
    fn a_different_export_violates() {
        let rows: &[Row] = &[row(0, 100), row(1, 200)];
        let entry = Row { entry: EntryId(9), ..row(0, 100) };
        let payout = Row { payout: PayoutId(9), ..row(1, 200) };
        for (exports, times, second, op, differing) in [
            (&[rows, &[entry, row(1, 200)]] as &[&[Row]], 1, 1, 0, 1),
            (&[rows, &[row(0, 100), payout]], 1, 1, 1, 1),
            (&[rows, &[entry, payout]], 1, 1, 0, 2),
            (&[rows, &[row(0, 100), row(1, 201)]], 1, 1, 1, 1),
            (&[rows, &[row(0, 100)]], 1, 1, 1, 1),
            (&[rows, &[]], 1, 1, 0, 2),
            (&[&[], rows], 1, 1, 0, 2),
            (&[rows, &[row(0, 100), row(0, 100), row(1, 200)]], 1, 1, 0, 1),
            (&[rows, &[row(0, 100), row(1, 200), row(2, 5)]], 1, 1, 2, 1),
            (&[rows, rows, &[payout, row(0, 100)], rows, &[]], 2, 2, 1, 1),
        ] {
            let witness = Witness::ExportsDiffer {
                first: EventId(0),
                second: EventId(second),
                op: OpId(op),
                rows: differing,
            };
            assert_eq!(verdict(exports), Verdict::Violated { times, witness });
        }
    }

    #[test]
    fn an_export_without_rows_in_the_history_is_unknown() {
        let what = What::ExportPublished { claim: claim(A, 1), export: ExportId(7) };
        let reason = "the history has no rows for export 7".to_owned();
        assert_eq!(judge_one(&CHECKER, &Story::new().on(LEDGER, what).history()), Verdict::Unknown { reason });
    }

    #[test]
    fn an_export_that_was_superseded_is_not_compared() {
        let (one, other) = ([row(0, 100)], [row(0, 200)]);
        let differ = || Story::new().with_operators().exported(A, 1, &one).exported(B, 2, &other);
        let marked = |exports: &[u32]| {
            let mark = |story: Story, export: &u32| story.export_superseded(OPERATORS[0], 3, *export);
            judge_one(&CHECKER, &exports.iter().fold(differ(), mark).history())
        };
        assert_eq!(marked(&[]).name(), "violated");
        assert_eq!(marked(&[0]), Verdict::Holds { judged: 1 });
        assert_eq!(marked(&[1]), Verdict::Holds { judged: 1 });
        assert_eq!(marked(&[0, 1]), Verdict::Holds { judged: 0 });
        // A mark that the ledger lost, or that a deposed one made, is none.
        let by = OPERATORS[0];
        let lost =
            differ().at(20).export_superseded(by, 3, 0).at(30).on(LEDGER, What::WritesLost { since: ms(10) });
        assert_eq!(judge_one(&CHECKER, &lost.history()).name(), "violated");
        let deposed = differ().deposed(LEDGER, by).export_superseded(by, 3, 0);
        assert_eq!(judge_one(&CHECKER, &deposed.history()).name(), "violated");
    }
}
