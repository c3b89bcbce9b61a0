//! The audit trail is whole: what is wrong is marked as superseded, and never taken out.
//!
//! What a failover loses of the ledger is no deletion: nobody did it on purpose, and `nothing-lost` judges what is left.

use super::finding::Findings;
use super::{Checker, Evidence, Verdict, Witness};
use crate::history::What;

pub(super) const CHECKER: Checker =
    Checker { name: "audit-kept", holds_when: "no accepted record is ever deleted", judge };

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut findings = Findings::default();
    if evidence.has_deleted {
        let deleted = evidence.deeds().filter(|(_, event)| matches!(event.what, What::EntryDeleted { .. }));
        deleted.for_each(|(id, _)| findings.add(Witness::RecordDeleted { deleted: id }));
    }
    findings.or_holds(evidence.writes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::judge_one;
    use crate::history::fixture::{A, B, LEDGER, Story, claim};
    use crate::id::{EntryId, EventId, OpId};

    #[track_caller]
    fn check(story: Story, expected: Verdict) {
        assert_eq!(judge_one(&CHECKER, &story.history()), expected);
    }

    #[test]
    fn marking_is_no_deleting() {
        let (op, entry, by) = (OpId(0), EntryId(0), EntryId(1));
        let wrote = || Story::new().wrote(A, 1, 0).wrote(B, 2, 0);
        check(Story::new(), Verdict::Holds { judged: 0 });
        check(wrote(), Verdict::Holds { judged: 2 });
        let superseded = What::EntrySuperseded { claim: claim(B, 3), op, entry, by };
        check(wrote().on(LEDGER, superseded), Verdict::Holds { judged: 2 });
        let deleted = What::EntryDeleted { claim: claim(B, 3), op, entry };
        let witness = Witness::RecordDeleted { deleted: EventId(2) };
        check(wrote().on(LEDGER, deleted).on(LEDGER, deleted), Verdict::Violated { times: 2, witness });
    }
}
