//! When two workers both think that they hold the lease: a measure, not a violation, for no lease protocol can make it
//! zero.

use serde::Serialize;

use super::{Belief, History, beliefs};
use crate::id::NodeId;
use crate::time::{Span, TrueTime};

/// One stretch of true time in which two workers both thought that they held the lease: as long as it gets, and never
/// empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Overlap {
    /// When it began.
    pub from: TrueTime,
    /// The first instant at which one of them no longer thought so.
    pub until: TrueTime,
    /// The worker that had been thinking so for longer (if both began at once, the one with the lower number).
    pub first: NodeId,
    /// The worker that came to think so as well.
    pub second: NodeId,
}

/// All overlaps of a run, pair by pair, ordered by their beginning, then by first and second worker.
///
/// A worker that goes from one grant to the next without a gap believes all the way through.
pub fn overlaps(history: &History) -> Vec<Overlap> {
    let beliefs = across_grants(beliefs(history));
    let mut overlaps = Vec::new();
    for (i, one) in beliefs.iter().enumerate() {
        // Those that begin later and before this one ends; one worker's own never overlap each other.
        for other in beliefs[i + 1..].iter().take_while(|other| other.from < one.until) {
            let until = one.until.min(other.until);
            overlaps.push(Overlap { from: other.from, until, first: one.worker, second: other.worker });
        }
    }
    overlaps.sort_unstable_by_key(|overlap| (overlap.from, overlap.first, overlap.second));
    overlaps
}

/// For how long at least two workers thought that they held the lease.
pub fn overlap_total(history: &History) -> Span {
    let mut counted_to = TrueTime::START;
    let mut total = Span::ZERO;
    for overlap in overlaps(history) {
        let from = overlap.from.max(counted_to);
        if from < overlap.until {
            total = total + (overlap.until - from);
            counted_to = overlap.until;
        }
    }
    total
}

/// Joins the beliefs of each worker that touch, whatever grant they are of, and keeps the order.
fn across_grants(beliefs: Vec<Belief>) -> Vec<Belief> {
    let mut joined: Vec<Belief> = Vec::with_capacity(beliefs.len());
    for belief in beliefs {
        match joined.iter_mut().rfind(|earlier| earlier.worker == belief.worker) {
            Some(earlier) if earlier.until == belief.from => earlier.until = belief.until,
            _ => joined.push(belief),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::Clock::Wall;
    use crate::fault::{ClockStep, Fault};
    use crate::history::fixture::{A, B, C, Story, belief_stories, believes, ms, pause};

    /// First, second, from and until in milliseconds; the total in milliseconds.
    #[track_caller]
    fn check(story: Story, expected: &[(NodeId, NodeId, i64, i64)], total: i64) {
        let expected: Vec<Overlap> = expected
            .iter()
            .map(|&(first, second, from, until)| Overlap { from: ms(from), until: ms(until), first, second })
            .collect();
        let history = story.history();
        assert_eq!(overlaps(&history), expected);
        assert_eq!(overlap_total(&history), Span::millis(total));
    }

    fn held_to(worker: NodeId, until: i64) -> Story {
        Story::new().held(worker, 1, Wall, until)
    }

    fn step(node: NodeId, by: i64) -> Fault {
        Fault::ClockStep(ClockStep { node, by: Span::millis(by) })
    }

    #[test]
    fn overlaps_are_pairwise_and_as_long_as_they_get() {
        check(held_to(A, 40).at(40).held(B, 2, Wall, 80), &[], 0);
        check(held_to(A, 40).at(30).held(B, 2, Wall, 80), &[(A, B, 30, 40)], 10);
        check(held_to(B, 40).held(A, 2, Wall, 80), &[(A, B, 0, 40)], 40);
        let same = held_to(A, 40).at(10).held(B, 3, Wall, 50).at(20).held(A, 2, Wall, 80);
        check(same, &[(A, B, 10, 50)], 40);
        let three = held_to(A, 40).at(20).held(B, 2, Wall, 80).at(30).held(C, 3, Wall, 60);
        check(three, &[(A, B, 20, 40), (A, C, 30, 40), (B, C, 30, 60)], 40);
        let apart = held_to(A, 90).at(20).held(B, 2, Wall, 30).at(50).held(C, 3, Wall, 60);
        check(apart, &[(A, B, 20, 30), (A, C, 50, 60)], 20);
    }

    #[test]
    fn the_incident_overlaps_twice() {
        let story = held_to(A, 40_000)
            .plan(pause(A))
            .plan(step(A, -420))
            .at(2_000)
            .begins(0)
            .at(39_950)
            .held(B, 2, Wall, 80_000)
            .at(39_990)
            .heals(0)
            .at(40_150)
            .begins(1);
        check(story, &[(B, A, 39_990, 40_000), (B, A, 40_150, 40_420)], 280);
    }

    proptest! {
        /// Between two neighbouring edges of beliefs nothing changes, so one look tells for the whole stretch.
        #[test]
        fn the_total_is_where_at_least_two_believe(story in belief_stories()) {
            let history = story.history();
            let mut edges: Vec<TrueTime> = beliefs(&history).iter().flat_map(|one| [one.from, one.until]).collect();
            edges.sort_unstable();
            let crowded = |at| [A, B, C].iter().filter(|&&worker| believes(&history, worker, at)).count() >= 2;
            let total = edges
                .windows(2)
                .filter(|edge| edge[0] < edge[1] && crowded(edge[0]))
                .fold(Span::ZERO, |total, edge| total + (edge[1] - edge[0]));
            prop_assert_eq!(overlap_total(&history), total);
        }
    }
}
