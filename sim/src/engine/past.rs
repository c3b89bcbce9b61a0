//! What a service kept on disk a while ago, for faults that bring that back.
//!
//! Only a service that such a fault is planned for has a past: whoever has none pays nothing for it.

use std::collections::VecDeque;

use crate::time::{Span, TrueTime};

/// The states of the last while, each with when it came about; the first of them is the one that held before that.
pub(super) struct Past<K> {
    reach: Span,
    states: VecDeque<(TrueTime, K)>,
}

impl<K> Past<K> {
    /// A past that reaches back by `reach`, and begins with `state`.
    pub(super) fn new(reach: Span, state: K) -> Past<K> {
        Past { reach, states: VecDeque::from([(TrueTime::START, state)]) }
    }

    /// Notes that from `now` on `state` is what there is.
    pub(super) fn note(&mut self, now: TrueTime, state: K) {
        // What holds at an instant is what its last event left behind.
        if self.states.back().is_some_and(|(since, _)| *since == now) {
            self.states.pop_back();
        }
        self.states.push_back((now, state));
        let oldest = now - self.reach;
        while self.states.get(1).is_some_and(|(since, _)| *since <= oldest) {
            self.states.pop_front();
        }
    }

    /// Takes out what there was at `at`, and forgets what came later; whoever goes back there notes it as the present.
    pub(super) fn take(&mut self, at: TrueTime) -> Option<K> {
        let after = self.states.partition_point(|(since, _)| *since <= at).max(1);
        self.states.truncate(after);
        self.states.pop_back().map(|(_, state)| state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(secs: i64) -> TrueTime {
        TrueTime::START + Span::secs(secs)
    }

    #[track_caller]
    fn check(reach: i64, notes: &[(i64, char)], at: i64, expected: char) {
        let mut past = Past::new(Span::secs(reach), 'a');
        notes.iter().for_each(|(now, state)| past.note(secs(*now), *state));
        assert_eq!(past.take(secs(at)), Some(expected));
    }

    #[test]
    fn what_there_was_is_what_the_last_note_up_to_then_said() {
        check(9, &[], 0, 'a');
        check(9, &[(3, 'b'), (5, 'c')], 0, 'a');
        check(9, &[(3, 'b'), (5, 'c')], 2, 'a');
        check(9, &[(3, 'b'), (5, 'c')], 3, 'b');
        check(9, &[(3, 'b'), (5, 'c')], 4, 'b');
        check(9, &[(3, 'b'), (5, 'c')], 7, 'c');
        check(9, &[(3, 'b'), (3, 'c')], 3, 'c');
        check(9, &[(0, 'b')], 0, 'b');
        check(9, &[(3, 'b')], -1, 'a');
    }

    #[test]
    fn what_is_out_of_reach_is_forgotten_and_the_one_that_held_then_is_not() {
        let mut past = Past::new(Span::secs(2), 'a');
        for (now, state) in [(1, 'b'), (2, 'c'), (10, 'd'), (11, 'e')] {
            past.note(secs(now), state);
        }
        assert_eq!(past.states, [(secs(2), 'c'), (secs(10), 'd'), (secs(11), 'e')]);
        check(2, &[(1, 'b'), (2, 'c'), (10, 'd'), (11, 'e')], 9, 'c');
    }
}
