//! One generation, one writer: the rule that the incident broke.
//!
//! A mutation is an entry, a move of the checkpoint, an export, or what an operator changes. A generation begins when a
//! mutation or a fence of a higher grant epoch than any before is accepted, and belongs to whoever made it, a worker or an
//! operator. What the ledger itself calls a generation plays no part, so a ledger without fences is
//! judged the same way.

use super::evidence::Accepted;
use super::finding::Findings;
use super::{Checker, Evidence, Verdict, Witness};
use crate::id::{Epoch, EventId, NodeId};

pub(super) const CHECKER: Checker = Checker {
    name: "single-writer",
    holds_when: "in each generation of the settlement all mutations that the ledger accepts come from whoever opened it, with a \
                 mutation or a fence",
    judge,
};

/// The generation that the ledger is in.
struct Generation {
    epoch: Epoch,
    owner: NodeId,
    opened: EventId,
}

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut findings = Findings::default();
    let mut generation: Option<Generation> = None;
    let mut judged = 0;
    for &Accepted { event, claim, is_mutation } in evidence.accepted() {
        judged += usize::from(is_mutation);
        match &generation {
            Some(now) if claim.epoch <= now.epoch => {
                if is_mutation && claim.worker != now.owner {
                    findings.add(Witness::TwoWriters { first: now.opened, second: event });
                }
            }
            _ => generation = Some(Generation { epoch: claim.epoch, owner: claim.worker, opened: event }),
        }
    }
    findings.or_holds(judged)
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
    fn violated(story: Story, times: usize, first: u32, second: u32) {
        let witness = Witness::TwoWriters { first: EventId(first), second: EventId(second) };
        assert_eq!(judge_one(&CHECKER, &story.history()), Verdict::Violated { times, witness });
    }

    #[test]
    fn holds_where_nothing_is_mutated() {
        holds(Story::new(), 0);
        holds(Story::new().fenced(A, 1).fenced(B, 2).write_rejected(A, 1, 0), 0);
    }

    #[test]
    fn holds_over_clean_takeovers() {
        holds(Story::new().wrote(A, 1, 0).checkpoint(A, 1).wrote(A, 1, 1).exported(A, 1, &[]), 4);
        holds(Story::new().wrote(A, 1, 0).wrote(B, 2, 0).checkpoint(B, 2), 3);
        holds(Story::new().fenced(A, 1).wrote(A, 1, 0).fenced(B, 2).write_rejected(A, 1, 1).wrote(B, 2, 1), 2);
        holds(Story::new().wrote(A, 1, 0).wrote(B, 2, 0).wrote(C, 3, 0).wrote(A, 4, 0), 4);
        // An entry that was there already changes nothing, whoever sends it.
        holds(Story::new().wrote(A, 1, 0).wrote(B, 2, 0).write_repeated(A, 1, 0), 2);
    }

    #[test]
    fn a_second_writer_violates() {
        violated(Story::new().wrote(A, 1, 0).wrote(B, 1, 0), 1, 0, 1);
        violated(Story::new().wrote(A, 1, 0).wrote(B, 2, 0).wrote(A, 1, 1), 1, 1, 2);
        violated(Story::new().wrote(A, 1, 0).wrote(B, 2, 0).checkpoint(A, 1), 1, 1, 2);
        violated(Story::new().wrote(A, 1, 0).wrote(B, 2, 0).exported(A, 1, &[]), 1, 1, 2);
        violated(Story::new().wrote(A, 1, 0).wrote(B, 2, 0).wrote(A, 1, 1).wrote(B, 2, 1).wrote(A, 1, 2), 2, 1, 2);
        violated(Story::new().wrote(A, 1, 0).wrote(B, 2, 0).wrote(C, 3, 0).wrote(A, 1, 1).wrote(B, 2, 1), 2, 2, 3);
    }

    #[test]
    fn a_fence_opens_a_generation_but_mutates_nothing() {
        violated(Story::new().wrote(A, 1, 0).fenced(B, 2).wrote(A, 1, 1), 1, 1, 2);
        holds(Story::new().wrote(A, 2, 0).fenced(B, 1).wrote(A, 2, 1), 2);
        holds(Story::new().wrote(A, 2, 0).fenced(B, 2).wrote(A, 2, 1), 2);
        holds(Story::new().fenced(A, 1).fenced(B, 2).fenced(C, 3).wrote(C, 3, 0), 1);
    }

    #[test]
    fn a_stale_write_of_the_generations_own_worker_is_not_a_second_writer() {
        holds(Story::new().wrote(A, 1, 0).wrote(A, 2, 0).wrote(A, 1, 1), 3);
    }

    proptest! {
        /// Each accepted mutation is held against the first accepted event of the highest epoch up to it.
        #[test]
        fn agrees_with_brute_force(story in ledger_stories()) {
            let history = story.history();
            let mut expected = Vec::new();
            for (second, event) in history.numbered() {
                let Some(claim) = event.what.mutation() else { continue };
                let so_far = || history.numbered().take(second.index() + 1)
                    .filter_map(|(id, event)| accepted(&event.what).map(|claim| (id, claim)));
                let highest = so_far().map(|(_, claim)| claim.epoch).max();
                let (first, opener) =
                    so_far().find(|(_, claim)| Some(claim.epoch) == highest).expect("it counts itself");
                if opener.worker != claim.worker {
                    expected.push(Witness::TwoWriters { first, second });
                }
            }
            let verdict = judge_one(&CHECKER, &history);
            match expected.first() {
                Some(witness) => {
                    let times = expected.len();
                    prop_assert_eq!(verdict, Verdict::Violated { times, witness: witness.clone() });
                }
                None => prop_assert_eq!(verdict.name(), "holds"),
            }
        }
    }
}
