//! The settlement gets finished: a protocol that does nothing is safe, and useless.

use super::{Checker, Evidence, Verdict, Witness};
use crate::history::{Event, History, What};
use crate::limits::Ending;

pub(super) const CHECKER: Checker = Checker {
    name: "progress",
    holds_when: "the settlement is published within the stated time after it is due and the last fault has healed",
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let published = evidence.published.map(|id| evidence.event(id).at);
    let deadline = evidence.progress_by();
    match published {
        Some(at) if at <= deadline => Verdict::Holds { judged: 1 },
        // Where nothing is left to happen, the deadline need not be waited for.
        None if evidence.ended_at < deadline && !nothing_left(&evidence.ending) => Verdict::Unknown {
            reason: "the settlement was not published, and the run ended before it had to be".to_owned(),
        },
        _ => Verdict::Violated { times: 1, witness: Witness::NotFinished },
    }
}

/// Whether nothing is left to happen in `history`, and the settlement was never published.
pub fn is_over_unpublished(history: &History) -> bool {
    let is_export = |event: &Event| matches!(event.what, What::ExportPublished { .. });
    nothing_left(&history.ending) && !history.events.iter().any(is_export)
}

fn nothing_left(ending: &Ending) -> bool {
    matches!(ending, Ending::Finished | Ending::Stuck)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::judge_one;
    use crate::fault::{ClockStep, Fault, LoseMessage, Part};
    use crate::history::fixture::{A, B, Story, pause};
    use crate::time::Span;

    const HOLDS: Verdict = Verdict::Holds { judged: 1 };
    const LATE: Verdict = Verdict::Violated { times: 1, witness: Witness::NotFinished };

    #[track_caller]
    fn check(story: Story, expected: Verdict) {
        assert_eq!(judge_one(&CHECKER, &story.history()), expected);
    }

    #[track_caller]
    fn check_unknown(story: Story) {
        assert_eq!(judge_one(&CHECKER, &story.history()).name(), "unknown");
    }

    #[test]
    fn without_faults_the_time_counts_from_the_start() {
        check(Story::new().at(10_000).exported(A, 1, &[]), HOLDS);
        check(Story::new().at(10_001).exported(A, 1, &[]), LATE);
        check(Story::new().at(5).exported(A, 1, &[]).at(30_000).exported(B, 2, &[]), HOLDS);
    }

    #[test]
    fn with_faults_it_counts_from_the_last_healing() {
        let paused = || Story::new().plan(pause(A)).at(1_000).begins(0);
        check(paused().at(5_000).heals(0).at(15_000).exported(A, 1, &[]), HOLDS);
        check(paused().at(5_000).heals(0).at(15_001).exported(A, 1, &[]), LATE);
        check(paused().at(2_000).exported(B, 2, &[]).at(50_000).heals(0), HOLDS);
        let step = || Fault::ClockStep(ClockStep { node: A, by: Span::millis(-420) });
        check(Story::new().plan(step()).at(7_000).begins(0).at(17_000).exported(A, 1, &[]), HOLDS);
        check(Story::new().plan(step()).at(7_000).begins(0).at(17_001).exported(A, 1, &[]), LATE);
    }

    #[test]
    fn a_fault_that_waits_for_its_message_to_the_end_puts_nothing_off() {
        let (message, part) = ("ledger.write".to_owned(), Part::Request);
        let lose = Fault::LoseMessage(LoseMessage { message, part, node: A, nth: 1 });
        let waits = |at| {
            Story::new().plan(lose.clone()).at(1_000).begins(0).at(at).exported(A, 1, &[]).at(60_000).heals(0)
        };
        check(waits(11_000), HOLDS);
        check(waits(11_001), LATE);
    }

    #[test]
    fn never_published() {
        for ending in [Ending::Finished, Ending::Stuck] {
            check(Story::new().at(3).ends(ending), LATE);
        }
        for ending in [Ending::TimeUp, Ending::StepsUsedUp] {
            check(Story::new().at(10_000).ends(ending.clone()), LATE);
            check_unknown(Story::new().at(9_999).ends(ending));
        }
    }

    #[test]
    fn a_run_that_hit_a_bound_after_publishing_is_unknown() {
        check_unknown(Story::new().at(5).exported(A, 1, &[]).at(6).ends(Ending::StepsUsedUp));
    }
}
