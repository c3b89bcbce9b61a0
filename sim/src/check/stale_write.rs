//! No way back: once the ledger has seen a grant, it takes nothing from an older one.

use super::evidence::Accepted;
use super::finding::Findings;
use super::{Checker, Evidence, Verdict, Witness};
use crate::id::{Epoch, EventId};

pub(super) const CHECKER: Checker = Checker {
    name: "stale-write",
    holds_when: "after a mutation or a fence of one grant is accepted, none of an earlier grant is",
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut findings = Findings::default();
    let mut highest: Option<(Epoch, EventId)> = None;
    for &Accepted { event, claim, .. } in evidence.accepted() {
        match highest {
            Some((epoch, newer)) if claim.epoch < epoch => {
                findings.add(Witness::StaleWrite { newer, stale: event });
            }
            Some((epoch, _)) if claim.epoch == epoch => {}
            _ => highest = Some((claim.epoch, event)),
        }
    }
    findings.or_holds(evidence.accepted().len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::check::{accepted, judge_one};
    use crate::history::fixture::{A, B, C, Story, ledger_stories};

    #[track_caller]
    fn holds(story: Story, judged: usize) {
        assert_eq!(judge_one(&CHECKER, &story.history()), Verdict::Holds { judged });
    }

    #[track_caller]
    fn violated(story: Story, times: usize, newer: u32, stale: u32) {
        let witness = Witness::StaleWrite { newer: EventId(newer), stale: EventId(stale) };
        assert_eq!(judge_one(&CHECKER, &story.history()), Verdict::Violated { times, witness });
    }

    #[test]
    fn holds_where_the_epochs_never_fall() {
        holds(Story::new(), 0);
        holds(Story::new().wrote(A, 1, 0).wrote(A, 1, 1), 2);
        holds(Story::new().wrote(A, 1, 0).fenced(B, 2).wrote(B, 2, 1), 3);
        holds(Story::new().wrote(A, 0, 0).wrote(B, 5, 0).wrote(C, 9, 0), 3);
    }

    #[test]
    fn two_workers_under_one_grant_are_not_stale() {
        holds(Story::new().wrote(A, 1, 0).wrote(B, 1, 0), 2);
    }

    #[test]
    fn what_is_turned_away_does_not_count() {
        holds(Story::new().wrote(B, 2, 0).write_rejected(A, 1, 0).fence_rejected(A, 1), 1);
        holds(Story::new().fence_rejected(B, 2).write_rejected(B, 2, 0).wrote(A, 1, 0), 1);
        holds(Story::new().wrote(B, 2, 0).write_repeated(A, 1, 0), 1);
    }

    #[test]
    fn an_older_grants_mutation_violates() {
        violated(Story::new().wrote(B, 2, 0).wrote(A, 1, 0), 1, 0, 1);
        violated(Story::new().wrote(A, 1, 0).fenced(B, 2).wrote(A, 1, 1), 1, 1, 2);
        violated(Story::new().wrote(B, 2, 0).fenced(A, 1), 1, 0, 1);
        violated(Story::new().wrote(B, 2, 0).checkpoint(A, 1).exported(A, 1, &[]), 2, 0, 1);
        violated(Story::new().wrote(A, 2, 0).wrote(A, 1, 1), 1, 0, 1);
    }

    #[test]
    fn the_witness_is_what_set_the_highest_epoch() {
        violated(Story::new().fenced(B, 2).wrote(B, 2, 0).wrote(A, 1, 0), 1, 0, 2);
        violated(Story::new().wrote(A, 1, 0).wrote(B, 2, 0).fenced(C, 3).wrote(B, 2, 1).wrote(A, 1, 1), 2, 2, 3);
        violated(Story::new().wrote(B, 2, 0).wrote(A, 1, 0).wrote(C, 3, 0).wrote(B, 2, 1), 2, 0, 1);
    }

    proptest! {
        /// Each accepted event is held against every one before it.
        #[test]
        fn agrees_with_brute_force(story in ledger_stories()) {
            let history = story.history();
            let epochs: Vec<(EventId, Epoch)> = history
                .numbered()
                .filter_map(|(id, event)| accepted(&event.what).map(|claim| (id, claim.epoch)))
                .collect();
            let stale: Vec<usize> = (0..epochs.len())
                .filter(|&i| epochs[..i].iter().any(|(_, earlier)| *earlier > epochs[i].1))
                .collect();
            match judge_one(&CHECKER, &history) {
                Verdict::Holds { judged } => {
                    prop_assert_eq!(&stale, &[] as &[usize]);
                    prop_assert_eq!(judged, epochs.len());
                }
                Verdict::Violated { times, witness } => {
                    prop_assert_eq!(times, stale.len());
                    let before = &epochs[..stale[0]];
                    let highest = before.iter().map(|(_, epoch)| *epoch).max();
                    let newer = before.iter().find(|(_, epoch)| Some(*epoch) == highest).expect("not the first").0;
                    prop_assert_eq!(witness, Witness::StaleWrite { newer, stale: epochs[stale[0]].0 });
                }
                Verdict::Unknown { reason } => prop_assert!(false, "{}", reason),
            }
        }
    }
}
